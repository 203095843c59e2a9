"""Knockout, sequential elimination, SEEBS, explore-then-verify, NTS and DKWT beside plain versions.

A plain version is a generator: it yields the pairs that its paper allows next, gets the one that
the policy named and whether its first arm won, and returns the answer.
"""

from dataclasses import replace
from itertools import permutations
from math import ceil, inf, log, pi, sqrt

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.beliefs import record
from bayesduel.policies import (
    DKWT,
    NTS,
    SEEBS,
    ExploreThenVerify,
    Knockout,
    SequentialElimination,
)
from bayesduel.policies.dkwt import batch
from bayesduel.problems import Matrix, named
from tests.policies.test_identification import easy

pytestmark = pytest.mark.plain
DELTA, EPSILON = 0.1, 0.2


def compare(pair, won, centre, slack, delta, most):
    """Duel a pair until its share is off the centre; return the share."""
    n, wins = 1, won
    while abs(wins / n - centre) <= sqrt(log(4 * n**2 / delta) / (2 * n)) - slack and n <= most:
        _, won = yield {pair}
        n, wins = n + 1, wins + won
    return wins / n


def plain_knockout(n_arms):
    arms, r = set(range(n_arms)), 1
    while len(arms) > 1:
        bias = (2 ** (1 / 3) - 1) * EPSILON / 2 ** (r / 3)
        delta, ahead = DELTA / 2**r, set()
        while len(arms) > 1:
            pair, won = yield set(permutations(arms, 2))
            arms -= set(pair)
            most = log(2 / delta) / (2 * bias**2)
            share = yield from compare(pair, won, 0.5, bias, delta, most)
            ahead.add(pair[share <= 0.5])
        arms, r = arms | ahead, r + 1
    return arms.pop()


def plain_sequential_elimination(n_arms):
    pair, won = yield set(permutations(range(n_arms), 2))
    anchor, delta, waiting = pair[1], DELTA / n_arms, set(range(n_arms)) - set(pair)
    while True:
        most = 2 * log(2 / delta) / EPSILON**2
        share = yield from compare(pair, won, 0.5 + EPSILON / 2, 0, delta, most)
        anchor = pair[0] if share >= 0.5 + EPSILON / 2 else anchor
        if not waiting:
            return anchor
        pair, won = yield {(i, anchor) for i in waiting}
        waiting.discard(pair[0])


def distribute(pair, won, epsilon, down, delta):
    """Ren et al.'s Algorithm 1: 1, 0 or -1 for an arm above, near or below the other."""
    n, wins = 0, 0
    while True:
        n, wins = n + 1, wins + won
        radius = sqrt(log(pi**2 * n**2 / (3 * delta)) / (2 * n))
        if wins / n - radius > 0.5:
            return 1
        if wins / n + radius < 0.5 - down:
            return -1
        if n >= 2 / epsilon**2 * log(4 / delta):
            return int(wins / n > 0.5 + epsilon / 2) - int(wins / n < 0.5 - epsilon / 2 - down)
        _, won = yield {pair}


def plain_seebs(n_arms):
    left, t = set(range(n_arms)), 1
    while len(left) > 1:
        alpha, delta = 2**-t, 6 * DELTA / (pi * t) ** 2
        arms, r = set(left), 1
        while len(arms) > 1:
            epsilon, share = alpha / 3 / 4 * 0.8**r, 6 * (2 * delta / 3) / (pi * r) ** 2
            ahead = set()
            while len(arms) > 1:
                pair, won = yield set(permutations(arms, 2))
                arms -= set(pair)
                found = yield from distribute(pair, won, epsilon / 2, 0, share / 2)
                ahead.add(pair[found < 0])
            arms, r = arms | ahead, r + 1
        champion = arms.pop()
        for i in sorted(left - {champion}):
            pair, won = yield {(i, champion)}
            found = yield from distribute(pair, won, alpha / 3, alpha / 3, delta / 3)
            left -= {i} if found < 0 else set()
        t += 1
    return left.pop()


