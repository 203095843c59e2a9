"""The page of the validation: a section an experiment, a table of targets at the top."""

from collections.abc import Sequence

from benchmarks.validation.experiment import Experiment, Record
from benchmarks.validation.records import key_of

__all__ = ["section", "top"]

Found = dict[str, dict[int, Record]]


def top(measured: Sequence[tuple[Experiment, Found]], date: str, seed: int) -> str:
    """Return the head of the page: what it is, and how many figures meet their target."""
    rows = []
    hours = 0.0
    for experiment, found in measured:
        seconds = [r["seconds"] for records in found.values() for r in records.values()]
        if not seconds:
            rows.append(
                {"experiment": experiment.title, "targets met": "not run", "missed": "not run"}
            )
            continue
        mean = sum(seconds) / len(seconds)
        full = mean * sum(experiment.replicates(c, True) for c in experiment.cells) / 3600
        hours += full
        verdicts = [row.get("target", "") for row in _rows(experiment, found)]
        rows.append(
            {
                "experiment": f"[{experiment.title}](#{_anchor(experiment.title)})",
                "targets met": verdicts.count("met"),
                "missed": verdicts.count("missed"),
                "not run": verdicts.count("not run"),
                "full form, hours of one core": f"{full:.2g}",
            }
        )
    return "\n".join(
        [
            "# Validation",
            "",
            "What the package promises, measured by simulation. Targets, seeds and sizes were "
            "fixed before the runs; a figure that misses its target stands here like any other.",
            "",
            f"Written {date} by `make validate` (`python -m benchmarks.validation --seed {seed}`; "
            f"with `--full` the full form, about {hours:.2g} hours of one core by the times "
            "measured here). Intervals in brackets are 95 % intervals.",
            "",
            _table(rows),
            "",
        ]
    )


def section(experiment: Experiment, found: Found, seed: int) -> str:
    """Return the section of one experiment."""
    dates = sorted({r["date"] for records in found.values() for r in records.values()})
    count = [len(found[key_of(cell)]) for cell in experiment.cells]
    full = [experiment.replicates(cell, True) for cell in experiment.cells]
    notes = [experiment.notes, ""] if experiment.notes else []
    return "\n".join(
        [
            f"## {experiment.title}",
            "",
            experiment.question,
            "",
            f"Target: {experiment.target}",
            "",
            _table(_rows(experiment, found)),
            "",
            *notes,
            f"{_range(count)} replicates a cell (full form: {_range(full)}); measured "
            f"{' to '.join(dict.fromkeys((dates[0], dates[-1])))}; "
            f"`python -m benchmarks.validation {experiment.name} --seed {seed}`.",
            "",
        ]
    )


def _rows(experiment: Experiment, found: Found) -> list[Record]:
    return [
        row
        for cell in experiment.cells
        if (records := found[key_of(cell)])
        for row in experiment.rows(cell, [records[i] for i in sorted(records)])
    ] + [{**cell, "target": "not run"} for cell in experiment.cells if not found[key_of(cell)]]


def _range(counts: Sequence[int]) -> str:
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _table(rows: Sequence[Record]) -> str:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [columns, ["---"] * len(columns)]
    lines += [[_text(row.get(column, "")) for column in columns] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _text(value: object) -> str:
    text = f"{value:.3g}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|")


def _anchor(title: str) -> str:
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -")
    return kept.replace(" ", "-")
