"""Simulation-based calibration of every model, with every method and layer."""

from benchmarks.validation.experiment import Cell, Experiment, Record

__all__ = ["EXPERIMENT"]

BATCH = 20  # truths of one replicate
LEAST = 1e-3  # p-value of a cell, corrected for the number of its quantities

# Cases of benchmarks/simulated_ranks.py, which is imported where it runs.
PLAIN = ("Bradley-Terry", "Thurstone", "Davidson")
LINEAR = (
    *PLAIN,
    "preference matrix",
    *(f"{name}, order effect" for name in PLAIN),
    "items",
    "items, order effect",
    "pulls",
    "covariates of the duel",
)
MARGINS = (
    "score duels, order effect",
    "score duels, noise by arm",
    "score duels, noise by pair, order effect",
    "score duels, degrees learned",
    "perturbed score duels, order effect",
)
BY_LAYER = ("judge reliability", "time-varying, walk", "time-varying, smooth", "blade-chest")
ONLY_NUTS = (
    *(f"{name}, {layer}" for name in PLAIN for layer in BY_LAYER),
    "Davidson, all layers",
    "items, judge tastes",
    "pulls, horseshoe",
)


def run(cell: Cell, seed: int) -> Record:
    """Return the ranks of a batch of truths by quantity."""
    from benchmarks.simulated_ranks import ranks

    return {"ranks": ranks(cell["model"], cell["method"], BATCH, seed)}


def rows(cell: Cell, records: list[Record]) -> list[Record]:
    """Return a row: the smallest p-value over quantities, corrected for their number."""
    from benchmarks.simulated_ranks import p_values

    joined = {
        name: [rank for record in records for rank in record["ranks"][name]]
        for name in records[0]["ranks"]
    }
    found = p_values(joined)
    worst = min(found, key=lambda name: found[name])
    corrected = min(1.0, len(found) * found[worst])
    return [
        {
            **cell,
            "truths": BATCH * len(records),
            "quantities": len(found),
            "least uniform": worst,
            "p-value": f"{found[worst]:.3g}",
            "corrected": f"{corrected:.3g}",
            "target": "met" if corrected >= LEAST else "missed",
        }
    ]


def sizes(cell: Cell) -> tuple[int, int]:
    """Return batches of the quick and of the full form: NUTS and margins are left to the full."""
    if cell["method"] == "nuts":
        return 0, 5
    return (1, 10) if cell["model"] in LINEAR else (0, 10)


def _cells() -> tuple[Cell, ...]:
    both = [
        {"model": name, "method": method}
        for method in ("laplace", "nuts")
        for name in (*LINEAR, *MARGINS)
    ]
    return (*both, *({"model": name, "method": "nuts"} for name in ONLY_NUTS))


EXPERIMENT = Experiment(
    name="calibration_by_simulation",
    title="Calibration by simulation",
    question=(
        "Is the rank of a true parameter among the draws of its posterior uniform, for truths from "
        "the prior (Talts et al. 2018)? A p-value by cell: the smallest over its quantities of the "
        f"chi-square test of equal bins, and the same by Bonferroni's correction. {BATCH} truths a "
        "replicate. The method laplace is what method='auto' does, NUTS where the certificate "
        "does not hold."
    ),
    target=f"a corrected p-value of at least {LEAST}.",
    cells=_cells(),
    run=run,
    rows=rows,
    quick=1,
    full=10,
    sizes=sizes,
)
