"""Live studies: confirmation of each pair, or only as far as it may not follow the scores.

Claims, worlds, seeds and sizes were fixed on 2026-11-28 before the run. Claims of
``Confirmed(rule, doubt=0.5)``: where duels follow Bradley-Terry it takes at most 1.5 times the
duels of the rule on scores; in every world it is right as often as ``Confirmed``, within sampling
error. Seeds: those of this experiment under seed 62; the doubt, the probability from which pairs
are asked for, and the prior were chosen on other truths. Sizes: 100 studies a world with 8 arms, at
most 2,000 duels each, 100 with 20 arms, at most 3,000.

Two things were changed after a look at the first studies. The rule asked for the pairs of a
candidate that is not the scores' own before the rule on scores was reached, which could take ten
times the duels of ``Confirmed``: now it does not. A doubt of 0.8 was added. All of its studies in
the table are of the final rule.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.ranking import cyclic, uneven
from benchmarks.validation.confirmation import LEVEL, ROPE, condorcet, played, ranked, ratio
from benchmarks.validation.experiment import Cell, Experiment, Record, shown_share

MOST_TIMES = 1.5  # duels of the rule on scores, where scores hold
STUDIES = {8: 100, 20: 100}
BUDGETS = {8: 2000, 20: 3000}
DOUBTS = (0.8, 0.5)
IN_DOUBT = {f"Confirmed, doubt {doubt:g}": doubt for doubt in DOUBTS}
RULES = ("WithinRope", "Confirmed", *IN_DOUBT)
NORMAL = 1.96  # of a 95 % interval


def near_ties(n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return scores of which the second and third are 0.1 and 0.2 below the best."""
    scores = np.sort(rng.normal(size=n_arms))[::-1]
    scores[1:3] = scores[0] - np.array([0.1, 0.2])
    return ranked(rng.permutation(scores))


def without_a_winner(n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return preferences of which 40 % are in no ranking, no arm beating all others."""
    while True:
        found = chances(cyclic(0.4))(n_arms, rng)
        if not (found + np.eye(n_arms) > 0.5).all(axis=1).any():
            return found


def chances(of_odds: Any) -> Callable[[int, np.random.Generator], np.ndarray]:
    """Return a world of win probabilities, given one of log odds."""

    def world(n_arms: int, rng: np.random.Generator) -> np.ndarray:
        odds: np.ndarray = of_odds(n_arms, rng)
        return 1 / (1 + np.exp(-odds))

    return world


WORLDS: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "Bradley-Terry": lambda n_arms, rng: ranked(rng.normal(size=n_arms)),
    "near ties": near_ties,
    "uneven ranking": chances(uneven),
    "cyclic 20 %": chances(cyclic(0.2)),
    "cyclic 40 %, no winner": without_a_winner,
    "Condorcet is not Borda": condorcet,
}
BY_SCORES = ("Bradley-Terry", "near ties")  # worlds in which scores hold


def run(cell: Cell, seed: int) -> Record:
    """Play a study by each rule in one world until it stops."""
    from bayesduel.study.confirmed import Confirmed
    from bayesduel.study.goal import FindBest
    from bayesduel.study.stopping import StopRule, WithinRope

    P = WORLDS[cell["world"]](cell["arms"], np.random.default_rng([seed, 1]))
    np.fill_diagonal(P, 0.5)
    on_scores = WithinRope(LEVEL, rope=ROPE)
    rules: dict[str, StopRule] = {"WithinRope": on_scores, "Confirmed": Confirmed(on_scores)}
    rules |= {name: Confirmed(on_scores, doubt=doubt) for name, doubt in IN_DOUBT.items()}
    return {
        name: played(P, FindBest(), rule, seed, BUDGETS[cell["arms"]])
        for name, rule in rules.items()
    }


def rows(cell: Cell, records: list[Record]) -> list[dict[str, Any]]:
    """Return the rows of the rules in one world."""
    duels = {name: np.array([r[name]["duels"] for r in records], float) for name in RULES}
    sure = {
        name: [r[name]["said"] != "open" and r[name]["right"] for r in records] for name in RULES
    }
    shown = []
    for name in RULES:
        said = [r[name] for r in records]
        decided = [s for s in said if s["said"] != "open"]
        right = sum(s["right"] for s in decided)
        times, error = ratio(duels[name], duels["WithinRope"])
        low, high = times - NORMAL * error, times + NORMAL * error
        shown_times = "1" if name == RULES[0] else f"{times:.2f} ({low:.2f} to {high:.2f})"
        shown.append(
            {
                "arms": cell["arms"],
                "world": cell["world"],
                "rule": name,
                "right of those decided": shown_share(right, len(decided)),
                "not decided": f"{len(said) - len(decided)}",
                "mean duels": f"{duels[name].mean():,.0f}",
                "of WithinRope's (95 %)": shown_times,
                "target": _target(cell, name, times, sure) if name in IN_DOUBT else "",
            }
        )
    return shown


def _target(cell: Cell, name: str, times: float, sure: dict[str, list[bool]]) -> str:
    """Return whether a rule in doubt meets its claims, those of right answers in pairs."""
    more = np.array(sure["Confirmed"], float) - np.array(sure[name], float)
    error = more.std(ddof=1) / len(more) ** 0.5 if len(more) > 1 else 0.0
    met = more.mean() <= NORMAL * error
    if cell["world"] in BY_SCORES:
        met = met and times <= MOST_TIMES
    return "met" if met else "missed"


EXPERIMENT = Experiment(
    name="confirmation_in_doubt",
    title="Live studies: confirmation only where scores may not hold",
    question=(
        "Studies by contrast allocation, p = 0.95, rope 5 points, the best arm; the rule is asked "
        "after every duel, up to 2,000 duels with 8 arms and 3,000 with 20. Worlds: scores from "
        "N(0, 1) (Bradley-Terry); the same with the second and third 0.1 and 0.2 below the best "
        "(near ties); scores whose margins differ by a factor of their own, sd of its logarithm "
        "0.8 (uneven ranking); scores and residuals of pairs, about 20 % of the squared log odds "
        "in no ranking; 40 % of them, without an arm that beats all others; an arm that beats all "
        "others by 0.58 beside a rival that beats the rest by 0.9 (Condorcet is not Borda). Right: "
        "no arm beats the answer by more than 5 points, or there is no such arm and the study says "
        "so. A study that is not decided counts with its budget. All rules meet the same truths."
    ),
    target=(
        "with doubt, right in as many of all studies as Confirmed (95 % interval of the "
        "difference in pairs); where scores hold, at most 1.5 times the duels of WithinRope."
    ),
    cells=tuple({"arms": arms, "world": world} for arms in STUDIES for world in WORLDS),
    run=run,
    rows=rows,
    quick=2,
    full=100,
    sizes=lambda cell: (2, STUDIES[cell["arms"]]),
)
