"""A side advantage is no cycle: false claims of cycles, by design and orientation.

Six designs, each with its pairs in one orientation (drawn at random), mixed (42 % of the pairs in
both orders) and crossed (all pairs in both orders equally often).
"""

from collections.abc import Sequence

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record, shown_share
from benchmarks.validation.transitivity_alarms import drawn_log, told, verdict_row

__all__ = ["EXPERIMENT"]

DESIGNS = {  # arms, duels of each pair that met, share of pairs that met
    "5 arms, 40 duels a pair": (5, 40, 1.0),
    "10 arms, 50 duels a pair": (10, 50, 1.0),
    "10 arms, 4 duels a pair": (10, 4, 1.0),
    "20 arms, 10 duels a pair": (20, 10, 1.0),
    "20 arms, a third of the pairs, 20 duels": (20, 20, 1 / 3),
    "40 arms, 2 duels a pair": (40, 2, 1.0),
}
ORIENTATIONS = {"one": 0.0, "mixed": 0.42, "crossed": 1.0}  # share of the pairs in both orders
EFFECTS = (0.0, 0.4, 0.7, 1.0)  # logits
LOGS = 2  # of one replicate
WORLDS = ("bradley-terry", "thurstone", "hierarchy 70", "hierarchy 90", "monotone")
SPREAD = 0.5  # standard deviation of Bradley-Terry scores


def log_of(cell: Cell, rng: np.random.Generator):
    """Return one log of a strongly transitive world with a side advantage."""
    from scipy.special import expit

    from benchmarks.truths import truth_matrix

    n_arms, n_duels, share = DESIGNS[cell["design"]]
    low, high = np.triu_indices(n_arms, 1)
    met = np.sort(rng.permutation(len(low))[: max(1, round(share * len(low)))])
    swapped = rng.random(len(met)) < 0.5
    left = np.where(swapped, high[met], low[met])
    right = np.where(swapped, low[met], high[met])
    both = rng.random(len(met)) < ORIENTATIONS[cell["orientation"]]
    turned = np.arange(n_duels) % 2 == 1
    turned = both[:, None] & turned
    world = WORLDS[rng.integers(len(WORLDS))]
    if world == "bradley-terry":
        score = rng.normal(0, SPREAD, n_arms)
        P = expit(score[:, None] - score)
    else:
        P = truth_matrix(world, n_arms, rng)
    first = np.where(turned, right[:, None], left[:, None]).ravel()
    second = np.where(turned, left[:, None], right[:, None]).ravel()
    return drawn_log(P, first, second, cell["side advantage"], rng)


def run(cell: Cell, seed: int) -> Record:
    """Return of how many logs it was said that a ranking holds, or that none does."""
    rng = np.random.default_rng(seed)
    found = [told(log_of(cell, rng), seed + k) for k in range(LOGS)]
    return {"logs": LOGS, **{name: found.count(name) for name in ("holds", "does not hold")}}


def rows(cell: Cell, records: list[Record]) -> Sequence[Record]:
    """Return the row of one design, orientation and side advantage."""
    names = ("logs", "holds", "does not hold")
    logs, holds, fails = (sum(r[name] for r in records) for name in names)
    return [
        {
            "design": cell["design"],
            "pairs in both orders": f"{100 * ORIENTATIONS[cell['orientation']]:.0f} %",
            "side advantage, logits": cell["side advantage"],
            "a ranking holds": shown_share(holds, logs),
            "none holds": shown_share(fails, logs),
            "target": verdict_row(fails, logs),
        }
    ]


EXPERIMENT = Experiment(
    name="transitivity_order",
    title="A side advantage is not taken for a cycle",
    question=(
        "How often does `check` say that no ranking holds of a transitive log whose side listed "
        "first has an advantage? Each log is drawn from one of five strongly transitive worlds "
        f"({', '.join(WORLDS)}; Bradley-Terry scores with standard deviation {SPREAD})."
    ),
    target=(
        'at most 5 %, upper limit at most 7 %, in each cell (400 logs). "Open": '
        "the logs of the quick form are too few to show it."
    ),
    cells=tuple(
        {"design": design, "orientation": orientation, "side advantage": effect}
        for design in DESIGNS
        for orientation in ORIENTATIONS
        for effect in EFFECTS
    ),
    run=run,
    rows=rows,
    quick=3,
    full=200,
)
