"""The verdict, given a check of transitivity: what stands where no ranking does.

A verdict read from one score per arm holds only where the arms can be ranked. Where a check
rejects that, the answer comes from a model that allows cycles (winner, Copeland winner, von Neumann
mixture), and ``ranking_verdict`` says what the ranking would have answered.
"""

import json
from typing import Protocol, runtime_checkable

import numpy as np
import xarray as xr

from bayesduel.models.model import Model
from bayesduel.posterior.winners_record import Winners
from bayesduel.text import SENTENCE, join, percent, shorten

__all__ = ["TransitivityCheck", "checked", "largest", "rejects"]


@runtime_checkable
class TransitivityCheck(Protocol):
    """What a check answers here; see :class:`bayesduel.criticism.check_result.Check`."""

    @property
    def transitive(self) -> bool | None:
        """False where a ranking is rejected; None where the log cannot tell."""

    @property
    def p_value(self) -> float:
        """The p-value of the test; NaN where there is none."""

    @property
    def verdict_parts(self) -> tuple[str, str]:
        """The result in one sentence, and the details."""

    def answer_without_ranking(self, model: Model) -> tuple[xr.DataTree | None, str]:
        """Return a fit that allows cycles and controls for what `model` does, or None and why."""


def rejects(check: TransitivityCheck | None, fit: xr.DataTree) -> bool:
    """Return whether a check rejects the ranking that the model of a fit assumes."""
    return check is not None and check.transitive is False and fit.duel.model.criteria_agree


def checked(
    found: Winners,
    check: TransitivityCheck | None,
    other: Winners | None,
    why: str = "",
    noun: str = "arm",
) -> Winners:
    """Return winners with what a check says of them; `noun` is what an arm is called.

    The same with the attribute ``check`` ("not made", or a JSON object with ``transitive``,
    ``p_value`` and ``sentence``). Where the ranking is rejected, ``verdict`` and its parts are
    those without a ranking, ``verdict_kind`` is "no ranking", ``verdict_model`` is the model they
    were read from, ``verdict_condorcet_exists`` its probability that an arm beats all others (the
    variable ``condorcet_exists`` stays that of the ranking), ``verdict_reason`` says why,
    ``verdict_source`` the part of it on where the answer comes from, and ``ranking_verdict`` what
    the ranking would have answered. `found` is left as it is.
    """
    told = '"not made"'
    if check is not None:
        p = float(check.p_value)
        told = json.dumps(
            {
                "transitive": check.transitive,
                "p_value": p if p == p else None,
                "sentence": check.verdict_parts[0],
            }
        )
    attrs = {**found.attrs, "check": told}
    if check is not None and check.transitive is False and other is not found:
        answer = ""
        if other is not None:
            answer = f" {_answer(other, noun)}"
        sources = filter(None, [_source(other, noun), why])
        source = " ".join(sources)
        attrs["verdict"] = f"No single ranking holds.{answer}"
        attrs["verdict_overall"] = attrs["verdict"]
        reason = f"{check.verdict_parts[0]} {source}"
        attrs["verdict_reason"] = reason.rstrip()
        attrs["verdict_source"] = source
        attrs["ranking_verdict"] = _ranking_words(found, noun)
        attrs["verdict_kind"] = "no ranking"
        if other is not None:
            attrs["verdict_model"] = other.attrs["model"]
            attrs["verdict_condorcet_exists"] = float(other["condorcet_exists"])
            for name in ("verdict_arms", "verdict_probability", "safe_choices"):
                attrs[name] = other.attrs[name]
    return Winners(found.assign_attrs(attrs))


def _source(other: Winners | None, noun: str) -> str:
    """Return where the answer without a ranking comes from, or "" where there is none."""
    if other is None:
        return ""
    exists = percent(float(other["condorcet_exists"]))
    return (
        f"The answer is that of the model {other.attrs['model']}, which allows cycles; by "
        f"it, some {noun} beats every other (a Condorcet winner) with probability {exists} %."
    )


def _ranking_words(found: Winners, noun: str) -> str:
    """Return what the ranking would have answered."""
    arms = join(json.loads(found.attrs["verdict_arms"]))
    sayings = {
        "winner": f"would have {arms} as the winner",
        "tied": f"would have {arms} as tied in practice",
        "undecided": f"would leave the best {noun} open among {arms}",
    }
    kind = str(found.attrs["verdict_kind"])
    saying = sayings.get(kind, f"would not decide which {noun} is best")
    return f"A ranking by {found.attrs['model']}, which the log contradicts, {saying}."


def _answer(other: Winners, noun: str) -> str:
    """Return the verdict of a model that allows cycles; where undecided, winners by criterion."""
    if other.attrs["verdict_kind"] not in ("undecided", "no ranking"):
        return str(other.attrs["verdict"])
    arms = [shorten(str(arm), SENTENCE) for arm in other["arm"].values]
    share = other["winner_share"]
    beaten = share.sel(criterion="copeland").values
    mixture = share.sel(criterion="von_neumann").values
    most = []
    for i in largest(beaten):
        chance = percent(beaten[i])
        most.append(f"{arms[i]} ({chance} %)")
    weights = [f"{arms[i]} {mixture[i]:.2f}" for i in largest(mixture)]
    return (
        f"Beats most others (Copeland winner): probably {join(most, word='or')}. The von Neumann "
        f"mixture, which no {noun} beats, has its largest weights on {join(weights)}."
    )


def largest(share: np.ndarray) -> list[int]:
    """Return the arms of the largest shares, at least one."""
    # 3 arms of a criterion that are named
    order = np.argsort(-share, kind="stable")[:3]
    # Probability, or weight in the mixture, to be named: 0.05
    named = [int(i) for i in order if share[i] >= 0.05]
    return named or [int(order[0])]
