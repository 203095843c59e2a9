"""A policy as JSON: its class and settings, with those of its belief and of the belief's model."""

from dataclasses import fields
from typing import Any

from bayesduel import beliefs, policies
from bayesduel.beliefs import BeliefSpec
from bayesduel.models import Model, model_from_settings, model_settings
from bayesduel.policies.policy import PairPolicy
from bayesduel.system.arguments import shown_value

__all__ = ["policy_from", "settings_of"]


def settings_of(policy: PairPolicy) -> dict[str, Any]:
    """Return a policy as JSON holds it.

    Raises
    ------
    TypeError
        If a setting is nothing that JSON can hold, or the policy is none of the package.
    """
    if getattr(policies, type(policy).__name__, None) is not type(policy):
        raise TypeError(f"policy should be one of bayesduel.policies, got {shown_value(policy)}")
    found: dict[str, Any] = _held(policy)
    return found


def policy_from(settings: dict[str, Any]) -> PairPolicy:
    """Return the policy of these settings."""
    own = {name: _made(value) for name, value in settings.items() if name != "class"}
    policy: PairPolicy = getattr(policies, settings["class"])(**own)
    return policy


def _held(value: Any) -> Any:
    if isinstance(value, Model):
        return {"model": model_settings(value)}
    if isinstance(value, BeliefSpec | PairPolicy):
        own = {f.name: _held(getattr(value, f.name)) for f in fields(value)}  # type: ignore[arg-type]
        return {"class": type(value).__name__, **own}
    if isinstance(value, tuple):
        return {"tuple": [_held(part) for part in value]}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"settings of a policy should be numbers or text, got {shown_value(value)}")


def _made(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "class" in value:  # before "model", which a belief may have among its settings
        own = {name: _made(part) for name, part in value.items() if name != "class"}
        return getattr(beliefs, value["class"])(**own)
    if "tuple" in value:
        return tuple(_made(part) for part in value["tuple"])
    # Studies of earlier versions hold the name and the settings beside each other.
    held = value["model"]
    return model_from_settings(held if isinstance(held, dict) else value | {"name": held})
