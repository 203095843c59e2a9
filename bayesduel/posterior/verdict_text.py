"""The sentences a verdict is told in."""

from collections.abc import Sequence

import numpy as np

from bayesduel.posterior.election import PairSummary, Standings
from bayesduel.preference import NOTIONS
from bayesduel.text import SENTENCE, shorten

__all__ = [
    "ACROSS",
    "cycle_words",
    "join",
    "names_of",
    "per_cent",
    "percent",
    "safe_words",
    "tied_words",
    "undecided_words",
    "winner_words",
]

ACROSS = (
    "The arms fall into groups that never met: how arms of different groups stand to each other "
    "rests on the prior alone, and with it ranks and win rates over all arms."
)


def join(names: Sequence[str], limit: int = 6) -> str:
    """Return "A, B and C", or the first ones "and n others" where there are many.

    Names are shortened to what a sentence bears.
    """
    return _list([shorten(name, SENTENCE) for name in names], limit)


def _list(words: Sequence[str], limit: int = 6) -> str:
    if len(words) > limit + 1:
        return ", ".join(words[:limit]) + f" and {len(words) - limit} others"
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def per_cent(p: float) -> str:
    """Return what is uncertain in per cent, "69", never rounded to 0 or 100: "> 99", "< 1"."""
    rounded = f"{100 * p:.0f}"
    return {"0": "< 1", "100": "> 99"}.get(rounded, rounded)


def percent(probability: float) -> str:
    """Return "(probability 0.97)", never rounding what is uncertain to 1 or 0."""
    if 0.995 <= probability:
        return "(probability above 0.99)"
    if probability < 0.005:
        return "(probability below 0.01)"
    return f"(probability {probability:.2f})"


def winner_words(
    labels: Sequence[str], leader: int, probability: float, pairs: PairSummary, confidence: float
) -> str:
    """Tell of an arm that beats every other."""
    rival = int(np.where(np.arange(len(labels)) == leader, np.inf, pairs.mean[leader]).argmin())
    chance, low, high = (
        per_cent(float(m[leader, rival])) for m in (pairs.mean, pairs.lower, pairs.upper)
    )
    best, second = (shorten(labels[arm], SENTENCE) for arm in (leader, rival))
    if len(labels) == 2:
        return (
            f"{best} wins: it beats {second} {percent(probability)}, in {chance} "
            f"% of duels ({100 * confidence:g} % interval {low} to {high} %)."
        )
    return (
        f"{best} wins: it beats every other arm {percent(probability)}. Its closest "
        f"rival is {second}, which it beats in {chance} % of duels "
        f"({100 * confidence:g} % interval {low} to {high} %)."
    )


def tied_words(names: list[str], everyone: bool, rope: float, joint: float) -> str:
    """Tell of arms that are tied in practice."""
    who = f"All {len(names)} arms are" if everyone and len(names) > 6 else f"{join(names)} are"
    return (
        f"{who} tied in practice: no arm beats any of them with a win probability above "
        f"{0.5 + rope:g} {percent(joint)}."
    )


def cycle_words(
    labels: Sequence[str], around: np.ndarray, probability: float, found: Standings
) -> str:
    """Tell of a cycle, and who does best in spite of it."""
    short = [shorten(label, SENTENCE) for label in labels]
    steps = [
        f"{short[a]} loses to {short[b]}" for a, b in zip(around, np.roll(around, -1), strict=True)
    ]
    copeland = found.share[NOTIONS.index("copeland")]
    mixture = found.share[NOTIONS.index("von_neumann")]
    most = [int(a) for a in np.argsort(-copeland) if copeland[a] >= 0.8 * copeland.max()]
    heavy = [int(a) for a in np.argsort(-mixture, kind="stable") if mixture[a] >= 0.05]
    cycle = [labels[a] for a in np.argsort(-found.smith, kind="stable") if found.smith[a] > 0.5]
    leads = "leads" if len(most) == 1 else "lead"
    words = (
        f"No arm beats all others {percent(probability)}: {_list(steps)}. By number of opponents "
        f"beaten (Copeland) {join(names_of(labels, np.array(most)))} {leads}; nothing beats the "
        f"mixture (von Neumann) of {_list([f'{short[a]} {mixture[a]:.2f}' for a in heavy])}."
    )
    return words + (f" The top cycle is {join(cycle)}." if len(cycle) > 1 else "")


def undecided_words(
    labels: Sequence[str], arms: np.ndarray, probability: float, found: Standings
) -> str:
    """Tell which arms may still be the best."""
    names = names_of(labels, arms)
    exists = float(found.sole.any(1).mean())
    if len(names) == 1:
        sure = percent(float(found.sole[:, arms[0]].mean()))
        words = (
            f"Not enough data yet: {join(names)} beats most opponents {percent(probability)}, "
            f"but that it beats every one is not sure {sure}."
        )
    elif len(names) == len(labels):
        words = f"Not enough data yet: any of the {len(labels)} arms could be the best."
    elif len(names) > 7:
        words = (
            f"Not enough data yet: {len(names)} of {len(labels)} arms hold the best one "
            f"{percent(probability)}; most likely are {join(names[:3])}."
        )
    else:
        words = f"Not enough data yet: the best arm is one of {join(names)} {percent(probability)}."
    if exists < 0.5:
        words += (
            f" Perhaps none beats all others {percent(1 - exists)}; the best is then the one that "
            "beats most (Copeland)."
        )
    return words


def safe_words(names: list[str], rope: float, confidence: float) -> str:
    """Tell which arms are safe choices, if any."""
    if not names:
        return ""
    one = "is a safe choice" if len(names) == 1 else "are safe choices"
    singly = "" if len(names) == 1 else ", taken singly"
    return (
        f" {join(names)} {one}{singly}: with probability {confidence:g} or more, no arm beats it "
        f"with a win probability above {0.5 + rope:g}."
    )


def names_of(labels: Sequence[str], arms: np.ndarray) -> list[str]:
    """Return the labels of some arms (indices)."""
    return [labels[a] for a in arms]
