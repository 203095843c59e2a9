"""Posterior predictive checks by group: whether a model describes every judge, topic and period.

In each group two statistics are held against replicated outcomes of the same duels: how often the
arm that the model favours won (of margins, by how much), and how far arms are off what is expected
of them in that group.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.criticism.levels import grouped, levels_by, rows_of_columns, size_of, without_votes
from bayesduel.criticism.replicated_logs import conditions_of_log, duel_by_duel
from bayesduel.data.duels import Duels
from bayesduel.intervals import TAILS95, rejected
from bayesduel.models.response import expected_score
from bayesduel.posterior.draws import chunks, draws_of
from bayesduel.system.arguments import check_log, whole
from bayesduel.text import join

if TYPE_CHECKING:
    from bayesduel.models.model import Model

__all__ = ["check_groups"]


def check_groups(
    fit: xr.DataTree, duels: Duels, by: str, *, draws: int = 400, seed: int = 0
) -> pd.DataFrame:
    """Compare outcomes with replicated ones, group by group.

    Parameters
    ----------
    fit
        A fit of any model of duels.
    duels
        The log that was fitted; `by` need not be in the model. A soft vote counts by its share, as
        in the fit, while replicates are whole votes: p-values of soft votes are conservative.
        Sampling weights are left out.
    by
        "judge", "group", "category", "pair", "time" (ten periods of about as many votes each), or a
        column that was kept.
    draws
        How many draws of the posterior, evenly spread.
    seed
        Of the replicates.

    Returns
    -------
    One row per group, the most surprising first, indexed by its label: ``duels``; ``observed``
    (share of the duels won by the arm that the model favours, a tie counting half; of margins, the
    mean by which that arm won), ``expected``, ``lower``, ``upper`` (mean and 95 % interval of
    replicates); ``misfit`` (mean over arms of the squared residual sum over its variance) and
    ``misfit_expected`` (about 1); and ``p_value`` of a misfit as large: twice the posterior
    predictive share, which is valid and conservative (Meng 1994). ``attrs["sentence"]`` names the
    groups that differ (familywise level 0.05, Holm's rule).

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the log is not that of the fit.

    References
    ----------
    Gelman, Meng & Stern, "Posterior predictive assessment of model fitness via realized
    discrepancies", Statistica Sinica 1996. Meng, "Posterior predictive p-values", Annals of
    Statistics 1994.

    Examples
    --------
    >>> duels = bd.datasets.load("tennis1990")
    >>> table = bd.check_groups(bd.fit(duels), duels, "pair")
    >>> list(table.columns[:3])
    ['duels', 'observed', 'expected']
    """
    check_log(duels, Duels)
    duels = duels.as_plain() if fit.attrs.get("plain", 1) else duels.unweighted()
    draws = whole(draws, "draws", 20)
    seed = whole(seed, "seed", 0)
    found, labels, _ = draws_of(fit, "model")
    log = duel_by_duel(duels)
    n_fitted = int(fit.attrs["n_duels"])
    if log.arms != labels or duels.n_duels != n_fitted:
        raise ValueError(
            f"duels should be the log of the fit ({len(labels)} arms, "
            f"{n_fitted:,} duels), got {len(log.arms)} and {duels.n_duels:,}"
        )
    group, names = levels_by(log, by)
    log = without_votes(log, group < 0)
    group = group[group >= 0]
    used = found.spread(draws)
    posterior = found.rows(used)
    model = found.model
    observed, expected, misfits = _statistics(model, posterior, log, group, seed)
    real, replicated = misfits
    size = np.bincount(group, minlength=len(names))
    as_large = replicated >= real
    n_as_large = as_large.sum(axis=0)
    share = (1 + n_as_large) / (1 + len(used))
    lower, upper = np.quantile(expected, TAILS95, axis=0)
    columns = {
        "duels": size,
        "observed": observed,
        "expected": expected.mean(axis=0),
        "lower": lower,
        "upper": upper,
        "misfit": real.mean(axis=0),
        "misfit_expected": replicated.mean(axis=0),
        "p_value": np.minimum(1.0, 2 * share),
    }
    frame = pd.DataFrame(columns, index=pd.Index(names, name=by))
    frame = frame[size > 0]
    frame = frame.sort_values(["p_value", "misfit"], ascending=[True, False])
    sentence = _sentence(frame, by)
    frame.attrs |= {"by": by, "draws": len(used), "sentence": sentence}
    return frame


def _statistics(
    model: "Model", posterior: dict[str, np.ndarray], log: Duels, group: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return the favourite's mean result, replicated ones, and misfits, real and replicated.

    Shapes (groups,), (draws, groups) and twice (draws, groups).
    """
    votes: Any = log.votes
    given = conditions_of_log(model, log)
    rng = np.random.default_rng(seed)
    margins = model.response.outcome == "margin"
    if margins:
        outcome = votes.margin
        level = 0.0
    else:
        outcome = votes.counts @ [1.0, 0.0, 0.5]
        level = 0.5
    n_groups = int(group.max()) + 1
    n_arms = log.n_sides
    by_group = grouped(group, n_groups)
    size = np.maximum(size_of(by_group), 1.0)
    first_arm = group * n_arms  # an arm of a group has a number of its own
    n_numbers = n_groups * n_arms
    left = grouped(first_arm + votes.left, n_numbers)
    right = grouped(first_arm + votes.right, n_numbers)
    signed = left - right
    both = left + right
    mean, _ = _moments(model, posterior, given, margins)
    favourite = np.sign(mean.mean(axis=0) - level)

    def result(made: np.ndarray) -> np.ndarray:
        ahead = favourite * (made - level) + level
        return np.asarray(ahead @ by_group) / size

    def misfit(off: np.ndarray, variance: np.ndarray) -> np.ndarray:
        of_arms = np.asarray(off @ signed)
        scale = np.asarray(variance @ both)
        met = scale > 0
        square = np.zeros_like(of_arms)
        np.divide(of_arms**2, scale, out=square, where=met)
        shape = (len(off), n_groups, n_arms)
        n_met = met.reshape(shape).sum(axis=2)
        total = square.reshape(shape).sum(axis=2)
        return total / np.maximum(n_met, 1)

    replicates = []
    real = []
    replicated = []
    # 4,000,000 draws x duels worked on at once
    for part in chunks(len(mean), 4_000_000 // len(group)):
        here = rows_of_columns(posterior, part)
        mean, variance = _moments(model, here, given, margins)
        made = model.replicate(here, given, rng)
        replicates.append(result(made))
        real.append(misfit(outcome - mean, variance))
        replicated.append(misfit(made - mean, variance))
    observed = result(outcome[None])[0]
    misfits = np.concatenate(real), np.concatenate(replicated)
    return observed, np.concatenate(replicates), misfits


def _moments(
    model: Any, posterior: dict[str, np.ndarray], given: dict[str, np.ndarray], margins: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance (of heavy tails: squared scale) of each outcome, (draws, duels)."""
    if margins:
        middle, spread, _ = model.margins(posterior, given)
        return middle, np.broadcast_to(spread**2, middle.shape)
    chances = model.outcomes(posterior, given)
    mean = expected_score(chances)
    tie = np.asarray(chances.get("tie", 0.0))
    square = chances["win"] + tie / 4
    return mean, square - mean**2


def _sentence(frame: pd.DataFrame, by: str) -> str:
    """Return in words which groups the model does not describe."""
    n = len(frame)
    # Familywise level of the groups that the sentence names: 0.05
    n_off = rejected(frame["p_value"], 0.05)
    if not n_off:
        least = frame["p_value"].min()
        return f"The model describes all {n} groups by {by} (smallest p = {least:.2g})."
    off = [str(label) for label in frame.index[:n_off]]
    most = frame["p_value"].iloc[n_off - 1]
    return (
        f"The model does not describe {n_off} of {n} groups by {by} (p at most "
        f"{most:.2g}): {join(off, 5, quote=True)}."
    )
