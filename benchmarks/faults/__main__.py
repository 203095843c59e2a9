"""Run the faults and write docs/validation/faults.md: ``python -m benchmarks.faults``.

Records are kept in .faults/, and a run that was stopped goes on where it ended; delete the folder
to measure anew, as after a change of the package.
"""

import contextlib
import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.progress import track

from bayesduel import __version__
from bayesduel.system.atomic_write import write_text
from benchmarks.faults.bad_inputs import answer, cases
from benchmarks.faults.crafted import NAMES, crafted_files, opened
from benchmarks.faults.junk import answers
from benchmarks.faults.junk import cases as calls_of
from benchmarks.faults.kills import RESUME_AFTER, ROOMS, kill, timed
from benchmarks.faults.points import ATTACKED, POINTS, point
from benchmarks.faults.sound_calls import World, public_names

KEPT = Path(".faults")
PAGE = Path("docs/validation/faults.md")
QUICK = {"inputs": 40, "kills": 2, "junk": 10}
FULL = {"inputs": 10_000, "kills": 15, "junk": 10_000}
SHOWN = 80  # inputs on the page whose answers are no faults
PARTS = ("inputs", "crafted", "kills", "points", "attacked", "junk")
KINDS = ("answered", "refused", "unnamed", "foreign", "other type", "no answer")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--full", is_flag=True, help="All inputs, all junk and 15 kills of each command.")
@click.option("--seed", default=0, show_default=True, help="Which inputs, and when to kill.")
@click.option("--page", default=PAGE, type=click.Path(path_type=Path), show_default=True)
@click.option(
    "--part",
    "parts",
    multiple=True,
    type=click.Choice(PARTS),
    help="What to measure; the rest of the page stays as it is.  [default: all]",
)
def main(full: bool, seed: int, page: Path, parts: tuple[str, ...]) -> None:
    """Give bad inputs to commands, kill commands at random moments, and write the page."""
    size = FULL if full else QUICK
    there, n_faults = _sections(page), 0
    date = datetime.now(UTC).date().isoformat()
    for part in parts or PARTS:
        if part == "crafted":
            records = _crafted(full, seed)
        elif part in ("points", "attacked"):
            records = _points(POINTS if part == "points" else ATTACKED, seed)
        else:
            records = {"inputs": _inputs, "junk": _junk, "kills": _kills}[part](size[part], seed)
        n_faults += sum(_faults(record) for record in records)
        heading, shown = PAGES[part]
        when = f"Measured on {date} with bayesduel {__version__}, seed {seed}."
        there[heading] = "\n".join([f"## {heading}", "", when, "", *shown(records)])
    first = (
        "# Faults\n\nMade by `make faults`. `make faults FULL=1` tries every input and kills each "
        "command 15 times; `--part` measures one table anew and leaves the others."
    )
    kept = [there[heading].strip() for heading, _ in PAGES.values() if heading in there]
    write_text(page, "\n\n".join([first, *kept, ""]).rstrip() + "\n")
    click.echo(f"{page} is written: {', '.join(parts or PARTS)}, {n_faults} faults.")
    raise SystemExit(bool(n_faults))


