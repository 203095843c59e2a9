"""Items with attributes: the design matrix of a model, with named columns.

Numeric columns are standardised over the table, and their means and standard deviations kept. A
categorical column has one 0/1 indicator for each level except the reference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

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
            missing = join(unknown, quote=True)
            raise ValueError(
                f"items should contain every item of the log, got {self.source} without {missing}"
            )
        rows = [place[label] for label in labels]
        return standard[rows]

    def dependence(self, labels: Sequence[str] | None = None) -> str:
        """Return why the log cannot tell the effects of some attributes apart, or "" if it can.

        labels: of the items that duelled (default: all).
        """
        constant = self._constant(labels)
        columns = []
        absent = []
        for column, levels in constant.items():
            if levels is None:
                columns.append(column)
            else:
                absent += levels
        said = (_constant_words(columns), _absent_words(absent), self._combined(labels))
        return " ".join(filter(None, said))

    def _constant(self, labels: Sequence[str] | None) -> dict[str, list[str] | None]:
        """Return the columns in which some attribute is the same for all of these items.

        Of each, the names of its levels that no item has; None if all items are equal there.
        """
        values = self.values
        if labels is not None:
            place = {label: i for i, label in enumerate(self.labels)}
            rows = [place[label] for label in labels]
            values = values[rows]
        same = np.ptp(values, axis=0) == 0
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
        dependent_place, places = found
        attribute = self.attributes[varies[dependent_place]]
        made = join([self.names[varies[k]] for k in places])
        option = as_options(leave_out=[attribute.column])
        return (
            f"The log cannot tell some effects apart: {attribute.name} follows from {made} "
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
        attributes = self.attributes
        with_levels = [k for k, attribute in enumerate(attributes) if attribute.level]
        places = [k for k in with_levels if attributes[k].column == column]
        if not places:
            known = dict.fromkeys(attributes[k].column for k in with_levels)
            words = join(known, 8, quote=True) if known else "of which the table has none"
            raise ValueError(f"column should be one of words, {words}, got {column!r}")
        own = [self.attributes[k] for k in places]
        found = {}
        for label, row in zip(self.labels, self.values[:, places], strict=True):
            indicator = own[int(row.argmax())]
            found[label] = indicator.level if row.any() else indicator.reference
        return found

    def to_dataset(self) -> "xr.Dataset":
        """Return the items as a Dataset, which is stored with a fit."""
        import xarray as xr

        kinds: dict[str, Any] = dict.fromkeys(("column", "level", "reference"), object)
        kinds |= {"mean": float, "deviation": float}
        columns = {}
        for field, kind in kinds.items():
            values = [getattr(attribute, field) for attribute in self.attributes]
            columns[field] = ("attribute", np.array(values, dtype=kind))
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
        n_items = len(self.labels)
        n_attributes = len(self.names)
        shown = ", ".join(self.names[:6])
        if n_attributes > 6:
            shown += ", ..."
        return f"<Items: {n_items:,} items, {n_attributes} attributes ({shown})>"


def _constant_words(columns: Sequence[str]) -> str:
    """Return that all items of the log are equal in these columns, or "" of none."""
    if not columns:
        return ""
    effect, them = ("its effect", "it") if len(columns) == 1 else ("their effects", "them")
    named = join(columns)
    option = as_options(leave_out=[*columns])
    return (
        f"All items of the log have the same {named}, so the log says nothing of "
        f"{effect}. Leave {them} out: {option}."
    )


def _absent_words(levels: Sequence[str]) -> str:
    """Return that no item of the log has these levels, or "" of none."""
    if not levels:
        return ""
    one = len(levels) == 1
    effect, them = ("its effect", "it") if one else ("their effects", "them")
    only = "this level" if one else "these levels"
    named = join(levels, word="or")
    return (
        f"No item of the log has {named}, so the log says nothing of "
        f"{effect}. To leave out only {only}, remove the items that have {them} from the table."
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
        size = float(np.linalg.norm(matrix[:, k]))
        if left <= DEPENDENT * max(size, 1e-300):
            combined = np.abs(made) > 1e-6
            return k, np.flatnonzero(combined)
    return None
