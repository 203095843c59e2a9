"""The status of a study: the answer so far, how sure it is, and what is expected to go."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from typing import Any

from bayesduel.study.end import End
from bayesduel.text import count, screen

__all__ = ["Status", "sparkline"]

IN_JSON = (
    "goal", "policy", "n_duels", "n_pending", "stopped", "decided", "answer", "probability",
    "verdict", "reason", "history", "ranking", "tied", "check", "plan", "n_cannot_tell", "cost",
    "confirmed", "ended",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Status:
    """The state of a study: its answer, how sure that is, and its costs.

    Attributes
    ----------
    goal, policy
        In words.
    n_duels, n_pending, n_cannot_tell
        Outcomes told, tickets that wait for one, and answers that there is none.
    cost
        Sum of the costs that were named with answers.
    stopped, decided
        Whether no further duel is asked for: the stop rule is reached, or somebody ended the study.
        And whether the stop rule is reached by more than a spent budget.
    ended
        Who ended the study (``by``), when (``at``, in UTC) and why (``reason``), or None.
    answer
        Labels of the answer: the best arm, the k best, or the ranking; () where no arm
        qualifies, and before the first outcome.
    probability
        Posterior probability that the answer is right, up to the rope of the stop rule. Under a
        ``Confirmed`` rule it is at most that of the weakest pair by its own duels. Where these
        duels put another arm first than the scores do, it is by direct duels alone.
    confirmed
        Whether the stop rule looks at the answer's own duels, each pair by itself.
    verdict, reason
        The answer and the stop rule, in words. The verdict says so where the check objects.
    history
        Number of duels and probability at earlier looks.
    ranking
        All arms from the best to the worst by posterior mean.
    tied
        Groups of arms that are declared tied within the rope of the stop rule.
    check
        What the transitivity check said at this number of duels, or None: ``transitive``,
        ``sentence`` and ``criteria`` (the probability that the first arm of the answer wins by
        each criterion, where the check objects). It is run when it, the verdict or the text is
        first read, and once for the same duels.
    plan
        What is expected to go, or None: what ``bayesduel.study.plan`` found, its ``sentence``, and
        the number of ``duels`` at which it was made.
    """

    goal: str
    policy: str
    n_duels: int
    n_pending: int
    stopped: bool
    decided: bool
    answer: tuple[str, ...]
    probability: float
    reason: str
    history: tuple[tuple[int, float], ...]
    ranking: tuple[str, ...]
    tied: tuple[tuple[str, ...], ...] = ()
    plan: Mapping[str, Any] | None = None
    n_cannot_tell: int = 0
    cost: float = 0.0
    confirmed: bool = False
    ended: End | None = None
    # The verdict without the check, what it adds where the check objects, and the check to be run.
    answered: str = ""
    objection: str = ""
    run_check: Callable[[], Mapping[str, Any] | None] | None = field(default=None, compare=False)

    @cached_property
    def check(self) -> Mapping[str, Any] | None:
        """What the transitivity check says, run when it is first read; None without a check."""
        return None if self.run_check is None else self.run_check()

    @property
    def verdict(self) -> str:
        """The answer in words, and what the check adds where it objects."""
        objects = self.check is not None and self.check["transitive"] is False
        return f"{self.answered} {self.objection}" if objects else self.answered

    def to_dict(self) -> dict[str, Any]:
        """Return the status as JSON holds it."""
        found = {name: getattr(self, name) for name in IN_JSON}
        ended = None if self.ended is None else asdict(self.ended)
        return json.loads(json.dumps(found | {"ended": ended}))

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle stores: the check is run before."""
        return {**self.__dict__, "check": self.check, "run_check": None}

    def __repr__(self) -> str:
        return screen(self.lines)

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in self.lines)

    @property
    def lines(self) -> list[str]:
        """The status in words: a paragraph each, the verdict first."""
        lines = [self.verdict]
        if self.ended is not None:
            lines.append(self.ended.sentence)
        lines.append(f"Stop rule now: {self.reason}.")
        duels = count(self.n_duels, "duel")
        lines.append(f"{duels}, {self.n_pending:,} pending; policy {self.policy}.")
        if self.n_cannot_tell:
            answers = count(self.n_cannot_tell, "answer")
            lines.append(f"Judges could not tell in {answers}.")
        if self.cost:
            lines.append(f"Answers have cost {self.cost:,.6g}.")
        if len(self.history) > 1:
            probabilities = [p for _, p in self.history]
            lines.append(f"Probability of the answer: {sparkline(probabilities)}")
        if self.plan is not None:
            duels_then = self.plan["duels"]
            when = "" if duels_then == self.n_duels else f" at {duels_then:,} duels"
            lines.append(f"Still to come{when}: {self.plan['sentence']}")
        if self.check is not None:
            lines.append(self.check["sentence"])
        return lines


def sparkline(values: Sequence[float]) -> str:
    """Return probabilities as a line of block characters, the last 40."""
    blocks = "▁▂▃▄▅▆▇█"
    line = ""
    for value in values[-40:]:
        height = int(value * len(blocks))
        line += blocks[min(height, len(blocks) - 1)]
    return line
