"""Items with attributes: the design matrix of a model, with named columns.

Numeric columns are standardised over the table, and their means and standard deviations kept. A
categorical column has one 0/1 indicator for each level except the reference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesduel.system.arguments import as_options
from bayesduel.text import join

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Attribute", "Items", "dependent"]

# Relative residual norm below which a column is linearly dependent: half the digits of a float, as
# those of squares are lost.
DEPENDENT = 1e-8


class Attribute(NamedTuple):
    """One column of the design.

    Attributes
    ----------
    name
        Name of the coefficient: that of the column, with the level of an indicator.
    column
        Column of the table.
    level, reference
        Level of an indicator and its reference level; "" for a numeric column.
    mean, deviation
        Mean and standard deviation over the table; 0 and 1 for an indicator.
    """

    name: str
    column: str
    level: str
    reference: str
    mean: float
    deviation: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Items:
    """Items and their attributes.

    Attributes
    ----------
    labels
        Labels of the items, as in the log, shape (m,).
    attributes
        Columns of the design, length n.
    values
        Attributes on their original scale (0 or 1 for an indicator), shape (m, n).
    source
        File names or the kind of frame.
    """

    labels: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    values: np.ndarray
    source: str = "memory"

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, shape (n,)."""
        return tuple(a.name for a in self.attributes)

    @property
    def deviations(self) -> np.ndarray:
        """Standard deviations of the attributes, 1 for an indicator, shape (n,)."""
        return np.array([a.deviation for a in self.attributes])

    def matrix(self, labels: Sequence[str] | None = None) -> np.ndarray:
        """Return the standardised attributes of `labels` (default: all), shape (len, n).

        Raises
        ------
        ValueError
            If a label is not in the table.
        """
        means = np.array([a.mean for a in self.attributes])
        standard = (self.values - means) / self.deviations
        if labels is None:
            return standard
        place = {label: i for i, label in enumerate(self.labels)}
        unknown = [label for label in labels if label not in place]
        if unknown:
            raise ValueError(
                f"items should contain every item of the log, got {self.source} without "
                f"{join(unknown, quote=True)}"
            )
        return standard[[place[label] for label in labels]]

    def dependence(self, labels: Sequence[str] | None = None) -> str:
        """Return why the log cannot tell the effects of some attributes apart, or "" if it can.

        labels: of the items that duelled (default: all).
        """
        constant = self._constant(labels)
        absent = _absent_words([name for levels in constant.values() for name in levels or ()])
        whole = _constant_words([name for name, levels in constant.items() if levels is None])
        return " ".join(filter(None, (whole, absent, self._combined(labels))))

    def _constant(self, labels: Sequence[str] | None) -> dict[str, list[str] | None]:
        """Return the columns in which some attribute is the same for all of these items.

        Of each, the names of its levels that no item has; None if all items are equal there.
        """
        place = {label: i for i, label in enumerate(self.labels)}
        rows = [place[label] for label in (self.labels if labels is None else labels)]
        same = np.ptp(self.values[rows], axis=0) == 0
        found: dict[str, list[str] | None] = {}
        for column in dict.fromkeys(a.column for a in self.attributes):
            own = [k for k, a in enumerate(self.attributes) if a.column == column]
            if same[own].all():
                found[column] = None
            elif same[own].any():
                found[column] = [self.names[k] for k in own if same[k]]
        return found

    def _combined(self, labels: Sequence[str] | None) -> str:
        """Return which attribute is a combination of others for these items, or ""."""
        matrix = self.matrix(labels)
        varies = np.flatnonzero(np.ptp(matrix, axis=0) > 0)
        found = dependent(matrix[:, varies])
        if found is None:
            return ""
        column = int(varies[found[0]])
        made = join([self.names[varies[k]] for k in found[1]])
        option = as_options(leave_out=[self.attributes[column].column])
        return (
            f"The log cannot tell some effects apart: {self.names[column]} follows from {made} "
            f"(they may add up to a constant). Leave one of them out: {option}."
        )

    def levels(self, column: str) -> dict[str, str]:
        """Return the level of each item in a categorical column, by label.

        Parameters
        ----------
        column
            The column of the table.

        Raises
        ------
        ValueError
            If there is no such column of words.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"item": ["a", "b", "c"], "maker": ["x", "y", "x"]})
        >>> bd.read_items(frame).levels("maker")
        {'a': 'x', 'b': 'y', 'c': 'x'}
        """
        places = [k for k, a in enumerate(self.attributes) if a.column == column and a.level]
        if not places:
            known = dict.fromkeys(a.column for a in self.attributes if a.level)
            words = join(known, 8, quote=True) if known else "of which the table has none"
            raise ValueError(f"column should be one of words, {words}, got {column!r}")
        rows = zip(self.labels, self.values[:, places], strict=True)
        own = [self.attributes[k] for k in places]
        return {
            label: own[int(row.argmax())].level if row.any() else own[0].reference
            for label, row in rows
        }

    def to_dataset(self) -> "xr.Dataset":
        """Return the items as a Dataset, which is stored with a fit."""
        import xarray as xr

        kinds = dict.fromkeys(("column", "level", "reference"), object)
        columns = {
            field: ("attribute", np.array([getattr(a, field) for a in self.attributes], dtype=kind))
            for field, kind in (kinds | {"mean": float, "deviation": float}).items()
        }
        return xr.Dataset(
            {"value": (("item", "attribute"), self.values), **columns},
            coords={
                "item": np.array(self.labels, dtype=object),
                "attribute": np.array(self.names, dtype=object),
            },
            attrs={"source": self.source},
        )

    @classmethod
    def from_dataset(cls, data: "xr.Dataset") -> "Items":
        """Return the items of a fit: the inverse of :meth:`to_dataset`."""
        fields = ("column", "level", "reference", "mean", "deviation")
        columns = [data[field].to_numpy() for field in fields]
        rows = zip(data["attribute"].to_numpy(), *columns, strict=True)
        return cls(
            labels=tuple(str(x) for x in data["item"].to_numpy()),
            attributes=tuple(
                Attribute(str(n), str(c), str(v), str(r), float(m), float(d))
                for n, c, v, r, m, d in rows
            ),
            values=np.array(data["value"].to_numpy(), dtype=float),
            source=str(data.attrs["source"]),
        )

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:6]) + (", ..." if len(self.names) > 6 else "")
        return f"<Items: {len(self.labels):,} items, {len(self.names)} attributes ({shown})>"


