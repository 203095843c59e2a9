"""Live studies: confirmation of the answer in worlds with and without a ranking.

Claims, seeds and sizes were fixed on 2026-11-26 before the run. Claims: ``Confirmed`` is right in
at least 95 % of the studies that it decides, in every world; where duels follow Bradley-Terry it
takes at most three times the duels of the rule that trusts the scores. Seeds: those of this
experiment under seed 1; the constants of the rule were chosen on other truths. Sizes: 200 studies a
world, at most 3,000 duels with 8 arms and 6,000 with 20; 20 for the three best and the ranking, of
which the cost is asked. With 20 arms 60 were planned at first, of which 45 to 60 were run; the rest
was added later on the same day, of the same seeds and with the same claims.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record, shown_share

ROPE, LEVEL = 0.05, 0.95
MOST_TIMES = 3.0  # duels of the rule on scores, where scores hold
STUDIES = {8: 200, 20: 200}
DEAR = 20  # studies of a world whose goal is not the best arm
BUDGETS = {8: 3000, 20: 6000}
RULES = ("WithinRope", "Confirmed")


def ranked(scores: np.ndarray) -> np.ndarray:
    """Return the preference matrix of scores."""
    found: np.ndarray = 1 / (1 + np.exp(scores - scores[:, None]))
    return found


def lapses(n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return scores of which one duel in five is decided by a coin."""
    return 0.8 * ranked(rng.normal(size=n_arms)) + 0.1


