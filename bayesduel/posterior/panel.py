"""A panel of judges in the words of sensory analysis: classical tests beside the posterior.

The design: few arms (products), each judge sees each pair once or twice. The tests are in
:mod:`bayesduel.posterior.rank_sum_tests`; preferences and their intervals are those of a fit. Two
properties of each judge are shrunk towards the panel by
:func:`bayesduel.posterior.judge_rates.judge_rates`: agreement, the probability that a decided vote
names the same arm as one of another judge on the same unit, as in
:func:`bayesduel.judge_agreement` (a unit counts as one trial); and repeatability, the probability
that the judge votes the same way on the same unit again (r votes count as r / 2 trials, the number
of pairs of votes that share none).
"""

import re
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.data.duels import Duels
from bayesduel.data.votes import Votes, distinct
from bayesduel.inference.fit import fit as fit_log
from bayesduel.intervals import adjusted, clopper_pearson, with_interval
from bayesduel.posterior.draws import Draws, check_fit, draws_of
from bayesduel.posterior.judge_agreement import decided_votes, units_of
from bayesduel.posterior.judge_rates import judge_rates
from bayesduel.posterior.rank_sum_tests import (
    ChiSquareTest,
    KendallAgreement,
    RankSums,
    circular_triads_by_chance,
    critical_count,
    duels_needed,
    equality_test,
    friedman_test,
    kendall_agreement,
    panel_power,
    preference_power,
    rank_sums,
)
from bayesduel.preference import borda_scores, consistence, cyclic_triads, decided_triads
from bayesduel.records import Result
from bayesduel.system.arguments import by_reader, check_log, check_seed
from bayesduel.system.options import Decision, check_options
from bayesduel.text import EXAMPLES, LEAST_P, count, join, percent, probability, shorten

__all__ = ["Panel", "panel"]

