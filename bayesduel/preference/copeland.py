"""Functions of the majority relation: Copeland scores, Condorcet winner, Smith set, cycles.

`check_preference` checks the rules of a preference matrix.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesduel.system.arguments import check_one_of, numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "beats",
    "beats_all",
    "blocks",
    "check_preference",
    "condorcet_winner",
    "consistence",
    "copeland_scores",
    "cyclic_triads",
    "decided_triads",
    "flattened",
    "opposite",
    "smith_set",
]

ROUNDING = 1e-6  # how far P + P^T may be from 1, and the diagonal from 1/2


def _opposed(block: np.ndarray) -> bool:
    """Return whether P + P^T = 1 holds, to within `ROUNDING`."""
    total = block + opposite(block)
    least = total.min()
    most = total.max()
    return bool(1 - ROUNDING <= least and most <= 1 + ROUNDING)


def check_preference(P: "ArrayLike") -> np.ndarray:
    """Return `P` as an array of float64, having checked that it is a preference matrix.

    Parameters
    ----------
    P
        Shape (..., K, K), K >= 2, entries in [0, 1], ``P + P^T = 1``, diagonal 1/2 (both to
        within 1e-6, so that published matrices and float32 draws pass).

    Raises
    ------
    TypeError
        If it is not an array of numbers.
    ValueError
        If it breaks one of the rules above; the message names the entry.
    """
    array = numbers(P, "P")
    shape = array.shape
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] < 2:
        raise ValueError(f"P should have shape (..., K, K), K >= 2, got {shape}")
    if array.size == 0:
        raise ValueError(f"P should hold at least one matrix, got shape {shape}")
    for start, block in blocks(array):
        within = block.min() >= 0 and block.max() <= 1
        if within and _opposed(block):
            continue
        kept = (block >= 0) & (block <= 1)
        _require(kept, "entries in [0, 1]", block, start, array.ndim)
        off = np.abs(block + opposite(block) - 1)
        _require(off <= ROUNDING, "P[i, j] + P[j, i] = 1", block, start, array.ndim)
    diagonal = np.einsum("...ii->...i", array)
    off = np.abs(diagonal - 0.5)
    if not (off <= ROUNDING).all():
        worst = diagonal.flat[off.argmax()]
        raise ValueError(f"P should have a diagonal of 1/2, got {worst}")
    return array


def _require(kept: np.ndarray, rule: str, block: np.ndarray, start: int, n_axes: int) -> None:
    """Raise ValueError, which names the first entry of a block that breaks a rule."""
    if kept.all():
        return
    where = np.argwhere(~kept)[0]
    value = block[tuple(where)]
    where[0] += start
    place = ", ".join(map(str, where[-n_axes:]))
    raise ValueError(f"P should have {rule}, got {value} at [{place}]")


def beats(P: "ArrayLike") -> np.ndarray:
    """Return whether i beats j, bool, shape (..., K, K): ``P[i, j] > 1/2 > P[j, i]``."""
    P = check_preference(P)
    return np.asarray(P > opposite(P))


def copeland_scores(P: "ArrayLike", ties: Literal["strict", "half"] = "strict") -> np.ndarray:
    """Return the share of opponents each arm beats, shape (..., K), in [0, 1].

    Parameters
    ----------
    P
        Preference matrices, shape (..., K, K).
    ties
        "strict": an opponent tied at exactly 1/2 counts for nothing; "half": for half.

    Raises
    ------
    ValueError
        If `ties` is neither.

    References
    ----------
    Zoghi, Karnin, Whiteson & de Rijke, "Copeland Dueling Bandits", NeurIPS 2015, Section 2.
    """
    check_one_of(ties, "ties", ("strict", "half"))
    won = beats(P)
    n_opponents = won.shape[-1] - 1
    return np.asarray(_points(won, ties) / n_opponents)


def condorcet_winner(P: "ArrayLike") -> np.ndarray:
    """Return the arm that beats every other, or -1 where there is none; int, shape (...)."""
    winner = beats_all(P)
    found = winner.any(-1)
    return np.where(found, winner.argmax(-1), -1)


def beats_all(P: "ArrayLike") -> np.ndarray:
    """Return whether each arm is the Condorcet winner, bool, shape (..., K)."""
    won = beats(P)
    n_opponents = won.shape[-1] - 1
    return np.asarray(won.sum(-1) == n_opponents)


def smith_set(P: "ArrayLike") -> np.ndarray:
    """Return the top cycle, bool, shape (..., K).

    The smallest set of arms each of which beats every arm outside it; a single arm exactly
    where there is a Condorcet winner.
    """
    # With half a point a tie, the r best arms hold r(r-1)/2 + r(K-r) points together, the
    # most they can, exactly when each of them beats everyone outside.
    points = _points(beats(P), "half")
    n_arms = points.shape[-1]
    order = np.argsort(-points, axis=-1, kind="stable")
    descending = np.take_along_axis(points, order, axis=-1)
    held = np.cumsum(descending, axis=-1)
    r = np.arange(1, n_arms + 1)
    among_themselves = r * (r - 1) / 2
    most = among_themselves + r * (n_arms - r)
    last = (held == most).argmax(-1)  # place of the worst arm inside
    inside = np.arange(n_arms) <= last[..., None]
    out = np.empty(points.shape, dtype=bool)
    np.put_along_axis(out, order, inside, axis=-1)
    return out


def cyclic_triads(P: "ArrayLike") -> np.ndarray:
    """Return the number of triples with a cycle: i beats j, j beats k, k beats i; int, (...)."""
    P = check_preference(P)
    return _closed_walks(P > opposite(P)) // 3


def decided_triads(P: "ArrayLike") -> np.ndarray:
    """Return the number of triples without a tie, int, shape (...)."""
    P = check_preference(P)
    return _closed_walks(P != opposite(P)) // 6


def consistence(P: "ArrayLike") -> np.ndarray:
    """Return Kendall's coefficient of consistence (zeta), shape (...); NaN where a pair is level.

    1 without a cyclic triad, 0 with as many as there can be; NaN for fewer than three arms.

    References
    ----------
    Kendall & Babington Smith, "On the method of paired comparisons", Biometrika 1940.
    """
    P = check_preference(P)
    n_arms = P.shape[-1]
    if n_arms < 3:
        return np.full(P.shape[:-2], np.nan)
    less = 1 if n_arms % 2 else 4
    most = n_arms * (n_arms**2 - less) // 24
    n_level = (P == opposite(P)).sum((-1, -2))  # and the diagonal
    cycles = _closed_walks(P > opposite(P)) // 3
    zeta = 1 - cycles / most
    return np.where(n_level > n_arms, np.nan, zeta)


def opposite(P: np.ndarray) -> np.ndarray:
    """Return the transposed matrices, ``P[..., j, i]``."""
    return np.swapaxes(P, -1, -2)


def flattened(P: np.ndarray) -> np.ndarray:
    """Return matrices with the leading axes flattened, shape (n, K, K)."""
    return P.reshape(-1, *P.shape[-2:])


def blocks(P: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (start, matrices) for consecutive blocks, with the leading axes flattened."""
    flat = flattened(P)
    # 500,000 entries worked on at once, so that they stay in cache
    size = max(1, 500_000 // flat[0].size)
    for start in range(0, len(flat), size):
        yield start, flat[start : start + size]


def _points(won: np.ndarray, ties: str) -> np.ndarray:
    points = won.sum(-1).astype(float)
    if ties == "half":
        n_opponents = won.shape[-1] - 1
        n_ties = n_opponents - points - won.sum(-2)
        points += n_ties / 2
    return points


def _closed_walks(linked: np.ndarray) -> np.ndarray:
    """Return the number of closed walks of three steps, trace(linked^3), int64."""
    out = np.empty(linked.shape[:-2], dtype=np.int64)
    flat = out.reshape(-1)
    for start, block in blocks(linked):
        step = block.astype(np.float32)  # whole numbers up to K: exact
        paths = np.matmul(step, step).astype(float)
        closed = np.einsum("nij,nji->n", paths, step)
        stop = start + len(block)
        flat[start:stop] = closed.astype(np.int64)
    return flat.reshape(out.shape)
