"""One stage of an analysis of a log of many arms, measured: ``one_arms STAGE FOLDER [K N]``."""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale.measuring import measured

__all__ = ["power_law_log", "stages"]

EXPONENT = 0.8  # of the power law of activity
FIRST = 10.0  # added to the rank of an arm in it


def power_law_log(
    n_arms: int, n_duels: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return true scores, left and right arms and whether left won, of arms of unequal activity.

    Arms are drawn with probability proportional to ``(rank + 10)^-0.8``; scores are standard
    normal, independent of activity.

    Parameters
    ----------
    n_arms, n_duels
        Numbers; duels of an arm with itself are left out.
    seed
        Whole number.
    """
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n_arms)
    share = np.cumsum((np.arange(n_arms) + FIRST) ** -EXPONENT)
    drawn = np.searchsorted(share, rng.random((2, n_duels)) * share[-1])
    left, right = rng.permutation(n_arms)[np.minimum(drawn, n_arms - 1)]
    kept = left != right
    left, right = left[kept], right[kept]
    won = rng.random(len(left)) < 1 / (1 + np.exp(score[right] - score[left]))
    return score, left, right, won


def stages(folder: Path) -> dict[str, Any]:
    """Return the work of each stage by name, what it needs read beforehand."""
    log, kept = folder / "log.csv", folder / "fit.nc"

    def read() -> Any:
        import bayesduel as bd

        return bd.read_duels(log)

    def fit() -> Any:
        import bayesduel as bd

        duels = read()
        return lambda: bd.fit(duels)

    def stored(name: str) -> Any:
        import xarray as xr

        import bayesduel as bd

        tree = xr.open_datatree(kept).load()
        return lambda: getattr(bd, name)(tree)

    return {
        "read": lambda: read,
        "fit": fit,
        "winners": lambda: stored("winners"),
        "scores": lambda: stored("scores"),
        "winners LOG": lambda: lambda: command("winners", str(log)),
        "report LOG": lambda: lambda: command("report", str(log), "-o", str(folder / "r.html")),
    }


def command(*arguments: str) -> None:
    """Run a command of bayesduel, its output thrown away."""
    from contextlib import redirect_stdout
    from io import StringIO

    from bayesduel.cli import main

    with redirect_stdout(StringIO()):
        try:
            main(list(arguments))
        except SystemExit as ended:  # the command always ends its process
            if ended.code:
                raise


def make(folder: Path, n_arms: int, n_duels: int) -> None:
    """Write the log of one number of arms as CSV."""
    import pandas as pd

    _, left, right, won = power_law_log(n_arms, n_duels)
    frame = pd.DataFrame({"left": left, "right": right, "outcome": np.where(won, "left", "right")})
    folder.mkdir(parents=True, exist_ok=True)
    frame.to_csv(folder / "log.csv", index=False)


def main(stage: str, folder: str, *sizes: str) -> None:
    """Measure a stage, or make the log; print what was measured as JSON."""
    at = Path(folder)
    if stage == "make":
        make(at, *map(int, sizes))
        print("{}")
        return
    warnings.simplefilter("ignore")
    taken, result = measured(stages(at)[stage]())
    if stage == "fit":
        from bayesduel.system.atomic_write import write_netcdf

        write_netcdf(at / "fit.nc", result)
        taken |= {"method": result.attrs["method"]}
    if stage == "report LOG":
        taken |= {"page MB": (at / "r.html").stat().st_size / 1e6}
    print(json.dumps(taken))


if __name__ == "__main__":
    main(*sys.argv[1:])
