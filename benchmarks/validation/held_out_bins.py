"""Held-out calibration: how many 95 % bins miss a true model, where votes repeat units."""

from typing import Any

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record

__all__ = ["EXPERIMENT"]

N_ARMS, UNITS_A_PAIR, DRAWS = 8, 20, 400
SCORE_SD = 0.8

CELLS: tuple[Cell, ...] = tuple(
    {"votes": votes, "correlation": correlation, "role": role}
    for votes, correlation, role in (
        (1, 0.0, "group"),
        (5, 0.0, "group"),
        (5, 0.3, "group"),
        (5, 1.0, "group"),
        (10, 0.3, "group"),
        (5, 0.3, "judge"),
        (5, 1.0, "judge"),
    )
)


def run(cell: Cell, seed: int) -> Record:
    """Simulate a log of units that vote alike; return how many bins miss the predictions."""
    import warnings

    import bayesduel as bd
    from bayesduel.criticism.calibration import held_out
    from bayesduel.intervals import wilson

    rng = np.random.default_rng(seed)
    score = rng.normal(0.0, SCORE_SD, N_ARMS)
    first, second = (np.repeat(x, UNITS_A_PAIR) for x in np.triu_indices(N_ARMS, 1))
    P = 1 / (1 + np.exp(score[second] - score[first]))
    rho, n = cell["correlation"], cell["votes"]
    if rho == 0:
        own = P
    elif rho == 1:
        own = (rng.random(len(P)) < P).astype(float)
    else:
        own = rng.beta(P * (1 - rho) / rho, (1 - P) * (1 - rho) / rho)
    row = np.repeat(np.arange(len(P)), n)
    won = (rng.random(len(row)) < own[row]).astype(float)
    unit = rng.permutation(len(P)) if cell["role"] == "group" else np.arange(len(P)) % UNITS_A_PAIR
    labels = np.array([str(k) for k in range(N_ARMS)])
    columns: dict[str, Any] = {cell["role"]: unit[row]}
    duels = bd.Duels.from_votes(labels[first[row]], labels[second[row]], won, **columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = held_out(duels, draws=DRAWS, seed=seed % 2**31)
    low, high = wilson(found.observed * found.n, found.n)
    return {
        "bins": len(found.n),
        "missed": len(found.n) - found.inside,
        "missed_by_duel": int(((found.predicted < low) | (found.predicted > high)).sum()),
        "intraclass": found.intraclass,
    }


def rows(cell: Cell, records: list[Record]) -> list[Record]:
    """Return the share of bins that miss, with an interval over logs."""
    bins = np.array([r["bins"] for r in records])
    missed = np.array([r["missed"] for r in records])
    share = missed.sum() / bins.sum()
    error = 1.0
    if len(records) > 1:
        error = 1.96 * (missed - share * bins).std(ddof=1) / np.sqrt(len(bins)) / bins.mean()
    by_duel = sum(r["missed_by_duel"] for r in records) / bins.sum()
    return [
        {
            "votes a unit": cell["votes"],
            "correlation within": cell["correlation"],
            "unit": f"pair and {cell['role']}" if cell["votes"] > 1 else "duel",
            "logs": len(records),
            "correlation estimated": round(float(np.mean([r["intraclass"] for r in records])), 2),
            "bins missed": f"{100 * share:.1f} % ({100 * max(share - error, 0):.1f} to "
            f"{100 * (share + error):.1f})",
            "bins missed, intervals by duel": f"{100 * by_duel:.1f} %",
            "target": "met" if share - error <= 0.05 else "missed",
        }
    ]


EXPERIMENT = Experiment(
    name="held_out_bins",
    title="Held-out calibration by unit",
    question=(
        f"{N_ARMS} arms, Bradley-Terry scores of standard deviation {SCORE_SD} (logits), every "
        f"pair judged by {UNITS_A_PAIR} units (a group of its own, or one of {UNITS_A_PAIR} "
        "judges) of several votes each. A unit's win probability is drawn from a beta "
        "distribution with the pair's mean and the correlation stated, so that the model is true "
        "of every vote. `held_out` in 5 folds; a bin misses where the mean prediction lies outside "
        "the 95 % interval of the observed share, by unit; beside it those by duel."
    ),
    target=("at most 5 % of bins missed (missed where its 95 % interval, over logs, lies above)."),
    cells=CELLS,
    run=run,
    rows=rows,
    quick=5,
    full=200,
    notes=(
        "The interval covers the error of the observed share and of the mean prediction, by its "
        "posterior variance in each fold. The posterior takes votes as independent, so both are "
        "multiplied by the bin's design effect."
    ),
)
