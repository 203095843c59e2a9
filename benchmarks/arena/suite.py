"""The suite of the arena: seven families of twenty fresh problems, and those of the literature.

Fixed before the first run. No policy was tuned on a fresh problem: each has a seed of its own from
``FIRST`` on, which no other part of the package uses. The literature's problems, on which
constants of PivotIndex were settled, are a group apart and do not enter "all fresh problems".
"""

from functools import cache
from typing import Any

import numpy as np

from benchmarks.pivot_index import fresh

__all__ = ["FAMILIES", "FRESH", "LITERATURE", "PROBLEMS", "problem_named"]

FIRST = 630_000_000  # seed of the first fresh problem, far from every seed used before
# Generators and numbers of arms of each family: as many problems of each as make twenty.
DESIGN = {
    "Condorcet winner": ("uniform_won thurstone_won", (4, 5, 6, 8, 10)),
    "no Condorcet winner": ("uniform_cyclic thurstone_cyclic", (4, 5, 6, 8, 10)),
    "Bradley-Terry": ("strengths", (4, 5, 6, 8, 10)),
    "near ties": ("close close_cyclic", (4, 5, 6, 8, 10)),
    "three winners in a cycle": ("winners_3", (5, 6, 8, 10, 12)),
    "many arms": ("strengths uniform_won thurstone_won uniform_cyclic thurstone_cyclic", (16, 20)),
    "changing": ("changes_2 changes_4 changes_8 walk_100 adversary_99", (4, 5, 8, 10)),
}
EACH = 20  # fresh problems of a family


def drawn_names(generators: str, sizes: tuple[int, ...]) -> list[str]:
    """Return the names of the fresh problems of a family, "generator_detail-arms-number"."""
    kinds = [f"{generator}-{n_arms}" for generator in generators.split() for n_arms in sizes]
    return [f"{kind}-{number + 1}" for kind in kinds for number in range(EACH // len(kinds))]


FAMILIES = {family: drawn_names(*design) for family, design in DESIGN.items()}
FRESH = [name for names in FAMILIES.values() for name in names]
LITERATURE = (
    "cyclic-4 mslr-5 mslr-5-c1 mslr-5-c3 arxiv-6 arithmetic-8 tennis-8 hudry-13 sushi-16 mslr-32 "
    "bvsc swirl"
).split()
PROBLEMS = [*FRESH, *LITERATURE]


@cache
def problem_named(name: str) -> Any:
    """Return a problem of the suite: a named one of the literature, or a fresh one.

    "uniform" and "thurstone" are those of :func:`benchmarks.pivot_index.fresh`, with a Condorcet
    winner ("won") or without ("cyclic"). "strengths": Bradley-Terry, log strengths N(0, 1);
    "close": N(0, 0.1^2). "close_cyclic": "uniform_cyclic" with every P - 1/2 divided by 5.
    "winners": as many arms as the detail says, each of which beats the next half in their circle
    and all other arms with 0.7; the others are as in "strengths". "changes": Bradley-Terry
    preferences drawn anew so many times; "walk": scores that take so many steps; "adversary":
    matrices that keep the Borda winner alone. These three are drawn in every run.
    """
    from bayesduel.problems import (
        NAMES,
        Matrix,
        RandomChanges,
        RandomProblem,
        ScoreWalk,
        bradley_terry,
        fixed_gap,
        named,
    )

    if name in NAMES:
        return named(name)
    generator, arms, _ = name.split("-")
    kind, _, detail = generator.partition("_")
    n_arms = int(arms)
    seed = FIRST + FRESH.index(name)
    if kind == "walk":
        return ScoreWalk(n_arms=n_arms, n_changes=int(detail))
    if kind in ("changes", "adversary"):
        drawn = bradley_terry if kind == "changes" else fixed_gap
        family = RandomProblem(n_arms=n_arms, generator=drawn)
        return RandomChanges(family=family, n_changes=int(detail))
    if kind in ("uniform", "thurstone"):
        return fresh(n_arms, detail == "won", kind, seed)
    if generator == "close_cyclic":
        return Matrix(0.5 + (fresh(n_arms, False, "uniform", seed).P - 0.5) / 5, name)
    sd = 0.1 if kind == "close" else 1.0
    P = bradley_terry(n_arms, sd=sd, rng=np.random.default_rng(seed)).P.copy()
    if kind == "winners":
        best = np.arange(int(detail))
        ahead = (best - best[:, None]) % len(best)
        P[: len(best)], P[:, : len(best)] = 0.7, 0.3
        P[np.ix_(best, best)] = np.where(ahead <= len(best) // 2, 0.7, 0.3)
        np.fill_diagonal(P, 0.5)
    return Matrix(P, name)