POWER = 0.8  # for which the number of votes is said, as sensory texts have it
MOST_ARMS = 100  # draws of all pairs of more, and matrices of each judge, would fill the memory
MOST_JUDGES = 2_000  # likewise
NO_JUDGES = "the log does not name judges"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Panel(Result):
    """The result of :func:`bayesduel.panel`.

    A part that cannot be computed is a text with the reason.

    Attributes
    ----------
    equality
        The test that all arms are alike: Durbin's, or that of Skillings and Mack where pairs were
        not judged equally often.
    friedman
        Friedman's test of the arms as each judge ranks them by its points.
    agreement
        Kendall's coefficient of agreement, over judges who decided every pair.
    differences
        Significant differences of two rank sums.
    arms
        One row per arm, the best rank sum first: ``duels``, ``wins``, ``ties``, ``losses``,
        ``rank_sum`` (1 for a win, 2 for a loss, 1.5 for a tie), ``letters`` (arms that share one do
        not differ by the honestly significant difference; "" without it), and from the fit
        ``win_rate``, ``win_rate_lower``, ``win_rate_upper``.
    pairs
        One row per pair that met, ``first`` the arm with more wins: ``first_wins``, ``ties``,
        ``second_wins``, ``n`` (decided votes), ``share`` of `n`, ``share_lower``,
        ``share_upper`` (exact), ``p`` (binomial, two-sided), ``p_adjusted`` (Holm), ``critical``
        (fewest votes for one arm that are significant; more than `n` where no number is),
        ``power`` to detect `effect`; and from the fit ``preferred`` (the probability that first is
        preferred, a tie as half), ``preferred_lower``, ``preferred_upper`` and ``above`` (the
        posterior probability that it is over one half).
    judges
        One row per judge: ``judge``, ``votes``, ``ties``; ``repeats`` (units that it judged more
        than once), ``repeatability`` with ``_lower`` and ``_upper`` (NaN where nobody repeats);
        ``units`` (shared with others), ``agreement`` with ``_lower`` and ``_upper`` (NaN where
        nobody shares); ``triads`` (all three pairs decided), ``circular`` (of them),
        ``consistence`` (Kendall's zeta; NaN unless every pair is decided) and ``p_chance``
        (probability that votes by chance have as few circular triads).
    n_duels, n_ties, n_judges, n_repeated
        Duels; ties among them; judges who are named; judges on units with several votes of theirs.
    power
        Of the test of equality, where one arm is preferred by `effect` to each other one.
    needed
        Votes of a pair that would detect `effect` with probability 0.8; None beyond 100,000.
    alpha, effect, ci_prob
        As given.
    """

    equality: ChiSquareTest | str
    friedman: ChiSquareTest | str
    agreement: KendallAgreement | str
    differences: RankSums | str
    arms: pd.DataFrame
    pairs: pd.DataFrame
    judges: pd.DataFrame | str
    n_duels: int
    n_ties: int
    n_judges: int
    n_repeated: int
    power: float
    needed: int | None
    alpha: float
    effect: float
    ci_prob: float

    @property
    def sentence(self) -> str:
        """Significance, effect and power, of the panel and of its pairs, and the judges."""
        of_arms = [self._design, self._equality, self._pairs, self._contradicted, self._power]
        of_judges = [self._agreement, self._judges, self._dependence]
        return " ".join(filter(None, [*of_arms, *of_judges]))

    @property
    def significant(self) -> pd.DataFrame:
        """The pairs that differ at the level `alpha` after Holm's correction."""
        differs = self.pairs["p_adjusted"] <= self.alpha
        return self.pairs[differs]

    @property
    def _design(self) -> str:
        who = ""
        if self.n_judges:
            who = f" by {count(self.n_judges, 'judge')}"
        ties = ""
        if self.n_ties:
            ties = f", {count(self.n_ties, 'tie')} among them"
        arms = count(len(self.arms), "arm")
        pairs = count(len(self.pairs), "pair")
        votes = count(self.n_duels, "vote")
        return f"{arms} in {pairs}: {votes}{who}{ties}."

    @property
    def _equality(self) -> str:
        test = self.equality
        if isinstance(test, str):
            return f"The arms cannot be tested: {test}."
        found = f"The arms do not differ at {100 * self.alpha:g} %"
        if test.p <= self.alpha:
            found = "The arms differ significantly"
        return f"{found} ({test.name} test: {chi_square_words(test)})."

    @property
    def _pairs(self) -> str:
        found = self.significant.sort_values("p")
        level = f"{100 * self.alpha:g} % (exact binomial tests, Holm's correction)"
        if not len(found):
            return f"No pair differs at {level}."
        clearest = found.head(EXAMPLES).to_dict("records")
        shown = [self._pair(row) for row in clearest]
        verb = "differs" if len(found) == 1 else "differ"
        more = ", the clearest" if len(found) > EXAMPLES else ""
        return (
            f"{len(found):,} of {count(len(self.pairs), 'pair')} {verb} at {level}{more}: "
            f"{join(shown, width=None)}."
        )

    def _pair(self, row: dict[str, Any]) -> str:
        first = shorten(row["first"])
        second = shorten(row["second"])
        wins = row["first_wins"]
        won = f"{wins:,} of {row['n']:,}"
        level = 100 * self.ci_prob
        lower = 100 * row["share_lower"]
        upper = 100 * row["share_upper"]
        interval = f"{level:g} % interval {lower:.0f} to {upper:.0f} %"
        p = p_words(row["p"])
        return f"{first} over {second} ({won}, {interval}, p {p})"

    @property
    def contradicted(self) -> pd.DataFrame:
        """The pairs in which the intervals of the counts and of the fit do not overlap.

        Those of the counts, a tie as half, hold for all pairs together (Bonferroni).
        """
        frame = self.pairs
        error = (1 - self.ci_prob) / len(frame)
        points = frame["first_wins"] + frame["ties"] / 2
        votes = frame["n"] + frame["ties"]
        low, high = clopper_pearson(points, votes, 1 - error)
        below = frame["preferred_upper"] < low
        above = frame["preferred_lower"] > high
        return frame[below | above]

    @property
    def _contradicted(self) -> str:
        n = len(self.contradicted)
        if not n:
            return ""
        checker = by_reader("bd.check", "bayesduel check")
        return (
            f"The fit contradicts the counts of {count(n, 'pair')}: their intervals do "
            f"not overlap. {checker} tests whether one ranking holds."
        )

    @property
    def _power(self) -> str:
        power = self.pairs["power"]
        low = probability(power.min())
        high = probability(power.max())
        chance = low
        if high != low:
            chance = f"{low} to {high}"
        whole = f"A pair shows a preference of {100 * self.effect:g} % with power {chance}"
        if self.needed is None:
            return f"{whole}."
        votes = count(self.needed, "vote")
        return f"{whole}; power {POWER:g} needs {votes} per pair."

    @property
    def _agreement(self) -> str:
        found = self.agreement
        if isinstance(found, str):
            return ""
        agree = "agree" if found.p <= self.alpha else "do not agree"
        who = "The judges"
        if found.judges < self.n_judges:
            who = f"The {found.judges:,} judges who decided every pair"
        return (
            f"{who} {agree} more than by chance (Kendall's u = {found.u:.2f}, "
            f"{chi_square_words(found)})."
        )

    @property
    def _judges(self) -> str:
        if isinstance(self.judges, str):
            return ""
        known = self.judges.dropna(subset="repeatability")
        said = []
        if len(known):
            mean = percent(known["repeatability"].mean())
            lowest = known["repeatability"].idxmin()
            least = known.loc[lowest]
            judge = shorten(least["judge"])
            rate = percent(least["repeatability"])
            lower = percent(least["repeatability_lower"])
            upper = percent(least["repeatability_upper"])
            said.append(
                f"Where a judge votes on a pair again, the vote is the same in {mean} % on "
                f"average; least often by {judge}, {rate} % ({lower} to {upper} %)."
            )
        by_chance = self.judges["p_chance"] > self.alpha
        random = self.judges[by_chance]
        n_arms = len(self.arms)
        if len(random) and circular_triads_by_chance(0, n_arms) <= self.alpha:
            names = join(random["judge"], EXAMPLES)
            said.append(f"These judges have as many circular triads as by chance: {names}.")
        return " ".join(said)

    @property
    def _dependence(self) -> str:
        if not self.n_repeated:
            return ""
        return (
            "The binomial tests and the test of equality take repeated votes of a judge "
            "as independent. The fit does not."
        )


