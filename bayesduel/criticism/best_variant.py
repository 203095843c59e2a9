"""The best of several variants of one model: how much of its lead is selection.

Variants of a family differ less than models of different families do, so that the best of n owes
part of its score to chance. Their differences are given a normal prior whose standard deviation is
learned from the family itself, with a half-normal prior that expects it, with probability 0.95,
below that of all arms; the posterior of the fit stands for what the votes say of them. The
score of the best variant then moves towards the mean of the family: by how much is the selection.

References
----------
Singh et al., "The Leaderboard Illusion", NeurIPS 2025 (best of n variants on a leaderboard).
Efron & Morris, "Data analysis using Stein's estimator and its generalizations", JASA 1975; Gelman,
Hill & Yajima, "Why we (usually) don't have to worry about multiple comparisons", Journal of
Research on Educational Effectiveness 2012 (partial pooling in place of a correction).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from bayesduel.intervals import with_interval
from bayesduel.posterior.draws import Draws
from bayesduel.system.arguments import check_type, did_you_mean, shown_value, texts_of

__all__ = ["family_of", "selection_of"]

GRID = 60  # values of the standard deviation of a family, a fifteenth of its prior scale apart


def family_of(variants: Any, arms: Sequence[str]) -> dict[str, list[int]]:
    """Return the arms of each family, indices.

    Raises TypeError or ValueError if `variants` is not lists of at least two arms by family, an arm
    is in two of them, or none is outside a family.
    """
    check_type(variants, Mapping, "variants", "lists of arms by family")
    found: dict[str, list[int]] = {}
    taken: set[str] = set()
    for family, named in variants.items():
        labels = texts_of(named, f"variants[{family!r}]")
        for label in labels:
            if label not in arms:
                hint = did_you_mean(label, arms)
                raise ValueError(
                    f"variants should be arms of the log, got {shown_value(label)}{hint}"
                )
        members = dict.fromkeys(labels)
        if not 2 <= len(members) < len(arms):
            raise ValueError(
                f"variants[{family!r}] should be two arms or more, and not all, got {list(labels)}"
            )
        twice = taken.intersection(members)
        if twice:
            raise ValueError(f"an arm should be in one family only, got {min(twice)!r} in two")
        taken.update(members)
        found[str(family)] = [arms.index(label) for label in members]
    return found


def selection_of(
    draws: Draws,
    families: Mapping[str, list[int]],
    arms: Sequence[str],
    ci_prob: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return how much of the score of each family's best variant is selection.

    draws: of a fit that ranks by scores.
    families: arms by family, as :func:`family_of` returns them.
    arms: labels.
    ci_prob: probability of the intervals.
    Returns one row a family, by its name: ``variants``, the ``best`` by its mean score, the best
    ``rival`` outside the family, ``lead`` (of best over rival, as fitted), ``selection`` (how far
    the score of the best moves towards its family), ``lead_pooled`` (what is left), each with
    ``_lower`` and ``_upper``, ``probability`` (that the lead that is left is above 0),
    ``family_lead`` (of the family's mean over the rival) with its interval, and ``spread`` (of the
    variants, posterior mean of the standard deviation).
    """
    score = np.asarray(draws.score, dtype=float)
    mean = score.mean(axis=0)
    # Scale of its half-normal prior, in standard deviations of all arms' scores: 0.5
    # Scale, of arms that are all alike: 1e-6
    scale = max(0.5 * float(mean.std()), 1e-6)
    all_arms = np.arange(len(mean))
    rows = []
    for members in families.values():
        outside = np.setdiff1d(all_arms, members)
        place = int(mean[members].argmax())
        best_outside = int(mean[outside].argmax())
        rival = outside[best_outside]
        of_members = score[:, members]
        apart = of_members - score[:, [rival]]
        all_pooled, spread = _pooled(apart, scale, rng)
        lead = apart[:, place]
        pooled = all_pooled[:, place]
        row: dict[str, Any] = {
            "variants": len(members),
            "best": arms[members[place]],
            "rival": arms[rival],
        }
        row |= with_interval("lead", lead, ci_prob)
        row |= with_interval("selection", lead.mean() - pooled, ci_prob)
        row |= with_interval("lead_pooled", pooled, ci_prob)
        row |= with_interval("family_lead", apart.mean(axis=1), ci_prob)
        row["probability"] = (pooled > 0).mean()
        row["spread"] = spread
        rows.append(row)
    return pd.DataFrame(rows, index=pd.Index(list(families), name="family"))


def _pooled(apart: np.ndarray, scale: float, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Return draws of leads, partially pooled, (draws, n), and the mean of their spread.

    `apart` are draws as fitted, whose mean and covariance stand for the likelihood; the spread has
    a half-normal prior of a scale, the mean of the family a flat one.
    """
    n_draws, n = apart.shape
    mean = apart.mean(axis=0)
    covariance = np.cov(apart.T)
    one = np.ones(n)
    unit = np.eye(n)
    # Values up to 4 scales: 6e-5 of the prior is beyond
    middle = np.arange(GRID) + 0.5
    grid = middle / GRID * 4.0 * scale
    log_density = np.empty(GRID)  # of the spread, twice
    centres = np.empty((GRID, n))
    roots = np.empty((GRID, n, n))
    for k, spread in enumerate(grid):
        variance = spread**2
        precision = np.linalg.inv(covariance + variance * unit)
        weight = precision @ one
        total = weight @ one
        family = weight @ mean / total
        away = mean - family
        _, log_determinant = np.linalg.slogdet(precision)
        of_family = np.log(total)
        of_leads = away @ precision @ away
        of_prior = (spread / scale) ** 2
        log_density[k] = log_determinant - of_family - of_leads - of_prior
        kept = variance * precision
        centres[k] = family + kept @ away
        lost = one - kept @ one  # how the leads move with the mean of the family
        within = variance * (unit - kept)
        of_mean = np.outer(lost, lost) / total
        whole = within + of_mean
        symmetric = (whole + whole.T) / 2
        roots[k] = np.linalg.cholesky(symmetric + 1e-12 * unit)
    below = log_density - log_density.max()
    density = np.exp(below / 2)
    which = rng.choice(GRID, n_draws, p=density / density.sum())
    normal = rng.standard_normal((n_draws, n))
    moved = np.einsum("dij,dj->di", roots[which], normal)
    leads = centres[which] + moved
    return leads, float(grid[which].mean())
