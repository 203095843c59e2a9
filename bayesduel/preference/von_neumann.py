"""Von Neumann winners: maximin mixtures of symmetric zero-sum games.

A symmetric game has a skew payoff matrix A and value 0. One interior-point iteration solves
many games of one size at once; every solution is then certified (no column beats the mixture),
and a solution without certificate is replaced by that of scipy's HiGHS.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import get_lapack_funcs

from bayesduel.preference.copeland import check_preference, opposite, smith_set

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["linear_programme", "maximin", "von_neumann"]

CERTIFICATE = 1e-8  # what any column may win from the returned mixture, in units of max |A|
CENTRED_AT = 1e-6  # gap at which a game is brought to the very middle of its path
NOTED_AT = 1e-10  # gap below which rounding moves a solution that is one of many
FACTORISED = 64  # arms from which a system is factorised once for both steps of an iteration
FEW = 16  # arms of the first, cut down game, and arms added to it in each round


def von_neumann(P: "ArrayLike") -> np.ndarray:
    """Return the maximin mixture of the game with payoff ``2 P - 1``, shape (..., K), sum 1.

    No arm beats the mixture with probability above 1/2. A Condorcet winner is the whole of
    it; otherwise it lies within the Smith set, to which the game is cut down first. Where
    exact ties allow many mixtures, the one that mixes all arms that any of them mixes.

    References
    ----------
    Dudík, Hofmann, Schapire, Slivkins & Zoghi, "Contextual Dueling Bandits", COLT 2015;
    the maximal lotteries of Fishburn, Review of Economic Studies 1984.
    """
    P = check_preference(P)
    flat = P.reshape(-1, *P.shape[-2:])
    cycle = smith_set(P).reshape(len(flat), -1)
    out = cycle.astype(float)  # already right where the set is a single arm
    size = cycle.sum(1)
    for m in np.unique(size[size > 1]):
        draws = np.flatnonzero(size == m)
        arms = np.nonzero(cycle[draws])[1].reshape(-1, m)
        won = flat[draws[:, None, None], arms[:, :, None], arms[:, None, :]]
        game = 2 * won - 1
        out[draws[:, None], arms] = maximin((game - opposite(game)) / 2)
    return out.reshape(P.shape[:-1])


def maximin(A: np.ndarray) -> np.ndarray:
    """Return a maximin mixture of each symmetric game.

    Where a game has many, the one returned is (close to) the analytic centre of them all: it
    mixes every arm that any of them mixes, and does not depend on the order of the arms.

    Mixtures, shape (n, m), non-negative, summing to 1; exactly 0 outside the support.

    Primal-dual path following (Wright, "Primal-Dual Interior-Point Methods", 1997, ch. 10) on
    ``s = v - A x, x'1 = 1, x s = mu``, which in a symmetric game is its own dual. McMahan, Gordon
    & Blum, "Planning in the presence of cost functions controlled by an adversary", ICML 2003,
    for large games: a game of few arms is solved, and those that beat its mixture are added.
    """
    n, m = A.shape[:2]
    mixtures = np.full((n, m), 1.0 / m)
    # 4,000,000 entries of A worked on at once
    size = max(1, 4_000_000 // (m * m))
    for start in range(0, n, size):
        block = A[start : start + size]
        scale = np.abs(block).max(axis=(1, 2), keepdims=True, initial=0)
        open_ = np.flatnonzero(scale[:, 0, 0] > 0)  # an all-tied game keeps the even mixture
        if m == 1 or not len(open_):
            continue
        scaled = block[open_] / scale[open_]
        found = _follow_path(scaled) if m < FACTORISED else _by_few_arms(scaled)
        gain = np.einsum("nij,nj->ni", scaled, found).max(1)
        for k in np.flatnonzero(~(gain <= CERTIFICATE)):
            found[k] = linear_programme(scaled[k])
        mixtures[start + open_] = found
    return mixtures


def linear_programme(A: np.ndarray) -> np.ndarray:
    """Return a maximin mixture of one symmetric game, shape (m,), by HiGHS.

    Where several exist it is one vertex, and which one depends on the order of the arms.
    """
    from scipy.optimize import linprog

    m = len(A)
    result = linprog(
        c=np.append(np.zeros(m), -1.0),  # maximise v
        A_ub=np.column_stack([-A.T, np.ones(m)]),  # v <= sum_i q_i A[i, j]
        b_ub=np.zeros(m),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        method="highs",
    )
    if result.x is None:
        raise RuntimeError(
            f"the von Neumann winner of {m} arms was not found. HiGHS says: {result.message}"
        )
    q = np.where(result.x[:m] > CERTIFICATE, result.x[:m], 0.0)
    return np.asarray(q / q.sum())


def _by_few_arms(A: np.ndarray) -> np.ndarray:
    """Return a maximin mixture of each game (max |A| = 1) from games of few of its arms.

    A mixture to which every other arm loses is that of the whole game, and the only one where it
    is the only one of the few. A game in which this is not so is solved as a whole.
    """
    n, m = A.shape[:2]
    out = np.zeros((n, m))
    live = np.arange(n)
    gain = A.mean(axis=2)
    size = FEW
    while len(live) and size <= m // 2:
        chosen = np.argsort(-gain, axis=1, kind="stable")[:, :size]
        few = A[live[:, None, None], chosen[:, :, None], chosen[:, None, :]]
        scale = np.abs(few).max(axis=(1, 2), keepdims=True)
        mixture = np.zeros((len(live), m))
        solved = scale[:, 0, 0] > 0
        found = _follow_path(few[solved] / scale[solved])
        mixture[np.flatnonzero(solved)[:, None], chosen[solved]] = found
        gain = np.einsum("nij,nj->ni", A[live], mixture)
        outside = gain.copy()
        np.put_along_axis(outside, chosen, -np.inf, axis=1)
        sole = solved & (outside.max(axis=1) < -CERTIFICATE)
        for k in np.flatnonzero(sole):
            sole[k] = not _has_many(A[live[k]], mixture[k] > 0)
        out[live[sole]] = mixture[sole]
        live = live[~sole]
        gain = gain[~sole]
        size = size + FEW
    if len(live):
        out[live] = _follow_path(A[live])
    return out


def _follow_path(A: np.ndarray, max_iterations: int = 60, gap: float = 1e-13) -> np.ndarray:
    """Follow the central path of each game (max |A| = 1) until its gap is below `gap`.

    Where a game has many solutions the path leads to the middle of them, but only who walks
    in the middle of the path gets there: on the way each game is centred, until x s is the
    same for all of its arms. The last steps, which make a sole solution exact, blow rounding
    up where there are many: there the mixture noted before them is kept.
    """
    n, m = A.shape[:2]
    x = np.full((n, m), 1.0 / m)
    against = A.mean(axis=2)
    v = against.max(1) + 1.0
    s = v[:, None] - against
    live = np.arange(n)
    floor = np.full(n, CENTRED_AT)  # gap to stop at before the next stage
    noted = x.copy()
    diagonal = np.arange(m)
    for _ in range(max_iterations):
        xs = x[live]
        ss = s[live]
        mu = (xs * ss).mean(1)
        going = mu * m > gap
        if not going.any():
            break
        live = live[going]
        xs = xs[going]
        ss = ss[going]
        mu = mu[going]
        near = mu * m < 2 * floor[live]
        uneven = np.abs(xs * ss / mu[:, None] - 1).max(1) > 1e-7
        centring_only = near & uneven & (floor[live] == CENTRED_AT)
        pause = near & (floor[live] == NOTED_AT)
        noted[live[pause]] = np.where(xs > ss, xs, 0.0)[pause]
        floor[live[pause]] = 0.0
        floor[live[near & ~pause & ~centring_only & (floor[live] > 0)]] = NOTED_AT
        B = A[live]
        system = -xs[:, :, None] * B
        system[:, diagonal, diagonal] += ss
        # Predictor: aim at the solution itself, to see how far the way is free.
        solve = _solver(system)
        dx, ds = _step(solve, B, xs, -xs * ss)
        far = _free(xs, dx, ss, ds)[:, None]
        ahead = ((xs + far * dx) * (ss + far * ds)).mean(1)
        least = np.clip(floor[live] / (mu * m), 1e-6, 1.0)
        centring = np.clip((ahead / mu) ** 3, least, 1.0)
        # Corrector: what the predictor's curvature asks for, and as much centring as needed.
        target = (centring * mu)[:, None] - xs * ss - dx * ds
        target = np.where(centring_only[:, None], mu[:, None] - xs * ss, target)
        dx, ds = _step(solve, B, xs, target)
        far = np.minimum(1.0, 0.995 * _free(xs, dx, ss, ds))[:, None]
        x[live] = xs + far * dx
        s[live] = ss + far * ds
    q = np.where(x > s, x, 0.0)  # strict complementarity: one of the two vanishes
    q /= q.sum(1, keepdims=True)
    noted /= noted.sum(1, keepdims=True)
    for k in np.flatnonzero(np.abs(q - noted).max(1) > 1e-8):
        if _has_many(A[k], q[k] > 0) and (A[k] @ noted[k]).max() <= CERTIFICATE:
            q[k] = noted[k]
    return q


def _has_many(A: np.ndarray, mixed: np.ndarray) -> bool:
    """Return whether more than one mixture of these arms leaves each of them level."""
    inside = A[np.ix_(mixed, mixed)]
    return len(inside) > 1 and bool(np.linalg.svd(inside, compute_uv=False)[-2] < 1e-9)


def _solver(system: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the solution of systems (n, m, m), each factorised once where it is large."""
    if system.shape[1] < FACTORISED:
        return lambda right: np.linalg.solve(system, right)
    factorise, substitute = get_lapack_funcs(("getrf", "getrs"), (system,))
    factors = [factorise(one.T)[:2] for one in system]  # of the transpose, which needs no copy
    return lambda right: np.stack(
        [substitute(*f, r, trans=1)[0] for f, r in zip(factors, right, strict=True)]
    )


def _step(
    solve: Callable[[np.ndarray], np.ndarray], A: np.ndarray, x: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Solve s dx + x ds = target with ds = dv - A dx and sum(dx) = 0."""
    both = solve(np.stack([target, x], axis=-1))
    dv = both[:, :, 0].sum(1) / both[:, :, 1].sum(1)
    dx = both[:, :, 0] - dv[:, None] * both[:, :, 1]
    return dx, dv[:, None] - np.einsum("nij,nj->ni", A, dx)


def _free(x: np.ndarray, dx: np.ndarray, s: np.ndarray, ds: np.ndarray) -> np.ndarray:
    """Return the longest step in [0, 1] that keeps x and s positive, shape (n,)."""
    shrink = np.maximum((-dx / x).max(1), (-ds / s).max(1))
    return np.asarray(1.0 / np.maximum(shrink, 1.0))
