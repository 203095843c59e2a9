"""A result that holds one ``xarray.Dataset``, and prints what people read of it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Never, Self

from bayesduel.text import NOW_CALLED, printed_tables, screen, section_html

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["Record"]

OF_DATASET = (
    *("attrs", "coords", "data_vars", "dims", "sizes", "sel", "isel", "sortby", "mean"),
    *("to_pandas", "to_dict", "to_netcdf", "to_zarr"),
)  # of its methods and attributes, those that completion offers


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
