"""When a study has enough: rules over the posterior, over bounds, or over the number of duels.

Each rule says whether it is reached and by how much. Posterior rules are asked on the draws at
hand and, once reached, on 4,000 fresh ones: the first time that some draws pass a threshold
is a lucky one, and fresh draws take the luck away.
"""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from math import inf, log
from typing import Any, ClassVar

import numpy as np

from bayesduel.beliefs.belief import BY_BETTING, fresh
from bayesduel.beliefs.query import bounds
from bayesduel.study.evidence import Evidence
from bayesduel.system.options import StudyDecision, rule_of
from bayesduel.system.settings import Settings
from bayesduel.text import count, win_points

__all__ = [
    "AllOf",
    "AnyOf",
    "Budget",
    "ConfidenceSequences",
    "ExpectedLoss",
    "PosteriorThreshold",
    "StopRule",
    "WithinRope",
]


class StopRule(Settings, ABC):
    """When a study has enough; rules combine by ``|`` (any) and ``&`` (all).

    Attributes
    ----------
    name
        Its name in a stored study.
    """

    name: ClassVar[str]

    @abstractmethod
    def value(self, evidence: Evidence) -> float:
        """Return the number that the rule looks at."""

    @abstractmethod
    def reason(self, evidence: Evidence) -> str:
        """Return in words what the rule looks at, and its value."""

    def reached(self, evidence: Evidence) -> bool:
        """Return whether the rule is reached: by default, whether its value is at least p."""
        return self.value(evidence) >= self.level

    def settings(self) -> dict[str, Any]:
        """Return what makes the rule again."""
        return asdict(self)  # type: ignore[call-overload]

    def probability(self, evidence: Evidence) -> float:
        """Return the probability that the answer is right, in the sense of the rule."""
        return evidence.probability

    def decides(self, evidence: Evidence) -> bool:
        """Return whether reaching this rule settles the answer, as no budget does."""
        return self.reached(evidence)

    def answer(self, evidence: Evidence) -> np.ndarray | None:
        """Return the arms from the best, by the scores by default; None where none qualifies."""
        return evidence.order

    def wanted(self, evidence: Evidence) -> tuple[int, int] | None:
        """Return the pair that a rule that steers wants next; None leaves it to the policy."""
        return None

    @property
    def steers(self) -> bool:
        """Whether it has a say in which pair is next, and confirms the answer by these duels."""
        return False

    @property
    def counts_only(self) -> bool:
        """Whether it looks at the number of duels alone, and never at the posterior."""
        return False

    def confirming(self, doubt: float) -> "StopRule":
        """Return the rule with another doubt of its confirmation by direct duels.

        doubt: as of ``Confirmed``; 0 leaves the confirmation out. A rule without confirmation is
            returned as it is.
        """
        return self

    @property
    def rope(self) -> float:
        """The rope that the answer neglects."""
        return 0.0

    @property
    def most(self) -> float:
        """Duels after which the rule is reached, whatever they say; infinite by default."""
        return inf

    @property
    def level(self) -> float:
        """The posterior probability that the rule asks for, 0.95 where it asks for none."""
        return StudyDecision.confidence

    def __or__(self, other: "StopRule") -> "AnyOf":
        return AnyOf((self, other))

    def __and__(self, other: "StopRule") -> "AllOf":
        return AllOf((self, other))


@dataclass(frozen=True)
class PosteriorThreshold(StopRule):
    """The answer is right with posterior probability p.

    Parameters
    ----------
    p
        In (0.5, 1).

    Examples
    --------
    >>> bd.Study(arms=["tea", "coffee", "cocoa"], stop=bd.study.PosteriorThreshold(0.9)).stop
    PosteriorThreshold(p=0.9)
    """

    p: float = StudyDecision.confidence
    name: ClassVar[str] = "posterior-threshold"
    ranges: ClassVar = {"p": rule_of(StudyDecision, "confidence")}

    @property
    def level(self) -> float:
        return self.p

    def value(self, evidence: Evidence) -> float:
        return self.probability(evidence)

    def reason(self, evidence: Evidence) -> str:
        about = f" up to {win_points(self.rope)}" if self.rope else ""
        return (
            f"the answer is right{about} with posterior probability {self.value(evidence):.3f} "
            f"(stops at {self.p:g})"
        )


