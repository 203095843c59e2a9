"""Settings of a study: as given, as stored, and the session that they make."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any, NamedTuple

from bayesduel.data.duels import Duels
from bayesduel.inference.default_model import AUTO, DefaultModel
from bayesduel.models import Model, model_from_settings, model_named, model_settings
from bayesduel.policies.score_rules import ScoreRule
from bayesduel.study.arms import (
    allowed_pairs,
    check_pair,
    checked_labels,
    cost_matrix,
    pair_costs,
    required_duels,
    required_matrix,
)
from bayesduel.study.asking import Asking, check_labels, checked_asking, stored_asking
from bayesduel.study.goal import FindBest, Goal, MinimizeRegret, goal_of
from bayesduel.study.judging import Judging, checked_judging, stored_judging
from bayesduel.study.policy_settings import is_automatic, policy_from, settings_of
from bayesduel.study.session import Session, belief_of
from bayesduel.study.source_posterior import SourcePosterior, checked_sources, source_costs
from bayesduel.study.stop_settings import rule_from, usual_rule
from bayesduel.study.stopping import Budget, StopRule
from bayesduel.system.arguments import check_seed, finite, shown_value, whole
from bayesduel.system.memory import check_square
from bayesduel.system.open_datatree import DAMAGED

__all__ = [
    "SETTINGS",
    "StudyParts",
    "check_room",
    "differing",
    "parts_of",
    "stored_settings",
]

KEY = re.compile(r"[A-Za-z0-9_]{1,40}")  # it stands in pages, in addresses and before the last dash
NEVER = Budget(2**62)  # of a study without a stop rule: so many duels no study has
MOST_ARMS = 2000  # a question then takes about 4 s (below)
OF_MAKING = {"created", "key", "history"}  # what a study has of the moment it was made


class StudyParts(NamedTuple):
    """What the settings of a study stand for."""

    model: Model  # as set
    stop: StopRule | None  # when there is enough, or None
    asking: Asking  # what a ticket asks of a judge
    judging: Judging | None  # what judges are asked beside the policy's choice, or None
    session: Session  # a session of all this without an outcome


def _model_of(wanted: Any) -> Model:
    """Return the model of a study, by default Bradley-Terry.

    Raises TypeError or ValueError if it is not a model, or if a log would choose it.
    """
    if isinstance(wanted, DefaultModel) or wanted == AUTO:
        raise ValueError(
            f"model should be a model or its name, such as 'davidson', got {shown_value(wanted)}. "
            "A new study has no votes yet that could choose a model"
        )
    return model_named("bradley-terry" if wanted is None else wanted)


def stored_settings(
    arms: Sequence[str] | None,
    given: Mapping[str, Any],
    stop: StopRule | float | Sequence[StopRule | float] | None,
    expires: float,
    seed: int,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the settings of a new study as they are stored, and the labels of its arms.

    arms, stop, expires, seed: as ``Study`` takes them.
    given: its goal, model, policy, pairs, costs, required duels, items (checked), asking,
        judging and sources, by name.
    Raises TypeError or ValueError if an argument is not as described there, or does not go with
    another.
    """
    labels = checked_labels(arms)
    check_labels(labels)
    goal = FindBest() if given["goal"] is None else goal_of(given["goal"])
    goal.check(len(labels))
    model = _model_of(given["model"])
    sources = checked_sources(given["sources"], model)
    if sources is None:
        _check_fed(model, labels, given["items"], given["asking"])
    check_seed(seed)
    expires = finite(expires, "expires")
    if not expires > 0:
        raise ValueError(f"expires should be positive, in seconds, got {expires}")
    policy = given["policy"]
    automatic = policy is None or is_automatic(policy)
    allowed = allowed_pairs(given["pairs"], labels)
    costs = pair_costs(given["costs"], labels)
    required = required_duels(given["required"], labels, allowed)
    driven = isinstance(goal.policy() if automatic else policy, ScoreRule)
    never = stop is None or (isinstance(goal, MinimizeRegret) and isinstance(stop, float))
    rule = None if never else usual_rule(stop, goal, confirms=driven and allowed is None)
    if required and not driven:
        raise ValueError(
            "required needs a posterior-driven policy, such as ContrastAllocation(), "
            f"got {shown_value(policy)}"
        )
    if sources and not driven:
        raise ValueError(
            "a study with sources needs a posterior-driven policy, such as ContrastAllocation(), "
            f"got {shown_value(goal.policy() if automatic else policy)}"
        )
    kind = str(model.response.outcome)
    values = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "key": token_hex(2),
        "goal": {"name": goal.name, **goal.settings()},
        "model": model_settings(model),
        "policy": None if automatic else settings_of(policy),
        "stop": None if rule is None else {"name": rule.name, **rule.settings()},
        "pairs": allowed,
        "costs": costs,
        "required": required,
        "expires": float(expires),
        "seed": int(seed),
        "history": [],
        "asking": checked_asking(given["asking"], kind),
        "judging": checked_judging(given["judging"], labels, given["items"], kind),
        "sources": sources,
    }
    check_room(len(labels))
    parts_of(values, labels)  # refuses what does not go together
    return values, labels


