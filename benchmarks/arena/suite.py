"""The suite of the arena: 46 problems in seven families, fixed before the first run of each."""

from functools import cache
from typing import Any

import numpy as np

from benchmarks.pivot_index import fresh

__all__ = ["FAMILIES", "PROBLEMS", "problem_named"]

FIRST = 20261126  # seed of the first random problem; each has one of its own
# One line a family, of names that problem_named knows; a new family goes at the end.
FAMILIES = {
    family: names.split()
    for family, names in {
        "Condorcet winner": "cyclic-4 arithmetic-8 swirl uniform_won-6 thurstone_won-10 "
        "uniform_won-12 thurstone_won-16",
        "no Condorcet winner": "hudry-13 uniform_cyclic-4 thurstone_cyclic-6 uniform_cyclic-8 "
        "thurstone_cyclic-10 uniform_cyclic-12 thurstone_cyclic-16",
        "Bradley-Terry": "strengths-4 strengths-5 strengths-6 strengths-8 strengths-10 "
        "strengths-12 strengths-16",
        "near ties": "bvsc flat_0.02-10 close-5 close-10 close_cyclic-6 close_cyclic-12",
        "many arms or winners": "winners_3-9 winners_5-15 strengths-24 uniform_cyclic-32 "
        "thurstone_won-40 strengths-64",
        "real": "mslr-5 mslr-5-c1 mslr-5-c3 arxiv-6 tennis-8 sushi-16 mslr-32",
        "changing": "changes_2-5 changes_4-5 changes_4-10 walk_100-5 walk_100-10 adversary_99-5",
    }.items()
}
PROBLEMS = [name for names in FAMILIES.values() for name in names]


@cache
def problem_named(name: str) -> Any:
    """Return a problem of the suite: a named one of the literature, or one "generator_detail-arms".

    "uniform" and "thurstone" are those of :func:`benchmarks.pivot_index.fresh`, with a Condorcet
    winner ("won") or without ("cyclic"). "flat": every P - 1/2 is the detail. "strengths":
    Bradley-Terry, log strengths N(0, 1); "close": N(0, 0.1^2). "close_cyclic": "uniform_cyclic"
    with every P - 1/2 divided by 5. "winners": as many arms as the detail says, each of which beats
    the next half in their circle and all other arms with 0.7; the others are as in "strengths".
    "changes": Bradley-Terry preferences drawn anew so many times; "walk": scores that take so many
    steps; "adversary": matrices that keep the Borda winner alone. These are drawn in every run.
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
    generator, _, arms = name.partition("-")
    kind, _, detail = generator.partition("_")
    n_arms, seed = int(arms), FIRST + PROBLEMS.index(name)
    if kind == "walk":
        return ScoreWalk(n_arms=n_arms, n_changes=int(detail))
    if kind in ("changes", "adversary"):
        drawn = bradley_terry if kind == "changes" else fixed_gap
        family = RandomProblem(n_arms=n_arms, generator=drawn)
        return RandomChanges(family=family, n_changes=int(detail))
    if kind == "flat":
        return named("flat", n_arms=n_arms, e=float(detail))
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
