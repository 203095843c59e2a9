"""A policy as JSON: its class and settings, with those of its belief and of the belief's model.

A class is named by a text, which is looked up among those of the package and nowhere else.
"""

from dataclasses import fields
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bayesduel import beliefs, policies
from bayesduel.beliefs import BeliefSpec
from bayesduel.models import Model, model_from_settings, model_settings
from bayesduel.policies.policy import PairPolicy
from bayesduel.system.arguments import shown_value

if TYPE_CHECKING:
    from bayesduel.policies.policy import Policy

__all__ = ["is_automatic", "policy_from", "settings_of"]


# Modules that list classes by name, and what these inherit from.
BELIEFS = (beliefs, BeliefSpec)
POLICIES = (policies, PairPolicy)


def _class_of(name: str, *rooms: tuple[ModuleType, type]) -> Any:
    """Return the class that one of `rooms` lists under a name, or None. No other is loaded."""
    for module, base in rooms:
        if name in module.__all__:
            listed = getattr(module, name)
            if isinstance(listed, type) and issubclass(listed, base):
                return listed
    return None


def is_automatic(policy: "Policy") -> bool:
    """Return whether a policy is "auto"; raise TypeError if it is not a policy of pairs."""
    automatic = isinstance(policy, str) and policy == "auto"
    if not automatic and not isinstance(policy, PairPolicy):
        raise TypeError(
            f"policy should be 'auto' or a policy of pairs such as DTS(), got {shown_value(policy)}"
        )
    return automatic


def settings_of(policy: PairPolicy) -> dict[str, Any]:
    """Return a policy as JSON holds it.

    Raises TypeError if a setting is nothing that JSON can hold, or the policy, its belief or a
    policy in it is of no class of the package.
    """
    return _held(policy)


def policy_from(settings: dict[str, Any]) -> PairPolicy:
    """Return the policy of these settings.

    Raises TypeError or ValueError if they are not those of a policy of the package.
    """
    return _called(settings, POLICIES)


def _held(value: object) -> Any:
    if isinstance(value, Model):
        return {"model": model_settings(value)}
    if isinstance(value, BeliefSpec | PairPolicy):
        if _class_of(type(value).__name__, BELIEFS, POLICIES) is not type(value):
            raise TypeError(
                "policy should use only classes of bayesduel.policies and bayesduel.beliefs, got "
                f"{shown_value(value)}. A study file cannot run your code. Use your policy in "
                "bd.simulate, or choose the duels yourself and store them with study.add"
            )
        own = {f.name: _held(getattr(value, f.name)) for f in fields(value)}  # type: ignore[arg-type]
        return {"class": type(value).__name__, **own}
    if isinstance(value, tuple):
        return {"tuple": [_held(part) for part in value]}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"settings of a policy should be numbers or text, got {shown_value(value)}")


def _called(settings: dict[str, Any], *rooms: tuple[ModuleType, type]) -> Any:
    """Return what these settings make of the class that they name, which one of `rooms` lists."""
    name = str(settings.get("class"))
    kind = _class_of(name, *rooms)
    if kind is None:
        listed = [own for module, _ in rooms for own in module.__all__ if _class_of(own, *rooms)]
        raise ValueError(
            f"class of a policy or a belief should be one of {', '.join(listed)}, "
            f"got {shown_value(settings.get('class'))}"
        )
    return kind(**{name: _made(value) for name, value in settings.items() if name != "class"})


def _made(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "class" in value:  # before "model", which a belief may have among its settings
        return _called(value, BELIEFS, POLICIES)
    if "tuple" in value:
        return tuple(_made(part) for part in value["tuple"])
    # Studies of earlier versions hold the name and the settings beside each other.
    held = value.get("model")
    return model_from_settings(held if isinstance(held, dict) else value | {"name": held})
