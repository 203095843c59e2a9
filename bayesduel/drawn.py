"""Draws of the preference matrix, held as what they derive from.

A score model's matrix is a known function of K scores a draw, so K x K draws are never kept;
a model without scores hands its matrices over in chunks. Both kinds answer the same questions.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

__all__ = ["MatrixDraws", "ScoreDraws", "draws_of", "effective_draws"]

CHUNK = 4_000_000  # entries of P worked on at once
PAIR_NUMBERS = 500_000_000  # draws x pairs computed for a score model's pairs
PAIR_MEMORY = 128_000_000  # draws x pairs kept (float32) for a model without scores


@dataclass(frozen=True, eq=False)
class ScoreDraws:
    """Draws of P through draws of scores.

    Attributes
    ----------
    model
        A score model: has ``preference`` and ``outcome_probabilities``.
    posterior
        Parameters by name, draws first: ``score`` has shape (n_draws, K).
    """

    model: Any
    posterior: Mapping[str, np.ndarray]

    @property
    def score(self) -> np.ndarray:
        """Scores, shape (n_draws, K)."""
        return self.posterior["score"]

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.score)

    @property
    def n_arms(self) -> int:
        """Number of arms, K."""
        return self.score.shape[1]

    def among(self, arms: np.ndarray) -> "ScoreDraws":
        """Return the same draws of fewer arms (indices)."""
        return ScoreDraws(self.model, {**self.posterior, "score": self.score[:, arms]})

    def matrices(self) -> Iterator[np.ndarray]:
        """Yield chunks of P, shape (n, K, K)."""
        step = max(1, CHUNK // self.n_arms**2)
        for start in range(0, self.n_draws, step):
            part = {name: v[start : start + step] for name, v in self.posterior.items()}
            yield self.model.preference(part)

    def against(self, score: np.ndarray) -> np.ndarray:
        """Return each arm's P against an arm of score `score` (n_draws,), shape (n_draws, K)."""
        both = np.column_stack([score, self.score])
        first, rest = np.zeros(self.n_arms, dtype=int), np.arange(1, self.n_arms + 1)
        return _points(self.model, {**self.posterior, "score": both}, rest, first)

    def pair_step(self) -> int:
        """Return that every how-many-eth draw is used for all pairs (1 up to 500 arms)."""
        n_pairs = self.n_arms * (self.n_arms - 1) // 2
        return max(1, -(-self.n_draws * n_pairs // PAIR_NUMBERS))

    def pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield (first, second, P[first, second]), the last of shape (pairs, draws)."""
        part = {name: v[:: self.pair_step()] for name, v in self.posterior.items()}
        first, second = np.triu_indices(self.n_arms, 1)
        step = max(1, CHUNK // len(part["score"]))
        for start in range(0, len(first), step):
            i, j = first[start : start + step], second[start : start + step]
            yield i, j, np.ascontiguousarray(_points(self.model, part, i, j).T)


@dataclass(frozen=True, eq=False)
class MatrixDraws:
    """Draws of P as such.

    Attributes
    ----------
    chunks
        Called, it yields all draws in chunks of shape (n, K, K), the same ones every time.
    n_draws, n_arms
        Number of draws; number of arms K.
    """

    chunks: Callable[[], Iterator[np.ndarray]]
    n_draws: int
    n_arms: int

    score: None = None

    def among(self, arms: np.ndarray) -> "MatrixDraws":
        """Return the same draws of fewer arms (indices)."""

        def part() -> Iterator[np.ndarray]:
            for P in self.chunks():
                yield P[:, arms[:, None], arms]

        return MatrixDraws(part, self.n_draws, len(arms))

    def matrices(self) -> Iterator[np.ndarray]:
        """Yield chunks of P, shape (n, K, K)."""
        return self.chunks()

    def pair_step(self) -> int:
        """Return that every how-many-eth draw is used for all pairs (1 up to 250 arms)."""
        n_pairs = self.n_arms * (self.n_arms - 1) // 2
        return max(1, -(-self.n_draws * n_pairs // PAIR_MEMORY))

    def pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield (first, second, P[first, second]), the last of shape (pairs, draws)."""
        first, second = np.triu_indices(self.n_arms, 1)
        step = self.pair_step()
        kept = np.empty((len(range(0, self.n_draws, step)), len(first)), dtype=np.float32)
        seen = row = 0
        for P in self.chunks():
            picked = P[-seen % step :: step]
            kept[row : row + len(picked)] = picked[:, first, second]
            seen, row = seen + len(P), row + len(picked)
        width = max(1, CHUNK // len(kept))
        for start in range(0, len(first), width):
            cut = slice(start, start + width)
            yield first[cut], second[cut], np.ascontiguousarray(kept[:, cut].T)


def _points(
    model: Any, posterior: Mapping[str, np.ndarray], left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Return P[left, right]: the chance to win and half the chance to tie."""
    parts = model.outcome_probabilities(posterior, left, right)
    return parts["win"] + parts["tie"] / 2 if "tie" in parts else parts["win"]


def draws_of(
    fit: xr.DataTree, errors: str = "auto"
) -> tuple[ScoreDraws | MatrixDraws, tuple[str, ...], str]:
    """Return the draws of a fit, the labels of its arms, and which errors they carry."""
    from bayesduel.models import named

    model = named(fit.attrs["model"], **json.loads(fit.attrs["model_settings"]))
    posterior = fit["posterior"]
    labels = tuple(str(a) for a in posterior["arm"].to_numpy())
    flat = {
        str(name): v.values.reshape(-1, *v.shape[2:]) for name, v in posterior.data_vars.items()
    }
    if "score" in flat:
        plain = {n: v for n, v in flat.items() if v.ndim == 1 or n == "score"}
        return ScoreDraws(model, plain), labels, errors
    n = len(flat["preference"])
    step = max(1, CHUNK // len(labels) ** 2)

    def chunks() -> Iterator[np.ndarray]:
        for start in range(0, n, step):
            yield flat["preference"][start : start + step]

    return MatrixDraws(chunks, n, len(labels)), labels, errors


def effective_draws(fit: xr.DataTree) -> float:
    """Return how many independent draws the fit's are worth."""
    return float(fit.attrs.get("importance_ess", np.nan))
