"""How often the answer about one ranking is right, in worlds that are known.

``python -m benchmarks.ranking [--write docs/validation/ranking.md]``, and
``python -m benchmarks.ranking --seconds`` for what an answer costs

Eight kinds of worlds, 6, 12 and 30 arms, 5, 20 and 40 duels a pair, all pairs met or half of them;
40 worlds a cell, 12 of 30 arms. Takes 33 minutes of one processor. The claims, the sizes and the
seed below were fixed before the run whose table is kept:

- in cyclic worlds the 95 % interval of the cyclic share holds the true one in 93 to 97 %;
- where a material cycle has probability 0.9 or more, there is one in 90 %;
- at most 5 % of uneven, strongly transitive worlds are told one.
"""

from argparse import ArgumentParser
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

import bayesduel as bd
from bayesduel.criticism.check import check
from bayesduel.criticism.ranking.posterior import (
    SURE,
    cyclic_share_of,
    has_cycle,
    ranking_posterior,
    top_cycle_of,
)
from bayesduel.criticism.transitivity.design import DecidedDuels
from bayesduel.intervals import wilson
from bayesduel.system.options import Decision

SEED = 65  # worlds that nobody had seen: 61 to 64 were used while the models were written
ARMS = {6: 40, 12: 40, 30: 12}  # worlds a cell
DUELS = (5, 20, 40)
MET = (1.0, 0.5)
UNEVENNESS = 0.8  # standard deviation of the logarithm of a margin: a third of the squares
STRONG = 2.0  # of the same before margins are made to grow along the order: a sixth to a fifth
CLAIMED = 0.9
STEP = float(np.log(Decision.material / (1 - Decision.material)))


def symmetric(n_arms, rng):
    """Return one normal number for each pair, (K, K)."""
    upper = np.triu(rng.normal(size=(n_arms, n_arms)), 1)
    return upper + upper.T


def bradley_terry(n_arms, rng):
    """Scores alone, standard deviation 1."""
    score = rng.normal(size=n_arms)
    return score[:, None] - score


def cyclic(share):
    """Scores and a residual of each pair, about `share` of the squares."""

    def world(n_arms, rng):
        rest = np.triu(rng.normal(size=(n_arms, n_arms)), 1) * np.sqrt(2 * share / (1 - share))
        return bradley_terry(n_arms, rng) + rest - rest.T

    return world


def uneven(n_arms, rng):
    """Scores; margins differ by a factor of their own."""
    return bradley_terry(n_arms, rng) * np.exp(UNEVENNESS * symmetric(n_arms, rng))


def uneven_strong(n_arms, rng):
    """Uneven margins, made as large as those of every pair between them in the order."""
    score = np.sort(rng.normal(size=n_arms))
    margin = np.abs(score[:, None] - score) * np.exp(STRONG * symmetric(n_arms, rng))
    for gap in range(2, n_arms):
        for i in range(n_arms - gap):
            j = i + gap
            margin[i, j] = max(margin[i, j], margin[i, j - 1], margin[i + 1, j])
            margin[j, i] = margin[i, j]
    return np.sign(score[:, None] - score) * margin


def unrelated(n_arms, rng):
    """Order by scores; margins have nothing to do with the distance in it."""
    return np.sign(bradley_terry(n_arms, rng)) * np.abs(symmetric(n_arms, rng))


def three_at_the_top(n_arms, rng):
    """Scores, but the three best beat each other in turn, in 70 % of duels."""
    score = -np.sort(-rng.normal(size=n_arms))
    odds = score[:, None] - score
    for winner, loser in ((0, 1), (1, 2), (2, 0)):
        odds[winner, loser] = np.log(0.7 / 0.3)
        odds[loser, winner] = -odds[winner, loser]
    return odds


WORLDS = {
    "Bradley-Terry": bradley_terry,
    "cyclic 10 %": cyclic(0.1),
    "cyclic 20 %": cyclic(0.2),
    "cyclic 40 %": cyclic(0.4),
    "uneven": uneven,
    "uneven, strongly transitive": uneven_strong,
    "margins unrelated to the order": unrelated,
    "three in turn at the top": three_at_the_top,
}


def answer(odds, n_duels, met, rng):
    """Draw a log of a world; return the truth and what is said of it."""
    n_arms = len(odds)
    first, second = np.triu_indices(n_arms, 1)
    kept = np.sort(rng.choice(len(first), round(met * len(first)), replace=False))
    first = first[kept].astype(np.int64)
    second = second[kept].astype(np.int64)
    n_pairs = len(kept)
    won = rng.binomial(n_duels, 1 / (1 + np.exp(-odds[first, second]))).astype(float)
    design = DecidedDuels(
        n_arms=n_arms, first=first, second=second, pair=np.arange(n_pairs),
        side=np.zeros(n_pairs), n=np.full(n_pairs, float(n_duels)), won=won,
    )  # fmt: skip
    found = ranking_posterior(design, tuple(map(str, range(n_arms))), rng)
    share = found.cyclic_share
    truth = cyclic_share_of(odds)
    return {
        "share": truth,
        "said": share.mean,
        "width": share.upper - share.lower,
        "held": share.lower - 1e-9 <= truth <= share.upper + 1e-9,
        "one": found.p_one_ranking,
        "condorcet": top_cycle_of(odds).sum() == 1,
        "p_condorcet": found.p_condorcet_winner,
        "cycle": has_cycle(odds, STEP),
        "p_cycle": found.p_material_cycle,
    }


