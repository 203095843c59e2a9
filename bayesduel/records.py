"""Results: dataclasses, or one ``xarray.Dataset``; they print what people read of them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Never, Self

from bayesduel.text import json_ready, screen

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["NOW_CALLED", "Plain", "Record", "Result", "printed_tables", "section_html"]

NOW_CALLED = {
    "borda_mean": "win_rate",
    "borda_lower": "win_rate_lower",
    "borda_upper": "win_rate_upper",
    "borda_quarter": "win_rate_quarter",
    "borda_three_quarters": "win_rate_three_quarters",
    "p_one_ranking_without_order_effect": "p_one_ranking_without_side_advantage",
}  # keys of an earlier version

OF_DATASET = (
    *("attrs", "coords", "data_vars", "dims", "sizes", "sel", "isel", "sortby", "mean"),
    *("to_pandas", "to_dict", "to_netcdf", "to_zarr"),
)  # of its methods and attributes, those that completion offers


class Plain(dict[str, Any]):
    """A result as dictionaries and lists; an earlier key is refused with the one of today."""

    def __missing__(self, key: str) -> Any:
        if key in NOW_CALLED:
            raise KeyError(f"{key!r} is now called {NOW_CALLED[key]!r}")
        raise KeyError(key)


class Result(ABC):
    """A dataclass of what was found, which says it in a sentence and as JSON."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The result in words."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries and lists; NaN becomes None."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return Plain(json_ready({"sentence": self.sentence, **own}))

    def __repr__(self) -> str:
        """Return the sentence and the tables of its section, of at most a screen."""
        tables = printed_tables(self)
        head = [f"<{type(self).__name__}: {self.sentence}>"]
        return screen(head, ["", *tables] * bool(tables), whole=".to_dict()")

    def _repr_html_(self) -> str:
        """Return its section of a report, whole."""
        return section_html(self) or f"<p>{escape(self.sentence)}</p>"


class Record(Mapping[Any, Any]):
    """A result that holds one ``xarray.Dataset``, and prints what people read of it.

    It has the variables, attributes and methods of the Dataset. What selects or computes returns
    objects of xarray. `to_dataset` is for functions that take a Dataset: ``xarray.concat``,
    arithmetic.
    """

    __slots__ = ("__weakref__", "_dataset")

    def __init__(self, dataset: "xr.Dataset") -> None:
        self._dataset = dataset

    def to_dataset(self) -> "xr.Dataset":
        """Return the ``xarray.Dataset``, a copy that shares the arrays."""
        return self._dataset.copy()

    def to_dataframe(self, *args: Any, **options: Any) -> "pd.DataFrame":
        """Return the table of ``xarray.Dataset.to_dataframe``."""
        return self._dataset.to_dataframe(*args, **options)

    def copy(self, deep: bool = False) -> Self:
        """Return the same with attributes of its own; of a `deep` copy arrays are its own, too."""
        return type(self)(self._dataset.copy(deep=deep))

    __copy__ = copy

    def equals(self, other: object) -> bool:
        """Return whether variables and coordinates are the same as those of a record or Dataset."""
        return self._dataset.equals(_dataset_of(other))

    def identical(self, other: object) -> bool:
        """Return whether attributes are the same, too."""
        return self._dataset.identical(_dataset_of(other))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.identical(other)

    __hash__ = None  # type: ignore[assignment]  # its attributes can be changed

    def __getitem__(self, key: Any) -> Any:
        """Return variables as a Dataset does; KeyError names the new name of an earlier one."""
        for name in key if isinstance(key, list) else [key]:
            if told := self._renamed(name):
                raise KeyError(told)
        return self._dataset[key]

    def __getattr__(self, name: str) -> Any:
        """Return what the Dataset has; AttributeError names the new name of an earlier variable."""
        if name.startswith("_"):  # copy and pickle ask for it before there is a Dataset
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if told := self._renamed(name):
            raise AttributeError(told)
        return getattr(self._dataset, name)

    def __dir__(self) -> list[str]:
        """Return what completion offers: own names, variables, and what selects and stores."""
        return sorted({*super().__dir__(), *OF_DATASET, *map(str, self._dataset.variables)})

    def _ipython_key_completions_(self) -> list[Any]:
        return list(self._dataset.variables)

    def __contains__(self, key: object) -> bool:
        return key in self._dataset

    def __iter__(self) -> Iterator[Any]:
        return iter(self._dataset)

    def __len__(self) -> int:
        return len(self._dataset)

    def __array__(self, *args: Any, **options: Any) -> Never:
        raise TypeError(
            f"{type(self).__name__} holds several variables and is no array: use .to_dataframe(), "
            f"or one of {', '.join(map(str, self))}"
        )

    def _repr_html_(self) -> str:
        variables = f"<summary>All variables</summary>{self._dataset._repr_html_()}"
        return f"{section_html(self)}<details>{variables}</details>"

    def _printed(
        self, head: Iterable[str], notes: Iterable[str], *, whole: str, **counted: Any
    ) -> str:
        """Return what it prints: its table between sentences, and the names of its variables.

        whole, counted: as in :func:`bayesduel.text.screen`.
        """
        names = ", ".join(map(str, self))
        contents = f"Variables of .to_dataset(), an xarray.Dataset: {names}"
        tail = ("", *notes, contents)
        return screen(head, printed_tables(self), tail, whole=whole, **counted)

    def _renamed(self, name: object) -> str:
        """Return that a name of an earlier version is another today, "" where it is not."""
        now = NOW_CALLED.get(name) if isinstance(name, str) else None
        return f"{name!r} is now called {now!r}" if now in self._dataset else ""


def _dataset_of(given: object) -> Any:
    """Return the Dataset of a record; anything else as it is."""
    return given.to_dataset() if isinstance(given, Record) else given


def printed_tables(found: Any) -> list[str]:
    """Return the lines of the tables of a result's section of a report; none without a section."""
    section = _sections().section_of(found)
    lines: list[str] = [] if section is None else _sections().lines_of(section)
    return lines


def section_html(found: Any) -> str:
    """Return a result's section of a report as HTML, "" without one."""
    section = _sections().section_of(found)
    return "" if section is None else str(section._repr_html_())


def _sections() -> Any:
    """Return what makes sections, which stands in a room below: results ask for it by name."""
    return import_module("bayesduel.reporting.result")
