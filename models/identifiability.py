"""Whether a log determines parameters under a flat prior, and which it does not."""

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.data.items import dependent
from bayesduel.models.scores import Scores
from bayesduel.text import join

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["check_components", "check_flat", "check_independent", "check_mixed"]


def check_flat(model: Any, duels: Any) -> None:
    """Raise unless a log determines the parameters of a model that have a flat prior.

    Raises ValueError if the log has several components, a column is a combination of others, or,
    of outcomes that are no margins, wins do not connect all arms (Ford's condition) or covariates
    separate wins from losses.
    """
    flat = [part for part in model.terms if part.flat]
    margins = model.response.outcome == "margin"
    scores_alone = all(isinstance(part, Scores) for part in flat)
    if duels.teams is None and scores_alone:
        check_components(duels) if margins else _check_connected(duels)
        return
    cells = model.cells(duels)
    rows = np.arange(len(cells))
    names = []
    columns = []
    coords = {**model.terms.coords(duels), "arm": duels.arms}
    for part in flat:
        dims = part.dims.get(part.parameter, ())
        levels = [coords[dim] for dim in dims]
        own = np.zeros((len(cells), *map(len, levels)))
        for index, value in part.design(cells.data):
            np.add.at(own, (rows, *index), value)
        own = own.reshape(len(cells), -1)
        labels = []
        for one in product(*levels):
            labels.append(": ".join(one) or part.parameter)
        if isinstance(part, Scores):
            check_components(duels)
            # they sum to zero
            last = own[:, -1:]
            own = own[:, :-1] - last
            labels = labels[:-1]
        columns.append(own)
        names += labels
    design = np.column_stack(columns)
    # No constant distinguishes differences: both signs of each.
    check_independent(np.vstack([design, -design]), names)
    if margins:
        return
    counts = cells.seen.counts
    points = counts[:, 0] + counts[:, 2] / 2
    check_mixed(design, points, counts.sum(axis=1), names)


def check_components(duels: "Duels") -> None:
    """Raise ValueError if some arms of a log never met, not even by others."""
    from bayesduel.data.health import components

    parts = components(duels)
    if len(parts) > 1:
        shown = [", ".join(arms[:3]) for arms in parts[:3]]
        raise ValueError(
            f"scale should be finite for this log, got inf: {len(parts)} groups of arms never met, "
            f"and a flat prior cannot compare them ({'; '.join(shown)}, ...)"
        )


def _check_connected(duels: "Duels") -> None:
    """Raise where maximum likelihood of scores does not exist (Ford's condition)."""
    from bayesduel.data.health import maximum_likelihood_exists

    check_components(duels)
    if maximum_likelihood_exists(duels):
        return
    summary = duels.summary()
    not_won = summary["losses"] + summary["ties"]
    not_lost = summary["wins"] + summary["ties"]
    unbeaten = list(summary.index[not_won == 0])
    beaten = list(summary.index[not_lost == 0])
    raise ValueError(
        "scale should be finite for this log, got inf: a group of arms never lost to the "
        "others, so some scores are infinite under a flat prior (arms that never lost: "
        f"{unbeaten[:5]}, that never won: {beaten[:5]})"
    )


def check_independent(inputs: np.ndarray, names: list[str]) -> None:
    """Raise ValueError where a column of `inputs` is a combination of others and a constant."""
    made = dependent(inputs)
    if made is not None:
        column = names[made[0]]
        others = [names[k] for k in made[1]]
        what = "the same in all duels"
        if others:
            what = f"a combination of {join(others, quote=True)}"
        raise ValueError(
            f"scale should be finite for this log, got inf: {column!r} is {what}, so its "
            "coefficient cannot be estimated under a flat prior"
        )


def check_mixed(design: np.ndarray, points: np.ndarray, n: np.ndarray, names: list[str]) -> None:
    """Raise ValueError where directions (cells, k) separate successes from failures (cells,)."""
    apart = _separates(design, points, n)
    if apart is not None:
        size = np.abs(apart)
        largest = np.argsort(-size, kind="stable")[:3]
        loud = [names[k] for k in largest]
        raise ValueError(
            "scale should be finite for this log, got inf: the attributes separate wins from "
            "losses, so their coefficients are infinite under a flat prior (most: "
            f"{join(loud, quote=True)})"
        )


def _separates(design: np.ndarray, points: np.ndarray, n: np.ndarray) -> np.ndarray | None:
    """Return a direction that no outcome contradicts and some outcome supports, or None.

    Albert & Anderson, "On the existence of maximum likelihood estimates in logistic
    regression models", Biometrika 1984: maximum likelihood exists where there is none.
    """
    from scipy.optimize import linprog

    won = points > 0
    lost = points < n
    sides = np.vstack([design[won], -design[lost]])
    total = sides.sum(axis=0)
    none = np.zeros(len(sides))
    found = linprog(-total, A_ub=-sides, b_ub=none, bounds=(-1.0, 1.0))
    if found.status != 0 or -found.fun <= 1e-7:
        return None
    return found.x
