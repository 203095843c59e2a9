"""Scores and ranks beside evalica, choix and arena-rank on two logs of votes between models.

Run with ``BAYESDUEL_DATA=FOLDER python -m benchmarks.leaderboards`` (or ``--data FOLDER``), where
FOLDER holds ``llmfao/duels.csv`` and ``guanaco-gpt4/duels.csv``. arena-rank pins its own NumPy and
needs an environment of its own: ``--arena PYTHON`` names its interpreter (``pip install
arena-rank``); without it, its columns are left out. ``--page FILE`` writes the tables in Markdown.

All ratings are on the Elo scale with the mean of all arms at 1000: 400 points are odds of 10 to 1.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayesduel as bd
from bayesduel.models import BradleyTerry
from bayesduel.posterior.scores import POINTS

LOGS = ("llmfao", "guanaco-gpt4")
ELO = POINTS["logits"]
SEED = 0
# Runs in the environment of arena-rank: its Bradley-Terry ratings with sandwich intervals.
ARENA = """
import json, sys
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
data = PairDataset.from_pandas(pd.read_csv(sys.argv[1]))
found = BradleyTerry(n_competitors=data.n_competitors).compute_ratings_and_cis(data)
names = ("ratings", "rating_lower", "rating_upper")
keys = {n: next(k for k in found if k == n or k.startswith(n)) for n in names}
rows = {n: [float(v) for v in found[k]] for n, k in keys.items()}
print(json.dumps({"arm": list(data.competitors), **rows}))
"""


def read(folder: Path, log: str) -> bd.Duels:
    """Return a log, with its judges and groups where it has them."""
    return bd.read_duels(folder / log / "duels.csv")


def beside(duels: bd.Duels, arena: str | None) -> pd.DataFrame:
    """Return one row per arm: the ratings of every library, those of bayesduel with intervals."""
    fit = bd.fit(duels, BradleyTerry(), seed=SEED)
    table = bd.scores(fit)
    wins = duels.tally("half").wins
    flat = bd.fit(duels, BradleyTerry(scale=np.inf), seed=SEED)
    mode = flat["laplace"]["score_mode"].to_series()
    frame = pd.DataFrame(
        {
            "bayesduel": table["rating"],
            "lower": table["rating_lower"],
            "upper": table["rating_upper"],
            "bayesduel, flat prior": rating(mode),
            "evalica": rating(evalica_scores(duels)),
            "choix": rating(choix_scores(wins, duels.arms)),
        }
    ).loc[table.index]
    if arena is not None:
        found = arena_ratings(duels, arena)
        shift = 1000 - found["ratings"].mean()
        names = {"ratings": "arena-rank", "rating_lower": "arena lower"}
        names["rating_upper"] = "arena upper"
        frame = frame.join((found + shift).rename(columns=names))
    alone = bd.scores(fit, covariance="model")
    half = (alone["rating_upper"] - alone["rating_lower"]) / 2
    frame.attrs["independent"] = float(half.median())
    frame["rank interval"] = rank_intervals(fit).reindex(frame.index)
    return frame


def rating(scores: "pd.Series[float]") -> "pd.Series[float]":
    """Return scores in logits as ratings, the mean at 1000."""
    return 1000 + ELO * (scores - scores.mean())


def votes(duels: bd.Duels) -> pd.DataFrame:
    """Return the log in the form of the arenas, one row per vote."""
    arms, cells = np.array(duels.arms, dtype=object), duels.cells
    parts = []
    for outcome, n in (
        ("model_a", cells.left_wins),
        ("model_b", cells.right_wins),
        ("tie", cells.ties),
    ):
        left, right = np.repeat(cells.left, n), np.repeat(cells.right, n)
        rows = {"model_a": arms[left], "model_b": arms[right], "winner": outcome}
        parts.append(pd.DataFrame(rows))
    return pd.concat(parts, ignore_index=True)


def evalica_scores(duels: bd.Duels) -> "pd.Series[float]":
    """Return evalica's Bradley-Terry scores, logarithms of its strengths."""
    import evalica

    log = votes(duels)
    meaning = {
        "model_a": evalica.Winner.X,
        "model_b": evalica.Winner.Y,
        "tie": evalica.Winner.Draw,
    }
    winners = [meaning[w] for w in log["winner"]]
    found = evalica.bradley_terry(log["model_a"], log["model_b"], winners, limit=10_000)
    return np.log(found.scores)


