"""Posterior probabilities of the sets of the k best arms, and of each arm to be among them."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.posterior.draws import check_fit, draws_of
from bayesduel.posterior.election import pair_summary
from bayesduel.posterior.estimand import estimand_words
from bayesduel.posterior.upset import upset_words
from bayesduel.preference import ranks
from bayesduel.records import Result
from bayesduel.system.arguments import shown_value, whole
from bayesduel.system.options import Decision
from bayesduel.text import join, probability

__all__ = ["TopKSets", "check_k", "counted_sets", "top_k"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TopKSets(Result):
    """The result of `top_k`.

    Attributes
    ----------
    k
        Size of a set.
    sets
        One row a set, the most probable first: ``arms`` (labels, best mean rank first) and
        ``probability``.
    n_sets
        How many different sets occurred among the draws.
    members
        One row per arm, the likeliest first, indexed by ``arm``: ``probability`` of being among
        the k best, ``error`` (its Monte Carlo standard error) and ``rank_mean`` (1 is best).
    ranked_by
        "score", or "Borda score" where arms do not rank by a score.
    controls
        Which duels the sets are about, as in :func:`bayesduel.winners`, or "".
    covariance
        Of the draws: see :func:`bayesduel.winners`.
    model, source
        Of the fit.
    n_draws
        How many posterior draws.
    monte_carlo_error
        Standard error of the probability of the first set.
    upset
        A pair whose duels say the contrary of the ranking, beyond chance, in a sentence; or "".
    """

    k: int
    sets: pd.DataFrame
    n_sets: int
    members: pd.DataFrame
    ranked_by: str
    controls: str
    covariance: str
    model: str
    source: str
    n_draws: int
    monte_carlo_error: float
    upset: str = ""

    @property
    def sentence(self) -> str:
        """The result in sentences."""
        best = self.sets.iloc[0]
        arms = join(best["arms"], self.k)
        chance = probability(best["probability"])
        words = f"Most probable top {self.k}: {arms} (probability {chance})."
        likely = self.members.index[: self.k]
        if self.k > 1 and set(likely) != set(best["arms"]):
            words += (
                f" The {self.k} arms most likely to be in the top {self.k}, taken one by "
                f"one: {join(likely, self.k)}."
            )
        return " ".join(filter(None, [words, self.upset, self.controls]))

    def summary(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return self.to_dict()


def top_k(fit: xr.DataTree, k: int, *, n: int = 10, covariance: str = "auto") -> TopKSets:
    """Return the most probable sets of the k best arms, and each arm's probability to be in.

    In every posterior draw arms rank by score (by Borda score where the model does not rank
    them by one); the k best are the set of that draw.

    Parameters
    ----------
    fit
        What `bayesduel.fit` returned: of a log with margins by
        :class:`bayesduel.models.ThurstoneScore`, of who won by any model.
    k
        How many; from 1 to K - 1.
    n
        How many sets to list, at most.
    covariance
        As in :func:`bayesduel.winners`.

    Returns
    -------
    Sets and members with their probabilities, as frames, and a sentence: see :class:`TopKSets`.

    Raises
    ------
    TypeError
        If `fit` is not a fit.
    ValueError
        If another argument is out of its range; the message names it.

    Examples
    --------
    >>> bd.top_k(bd.fit(bd.datasets.load("tennis1990")), 2).sentence
    'Most probable top 2: Graf and Seles (probability 0.54).'
    """
    check_fit(fit)
    draws, labels, covariance = draws_of(fit, covariance)
    n = whole(n, "n", 1)
    k = check_k(k, len(labels) - 1)
    rank = ranks(draws.worth)
    mean = rank.mean(axis=0)
    effective = float(fit.attrs["importance_ess"])
    masks, probability = counted_sets(rank, k)
    rows = []
    for mask in masks[:n]:
        best = np.flatnonzero(mask).tolist()
        best.sort(key=lambda arm: mean[arm])
        rows.append(best)
    sets = pd.DataFrame(
        {
            "arms": [tuple(labels[arm] for arm in row) for row in rows],
            "probability": probability[:n],
        }
    )
    inside = (rank < k).mean(axis=0)
    variance = inside * (1 - inside)
    members = pd.DataFrame(
        {
            "probability": inside,
            "error": np.sqrt(variance / effective),
            "rank_mean": 1 + mean,
        },
        index=pd.Index(labels, name="arm"),
    )
    order = np.lexsort((mean, -inside))
    first = float(probability[0])
    first_variance = first * (1 - first)
    upset = ""
    if draws.score is not None and not draws.many:
        pairs = pair_summary(draws, Decision.confidence)  # of fewer draws where arms are many
        upset = upset_words(fit, pairs.mean, covariance)
    return TopKSets(
        k=k,
        sets=sets,
        n_sets=len(masks),
        members=members.iloc[order],
        ranked_by="Borda score" if draws.score is None else "score",
        controls=estimand_words(fit),
        covariance=covariance,
        model=str(fit.attrs["model"]),
        source=str(fit.attrs.get("source", "")),
        n_draws=draws.n_draws,
        monte_carlo_error=float(np.sqrt(first_variance / effective)),
        upset=upset,
    )


def check_k(k: int, most: int) -> int:
    """Return the size of a set of arms; raise TypeError or ValueError unless it is 1 to `most`."""
    allowed = "1" if most == 1 else f"a whole number from 1 to {most}"
    rule = f"k should be {allowed}, got {shown_value(k)}"
    if not isinstance(k, Real):
        raise TypeError(rule)
    in_range = 1 <= k <= most
    if isinstance(k, bool) or not in_range or k != int(k):
        raise ValueError(rule)
    return int(k)


def counted_sets(rank: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the different sets of the k best, as masks, and how probable each is.

    Masks, bool, shape (sets, K), and probabilities, shape (sets,), the largest first; of
    equally probable sets the one first that holds the arms that are more often in such a set.
    """
    inside = rank < k
    n_draws, n_arms = rank.shape
    packed = np.packbits(inside, axis=1)
    width = packed.shape[1]
    texts = packed.view(f"S{width}")[:, 0]  # which are told apart fast
    sets, count = np.unique(texts, return_counts=True)
    rows = sets.view(np.uint8).reshape(-1, width)
    bits = np.unpackbits(rows, axis=1, count=n_arms)
    masks = bits.astype(bool)
    often = masks @ inside.mean(axis=0)
    order = np.lexsort((-often, -count))
    return masks[order], count[order] / n_draws
