"""Touches: which coefficients enter the predictor of each cell, and times what."""

from typing import Any, NamedTuple

import numpy as np

from bayesduel.system.arguments import shown_value

__all__ = ["Touch", "check_touches", "contribution"]


class Touch(NamedTuple):
    """Coefficients that enter the predictor of cells, and the numbers that they are multiplied by.

    Attributes
    ----------
    at
        Place of each cell's coefficient along the first axes of the coefficients, (cells,) each.
    value
        The number, (cells,); or (cells, n), one for each entry of the last axis.

    Examples
    --------
    >>> cells = {"first": np.array([0, 0]), "second": np.array([1, 2])}
    >>> touched = bd.models.Scores().design(cells)
    >>> [(touch.at[0].tolist(), touch.value) for touch in touched]
    [([0, 0], array([1., 1.])), ([1, 2], array([-1., -1.]))]
    """

    at: tuple[Any, ...]
    value: Any


def check_touches(term: str, touches: Any, n_cells: int) -> None:
    """Raise TypeError or ValueError unless a design is of `Touch` with a number per cell.

    term: the name of the term whose design it is.
    """
    name = f"{term}.design"
    is_tuple = isinstance(touches, tuple)
    if not is_tuple or not all(isinstance(one, Touch) for one in touches):
        raise TypeError(f"{name} should return a tuple of Touch, got {shown_value(touches)}")
    for at, value in touches:
        shapes: set[Any] = {None}
        if isinstance(at, tuple):
            shapes = set(map(np.shape, at))
        by_cell = not shapes or (n_cells,) in shapes
        if not by_cell or not shapes <= {(), (n_cells,)}:
            raise ValueError(
                f"{name} should give Touch a tuple of arrays of one place per cell, "
                f"({n_cells},) each, or () where all cells have the same coefficients, "
                f"got {shown_value(at)}"
            )
        shape = np.shape(value)
        if shape[:1] != (n_cells,) or len(shape) > 2:
            raise ValueError(
                f"{name} should give Touch a number per cell, ({n_cells},), or a row of numbers, "
                f"({n_cells}, coefficients), got the shape {shape}"
            )
        numbers = np.asarray(value, dtype=float)
        finite = np.isfinite(numbers).reshape(n_cells, -1)
        bad = ~finite.all(axis=1)
        if bad.any():
            first = numbers[bad].ravel()[0]
            raise ValueError(
                f"{name} should give Touch finite numbers, got {first:g} in {bad.sum():,} of "
                f"{n_cells:,} cells: give a cell that does not say its number 0, which is neutral"
            )


def contribution(coefficient: np.ndarray, touches: tuple[Touch, ...]) -> Any:
    """Return what coefficients add to the predictor of cells, (..., cells); arrays and tensors."""
    total: Any = 0.0
    for index, value in touches:
        if value.ndim == 2 and index:
            own = coefficient[(..., *index, slice(None))]
            part = (own * value).sum(axis=-1)
        elif value.ndim == 2:
            part = coefficient @ value.T
        elif len(index) == 1:
            part = coefficient.take(index[0], axis=-1) * value
        elif index:
            part = coefficient[(..., *index)] * value
        else:
            part = coefficient[..., None] * value
        total = total + part
    return total
