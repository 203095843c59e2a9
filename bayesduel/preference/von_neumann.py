"""Von Neumann winners: maximin mixtures of symmetric zero-sum games.

A symmetric game has a skew payoff matrix A and value 0. One interior-point iteration solves
many games of one size at once; every solution is then certified (no column beats the mixture),
and a solution without certificate is replaced by that of scipy's HiGHS.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import get_lapack_funcs

from bayesduel.preference.copeland import check_preference, flattened, opposite, smith_set

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
    flat = flattened(P)
    cycle = smith_set(P).reshape(len(flat), -1)
    out = cycle.astype(float)  # already right where the set is a single arm
    size = cycle.sum(1)
    for m in np.unique(size[size > 1]):
        draws = np.flatnonzero(size == m)
        _, members = np.nonzero(cycle[draws])
        arms = members.reshape(-1, m)
        game = 2 * _among(flat, draws, arms) - 1
        skew = (game - opposite(game)) / 2
        out[draws[:, None], arms] = maximin(skew)
    return out.reshape(P.shape[:-1])


def _among(matrices: np.ndarray, which: np.ndarray, arms: np.ndarray) -> np.ndarray:
    """Return the entries of some matrices among some arms of each, shape (n, m, m)."""
    matrix = which[:, None, None]
    row = arms[:, :, None]
    column = arms[:, None, :]
    return np.asarray(matrices[matrix, row, column])


def _gain(A: np.ndarray, mixture: np.ndarray) -> np.ndarray:
    """Return what each arm wins from the mixture of its game, shape (n, m)."""
    return np.asarray(np.einsum("nij,nj->ni", A, mixture))


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
    n, m, _ = A.shape
    mixtures = np.full((n, m), 1.0 / m)
    if m == 1:
        return mixtures
    solve = _follow_path if m < FACTORISED else _by_few_arms
    # 4,000,000 entries of A worked on at once
    size = max(1, 4_000_000 // (m * m))
    for start in range(0, n, size):
        block = A[start : start + size]
        open_, scaled = _scaled(block)  # an all-tied game keeps the even mixture
        if not len(open_):
            continue
        found = solve(scaled)
        gain = _gain(scaled, found).max(1)
        certified = gain <= CERTIFICATE
        for k in np.flatnonzero(~certified):
            found[k] = linear_programme(scaled[k])
        mixtures[start + open_] = found
    return mixtures


def _scaled(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which games are not all tied, indices, and these with max |A| = 1."""
    scale = np.abs(A).max(axis=(1, 2))
    open_ = np.flatnonzero(scale > 0)
    return open_, A[open_] / scale[open_, None, None]


def linear_programme(A: np.ndarray) -> np.ndarray:
    """Return a maximin mixture of one symmetric game, shape (m,), by HiGHS.

    Where several exist it is one vertex, and which one depends on the order of the arms.
    """
    from scipy.optimize import linprog

    m = len(A)
    ones = np.ones(m)
    zeros = np.zeros(m)
    of_arms = [(0, None)] * m
    of_value = (None, None)
    result = linprog(
        c=np.append(zeros, -1.0),  # maximise v
        A_ub=np.column_stack([-A.T, ones]),  # v <= sum_i q_i A[i, j]
        b_ub=zeros,
        A_eq=np.append(ones, 0.0)[None],
        b_eq=[1.0],
        bounds=[*of_arms, of_value],
        method="highs",
    )
    if result.x is None:
        raise RuntimeError(
            f"the von Neumann winner of {m} arms was not found. HiGHS says: {result.message}"
        )
    weight = result.x[:m]
    q = np.where(weight > CERTIFICATE, weight, 0.0)
    return np.asarray(q / q.sum())


def _by_few_arms(A: np.ndarray) -> np.ndarray:
    """Return a maximin mixture of each game (max |A| = 1) from games of few of its arms.

    A mixture to which every other arm loses is that of the whole game, and the only one where it
    is the only one of the few. A game in which this is not so is solved as a whole.
    """
    n, m, _ = A.shape
    out = np.zeros((n, m))
    live = np.arange(n)
    gain = A.mean(axis=2)
    size = FEW
    while len(live) and size <= m // 2:
        best_first = np.argsort(-gain, axis=1, kind="stable")
        chosen = best_first[:, :size]
        rows, few = _scaled(_among(A, live, chosen))
        mixture = np.zeros((len(live), m))
        mixture[rows[:, None], chosen[rows]] = _follow_path(few)
        games = A[live]
        gain = _gain(games, mixture)
        outside = gain.copy()
        np.put_along_axis(outside, chosen, -np.inf, axis=1)
        loses = outside.max(axis=1) < -CERTIFICATE
        sole = np.zeros(len(live), dtype=bool)
        for k in rows[loses[rows]]:
            mixed = mixture[k] > 0
            sole[k] = not _has_many(games[k], mixed)
        out[live[sole]] = mixture[sole]
        live = live[~sole]
        gain = gain[~sole]
        size += FEW
    if len(live):
        out[live] = _follow_path(A[live])
    return out


