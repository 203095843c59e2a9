"""The command line: ``bayesduel COMMAND``.

Each command is ``command`` in a file of :mod:`bayesduel.cli`, or has a name of its own in one of
`FILES`; to add one, write it and name it in `COMMANDS`. Nothing heavy is imported before a command
runs, so ``--help`` is quick.

Exit status: 0 done, 1 a fault of ours, 2 bad input (one line on stderr says what), 130 stopped
by Ctrl-C or SIGTERM.
"""

import _thread
import atexit
import errno
import gc
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, cast

import click

from bayesduel import __version__
from bayesduel.cli.command_group import GivenOnce
from bayesduel.system.arguments import command_line, did_you_mean, shown_value
from bayesduel.system.imports import Later
from bayesduel.system.memory import available_memory, check_process, keep_freed_memory

__all__ = ["COMMANDS", "main"]

COMMANDS = (  # in the order of help
    *(
        "read",
        "report",
        "site",
        "fit",
        "update",
        "winners",
        "top-k",
        "predict",
        "check",
        "calibrate",
    ),
    *("judges", "panel", "sources", "audit", "export", "attributes", "health"),
    *("study", "datasets", "simulate", "problems", "policies", "doctor"),
)

NO_LOGS = ("study", "simulate", "datasets", "problems", "policies")
FILES = {  # those of several commands, by command; in them the others have their own names
    **dict.fromkeys(("datasets", "problems", "policies"), "lists"),
    **dict.fromkeys(("read", "health", "judges", "panel", "sources"), "summary"),
    **dict.fromkeys(("export", "site"), "report"),
    "update": "fit",
}

# Exit statuses: 2 as Click's, of a wrong call; 1 as Python's, of an error that nobody foresaw.
BAD_INPUT = 2
FAULT = 1
NO_MEMORY = ("failed to map segment", "cannot allocate memory", "can't start new thread")


class Commands(GivenOnce):
    """The commands by name, and one way for errors to end them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order help shows them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        file = FILES.get(cmd_name, cmd_name.replace("-", "_"))
        own = cmd_name if cmd_name in FILES else "command"
        return cast(click.Command, getattr(import_module(f"bayesduel.cli.{file}"), own))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that `args` start with, or name the nearest one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            rule = f"the command should be one of {', '.join(COMMANDS)}"
            raise click.UsageError(f"{rule}, got {shown_value(name)}{did_you_mean(name, COMMANDS)}")
        if not {"-h", "--help"} & set(args):
            check_process(name, reads_log=name not in NO_LOGS)
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> Any:
        """Run a command and exit with its status."""
        argv = list(sys.argv[1:] if args is None else args)
        debug = "--debug" in argv
        argv = [a for a in argv if a != "--debug"]  # wherever it stands
        shown = [a.encode("utf-8", "backslashreplace").decode("utf-8") for a in argv]
        if any("://" in a for a in argv):
            from bayesduel.data.read.address import shown_address

            shown = [shown_address(a) for a in shown]
        extra |= {"standalone_mode": False, "obj": shown}  # what a page says of its command
        ended: list[int] = []
        # In a process of our own. `bayesduel winners tennis1990` takes 0.78 s of processor time,
        # 1.39 without it.
        if args is None:
            # 50,000 new objects before garbage is looked for: those of a compiler hold much memory
            gc.set_threshold(50_000)
            sys.meta_path.insert(0, Later)
            if not {*NO_LOGS, "doctor", "predict"} & set(argv):  # those that come to `read_log`
                gc.disable()  # until then: of 500,000 objects that imports make, all stay
                keep_freed_memory()
                atexit.register(_leave, ended)  # called last, as it is registered first
            if "simulate" not in argv:  # else xarray imports Dask with its first array
                sys.modules.setdefault("dask", cast(Any, None))
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # names may have letters the locale lacks
                stream.reconfigure(errors="backslashreplace")
        with warnings.catch_warnings(), command_line(), _terminable() as ignored:
            warnings.showwarning = _show_warning
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", UserWarning)
            warnings.simplefilter("default", RuntimeWarning)
            try:
                result = super().main(argv, *rest, **extra)
            except (KeyboardInterrupt, click.Abort) as stop:
                status = _say_stopped(stop.__cause__ or stop)  # Click makes an Abort of Ctrl-C
                if args is None:  # what Zarr's tasks say as they end with the process is no news
                    sys.stderr = io.StringIO()
            except click.UsageError as error:
                where = error.ctx.command_path if error.ctx else "bayesduel"
                status = _say(f"{error.format_message()} (see {where} --help)", BAD_INPUT)
            except click.ClickException as error:
                status = _say(error.format_message(), BAD_INPUT)
            except (BrokenPipeError, SystemExit):  # which Rich makes of it
                sys.stderr.close()  # the reader of our output has gone: say nothing more
                status = FAULT
            except Exception as error:
                if debug:
                    raise
                # Numba ends in an error of its own where a stop reached its callback.
                status = _say_stopped(error) if ignored else _say(*_explain(error))
            else:
                status = result if isinstance(result, int) else 0
        ended.append(status)
        sys.exit(status)


@click.command(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(__version__, prog_name="bayesduel")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Bayesian analysis of pairwise duels.

    LOG is a file of duels (CSV, TSV, JSON lines, Parquet, compressed or not, or a glob of
    many), or the name of a dataset shipped with bayesduel.
    """


