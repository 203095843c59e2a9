"""The sampler: processor seconds and effective draws of crossed logs, by response.

``python -m benchmarks.sampler [VOTES.csv]`` fits logs that are drawn here, and the votes of LLMFAO
(github.com/dustalov/llmfao, as CSV with the columns left, right, outcome, annotator and context)
where they are given. A first small fit loads what all of them need. Seconds are of the processor,
by one thread; effective draws are the least of all scores and of all scales (bulk, rank-normalised:
Vehtari and others, Bayesian Analysis 2021).
"""

import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import arviz as az
import numpy as np
import pandas as pd
from scipy.special import expit

import bayesduel as bd
from benchmarks.tables import show

CROSSED = "order + random:group + random:judge"
SMALL = (2400, 12, 13, 120)  # votes, arms, prompts, judges
LARGER = (5000, 20, 40, 30)
SCORES, PROMPT, JUDGE, TIE, ORDER = 1.0, 0.5, 0.4, 0.5, 0.1  # what the logs are drawn with


class Case(NamedTuple):
    """One line of the table."""

    name: str
    duels: bd.Duels
    model: str
    target: float  # processor seconds


def drawn(seed: int, votes: int, arms: int, prompts: int, judges: int, *, grades: bool) -> bd.Duels:
    """Return votes with ties, or grades from -2 to 2, whose arms have effects by both groups."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, arms, votes)
    right = (left + rng.integers(1, arms, votes)) % arms
    prompt = rng.integers(0, prompts, votes)
    judge = rng.integers(0, judges, votes)
    score = rng.normal(0, SCORES, arms)
    by_prompt = rng.normal(0, PROMPT, (prompts, arms))
    by_judge = rng.normal(0, JUDGE, (judges, arms))

    def worth(arm: np.ndarray) -> np.ndarray:
        return score[arm] + by_prompt[prompt, arm] + by_judge[judge, arm]

    ahead = worth(left) - worth(right) + ORDER
    borders = (-2.0, -TIE, TIE, 2.0) if grades else (-TIE, TIE)
    passed = rng.random((votes, 1)) < expit(ahead[:, None] - np.array(borders))
    level = np.sort(passed, axis=1).sum(axis=1) - len(borders) // 2
    words = {-1: "right", 0: "tie", 1: "left"}
    frame = pd.DataFrame(
        {
            "left": [f"arm {k:02}" for k in left],
            "right": [f"arm {k:02}" for k in right],
            "prompt": [f"p{k}" for k in prompt],
            "judge": [f"j{k}" for k in judge],
        }
    )
    if grades:
        graded = frame.assign(grade=level)
        return bd.read_duels(graded, outcome="grade", coding="grades", group="prompt")
    return bd.read_duels(frame.assign(outcome=[words[k] for k in level]), group="prompt")


def cases(votes: str | None) -> Iterator[Case]:
    """Yield the lines of the table."""
    if votes is not None:
        real = bd.read_duels(votes, judge="annotator", group="context")
        yield Case("llmfao, prompts and judges", real, f"davidson + {CROSSED}", 25)
        yield Case("llmfao, prompts", real, "davidson + order + random:group", 5)
    yield Case("12 x 13 x 120", drawn(1, *SMALL, grades=False), f"davidson + {CROSSED}", 5)
    larger = drawn(2, *LARGER, grades=False)
    yield Case("20 x 40 x 30", larger, f"davidson + {CROSSED}", 10)
    graded = drawn(3, *LARGER, grades=True)
    yield Case("20 x 40 x 30, grades", graded, f"cumulative-logit + {CROSSED}", 10)
    yield Case("20 x 40 x 30, no ties", larger, f"thurstone + {CROSSED}", 10)


def measured(case: Case) -> dict[str, Any]:
    """Return a row: the seconds of one fit, what made its draws and what these are worth."""
    begun = time.process_time()
    fit = bd.fit(case.duels, case.model, seed=1)
    seconds = time.process_time() - begun
    posterior = fit["posterior"].to_dataset()
    scales = [str(name) for name in posterior if str(name).endswith("scale")]
    worth = az.ess(posterior[["score", *scales]])
    mixed = az.rhat(posterior[["score", *scales]])
    return {
        "log": case.name,
        "model": case.model.partition(" ")[0],
        "method": fit.attrs["method"],
        "draws": posterior.sizes["chain"] * posterior.sizes["draw"],
        "processor s": seconds,
        "target": case.target,
        "of scores": float(worth["score"].min()),
        "of scales": min(float(worth[name].min()) for name in scales),
        "R-hat": max(float(mixed[name].max()) for name in mixed),
    }


def main() -> None:
    """Print the table."""
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bd.fit(drawn(0, *SMALL, grades=False), "davidson + order + random:group", seed=1)
        for case in cases(*sys.argv[1:] or (None,)):
            rows.append(measured(case))
            print(f"{rows[-1]['log']}: {rows[-1]['processor s']:.1f} s", file=sys.stderr)
    show("Fits of crossed logs", rows)


if __name__ == "__main__":
    main()