def _follow_path(A: np.ndarray) -> np.ndarray:
    """Follow the central path of each game (max |A| = 1) until its gap is below 1e-13.

    Where a game has many solutions the path leads to the middle of them, but only who walks
    in the middle of the path gets there: on the way each game is centred, until x s is the
    same for all of its arms. The last steps, which make a sole solution exact, blow rounding
    up where there are many: there the mixture noted before them is kept.
    """
    n, m, _ = A.shape
    x = np.full((n, m), 1.0 / m)
    against = A.mean(axis=2)
    v = against.max(1, keepdims=True) + 1.0
    s = v - against
    live = np.arange(n)
    floor = np.full(n, CENTRED_AT)  # gap to stop at before the next stage
    noted = x.copy()
    diagonal = np.arange(m)
    for _ in range(60):  # iterations at most
        product = x[live] * s[live]
        mu = product.mean(1)
        going = mu * m > 1e-13
        if not going.any():
            break
        live = live[going]
        mu = mu[going, None]
        xs = x[live]
        ss = s[live]
        product = product[going]
        gap_left = mu[:, 0] * m
        stage = floor[live]
        near = gap_left < 2 * stage
        unevenness = np.abs(product / mu - 1).max(1)
        uneven = unevenness > 1e-7
        centring_only = near & uneven & (stage == CENTRED_AT)
        pause = near & (stage == NOTED_AT)
        paused = live[pause]
        noted[paused] = _support(xs[pause], ss[pause])
        floor[paused] = 0.0
        centred = near & (stage > 0) & ~pause & ~centring_only
        floor[live[centred]] = NOTED_AT
        B = A[live]
        system = -xs[:, :, None] * B
        system[:, diagonal, diagonal] += ss
        # Predictor: aim at the solution itself, to see how far the way is free.
        solve = _solver(system)
        dx, ds = _step(solve, B, xs, -product)
        far = _free(xs, dx, ss, ds)
        x_ahead = xs + far * dx
        s_ahead = ss + far * ds
        ahead = (x_ahead * s_ahead).mean(1, keepdims=True)
        least = np.clip(floor[live] / gap_left, 1e-6, 1.0)
        asked = (ahead / mu) ** 3
        centring = np.clip(asked, least[:, None], 1.0)
        # Corrector: what the predictor's curvature asks for, and as much centring as needed.
        target = centring * mu - product - dx * ds
        target = np.where(centring_only[:, None], mu - product, target)
        dx, ds = _step(solve, B, xs, target)
        far = np.minimum(1.0, 0.995 * _free(xs, dx, ss, ds))
        x[live] = xs + far * dx
        s[live] = ss + far * ds
    q = _support(x, s)
    q /= q.sum(1, keepdims=True)
    noted /= noted.sum(1, keepdims=True)
    apart = np.abs(q - noted).max(1)
    for k in np.flatnonzero(apart > 1e-8):
        if not _has_many(A[k], q[k] > 0):
            continue
        gain = A[k] @ noted[k]
        if gain.max() <= CERTIFICATE:
            q[k] = noted[k]
    return q


def _support(x: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return x without what vanishes: of x and s one does (strict complementarity)."""
    return np.where(x > s, x, 0.0)


def _has_many(A: np.ndarray, mixed: np.ndarray) -> bool:
    """Return whether more than one mixture of these arms leaves each of them level."""
    inside = A[np.ix_(mixed, mixed)]
    if len(inside) < 2:
        return False
    singular_values = np.linalg.svd(inside, compute_uv=False)
    return bool(singular_values[-2] < 1e-9)


def _solver(system: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the solution of systems (n, m, m), each factorised once where it is large."""
    if system.shape[1] < FACTORISED:
        return lambda right: np.linalg.solve(system, right)
    factorise, substitute = get_lapack_funcs(("getrf", "getrs"), (system,))
    factors = [factorise(one.T)[:2] for one in system]  # of the transpose, which needs no copy

    def solve(right: np.ndarray) -> np.ndarray:
        solutions = []
        for (lu, pivots), of_one in zip(factors, right, strict=True):
            solution, _ = substitute(lu, pivots, of_one, trans=1)
            solutions.append(solution)
        return np.stack(solutions)

    return solve


def _step(
    solve: Callable[[np.ndarray], np.ndarray], A: np.ndarray, x: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Solve s dx + x ds = target with ds = dv - A dx and sum(dx) = 0."""
    both = solve(np.stack([target, x], axis=-1))
    toward = both[:, :, 0]
    by_value = both[:, :, 1]  # how x moves with v
    dv = toward.sum(1, keepdims=True) / by_value.sum(1, keepdims=True)
    dx = toward - dv * by_value
    return dx, dv - _gain(A, dx)


def _free(x: np.ndarray, dx: np.ndarray, s: np.ndarray, ds: np.ndarray) -> np.ndarray:
    """Return the longest step in [0, 1] that keeps x and s positive, shape (n, 1)."""
    of_x = (-dx / x).max(1, keepdims=True)
    of_s = (-ds / s).max(1, keepdims=True)
    shrink = np.maximum(of_x, of_s)
    return np.asarray(1.0 / np.maximum(shrink, 1.0))