@contextmanager
def _terminable() -> Iterator[list[BaseException | None]]:
    """Let SIGTERM stop a command as Ctrl-C does, so that it leaves nothing behind.

    A stop that comes while a library's callback runs (Numba's, as it compiles) is ignored by
    Python; it is given again a moment later, and is in the list that is given.
    """
    stops: list[BaseException | None] = []
    if threading.current_thread() is not threading.main_thread():
        yield stops  # only the main thread may say what a signal does
        return

    def again(ignored: "sys.UnraisableHookArgs") -> None:
        if issubclass(ignored.exc_type, KeyboardInterrupt):
            stops.append(ignored.exc_value)
            threading.Timer(0.1, _thread.interrupt_main, [signal.SIGTERM]).start()
        else:
            shown(ignored)

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    shown = sys.unraisablehook
    sys.unraisablehook = again
    try:
        yield stops
    finally:
        sys.unraisablehook = shown
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _say_stopped(stop: BaseException) -> int:
    """Say that the command was stopped, and the notes of what stopped it: how to go on."""
    return _say(". ".join(["stopped", *getattr(stop, "__notes__", [])]), 130)


def _leave(ended: list[int]) -> None:
    """End the process with the status in `ended`, if any, without freeing object by object."""
    with suppress(AttributeError, OSError):  # no stream, or no room for what it says
        if ended:
            with suppress(BrokenPipeError, ValueError):  # its reader has gone, or it is closed
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(ended[0])


def _explain(error: Exception) -> tuple[str, int]:
    """Return one line on an exception, and the exit status it deserves."""
    words = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    if (
        isinstance(error, MemoryError)
        or getattr(error, "errno", None) == errno.ENOMEM
        or any(said in words for said in NO_MEMORY)
    ):
        free = (available_memory() or 0) / 2**30
        words = words or f"an array does not fit in the {free:.2g} GiB that are free"
        return f"the memory is not enough: {words}", BAD_INPUT
    expected = (ValueError, TypeError, KeyError, OSError, ModuleNotFoundError)
    from_duckdb = type(error).__module__.split(".")[0] in ("duckdb", "_duckdb")
    if isinstance(error, expected) or from_duckdb:
        if isinstance(error, OSError) and error.filename is not None and error.strerror:
            words = f"{os.fspath(error.filename)}: {error.strerror.lower()}"
        if "No usable temporary directory" in words:  # words of Python, the folders in its notation
            words = "no folder for temporary files can be written: no room is left, or set TMPDIR"
        return words or type(error).__name__, BAD_INPUT
    return (
        f"unexpected {type(error).__name__}: {words} (run again with --debug for the traceback)",
        FAULT,
    )


def _say(message: str, status: int) -> int:
    click.echo(f"bayesduel: {_one_line(message)}", err=True)
    return status


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"bayesduel: warning: {_one_line(str(message))}", err=True)


def _one_line(message: str) -> str:
    """Return a message without line ends; spaces stay, as names may differ in them."""
    return " ".join(filter(None, map(str.strip, message.splitlines())))
