"""The verdict in the words of a reader; its exact terms are one click deeper."""

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.posterior.verdict_check import largest
from bayesduel.reporting.section import Alert
from bayesduel.text import EXAMPLES, SENTENCE, begun, count, join, percent, plural, shorten

if TYPE_CHECKING:
    from bayesduel.posterior.winners import Winners

__all__ = ["alerts", "exact_warnings", "headline"]

FEW = 7  # arms that may be the best, all named
MEANINGS = {  # of warnings, by class: a title, and what it means for a reader
    "DisconnectedWarning": (
        "Never met",
        "Some {nouns} never met, not even through other {nouns}. So it is not known "
        "how they compare.",
    ),
    "FewClustersWarning": (
        "Few judges or groups",
        "The votes come from few judges or groups: how others would vote is uncertain, and "
        "intervals are rough.",
    ),
    "Drift": (
        "Change over time",
        "The strength of some {nouns} changed over the time of the log. This ranking is an average "
        "over that time.",
    ),
    "LocalPairingWarning": (
        "Chosen opponents",
        "The {nouns} mostly met {nouns} of similar strength. Differences may be "
        "larger than shown, and less certain.",
    ),
    "MissingLabelWarning": (
        "Votes without a judge or group",
        "Some votes name no judge, or no question: each is taken as one of its own. If they share "
        "judges or questions, intervals are too narrow.",
    ),
    "RepeatedVotesWarning": (
        "Repeated votes",
        "Votes of one judge, or on one question, are taken as independent: intervals may be too "
        "narrow.",
    ),
    "ThinDataWarning": (
        "Few votes",
        "There are few votes for this number of {nouns}. So much of this may still change.",
    ),
    "UncertifiedWarning": (
        "Computation",
        "The computation did not pass all of its checks: numbers may be inaccurate.",
    ),
    "UnusedCovariatesWarning": (
        "Not controlled for",
        "The log has columns that this ranking does not take into account.",
    ),
}


def alerts(warnings: Sequence[tuple[str, str]], noun: str) -> tuple[Alert, ...]:
    """Return warnings, each its class and its words, in the words of a reader, one a title."""
    found: dict[str, dict[str, None]] = {}
    for name, words in warnings:
        own = re.sub(r"(?<!^)(?=[A-Z])", " ", name.removesuffix("Warning")).capitalize()
        title, said = MEANINGS.get(name, (own, _sentence(words)))
        found.setdefault(title, {})[said.replace("{nouns}", plural(noun))] = None
    return tuple(Alert(title, tuple(lines)) for title, lines in found.items())


