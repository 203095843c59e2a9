"""What an answer without a ranking rests on: held-out duels of logs, and worlds that are known.

``python -m benchmarks.without_ranking FOLDER`` prints, for each log of `LOGS` in FOLDER, the first
sentence of its check and the held-out log loss of the models in `MODELS` (nats per decided duel);
"check" is the answer of ``bayesduel.check`` without a ranking: five models of a pair, averaged. A
fifth of the duels is held out, or a fifth of the pairs that met. Of logs of many arms the 20 that
dueled most are taken. Sides are ignored. ``python -m benchmarks.without_ranking`` without a folder
prints what the models say of worlds of 12 arms: the divergence of their win probabilities from the
true ones, and the Brier score of the probability that an arm beats all others. Sizes and seeds
were fixed before the run whose numbers are kept. Five minutes of one processor each.
"""

import argparse
import warnings
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np

import bayesduel as bd
from bayesduel.criticism.check import check
from bayesduel.criticism.ranking.posterior import top_cycle_of
from benchmarks.ranking import WORLDS
from benchmarks.tables import show

LOGS = (
    "llmfao/duels.csv",
    "guanaco-gpt4/duels.csv",
    "dominance/duels.csv",
    "roshambo/duels.csv",
    "castles/duels_round1.csv",
    "starcraft-2016/duels.csv",
    "football/duels.csv",
    "food/duels.csv",
    "photos/duels_color.csv",
    "classics/tversky1969.csv",
)
MODELS = (
    "check",
    "bradley-terry",
    "bradley-terry + pair-residuals",
    "preference-matrix",
    "bradley-terry + cycles",
)
ARMS = 20  # of a log whose duels are held out, at most: four seconds a fit
HELD_OUT = 0.2
KINDS = ("Bradley-Terry", "cyclic 20 %", "cyclic 40 %", "uneven")
DUELS = (5, 20, 40)
WORLD_ARMS = 12
N_WORLDS = 10
SEED = 61
DRAWS = 1000
LEAST = 1e-6  # predicted probability, so that one duel does not decide a mean


def fitted(wins, model):
    """Return the fit of a model to a table of wins, (K, K)."""
    log = bd.Duels.from_wins(wins, [f"{k:02}" for k in range(len(wins))])
    if model == "check":
        return check(log, quick=True).averaged
    return bd.fit(log, model, draws=DRAWS, seed=SEED, log_likelihood=False)


def predicted(fit):
    """Return the posterior mean of P, shape (K, K)."""
    parts = [draws.mean(axis=0) for draws in bd.preference_draws(fit)]
    return np.clip(np.mean(parts, axis=0), LEAST, 1 - LEAST)


def split_duels(wins, rng):
    """Return wins to learn from and wins held out, duel by duel."""
    held = rng.binomial(wins, HELD_OUT)
    return wins - held, held


def split_pairs(wins, rng):
    """Return wins to learn from and wins held out, pair by pair."""
    met = np.argwhere(np.triu(wins + wins.T, 1))
    gone = met[rng.random(len(met)) < HELD_OUT]
    held = np.zeros_like(wins)
    for i, j in gone:
        held[i, j] = wins[i, j]
        held[j, i] = wins[j, i]
    return wins - held, held


def read(path):
    """Return a log, and its part of at most `ARMS` arms: those that dueled most."""
    import pandas as pd

    frame = pd.read_csv(path)
    if "dataset" in frame:  # many logs in one file: the largest
        frame = frame[frame["dataset"] == frame["dataset"].value_counts().index[0]]
    names = ("left", "right", "outcome", "weight", "annotator", "context")
    log = bd.read_duels(frame[[name for name in names if name in frame]])
    wins = log.tally("drop").wins
    often = np.argsort(-(wins + wins.T).sum(axis=1), kind="stable")[:ARMS]
    return log, log.subset([log.arms[k] for k in sorted(often)])


def of_log(path):
    """Return the row of one log: its headline, and losses by model and way of holding out."""
    log, part = read(path)
    wins = part.tally("drop").wins.astype(np.int64)
    row = {"log": path.parent.name, "arms": part.n_arms, "duels": int(wins.sum())}
    losses = {}
    spent = dict.fromkeys(MODELS, 0.0)
    for how, split in (("duels", split_duels), ("pairs", split_pairs)):
        learned, held = split(wins, np.random.default_rng(SEED))
        for model in MODELS:
            start = process_time()
            P = predicted(fitted(learned, model))
            spent[model] += process_time() - start
            losses[f"{how}: {model}"] = float(-(held * np.log(P)).sum() / held.sum())
    shown = ", ".join(f"{model} {seconds:.0f}" for model, seconds in spent.items())
    print(f"{path.parent.name}: processor seconds {shown}")
    return row | losses, check(log, quick=True).verdict_parts[0]


def of_world(kind, n_duels, seed):
    """Return the divergence from the truth, and the squared error of a claim, by model."""
    rng = np.random.default_rng(seed)
    odds = WORLDS[kind](WORLD_ARMS, rng)
    truth = 1 / (1 + np.exp(-odds))
    upper = np.triu(rng.binomial(n_duels, truth), 1)
    wins = upper + np.tril(n_duels - upper.T, -1)
    wins[np.diag_indices(WORLD_ARMS)] = 0
    beats_all = float(top_cycle_of(odds).sum() == 1)
    pairs = np.triu_indices(WORLD_ARMS, 1)
    rows = []
    for model in MODELS[:4]:
        fit = fitted(wins, model)
        P = predicted(fit)[pairs]
        p = truth[pairs]
        lost = p * np.log(p / P) + (1 - p) * np.log((1 - p) / (1 - P))
        claimed = float(bd.winners(fit)["condorcet_exists"])
        rows.append({"model": model, "nats": lost.mean(), "brier": (claimed - beats_all) ** 2})
    return [{"kind": kind, "duels": n_duels} | row for row in rows]


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--worlds", type=int, default=N_WORLDS, help="of each kind and size")
    args = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    if args.folder is not None:
        found = []
        for name in LOGS:
            row, headline = of_log(args.folder / name)
            print(f"{row['log']}: {headline}\n{row}", flush=True)
            found.append(row)
        for how in ("duels", "pairs"):
            kept = ("log", "arms", "duels", *(f"{how}: {model}" for model in MODELS))
            rows = [{key.partition(": ")[2] or key: row[key] for key in kept} for row in found]
            show(f"log loss of {how} held out", rows)
        return
    import pandas as pd

    cells = product(KINDS, DUELS, range(args.worlds))
    seeds = (np.random.SeedSequence((SEED, KINDS.index(k), n, q)) for k, n, q in cells)
    cells = product(KINDS, DUELS, range(args.worlds))
    drawn = [of_world(k, n, seed) for (k, n, _), seed in zip(cells, seeds, strict=True)]
    frame = pd.DataFrame([row for rows in drawn for row in rows])
    for value in ("nats", "brier"):
        table = frame.pivot_table(value, ["kind", "duels"], "model", sort=False).reset_index()
        show(value, table.to_dict("records"))
        means = frame.groupby("model", sort=False)[value].mean()
        show(f"{value}, all worlds", [means.to_dict()])


if __name__ == "__main__":
    main()
