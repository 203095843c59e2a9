"""The first question of an installation compiles its policy, and says so."""

import os
import subprocess
import sys

ASK = """
import bayesduel as bd
from bayesduel.study.session import Session
Session.choose = lambda *_: [(0, 1)]  # nothing is compiled here
Session.decision = lambda *_: type("Open", (), {"stopped": False})
bd.Study(arms=["a", "b"]).ask()
"""


def test_the_first_question_says_that_it_compiles(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == "Compiling the policy, once an installation: it may take some minutes.\n"
    assert done.stdout == ""
