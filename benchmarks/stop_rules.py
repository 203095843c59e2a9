"""Stop rules in worlds with and without a ranking: duels, and how often the answer is right.

``python -m benchmarks.stop_rules --studies 60 --arms 8`` prints the table of
docs/how_to/studies.md. The worlds: scores from N(0, 1); the same with one duel in five decided by a
coin; one arm 0.5 above equals; scores and a residual of each pair, sd 0.6; an arm that beats all
others by 0.58 and a rival that thrashes the rest; and a cycle (0.65) of the best three. An answer
is right if no arm beats it by more than the rope; "no arm qualifies" if there is no such arm.
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from bayesduel.intervals import wilson
from bayesduel.models import BradleyTerry
from bayesduel.study.confirmed import Confirmed
from bayesduel.study.goal import FindBest
from bayesduel.study.session import Session, belief_of
from bayesduel.study.stopping import StopRule, WithinRope

ROPE, LEVEL = 0.05, 0.95
RULES: dict[str, StopRule] = {
    "WithinRope": WithinRope(LEVEL, rope=ROPE),
    "Confirmed": Confirmed(WithinRope(LEVEL, rope=ROPE)),
}


def ranked(scores: np.ndarray) -> np.ndarray:
    """Return the preference matrix of scores."""
    found: np.ndarray = expit(scores[:, None] - scores)
    return found


def lapses(n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return scores of which one duel in five is decided by a coin."""
    return 0.8 * ranked(rng.normal(size=n_arms)) + 0.1


def one_above(n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return one arm 0.5 logits above equals."""
    return ranked(0.5 * (np.arange(n_arms) == rng.integers(n_arms)))


def perturbed(n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return scores and a residual of each pair."""
    scores = rng.normal(size=n_arms)
    residual = np.triu(rng.normal(0, 0.6, (n_arms, n_arms)), 1)
    found: np.ndarray = expit(scores[:, None] - scores + residual - residual.T)
    return found


def condorcet(n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return an arm that beats all others by 0.58 while a rival beats the rest by 0.9."""
    found = 0.5 * ranked(rng.normal(size=n_arms)) + 0.25
    best, rival = rng.permutation(n_arms)[:2]
    found[rival], found[:, rival] = 0.9, 0.1
    found[best], found[:, best] = 0.58, 0.42
    return found


def cycle(n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """Return scores whose best three beat one another in a circle."""
    scores = rng.normal(size=n_arms)
    found, best = ranked(scores), np.argsort(-scores)[:3]
    for k in range(3):
        one, other = best[k], best[(k + 1) % 3]
        found[one, other], found[other, one] = 0.65, 0.35
    return found


WORLDS: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "scores N(0, 1)": lambda n_arms, rng: ranked(rng.normal(size=n_arms)),
    "lapses": lapses,
    "one above": one_above,
    "perturbed": perturbed,
    "Condorcet is not Borda": condorcet,
    "top cycle": cycle,
}


class Result(NamedTuple):
    """One simulated study.

    Attributes
    ----------
    duels
        Until it stopped, or the budget.
    decided, nobody, right
        Whether it stopped, whether it said that no arm qualifies, and whether it was right.
    """

    duels: int
    decided: bool
    nobody: bool
    right: bool


def play(P: np.ndarray, rule: StopRule, budget: int, rng: np.random.Generator) -> Result:
    """Play one study; the rule is asked after every duel."""
    np.fill_diagonal(P, 0.5)
    spec, goal = belief_of(BradleyTerry()), FindBest()
    session = Session(len(P), goal, goal.policy(belief=spec), rule, spec)
    for duels in range(budget + 1):
        decision = session.decision(rng)
        if decision.stopped or duels == budget:
            break
        ((i, j),) = session.choose(1, [], rng)
        session.record(i, j, float(rng.random() < P[i, j]))
    sound = (P <= 0.5 + ROPE).all(axis=0)
    right = not sound.any() if decision.nobody else sound[decision.order[0]]
    return Result(duels, decision.stopped, decision.nobody, bool(right))


def share(found: list[Result]) -> str:
    """Return how many are right, with a 95 % interval of the share."""
    if not found:
        return "no case"
    right = sum(each.right for each in found)
    low, high = wilson(right, len(found))
    return f"{right} of {len(found)} ({100 * low:.0f} to {100 * high:.0f} %)"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=60)
    parser.add_argument("--arms", type=int, default=8)
    parser.add_argument("--budget", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=2026, help="of the truths and the duels")
    parser.add_argument("--worlds", default=",".join(WORLDS), help="separated by commas")
    given = parser.parse_args()
    print("| world | rule | duels (standard error) | right of all decided ", end="")
    print("| right of those that name an arm | right of those that say no arm qualifies ", end="")
    print("| not decided |")
    for world in [name for name in WORLDS if name in given.worlds]:
        for name, rule in RULES.items():
            found = []
            for k in range(given.studies):
                P = WORLDS[world](given.arms, np.random.default_rng([given.seed, k, given.arms]))
                found.append(play(P, rule, given.budget, np.random.default_rng([given.seed, k, 1])))
            duels = np.array([each.duels for each in found])
            done = [each for each in found if each.decided]
            cells = (
                world,
                name,
                f"{duels.mean():.0f} ({duels.std(ddof=1) / len(duels) ** 0.5:.0f})",
                share(done),
                share([each for each in done if not each.nobody]),
                share([each for each in done if each.nobody]),
                f"{len(found) - len(done)}",
            )
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
