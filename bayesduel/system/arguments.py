"""Checks of arguments that many functions share: the argument, the rule and the value."""

import datetime
import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from numbers import Integral, Rational, Real
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "LARGEST_FLOAT",
    "Progress",
    "as_options",
    "by_reader",
    "check_call",
    "check_flag",
    "check_labels",
    "check_length",
    "check_log",
    "check_names",
    "check_noun",
    "check_one_of",
    "check_range",
    "check_seed",
    "check_text",
    "check_type",
    "check_utf8",
    "column_of",
    "command_line",
    "did_you_mean",
    "finite",
    "labels_of",
    "listed",
    "numbers",
    "path_of",
    "real",
    "refused_arguments",
    "renamed_arguments",
    "shown_value",
    "text_of",
    "texts_of",
    "whole",
]

Progress = Callable[[float], None] | None  # called with the share of the work done, from 0 to 1
LARGEST = 2**53  # larger whole numbers are not exact in float64
LARGEST_FLOAT = sys.float_info.max
LARGEST_SEED = 2**128
LONGEST = 10**8  # entries of a list, which take some 4 GB

_of_a_command: ContextVar[bool] = ContextVar("of_a_command", default=False)


def whole(value: object, name: str, least: int, most: int = LARGEST) -> int:
    """Return a whole number from `least` to `most`, which may be given as a float such as 1e6.

    Raises ValueError if it is not whole, too small or too large, TypeError if it is not a number.
    """
    rule = f"{name} should be a whole number >= {least}, got {shown_value(value)}"
    if not isinstance(value, Real):
        raise TypeError(rule)
    try:
        number = int(cast(Any, value))
    except (ValueError, OverflowError) as error:
        raise TypeError(rule) from error
    if isinstance(value, bool) or number != value or number < least:
        raise ValueError(rule)
    if number > most:
        raise ValueError(f"{name} should be at most {most:,}, got {shown_value(value)}")
    return number


def real(value: object, name: str, *, none: bool = False) -> None:
    """Raise TypeError unless an argument is a number that a float can hold, or None if allowed."""
    if none and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} should be {'None or ' * none}a number, got {shown_value(value)}")
    if isinstance(value, Rational) and abs(cast(Any, value)) > LARGEST_FLOAT:
        raise TypeError(f"{name} should be a number that fits a float, got {shown_value(value)}")


def check_range(value: Any, name: str, rule: str) -> None:
    """Raise TypeError or ValueError unless an argument is a number as `rule` says; NaN never is.

    Rules are "> 0.5", ">= 0", "at least 1", "in [0, 0.5)" and "positive and finite".
    """
    real(value, name)
    plain = rule.removesuffix(" and finite").replace("positive", "> 0")
    if plain.startswith("in "):
        low, high = map(float, plain[4:-1].split(", "))
        edge = (value == low and plain[3] == "[") or (value == high and plain[-1] == "]")
        holds = low < value < high or edge
    else:
        sign, bound = plain.rsplit(" ", 1)
        holds = value > float(bound) if sign == ">" else value >= float(bound)
    if not holds or (rule.endswith("finite") and value > LARGEST_FLOAT):
        raise ValueError(f"{name} should be {rule}, got {value}")


def finite(value: object, name: str) -> float:
    """Return a finite number as a float.

    Raises ValueError if it is infinite, NaN or too large for a float, TypeError if it is no number.
    """
    rule = f"{name} should be a finite number, got {shown_value(value)}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(rule)
    if not abs(cast(Any, value)) <= LARGEST_FLOAT:
        raise ValueError(rule)
    return float(value)


def numbers(value: object, name: str) -> "np.ndarray":
    """Return an array of float64; raise TypeError if it is not one of numbers."""
    import numpy as np

    check_length(value, name)
    if isinstance(value, list | tuple):
        value = [np.nan if entry is np.ma.masked else entry for entry in value]
    try:
        if isinstance(value, np.ma.MaskedArray):
            return np.ma.filled(value.astype(float), np.nan)
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        rule = f"{name} should be an array of numbers, got {shown_value(value)}"
        raise TypeError(rule) from error


def column_of(value: object, name: str) -> "np.ndarray":
    """Return an iterable of numbers as an array (n,) of float64, or raise TypeError."""
    column = numbers(value if hasattr(value, "__array__") else listed(value, name), name)
    if column.ndim != 1:
        raise TypeError(f"{name} should be a list of numbers, got shape {column.shape}")
    return column


def check_labels(arms: Any) -> None:
    """Raise TypeError unless `arms` is a tuple of labels."""
    if not isinstance(arms, tuple) or not all(isinstance(arm, str) for arm in arms):
        raise TypeError(f"arms should be a tuple of labels, got {shown_value(arms)}")


