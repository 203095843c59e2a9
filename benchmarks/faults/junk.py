"""Junk in every argument of every public function: what it answers, and in whose words.

In each call one argument is junk and all others are sound (``sound_calls``).

A call is *answered*, *refused* (ValueError, TypeError, of files OSError, of labels KeyError, or an
error of the package, raised by the package in a message that names the argument or, of what is
read, the file, the frame or the column), or a fault:
*unnamed* (the message does not name the argument), *foreign* (another library or Python speaks: no
``raise`` of the package was the origin), *other type* or *no answer*.
"""

import dis
import inspect
import re
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import numpy as np
import pandas as pd

import bayesduel as bd
from bayesduel.reporting.analysis import analyse
from benchmarks.faults.sound_calls import CALLS, LEFT_OUT, METHODS, World, public_names

__all__ = ["JUNK", "Case", "answers", "cases"]

LIMIT = 120  # seconds for a call
PACKAGE = Path(bd.__file__).parent
MODELS = PACKAGE.parent / "models"


def _deep(depth: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    return nested


JUNK: dict[str, Any] = {
    "None": None,
    "text": "junk",
    "empty text": "",
    "markup": "<b>$_$",
    "bytes": b"junk",
    "nan": float("nan"),
    "inf": float("inf"),
    "negative": -1,
    "minus 1e20": -1e20,
    "1e20": 1e20,
    "10**5000": 10**5000,
    "array": np.arange(6.0).reshape(2, 3),
    "empty array": np.zeros((0, 0)),
    "text array": np.array(["a", "b"]),
    "empty frame": pd.DataFrame(),
    "object": object(),
    "class": int,
    "list": [1, [2]],
    "dict": {"a": None},
    "deep": _deep(5_000),
    "complex": 1j,
    "masked": np.ma.masked,
    "masked array": np.ma.masked_array([[0.0, 1.0], [2.0, 0.0]], mask=[[0, 1], [0, 0]]),
    "half of a surrogate pair": "\ud800",
    "long text": "x" * 300,
    "range(10**12)": range(10**12),
    "repeated names": pd.DataFrame([["a", "b", "left"]], columns=["left", "left", "outcome"]),
    "complex column": pd.DataFrame({"left": [1j], "right": ["b"], "outcome": ["left"]}),
}
PASSED_ON = {
    "datasets.items": "read_items",
    "datasets.load": "read_duels",
    "merge": "read_duels",
    "export": analyse,
    "site": analyse,
    "predict": "predict",
    "models.Covariates": "models.ItemCovariates",
    "models.named": "BradleyTerry",
    "problems.named": "problems.named",
    "Study.fit": "fit",
    "Study.plan": "study.plan",
    "Study.report": "report",
    "Study.winners": "winners",
    "Prior": lambda *, mu, sigma: (mu, sigma),
}  # where a function's ``**options`` go: a public name, or a function
UNKNOWN = "junk"  # an option that no function has
READ = {
    "path_or_frame": ("no such file", "pandas DataFrame", "wins", "list", "column", "a table"),
    "parts": ("no such file",),
    **dict.fromkeys(("duels", "fit", "log"), ("pandas DataFrame",)),
    "path": ("is not a file",),
    "futures": ("n_futures",),
    "by": ("for each vote",),
    "missing": ("column 'left'",),
    "columns": ("attribute",),
    "problem": ("P",),
    "of": ("columns",),
}  # what a reader names in place of the argument
CALLED = ("step", "progress", "criterion")  # what a function of the user raises is not ours
EXPECTED = (ValueError, TypeError, OSError, KeyError, ImportError)  # the last: a missing extra


class Case:
    """A call with junk in one argument."""

    def __init__(self, name: str, argument: str, what: str) -> None:
        self.name, self.argument, self.what = name, argument, what

    @property
    def key(self) -> str:
        """The call in words."""
        return f"{self.name}({self.argument}={self.what})"


def cases(name: str, value: Any) -> list[Case]:
    """Return the calls of a public name: each argument in turn is each kind of junk.

    An argument that is passed on (``**options``) is one of the function that it is passed on to, or
    one that nobody knows.

    Raises
    ------
    LookupError
        If it has required arguments, and neither a sound call nor a reason to be left out.
    """
    if name in LEFT_OUT:
        return []
    parameters = [p for p in inspect.signature(value).parameters.values() if p.name != "self"]
    plain = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    required = [p.name for p in plain if p.default is p.empty]
    if name not in CALLS and (required or not inspect.isclass(value)):
        raise LookupError(f"{name} should have a sound call in CALLS or a reason in LEFT_OUT")
    named = [p.name for p in plain]
    if len(plain) < len(parameters):
        passed_on = PASSED_ON[name]
        target = public_names()[passed_on] if isinstance(passed_on, str) else passed_on
        target = inspect.signature(target).parameters.values()
        named += [p.name for p in target if p.kind == p.KEYWORD_ONLY and p.name not in named]
        named.append(UNKNOWN)
    return [
        Case(name, argument, what)
        for argument in named
        for what in JUNK
        if not (argument in CALLED and callable(JUNK[what]))
        and (argument != UNKNOWN or what == "None")
    ]


def answers(case: Case, value: Any, world: World) -> tuple[str, str]:
    """Return what kind of answer a call gets, and the words."""
    owner, _, method = case.name.partition(".")
    if owner in METHODS and "self" in inspect.signature(value).parameters:
        instance = {"Study": lambda: world.study, "Comparison": lambda: world.comparison,
                    "Duels": lambda: world.log, "Health": lambda: bd.health(world.log),
                    "Pulls": lambda: bd.Pulls.from_rows(["a"], [1])}[owner]()  # fmt: skip
        value = getattr(instance, method)
    sound = CALLS[case.name](world) if case.name in CALLS else {}
    sound[case.argument] = JUNK[case.what]
    try:
        with warnings.catch_warnings(), _limit():
            warnings.simplefilter("ignore")
            given = value(**sound)
            if inspect.isgenerator(given):
                next(given, None)
    except TimeoutError:
        return "no answer", f"nothing in {LIMIT} s"
    except (Exception, RecursionError) as error:
        return _judged(case, error), f"{type(error).__name__}: {error}"
    finally:
        import matplotlib.pyplot as plt

        plt.close("all")
    return "answered", ""


def _judged(case: Case, error: Exception) -> str:
    words = str(error)
    if case.argument == UNKNOWN and f"unexpected keyword argument '{UNKNOWN}'" in words:
        return "refused"  # as Python refuses it of any function
    own = type(error).__module__.startswith("bayesduel")
    if not own and not isinstance(error, EXPECTED):
        return "other type"
    if not _raised_here(error.__traceback__):
        return "foreign"
    if own or isinstance(error, ImportError):
        return "refused"
    spelt = (case.argument, case.argument.rstrip("s"), case.argument.replace("_", " "))
    spelt += READ.get(case.argument, ())
    if any(re.search(rf"\b{re.escape(w)}", words) for w in spelt) and len(words) < 2_000:
        return "refused"
    return "unnamed"


def _raised_here(trace: TracebackType | None) -> bool:
    """Return whether a ``raise`` of the package is where an error began."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    code = trace.tb_frame.f_code
    if not Path(code.co_filename).is_relative_to(PACKAGE):
        if not Path(code.co_filename).is_relative_to(MODELS):
            return False
    operations = {i.offset: i.opname for i in dis.get_instructions(code)}
    return operations.get(trace.tb_lasti) in ("RAISE_VARARGS", "RERAISE")


@contextmanager
def _limit() -> Iterator[None]:
    """Raise TimeoutError in a block that takes longer than LIMIT seconds."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