def one_above(n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return one arm 0.5 logits above equals."""
    return ranked(0.5 * (np.arange(n_arms) == rng.integers(n_arms)))


def perturbed(n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return scores and a residual of each pair."""
    scores = rng.normal(size=n_arms)
    residual = np.triu(rng.normal(0, 0.6, (n_arms, n_arms)), 1)
    odds = np.exp(scores[:, None] - scores + residual - residual.T)
    found: np.ndarray = odds / (1 + odds)
    return found


def condorcet(n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return an arm that beats all others by 0.58 while a rival beats the rest by 0.9."""
    found = 0.5 * ranked(rng.normal(size=n_arms)) + 0.25
    best, rival = rng.permutation(n_arms)[:2]
    found[rival], found[:, rival] = 0.9, 0.1
    found[best], found[:, best] = 0.58, 0.42
    return found


def cycle(n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return scores whose best three beat one another in a circle."""
    scores = rng.normal(size=n_arms)
    found, best = ranked(scores), np.argsort(-scores)[:3]
    for k in range(3):
        one, other = best[k], best[(k + 1) % 3]
        found[one, other], found[other, one] = 0.65, 0.35
    return found


WORLDS: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "scores N(0, 1)": lambda n_arms, rng: ranked(rng.normal(size=n_arms)),
    "lapses": lapses,
    "one above": one_above,
    "perturbed": perturbed,
    "Condorcet is not Borda": condorcet,
    "top cycle": cycle,
}


def run(cell: Cell, seed: int) -> Record:
    """Play a study by each rule in one world until it stops."""
    from bayesduel.study.confirmed import Confirmed
    from bayesduel.study.goal import goal_of
    from bayesduel.study.stopping import StopRule, WithinRope

    n_arms = cell["arms"]
    P = WORLDS[cell["world"]](n_arms, np.random.default_rng([seed, 1]))
    np.fill_diagonal(P, 0.5)
    on_scores, goal = WithinRope(LEVEL, rope=ROPE), goal_of(cell.get("goal", "find-best"))
    rules: dict[str, StopRule] = {"WithinRope": on_scores, "Confirmed": Confirmed(on_scores)}
    found: Record = {"exists": bool((P <= 0.5 + ROPE).all(axis=0).any())}
    for name in RULES:
        found[name] = played(P, goal, rules[name], seed, BUDGETS[n_arms])
    return found


def played(P: np.ndarray, goal: Any, rule: Any, seed: int, budget: int) -> Record:
    """Play a study by one rule in one world; return its duels and what was said."""
    from bayesduel.beliefs import Followed
    from bayesduel.study.session import Session

    rng = np.random.default_rng(seed)
    session = Session(len(P), goal, goal.policy(), rule, Followed())
    for duels in range(budget + 1):
        decision = session.decision(rng)
        if decision.stopped or duels == budget:
            break
        ((i, j),) = session.choose(1, [], rng)
        session.record(i, j, float(rng.random() < P[i, j]))
    said = "open"
    if decision.stopped:
        said = "nobody" if decision.nobody else "arm"
    above, below = goal.contrasts(decision.order)
    stands = (P[below, above] <= 0.5 + ROPE).all()
    nobody_is = not (P <= 0.5 + ROPE).all(axis=0).any()
    right = nobody_is if decision.nobody else stands
    return {"duels": duels, "said": said, "right": bool(right)}


def rows(cell: Cell, records: list[Record]) -> list[dict[str, Any]]:
    """Return the rows of both rules in one world."""
    duels = {name: np.array([r[name]["duels"] for r in records], float) for name in RULES}
    times, error = ratio(duels["Confirmed"], duels["WithinRope"])
    shown = []
    for name in RULES:
        said = [r[name] for r in records]
        decided = [s for s in said if s["said"] != "open"]
        nobody = [s["right"] for s in decided if s["said"] == "nobody"]
        right = sum(s["right"] for s in decided)
        confirmed = name == "Confirmed"
        met = right >= LEVEL * len(decided)
        if cell["world"] == next(iter(WORLDS)) and "goal" not in cell:
            met = met and times <= MOST_TIMES
        shown.append(
            {
                "goal": cell.get("goal", "find-best"),
                "arms": cell["arms"],
                "world": cell["world"],
                "rule": name,
                "duels: mean (standard error)": (
                    f"{duels[name].mean():,.0f} "
                    f"({duels[name].std(ddof=1) / len(records) ** 0.5:,.0f})"
                ),
                "90 % quantile": f"{np.quantile(duels[name], 0.9):,.0f}",
                "times WithinRope's (standard error)": (
                    f"{times:.2f} ({error:.2f})" if confirmed else "1"
                ),
                "right of those decided": shown_share(right, len(decided)),
                "no arm qualifies: rightly, wrongly": f"{sum(nobody)}, {nobody.count(False)}",
                "not decided": shown_share(len(said) - len(decided), len(said)),
                "target": ("met" if met else "missed") if confirmed and decided else "",
            }
        )
    return shown


def ratio(above: np.ndarray, below: np.ndarray) -> tuple[float, float]:
    """Return the ratio of two means of paired figures and its standard error."""
    times = above.mean() / below.mean()
    rest = above - times * below
    return float(times), float(rest.std(ddof=1) / len(rest) ** 0.5 / below.mean())


EXPERIMENT = Experiment(
    name="confirmation",
    title="Live studies: an answer that stands without a ranking",
    question=(
        "Studies by contrast allocation, p = 0.95, rope 5 points; the rule is asked "
        "after every duel, up to 3,000 duels with 8 arms and 6,000 with 20. Worlds: scores from "
        "N(0, 1); the same with one duel in five decided by a coin (lapses); one arm 0.5 logits "
        "above equals (one above); scores and a residual of each pair, sd 0.6 (perturbed); an arm "
        "that beats all others by 0.58 beside a rival that beats the rest by 0.9 (Condorcet is not "
        "Borda); scores whose best three beat one another by 0.65 in a circle (top cycle). Right: "
        "no arm beats one that the answer puts above it by more than 5 points, or, where the best "
        "is asked for, there is no such arm and the study says so. A study that is not decided "
        "counts with its budget. Both rules meet the same truths."
    ),
    target=(
        "Confirmed is right in at least 95 % of the studies that it decides; where scores hold it "
        "takes at most three times the duels of WithinRope. 200 studies a world, 20 for the other "
        "goals."
    ),
    cells=(
        *({"arms": arms, "world": world} for arms in STUDIES for world in WORLDS),
        *(
            {"arms": 8, "world": world, "goal": goal}
            for goal in ("top-3", "full-ranking")
            for world in ("scores N(0, 1)", "perturbed", "top cycle")
        ),
    ),
    run=run,
    rows=rows,
    quick=3,
    full=200,
    sizes=lambda cell: (1, DEAR if "goal" in cell else STUDIES[cell["arms"]]),
)
