"""Settings: dataclasses with one check of their fields, and docstrings that are completed."""

import re
from dataclasses import fields
from inspect import cleandoc, get_annotations
from numbers import Integral
from textwrap import fill, indent
from typing import Any, ClassVar, get_args

from bayesduel.system.arguments import check_flag, check_range, did_you_mean, real, shown_value

__all__ = ["Settings", "completed"]

PLAIN = {int, float, bool, type(None)}  # what a field of numbers and flags may be
LARGEST = 2**63 - 1  # compiled code keeps whole numbers in 64 bits


class Settings:
    """The base of frozen dataclasses of settings.

    A docstring describes the settings that are the own of its class. Those described in a base
    class, what is refused, and a base's example if there is no own, are added to it.
    """

    # what numbers among the settings should be, as for ``check_range``: "> 0.5", "at least 1", "in
    # [0, 0.5)" or "positive and finite"
    ranges: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Complete the docstring."""
        super().__init_subclass__(**options)
        if cls.__doc__ is not None:
            cls.__doc__ = completed(cls)

    def __post_init__(self) -> None:
        check_settings(self)


def check_settings(settings: Any) -> None:
    """Raise TypeError or ValueError unless fields are of their types and numbers in their `ranges`.

    Fields of other types than numbers, flags and words (``Literal``) are left to the class itself,
    and so is an object of a class that the type of a field names beside these.
    """
    others = set()
    for field in fields(settings):
        name = field.name
        value = getattr(settings, field.name)
        got = shown_value(value)
        words = get_args(field.type)
        kinds: set[Any] = set(words) or {field.type}
        classes = tuple(k for k in kinds - PLAIN if isinstance(k, type))
        if kinds & PLAIN and isinstance(value, classes):
            others.add(name)
            continue
        kinds -= set(classes) if kinds & PLAIN else set()
        huge = isinstance(value, Integral) and abs(int(value)) > LARGEST
        plain = kinds <= PLAIN
        none = type(None) in kinds
        if (words or plain) and getattr(value, "ndim", False):
            raise TypeError(f"{name} should be one value, got {got}")
        if words and all(isinstance(word, str | int) for word in words):
            alike = isinstance(value, str | int) and not huge
            if not alike or value not in words:
                known = [word for word in words if isinstance(word, str)]
                hint = did_you_mean(value, known) if isinstance(value, str) else ""
                rule = f"{name} should be one of {', '.join(map(repr, words))}, got {got}{hint}"
                raise ValueError(rule) if alike else TypeError(rule)
        if (value is None and none) or not plain:
            continue
        if kinds & {int, float}:
            real(value, name, none=none)
        if int in kinds and float not in kinds and not isinstance(value, Integral):
            raise TypeError(f"{name} should be a whole number, got {got}")
        if bool in kinds:
            check_flag(value, name)
        if huge:
            raise ValueError(f"{name} should be at most {LARGEST:,}, got {got}")
    for name, rule in ranges_of(type(settings)).items():
        value = getattr(settings, name, None)
        if value is not None and name not in others:
            check_range(value, name, rule)


def ranges_of(kind: type) -> dict[str, str]:
    """Return the rules of the numbers among the settings of a class and of its bases."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        found |= vars(one).get("ranges", {})
    return found


def completed(cls: type) -> str:
    """Return the docstring of a class with all of its settings, and with what is refused."""
    summary, *sections = _sections(cls)
    entries = {n: entry for kind in reversed(cls.__mro__) for n, entry in _entries(kind).items()}
    made = [k for k in cls.__mro__[::-1] if "__dataclass_fields__" in vars(k) or k is cls]
    # As text: a file with "from __future__ import annotations" has annotations of text alone, and a
    # class is no dataclass yet, whose `fields` would say.
    names = [n for k in made for n, of in get_annotations(k).items() if "ClassVar" not in str(of)]
    known = (entries[name] for name in names if name in entries)
    described = dict.fromkeys([*known, *_entries(cls).values()])
    parts = [summary, *(["\n".join(["Parameters\n----------", *described])] if described else [])]
    parts += [s for s in sections if not s.startswith(("Parameters\n", "Examples\n"))]
    if names and not any(section.startswith("Raises\n") for section in sections):
        rules = ", ".join(f"`{n}` {rule}" for n, rule in ranges_of(cls).items() if n in names)
        error = f"If a setting is not as described{rules and f'; {rules}'}."
        raised = "Raises\n------\nTypeError, ValueError\n" + indent(fill(error, 96), "    ")
        after = [k for k, part in enumerate(parts) if part.startswith("References\n")]
        parts.insert(after[0] if after else len(parts), raised)
    return "\n\n".join([*parts, *_examples(cls)])


def _examples(cls: type) -> list[str]:
    """Return the section of examples: its own, or that of the nearest base, about this class."""
    for kind in cls.__mro__:
        for section in _sections(kind):
            if section.startswith("Examples\n"):
                return [section.replace(f".{kind.__name__}()", f".{cls.__name__}()")]
    return []


def _sections(kind: type) -> list[str]:
    """Return the summary and the sections of a docstring."""
    return re.split(r"\n\n(?=\w+\n---)", cleandoc(kind.__doc__ or ""))


def _entries(kind: type) -> dict[str, str]:
    """Return the entries of a docstring's parameters by name; one may describe several names."""
    texts = [part.split("\n", 2)[2] for part in _sections(kind) if part.startswith("Parameters\n")]
    entries = re.split(r"\n(?=\S)", texts[0]) if texts else []
    return {n: entry for entry in entries for n in entry.partition("\n")[0].split(", ")}
