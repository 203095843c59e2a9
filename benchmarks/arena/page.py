"""The page of the arena: our own Bradley-Terry ratings of policies, and what was claimed before.

On each problem and run, of two policies the one with less Copeland regret beats the other. Votes on
one problem are not independent, so that errors are cluster-robust by problem (the log's groups).
Beside it are median ratios of regrets to PivotIndex (``bd.compare_policies``), with intervals over
problems, and Holm's correction for the policies of a table.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.simulation.policy_comparison import compare_regrets
from bayesduel.system.atomic_write import write_text
from benchmarks.arena.suite import FAMILIES, FRESH, LITERATURE
from benchmarks.pivot_index import OURS
from benchmarks.scale.__main__ import written
from benchmarks.validation.page import table_of

__all__ = ["leaderboard", "write_page"]

Done = Sequence[tuple[dict[str, Any], dict[int, dict[str, Any]]]]  # cells, their records by block
Rows = list[dict[str, Any]]  # best first
Tables = dict[int, dict[str, Rows]]  # by horizon and family
HORIZONS = (10_000, 100_000)
FEWEST = 10  # runs that a rating rests on
ALL = "all fresh problems"
GROUPS = {ALL: FRESH, **FAMILIES, "literature": LITERATURE}
LEVEL = 0.05  # of the families of comparisons with PivotIndex
# Written before the run, of the order of the policies by family at T = 10,000. The problems of T =
# 100,000 are the same, so that a claim which holds there too is no second confirmation.
CLAIMS: dict[str, Callable[[dict[str, list[str]]], bool]] = {
    "PivotIndex is first on all fresh problems": lambda order: order[ALL][0] == "PivotIndex",
    "PivotIndex is first without a Condorcet winner": lambda order: (
        order["no Condorcet winner"][0] == "PivotIndex"
    ),
    "PivotIndex is not first with a Condorcet winner": lambda order: (
        order["Condorcet winner"][0] != "PivotIndex"
    ),
    "on Bradley-Terry the first is RMED2, RMED2FH or SelfSparring": lambda order: (
        order["Bradley-Terry"][0] in ("RMED2", "RMED2FH", "SelfSparring")
    ),
    "PivotIndex is first at near ties": lambda order: order["near ties"][0] == "PivotIndex",
    "overall DTSPlus is above DTS": lambda order: (
        order[ALL].index("DTSPlus") < order[ALL].index("DTS")
    ),
    "overall RMED1 is above RUCB": lambda order: (
        order[ALL].index("RMED1") < order[ALL].index("RUCB")
    ),
    "overall Uniform is last": lambda order: order[ALL][-1] == "Uniform",
}


def leaderboard(done: Done, horizon: int, problems: Sequence[str] = FRESH, fewest: int = 0) -> Rows:
    """Return a row for each policy, best first: rating, chance to be best, ratio to the lowest.

    Policies with fewer than `fewest` runs on these problems are left out.
    """
    import bayesduel as bd
    from bayesduel.models import BradleyTerry

    regrets: dict[str, dict[str, dict[tuple[int, int], float]]] = {}  # problem, policy, run
    us: dict[str, list[float]] = {}
    for cell, records in done:
        if cell["horizon"] == horizon and cell["problem"] in problems and records:
            runs = {(b, i): x for b, r in records.items() for i, x in enumerate(r["regret"])}
            regrets.setdefault(cell["problem"], {})[cell["policy"]] = runs
            us.setdefault(cell["policy"], []).append(records[0]["us"])
    regrets = {  # where every arm is a Copeland winner, no policy has regret
        problem: own
        for problem, own in regrets.items()
        if any(sum(r.values()) for r in own.values())
    }
    n_runs = Counter(policy for own in regrets.values() for policy in own for _ in own[policy])
    regrets = {
        problem: {policy: runs for policy, runs in own.items() if n_runs[policy] >= fewest}
        for problem, own in regrets.items()
    }
    votes = [
        (a, b, 0.5 + 0.5 * np.sign(own[b][run] - own[a][run]), problem)
        for problem, own in regrets.items()
        for a, b in combinations(own, 2)
        for run in own[a].keys() & own[b].keys()
    ]
    left, right, outcome, group = zip(*votes, strict=True)
    fit = bd.fit(bd.Duels.from_votes(left, right, outcome, group=group), BradleyTerry(), seed=0)
    covariance = "auto" if len(regrets) > 2 else "model"  # two clusters tell no error
    best = (
        bd.winners(fit, covariance=covariance)["winner_probability"]
        .sel(criterion="condorcet")
        .to_series()
    )
    logs: dict[str, list[float]] = {policy: [] for policy in us}
    for own in regrets.values():
        means = {policy: np.mean([*runs.values()]) for policy, runs in own.items()}
        for policy, mean in means.items():
            logs[policy].append(np.log(mean / min(means.values())))
    table = bd.scores(fit, covariance=covariance).sort_values("rating", ascending=False)
    columns = (round(table[f"rating{end}"]).astype(int) for end in ("", "_lower", "_upper"))
    beside = against_ours(regrets)
    return [
        {
            "rank": rank,
            "policy": policy,
            **{"rating": middle, "lower": lower, "upper": upper},
            "P(best)": f"{best[policy]:.2f}",
            "ratio": f"{np.exp(np.mean(logs[policy])):.2f}",
            **beside.get(policy, {}),
            "us a duel": f"{np.median(us[policy]):.1f}",
            "problems": len(us[policy]),
        }
        for rank, (policy, middle, lower, upper) in enumerate(
            zip(table.index, *columns, strict=True), 1
        )
    ]


def against_ours(
    regrets: dict[str, dict[str, dict[tuple[int, int], float]]],
) -> dict[str, dict[str, str]]:
    """Return each policy's ratio to PivotIndex, its interval and which of them has less, by policy.

    Of runs that all have, on problems that all have played.
    """
    policies = sorted({policy for own in regrets.values() for policy in own})
    shared = {
        name: sorted(set.intersection(*(set(own[policy]) for policy in policies)))
        for name, own in regrets.items()
        if all(policy in own for policy in policies)
    }
    n_runs = min((len(runs) for runs in shared.values()), default=0)
    if OURS not in policies or n_runs == 0 or len(shared) < 2:
        return {}
    values = [
        [[regrets[name][policy][run] for run in runs[:n_runs]] for policy in policies]
        for name, runs in shared.items()
    ]
    known = xr.DataArray(
        values, dims=("problem", "policy", "replication"), coords={"policy": policies}
    )
    found = compare_regrets(known, OURS)
    beside = {}
    for policy in policies:
        at = found.sel(policy=policy)
        apart = float(at["p_adjusted"]) < LEVEL
        less = "PivotIndex" if at["ratio"] > 1 else policy
        ends = f" [{at['ratio_low']:.2f}, {at['ratio_high']:.2f}]"
        beside[policy] = {
            "to PivotIndex": f"{at['ratio']:.2f}{ends if np.isfinite(at['ratio_high']) else ''}",
            "less regret": less if apart else "not distinguishable",
        }
    beside[OURS] = {"to PivotIndex": "1", "less regret": ""}
    return beside


def write_page(path: Path, done: Done) -> None:
    """Write what is computed between its marks of the page, and the picture."""
    tables: Tables = {}
    for horizon in HORIZONS:  # of problems that every policy has played; errors need three
        waiting = {c["problem"] for c, records in done if c["horizon"] == horizon and not records}
        for family, names in GROUPS.items():
            if len(own := [name for name in names if name not in waiting]) > 2:
                tables.setdefault(horizon, {})[family] = leaderboard(done, horizon, own, FEWEST)
    draw(tables, path.with_suffix(".png"))
    page = path.read_text(encoding="utf-8")
    for name, text in (
        ("findings", findings(tables)),
        ("claims", claims(tables)),
        ("runs", runs_of(done)),
        ("tables", "\n\n".join(section(tables, family) for family in GROUPS)),
    ):
        page = written(page, name, text)
    write_text(path, page)


def findings(tables: Tables) -> str:
    """Return who is first in each group, and who has less or more regret than PivotIndex."""
    lines = []
    for horizon, by_family in tables.items():
        for family, rows in by_family.items():
            first = rows[0]
            less = [row["policy"] for row in rows if row.get("less regret") == row["policy"]]
            alike = [row["policy"] for row in rows if row.get("less regret", "").startswith("not")]
            most = max(row["problems"] for row in rows)
            lines.append(
                f"- T = {horizon:,}, {family} ({most} problems): the highest rating is that of "
                f"{first['policy']}, {span(first)}, probability of being the best "
                f"{first['P(best)']}. Less regret than PivotIndex: {', '.join(less) or 'none'}. "
                f"Not distinguishable from it: {', '.join(alike) or 'none'}."
            )
    return "\n".join(lines)


def claims(tables: Tables) -> str:
    """Return which claims hold, at the horizon that all policies played."""
    horizon = min(tables)
    order = {family: [row["policy"] for row in rows] for family, rows in tables[horizon].items()}
    return table_of(
        [
            {"claim": claim, f"T = {horizon:,}": "holds" if holds(order) else "fails"}
            for claim, holds in CLAIMS.items()
        ]
    )


def runs_of(done: Done) -> str:
    """Return the runs, where and how long they took, and what waits."""
    lines = []
    for horizon in HORIZONS:
        own = [(cell["problem"], r) for cell, r in done if cell["horizon"] == horizon]
        waiting = {problem for problem, r in own if not r}
        runs = Counter(sum(len(one["regret"]) for one in r.values()) for _, r in own)
        played = " and ".join(f"{n} runs in {k:,}" for n, k in sorted(runs.items()))
        lines.append(
            f"- T = {horizon:,}: {played} cells. Problems that not all have played yet, which are "
            f"not rated: {len(waiting)}."
        )
    records = [(cell["horizon"], r) for cell, own in done for r in own.values()]
    hours = sum(T * len(r["regret"]) * r["us"] for T, r in records) / 3.6e9
    dates, machines = (sorted({r[key] for _, r in records}) for key in ("date", "machine"))
    lines.append(
        f"- {hours:.2f} hours of processor time, with compiling, on {', '.join(machines)} "
        f"({' to '.join(dict.fromkeys((dates[0], dates[-1])))}), shared with other work."
    )
    return "\n".join(lines)


def section(tables: Tables, family: str) -> str:
    """Return the heading and the tables of a group of problems."""
    parts = [f"### {family[0].upper()}{family[1:]}"]
    parts += [f"{', '.join(GROUPS[family])}."] if family != ALL else []
    for horizon, own in tables.items():
        rows = [
            {k: v for k, v in row.items() if k not in ("lower", "upper")} | {"rating": span(row)}
            for row in own.get(family, [])
        ]
        most = max((row["problems"] for row in rows), default=0)
        parts += [f"T = {horizon:,}, {most} problems:", table_of(rows)] if rows else []
    return "\n\n".join(parts)


def span(row: dict[str, Any]) -> str:
    """Return a rating with its interval."""
    return f"{row['rating']} ({row['lower']} to {row['upper']})"


def draw(tables: Tables, path: Path) -> None:
    """Save the picture: ratings, and those by group at the horizon that all policies played."""
    import matplotlib.pyplot as plt

    shown = min(tables)
    order = [row["policy"] for row in tables[shown][ALL]]
    groups = [group for group in GROUPS if group in tables[shown]][1:]
    size = 8, 0.54 * len(order) + 2.6  # one above the other, to be read on a phone
    figure, (above, below) = plt.subplots(2, 1, figsize=size, sharey=True, layout="constrained")
    for (horizon, own), shift in zip(tables.items(), (0.15, -0.15), strict=False):
        rows = own.get(ALL, [])
        y = [order.index(row["policy"]) + shift for row in rows]
        x, low, high = (np.array([r[k] for r in rows]) for k in ("rating", "lower", "upper"))
        above.errorbar(x, y, xerr=(x - low, high - x), fmt="o", ms=4, label=f"T = {horizon:,}")
    rating = "rating (higher: less regret)"
    above.set(yticks=range(len(order)), yticklabels=order, xlabel=f"{rating}, 95 % interval")
    above.set_title("rating on all fresh problems, after T duels", fontsize=10)
    above.grid(axis="x", color="0.9")
    above.legend(frameon=False)
    values = np.full((len(order), len(groups)), np.nan)
    for column, group in enumerate(groups):
        for row in tables[shown][group]:
            place = order.index(row["policy"])
            values[place, column] = row["rating"]
            below.text(column, place, row["rank"], ha="center", va="center", fontsize=8)
    image = below.imshow(values, aspect="auto", cmap="RdYlGn", alpha=0.7)
    below.set_xticks(range(len(groups)), [fill(group, 10) for group in groups], fontsize=8)
    below.set_title(f"rank (number) and rating (colour) by family, T = {shown:,}", fontsize=10)
    figure.colorbar(image, label=rating)
    figure.savefig(path, dpi=100)
    plt.close(figure)