@dataclass(frozen=True)
class WithinRope(PosteriorThreshold):
    """No arm left out beats one of the answer by more than the rope, with probability p.

    Parameters
    ----------
    p
        Posterior probability, in (0.5, 1).
    rope
        Difference of the probability to win from one half that does not matter, in [0, 0.5).
        Two arms that are equal need about 0.68 / rope² duels: 270 with 0.05, 1,690 with 0.02.

    Examples
    --------
    >>> bd.Study(arms=["tea", "coffee", "cocoa"], stop=bd.study.WithinRope(0.95, rope=0.1)).stop
    WithinRope(p=0.95, rope=0.1)
    """

    rope: float = StudyDecision.rope
    name: ClassVar[str] = "within-rope"
    ranges: ClassVar = {"rope": rule_of(StudyDecision, "rope")}

    def probability(self, evidence: Evidence) -> float:
        """Return the posterior probability that no upset exceeds the rope."""
        return float((evidence.upset <= 0.5 + self.rope).mean())


@dataclass(frozen=True)
class ExpectedLoss(StopRule):
    """Stopping now gives away no more than epsilon in win probability, on average.

    Parameters
    ----------
    epsilon
        In (0, 0.5).

    Examples
    --------
    >>> bd.Study(arms=["tea", "coffee", "cocoa"], stop=bd.study.ExpectedLoss(0.02)).stop
    ExpectedLoss(epsilon=0.02)
    """

    epsilon: float = 0.01
    name: ClassVar[str] = "expected-loss"
    ranges: ClassVar = {"epsilon": "in (0, 0.5)"}

    def value(self, evidence: Evidence) -> float:
        """Return the posterior mean of the largest upset beyond one half."""
        return float(np.maximum(evidence.upset - 0.5, 0.0).mean())

    def reached(self, evidence: Evidence) -> bool:
        return self.value(evidence) <= self.epsilon

    def reason(self, evidence: Evidence) -> str:
        return (
            f"the expected loss of the answer is {self.value(evidence):.4f} in win probability "
            f"(stops at {self.epsilon:g})"
        )


