"""Designs: how a linear predictor depends on its parameters.

Two designs behind one interface: differences of centred scores (K numbers that sum to zero, in
place of which K - 1 free numbers are estimated) with a few other columns, and any sparse matrix.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from bayesduel.jit import compiled

__all__ = [
    "Design",
    "DesignMatrix",
    "Gram",
    "PairDifferences",
    "ScoresBeside",
    "centre",
    "laplacian",
    "reduce",
    "uncentre",
]

SMALL = 4000  # entries of J below which it is kept whole
PRODUCTS = 20_000_000  # of two entries of a row of a sparse J, up to which they are kept


def centre(free: np.ndarray) -> np.ndarray:
    """Map K - 1 free numbers (..., K - 1) to K centred scores (..., K), keeping lengths."""
    n_arms = free.shape[-1] + 1
    total = free.sum(axis=-1, keepdims=True)
    root = np.sqrt(n_arms)
    return np.concatenate([free - total / (n_arms + root), -total / root], axis=-1)


def uncentre(score: np.ndarray) -> np.ndarray:
    """Map scores (..., K) to their K - 1 free numbers (..., K - 1): the inverse of `centre`."""
    n_arms = score.shape[-1]
    inner, last = score[..., :-1], score[..., -1:]
    total = inner.sum(axis=-1, keepdims=True)
    return inner - total / (n_arms + np.sqrt(n_arms)) - last / np.sqrt(n_arms)


def reduce(matrix: np.ndarray) -> np.ndarray:
    """Return Q' matrix Q, (K - 1, K - 1), where Q is the linear map `centre` and matrix (K, K)."""
    n_arms = len(matrix)
    c, r = 1.0 / (n_arms + np.sqrt(n_arms)), 1.0 / np.sqrt(n_arms)
    inner, edge, corner = matrix[:-1, :-1], matrix[:-1, -1], matrix[-1, -1]
    rows = inner.sum(axis=1)
    side = c * rows + r * (edge - c * edge.sum())
    constant = c * c * rows.sum() + r * r * corner
    result = inner - (side - constant)[:, None]
    result -= side
    return result


def laplacian(weight: np.ndarray, first: np.ndarray, second: np.ndarray, n_arms: int) -> np.ndarray:
    """Return sum over cells of weight (e_first - e_second)(e_first - e_second)', (K, K)."""
    place = first.astype(np.int64) * n_arms + second
    result = np.bincount(place, -weight, minlength=n_arms * n_arms).reshape(n_arms, n_arms)
    result += result.T.copy()
    result.flat[:: n_arms + 1] = -result.sum(axis=1)
    return result