def measured(seed, worlds):
    """Return a row for each world, `worlds` by number of arms."""
    rows = []
    for cell in product(WORLDS, worlds, DUELS, MET):
        kind, n_arms, n_duels, met = cell
        place = (list(WORLDS).index(kind), n_arms, n_duels, int(100 * met))
        for q in range(worlds[n_arms]):
            rng = np.random.default_rng(np.random.SeedSequence((seed, *place, q)))
            row = answer(WORLDS[kind](n_arms, rng), n_duels, met, rng)
            rows.append(dict(zip(("kind", "arms", "duels", "met"), cell, strict=True)) | row)
    return pd.DataFrame(rows)


def rate(true):
    """Return a share of worlds with its 95 % interval (Wilson)."""
    if not len(true):
        return "-"
    low, high = wilson(int(true.sum()), len(true))
    return f"{100 * true.mean():.0f} % ({100 * low:.0f} to {100 * high:.0f}, n = {len(true)})"


def row_of(found):
    """Return what is said of some worlds, as cells of a table."""
    claimed = found[found.p_cycle >= CLAIMED]
    condorcet = f"{found.condorcet.mean():.2f}, {found.p_condorcet.mean():.2f}"
    return {
        "true share": f"{found.share.mean():.2f}",
        "said": f"{found.said.mean():.2f}",
        "interval holds it": rate(found.held),
        "one ranking": rate(found.one >= SURE),
        "cannot tell": rate((found.one < SURE) & (found.one > 1 - SURE)),
        "material cycle: true": f"{100 * found.cycle.mean():.0f} %",
        "told (0.9)": rate(found.p_cycle >= CLAIMED),
        "of these true": rate(claimed.cycle),
        "one beats all: true, said": condorcet,
    }


def tables(found):
    """Return the tables of the page, by title."""
    cyclic_kind = found.kind.str.startswith("cyclic")
    bins = pd.cut(found.p_cycle, [-0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0])
    calibration = [
        {
            "probability of a material cycle": f"{max(cut.left, 0):.1f} to {cut.right:.1f}",
            "mean": f"{part.p_cycle.mean():.2f}",
            "there is one": rate(part.cycle),
        }
        for cut, part in found.groupby(bins, observed=True)
    ]
    return {
        "By kind of world": by(found, ["kind"]),
        "Cyclic worlds, by design": by(found[cyclic_kind], ["arms", "duels", "met"]),
        "Uneven, strongly transitive worlds, by design": by(
            found[found.kind == "uneven, strongly transitive"], ["arms", "duels", "met"]
        ),
        "Calibration, all worlds": calibration,
    }


def by(found, keys):
    """Return a row for each value of `keys`."""
    rows = []
    for values, part in found.groupby(keys, sort=False):
        named = {key: str(value) for key, value in zip(keys, values, strict=True)}
        rows.append(named | row_of(part))
    return rows


def markdown(title, rows):
    """Return a table of a page."""
    lines = [f"## {title}", "", "| " + " | ".join(rows[0]) + " |", "|---" * len(rows[0]) + "|"]
    lines += ["| " + " | ".join(row.values()) + " |" for row in rows]
    return "\n".join(lines)


def scored_log(n_arms, n_duels, n_leagues, rng):
    """Return duels of Bradley-Terry arms, of one league each; one duel in twenty leaves it."""
    score = rng.normal(size=n_arms)
    league = rng.integers(n_leagues, size=n_arms)
    left = rng.integers(n_arms, size=30 * n_leagues * n_duels)
    right = (left + rng.integers(1, n_arms, size=len(left))) % n_arms
    met = (league[left] == league[right]) | (rng.random(len(left)) < 0.05)
    left = left[met][:n_duels]
    right = right[met][:n_duels]
    won = rng.random(len(left)) < 1 / (1 + np.exp(score[right] - score[left]))
    names = np.array([f"{k:03}" for k in range(n_arms)])
    return bd.Duels.from_votes(names[left], names[right], won.astype(float))


def seconds():
    """Return processor seconds of quick checks, once everything is compiled."""
    rng = np.random.default_rng(SEED)
    logs = {
        "springall": bd.datasets.load("springall"),
        "45 arms, 20 duels a pair": scored_log(45, 19_800, 1, rng),
        "345 arms in 31 leagues, 5,250 duels": scored_log(345, 5250, 31, rng),
        "200 arms, a million votes": scored_log(200, 1_000_000, 1, rng),
    }
    check(logs["springall"], quick=True)
    check(scored_log(25, 3000, 1, rng), quick=True)
    rows = []
    for name, log in logs.items():
        start = process_time()
        found = check(log, quick=True)
        spent = process_time() - start
        weights = {kind: f"{weight:.2f}" for kind, weight in found.ranking.model_weights.items()}
        rows.append({"log": name, "processor seconds": f"{spent:.2f}"} | weights)
    return rows


def main():
    """Measure, print the tables, and write them."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="page whose tables are replaced")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--worlds", type=int, help="a cell, in place of 40 and 12")
    parser.add_argument("--rows", type=Path, help="CSV of all worlds")
    parser.add_argument("--seconds", action="store_true", help="time checks of four logs")
    args = parser.parse_args()
    if args.seconds:
        print(markdown("Seconds", seconds()))
        return
    worlds = ARMS if args.worlds is None else dict.fromkeys(ARMS, args.worlds)
    found = measured(args.seed, worlds)
    if args.rows:
        found.to_csv(args.rows, index=False)
    text = "\n\n".join(markdown(*table) for table in tables(found).items())
    print(text)
    if args.write:
        first = text.partition("\n")[0]  # what stands above is written by hand
        head = args.write.read_text(encoding="utf-8").partition(first)[0]
        args.write.write_text(f"{head}{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
