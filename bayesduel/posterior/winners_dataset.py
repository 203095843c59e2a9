"""How winners are shown: a Dataset that prints its verdict and its ranking first."""

import json
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from rich.cells import cell_len

from bayesduel.posterior.verdict_text import ACROSS
from bayesduel.text import CELL, json_ready, probability, shorten

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Winners"]

JSON_ATTRS = ("verdict_arms", "safe_choices", "component_verdicts", "top_set")


class Winners(xr.Dataset):
    """What `winners` returns: a Dataset that prints its verdict and its ranking first."""

    __slots__ = ()

    def table(self) -> "pd.DataFrame":
        """Return one row an arm, best first, as printed but unrounded."""
        import pandas as pd

        order = self["order"].values
        rank, borda = (
            {k: self[f"{name}_{k}"].values[order] for k in ("mean", "lower", "upper")}
            for name in ("rank", "borda")
        )
        columns = {f"rank_{k}": v for k, v in rank.items()}
        for criterion in ("condorcet", "copeland"):
            columns[criterion] = self["winner_probability"].sel(criterion=criterion).values[order]
        columns |= {f"borda_{k}": v for k, v in borda.items()}
        columns[f"top_{self.attrs['k']}"] = self["top_k_probability"].values[order]
        columns["tier"] = self["tier"].values[order]
        return pd.DataFrame(columns, index=pd.Index(self["arm"].values[order], name="arm"))

    def groups(self) -> dict[str, int] | None:
        """Return the group of each arm, from 1, where the log falls into groups that never met."""
        parts = json.loads(self.attrs["component_verdicts"])
        found = {str(arm): k for k, part in enumerate(parts, 1) for arm in part["arms"]}
        return found or None

    def summary(self) -> dict[str, Any]:
        """Return verdict, ranking and winners by criterion as plain dictionaries and lists."""
        attrs = {k: json.loads(v) if k in JSON_ATTRS else v for k, v in self.attrs.items()}
        table = self.table().reset_index()
        arms = self["arm"].values
        return {
            **attrs,
            "condorcet_exists": float(self["condorcet_exists"]),
            "ranking": json_ready(table.to_dict("records")),
            "winners": {
                str(criterion): {
                    str(a): float(p)
                    for a, p in zip(arms, self["winner_probability"].values[i], strict=True)
                    if p > 0
                }
                for i, criterion in enumerate(self["criterion"].values)
            },
        }

    def to_json(self, **options: Any) -> str:
        """Return `summary` as JSON text; `options` go to ``json.dumps``."""
        return json.dumps(self.summary(), **options)

    def __repr__(self) -> str:
        if not _complete(self):
            return super().__repr__()
        contents = ", ".join(str(name) for name in self.data_vars)
        across = [] if self.groups() is None else [ACROSS, ""]
        lines = [self.attrs["verdict"], "", *across, *_rows(self), "", _small_print(self)]
        return "\n".join([*lines, f"Variables of this xarray.Dataset: {contents}"])

    def _repr_html_(self) -> str:
        if not _complete(self):
            return super()._repr_html_()
        head, *body = _cells(self, limit=50)
        heading = "".join(f"<th>{escape(c)}</th>" for c in head)
        across = "" if self.groups() is None else f"<p>{escape(ACROSS)}</p>"
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(c)}</td>" for c in cells) + "</tr>" for cells in body
        )
        return (
            f"<p><strong>{escape(self.attrs['verdict'])}</strong></p>"
            f"{across}<table><thead><tr>{heading}</tr></thead>"
            f"<tbody>{rows}</tbody></table><p>{escape(_small_print(self))}</p>"
            f"<details><summary>All variables</summary>{super()._repr_html_()}</details>"
        )


def _complete(dataset: Winners) -> bool:
    """Return whether nothing a table needs has been selected away."""
    needed = {"order", "rank_mean", "winner_probability", "borda_mean", "top_k_probability"}
    whole = needed <= set(dataset.data_vars) and "verdict" in dataset.attrs
    return whole and dataset.sizes.get("arm") == dataset.sizes.get("rank")


def _cells(dataset: Winners, limit: int) -> list[list[str]]:
    """Return the heading and at most `limit` rows of the ranking, as text."""
    k = dataset.attrs["k"]
    head = ["rank", "arm", "mean rank", "P(Condorcet)", "P(Copeland)", "Borda score"]
    group = dataset.groups()
    rows = [[*head, f"P(top {k})", "tier", *([] if group is None else ["group"])]]
    table = dataset.table()
    for place, (arm, row) in enumerate(table.head(limit).iterrows(), 1):
        rows.append(
            [
                str(place),
                shorten(str(arm), CELL),
                f"{row['rank_mean']:.1f} [{row['rank_lower']:.0f}, {row['rank_upper']:.0f}]",
                probability(row["condorcet"]),
                probability(row["copeland"]),
                f"{probability(row['borda_mean'], 3)} "
                f"[{probability(row['borda_lower'], 3)}, {probability(row['borda_upper'], 3)}]",
                probability(row[f"top_{k}"]),
                f"{row['tier']:.0f}",
                *([] if group is None else [str(group[str(arm)])]),
            ]
        )
    if len(table) > limit:
        rows.append(["", f"... and {len(table) - limit} more", *[""] * (len(rows[0]) - 2)])
    return rows


def _rows(dataset: Winners, limit: int = 30) -> list[str]:
    cells = _cells(dataset, limit)
    widths = [max(cell_len(c) for c in column) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            c + " " * (w - cell_len(c)) if n == 1 else c.rjust(w)
            for n, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def _small_print(dataset: Winners) -> str:
    a = dataset.attrs
    n_tiers = int(np.max(dataset["tier"].values))
    cut = "one tier" if n_tiers == 1 else f"{n_tiers} tiers, some boundary wrong with probability"
    error = "" if n_tiers == 1 else f" {a['tier_error']:.3f}"
    return (
        f"{100 * a['confidence']:g} % intervals from {a['n_draws']:,} draws (Monte Carlo error of "
        f"such a probability {a['monte_carlo_error']:.3f}); ranked by {a['ranked_by']}; "
        f"{cut}{error}; standard errors: {a['errors']}."
    )
