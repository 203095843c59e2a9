"""Imports of commands, without what libraries bring in vain."""

import subprocess
import sys

import pytest

from bayesduel.system import imports
from bayesduel.system.imports import Later


def test_a_module_of_the_list_runs_when_it_is_used(tmp_path, monkeypatch):
    for name in ("in_vain_1", "in_vain_2"):
        (tmp_path / f"{name}.py").write_text("import sys; sys.ran.append(__name__); known = 3")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(imports, "LATER", frozenset({"in_vain_1"}))
    monkeypatch.setattr(sys, "ran", [], raising=False)
    monkeypatch.setattr(sys, "meta_path", [Later, *sys.meta_path])
    import in_vain_1
    import in_vain_2

    assert sys.ran == ["in_vain_2"]
    assert in_vain_1.known == in_vain_2.known == 3
    assert sys.ran == ["in_vain_2", "in_vain_1"]


def test_modules_of_the_list_that_are_not_installed_are_not_found(monkeypatch):
    monkeypatch.setattr(imports, "LATER", frozenset({"in_vain_3"}))
    monkeypatch.setattr(sys, "meta_path", [Later, *sys.meta_path])
    assert Later.find_spec("in_vain_3", None) is None
    with pytest.raises(ModuleNotFoundError, match="in_vain_3"):
        import in_vain_3  # noqa: F401


WORKERS = """
import sys
from bayesduel.system.imports import Later
sys.meta_path.insert(0, Later)
import multiprocessing.context as part
import multiprocessing
from joblib.externals.loky.backend.context import get_context
assert multiprocessing.context is part and part.__spec__.origin == part.__file__
print(get_context()._name)
"""


def test_a_part_of_a_package_that_is_left_for_later_is_imported_once():
    """Else workers are told to multiprocessing of one copy, and looked for in the other."""
    done = subprocess.run([sys.executable, "-c", WORKERS], capture_output=True, text=True)
    assert done.stdout == "loky\n", done.stderr