def differing(wanted: Mapping[str, Any], held: Mapping[str, Any]) -> list[str]:
    """Return which settings of a study that is asked for are not those of one that is held.

    Arms and items that were added later make no difference.
    """
    found = []
    for name, value in wanted.items():
        one = json.loads(json.dumps(value))  # tuples are lists where they are stored
        other = json.loads(json.dumps(held.get(name)))  # earlier formats have fewer
        if name in ("arms", "items"):
            other = other[: len(one)]
        if name not in OF_MAKING and one != other:
            found.append(name)
    return found


def _check_fed(
    model: Model, labels: Sequence[str], items: Sequence[str], asking: Asking | None
) -> None:
    """Raise ValueError if a study does not hold what a model needs of each vote.

    Every arm meets the next one, twice before each of two judges, on two items if there are any.
    """
    if model.log_type != "duels":
        raise ValueError(
            f"model should be a model of duels, such as BradleyTerry(), got {model.name}, a model "
            f"of {model.log_type}"
        )
    wanted = (
        "model should use only what a study stores (arms, outcomes, judges, items, and grades "
        "if it asks for them)"
    )
    if model.terms.items is not None:
        raise ValueError(
            f"{wanted}, got {model.name}, which uses attributes of the arms. Use BradleyTerry() "
            f"here, and fit {model.name} to study.duels()"
        )
    if model.score_link is not None:
        return
    left = [label for label in labels for _ in range(4)]
    right = [label for label in (*labels[1:], labels[0]) for _ in range(4)]
    n = len(left)
    levels = asking.levels if isinstance(asking, Asking) else ()
    grades = [(levels[-1], -levels[1], 0, levels[1])[k % 4] for k in range(n)] if levels else None
    log = Duels.from_votes(
        left,
        right,
        [(1.0, 0.0, 0.5, 1.0)[k % 4] for k in range(n)],
        margin=[(2.0, -1.0, 0.0, 1.0)[k % 4] for k in range(n)],
        grade=grades,
        judge=["first" if k % 2 else "second" for k in range(n)],
        keep={"item": ["first" if k % 4 < 2 else "second" for k in range(n)]} if items else None,
        arms=list(labels),
    )
    try:
        settled = model.settled(log)
        settled.check(log)
        settled.cells(log)
    except ValueError as error:
        raise ValueError(f"{wanted}, got {model.name}: {error}") from error


def parts_of(
    values: Mapping[str, Any], labels: Sequence[str], retired: set[int] | None = None
) -> StudyParts:
    """Return what stored settings stand for.

    labels: of all arms.
    retired: arms that are asked for no more, indices.
    Raises ValueError if a setting is none that a study stores, or does not go with another.
    """
    made = {name: _made(name, values[name], labels) for name in SETTINGS}
    goal = made["goal"]
    model = made["model"]
    policy = made["policy"]
    rule = made["stop"]
    spec = belief_of(model)
    if policy is None:
        policy = goal.policy(belief=spec)
    checked_sources(made["sources"], model)
    policy = policy.with_cost(cost_matrix(values, labels, retired or set()))
    required = required_matrix(values["required"], labels, retired or set())
    gone = tuple(sorted(retired or ()))
    held = made["sources"]
    sources = None if held is None else SourcePosterior(model, held, len(labels))
    session = Session(
        len(labels), goal, policy, NEVER if rule is None else rule, spec, gone, required, sources
    )
    return StudyParts(model, rule, made["asking"], made["judging"], session)


