"""Stop rules of live studies: how often a study that stopped is right."""

from typing import Any

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record, share, shown_share

BUDGET = 3000
N_ARMS = 6
RULES = ("WithinRope", "PosteriorThreshold", "ExpectedLoss", "ConfidenceSequences")
WORLDS = ("prior", "lapses", "cyclic")


def run(cell: Cell, seed: int) -> Record:
    """Play one study in a world until it stops."""
    import bayesduel as bd
    from bayesduel.beliefs import Followed
    from bayesduel.study import stopping
    from bayesduel.study.goal import FindBest
    from bayesduel.study.planning import play
    from bayesduel.study.session import Session

    P = world(cell["world"], np.random.default_rng([seed, 1]))
    made = {
        "WithinRope": lambda: stopping.WithinRope(0.95, rope=0.05),
        "PosteriorThreshold": lambda: stopping.PosteriorThreshold(0.95),
        "ExpectedLoss": lambda: stopping.ExpectedLoss(0.01),
        "ConfidenceSequences": lambda: stopping.ConfidenceSequences(0.05),
    }
    stop = made[cell["stop"]]()
    session = Session(N_ARMS, FindBest(), bd.policies.ContrastAllocation(), stop, Followed())
    future, order = play(session, P, BUDGET, np.random.default_rng(seed))
    upset = float(P[:, order[0]].max() - 0.5)
    return {"duels": future.duels, "decided": future.decided, "upset": upset}


def world(name: str, rng: np.random.Generator) -> np.ndarray:
    """Return a preference matrix: from the model's prior, with lapses, or with cycles."""
    score = rng.normal(size=N_ARMS) * abs(rng.normal()) * 2
    P = 1 / (1 + np.exp(score - score[:, None]))
    if name == "lapses":  # one duel in five is decided by a coin
        return 0.1 + 0.8 * P
    if name == "cyclic":  # every pair's log odds have a share of their own
        own = np.triu(rng.normal(size=P.shape), 1)
        P = 1 / (1 + np.exp(score - score[:, None] - (own - own.T)))
    return P


def rows(cell: Cell, records: list[Record]) -> list[dict[str, Any]]:
    """Return the row of one stop rule in one world."""
    decided = [r for r in records if r["decided"]]
    allowed = {"WithinRope": 0.05, "ExpectedLoss": np.inf}.get(cell["stop"], 0.0)
    right = sum(r["upset"] <= allowed + 1e-12 for r in decided)
    loss = np.array([max(r["upset"], 0.0) for r in decided])
    verdict = ""
    if cell["world"] == "prior" and decided:
        if cell["stop"] == "ExpectedLoss":
            verdict = "met" if loss.mean() <= 0.01 else "missed"
        else:
            verdict = "met" if share(right, len(decided))[2] >= 0.95 else "missed"
    return [
        {
            "world": cell["world"],
            "stop rule": cell["stop"],
            "mean duels": float(np.mean([r["duels"] for r in records])),
            "not decided": shown_share(len(records) - len(decided), len(records)),
            "right": "" if cell["stop"] == "ExpectedLoss" else shown_share(right, len(decided)),
            "mean loss": f"{loss.mean():.4f}" if decided else "",
            "target": verdict,
        }
    ]


EXPERIMENT = Experiment(
    name="stopping",
    title="Live studies: calibration of stopping",
    question=(
        f"Studies of {N_ARMS} arms by contrast allocation, until the stop rule is reached or "
        f"{BUDGET:,} duels are spent. Truths are drawn from the model's prior, from the prior with "
        "one duel in five decided at random, and with log odds of their own for every pair (sd 1), "
        "where the model does not hold and there may be cycles. Right: the best arm; for the rope, "
        "no arm beats the answer by more than 5 points."
    ),
    target=(
        "under the prior, at least 95 % right (the interval reaches 95 %), and a mean loss of at "
        "most 0.01 for the expected-loss rule; worlds in which the model does not hold are stated."
    ),
    cells=tuple({"world": world, "stop": stop} for world in WORLDS for stop in RULES),
    run=run,
    rows=rows,
    quick=10,
    full=1000,
)