@dataclass(frozen=True)
class ConfidenceSequences(StopRule):
    """Every pair that the answer orders is decided by an anytime-valid confidence sequence.

    Frequentist: with probability 1 - delta no wrong answer is ever given, whatever the policy and
    however often the study is looked at, as long as each duel of a pair has the same win
    probability. All pairs in question have to meet.

    Parameters
    ----------
    delta
        In (0, 0.5).

    References
    ----------
    Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting", JRSS B 2024;
    a union bound over the sides of all pairs.

    Examples
    --------
    >>> bd.Study(arms=["tea", "coffee", "cocoa"], stop=bd.study.ConfidenceSequences(0.1)).stop
    ConfidenceSequences(delta=0.1)
    """

    delta: float = 0.05
    name: ClassVar[str] = "confidence-sequences"
    ranges: ClassVar = {"delta": "in (0, 0.5)"}

    def value(self, evidence: Evidence) -> float:
        """Return the share of the pairs in question that are decided."""
        n_arms = len(evidence.wins)
        belief = fresh(n_arms, BY_BETTING)
        belief.wins[...] = evidence.wins
        lower, _ = bounds(belief, log(n_arms * (n_arms - 1) / self.delta))
        above, below = self._answer(evidence, lower)
        return float((lower[above, below] > 0.5).mean())

    def _answer(self, evidence: Evidence, lower: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(-(lower > 0.5).sum(axis=1), kind="stable")
        pairs = evidence.goal.contrasts(order)
        mine = evidence.goal.contrasts(evidence.order)
        decided = (lower[pairs] > 0.5).mean(), (lower[mine] > 0.5).mean()
        return pairs if decided[0] > decided[1] else mine

    def reached(self, evidence: Evidence) -> bool:
        return self.value(evidence) == 1.0

    def reason(self, evidence: Evidence) -> str:
        return (
            f"{100 * self.value(evidence):.0f} % of the pairs in question are decided by "
            f"confidence sequences (stops at 100 %, delta {self.delta:g})"
        )


@dataclass(frozen=True)
class Budget(StopRule):
    """The study has had n duels; of several sources, n of the target.

    Parameters
    ----------
    n
        Whole number >= 1.

    Examples
    --------
    >>> study = bd.Study(arms=["tea", "coffee"], stop=bd.study.Budget(1))
    >>> study.tell(study.ask(), "left")
    >>> study.stopped
    True
    """

    n: int
    name: ClassVar[str] = "budget"
    ranges: ClassVar = {"n": "at least 1"}

    @property
    def most(self) -> float:
        return self.n

    @property
    def counts_only(self) -> bool:
        return True

    def value(self, evidence: Evidence) -> float:
        return float(evidence.n_duels)

    def reached(self, evidence: Evidence) -> bool:
        return evidence.n_duels >= self.n

    def decides(self, evidence: Evidence) -> bool:
        return False  # a budget settles nothing

    def reason(self, evidence: Evidence) -> str:
        of = evidence.target and f" of {evidence.target}"
        return f"{count(evidence.n_duels, 'duel')}{of} (stops at {self.n:,})"


@dataclass(frozen=True)
class AnyOf(StopRule):
    """Any of some rules.

    Parameters
    ----------
    rules
        The rules, any of which is enough.

    Examples
    --------
    >>> rule = bd.study.PosteriorThreshold(0.9) | bd.study.Budget(2)
    >>> study = bd.Study(arms=["tea", "coffee"], stop=rule)
    >>> for outcome in ("left", "right"):
    ...     study.tell(study.ask(), outcome)
    >>> study.stopped
    True
    """

    rules: tuple[StopRule, ...]
    name: ClassVar[str] = "any"

    def confirming(self, doubt: float) -> StopRule:
        return type(self)(tuple(rule.confirming(doubt) for rule in self.rules))

    @property
    def rope(self) -> float:
        return max(rule.rope for rule in self.rules)

    @property
    def most(self) -> float:
        return min(rule.most for rule in self.rules)

    @property
    def level(self) -> float:
        asked = [rule.level for rule in self.rules if not rule.counts_only]
        return min(asked, default=StudyDecision.confidence)

    @property
    def steers(self) -> bool:
        return any(rule.steers for rule in self.rules)

    @property
    def counts_only(self) -> bool:
        return all(rule.counts_only for rule in self.rules)

    @property
    def _first(self) -> StopRule:
        """The first rule that steers, without any the first."""
        return next((rule for rule in self.rules if rule.steers), self.rules[0])

    def answer(self, evidence: Evidence) -> np.ndarray | None:
        return self._first.answer(evidence)

    def probability(self, evidence: Evidence) -> float:
        return self._first.probability(evidence)

    def wanted(self, evidence: Evidence) -> tuple[int, int] | None:
        return self._first.wanted(evidence)

    def value(self, evidence: Evidence) -> float:
        return self.rules[0].value(evidence)

    def reached(self, evidence: Evidence) -> bool:
        return any(rule.reached(evidence) for rule in self.rules)

    def decides(self, evidence: Evidence) -> bool:
        return any(rule.decides(evidence) for rule in self.rules)

    def reason(self, evidence: Evidence) -> str:
        """Return the first rule that is reached in words, or all of them."""
        for rule in self.rules:
            if rule.reached(evidence):
                return rule.reason(evidence)
        return "; ".join(rule.reason(evidence) for rule in self.rules)

    def settings(self) -> dict[str, Any]:
        return {"rules": [{"name": r.name, **r.settings()} for r in self.rules]}


@dataclass(frozen=True)
class AllOf(AnyOf):
    """All of some rules.

    Parameters
    ----------
    rules
        The rules, all of which should be reached.

    Examples
    --------
    >>> rule = bd.study.PosteriorThreshold(0.6) & bd.study.Budget(2)
    >>> study = bd.Study(arms=["tea", "coffee"], stop=rule)
    >>> study.tell(study.ask(), "left")
    >>> study.status().reason
    'the answer is right with posterior probability 0.796 (stops at 0.6); 1 duel (stops at 2)'
    """

    name: ClassVar[str] = "all"

    @property
    def most(self) -> float:
        return max(rule.most for rule in self.rules)

    def reached(self, evidence: Evidence) -> bool:
        return all(rule.reached(evidence) for rule in self.rules)

    def decides(self, evidence: Evidence) -> bool:
        return self.reached(evidence) and any(rule.decides(evidence) for rule in self.rules)

    def reason(self, evidence: Evidence) -> str:
        return "; ".join(rule.reason(evidence) for rule in self.rules)
