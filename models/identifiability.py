"""Whether a log determines coefficients under a flat prior, and which it does not."""

import numpy as np

from bayesduel.data.items import dependent
from bayesduel.text import join

__all__ = ["check_determined"]


def check_determined(
    told: np.ndarray, design: np.ndarray, points: np.ndarray, n: np.ndarray, names: list[str]
) -> None:
    """Raise unless maximum likelihood exists and is unique.

    Parameters
    ----------
    told
        Whose columns should not determine one another, up to a constant, shape (..., k).
    design, points, n
        Of the cells: directions (cells, k'), k' >= k, successes and trials (cells,).
    names
        Of the columns of `design`.

    Raises
    ------
    ValueError
        Naming the column that others determine, or those that separate the outcomes most.
    """
    made = dependent(told)
    if made is not None:
        column, others = names[made[0]], [names[k] for k in made[1]]
        what = f"a combination of {join(others, quote=True)}" if others else "the same in all duels"
        raise ValueError(
            f"scale should be finite for this log: over its duels {column!r} is {what}, "
            "which a flat prior cannot tell apart"
        )
    apart = _separates(design, points, n)
    if apart is not None:
        loud = [names[k] for k in np.argsort(-np.abs(apart), kind="stable")[:3]]
        raise ValueError(
            "scale should be finite for this log: the attributes separate wins from losses "
            f"(along {join(loud, quote=True)} most), so that maximum likelihood runs to infinity"
        )


def _separates(design: np.ndarray, points: np.ndarray, n: np.ndarray) -> np.ndarray | None:
    """Return a direction along which no outcome speaks against and some for, or None.

    Albert & Anderson, "On the existence of maximum likelihood estimates in logistic
    regression models", Biometrika 1984: maximum likelihood exists where there is none.
    """
    from scipy.optimize import linprog

    won, lost = points > 0, points < n
    sides = np.vstack([design[won], -design[lost]])
    found = linprog(-sides.sum(axis=0), A_ub=-sides, b_ub=np.zeros(len(sides)), bounds=(-1.0, 1.0))
    if found.status != 0 or -found.fun <= 1e-7:
        return None
    return found.x
