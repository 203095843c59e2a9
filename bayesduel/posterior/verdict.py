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
4. *undecided*: otherwise. The sentence names the arms that are safe to choose, first: with such an
   arm a study with this rope and confidence stops. Then it names the smallest set that holds the
   best arm with probability at least `confidence`. It is also the verdict where the errors are not
   known well enough for another (two clusters of votes).

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
from bayesduel.preference import CRITERIA
from bayesduel.text import SENTENCE, join, percent, plural, probability, shorten

__all__ = [
    "BestArmVerdict",
    "Kind",
    "across_words",
    "decide",
    "mixture_words",
    "tied_group",
    "undecided_words",
]

Kind = Literal["winner", "tied", "undecided", "cycle", "not comparable"]


@dataclass(frozen=True, kw_only=True)
class BestArmVerdict:
    """A verdict."""

    kind: Kind  # "winner", "tied", "cycle", "undecided" (or "not comparable", for a log in parts)
    sentence: str  # for a reader who knows nothing of statistics
    # labels of those it names: the winner, the tied, the cycle, the set of candidates
    arms: tuple[str, ...]
    # labels of the arms that, each with probability at least `confidence`, no arm beats by more
    # than the rope
    safe: tuple[str, ...]
    probability: float  # posterior probability that the sentence is true
    within: tuple[str, ...] = ()  # verdicts within groups of arms that never met

    @property
    def words(self) -> str:
        """The sentence, and the verdicts within groups."""
        return " ".join([self.sentence, *self.within])


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
    cases: str = "duels",
    noun: str = "arm",
) -> BestArmVerdict:
    """Return the verdict on the arms of `draws`.

    cases: what a win probability is a share of, in words.
    noun: what an arm is called.
    """
    safe = _safe(found.unbeaten, confidence)
    tied, joint = tied_group(found.unbeaten, confidence)
    sole = found.sole.mean(0)
    leader = int(sole.argmax())
    kind: Kind
    if refusal:
        kind = "undecided"
        arms, probability = _candidates(found, confidence)
        words = refusal
        near = np.inf
    elif len(tied) >= 2:
        kind = "tied"
        arms = tied
        probability = joint
        everyone = len(tied) == len(labels)
        names = names_of(labels, tied)
        words = tied_words(names, everyone, rope, joint, ties=ties, noun=noun)
        near = joint
    elif sole[leader] >= confidence:
        kind = "winner"
        arms = np.array([leader])
        probability = float(sole[leader])
        words = winner_words(
            labels, leader, probability, pairs, confidence, ties=ties, cases=cases, noun=noun
        )
        near = probability
    else:
        around = np.array([], dtype=int)
        probability = 0.0
        if draws.score is None and draws.n_arms > 2:
            around, probability = _cycle(draws, found, pairs)
        near = max(probability, float(sole[leader]), joint)
        if probability >= confidence:
            kind = "cycle"
            arms = around
            words = cycle_words(labels, around, probability, found, noun)
        else:
            kind = "undecided"
            arms, probability = _candidates(found, confidence)
            chosen = len(safe) > 0
            words = undecided_words(labels, arms, probability, found, chosen=chosen, noun=noun)
            if len(safe):
                singly = found.unbeaten[:, safe].mean(0)
                least = float(singly.min())
                names = names_of(labels, safe)
                first = safe_words(names, rope, least, ties=ties, cases=cases, noun=noun)
                words = f"{first} {words}"
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


def across_words(noun: str = "arm") -> str:
    """Return what groups that never met leave open; `noun` is what an arm is called."""
    nouns = plural(noun)
    return (
        f"The {nouns} form groups that no duel compares: comparisons between groups depend on the "
        f"prior alone, and so do ranks and win rates over all {nouns}."
    )


def tied_group(unbeaten: np.ndarray, confidence: float) -> tuple[np.ndarray, float]:
    """Return the arms that are tied in practice, and their joint probability.

    Indices, strongest first (none, or at least two), and the probability that no arm beats
    any of them by more than the rope (of the last group tried, where none is left).
    """
    safe = _safe(unbeaten, confidence)
    joint = 0.0
    for size in range(len(safe), 1, -1):
        all_unbeaten = unbeaten[:, safe[:size]].all(1)
        joint = float(all_unbeaten.mean())
        if joint >= confidence:
            return safe[:size], joint
    return safe[:0], joint


