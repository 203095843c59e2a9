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
HORIZONS = (10_000, 100_000)
SHOWN = 10  # rows of a family's table
ALL = "all problems"
GENERAL = {*COPELAND, "PivotIndex"}  # assume no Condorcet winner
# Written before the run, of the order of the policies by family; each is judged at both horizons.
CLAIMS: dict[str, Callable[[dict[str, list[str]]], bool]] = {
    "PivotIndex is first overall": lambda order: order[ALL][0] == "PivotIndex",
    "without a Condorcet winner the first five assume none": lambda order: (
        set(order["no Condorcet winner"][:5]) <= GENERAL
    ),
    "on Bradley-Terry the first is RMED2, RMED2FH or SelfSparring": lambda order: (
        order["Bradley-Terry"][0] in ("RMED2", "RMED2FH", "SelfSparring")
    ),
    "overall DTSPlus is above DTS": lambda order: (
        order[ALL].index("DTSPlus") < order[ALL].index("DTS")
    ),
    "overall RMED1 is above RUCB": lambda order: (
        order[ALL].index("RMED1") < order[ALL].index("RUCB")
    ),
    "overall Uniform is last": lambda order: order[ALL][-1] == "Uniform",
}


def leaderboard(done: Done, horizon: int, problems: Sequence[str] = PROBLEMS) -> Rows:
    """Return a row for each policy, best first: rating, chance to be best, ratio to the lowest."""
    import bayesduel as bd
    from bayesduel.models import BradleyTerry

    regrets: dict[str, dict[str, dict[tuple[int, int], float]]] = {}  # problem, policy, run
    us: dict[str, list[float]] = {}
    for cell, records in done:
        if cell["horizon"] == horizon and cell["problem"] in problems and records:
            runs = {(b, i): x for b, r in records.items() for i, x in enumerate(r["regret"])}
            regrets.setdefault(cell["problem"], {})[cell["policy"]] = runs
            us.setdefault(cell["policy"], []).append(records[0]["us"])
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
    table = bd.scores(fit, covariance=covariance)
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
    tables = {
        horizon: {family: leaderboard(done, horizon, own) for family, own in families.items()}
        for horizon in HORIZONS
    }
    draw(tables, path.with_suffix(".png"))
    page = path.read_text(encoding="utf-8")
    for name, text in (
        ("findings", findings(tables)),
        ("claims", claims(tables)),
        ("runs", runs_of(done)),
        ("tables", "\n\n".join(part for family in families for part in section(tables, family))),
    ):
        page = written(page, name, text)
    write_text(path, page)


def findings(tables: dict[int, dict[str, Rows]]) -> str:
    """Return who is first, overall and by family, in sentences."""
    lines = []
    for horizon, by_family in tables.items():
        first, second = by_family[ALL][:2]
        heads = {family: by_family[family][0] for family in FAMILIES}
        named = ", ".join(
            f"{r['policy']} ({family}, {r['P(best)']})" for family, r in heads.items()
        )
        lines.append(
            f"- After {horizon:,} duels {first['policy']} has the highest rating of "
            f"{len(by_family[ALL])} policies, {first['rating']} ({first['lower']} to "
            f"{first['upper']}), the best with probability {first['P(best)']}; second is "
            f"{second['policy']}, {second['rating']} ({second['lower']} to {second['upper']}). Its "
            f"regret is {first['ratio']} times the lowest of a problem. The first of each family "
            f"and the probability that it is the best there: {named}."
        )
    return "\n".join(lines)


def claims(tables: dict[int, dict[str, Rows]]) -> str:
    """Return which claims hold."""
    orders = {
        horizon: {family: [row["policy"] for row in rows] for family, rows in own.items()}
        for horizon, own in tables.items()
    }
    return table_of(
        [
            {"claim": text}
            | {f"T = {T:,}": "holds" if holds(order) else "fails" for T, order in orders.items()}
            for text, holds in CLAIMS.items()
        ]
    )


