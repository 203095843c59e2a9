"""Settings: dataclasses with one check of their fields, and docstrings that are completed."""

import re
from dataclasses import fields
from inspect import cleandoc, get_annotations
from numbers import Integral
from textwrap import fill, indent
from typing import Any, ClassVar, get_args

from bayesduel.system.arguments import check_flag, check_range, did_you_mean, real, shown_value

__all__ = ["Settings", "completed", "own_settings"]

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
        # Written out, this would be 1,698 further lines in 127 of 153 classes, which repeat each
        # other; to complete those of policies and models takes 0.12 s of the 5 s of their import.
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
        words = get_args(field.type)
        kinds: set[Any] = set(words) or {field.type}
        if kinds & PLAIN:
            classes = {kind for kind in kinds - PLAIN if isinstance(kind, type)}
            if isinstance(value, tuple(classes)):
                others.add(name)
                continue
            kinds -= classes
        plain = kinds <= PLAIN
        single = plain or bool(words)
        if single and getattr(value, "ndim", False):
            raise TypeError(f"{name} should be one value, got {shown_value(value)}")
        if words and all(isinstance(word, str | int) for word in words):
            _check_word(value, name, words)
        elif plain:
            _check_plain(value, name, kinds)
    for name, rule in ranges_of(type(settings)).items():
        value = getattr(settings, name, None)
        if value is not None and name not in others:
            check_range(value, name, rule)


def _check_word(value: Any, name: str, words: tuple[Any, ...]) -> None:
    """Raise TypeError or ValueError unless a setting is one of these words."""
    alike = isinstance(value, str | int) and not _huge(value)
    if alike and value in words:
        return
    hint = ""
    if isinstance(value, str):
        known = [word for word in words if isinstance(word, str)]
        hint = did_you_mean(value, known)
    listed = ", ".join(map(repr, words))
    rule = f"{name} should be one of {listed}, got {shown_value(value)}{hint}"
    raise ValueError(rule) if alike else TypeError(rule)


def _check_plain(value: Any, name: str, kinds: set[Any]) -> None:
    """Raise TypeError or ValueError unless a setting is a number or flag of these types."""
    none = type(None) in kinds
    if value is None and none:
        return
    if kinds & {int, float}:
        real(value, name, none=none)
    whole = int in kinds and float not in kinds
    if whole and not isinstance(value, Integral):
        raise TypeError(f"{name} should be a whole number, got {shown_value(value)}")
    if bool in kinds:
        check_flag(value, name)
    if _huge(value):
        raise ValueError(f"{name} should be at most {LARGEST:,}, got {shown_value(value)}")


def _huge(value: Any) -> bool:
    if not isinstance(value, Integral):
        return False
    return abs(int(value)) > LARGEST


def ranges_of(kind: type) -> dict[str, str]:
    """Return the rules of the numbers among the settings of a class and of its bases."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        found |= vars(one).get("ranges", {})
    return found


def own_settings(kind: type) -> list[str]:
    """Return the names of the settings that a class has beside those of its bases."""
    # A class variable is told by its text, as ``dataclass`` tells it: ``get_type_hints`` raises
    # NameError for a name that a file imports under TYPE_CHECKING alone.
    annotations = get_annotations(kind).items()
    return [name for name, annotation in annotations if "ClassVar" not in str(annotation)]


def completed(cls: type) -> str:
    """Return the docstring of a class with all of its settings, and with what is refused."""
    summary, *sections = _sections(cls)
    # A class is no dataclass yet while it is made: `fields` would not say.
    made = [k for k in reversed(cls.__mro__) if k is cls or "__dataclass_fields__" in vars(k)]
    names = [name for kind in made for name in own_settings(kind)]
    parts = [summary]
    described = _described(cls, names)
    if described:
        parameters = ["Parameters\n----------", *described]
        parts.append("\n".join(parameters))
    for section in sections:
        if not section.startswith(("Parameters\n", "Examples\n")):
            parts.append(section)
    headings = [part.partition("\n")[0] for part in parts]
    if names and "Raises" not in headings:
        last = headings.index("References") if "References" in headings else len(parts)
        parts.insert(last, _raised(cls, names))
    parts += _examples(cls)
    return "\n\n".join(parts)


def _described(cls: type, names: list[str]) -> list[str]:
    """Return the entries of the settings of a class, those described in a base included."""
    entries: dict[str, str] = {}
    for kind in reversed(cls.__mro__):
        entries |= _entries(kind)
    known = [entries[name] for name in names if name in entries]
    every = [*known, *_entries(cls).values()]
    return list(dict.fromkeys(every))


def _raised(cls: type, names: list[str]) -> str:
    """Return the section on what is refused."""
    rules = []
    for name, rule in ranges_of(cls).items():
        if name in names:
            rules.append(f"`{name}` {rule}")
    error = "If a setting is not as described"
    if rules:
        listed = ", ".join(rules)
        error += f"; {listed}"
    text = fill(f"{error}.", 96)
    return "Raises\n------\nTypeError, ValueError\n" + indent(text, "    ")


def _examples(cls: type) -> list[str]:
    """Return the section of examples: its own, or that of the nearest base, about this class."""
    for kind in cls.__mro__:
        for section in _sections(kind):
            if section.startswith("Examples\n"):
                of_kind = f".{kind.__name__}()"
                of_class = f".{cls.__name__}()"
                return [section.replace(of_kind, of_class)]
    return []


def _sections(kind: type) -> list[str]:
    """Return the summary and the sections of a docstring."""
    text = cleandoc(kind.__doc__ or "")
    return re.split(r"\n\n(?=\w+\n---)", text)


def _entries(kind: type) -> dict[str, str]:
    """Return the entries of a docstring's parameters by name; one may describe several names."""
    found: dict[str, str] = {}
    for section in _sections(kind):
        if not section.startswith("Parameters\n"):
            continue
        _, _, text = section.split("\n", 2)
        for entry in re.split(r"\n(?=\S)", text):
            names = entry.partition("\n")[0]
            found |= dict.fromkeys(names.split(", "), entry)
    return found
