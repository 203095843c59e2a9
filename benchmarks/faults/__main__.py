"""Run the faults and write docs/faults.md: ``python -m benchmarks.faults``.

Records are kept in .faults/, and a run that was stopped goes on where it ended; delete the folder
to measure anew, as after a change of the package.
"""

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.progress import track

from bayesduel import __version__
from bayesduel.system.atomic_write import write_text
from benchmarks.faults.bad_inputs import answer, cases
from benchmarks.faults.kills import ROOMS, kill

KEPT = Path(".faults")
PAGE = Path("docs/faults.md")
QUICK = {"inputs": 40, "kills": 20}
FULL = {"inputs": 10_000, "kills": 100}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--full", is_flag=True, help="All inputs and 100 kills (an hour or more).")
@click.option("--seed", default=0, show_default=True, help="Which inputs, and when to kill.")
@click.option("--page", default=PAGE, type=click.Path(path_type=Path), show_default=True)
def main(full: bool, seed: int, page: Path) -> None:
    """Give bad inputs to commands, kill commands at random moments, and write the page."""
    size = FULL if full else QUICK
    inputs = _inputs(size["inputs"], seed)
    kills = _kills(size["kills"], seed)
    write_text(page, _page(inputs, kills, seed))
    n_faults = sum(r["kind"] in ("fault", "no answer") for r in inputs)
    n_faults += sum(bool(r["fault"]) for r in kills)
    click.echo(f"{page} is written: {len(inputs)} inputs, {len(kills)} kills, {n_faults} faults.")
    raise SystemExit(bool(n_faults))


def _inputs(number: int, seed: int) -> list[dict[str, Any]]:
    kept = {record["key"]: record for record in _read("inputs", seed)}
    results = []
    for case in track(cases(seed)[:number], "bad inputs"):
        if case.key not in kept:
            with tempfile.TemporaryDirectory(prefix="faults-") as folder:
                found = answer(case, Path(folder))
            kept[case.key] = {"key": case.key, "command": case.command, "what": case.what, **found}
            _append("inputs", seed, kept[case.key])
        results.append(kept[case.key])
    return results


def _kills(number: int, seed: int) -> list[dict[str, Any]]:
    kept = {record["number"]: record for record in _read("kills", seed)}
    for k in track(range(number), "kills"):
        if k not in kept:
            room, turn = ROOMS[k % len(ROOMS)], k // len(ROOMS)
            place = KEPT.absolute() / f"{room}-{seed}-{turn // 5}"  # five kills in each folder
            kept[k] = {"number": k, "room": room, **kill(room, place, seed * 1_000 + k)}
            _append("kills", seed, kept[k])
    return [kept[k] for k in sorted(kept) if k < number]


def _page(inputs: list[dict[str, Any]], kills: list[dict[str, Any]], seed: int) -> str:
    date = datetime.now(UTC).date().isoformat()
    lines = [
        "# Faults",
        "",
        f"Made by `make faults` with bayesduel {__version__}, seed {seed}, {date}. "
        "`make faults FULL=1` tries every input and kills 100 times.",
        "",
        "## Bad inputs",
        "",
        "Refused: status 2 and one sentence. Answered: the input was not bad for this command. "
        "Fault: another status, a traceback, more than one line, or no answer in time.",
        "",
        "| command | inputs | refused | answered | faults |",
        "|---|---:|---:|---:|---:|",
    ]
    for command in sorted({r["command"] for r in inputs}):
        of = [r["kind"] for r in inputs if r["command"] == command]
        counts = (of.count("refused"), of.count("answered"))
        shown = " | ".join(str(n) for n in (len(of), *counts, len(of) - sum(counts)))
        lines.append(f"| {command} | {shown} |")
    lines += ["", "| input | status | what it says |", "|---|---:|---|"]
    for r in sorted(inputs, key=lambda r: (r["kind"] not in ("fault", "no answer"), r["key"])):
        said = f"`{_cell(r['said'])}`" if r["said"] else ""
        lines.append(f"| `{_cell(r['key'])}` | {r['status']} | {said} |")
    lines += [
        "",
        "## Kills",
        "",
        "Each command is killed (`SIGKILL`) at a random moment. What it leaves is whole and never "
        "less than before the kill; of a study, every outcome that was acknowledged is there.",
        "",
        "| command | kills | of these after its end | lost or half-written |",
        "|---|---:|---:|---:|",
    ]
    for room in ROOMS:
        of = [r for r in kills if r["room"] == room]
        ended, bad = sum(r["ended"] for r in of), sum(bool(r["fault"]) for r in of)
        lines.append(f"| {room} | {len(of)} | {ended} | {bad} |")
    lines += ["", "| kill | after | left |", "|---|---:|---|"]
    for r in kills:
        left = f"FAULT: {_cell(r['fault'])}" if r["fault"] else r["left"]
        lines.append(f"| {r['number']} {r['room']} | {r['after']:.1f} s | {left} |")
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    short = text if len(text) <= 160 else f"{text[:157]}..."
    clean = "".join(c if c.isprintable() else "?" for c in short)
    return clean.replace("|", "\\|").replace("`", "'")


def _read(name: str, seed: int) -> list[dict[str, Any]]:
    path = KEPT / f"{name}-{seed}.jsonl"
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:  # the last line of a run that was killed; it is run again
            continue
    return found


def _append(name: str, seed: int, record: dict[str, Any]) -> None:
    KEPT.mkdir(exist_ok=True)
    with (KEPT / f"{name}-{seed}.jsonl").open("a", encoding="utf-8") as lines:
        lines.write("\n" * bool(lines.tell()) + json.dumps(record))


if __name__ == "__main__":
    main()