def _constant_words(columns: Sequence[str]) -> str:
    """Return that all items of the log are equal in these columns, or "" of none."""
    if not columns:
        return ""
    one = len(columns) == 1
    return (
        f"All items of the log have the same {join(columns)}, so the log says nothing of "
        f"{'its effect' if one else 'their effects'}. Leave {'it' if one else 'them'} out: "
        f"{as_options(leave_out=[*columns])}."
    )


def _absent_words(levels: Sequence[str]) -> str:
    """Return that no item of the log has these levels, or "" of none."""
    if not levels:
        return ""
    one = len(levels) == 1
    return (
        f"No item of the log has {join(levels, word='or')}, so the log says nothing of "
        f"{'its effect' if one else 'their effects'}. To leave out only "
        f"{'this level' if one else 'these levels'}, remove the items that have "
        f"{'it' if one else 'them'} from the table."
    )


def dependent(matrix: np.ndarray) -> tuple[int, np.ndarray] | None:
    """Return the first column that is linearly dependent on those before it and a constant.

    matrix: shape (m, n).
    Returns the column, and the columns of which it is a combination; None if there is none.
    """
    centred = matrix - matrix.mean(axis=0)
    for k in range(centred.shape[1]):
        before = centred[:, :k]
        column = centred[:, k]
        made, *_ = np.linalg.lstsq(before, column, rcond=None)
        left = np.linalg.norm(column - before @ made)
        if left <= DEPENDENT * max(float(np.linalg.norm(matrix[:, k])), 1e-300):
            return k, np.flatnonzero(np.abs(made) > 1e-6)
    return None
