"""Mutations that change nothing a user can see, each with the reason."""

__all__ = ["EQUIVALENT"]

# By file, line and change.
EQUIVALENT: dict[tuple[str, str, str], str] = {}
