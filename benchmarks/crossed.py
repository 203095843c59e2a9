"""Votes of people and two machines, effects by prompt and by judge at once: how long a fit takes.

Run with ``python -m benchmarks.crossed`` (100,000 votes of 60 arms, 500 prompts and 200 judges), or
smaller: ``python -m benchmarks.crossed 10000 20 50 20``. With ``--beside`` the same log is fitted
with all of one family in the border, too, which takes as long as the cube of its coefficients, and
shifts of means (in standard deviations) and ratios of these are printed.
"""

import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd

import bayesduel as bd
from bayesduel.inference import arrow
from bayesduel.models import BradleyTerry, RandomEffects, Sources

__all__ = ["made", "main"]

SIZES = (100_000, 60, 500, 200)  # votes, arms, prompts, judges
BY_PROMPT, BY_JUDGE = 0.4, 0.3  # true standard deviations of effects


def made(votes: int, arms: int, prompts: int, judges: int) -> tuple[np.ndarray, bd.Duels]:
    """Return people's scores and a log: a tenth of its votes are theirs."""
    rng = np.random.default_rng(0)
    left = rng.integers(0, arms, votes)
    right = (left + rng.integers(1, arms, votes)) % arms
    source = rng.choice(3, votes, p=[0.1, 0.5, 0.4])
    prompt, judge = rng.integers(0, prompts, votes), rng.integers(0, judges, votes)
    people = rng.standard_normal(arms)
    scores = np.stack(
        [people, *(c * people + rng.normal(0, s, arms) for c, s in ((0.9, 0.4), (0.6, 0.8)))]
    )
    by_prompt, by_judge = (
        rng.normal(0, BY_PROMPT, (prompts, arms)),
        rng.normal(0, BY_JUDGE, (judges, arms)),
    )
    worth = [scores[source, a] + by_prompt[prompt, a] + by_judge[judge, a] for a in (left, right)]
    won = rng.random(votes) < 1 / (1 + np.exp(worth[1] - worth[0]))
    names = np.array([f"arm {k:03}" for k in range(arms)])
    frame = {"left": names[left], "right": names[right], "outcome": np.where(won, "left", "right")}
    frame |= {"source": np.array(["people", "machine 1", "machine 2"])[source]}
    frame |= {"prompt": [f"p{k}" for k in prompt], "judge": [f"j{k}" for k in judge]}
    return people, bd.read_duels(pd.DataFrame(frame), group="prompt", keep=["source", "prompt"])


def main() -> None:
    """Print seconds of a fit, what it found, and with ``--beside`` how far it is from the other."""
    sizes = [int(text) for text in sys.argv[1:] if text != "--beside"] or SIZES
    people, duels = made(*sizes)
    model = BradleyTerry(
        Sources("source", target="people") + RandomEffects("prompt") + RandomEffects("judge")
    )
    print("votes, arms, prompts, judges:", *(f"{size:,}" for size in sizes))
    found = _fitted(duels, model)
    score = found["score"].mean(axis=0)
    print(f"  correlation with people's scores {np.corrcoef(score, people)[0, 1]:.3f}")
    for name, true in (("prompt_scale", BY_PROMPT), ("judge_scale", BY_JUDGE)):
        low, high = np.quantile(found[name], [0.025, 0.975])
        print(f"  {name} {low:.3f} to {high:.3f} (true: {true:g})")
    if "--beside" in sys.argv:
        arrow.WIDEST = sys.maxsize
        other = _fitted(duels, model)
        for name, values in other.items():
            spread = values.std(axis=0)
            shift = abs(found[name].mean(axis=0) - values.mean(axis=0)) / spread
            ratio = np.exp(np.log(found[name].std(axis=0) / spread).mean())
            print(f"  {name:18} shift {shift.max():.3f} ratio {ratio:.3f}")


def _fitted(duels: bd.Duels, model: Any) -> dict[str, np.ndarray]:
    """Return the draws of a fit by name, (draws, ...); print its seconds and certificate."""
    wall, begun = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = bd.fit(duels, model, clusters=False, log_likelihood=False)
    spent = time.process_time() - begun
    print(f"  {spent:.1f} processor seconds, {time.perf_counter() - wall:.1f} s")
    print(f"  {fit.attrs['method']}: {fit.attrs['method_reason']}")
    stacked = fit["posterior"].to_dataset().stack(sample=("chain", "draw"))
    return {str(n): v.transpose("sample", ...).to_numpy() for n, v in stacked.data_vars.items()}


if __name__ == "__main__":
    main()
