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


def _classes(module: ModuleType, base: type) -> dict[str, Any]:
    """Return the classes of a base that a module of the package lists, by name."""
    listed = {name: getattr(module, name) for name in module.__all__}
    return {n: k for n, k in listed.items() if isinstance(k, type) and issubclass(k, base)}


POLICIES = _classes(policies, PairPolicy)
BELIEFS = _classes(beliefs, BeliefSpec)


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
    return _called(POLICIES, settings)


def _held(value: object) -> Any:
    if isinstance(value, Model):
        return {"model": model_settings(value)}
    if isinstance(value, BeliefSpec | PairPolicy):
        if (BELIEFS | POLICIES).get(type(value).__name__) is not type(value):
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


def _called(classes: dict[str, Any], settings: dict[str, Any]) -> Any:
    """Return what these settings make of the class that they name, one of `classes`."""
    kind = classes.get(str(settings.get("class")))
    if kind is None:
        raise ValueError(
            f"class of a policy or a belief should be one of {', '.join(classes)}, "
            f"got {shown_value(settings.get('class'))}"
        )
    return kind(**{name: _made(value) for name, value in settings.items() if name != "class"})


def _made(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "class" in value:  # before "model", which a belief may have among its settings
        return _called(BELIEFS | POLICIES, value)
    if "tuple" in value:
        return tuple(_made(part) for part in value["tuple"])
    # Studies of earlier versions hold the name and the settings beside each other.
    held = value.get("model")
    return model_from_settings(held if isinstance(held, dict) else value | {"name": held})
