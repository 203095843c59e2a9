"""Checks of the settings of models."""

from typing import Any

import numpy as np

__all__ = ["check_positive"]


def check_positive(name: str, value: Any, *, none: bool = False, flat: bool = False) -> None:
    """Raise unless the setting `value` is a positive finite number.

    Parameters
    ----------
    name
        Name of the setting.
    value
        What was given.
    none
        Whether None is allowed (a setting that is learned or read off the log).
    flat
        Whether infinity is allowed (a flat prior).

    Raises
    ------
    TypeError, ValueError
        If it is not.
    """
    if none and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} should be {'None or ' * none}a number, got {value!r}")
    if not (0 < value < np.inf or (flat and value == np.inf)):
        raise ValueError(f"{name} should be > 0{' and finite' * (not flat)}, got {value}")
