"""Whether the answers about named duels are calibrated, by simulation.

``python -m benchmarks.estimands [--write docs/validation/estimands.md] [--truths 300]``

Truths are drawn from the prior of a model, a log from each truth, and the truth is placed among the
draws of its fit (:func:`bayesduel.calibrate`). What is placed is what is answered: the win
probability of a duel with a new prompt and a new judge, and scores that are averaged over the
languages of the log by their votes. The claims and sizes were fixed before the run:
places are uniform (p above 0.01 after correction for the number of entries), and 50 and 90 %
intervals of the win probabilities hold 50 and 90 % of the truths within three standard errors of
300 truths, 8.7 and 5.2 points. Two crossed columns had 60 truths while their fits took 15 seconds.
"""

from argparse import ArgumentParser
from pathlib import Path

import numpy as np
import pandas as pd

import bayesduel as bd
from bayesduel.models import BradleyTerry, CategoryEffects, RandomEffects

SEED = 17
VOTES = 240
ARMS = 5
MODELS = {
    "new prompt": BradleyTerry() + RandomEffects("prompt"),
    "languages by their votes": BradleyTerry() + CategoryEffects("language"),
    "new prompt and judge": BradleyTerry() + RandomEffects("prompt") + RandomEffects("judge"),
}


def design():
    """Return who meets whom: 240 duels of 5 arms, 8 prompts, 15 judges, 3 uneven languages."""
    rng = np.random.default_rng(SEED)
    left, right = np.array([rng.permutation(ARMS)[:2] for _ in range(VOTES)]).T
    names = np.array(list("abcde"))
    rows = {
        "left": names[left],
        "right": names[right],
        "outcome": rng.choice([0.0, 0.5, 1.0], VOTES),
        "prompt": rng.integers(0, 8, VOTES),
        "judge": rng.integers(0, 15, VOTES),
        "language": rng.choice(["de", "en", "fr"], VOTES, p=[0.5, 0.3, 0.2]),
    }
    return bd.read_duels(rows, keep=["prompt", "language"], ties="keep", group=False)


def main():
    """Run the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--truths", type=int, default=300)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keeps what was run, to go on from")
    asked = parser.parse_args()
    log = design()
    rows = []
    for name, model in MODELS.items():
        kept = None if asked.folder is None else asked.folder / f"{name}.jsonl"
        tree = bd.calibrate(
            model, log, n=asked.truths, draws=1000, seed=SEED, workers=asked.workers, path=kept
        )
        found = tree["summary"].to_dataset().to_dataframe()
        for quantity in ("preference", "score"):
            one = found.loc[quantity]
            rows.append(
                {
                    "answer": name,
                    "of": {"preference": "win probability"}.get(quantity, quantity),
                    "truths": asked.truths,
                    "entries": int(one["entries"]),
                    "p, corrected": round(float(one["p_value"]), 3),
                    "50 % holds": f"{100 * one['coverage_50']:.1f} %",
                    "90 % holds": f"{100 * one['coverage_90']:.1f} %",
                }
            )
        print(pd.DataFrame(rows[-2:]).to_string(index=False), flush=True)
    if asked.write is not None:
        lines = [[*rows[0]], ["---"] * len(rows[0]), *([*map(str, row.values())] for row in rows)]
        text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        words = __doc__.split("\n\n")[2].replace(":func:`bayesduel.calibrate`", "`calibrate`")
        head = "# Answers about named duels"
        command = f"`python -m benchmarks.estimands --truths {asked.truths}`"
        asked.write.write_text(f"{head}\n\n{words}\n{command}\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
