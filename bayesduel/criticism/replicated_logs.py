"""Logs that a model draws: who meets whom, under which conditions, is given."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.criticism.levels import log_of_votes, with_votes
from bayesduel.data.duels import Duels
from bayesduel.data.pulls import Pulls
from bayesduel.data.rankings import Rankings
from bayesduel.data.votes import ROLES
from bayesduel.posterior.conditions import times_of
from bayesduel.system.arguments import check_log

if TYPE_CHECKING:
    from bayesduel.models.model import Model

__all__ = ["conditions_of_log", "design_of", "duel_by_duel", "replicated"]


def design_of(design: Any) -> Duels | Pulls | Rankings:
    """Return a design as a log; outcomes of one that has none alternate.

    A frame has columns ``left`` and ``right``, ``duels`` (how many there are of the row) and any of
    the conditions that the model reads.
    """
    import narwhals as nw

    if isinstance(design, Duels):
        return design.as_plain()
    if isinstance(design, Pulls | Rankings):
        return design
    if not nw.dependencies.is_into_dataframe(design):
        check_log(design, Duels, "design", " or a frame with the columns left and right")
    try:
        frame = nw.from_native(design, eager_only=True)
    except nw.exceptions.DuplicateError:
        raise ValueError("design should be a frame whose columns have distinct names") from None
    columns = {name: frame[name].to_list() for name in frame.columns}
    missing = [name for name in ("left", "right") if name not in columns]
    if missing:
        raise ValueError(
            f"design should be a frame with a column {missing[0]!r}, got {frame.columns}"
        )
    left = columns.pop("left")
    right = columns.pop("right")
    time = columns.pop("time", None)
    number = columns.pop("duels", np.ones(len(left)))
    roles = {name: columns.pop(name, None) for name in ROLES}
    numeric = [name for name in columns if frame[name].dtype.is_numeric()]
    alternating = np.arange(len(left)) % 2.0
    return Duels.from_votes(
        left,
        right,
        alternating,
        weight=number,
        margin=2.0 * alternating - 1.0,
        time=None if time is None else times_of(np.asarray(time)),
        covariates={name: columns[name] for name in numeric},
        keep=columns,
        **roles,
    )


def duel_by_duel(log: Duels) -> Duels:
    """Return the same log with one vote per duel."""
    rows: Any = with_votes(log).votes
    of_duel = np.repeat(np.arange(len(rows)), rows.weight)
    one_each = np.ones(len(of_duel), dtype=np.int64)
    votes = replace(rows.take(of_duel), weight=one_each)
    return replace(log, votes=votes)


def conditions_of_log(model: "Model", log: Duels) -> dict[str, np.ndarray]:
    """Return the conditions of each vote of a log, as ``Model.outcomes`` takes them."""
    votes: Any = log.votes
    left = votes.left
    right = votes.right
    found: dict[str, np.ndarray] = {"first": left, "second": right}
    found |= model.terms.columns(log)
    found |= model.seats(log.teams, left, right)
    if model.terms.reads_order:
        found["left_first"] = np.ones(len(votes))
    found |= model.terms.tables(log.arms)
    return found


def replicated(
    model: Any,
    log: Any,
    truth: dict[str, np.ndarray],
    rng: np.random.Generator,
) -> Any:
    """Return a log on the same design whose outcomes the model draws."""
    if isinstance(log, Pulls):
        attributes = model.terms.items.matrix(log.arms)
        chance = model.chance(truth, attributes)[0]
        successes = rng.binomial(log.n.astype(np.int64), chance)
        return replace(log, successes=successes)
    if isinstance(log, Rankings):
        return model.replicate_rankings(truth, log, rng)
    assert log.votes is not None
    given = conditions_of_log(model, log)
    if model.response.outcome == "grade":
        chances = model.results(truth, given)[0]
        at_most = chances.cumsum(axis=-1)
        level = rng.random((len(at_most), 1))
        above = level > at_most[:, :-1]
        place = above.sum(axis=-1)
        grade = model.response.grades[place].astype(np.int8)
        votes = replace(log.votes, outcome=np.sign(grade), grade=grade)
        return log_of_votes(log, votes)
    found = model.replicate(truth, given, rng)[0]
    margin = None
    outcome = 2 * found - 1
    if model.response.outcome == "margin":
        margin = found
        outcome = np.sign(found)
    votes = replace(log.votes, outcome=outcome.astype(np.int8), margin=margin)
    return log_of_votes(log, votes)