def plain_explore_then_verify(n_arms):
    kappa, r = min(1 / 3, 1 / log(1 / DELTA)), 1

    def bounds(results, delta):
        radius = sqrt(2 * log(2 * len(results) ** 2 * n_arms**2 / delta) / len(results))
        return np.mean(results) - radius, np.mean(results) + radius

    while True:
        needed, results = set(permutations(range(n_arms), 2)), {}
        lower, upper = {}, {}
        while needed:
            yield from one_round(needed, results)
            for x, y in needed:
                lower[x, y], upper[x, y] = bounds(results[x, y], kappa)
            needed = {
                (x, y)
                for x, y in needed
                if lower[x, y] <= 0
                and not (upper[x, y] < 0 and 2 * upper[x, y] < lower[x, y])
                and not (
                    lower[x, y] < 0
                    and lower[x, y] > min(upper.get((x, z), inf) for z in range(n_arms))
                )
            }
        others = range(n_arms)
        best = [x for x in others if all(lower[x, y] >= 0 for y in others if y != x)]
        if best:
            witness = {
                (x, min(set(others) - {x}, key=lambda y: upper[x, y]))
                for x in others
                if x != best[0]
            }
            results, beaten = {}, set()
            while witness - beaten:
                yield from one_round(witness - beaten, results)
                found = {p: bounds(results[p], DELTA / (2 * r**2)) for p in witness - beaten}
                if any(low > 0 for low, _ in found.values()):
                    break
                beaten |= {p for p, (_, high) in found.items() if high < 0}
            else:
                return best[0]
        r += 1


def one_round(needed, results):
    """Duel each pair once, whichever of its arms needs it, counting 1 and -1."""
    pairs = {tuple(sorted(p)) for p in needed}
    for pair in sorted(pairs):
        _, won = yield {pair}
        results.setdefault(pair, []).append(2 * won - 1)
        results.setdefault(pair[::-1], []).append(1 - 2 * won)


def lead_match(pair, won, n_arms):
    """Duel a pair until one of its arms is ahead by the lead of a sequential test."""
    error, ahead = DELTA / n_arms, 2 * won - 1
    while abs(ahead) < ceil(log((1 - error) / error) / log((0.5 + EPSILON) / (0.5 - EPSILON))):
        _, won = yield {pair}
        ahead += 2 * won - 1
    return pair[ahead < 0]


def plain_nts(n_arms):
    won_from = {i: set() for i in range(n_arms)}  # of the arms that no match has put out
    while len(won_from) > 1:
        wins = {i: len(won_from[i]) for i in won_from}
        allowed = set()
        for i in (i for i in wins if wins[i] == min(wins.values())):
            least = min(wins[j] for j in wins if j != i)
            allowed |= {(i, j) for j in wins if j != i and wins[j] == least}
        pair, won = yield allowed
        winner = yield from lead_match(pair, won, n_arms)
        (loser,) = set(pair) - {winner}
        won_from[winner].add(loser)
        del won_from[loser]
    ((candidate, met),) = won_from.items()
    while unmet := set(range(n_arms)) - met - {candidate}:
        pair, won = yield {(candidate, j) for j in unmet}
        met.add(pair[1])
        if (yield from lead_match(pair, won, n_arms)) != candidate:
            return -1
    return candidate


def plain_dkwt(n_arms):
    """K matches; the last is one of the pair before, since all arms have played."""
    fresh, pair, winner = set(range(n_arms)), None, None
    for _ in range(n_arms):
        if pair is None:
            allowed = set(permutations(fresh, 2))
        elif fresh:
            allowed = {(winner, j) for j in fresh}
        else:
            allowed = {pair}
        pair, won = yield allowed
        fresh -= set(pair)
        for s in range(1, 60):
            share, margin = 6 * (DELTA / n_arms) / (pi * s) ** 2, 2 ** (-s - 1)
            wins = [0, 0]
            for _ in range(ceil(8 * log(4 / share) / margin**2)):
                if won is None:
                    _, won = yield {pair}
                wins[0 if won else 1] += 1
                won = None
            first, second = (w / sum(wins) for w in wins)
            if not (first <= second + margin and second <= first + margin):
                break
        winner = pair[first < second]
    return winner