def p_words(p: float) -> str:
    """Return a p-value in a sentence: "= 0.030", "< 0.001"."""
    return p_cell(p) if p < LEAST_P else f"= {p_cell(p)}"


def p_cell(p: float) -> str:
    """Return a p-value in a table: "0.030", "< 0.001"."""
    return f"< {LEAST_P:g}" if p < LEAST_P else f"{p:.3f}"


def chi_square_words(test: ChiSquareTest | KendallAgreement) -> str:
    """Return the statistic of a test, its degrees of freedom and its p-value."""
    p = p_words(test.p)
    return f"chi-square {test.statistic:.1f}, df {test.df:.4g}, p {p}"


def panel(
    duels: Duels,
    fit: xr.DataTree | None = None,
    *,
    alpha: float = Decision.alpha,
    effect: float = Decision.effect,
    ci_prob: float = Decision.ci_prob,
    seed: int = 0,
) -> Panel:
    """Return the analysis of a panel: classical tests, preferences, and each judge's reliability.

    Parameters
    ----------
    duels
        The log, with up to 100 arms.
    fit
        A fit of it. Default: what :func:`bayesduel.fit` makes of it.
    alpha
        Level of the tests, in (0, 1).
    effect
        Share of votes for one arm that the panel should detect, in (0.5, 1). The default is 30 %
        of people who can tell the two arms apart, and the others guess.
    ci_prob
        Probability of the intervals, in (0, 1).
    seed
        Of the fit that is made, and of the draws of the judges' rates.

    Returns
    -------
    A :class:`Panel`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; if sides are teams or votes are soft; or if the log has
        more than 100 arms or 2,000 judges, or `fit` is of other arms.

    Notes
    -----
    Ties: the binomial tests, the test of Skillings and Mack, circular triads and Kendall's
    coefficients leave them out; Durbin's test and rank sums give both arms rank 1.5; Friedman's
    test gives half a point to each. Where a judge judged a pair several times, its majority
    counts for circular triads and Kendall's coefficients.

    A test of one direction, which was chosen before the votes, has half the p-value of a pair.

    Examples
    --------
    >>> found = bd.panel(bd.datasets.load("tversky1969"))
    >>> found.equality.name
    'Durbin'
    >>> found.pairs[["first", "second", "first_wins", "n", "critical"]].head(2)
      first second  first_wins    n  critical
    0     a      b         104  160        93
    1     a      c         108  160        93
    """
    check_log(duels, Duels)
    check_options(Decision, alpha=alpha, effect=effect, ci_prob=ci_prob)
    check_seed(seed)
    _check_panel(duels)
    if fit is None:
        fit = fit_log(duels, seed=seed)
    check_fit(fit)
    if fit.duel.arms != duels.arms:
        raise ValueError("fit and duels should have the same arms: give the fit of this log")
    draws, _, _ = draws_of(fit)
    wins, ties = duels.tally("keep")
    differences = rank_sums(wins, ties, alpha)
    pairs = _pairs(duels, draws, alpha, effect, ci_prob)
    n_ties = int(pairs["ties"].sum())
    of_judges: dict[str, Any] = dict.fromkeys(("friedman", "agreement", "judges"), NO_JUDGES)
    of_judges |= {"n_judges": 0, "n_repeated": 0}
    votes = _JudgeVotes.of(duels)
    if votes is not None:
        rng = np.random.default_rng(seed)
        of_judges["friedman"] = friedman_test(votes.points())
        of_judges["agreement"] = kendall_agreement(*votes.preferences())
        of_judges["judges"] = votes.judges(duels, ci_prob, rng)
        of_judges["n_judges"] = len(votes.names)
        of_judges["n_repeated"] = int(votes.again.sum())
    return Panel(
        **of_judges,
        equality=equality_test(wins, ties),
        differences=differences,
        arms=_arms(duels, draws, differences, ci_prob),
        pairs=pairs,
        n_duels=int(pairs["n"].sum()) + n_ties,
        n_ties=n_ties,
        power=panel_power(wins + wins.T, effect, alpha),
        needed=duels_needed(effect, alpha, POWER),
        alpha=float(alpha),
        effect=float(effect),
        ci_prob=float(ci_prob),
    )


