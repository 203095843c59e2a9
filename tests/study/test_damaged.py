"""A file that was edited is refused by what is wrong, a study too large when it is made."""

import sqlite3
import time
from contextlib import closing

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.study.store import StudyError

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("delete from settings where name = 'seed'", "should have the setting 'seed'"),
        ("delete from settings where name = 'goal'", "should have the setting 'goal'"),
        ("update settings set value = '{' where name = 'stop'", "its stop should be JSON"),
        ("update tickets set left = 77", "ticket 1 should be of arms 0 to 2, got 77"),
        ("update tickets set right = -1", "ticket 1 should be of arms 0 to 2, got -1"),
        ("update tickets set item = 5", "ticket 1 should be of items 0 to 0, got 5"),
        ("update tickets set outcome = 7", "an outcome should be 0, 0.5 or 1, got 7"),
        ("update tickets set outcome = 'x'", "an outcome should be 0, 0.5 or 1, got 'x'"),
        ("drop table studies", r"earlier version of bayesduel \(format 1, this version reads 2\)"),
        ("drop table events", "no such table: events"),
    ],
)
def test_a_damaged_study_is_refused_by_what_is_wrong(change, message, tmp_path):
    path = tmp_path / "s"
    with bd.Study(path, arms=list("abc"), items=["p"]) as study:
        study.tell(study.ask(), "left")
    with closing(sqlite3.connect(path)) as file:
        file.execute(change)
        file.commit()
    with pytest.raises(StudyError, match=message):
        bd.Study(path)


def test_a_study_with_too_many_arms_is_refused_when_it_is_made(tmp_path):
    arms = [str(k) for k in range(10_000)]
    with pytest.raises(ValueError, match="arms of a study should be at most 2,000, got 10,000"):
        bd.Study(tmp_path / "s", arms=arms)
    assert not (tmp_path / "s").exists()
    study = bd.Study(arms=arms[:2000], stop=None)
    with pytest.raises(ValueError, match="at most 2,000, got 2,001"):
        study.add_arms(["x"])


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return the file of a study of 100 arms and 100,000 duels."""
    path, rng = tmp_path_factory.mktemp("study") / "large", np.random.default_rng(0)
    arms = np.array([f"a{k}" for k in range(100)])
    left = rng.integers(100, size=100_000)
    right = (left + rng.integers(1, 100, size=100_000)) % 100
    won = (rng.random(100_000) < 0.5).astype(float)
    study = bd.Study(path, arms=arms.tolist(), stop=None)
    study.import_duels(bd.Duels.from_votes(arms[left].tolist(), arms[right].tolist(), won))
    study.ask()
    return path


def spent(what):
    start = time.process_time()
    what()
    return time.process_time() - start


def test_a_large_study_is_opened_and_corrected_in_half_a_second(large):
    """Four seconds where every outcome is entered again."""
    study = bd.Study(large)
    opening = min(spent(lambda: bd.Study(large).ask()) for _ in range(3))

    def correct():
        now = study.ticket("1").outcome
        study.correct("1", "left" if now == "right" else "right", "a typo")
        study.ask()

    correct()
    assert max(opening, min(spent(correct) for _ in range(3))) < 0.5


def test_abandoned_tickets_do_not_slow_the_next_question():
    study = bd.Study(arms=list("abcdefghij"), stop=None)
    study.ask()
    study.ask(6000)
    study.ask()
    assert min(spent(study.ask) for _ in range(3)) < 0.08
