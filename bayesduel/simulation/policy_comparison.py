"""Policies compared over runs and problems: interquartile means, profiles, ratios with intervals.

A run's relative regret is its regret divided by the mean regret of a reference policy on the same
problem, so that problems of different size count alike.

References
----------
Agarwal, Schwarzer, Castro, Courville & Bellemare, "Deep reinforcement learning at the edge of the
statistical precipice", NeurIPS 2021: the interquartile mean over runs and problems, performance
profiles, the stratified bootstrap. Deviation: the bootstrap also resamples the problems, unless
they are said to be fixed. Yuen, "The two-sample trimmed t for unequal population variances",
Biometrika 1974, for intervals of trimmed means, here of pairs and of ratios. Holm, "A simple
sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 1979.
"""

from typing import Literal

import numpy as np
import xarray as xr

from bayesduel.intervals import adjusted, check_ci_prob
from bayesduel.simulation.regret import Cost, regret
from bayesduel.system.arguments import check_one_of, shown_value, whole

__all__ = ["compare_policies", "compare_regrets"]

TRIMMED = 0.25  # from each end, which leaves the middle half: Agarwal et al., section 4.3
N_RATIOS = 101  # points of a profile


def compare_policies(
    trace: xr.DataTree,
    reference: str | None = None,
    criterion: str | Cost | None = None,
    *,
    problems: Literal["sampled", "fixed"] = "sampled",
    ci_prob: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> xr.Dataset:
    """Compare the policies of a trace by their regret at its end, with intervals.

    Parameters
    ----------
    trace
        What :func:`bayesduel.simulate` returned, of one or several problems; of one problem with
        two replications at least.
    reference
        Label of the policy that others are compared with. Default: the first.
    criterion
        As for :func:`bayesduel.regret`.
    problems
        Whether problems are "sampled" from more like them, so that intervals are about further
        problems, or "fixed", so that they are about further runs of these.
    ci_prob
        Of all intervals, in (0, 1).
    resamples
        Bootstrap samples, at least 1.
    seed
        Of the bootstrap.

    Returns
    -------
    By ``policy``: `iqm`, the interquartile mean of the relative regrets (of all runs and problems,
    the middle half), with `iqm_low` and `iqm_high` by the bootstrap; `ratio`, the geometric mean
    over problems of the mean regret divided by that of the reference, with the t interval
    `ratio_low` and `ratio_high` of its logarithm, over problems where they are sampled and there
    are several, over runs otherwise; `p`, two-sided, that the ratio is 1, and `p_adjusted` by
    Holm's procedure for all policies but the reference; `iqm_ratio`, `iqm_ratio_low` and
    `iqm_ratio_high`, the same of interquartile means over runs (rare runs decide the mean of some
    policies; ten runs do not know them, and the interval of `ratio` is too short there); `lower`,
    the share of runs with less regret than the reference, ties a half. By ``policy`` and
    ``ratio_at``: `profile`, the share of runs with a relative regret up to that, with `profile_low`
    and `profile_high` by the bootstrap (pointwise).

    Raises
    ------
    ValueError
        If `reference` is not a policy of the trace or has no regret on a problem, there is one run
        (of several problems that are sampled it is enough), a setting is out of range, or as
        :func:`bayesduel.regret` does.

    Examples
    --------
    >>> problems = ["cyclic-4", "mslr-5", "arxiv-6"]
    >>> policies = [bd.Uniform(), bd.RUCB(), bd.DTS()]
    >>> trace = bd.simulate(policies, problems, 2000, replications=5, seed=0)
    >>> bd.compare_policies(trace, resamples=200)["ratio"].to_series().round(1)
    policy
    Uniform    1.0
    RUCB       0.5
    DTS        0.2
    Name: ratio, dtype: float64
    """
    last = regret(trace, criterion).isel(time=-1, drop=True)
    return compare_regrets(
        last, reference, problems=problems, ci_prob=ci_prob, resamples=resamples, seed=seed
    )


def compare_regrets(
    regrets: xr.DataArray,
    reference: str | None = None,
    *,
    problems: Literal["sampled", "fixed"] = "sampled",
    ci_prob: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> xr.Dataset:
    """Return what ``compare_policies`` does, of regrets (problem, policy, replication).

    ``problem`` may be missing. Raises ValueError as it does.
    """
    check_ci_prob(ci_prob)
    check_one_of(problems, "problems", ("sampled", "fixed"))
    resamples = whole(resamples, "resamples", 1)
    rng = np.random.default_rng(whole(seed, "seed", 0))
    if "problem" not in regrets.dims:
        regrets = regrets.expand_dims("problem")
    values = regrets.transpose("policy", "problem", "replication").values
    known = regrets["policy"].values.tolist()
    reference = known[0] if reference is None else reference
    if reference not in known:
        raise ValueError(f"reference should be one of {known}, got {shown_value(reference)}")
    _, n_problems, n_runs = values.shape
    over_problems = problems == "sampled" and n_problems > 1
    if n_runs < 2 and not over_problems:
        raise ValueError(
            "trace should have two runs of each policy on each problem at least, got 1"
        )
    base = values[known.index(reference)]
    own = base.mean(axis=1, keepdims=True)
    if not (own > 0).all():
        raise ValueError(f"reference should have regret on every problem, got {reference!r}")

    relative = values / own
    positive = relative[relative > 0]
    ratios = np.geomspace(positive.min(), positive.max(), N_RATIOS)
    ends = (50 * (1 - ci_prob), 50 * (1 + ci_prob))
    drawn = [
        _summary(_resampled(relative, problems == "sampled", rng), ratios) for _ in range(resamples)
    ]
    means, profiles = (
        np.percentile(np.array(part), ends, axis=0) for part in zip(*drawn, strict=True)
    )
    mean, profile = _summary(relative, ratios)
    ratio, low, high, p = _ratios(values, base, ci_prob, over_problems)
    middle = _ratios(values, base, ci_prob, over_problems, TRIMMED)
    others = np.array([name != reference for name in known])
    p[~others] = np.nan
    p_adjusted = p.copy()
    p_adjusted[others] = adjusted(p[others])
    lower = (values < base).mean((1, 2)) + (values == base).mean((1, 2)) / 2
    of_policy = {
        "iqm": mean, "iqm_low": means[0], "iqm_high": means[1],
        "ratio": ratio, "ratio_low": low, "ratio_high": high,
        "p": p, "p_adjusted": p_adjusted, "lower": lower,
        "iqm_ratio": middle[0], "iqm_ratio_low": middle[1], "iqm_ratio_high": middle[2],
    }  # fmt: skip
    shares = {"profile": profile, "profile_low": profiles[0], "profile_high": profiles[1]}
    return xr.Dataset(
        {name: ("policy", found) for name, found in of_policy.items()}
        | {name: (("policy", "ratio_at"), found) for name, found in shares.items()},
        coords={"policy": known, "ratio_at": ratios},
        attrs={"reference": reference, "ci_prob": ci_prob, "problems": problems, **regrets.attrs},
    )


def _resampled(relative: np.ndarray, sampled: bool, rng: np.random.Generator) -> np.ndarray:
    """Return a bootstrap sample: problems, if `sampled`, and runs within each of them."""
    _, n_problems, n_runs = relative.shape
    chosen = np.arange(n_problems)
    if sampled:
        chosen = rng.integers(n_problems, size=(n_problems,))
    runs = rng.integers(n_runs, size=(n_problems, n_runs))
    return relative[:, chosen[:, None], runs]


def _summary(relative: np.ndarray, ratios: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return interquartile means, (policies,), and profiles, (policies, ratios)."""
    from scipy import stats

    each = np.sort(relative.reshape(len(relative), -1), axis=1)
    profile = np.array([np.searchsorted(runs, ratios, side="right") for runs in each])
    return stats.trim_mean(each, TRIMMED, axis=1), profile / each.shape[1]


def _ratios(
    values: np.ndarray, base: np.ndarray, ci_prob: float, over_problems: bool, trim: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return geometric mean ratios to `base`, the ends of their intervals, and p values.

    Of means without the share `trim` of the runs at each end. Over runs, the variance of a
    problem's log ratio is that of the paired differences of relative regrets (the delta method),
    winsorised where they are trimmed; the degrees of freedom are those of one problem's runs that
    are left, added.
    """
    from scipy import stats

    n_problems, n_runs = base.shape
    cut = int(trim * n_runs)
    left = n_runs - 2 * cut
    means, own = (stats.trim_mean(part, trim, axis=-1) for part in (values, base))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(means / own)
        if over_problems:
            error, freedom = logs.std(axis=1, ddof=1) / np.sqrt(n_problems), n_problems - 1
        else:
            apart = _winsorised(values, cut) / means[..., None]
            apart = apart - _winsorised(base, cut) / own[:, None]
            variance = (n_runs - 1) * apart.var(axis=2, ddof=1) / (left * (left - 1))
            error = np.sqrt(variance.sum(axis=1)) / n_problems
            freedom = n_problems * (left - 1)
        centre = logs.mean(axis=1)
        half = stats.t.ppf((1 + ci_prob) / 2, freedom) * error
        p = 2 * stats.t.sf(abs(centre) / error, freedom)
    return np.exp(centre), np.exp(centre - half), np.exp(centre + half), p


def _winsorised(values: np.ndarray, cut: int) -> np.ndarray:
    """Return the runs with the `cut` lowest and highest set to the nearest that is left."""
    ordered = np.sort(values, axis=-1)
    last = values.shape[-1] - 1
    return np.clip(values, ordered[..., cut, None], ordered[..., last - cut, None])
