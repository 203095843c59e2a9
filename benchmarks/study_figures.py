"""Tables and figure of docs/validation/studies.md, from the records of the validation.

Run with ``python -m benchmarks.study_figures`` after ``python -m benchmarks.validation studies
replays stopping batches``: the tables are printed as Markdown, the figure is
docs/validation/studies.png.
"""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.validation.experiment import Experiment, share
from benchmarks.validation.page import section
from benchmarks.validation.records import key_of, read_records

FIGURE = Path("docs/validation/studies.png")
RESAMPLES = 4000
Rows = list[dict[str, Any]]


def compared(experiment: Experiment, world: str, shown: str) -> Rows:
    """Return a row for each cell with two runs or more, world by world, uniform's last.

    Parameters
    ----------
    experiment
        Of studies by rule.
    world
        The setting that all rules of a comparison share.
    shown
        That setting with its value, as the table names it.
    """
    found = read_records(experiment, 0)
    rows = []
    for cell in experiment.cells:
        records = found[key_of(cell)]
        if len(records) < 2:
            continue
        duels = np.array([r["duels"] for r in records.values()], float)
        base = found[key_of({world: cell[world], "rule": "Uniform"})]
        both = sorted(set(records) & set(base))
        mine = np.array([records[k]["duels"] for k in both], float)
        theirs = np.array([base[k]["duels"] for k in both], float)
        decided = [r for r in records.values() if r["decided"]]
        rows.append(
            {
                "world": shown.format(cell[world]),
                "rule": cell["rule"],
                "runs": len(records),
                "mean": duels.mean(),
                "error": duels.std(ddof=1) / len(duels) ** 0.5,
                "open": len(records) - len(decided),
                "right": sum(r["within"] for r in decided),
                "ratio": mine.mean() / theirs.mean() if both else float("nan"),
                "interval": _ratio_interval(mine, theirs),
            }
        )
    worlds = list(dict.fromkeys(r["world"] for r in rows))
    return sorted(rows, key=lambda r: (worlds.index(r["world"]), r["rule"] == "Uniform"))


def _ratio_interval(mine: np.ndarray, theirs: np.ndarray) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a ratio of means, worlds resampled in pairs."""
    rng = np.random.default_rng(0)
    picks = rng.integers(len(mine), size=(RESAMPLES, len(mine)))
    ratios = mine[picks].mean(axis=1) / theirs[picks].mean(axis=1)
    low, high = np.quantile(ratios, (0.025, 0.975))
    return float(low), float(high)


def table(rows: Rows) -> str:
    """Return the comparison as a Markdown table."""
    lines = [
        "| world | rule | runs | duels (standard error) | of uniform's duels (95 %) | not decided |"
        " right within the rope |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        low, high = r["interval"]
        ratio = "1" if r["rule"] == "Uniform" else f"{r['ratio']:.2f} ({low:.2f} to {high:.2f})"
        decided = r["runs"] - r["open"]
        right = "no case"
        if decided:
            value, least, most = share(r["right"], decided)
            right = f"{100 * value:.0f} % ({100 * least:.0f} to {100 * most:.0f})"
        lines.append(
            f"| {r['world']} | {r['rule']} | {r['runs']} | {r['mean']:.0f} ({r['error']:.0f}) | "
            f"{ratio} | {100 * r['open'] / r['runs']:.0f} % | {right} |"
        )
    return "\n".join(lines)


def figure(rows: Rows) -> None:
    """Draw the ratio to uniform's duels with its interval, a panel a world."""
    import matplotlib.pyplot as plt

    worlds = list(dict.fromkeys(r["world"] for r in rows))
    columns = 2
    height = -(-len(worlds) // columns)
    axes = plt.subplots(
        height, columns, figsize=(9, 1.75 * height + 0.6), layout="constrained", sharex=True
    )[1]
    for ax, world in zip(axes.flat, worlds, strict=False):
        own = [r for r in rows if r["world"] == world and r["rule"] != "Uniform"][::-1]
        place = np.arange(len(own))
        value = np.array([r["ratio"] for r in own])
        ends = np.array([r["interval"] for r in own]).T
        reach = np.abs(ends - value)
        ax.errorbar(value, place, xerr=reach, fmt="o", ms=4, capsize=2, color="#2b5c8a")
        ax.axvline(0.5, color="0.6", lw=0.8, ls="--")
        ax.axvline(1.0, color="0.6", lw=0.8)
        ax.set_yticks(place, [f"{r['rule']} ({r['runs']})" for r in own], fontsize=8)
        ax.set_ylim(-0.6, len(own) - 0.4)
        ax.set_title(world, fontsize=9, loc="left")
    for ax in axes.flat[len(worlds) :]:
        ax.set_axis_off()
    for ax in axes.flat[:columns]:
        ax.tick_params(axis="x", labelsize=8)
    for ax in axes.flat[len(worlds) - columns : len(worlds)]:  # the last one of each column
        ax.set_xlabel("duels, relative to uniform (dashed: one half)", fontsize=8)
        ax.tick_params(axis="x", labelsize=8, labelbottom=True)
    axes.flat[0].set_xlim(0, 1.2)
    plt.savefig(FIGURE, dpi=130)


def main() -> None:
    """Print the tables and draw the figure."""
    from benchmarks.validation import batches, replays, stopping, studies

    rows = compared(studies.EXPERIMENT, "arms", "{} arms")
    rows += compared(replays.EXPERIMENT, "log", "{}")
    print(table(rows))
    figure(rows)
    for experiment in (stopping.EXPERIMENT, batches.EXPERIMENT):
        found = read_records(experiment, 0)
        if any(found.values()):
            print(section(experiment, found, 0))


if __name__ == "__main__":
    main()
