"""Objects written on a command line: ``CCB,DTS(alpha=0.6)`` to the policies it names."""

import ast
from collections.abc import Mapping
from dataclasses import is_dataclass
from types import ModuleType
from typing import Any

import click

__all__ = ["constructed"]


def constructed(
    text: str,
    option: str,
    kinds: ModuleType | Mapping[str, Any],
    within: tuple[ModuleType, ...] = (),
) -> list[Any]:
    """Return the objects of a comma-separated list of names, settings in brackets.

    Nothing is evaluated but literals and calls of the names that the modules list.

    Parameters
    ----------
    text
        Such as ``CCB,DTS(belief=Laplace(BradleyTerry(scale=1.0)))``.
    option
        Name of the option, for messages.
    kinds
        Module whose ``__all__`` the objects are named in, or what makes them, by name.
    within
        Modules whose names may stand for settings.

    Raises
    ------
    click.UsageError
        If `text` is not such a list, or an object refuses its settings.
    """
    try:
        parts = ast.parse(f"({text},)", mode="eval").body.elts  # type: ignore[attr-defined]
    except SyntaxError as error:
        raise click.UsageError(
            f"{option} should be like NAME,NAME(setting=0.6), got {text!r}"
        ) from error
    outer = dict(kinds) if isinstance(kinds, Mapping) else _named(kinds)
    inner = {name: made for module in within for name, made in _named(module).items()}
    made = []
    for part in parts:
        if _name(part) not in outer:
            raise click.UsageError(
                f"{option} should be of {', '.join(outer)}, got {ast.unparse(part)!r}"
            )
        made.append(_object(part, outer, inner))
    return made


def _named(module: ModuleType) -> dict[str, Any]:
    """Return the classes with settings that a module lists, by name."""
    listed = {name: getattr(module, name) for name in module.__all__}
    return {name: kind for name, kind in listed.items() if is_dataclass(kind)}


def _name(node: ast.AST) -> str | None:
    node = node.func if isinstance(node, ast.Call) else node
    return node.id if isinstance(node, ast.Name) else None


def _object(node: ast.AST, known: Mapping[str, Any], inner: Mapping[str, Any]) -> Any:
    """Return what a name stands for, called with its settings."""
    name = str(_name(node))
    if not isinstance(node, ast.Call):
        return known[name]()
    places = [_value(argument, inner) for argument in node.args]
    settings = {str(k.arg): _value(k.value, inner) for k in node.keywords}
    try:
        return known[name](*places, **settings)
    except (TypeError, ValueError) as error:
        raise click.UsageError(f"{name}: {error}") from error


def _value(node: ast.AST, inner: Mapping[str, Any]) -> Any:
    """Return a setting: a literal, or an object of the names that may stand for one."""
    if _name(node) in inner:
        return _object(node, inner, inner)
    try:
        return ast.literal_eval(node)  # type: ignore[arg-type]
    except ValueError as error:
        raise click.UsageError(
            f"a setting should be a number, a quoted word or one of {', '.join(inner)}, "
            f"got {ast.unparse(node)!r}"
        ) from error
