"""Draws of the preference matrix of a fit, as a function of draws of its parameters.

K x K draws are never kept: matrices and pairs are derived from the parameters, a chunk at a
time, by the model itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import xarray as xr

import bayesduel.inference.accessor  # noqa: F401 - every fit has it, whoever opened the file
from bayesduel.models import Model
from bayesduel.models.model import NODES, over_normal
from bayesduel.preference import borda_scores
from bayesduel.system.arguments import did_you_mean, shown_value, texts_of
from bayesduel.system.memory import TABLE_ARMS

__all__ = [
    "ARMS_AT_ONCE",
    "CHUNK",
    "Draws",
    "check_fit",
    "check_met",
    "chunks",
    "draws_of",
    "duels_of_pairs",
    "preference_draws",
    "score_order",
    "tie_share",
    "without_retired",
]

CHUNK = 250_000  # entries of P worked on at once: as many as the cache of a processor holds
ARMS_AT_ONCE = 8192  # of very many arms: 4,000 draws of these are 131 MB in single precision
LARGEST = 100.0  # range of scores in logits whose odds are finite, in single precision too
PAIR_NUMBERS = 20_000_000  # draws x pairs computed for the summary of all pairs

OfPairs = tuple[np.ndarray, np.ndarray, Any, dict[str, np.ndarray]]  # see `Draws.outcomes`


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of P through draws of a model's parameters."""

    model: Model  # of the fit
    posterior: Mapping[str, np.ndarray]  # parameters by name, draws first
    arms: np.ndarray  # which arms of the model these are, indices, shape (K,)
    model_arms: int  # how many arms the model has

    @property
    def score(self) -> np.ndarray | None:
        """Scores, shape (n_draws, K), or None where arms do not rank by them."""
        if not self.model.ranks_by_score:
            return None
        score = self.posterior["score"]
        return score if self.whole else score[:, self.arms]

    @property
    def worth(self) -> np.ndarray:
        """What arms rank by, shape (n_draws, K): scores, or Borda scores of P."""
        if self.score is not None:
            return np.asarray(self.score)
        borda = [borda_scores(P) for P in self.matrices()]
        return np.concatenate(borda)

    @property
    def whole(self) -> bool:
        """Whether these are all arms of the model, in their order."""
        return np.array_equal(self.arms, np.arange(self.model_arms))

    @property
    def linked(self) -> bool:
        """Whether P is one increasing function of the difference of scores, whatever the draw."""
        has_link = self.model.response.score_link is not None
        return has_link and not self.model.terms.samples

    @property
    def many(self) -> bool:
        """Whether there are too many arms for tables of arm by arm, and none is needed."""
        return self.n_arms > TABLE_ARMS and self.model.criteria_agree

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        first = next(iter(self.posterior.values()))
        return len(first)

    @property
    def n_arms(self) -> int:
        """Number of arms, K."""
        return len(self.arms)

    @property
    def pair_step(self) -> int:
        """Step between the draws used for all pairs: 1 up to 100 arms and 4,000 draws."""
        n_pairs = self.n_arms * (self.n_arms - 1) // 2
        numbers = self.n_draws * n_pairs
        return max(1, -(-numbers // PAIR_NUMBERS))

    def rows(self, which: Any) -> dict[str, np.ndarray]:
        """Return the parameters of some draws (a slice, indices or a mask)."""
        return {name: values[which] for name, values in self.posterior.items()}

    def spread(self, n: int) -> np.ndarray:
        """Return about `n` draws, evenly spread, as indices."""
        evenly = np.linspace(0, self.n_draws - 1, n)
        return np.unique(evenly.astype(int))

    def among(self, arms: np.ndarray) -> "Draws":
        """Return the same draws of fewer arms (indices among these)."""
        of_model = self.arms[arms]
        return Draws(self.model, self.posterior, of_model, self.model_arms)

    def matrices(self) -> Iterator[np.ndarray]:
        """Yield chunks of P, shape (n, K, K)."""
        at_once = CHUNK // self.model_arms**2
        for here in chunks(self.n_draws, at_once):
            P = self.model.preference(self.rows(here))
            if not self.whole:
                rows = self.arms[:, None]
                P = P[:, rows, self.arms]
            yield P

    def sides(self, left: np.ndarray, right: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arms of the model in duels of these arms, as conditions of the duels."""
        return {"first": self.arms[left], "second": self.arms[right]}

    def chances(
        self, which: np.ndarray | slice, left: np.ndarray, right: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return the probabilities of win, loss and (some models) tie of `left` in some draws.

        Of neutral duels; indices among these arms; each entry has shape (draws, pairs).
        """
        parameters = self.rows(which)
        return self.model.outcomes(parameters, self.sides(left, right))

    def expected_score(
        self, which: np.ndarray | slice, left: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        """Return P of `left` against `right` in some draws, as `chances` does, (draws, pairs)."""
        parameters = self.rows(which)
        return self.model.expected_score(parameters, self.sides(left, right))

    def against(self, champion: np.ndarray) -> np.ndarray:
        """Return each arm's P against each draw's champion (indices), shape (n_draws, K)."""
        out = np.empty((self.n_draws, self.n_arms))
        everyone = np.arange(self.n_arms)
        for arm in np.unique(champion):
            here = champion == arm
            opponent = np.full(self.n_arms, arm)
            out[here] = self.expected_score(here, everyone, opponent)
        return out

    def outcomes(self) -> Iterator["OfPairs"]:
        """Iterate over (first, second, differences, chances) of pairs; the last two (pairs, draws).

        Differences of scores; None where arms do not rank by them. Chances of a win, and of a tie
        where that is an outcome: the rest is that of a loss.
        """
        used = slice(None, None, self.pair_step)
        known = self.model.parameters(self.rows(used))
        variance = self.model.terms.unsaid(known, {})  # of what levels to integrate over add
        if self.score is None:
            return self._of_pairs(None, known, variance)
        score = np.ascontiguousarray(self.score[used].T)
        odds = None
        farthest = np.ptp(score) + _reach(variance)
        if farthest < LARGEST:
            middle = (score.max() + score.min()) / 2
            odds = np.exp(score - middle)
            first = odds[0]
            if self.model.response.chances_of_odds(first, first, known) is None:
                odds = None
        if odds is None and not self.linked:
            return self._of_pairs(score, known, variance)
        return self._of_arms(score, odds, known, variance)

    def _of_pairs(
        self,
        score: np.ndarray | None,
        known: Mapping[str, np.ndarray],
        variance: np.ndarray | None,
    ) -> Iterator["OfPairs"]:
        """Yield `outcomes` a chunk of pairs at a time; `score` is (K, draws)."""
        used = slice(None, None, self.pair_step)
        first, second = np.triu_indices(self.n_arms, 1)
        at_once = CHUNK * self.pair_step // self.n_draws
        for part in chunks(len(first), at_once):
            i = first[part]
            j = second[part]
            apart = None if score is None else score[i] - score[j]
            if apart is None or variance is not None:
                found = self.chances(used, i, j)
            else:  # draws of a pair stay beside one another
                arms = self.arms[i], self.arms[j]
                found = self.model.response.outcome_probabilities(apart.T, known, *arms)
            chances = {}
            for name, chance in found.items():
                if name != "loss":
                    chances[name] = np.ascontiguousarray(chance.T)
            yield i, j, apart, chances

    def _of_arms(
        self,
        score: np.ndarray,
        odds: np.ndarray | None,
        known: Mapping[str, np.ndarray],
        variance: np.ndarray | None,
    ) -> Iterator["OfPairs"]:
        """Yield `outcomes` of an arm against some of those after it; arrays are (K, draws)."""
        response = self.model.response
        # 60,000 draws x pairs, which stay in a processor's cache
        size = max(1, 60_000 // score.shape[1])
        for arm in range(self.n_arms - 1):
            for start in range(arm + 1, self.n_arms, size):
                stop = min(start + size, self.n_arms)
                later = slice(start, stop)
                apart = score[arm] - score[later]
                if odds is None:
                    found = {"win": response.typical_score(apart, {})}
                else:
                    found = _by_odds(response, odds[arm], odds[later], known, variance)
                first = np.full(len(apart), arm)
                second = np.arange(start, stop)
                yield first, second, apart, found


def _reach(variance: np.ndarray | None) -> float:
    """Return by how much the differences of scores spread at the nodes of `over_normal`."""
    if variance is None:
        return 0.0
    largest = float(np.sqrt(variance.max()))
    return 2 * NODES[-1] * largest


def _by_odds(
    response: Any, first: np.ndarray, second: np.ndarray, known: Any, variance: np.ndarray | None
) -> dict[str, np.ndarray]:
    """Return chances of a win and of a tie, without an exponential a pair.

    first, second: exponentials of scores, (draws,) and (pairs, draws).
    variance: of what a new level adds to the difference of scores, (draws, 1), or None.
    """
    if variance is None:
        return dict(response.chances_of_odds(first, second, known))

    def at(away: np.ndarray) -> dict[str, np.ndarray]:
        moved = first * np.exp(away)
        return dict(response.chances_of_odds(moved, second, known))

    return over_normal(at, np.zeros(1), variance[:, 0])


def chunks(n: int, size: int) -> Iterator[slice]:
    """Yield consecutive slices of n things, `size` at a time."""
    step = max(size, 1)
    for start in range(0, n, step):
        yield slice(start, start + step)


def draws_of(fit: xr.DataTree, covariance: str = "auto") -> tuple[Draws, tuple[str, ...], str]:
    """Return the draws of a fit, the labels of its arms, and the covariance they have."""
    check_fit(fit)
    duel = fit.duel
    n = fit["posterior"].sizes["arm"]
    posterior = duel.posterior(covariance)
    draws = Draws(duel.model, posterior, np.arange(n), n)
    return draws, duel.arms, duel.covariance(covariance)


def without_retired(
    draws: Draws, labels: Sequence[str], retired: Sequence[str]
) -> tuple[Draws, tuple[str, ...]]:
    """Return the draws of the arms that are not retired, and their labels.

    Raises TypeError or ValueError if `retired` are no arms of the fit, or fewer than two are left.
    """
    gone = set(texts_of(retired, "retired"))
    unknown = sorted(gone - set(labels))
    if unknown:
        raise ValueError(
            f"retired should be arms of the fit, got {shown_value(unknown[0])}"
            f"{did_you_mean(unknown[0], labels)}"
        )
    left = [k for k, label in enumerate(labels) if label not in gone]
    if len(left) < 2:
        raise ValueError(
            f"retired should leave at least two arms, but only {len(left)} would remain"
        )
    remaining = tuple(labels[k] for k in left)
    return draws.among(np.array(left)), remaining


def preference_draws(fit: xr.DataTree, covariance: str = "auto") -> Iterator[np.ndarray]:
    """Yield the draws of P in chunks of shape (n, K, K), chain after chain.

    They are derived from the parameters through the model's own response, so K x K draws never
    have to fit in memory. `covariance` is that of :func:`bayesduel.winners`.

    Parameters
    ----------
    fit
        What :func:`bayesduel.fit` returned.
    covariance
        As in :func:`bayesduel.winners`.

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("tennis1990"))
    >>> next(bd.preference_draws(fit)).mean(axis=0).round(1)[0]
    array([0.5, 0.6, 0.7, 0.8, 0.6])
    """
    yield from draws_of(fit, covariance)[0].matrices()


def duels_of_pairs(fit: xr.DataTree, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return how many duels of a fit's log each of some pairs of arms (indices) had."""
    data = fit["constant_data"].dataset
    if "wins" in data:
        wins = np.asarray(data["wins"])
        duels = wins + wins.T + np.asarray(data["ties"])
        of_pairs = duels[first, second]
        return np.asarray(of_pairs.astype(int))
    check_met(fit)
    n_arms = fit["posterior"].sizes["arm"]
    of_first = data["first"].values
    of_second = data["second"].values
    of_cell = _unordered(of_first, of_second, n_arms)
    known, place = np.unique(of_cell, return_inverse=True)
    total = np.bincount(place, data["n"].values)
    asked = _unordered(first, second, n_arms)
    at = np.searchsorted(known, asked)
    at = np.minimum(at, len(known) - 1)
    met = known[at] == asked
    return np.where(met, total[at], 0).astype(int)


def score_order(score: np.ndarray) -> np.ndarray:
    """Return arms in the order of their mean rank, as winners are; of equal ones, by mean score."""
    mean_score = score.mean(0)
    return np.lexsort((-mean_score, mean_rank(score)))


def mean_rank(score: np.ndarray) -> np.ndarray:
    """Return the mean over draws (draws, K) of how many arms have a larger score, shape (K,)."""
    n_draws, n_arms = score.shape
    places = np.arange(n_arms)
    total = np.zeros(n_arms)
    for here in chunks(n_draws, CHUNK // n_arms):
        order = np.argsort(-score[here])
        rank = np.tile(places, len(order))
        total += np.bincount(order.ravel(), rank, n_arms)
    return total / n_draws


def check_fit(fit: object) -> None:
    """Raise TypeError unless `fit` looks like what `bayesduel.fit` returned."""
    if not isinstance(fit, xr.DataTree) or "posterior" not in fit or "model" not in fit.attrs:
        got = type(fit).__name__
        opened = ": bayesduel.load opens the file of a fit"
        hints = {"Study": ": ask it for study.winners(), or study.fit()", "str": opened}
        hint = hints.get(got, "")
        if isinstance(fit, PathLike):
            hint = opened
        raise TypeError(f"fit should be what bayesduel.fit returned, got {got}{hint}")


def check_met(fit: xr.DataTree) -> None:
    """Raise ValueError if a fit is of items that were shown one at a time."""
    if "model" in fit.attrs and fit.duel.model.log_type == "pulls":
        raise ValueError(
            f"fit should be of a log in which arms met, got one of {fit.attrs['model']}, whose "
            "items were shown one at a time"
        )


def _unordered(first: np.ndarray, second: np.ndarray, n_arms: int) -> np.ndarray:
    """Return a number for each pair of arms, whichever is first."""
    low = np.minimum(first, second)
    high = np.maximum(first, second)
    return low.astype(np.int64) * n_arms + high


def tie_share(fit: xr.DataTree) -> float:
    """Return the share of the duels of a fit that are ties; 0.0 where it does not say."""
    if "constant_data" not in fit:
        return 0.0
    data = fit["constant_data"].variables
    if "cell_ties" in data:
        n_ties = float(data["cell_ties"].values.sum())
        n_duels = float(data["n"].values.sum())
        return n_ties / max(n_duels, 1.0)
    if not {"wins", "ties"} <= set(data):
        return 0.0
    wins = float(data["wins"].values.sum())
    ties = float(data["ties"].values.sum()) / 2  # each tie is in two cells of the matrix
    return ties / max(wins + ties, 1.0)
