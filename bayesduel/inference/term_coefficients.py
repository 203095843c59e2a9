"""The coefficients of one term: how many they are, and their normal prior given the scales."""

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from bayesduel.inference.design import reduce, uncentre
from bayesduel.inference.gaussian_prior import Families, Piece, before_centring
from bayesduel.models.scores import FAMILY, Scores
from bayesduel.models.term import Term

__all__ = ["TermCoefficients", "members_of"]


class TermCoefficients(NamedTuple):
    """Coefficients of one term, in x."""

    term: Term
    lengths: tuple[int, ...]  # of their axes; () for a number
    # mean and deviation of the priors that were said of entries of the last axis (of scores: of
    # each arm, before they are centred), NaN where nothing was said; None where of none
    said: tuple[np.ndarray, np.ndarray] | None = None
    member: np.ndarray | None = None  # of scores by family: 1 where an arm is of one, (K, families)

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return prod(self.lengths)

    @property
    def projected(self) -> bool:
        """Whether they are the free numbers of scores whose priors differ between arms."""
        if self.member is not None:
            return True
        return self.said is not None and isinstance(self.term, Scores)

    @property
    def mean(self) -> np.ndarray:
        """Their prior mean, (size,)."""
        if self.said is None:
            return np.zeros(self.size)
        mean = self.said[0]
        if self.projected:
            return uncentre(mean)
        return np.resize(mean, self.size)

    def tightness(
        self,
        scales: Mapping[str, np.ndarray],
        data: Mapping[str, np.ndarray],
        unit: float,
    ) -> np.ndarray:
        """Return the prior precision of coefficients but for their covariance.

        scales: by name, each (n, 1) or (n, length). data, unit: what the model knows of cells, and
        the unit of the response.
        Shape (n, size), or (n, 1) of coefficients that have the same; of scores whose priors differ
        between arms that of each arm, (n, arms).
        """
        deviation = self._deviation(scales, data, unit)
        if self.projected:
            n_of_scales = [len(scale) for scale in scales.values()]
            n_rows = max(len(deviation), *n_of_scales, 1)
            n_arms = self.size + 1
            return np.broadcast_to(deviation**-2.0, (n_rows, n_arms))
        n_entries = deviation.shape[1]  # 1, or those of the last axis
        if 1 < n_entries < self.size:
            deviation = np.tile(deviation, (1, self.size // n_entries))
        return deviation**-2.0

    def _deviation(
        self,
        scales: Mapping[str, np.ndarray],
        data: Mapping[str, np.ndarray],
        unit: float,
    ) -> np.ndarray:
        """Return the prior deviation, (n, 1) or (n, entries): what was said, else that of the term.

        Parameters as in `tightness`.
        """
        said = None if self.said is None else self.said[1]
        if said is not None and not np.isnan(said).any():
            return said[None]
        usual = np.asarray(self.term.deviation(scales, data, unit), dtype=float)
        if usual.ndim < 2:
            usual = np.atleast_1d(usual)[None]
        if said is None:
            return usual
        return np.where(np.isnan(said), usual, said)

    def families(self, scales: Mapping[str, np.ndarray]) -> Families | None:
        """Return the families of scores at hyperparameters, or None where they have none."""
        if self.member is None:
            return None
        return Families(self.member, scales[FAMILY] ** 2)

    def covariance(self, scales: Mapping[str, np.ndarray]) -> np.ndarray | None:
        """Return the prior covariance along the first axis at the first of the hyperparameters."""
        if not self.lengths:
            return None
        first = {}
        for name, scale in scales.items():
            own = scale[0]
            first[name] = own[0] if len(own) == 1 else own
        found = self.term.covariance(first, self.lengths[0])
        if found is None:
            return None
        return np.asarray(found)

    def piece(self, here: slice, tight: np.ndarray, scales: Mapping[str, np.ndarray]) -> Piece:
        """Return their prior at the first of the hyperparameters.

        here: where they are in x. tight: their `tightness`.
        """
        if self.projected:
            families = self.families(scales)
            apart = reduce(before_centring(tight[0], families))
            return Piece(here, np.ones(self.size), apart)
        each = np.broadcast_to(tight[0], (self.size,))
        covariance = self.covariance(scales)
        if covariance is None:
            return Piece(here, each, None)
        return Piece(here, each, np.linalg.inv(covariance))


def members_of(part: Any, arms: tuple[str, ...]) -> np.ndarray | None:
    """Return 1 where an arm is of a family, (K, families), or None of a term without families."""
    families = part.families(arms) if isinstance(part, Scores) else None
    if families is None:
        return None
    n_families = int(families.max()) + 1
    return np.eye(n_families)[families]
