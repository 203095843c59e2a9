"""Nodes of the scales: draws have the density they say, and thin logs are not certified."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_t

import bayesduel as bd
from bayesduel.inference import latent_gaussian
from bayesduel.inference.draws import Proposals
from bayesduel.inference.fit import UncertifiedWarning
from bayesduel.inference.latent_gaussian import FREEDOM, LatentGaussian
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.inference.psis import importance_weights
from bayesduel.inference.sample import sample
from bayesduel.models import BradleyTerry, RandomEffects, Scores, SideAdvantage, Sources

MODEL = BradleyTerry(Scores() + RandomEffects("judge"))


def judged(outcomes, seed):
    """Return a log of three arms: how often the first of each pair won, and lost."""
    rng = np.random.default_rng(seed)
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    votes = [
        (*pair, float(won))
        for pair, (wins, losses) in zip(pairs, outcomes, strict=True)
        for won in [1] * wins + [0] * losses
    ]
    left, right, won = zip(*votes, strict=True)
    judges = [f"j{k}" for k in rng.integers(0, 4, len(votes))]
    return bd.Duels.from_votes(list(left), list(right), np.array(won), judge=judges)


@pytest.fixture(scope="module")
def approximation():
    log = judged([(12, 8), (14, 6), (11, 9)], seed=1)
    model = MODEL.settled(log)
    cells = model.cells(log)
    return LatentGaussian.of(linear_predictor(model, cells), cells)


def test_wide_draws_are_students(approximation):
    wide = replace(approximation, wide=True)
    drawn, log_density = wide._standard(200, np.random.default_rng(0))
    size = approximation.density.size
    expected = multivariate_t(shape=np.eye(size), df=FREEDOM).logpdf(drawn)
    np.testing.assert_allclose(log_density, expected, rtol=1e-12)


@pytest.mark.slow
def test_weights_of_wide_draws_give_the_same_posterior(approximation):
    """Weighted means of coefficients and log scales, within five of their errors."""
    found = []
    for kind in (approximation, replace(approximation, wide=True)):
        made = kind.propose(8000, np.random.default_rng(2))
        psis = importance_weights(made.log_ratio)
        assert psis.khat < 0.7
        both = np.concatenate([made.x, made.hyper], axis=1)
        mean = psis.weights @ both
        variance = psis.weights @ (both - mean) ** 2
        found.append((mean, variance / psis.effective))
    (mean, error), (other, more) = found
    assert (np.abs(mean - other) < 5 * np.sqrt(error + more)).all()


def by_source(n_people, n_machine, correlation, seed):
    """Return a log of people and a machine, whose scores are as correlated, of eight arms."""
    rng = np.random.default_rng(seed)
    people, own = rng.normal(size=(2, 8))
    scores = np.array([people, correlation * people + np.sqrt(1 - correlation**2) * own])
    source = np.repeat([0, 1], [n_people, n_machine])
    left = rng.integers(0, 8, len(source))
    right = (left + rng.integers(1, 8, len(source))) % 8
    chance = 1 / (1 + np.exp(scores[source, right] - scores[source, left]))
    names, arms = np.array(["people", "machine"]), np.array(list("abcdefgh"))
    won = (rng.random(len(source)) < chance) * 1.0
    return bd.Duels.from_votes(
        arms[left], arms[right], won, keep={"source": names[source]}, arms=list(arms)
    )


@pytest.mark.parametrize("correlation", [0.99, pytest.param(0.0, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_scattered_nodes_tell_what_a_lattice_does(monkeypatch, correlation):
    """Moments of scores and log scales; the correlation's tail is long where it is near one."""
    log = by_source(150, 1500, correlation, seed=3)
    model = BradleyTerry(Sources("source", target="people")).settled(log)
    cells, found = model.cells(log), []
    for scattered in (False, True):
        if scattered:
            monkeypatch.setattr(latent_gaussian, "lattice", lambda *_: None)
        approximation = LatentGaussian.of(linear_predictor(model, cells), cells)
        assert approximation.scattered == scattered
        made = approximation.propose(3_000, np.random.default_rng(5))
        psis = importance_weights(made.log_ratio)
        assert psis.khat < 0.7
        both = np.concatenate([made.x, made.hyper], axis=1)
        mean = psis.weights @ both
        found.append((mean, np.sqrt(psis.weights @ (both - mean) ** 2)))
    (mean, deviation), (other, spread) = found
    assert np.abs((other - mean) / deviation).max() < 0.1
    np.testing.assert_allclose(spread, deviation, rtol=0.15)


