"""Stop rules as they are given and as they are stored."""

from typing import TYPE_CHECKING, Any

from bayesduel.study.confirmed import Confirmed
from bayesduel.study.goal import FindBest, Goal
from bayesduel.study.stopping import (
    AllOf,
    AnyOf,
    Budget,
    ConfidenceSequences,
    ExpectedLoss,
    PosteriorThreshold,
    StopRule,
    WithinRope,
)
from bayesduel.system.arguments import shown_value

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = ["rule_from", "stop_rule", "usual_rule"]

RULES: dict[str, Any] = {
    rule.name: rule
    for rule in (WithinRope, PosteriorThreshold, ExpectedLoss, ConfidenceSequences, Budget)
}


def stop_rule(given: Any) -> StopRule:
    """Return a rule, given itself, a probability (of ``WithinRope``) or a list of rules (any).

    Raises TypeError or ValueError if it is not one of these.
    """
    if isinstance(given, StopRule):
        return given
    if isinstance(given, float):
        if not 0.5 < given < 1:
            raise ValueError(f"stop should be a probability in (0.5, 1), got {given}")
        return WithinRope(given)
    listed = isinstance(given, list | tuple) and len(given)
    if listed and all(isinstance(rule, float | StopRule) for rule in given):
        rules = tuple(stop_rule(rule) for rule in given)
        return rules[0] if len(rules) == 1 else AnyOf(rules)
    raise TypeError(
        f"stop should be a probability, a rule such as WithinRope(0.95) or a list, "
        f"got {shown_value(given)}"
    )


def usual_rule(
    stop: "StopRule | float | Sequence[StopRule | float] | None", goal: Goal, *, confirms: bool
) -> StopRule:
    """Return the rule of a study: for the best arm a probability stands for a confirmed rule.

    stop: as ``Study`` takes it.
    confirms: whether every pair may be asked for, by a posterior-driven policy.
    """
    if isinstance(stop, float) and confirms and isinstance(goal, FindBest):
        return Confirmed(stop_rule(stop))
    rule = stop_rule(stop)
    if rule.steers and not confirms:
        raise ValueError(
            f"stop should be a rule on scores, such as WithinRope(0.95), got {rule!r}. That rule "
            "needs a posterior-driven policy that may ask for every pair"
        )
    return rule


def rule_from(settings: dict[str, Any]) -> StopRule:
    """Return the rule of these settings, with its name.

    Raises LookupError, TypeError or ValueError if they are not those of a rule.
    """
    own = {**settings}
    name = own.pop("name")
    if name == "confirmed":
        return Confirmed(rule_from(own.pop("rule")), **own)
    if name in ("any", "all"):
        made = tuple(rule_from(each) for each in own["rules"])
        if not made:
            raise ValueError("a list of stop rules needs at least one rule")
        return AnyOf(made) if name == "any" else AllOf(made)
    return RULES[name](**own)