def labels_of(value: object, name: str) -> "list[str | None]":
    """Return an iterable of labels (texts, numbers, dates) as texts; None where one is missing.

    Raises TypeError if it is no such iterable.
    """
    if isinstance(value, bytes | Mapping):
        raise TypeError(f"{name} should be a list of labels, got {shown_value(value)}")
    return [_label(entry, name) for entry in listed(value, name)]


def check_one_of(value: object, name: str, allowed: Sequence[str]) -> None:
    """Raise ValueError unless a setting is one of some words."""
    if not isinstance(value, str) or value not in allowed:
        words = [repr(word) for word in allowed]
        rule = f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
        hint = did_you_mean(value, allowed) if isinstance(value, str) else ""
        raise ValueError(f"{name} should be {rule}, got {shown_value(value)}{hint}")


@contextmanager
def command_line() -> Iterator[None]:
    """Let messages name settings as options meanwhile, ``--judge ann``: a command is running."""
    before = _of_a_command.set(True)
    try:
        yield
    finally:
        _of_a_command.reset(before)


def by_reader(python: str, command: str) -> str:
    """Return the words for who reads a message: one who calls Python, or who runs a command."""
    return command if _of_a_command.get() else python


def as_options(**given: Any) -> str:
    """Return settings as the reader of a message gives them.

    In Python ``judge='ann', time=False``, on the command line ``--judge ann --time none``. None
    stands for no value: ``judge=``, ``--judge``.
    """
    python = [f"{name}={'' if value is None else repr(value)}" for name, value in given.items()]
    command = [_as_option(name, value) for name, value in given.items()]
    return by_reader(", ".join(python), " ".join(command))


def _as_option(name: str, value: Any) -> str:
    """Return a setting as a shell takes it."""
    option = f"--{name.replace('_', '-')}"
    if value is None or value is True:
        return option
    if isinstance(value, Mapping):
        value = [f"{_quoted(str(key))}={meant}" for key, meant in value.items()]
    if isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    if value is False:
        return f"{option} none"
    text = str(value)
    alone = not any(map(str.isalnum, text)) and quote(text) == text  # a comma is easily overlooked
    return f"{option} '{text}'" if alone else f"{option} {quote(text)}"


def _quoted(key: str) -> str:
    """Return a value of a list, such as that of ``--means``, whose commas are its own."""
    return f'"{key}"' if set(key) & set(',"\n') else key


def did_you_mean(word: object, known: Iterable[str], what: str = "") -> str:
    """Return the end of a message that names the known name nearest to a word, or "".

    Case is of no account: "gpt" is near "GPT". what: words before that name, such as "the arm ".
    """
    from difflib import get_close_matches  # only a message needs it

    by_word = {name.casefold(): name for name in known}
    near = get_close_matches(str(word).casefold(), by_word, n=1)
    return f"; did you mean {what}{by_word[near[0]]!r}?" if near else ""


def check_seed(seed: object) -> None:
    """Raise TypeError or ValueError unless an argument is a seed."""
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise TypeError(f"seed should be a whole number >= 0, got {shown_value(seed)}")
    if not 0 <= int(seed) <= LARGEST_SEED:
        raise ValueError(f"seed should be a whole number from 0 to 2**128, got {shown_value(seed)}")


def generator_of(rng: object) -> Any:
    """Return a NumPy generator of random numbers: `rng` itself, or that of a seed."""
    import numpy as np

    if isinstance(rng, int | np.integer) and not isinstance(rng, bool):
        return np.random.default_rng(whole(rng, "rng", 0))
    check_type(rng, np.random.Generator, "rng", "a numpy.random.Generator or a seed")
    return rng


def check_flag(value: object, name: str) -> None:
    """Raise TypeError unless an argument is True or False."""
    if value is not True and value is not False and type(value).__name__ != "bool":
        raise TypeError(f"{name} should be True or False, got {shown_value(value)}")


def check_call(value: object, name: str, *, none: bool = False) -> None:
    """Raise TypeError unless an argument is a function, or None if allowed."""
    if not callable(value) and not (none and value is None):
        raise TypeError(f"{name} should be a function, got {shown_value(value)}")


def check_noun(noun: object) -> None:
    """Raise TypeError or ValueError unless an argument can be what an arm is called."""
    check_text(noun, "noun")
    words = str(noun)
    fits = len(words) <= 40  # half a line of a screen
    if not (words.strip() and fits and words.isprintable()):
        raise ValueError(
            f'noun should be what an arm is called, such as "model", got {shown_value(noun)}'
        )


def check_text(value: object, name: str, *, none: bool = False) -> None:
    """Raise TypeError or ValueError unless an argument is UTF-8 text, or None if allowed."""
    if isinstance(value, str):
        check_utf8(value, f"{name} should be UTF-8 text")
    elif not (none and value is None):
        raise TypeError(f"{name} should be text, got {shown_value(value)}")


