"""The page of the arena: our own Bradley-Terry ratings of policies, and what was claimed before.

On each problem and run, of two policies the one with less Copeland regret beats the other. Votes on
one problem are not independent, so that errors are cluster-robust by problem (the log's groups).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bayesduel.system.atomic_write import write_text
from benchmarks.arena.suite import FAMILIES, PROBLEMS
from benchmarks.pivot_index import COPELAND
from benchmarks.scale.__main__ import written
from benchmarks.validation.page import table_of

__all__ = ["leaderboard", "write_page"]

Done = Sequence[tuple[dict[str, Any], dict[int, dict[str, Any]]]]  # cells, their records by block
Rows = list[dict[str, Any]]  # best first
Tables = dict[int, dict[str, Rows]]  # by horizon and family
HORIZONS = (10_000, 100_000)
SHOWN = 10  # rows of a family's table
FEWEST = 10  # runs that a rating rests on
ALL = "all problems"
GENERAL = {*COPELAND, "PivotIndex"}  # assume no Condorcet winner
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


def leaderboard(
    done: Done, horizon: int, problems: Sequence[str] = PROBLEMS, fewest: int = 0
) -> Rows:
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
    return [
        {
            "rank": rank,
            "policy": policy,
            **{"rating": middle, "lower": lower, "upper": upper},
            "P(best)": f"{best[policy]:.2f}",
            "ratio": f"{np.exp(np.mean(logs[policy])):.2f}",
            "us a duel": f"{np.median(us[policy]):.1f}",
            "problems": len(us[policy]),
        }
        for rank, (policy, middle, lower, upper) in enumerate(
            zip(table.index, *columns, strict=True), 1
        )
    ]


def write_page(path: Path, done: Done) -> None:
    """Write what is computed between its marks of the page, and the picture."""
    families = {ALL: PROBLEMS, **FAMILIES}
    tables: Tables = {}
    for horizon in HORIZONS:  # of problems that every policy has played; errors need three
        waiting = {c["problem"] for c, records in done if c["horizon"] == horizon and not records}
        for family, names in families.items():
            if len(own := [name for name in names if name not in waiting]) > 2:
                tables.setdefault(horizon, {})[family] = leaderboard(done, horizon, own, FEWEST)
    draw(tables, path.with_suffix(".png"))
    page = path.read_text(encoding="utf-8")
    for name, text in (
        ("findings", findings(tables)),
        ("claims", claims(tables)),
        ("runs", runs_of(done)),
        ("tables", "\n\n".join(section(tables, family) for family in families)),
    ):
        page = written(page, name, text)
    write_text(path, page)


def findings(tables: Tables) -> str:
    """Return who is first, overall and by family, in sentences."""
    lines = []
    for horizon, by_family in tables.items():
        first, second = (f"{r['policy']} ({span(r)}; {r['P(best)']})" for r in by_family[ALL][:2])
        heads = ((f, by_family[f][0]) for f in FAMILIES if f in by_family)
        named = ", ".join(f"{row['policy']} ({f}; {row['P(best)']})" for f, row in heads)
        most = max(row["problems"] for row in by_family[ALL])
        lines.append(
            f"- After {horizon:,} duels, on {most} problems, the highest rating of "
            f"{len(by_family[ALL])} policies, with its interval and the probability of being the "
            f"best, is that of {first}, the second that of {second}. The first by family, with "
            f"this probability: {named}."
        )
    return "\n".join(lines)


def claims(tables: Tables) -> str:
    """Return which claims hold."""
    orders = {
        f"T = {horizon:,}": {
            family: [row["policy"] for row in rows] for family, rows in own.items()
        }
        for horizon, own in tables.items()
        if len(own) > len(FAMILIES)
    }
    return table_of(
        [
            {"claim": claim} | {T: "holds" if holds(o) else "fails" for T, o in orders.items()}
            for claim, holds in CLAIMS.items()
        ]
    )


def runs_of(done: Done) -> str:
    """Return the runs, where and how long they took, and which policies miss problems."""
    lines = []
    policies = sorted({cell["policy"] for cell, _ in done}, key=str.lower)
    for horizon in HORIZONS:
        own = [(cell["policy"], r) for cell, r in done if cell["horizon"] == horizon]
        waiting = {c["problem"] for c, r in done if c["horizon"] == horizon and not r}
        runs = Counter(len(r) * len(r[0]["regret"]) if r else 0 for _, r in own)
        plays = Counter(policy for policy, _ in own)
        few = (f"{p} (plays {plays[p]})" for p in policies if plays[p] < len(PROBLEMS))
        lines.append(
            f"- T = {horizon:,}: {' and '.join(f'{n} in {k:,}' for n, k in sorted(runs.items()))} "
            f"cells. Too slow for some of the {len(PROBLEMS)} problems: "
            f"{', '.join(few) or 'none'}. Problems that not all have played yet, which are not "
            f"rated: {', '.join(sorted(waiting)) or 'none'}."
        )
    records = [(cell["horizon"], r) for cell, own in done for r in own.values()]
    hours = sum(T * len(r["regret"]) * r["us"] for T, r in records) / 3.6e9
    dates, machines = (sorted({r[key] for _, r in records}) for key in ("date", "machine"))
    lines.append(
        f"- {hours:.2f} hours of processor time, without compiling, on {', '.join(machines)} "
        f"({' to '.join(dict.fromkeys((dates[0], dates[-1])))}), shared with other work."
    )
    return "\n".join(lines)


def section(tables: Tables, family: str) -> str:
    """Return the heading and the tables of a family."""
    part = family in FAMILIES
    parts = [f"### {family[0].upper()}{family[1:]}"]
    parts += [f"{', '.join(FAMILIES[family])}. The first {SHOWN}."] if part else []
    for horizon, own in tables.items():
        rows = [
            {k: v for k, v in row.items() if k not in ("lower", "upper")} | {"rating": span(row)}
            for row in own.get(family, [])[: SHOWN if part else None]
        ]
        most = max((row["problems"] for row in rows), default=0)
        parts += [f"T = {horizon:,}, {most} problems:", table_of(rows)] if rows else []
    return "\n\n".join(parts)


def span(row: dict[str, Any]) -> str:
    """Return a rating with its interval."""
    return f"{row['rating']} ({row['lower']} to {row['upper']})"


def draw(tables: Tables, path: Path) -> None:
    """Save the picture: ratings, and those by family at the longest horizon that has all."""
    import matplotlib.pyplot as plt

    last = max([T for T, own in tables.items() if len(own) > len(FAMILIES)] or tables)
    order = list(dict.fromkeys(r["policy"] for T in (last, *tables) for r in tables[T][ALL]))
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(12, 0.27 * len(order) + 1.6), sharey=True, layout="constrained"
    )
    for (horizon, own), shift in zip(tables.items(), (0.15, -0.15), strict=False):
        rows = own[ALL]
        y = [order.index(row["policy"]) + shift for row in rows]
        x, low, high = (np.array([r[k] for r in rows]) for k in ("rating", "lower", "upper"))
        left.errorbar(x, y, xerr=(x - low, high - x), fmt="o", ms=4, label=f"T = {horizon:,}")
    left.set(yticks=range(len(order)), yticklabels=order, xlabel="rating, 95 % interval")
    left.grid(axis="x", color="0.9")
    left.legend(frameon=False)
    values = np.full((len(order), len(FAMILIES)), np.nan)
    for column, family in enumerate(FAMILIES):
        for row in tables[last].get(family, []):
            place = order.index(row["policy"])
            values[place, column] = row["rating"]
            right.text(column, place, row["rank"], ha="center", va="center", fontsize=8)
    image = right.imshow(values, aspect="auto", cmap="RdYlGn", alpha=0.7)
    right.set_xticks(range(len(FAMILIES)), [f.replace(" ", "\n") for f in FAMILIES], fontsize=8)
    right.set_title(f"rank and rating by family, T = {last:,}", fontsize=10)
    figure.colorbar(image, label="rating")
    figure.savefig(path, dpi=100)
    plt.close(figure)