def _made(name: str, value: Any, labels: Sequence[str]) -> Any:
    """Return what a stored setting stands for; raise ValueError if no study stores such a one."""
    try:
        return READERS[name](value, labels)
    except DAMAGED as error:
        why = f": {error}" if isinstance(error, ValueError) else ""  # others are words of Python
        raise ValueError(
            f"its {name} should have the form that a study stores, got {shown_value(value)}{why}"
        ) from error


def _goal(value: Any, labels: Sequence[str]) -> Goal:
    goal = goal_of(f"top-{value['k']}" if value["name"] == "top-k" else value["name"])
    goal.check(len(labels))
    return goal


def _rows(value: Any, width: int) -> list[list[Any]]:
    """Return a list of lists of a length as it is; raise TypeError if it is not such a list."""
    if not isinstance(value, list) or not all(
        isinstance(r, list) and len(r) == width for r in value
    ):
        raise TypeError
    return value


def _pairs(value: Any, labels: Sequence[str]) -> None:
    known = frozenset(labels)
    rows = None if value is None else _rows(value, 2)
    if rows == []:
        raise ValueError("pairs should allow at least one pair")
    for pair in rows or ():
        check_pair(pair, known, "pairs")


def _by_pair(value: Any) -> dict[tuple[str, str], Any]:
    return {(a, b): held for a, b, held in _rows(value, 3)}


def _text(value: object, _: Sequence[str]) -> None:
    if not isinstance(value, str):
        raise TypeError


def _key(value: object, _: Sequence[str]) -> None:
    if not isinstance(value, str) or not KEY.fullmatch(value):
        raise ValueError("key should be letters and digits, at most 40")


def _expires(value: object, _: Sequence[str]) -> None:
    if not finite(value, "expires") > 0:
        raise ValueError("expires should be positive, in seconds")


def _history(value: object, _: Sequence[str]) -> None:
    for n_duels, probability in _rows(value, 2):
        whole(n_duels, "duels", 1)
        finite(probability, "probability")


def _model(value: Any, _: Sequence[str]) -> Any:
    return model_from_settings(value)


def _policy(value: Any, _: Sequence[str]) -> Any:
    return None if value is None else policy_from(value)


def _stop(value: Any, _: Sequence[str]) -> Any:
    return None if value is None else rule_from(value)


def _costs(value: Any, labels: Sequence[str]) -> Any:
    return pair_costs(_by_pair(value), frozenset(labels))


def _required(value: Any, labels: Sequence[str]) -> Any:
    return required_duels(_by_pair(value), frozenset(labels), None)


def _seed(value: Any, _: Sequence[str]) -> Any:
    return check_seed(value)


def _asking(value: Any, _: Sequence[str]) -> Any:
    return Asking() if value is None else stored_asking(value)


def _judging(value: Any, labels: Sequence[str]) -> Any:
    return None if value is None else stored_judging(value, len(labels))


def _sources(value: Any, _: Sequence[str]) -> Any:
    return None if value is None else source_costs(dict(_rows(value, 2)))


READERS: dict[str, Callable[[Any, Sequence[str]], Any]] = {  # every setting, as it is stored
    "created": _text,
    "key": _key,
    "goal": _goal,
    "model": _model,
    "policy": _policy,
    "stop": _stop,
    "pairs": _pairs,
    "costs": _costs,
    "required": _required,
    "expires": _expires,
    "seed": _seed,
    "history": _history,
    "asking": _asking,
    "judging": _judging,
    "sources": _sources,
}
SETTINGS = tuple(READERS)
LATER: dict[str, Any] = {
    "sources": None,
    "asking": None,
}  # what studies of earlier versions do not have


def check_room(n_arms: int) -> None:
    """Raise ValueError where a study has too many arms to answer, or to fit in memory.

    A question takes up to 0.5 s with 1,000 arms (docs/validation/studies.md), and eight times as
    long with twice as many.
    """
    instead = "leave out arms that cannot be the best, or fit a model to a log of all arms"
    if n_arms > MOST_ARMS:
        raise ValueError(
            f"a study should have at most {MOST_ARMS:,} arms, got {n_arms:,}: {instead}"
        )
    # 12 matrices of K x K numbers at a time: tallies, bounds and what a policy keeps
    check_square(n_arms, 12, "a study", instead)
