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
        counter = seed + np.uint64(e) * np.uint64(columns) * GOLDEN
        for c in range(columns):
            z = counter + np.uint64(c) * GOLDEN
            z = (z ^ (z >> np.uint64(30))) * FIRST
            z = (z ^ (z >> np.uint64(27))) * SECOND
            z = z ^ (z >> np.uint64(31))
            pairs = (z & BYTES) + ((z >> np.uint64(8)) & BYTES)
            total = (pairs * SUM) >> np.uint64(48)
            value = unit * (np.float32(np.int64(total)) - MIDDLE)
            out[i, c] += value
            out[j, c] -= value


@compiled(nogil=True)
def solve_block(indptr, indices, weight, diagonal, right, tolerance, most):
    """Return the solutions of ``diag(diagonal) x - W x = right`` and how many steps were taken.

    Conjugate gradients with Jacobi's preconditioner, each column with its own steps. W is symmetric
    and by rows; it, `diagonal` (K,) and `right` (K, columns) are float32. `tolerance` is of the
    residual's norm over that of `right`, in the metric of the preconditioner. Where `most` steps do
    not suffice, -1 is returned.
    """
    n, columns = right.shape
    x = np.empty((n, columns), dtype=np.float32)
    r = np.empty_like(x)
    p = np.empty_like(x)
    q = np.empty_like(x)
    line = np.empty(columns, dtype=np.float32)
    step = np.zeros(columns, dtype=np.float32)
    goal = np.zeros(columns)
    squared = np.zeros(columns)
    new = np.zeros(columns)
    for i in range(n):
        for c in range(columns):
            x[i, c] = right[i, c] / diagonal[i]
            goal[c] += x[i, c] * right[i, c]
    for i in range(n):
        line[:] = 0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            w = weight[k]
            for c in range(columns):
                line[c] += w * x[j, c]
        for c in range(columns):
            r[i, c] = line[c]
            p[i, c] = line[c] / diagonal[i]
            squared[c] += line[c] * p[i, c]
    for c in range(columns):
        goal[c] *= tolerance * tolerance
    for steps in range(most):
        done = True
        for c in range(columns):
            done = done and squared[c] <= goal[c]
        if done:
            return x, steps
        curvature = np.zeros(columns)
        for i in range(n):
            line[:] = 0
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                w = weight[k]
                for c in range(columns):
                    line[c] += w * p[j, c]
            for c in range(columns):
                line[c] = diagonal[i] * p[i, c] - line[c]
                q[i, c] = line[c]
                curvature[c] += line[c] * p[i, c]
        for c in range(columns):
            step[c] = 0
            if squared[c] > goal[c] and curvature[c] > 0:
                step[c] = squared[c] / curvature[c]
        new[:] = 0
        for i in range(n):
            for c in range(columns):
                x[i, c] += step[c] * p[i, c]
                r[i, c] -= step[c] * q[i, c]
                q[i, c] = r[i, c] / diagonal[i]
                new[c] += r[i, c] * q[i, c]
        for c in range(columns):
            step[c] = new[c] / squared[c] if squared[c] > 0 else 0
            squared[c] = new[c]
        for i in range(n):
            for c in range(columns):
                p[i, c] = q[i, c] + step[c] * p[i, c]
    return x, -1
