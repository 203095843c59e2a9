"""The verdict of a study in words, and what the transitivity check says of it."""

from collections.abc import Sequence
from typing import Any

from bayesduel.data.duels import Duels
from bayesduel.study.goal import Goal
from bayesduel.study.session import Decision
from bayesduel.text import join, percent, win_points

__all__ = ["objection", "transitivity", "verdict"]

CRITERIA = {"condorcet": "Condorcet", "copeland": "Copeland", "borda": "Borda"}


def verdict(
    goal: Goal,
    decision: Decision,
    labels: Sequence[str],
    *,
    rope: float,
    n_duels: int,
    noun: str,
    ended: bool = False,
) -> str:
    """Return the verdict.

    goal, decision: what is to be found, and what the posterior says of it.
    labels: of all arms.
    rope: of the stop rule.
    n_duels: number of outcomes told.
    noun: what an arm is called.
    ended: whether somebody ended the study.
    """
    if not n_duels:
        return "The study has no outcome yet."
    order = [labels[i] for i in decision.order]
    by = ", confirmed by direct duels" if decision.confirmed and decision.decided else ""
    sure = f"({percent(decision.probability)} % sure{by})"
    tied = _tied(decision, labels)
    points = win_points(rope)
    said = goal.roughly(order, rope, noun) if rope else goal.sentence(order)
    if decision.nobody:
        said = (
            f"no {noun} is the best (a top cycle): each {noun} loses to another {noun} "
            f"by more than {points}"
        )
    if ended and not decision.stopped:
        return f"Ended before it was decided: so far {said} {sure}."
    if not decision.stopped:
        return f"Open: so far {said} {sure}."
    if not decision.decided:
        return f"Not decided within the budget: so far {said} {sure}.{tied}"
    return f"Decided: {said} {sure}.{tied}"


def _tied(decision: Decision, labels: Sequence[str]) -> str:
    if not decision.tied:
        return ""
    groups = [join([labels[i] for i in own], len(own), width=None) for own in decision.tied]
    return f" Practically equal: {'; '.join(groups)} ({percent(decision.tied_probability)} % sure)."


def objection(model: str, *, confirmed: bool, noun: str) -> str:
    """Return what a verdict adds where the transitivity check objects."""
    about = f"the duels of each {noun} with each other" if confirmed else f"the scores of {model}"
    return (
        "The transitivity check rejects a single ranking. Other winner criteria may give "
        f"another answer. This answer is about {about}."
    )


def transitivity(duels: Duels, best: str, model: str) -> dict[str, Any]:
    """Return what the quick transitivity check says of a log, as JSON holds it.

    best: the first arm of the answer.
    model: name of the study's model.
    Returns ``transitive`` (False where the check objects, None where the log cannot tell),
    ``sentence``, and, where it objects, ``criteria``: the posterior probability that `best` is the
    winner under each criterion (several winners share it), where pairs may deviate from scores.
    """
    from bayesduel.criticism.check import check
    from bayesduel.posterior.winners import winners

    found = check(duels, quick=True)
    if found.transitive is not False:
        return {"transitive": found.transitive, "sentence": found.verdict_parts[0], "criteria": {}}
    shares = winners(found.fit)["winner_share"].sel(arm=best)
    criteria = {name: float(shares.sel(criterion=name)) for name in CRITERIA}
    said = ", ".join(
        f"the {CRITERIA[n]} winner with probability {p:.2f}" for n, p in criteria.items()
    )
    sentence = (
        f"{found.verdict_parts[0]} The answer is about the scores of {model}. If pairs may "
        f"deviate from scores, {best} is {said}."
    )
    return {"transitive": False, "sentence": sentence, "criteria": criteria}
