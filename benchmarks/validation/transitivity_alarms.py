"""False claims of cycles, on designs and in worlds that the models of a pair were not built for.

The designs are drawn anew from the seed where they are random.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.truths import UNSEEN, unseen_matrix
from benchmarks.validation.experiment import Cell, Experiment, Record, share, shown_share

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["EXPERIMENT", "drawn_log", "told", "verdict_row"]

DESIGNS = {  # arms, and logs of one replicate: as many as take about as long
    "6 arms, all pairs 30 times": (6, 10),
    "12 arms, pairs 1 to 40 times": (12, 5),
    "20 arms, half of the pairs 8 times": (20, 5),
    "24 arms, all pairs 40 times": (24, 2),
    "78 arms, double round-robin": (78, 1),
    "100 arms, all pairs 5 times": (100, 1),
    "345 arms in 31 leagues, 5,253 duels": (345, 1),
}
LOGS = 400  # of each cell, in the full form
QUICK = 4  # replicates of a cell in the quick form, up to as many arms:
QUICK_ARMS = 24
TARGET, LIMIT = 0.05, 0.07  # false alarms, and the upper end of their interval


def pairs_of(design: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the left and right arm of each duel."""
    n_arms, _ = DESIGNS[design]
    low, high = np.triu_indices(n_arms, 1)
    if n_arms == 6:
        return np.repeat(low, 30), np.repeat(high, 30)
    if n_arms == 12:
        number = 1 + (40 * rng.random(len(low)) ** 3).astype(int)
        return np.repeat(low, number), np.repeat(high, number)
    if n_arms == 20:
        met = rng.permutation(len(low))[: len(low) // 2]
        return np.repeat(low[met], 8), np.repeat(high[met], 8)
    if n_arms == 24:
        return np.repeat(low, 40), np.repeat(high, 40)
    if n_arms == 78:
        return np.concatenate([low, high]), np.concatenate([high, low])
    if n_arms == 100:
        return np.repeat(low, 5), np.repeat(high, 5)
    league = np.arange(n_arms) % 31
    near = np.flatnonzero(league[low] == league[high])
    far = rng.choice(np.flatnonzero(league[low] != league[high]), 5253 - 2 * len(near))
    duels = np.concatenate([near, near, far])
    home = rng.random(len(duels)) < 0.5
    return np.where(home, low[duels], high[duels]), np.where(home, high[duels], low[duels])


def drawn_log(P: np.ndarray, left: np.ndarray, right: np.ndarray, order: float,
              rng: np.random.Generator) -> "Duels":  # fmt: skip
    """Return a log whose left arm has `order` logits more."""
    from scipy.special import expit, logit

    from bayesduel.data.duels import Duels

    chance = expit(logit(np.clip(P[left, right], 1e-12, 1 - 1e-12)) + order)
    won = (rng.random(len(left)) < chance).astype(float)
    labels = np.array([f"{k:03}" for k in range(len(P))])
    return Duels.from_votes(labels[left], labels[right], won, arms=list(labels))


def sizes(cell: Cell) -> tuple[int, int]:
    """Return the replicates of the quick and of the full form: 400 logs a cell in the full one."""
    n_arms, n_logs = DESIGNS[cell["design"]]
    return QUICK * (n_arms <= QUICK_ARMS), LOGS // n_logs


def told(log: "Duels", seed: int) -> str:
    """Return what a check says of one ranking: "holds", "does not hold", "cannot tell"."""
    from bayesduel.criticism.check import check

    transitive = check(log, quick=True, seed=seed).transitive
    return {True: "holds", False: "does not hold", None: "cannot tell"}[transitive]


def run(cell: Cell, seed: int) -> Record:
    """Return of how many logs of a world it was said that a ranking holds, or that none does."""
    rng = np.random.default_rng(seed)
    n_arms, n_logs = DESIGNS[cell["design"]]
    found = []
    for k in range(n_logs):
        left, right = pairs_of(cell["design"], rng)
        P = unseen_matrix(cell["world"], n_arms, rng)
        log = drawn_log(P, left, right, 0.0, rng)
        found.append(told(log, seed + k))
    return {"logs": n_logs, **{name: found.count(name) for name in ("holds", "does not hold")}}


def rows(cell: Cell, records: list[Record]) -> Sequence[Record]:
    """Return the row of one world on one design."""
    kind = UNSEEN[cell["world"]]
    names = ("logs", "holds", "does not hold")
    logs, holds, fails = (sum(r[name] for r in records) for name in names)
    return [
        {
            "design": cell["design"],
            "world": cell["world"],
            "transitive": kind,
            "a ranking holds": shown_share(holds, logs),
            "none holds": shown_share(fails, logs),
            "target": "" if kind == "not" else verdict_row(fails, logs),
        }
    ]


def verdict_row(alarms: int, logs: int) -> str:
    """Return "met", or "missed"; where logs are few, "missed" needs an interval above the target.

    The target is a rate of at most 5 % with an upper limit of at most 7 %; 400 logs can show
    that, fewer may only refute it.
    """
    rate, low, high = share(alarms, logs)
    if rate <= TARGET and high <= LIMIT:
        return "met"
    return "missed" if rate > TARGET and (low > TARGET or logs >= 400) else "open: too few logs"


EXPERIMENT = Experiment(
    name="transitivity_alarms",
    title="False claims of cycles in worlds of many kinds",
    question=(
        "How often does `check` say that no ranking holds (a cycle won at 60 % or more in every "
        "step has probability 0.95) in worlds with a ranking, on designs and in worlds that its "
        "models were not built for? Worlds that are not transitive give its power."
    ),
    target=(
        "at most 5 %, upper limit at most 7 %, in every transitive world (400 logs a cell); power "
        'is stated. "Open": the logs of the quick form are too few to show it.'
    ),
    cells=tuple({"design": design, "world": world} for design in DESIGNS for world in UNSEEN),
    run=run,
    rows=rows,
    quick=QUICK,
    full=LOGS,
    sizes=sizes,
)
