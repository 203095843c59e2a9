"""The faults of earlier packages, as tests of every policy that claims to find the winner."""

import re

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel import policies
from bayesduel.cli.parse import known_policies
from bayesduel.problems import Matrix
from bayesduel.simulation.replication import label
from benchmarks import reference
from benchmarks.reference import figures, measured

# Policies with a guarantee of logarithmic regret on problems with a Condorcet winner, with a
# horizon that is ample for the problem below.
LEARNERS = [
    bd.policies.CCB(),
    bd.policies.CWRMED(),
    bd.policies.DTS(),
    bd.policies.DTSPlus(),
    bd.policies.ECWRMED(),
    bd.policies.PivotIndex(),
    bd.policies.RCS(),
    bd.policies.RMED1(),
    bd.policies.RMED2(),
    bd.policies.RUCB(),
    bd.policies.SelfSparring(),
]
# Compiled for these tests, which takes up to half a minute a policy, of this one least: make
# test-all has the others.
COMPILED = (bd.policies.SelfSparring,)


def marks(policy):
    """Return the marks of the tests of a policy."""
    return () if isinstance(policy, COMPILED) else pytest.mark.slow


every_learner = pytest.mark.parametrize(
    "policy",
    [pytest.param(p, marks=marks(p)) for p in LEARNERS],
    ids=label,
)


def easy(best, n_arms=4, gap=0.3):
    """A total order by `gap`, arm `best` on top of the others in the order of their index."""
    order = [best, *(i for i in range(n_arms) if i != best)]
    P = np.full((n_arms, n_arms), 0.5)
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            P[i, j], P[j, i] = 0.5 + gap, 0.5 - gap
    return Matrix(P, f"best is {best}")


@every_learner
def test_flipping_the_coins_flips_the_winner(policy):
    for best in (0, 3):
        P = easy(best).P
        trace = bd.simulate(policy, P, 2000, replications=10, seed=1)
        flipped = bd.simulate(policy, P.T.copy(), 2000, replications=10, seed=1)
        loser = {0: 3, 3: 2}[best]  # the last of the order above
        assert (trace["trace"]["recommended"].isel(time=-1) == best).sum() >= 9
        assert (flipped["trace"]["recommended"].isel(time=-1) == loser).sum() >= 9


@every_learner
@pytest.mark.slow
def test_the_winner_is_found_equally_well_at_every_index(policy):
    """Arms are not permuted here: a policy that favours an index would show."""
    n_runs, found, regrets = 24, [], []
    for best in range(4):
        problem = easy(best, gap=0.15)
        trace = bd.simulate(policy, problem, 400, replications=n_runs, seed=2, permute=False)
        found.append(int((trace["trace"]["recommended"].isel(time=-1) == best).sum()))
        regrets.append(bd.regret(trace).isel(time=-1).values.ravel())
    table = np.array([found, [n_runs - f for f in found]])
    if table[1].sum() > 0:
        assert stats.chi2_contingency(table).pvalue > 1e-6
    assert stats.kruskal(*regrets).pvalue > 1e-6


@every_learner
def test_regret_stops_growing_once_the_winner_is_known(policy):
    """The second half costs next to nothing: a policy can duel its winner with itself."""
    trace = bd.simulate(policy, easy(1), 20_000, replications=8, seed=3, record_at=[10_000, 20_000])
    first, both = bd.regret(trace).isel(policy=0).mean("replication").values
    assert both - first < 0.25 * first
    assert (both - first) / 10_000 < 0.01


@pytest.mark.slow
def test_rucb_is_linear_without_a_condorcet_winner():
    trace = bd.simulate(
        bd.policies.RUCB(), "hudry-13", 40_000, replications=3, record_at=[20_000, 40_000]
    )
    half, whole = bd.regret(trace).mean("replication").values[0]
    assert np.log2(whole / half) > 0.9  # the slope of log regret in log t


@pytest.mark.plain
@pytest.mark.slow
def test_ccb_is_not_linear_there():
    trace = bd.simulate(
        bd.policies.CCB(), "hudry-13", 20_000, replications=3, record_at=[10_000, 20_000]
    )
    half, whole = bd.regret(trace).mean("replication").values[0]
    assert np.log2(whole / half) < 0.3


SLOW = [f for f in figures() if f.horizon == 100_000 and not f.note]


@pytest.mark.slow
@pytest.mark.parametrize("figure", SLOW, ids=lambda f: f"{f.problem}-{f.policy}")
def test_regret_agrees_with_the_prototype(figure):
    """The cells of ``benchmarks/reference.csv`` with no note; the seed was fixed before."""
    ours = measured(figure, seed=20261121)
    assert abs(ours.mean() - figure.mean) <= figure.limit(ours)


@pytest.mark.plain
@pytest.mark.slow
def test_the_table_of_references_is_run_by_one_command(tmp_path, capsys):
    command = ["--problems", "cyclic-4", "--policies", "Uniform", "SCB", "--replications", "3"]
    command += ["--workers", "1", "--out", str(tmp_path)]
    assert reference.main(command) == 0
    first = capsys.readouterr().out
    assert re.search(r"49,988 \(12\).* hit", first)
    stamps = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("c/*")}
    assert stamps
    assert reference.main(command) == 0  # Kept traces are printed again, not run again.
    assert capsys.readouterr().out == first
    assert stamps == {p: p.stat().st_mtime_ns for p in stamps}
    assert reference.main(["--problems", "nowhere", "--out", str(tmp_path)]) == 2


def test_the_table_of_references_has_every_policy():
    """With a figure at its defaults, or in the second table."""
    listed = {("pairs", f.policy) for f in figures() if not f.settings}
    lone = set(reference.without_figure())
    known = {(s, name) for s in ("pairs", "items", "margins") for name in known_policies(s)}
    assert not listed & lone
    assert listed | lone == known
    assert {name for _, name in known} >= set(policies.__all__)  # what `policies` lists


@pytest.mark.plain
def test_a_policy_without_a_figure_is_measured_alone(monkeypatch):
    monkeypatch.setattr(reference, "ALONE", {"pairs": 40, "items": 40, "margins": 150})
    for setting, name, measure in (
        ("pairs", "RankEl", "copeland regret"),
        ("items", "ThompsonBeta", "pull regret"),
        ("margins", "Uniform", "sets right, %"),
    ):
        row = reference.alone(setting, name, replications=2, seed=1, workers=1)
        assert (row["policy"], row["measure"]) == (name, measure)


def test_a_figure_is_hit_within_three_standard_errors_or_a_tenth():
    figure = reference.Figure(100_000, "cyclic-4", "DTS", {}, 1000.0, 30.0, 20, "a reason")
    ours = np.array([1060.0, 1140.0])  # mean 1100, standard error 40: limit 3 x 50
    assert figure.limit(ours) == pytest.approx(150)
    assert reference.compared(figure, ours)[""] == "hit"
    assert figure.limit(np.full(5, 900.0)) == pytest.approx(100)
    assert reference.compared(figure, np.full(5, 899.0))[""] == "MISS"
