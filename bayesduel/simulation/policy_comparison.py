"""Policies compared over runs and problems: ratios, profiles, and intervals that assume no law.

A run's ratio is its regret divided by that of the reference policy in the same run, which has the
same order of the arms and the same outcomes. Two runs without regret are equal.

Rare runs with a wrong winner decide the mean regret of some policies. Ten runs seldom hold one, so
that no interval from them knows the mean; interquartile means fail where a quarter of the runs go
wrong (docs/validation/arena.md counts both). Medians and shares have intervals that hold for every
law.

References
----------
Conover, "Practical Nonparametric Statistics", 3rd edition, section 3.4: the sign test. Agarwal,
Schwarzer, Castro, Courville & Bellemare, "Deep reinforcement learning at the edge of the
statistical precipice", NeurIPS 2021: interquartile means and performance profiles. Deviation: no
bootstrap. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
Statistics 1979.
"""

import numpy as np
import xarray as xr

from bayesduel.intervals import adjusted, check_ci_prob, clopper_pearson, median_interval
from bayesduel.records import Record
from bayesduel.simulation.regret import Cost, regret
from bayesduel.system.arguments import shown_value
from bayesduel.system.options import Decision

__all__ = ["PolicyComparison", "compare_policies", "compare_regrets"]


class PolicyComparison(Record):
    """Policies compared, which print as a table with a row for each policy."""

    __slots__ = ()

    def __repr__(self) -> str:
        from bayesduel.reporting.policy_comparison import comparison_notes

        return self._printed((), comparison_notes(self), whole='["ratio"].to_series()')


def compare_policies(
    trace: xr.DataTree,
    reference: str | None = None,
    criterion: str | Cost | None = None,
    *,
    ci_prob: float = Decision.ci_prob,
) -> PolicyComparison:
    """Compare the policies of a trace by their regret at its end, with intervals.

    Of several problems, intervals are about further problems like these. Of one problem, they are
    about further runs.

    Parameters
    ----------
    trace
        What :func:`bayesduel.simulate` returned, of one or several problems.
    reference
        Label of the policy that others are compared with. Default: the first.
    criterion
        As for :func:`bayesduel.regret`.
    ci_prob
        Of all intervals, in (0, 1): they hold at least so often.

    Returns
    -------
    A record, which prints as a table; its ``.to_dataset()`` is an ``xarray.Dataset``.

    By ``policy``, in the order of the trace: `ratio`, the
    median over runs of the ratio of regrets to the reference (of several problems, the median over
    them of each one's median), with `ratio_low` and `ratio_high`, which are 0 and infinite where
    there are too few runs or problems to tell (under 6 at 95 %); `p`, two-sided by the sign test,
    that the median is 1, and `p_adjusted` by Holm's procedure for all policies but the reference;
    `lower`, the share of runs with less regret than the reference,
    ties a half; `iqm_ratio`, the mean of the middle half of all ratios, and `mean_ratio`, the
    geometric mean over problems of the ratio of mean regrets: both have no interval, since rare
    runs can decide them. By ``policy`` and ``ratio_at``: `profile`, the share of runs with a ratio
    up to that, with `profile_low` and `profile_high` (pointwise).

    Raises
    ------
    ValueError
        If `reference` is not a policy of the trace, `ci_prob` is out of range, or as
        :func:`bayesduel.regret` does.

    Examples
    --------
    >>> policies = [bd.policies.Uniform(), bd.policies.RUCB(), bd.policies.DTS()]
    >>> trace = bd.simulate(policies, "mslr-5", 2000, replications=10, seed=0)
    >>> bd.compare_policies(trace)["ratio"].to_series().round(1)
    policy
    Uniform    1.0
    RUCB       0.4
    DTS        0.2
    Name: ratio, dtype: float64
    """
    last = regret(trace, criterion).isel(time=-1, drop=True)
    return compare_regrets(last, reference, ci_prob=ci_prob)


