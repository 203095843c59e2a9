"""The record that `winners` returns, printed with its verdict and ranking."""

import json
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.posterior.verdict import across_words
from bayesduel.records import Record
from bayesduel.system.arguments import by_reader
from bayesduel.text import an, begun, join, json_ready, plural

__all__ = ["Winners", "check_words", "retired_words", "winners_note"]

JSON_ATTRS = (
    "verdict_arms",
    "safe_choices",
    "component_verdicts",
    "top_set",
    "tier_errors",
    "votes_without_label",
    "model_reasons",
    "check",
    "retired",
)
RANK = ("rank_mean", "rank_lower", "rank_upper", "rank_joint_lower", "rank_joint_upper")
RATE = ("win_rate", "win_rate_lower", "win_rate_upper")


class Winners(Record):
    """Winners and ranks, printed with the verdict and the ranking first."""

    __slots__ = ()

    @property
    def rank(self) -> xr.DataArray:
        """Place of each arm in the ranking, 1 is best, by arm."""
        place = 1 + np.argsort(self["order"].values)
        labels = self["arm"].values
        return xr.DataArray(place, coords={"arm": labels}, dims="arm", name="rank")

    def table(self) -> pd.DataFrame:
        """Return one row per arm, best first: the printed ranking, not rounded."""
        columns = {name: self[name].values for name in RANK}
        for criterion in ("condorcet", "copeland"):
            chances = self["winner_probability"].sel(criterion=criterion)
            columns[criterion] = chances.values
        for name in RATE:
            columns[name] = self[name].values
        columns[f"top_{self.attrs['k']}"] = self["top_k_probability"].values
        columns["tier"] = self["tier"].values
        labels = pd.Index(self["arm"].values, name="arm")
        frame = pd.DataFrame(columns, index=labels)
        return frame.iloc[self["order"].values]

    def to_dataframe(self, *args: Any, **options: Any) -> pd.DataFrame:
        """Return one row per arm, best first, with the columns that a person reads.

        ``rank`` (place), ``rank_mean``, ``rank_lower``, ``rank_upper``, ``tier``, ``win_rate``
        (Borda score), ``win_rate_lower``, ``win_rate_upper``, ``best_probability`` (of being a
        Copeland winner), ``condorcet_probability`` and ``top_K_probability``. With arguments
        the long table of ``xarray.Dataset.to_dataframe``.
        """
        if args or options:
            return super().to_dataframe(*args, **options)
        table = self.table()
        k = self.attrs["k"]
        table.insert(0, "rank", np.arange(1, len(table) + 1))
        names = {
            "copeland": "best_probability",
            "condorcet": "condorcet_probability",
            f"top_{k}": f"top_{k}_probability",
        }
        first = ["rank", "rank_mean", "rank_lower", "rank_upper", "tier"]
        renamed = table.rename(columns=names)
        chances = ["best_probability", "condorcet_probability", f"top_{k}_probability"]
        return renamed[[*first, *RATE, *chances]]

    def groups(self) -> dict[str, int] | None:
        """Return the component of each arm, from 1, if the comparison graph has several."""
        parts = json.loads(self.attrs["component_verdicts"])
        found = {}
        for k, part in enumerate(parts, 1):
            for arm in part["arms"]:
                found[str(arm)] = k
        return found or None

    def summary(self) -> dict[str, Any]:
        """Return verdict, ranking and winners by criterion as plain dictionaries and lists."""
        attrs = {}
        for name, value in self.attrs.items():
            attrs[name] = json.loads(value) if name in JSON_ATTRS else value
        ranking = self.table().reset_index().to_dict("records")
        winners: dict[str, dict[str, float]] = {}
        by_criterion = self["winner_probability"].to_pandas()
        for criterion, chances in by_criterion.iterrows():
            likely = chances[chances > 0]
            by_arm = {str(arm): float(p) for arm, p in likely.items()}
            winners[str(criterion)] = by_arm
        return {
            **json_ready(attrs),
            "condorcet_exists": float(self["condorcet_exists"]),
            "ranking": json_ready(ranking),
            "winners": winners,
        }

    def to_json(self, **options: Any) -> str:
        """Return `summary` as JSON text; `options` go to ``json.dumps``."""
        return json.dumps(self.summary(), **options)

    def __repr__(self) -> str:
        head = [*_verdict_lines(self), ""]
        if self.groups() is not None:
            head += [across_words(_noun(self)), ""]
        return self._printed(
            head,
            [winners_note(self)],
            whole=".table()",
            n_arms=self.sizes["arm"],
            noun=_noun(self),
        )

    def _repr_html_(self) -> str:
        across = ""
        if self.groups() is not None:
            words = across_words(_noun(self))
            across = f"<p>{escape(words)}</p>"
        verdict, *further = _verdict_lines(self)
        notes = " ".join(further)
        return (
            f"<p><strong>{escape(verdict)}</strong></p>"
            f"<p>{escape(notes)}</p>{across}{super()._repr_html_()}"
        )


