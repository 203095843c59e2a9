"""Whether the strength of arms changed over the time of a log, which one score per arm averages.

For each arm the residuals of its duels under one score per arm are held against time. Without a
change they have no trend but for chance. The trend of all arms is a score test of one slope per arm
beside the scores; its null distribution is that of random signs of whole clusters of votes, so that
judges with tastes of their own who voted at different times raise no alarm.

References
----------
Rao, "Large sample tests of statistical hypotheses concerning several parameters", Proc. Cambridge
Philosophical Society 1948, for the score test. Westfall & Young, "Resampling-Based Multiple
Testing", 1993, for the largest of all arms. Cameron, Gelbach & Miller, "Bootstrap-based
improvements for inference with clustered errors", REStat 2008, for random signs of clusters.
Deviation: the signs multiply contributions to the score, without refits.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayesduel.criticism.levels import known_times
from bayesduel.criticism.transitivity.score_model import ScoreModel
from bayesduel.data.duels import Duels
from bayesduel.data.votes import Votes
from bayesduel.inference.clusters import VOTE, clusterings
from bayesduel.inference.design import laplacian
from bayesduel.text import EXAMPLES, join, percent

__all__ = ["Drift", "drift_of"]

N_SIGNS = 1999  # draws of signs: a p-value of 0.01 has a standard error of 0.002
ALARM = 0.01  # of all logs without a change, those that are said to have one


@dataclass(frozen=True, eq=False, kw_only=True)
class Drift:
    """What time says of arms.

    Attributes
    ----------
    table
        One row per arm, the largest change first: ``arm``, ``early`` and ``late`` (shares of its
        decided duels won in the first and the second half of the votes), ``expected_early`` and
        ``expected_late`` (under one score per arm), ``z`` (of the trend of its residuals) and ``p``
        (that the largest of all arms is as large by chance).
    """

    table: pd.DataFrame

    @property
    def p_value(self) -> float:
        """The p-value of no change of any arm."""
        return float(self.table["p"].iloc[0])

    @property
    def found(self) -> bool:
        """Whether some arm changed beyond chance."""
        return self.p_value <= ALARM

    def to_dict(self) -> dict[str, object]:
        """Return the p-value and the first ten rows of the table, as JSON holds them."""
        return {"p_value": self.p_value, "arms": self.table.head(10).to_dict("records")}

    def words(self, noun: str = "arm") -> str:
        """Return which arms changed, and what to do; "" where none did."""
        if not self.found:
            return ""
        changed = self.table[self.table["p"] <= ALARM]
        first = changed.iloc[0]
        names = join([str(arm) for arm in changed["arm"]], EXAMPLES)
        told = ("early", "late", "expected_early", "expected_late")
        early, late, before, after = (percent(float(first[name])) for name in told)
        return (
            f"The strength of {names} changed over the time of the log (p = {self.p_value:.4f} if "
            f"no {noun} changes). {first['arm']} won {early} % of its decided duels in the "
            f"first half of the votes and {late} % in the second. One score per {noun} expects "
            f"{before} % and {after} %. A ranking without time is an average over the log; "
            "a model with the term TimeVarying() (--term time) ranks by the latest scores."
        )


def drift_of(duels: Duels, scores: ScoreModel | None, rng: np.random.Generator) -> Drift | None:
    """Return the trends of arms, or None of a log without two different times.

    scores: of the decided votes of the log; None where there are none.
    """
    votes = duels.votes
    if votes is None or votes.time is None or scores is None:
        return None
    time = votes.time
    kept = known_times(time) & (votes.outcome != 0)
    moments, rank = np.unique(time[kept], return_inverse=True)
    if len(moments) < 2:
        return None
    decided = votes.take(kept)
    weight = decided.weight.astype(float)
    until = np.cumsum(np.bincount(rank, weight))
    total = until[-1]
    of_moment = np.diff(until, prepend=0.0)
    middles = until - of_moment / 2
    middle = middles[rank]
    moment = 2 * middle / total - 1  # from -1 at the first vote to 1 at the last
    chance = scores.chances(decided.left, decided.right, 1.0)
    won = decided.outcome > 0
    residual = weight * (won - chance)
    information = weight * chance * (1 - chance)
    clusters = _clusters(duels, kept, rng)
    pairs = decided.left, decided.right, duels.n_arms
    trend = _by_arm(residual * moment, clusters, *pairs)
    level = _by_arm(residual, clusters, *pairs)
    of_level = laplacian(information, *pairs)
    of_both = laplacian(information * moment, *pairs)
    explained = of_both @ np.linalg.pinv(of_level, hermitian=True)  # by the scores themselves
    parts = trend - level @ explained.T
    spread = np.sqrt((parts**2).sum(axis=0))
    spread[spread == 0] = np.inf  # an arm that never duelled
    z = parts.sum(axis=0) / spread
    either = np.array([-1.0, 1.0])
    signs = rng.choice(either, size=(N_SIGNS, len(parts)))
    by_chance = np.abs(signs @ parts / spread)
    largest = by_chance.max(axis=1, keepdims=True)
    size = np.abs(z)
    as_large = largest >= size - 1e-12  # up to rounding
    n_as_large = as_large.sum(axis=0)
    late = middle > total / 2
    columns = {
        "arm": np.array(duels.arms, dtype=object),
        **_halves(decided, weight, chance, late, duels.n_arms),
        "z": z,
        "p": (1 + n_as_large) / (1 + N_SIGNS),
    }
    largest_first = np.argsort(-size, kind="stable")
    table = pd.DataFrame(columns).iloc[largest_first]
    return Drift(table=table.reset_index(drop=True))


def _clusters(duels: Duels, kept: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the cluster of each vote that is kept: its judge or group, or else one at random."""
    found = []
    for name, place in clusterings(duels).items():
        if name != VOTE:
            _, cluster = np.unique(place[kept], return_inverse=True)
            found.append(cluster)
    if not found:
        n_votes = int(kept.sum())
        return rng.integers(0, 1000, n_votes)  # more of them change no p-value by 0.01
    return min(found, key=lambda cluster: int(cluster.max()))


def _by_arm(
    value: np.ndarray, cluster: np.ndarray, left: np.ndarray, right: np.ndarray, n_arms: int
) -> np.ndarray:
    """Return sums of values, for the left arm and against the right one, (clusters, arms)."""
    n_clusters = int(cluster.max()) + 1
    size = n_clusters * n_arms
    first = cluster * n_arms  # an arm of a cluster has a number of its own
    found = np.bincount(first + left, value, size)
    found -= np.bincount(first + right, value, size)
    return found.reshape(n_clusters, n_arms)


def _halves(
    votes: Votes, weight: np.ndarray, chance: np.ndarray, late: np.ndarray, n_arms: int
) -> dict[str, np.ndarray]:
    """Return the share of its duels that each arm won in either half, and should have won."""

    def sum_by_arm(of_left: np.ndarray, of_right: np.ndarray) -> np.ndarray:
        found = np.bincount(votes.left, of_left, n_arms)
        return found + np.bincount(votes.right, of_right, n_arms)

    halves = {"early": weight * ~late, "late": weight * late}
    won = (votes.outcome > 0).astype(float)
    found = {}
    for name, value in (("", won), ("expected_", chance)):
        for half, own in halves.items():
            wins = sum_by_arm(own * value, own * (1 - value))
            duels = sum_by_arm(own, own)
            share = np.full(n_arms, np.nan)
            np.divide(wins, duels, out=share, where=duels > 0)
            found[name + half] = share
    return found
