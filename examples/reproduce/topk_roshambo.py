"""The 4 best of ten real players, live: ten populations of OpenSpiel's roshambo bots.

As Groves & Branke's section on poker players, with players that anyone can run: matches of 50
throws of rock-paper-scissors, with real cycles and spreads. The truth is a long-run table,
computed once and kept in a file. Claimed of each population: the hybrids are never far below
POCBAm, and of all of them together: SELECT/TOP is last (``claims``). The table takes two
minutes of one processor, the populations five. Needs ``pip install 'bayesduel[roshambo]'``.

    python examples/reproduce/topk_roshambo.py --workers 2
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from claims import judged, seed_of

import bayesduel as bd
from bayesduel.problems import RoshamboDuels, RoshamboTable, roshambo_table

POLICIES = {
    "ML-POCBAm": bd.policies.MLPOCBAm(),
    "POCBAm": bd.policies.POCBAm(),
    "hybrid": bd.policies.HybridPOCBAm(),
    "hybrid, calibrated": bd.policies.HybridPOCBAm(threshold="calibrated"),
    "uniform": bd.policies.Uniform(),
    "SELECT/TOP": bd.policies.SelectTop(),
    "uniform, fitted model": bd.policies.Uniform(by="model"),
    "Laplace allocation": bd.policies.LaplaceAllocation(),
    "Laplace, residual learned": bd.policies.LaplaceAllocation(residual="learned"),
}
TIMES = (135, 200, 300, 400, 500)


def table_of(path, matches, workers) -> RoshamboTable:
    """Return the table kept in a file, computed first if the file is not there."""
    if not Path(path).exists():
        roshambo_table(matches=matches, seed=seed_of("roshambo table"), workers=workers).save(path)
    return RoshamboTable.load(path)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--populations", type=int, default=10)
    parser.add_argument("--replications", type=int, default=60, help="of each population")
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--table", default="roshambo.csv", help="computed if it is not there")
    parser.add_argument("--matches", type=int, default=2000, help="of each pair in the table")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=seed_of("roshambo"))
    parser.add_argument("--out", default="topk_roshambo.png")
    given = parser.parse_args(arguments)
    table = table_of(given.table, given.matches, given.workers)
    rng = np.random.default_rng(given.seed)
    times = [time for time in TIMES if time < given.budget] + [given.budget]
    columns = min(5, given.populations)
    rows = -(-given.populations // columns)
    figure, panels = plt.subplots(
        rows, columns, figsize=(2.9 * columns, 2.7 * rows + 0.7), squeeze=False, sharey=True
    )
    rights = []
    for population, ax in zip(range(given.populations), panels.flat, strict=False):
        bots = sorted(rng.choice(table.bots, 10, replace=False).tolist())
        problem = RoshamboDuels(table, bots)
        trace = bd.simulate(
            POLICIES,
            problem,
            given.budget,
            k=4,
            replications=given.replications,
            seed=given.seed + population,
            record_at=times,
            workers=given.workers,
        )
        rates = bd.success_rate(trace)
        rights.append(rates["success"].isel(time=-1))
        said = "  ".join(
            f"{n} {float(rates['rate'].isel(time=-1).sel(policy=n)):.2f}" for n in POLICIES
        )
        print(f"population {population + 1}, {told(problem)}\n  {said}")
        bd.plot_success(trace, ax)
        ax.set_title(f"population {population + 1}", loc="left", fontsize=9)
        ax.get_legend().remove()
        if ax is not panels[0, 0]:
            ax.set_ylabel("")
    judged(claims_on(rights))
    lines, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(lines, labels, ncols=4, frameon=False, fontsize=8, loc="lower center")
    figure.suptitle(
        f"4 of 10 roshambo bots, live, {given.replications} replications each",
        x=0.02,
        ha="left",
        fontsize=10,
    )
    figure.tight_layout(rect=(0, 0.6 / figure.get_figheight(), 1, 1))
    figure.savefig(given.out, dpi=150)
    print(given.out)


def told(problem) -> str:
    """Return how far a population is from an order: pairs that the lower in score wins."""
    lead = np.subtract.outer(problem.scores, problem.scores)
    against = int((problem.mean[lead > 0] < 0).sum())
    spread = problem.sd[np.triu_indices(10, 1)]
    low, high = spread.min(), spread.max()
    return f"{against} of 45 pairs won by the lower in score, spreads {low:.2f} to {high:.1f}"


def claims_on(rights) -> list:
    """Return the claims on each population, and on all together."""
    claims = []
    for place, right in enumerate(rights):
        where = f"population {place + 1}"
        po = right.sel(policy="POCBAm")
        claims += [
            (where, name, "POCBAm", right.sel(policy=name), po, 0.05)
            for name in ("hybrid", "hybrid, calibrated")
        ]
    runs = [r.assign_coords(replication=r["replication"] + 10**6 * p) for p, r in enumerate(rights)]
    everyone = xr.concat(runs, "replication")
    pairs = [(name, "SELECT/TOP") for name in POLICIES if name != "SELECT/TOP"]
    pairs += [("POCBAm", "ML-POCBAm"), ("POCBAm", "uniform")]
    pairs += [("hybrid", "ML-POCBAm"), ("hybrid, calibrated", "hybrid")]
    pairs += [("Laplace, residual learned", other) for other in ("POCBAm", "Laplace allocation")]
    claims += [
        ("all populations", a, b, everyone.sel(policy=a), everyone.sel(policy=b), 0)
        for a, b in pairs
    ]
    claims += [
        (
            "all populations",
            a,
            "POCBAm",
            everyone.sel(policy=a),
            everyone.sel(policy="POCBAm"),
            0.03,
        )
        for a in ("hybrid", "hybrid, calibrated")
    ]
    return claims


if __name__ == "__main__":
    main()
