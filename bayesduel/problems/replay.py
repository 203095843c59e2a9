"""Problems from data: duels or margins resampled from a log."""

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.votes import pair_codes
from bayesduel.problems.margins import ScoreDuels
from bayesduel.problems.matrix import Matrix
from bayesduel.system.arguments import check_log, check_one_of, check_text, check_type
from bayesduel.text import count

__all__ = ["BinaryDuels", "MarginReplay", "Replay"]


class Replay(Matrix):
    """Duels drawn with replacement from those of a log.

    Parameters
    ----------
    duels
        The log; its ties are outcomes of 1/2, half a win each.
    never_met
        What to do with pairs that never met: "error", or "half" for P = 1/2.
    name
        What plots and traces call it. Default: the log's source.

    Raises
    ------
    ValueError
        If some pair never met and `never_met` is "error"; the message counts them.

    Examples
    --------
    >>> bd.problems.Replay(bd.datasets.load("tennis1990")).P.round(2)[0]
    array([0.5 , 1.  , 0.67, 0.88, 0.6 ])
    """

    def __init__(self, duels: Duels, *, never_met: str = "error", name: str = "") -> None:
        check_one_of(never_met, "never_met", ("error", "half"))
        check_log(duels, Duels)
        check_text(name, "name")
        duels.check_single("a replay")
        tally = duels.tally()
        points = tally.wins + tally.ties / 2
        n = points + points.T
        others = ~np.eye(len(n), dtype=bool)
        missing = (n == 0) & others
        if missing.any() and never_met == "error":
            i, j = np.argwhere(missing)[0]
            pairs = count(missing.sum() // 2, "pair")
            raise ValueError(
                f"a replay needs duels of every pair, but {pairs} never met, "
                f"such as {duels.arms[i]!r} and {duels.arms[j]!r}. To set P = 1/2 for these "
                "pairs, give never_met='half' (--never-met half)"
            )
        half = np.full_like(points, 0.5)
        P = np.divide(points, n, out=half, where=n > 0)
        source = duels.read_summary.source
        ties = tally.ties / np.maximum(n, 1)
        called = name or f"replay of {source}"
        super().__init__(P, called, duels.arms, source, ties)


class BinaryDuels(ScoreDuels):
    """Wins and losses as margins of 1/2 and -1/2; a tie is one of these, by a fair coin.

    An arm's score is the sum over the others of its win probability less 1/2: the k best are
    those of largest Borda score.

    Parameters
    ----------
    problem
        A preference matrix.

    Examples
    --------
    >>> bd.problems.BinaryDuels(bd.problems.named("mslr-5")).setting
    'margins'
    """

    def __init__(self, problem: Matrix) -> None:
        check_type(problem, Matrix, "problem", "a Matrix")
        mean = problem.P - 0.5
        others = 1 - np.eye(len(mean))
        sd = np.sqrt(0.25 - mean**2) * others
        symmetric = np.maximum(sd, sd.T)
        super().__init__(mean, symmetric, problem.name, problem.arms, problem.source)
        object.__setattr__(self, "dice", self.dice._replace(binary=True))


class MarginReplay(ScoreDuels):
    """Score duels drawn with replacement from the margins of a log.

    Parameters
    ----------
    duels
        A log with margins; rows without one are left out, a row of weight w counts w times.
    name
        What plots and traces call it. Default: the log's source.

    Raises
    ------
    ValueError
        If the log has no margins, or some pair has none (the message counts them).

    Examples
    --------
    >>> rows = {"left": list("aab"), "right": list("bcc"), "margin": [2, 3, 1]}
    >>> bd.problems.MarginReplay(bd.read_duels(rows, margin="margin")).n_arms
    3
    """

    def __init__(self, duels: Duels, *, name: str = "") -> None:
        check_log(duels, Duels)
        check_text(name, "name")
        duels.check_single("a replay")
        votes = duels.votes
        if votes is None or votes.margin is None:
            raise ValueError("duels should have margins, got a log without margins")
        of_two = votes.left != votes.right
        known = np.isfinite(votes.margin) & of_two
        left = votes.left[known]
        right = votes.right[known]
        sign = np.where(left < right, 1, -1)
        margin = sign * votes.margin[known]
        if votes.weight is not None:
            times = votes.weight[known].astype(np.int64)
            left = np.repeat(left, times)
            right = np.repeat(right, times)
            margin = np.repeat(margin, times)
        n_arms = duels.n_arms
        cell = pair_codes(left, right, n_arms)
        order = np.argsort(cell, kind="stable")
        in_order = cell[order]
        pool = margin[order].astype(float)
        i, j = np.triu_indices(n_arms, 1)
        wanted = i * n_arms + j
        starts = np.searchsorted(in_order, wanted, "left")
        ends = np.searchsorted(in_order, wanted, "right")
        n = ends - starts
        missing = n == 0
        if missing.any():
            at = int(np.argmax(missing))
            pairs = count(missing.sum(), "pair")
            raise ValueError(
                f"a replay needs a margin of every pair, got none of {pairs}, "
                f"such as {duels.arms[i[at]]!r} and {duels.arms[j[at]]!r}. Replay a subset of the "
                "arms, all of which met each other"
            )
        mean = np.zeros((n_arms, n_arms))
        sd = np.zeros((n_arms, n_arms))
        mean_margin = np.add.reduceat(pool, starts) / n
        mean_square = np.add.reduceat(pool**2, starts) / n
        variance = np.maximum(mean_square - mean_margin**2, 0)
        mean[i, j] = mean_margin
        sd[i, j] = np.sqrt(variance)
        source = duels.read_summary.source
        called = name or f"replay of {source}"
        super().__init__(mean - mean.T, sd + sd.T, called, duels.arms, source)
        start = np.zeros((n_arms, n_arms, 2), np.int64)
        start[i, j, 0] = starts
        start[i, j, 1] = ends
        object.__setattr__(self, "dice", self.dice._replace(pool=pool, start=start))
