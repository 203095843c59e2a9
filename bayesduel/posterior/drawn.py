"""Posterior draws, and the preference matrix as a function of them.

K x K draws are never kept: matrices and pairs are derived from the parameters, a chunk at a
time, by the model itself.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.posterior.draws import model_of, posterior_draws

__all__ = ["Draws", "check_fit", "draws_of", "points"]

CHUNK = 4_000_000  # entries of P worked on at once
PAIR_NUMBERS = 500_000_000  # draws x pairs computed for the summary of all pairs


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of P through draws of a model's parameters.

    Attributes
    ----------
    model
        Has ``preference`` and ``outcome_probabilities``.
    posterior
        Parameters by name, draws first.
    arms
        Which arms of the model these are, indices, shape (K,).
    model_arms
        How many arms the model has.
    """

    model: Any
    posterior: Mapping[str, np.ndarray]
    arms: np.ndarray
    model_arms: int

    @property
    def score(self) -> np.ndarray | None:
        """Scores, shape (n_draws, K), or None where arms do not rank by them."""
        if not getattr(self.model, "ranked_by_score", True):
            return None
        return self.posterior["score"][:, self.arms] if "score" in self.posterior else None

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(next(iter(self.posterior.values())))

    @property
    def n_arms(self) -> int:
        """Number of arms, K."""
        return len(self.arms)

    @property
    def pair_step(self) -> int:
        """Every how-many-eth draw serves all pairs: 1 up to 500 arms and 4,000 draws."""
        n_pairs = self.n_arms * (self.n_arms - 1) // 2
        return max(1, -(-self.n_draws * n_pairs // PAIR_NUMBERS))

    def rows(self, which: Any) -> dict[str, np.ndarray]:
        """Return the parameters of some draws (a slice, indices or a mask)."""
        return {name: values[which] for name, values in self.posterior.items()}

    def among(self, arms: np.ndarray) -> "Draws":
        """Return the same draws of fewer arms (indices among these)."""
        return Draws(self.model, self.posterior, self.arms[arms], self.model_arms)

    def matrices(self) -> Iterator[np.ndarray]:
        """Yield chunks of P, shape (n, K, K)."""
        everyone = np.array_equal(self.arms, np.arange(self.model_arms))
        step = max(1, CHUNK // self.model_arms**2)
        for start in range(0, self.n_draws, step):
            P = self.model.preference(self.rows(slice(start, start + step)))
            yield P if everyone else P[:, self.arms[:, None], self.arms]

    def chances(
        self, which: Any, left: np.ndarray, right: np.ndarray, **options: Any
    ) -> dict[str, np.ndarray]:
        """Return the chances of win, loss and (some models) tie of `left` in some draws.

        Indices among these arms; each entry has shape (draws, pairs). Options are the model's.
        """
        rows = self.rows(which)
        return self.model.outcome_probabilities(rows, self.arms[left], self.arms[right], **options)

    def against(self, champion: np.ndarray) -> np.ndarray:
        """Return each arm's P against each draw's champion (indices), shape (n_draws, K)."""
        out = np.empty((self.n_draws, self.n_arms))
        everyone = np.arange(self.n_arms)
        for arm in np.unique(champion):
            here = champion == arm
            out[here] = points(self.chances(here, everyone, np.full(self.n_arms, arm)))
        return out

    def outcomes(self) -> Iterator[tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]]:
        """Yield (first, second, chances) of all pairs; chances have shape (pairs, draws)."""
        first, second = np.triu_indices(self.n_arms, 1)
        used = slice(None, None, self.pair_step)
        width = max(1, CHUNK * self.pair_step // self.n_draws)
        for start in range(0, len(first), width):
            i, j = first[start : start + width], second[start : start + width]
            found = self.chances(used, i, j)
            yield i, j, {name: np.ascontiguousarray(c.T) for name, c in found.items()}


def points(chances: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the expected points: the chance to win and half the chance to tie."""
    return chances["win"] + chances["tie"] / 2 if "tie" in chances else chances["win"]


def draws_of(fit: xr.DataTree, errors: str = "auto") -> tuple[Draws, tuple[str, ...], str]:
    """Return the draws of a fit, the labels of its arms, and whose errors they carry.

    Parameters
    ----------
    fit
        What `bayesduel.fit` returned.
    errors
        See `bayesduel.posterior.draws.posterior_draws`.

    Raises
    ------
    TypeError
        If `fit` is not a fit.
    ValueError
        If the fit has no such errors.
    """
    check_fit(fit)
    posterior, used = posterior_draws(fit, errors)
    labels = tuple(str(a) for a in fit["posterior"]["arm"].to_numpy())
    draws = Draws(model_of(fit), posterior, np.arange(len(labels)), len(labels))
    return draws, labels, used


def check_fit(fit: Any) -> None:
    """Raise TypeError unless `fit` looks like what `bayesduel.fit` returned."""
    if not isinstance(fit, xr.DataTree) or "posterior" not in fit or "model" not in fit.attrs:
        raise TypeError(f"fit should be what bayesduel.fit returned, got {type(fit).__name__}")