def _sections(page: Path) -> dict[str, str]:
    """Return the sections of a page by heading."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    found = text.split("\n## ")[1:]
    return {section.split("\n")[0]: f"## {section}" for section in found}


def _faults(record: dict[str, Any]) -> int:
    if "counts" in record:  # of junk
        return sum(record["counts"][kind] for kind in KINDS[2:])
    return bool(record.get("fault")) or record.get("kind") in ("fault", "no answer", "ran")


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


def _points(points: dict[str, tuple[str, str]], seed: int) -> list[dict[str, Any]]:
    kept = {record["point"]: record for record in _read("points", seed)}
    for name in track(points, "points"):
        if name not in kept:
            with tempfile.TemporaryDirectory(prefix="faults-") as folder:
                kept[name] = point(name, Path(folder))
            _append("points", seed, kept[name])
    return [kept[name] for name in points]


def _crafted(full: bool, seed: int) -> list[dict[str, Any]]:
    from tests.support.stored_names import make_files

    kept = {record["key"]: record for record in _read("crafted", seed)}
    source = KEPT.absolute() / f"stored-{seed}"
    if not (source / "trace.nc").exists():
        source.mkdir(parents=True, exist_ok=True)
        make_files(source)
    results = []
    for case in track(list(crafted_files(source, full)), "crafted files"):
        if case.key not in kept:
            with tempfile.TemporaryDirectory(prefix="faults-") as folder:
                found = opened(case, source, Path(folder))
            kept[case.key] = {"key": case.key, "file": case.kind, "by": case.by[0], **found}
            _append("crafted", seed, kept[case.key])
        results.append(kept[case.key])
    return results


def _junk(number: int, seed: int) -> list[dict[str, Any]]:
    """Return what public names answer to junk: at most `number` random calls of each."""
    kept = {(record["name"], record["of"]): record for record in _read("junk", seed)}
    known, results = public_names(), []
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        world = World(Path(folder))
        for name in track(known, "junk"):
            found = calls_of(name, known[name])
            order = np.random.default_rng(seed).permutation(len(found))[:number]
            key = (name, len(order))
            if len(order) and key not in kept:
                with contextlib.chdir(folder):  # what a call writes
                    told = [(found[k].key, *answers(found[k], known[name], world)) for k in order]
                counts = {kind: sum(kind == k for _, k, _ in told) for kind in KINDS}
                wrong = [f"{key}: {words}"[:200] for key, kind, words in told if kind in KINDS[2:]]
                kept[key] = {"name": name, "of": len(order), "counts": counts, "wrong": wrong[:3]}
                _append("junk", seed, kept[key])
            if len(order):
                results.append(kept[key])
    return results


def _kills(number: int, seed: int) -> list[dict[str, Any]]:
    """Return what `number` kills of each command left; one command is done after another."""
    kept = {(record["room"], record["turn"]): record for record in _read("kills", seed)}
    asked = [(room, turn) for room in ROOMS for turn in range(number)]
    for k, (room, turn) in enumerate(track(asked, "kills")):
        if (room, turn) not in kept:
            place = KEPT.absolute() / f"{room.replace(' ', '')}-{seed}"
            times = _times(room, place)
            found = kill(room, turn, place, times, seed * 1_000 + k)
            kept[room, turn] = {"room": room, "turn": turn, **times, **found}
            _append("kills", seed, kept[room, turn])
    return [kept[which] for which in asked]


def _times(room: str, place: Path) -> dict[str, float]:
    """Return when a command writes; measured once, without a kill."""
    path = place / "times.json"
    if not path.exists():
        write_text(path, json.dumps(timed(room, place)))
    times: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    return times


def _page_of_inputs(inputs: list[dict[str, Any]]) -> list[str]:
    lines = [
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
    faults = [r for r in inputs if _faults(r)]
    others = [r for r in inputs if r not in faults][:SHOWN]
    lines += ["", f"Every fault, and {len(others)} others at random:", "", *ANSWERS]
    return lines + [_answer(r) for r in (*faults, *sorted(others, key=lambda r: r["key"]))]


def _page_of_crafted(files: list[dict[str, Any]]) -> list[str]:
    lines = [
        f"Each text that a file stores is replaced by {', '.join(f'`{n}`' for n in NAMES)} (one in "
        "turn, each with `FULL=1`), and each place that names a class by each of them. The module "
        "is on the path and leaves a mark when it is imported or called; an audit hook hears "
        "processes that are started. Refused: status 2 and one line. Answered: the text is data "
        "that names nothing (a source, a date, a version). Ran: anything ran.",
        "",
        "| file | opened by | texts | refused | answered | ran | other faults |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for file, by in dict.fromkeys((r["file"], r["by"]) for r in files):
        of = [r["kind"] for r in files if (r["file"], r["by"]) == (file, by)]
        counts = (len(of), *(of.count(kind) for kind in ("refused", "answered", "ran", "fault")))
        lines.append(f"| {file} | {by} | {' | '.join(map(str, counts))} |")
    told: dict[Any, dict[str, Any]] = {}  # of answers that differ in the name alone, the first
    for r in files:
        told.setdefault((r["by"], _faults(r) and r["key"], r["said"][:60]), r)
    some = [r for r in told.values() if r["said"]][:SHOWN]
    lines += ["", f"{len(some)} of them, one for each answer:", "", *ANSWERS]
    return lines + [_answer(r) for r in some]


def _page_of_kills(kills: list[dict[str, Any]]) -> list[str]:
    lines = [
        "Each command is killed (`SIGKILL`) while it runs: half of the times at a moment that is "
        "uniform over the processor time of a warm run that is not killed, half at one that is "
        "uniform over that of its writing, counted from the first change on the disk (other "
        "processes change processor time little). Commands are forks of a process that has "
        "imported their libraries. A kill that came after the end (missed) does not count and is "
        "repeated. Before each kill of `fit`, `report`, `export` and `update` an old file or "
        "folder stands at the place; after it, what is there is the old one byte for byte or the "
        f"new one, with the numbers of a run that was not killed. After every {RESUME_AFTER}th "
        "kill the command is run again to its end, compared with a run that was never killed, and "
        "no draft may be left; a simulation goes on where it was. Of a study every acknowledged "
        "outcome is there, none twice, and its open tickets can be told.",
        "",
        "| command | warm run: processor seconds | writes from | to | kills | had begun to write "
        "| missed | lost, half-written or doubled |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for room in ROOMS:
        of = [r for r in kills if r["room"] == room]
        if not of:
            lines.append(f"| {room} | not measured yet{' |' * 7}")
            continue
        shown = [f"{of[0][name]:.2f}" for name in ("seconds", "begins", "ends")]
        counts = [len(of), *(sum(r[name] for r in of) for name in ("wrote", "missed"))]
        cells = [room, *shown, *map(str, counts), str(sum(map(_faults, of)))]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| kill | moment | after | left |", "|---|---|---:|---|"]
    for r in kills:
        left = f"FAULT: {_cell(r['fault'])}" if r["fault"] else r["left"]
        lines.append(f"| {r['turn']} {r['room']} | {r['when']} | {r['after']:.3f} s | {left} |")
    return lines


def _page_of_points(points: list[dict[str, Any]]) -> list[str]:
    lines = ["| point | command | status | what it says |", "|---|---|---:|---|"]
    for r in points:
        said = "<br>".join(f"`{_cell(text)}`" for text in r["said"])
        lines.append(f"| {r['point']} | `{_cell(r['command'])}` | {r['status']} | {said} |")
    return lines


def _page_of_junk(junk: list[dict[str, Any]]) -> list[str]:
    total = {kind: sum(r["counts"][kind] for r in junk) for kind in KINDS}
    n = sum(total.values())
    lines = [
        f"{n:,} calls of {len(junk)} public names; in each, one argument, also one that is "
        "passed on (`**options`), is junk (None, arrays, masked entries, frames with repeated "
        "names, infinity, NaN, huge and negative numbers, lists that never end, deep nesting, "
        "half of a surrogate pair, other types) and all others are sound. Refused: by the "
        "package, in a message that names the argument. Unnamed: by the package, without that. "
        "Foreign: in the words of another library.",
        "",
        f"| {' | '.join(KINDS)} |",
        f"|{'---:|' * len(KINDS)}",
        f"| {' | '.join(f'{total[kind]:,} ({total[kind] / max(n, 1):.1%})' for kind in KINDS)} |",
        "",
        f"| name | calls | {' | '.join(KINDS)} | such as |",
        f"|---|{'---:|' * (len(KINDS) + 1)}---|",
    ]
    for r in junk:
        if r["wrong"]:
            counts = " | ".join(str(r["counts"][kind]) for kind in KINDS)
            lines.append(f"| {r['name']} | {r['of']} | {counts} | `{_cell(r['wrong'][0])}` |")
    return lines


PAGES = {  # by part: its heading on the page, and what shows its records
    "inputs": ("Bad inputs", _page_of_inputs),
    "crafted": ("Crafted files", _page_of_crafted),
    "kills": ("Kills", _page_of_kills),
    "points": ("Points put right", _page_of_points),
    "attacked": ("Points of the second attack", _page_of_points),
    "junk": ("Junk", _page_of_junk),
}
ANSWERS = ("| input | status | what it says |", "|---|---:|---|")


def _answer(record: dict[str, Any]) -> str:
    """Return a row of ANSWERS."""
    said = f"`{_cell(record['said'])}`" if record["said"] else ""
    return f"| `{_cell(record['key'])}` | {record['status']} | {said} |"


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