EVERY = [
    (NTS(delta=DELTA, gap=EPSILON), plain_nts),
    (Knockout(delta=DELTA, horizon=10**6, epsilon=EPSILON), plain_knockout),
    (
        SequentialElimination(delta=DELTA, horizon=10**6, epsilon=EPSILON),
        plain_sequential_elimination,
    ),
    (SEEBS(delta=DELTA, horizon=10**6), plain_seebs),
    (ExploreThenVerify(delta=DELTA, horizon=10**6), plain_explore_then_verify),
    (DKWT(delta=DELTA, horizon=10**6), plain_dkwt),
]
kinds = pytest.mark.parametrize(("policy", "plain"), EVERY, ids=lambda one: type(one).__name__)


def follow(policy, plain, P, seed, limit=100_000):
    """Play in lockstep until both have an answer; return it, and how often a pair was free."""
    n_arms = len(P)
    belief, memory, plain = policy.belief.init(n_arms), policy.init(n_arms), plain(n_arms)
    rng, coins = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    allowed, free = next(plain), 0
    for t in range(1, limit):
        pair = tuple(int(k) for k in policy.select(belief, memory, t, rng))
        assert pair in allowed
        free += len(allowed) > 1
        won = bool(coins.random() < P[pair])
        record(belief, pair, float(won))
        try:
            allowed = plain.send((pair, won))
        except StopIteration as end:
            policy.select(belief, memory, t + 1, rng)
            assert memory.answer.arm[0] == end.value
            assert memory.answer.time[0] == t
            return end.value, free
    raise AssertionError("no answer")


@kinds
@pytest.mark.parametrize("gap", [0.4, 0.5])
def test_lockstep_until_the_answer(policy, plain, gap):
    for n_arms, seed in ((5, 1), (2, 7)):
        answer, free = follow(policy, plain, easy(1, n_arms, gap).P, seed)
        assert answer == 1
        assert (free > 0) == (plain is not plain_explore_then_verify)


@pytest.mark.slow
@kinds
def test_lockstep_where_matches_are_close(policy, plain):
    """Ties, which only the limits of a match end; a gap for those that would never end."""
    P = np.full((3, 3), 0.5)
    if plain in (plain_seebs, plain_explore_then_verify, plain_dkwt):
        P = easy(2, 3, 0.2).P
    follow(policy, plain, P, 3, limit=400_000)


def test_nts_finds_that_there_is_no_condorcet_winner():
    cycle = Matrix([[0.5, 0.8, 0.2], [0.2, 0.5, 0.8], [0.8, 0.2, 0.5]], "cycle")
    for seed in range(3):
        assert follow(*EVERY[0], cycle.P, seed)[0] == -1
    trace = bd.simulate(
        NTS(delta=0.05, gap=0.3), cycle, 400, replications=40, seed=1, record_at=[400]
    )["trace"]
    assert (trace["answered"] > 0).all()
    assert (trace["self_duels"].sum("arm") == 400 - trace["answered"]).all()