def _check_panel(duels: Duels) -> None:
    """Raise ValueError unless a log is one of plain votes on few single arms."""
    duels.check_single("a panel")
    if not duels.plain:
        raise ValueError(
            "each vote of a panel counts as one vote for one side, got soft votes or sampling "
            "weights: use duels.as_plain()"
        )
    n_judges = len(duels.rows.judges)
    if duels.n_arms > MOST_ARMS or n_judges > MOST_JUDGES:
        raise ValueError(
            f"duels should have at most {MOST_ARMS} arms and {MOST_JUDGES:,} judges for a panel, "
            f"got {duels.n_arms:,} and {n_judges:,}: choose some of them with duels.subset"
        )


def _arms(duels: Duels, draws: Draws, differences: RankSums | str, ci_prob: float) -> pd.DataFrame:
    """Return the rows of the arms, see :class:`Panel`."""
    won, lost, tied = duels.results_by_arm()
    rank_sum = won + 2 * lost + 1.5 * tied
    borda = [borda_scores(P) for P in draws.matrices()]
    rates = np.concatenate(borda)
    frame = pd.DataFrame(
        {
            "duels": (won + lost + tied).astype(int),
            "wins": won.astype(int),
            "ties": tied.astype(int),
            "losses": lost.astype(int),
            "rank_sum": rank_sum,
            "letters": "",
        }
        | with_interval("win_rate", rates, ci_prob),
        index=pd.Index(duels.arms, name="arm"),
    )
    if isinstance(differences, str):
        order = np.lexsort((rank_sum, -frame["win_rate"]))
        return frame.iloc[order]
    frame = frame.sort_values("rank_sum", kind="stable")
    sorted_sums = frame["rank_sum"].to_numpy()
    frame["letters"] = _letters(sorted_sums, differences.hsd)
    return frame


def _letters(rank_sum: np.ndarray, difference: float) -> list[str]:
    """Return the letters of ascending rank sums: those within the difference share one."""
    last = np.searchsorted(rank_sum, rank_sum + difference, side="right")
    goes_further = np.diff(last, prepend=0) > 0  # runs that no earlier one holds
    starts = np.flatnonzero(goes_further)
    found = [""] * len(rank_sum)
    for number, start in enumerate(starts):
        letter = _letter(number)
        for place in range(start, last[start]):
            found[place] += letter
    return found


def _letter(number: int) -> str:
    """Return a, b, ... z, then a1, b1 and so on."""
    turn, place = divmod(number, 26)
    letter = chr(ord("a") + place)
    return f"{letter}{turn}" if turn else letter


