"""Compiled kernels for many right-hand sides: perturbations of a graph, and conjugate gradients.

They hold no lock of the interpreter, so that several blocks are worked on at once, and are compiled
only where a log is large enough to need them.
"""

import numpy as np

from bayesduel.jit import compiled

__all__ = ["add_pair_noise", "solve_block"]

# Counter-based random numbers: the output function of Steele, Lea & Flood, "Fast splittable
# pseudorandom number generators", OOPSLA 2014.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
BYTES = np.uint64(0x00FF00FF00FF00FF)
SUM = np.uint64(0x0001000100010001)
MIDDLE = np.float32(8 * 127.5)  # mean of a sum of eight bytes
UNIT = np.float32((8 * (256**2 - 1) / 12) ** -0.5)  # one over its standard deviation


@compiled(nogil=True)
def add_pair_noise(out, first, second, root, seed):
    """Add ``root`` times a random number of each pair and column to first, minus it to second.

    The numbers are sums of eight uniform ones, with mean 0, variance 1 and excess kurtosis -0.15:
    those of an arm's pairs and its prior add up to normal numbers. `out` (K, columns), float32, is
    changed; arms and `root`, float32, are of the pairs, (pairs,); `seed` is an unsigned whole
    number of 64 bits.
    """
    columns = out.shape[1]
    for e in range(len(first)):
        i = first[e]
        j = second[e]
        unit = root[e] * UNIT
        n_before = np.uint64(e) * np.uint64(columns)
        counter = seed + n_before * GOLDEN
        for c in range(columns):
            total = _sum_of_bytes(counter + np.uint64(c) * GOLDEN)
            away = np.float32(np.int64(total)) - MIDDLE
            value = unit * away
            out[i, c] += value
            out[j, c] -= value


@compiled(nogil=True, inline="always")
def _sum_of_bytes(counter):
    """Return the sum of the eight bytes of the random number of a counter."""
    z = counter
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    z = z ^ (z >> np.uint64(31))
    even = z & BYTES
    odd = (z >> np.uint64(8)) & BYTES
    return ((even + odd) * SUM) >> np.uint64(48)


@compiled(nogil=True)
def solve_block(
    indptr,
    indices,
    weight,
    diagonal,
    right,
    tolerance,
    most,
):
    """Return the solutions of ``diag(diagonal) x - W x = right`` and how many steps were taken.

    Conjugate gradients with Jacobi's preconditioner, each column with its own steps. W is symmetric
    and by rows; it, `diagonal` (K,) and `right` (K, columns) are float32. `tolerance` is of the
    residual's norm over that of `right`, in the metric of the preconditioner. Where `most` steps do
    not suffice, -1 is returned.
    """
    n, columns = right.shape
    x = np.empty((n, columns), dtype=np.float32)
    residual = np.empty_like(x)
    direction = np.empty_like(x)
    moved = np.empty_like(x)
    line = np.empty(columns, dtype=np.float32)
    step = np.zeros(columns, dtype=np.float32)
    goal = np.zeros(columns)
    squared = np.zeros(columns)
    new = np.zeros(columns)
    for i in range(n):
        own = diagonal[i]
        for c in range(columns):
            given = right[i, c]
            scaled = given / own
            x[i, c] = scaled
            goal[c] += given * scaled
    for i in range(n):
        _times_row(indptr, indices, weight, i, x, line)
        own = diagonal[i]
        for c in range(columns):
            left = line[c]
            scaled = left / own
            residual[i, c] = left
            direction[i, c] = scaled
            squared[c] += left * scaled
    for c in range(columns):
        goal[c] *= tolerance * tolerance
    for steps in range(most):
        if np.all(squared <= goal):
            return x, steps
        curvature = np.zeros(columns)
        for i in range(n):
            _times_row(indptr, indices, weight, i, direction, line)
            own = diagonal[i]
            for c in range(columns):
                towards = direction[i, c]
                product = own * towards - line[c]
                moved[i, c] = product
                curvature[c] += product * towards
        for c in range(columns):
            step[c] = 0
            unsolved = squared[c] > goal[c]
            if unsolved and curvature[c] > 0:
                step[c] = squared[c] / curvature[c]
        new[:] = 0
        for i in range(n):
            own = diagonal[i]
            for c in range(columns):
                length = step[c]
                x[i, c] += length * direction[i, c]
                left = residual[i, c] - length * moved[i, c]
                scaled = left / own
                residual[i, c] = left
                moved[i, c] = scaled
                new[c] += left * scaled
        for c in range(columns):
            step[c] = 0
            if squared[c] > 0:
                step[c] = new[c] / squared[c]
            squared[c] = new[c]
        for i in range(n):
            for c in range(columns):
                before = step[c] * direction[i, c]
                direction[i, c] = moved[i, c] + before
    return x, -1


@compiled(nogil=True, inline="always")  # as a call it takes 5 % longer
def _times_row(indptr, indices, weight, row, values, out):
    """Set `out`, (columns,), to a row of the sparse W times `values`, (K, columns)."""
    out[:] = 0
    for k in range(indptr[row], indptr[row + 1]):
        arm = indices[k]
        w = weight[k]
        for c in range(len(out)):
            out[c] += w * values[arm, c]
