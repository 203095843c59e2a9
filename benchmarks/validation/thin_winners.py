"""P(best) of thin logs: the claimed probability beside how often the arm is the best one."""

from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record, share

__all__ = ["EXPERIMENT"]

LOGS = 100  # of one replicate
N_ARMS, N_DUELS = 6, 60
EDGES = (0.0, 0.6, 0.8, 0.9, 0.97, 1.0)  # of the claimed probability of the named arm


def run(cell: Cell, seed: int) -> Record:
    """Return, for each log, the probability of the arm that is named best, and whether it is."""
    import warnings

    import bayesduel as bd
    from bayesduel.criticism.replicated_logs import duel_by_duel, replicated
    from bayesduel.inference.prior import prior_draws
    from bayesduel.models import Davidson, SideAdvantage

    rng = np.random.default_rng(seed)
    model = Davidson() + SideAdvantage()
    left = rng.integers(0, N_ARMS, (2 * LOGS, N_DUELS))
    right = (left + rng.integers(1, N_ARMS, left.shape)) % N_ARMS
    if cell["orientation"] == "one":  # the arm of the smaller number is always left
        left, right = np.minimum(left, right), np.maximum(left, right)
    arms = [f"a{k}" for k in range(N_ARMS)]
    names = np.array(arms)
    designs = [
        duel_by_duel(bd.Duels.from_votes(names[i], names[j], np.arange(N_DUELS) % 2.0, arms=arms))
        for i, j in zip(left, right, strict=True)
    ]
    if cell["truth"] == "the prior":
        truths = prior_draws(model, designs[0], 2 * LOGS, int(rng.integers(2**31)))
    else:
        score = rng.normal(size=(2 * LOGS, N_ARMS))
        fixed = {"order": 0.5, "tie": -0.7}
        truths = {n: np.full(2 * LOGS, v) for n, v in fixed.items()} | {"score": score}
    claimed: list[list[float]] = []
    for k, design in enumerate(designs):
        truth = {name: values[k : k + 1] for name, values in truths.items()}
        log = replicated(model, design, truth, rng)
        try:
            model.cells(log)
        except ValueError:  # one side won every duel
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a thin log is meant here
            fit = bd.fit(log, model, draws=2000, seed=int(rng.integers(2**31)))
            chance = bd.winners(fit)["winner_probability"].sel(criterion="copeland")
        best = str(chance["arm"].to_numpy()[chance.to_numpy().argmax()])
        right_one = best == names[truth["score"][0].argmax()]
        claimed.append([float(chance.max()), float(right_one)])
        if len(claimed) == LOGS:
            break
    return {"claimed": claimed}


def rows(cell: Cell, records: list[Record]) -> list[Record]:
    """Return a row a bin of the claimed probability."""
    claimed, right = np.array([one for record in records for one in record["claimed"]]).T
    found: list[dict[str, Any]] = []
    for low, high in pairwise(EDGES):
        here = (claimed >= low) & ((claimed < high) | (high == 1.0))
        n = int(here.sum())
        if n == 0:
            continue
        true, lower, upper = share(float(right[here].sum()), n)
        mean = float(claimed[here].mean())
        found.append(
            {
                **cell,
                "claimed": f"{low:g} to {high:g}",
                "mean claimed": f"{mean:.3f}",
                "is the best": f"{true:.3f} ({lower:.3f} to {upper:.3f})",
                "logs": n,
                "target": "met" if lower <= mean <= upper else "missed",
            }
        )
    return found


EXPERIMENT = Experiment(
    name="thin_winners",
    title="The best arm of thin logs",
    question=(
        f"{N_ARMS} arms, {N_DUELS} duels of random pairs with ties and an advantage of the left "
        "side, in which every pair is listed in one orientation, or in both; Davidson's model "
        "with a side advantage. Is the arm that is named best the best one as often as "
        "`bd.winners` claims? Truths: from the model's prior; or scores from N(0, 1) logits, "
        "an advantage of 0.5 logits, and ties of level arms in one duel of five."
    ),
    target="the mean claimed probability lies within the 95 % interval of the frequency.",
    cells=tuple(
        {"truth": truth, "orientation": orientation}
        for truth in ("the prior", "scores N(0, 1)")
        for orientation in ("one", "both")
    ),
    run=run,
    rows=rows,
    quick=1,
    full=4,
)
