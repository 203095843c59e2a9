"""Sentences of a verdict."""

from collections.abc import Sequence

import numpy as np

from bayesduel.posterior.election import ElectionResult, PairSummary
from bayesduel.posterior.election_of_many import OpponentsOfMany
from bayesduel.preference import CRITERIA
from bayesduel.text import SENTENCE, join, percent, probability, shorten

__all__ = [
    "ACROSS",
    "cycle_words",
    "mixture_words",
    "names_of",
    "pair_words",
    "safe_words",
    "tied_words",
    "undecided_words",
    "winner_words",
]

ACROSS = (
    "The arms form groups that never met: comparisons between groups depend on the prior alone, "
    "and so do ranks and win rates over all arms."
)


def winner_words(
    labels: Sequence[str],
    leader: int,
    p: float,
    pairs: PairSummary | OpponentsOfMany,
    confidence: float,
    *,
    ties: bool,
) -> str:
    """Return the sentence for an arm that beats every other."""
    rival = pairs.nearest(leader)
    best, second = (shorten(labels[arm], SENTENCE) for arm in (leader, rival))
    against = pair_words(pairs.between(np.array([leader, rival])), 0, 1, confidence, ties=ties)
    if len(labels) == 2:
        return f"{best} wins: it beats {second} (probability {probability(p)}), {against}."
    return (
        f"{best} wins: it beats every other arm (probability {probability(p)}). Its closest rival "
        f"is {second}, {'against which it scores' if ties else 'which it beats'} {against}."
    )


def pair_words(
    pairs: PairSummary, first: int, second: int, confidence: float, *, ties: bool
) -> str:
    """Return how often an arm beats another; where there are ties, its expected score.

    An expected score counts a tie half a win; beside it stand the shares of wins, ties and losses
    where the model has ties as an outcome.
    """
    chance, low, high = (
        percent(float(m[first, second])) for m in (pairs.mean, pairs.lower, pairs.upper)
    )
    level = f"{100 * confidence:g} % interval {low} to {high} %"
    if not ties:
        return f"in {chance} % of duels ({level})"
    words = f"an expected {chance} % of the points ({level}; a tie counts half)"
    if pairs.tie is None:
        return words
    tie = float(pairs.tie[first, second])
    win = float(pairs.mean[first, second]) - tie / 2
    shares = (percent(share) for share in (win, tie, 1 - win - tie))
    return words + ", with {} % wins, {} % ties and {} % losses".format(*shares)


def tied_words(names: list[str], everyone: bool, rope: float, joint: float, *, ties: bool) -> str:
    """Return the sentence for arms that are tied in practice."""
    who = f"All {len(names)} arms are" if everyone and len(names) > 6 else f"{join(names)} are"
    return (
        f"{who} tied in practice: no arm beats any of them with {_of_what(ties)} above "
        f"{0.5 + rope:g} (probability {probability(joint)})."
    )


def cycle_words(labels: Sequence[str], around: np.ndarray, p: float, found: ElectionResult) -> str:
    """Return the sentences for a cycle: its arms, and the winners by other criteria."""
    short = [shorten(label, SENTENCE) for label in labels]
    steps = [
        f"{short[a]} loses to {short[b]}" for a, b in zip(around, np.roll(around, -1), strict=True)
    ]
    copeland = found.share[CRITERIA.index("copeland")]
    mixture = found.share[CRITERIA.index("von_neumann")]
    most = [int(a) for a in np.argsort(-copeland) if copeland[a] >= 0.8 * copeland.max()]
    cycle = [labels[a] for a in np.argsort(-found.smith, kind="stable") if found.smith[a] > 0.5]
    have = (
        "has the largest Copeland score" if len(most) == 1 else "have the largest Copeland scores"
    )
    words = (
        f"No arm beats all others (probability {probability(p)}): {join(steps, width=None)}. "
        f"{join(names_of(labels, np.array(most)))} {have} (number of opponents beaten); the von "
        f"Neumann mixture, which no arm beats, is {mixture_words(short, mixture)}."
    )
    return words + (f" The top cycle is {join(cycle)}." if len(cycle) > 1 else "")


def mixture_words(names: list[str], weight: np.ndarray) -> str:
    """Return the largest weights of a mixture of arms, and what the other arms have together."""
    order = np.argsort(-weight, kind="stable")
    named = [f"{names[a]} {weight[a]:.2f}" for a in order if weight[a] >= 0.05]
    if not named:
        largest = f"{names[order[0]]} with the largest weight of {weight.max():.2f}"
        return f"spread over many arms, {largest}"
    others = len(names) - len(named)
    rest = 1 - float(weight[order[: len(named)]].sum())
    if rest >= 0.05:
        named.append(f"{others} other arms {rest:.2f} together")
    return join(named, 20, width=None)


def undecided_words(
    labels: Sequence[str], arms: np.ndarray, p: float, found: ElectionResult
) -> str:
    """Return the sentences for a log that does not decide which arm is best."""
    names = names_of(labels, arms)
    exists = float(found.sole.any(1).mean())
    start = "Not enough data yet" if exists >= 0.5 else "Undecided"
    if len(names) == 1:
        sure = probability(float(found.sole[:, arms[0]].mean()))
        words = (
            f"{start}: {join(names)} beats most opponents (probability "
            f"{probability(p)}), but may not beat every one (probability of that {sure})."
        )
    elif len(names) == len(labels):
        words = f"{start}: any of the {len(labels)} arms could be the best."
    elif len(names) > 7:
        words = (
            f"{start}: the best arm is one of {len(names):,} of {len(labels):,} arms "
            f"(probability {probability(p)}); the most probable are {join(names[:3])}."
        )
    else:
        words = f"{start}: the best arm is one of {join(names)} (probability {probability(p)})."
    if exists < 0.5:
        words += (
            f" Probably no arm beats all others (probability {probability(1 - exists)}); "
            "the best arm is then the one that beats most (Copeland)."
        )
    return words


def safe_words(names: list[str], rope: float, confidence: float, *, ties: bool) -> str:
    """Return the sentence for the safe choices, "" if there are none."""
    if not names:
        return ""
    one = "is a safe choice" if len(names) == 1 else "are safe choices"
    singly = "" if len(names) == 1 else ", each on its own"
    return (
        f" {join(names)} {one}{singly}: with probability {confidence:g} or more, no arm beats it "
        f"with {_of_what(ties)} above {0.5 + rope:g}."
    )


def names_of(labels: Sequence[str], arms: np.ndarray) -> list[str]:
    """Return the labels of arms, given their indices."""
    return [labels[a] for a in arms]


def _of_what(ties: bool) -> str:
    return "an expected score" if ties else "a win probability"
