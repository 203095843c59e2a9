"""Live studies: duels until they stop and how often they are right, by rule of choice."""

from typing import Any

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record, shown_share

DRIVEN = (
    "ContrastAllocation",
    "TopTwoThompson",
    "InformationGain",
    "ExpectedPCS",
    "KnowledgeGradient",
)
RULES = (*DRIVEN, "DTS", "RUCB", "Uniform")
BUDGETS = {10: 1500, 30: 2000, 100: 3000}
LOOKS = 10  # duels between looks at the stop rule
QUICK = {10: 10, 30: 3, 100: 1}


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
    arms = cell["arms"]
    future, order = play(session, P, BUDGETS[arms], rng, every=LOOKS)
    return {
        "duels": future.duels,
        "decided": future.decided,
        "right": future.right,
        "within": bool(P[:, order[0]].max() <= 0.52),
    }


def rows(cell: Cell, records: list[Record]) -> list[dict[str, Any]]:
    """Return the row of one rule."""
    names = {"arms": cell["arms"], "rule": cell["rule"]}
    return [names | found(records, {"right": "the best arm"})]


def found(records: list[Record], further: dict[str, str]) -> dict[str, Any]:
    """Return the columns of studies of one rule; `further` heads more shares of the decided."""
    duels = np.array([r["duels"] for r in records], float)
    decided = [r for r in records if r["decided"]]
    error = duels.std(ddof=1) / len(duels) ** 0.5 if len(duels) > 1 else float("nan")
    heads = {"within": "right within the rope"} | further
    return {
        "duels to stop (standard error)": f"{duels.mean():.0f} ({error:.0f})",
        "not decided": shown_share(len(records) - len(decided), len(records)),
        **{h: shown_share(sum(r[n] for r in decided), len(decided)) for n, h in heads.items()},
        "target": "",
    }


EXPERIMENT = Experiment(
    name="studies",
    title="Live studies: duels until the best arm is found",
    question=(
        "Scores are drawn from N(0, 1) and duels follow Bradley-Terry. Every rule plays the same "
        "worlds until, with posterior probability 0.95, no arm beats the leader by more than 2 "
        "points of win probability, or the budget is spent: 1,500 duels with 10 arms, 2,000 with "
        "30 and 3,000 with 100. A study that is not decided counts with its budget. The stop rule "
        f"is asked after every {LOOKS} duels."
    ),
    target="none here; docs/validation/studies.md compares the rule with half of uniform's duels.",
    cells=tuple({"arms": arms, "rule": rule} for arms in BUDGETS for rule in RULES),
    run=run,
    rows=rows,
    quick=10,
    full=200,
    paired=("rule",),
    sizes=lambda cell: (QUICK[cell["arms"]], 200),
)
