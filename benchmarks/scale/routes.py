"""Processor seconds of a fit by the dense route and by the sparse one, in arms.

Both fits are of one log in one process, each a second time, after compilation.
"""

import json
import sys
import warnings
from typing import Any

from benchmarks.scale.measuring import alone, measured

__all__ = ["TITLE", "rows"]

TITLE = "Bradley-Terry by both routes, 30 duels an arm: 4,000 draws with their certificate"
SIZES = {False: (50, 100, 300), True: (50, 100, 300, 500, 1_000)}
PER_ARM = 30
LIMIT = 1800.0


def rows(full: bool) -> list[dict[str, Any]]:
    """Return a row a number of arms."""
    found = []
    for n_arms in SIZES[full]:
        taken = {"arms": n_arms, "duels": PER_ARM * n_arms}
        for method in ("laplace", "variational"):
            one = alone("benchmarks.scale.routes", method, n_arms, limit=LIMIT)
            taken[f"{method}, cpu s"] = one.get("cpu s", one.get("failed"))
            taken[f"{method}, peak MiB"] = one.get("peak MiB", "")
        found.append(taken)
    return found


def main(method: str, n_arms: str) -> None:
    """Fit a log twice; print what the second fit took as JSON."""
    import bayesduel as bd
    from benchmarks.scale.one_arms import power_law_log

    warnings.simplefilter("ignore")
    _, left, right, won = power_law_log(int(n_arms), PER_ARM * int(n_arms))
    duels = bd.Duels.from_votes(left, right, won.astype(float))
    options: dict[str, Any] = {"method": method, "log_likelihood": False}
    bd.fit(duels, **options)
    print(json.dumps(measured(lambda: bd.fit(duels, **options))[0]))


if __name__ == "__main__":
    main(*sys.argv[1:])