def runs_of(done: Done) -> str:
    """Return the runs, where and how long they took, and which policies miss problems."""
    lines = []
    policies = sorted({cell["policy"] for cell, _ in done}, key=str.lower)
    for horizon in HORIZONS:
        own = [(c["policy"], len(r) * len(r[0]["regret"])) for c, r in done
               if c["horizon"] == horizon and r]  # fmt: skip
        played = Counter(policy for policy, _ in own)
        few = [f"{p} ({played[p]})" for p in policies if played[p] < len(PROBLEMS)]
        runs = [f"{n} on {k:,} cells" for n, k in sorted(Counter(n for _, n in own).items())]
        lines.append(
            f"- T = {horizon:,}: {' and '.join(runs)} (runs on pairs of a problem and a policy). "
            f"Too slow for some of the {len(PROBLEMS)} problems, with how many each played: "
            f"{', '.join(few) or 'none'}."
        )
    records = [(cell["horizon"], r) for cell, own in done for r in own.values()]
    hours = sum(T * len(r["regret"]) * r["us"] for T, r in records) / 3.6e9
    dates, machines = ({r[key] for _, r in records} for key in ("date", "machine"))
    lines.append(
        f"- {len(records):,} cells, {hours:.1f} hours of processor time without compiling, on "
        f"{', '.join(sorted(machines))} ({' to '.join(sorted({min(dates), max(dates)}))})."
    )
    return "\n".join(lines)


def section(tables: dict[int, dict[str, Rows]], family: str) -> list[str]:
    """Return the heading and the tables of a family."""
    named = "" if family == ALL else f"{', '.join(FAMILIES[family])}. The first {SHOWN}."
    parts = [f"### {family[0].upper()}{family[1:]}", *([named] if named else [])]
    for horizon, own in tables.items():
        rows = [
            {k: v for k, v in row.items() if k not in ("lower", "upper")}
            | {"rating": f"{row['rating']} ({row['lower']} to {row['upper']})"}
            for row in own[family][: SHOWN if named else None]
        ]
        parts += [f"T = {horizon:,}:", table_of(rows)]
    return parts


def draw(tables: dict[int, dict[str, Rows]], path: Path) -> None:
    """Save the picture: ratings at both horizons, and those by family at the longer one."""
    import matplotlib.pyplot as plt

    order = list(dict.fromkeys(r["policy"] for T in HORIZONS[::-1] for r in tables[T][ALL]))
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(12, 0.27 * len(order) + 1.6), sharey=True, layout="constrained"
    )
    for horizon, shift in zip(HORIZONS, (0.15, -0.15), strict=True):
        rows = tables[horizon][ALL]
        y = [order.index(row["policy"]) + shift for row in rows]
        x, low, high = (np.array([r[k] for r in rows]) for k in ("rating", "lower", "upper"))
        left.errorbar(x, y, xerr=(x - low, high - x), fmt="o", ms=4, label=f"T = {horizon:,}")
    left.set(yticks=range(len(order)), yticklabels=order, xlabel="rating, 95 % interval")
    left.grid(axis="x", color="0.9")
    left.legend(frameon=False)
    values = np.full((len(order), len(FAMILIES)), np.nan)
    for column, family in enumerate(FAMILIES):
        for row in tables[HORIZONS[-1]][family]:
            place = order.index(row["policy"])
            values[place, column] = row["rating"]
            right.text(column, place, row["rank"], ha="center", va="center", fontsize=8)
    image = right.imshow(values, aspect="auto", cmap="RdYlGn", alpha=0.7)
    right.set_xticks(range(len(FAMILIES)), [f.replace(" ", "\n", 1) for f in FAMILIES], fontsize=8)
    right.set_title(f"rank and rating by family, T = {HORIZONS[-1]:,}", fontsize=10)
    figure.colorbar(image, label="rating")
    figure.savefig(path, dpi=100)
    plt.close(figure)
