"""Conditions are no cycle: false alarms where a ranking changes with time, topic or covariate.

At any moment, in any topic and at any value of the covariate the world has a ranking. Confined:
each pair met under one condition only, so that pooled preferences may be cyclic. Spread: under all.
"""

from collections.abc import Sequence

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record, shown_share
from benchmarks.validation.transitivity_alarms import verdict_row

__all__ = ["EXPERIMENT", "log_of"]

N_ARMS, N_VOTES, N_LEVELS = 8, 2000, 6
SPREAD = 1.0  # standard deviation of scores, and of what a condition adds to them
CYCLES = 1.0  # standard deviation of the residual of each pair in worlds without a ranking
LOGS = {"ranking": 100, "cycles": 50}
TARGET = 0.05


def log_of(cell: Cell, rng: np.random.Generator):
    """Return a log of a world whose ranking changes with a condition, with or without cycles."""
    from scipy.special import expit

    from bayesduel.data.duels import Duels

    left = rng.integers(0, N_ARMS, N_VOTES)
    right = (left + rng.integers(1, N_ARMS, N_VOTES)) % N_ARMS
    pair = N_ARMS * np.minimum(left, right) + np.maximum(left, right)
    level = rng.integers(0, N_LEVELS, N_VOTES)
    if cell["votes of a pair"] == "confined":
        level = rng.integers(0, N_LEVELS, N_ARMS**2)[pair]
    score = np.tile(SPREAD * rng.standard_normal(N_ARMS), (N_LEVELS, 1))
    forward, columns = np.where(left < right, 1.0, -1.0), {}
    eta = 0.0
    if cell["condition"] == "covariate":
        x = forward * rng.standard_normal((N_LEVELS, N_ARMS**2))[level, pair]
        eta, columns = SPREAD * x, {"covariates": {"x": x}}
    elif cell["condition"] == "topic":
        score = score + SPREAD * rng.standard_normal(score.shape)
        columns = {"category": [f"t{k}" for k in level]}
    else:
        score = score + SPREAD / np.sqrt(N_LEVELS / 2) * rng.standard_normal(score.shape).cumsum(0)
        columns = {"time": level + rng.random(N_VOTES)}
    eta = eta + score[level, left] - score[level, right]
    if cell["world"] == "cycles":
        eta += CYCLES * forward * rng.standard_normal(N_ARMS**2)[pair]
    won = (rng.random(N_VOTES) < expit(eta)).astype(float)
    labels = np.array(list("abcdefgh"))
    return Duels.from_votes(labels[left], labels[right], won, arms=list(labels), **columns)


def run(cell: Cell, seed: int) -> Record:
    """Return what is said of one log: "none holds", the other cause of cycles, or neither."""
    from bayesduel.criticism.check import check

    found = check(log_of(cell, np.random.default_rng(seed)), quick=True, seed=seed)
    if found.transitive is False:
        return {"found": "none holds"}
    return {"found": found.evidence.other_cause}


def rows(cell: Cell, records: list[Record]) -> Sequence[Record]:
    """Return the row of one cell."""
    found = [record["found"] for record in records]
    strong = found.count("none holds")
    ranked = cell["world"] == "ranking"
    return [
        {
            **cell,
            "none holds": shown_share(strong, len(found)),
            "explained by conditions": shown_share(found.count("conditions"), len(found)),
            "target": verdict_row(strong, len(found)) if ranked else "",
        }
    ]


EXPERIMENT = Experiment(
    name="transitivity_conditions",
    title="Conditions are not taken for cycles",
    question=(
        "How often does `check` say that no ranking holds of a log whose ranking changes with "
        f"time (a random walk), topic or a covariate? {N_ARMS} arms, {N_VOTES:,} votes, {N_LEVELS} "
        "periods, topics or values; scores and what a condition adds have standard deviation "
        f"{SPREAD:g}. Worlds with cycles, a residual of each pair under every condition with "
        f"standard deviation {CYCLES:g}, give the power."
    ),
    target=(
        f"at most {100 * TARGET:g} %, upper limit at most 7 %, in worlds with a ranking; power is "
        'stated. "Open": the logs of the quick form are too few to show it.'
    ),
    cells=tuple(
        {"world": world, "condition": condition, "votes of a pair": votes}
        for world, kinds in (("ranking", ("confined", "spread")), ("cycles", ("spread",)))
        for condition in ("time", "topic", "covariate")
        for votes in kinds
    ),
    run=run,
    rows=rows,
    quick=2,
    full=LOGS["ranking"],
    sizes=lambda cell: (2, LOGS[cell["world"]]),
)
