"""Models, layers and predictors of one's own: how a fit finds their classes again.

A fit holds the name and the settings of its model, and of every class that does not belong to
bayesduel the module and the name: never code. What a file names is looked up among the classes
that this process was given, and nowhere else: those that a model was made of here, that
:func:`bayesduel.load` was handed, or that were registered.
"""

from collections.abc import Mapping
from typing import Any

from bayesduel.models.model import Model
from bayesduel.models.predictor import ArmPredictor
from bayesduel.system.arguments import shown_value

__all__ = ["check_class", "classes_named", "classes_of", "know"]

SHIPPED = "bayesduel."  # its classes a file has by the name of the part alone
PREDICTOR = "predictor"
_KNOWN: dict[str, type] = {}  # classes that this process was given, by module and name


def know(kind: type) -> None:
    """Let a class be found by the files that this process reads."""
    check_class(kind)
    _KNOWN[_place(kind)] = kind


def check_class(kind: Any) -> None:
    """Raise TypeError unless `kind` is a class of models, layers or predictors of the arms."""
    if not (isinstance(kind, type) and issubclass(kind, Model | ArmPredictor)):
        raise TypeError(
            f"classes should be of models, layers or predictors, got {shown_value(kind)}"
        )


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
    own = {name: kind for name, kind in found.items() if not _is_shipped(kind)}
    for kind in own.values():
        know(kind)
    return {name: _place(kind) for name, kind in own.items()}


def classes_named(places: Any, registered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the classes that :func:`classes_of` named.

    Parameters
    ----------
    places
        "module:name" by the name of a part, as a file holds it.
    registered
        Classes by the name of the part; those of one's own serve for what stands elsewhere now.

    Raises
    ------
    ValueError
        If a class is not known, or is of another kind than its part.
    """
    if not isinstance(places, Mapping):
        raise ValueError(f"classes should be named by their part, got {shown_value(places)}")
    found = {}
    for name, place in places.items():
        kind = _KNOWN.get(str(place)) or registered.get(name)
        base = ArmPredictor if name == PREDICTOR else Model
        if kind is None or not issubclass(kind, base) or _is_shipped(kind):
            what = "predictors" if base is ArmPredictor else "models and layers"
            raise ValueError(
                f"the class of {shown_value(name)} should be one of {what} that this program was "
                f"given, got {shown_value(place)}: pass it, bayesduel.load(path, classes=[...]), "
                "or register it, bayesduel.models.register; a file imports and calls nothing"
            )
        found[name] = kind
    return found


def _names(model: Any) -> list[str]:
    """Return the names of the layers of a model, outermost first, and of what they wrap."""
    return str(model.name).replace(")", "").split("(")


def _is_shipped(kind: type) -> bool:
    return kind.__module__.startswith(SHIPPED)


def _place(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"
