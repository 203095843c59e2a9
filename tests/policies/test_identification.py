"""The faults of earlier packages, as tests of every policy that answers or only explores.

Those that minimise regret are in ``test_policies.py``. Sup-KLUCB is left out: it may lock on
a wrong arm for ever, which is shown in ``policies/test_sup_klucb.py``.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.policies.identification import no_answer
from bayesduel.problems import Matrix, named
from bayesduel.simulation.replication import label

pytestmark = pytest.mark.plain

ANSWERING = [
    bd.policies.ActionElimination(),
    bd.policies.BeatTheMean(factor=1.0),
    bd.policies.ExploreThenVerify(),
    bd.policies.InterleavedFilter(),
    bd.policies.Knockout(),
    bd.policies.MergeRUCB(),
    bd.policies.NTS(),
    bd.policies.PBR(),
    bd.policies.PBR(criterion="borda"),
    bd.policies.PCOMP(),
    bd.policies.POCOWISTA(),
    bd.policies.POCOWISTA(transitive=True),
    bd.policies.RankEl(),
    bd.policies.SAVAGE(),
    bd.policies.SAVAGE(criterion="borda"),
    bd.policies.SAVAGE(criterion="condorcet"),
    bd.policies.SCB(),
    bd.policies.SEEBS(),
    bd.policies.SequentialElimination(),
    bd.policies.TrackAndStop(),
]
EXPLORING = [
    bd.policies.ActionElimination(reward="pair"),
    bd.policies.UCB1(),
    bd.policies.UCB1(reward="pair"),
    bd.policies.Uniform(),
]
WITH_DELTA = [p for p in ANSWERING if hasattr(p, "delta")]


# The others take seconds each: make test-all has them.
every_policy = pytest.mark.parametrize(
    "policy",
    [
        pytest.param(
            p, marks=() if p in (bd.policies.SAVAGE(), bd.policies.Uniform()) else pytest.mark.slow
        )
        for p in ANSWERING + EXPLORING
    ],
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


def answers(policy, P, horizon, **settings):
    """The arm recommended at the end, one a run."""
    trace = bd.simulate(policy, P, horizon, record_at=[horizon], **settings)
    return trace["trace"]["recommended"].values.ravel(), trace["trace"]["answered"].values.ravel()


@every_policy
@pytest.mark.slow
def test_flipping_the_coins_flips_the_winner(policy):
    for best in (0, 3):
        P = easy(best).P
        loser = {0: 3, 3: 2}[best]  # the last of the order above
        for matrix, winner in ((P, best), (P.T.copy(), loser)):
            found, _ = answers(policy, matrix, 4000, replications=10, seed=1)
            assert (found == winner).sum() >= 9


@pytest.mark.sampled(2)
@every_policy
def test_the_winner_is_found_equally_well_at_every_index(policy):
    """Arms are not permuted here: a policy that favours an index would show.

    The horizon is too short to be sure. (SCB takes the arms in the order of their index, so
    it is asked at the end of a round; Interleaved Filter knows nothing in its first rounds.)
    """
    late = {bd.policies.SCB: (0.4, 276), bd.policies.InterleavedFilter: (0.3, 1500)}
    gap, horizon = late.get(type(policy), (0.1, 150))
    found = []
    for best in range(4):
        arms, _ = answers(
            policy, easy(best, gap=gap), horizon, replications=60, seed=2, permute=False
        )
        found.append(int((arms == best).sum()))
    assert sum(found) > 72  # by chance 60 of 240: there is something to be lost
    table = np.array([found, [60 - f for f in found]])
    assert sum(found) == 240 or stats.chi2_contingency(table).pvalue > 1e-6, found


@pytest.mark.slow
@pytest.mark.parametrize("policy", WITH_DELTA, ids=label)
def test_errors_are_at_most_delta_and_exploration_grows_as_delta_shrinks(policy):
    """A gap of 0.1; more errors than the limit have a chance of 1e-6 were the rate delta."""
    lengths = []
    for delta in (0.2, 0.002):
        horizon = 24_000 if getattr(policy, "criterion", "borda") == "borda" else 8000
        horizon = {bd.policies.ExploreThenVerify: 100_000, bd.policies.SEEBS: 60_000}.get(
            type(policy), horizon
        )
        found, answered = answers(
            replace(policy, delta=delta), easy(1, 3, 0.1), horizon, replications=200, seed=4
        )
        assert (answered > 0).all()
        assert (found != 1).sum() <= stats.binom.isf(1e-6, 200, delta)
        lengths.append(answered.mean())
    # Of explore-then-verify only the second phase, one pair of each arm, depends on delta.
    assert (
        lengths[1]
        > (1.03 if isinstance(policy, bd.policies.ExploreThenVerify) else 1.1) * lengths[0]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy",
    [
        bd.policies.BeatTheMean(),
        bd.policies.InterleavedFilter(),
        bd.policies.InterleavedFilter(version=1),
        bd.policies.MergeRUCB(),
    ],
    ids=str,
)
def test_eliminators_identify_and_exploit(policy):
    problem = named("flat", n_arms=9, e=0.4)
    trace = bd.simulate(policy, problem, 40_000, replications=6, seed=2, record_at=[40_000])
    assert (trace["trace"]["recommended"] == 0).all()
    answered = trace["trace"]["answered"].values.ravel()
    assert ((answered > 0) & (answered < 40_000)).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy",
    [bd.policies.PBR(), bd.policies.PBR(criterion="borda"), bd.policies.RankEl()],
    ids=label,
)
def test_races_identify_and_exploit(policy):
    problem = named("flat", n_arms=4, e=0.35)
    trace = bd.simulate(policy, problem, 10_000, replications=6, seed=2, record_at=[10_000])
    assert (trace["trace"]["recommended"] == 0).all()
    answered = trace["trace"]["answered"].values.ravel()
    assert ((answered > 0) & (answered < 10_000)).all()


def test_there_is_no_answer_at_first():
    assert [part.tolist() for part in no_answer()] == [[-1], [-1]]


@pytest.mark.parametrize(
    "policy", [p for p in ANSWERING if not isinstance(p, bd.policies.SCB)], ids=label
)
def test_an_answer_is_exploited_and_stays(policy):
    """Also that of the arm of index 0."""
    policy = policy.for_horizon(1000)
    rng = np.random.default_rng(0)
    for arm in (0, 2):
        belief, memory = policy.belief.init(3), policy.init(3)
        memory.answer.arm[0], memory.answer.time[0] = arm, 7
        state = rng.bit_generator.state
        assert policy.select(belief, memory, 20, rng) == (arm, arm)
        assert (memory.answer.arm[0], memory.answer.time[0]) == (arm, 7)
        assert rng.bit_generator.state == state
