"""What a fit says does not depend on how its log was written down.

The same votes with other labels in another order, shuffled, seen from the other side, with
covariates, times and margins in other units, and columns and levels in another order; and each vote
twice in place of a weight of 2.
"""

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.models import (
    BradleyTerry,
    Covariates,
    CumulativeLogit,
    Davidson,
    RandomEffects,
    Scores,
    SideAdvantage,
    Sources,
    Thurstone,
    ThurstoneScore,
    TimeVarying,
)

ARMS = ["ant", "bee", "cat", "dog"]
LABELS = ("left", "right", "judge", "prompt", "half")
GRADES = {2: "much better", 1: "better", 0: "same", -1: "worse", -2: "much worse"}
pytestmark = pytest.mark.filterwarnings(
    "ignore:the log has covariates", "ignore:the Laplace draws are not certified"
)


class Written:
    """A way to write a log down, and what the terms of a model are called there."""

    length, lists, margin, time = 1.0, 1.0, 1.0, (0.0, 1.0)
    names = ("length", "lists")
    halves = ("h0", "h1")
    sign = 1  # of what left exceeds right by

    def label(self, name):
        return name

    def table(self, votes):
        return votes


class Otherwise(Written):
    """Other labels, which sort the other way round, sides, units and order of rows and columns."""

    length, lists, margin, time = 16.0, 1 / 8, 32.0, (1000.0, 4.0)
    names = ("lists", "length")
    halves = ("h1", "h0")
    sign = -1

    def label(self, name):
        """Return the letters of a label mirrored in the alphabet, digits in ten."""
        return "".join(chr(219 - ord(c)) if c.isalpha() else str(9 - int(c)) for c in name)

    def table(self, votes):
        turned = votes.rename(columns={"left": "right", "right": "left"})
        for name in ("length", "lists", "margin", "grade"):
            turned[name] = -getattr(self, name, 1) * votes[name]
        turned["outcome"] = 1 - votes["outcome"]
        turned["time"] = self.time[0] + self.time[1] * votes["time"]
        for name in LABELS:
            turned[name] = turned[name].map(self.label)
        return turned.sample(frac=1, random_state=1)[turned.columns[::-1]]


def votes(n=240):
    """Return votes with ties, margins and grades, by judges and prompts, in two halves."""
    rng = np.random.default_rng(3)
    i = rng.integers(0, 4, n)
    j = (i + rng.integers(1, 4, n)) % 4
    length, lists = rng.standard_normal((2, n)).round(1) + 0.25
    score, half = np.array([0.9, 0.3, -0.2, -1.0]), np.arange(n) // 7 % 2
    judge, taste = rng.integers(0, 7, n), rng.normal(0, 0.8, (7, 4))
    margin = score[i] - score[j] + taste[judge, i] - taste[judge, j]
    margin += 0.3 + 0.4 * length * half - 0.2 * lists
    margin = (margin + rng.standard_normal(n)).round(1)
    margin[abs(margin) < 0.25] = 0.0
    frame = {
        "left": np.array(ARMS)[i],
        "right": np.array(ARMS)[j],
        "outcome": (np.sign(margin) + 1) / 2,
        "margin": margin,
        "grade": (np.sign(margin) * (1 + (abs(margin) > 1.2))).astype(int),
        "judge": [f"j{k}" for k in judge],
        "prompt": [f"p{k}" for k in rng.integers(0, 4, n)],
        "half": [f"h{k}" for k in half],
        "time": np.arange(n) / 2.0,
        "length": length,
        "lists": lists,
    }
    return pd.DataFrame(frame)


def read(table, written, outcome="outcome"):
    """Return the log of a table, with one kind of outcome."""
    roles = {"outcome": outcome}
    if outcome == "margin":
        roles = {"outcome": False, "margin": "margin"}
    others = {"outcome", "margin", "grade"} - {outcome}
    table = table.drop(columns=list(others)).assign(grade=table["grade"].map(GRADES))
    table = table if outcome == "grade" else table.drop(columns="grade")
    weight = {"weight": "weight"} if "weight" in table else {}
    return bd.read_duels(
        table, keep=["prompt", "half"], covariates=written.names, **roles, **weight
    )


def sides(w):
    return SideAdvantage(by="half")


def covariates(w, **settings):
    return Covariates(w.names, **settings)


