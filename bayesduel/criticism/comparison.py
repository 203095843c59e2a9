"""The result of a comparison of models: a table, a sentence, and the stacked fit."""

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesduel.text import join, json_ready, screen, to_json

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison"]

FEW = 20  # units below which a standard error is rough
CLEAR = 4.0  # nats below which a difference of elpd is small whatever its standard error
STACKED_BYTES = 256 * 2**20
RULE = (
    "Models are distinguished from the best where their elpd is lower by more than two standard "
    f"errors of the difference and by more than {CLEAR:g} nats."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison:
    """How well models predict what was left out of a log.

    Attributes
    ----------
    table
        One row a model, best first: ``elpd`` (the sum of log predictive densities of the units
        left out, in nats), ``elpd_se``, ``difference`` from the best and ``difference_se``,
        ``p_loo`` (how much worse than with the unit in the data: the effective number of
        parameters), ``weight`` (of stacking), ``khat`` (the largest), ``n_high_khat``
        (observations whose k-hat is too high to trust importance sampling) and ``n_refitted``
        (those predicted by refits instead).
    fits
        The fits, by name.
    unit
        What was left out: "pair", "duel", or the column whose levels were.
    observations
        What every model scores, in words.
    n_units
        How many units were left out, one at a time.
    pointwise
        By model and unit: ``elpd``, ``khat``, ``refitted``; by unit ``times`` (how many identical
        observations it stands for) and the arms ``first`` and ``second``, or the ``level``.
    seed
        Of the fits and of the refits' folds.
    """

    table: "pd.DataFrame"
    fits: dict[str, xr.DataTree]
    unit: str
    observations: str
    n_units: int
    pointwise: xr.Dataset
    seed: int = 0

    @property
    def best(self) -> str:
        """Name of the model that predicts best."""
        return str(self.table.index[0])

    @property
    def weights(self) -> dict[str, float]:
        """Stacking weights, by name."""
        return {str(n): float(w) for n, w in self.table["weight"].items()}

    @property
    def as_good(self) -> list[str]:
        """Models that cannot be distinguished from the best.

        Their elpd is within two standard errors of the difference, or within 4 nats.
        """
        gap, error = -self.table["difference"], self.table["difference_se"]
        return [str(n) for n in self.table.index[(gap <= 2 * error) | (gap <= CLEAR)]]

    @property
    def weights_words(self) -> str:
        """What the stacking weights of models that cannot be distinguished are worth, or ""."""
        if len(self.as_good) < 2:
            return ""
        told = [f"{name} {self.weights[name]:.2f}" for name in self.as_good]
        return f"their stacking weights ({join(told, width=None)}) are uncertain"

    @property
    def _word(self) -> str:
        return "period" if self.unit == "time" else self.unit

    @property
    def sentence(self) -> str:
        """What was found, for a reader."""
        left = f"leaving out one {self._word} at a time ({self.n_units:,} of them)"
        alike = [name for name in self.as_good if name != self.best]
        if len(self.table) == 1:
            row = self.table.iloc[0]
            return (
                f"{self.best} has an elpd of {row.elpd:.1f} (standard error {row.elpd_se:.1f}), "
                f"{left}."
            )
        worse = [str(n) for n in self.table.index if n not in self.as_good]
        said = [f"By {left}, {self.best} predicts best"]
        if alike:
            said.append(
                f"; {self._gaps(alike)} cannot be distinguished from it: {self.weights_words}"
            )
        if worse:
            said.append(f"; {self._gaps(worse)} {'does' if len(worse) == 1 else 'do'} worse")
        unsure = self.table["n_high_khat"] - self.table["n_refitted"]
        if unsure.any():
            name = str(unsure.idxmax())
            said.append(
                f"; unreliable: k-hat is too high for {int(unsure[name]):,} "
                f"{self._word}s under {name}, which were not refitted"
            )
        if self.n_units < FEW:
            said.append("; standard errors from so few units are imprecise")
        return "".join(said) + f". {RULE}"

    def _gaps(self, names: list[str]) -> str:
        """Return models with their differences from the best."""
        rows = (self.table.loc[name] for name in names)
        gaps = (
            f"{name} ({-row.difference:.1f} nats less, standard error {row.difference_se:.1f})"
            for name, row in zip(names, rows, strict=True)
        )
        return join(gaps, width=None)

    def stacked(self, draws: int | None = None, seed: int | None = None) -> xr.DataTree:
        """Return the fits mixed by their weights: a tree that ``bayesduel.winners`` takes.

        Parameters
        ----------
        draws
            How many draws of P in all. Default: as many as the fits have, or fewer where they
            would not fit in 256 MB.
        seed
            Of which draws are taken. Default: that of the comparison.

        Raises
        ------
        ValueError
            If `draws` is less than 100.
        """
        from bayesduel.criticism.stacking import mix

        return mix(
            self.fits,
            self.weights,
            unit=self.unit,
            caution=f"{join(self.as_good)} cannot be distinguished"
            if len(self.as_good) > 1
            else "",
            draws=draws,
            seed=self.seed if seed is None else seed,
            most_bytes=STACKED_BYTES,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain numbers and words, for JSON."""
        records = self.table.reset_index().to_dict("records")
        return {
            "unit": self.unit,
            "n_units": self.n_units,
            "observations": self.observations,
            "best": self.best,
            "as_good": self.as_good,
            "sentence": self.sentence,
            "models": json_ready(records),
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON; a number that is not finite is null."""
        return to_json(self.to_dict())

    def to_html(self) -> str:
        """Return the table and the sentence as HTML."""
        shown = self.formatted().rename_axis(index=None, columns="model")
        rows = shown.to_html(border=0, classes="comparison full")
        return f"{rows}<p>{escape(self.sentence)}</p>"

    def formatted(self) -> "pd.DataFrame":
        """Return the table as text, with the digits that are printed."""
        import pandas as pd

        t = self.table
        return pd.DataFrame(
            {
                "elpd": [f"{v:.1f}" for v in t["elpd"]],
                "se": [f"{v:.1f}" for v in t["elpd_se"]],
                "difference": [f"{v:.1f}" for v in t["difference"] + 0.0],
                "its se": [f"{v:.1f}" for v in t["difference_se"]],
                "p_loo": [f"{v:.1f}" for v in t["p_loo"]],
                "weight": [f"{v:.2f}" for v in t["weight"]],
                "max k-hat": ["-" if np.isneginf(v) else f"{v:.2f}" for v in t["khat"]],
                "high": [f"{v:,}" for v in t["n_high_khat"]],
                "refitted": [f"{v:,}" for v in t["n_refitted"]],
            },
            index=t.index,
        )

    def __repr__(self) -> str:
        head = f"<Comparison of {len(self.table)} models by {self.unit}: {self.observations}>"
        return screen([head], self.formatted().to_string().split("\n"), [self.sentence])

    def _repr_html_(self) -> str:
        return self.to_html()