@compiled
def predictors(
    score: np.ndarray, others: np.ndarray,
    first: np.ndarray, second: np.ndarray, columns: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return the difference of two scores in each cell plus other columns, (draws, cells).

    Of scores (draws, K) and the coefficients (draws, p) of columns (p, cells).
    """
    found = np.empty((len(score), len(first)))
    for draw in range(len(score)):
        for cell in range(len(first)):
            found[draw, cell] = score[draw, first[cell]] - score[draw, second[cell]]
        for k in range(len(columns)):
            for cell in range(len(first)):
                found[draw, cell] += others[draw, k] * columns[k, cell]
    return found


@dataclass(frozen=True, eq=False)
class PairDifferences:
    """Differences of two centred scores, plus a few other columns.

    The Hessian in the scores is a graph Laplacian weighted by the cells: O(cells) numbers in place
    of a Jacobian of K x cells, exact all the same.
    """

    first: np.ndarray  # arms of each cell, indices
    second: np.ndarray
    n_arms: int  # number of arms; the first K - 1 entries of u are the free numbers of the scores
    reach: np.ndarray  # the other columns of J, (cells, p)

    @cached_property
    def _small(self) -> np.ndarray | None:
        """The whole of J where it is small: then one product is quicker than its parts."""
        size = self.n_arms - 1 + self.reach.shape[1]
        if len(self.first) * size > SMALL:
            return None
        scores = centre(np.eye(self.n_arms - 1)).T
        return np.column_stack([scores[self.first] - scores[self.second], self.reach])

    def eta(self, u: np.ndarray) -> np.ndarray:
        """Return eta, shape (..., cells)."""
        if self._small is not None:
            return u @ self._small.T
        score = centre(u[..., : self.n_arms - 1])
        eta = score[..., self.first] - score[..., self.second]
        if self.reach.shape[1]:
            eta = eta + u[..., self.n_arms - 1 :] @ self.reach.T
        return eta

    def etas(self, u: np.ndarray) -> np.ndarray:
        """Return eta, shape (n, cells), of many u (n, size) by a compiled loop."""
        cut = self.n_arms - 1
        columns = np.ascontiguousarray(self.reach.T)
        return predictors(centre(u[:, :cut]), u[:, cut:], self.first, self.second, columns)

    def pull(self, slope: np.ndarray) -> np.ndarray:
        """Return J' slope, (size,)."""
        if self._small is not None:
            return slope @ self._small
        by_arm = np.bincount(self.first, slope, minlength=self.n_arms)
        by_arm -= np.bincount(self.second, slope, minlength=self.n_arms)
        return np.concatenate([uncentre(by_arm), slope @ self.reach])

    def pulls(self, slopes: np.ndarray) -> np.ndarray:
        """Return J' slopes, (size, m), of slopes (cells, m)."""
        if self._small is not None:
            return self._small.T @ slopes
        by_arm = uncentre((self._incidence @ slopes).T).T
        return np.concatenate([by_arm, self.reach.T @ slopes])

    @cached_property
    def _incidence(self) -> "sparse.csr_array":
        """The sum over cells of first less second, (K, cells)."""
        cell, one = np.arange(len(self.first)), np.ones(len(self.first))
        place = np.concatenate([self.first, self.second]), np.concatenate([cell, cell])
        shape = (self.n_arms, len(cell))
        return sparse.csr_array((np.concatenate([one, -one]), place), shape=shape)

    def pull_by(self, slope: np.ndarray, groups: np.ndarray, n: int) -> np.ndarray:
        """Return J' slope over the cells of each group, (n, size)."""
        shape = (n, self.n_arms)
        by_arm = sparse.coo_array((slope, (groups, self.first)), shape=shape).toarray()
        by_arm -= sparse.coo_array((slope, (groups, self.second)), shape=shape).toarray()
        others = [np.bincount(groups, slope * c, minlength=n) for c in self.reach.T]
        return np.column_stack([uncentre(by_arm), *others])

    def curvature(self, bend: np.ndarray) -> np.ndarray:
        """Return minus J' diag(bend) J, (size, size)."""
        if self._small is not None:
            return -(self._small.T * bend) @ self._small
        free = reduce(laplacian(-bend, self.first, self.second, self.n_arms))
        p = self.reach.shape[1]
        if not p:
            return free
        moved = -bend[:, None] * self.reach
        by_arm = np.stack(
            [
                np.bincount(self.first, c, minlength=self.n_arms)
                - np.bincount(self.second, c, minlength=self.n_arms)
                for c in moved.T
            ]
        )
        mixed = uncentre(by_arm).T
        result = np.pad(free, (0, p))
        result[:-p, -p:], result[-p:, :-p] = mixed, mixed.T
        result[-p:, -p:] = self.reach.T @ moved
        return result

    def spread(self, covariance: np.ndarray) -> np.ndarray:
        """Return the standard deviation of eta, (cells,)."""
        cut = self.n_arms - 1
        score = centre(centre(covariance[:cut, :cut]).T)
        own = score.diagonal()
        variance = own[self.first] + own[self.second] - 2 * score[self.first, self.second]
        if self.reach.shape[1]:
            mixed = centre(covariance[cut:, :cut])  # (p, K)
            apart = mixed[:, self.first] - mixed[:, self.second]
            variance = variance + 2 * (self.reach.T * apart).sum(0)
            variance = variance + ((self.reach @ covariance[cut:, cut:]) * self.reach).sum(1)
        return np.sqrt(np.maximum(variance, 0.0))

    def rows(self, cells: np.ndarray) -> "PairDifferences":
        """Return the design of these cells."""
        return PairDifferences(
            self.first[cells], self.second[cells], self.n_arms, self.reach[cells]
        )


@dataclass(frozen=True, eq=False)
class Gram:
    """The products left' diag(weight) right of sparse matrices (rows, m) and (rows, n).

    They are linear in the weights: their entries are products of two entries of a row, times these.
    """

    left: "sparse.csr_array"
    right: "sparse.csr_array"

    @cached_property
    def _products(self) -> "tuple[np.ndarray, np.ndarray, sparse.csr_array] | None":
        """Columns and ends of rows of the entries, and these of unit weights, (entries, rows).

        None of too many products.
        """
        left, right = self.left, self.right
        row = np.repeat(np.arange(left.shape[0]), np.diff(left.indptr))
        many = np.diff(right.indptr).astype(np.int64)[row]  # products of each entry of the left
        if many.sum() > PRODUCTS:
            return None
        first = np.repeat(np.arange(len(many)), many)
        begin = right.indptr[row] - (np.cumsum(many) - many)
        second = np.arange(len(first)) + begin[first]
        n = right.shape[1]
        key = left.indices[first].astype(np.int64) * n + right.indices[second]
        key, place = np.unique(key, return_inverse=True)
        values = left.data[first] * right.data[second]
        entries = sparse.csr_array((values, (place, row[first])), (len(key), left.shape[0]))
        return key % n, np.searchsorted(key // n, np.arange(left.shape[1] + 1)), entries

    def of(self, weight: np.ndarray) -> "sparse.csr_array":
        """Return the product with these weights (rows,), (m, n)."""
        shape = (self.left.shape[1], self.right.shape[1])
        if self._products is None:
            return sparse.csr_array(self.left.T @ self.right.multiply(weight[:, None]))
        column, end, entries = self._products
        return sparse.csr_array((entries @ weight, column, end), shape)


@dataclass(frozen=True, eq=False)
class DesignMatrix:
    """Any linear predictor, as a sparse matrix J, (cells, size)."""

    jacobian: "sparse.csr_array"

    @cached_property
    def _transposed(self) -> "sparse.csr_array":
        return sparse.csr_array(self.jacobian.T)

    @cached_property
    def _gram(self) -> Gram:
        return Gram(self.jacobian, self.jacobian)

    def eta(self, u: np.ndarray) -> np.ndarray:
        """Return eta, shape (..., cells)."""
        return self.jacobian @ u if u.ndim == 1 else np.asarray((self.jacobian @ u.T).T)

    def etas(self, u: np.ndarray) -> np.ndarray:
        """Return eta, shape (n, cells), of many u (n, size)."""
        return np.ascontiguousarray(self.eta(u))

    def pull(self, slope: np.ndarray) -> np.ndarray:
        """Return J' slope, (size,)."""
        return self._transposed @ slope

    def pulls(self, slopes: np.ndarray) -> np.ndarray:
        """Return J' slopes, (size, m), of slopes (cells, m)."""
        return np.asarray(self._transposed @ slopes)

    def pull_by(self, slope: np.ndarray, groups: np.ndarray, n: int) -> np.ndarray:
        """Return J' slope over the cells of each group, (n, size)."""
        place = (groups, np.arange(len(slope)))
        member = sparse.csr_array((slope, place), shape=(n, len(slope)))
        return np.asarray((member @ self.jacobian).todense())

    def curvature(self, bend: np.ndarray) -> np.ndarray:
        """Return minus J' diag(bend) J, (size, size)."""
        return self._gram.of(-bend).toarray()

    def spread(self, covariance: np.ndarray) -> np.ndarray:
        """Return the standard deviation of eta, (cells,)."""
        moved = self.jacobian @ covariance
        return np.sqrt(np.asarray(self.jacobian.multiply(moved).sum(axis=1)).ravel())

    def rows(self, cells: np.ndarray) -> "DesignMatrix":
        """Return the design of these cells."""
        return DesignMatrix(sparse.csr_array(self.jacobian[cells]))


@dataclass(frozen=True, eq=False)
class ScoresBeside(DesignMatrix):
    """Differences of two centred scores, beside many sparse columns.

    jacobian: of K scores and the other coefficients, (cells, K + p); the first K - 1 entries of u
        are the free numbers of the scores.
    n_arms: K.
    """

    n_arms: int

    @classmethod
    def of(
        cls, first: np.ndarray, second: np.ndarray, n_arms: int, others: "sparse.csr_array"
    ) -> "ScoresBeside":
        """Return the design of pairs and of other columns (cells, p)."""
        cell, one = np.arange(len(first)), np.ones(len(first))
        place = (np.concatenate([cell, cell]), np.concatenate([first, second]))
        pairs = sparse.csr_array((np.concatenate([one, -one]), place), shape=(len(first), n_arms))
        return cls(sparse.csr_array(sparse.hstack([pairs, others])), n_arms)

    def _raw(self, u: np.ndarray) -> np.ndarray:
        """Return scores and other coefficients, (..., K + p), of u."""
        cut = self.n_arms - 1
        return np.concatenate([centre(u[..., :cut]), u[..., cut:]], axis=-1)

    def _free(self, raw: np.ndarray) -> np.ndarray:
        """Return the gradient in u from that in scores and others, (..., K + p)."""
        parts = [uncentre(raw[..., : self.n_arms]), raw[..., self.n_arms :]]
        return np.concatenate(parts, axis=-1)

    def eta(self, u: np.ndarray) -> np.ndarray:
        return super().eta(self._raw(u))

    def pull(self, slope: np.ndarray) -> np.ndarray:
        return self._free(super().pull(slope))

    def pulls(self, slopes: np.ndarray) -> np.ndarray:
        return self._free(super().pulls(slopes).T).T

    def pull_by(self, slope: np.ndarray, groups: np.ndarray, n: int) -> np.ndarray:
        return self._free(super().pull_by(slope, groups, n))

    def curvature(self, bend: np.ndarray) -> np.ndarray:
        return self._free(self._free(super().curvature(bend)).T)

    def spread(self, covariance: np.ndarray) -> np.ndarray:
        return super().spread(self._raw(self._raw(covariance).T))

    def rows(self, cells: np.ndarray) -> "ScoresBeside":
        return ScoresBeside(sparse.csr_array(self.jacobian[cells]), self.n_arms)


Design = PairDifferences | DesignMatrix  # how eta (cells,) depends on u (size,): eta = J u