# Response, kind of outcome, worth and terms, each as it is written.
CASES = {
    "order and covariates": (
        BradleyTerry, "outcome", lambda w: Scores(1.0) + SideAdvantage() + covariates(w)),
    "ties, effects by level": (
        Davidson, "outcome", lambda w: Scores() + sides(w) + covariates(w, by="half")),
    "grades, judges": (
        CumulativeLogit, "grade", lambda w: Scores() + RandomEffects("judge") + covariates(w)),
    "time": (Thurstone, "outcome", lambda w: Scores() + TimeVarying(periods=3) + covariates(w)),
    "margins": (ThurstoneScore, "margin", lambda w: Scores() + SideAdvantage() + covariates(w)),
    "margins, prompts": (ThurstoneScore, "margin", lambda w: Scores() + RandomEffects("prompt")),
    "margins in time": (
        ThurstoneScore, "margin", lambda w: Scores() + TimeVarying("smooth", periods=3) + sides(w)),
    "sources": (
        BradleyTerry, "outcome",
        lambda w: Sources("half", w.label("h0"), levels=tuple(map(w.label, w.halves))) + sides(w)),
    "weighted sources": (
        Davidson, "outcome",
        lambda w: Sources("half", {w.label("h0"): 1.0, w.label("h1"): 3.0})
        + covariates(w, by="half")),
}  # fmt: skip
QUICK = ("order and covariates", "ties, effects by level", "margins", "sources")


def each(quick):
    """Return the cases, of which the others are slow."""
    cases = [pytest.param(c, marks=[] if c in quick else pytest.mark.slow) for c in CASES]
    return pytest.mark.parametrize("case", cases, ids=lambda name: name.replace(" ", "-"))


def fitted(case, written, table):
    response, outcome, terms = CASES[case]
    log = read(table, written, outcome)
    return bd.fit(log, response(terms(written)), "laplace", draws=1000, chains=2)


def asked(fit, written, model):
    """Return the chances of all pairs under conditions, (pairs,), and their standard errors."""
    w, terms = written, model.terms
    said = {
        "length": 0.5 * w.sign * w.length,
        "lists": -1.0 * w.sign * w.lists,
        "time": w.time[0] + 50 * w.time[1],
        "judge": w.label("j2"),
        "prompt": w.label("p1"),
        "half": w.label("h1"),
    }
    reads = {name for part in terms for name in part.reads}
    said = {name: value for name, value in said.items() if name in reads}
    rows = [(w.label(a), w.label(b)) for a in ARMS for b in ARMS if a != b]
    frame = pd.DataFrame(rows, columns=["left", "right"][:: w.sign]).assign(**said)
    found = bd.predict(fit, frame, covariance="model", side_advantage=terms.reads_order)
    name = "win" if w.sign > 0 else "loss"
    chance = found[name].values
    error = (found[f"{name}_upper"] - found[f"{name}_lower"]).values / 3.92
    return chance, error


@each(QUICK)
@pytest.mark.slow
def test_a_fit_is_the_same_however_its_log_is_written(case):
    plain, other = Written(), Otherwise()
    one = fitted(case, plain, votes())
    two = fitted(case, other, other.table(votes()))
    mapped = [other.label(arm) for arm in ARMS]
    unit = other.margin if CASES[case][1] == "margin" else 1.0
    # Learned scales are held at medians of draws, which are others.
    near = 0.08 if one.duel.model.scales else 1e-6
    for group, name, times, rtol in (
        ("laplace", "score_mode", unit, 1e-4),
        ("clusters", "score_se_cluster", unit, near),
        ("clusters", "score_degrees_cluster", 1.0, near),
    ):
        if name in one.get(group, {}):
            first, second = (fit[group][name] for fit in (one, two))
            first, second = times * first.sel(arm=ARMS), second.sel(arm=mapped)
            np.testing.assert_allclose(second, first, rtol=rtol, atol=1e-6, err_msg=name)
    (first, error), (second, _) = (
        asked(one, plain, one.duel.model),
        asked(two, other, two.duel.model),
    )
    # Draws are others: of 1,000 each, with differences of 5 Monte Carlo errors and bits of weights.
    assert (abs(first - second) < 5 * np.sqrt(2 / 1000) * error + 1e-3).all()
    assert np.ptp(first) > 0.2


@each(QUICK[2:3])
def test_a_weight_is_that_many_votes(case):
    table, written = votes(), Written()
    twice = fitted(case, written, pd.concat([table, table], ignore_index=True))
    weighed = fitted(case, written, table.assign(weight=2))
    for name in twice["laplace"].data_vars:
        np.testing.assert_allclose(weighed["laplace"][name], twice["laplace"][name], atol=1e-8)
    if "clusters" in twice:
        for name in ("score_se_cluster", "score_degrees_cluster"):
            np.testing.assert_allclose(weighed["clusters"][name], twice["clusters"][name])