def choix_scores(wins: np.ndarray, arms: tuple[str, ...]) -> "pd.Series[float]":
    """Return choix's maximum-likelihood scores of a matrix of wins, half wins for ties."""
    import choix

    return pd.Series(choix.ilsr_pairwise_dense(wins, tol=1e-12, max_iter=10_000), index=arms)


def arena_ratings(duels: bd.Duels, python: str) -> pd.DataFrame:
    """Return arena-rank's ratings and intervals, computed by its own interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        votes(duels).to_csv(path, index=False)
        command = [python, "-c", ARENA, str(path)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return pd.DataFrame(json.loads(done.stdout.splitlines()[-1])).set_index("arm")


def rank_intervals(fit: Any) -> "pd.Series[str]":
    """Return the 95 % interval of the rank of each arm."""
    found = bd.winners(fit).table()
    ends = zip(found["rank_lower"], found["rank_upper"], strict=True)
    return pd.Series([f"{low:.0f}-{high:.0f}" for low, high in ends], index=found.index)


def markdown(frame: pd.DataFrame) -> str:
    """Return the table of a log: ratings with ranks in brackets."""
    points = [c for c in ("bayesduel", "bayesduel, flat prior", "evalica", "choix", "arena-rank")
              if c in frame]  # fmt: skip
    place = {name: frame[name].rank(ascending=False).astype(int) for name in points}
    with_arena = "arena lower" in frame
    heads = ["arm", *points, "95 %: bayesduel", *(["95 %: arena-rank"] * with_arena), "ranks 95 %"]
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    for arm, row in frame.iterrows():
        cells = [str(arm), *(f"{row[name]:.0f} ({place[name][arm]})" for name in points)]
        cells.append(f"{row['lower']:.0f} to {row['upper']:.0f}")
        if with_arena:
            cells.append(f"{row['arena lower']:.0f} to {row['arena upper']:.0f}")
        lines.append("| " + " | ".join([*cells, str(row["rank interval"])]) + " |")
    return "\n".join(lines)


def differences(frame: pd.DataFrame) -> str:
    """Return how far the libraries are apart, in points and ranks."""
    others = [c for c in ("evalica", "choix", "arena-rank") if c in frame]
    flat, own = frame["bayesduel, flat prior"], frame["bayesduel"]
    apart = ", ".join(f"{name} {abs(frame[name] - flat).max():.2g}" for name in others)
    shrunk = abs(own - flat).max()
    places = (own.rank() - flat.rank()).abs()
    half = ((frame["upper"] - frame["lower"]) / 2).median()
    alone = frame.attrs["independent"]
    width = f"half widths of 95 %: bayesduel {half:.0f} (votes as independent: {alone:.0f})"
    if "arena lower" in frame:
        arena = ((frame["arena upper"] - frame["arena lower"]) / 2).median()
        width += f", arena-rank {arena:.0f}"
    return (
        f"Largest difference from the flat-prior fit, in points: {apart}; default prior "
        f"{shrunk:.0f}. The default prior moves {int((places > 0).sum())} arms, by "
        f"{int(places.max())} ranks at most. Median {width} points."
    )


def main(arguments: list[str]) -> int:
    """Print the tables, or write them as a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaderboards")
    parser.add_argument("--data", type=Path, default=os.environ.get("BAYESDUEL_DATA"))
    parser.add_argument("--arena", help="interpreter with arena-rank")
    parser.add_argument("--page", type=Path, help="file for the tables in Markdown")
    given = parser.parse_args(arguments)
    if given.data is None:
        parser.error("--data or BAYESDUEL_DATA should name the folder of the logs")
    warnings.simplefilter("ignore", UserWarning)
    parts = []
    for log in LOGS:
        duels = read(Path(given.data), log)
        frame = beside(duels, given.arena)
        about = f"{duels.n_duels:,} votes, {duels.n_arms} models, {duels.n_ties:,} ties."
        parts.append(f"## {log}\n\n{about} {differences(frame)}\n\n{markdown(frame)}\n")
    text = "\n".join(parts)
    if given.page is None:
        print(text)
    else:
        given.page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
