"""People and a machine judge in one study: duels by people until decided, and whether rightly.

``python -m benchmarks.study_sources --studies 60 --arms 8 --records FILE`` plays the studies of the
table in docs/validation/studies.md and appends a record of each; those that the file has are not
played again. ``--table`` prints the table of the records. People's scores h are N(0, 1). The
machines are
those by which fused posteriors were measured: good (1.3 h + 0.2 z), fair (h + 0.5 z), poor (0.6 h +
0.9 z), useless (z), adversary (-h + 0.2 z), a good one with 1.5 logits for the left side, a good
one that favours two arms by 2; z is N(0, 1). A machine is asked in both orders, and answers that
differ are a tie, as by ``Study.run``. The study asks whoever tells more for the cost: 1 a vote of
people, 0.01 one of the machine. An answer is right if no arm beats it by more than the rope.
"""

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from bayesduel.intervals import wilson
from bayesduel.models import BradleyTerry, Sources
from bayesduel.study.goal import FindBest
from bayesduel.study.session import Session, belief_of
from bayesduel.study.source_posterior import SourcePosterior
from bayesduel.study.stopping import WithinRope
from bayesduel.system.threads import ONE_THREAD

ROPE, LEVEL, SIDE, FAVOUR, BATCH = 0.05, 0.95, 1.5, 2.0, 10
LOOKS = (20, 40, 60)  # votes of people after which the best arm so far is looked at
COSTS = {"people": 1.0, "machine": 0.01}
MACHINES = {  # weight of people's scores, of the machine's own
    "good": (1.3, 0.2), "fair": (1.0, 0.5), "poor": (0.6, 0.9), "useless": (0.0, 1.0),
    "adversary": (-1.0, 0.2), "left side": (1.3, 0.2), "favourites": (1.3, 0.2),
}  # fmt: skip
ALONE = "people alone"


