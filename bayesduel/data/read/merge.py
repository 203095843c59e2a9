"""Merge parts of a log that were counted apart: the union of their shards."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bayesduel.data.categories import parts_of_logs, summed
from bayesduel.data.duels import Duels
from bayesduel.data.read.address import is_address, shown_address
from bayesduel.data.read.duels import read_duels
from bayesduel.data.read.formats import expand
from bayesduel.data.shards import SHARD, columns
from bayesduel.data.votes import cells_of, distinct
from bayesduel.system.arguments import shown_value

__all__ = ["merge"]


def merge(parts: Any, **options: Any) -> Duels:
    """Merge parts of a log that were counted apart, each shard once.

    Parameters
    ----------
    parts
        A list of count files, addresses and logs (:meth:`Duels.counted`), or a glob. A count file
        is a table that :func:`bayesduel.read_duels` reads, with a row for each different vote, a
        column ``weight`` of how many there were and a column ``shard``, as
        ``log.to_frame().to_parquet(path)`` writes it, or a query of any database. A folder is
        one part. A part without the column ``shard`` is a shard, which is called as its file is.
    options
        Of :func:`bayesduel.read_duels`, for the parts that are not logs yet.

    Returns
    -------
    The log of all shards. Its votes keep the name of theirs, so that it can be merged again.

    Raises
    ------
    ValueError
        If a shard has other counts in another part, a row or a log has no shard, or the parts
        have different columns or tie rules.

    Examples
    --------
    >>> import bayesduel as bd
    >>> monday = bd.read_duels([("a", "b", "left"), ("a", "b", "left")], shard="monday")
    >>> tuesday = bd.read_duels([("b", "a", "left")], shard="tuesday")
    >>> bd.merge([monday, tuesday, monday]).n_duels
    3
    """
    by = options.get("by")
    if by is not None:
        raise ValueError(f"by should be None, as parts are of one log, got {shown_value(by)}")
    given = parts if isinstance(parts, list | tuple) else [parts]
    if not given:
        raise ValueError("parts should have at least one, got none")
    for part in given:
        if not isinstance(part, Duels | str | os.PathLike) or not part:
            raise TypeError(f"parts should be logs, paths and addresses, got {shown_value(part)}")
    if options and all(isinstance(part, Duels) for part in given):
        raise TypeError(f"options should be left out where all parts are logs, got {[*options]}")
    each: list[Any] = []
    for part in given:
        whole = isinstance(part, Duels) or is_address(part) or os.path.isdir(part)
        each += [part] if whole else expand(part)
    logs = [_counted(part, options) for part in each]
    sources = [log.read_summary.source for log in logs]
    named = {}
    for k, (source, log) in enumerate(zip(sources, logs, strict=True), 1):
        named[f"part {k}, {source}"] = log
    fields = parts_of_logs(named)
    votes = fields["votes"]
    first, _ = distinct(*columns(votes), votes.weight)
    code, shards = votes.kept[SHARD]
    sizes = [len(log.votes or ()) for log in logs]
    log_of_row = np.repeat(np.arange(len(logs)), sizes)
    n_rows = np.zeros((len(logs), len(shards)), dtype=np.int64)
    np.add.at(n_rows, (log_of_row, code), 1)
    n_different = np.bincount(code[first], minlength=len(shards))
    holds = n_rows > 0
    differs = holds & (n_rows != n_different)
    if differs.any():
        place, shard = np.argwhere(differs)[0]
        holding = np.flatnonzero(holds[:, shard])
        other = holding[holding != place][0]
        raise ValueError(
            f"{sources[place]}: shard {shards[shard]!r} should have the same counts wherever it "
            f"is, got others in another part, {sources[other]}"
        )
    votes = votes.take(first)
    first_log = holds.argmax(axis=0)  # of each shard
    new = [logs[k] for k in np.unique(first_log)]
    sides = fields["teams"] or fields["arms"]
    fields["votes"] = votes
    fields["cells"] = cells_of(votes, len(sides))
    fields["read_summary"] = replace(fields["read_summary"], **summed(new))
    return Duels(**fields)


def _counted(part: Duels, options: dict[str, Any]) -> Duels:
    """Return a part as a log whose votes all have a shard."""
    log = part
    if not isinstance(part, Duels):
        name = shown_address(part) if is_address(part) else Path(part).name
        log = read_duels(part, shard=name, **options)
    code = np.array([-1])
    if log.votes is not None and SHARD in log.votes.kept:
        code, _ = log.votes.kept[SHARD]
    if code.min() < 0:
        pair = ""
        if len(code) == len(log.rows):
            k = code.argmin()
            left = log.sides[log.rows.left[k]]
            right = log.sides[log.rows.right[k]]
            pair = f": {left} against {right}"
        raise ValueError(
            f"{log.read_summary.source}: a log to merge should have a shard in every row "
            f"(Duels.counted), got one without{pair}. To join logs that are no parts of one, read "
            "them together: read_duels([one, another])"
        )
    return log
