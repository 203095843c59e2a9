"""Sides of several arms: whether 95 % intervals of members hold the truth in 95 % of worlds.

Run with ``python -m benchmarks.teams`` (200 worlds of each design), or fewer of one design:
``python -m benchmarks.teams 20 "doubles of 6"``. A world draws scores, an advantage of the left
side, tastes of judges and ties; the fit knows the terms, not their sizes. Differences of two
members are looked at; of systems those of two models and of two prompts, since the sums of all
sides are the same where all models gain what all prompts lose. Worlds, sizes and seeds were fixed
before the first run. Measured on 2026-11-29, 200 worlds of each (9 processor minutes): doubles of 6
0.953 (standard error 0.006), teams of 2 to 5 0.943 (0.004), model x prompt 0.949 (0.006), systems
that share a part 0.950 (0.006).
"""

import sys
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from itertools import combinations

import numpy as np

import bayesduel as bd
from bayesduel.models import Davidson, RandomEffects, SideAdvantage

__all__ = ["DESIGNS", "Design", "covered", "main", "world"]

WORLDS = 200
JUDGES, TASTE = 8, 0.3  # and the standard deviation of a judge's taste in each member
ORDER = 0.3  # side advantage
TIE = 0.5  # Davidson's nu
DRAWS = 1_000


@dataclass(frozen=True)
class Design:
    """Who may be on a side, and how many duels there are."""

    kinds: tuple[tuple[str, ...], ...]  # a side has members of each kind
    sizes: tuple[int, ...]  # how many of each kind a side may have
    n_duels: int
    shared: bool = False  # whether the sides may have members in common, which cancel


DESIGNS = {
    "doubles of 6": Design((tuple("abcdef"),), (2,), 240),
    "teams of 2 to 5": Design((tuple("abcdefghijkl"),), (2, 3, 4, 5), 400),
    "model x prompt": Design((("m1", "m2", "m3", "m4"), ("p1", "p2", "p3", "p4")), (1,), 300),
    "model x prompt, parts shared": Design(
        (("m1", "m2", "m3", "m4"), ("p1", "p2", "p3", "p4")), (1,), 300, shared=True
    ),
}


def _sides(design: Design, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Return the members of two sides, which have none in common or are at least different."""
    left: list[str] = []
    right: list[str] = []
    for kind in design.kinds:
        n, other = rng.choice(design.sizes, 2)
        free = list(rng.permutation(kind))
        left += free[:n]
        right += list(rng.permutation(kind))[:other] if design.shared else free[n : n + other]
    return (left, right) if sorted(left) != sorted(right) else _sides(design, rng)


def world(design: Design, seed: int) -> tuple[dict[str, float], bd.Duels]:
    """Return the true scores of members, and a log of duels of sides."""
    rng = np.random.default_rng(seed)
    members = [name for kind in design.kinds for name in kind]
    score = dict(zip(members, rng.normal(0, 0.8, len(members)), strict=True))
    taste = {(j, name): rng.normal(0, TASTE) for j in range(JUDGES) for name in members}
    rows: dict[str, list[str]] = {"left": [], "right": [], "outcome": [], "judge": []}
    for _ in range(design.n_duels):
        left, right = _sides(design, rng)
        judge = int(rng.integers(JUDGES))
        eta = ORDER
        for side, sign in ((left, 1), (right, -1)):
            eta += sign * sum(score[name] + taste[judge, name] for name in side)
        weight = np.array([np.exp(eta / 2), np.exp(-eta / 2), TIE])
        rows["left"].append(" + ".join(left))
        rows["right"].append(" + ".join(right))
        rows["outcome"].append(str(rng.choice(["left", "right", "tie"], p=weight / weight.sum())))
        rows["judge"].append(f"j{judge}")
    with redirect_stderr(StringIO()):  # which sides share a member is said of every world
        return score, bd.read_duels(rows, teams="+")


def covered(design: Design, score: dict[str, float], duels: bd.Duels) -> Iterator[bool]:
    """Yield whether the 95 % interval of each difference of two members holds the truth."""
    fit = bd.fit(duels, Davidson() + SideAdvantage() + RandomEffects("judge"), draws=DRAWS, seed=0)
    draws = fit["posterior"]["score"].stack(draw_of=("chain", "draw"))
    for kind in design.kinds:
        for one, other in combinations(sorted(set(kind) & set(duels.arms)), 2):
            gap = (draws.sel(arm=one) - draws.sel(arm=other)).values
            low, high = np.quantile(gap, [0.025, 0.975])
            yield bool(low <= score[one] - score[other] <= high)


def main() -> None:
    """Print the share of intervals that hold the truth, with its standard error over worlds."""
    n_worlds = int(sys.argv[1]) if len(sys.argv) > 1 else WORLDS
    names = sys.argv[2:] or DESIGNS
    warnings.simplefilter("ignore")
    for name in names:
        design = DESIGNS[name]
        shares = []
        for seed in range(n_worlds):
            score, duels = world(design, seed)
            shares.append(np.mean([*covered(design, score, duels)]))
        error = np.std(shares, ddof=1) / np.sqrt(n_worlds)
        print(f"{name}: {np.mean(shares):.3f} (standard error {error:.3f})", flush=True)


if __name__ == "__main__":
    main()
