"""Models, layers and predictors of one's own: how a fit finds their classes again.

A fit holds the name and the settings of its model, and of every class that does not belong to
bayesduel the module and the name: never code. In the same process the class is known since the
model was used; in another the module that defines it has to be imported first.
"""

import sys
from collections.abc import Mapping
from functools import reduce
from typing import Any

__all__ = ["classes_named", "classes_of"]

SHIPPED = "bayesduel."
PREDICTOR = "predictor"
_KNOWN: dict[str, type] = {}  # classes that were used in this process, by module and name


def classes_of(model: Any) -> dict[str, str]:
    """Return where the classes of a model stand that do not belong to bayesduel.

    Returns
    -------
    "module:name" by the name of the layer or model that is of it; of the arms' predictor under
    "predictor".
    """
    found = dict(zip(_names(model), model.parts, strict=True))
    arms = getattr(getattr(model, "predictor", None), "arms", None)
    if arms is not None:
        found[PREDICTOR] = type(arms)
    own = {name: kind for name, kind in found.items() if not kind.__module__.startswith(SHIPPED)}
    places = {name: f"{kind.__module__}:{kind.__qualname__}" for name, kind in own.items()}
    _KNOWN.update({places[name]: kind for name, kind in own.items()})
    return places


def classes_named(places: Mapping[str, str], registered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the classes that :func:`classes_of` named.

    Parameters
    ----------
    places
        "module:name" by the name of a part.
    registered
        Registered classes by name, used where a module is not imported.

    Raises
    ------
    ValueError
        If a class is not known.
    """
    found = {}
    for name, place in places.items():
        kind = _KNOWN.get(place) or _imported(place) or registered.get(name)
        if kind is None:
            module, _, qualname = place.partition(":")
            raise ValueError(
                f"{qualname}, the class of {name!r} in this fit, should be known: import the "
                f"module {module!r} first"
            )
        found[name] = kind
    return found


def _names(model: Any) -> list[str]:
    """Return the names of the layers of a model, outermost first, and of what they wrap."""
    return str(model.name).replace(")", "").split("(")


def _imported(place: str) -> Any:
    """Return a class of a module that is imported, or None."""
    module, _, qualname = place.partition(":")
    parts = qualname.split(".")
    return reduce(lambda at, part: getattr(at, part, None), parts, sys.modules.get(module))
