"""The Dataset that `winners` returns, printed with its verdict and ranking."""

import json
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.posterior.verdict import across_words
from bayesduel.system.arguments import by_reader
from bayesduel.text import (
    NOW_CALLED,
    an,
    json_ready,
    plural,
    printed_tables,
    screen,
    section_html,
)

__all__ = ["Winners", "best_first", "check_words"]

JSON_ATTRS = (
    "verdict_arms",
    "safe_choices",
    "component_verdicts",
    "top_set",
    "tier_errors",
    "model_reasons",
    "check",
)
FROM_XARRAY = (
    *("attrs", "coords", "data_vars", "dims", "sizes", "sel", "isel", "to_dict", "to_netcdf"),
    *("to_zarr",),
)  # of its methods and attributes, those that completion offers
RANK = ("rank_mean", "rank_lower", "rank_upper", "rank_joint_lower", "rank_joint_upper")
RATE = ("win_rate", "win_rate_lower", "win_rate_upper")
ARMS = (
    "The arms of this xarray.Dataset are in the order of fit.duel.arms; .table() and "
    ".to_dataframe() have them best first."
)


class Winners(xr.Dataset):
    """A Dataset of winners and ranks, printed with its verdict and ranking first."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        """Return what completion offers: own names, variables, and what selects and stores."""
        own = [name for name in vars(Winners) if not name.startswith("_")]
        special = [name for name in super().__dir__() if name.startswith("__")]
        return sorted({*own, *FROM_XARRAY, *map(str, self.variables), *special})

    def __getitem__(self, key: object) -> Any:
        """Return variables as a Dataset does; KeyError names the new name of an earlier one."""
        for name in key if isinstance(key, list) else [key]:
            if isinstance(name, str) and name in NOW_CALLED:
                raise KeyError(f"{name!r} is now called {NOW_CALLED[name]!r}")
        return super().__getitem__(key)

    def __getattr__(self, name: str) -> Any:
        """Return a variable; AttributeError names the new name of an earlier one."""
        if name in NOW_CALLED:
            raise AttributeError(f"{name!r} is now called {NOW_CALLED[name]!r}")
        return super().__getattr__(name)

    @property
    def rank(self) -> xr.DataArray:  # type: ignore[override]
        """Place of each arm in the ranking, 1 is best, by arm."""
        place = np.empty(self.sizes["arm"], dtype=int)
        place[best_first(self)] = np.arange(1, len(place) + 1)
        return xr.DataArray(place, coords={"arm": self["arm"].values}, dims="arm", name="rank")

    def table(self) -> pd.DataFrame:
        """Return one row per arm, best first: the printed ranking, not rounded."""
        columns = {name: self[name].values for name in RANK}
        for criterion in ("condorcet", "copeland"):
            columns[criterion] = self["winner_probability"].sel(criterion=criterion).values
        for name in RATE:
            columns[name] = self[name].values
        columns[f"top_{self.attrs['k']}"] = self["top_k_probability"].values
        columns["tier"] = self["tier"].values
        labels = pd.Index(self["arm"].values, name="arm")
        return pd.DataFrame(columns, index=labels).iloc[best_first(self)]

    def to_dataframe(self, *args: Any, **options: Any) -> pd.DataFrame:
        """Return one row per arm, best first, with the columns that a person reads.

        ``rank`` (place), ``rank_mean``, ``rank_lower``, ``rank_upper``, ``tier``, ``win_rate``
        (Borda score), ``win_rate_lower``, ``win_rate_upper``, ``best_probability`` (of being a
        Copeland winner), ``condorcet_probability`` and ``top_K_probability``. With arguments, or
        where a part of the arms was selected, the long table of ``xarray.Dataset.to_dataframe``.
        """
        if args or options or not _complete(self):
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
        found = {str(arm): k for k, part in enumerate(parts, 1) for arm in part["arms"]}
        return found or None

    def summary(self) -> dict[str, Any]:
        """Return verdict, ranking and winners by criterion as plain dictionaries and lists."""
        attrs = {k: json.loads(v) if k in JSON_ATTRS else v for k, v in self.attrs.items()}
        ranking = self.table().reset_index().to_dict("records")
        winners: dict[str, dict[str, float]] = {}
        for criterion, chances in self["winner_probability"].to_pandas().iterrows():
            likely = chances[chances > 0]
            winners[str(criterion)] = {str(arm): float(p) for arm, p in likely.items()}
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
        if not _complete(self):
            return super().__repr__()
        contents = f"{ARMS} Variables of it: {', '.join(map(str, self.data_vars))}"
        across = () if self.groups() is None else (across_words(_noun(self)), "")
        head = (*_verdict_lines(self), "", *across)
        tail = ("", _notes(self), contents)
        return screen(
            head,
            printed_tables(self),
            tail,
            whole=".table()",
            n_arms=self.sizes["arm"],
            noun=_noun(self),
        )

    def _repr_html_(self) -> str:
        if not _complete(self):
            return super()._repr_html_()
        across = "" if self.groups() is None else f"<p>{escape(across_words(_noun(self)))}</p>"
        return (
            f"<p><strong>{escape(self.attrs['verdict'])}</strong></p>"
            f"<p>{escape(' '.join(_verdict_lines(self)[1:]))}</p>{across}"
            f"{section_html(self)}<p>{escape(_notes(self))}</p>"
            f"<details><summary>All variables</summary><p>{escape(ARMS)}</p>"
            f"{super()._repr_html_()}</details>"
        )


def best_first(found: xr.Dataset) -> np.ndarray:
    """Return the indices of the arms, best mean rank first, as the arms stand now.

    ``order`` is of the arms as `winners` returned them, and stays the same where they are sorted.
    """
    order = found["order"].values
    rank = found["rank_mean"].values
    if (np.diff(rank[order]) >= 0).all():
        return np.asarray(order)
    return np.lexsort((-found["win_rate"].values, rank))  # as `winners` orders them


def _complete(dataset: Winners) -> bool:
    """Return whether nothing that the table needs has been selected away."""
    needed = {"order", "rank_mean", "winner_probability", "win_rate", "top_k_probability"}
    if not needed <= set(dataset.data_vars) or "verdict" not in dataset.attrs:
        return False
    ordered = np.sort(dataset["order"].values)
    same = dataset.sizes.get("arm") == dataset.sizes.get("rank") == len(ordered)
    return same and np.array_equal(ordered, np.arange(len(ordered)))


def _verdict_lines(dataset: Winners) -> list[str]:
    """Return the verdict and, where a ranking is rejected, why, and what it would have said."""
    names = ("verdict", "verdict_reason", "ranking_verdict")
    return [str(dataset.attrs[name]) for name in names if name in dataset.attrs]


def _notes(dataset: Winners) -> str:
    """Return the sentence below the table: intervals, order, tiers and standard errors."""
    a = dataset.attrs
    noun = _noun(dataset)
    n_tiers = int(np.max(dataset["tier"].values))
    tiers = "There is one tier."
    if n_tiers > 1:
        tiers = (
            f"There are {n_tiers} tiers: the first {noun} of a tier is ahead of all lower tiers "
            f"(the probability that this is wrong is {_at_most(a['tier_error'])} for each tier)."
        )
    controls = f" {a['controls']}" if a.get("controls") else ""
    return (
        f"beats all: the probability of beating every other {noun} (Condorcet); best: of winning "
        f"most pairings (Copeland). Rank range: the ranks {an(noun)} can have, given "
        f"the {plural(noun)} that surely rank above and below it. The order is that of "
        f"mean ranks by {a['ranked_by']}. {tiers} {check_words(dataset)} "
        f"{100 * a['confidence']:g} % intervals are from {a['n_draws']:,} draws (Monte Carlo "
        f"standard error of a probability of {a['confidence']:g}: {a['monte_carlo_error']:.3f}). "
        f"{a['dependence']}{controls} Model: {a['model_words']}."
    )


def check_words(dataset: Winners) -> str:
    """Return what is known of whether a ranking holds."""
    found = json.loads(dataset.attrs.get("check", '"not made"'))
    if found != "not made":
        return str(found["sentence"])
    if dataset.attrs.get("log_type") == "pulls":
        return "Items shown one at a time rank by how often they pay: there is nothing to check."
    how = by_reader("bd.check(duels) does it", "--check does it")
    return f"Whether a ranking holds was not checked: {how}."


def _noun(dataset: Winners) -> str:
    """Return what an arm is called; a result of an earlier version does not say it."""
    return str(dataset.attrs.get("noun", "arm"))


def _at_most(error: float) -> str:
    """Return a bound in words, to three decimals."""
    return "below 0.001" if error < 0.0005 else f"at most {error:.3f}"
