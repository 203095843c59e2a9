"""The progress bar of a simulation: duels done, duels per second, time left."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(
    total: int, already: int, show: bool | None
) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on stderr; yield a function to report (which run, its duels done)."""
    done: dict[int, int] = {}
    wanted = sys.stderr.isatty() if show is None else show
    if not wanted:
        yield done.__setitem__
        return
    from rich import progress as bars
    from rich.console import Console
    from rich.text import Text

    class Rate(bars.ProgressColumn):
        """Duels per second."""

        def render(self, task: bars.Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f} duels/s" if speed else "")

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        Rate(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("duels", total=total, completed=already)

        def report(place: int, duels: int) -> None:
            done[place] = max(duels, done.get(place, 0))
            progress.update(bar, completed=already + sum(done.values()))

        yield report
