"""The column that separates the parts of a log that never met."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.health import components
from bayesduel.data.read.columns import Columns, Roles
from bayesduel.system.arguments import as_options

if TYPE_CHECKING:
    from bayesduel.data.read.shape import Source

__all__ = ["remark_on_components"]

SEARCHED = 1_000_000  # rows up to which columns are searched: each is read once more
OF_VOTES = ("left", "right", "outcome", "margin", "margin_right", "weight")


def remark_on_components(source: "Source", roles: Roles, log: Duels) -> None:
    """Say on stderr which column separates the components of a log, if there are several."""
    parts = components(log)
    if len(parts) < 2:
        return
    found = f"{len(parts):,} components never met"
    if log.read_summary.n_rows > SEARCHED:
        source.say(f"{found}; no column was searched for what separates them")
        return
    column = _separating(source, roles, parts)
    if column is not None:
        source.say(
            f"{found}, and {column!r} separates them: {as_options(by=column)} ranks each by itself"
        )


def _separating(source: Any, roles: Roles, parts: Sequence[Sequence[str]]) -> str | None:
    """Return the column of most values that has one value in each component, or None."""
    part_of = {arm: k for k, part in enumerate(parts) for arm in part}
    used = {roles.taken[role] for role in OF_VOTES if role in roles.taken}
    found = {}
    for column in source.columns():
        if column in used:
            continue
        read = source.texts(Columns({"left": roles.left, "by": column}))
        left = read["left"]
        places = [part_of.get(arm.strip(), -1) for arm in left.values]
        by_code = np.array([*places, -1])
        part = by_code[left.code]
        value = read["by"].code
        known = (part >= 0) & (value >= 0)
        pairs = np.unique(np.stack([part[known], value[known]]), axis=1)
        n_values = len(np.unique(pairs[1]))
        if pairs.shape[1] == len(parts) and n_values > 1:
            found[column] = n_values
    return max(found, key=lambda column: found[column], default=None)
