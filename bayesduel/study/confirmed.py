"""Confirmation: the answer's own duels, each pair by itself, before a study stops.

A rule on scores is as right as the scores: where preferences form cycles, or where the arm that
beats all others is not the one that wins most, it stops at a wrong arm with confidence. Here the
rule only names a candidate. The pair of the candidate that is most probably the other way round is
duelled next, until no pair is by more than the rope with probability p, or until one is the other
way round, which makes the next candidate. With less doubt a pair has to show by its own duels only
as much as it may not follow the scores.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.special import betainc, betaln, expit, logit, logsumexp, xlog1py, xlogy

from bayesduel.study.evidence import Evidence
from bayesduel.study.stopping import StopRule
from bayesduel.system.arguments import check_type
from bayesduel.text import win_points

__all__ = ["Confirmed"]

PRIOR = 2.0  # wins, and losses, that the prior of a pair is worth: that of Beta(2, 2)
# Probability of being the worse of a pair at which a candidate is given up: a hundredth of the
# doubt is lost by it.
BEATEN = 0.99
BLOCK = 2000  # pairs at a time, whose draws are held


@dataclass(frozen=True)
class Confirmed(StopRule):
    """Each pair of the answer has its order by its own duels, up to the rope.

    The pairs are those that the goal orders: for the best arm it and every other, for the k best
    each of them and every arm left out, for a ranking all. The win probability of each pair has
    the prior Beta(2, 2), whatever the model says of it. The model names the first candidate; an
    arm that beats one above it with probability 0.99 is put before it, which makes the next.
    Where this goes round in a circle, the candidate is the answer whose pairs are least probably
    the other way round by more than the rope. Where every arm is beaten by another, none
    qualifies as the best, and the rule says so; for the other goals the study stays undecided.

    Parameters
    ----------
    rule
        The rule that names the first candidate, such as ``WithinRope(0.95, rope=0.05)``; its
        probability and rope are used. As the rule is asked after every duel, each pair is asked
        for a probability that leaves 0.2 of the error: 0.99 for 0.95. That it is asked of each
        pair, not of all together, is enough however many arms there are: a wrong answer is wrong
        in some pair, and this very pair has to mislead. That no arm qualifies is asked for the
        same probability of all pairs that say so together.
    doubt
        Probability that a pair does not follow the scores, before its duels are seen, in (0, 1].
        1: none is taken to follow them. With less, `rule` has to be reached, and the chance that a
        pair of its answer is the other way round counts as far as the duels of this pair agree
        better with a win probability of its own than with the scores. An answer that is not that of
        the scores is confirmed as with 1. The pairs in doubt are asked for once the answer has
        probability one half by `rule`.

    Raises
    ------
    TypeError
        If `rule` is no rule.
    ValueError
        If `doubt` is outside (0, 1].

    References
    ----------
    Own rule of this package; measured in docs/understand/stopping.md. That a union of hypotheses
    is rejected by rejecting each at the same level: Berger, "Multiparameter hypothesis testing and
    acceptance sampling", Technometrics 1982.

    Examples
    --------
    >>> rule = bd.study.Confirmed(bd.study.WithinRope(0.9))
    >>> bd.Study(arms=["tea", "coffee", "cocoa"], stop=rule).stopped
    False
    >>> bd.study.Confirmed(bd.study.WithinRope(0.9), doubt=0.5).doubt
    0.5
    """

    rule: StopRule
    doubt: float = 1.0
    name: ClassVar[str] = "confirmed"
    ranges: ClassVar = {"doubt": "in (0, 1]"}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_type(self.rule, StopRule, "rule", "a rule such as WithinRope(0.95)")

    @property
    def steers(self) -> bool:
        """True: it asks for the duels of its candidate."""
        return True

    def confirming(self, doubt: float) -> StopRule:
        return replace(self, doubt=doubt) if doubt else self.rule

    @property
    def rope(self) -> float:
        return self.rule.rope

    @property
    def level(self) -> float:
        return self.rule.level

    @property
    def most(self) -> float:
        return self.rule.most

    def value(self, evidence: Evidence) -> float:
        """Return the least probability of a pair of the answer that it is not the other way round.

        Where every arm is beaten, the probability that all are.
        """
        return self._standing(evidence)[1]

    def probability(self, evidence: Evidence) -> float:
        """Return the posterior probability that the answer is right, all its pairs together.

        By the scores, and at most that of the weakest pair by itself. Where direct duels put
        another arm first than the scores do, it is by direct duels alone, pairs independent.
        """
        candidate, least, _ = self._standing(evidence)
        if candidate is None:
            return least
        if _by_scores(evidence, candidate):
            return min(self.rule.probability(evidence), least)
        *_, reversed_ = _reversals(evidence, candidate, self.rope)
        return float((1 - reversed_).prod())

    def reached(self, evidence: Evidence) -> bool:
        if self.value(evidence) < self._asked:
            return False
        by_itself = _standing(self.rope, evidence)[1]
        return by_itself >= self._asked or self.rule.reached(evidence)

    def reason(self, evidence: Evidence) -> str:
        candidate, probability, _ = self._standing(evidence)
        points = win_points(self.rope)
        said = (
            f"for each arm there is another arm that beats it by more than {points}, with"
            if candidate is None
            else (
                f"the least certain pair of the answer"
                f"{'' if self.doubt == 1 else ' that may not follow the scores'} is in the right "
                f"order, or closer than {points}, with"
            )
        )
        said = f"{said} probability {probability:.3f} (stops at {self._asked:g})"
        if candidate is None or self.doubt == 1 or not _by_scores(evidence, candidate):
            return said
        return f"{said}; {self.rule.reason(evidence)}"

    @property
    def _asked(self) -> float:
        """The probability at which it is reached, which allows for asking after every duel."""
        # A fifth of the error that p allows: the rule is asked after every duel
        return 1 - 0.2 * (1 - self.level)

    def settings(self) -> dict[str, Any]:
        rule = {"name": self.rule.name, **self.rule.settings()}
        return {"rule": rule} if self.doubt == 1 else {"rule": rule, "doubt": self.doubt}

    def answer(self, evidence: Evidence) -> np.ndarray | None:
        """Return the candidate, arms from the best to the worst; None where no arm qualifies."""
        return _standing(self.rope, evidence)[0]

    def wanted(self, evidence: Evidence) -> tuple[int, int] | None:
        """Return the pair that confirms or refutes the candidate, once the rule names one.

        With doubt below 1 the pairs of an answer by the scores are asked for once it is likely,
        until none is in doubt.
        """
        order, least, pair = self._standing(evidence)
        if self.doubt < 1 and order is not None and _by_scores(evidence, order):
            # From 0.35, 0.5, 0.65, 0.8 and 0.9 trials took 284, 257, 262, 282 and 304 duels (60
            # studies of 20 arms, Bradley-Terry, standard errors of about 15).
            likely = self.rule.probability(evidence) >= 0.5
            return pair if likely and least < self._asked else None
        return pair if self.rule.reached(evidence) else None

    def _standing(self, evidence: Evidence) -> "Standing":
        """Return candidate, probability and the pair to duel, with the doubt of this rule."""
        return _doubted(self.rope, self.doubt, evidence)


Standing = tuple[np.ndarray | None, float, tuple[int, int]]
Weakest = tuple[float, tuple[int, int]]  # of the pairs of an answer: its chance to mislead


@lru_cache(maxsize=2)
def _doubted(rope: float, doubt: float, evidence: Evidence) -> Standing:
    """Return candidate, probability and pair to duel, where pairs may follow the scores."""
    found = _standing(rope, evidence)
    order = found[0]
    if order is None or doubt == 1 or not _by_scores(evidence, order):
        return found
    above, below, reversed_ = _reversals(evidence, order, rope)
    in_doubt = reversed_ * _own(evidence, above, below, doubt)
    chance, pair = _largest(above, below, in_doubt)
    return order, 1 - chance, pair


def _own(evidence: Evidence, above: np.ndarray, below: np.ndarray, doubt: float) -> np.ndarray:
    """Return the probability that a pair has a win probability of its own, given its duels.

    The other model of a pair is that it follows the scores, whose draws are averaged.
    """
    wins = evidence.wins[above, below]
    losses = evidence.wins[below, above]
    by_itself = betaln(PRIOR + wins, PRIOR + losses)
    by_itself -= betaln(PRIOR, PRIOR)
    by_scores = np.empty(len(above))
    for start in range(0, len(above), BLOCK):
        part = slice(start, start + BLOCK)
        win = evidence.win(above[part], below[part])
        of_wins = xlogy(wins[part], win)
        of_losses = xlog1py(losses[part], -win)
        logs = of_wins + of_losses
        by_scores[part] = logsumexp(logs, axis=0) - np.log(len(win))
    return expit(logit(doubt) + by_itself - by_scores)


@lru_cache(maxsize=2)
def _standing(rope: float, evidence: Evidence) -> Standing:
    """Return candidate (None: every arm is beaten), probability and the pair to duel."""
    tried, circle = _handed_over(evidence)
    order = tried[-1]
    chance, pair = _weakest(evidence, order, rope)
    if circle:
        first = [_moved(evidence.order, arm, 0) for arm in range(len(order))]
        orders = [*first, *tried]
        weakest = [_weakest(evidence, each, rope) for each in orders]
        chances = [each for each, _ in weakest]
        best = chances.index(min(chances))
        order = orders[best]
        chance, pair = weakest[best]
        if chance >= BEATEN and evidence.goal.chosen(len(order)) == 1:
            joint = 1 - sum(1 - each for each in chances[: len(first)])
            return None, max(0.0, joint), pair
    return order, 1 - chance, pair


def _handed_over(evidence: Evidence) -> tuple[list[np.ndarray], bool]:
    """Return the orders from the model's to one that no pair reverses, or round in a circle.

    From one to the next an arm is put before the arm above it that it beats most probably.
    """
    order = evidence.order
    tried = []
    seen = set()
    while True:
        tried.append(order)
        chance, (above, below) = _weakest(evidence, order, 0.0)
        if chance < BEATEN:
            return tried, False
        answer = _pairs(evidence, order)
        if answer in seen:
            return tried, True
        seen.add(answer)
        place = int(np.flatnonzero(order == above)[0])
        order = _moved(order, below, place)


def _moved(order: np.ndarray, arm: int, place: int) -> np.ndarray:
    """Return the order with an arm at another place, further up than its own."""
    others = order[order != arm]
    return np.insert(others, place, arm)


def _pairs(evidence: Evidence, order: np.ndarray) -> frozenset[tuple[int, int]]:
    """Return the pairs that an order answers, the arm above first."""
    return frozenset(zip(*evidence.goal.contrasts(order), strict=True))


def _by_scores(evidence: Evidence, order: np.ndarray) -> bool:
    """Return whether an order answers as the scores do."""
    return _pairs(evidence, order) == _pairs(evidence, evidence.order)


def _weakest(evidence: Evidence, order: np.ndarray, by: float) -> Weakest:
    """Return the pair of the answer that is most probably the other way round by more than `by`."""
    return _largest(*_reversals(evidence, order, by))


def _largest(above: np.ndarray, below: np.ndarray, chance: np.ndarray) -> Weakest:
    """Return the pair of the largest chance."""
    k = np.lexsort((below, above, -chance))[0]
    pair = int(above[k]), int(below[k])
    return float(chance[k]), pair


def _reversals(
    evidence: Evidence, order: np.ndarray, by: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs of the answer, and the probability that each is reversed by more than `by`.

    Each pair by itself; the arms above, those below and the probabilities, shape (pairs,).
    """
    above, below = evidence.goal.contrasts(order)
    wins = evidence.wins[above, below]
    losses = evidence.wins[below, above]
    chance = betainc(PRIOR + wins, PRIOR + losses, 0.5 - by)
    return above, below, chance
