"""A language model in a study of people and machines is one of the sources."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.models import BradleyTerry, Sources
from benchmarks.machine_judge import KEY, command, made, serving

pytest.importorskip("httpx")


@pytest.mark.slow  # 88 s: it compiles the rule of sources
def test_a_machine_of_a_study_of_sources_is_one_of_them(tmp_path):
    arms = [f"model-{k}" for k in range(4)]
    path = tmp_path / "s.study"
    folder = tmp_path / "other"
    folder.mkdir()
    made(folder, 1)
    study = bd.Study(
        path, arms=arms, model=BradleyTerry(Sources("source", target="people")),
        sources={"people": 1.0, "machine": 0.01}, stop=bd.study.Budget(40), seed=1,
    )  # fmt: skip
    rng = np.random.default_rng(2)
    for _ in range(12):
        ticket = study.ask(judge=f"person {rng.integers(1000)}")
        gap = arms.index(ticket.left) - arms.index(ticket.right)
        study.tell(ticket, "left" if rng.random() < 1 / (1 + np.exp(-gap)) else "right")
    content = "\n".join(["arm,content", *(f"{a},strength {k}" for k, a in enumerate(arms))])
    (folder / "content.csv").write_text(content)
    (folder / "prompt.txt").write_text("question 0: {left} {right}")
    with serving(wrong={}) as stub:
        words = command(folder, stub, "--most", "8")[3:]
        words[2] = str(path)
        call = {"env": {"STUB_KEY": KEY}}
        result = CliRunner().invoke(main, words, **call)
        assert "should be a source of the study (people or machine), got 'stub'" in result.output
        found = json.loads(CliRunner().invoke(main, [*words, "--judge", "machine"], **call).stdout)
    assert found["told"] > 0, found
    assert study.sources["machine"] == (0.01, found["told"])
    assert f"{found['told']} votes of machine are worth" in found["worth"]
    assert "gives more information per cost" in found["ended"] or found["told"] == 8
