"""Agreement of judges with one another, and the position bias of each.

Judges are compared on units: a pair of arms or, where the log has groups (prompts, contexts), a
pair within a group. The agreement of a judge on a unit is the probability that a decided vote of
this judge and a decided vote of another judge on the unit, each drawn at random, name the same
arm; a judge who votes at random agrees in one half. Ties are left out. Its standard of comparison
is the agreement of the other judges among themselves on the same units, so that a judge of
difficult units is not blamed for them.

References
----------
Zheng et al., "Judging LLM-as-a-judge with MT-Bench and Chatbot Arena", NeurIPS 2023, section 4
and appendix D.3 (agreement of two random votes; the agreement among people as its standard).
Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
Statistics 1979.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit, logit, stdtr, stdtrit

from bayesduel.data.duels import Duels
from bayesduel.data.teams import Teams
from bayesduel.data.votes import Votes, distinct, pair_codes
from bayesduel.intervals import Z95, rejected, wilson
from bayesduel.posterior.draws import check_fit, draws_of
from bayesduel.records import Result
from bayesduel.system.arguments import as_options, check_log, did_you_mean, texts_of
from bayesduel.text import join, percent

__all__ = ["JudgeAgreement", "decided_votes", "judge_agreement", "units_of"]

# Units shared with two other judges from which a judge is tested: of fewer an error of an agreement
# is above 0.2.
LEAST_UNITS = 5


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class JudgeAgreement(Result):
    """The result of :func:`judge_agreement`.

    Attributes
    ----------
    unit
        What judges are compared on: "pair" or "pair and group".
    drop
        Judges who agree less than the other judges, at a family-wise error rate of 5 %.
    table
        One row per judge, those who agree least (against the others on the same units) first.
    groups
        Agreement within and between the two groups of judges, or None without a second group.
    """

    unit: str
    drop: tuple[str, ...]
    table: pd.DataFrame
    groups: pd.DataFrame | None

    @property
    def sentence(self) -> str:
        """Which judges to leave out, if any, and why."""
        tested = int(self.table["p"].count())
        n = len(self.table)
        if not tested:
            return (
                f"The agreement of judges cannot be compared: no judge shares {LEAST_UNITS} units "
                f"(each a {self.unit}) with two other judges."
            )
        among = f"of {tested:,} judges compared"
        if n > tested:
            among += f" ({n:,} in the log)"
        if not self.drop:
            return (
                "The votes do not show that a judge agrees less with the others than chance "
                f"explains ({among}, family-wise error rate 5 %). "
                "Agreement gives no reason to leave a judge out."
            )
        dropped = list(self.drop)
        rows = self.table.set_index("judge").loc[dropped]
        shown = []
        for judge, row in rows.iterrows():
            own = percent(row["agreement"])
            others = percent(row["others"])
            shown.append(f"{judge} ({own} % against {others} %)")
        agree = "agree"
        again = "To see what these judges change, fit again without their votes."
        if len(self.drop) == 1:
            agree = "agrees"
            again = "To see what this judge changes, fit again without its votes."
        return (
            f"{len(self.drop):,} {among} {agree} less with the "
            "others than the others agree among themselves, on the same units "
            f"(family-wise error rate 5 %): {join(shown)}. {again}"
        )


def judge_agreement(
    duels: Duels, fit: xr.DataTree | None = None, *, against: Iterable[str] = ()
) -> JudgeAgreement:
    """Return how each judge agrees with the others, and the position bias of each.

    :func:`bayesduel.panel` has the repeatability and the circular triads of each judge, and the
    tests of a panel.

    Parameters
    ----------
    duels
        A log with judges.
    fit
        A fit of it, for the position bias: how likely left was to win without it. Default: no
        position bias.
    against
        Judges of a second group (a model among people): every judge of the first group is also
        compared with the second, and the groups with each other. Judges of the two groups are
        not counted as others of one another.

    Returns
    -------
    A :class:`JudgeAgreement`. Its table has the columns ``judge``, ``votes``, ``ties`` (share),
    ``units`` (shared with another judge), ``agreement``, ``agreement_lower``,
    ``agreement_upper`` (mean over units; Wilson's 95 % interval, a unit counted as one trial),
    ``others`` (agreement of the others among themselves, on the units with two others or more),
    ``difference``, ``difference_lower``, ``difference_upper`` (of the two on these units, 95 %
    by Student's t) and ``p`` (two-sided; NaN for fewer than five such units); with `against`,
    ``group`` (1 or 2) and ``second``, ``second_lower``, ``second_upper`` (agreement with the
    other group); with `fit`, where sides carry a meaning, ``left``, ``left_lower``,
    ``left_upper``: probability that left wins between equal arms, 95 % interval, under a
    Normal(0, 1) prior of its log odds.

    Raises
    ------
    ValueError
        If the log has no judges, or `against` is not some but not all of them.

    Examples
    --------
    >>> agreement = bd.judge_agreement(bd.datasets.load("tversky1969"))
    >>> agreement.drop
    ()
    """
    check_log(duels, Duels)
    against = texts_of(against, "against")
    if fit is not None:
        check_fit(fit)
    votes = duels.votes
    if votes is None or votes.judge is None:
        raise ValueError(
            f"the log has no judges: name the column of the judges by {as_options(judge='COLUMN')}"
        )
    n_judges = len(votes.judges)
    second = _second_group(tuple(against), votes.judges)
    groups = np.ones(n_judges, dtype=int)
    groups[second] = 2
    unit, shared = units_of(duels, votes)
    vote = decided_votes(votes, unit, groups)
    judge = votes.judge
    weight = votes.weight
    named = judge >= 0
    tied = named & (votes.outcome == 0)
    total = np.bincount(judge[named], weight[named], n_judges)
    ties = np.bincount(judge[tied], weight[tied], n_judges)
    n_votes = total.astype(int)
    table = pd.DataFrame({"judge": votes.judges, "votes": n_votes})
    with np.errstate(invalid="ignore", divide="ignore"):
        table["ties"] = ties / total
    if len(second):
        table["group"] = groups
    against_others = _against_others(vote, n_judges)
    table = table.assign(**against_others)
    between = None
    if len(second):
        with_second = vote.with_others(across=True)
        across = _by_judge(vote.judge, with_second, n_judges, "second")
        del across["units"]
        table = table.assign(**across)
        between = _between(vote)
    left_won = duels.cells.left_wins.sum()
    right_won = duels.cells.right_wins.sum()
    if fit is not None and duels.ordered and left_won and right_won:
        bias = _position_bias(votes, fit, duels.teams)
        table = table.join(bias, on="judge")
    drop = _below(table)
    table = table.sort_values("difference", kind="stable", na_position="last", ignore_index=True)
    return JudgeAgreement(table=table, groups=between, unit=shared, drop=drop)


def _second_group(against: tuple[str, ...], judges: tuple[str, ...]) -> np.ndarray:
    known = {label: k for k, label in enumerate(judges)}
    unknown = [label for label in against if label not in known]
    if unknown:
        hint = did_you_mean(unknown[0], judges)
        raise ValueError(f"against should name judges of the log, got {unknown[0]!r}{hint}")
    if len(set(against)) == len(judges):
        raise ValueError(
            "against should not name all judges: at least one belongs to the other group"
        )
    found = {known[label] for label in against}
    return np.array(sorted(found), dtype=int)


def units_of(duels: Duels, votes: Votes) -> tuple[np.ndarray, str]:
    """Return the unit of each vote, -1 where its group is missing, and what a unit is."""
    pair = pair_codes(votes.left, votes.right, duels.n_sides)
    if votes.group is None or len(votes.groups) < 2:
        _, unit = distinct(pair)
        return unit, "pair"
    grouped = votes.group >= 0
    pair_in_group = pair * len(votes.groups) + votes.group
    key = np.where(grouped, pair_in_group, -1)
    _, unit = distinct(key)
    return np.where(grouped, unit, -1), "pair and group"


@dataclass(frozen=True)
class _Decided:
    """Decided votes by judge and unit: one entry for each judge on each unit."""

    judge: np.ndarray  # of each entry; `group` is 1 or 2
    unit: np.ndarray
    group: np.ndarray
    n: np.ndarray  # number of its votes, and those for the first arm less those for the second
    s: np.ndarray
    n_units: int  # number of units

    def sums(self, values: np.ndarray, group: int) -> np.ndarray:
        """Return the sums of an entry's values over a group of judges, by unit."""
        kept = self.group == group
        return np.bincount(self.unit[kept], values[kept], self.n_units)

    def of_group(self, values: np.ndarray, *, across: bool = False) -> np.ndarray:
        """Return the sums over the judge's own group (or the other one) on the unit, by entry."""
        of_first = self.sums(values, 1)[self.unit]
        of_second = self.sums(values, 2)[self.unit]
        asks_first = (self.group == 1) != across
        return np.where(asks_first, of_first, of_second)

    def with_others(self, *, across: bool = False) -> np.ndarray:
        """Return the agreement of an entry with other judges' votes; NaN where there are none."""
        n = self.of_group(self.n, across=across)
        s = self.of_group(self.s, across=across)
        if not across:
            n = n - self.n
            s = s - self.s
        with np.errstate(invalid="ignore", divide="ignore"):
            own_mean = self.s / self.n
            mean_product = own_mean * s / n
            agreement = (1 + mean_product) / 2
        return np.where(n > 0, agreement, np.nan)

    def of_others(self, values: np.ndarray) -> np.ndarray:
        """Return the sums over the other judges of the judge's own group on the unit, by entry."""
        return self.of_group(values) - values

    def among_others(self) -> np.ndarray:
        """Return the agreement of the others of the group among themselves, by entry."""
        n = self.of_others(self.n)
        s = self.of_others(self.s)
        n_squared = self.of_others(self.n**2)
        s_squared = self.of_others(self.s**2)
        return _agreement(n, s, n_squared, s_squared)

    def within(self, group: int) -> np.ndarray:
        """Return the agreement of two judges of a group, by unit; NaN where there are not two."""
        return _agreement(
            self.sums(self.n, group),
            self.sums(self.s, group),
            self.sums(self.n**2, group),
            self.sums(self.s**2, group),
        )

    def between(self) -> np.ndarray:
        """Return the agreement of a judge of each group, by unit; NaN where one has no vote."""
        n1 = self.sums(self.n, 1)
        n2 = self.sums(self.n, 2)
        s1 = self.sums(self.s, 1)
        s2 = self.sums(self.s, 2)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean1 = s1 / n1
            mean_product = mean1 * s2 / n2
            agreement = (1 + mean_product) / 2
        both_voted = (n1 > 0) & (n2 > 0)
        return np.where(both_voted, agreement, np.nan)


def _agreement(n: np.ndarray, s: np.ndarray, n2: np.ndarray, s2: np.ndarray) -> np.ndarray:
    """Return how often two votes by different judges agree, from sums and sums of squares."""
    pairs = n**2 - n2
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_product = (s**2 - s2) / pairs
        agreement = (1 + mean_product) / 2
    return np.where(pairs > 0, agreement, np.nan)


def decided_votes(votes: Votes, unit: np.ndarray, groups: np.ndarray) -> _Decided:
    """Return the decided votes of named judges on units, counted by judge and unit.

    unit: of each vote, -1 where it has none.
    groups: of each judge, 1 or 2.
    """
    assert votes.judge is not None
    decided = votes.outcome != 0
    named = votes.judge >= 0
    kept = decided & named & (unit >= 0)
    taken = votes.take(kept)
    judge_of_vote = votes.judge[kept]
    unit_of_vote = unit[kept]
    known, place = distinct(judge_of_vote, unit_of_vote)
    weight = taken.weight.astype(float)
    # 1 for the arm that comes first in the log's list of arms, -1 for the other
    in_order = taken.left < taken.right
    sign = np.where(in_order, taken.outcome, -taken.outcome)
    judge = judge_of_vote[known]
    return _Decided(
        judge=judge,
        unit=unit_of_vote[known],
        group=groups[judge],
        n=np.bincount(place, weight, len(known)),
        s=np.bincount(place, weight * sign, len(known)),
        n_units=int(unit.max(initial=-1)) + 1,
    )


def _by_judge(judge: np.ndarray, each: np.ndarray, n: int, name: str) -> dict[str, np.ndarray]:
    """Return each judge's mean over units with its interval, and the number of units."""
    known = ~np.isnan(each)
    at = judge[known]
    n_units = np.bincount(at, minlength=n)
    total = np.bincount(at, each[known], n)
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = wilson(total, n_units)
        mean = total / n_units
    return {"units": n_units, name: mean, f"{name}_lower": low, f"{name}_upper": high}


def _against_others(vote: _Decided, n: int) -> dict[str, np.ndarray]:
    """Return the agreement of each judge with the others of the group, and that of these."""
    with_others = vote.with_others()
    among = vote.among_others()
    found = _by_judge(vote.judge, with_others, n, "agreement")
    apart = with_others - among
    known = ~np.isnan(apart)
    apart = apart[known]
    at = vote.judge[known]
    m = np.bincount(at, minlength=n)
    df = m - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        of_others = among[known]
        others = np.bincount(at, of_others, n) / m
        mean = np.bincount(at, apart, n) / m
        squares = (apart - mean[at]) ** 2
        variance = np.bincount(at, squares, n) / df
        error = np.sqrt(variance / m)
        error = np.maximum(error, 1e-12)
        error[m < LEAST_UNITS] = np.nan
        half = stdtrit(df, 0.975) * error
        t = np.abs(mean / error)
        p = 2 * stdtr(df, -t)
    return found | {
        "others": others,
        "difference": mean,
        "difference_lower": mean - half,
        "difference_upper": mean + half,
        "p": p,
    }


def _position_bias(votes: Votes, fit: xr.DataTree, teams: Teams | None) -> pd.DataFrame:
    """Return the probability that left wins between equal arms, by judge.

    The log odds of a judge have a Normal(0, 1) prior; the posterior mode and the curvature there
    give the interval. The scores of the fit are taken as known.
    """
    assert votes.judge is not None
    named = votes.judge >= 0
    kept = named & (votes.outcome != 0)
    judge = votes.judge[kept]
    decided = votes.take(kept)
    weight = decided.weight.astype(float)
    won = (decided.outcome > 0).astype(float)
    offset = _log_odds_of_left(decided, fit, teams)
    n_judges = len(votes.judges)
    bias = np.zeros(n_judges)
    # Newton's method, with steps of at most 1
    for _ in range(50):
        p = expit(offset + bias[judge])
        residual = weight * (won - p)
        variance = weight * p * (1 - p)
        slope = np.bincount(judge, residual, n_judges) - bias
        curve = np.bincount(judge, variance, n_judges) + 1.0
        full_step = slope / curve
        step = np.clip(full_step, -1.0, 1.0)
        bias = bias + step
        longest = np.abs(step).max(initial=0.0)
        if longest < 1e-10:
            break
    half = Z95 / np.sqrt(curve)
    columns = {
        "left": expit(bias),
        "left_lower": expit(bias - half),
        "left_upper": expit(bias + half),
    }
    index = pd.Index(votes.judges, name="judge")
    return pd.DataFrame(columns, index=index)


def _log_odds_of_left(votes: Votes, fit: xr.DataTree, teams: Teams | None) -> np.ndarray:
    """Return the log odds of left in each vote, by the scores of a fit, without its side."""
    draws, _, _ = draws_of(fit)
    low, high = np.sort([votes.left, votes.right], axis=0)
    known, pair = distinct(low, high)
    first = low[known]
    second = high[known]
    neutral = {"first": first, "second": second}
    neutral |= draws.model.seats(teams, first, second)
    # 400 draws, of which the mean is taken
    step = max(1, draws.n_draws // 400)
    some = draws.rows(slice(None, None, step))
    chances = draws.model.expected_score(some, neutral)
    uncertain = np.clip(chances.mean(0), 1e-6, 1 - 1e-6)
    log_odds = logit(uncertain)[pair]
    return np.where(low == votes.left, log_odds, -log_odds)


def _below(table: pd.DataFrame) -> tuple[str, ...]:
    """Return the judges who agree less than the others by Holm's procedure, the least first."""
    tested = table.dropna(subset="p").sort_values("p", kind="stable")
    # Family-wise error rate of "agrees less than the other judges": 0.05
    n_rejected = rejected(tested["p"], 0.05)
    found = tested.head(n_rejected)
    lower = found[found["difference"] < 0]
    lower = lower.sort_values(["difference", "judge"])
    return tuple(map(str, lower["judge"]))


def _between(vote: _Decided) -> pd.DataFrame:
    """Return the agreement within each group and between them, over the units that serve it."""
    found = {
        "within first": vote.within(1),
        "within second": vote.within(2),
        "between": vote.between(),
    }
    rows = []
    for name, agreement in found.items():
        known = ~np.isnan(agreement)
        rows.append(_interval(name, agreement[known]))
    return pd.DataFrame(rows)


def _interval(name: str, each: np.ndarray) -> dict[str, Any]:
    m = len(each)
    mean = float(each.mean()) if m else np.nan
    half = np.nan
    if m > 1:
        quantile = stdtrit(m - 1, 0.975)
        sd = each.std(ddof=1)
        half = float(quantile * sd / np.sqrt(m))
    return {
        "judges": name,
        "units": m,
        "agreement": mean,
        "agreement_lower": max(mean - half, 0.0),
        "agreement_upper": min(mean + half, 1.0),
    }
