"""The sentences a verdict is told in."""

from collections.abc import Sequence

import numpy as np

from bayesduel.posterior.election import PairSummary, Standings
from bayesduel.preference import CRITERIA
from bayesduel.text import SENTENCE, join, percent, probability, shorten

__all__ = [
    "ACROSS",
    "cycle_words",
    "names_of",
    "safe_words",
    "tied_words",
    "undecided_words",
    "winner_words",
]

ACROSS = (
    "The arms fall into groups that never met: how arms of different groups stand to each other "
    "rests on the prior alone, and with it ranks and win rates over all arms."
)


def winner_words(
    labels: Sequence[str], leader: int, p: float, pairs: PairSummary, confidence: float
) -> str:
    """Tell of an arm that beats every other."""
    rival = int(np.where(np.arange(len(labels)) == leader, np.inf, pairs.mean[leader]).argmin())
    chance, low, high = (
        percent(float(m[leader, rival])) for m in (pairs.mean, pairs.lower, pairs.upper)
    )
    best, second = (shorten(labels[arm], SENTENCE) for arm in (leader, rival))
    if len(labels) == 2:
        return (
            f"{best} wins: it beats {second} (probability {probability(p)}), in {chance} "
            f"% of duels ({100 * confidence:g} % interval {low} to {high} %)."
        )
    return (
        f"{best} wins: it beats every other arm (probability {probability(p)}). Its closest rival "
        f"is {second}, which it beats in {chance} % of duels "
        f"({100 * confidence:g} % interval {low} to {high} %)."
    )


def tied_words(names: list[str], everyone: bool, rope: float, joint: float) -> str:
    """Tell of arms that are tied in practice."""
    who = f"All {len(names)} arms are" if everyone and len(names) > 6 else f"{join(names)} are"
    return (
        f"{who} tied in practice: no arm beats any of them with a win probability above "
        f"{0.5 + rope:g} (probability {probability(joint)})."
    )


def cycle_words(labels: Sequence[str], around: np.ndarray, p: float, found: Standings) -> str:
    """Tell of a cycle, and who does best in spite of it."""
    short = [shorten(label, SENTENCE) for label in labels]
    steps = [
        f"{short[a]} loses to {short[b]}" for a, b in zip(around, np.roll(around, -1), strict=True)
    ]
    copeland = found.share[CRITERIA.index("copeland")]
    mixture = found.share[CRITERIA.index("von_neumann")]
    most = [int(a) for a in np.argsort(-copeland) if copeland[a] >= 0.8 * copeland.max()]
    heavy = [int(a) for a in np.argsort(-mixture, kind="stable") if mixture[a] >= 0.05]
    cycle = [labels[a] for a in np.argsort(-found.smith, kind="stable") if found.smith[a] > 0.5]
    leads = "leads" if len(most) == 1 else "lead"
    weights = join([f"{short[a]} {mixture[a]:.2f}" for a in heavy], width=None)
    words = (
        f"No arm beats all others (probability {probability(p)}): {join(steps, width=None)}. By "
        f"number of opponents beaten (Copeland) {join(names_of(labels, np.array(most)))} {leads}; "
        f"nothing beats the mixture (von Neumann) of {weights}."
    )
    return words + (f" The top cycle is {join(cycle)}." if len(cycle) > 1 else "")


def undecided_words(labels: Sequence[str], arms: np.ndarray, p: float, found: Standings) -> str:
    """Tell which arms may still be the best."""
    names = names_of(labels, arms)
    exists = float(found.sole.any(1).mean())
    if len(names) == 1:
        sure = probability(float(found.sole[:, arms[0]].mean()))
        words = (
            f"Not enough data yet: {join(names)} beats most opponents (probability "
            f"{probability(p)}), but that it beats every one is not sure (probability {sure})."
        )
    elif len(names) == len(labels):
        words = f"Not enough data yet: any of the {len(labels)} arms could be the best."
    elif len(names) > 7:
        words = (
            f"Not enough data yet: {len(names)} of {len(labels)} arms hold the best one "
            f"(probability {probability(p)}); most likely are {join(names[:3])}."
        )
    else:
        words = (
            f"Not enough data yet: the best arm is one of {join(names)} (probability "
            f"{probability(p)})."
        )
    if exists < 0.5:
        words += (
            f" Perhaps none beats all others (probability {probability(1 - exists)}); the best is "
            "then the one that beats most (Copeland)."
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
