"""Options declared once: the default, what is allowed, and the help.

A record has one field per option. Functions take their default from it (``Decision.rope``), check
an argument by it (:func:`check_options`), and the command line makes its options of it.
"""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from bayesduel.system.arguments import check_range

__all__ = [
    "Decision",
    "Fitting",
    "ModelName",
    "StudyDecision",
    "check_options",
    "declared",
    "rule_of",
]

Method = Literal["auto", "laplace", "nuts", "pymc", "variational", "gibbs"]
ModelName = Literal[
    "auto",
    "bradley-terry",
    "thurstone",
    "davidson",
    "cumulative-logit",
    "preference-matrix",
    "thurstone-score",
    "perturbed-thurstone",
    "plackett-luce",
]


def declared(
    default: Any,
    words: str,
    takes: str | None = None,
    *,
    rule: str = "",
    allowed: tuple[str, ...] = (),
) -> Any:
    """Return the field of an option.

    default: what it is where it is not given.
    words: its help on the command line.
    takes: what the help shows in place of a value.
    rule: which numbers it may be, as for :func:`check_range`.
    allowed: the words that it may be.
    """
    said = {"words": words, "takes": takes, "rule": rule, "allowed": allowed}
    return field(default=default, metadata=said)


@dataclass(frozen=True)
class Decision:
    """What a decision stands on."""

    rope: float = declared(
        0.02, "Differences in win probability smaller than this do not matter.", rule="in [0, 0.5)"
    )
    confidence: float = declared(
        0.95, "Probability that a verdict needs, such as 0.95.", rule="in (0.5, 1)"
    )
    ci_prob: float = declared(0.95, "Probability of the intervals.", rule="in (0, 1)")
    alpha: float = declared(0.05, "Level of the tests, such as 0.05.", rule="in (0, 1)")
    effect: float = declared(
        0.65,
        "Share of votes for the preferred arm of a pair that the panel should detect.",
        rule="in (0.5, 1)",
    )
    material: float = declared(
        0.6, "Win probability of every step of a cycle that matters.", rule="in (0.5, 1)"
    )
    share: float = declared(
        0.5, "Largest share of the votes (or judges) to leave out.", rule="in (0, 1)"
    )


@dataclass(frozen=True)
class StudyDecision(Decision):
    """What the decision to stop a study stands on."""

    # People judge, so the rope is wider than that of a verdict: two equal arms need about
    # 0.68 / rope^2 duels, 270 with 0.05 and 1,690 with 0.02 (docs/understand/stopping.md).
    rope: float = declared(
        0.05,
        "Difference of a win probability from one half that does not matter.",
        rule="in [0, 0.5)",
    )


@dataclass(frozen=True)
class Fitting:
    """How a fit is made."""

    model: ModelName = declared(
        "auto",
        "Model, with terms after a plus: 'davidson + time:12'. auto chooses by what LOG has: "
        "margins, grades, ties (davidson, above 5 %), or who won. A side advantage is added where "
        "sides have a meaning (--no-side-advantage leaves it out).",
        allowed=get_args(ModelName),
    )
    method: Method = declared(
        "auto",
        "How the posterior is computed. auto uses Laplace where its diagnostics are good, "
        "and a sparse variational approximation from 500 arms on.",
        allowed=get_args(Method),
    )
    draws: int | None = declared(None, "Number of posterior draws.", rule="at least 100")
    seed: int = declared(0, "Random seed.", rule="at least 0")


def check_options(record: type, **given: object) -> None:
    """Raise TypeError or ValueError unless numbers are as the fields of a record say."""
    for name, value in given.items():
        check_range(value, name, rule_of(record, name))


def rule_of(record: type, name: str) -> str:
    """Return which numbers an option may be, as for :func:`check_range`."""
    rule: str = record.__dataclass_fields__[name].metadata["rule"]  # type: ignore[attr-defined]
    return rule
