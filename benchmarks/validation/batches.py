"""Batches of live studies: the information of a greedy batch beside that of the best one."""

from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record

N_ARMS = 5
DRAWS = 8000


def run(cell: Cell, seed: int) -> Record:
    """Compare the batch of a study after some duels with every batch of that size."""
    import bayesduel as bd
    from bayesduel.beliefs import Followed
    from bayesduel.beliefs.score_posterior import draw_scores
    from bayesduel.study.goal import FindBest
    from bayesduel.study.session import Session
    from bayesduel.study.stopping import Budget

    rng = np.random.default_rng(seed)
    score = rng.normal(size=N_ARMS)
    P = 1 / (1 + np.exp(score - score[:, None]))
    policy: Any = getattr(bd.policies, cell["rule"])()
    session = Session(N_ARMS, FindBest(), policy, Budget(1), Followed())
    for _ in range(20):
        ((i, j),) = session.choose(1, [], rng)
        session.record(i, j, float(rng.random() < P[i, j]))
    joint = session.choose(cell["batch"], [], rng)
    blind = [session.choose(1, [], rng)[0] for _ in range(cell["batch"])]
    scores = draw_scores(session.memory.posterior, DRAWS, rng)
    first, second = np.triu_indices(N_ARMS, 1)
    chance = 1 / (1 + np.exp(scores[:, second] - scores[:, first]))
    best = np.eye(N_ARMS)[scores.argmax(axis=1)]
    place = {(int(i), int(j)): k for k, (i, j) in enumerate(zip(first, second, strict=True))}
    bits = {
        batch: information(chance, best, batch)
        for batch in combinations_with_replacement(range(len(first)), cell["batch"])
    }

    def of(pairs: list[tuple[int, int]]) -> float:
        return bits[tuple(sorted(place[min(pair), max(pair)] for pair in pairs))]

    return {"best": max(bits.values()), "joint": of(joint), "blind": of(blind)}


def information(chance: np.ndarray, best: np.ndarray, batch: tuple[int, ...]) -> float:
    """Return the information of the outcomes of some pairs about the winner, in bits.

    Parameters
    ----------
    chance
        Probability of winning by draw and pair, (n, pairs).
    best
        Winner of each draw, one-hot, (n, K).
    batch
        The pairs.
    """
    together = np.ones((len(chance), 1))
    for k in batch:
        p = chance[:, [k]]
        together = np.concatenate([together * p, together * (1 - p)], axis=1)
    joint = together.T @ best / len(chance)  # outcomes x winners
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    held = joint > 0
    return float((joint[held] * np.log2(joint[held] / apart[held])).sum())


def rows(cell: Cell, records: list[Record]) -> list[dict[str, Any]]:
    """Return the row of one rule and size."""
    found = {}
    for name in ("joint", "blind"):
        shares = np.array([r[name] / r["best"] for r in records])
        error = shares.std(ddof=1) / len(shares) ** 0.5 if len(shares) > 1 else float("nan")
        found[name] = f"{100 * shares.mean():.1f} % ({100 * error:.1f})"
    return [
        {
            "rule": cell["rule"],
            "batch": cell["batch"],
            "chosen jointly (standard error)": found["joint"],
            "chosen one by one, blind": found["blind"],
            "studies": len(records),
            "target": "",
        }
    ]


EXPERIMENT = Experiment(
    name="batches",
    title="Live studies: batches beside the best batch",
    question=(
        f"Studies of {N_ARMS} arms with scores from N(0, 1), after 20 duels. The information of a "
        "batch about the winner (all outcomes together) as a share of that of the best batch of "
        "its size, which is found by looking at every one; beside it a batch of as many single "
        "choices that know nothing of each other."
    ),
    target="none: the loss of the greedy choice is stated.",
    cells=tuple(
        {"rule": rule, "batch": batch}
        for rule in ("InformationGain", "ContrastAllocation")
        for batch in (2, 3)
    ),
    run=run,
    rows=rows,
    quick=10,
    full=100,
    paired=("rule", "batch"),
)
