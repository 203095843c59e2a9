"""Options of an earlier version: hidden, and refused with the name of today."""

from collections.abc import Callable
from typing import Any

import click

__all__ = ["renamed_flag", "renamed_option"]


def renamed_option(old: str, new: str) -> Callable[..., Any]:
    """Return an option `old` that takes a value, and says that it is now called `new`."""
    return click.option(old, hidden=True, expose_value=False, callback=_refusal(old, new))


def renamed_flag(old: str, new: str) -> Callable[..., Any]:
    """Return an option `old` without a value, which says that it is now called `new`."""
    return click.option(
        old, is_flag=True, hidden=True, expose_value=False, callback=_refusal(old, new)
    )


def _refusal(old: str, new: str) -> Callable[..., None]:
    def refuse(_: click.Context, __: click.Parameter, value: object) -> None:
        if value not in (None, False):
            raise click.UsageError(f"{old} is now called {new}")

    return refuse
