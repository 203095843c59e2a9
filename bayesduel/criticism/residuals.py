"""Residuals of pairs, arms and judges, under one score per arm and a side advantage."""

import numpy as np
import pandas as pd
from scipy.special import bdtr, bdtrc, ndtr

from bayesduel.criticism.levels import grouped, size_of
from bayesduel.criticism.transitivity.score_model import ScoreModel
from bayesduel.data.duels import Duels
from bayesduel.jit import compiled

__all__ = ["arm_residuals", "judge_residuals", "pair_residuals"]


def pair_residuals(scores: ScoreModel, labels: tuple[str, ...]) -> pd.DataFrame:
    """Return one row per pair that met, the most surprising first.

    Columns: first, second, duels (decided), observed (won by first), expected, z, p (of a
    result at least as far out, two-sided, the fit taken as known) and surprise (of the most
    surprising among so many pairs being this surprising: ``1 - (1 - p)^n_pairs``).
    """
    design = scores.design
    chance = scores.expected()
    number = design.by_pair(design.n)
    won = design.by_pair(design.won)
    mean, variance = design.moments(chance)
    spread = np.sqrt(variance)
    p = _tails(scores, won, mean, spread, chance)
    below_one = np.minimum(p, 1 - 1e-12)
    log_less = np.log1p(-below_one)
    arms = np.array(labels, dtype=object)
    columns = {
        "first": arms[design.first],
        "second": arms[design.second],
        "duels": number.astype(int),
        "observed": won.astype(int),
        "expected": mean,
        "z": (won - mean) / spread,
        "p": p,
        "surprise": -np.expm1(len(p) * log_less),
    }
    return pd.DataFrame(columns).sort_values("p", kind="stable", ignore_index=True)


def arm_residuals(
    scores: ScoreModel, labels: tuple[str, ...], n_draws: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return one row per arm, the worst fitted first.

    Columns: arm, opponents, misfit (mean of z^2 over its pairs) and p (share of replicated logs
    in which it is at least that); attribute ``n_draws``, how many logs.
    """
    design = scores.design
    mean, variance = design.moments(scores.expected())
    first = grouped(design.first, design.n_arms)
    second = grouped(design.second, design.n_arms)
    member = first + second
    opponents = size_of(member).astype(int)

    def misfit(logs: np.ndarray) -> np.ndarray:
        square = (logs - mean) ** 2 / variance
        total = np.asarray(square @ member)
        return total / np.maximum(opponents, 1)

    won = design.by_pair(design.won)
    observed = misfit(won[None])[0]
    as_far = np.ones(design.n_arms)
    for replicated in scores.replicate(n_draws, rng):
        farther = misfit(replicated) >= observed - 1e-12
        as_far += farther.sum(axis=0)
    columns = {
        "arm": labels,
        "opponents": opponents,
        "misfit": observed,
        "p": as_far / (n_draws + 1),
    }
    frame = pd.DataFrame(columns)
    met = frame[opponents > 0]
    frame = met.sort_values(["p", "misfit"], ascending=[True, False], ignore_index=True)
    frame.attrs["n_draws"] = n_draws
    return frame


def judge_residuals(duels: Duels, scores: ScoreModel) -> pd.DataFrame | None:
    """Return one row per judge, those who differ most from the model first; None without judges.

    Columns: judge, votes (decided), agreement (share for the arm that the model favours),
    expected (what that share should be) and z (of the log likelihood of the votes: far below
    0, more surprising than they should be; NaN for fewer than five votes).
    """
    votes = duels.votes
    if votes is None or votes.judge is None:
        return None
    has_judge = votes.judge >= 0
    kept = has_judge & (votes.outcome != 0)
    judge = votes.judge[kept]
    decided = votes.take(kept)
    won = decided.outcome > 0
    n_judges = len(votes.judges)

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(judge, values * decided.weight, n_judges)

    p = scores.chances(decided.left, decided.right, 1.0)
    log_win = np.log(p)
    log_loss = np.log1p(-p)
    expected = p * log_win + (1 - p) * log_loss
    observed = np.where(won, log_win, log_loss)
    surprise = observed - expected
    apart = log_win - log_loss
    variance = p * (1 - p) * apart**2
    number = total(np.ones(len(p)))
    spread = np.sqrt(total(variance))
    z = np.full(n_judges, np.nan)
    # 5 votes below which a judge is not judged
    judged = (number >= 5) & (spread > 0)
    np.divide(total(surprise), spread, out=z, where=judged)
    agreed = total(won == (p > 0.5))
    favoured = total(np.maximum(p, 1 - p))
    seen = number > 0
    number = number[seen]
    judges = np.array(votes.judges, dtype=object)
    columns = {
        "judge": judges[seen],
        "votes": number.astype(int),
        "agreement": agreed[seen] / number,
        "expected": favoured[seen] / number,
        "z": z[seen],
    }
    frame = pd.DataFrame(columns)
    return frame.sort_values("z", key=lambda z: -z.abs(), ignore_index=True)


def _tails(
    scores: ScoreModel,
    won: np.ndarray,
    mean: np.ndarray,
    spread: np.ndarray,
    chance: np.ndarray,
) -> np.ndarray:
    """Return two-sided tail probabilities of each pair's wins.

    Exact, of sums of a binomial a cell; normal where a pair met very often.
    """
    design = scores.design
    duels = design.n.astype(np.int64)
    off = np.abs(won - mean) / spread
    p = 2 * ndtr(-off)  # of a normal law
    cells = np.bincount(design.pair, minlength=len(won))
    alone = cells[design.pair] == 1
    pair = design.pair[alone]
    law = duels[alone], chance[alone]
    wins = won[pair]
    at_most = bdtr(wins, *law)
    at_least = bdtrc(wins - 1, *law)
    p[pair] = 2 * np.minimum(at_most, at_least)
    # Decided duels of a pair up to which its tail is summed exactly: 2000
    n_duels = design.by_pair(design.n)
    summed = (cells > 1) & (n_duels <= 2000)
    few = np.flatnonzero(summed)
    starts = design.starts[few]
    ends = starts + cells[few]
    wins = won[few].astype(np.int64)
    p[few] = _tails_of_sums(wins, starts, ends, duels, chance)
    return np.minimum(p, 1.0)


@compiled
def _tails_of_sums(
    won: np.ndarray, starts: np.ndarray, ends: np.ndarray, n: np.ndarray, chance: np.ndarray
) -> np.ndarray:
    """Return the two-sided tail probabilities of sums of the binomials from starts to ends."""
    found = np.empty(len(won))
    for k in range(len(won)):
        law = np.ones(1)
        for cell in range(starts[k], ends[k]):
            of_cell = _binomial(n[cell], chance[cell])
            law = np.convolve(law, of_cell)
        at_most = law[: won[k] + 1].sum()
        at_least = law[won[k] :].sum()
        found[k] = 2 * min(at_most, at_least)
    return found


@compiled
def _binomial(n: int, p: float) -> np.ndarray:
    """Return the probabilities of 0 to `n` successes, (n + 1,); p in (0, 1)."""
    k = np.arange(n + 1)
    log_factorial = np.zeros(n + 1)
    logs = np.log(k[1:])
    log_factorial[1:] = np.cumsum(logs)
    orders = log_factorial[n] - log_factorial - log_factorial[::-1]
    successes = k * np.log(p)
    failures = (n - k) * np.log1p(-p)
    return np.exp(orders + successes + failures)
