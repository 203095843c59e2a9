"""The normal prior of the coefficients of a linear predictor, block by block."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

__all__ = [
    "LOG_2PI",
    "Families",
    "Piece",
    "Prior",
    "before_centring",
    "family_means",
    "level_of",
    "log_projected",
    "whitened",
]

LOG_2PI = float(np.log(2 * np.pi))


class Piece(NamedTuple):
    """The prior precision of one block: `tight` on the diagonal, or with a covariance.

    With `inverse` (n, n), along the first axis of the block: it is that times the roots of `tight`
    on both sides.
    """

    here: slice
    tight: np.ndarray
    inverse: np.ndarray | None

    def dense(self) -> np.ndarray:
        """Return the precision, (size, size)."""
        if self.inverse is None:
            return np.diag(self.tight)
        root = np.sqrt(self.tight)
        rest = len(root) // len(self.inverse)
        same = np.eye(rest)
        within = np.kron(self.inverse, same)
        return within * np.outer(root, root)

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of the precision, (size,)."""
        if self.inverse is None:
            return self.tight
        along = self.inverse.diagonal()
        rest = len(self.tight) // len(along)
        repeated = np.repeat(along, rest)
        return self.tight * repeated

    def along(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the inverse covariance along the first axis (n, n), and `tight` (n, rest)."""
        inverse = np.ones((1, 1)) if self.inverse is None else self.inverse
        return inverse, self.tight.reshape(len(inverse), -1)

    def times(self, x: np.ndarray) -> np.ndarray:
        """Return the precision times a vector, (size,)."""
        if self.inverse is None:
            return self.tight * x
        root = np.sqrt(self.tight)
        scaled = root * x
        along = scaled.reshape(len(self.inverse), -1)
        turned = self.inverse @ along
        return root * turned.ravel()


@dataclass(frozen=True, eq=False)
class Prior:
    """The normal prior of x given hyperparameters."""

    mean: np.ndarray  # shape (size,)
    pieces: tuple[Piece, ...]  # precision of each block that is not flat
    half_log_det: float  # half the log determinant of the part that is not flat, less its constant

    @cached_property
    def precision(self) -> np.ndarray:
        """The inverse covariance, shape (size, size); 0 where flat."""
        size = len(self.mean)
        found = np.zeros((size, size))
        for piece in self.pieces:
            found[piece.here, piece.here] = piece.dense()
        return found

    def diagonal(self, flat: float) -> np.ndarray:
        """Return the precision of each coefficient given all others, `flat` where it has none."""
        found = np.full(len(self.mean), flat)
        for piece in self.pieces:
            found[piece.here] = piece.diagonal()
        return found

    def pull(self, x: np.ndarray) -> np.ndarray:
        """Return the precision times the distance of `x` from the mean, (size,)."""
        away = x - self.mean
        found = np.zeros_like(x)
        for piece in self.pieces:
            here = piece.here
            found[here] = piece.times(away[here])
        return found

    def noise(self, rng: np.random.Generator) -> np.ndarray:
        """Return a normal vector whose covariance is the precision, (size,)."""
        found = np.zeros_like(self.mean)
        for piece in self.pieces:
            normal = rng.standard_normal(len(piece.tight))
            if piece.inverse is not None:
                factor = np.linalg.cholesky(piece.inverse)
                along = normal.reshape(len(factor), -1)
                turned = factor @ along
                normal = turned.ravel()
            root = np.sqrt(piece.tight)
            found[piece.here] = root * normal
        return found


class Families(NamedTuple):
    """Families that arms share: which they are, and how much they vary."""

    member: np.ndarray  # 1 where an arm is of a family, (K, families)
    variance: np.ndarray  # of the families, (n, 1)


def log_projected(
    away: np.ndarray,
    tight: np.ndarray,
    families: Families | None = None,
) -> np.ndarray:
    """Return the log density of K centred scores, (n,), that were normal before.

    away: from their centred means, (n, K). tight: precisions before they were centred, of what arms
    are beside their families, (n, K).
    """
    n_arms = away.shape[1]
    weighted = away * tight
    squares = away**2 * tight
    log_det = np.log(tight).sum(axis=1)
    total = tight.sum(axis=1)
    pulled = weighted.sum(axis=1)
    square = squares.sum(axis=1)
    if families is not None:
        own, along, share = _by_family(away, tight, families)
        looser = np.log1p(families.variance * own)
        loosened = share * own**2
        by_families = share * own * along
        family_squares = share * along**2
        log_det -= looser.sum(axis=1)
        total = total - loosened.sum(axis=1)
        pulled = pulled - by_families.sum(axis=1)
        square = square - family_squares.sum(axis=1)
    log_det += np.log(n_arms) - np.log(total)
    of_level = pulled**2 / total
    constant = (n_arms - 1) * LOG_2PI
    return 0.5 * (log_det - square + of_level - constant)


def before_centring(tight: np.ndarray, families: Families | None = None) -> np.ndarray:
    """Return the precision of K scores given that their level says nothing, (K, K).

    tight, families: as for `log_projected`, of one.
    """
    found = np.diag(tight)
    if families is not None:
        along = tight[:, None] * families.member
        own = tight @ families.member
        shared = along * _shared(own, families)
        found -= shared @ along.T
    sums = found.sum(axis=1)
    of_level = np.outer(sums, sums) / sums.sum()
    return found - of_level


def level_of(
    away: np.ndarray,
    tight: np.ndarray,
    families: Families,
) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much K scores were moved when they were centred: mean and deviation, (n, 1).

    away: centred scores less their prior means before that, (n, K). tight, families: as for
    `log_projected`.
    """
    own, along, share = _by_family(away, tight, families)
    loosened = share * own**2
    by_families = share * own * along
    weighted = away * tight
    total = tight.sum(axis=1) - loosened.sum(axis=1)
    pulled = weighted.sum(axis=1) - by_families.sum(axis=1)
    mean = -(pulled / total)
    deviation = total**-0.5
    return mean[:, None], deviation[:, None]


def family_means(
    away: np.ndarray,
    tight: np.ndarray,
    families: Families,
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and deviation of the mean of each family, (n, families), given its arms.

    away: scores less their prior means, before they are centred, (n, K). tight, families: as for
    `log_projected`. Of a family without arms they are those of its prior.
    """
    _, along, share = _by_family(away, tight, families)
    mean = share * along
    return mean, np.sqrt(share)


def whitened(values: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, float]:
    """Return coefficients of draws, (n, size), without their covariance along the first axis.

    And by how much the log density falls that the covariance has a determinant.
    """
    root = np.linalg.cholesky(covariance)
    shaped = values.reshape(len(values), len(covariance), -1)
    solved = np.linalg.solve(root, shaped)
    log_diagonal = np.log(root.diagonal())
    log_det = shaped.shape[2] * log_diagonal.sum()
    return solved.reshape(values.shape), log_det


def _by_family(
    away: np.ndarray,
    tight: np.ndarray,
    families: Families,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sums of precisions of families, of weighted distances, and how they loosen arms."""
    own = tight @ families.member
    weighted = away * tight
    along = weighted @ families.member
    return own, along, _shared(own, families)


def _shared(own: np.ndarray, families: Families) -> np.ndarray:
    """Return by how much a family loosens its arms, (n, families), of the sums of precisions."""
    looseness = 1 + families.variance * own
    return families.variance / looseness