def _pairs(duels: Duels, draws: Draws, alpha: float, effect: float, ci_prob: float) -> pd.DataFrame:
    """Return the rows of the pairs, see :class:`Panel`."""
    from scipy import stats

    met = duels.pairs()
    swapped = met.second_wins > met.first_wins
    first = np.where(swapped, met.second, met.first)
    second = np.where(swapped, met.first, met.second)
    won = np.maximum(met.first_wins, met.second_wins)
    lost = np.minimum(met.first_wins, met.second_wins)
    n = won + lost
    one_sided = stats.binom.sf(won - 1, n, 0.5)
    p = np.minimum(2 * one_sided, 1.0)
    some = slice(None, None, draws.pair_step)
    preferred = draws.expected_score(some, first, second)
    labels = np.array(duels.arms, dtype=object)
    low, high = clopper_pearson(won, n, ci_prob)
    with np.errstate(invalid="ignore"):
        share = won / n
    columns = {
        "first": labels[first],
        "second": labels[second],
        "first_wins": won,
        "ties": met.ties,
        "second_wins": lost,
        "n": n,
        "share": share,
        "share_lower": low,
        "share_upper": high,
        "p": p,
        "p_adjusted": adjusted(p),
        "critical": critical_count(n, alpha),
        "power": preference_power(n, effect, alpha),
    }
    columns |= with_interval("preferred", preferred, ci_prob)
    columns["above"] = (preferred > 0.5).mean(axis=0)
    return pd.DataFrame(columns)


