"""Live studies: duels until they stop and how often they are right, by rule of choice."""

from typing import Any

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record, shown_share

BUDGET = 1500
RULES = (
    "ContrastAllocation",
    "TopTwoThompson",
    "InformationGain",
    "ExpectedPCS",
    "KnowledgeGradient",
    "DTS",
    "Uniform",
)
SLOW = ("InformationGain", "ExpectedPCS", "KnowledgeGradient", "DTS")  # run with 10 arms only


def run(cell: Cell, seed: int) -> Record:
    """Play one study of scores drawn from N(0, 1) until it stops."""
    import bayesduel as bd
    from bayesduel.beliefs import Followed
    from bayesduel.study.goal import FindBest
    from bayesduel.study.planning import play
    from bayesduel.study.session import Session
    from bayesduel.study.stopping import WithinRope

    rng = np.random.default_rng(seed)
    score = np.random.default_rng([seed, 1]).normal(size=cell["arms"])
    P = 1 / (1 + np.exp(score - score[:, None]))
    policy: Any = getattr(bd.policies, cell["rule"])()
    stop = WithinRope(0.95, rope=0.02)
    session = Session(cell["arms"], FindBest(), policy, stop, Followed())
    future, order = play(session, P, BUDGET, rng)
    return {
        "duels": future.duels,
        "decided": future.decided,
        "right": future.right,
        "within": bool(P[:, order[0]].max() <= 0.52),
    }


def rows(cell: Cell, records: list[Record]) -> list[dict[str, Any]]:
    """Return the row of one rule."""
    duels = np.array([r["duels"] for r in records], float)
    decided = [r for r in records if r["decided"]]
    error = duels.std(ddof=1) / len(duels) ** 0.5 if len(duels) > 1 else float("nan")
    hits = sum(r["within"] for r in decided)
    low = shown_share(hits, len(decided))
    return [
        {
            "arms": cell["arms"],
            "rule": cell["rule"],
            "duels to stop (standard error)": f"{duels.mean():.0f} ({error:.0f})",
            "not decided": shown_share(len(records) - len(decided), len(records)),
            "right within the rope": low,
            "the best arm": shown_share(sum(r["right"] for r in decided), len(decided)),
            "target": "",
        }
    ]


EXPERIMENT = Experiment(
    name="studies",
    title="Live studies: duels until the best arm is found",
    question=(
        "Scores are drawn from N(0, 1) and duels follow Bradley-Terry. Every rule plays the same "
        "worlds until, with posterior probability 0.95, no arm beats the leader by more than 2 "
        f"points of win probability, or {BUDGET:,} duels are spent."
    ),
    target="none; half of uniform's duels for the best rule is what is hoped for.",
    cells=tuple(
        {"arms": arms, "rule": rule}
        for arms in (10, 30)
        for rule in RULES
        if arms == 10 or rule not in SLOW
    ),
    run=run,
    rows=rows,
    quick=10,
    full=200,
)
