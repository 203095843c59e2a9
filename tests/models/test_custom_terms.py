"""Terms of one's own on logs of every kind: votes, counts by pair, ties."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.models import BradleyTerry, Davidson, Term, Thurstone, Touch

ARMS = ["a", "bbbb", "cc"]
WINS = np.array([[0, 9, 8], [4, 0, 9], [3, 4, 0]])
TIES = np.array([[0, 2, 1], [2, 0, 3], [1, 3, 0]])


@dataclass(frozen=True)
class NameAdvantage(Term):
    """What a longer name is worth: it asks only which arms met."""

    prior: float = 0.5

    name: ClassVar[str] = "name-advantage"
    parameter: ClassVar[str] = "name_advantage"
    dims: ClassVar = {}
    scales: ClassVar = {}

    def columns(self, log):
        length = np.array([float(len(arm)) for arm in log.arms])
        rows = log.rows
        return {"longer": length[rows.left] - length[rows.right]}

    def coords(self, log):
        return {}

    def design(self, cells):
        return (Touch((), cells["longer"]),) if "longer" in cells else ()

    def deviation(self, scales, cells, unit):
        return self.prior


def by_vote():
    """Return the log of the same duels, a row each."""
    left, right, outcome = [], [], []
    for counts, points in ((WINS, 1.0), (np.triu(TIES), 0.5)):
        for i, j in np.argwhere(counts):
            n = int(counts[i, j])
            left += [ARMS[i]] * n
            right += [ARMS[j]] * n
            outcome += [points] * n
    judge = ["ann", "bob"] * (len(left) // 2) + ["ann"] * (len(left) % 2)
    return bd.Duels.from_votes(left, right, outcome, judge=judge)


@pytest.mark.parametrize("model", [BradleyTerry(), Thurstone(), Davidson()], ids=lambda m: m.name)
def test_a_term_that_asks_who_met_takes_votes_and_counts_alike(model):
    counts = bd.Duels.from_wins(WINS, ARMS, ties=TIES)
    assert counts.votes is None
    found = []
    for log in (counts, by_vote()):
        fit = bd.fit(log, model + NameAdvantage(), draws=500, seed=1, clusters=False)
        found.append(fit["posterior"]["name_advantage"])
    for each in found:
        assert each.std() < 0.5  # the log says something of it
    assert float(found[0].mean()) == pytest.approx(float(found[1].mean()), abs=0.02)