@dataclass(frozen=True)
class _JudgeVotes:
    """Votes of the named judges, counted by judge and unit (a pair, or a pair in a group)."""

    names: tuple[str, ...]  # of the judges
    n_arms: int
    judge: np.ndarray  # of each judge and unit; its arms are `low` < `high`
    low: np.ndarray
    high: np.ndarray
    by_unit: np.ndarray  # votes for the low arm, for the high one, and ties, (n, 3)

    @classmethod
    def of(cls, duels: Duels) -> "_JudgeVotes | None":
        """Return the votes of a log, or None where it names no judges."""
        votes = duels.votes
        if votes is None or votes.judge is None:
            return None
        unit, _ = units_of(duels, votes)
        known_unit = (votes.judge >= 0) & (unit >= 0)
        named = votes.take(known_unit)
        judge = cast(np.ndarray, named.judge)
        if not len(judge):
            return None
        known, place = distinct(judge, unit[known_unit])
        forward = named.left < named.right
        tied = named.outcome == 0
        high_won = (named.outcome > 0) != forward
        kind = np.where(tied, 2, high_won)
        cell = 3 * place + kind
        counts = np.bincount(cell, named.weight, 3 * len(known))
        return cls(
            names=votes.judges,
            n_arms=duels.n_arms,
            judge=judge[known],
            low=np.minimum(named.left, named.right)[known],
            high=np.maximum(named.left, named.right)[known],
            by_unit=counts.reshape(-1, 3),
        )

    def matrices(self, counts: np.ndarray) -> np.ndarray:
        """Return numbers of judge and unit as matrices of the low arm against the high one.

        Shape (n_judges, K, K); units of one pair are added.
        """
        size = (len(self.names), self.n_arms, self.n_arms)
        at = (self.judge, self.low, self.high)
        place = np.ravel_multi_index(at, size)
        n_entries = int(np.prod(size))
        total = np.bincount(place, counts, n_entries)
        return total.reshape(size)

    def won(self) -> np.ndarray:
        """Return how often each judge preferred i to j, shape (n_judges, K, K)."""
        forward = self.matrices(self.by_unit[:, 0])
        backward = self.matrices(self.by_unit[:, 1])
        return forward + np.swapaxes(backward, 1, 2)

    @property
    def n(self) -> np.ndarray:
        """Votes of each judge and unit."""
        return np.asarray(self.by_unit.sum(axis=1))

    @property
    def again(self) -> np.ndarray:
        """Whether a judge voted on a unit more than once."""
        return self.n > 1

    def points(self) -> np.ndarray:
        """Return the points of each arm by each judge who judged every pair equally often."""
        first, second = np.triu_indices(self.n_arms, 1)
        met = self.matrices(self.n)[:, first, second]
        of_first_pair = met[:, :1]
        equally = (met == of_first_pair).all(axis=1)
        complete = (met > 0).all(axis=1) & equally
        tied = self.matrices(self.by_unit[:, 2])
        n_ties = tied.sum(axis=1) + tied.sum(axis=2)
        n_wins = self.won().sum(axis=2)
        points = n_wins + n_ties / 2
        return np.asarray(points[complete])

    def preferences(self) -> tuple[np.ndarray, int]:
        """Return how many judges prefer i to j, (K, K), of those who decided every pair."""
        won = self.won()
        ahead = won > np.swapaxes(won, 1, 2)
        n_decided = ahead.sum(axis=(1, 2))
        n_pairs = self.n_arms * (self.n_arms - 1) // 2
        decided = n_decided == n_pairs
        n_judges = int(decided.sum())
        return ahead[decided].sum(axis=0), n_judges

    def repeated(self) -> tuple[np.ndarray, np.ndarray]:
        """Return each judge's trials of repeatability, and how many gave the same vote."""
        again = self.again
        same_votes = self.by_unit * (self.by_unit - 1)
        same_pairs = same_votes.sum(axis=1)[again]
        n = self.n[again]
        judge = self.judge[again]
        trials = np.bincount(judge, n / 2, len(self.names))
        same = same_pairs / (n - 1) / 2
        n_same = np.bincount(judge, same, len(self.names))
        return trials, n_same

    def judges(self, duels: Duels, ci_prob: float, rng: np.random.Generator) -> pd.DataFrame:
        """Return the rows of the judges, see :class:`Panel`."""
        n_judges = len(self.names)

        def by_judge(values: np.ndarray) -> np.ndarray:
            return np.bincount(self.judge, values, n_judges).astype(int)

        trials, same = self.repeated()
        units, agreeing = _agreeing(duels, n_judges)
        won = self.won()
        lost = np.swapaxes(won, 1, 2)
        ahead = np.sign(won - lost)
        majority = (1 + ahead) / 2
        circular = cyclic_triads(majority)
        zeta = consistence(majority)
        by_chance = np.full(n_judges, np.nan)
        for k in np.flatnonzero(~np.isnan(zeta)):
            n_circular = int(circular[k])
            by_chance[k] = circular_triads_by_chance(n_circular, self.n_arms)
        columns = {
            "judge": list(self.names),
            "votes": by_judge(self.n),
            "ties": by_judge(self.by_unit[:, 2]),
            "repeats": by_judge(self.again),
            **_rates("repeatability", same, trials, ci_prob, rng),
            "units": units.astype(int),
            **_rates("agreement", agreeing, units, ci_prob, rng),
            "triads": decided_triads(majority),
            "circular": circular,
            "consistence": zeta,
            "p_chance": by_chance,
        }
        frame = pd.DataFrame(columns)
        # Numbers in names count as numbers: judge2 before judge10
        return frame.sort_values("judge", key=_with_leading_zeros, ignore_index=True)


def _with_leading_zeros(names: pd.Series) -> pd.Series:
    """Return names with each number in them at the length of the longest name."""
    longest = int(names.str.len().max())

    def padded(number: re.Match[str]) -> str:
        return number[0].zfill(longest)

    return names.str.replace(r"\d+", padded, regex=True)


def _rates(
    name: str, won: np.ndarray, trials: np.ndarray, ci_prob: float, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return the rate of each judge with its interval; NaN where no judge has a trial."""
    if not trials.any():
        unknown = np.full(len(trials), np.nan)
        return {name: unknown, f"{name}_lower": unknown, f"{name}_upper": unknown}
    rates = judge_rates(won, trials, rng)
    return with_interval(name, rates, ci_prob)


def _agreeing(duels: Duels, n_judges: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the units that each judge shares with others, and the sum of its agreement there."""
    votes = cast(Votes, duels.votes)
    unit, _ = units_of(duels, votes)
    one_group = np.ones(n_judges, dtype=int)
    decided = decided_votes(votes, unit, one_group)
    agreement = decided.with_others()
    shared = ~np.isnan(agreement)
    judge = decided.judge[shared]
    units = np.bincount(judge, minlength=n_judges)
    agreeing = np.bincount(judge, agreement[shared], n_judges)
    return units, agreeing
