"""The verdict: a decision rule for the best arm, in one sentence.

A decision rule, not a test. With posterior probability at least `confidence` for each of the
sentences "winner", "tied" and "cycle", it takes the first of these that holds:

1. *tied*: there are two or more arms of which, all together, no arm beats any by more than
   `rope` (so they are within `rope` of 1/2 of each other too). Among the arms for which that
   holds singly, the weakest is dropped until it holds jointly.
2. *winner*: one arm beats every other.
3. *cycle*: every arm loses to an arm that can be named (so that no arm beats all others).
   That some arm or other beats each would not do: with many arms it is near certain before
   any duel is seen.
4. *undecided*: otherwise; the smallest set that holds the best arm with probability at least
   `confidence` is named, and the arms that are safe to choose singly. It is also the verdict
   where the errors are not known well enough for another (two clusters of votes).

Its error: a definite sentence is false with posterior probability at most ``1 - confidence``,
so over logs drawn from the model and its prior, at most that share of them are false.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesduel.posterior.draws import Draws
from bayesduel.posterior.election import ElectionResult, PairSummary
from bayesduel.posterior.election_of_many import OpponentsOfMany
from bayesduel.posterior.verdict_text import (
    cycle_words,
    names_of,
    safe_words,
    tied_words,
    undecided_words,
    winner_words,
)
from bayesduel.preference import CRITERIA

__all__ = ["BestArmVerdict", "Kind", "decide", "tied_group"]

Kind = Literal["winner", "tied", "undecided", "cycle", "not comparable"]


@dataclass(frozen=True, kw_only=True)
class BestArmVerdict:
    """A verdict.

    Attributes
    ----------
    kind
        "winner", "tied", "cycle", "undecided" (or "not comparable", for a log in parts).
    sentence
        For a reader who knows nothing of statistics.
    arms
        Labels of those it names: the winner, the tied, the cycle, the set of candidates.
    safe
        Labels of the arms that, each with probability at least `confidence`, no arm beats by
        more than the rope.
    probability
        Posterior probability that the sentence is true.
    """

    kind: Kind
    sentence: str
    arms: tuple[str, ...]
    safe: tuple[str, ...]
    probability: float


def decide(
    draws: Draws,
    found: ElectionResult,
    pairs: PairSummary | OpponentsOfMany,
    labels: Sequence[str],
    *,
    rope: float,
    confidence: float,
    monte_carlo_error: float,
    ties: bool = False,
    refusal: str = "",
) -> BestArmVerdict:
    """Return the verdict on the arms of `draws`."""
    safe = _safe(found.unbeaten, confidence)
    tied, joint = tied_group(found.unbeaten, confidence)
    sole = found.sole.mean(0)
    leader = int(sole.argmax())
    kind: Kind
    if refusal:
        kind = "undecided"
        arms, probability = _candidates(found, confidence)
        words, near = refusal, np.inf
    elif len(tied) >= 2:
        kind, arms, probability = "tied", tied, joint
        words = tied_words(names_of(labels, tied), len(tied) == len(labels), rope, joint, ties=ties)
        near = joint
    elif sole[leader] >= confidence:
        kind, arms, probability = "winner", np.array([leader]), float(sole[leader])
        words = winner_words(labels, leader, probability, pairs, confidence, ties=ties)
        near = probability
    else:
        around, probability = np.array([], dtype=int), 0.0
        if draws.score is None and draws.n_arms > 2:
            around, probability = _cycle(draws, found, pairs)
        near = max(probability, float(sole[leader]), joint)
        if probability >= confidence:
            kind, arms = "cycle", around
            words = cycle_words(labels, around, probability, found)
        else:
            kind = "undecided"
            arms, probability = _candidates(found, confidence)
            words = undecided_words(labels, arms, probability, found)
            words += safe_words(names_of(labels, safe), rope, confidence, ties=ties)
    if abs(near - confidence) < 2 * monte_carlo_error:
        words += (
            f" This is close to the threshold of {confidence:g}: with other or more draws "
            f"({draws.n_draws:,} here) the verdict could change."
        )
    return BestArmVerdict(
        kind=kind,
        sentence=words,
        arms=tuple(names_of(labels, arms)),
        safe=tuple(names_of(labels, safe)),
        probability=probability,
    )


def tied_group(unbeaten: np.ndarray, confidence: float) -> tuple[np.ndarray, float]:
    """Return the arms that are tied in practice, and their joint probability.

    Indices, strongest first (none, or at least two), and the probability that no arm beats
    any of them by more than the rope (of the last group tried, where none is left).
    """
    safe = _safe(unbeaten, confidence)
    joint = 0.0
    for size in range(len(safe), 1, -1):
        joint = float(unbeaten[:, safe[:size]].all(1).mean())
        if joint >= confidence:
            return safe[:size], joint
    return safe[:0], joint


# -- in calling order ----------------------------------------------------------------------


def _safe(unbeaten: np.ndarray, confidence: float) -> np.ndarray:
    singly = unbeaten.mean(0)
    safe = np.flatnonzero(singly >= confidence)
    return safe[np.argsort(-singly[safe], kind="stable")]


def _cycle(
    draws: Draws, found: ElectionResult, pairs: PairSummary | OpponentsOfMany
) -> tuple[np.ndarray, float]:
    """Return a cycle, and the probability that every arm loses to the one it likeliest does."""
    everyone = np.arange(draws.n_arms)
    nemesis = pairs.between(everyone).beats.argmax(0)
    held = sum(int((P[:, nemesis, everyone] > 0.5).all(1).sum()) for P in draws.matrices())
    path = [int(found.share[CRITERIA.index("copeland")].argmax())]
    while (step := int(nemesis[path[-1]])) not in path:
        path.append(step)
    return np.array(path[path.index(step) :]), held / draws.n_draws


def _candidates(found: ElectionResult, confidence: float) -> tuple[np.ndarray, float]:
    """Return the smallest set that holds the best arm (Copeland) with `confidence`."""
    share = found.share[CRITERIA.index("copeland")]
    order = np.argsort(-share, kind="stable")
    held = np.cumsum(share[order])
    size = int(np.searchsorted(held, confidence - 1e-12)) + 1
    return order[:size], float(min(held[size - 1], 1.0))
