"""Checks of arguments that many functions share: the argument, the rule and the value."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["check_log", "check_names", "check_one_of", "listed", "shown_value", "texts_of", "whole"]

LARGEST = 2**53  # larger whole numbers are not exact in float64


def whole(value: Any, name: str, least: int, most: int = LARGEST) -> int:
    """Return a whole number from `least` to `most`, which may be given as a float such as 1e6.

    Raises
    ------
    ValueError
        If it is not whole, too small or too large.
    TypeError
        If it is not a number.
    """
    rule = f"{name} should be a whole number >= {least}, got {shown_value(value)}"
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(rule) from error
    if isinstance(value, np.ndarray) or number != value or number < least:
        raise ValueError(rule)
    if number > most:
        raise ValueError(f"{name} should be at most {most:,}, got {shown_value(value)}")
    return number


def check_one_of(value: Any, name: str, allowed: Sequence[str]) -> None:
    """Raise ValueError unless a setting is one of some words."""
    if not isinstance(value, str) or value not in allowed:
        words = [repr(word) for word in allowed]
        rule = f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
        raise ValueError(f"{name} should be {rule}, got {shown_value(value)}")


def check_names(value: Any, name: str) -> None:
    """Raise TypeError unless an argument is the name of a column."""
    if not isinstance(value, str):
        raise TypeError(f"{name} should be the name of a column, got {shown_value(value)}")


def texts_of(value: Any, name: str) -> tuple[str, ...]:
    """Return an iterable of texts as a tuple; raise TypeError if it is something else."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise TypeError(f"{name} should be a list of names, got {shown_value(value)}")
    texts = tuple(value)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{name} should be a list of names, got {shown_value(value)}")
    return texts


def listed(value: Any, name: str) -> tuple[Any, ...]:
    """Return an iterable as a tuple; raise TypeError if it is none."""
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} should be a list, got {shown_value(value)}")
    return tuple(value)


def check_log(value: Any, kind: type, name: str = "duels") -> None:
    """Raise TypeError unless an argument is a log."""
    if not isinstance(value, kind):
        what = f"bayesduel.{kind.__name__}"
        raise TypeError(f"{name} should be a {what}, got {type(value).__name__}")


def shown_value(value: Any) -> str:
    """Return a value for a message, at most 60 characters in one line."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**40:
        return f"a number of about {int(value.bit_length() * 0.30103):,} digits"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