def exact_warnings(warnings: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the exact words of the warnings that :func:`alerts` says in those of a reader."""
    return tuple(_sentence(words) for name, words in warnings if name in MEANINGS)


def headline(winners: "Winners", noun: str, cyclic: "Winners | None" = None) -> str:
    """Return the verdict in one or two sentences that need no statistics.

    winners: the winners.
    noun: what an arm is called: "model", "player".
    cyclic: where the log contradicts a ranking: winners of a model that allows cycles. Default: the
        `winners` are.
    """
    attrs = winners.attrs
    kind = attrs["verdict_kind"]
    n = winners.sizes["arm"]
    arms = [str(arm) for arm in json.loads(attrs["verdict_arms"])]
    names = [shorten(arm, SENTENCE) for arm in arms]
    sure = f"{percent(attrs['verdict_probability'])} % sure"
    if kind == "winner":
        return _best(winners, arms[0], noun, sure)
    if kind == "tied":
        who = f"All {count(n, noun)}" if len(arms) == n > FEW else join(names)
        best = "" if len(arms) == n else f" and no other {noun} is better"
        return f"{who} are practically equal{best} ({sure})."
    if kind == "cycle":
        steps = [f"{a} loses to {b}" for a, b in zip(names, [*names[1:], names[0]], strict=True)]
        return f"No {noun} beats all others ({sure}): {join(steps, width=None)}."
    if kind == "not comparable":
        groups = len(json.loads(attrs["component_verdicts"]))
        return (
            f"There is no ranking of all {plural(noun)}. They form {groups} groups that never "
            "met, and can be compared only within their group."
        )
    if kind == "no ranking":
        decided = cyclic is not None and cyclic.attrs["verdict_kind"] in ("winner", "tied", "cycle")
        words = headline(cyclic, noun) if cyclic and decided else _most(cyclic)
        return f"No single ranking holds. {words}".rstrip()
    if attrs["refusal"]:
        return "No verdict: the votes come from too few judges or groups to tell how others vote."
    said = _open(winners, arms, noun, sure)
    safe = _safe(attrs, noun)
    if not safe:
        return f"Not enough data yet: {said}"
    return f"{safe} Which {noun} is best is not decided yet: {said}"


def _sentence(words: str) -> str:
    return f"{begun(words).rstrip('.')}."


def _best(winners: "Winners", best: str, noun: str, sure: str) -> str:
    """Return that an arm is the best, and how it does against its closest rival."""
    name = shorten(best, SENTENCE)
    first = f"{name} is the best {noun} ({sure})."
    if "preference_mean" not in winners:
        return first
    row = winners.sel(arm=best).drop_sel(opponent=best)
    row = row.isel(opponent=int(row["preference_mean"].values.argmin()))
    rival = shorten(str(row["opponent"].item()), SENTENCE)
    mean = float(row["preference_mean"])
    if "tie_mean" in row:
        tie = float(row["tie_mean"])
        win = mean - tie / 2
        shares = (percent(share) for share in (win, tie, 1 - win - tie))
        does = "wins {} % of duels, ties {} % and loses {} %".format(*shares)
    elif winners.attrs["tie_share"]:
        does = f"takes {percent(mean)} % of the points, a tie counting half"
    else:
        does = f"wins {percent(mean)} % of duels"
    if winners.sizes["arm"] == 2:
        return f"{name} is better than {rival} ({sure}): it {does}."
    return f"{first} Against {rival}, its closest rival, it {does}."


def _most(cyclic: "Winners | None") -> str:
    """Return which arms probably beat most others, "" without a model that allows cycles."""
    if cyclic is None:
        return ""
    arms = cyclic["arm"].values
    share = cyclic["winner_share"].sel(criterion="copeland").values
    named = [f"{shorten(str(arms[i]), SENTENCE)} ({percent(share[i])} %)" for i in largest(share)]
    return f"Most likely to beat most others: {join(named, word='or', width=None)}."


def _open(winners: "Winners", arms: list[str], noun: str, sure: str) -> str:
    """Return which arms may be the best."""
    n = winners.sizes["arm"]
    names = [shorten(arm, SENTENCE) for arm in arms]
    share = winners["winner_share"].sel(criterion="copeland")
    nobody = f" Probably no {noun} beats all others." * (float(winners["condorcet_exists"]) < 0.5)
    if len(arms) == 1:
        alone = winners["winner_probability"].sel(criterion="condorcet", arm=arms[0])
        return (
            f"{names[0]} beats most other {plural(noun)} ({sure}), but maybe not all of them "
            f"({percent(float(alone))} % sure).{nobody}"
        )
    if len(arms) == n:
        return f"any of the {count(n, noun)} may be the best.{nobody}"
    if len(arms) > FEW:
        likely = join(names[:EXAMPLES], word="or")
        return (
            f"the best is one of {len(arms):,} of the {count(n, noun)} ({sure}), most likely "
            f"{likely}.{nobody}"
        )
    first = int(np.argmax([float(share.sel(arm=arm)) for arm in arms]))
    p = float(share.sel(arm=arms[first]))
    likely = f", probably {names[first]} ({percent(p)} %)" * (p > 0.5)
    return f"the best {noun} is {join(names, word='or')} ({sure}){likely}.{nobody}"


def _safe(attrs: dict[str, object], noun: str) -> str:
    """Return which arms are safe choices, "" for none."""
    safe = json.loads(str(attrs["safe_choices"]))
    if not safe:
        return ""
    are = "is a safe choice" if len(safe) == 1 else "are safe choices"
    return f"{join(safe)} {are}: no {noun} is clearly better."
