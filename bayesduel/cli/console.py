"""Output of the commands: results on stdout, progress and remarks on stderr."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = [
    "alone",
    "err",
    "out",
    "print_json",
    "remark",
    "share",
    "show",
    "steps",
    "tell",
    "working",
]


def out() -> "Console":
    """Return the console of results."""
    return _console(sys.stdout)


def err() -> "Console":
    """Return the console of progress."""
    return _console(sys.stderr)


def remark(message: str) -> None:
    """Print one line on stderr."""
    click.echo(f"bayesduel: {message}", err=True)


def show(blocks: "Iterable[RenderableType]", label: str | None = None) -> None:
    """Print sections or blocks of a report, under the label of their log if it has one."""
    console = out()
    if label is not None:
        console.rule(label, align="left", style="dim")
    for block in blocks:
        console.print(block)


def tell(
    found: Mapping[str | None, Any],
    as_json: bool,
    blocks: "Callable[[Any], Iterable[RenderableType]]",
    plain: Callable[[Any], Any] = lambda one: one.to_dict(),
) -> None:
    """Print what was found of each log by its label: as JSON, or the blocks of it."""
    if as_json:
        print_json(alone({label: plain(one) for label, one in found.items()}))
        return
    for label, one in found.items():
        show(blocks(one), label)


def alone(found: Mapping[str | None, Any]) -> Any:
    """Return what is under None, where there is one log, else all by label."""
    return found[None] if None in found else found


def print_json(value: object) -> None:
    """Print a value as JSON, with NaN and infinities as null."""
    from bayesduel.text import to_json

    click.echo(to_json(value))


@contextmanager
def steps() -> Iterator[Callable[[str], None]]:
    """Show the current step on stderr; now and then, in a line, where that is no terminal.

    Yields a function to call with the name of each step before it begins.
    """
    if not sys.stderr.isatty():
        yield _now_and_then()
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=err(), transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda name: progress.update(task, description=name)


@contextmanager
def working(message: str) -> Iterator[None]:
    """Show that work is in progress on stderr."""
    with steps() as step:
        step(message)
        yield


@contextmanager
def share(message: str) -> Iterator[Callable[[float], None]]:
    """Show the share of the work done on stderr; now and then where that is no terminal.

    Yields a function to call with that share, from 0 to 1.
    """
    if not sys.stderr.isatty():
        say = _now_and_then()
        yield lambda done: say(f"{message}, {100 * done:.0f} %")
        return
    from rich import progress as bars

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=err(), transient=True) as progress:
        task = progress.add_task(message, total=1.0)
        yield lambda done: progress.update(task, completed=done)


def _now_and_then() -> Callable[[str], None]:
    """Return a function that prints a text, at most once in 30 seconds."""
    begun = said = time.monotonic()

    def say(what: str) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said >= 30.0:
            said = now
            remark(f"{what} ({now - begun:.0f} s)")

    return say


def _console(stream: Any) -> "Console":
    from rich.console import Console

    console = Console(file=stream, markup=False, highlight=False)
    # 20 columns of a terminal that shows a table
    if console.width < 20:  # COLUMNS=0 stands for a width that is not known
        console.width = 80
    return console