def _verdict_lines(found: Winners) -> list[str]:
    """Return the verdict, what it leaves out and, where a ranking is rejected, why it is."""
    lines = [str(found.attrs["verdict"])]
    out = retired_words(found)
    if out:
        lines.append(out)
    for name in ("verdict_reason", "ranking_verdict"):
        if name in found.attrs:
            lines.append(str(found.attrs[name]))
    return lines


def retired_words(found: Winners) -> str:
    """Return which arms are left out because they are retired, or ""."""
    retired = json.loads(found.attrs.get("retired", "[]"))
    if not retired:
        return ""
    their = "its" if len(retired) == 1 else "their"
    return (
        f"Retired, and left out of the verdict and the ranks: {join(retired, 8)}. The fit still "
        f"has {their} duels."
    )


def winners_note(found: Winners) -> str:
    """Return the sentences below the table: intervals, order, tiers and standard errors."""
    a = found.attrs
    noun = _noun(found)
    n_tiers = int(np.max(found["tier"].values))
    tiers = "There is one tier."
    if n_tiers > 1:
        tiers = (
            f"There are {n_tiers} tiers: the first {noun} of a tier is ahead of all lower tiers "
            f"(the probability that this is wrong is {_at_most(a['tier_error'])} for each tier)."
        )
    controls = ""
    if a.get("controls"):
        controls = f" {a['controls']}"
    return (
        f"beats all: the probability of beating every other {noun} (Condorcet); best: of winning "
        f"most pairings (Copeland). Rank range: the ranks {an(noun)} can have, given "
        f"the {plural(noun)} that surely rank above and below it. The order is that of "
        f"mean ranks by {a['ranked_by']}. {tiers} {check_words(found)} "
        f"{100 * a['confidence']:g} % intervals are from {a['n_draws']:,} draws (Monte Carlo "
        f"standard error of a probability of {a['confidence']:g}: {a['monte_carlo_error']:.3f}). "
        f"{a['dependence']}{controls} Model: {a['model_words']}. {begun(plural(noun))} are in the "
        "order of fit.duel.arms; .table() and .to_dataframe() have them best first."
    )


def check_words(found: Winners) -> str:
    """Return what is known of whether a ranking holds."""
    check = json.loads(found.attrs.get("check", '"not made"'))
    if check != "not made":
        return str(check["sentence"])
    if found.attrs.get("log_type") == "pulls":
        return "Items shown one at a time rank by how often they pay: there is nothing to check."
    how = by_reader("bd.check(duels) does it", "--check does it")
    return f"Whether a ranking holds was not checked: {how}."


def _noun(found: Winners) -> str:
    """Return what an arm is called; a result of an earlier version does not say it."""
    return str(found.attrs.get("noun", "arm"))


def _at_most(error: float) -> str:
    """Return a bound in words, to three decimals."""
    return "below 0.001" if error < 0.0005 else f"at most {error:.3f}"
