"""Cost of a live study: ask and tell beside a full refit, by rule and size.

Run with ``python -m benchmarks.study_cost``. Each study starts from a tally as large as stated,
drawn from Bradley-Terry with scores from N(0, 1), so that the posterior knows what it would know
by then. One step is what a study computes between two outcomes: the stop rule on 500 fresh draws,
the choice of the next pair, and the outcome entered (`ask + tell`; the store is timed apart). Where
the rule is reached it is asked again on 4,000 draws: "confirmation" is what that takes. Targets:
20 ms at 100 arms and 100,000 duels, 200 ms at 1,000 arms and 1,000,000 duels. All times are CPU
times of one thread. The other sizes, for one rule, show how the cost grows.
"""

import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

SIZES = ((10, 1000), (30, 10_000), (100, 100_000), (300, 300_000), (1000, 1_000_000))
TARGET = {100: 20.0, 1000: 200.0}  # at these sizes every rule is timed
STEPS = 60  # beyond 40 arms the posterior is computed anew every K / 20 duels
RULES = (
    "ContrastAllocation",
    "TopTwoThompson",
    "InformationGain",
    "ExpectedPCS",
    "KnowledgeGradient",
    "Uniform",
)
GOALS = ("find-best", "top-10", "full-ranking")


def world(n_arms: int, n_duels: int) -> tuple[np.ndarray, np.ndarray]:
    """Return win probabilities and a tally of that many duels, both (K, K)."""
    rng = np.random.default_rng(n_arms)
    score = rng.normal(size=n_arms)
    P = 1 / (1 + np.exp(score - score[:, None]))
    first, second = np.triu_indices(n_arms, 1)
    met = rng.multinomial(n_duels, np.full(len(first), 1 / len(first)))
    won = rng.binomial(met, P[first, second])
    wins = np.zeros((n_arms, n_arms))
    wins[first, second], wins[second, first] = won, met - won
    return P, wins


def serves(rule: str, goal: str) -> bool:
    """Return whether a rule is timed with a goal; uniform allocation is the same for all."""
    from bayesduel import policies
    from bayesduel.study.goal import goal_of

    goals: tuple[str, ...] = getattr(getattr(policies, rule), "goals", ("winner",))
    return goal_of(goal).about in goals


def steps(rule: str, goal: str, n_arms: int, n_duels: int) -> list[float]:
    """Return the milliseconds (of CPU) of each step of a study."""
    import bayesduel as bd
    from bayesduel.beliefs import Followed
    from bayesduel.study.goal import goal_of
    from bayesduel.study.session import Session
    from bayesduel.study.stopping import Budget, PosteriorThreshold

    asked = goal_of(goal)
    own: dict[str, Any] = {} if rule == "Uniform" else {"about": asked.about}
    if asked.about == "top_k":
        own["k"] = asked.chosen(n_arms)
    policy: Any = getattr(bd.policies, rule)(**own)
    P, wins = world(n_arms, n_duels)
    rng = np.random.default_rng(0)
    stop = PosteriorThreshold(0.95) & Budget(10**9)  # is asked and never confirmed
    session = Session(n_arms, asked, policy, stop, Followed())
    session.loaded(wins, rng)
    taken = []
    for step in range(STEPS + 2):
        start = process_time()
        session.decision(rng)
        ((i, j),) = session.choose(1, [], rng)
        session.record(i, j, float(rng.random() < P[i, j]))
        session.refit(rng)
        if step >= 2:  # the first steps compile, and compute the posterior from the tally
            taken.append(1000 * (process_time() - start))
    return taken


def confirmation(n_arms: int, n_duels: int) -> float:
    """Return the milliseconds (of CPU) of the stop rule on 4,000 draws."""
    from bayesduel.beliefs import Followed
    from bayesduel.policies import ContrastAllocation
    from bayesduel.study.goal import FindBest
    from bayesduel.study.session import CONFIRMED, Session
    from bayesduel.study.stopping import PosteriorThreshold

    rng = np.random.default_rng(0)
    stop = PosteriorThreshold(0.95)
    session = Session(n_arms, FindBest(), ContrastAllocation(), stop, Followed())
    session.loaded(world(n_arms, n_duels)[1], rng).evidence(2, rng)  # the posterior is computed
    start = process_time()
    stop.reached(session.evidence(CONFIRMED, rng))
    return 1000 * (process_time() - start)


def refit(n_arms: int, n_duels: int) -> float:
    """Return the seconds of ``bayesduel.fit`` by Laplace's method on the same tally."""
    import bayesduel as bd

    duels = bd.Duels.from_wins(world(n_arms, n_duels)[1].astype(int))
    bd.fit(duels)  # compiles
    start = process_time()
    bd.fit(duels)
    return process_time() - start


def stored(n_arms: int, n_duels: int) -> float:
    """Return the milliseconds that the store takes for one ask and tell on disk."""
    from bayesduel.study.asking import Answer
    from bayesduel.study.schema import Question
    from bayesduel.study.store import Store

    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "cost.study")
        store.create({}, [str(k) for k in range(n_arms)])
        rng = np.random.default_rng(0)
        left = rng.integers(0, n_arms - 1, size=n_duels)
        store.load([(int(i), int(i) + 1, None, None, Answer(1.0)) for i in left], "benchmark")
        taken = []
        for step in range(20):
            start = process_time()
            (row,) = store.ask([Question(0, 1)], None, store.counts())
            store.happen(row, "told", "told", answer=Answer(1.0))
            store.events(n_duels + step)
            taken.append(1000 * (process_time() - start))
        store.close()
    return float(np.median(taken))


def run() -> list[dict[str, Any]]:
    """Print the table and return its rows."""
    from benchmarks.tables import show

    rows: list[dict[str, Any]] = []
    for n_arms, n_duels in SIZES:
        timed = [(rule, goal) for rule in RULES for goal in GOALS if serves(rule, goal)]
        for rule, goal in timed if n_arms in TARGET else timed[:1]:
            taken = steps(rule, goal, n_arms, n_duels)
            rows.append(
                {
                    "arms": n_arms,
                    "duels": n_duels,
                    "rule": rule,
                    "goal": goal,
                    "mean ms": float(np.mean(taken)),
                    "median ms": float(np.median(taken)),
                    "largest ms": max(taken),
                    "target ms": TARGET.get(n_arms, ""),
                }
            )
            print(rows[-1], flush=True)
        for name, ms in (
            ("confirmation", confirmation(n_arms, n_duels)),
            ("the store", stored(n_arms, n_duels)),
            ("full refit (bayesduel.fit)", 1000 * refit(n_arms, n_duels)),
        ):
            rows.append({"arms": n_arms, "duels": n_duels, "rule": name, "mean ms": ms})
            print(rows[-1], flush=True)
    show("Live studies: milliseconds of ask + tell", rows)
    return rows


if __name__ == "__main__":
    run()
