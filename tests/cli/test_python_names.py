"""What commands print names commands and options, not the functions of the package."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from bayesduel.cli import main

COMMANDS = (
    *(["read"], ["health"], ["winners"], ["panel"], ["check", "--quick"]),
    ["audit", "--group", "none"],  # with effects of groups it is fitted anew for fifteen seconds
    *(["attributes", "--items", "ITEMS"], ["top-k", "--k", "1"]),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a log of a strong cycle that names no judge, and of its items."""
    made = tmp_path_factory.mktemp("names")
    rng = np.random.default_rng(0)
    pairs = [("a", "b"), ("b", "c"), ("c", "a")] * 60
    frame = pd.DataFrame(pairs, columns=["left", "right"])
    frame["outcome"] = np.where(rng.random(len(frame)) < 0.9, "left", "right")
    frame["question"] = [f"question {k // 6}" for k in range(len(frame))]
    frame.to_csv(made / "log.csv", index=False)
    pd.DataFrame({"item": ["a", "b", "c"], "size": [1.0, 2.0, 4.0]}).to_csv(
        made / "items.csv", index=False
    )
    return made


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_a_command_names_no_function_of_the_package(folder, command):
    name, *options = command
    options = [str(folder / "items.csv") if word == "ITEMS" else word for word in options]
    result = CliRunner().invoke(main, [name, str(folder / "log.csv"), *options])
    assert result.exit_code == 0, result.output
    assert "bd." not in result.output + result.stderr


@pytest.mark.slow
def test_the_cycle_is_told_with_the_command_that_checks_it(folder):
    result = CliRunner().invoke(main, ["panel", str(folder / "log.csv")])
    assert "bayesduel check tests whether" in " ".join(result.output.split())
