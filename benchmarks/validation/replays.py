"""Replays: live studies whose duels are drawn from the outcomes of real logs.

The environment variable BAYESDUEL_DATA names the folder that holds one folder a log, each with a
file duels.csv (left, right, outcome). A log that is not there is left out.
"""

import os
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record
from benchmarks.validation.studies import DRIVEN, found

BUDGETS = {"starcraft-2016": 1500, "food": 1500, "llmfao": 3000, "football": 3000}
ALL_PAIRS = ("DTS", "RUCB")  # rules that cannot leave pairs out
PSEUDO = 4.0
ROPE = 0.05
LOOKS = 10  # duels between looks at the stop rule


class Replay(NamedTuple):
    """A log as a world to duel in.

    Attributes
    ----------
    P
        Probability that i beats j plus half that of a tie, shape (K, K).
    ties
        Probability of a tie, shape (K, K).
    cost
        1 for pairs that met in the log and on the diagonal, else infinite, shape (K, K).
    score
        Bradley-Terry scores of P, every pair that met with the same weight, shape (K,).
    """

    P: np.ndarray
    ties: np.ndarray
    cost: np.ndarray
    score: np.ndarray


def run(cell: Cell, seed: int) -> Record:
    """Play one study on a log until it stops."""
    import bayesduel as bd
    from bayesduel.beliefs import Followed
    from bayesduel.study.goal import FindBest
    from bayesduel.study.planning import play
    from bayesduel.study.session import Session
    from bayesduel.study.stopping import WithinRope

    found = replay(cell["log"])
    policy: Any = getattr(bd.policies, cell["rule"])()
    if not np.isfinite(found.cost).all():
        policy = policy.with_cost(tuple(map(tuple, found.cost.tolist())))
    stop = WithinRope(0.95, rope=ROPE)
    session = Session(len(found.P), FindBest(), policy, stop, Followed())
    rng = np.random.default_rng(seed)
    future, order = play(session, found.P, BUDGETS[cell["log"]], rng, ties=found.ties, every=LOOKS)
    ahead = 1 / (1 + np.exp(found.score[order[0]] - found.score.max()))
    met = np.isfinite(found.cost[order[0]])  # itself among them, at one half
    return {
        "duels": future.duels,
        "decided": future.decided,
        "within": bool(ahead <= 0.5 + ROPE),
        "unbeaten": bool(found.P[met, order[0]].max() <= 0.5 + ROPE),
    }


@cache
def replay(log: str) -> Replay:
    """Return a log as a world to duel in.

    An outcome is drawn from those of the pair in the log and 4 pseudo-duels, which follow the
    log's Bradley-Terry scores.
    """
    import bayesduel as bd

    path = Path(os.environ["BAYESDUEL_DATA"]) / log / "duels.csv"
    counts = bd.read_duels(path, margin=False, judge=False, group=False, time=False).tally()
    wins, ties = np.asarray(counts.wins, float), np.asarray(counts.ties, float)
    n = wins + wins.T + ties
    score = fitted(wins + ties / 2, n)
    expected = 1 / (1 + np.exp(score - score[:, None]))
    P = (wins + ties / 2 + PSEUDO * expected) / (n + PSEUDO)
    met = np.where(n > 0, 100.0, 0.0)  # many replayed duels of each pair: the prior is forgotten
    cost = np.where(n > 0, 1.0, np.inf)
    np.fill_diagonal(cost, 1.0)
    return Replay(P, ties / (n + PSEUDO), cost, fitted(P * met, met))


def fitted(wins: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the Bradley-Terry scores with largest posterior density under N(0, 1), (K,)."""
    score = np.zeros(len(wins))
    for _ in range(50):
        p = 1 / (1 + np.exp(score - score[:, None]))
        bend = n * p * (1 - p)
        hessian = np.diag(bend.sum(1) + 1) - bend
        score = score + np.linalg.solve(hessian, (wins - n * p).sum(1) - score)
    return score


def rows(cell: Cell, records: list[Record]) -> list[dict[str, Any]]:
    """Return the row of one rule on one log."""
    names = {"log": cell["log"], "rule": cell["rule"]}
    return [names | found(records, {"unbeaten": "no arm of the log beats it"})]


def is_there(log: str) -> bool:
    """Return whether the log is at hand."""
    folder = os.environ.get("BAYESDUEL_DATA")
    return folder is not None and (Path(folder) / log / "duels.csv").is_file()


EXPERIMENT = Experiment(
    name="replays",
    title="Live studies: replays of real logs",
    question=(
        "Each ask is answered by drawing from the pair's outcomes in a real log and 4 pseudo-duels "
        "that follow the log's Bradley-Terry scores, because a pair that met once or twice has no "
        "share of its own; a tie counts half a win each. Pairs that never met are forbidden. A "
        "study stops when, with posterior probability 0.95, no arm beats the leader by more than 5 "
        f"points of win probability (asked every {LOOKS} duels), or after 1,500 duels (starcraft, "
        "food) or 3,000 (llmfao, football), with which a study that is not decided counts. Right: "
        "by the Bradley-Terry scores of the replayed win probabilities, every pair with the same "
        "weight, no arm beats the answer by more than the rope. The last column asks for more: no "
        "arm that met the answer beats it by more than the rope in the replayed probabilities."
    ),
    target="none here; docs/validation/studies.md compares the rule with half of uniform's duels.",
    cells=tuple({"log": log, "rule": rule} for log in BUDGETS for rule in (*DRIVEN, "Uniform"))
    + tuple({"log": "starcraft-2016", "rule": rule} for rule in ALL_PAIRS),
    run=run,
    rows=rows,
    quick=1,
    full=200,
    paired=("rule",),
    sizes=lambda cell: (1, 200) if is_there(cell["log"]) else (0, 0),
    notes=(
        "Cells are not run where the environment variable BAYESDUEL_DATA names no folder with "
        "the log (LOG/duels.csv). DTS and RUCB cannot leave pairs out: they replay the one log in "
        "which all pairs met."
    ),
)
