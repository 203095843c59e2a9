"""Log densities of models against formulas written out here, in NumPy and SciPy."""

import numpy as np
import pandas as pd
import pytest
from pytensor.compile import Mode
from scipy import stats
from scipy.special import expit, log_expit

import bayesduel as bd
from bayesduel.models import BladeChest, BradleyTerry, Covariates, LogisticAttributes, Scores

POINTS = 5
PLAIN = Mode("py", None)  # no compiler: these graphs run a few times


def centred(free):
    """Return K numbers that sum to zero from K - 1, along the last axis, keeping lengths."""
    n_arms, total = free.shape[-1] + 1, free.sum(axis=-1, keepdims=True)
    rest = free - total / (n_arms + np.sqrt(n_arms))
    return np.concatenate([rest, -total / np.sqrt(n_arms)], axis=-1)


def compared(model, log, formula, seed):
    """Compare the model's log density with `formula` at a few points, given by its free values."""
    model = model.settled(log)
    built = model.build(log)
    density = built.compile_fn(built.logp(), mode=PLAIN)
    rng = np.random.default_rng(seed)
    start = built.initial_point()
    for _ in range(POINTS):
        point = {name: rng.normal(0.0, 0.7, np.shape(v)) for name, v in start.items()}
        assert float(density(point)) == pytest.approx(formula(point), rel=1e-8)


def items_of(n_items, n_attributes, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(3.0, 2.0, size=(n_items, n_attributes))
    frame = pd.DataFrame(values, columns=[f"x{k}" for k in range(n_attributes)])
    frame.insert(0, "item", [f"i{k}" for k in range(n_items)])
    return frame, (values - values.mean(axis=0)) / values.std(axis=0)


def log_half_normal(log_value, scale):
    """Return the log density of the logarithm of a half-normal number."""
    return stats.halfnorm.logpdf(np.exp(log_value), scale=scale) + log_value


def test_logistic_attributes():
    frame, standard = items_of(7, 2, seed=1)
    n, paid = np.array([9, 4, 2, 12, 7, 30, 1.0]), np.array([3, 4, 0, 5, 0, 18, 1.0])
    items = bd.read_items(frame)
    pulls = bd.Pulls(arms=items.labels, n=n, successes=paid)

    def formula(point):
        eta = point["intercept"] + standard @ point["coefficient"]
        prior = stats.norm.logpdf(point["intercept"], 0, 2.5)
        prior += stats.norm.logpdf(point["coefficient"], 0, 0.8).sum()
        return prior + stats.binom.logpmf(paid, n, expit(eta)).sum()

    compared(LogisticAttributes(items=items, scale=0.8), pulls, formula, seed=2)


def test_covariates_of_the_duel():
    """Every vote has its own covariates; here no two votes of a pair share them."""
    rng = np.random.default_rng(3)
    left = rng.integers(0, 4, 40)
    right = (left + rng.integers(1, 4, 40)) % 4
    left[:4], right[:4] = np.arange(4), (np.arange(4) + 1) % 4  # every arm, in this order
    won = rng.integers(0, 2, 40).astype(float)
    given = rng.normal(0.3, [1.5, 5.0], size=(40, 2))
    columns = {"length": given[:, 0], "lists": given[:, 1]}
    arms = ["a", "b", "c", "d"]
    duels = bd.Duels.from_votes(
        np.array(arms)[left], np.array(arms)[right], won, covariates=columns, arms=arms
    )
    deviation = np.sqrt((given**2).mean(axis=0))

    def formula(point):
        free, scale = point["score_free"], np.exp(point["scale_log__"])
        score, effect = centred(free), point["covariate_effect"]
        eta = score[left] - score[right] + given @ effect
        prior = log_half_normal(point["scale_log__"], 2.0)
        prior += stats.norm.logpdf(free, 0, scale).sum()
        prior += stats.norm.logpdf(effect, 0, 0.6 / deviation).sum()
        return prior + log_expit(np.where(won > 0, eta, -eta)).sum()

    model = BradleyTerry(Scores() + Covariates(["length", "lists"], scale=0.6))
    compared(model, duels, formula, seed=4)


def test_blade_chest_with_two_planes():
    rng = np.random.default_rng(5)
    wins = np.triu(rng.integers(0, 9, (6, 6)), 1)
    losses = np.triu(rng.integers(0, 9, (6, 6)), 1)
    duels = bd.Duels.from_wins(wins + losses.T, [f"{i}" for i in range(6)])

    def formula(point):
        free = point["score_free"]
        scale, first = np.exp(point["scale_log__"]), np.exp(point["first_plane_standard_log__"])
        shrink = expit(point["shrink_standard_logodds__"])
        sizes = np.array([first, first * shrink[0]])
        score = centred(free)
        blade, chest = centred(point["blade_free"]), centred(point["chest_free"])
        eta = score[:, None] - score
        for size, b, c in zip(sizes, blade, chest, strict=True):
            eta = eta + size * (np.outer(b, c) - np.outer(c, b))
        prior = log_half_normal(point["scale_log__"], 2.0)
        prior += stats.norm.logpdf(free, 0, scale).sum()
        prior += log_half_normal(point["first_plane_standard_log__"], 0.5)
        prior += stats.beta.logpdf(shrink, 1, 2).sum() + np.log(shrink * (1 - shrink)).sum()
        prior += stats.norm.logpdf(point["blade_free"]).sum()
        prior += stats.norm.logpdf(point["chest_free"]).sum()
        upper = np.triu_indices(6, 1)
        met = (wins + losses)[upper]
        return prior + stats.binom.logpmf(wins[upper], met, expit(eta[upper])).sum()

    compared(BradleyTerry() + BladeChest(planes=2, prior=0.5), duels, formula, seed=6)
