"""Stop rules of live studies: how often a study that stopped is right."""

from typing import Any

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record, share, shown_share

BUDGET = 1000
N_ARMS = 6
RULES = ("WithinRope", "ExpectedLoss", "PosteriorThreshold", "ConfidenceSequences")
WORLDS = ("prior", "lapses", "cyclic", "drifting")
DRIFT = 300  # duels over which the scores of a drifting judge move


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
    by_pairs = cell["stop"] == "ConfidenceSequences"  # which needs all pairs of the leader
    policy: Any = bd.policies.Uniform() if by_pairs else bd.policies.ContrastAllocation()
    session = Session(N_ARMS, FindBest(), policy, made[cell["stop"]](), Followed())
    rng = np.random.default_rng(seed)
    budget, every = (3000, 25) if by_pairs else (BUDGET, 1)
    future, order = play(session, P, budget, rng, every=every)
    last = P if P.ndim == 2 else P[min(future.duels, len(P) - 1)]
    upset = float(last[:, order[0]].max() - 0.5)
    return {"duels": future.duels, "decided": future.decided, "upset": upset}


def world(name: str, rng: np.random.Generator) -> np.ndarray:
    """Return the win probabilities of a world, (K, K), of a drifting one (T, K, K)."""
    scale = abs(rng.normal()) * 2
    score = rng.normal(size=N_ARMS) * scale
    P = 1 / (1 + np.exp(score - score[:, None]))
    if name == "lapses":  # one duel in five is decided by a coin
        return 0.1 + 0.8 * P
    if name == "cyclic":  # every pair's log odds have a share of their own
        own = np.triu(rng.normal(size=P.shape), 1)
        P = 1 / (1 + np.exp(score - score[:, None] - (own - own.T)))
    if name == "drifting":  # from these scores to others, correlated 0.8 with them
        later = 0.8 * score + 0.6 * rng.normal(size=N_ARMS) * scale
        moved = score + np.linspace(0, 1, DRIFT)[:, None] * (later - score)
        P = 1 / (1 + np.exp(moved[:, None] - moved[:, :, None]))
    return P


def rows(cell: Cell, records: list[Record]) -> list[dict[str, Any]]:
    """Return the row of one stop rule in one world."""
    decided = [r for r in records if r["decided"]]
    allowed = {"WithinRope": 0.05, "ExpectedLoss": np.inf}.get(cell["stop"], 0.0)
    right = sum(r["upset"] <= allowed + 1e-12 for r in decided)
    loss = np.array([max(r["upset"], 0.0) for r in decided])
    error = loss.std(ddof=1) / len(loss) ** 0.5 if len(loss) > 1 else float("nan")
    verdict = ""
    if cell["world"] == "prior" and decided:
        if cell["stop"] == "ExpectedLoss":
            verdict = "met" if loss.mean() - 1.96 * error <= 0.01 else "missed"
        else:
            verdict = "met" if share(right, len(decided))[2] >= 0.95 else "missed"
    return [
        {
            "world": cell["world"],
            "stop rule": cell["stop"],
            "mean duels": float(np.mean([r["duels"] for r in records])),
            "not decided": shown_share(len(records) - len(decided), len(records)),
            "right": "" if cell["stop"] == "ExpectedLoss" else shown_share(right, len(decided)),
            "mean loss (standard error)": f"{loss.mean():.4f} ({error:.4f})" if decided else "",
            "target": verdict,
        }
    ]


EXPERIMENT = Experiment(
    name="stopping",
    title="Live studies: calibration of stopping",
    question=(
        f"Studies of {N_ARMS} arms by contrast allocation, until the stop rule is reached, which "
        f"is asked after every duel, or {BUDGET:,} duels are spent; for confidence sequences by "
        "uniform allocation, asked after every 25 duels up to 3,000. Truths are drawn from the "
        "model's prior (the prior world). In the others the model does not hold: one duel in "
        "five is decided at random (lapses); every pair's log odds have a share of their own, "
        "sd 1, so that there may be cycles (cyclic); the scores move over the first "
        f"{DRIFT} duels to others, correlated 0.8 with the first, and an answer is judged by the "
        "scores at its time (drifting). Right: the best arm; for the rope, no arm beats the "
        "answer by more than 5 points. The loss of an answer is by how much the arm that beats it "
        "most often does so beyond one half."
    ),
    target=(
        "under the prior, at least 95 % right (the interval reaches 95 %), and a mean loss of at "
        "most 0.01 for the expected-loss rule (its interval reaches 0.01); worlds in which the "
        "model does not hold are stated."
    ),
    cells=tuple({"world": world, "stop": stop} for world in WORLDS for stop in RULES),
    run=run,
    rows=rows,
    quick=10,
    full=1000,
    paired=("stop",),
)
