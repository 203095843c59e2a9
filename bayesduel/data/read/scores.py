"""The votes of a table of scores: each pair of models with a score of an item is a duel."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesduel.data.read.columns import Columns
from bayesduel.data.read.in_memory import as_frame
from bayesduel.data.read.source import bad_row, open_log
from bayesduel.data.votes import ReadSummary

if TYPE_CHECKING:
    from bayesduel.data.read.in_memory import Readable

__all__ = ["votes_of_scores"]

POINTS = {"left": 1.0, "right": 0.0, "tie": 0.5}
TAKEN = {
    "left": "model_a",
    "right": "model_b",
    "outcome": "winner",
    "margin": "margin",
    "judge": "judge",
    "group": "prompt",
}


def votes_of_scores(path_or_frame: "Readable", given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of :meth:`bayesduel.Duels.from_votes` for a table of scores.

    given: its columns ``item``, ``model`` and ``score``, None where they are to be found, whether
        there is a ``margin``, and whether the ``lower_is_better`` (None: not said).
    Raises ValueError if it is no table of scores, or a score is no number.
    """
    frame, words = as_frame(path_or_frame)
    with open_log(frame, words=words, shape="scores", given=given) as source:
        source.say(*source.remarks())
        there = source.columns()
        columns = Columns({role: name for role, name in TAKEN.items() if name in there})
        votes: dict[str, Any] = {}
        for role, column in source.texts(columns).items():
            votes[role] = column.texts
        if None in votes["outcome"]:
            raise bad_row(source, columns, _fault)
        votes["outcome"] = [POINTS[winner] for winner in votes["outcome"]]
        if "margin" in votes:
            votes["margin"] = [float(text) for text in votes["margin"]]
        summary = ReadSummary(
            source=source.words,
            files=source.files,
            columns=columns.taken,
            n_rows=len(votes["left"]),
        )
    return votes | {"read_summary": summary}


def _fault(row: Mapping[str, str | None]) -> str:
    """Return what is wrong with a row of a pair, "" if nothing."""
    if row["outcome"] is not None:
        return ""
    return f"a score should be of a model and an item, got {row['left']!r} and {row['group']!r}"