def compare_regrets(
    regrets: xr.DataArray, reference: str | None = None, *, ci_prob: float = Decision.ci_prob
) -> PolicyComparison:
    """Return what ``compare_policies`` does, of regrets (problem, policy, replication).

    ``problem`` may be missing. Raises ValueError as it does.
    """
    check_ci_prob(ci_prob)
    if "problem" not in regrets.dims:
        regrets = regrets.expand_dims("problem")
    values = regrets.transpose("policy", "problem", "replication").values
    known = regrets["policy"].values.tolist()
    reference = known[0] if reference is None else reference
    if reference not in known:
        raise ValueError(f"reference should be one of {known}, got {shown_value(reference)}")
    place = known.index(reference)
    logs = _log_ratios(values, values[place])
    medians = _medians(logs, place, ci_prob)
    means = _without_interval(values, logs, place)
    of_policy = medians | means
    finite = logs[np.isfinite(logs)]
    # 101 points of a profile
    at = np.linspace(finite.min(), finite.max(), 101)
    shares = _profiles(logs, place, at, ci_prob)
    made = xr.Dataset(
        {name: ("policy", found) for name, found in of_policy.items()}
        | {name: (("policy", "ratio_at"), found) for name, found in shares.items()},
        coords={"policy": known, "ratio_at": np.exp(at)},
        attrs={"reference": reference, "ci_prob": ci_prob, **regrets.attrs},
    )
    return PolicyComparison(made)


def _log_ratios(values: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Return the logarithms of the ratios to the reference in the same run."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(values) - np.log(base)
    return np.where(values == base, 0.0, ratios)


def _medians(logs: np.ndarray, place: int, ci_prob: float) -> dict[str, np.ndarray]:
    """Return median ratios with intervals and tests, over problems or the runs of the only one."""
    from scipy import stats

    _, n_problems, _ = logs.shape
    units = logs[:, 0] if n_problems == 1 else np.median(logs, axis=2)
    low, high = median_interval(units, ci_prob)
    less = (units < 0).sum(axis=1)
    more = (units > 0).sum(axis=1)
    fewer = np.minimum(less, more)
    tail = stats.binom.cdf(fewer, less + more, 0.5)
    p = np.minimum(2 * tail, 1.0)
    others = np.arange(len(p)) != place
    p[place] = np.nan
    p_adjusted = p.copy()
    p_adjusted[others] = adjusted(p[others])
    return {
        "ratio": np.exp(np.median(units, axis=1)),
        "ratio_low": np.exp(low),
        "ratio_high": np.exp(high),
        "p": p,
        "p_adjusted": p_adjusted,
    }


def _without_interval(values: np.ndarray, logs: np.ndarray, place: int) -> dict[str, np.ndarray]:
    """Return what a reader may ask for beside the medians."""
    from scipy import stats

    means = values.mean(axis=2)
    ratios = np.exp(logs)
    of_runs = ratios.reshape(len(logs), -1)
    less = (logs < 0).mean(axis=(1, 2))
    equal = (logs == 0).mean(axis=(1, 2))
    of_means = _log_ratios(means, means[place])
    # A quarter from each end, which leaves the middle half: Agarwal et al., section 4.3
    return {
        "lower": less + equal / 2,
        "iqm_ratio": stats.trim_mean(of_runs, 0.25, axis=1),
        "mean_ratio": np.exp(of_means.mean(axis=1)),
    }


def _profiles(
    logs: np.ndarray, place: int, at: np.ndarray, ci_prob: float
) -> dict[str, np.ndarray]:
    """Return the shares of runs up to each log ratio, (policies, points), with their ends.

    The ratio of the reference, at `place`, is 1 in any run: its share is known. Of several
    problems, each counts as one trial: the runs of one are not independent.
    """
    _, n_problems, n_runs = logs.shape
    n_units = n_problems if n_problems > 1 else n_runs
    of_runs = logs.reshape(len(logs), -1)
    ordered = np.sort(of_runs, axis=1)
    counts = [np.searchsorted(runs, at, side="right") for runs in ordered]
    share = np.array(counts) / ordered.shape[1]
    n_up_to = share * n_units
    low, high = clopper_pearson(n_up_to, n_units, ci_prob)
    low[place] = share[place]
    high[place] = share[place]
    return {"profile": share, "profile_low": low, "profile_high": high}