def _safe(unbeaten: np.ndarray, confidence: float) -> np.ndarray:
    singly = unbeaten.mean(0)
    safe = np.flatnonzero(singly >= confidence)
    order = np.argsort(-singly[safe], kind="stable")
    return safe[order]


def _cycle(
    draws: Draws, found: ElectionResult, pairs: PairSummary | OpponentsOfMany
) -> tuple[np.ndarray, float]:
    """Return a cycle, and the probability that every arm loses to the one it likeliest does."""
    everyone = np.arange(draws.n_arms)
    beats = pairs.between(everyone).beats
    nemesis = beats.argmax(0)
    held = 0
    for P in draws.matrices():
        loses = P[:, nemesis, everyone] > 0.5
        held += int(loses.all(1).sum())
    copeland = found.share[CRITERIA.index("copeland")]
    path = [int(copeland.argmax())]
    while (step := int(nemesis[path[-1]])) not in path:
        path.append(step)
    start = path.index(step)
    return np.array(path[start:]), held / draws.n_draws


def _candidates(found: ElectionResult, confidence: float) -> tuple[np.ndarray, float]:
    """Return the smallest set that holds the best arm (Copeland) with `confidence`."""
    share = found.share[CRITERIA.index("copeland")]
    order = np.argsort(-share, kind="stable")
    held = np.cumsum(share[order])
    n_before = int(np.searchsorted(held, confidence - 1e-12))
    chance = min(held[n_before], 1.0)
    return order[: n_before + 1], float(chance)


def winner_words(
    labels: Sequence[str],
    leader: int,
    p: float,
    pairs: PairSummary | OpponentsOfMany,
    confidence: float,
    *,
    ties: bool,
    cases: str = "duels",
    noun: str = "arm",
) -> str:
    """Return the sentence for an arm that beats every other."""
    rival = pairs.nearest(leader)
    best = shorten(labels[leader], SENTENCE)
    second = shorten(labels[rival], SENTENCE)
    chance = probability(p)
    both = pairs.between(np.array([leader, rival]))
    against = pair_words(both, 0, 1, confidence, ties=ties, cases=cases)
    if len(labels) == 2:
        return f"{best} wins: it beats {second} (probability {chance}), {against}."
    how = "against which it scores" if ties else "which it beats"
    return (
        f"{best} wins: it beats every other {noun} (probability {chance}). Its closest "
        f"rival is {second}, {how} {against}."
    )


def pair_words(
    pairs: PairSummary, first: int, second: int, confidence: float, *, ties: bool, cases: str
) -> str:
    """Return how often an arm beats another; where there are ties, its expected score.

    An expected score counts a tie half a win; beside it stand the shares of wins, ties and losses
    where the model has ties as an outcome.
    """
    mean = float(pairs.mean[first, second])
    chance = percent(mean)
    low = percent(float(pairs.lower[first, second]))
    high = percent(float(pairs.upper[first, second]))
    percentage = 100 * confidence
    level = f"{percentage:g} % interval {low} to {high} %"
    if not ties:
        return f"in {chance} % of {cases} ({level})"
    words = f"an expected {chance} % of the points ({level}; a tie counts half)"
    if pairs.tie is None:
        return words
    tie = float(pairs.tie[first, second])
    win = mean - tie / 2
    loss = 1 - win - tie
    shares = f"{percent(win)} % wins, {percent(tie)} % ties and {percent(loss)} % losses"
    return f"{words}, with {shares}"


def tied_words(
    names: list[str],
    everyone: bool,
    rope: float,
    joint: float,
    *,
    ties: bool,
    noun: str = "arm",
) -> str:
    """Return the sentence for arms that are tied in practice."""
    who = f"{join(names)} are"
    if everyone and len(names) > 6:
        who = f"All {len(names)} {plural(noun)} are"
    return (
        f"{who} tied in practice: no {noun} beats any of them with {_of_what(ties)} above "
        f"{0.5 + rope:g} (probability {probability(joint)})."
    )


