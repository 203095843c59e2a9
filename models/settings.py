"""Settings of models: checks, equality where they are arrays, and JSON."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Self

import numpy as np

from bayesduel.models.prior import Prior
from bayesduel.system.arguments import shown_value
from bayesduel.system.settings import Settings, own_settings
from bayesduel.text import join

__all__ = [
    "Arrays",
    "ByValue",
    "Dims",
    "Named",
    "settings_from_json",
    "settings_to_json",
]

Named = Mapping[str, Any]  # values by name: parameters, scales, what is known of each cell
Arrays = Mapping[str, np.ndarray]  # the same of arrays alone, such as draws
Dims = dict[str, tuple[str, ...]]  # dimensions of parameters, by name


class ByValue(Settings):
    """Dataclasses that are equal where their fields are, arrays entry by entry.

    Attributes
    ----------
    required
        Class variables that a subclass has to define, beside its abstract methods.
    stored_by_fields
        Whether a class without settings of its own has to be a dataclass, too.
    """

    required: ClassVar[tuple[str, ...]] = ()
    stored_by_fields: ClassVar[bool] = False

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Return a new object; raise TypeError, naming what is missing, if the class lacks some."""
        abstract = getattr(cls, "__abstractmethods__", ())
        missing = sorted({*abstract, *(n for n in cls.required if not hasattr(cls, n))})
        if missing:
            raise TypeError(f"{cls.__name__} should define {join(missing, 20)}")
        made = "__dataclass_fields__" in cls.__dict__
        needed = own_settings(cls) or (cls.stored_by_fields and not is_dataclass(cls))
        if needed and not made:
            raise TypeError(
                f"{cls.__name__} should be a dataclass: write @dataclass(frozen=True) above it"
            )
        return super().__new__(cls)

    def __init_subclass__(cls, **options: Any) -> None:
        """Give the class its equality before ``dataclass`` gives it one that arrays break."""
        super().__init_subclass__(**options)
        if "__eq__" not in cls.__dict__:
            cls.__eq__ = _equal  # type: ignore[method-assign]
            cls.__hash__ = _hashed  # type: ignore[method-assign]

    @property
    def settings(self) -> dict[str, Any]:
        """Settings as JSON holds them, without items; :func:`bayesduel.models.named` takes them."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        values.pop("items", None)
        return values


def settings_to_json(settings: dict[str, Any]) -> str:
    """Return settings as JSON text; arrays and priors keep their kind.

    Raises TypeError if a setting is neither a number, a text, None, an array nor made of these.
    """

    def held(value: object) -> Any:
        if isinstance(value, np.ndarray):
            return {"array": value.tolist(), "dtype": str(value.dtype)}
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, Prior):
            return {"distribution": value.distribution, "parameters": value.parameters}
        raise TypeError(
            "settings of a model should be numbers, texts, None, priors, NumPy arrays, or lists "
            f"and dictionaries of these, got {shown_value(value)}"
        )

    return json.dumps(settings, default=held)


def settings_from_json(text: str) -> dict[str, Any]:
    """Return the settings of a text made by :func:`settings_to_json`."""

    def made(value: dict[str, Any]) -> Any:
        if value.keys() == {"array", "dtype"}:
            return np.array(value["array"], dtype=np.dtype(str(value["dtype"])))
        if value.keys() == {"distribution", "parameters"}:
            return Prior(value["distribution"], **value["parameters"])
        return value

    found: dict[str, Any] = json.loads(text, object_hook=made)
    return found


def _equal(self: object, other: object) -> Any:
    """Return whether two objects are of one class and have equal fields."""
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _values(self) == _values(other)


def _hashed(self: object) -> int:
    """Return a hash that is equal for equal objects."""
    return hash((type(self), _values(self)))


def _values(one: object) -> tuple[Any, ...]:
    names = [f.name for f in fields(one)] if is_dataclass(one) else []
    return tuple(_comparable(getattr(one, name)) for name in names)


def _comparable(value: object) -> Any:
    """Return a value that can be compared and hashed: arrays by shape, kind and entries."""
    if isinstance(value, np.ndarray):
        return "array", value.shape, value.dtype.str, tuple(value.ravel().tolist())
    if isinstance(value, list | tuple):
        return tuple(_comparable(part) for part in value)
    if isinstance(value, dict):
        return tuple((name, _comparable(value[name])) for name in sorted(value))
    return value