@pytest.mark.parametrize("n_arms", [5, 8])
def test_nts_takes_as_many_matches_as_the_query_order_promises_at_most(n_arms):
    """2 K - floor(log2 K) - 2 matches of lead / (2 gap) duels on average (Wald), for a winner."""
    policy = NTS(delta=0.05, gap=0.2)
    trace = bd.simulate(
        policy, named("flat", n_arms=n_arms, e=0.2), 1000, replications=60, seed=2,
        record_at=[1000], detail="pairs",
    )["trace"]  # fmt: skip
    answered, met = trace["answered"].values.ravel(), trace["wins"].isel(time=-1).values
    most = 2 * n_arms - int(np.log2(n_arms)) - 2
    matches = (np.triu(met + met.swapaxes(-1, -2), 1) > 0).sum(axis=(-1, -2))
    assert matches.max() == most
    assert (answered > 0).all()
    assert answered.mean() < most * policy.init(n_arms).lead / (2 * 0.2)
    assert (trace["recommended"] != 0).sum() <= stats.binom.isf(1e-6, 60, 0.05)


@pytest.mark.parametrize(
    "gap", [*(pytest.param(g, marks=pytest.mark.slow) for g in (0.1, 0.3)), 0.45]
)
def test_dkwt_ends_by_the_stage_that_its_guarantee_names(gap):
    """K matches of at most the batches to the stage whose margin is below 4/3 of the gap."""
    n_arms, delta, runs = 4, 0.1, 10
    last = next(s for s in range(1, 20) if 1.5 * 2 ** (-s - 1) <= 2 * gap)
    most = n_arms * sum(batch(delta / n_arms, s)[0] for s in range(1, last + 1))
    trace = bd.simulate(
        DKWT(delta=delta), named("flat", n_arms=n_arms, e=gap), most + 1, replications=runs,
        seed=5, record_at=[most + 1],
    )["trace"]  # fmt: skip
    answered = trace["answered"].values.ravel()
    wrong = (answered < 0) | (trace["recommended"].values.ravel() != 0)
    assert wrong.sum() <= stats.binom.isf(1e-6, runs, delta)
    assert answered.max() <= most


def test_a_candidate_that_is_refuted_is_given_up():
    """Arm 1 turns out to beat arm 0, by which it was to be refuted."""
    policy = ExploreThenVerify(delta=DELTA, horizon=10**6)
    belief, memory = policy.belief.init(3), policy.init(3)
    memory.place[:] = 1, 0
    memory.needed[1, 0] = memory.needed[2, 0] = True
    belief.wins[1, 0] = belief.wins[0, 2] = 400
    assert policy.select(belief, memory, 801, np.random.default_rng(0)) == (0, 1)
    assert memory.place.tolist() == [2, -1]
    assert memory.needed.sum() == 6


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.2, 0.02])
@pytest.mark.parametrize(
    "policy",
    [
        DKWT(),
        ExploreThenVerify(),
        Knockout(epsilon=0.1),
        NTS(gap=0.15),
        SEEBS(),
        SequentialElimination(epsilon=0.1),
    ],
    ids=lambda one: type(one).__name__,
)
def test_answers_are_wrong_in_at_most_delta_of_200_runs(policy, delta):
    """Four arms, gaps of 0.15 (more than epsilon): the best arm is the only right answer."""
    horizon = 200_000
    trace = bd.simulate(
        replace(policy, delta=delta), named("flat", n_arms=4, e=0.15), horizon,
        replications=200, seed=4, record_at=[horizon],
    )["trace"]  # fmt: skip
    assert (trace["answered"] > 0).all()
    assert (trace["recommended"] != 0).sum() <= stats.binom.isf(1e-6, 200, delta)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Knockout(epsilon=0), r"epsilon should be in \(0, 0.5\), got 0"),
        (lambda: Knockout(gamma=0.5), "gamma should be at least 1, got 0.5"),
        (lambda: SequentialElimination(epsilon=0.5), r"epsilon should be in \(0, 0.5\), got 0.5"),
        (lambda: NTS(gap=0.5), r"gap should be in \(0, 0.5\), got 0.5"),
        (lambda: SEEBS(delta=1.0), r"delta should be in \(0, 1\), got 1"),
        (lambda: SEEBS().init(3), "horizon should be given outside a simulation"),
        (lambda: SEEBS(horizon=inf).init(3), "delta should be given when horizon is infinite"),
    ],
)
def test_settings_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()