def cycle_words(
    labels: Sequence[str],
    around: np.ndarray,
    p: float,
    found: ElectionResult,
    noun: str = "arm",
) -> str:
    """Return the sentences for a cycle: its arms, and the winners by other criteria."""
    short = [shorten(label, SENTENCE) for label in labels]
    steps = [
        f"{short[a]} loses to {short[b]}" for a, b in zip(around, np.roll(around, -1), strict=True)
    ]
    copeland = found.share[CRITERIA.index("copeland")]
    mixture = found.share[CRITERIA.index("von_neumann")]
    least = 0.8 * copeland.max()
    by_copeland = np.argsort(-copeland, kind="stable")
    most = [int(a) for a in by_copeland if copeland[a] >= least]
    by_chance = np.argsort(-found.smith, kind="stable")
    cycle = [labels[a] for a in by_chance if found.smith[a] > 0.5]
    winners = names_of(labels, np.array(most))
    have = (
        "has the largest Copeland score" if len(most) == 1 else "have the largest Copeland scores"
    )
    words = (
        f"No {noun} beats all others (probability {probability(p)}): {join(steps, width=None)}. "
        f"{join(winners)} {have} (number of opponents beaten); the von "
        f"Neumann mixture, which no {noun} beats, is {mixture_words(short, mixture, noun)}."
    )
    if len(cycle) > 1:
        words += f" The top cycle is {join(cycle)}."
    return words


def mixture_words(names: list[str], weight: np.ndarray, noun: str = "arm") -> str:
    """Return the largest weights of a mixture of arms, and what the other arms have together."""
    nouns = plural(noun)
    order = np.argsort(-weight, kind="stable")
    named = []
    for a in order:
        if weight[a] >= 0.05:
            named.append(f"{names[a]} {weight[a]:.2f}")
    if not named:
        first = names[order[0]]
        largest = f"{first} with the largest weight of {weight.max():.2f}"
        return f"spread over many {nouns}, {largest}"
    others = len(names) - len(named)
    weights = weight[order[: len(named)]]
    rest = 1 - float(weights.sum())
    if rest >= 0.05:
        named.append(f"{others} other {nouns} {rest:.2f} together")
    return join(named, 20, width=None)


def undecided_words(
    labels: Sequence[str],
    arms: np.ndarray,
    p: float,
    found: ElectionResult,
    *,
    chosen: bool = False,
    noun: str = "arm",
) -> str:
    """Return the sentences for a log that does not decide which arm is best.

    chosen: whether they stand after a safe choice.
    noun: what an arm is called.
    """
    names = names_of(labels, arms)
    nouns = plural(noun)
    chance = probability(p)
    exists = float(found.sole.any(1).mean())
    start = "Not enough data yet" if exists >= 0.5 else "Undecided"
    if chosen:
        start = f"Which {noun} is best is not decided yet"
    if len(names) == 1:
        beats_all = found.sole[:, arms[0]].mean()
        sure = probability(float(beats_all))
        words = (
            f"{start}: {join(names)} beats most opponents (probability "
            f"{chance}), but may not beat every one (probability of that {sure})."
        )
    elif len(names) == len(labels):
        words = f"{start}: any of the {len(labels)} {nouns} could be the best."
    elif len(names) > 7:
        words = (
            f"{start}: the best {noun} is one of {len(names):,} of {len(labels):,} {nouns} "
            f"(probability {chance}); the most probable are {join(names[:3])}."
        )
    else:
        words = f"{start}: the best {noun} is one of {join(names)} (probability {chance})."
    if exists < 0.5:
        words += (
            f" Probably no {noun} beats all others (probability {probability(1 - exists)}); "
            f"the best {noun} is then the one that beats most (Copeland)."
        )
    return words


def safe_words(
    names: list[str],
    rope: float,
    least: float,
    *,
    ties: bool,
    cases: str = "duels",
    noun: str = "arm",
) -> str:
    """Return the sentence for the safe choices.

    least: the smallest probability, over these arms, that no arm beats them by more than the rope.
    """
    share = f"{100 * (0.5 + rope):.3g} %"
    more = f"scores more than {share}" if ties else f"wins more than {share} of {cases}"
    limit = f" (50 % and the rope of {100 * rope:.3g} %)" if rope else ""
    beaten = f"no other {noun} {more} against it{limit}."
    if len(names) == 1:
        return f"{names[0]} is a safe choice: with probability {probability(least)}, {beaten}"
    return (
        f"{join(names)} are safe choices, each on its own: with probability {probability(least)} "
        f"or more, {beaten}"
    )


def names_of(labels: Sequence[str], arms: np.ndarray) -> list[str]:
    """Return the labels of arms, given their indices."""
    return [labels[a] for a in arms]


def _of_what(ties: bool) -> str:
    return "an expected score" if ties else "a win probability"
