"""The classical tests of a panel of judges: pairs, rank sums, agreement, circular triads.

A duel is a block of two arms, ranked 1 (preferred) and 2; a tie has 1.5 for both. Votes are taken
as independent, those of one judge too, except by Friedman's test and Kendall's coefficient of
agreement, to which each judge counts once.

References
----------
ISO 5495 (paired comparison test) and ISO 8587 (ranking), Sensory analysis. Durbin, "Incomplete
blocks in ranking experiments", British Journal of Psychology 1951. Conover, "Practical
Nonparametric Statistics", 3rd edition 1999, section 5.8 and 5.9 (ties, least significant
difference). Skillings & Mack, "On the use of a Friedman-type statistic in balanced and unbalanced
block designs", Technometrics 1981. Meilgaard, Civille & Carr, "Sensory Evaluation Techniques",
3rd edition 1999, chapter 7 (multiple paired comparisons). Kendall & Babington Smith, "On the
method of paired comparisons", Biometrika 1940. David, "The Method of Paired Comparisons",
2nd edition 1988.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import comb

import numpy as np
from scipy import stats
from scipy.sparse import csgraph

from bayesduel.text import count

__all__ = [
    "ChiSquareTest",
    "KendallAgreement",
    "RankSums",
    "circular_triads_by_chance",
    "critical_count",
    "duels_needed",
    "equality_test",
    "friedman_test",
    "kendall_agreement",
    "panel_power",
    "preference_power",
    "rank_sums",
]

LEAST_JUDGES = 3  # of the test of agreement, which divides by their number less two
EXACT_ARMS = 10  # up to which the law of circular triads is counted (as Alway 1962 did)


@dataclass(frozen=True, kw_only=True)
class ChiSquareTest:
    """A test whose statistic is held against a chi-square distribution.

    Attributes
    ----------
    name
        "Durbin", "Skillings-Mack" or "Friedman".
    statistic, df, p
        Of the test.
    blocks
        What was ranked: the number of votes, or of judges.
    """

    name: str
    statistic: float
    df: float
    p: float
    blocks: int


@dataclass(frozen=True, kw_only=True)
class KendallAgreement:
    """Kendall's coefficient of agreement u, and its test against votes by chance.

    Attributes
    ----------
    u
        1 where all judges agree on all pairs, 0 by chance.
    least
        The smallest value that it can have.
    judges
        How many judges decided every pair.
    statistic, df, p
        Chi-square of the test, with the correction for continuity.
    """

    u: float
    least: float
    judges: int
    statistic: float
    df: float
    p: float


@dataclass(frozen=True, kw_only=True)
class RankSums:
    """Differences of rank sums that are significant.

    Attributes
    ----------
    lsd
        Conover's least significant difference of two rank sums, at the level for one pair; NaN
        with fewer votes than arms.
    hsd
        Tukey's honestly significant difference, at the level for all pairs together.
    """

    lsd: float
    hsd: float


def critical_count(n: np.ndarray, alpha: float) -> np.ndarray:
    """Return how many of `n` votes for one arm are significant, two-sided, elementwise.

    As the tables of ISO 5495 have it for a preference; `n` + 1 where no number is.
    """
    by_chance = stats.binom.isf(alpha / 2, n, 0.5)
    return by_chance.astype(int) + 1


def preference_power(n: np.ndarray, share: float, alpha: float) -> np.ndarray:
    """Return the power of the two-sided binomial test where `share` prefer one arm, elementwise."""
    least = critical_count(n, alpha)
    above = stats.binom.sf(least - 1, n, share)
    below = stats.binom.cdf(n - least, n, share)
    return np.asarray(above + below)


def duels_needed(share: float, alpha: float, power: float) -> int | None:
    """Return the fewest votes from which on the binomial test has this power; None beyond limits.

    Power falls now and then as votes are added: from this number on it stays.
    """
    z_level = stats.norm.isf(alpha / 2)
    z_power = stats.norm.isf(1 - power)
    root = (z_level + z_power) / (2 * share - 1)
    about = int(root**2)  # of the normal approximation
    # 100,000 duels, beyond which no number of votes is looked for
    if about > 100_000:
        return None
    n = np.arange(1, 2 * about + 100)
    reached = preference_power(n, share, alpha)
    too_few = n[reached < power]
    if not len(too_few):
        return 1
    return int(too_few[-1]) + 1


def equality_test(wins: np.ndarray, ties: np.ndarray) -> ChiSquareTest | str:
    """Return the test that all arms are alike, or why there is none.

    Durbin's test (Conover's form for ties) where every pair met equally often: then it is also
    the Friedman analysis of multiple paired comparisons of Meilgaard et al. Otherwise the test of
    Skillings and Mack, which leaves ties out.

    Parameters
    ----------
    wins, ties
        Counts of pairs, shape (K, K).
    """
    decided = wins + wins.T
    n_decided = int(np.triu(decided).sum())
    if not n_decided:
        return "every vote is a tie"
    n_arms = len(wins)
    won = wins.sum(axis=1)
    lost = wins.sum(axis=0)
    ahead = won - lost
    if _balanced(decided + ties):
        name = "Durbin"
        df = n_arms - 1
        squares = (ahead**2).sum()
        statistic = float(df * squares / (2 * n_decided))
    else:
        name = "Skillings-Mack"
        df = _contrasts(decided)
        degrees = decided.sum(axis=1)
        laplacian = np.diag(degrees) - decided
        inverse = np.linalg.pinv(laplacian, hermitian=True)
        statistic = float(ahead @ inverse @ ahead)
    p = float(stats.chi2.sf(statistic, df))
    n_ties = int(np.triu(ties).sum())
    blocks = n_decided + n_ties
    return ChiSquareTest(name=name, statistic=statistic, df=df, p=p, blocks=blocks)


def _contrasts(decided: np.ndarray) -> int:
    """Return the degrees of freedom of the arms: their number less that of components."""
    n_components, _ = csgraph.connected_components(decided > 0, directed=False)
    return int(len(decided) - n_components)


def panel_power(decided: np.ndarray, share: float, alpha: float) -> float:
    """Return the power of the test of equality where one arm is preferred by `share` to each other.

    Of the arm with fewest votes, by the noncentral chi-square of the test's statistic.
    """
    df = _contrasts(decided)
    if not df:
        return 0.0
    fewest = decided.sum(axis=1).min()
    noncentrality = (2 * share - 1) ** 2 * fewest
    critical = stats.chi2.isf(alpha, df)
    return float(stats.ncx2.sf(critical, df, noncentrality))


def rank_sums(wins: np.ndarray, ties: np.ndarray, alpha: float) -> RankSums | str:
    """Return the significant differences of rank sums, or why there are none.

    Parameters
    ----------
    wins, ties
        Counts of pairs, shape (K, K).
    alpha
        Level of the tests.
    """
    decided = wins + wins.T
    n_decided = np.triu(decided).sum()
    if not _balanced(decided + ties):
        return "pairs were not judged equally often"
    if not n_decided:
        return "every vote is a tie"
    n_arms = len(wins)
    n_duels = n_decided + np.triu(ties).sum()
    tested = equality_test(wins, ties)
    assert isinstance(tested, ChiSquareTest)
    per_pair = n_decided / comb(n_arms, 2)
    studentized = stats.studentized_range.isf(alpha, n_arms, np.inf)
    variance = per_pair * n_arms / 4
    hsd = float(studentized * np.sqrt(variance))
    df = n_duels - n_arms + 1
    if df < 1:
        return RankSums(lsd=np.nan, hsd=hsd)
    unexplained = max(1 - tested.statistic / n_duels, 0.0)
    per_arm = 2 * n_duels / n_arms
    mean_square = n_decided * per_arm / df * unexplained
    error = np.sqrt(mean_square)
    quantile = stats.t.isf(alpha / 2, df)
    return RankSums(lsd=float(quantile * error), hsd=hsd)


def friedman_test(points: np.ndarray) -> ChiSquareTest | str:
    """Return Friedman's test of the arms as each judge ranks them, or why there is none.

    Parameters
    ----------
    points
        Wins of each arm by each judge who judged every pair equally often, half for a tie, shape
        (n_judges, K).
    """
    n_judges, n_arms = points.shape
    if n_arms < 3:
        return "it needs three arms"
    if n_judges < 2:
        return f"{count(n_judges, 'judge')} judged every pair equally often, and it needs two"
    of_first_arm = points[:, :1]
    if (points == of_first_arm).all():
        return "no judge ranks one arm above another"
    statistic, p = stats.friedmanchisquare(*points.T)
    return ChiSquareTest(
        name="Friedman", statistic=float(statistic), df=n_arms - 1, p=float(p), blocks=n_judges
    )


def kendall_agreement(votes_for: np.ndarray, n_judges: int) -> KendallAgreement | str:
    """Return Kendall's coefficient of agreement, or why there is none.

    Parameters
    ----------
    votes_for
        How many judges prefer i to j, shape (K, K), of judges who decided every pair.
    n_judges
        Number of these judges.
    """
    if n_judges < LEAST_JUDGES:
        return f"{count(n_judges, 'judge')} decided every pair, and it needs {LEAST_JUDGES}"
    m = n_judges
    pairs = comb(len(votes_for), 2)
    pairs_of_judges = comb(m, 2)
    same_votes = votes_for * (votes_for - 1) / 2
    agreeing = float(same_votes.sum())
    by_chance = pairs * pairs_of_judges * (m - 3) / (m - 2) / 2
    beyond_chance = agreeing - 1 - by_chance
    statistic = 4 / (m - 2) * beyond_chance
    df = pairs * m * (m - 1) / (m - 2) ** 2
    most_even = m if m % 2 else m - 1
    return KendallAgreement(
        u=2 * agreeing / (pairs_of_judges * pairs) - 1,
        least=-1 / most_even,
        judges=m,
        statistic=statistic,
        df=df,
        p=float(stats.chi2.sf(statistic, df)),
    )


def circular_triads_by_chance(circular: int, n_arms: int) -> float:
    """Return the probability that votes by chance have as few circular triads, or fewer.

    Of a judge who decided every pair: exact up to ten arms, beyond by the chi-square of Kendall
    and Babington Smith.
    """
    n = n_arms
    if n <= EXACT_ARMS:
        tournaments = 2 ** comb(n, 2)
        as_few = 0
        for triads, ways in _triad_law(n).items():
            if triads <= circular:
                as_few += ways
        return as_few / tournaments
    expected = comb(n, 3) / 4
    df = n * (n - 1) * (n - 2) / (n - 4) ** 2
    away = expected - circular - 0.5
    statistic = 8 / (n - 4) * away + df
    return float(stats.chi2.sf(statistic, df))


def _balanced(met: np.ndarray) -> bool:
    """Return whether every pair met equally often, and at all."""
    pairs = np.triu_indices(len(met), 1)
    times = met[pairs]
    alike = (times == times[0]).all()
    return bool(times[0] > 0 and alike)


@lru_cache(maxsize=EXACT_ARMS)
def _triad_law(n_arms: int) -> dict[int, int]:
    """Return how many tournaments have each number of circular triads.

    Tournaments are counted by the scores of their arms (sorted), an arm added at a time.
    """
    by_scores: dict[tuple[int, ...], int] = {(0,): 1}
    for _ in range(n_arms - 1):
        by_scores = _with_one_more(by_scores)
    triads = comb(n_arms, 3)
    law: Counter[int] = Counter()
    for scores, ways in by_scores.items():
        transitive = sum(comb(score, 2) for score in scores)
        law[triads - transitive] += ways
    return dict(law)


def _with_one_more(by_scores: dict[tuple[int, ...], int]) -> dict[tuple[int, ...], int]:
    """Return how many tournaments have sorted scores, after an arm more met all others.

    Of arms with equal scores it matters alone how many beat the new one.
    """
    larger: Counter[tuple[int, ...]] = Counter()
    for scores, ways in by_scores.items():
        alike = Counter(scores)
        numbers = [range(n + 1) for n in alike.values()]
        for beaten_by in product(*numbers):
            chosen = ways
            grown: list[int] = []
            for (score, n), b in zip(alike.items(), beaten_by, strict=True):
                chosen *= comb(n, b)
                grown += [score + 1] * b
                grown += [score] * (n - b)
            own = len(scores) - sum(beaten_by)
            grown.append(own)
            grown.sort()
            larger[tuple(grown)] += chosen
    return larger
