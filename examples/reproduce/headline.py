"""A headline of a paper, run again: its options, its traces on disk, its figure, its claims.

Used by the scripts beside this file. What is fixed before a run: the seed, the SHA-256 of the
headline's name unless its file has another; the sizes, ``QUICK`` and ``FULL`` of its file; and the
claims, in its file. A run that was stopped goes on from the traces: delete the folder to run a
changed policy. "Does not hold" is a result.
"""

import argparse
import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from claims import seed_of

import bayesduel as bd
from bayesduel.intervals import median_interval
from bayesduel.simulation.policy_comparison import compare_regrets

FEWEST = 10  # runs that a verdict rests on


class Headline:
    """The run of one headline: where it goes, how large it is, and the rows of the table so far.

    Parameters
    ----------
    name
        The headline; the seed follows from it.
    sizes
        The sizes of the full form and of the quick form.
    arguments
        Of the command line.
    seed
        Another seed.
    """

    def __init__(self, name, sizes, arguments=None, seed=None):
        parser = argparse.ArgumentParser(description=name)
        parser.add_argument("--quick", action="store_true", help="the small sizes")
        parser.add_argument("--workers", type=int, default=2)
        parser.add_argument("--out", type=Path, default=Path("reproduced"), help="folder")
        for key, value in sizes[0].items():
            parser.add_argument(
                f"--{key.replace('_', '-')}", type=type(value), help="default: the form's"
            )
        given = parser.parse_args(arguments)
        self.name, self.workers = name, given.workers
        self.seed = seed_of(name) if seed is None else seed
        self.sizes = dict(sizes[1] if given.quick else sizes[0])
        self.sizes |= {k: v for k in self.sizes if (v := getattr(given, k)) is not None}
        self.folder = given.out / ("quick" if given.quick else "full") / name.replace(" ", "_")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.rows = []
        print(f"{name}: {', '.join(f'{k} {v:,}' for k, v in self.sizes.items())}", flush=True)

    def trace(self, label, policies, problem, horizon, **settings):
        """Return the trace of a simulation, kept in the folder under this label and its size."""
        horizon, runs = int(horizon), settings.get("replications", 1)
        return bd.simulate(
            policies,
            problem,
            horizon,
            seed=self.seed,
            workers=self.workers,
            out=self.folder / f"{label}-{horizon}-{runs}.zarr",
            **settings,
        )

    def row(self, claim, source, run, outcome, verdict, runs=FEWEST):
        """Add a row to the table and print it; on fewer than FEWEST runs it has no verdict."""
        if runs < FEWEST:
            verdict = f"under {FEWEST} runs: not comparable"
        row = {"claim": claim, "source": source, "run": run, "outcome": outcome}
        self.rows.append(row | {"verdict": verdict})
        print(f"  {claim} | {run} | {outcome} | {verdict}", flush=True)

    def below(self, source, run, regrets, better, worse, claim=""):
        """Add the row of the claim that one regret is below another.

        The outcome is both means, and the median ratio of two runs that share problem and outcomes,
        with its 95 % interval: the verdict is that of the interval.
        """
        first, second = (np.asarray(regrets[name], float) for name in (better, worse))
        middle, low, high = ratio(first, second)
        verdict = "holds" if high < 1 else "does not hold" if low > 1 else "not distinguishable"
        shown = f"median ratio {middle:.2f} [{low:.2f}, {high:.2f}]"
        if len(first) < FEWEST:
            shown = f"median ratio {middle:.2f}"
        means = f"means {first.mean():,.0f} against {second.mean():,.0f}"
        claim = claim or f"{better} below {worse}"
        self.row(claim, source, run, f"{means}, {shown}", verdict, len(first))

    def within(self, source, run, claim, found, low, high, runs):
        """Add the row of the claim that a quantity (value, interval) lies between two limits."""
        value, lower, upper = found
        inside = lower >= low and upper <= high
        outside = upper < low or lower > high
        verdict = "holds" if inside else "does not hold" if outside else "not distinguishable"
        self.row(claim, source, run, f"{value:.2f} [{lower:.2f}, {upper:.2f}]", verdict, runs)

    def finish(self, figure):
        """Save the figure and the rows."""
        figure.savefig(self.folder / "figure.png", dpi=110)
        plt.close(figure)
        told = {"name": self.name, "sizes": self.sizes, "rows": self.rows}
        (self.folder / "rows.json").write_text(json.dumps(told, indent=1))


def ratio(first, second):
    """Return the median ratio of runs in pairs and its 95 % interval."""
    runs = xr.DataArray(
        [second, first], dims=("policy", "replication"), coords={"policy": ["second", "first"]}
    )
    found = compare_regrets(runs).isel(policy=1)
    return tuple(float(found[name]) for name in ("ratio", "ratio_low", "ratio_high"))


def last_regrets(trace, time=None):
    """Return every policy's regrets at a time, the last one by default."""
    regret = bd.regret(trace)
    at = regret.isel(time=-1) if time is None else regret.sel(time=time, method="nearest")
    return {str(name): at.sel(policy=name).values for name in at["policy"].values}


def exponent(trace, policy, decades=1.0):
    """Return the slope of ln regret in ln t at the end, as ``slope_of_runs`` does."""
    regret = bd.regret(trace).sel(policy=policy)
    regret = regret.sel(time=slice(float(regret["time"][-1]) / 10**decades, None))
    return slope_of_runs(regret["time"].values, regret.transpose("time", "replication").values)


def slope_of_runs(time, regrets):
    """Return the median over runs of the slope of ln regret in ln t, with its 95 % interval.

    `regrets` has shape (times, runs).
    """
    slopes = np.polyfit(np.log(time), np.log(np.maximum(regrets, 1e-9)), 1)[0]
    low, high = median_interval(slopes, 0.95)
    return float(np.median(slopes)), float(low), float(high)