@pytest.mark.slow
def test_four_scales_are_those_of_nuts():
    """A composite design alone was certified with half of the deviation of the third group's."""
    rng = np.random.default_rng(0)
    n, n_arms = 1500, 8
    scores = rng.normal(size=n_arms)
    judge, prompt, left = (rng.integers(0, size, n) for size in (8, 10, n_arms))
    right = (left + rng.integers(1, n_arms, n)) % n_arms
    taste, hard = 0.5 * rng.normal(size=(8, n_arms)), 0.4 * rng.normal(size=(10, n_arms))
    eta = scores + taste[judge] + hard[prompt]
    chance = 1 / (1 + np.exp(eta[np.arange(n), right] - eta[np.arange(n), left]))
    arms = np.array([f"a{k}" for k in range(n_arms)])
    kept = {
        "prompt": prompt.astype(str),
        "rater": judge.astype(str),
        "topic": (prompt % 3).astype(str),
    }
    log = bd.Duels.from_votes(arms[left], arms[right], (rng.random(n) < chance) * 1.0, keep=kept)
    terms = Scores() + RandomEffects("prompt") + RandomEffects("rater") + RandomEffects("topic")
    model = BradleyTerry(terms + SideAdvantage(by="rater"))
    fast, slow = (bd.fit(log, model, way, draws=4000, clusters=False) for way in ("auto", "pymc"))
    assert fast.attrs["method"] == "laplace"
    for name in ("scale", "prompt_scale", "rater_scale", "topic_scale"):
        ours, theirs = (np.log(f["posterior"][name].to_numpy()) for f in (fast, slow))
        assert abs(ours.mean() - theirs.mean()) < 0.15 * theirs.std()
        assert ours.std() == pytest.approx(theirs.std(), rel=0.15)


class Drawn:
    """An approximation whose draws have ratios that are told."""

    def __init__(self, ratios, after=None):
        self.ratios, self.after = ratios, after

    def propose(self, n, rng, *, log_likelihood=False):
        ratio = self.ratios(np.random.default_rng(1), n)
        return Proposals(rng.normal(size=(n, 1)), np.zeros((n, 0)), ratio, np.zeros(n), None)

    def parameters(self, x, hyper, rng):
        return {"x": x[:, 0]}

    def refined(self, proposals, weights):
        return self.after

    def certified(self, proposals, rng, progress=None):
        return None

    def summary(self):
        return {}

    class model:
        complete = staticmethod(lambda drawn, cells, rng: drawn)

    cells = None


def test_weights_that_are_trusted_win_over_more_effective_ones():
    """Ratios with a heavy tail are worth less than those that are bounded, if these vary more."""
    heavy = Drawn(lambda rng, n: (-0.9 * np.log((np.arange(n) + 0.5) / n) - 2.6).clip(0))
    bounded = Drawn(lambda rng, n: -rng.exponential(60.0, n))
    heavy.after = bounded
    first = importance_weights(heavy.propose(2000, np.random.default_rng(0)).log_ratio)
    second = importance_weights(bounded.propose(2000, np.random.default_rng(0)).log_ratio)
    assert first.khat > 0.7 > second.khat and first.effective > second.effective
    assert sample(heavy, 2000, np.random.default_rng(0)).certificate.khat < 0.7


@pytest.mark.slow
def test_an_arm_that_always_wins_is_not_certified_by_hope():
    """Normal draws are 0.8 standard deviations off here; a short Gibbs chain once passed them."""
    log = judged([(20, 0), (20, 0), (20, 0)], seed=0)
    with pytest.warns(UncertifiedWarning):
        fit = bd.fit(log, MODEL, "laplace", clusters=False)
    assert fit.attrs["shortfall"]
