"""A group of commands whose options of one value are given once."""

from collections.abc import Sequence
from itertools import takewhile

import click

__all__ = ["GivenOnce"]


class GivenOnce(click.Group):
    """Commands by name; an option that is given twice is refused."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that `args` start with, its name and the arguments after it."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            _check_once(click.Context(command, ctx, name), rest)
        return name, command, rest


def _check_once(ctx: click.Context, args: Sequence[str]) -> None:
    """Raise a usage error for an option of one value that is given twice: Click takes the last."""
    before_arguments = [*takewhile(lambda arg: arg != "--", args)]
    names = [arg.partition("=")[0] for arg in before_arguments]
    for option in ctx.command.params:
        if not isinstance(option, click.Option) or option.multiple or option.is_flag:
            continue
        given = [name for name in names if name in option.opts]
        if len(given) > 1:
            rule = f"{given[0]} should be given once, got it {len(given)} times"
            raise click.UsageError(rule, ctx)