def world(name: str, n_arms: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of people and of the machine."""
    people, own = rng.normal(size=(2, n_arms))
    favoured = rng.permutation(n_arms)[:2]
    of_people, of_own = MACHINES.get(name, (0.0, 1.0))
    machine = of_people * people + of_own * own
    machine[favoured] += FAVOUR * (name == "favourites")
    return people, machine


def verdict(difference: float, side: float, rng: np.random.Generator) -> float:
    """Return the machine's answer in both orders: 1, 0, or 0.5 where the two differ."""
    first, second = rng.random(2) < expit([difference + side, difference - side])
    return (float(first) + float(second)) / 2


def play(name: str, n_arms: int, budget: int, seed: int, k: int) -> dict[str, Any]:
    """Play one study; the rule is asked after every vote of people and every ten of the machine."""
    people, machine = world(name, n_arms, np.random.default_rng([seed, n_arms, k]))
    choices, coins = (np.random.default_rng([seed, n_arms, k, part]) for part in (1, 2))
    goal, model = FindBest(), BradleyTerry()
    sources = None
    if name != ALONE:
        model = BradleyTerry(Sources("source", target="people"))
        sources = SourcePosterior(model, COSTS, n_arms)
    spec = belief_of(model)
    rule = WithinRope(LEVEL, rope=ROPE)
    session = Session(n_arms, goal, goal.policy(belief=spec), rule, spec, sources=sources)
    side, asked, judged = SIDE * (name == "left side"), 0, 0
    found = {}
    while True:
        session.refit(choices)
        decision = session.decision(choices)
        best = int(decision.order[0])
        found[asked] = right = bool((expit(people - people[best]) <= 0.5 + ROPE).all())
        if decision.stopped or asked == budget:
            break
        turns = session.divide(BATCH, []) if sources else [(0, 0, 0)]
        verdicts = turns[: next((t for t, one in enumerate(turns) if one[0] == 0), BATCH)]
        for _, i, j in verdicts:
            won = verdict(machine[i] - machine[j], side, coins)
            session.record(i, j, won, "machine")
            judged += 1
        if not verdicts:
            ((i, j),) = session.choose(1, [], choices)
            session.record(i, j, float(coins.random() < expit(people[i] - people[j])))
            asked += 1
    looks = [found[min(look, asked)] for look in LOOKS]
    return {
        "machine": name,
        "arms": n_arms,
        "study": k,
        "seed": seed,
        "duels": asked,
        "verdicts": judged,
        "decided": decision.stopped,
        "right": right,
        "looks": looks,
    }


def table(records: list[dict[str, Any]]) -> None:
    """Print the table of the records; duels are compared study by study, on the same scores."""
    print("| arms | machine | studies | duels by people (standard error) ", end="")
    print("| of those of people alone | verdicts of the machine ", end="")
    print("| right of all decided | not decided ", end="")
    print(f"| right after {', '.join(map(str, LOOKS))} votes of people |\n" + "|---" * 9 + "|")
    for n_arms in sorted({each["arms"] for each in records}):
        of_size = [each for each in records if each["arms"] == n_arms]
        alone = {each["study"]: each["duels"] for each in of_size if each["machine"] == ALONE}
        for name in (ALONE, *MACHINES):
            own = [each for each in of_size if each["machine"] == name]
            if not own:
                continue
            duels = np.array([each["duels"] for each in own])
            done = [each for each in own if each["decided"]]
            right = sum(each["right"] for each in done)
            low, high = wilson(right, len(done))
            both = np.array([[e["duels"], alone[e["study"]]] for e in own if e["study"] in alone])
            pick = np.random.default_rng(0).integers(len(both), size=(4000, len(both)))
            ratios = both[pick, 0].sum(axis=1) / both[pick, 1].sum(axis=1)
            ends = np.quantile(ratios, [0.025, 0.975])
            ratio = both[:, 0].sum() / both[:, 1].sum()
            looks = np.array([each.get("looks", []) for each in own])
            cells = (
                n_arms,
                name,
                len(own),
                f"{duels.mean():.0f} ({duels.std(ddof=1) / len(duels) ** 0.5:.0f})",
                "1" if name == ALONE else f"{ratio:.2f} ({ends[0]:.2f} to {ends[1]:.2f})",
                f"{np.mean([each['verdicts'] for each in own]):,.0f}",
                f"{right} of {len(done)} ({100 * low:.0f} to {100 * high:.0f} %)"
                if done
                else "no case",
                len(own) - len(done),
                ", ".join(f"{100 * share:.0f} %" for share in looks.mean(axis=0)) or "not kept",
            )
            print("| " + " | ".join(map(str, cells)) + " |")


def main() -> None:
    """Play the studies that the records lack, or print their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=60)
    parser.add_argument("--arms", type=int, default=8)
    parser.add_argument("--budget", type=int, default=1000, help="duels by people")
    parser.add_argument("--seed", type=int, default=2027, help="of the scores and the duels")
    parser.add_argument("--records", type=Path, required=True, help="JSON lines, perhaps .gz")
    parser.add_argument("--machines", default=",".join((ALONE, *MACHINES)), help="by commas")
    parser.add_argument("--table", action="store_true", help="print the table and play nothing")
    given = parser.parse_args()
    opened = gzip.open if given.records.suffix == ".gz" else open
    records = []
    if given.records.exists():
        with opened(given.records, "rt") as file:
            records = [json.loads(line) for line in file]
    if given.table:
        table(records)
        return
    known = {(each["machine"], each["arms"], each["study"]) for each in records}
    with opened(given.records, "at") as file, ONE_THREAD:
        for k in range(given.studies):
            for name in given.machines.split(","):
                if (name, given.arms, k) not in known:
                    found = play(name, given.arms, given.budget, given.seed, k)
                    file.write(json.dumps(found) + "\n")
                    file.flush()


if __name__ == "__main__":
    main()
