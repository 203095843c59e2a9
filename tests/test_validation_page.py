"""The page of the validation keeps what was measured elsewhere."""

from benchmarks.validation.experiment import Experiment
from benchmarks.validation.page import written
from benchmarks.validation.records import key_of


def experiment(name: str) -> Experiment:
    return Experiment(
        name=name,
        title=name.capitalize(),
        question="What is it?",
        target="at least 1.",
        cells=({"case": 1},),
        run=lambda cell, seed: {},
        rows=lambda cell, records: [{**cell, "found": len(records), "target": "met"}],
        quick=1,
        full=3600,
    )


def record(**further) -> dict[int, dict]:
    return {0: {"seconds": 2.0, "date": "2020-01-02"} | further}


FIRST, SECOND = experiment("first"), experiment("second")
KEY = key_of({"case": 1})


def test_a_section_without_records_stays_as_it_was():
    both = written([(FIRST, {KEY: record()}), (SECOND, {KEY: record()})], "2020-01-02", 0, "")
    again = written([(FIRST, {KEY: {}}), (SECOND, {KEY: record()})], "2020-01-02", 0, both)
    assert again == both
    assert again.count("| [First](#first) | 1 | 0 | 0 | 2 |") == 1
    assert "about 4 hours" in again


def test_a_section_with_records_is_written_anew():
    both = written([(FIRST, {KEY: record()}), (SECOND, {KEY: record()})], "2020-01-02", 0, "")
    later = {0: {"seconds": 8.0, "date": "2021-03-04"}}
    again = written([(FIRST, {KEY: {}}), (SECOND, {KEY: later})], "2021-03-04", 0, both)
    first, second = again.split("\n## ")[1:]
    assert "measured 2020-01-02;" in first
    assert "measured 2021-03-04;" in second
    assert "about 10 hours" in again


def test_an_experiment_that_never_ran_is_not_run():
    page = written([(FIRST, {KEY: record()}), (SECOND, {KEY: {}})], "2020-01-02", 0, "")
    assert "| Second | not run | not run |" in page
    assert "## Second" not in page