def path_of(value: object, name: str = "path") -> Path:
    """Return a path; raise TypeError or ValueError if an argument is none.

    Text and path objects are paths, bytes are not.
    """
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise TypeError(f"{name} should be a path, got {shown_value(value)}")
    text = os.fspath(value)
    if not text or "\0" in text or not _can_be_named(text):
        raise ValueError(f"{name} should be the path of a file, got {shown_value(value)}")
    return Path(value)


def _can_be_named(path: str) -> bool:
    """Return whether a path is one that the system can look for."""
    try:
        os.stat(path)
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    except OSError as error:
        return error.errno != errno.ENAMETOOLONG
    return True


def check_utf8(text: str, rule: str) -> None:
    """Raise ValueError if a text has half of a surrogate pair, which no file can hold."""
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError(f"{rule}, got {shown_value(text)}")


def check_names(value: object, name: str) -> None:
    """Raise TypeError unless an argument is the name of a column."""
    check_type(value, str, name, "the name of a column")


def texts_of(value: object, name: str) -> tuple[str, ...]:
    """Return an iterable of texts as a tuple; raise TypeError if it is something else."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise TypeError(f"{name} should be a list of names, got {shown_value(value)}")
    texts = listed(value, name)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{name} should be a list of names, got {shown_value(value)}")
    return texts


def listed(value: object, name: str) -> tuple[Any, ...]:
    """Return an iterable as a tuple; raise TypeError if it is not one."""
    rule = f"{name} should be a list, got {shown_value(value)}"
    if not isinstance(value, Iterable):
        raise TypeError(rule)
    check_length(value, name)
    try:
        return tuple(value)
    except TypeError as error:  # an array without an axis
        raise TypeError(rule) from error


def check_length(value: object, name: str) -> None:
    """Raise ValueError if a list has more entries than would be held in memory; arrays may."""
    if isinstance(value, Sized) and not hasattr(value, "__array__"):
        try:
            n = len(value)
        except OverflowError:
            n = sys.maxsize
        if n > LONGEST:
            raise ValueError(f"{name} should be a list of at most {LONGEST:,} entries, got {n:,}")


def _label(entry: object, name: str) -> str | None:
    if isinstance(entry, str):
        check_utf8(entry, f"{name} should be a list of labels of UTF-8 text")
        return str(entry)
    if isinstance(entry, Iterable) or (isinstance(entry, int) and abs(entry) > LARGEST_SEED):
        raise TypeError(f"{name} should be a list of labels, got {shown_value(entry)} in it")
    missing = entry is None or str(entry == entry) != "True"  # NaN, NaT, pandas.NA
    return None if missing else text_of(entry)


def text_of(value: object) -> str | None:
    """Return a value as text: numbers as Python writes them, so that 1 and 1.0 differ."""
    if value is None or isinstance(value, str):
        return value
    if type(value).__name__ == "bool":  # NumPy's too
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="backslashreplace")
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def check_type(value: object, kind: Any, name: str, rule: str) -> None:
    """Raise TypeError unless an argument is of a class, or of one of several: what `rule` says."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} should be {rule}, got {shown_value(value)}")


def check_log(value: object, kind: type, name: str = "duels", see: str = "") -> None:
    """Raise TypeError unless an argument is a log; `see` says in brackets what makes one."""
    if not isinstance(value, kind):
        what = f"bayesduel.{kind.__name__}"
        got = type(value).__name__
        why = {
            "Rankings": "; places of one ranking are not independent duels "
            "(winners, top_k, predict, scores and report take rankings)",
            "DataTree": " (a fit?): pass the log that it was made of",
            "Fit": ": pass the log that it was made of",
            "Study": ": pass its duels, study.duels(), or ask it for study.fit()",
        }.get(got, "")
        raise TypeError(f"{name} should be a {what}{see}, got {got}{why}")


def shown_value(value: object) -> str:
    """Return a value for a message, at most 60 characters in one line."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**40:
        return f"a number of about {int(value.bit_length() * 0.30103):,} digits"
    numpy = sys.modules.get("numpy")  # not imported, so that the help of a command is quick
    if numpy is not None and isinstance(value, numpy.ndarray):
        return f"an array of shape {value.shape}"
    if numpy is not None and isinstance(value, numpy.generic):
        value = value.item()
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # a number of many digits inside, or too deep
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def renamed_arguments[**P, R](
    **now: str,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return the decorator of a function that names the new name of an argument's old one.

    now: the new name by the old one. A call with an old name raises TypeError.
    """
    words = {name: f"argument {name!r} is now called {new!r}" for name, new in now.items()}
    return refused_arguments(**words)


def refused_arguments[**P, R](
    **words: str,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return the decorator of a function that says what to give in place of an argument.

    words: what is said, by the name of an argument that the function does not have. A call with one
    raises TypeError.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: P.args, **given: P.kwargs) -> R:
            for name in words.keys() & given.keys():
                raise TypeError(words[name])
            return function(*args, **given)

        return called

    return decorate
