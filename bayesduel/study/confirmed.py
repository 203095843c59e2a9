"""Confirmation: the answer's own duels, each pair by itself, before a study stops.

A rule on scores is as right as the scores: where preferences form cycles, or where the arm that
beats all others is not the one that wins most, it stops at a wrong arm with confidence. Here the
rule only names a candidate. The candidate then duels whoever most probably beats it, until no arm
does by more than the rope with probability p, or until one does, which is the next candidate.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.special import betainc, expit, logit

from bayesduel.study.evidence import Evidence
from bayesduel.study.stopping import StopRule
from bayesduel.system.arguments import shown_value

__all__ = ["Confirmed"]

PRIOR = 2.0  # duels that the prior of a pair is worth, as many as those of Beta(1, 1)
LOOKS = 0.4  # of the error that p allows: the rule is asked after every duel
BEATEN = 0.99  # probability of being beaten at which a candidate is given up


@dataclass(frozen=True)
class Confirmed(StopRule):
    """No arm beats the answer by more than the rope, each pair by itself; or no arm is such.

    The win probability of each pair has a beta prior worth two duels, whose mean is one half
    drawn towards what the study's model predicts: at half of the log odds. Arms are candidates in
    the order of the model, and after a candidate that is beaten with probability 0.99 the arm that
    beats it. Where every arm is beaten by another, no arm qualifies, and the rule says so.

    Parameters
    ----------
    rule
        The rule that names the first candidate, such as ``WithinRope(0.95, rope=0.05)``; its
        probability and rope are used. As the rule is asked after every duel, it is reached at a
        probability that leaves 0.4 of the error: 0.98 for 0.95.

    Raises
    ------
    TypeError
        If `rule` is no rule.

    References
    ----------
    Own rule of this package; measured in docs/how_to/studies.md.
    """

    rule: StopRule
    name: ClassVar[str] = "confirmed"

    def __post_init__(self) -> None:
        if not isinstance(self.rule, StopRule):
            raise TypeError(
                f"rule should be one such as WithinRope(0.95), got {shown_value(self.rule)}"
            )

    @property
    def steers(self) -> bool:
        """True: it asks for the duels of its candidate."""
        return True

    @property
    def rope(self) -> float:
        """The rope of the rule."""
        return self.rule.rope

    @property
    def level(self) -> float:
        """The probability of the rule."""
        return self.rule.level

    @property
    def most(self) -> float:
        """The duels after which the rule is reached, whatever they say."""
        return self.rule.most

    def value(self, evidence: Evidence) -> float:
        """Return the probability that no arm beats the candidate, or that each is beaten."""
        return _row(self.rope, evidence)[1]

    def probability(self, evidence: Evidence) -> float:
        """Return that probability."""
        return self.value(evidence)

    def reached(self, evidence: Evidence) -> bool:
        """Return whether that probability is at least p."""
        return self.value(evidence) >= self._asked

    def reason(self, evidence: Evidence) -> str:
        """Return that probability in words."""
        candidate, probability, _ = _row(self.rope, evidence)
        points = f"{100 * self.rope:g} points of win probability"
        said = (
            f"every arm is beaten by another by more than {points}"
            if candidate is None
            else f"no arm beats the answer by more than {points}"
        )
        return (
            f"{said}, each pair by itself, with probability {probability:.3f} "
            f"(rule: {self._asked:g})"
        )

    @property
    def _asked(self) -> float:
        """The probability at which it is reached, which allows for asking after every duel."""
        return 1 - LOOKS * (1 - self.level)

    def settings(self) -> dict[str, Any]:
        """Return what makes the rule again."""
        return {"rule": {"name": self.rule.name, **self.rule.settings()}}

    def answer(self, evidence: Evidence) -> int | None:
        """Return the candidate, None where every arm is beaten."""
        return _row(self.rope, evidence)[0]

    def wanted(self, evidence: Evidence) -> tuple[int, int] | None:
        """Return the pair that confirms or refutes the candidate, once the rule names one."""
        if not self.rule.reached(evidence):
            return None
        return _row(self.rope, evidence)[2]


@lru_cache(maxsize=2)
def _row(rope: float, evidence: Evidence) -> tuple[int | None, float, tuple[int, int]]:
    """Return candidate (None: every arm is beaten), probability and the pair to duel."""
    beaten: dict[int, np.ndarray] = {}
    arm, tried = int(evidence.order[0]), set()
    while True:
        if arm not in beaten:
            beaten[arm] = _beaten(rope, evidence, arm)
        by = beaten[arm]
        worst = int(by.argmax())
        if by[worst] < BEATEN:
            return arm, float(np.prod(1 - by)), (arm, worst)
        tried.add(arm)
        arm = worst
        if arm in tried:
            rest = [int(a) for a in evidence.order if int(a) not in tried]
            if not rest:
                break
            arm = rest[0]
    most = {a: float(by.max()) for a, by in beaten.items()}
    doubtful = min(most, key=lambda a: most[a])
    joint = max(0.0, 1 - sum(1 - p for p in most.values()))
    return None, joint, (doubtful, int(beaten[doubtful].argmax()))


def _beaten(rope: float, evidence: Evidence, arm: int) -> np.ndarray:
    """Return the probability that each arm beats `arm` by more than the rope, shape (K,)."""
    everyone = np.arange(len(evidence.wins))
    mean = evidence.win(everyone, np.full(len(everyone), arm)).mean(axis=0).clip(1e-6, 1 - 1e-6)
    mean = expit(logit(mean) / 2)
    won = PRIOR * mean + evidence.wins[:, arm]
    lost = PRIOR * (1 - mean) + evidence.wins[arm]
    found: np.ndarray = betainc(lost, won, 0.5 - rope)
    found[arm] = 0.0
    return found
