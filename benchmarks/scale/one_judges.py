"""One fit with judges: ``python -m benchmarks.scale.one_judges WHAT DUELS ARMS JUDGES``.

Prints JSON: seconds, processor seconds and peak memory, and what the fit says of its errors.
"""

import json
import sys
import warnings
from typing import Any

import numpy as np

from benchmarks.scale.measuring import measured

__all__ = ["PARTS", "log"]

PARTS = 20  # of the judges, one of which a refit of the jackknife leaves out


def log(n_duels: int, n_arms: int, n_judges: int, spread: float = 0.5) -> Any:
    """Return duels of random pairs; judges differ in sensitivity, those with few votes too."""
    import bayesduel as bd

    rng = np.random.default_rng([n_duels, n_arms, n_judges])
    score = rng.normal(size=n_arms)
    sharp = 1 + spread * rng.normal(size=n_judges)
    judge = rng.integers(0, n_judges, n_duels)
    left = rng.integers(0, n_arms, n_duels)
    right = (left + rng.integers(1, n_arms, n_duels)) % n_arms
    won = rng.random(n_duels) < 1 / (1 + np.exp(sharp[judge] * (score[right] - score[left])))
    arms, judges = [f"arm-{k}" for k in range(n_arms)], [f"judge-{k}" for k in range(n_judges)]
    return bd.Duels.from_votes(
        [arms[k] for k in left],
        [arms[k] for k in right],
        won.astype(float),
        judge=[judges[k] for k in judge],
    )


def main(what: str, n_duels: int, n_arms: int, n_judges: int) -> None:
    """Do what is asked: "robust" errors, "reliability" of judges, or one "refit" of a jackknife."""
    import bayesduel as bd
    from bayesduel.models import BradleyTerry, JudgeReliability

    duels = log(n_duels, n_arms, n_judges)
    if what == "refit":
        kept = [name for k, name in enumerate(duels.votes.judges) if k % PARTS]
        works = {"refit": lambda: bd.fit(duels.subset(judges=kept), clusters=False, seed=0)}
    else:
        works = {
            "robust": lambda: bd.winners(bd.fit(duels, BradleyTerry(), seed=0)).attrs["dependence"],
            "reliability": lambda: bd.fit(duels, BradleyTerry() + JudgeReliability(), seed=0),
        }
    warnings.simplefilter("ignore")
    took, result = measured(lambda: _answer(works[what]))
    print(json.dumps(took | {"said": result if isinstance(result, str) else ""}))


def _answer(work: Any) -> Any:
    """Return what `work` returns, or why it is refused."""
    try:
        return work()
    except ValueError as error:
        return f"refused: {error}"


if __name__ == "__main__":
    main(sys.argv[1], *(int(x) for x in sys.argv[2:]))
