"""Residuals of pairs as a term: places and signs, NUTS, cycles, pairs that never met."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.models import BradleyTerry, PairEffects, named

ARMS = [*"abcd"]


def table():
    """Return wins of a log that is cyclic at the top; c and d never met."""
    wins = np.array([[0, 9, 2, 8], [3, 0, 9, 9], [10, 3, 0, 0], [4, 3, 0, 0]])
    return bd.Duels.from_wins(wins, ARMS)


def test_each_pair_has_a_place_and_a_sign():
    term = PairEffects()
    first, second = (side.ravel() for side in np.indices((4, 4)))
    (touch,) = term.design({"first": first, "second": second})
    names = term.coords(table())["matchup"]
    assert len(names) == 6
    for place, sign, i, j in zip(*touch.at, touch.value, first, second, strict=True):
        if i == j:
            assert sign == 0
            continue
        assert names[place] == " - ".join(sorted((ARMS[i], ARMS[j])))
        assert sign == (1 if i < j else -1)


@pytest.mark.parametrize("method", ["laplace", pytest.param("nuts", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_draws_are_those_of_nuts(method):
    """Of residuals, their scale and P, also of the pair that never met."""
    model = BradleyTerry() + PairEffects()
    found = bd.fit(table(), model, method, draws=2000, seed=1)
    exact = bd.fit(table(), model, "nuts", draws=2000, seed=2)
    spread = exact.posterior["pair_residual"].std(("chain", "draw"))
    for fit in (found, exact):
        assert fit.posterior["pair_residual"].dims == ("chain", "draw", "matchup")
    apart = (found.posterior["pair_residual"] - exact.posterior["pair_residual"]).mean(
        ("chain", "draw")
    )
    assert float((abs(apart) / spread).max()) < 0.15
    means = [float(fit.posterior["pair_scale"].mean()) for fit in (found, exact)]
    assert means[0] == pytest.approx(means[1], rel=0.08)
    P = [np.concatenate([*bd.preference_draws(fit)]) for fit in (found, exact)]
    np.testing.assert_allclose(P[0].mean(axis=0), P[1].mean(axis=0), atol=0.02)
    np.testing.assert_allclose(P[0].std(axis=0), P[1].std(axis=0), atol=0.02)


@pytest.mark.slow
def test_cycles_are_possible_and_a_pair_that_never_met_is_unsure():
    fit = bd.fit(table(), "bradley-terry + pair-residuals", seed=1)
    found = bd.winners(fit)
    assert not fit.duel.model.criteria_agree
    assert 0.02 < float(found["condorcet_exists"]) < 0.9
    P = np.concatenate([*bd.preference_draws(fit)])
    assert P[:, 2, 3].std() > P[:, 0, 1].std()
    np.testing.assert_allclose(P + P.transpose(0, 2, 1), 1)


@pytest.mark.parametrize("model", ["davidson + order", "thurstone", "bradley-terry + random:judge"])
@pytest.mark.sampled(1)
def test_it_stands_beside_order_ties_and_judges(model):
    rng = np.random.default_rng(3)
    left = rng.integers(0, 4, 160)
    right = (left + rng.integers(1, 4, 160)) % 4
    odds = 0.5 + np.where((right - left) % 4 == 1, 1.5, -0.2)
    won = (rng.random(160) < 1 / (1 + np.exp(-odds))).astype(float)
    won[rng.random(160) < 0.15] = 0.5
    names = np.array(ARMS)
    log = bd.Duels.from_votes(
        names[left], names[right], won, judge=[f"j{k}" for k in rng.integers(0, 4, 160)]
    )
    fit = bd.fit(log, named(f"{model} + pair-residuals"), draws=400, seed=1)
    assert float(fit.posterior["pair_scale"].mean()) > 0.2
    assert "pair_residual" in fit.posterior
    assert bd.winners(fit).attrs["verdict"]


def test_two_arms_are_refused():
    two = bd.Duels.from_wins([[0, 30], [10, 0]])
    with pytest.raises(ValueError, match="at least three arms, because cycles need three, got 2"):
        bd.fit(two, BradleyTerry() + PairEffects())
