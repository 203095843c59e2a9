"""Five models of a pair: their evidence, what follows from their draws, and what is said."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, log_expit, logsumexp

import bayesduel as bd
from bayesduel.criticism.check import check
from bayesduel.criticism.ranking.evidence import (
    NEGLIGIBLE,
    Draws,
    Log,
    PairModel,
    _faded,
    log_of,
)
from bayesduel.criticism.ranking.pair_models import (
    FREE,
    ONE_SCORE,
    POINT,
    RANKS,
    UNEVEN,
    WEIGHT,
    of_ranks,
    of_scores,
)
from bayesduel.criticism.ranking.posterior import (
    CyclicShare,
    cyclic_share_of,
    has_cycle,
    ranking_posterior,
    top_cycle_of,
)
from bayesduel.criticism.ranking.rank_model import RankModel, Sides
from bayesduel.criticism.ranking.ranking_text import advice_words, headline_words, size_words
from bayesduel.criticism.transitivity.design import design_of
from bayesduel.preference import smith_set

K = 4
KINDS = {
    "one score": ONE_SCORE,
    "uneven": UNEVEN,
    "ranks alone": RANKS,
    "ranks with exceptions": RANKS,
    "free": FREE,
}
WORLDS = {  # won by the first arm of each pair, of ten duels, five in each order
    "ordered": [[4, 3], [4, 4], [5, 5], [3, 4], [4, 3], [3, 3]],
    "cyclic": [[5, 4], [1, 0], [3, 2], [5, 5], [2, 3], [1, 1]],
    "side advantage": [[5, 1], [4, 1], [5, 0], [4, 0], [5, 1], [5, 2]],
}


def log_with(won):
    first, second = (side.astype(np.int64) for side in np.triu_indices(K, 1))
    n = np.tile([5.0, 5.0, 0.0], (len(first), 1))
    return Log(K, first, second, n, np.column_stack([won, np.zeros(len(first))]).astype(float))


@cache
def from_the_prior(name):
    """Return log odds of the pairs and side advantages, drawn from the prior."""
    kind = KINDS[name]
    rng, n = np.random.default_rng(8), 600_000
    first, second = np.triu_indices(K, 1)
    size = abs(rng.normal(size=(n, 1))) * 2.0
    z = rng.normal(size=(n, len(first)))
    score = rng.normal(size=(n, K))
    if kind == UNEVEN:
        spread = abs(rng.normal(size=(n, 1)))
        score *= size * np.exp(-(spread**2))
        odds = (score[:, first] - score[:, second]) * np.exp(spread * z)
    elif kind == FREE:
        part = rng.uniform(size=(n, 1))
        score *= size * np.sqrt(1 - part)
        odds = score[:, first] - score[:, second] + size * np.sqrt(2 * part) * z
    elif kind == RANKS:
        odds = np.sign(score[:, first] - score[:, second]) * size * np.sqrt(2) * abs(z)
        if name == "ranks with exceptions":
            odds *= np.where(rng.uniform(size=z.shape) < 0.5 * rng.uniform(size=(n, 1)), -1, 1)
    else:
        score *= size
        odds = score[:, first] - score[:, second]
    return odds, rng.normal(size=(n, 1))


def cyclic_shares(odds):
    """Return the part of each draw of log odds of the pairs that no scores explain."""
    first, second = np.triu_indices(K, 1)
    matrix = np.zeros((len(odds), K, K))
    matrix[:, first, second] = odds
    matrix -= matrix.transpose(0, 2, 1)
    middle = matrix.mean(axis=2)
    rest = matrix - (middle[:, :, None] - middle[:, None, :])
    return (rest**2).sum(axis=(1, 2)) / (matrix**2).sum(axis=(1, 2))


def model_of(name, log, rng):
    if KINDS[name] == RANKS:
        return RankModel(Sides(log), name == "ranks with exceptions", rng)
    return PairModel(log, KINDS[name])


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.slow
def test_evidence_and_share_are_those_of_draws_from_the_prior(world, name):
    """The integral over the prior, by 600,000 draws from it: no approximation of ours."""
    log = log_with(WORLDS[world])
    odds, order = from_the_prior(name)
    logs = np.zeros(len(odds))
    for side, sign in enumerate((1.0, -1.0)):
        won = log.won[:, side]
        lost = log.n[:, side] - won
        x = odds + sign * order
        logs += log_expit(x) @ won + log_expit(-x) @ lost
    weight = np.exp(logs - logs.max())
    kept = weight > 1e-9  # of 600,000 the others count for less than 0.001 together
    expected = (weight[kept] * cyclic_shares(odds[kept])).sum() / weight.sum()
    rng = np.random.default_rng(8)
    model = model_of(name, log, rng)
    # Of uneven rankings, several orders may fit: the evidence is that about one of them.
    near = 0.7 if KINDS[name] == UNEVEN else 0.3
    assert model.log_evidence == pytest.approx(logsumexp(logs) - np.log(len(logs)), abs=near)
    drawn = model.draw(1500, rng)
    found = [cyclic_share_of(drawn.odds(k, rng)) for k in range(1500)]
    assert np.mean(found) == pytest.approx(expected, abs=0.04)


def mean_over_orders(logs):
    """Return the log of the mean over all orders of the product of pairs, by subsets of arms.

    logs: of a pair's factor if the arm of the row leads, (K, K).
    """
    n_arms = len(logs)
    found = np.full(1 << n_arms, -np.inf)
    found[0] = 0.0
    for subset in range(1, 1 << n_arms):
        inside = [arm for arm in range(n_arms) if subset >> arm & 1]
        last = [found[subset ^ (1 << arm)] + logs[inside, arm].sum() for arm in inside]
        found[subset] = logsumexp(last)
    return found[-1] - np.log(np.arange(1, n_arms + 1)).sum()


def exact_evidence(sides, exceptions):
    """Return the log evidence at one probability of an exception, by the sum over all orders."""
    log = sides.log
    logs = []
    for middle, half in zip(sides.middle, sides.half, strict=True):
        of_pairs = np.zeros((log.n_arms, log.n_arms))
        of_pairs[log.first, log.second] = half
        of_pairs[log.second, log.first] = -half
        with np.errstate(divide="ignore"):
            mixed = np.logaddexp(np.log1p(-exceptions) + of_pairs, np.log(exceptions) + of_pairs.T)
        mixed[of_pairs == 0] = 0
        logs.append(middle + mean_over_orders(mixed))
    return logsumexp(logs)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("free", [0.0, 0.4])
@pytest.mark.parametrize("n_arms", [3, 6, 9])
@pytest.mark.slow
def test_particles_sum_over_orders(n_arms, free):
    """Beside the sum over all orders; the standard deviation over seeds is 0.15."""
    _, duels = world(n_arms, free, np.random.default_rng(n_arms))
    log = log_of(design_of(duels))
    sides = Sides(log)
    model = RankModel(sides, False, np.random.default_rng(0))
    exact = exact_evidence(sides, 0.0)
    assert model.log_evidence == pytest.approx(exact, abs=0.6)
    assert exact <= sides.most
    drawn = model.draw(400, np.random.default_rng(0))
    leads = -drawn.coefficients[:, :-1]
    assert sorted(leads[0]) == list(range(n_arms))
    odds = np.array([drawn.odds(k, np.random.default_rng(k)) for k in range(20)])
    assert not any(has_cycle(one, 1e-9) for one in odds)
    if n_arms == 9:
        return
    with_exceptions = RankModel(sides, True, np.random.default_rng(0))
    each = [exact_evidence(sides, 0.5 * point) for point in POINT]
    exact = logsumexp(each, b=WEIGHT)
    assert with_exceptions.log_evidence == pytest.approx(exact, abs=0.6)
    assert exact <= sides.most


OUTCOMES = [(2, 2), (0, 2), (1, 2), (40, 40), (0, 40), (20, 40), (1000, 1000), (700, 1000)]


@pytest.mark.parametrize(("won", "n"), OUTCOMES)
@pytest.mark.parametrize("spread", [0.5, 2.0, 20.0, 60.0])
@pytest.mark.sampled(3)
def test_a_pair_is_integrated_out(won, n, spread):
    """By SciPy, from panel to panel. A rule about the mode was 0.06 nats a pair off."""

    def log_density(z, d):
        return won * log_expit(d + spread * z) + (n - won) * log_expit(-d - spread * z) - z * z / 2

    def moments(d, lowest):
        z = np.linspace(lowest, 40, 200_001)
        logs = log_density(z, d)
        top = logs.max()
        live = z[logs > top - 40]
        panels = np.concatenate([np.linspace(live[0], live[-1], 60), z[logs.argmax()] + SHARP])
        panels = np.sort(panels[(panels >= live[0]) & (panels <= live[-1])])
        ends = list(pairwise(panels))

        def total(value):
            return sum(
                quad(lambda z: value(z) * np.exp(log_density(z, d) - top), *e)[0] for e in ends
            )

        mass = total(lambda z: 1.0)
        chance = total(lambda z: expit(d + spread * z)) / mass
        return top + np.log(mass / np.sqrt(2 * np.pi)), chance

    counts = np.array([[0.0, 0.0, n]])
    won_by_side = np.array([[0.0, 0.0, won]], float)
    arms = np.zeros(1, np.int64), np.ones(1, np.int64)
    for d in (-5.0, 0.3):
        exact, chance = moments(d, -40)
        found = of_scores(
            FREE, *arms, counts, won_by_side, np.array([d, 0.0, 0.0]), spread, np.zeros(1),
            np.zeros(3), np.zeros((3, 3)),
        )  # fmt: skip
        assert found == pytest.approx(exact, abs=1e-3)
        log = Log(2, *arms, counts, won_by_side)
        scores = np.tile([d, 0.0, 0.0], (2000, 1))
        drawn = Draws(log, FREE, scores, np.full(2000, spread), np.zeros(2000), np.zeros(1))
        levels = (np.arange(2000) + 0.5) / 2000
        chances = [expit(drawn.odds(k, Level(levels[k]))[0, 1]) for k in range(2000)]
        assert np.mean(chances) == pytest.approx(chance, abs=2e-3)
    sides = of_ranks(counts, won_by_side, spread, 0.0)[0]
    assert sides[0] == pytest.approx(moments(0.0, 0.0)[0] + np.log(2), abs=1e-3)


SHARP = np.array([-0.05, -0.01, -0.002, 0.002, 0.01, 0.05])


class Level:
    """A generator whose uniform numbers are one level."""

    def __init__(self, level):
        self.level = level

    def uniform(self, size):
        return np.full(size, self.level)

    def standard_normal(self, size):
        return np.zeros(size)


@pytest.mark.slow
def test_a_ranking_with_near_ties_is_told_from_exceptions():
    """Of roshambo it was said that there is one ranking: 58 pairs were swept against the order.

    Near ties would be split five times as often as swept against the order; here 20 are swept and
    6 split. Free residuals fit worse than ranks alone, as they hang on the distance of scores.
    """
    rng = np.random.default_rng(1)
    wins = 2 * np.triu(np.ones((24, 24), int), 1)
    pairs = rng.permutation(np.argwhere(wins))
    for k, (i, j) in enumerate(pairs[:26]):
        wins[i, j] = 0 if k < 20 else 1
        wins[j, i] = 2 - wins[i, j]
    found = check(bd.Duels.from_wins(wins), quick=True)
    models = found.ranking.models
    assert models["ranks alone"].log_evidence > models["free residuals"].log_evidence
    assert found.ranking.model_weights["ranks with exceptions"] > 0.9
    assert found.p_one_ranking < 0.01
    assert found.p_material_cycle > 0.95


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9, 1.0])
@pytest.mark.parametrize("n_duels", [2, 5, 10, 50, 200])
@pytest.mark.sampled(3)
def test_pairs_that_one_arm_always_wins_have_a_side_advantage(n_duels, share):
    """Sizes that are integrated out may bend the density of the side advantage the wrong way."""
    first, second = (side.astype(np.int64) for side in np.triu_indices(8, 1))
    listed_first = np.array([1.0, 0.0, 0.0])
    sweeps = np.random.default_rng(1).random(len(first)) < share
    n = n_duels * np.tile(listed_first, (len(first), 1))
    log = Log(8, first, second, n, n * sweeps[:, None])
    sides = Sides(log)
    model = RankModel(sides, False, np.random.default_rng(0))
    assert np.isfinite(model.log_evidence)
    assert model.log_evidence <= sides.most
    assert abs(sides.order[:, 0]).max() < 10


@pytest.mark.slow
def test_margins_unrelated_to_the_order_are_no_cycle():
    """Free residuals alone gave a material cycle 0.99 here."""
    rng = np.random.default_rng(12)
    ahead = np.sign(np.arange(12) - np.arange(12)[:, None])
    size = abs(np.triu(rng.normal(size=(12, 12)), 1))
    odds = ahead * (size + size.T)
    wins = np.triu(rng.binomial(40, 1 / (1 + np.exp(-odds))), 1)
    wins += np.tril(40 - wins.T, -1)
    found = check(bd.Duels.from_wins(wins), quick=True)
    assert found.ranking.model_weights["ranks alone"] > 0.8
    assert found.p_material_cycle < 0.05 and found.transitive


def test_the_nodes_do_not_hang_on_the_border():
    """A node that comes or goes there has no weight."""
    _, duels = world(5, 0.3, np.random.default_rng(4))
    model = PairModel(log_of(design_of(duels)), FREE)
    logs = [node.log_weight for node in model.nodes]
    nodes = [replace(node) for node in model.nodes]
    border = max(logs) - NEGLIGIBLE
    for shift in (-1e-9, 1e-9):
        nodes[0].log_weight = border + shift
        kept = sum(np.exp(node.log_weight) for node in _faded([replace(one) for one in nodes[1:]]))
        more = sum(np.exp(node.log_weight) for node in _faded([replace(one) for one in nodes]))
        assert more == pytest.approx(kept, rel=1e-10)


def test_the_part_that_scores_explain_is_that_of_least_squares():
    rng = np.random.default_rng(0)
    odds = np.triu(rng.normal(size=(7, 7)), 1)
    odds -= odds.T
    i, j = np.triu_indices(7, 1)
    design = np.zeros((len(i), 7))
    design[np.arange(len(i)), i] = 1
    design[np.arange(len(i)), j] = -1
    rest = np.linalg.lstsq(design, odds[i, j])[1]
    fitted = design @ np.linalg.lstsq(design, odds[i, j])[0]
    assert rest.size == 0  # the design has no full rank
    assert cyclic_share_of(odds) == pytest.approx(
        ((odds[i, j] - fitted) ** 2).sum() / (odds[i, j] ** 2).sum()
    )
    score = rng.normal(size=7)
    assert cyclic_share_of(score[:, None] - score) == 0


def test_top_cycles_are_smith_sets_and_cycles_are_those_of_a_search():
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(2, 9))
        odds = np.triu(rng.normal(size=(n, n)), 1)
        odds -= odds.T
        found = smith_set(1 / (1 + np.exp(-odds)))
        assert (top_cycle_of(odds) > 0).tolist() == found.tolist()
        steps = (odds >= 0.4).astype(float)
        reached = np.linalg.matrix_power(steps + np.eye(n), n) > 0
        around = (reached & (steps.T > 0)).any()
        assert has_cycle(odds, 0.4) == around


def world(n_arms, free, rng):
    score = rng.normal(size=n_arms)
    rest = np.triu(rng.normal(size=(n_arms, n_arms)), 1) * np.sqrt(2 * free / (1 - free))
    odds = score[:, None] - score + rest - rest.T
    wins = np.zeros((n_arms, n_arms), dtype=int)
    for i, j in zip(*np.triu_indices(n_arms, 1), strict=True):
        wins[i, j] = rng.binomial(40, 1 / (1 + np.exp(-odds[i, j])))
        wins[j, i] = 40 - wins[i, j]
    return odds, bd.Duels.from_wins(wins)


@pytest.mark.parametrize("free", [0.0, 0.2, 0.5])
@pytest.mark.slow
def test_the_share_of_a_world_is_found(free):
    odds, log = world(12, free, np.random.default_rng(21))
    found = ranking_posterior(design_of(log), log.arms, np.random.default_rng(0))
    share = found.cyclic_share
    assert share.lower - 1e-9 <= cyclic_share_of(odds) <= share.upper + 1e-9
    assert share.upper - share.lower < 0.35
    assert (found.p_one_ranking < 0.5) == (free > 0)  # of one half before the log is seen
    assert sum(found.model_weights.values()) == pytest.approx(1)
    assert sum(found.p_in_top_cycle.values()) >= 1 - 1e-9
    again = ranking_posterior(design_of(log), log.arms, np.random.default_rng(0))
    assert again.cyclic_share == share  # by the seed


@pytest.mark.slow
def test_a_larger_step_of_a_cycle_is_less_probable():
    _, log = world(8, 0.4, np.random.default_rng(3))
    chances = [check(log, quick=True, material=m).p_material_cycle for m in (0.55, 0.7, 0.9)]
    assert chances == sorted(chances, reverse=True) and chances[0] > chances[-1]


@pytest.mark.parametrize("wrong", [0.5, 1.0, "often", None])
def test_a_step_that_is_none_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="material should be"):
        check(bd.datasets.load("tennis1990"), quick=True, material=wrong)


def told(found, one, share, condorcet=0.5, material=0.5, top=("a",), uneven=0.0):
    weights = {"one score": one - uneven, "uneven ranking": uneven / 2, "ranks alone": uneven / 2}
    weights |= {"ranks with exceptions": 0.0, "free residuals": 1 - one}
    mean, lower, upper = share
    return replace(
        found,
        model_weights=weights,
        cyclic_share=CyclicShare(mean=mean, lower=lower, upper=upper),
        p_condorcet_winner=condorcet,
        p_material_cycle=material,
        p_in_top_cycle={arm: 0.9 if arm in top else 0.1 for arm in "abc"},
    )


def test_words_are_about_size():
    log = log_with(WORLDS["ordered"])
    design = design_of(bd.Duels.from_wins([[0, 3, 2], [1, 0, 4], [2, 1, 0]]))
    found = ranking_posterior(design, ("a", "b", "c"), np.random.default_rng(0))
    assert log.n_arms == K
    sure = told(found, 0.97, (0.001, 0.0, 0.02), 0.99, 0.001)
    assert "scores explain at least 98 % of the preferences" in headline_words(sure)
    assert advice_words(sure).startswith("Use the ranking")
    uneven = told(found, 0.97, (0.2, 0.1, 0.3), 0.99, 0.001, uneven=0.9)
    assert "margins differ from pair to pair: scores explain between 70 and 90 %" in (
        headline_words(uneven)
    )
    unknown = told(found, 0.54, (0.1, 0.0, 0.29))
    assert headline_words(unknown) == (
        "The log cannot tell whether there is one ranking. One ranking has probability 54 %. "
        "Yes needs 95 % or more, no needs 5 % or less. Scores explain between 71 and "
        "100 % of the preferences between arms."
    )
    none = told(found, 0.001, (0.13, 0.11, 0.14), 0.26, 0.97, top=("a", "b", "c"))
    assert headline_words(none).startswith(
        "13 % [11, 14] of the preferences between arms fit no ranking"
    )
    assert size_words(none).startswith("With probability 74 %, no arm beats all others.")
    assert "a, b and c" in size_words(none)
    assert "A single ranking is not appropriate" in advice_words(none)
    open_one = told(found, 0.5, (0.1, 0.0, 0.29), 0.87, top=())
    assert size_words(open_one).startswith("One arm beats every other with probability 87 %")
    small = told(found, 0.001, (0.13, 0.11, 0.14), 0.99, 0.01)
    assert size_words(small).startswith("a beats every other arm with probability 90 %.")
    assert advice_words(small).startswith("A ranking is a fair summary")
