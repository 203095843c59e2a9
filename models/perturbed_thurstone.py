"""Perturbed Thurstone: margins by scores, but for what is peculiar to each pair."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy import special

from bayesduel.models import margin_cells, scores
from bayesduel.models import margin_densities as densities
from bayesduel.models import margin_response as margins

if TYPE_CHECKING:
    import pymc as pm

    from bayesduel.data.duels import Duels

__all__ = ["PerturbedThurstone"]


@dataclass(frozen=True, kw_only=True)
class PerturbedThurstone:
    """Scores in the unit of the margins, and a residual of each pair that they do not tell.

    The story: as :class:`ThurstoneScore`, but the expected margin of a pair is off the
    difference of the scores by a residual of its own, which all duels of the pair share::

        scale         ~ HalfNormal(unit)                  (if learned)
        score_i       ~ Normal(0, scale), then centred
        d             ~ HalfNormal(unit / 2)              (called residual_scale)
        residual_ij   ~ Normal(0, d^2),  residual_ji = -residual_ij
        order         ~ Normal(0, unit)                   (if order_effect)
        margin_ij     ~ Normal(score_i - score_j + residual_ij + order, sigma_ij^2)
        Pr(i beats j) = Phi((score_i - score_j + residual_ij) / sigma_ij)

    with sigma_ij as there, common or by arm. The posterior of d says how far from transitive
    the log is, in the unit of the margins: at 0 one ranking explains it, and where d is as
    large as the differences of scores, scores tell little of who beats whom. Winners are those of
    the preferences with residuals, so cycles are possible and winner criteria may differ;
    arms rank by Borda score.

    Use it where matchups matter (styles, strategies, non-transitive games). A residual can be
    told from noise only where pairs meet more than once.

    Parameters
    ----------
    scale, order_effect, unit
        As in :class:`ThurstoneScore`.
    variances
        "common" or "arm", as there. Residuals with a variance for each pair are not offered.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    References
    ----------
    Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
    Bandits", section 6, for the perturbed scores; there d is known, here it is learned.
    """

    scale: float | None = None
    variances: Literal["common", "arm"] = "common"
    order_effect: bool = False
    unit: float | None = None

    name: ClassVar[str] = "perturbed-thurstone"
    link: ClassVar[str] = "margin"
    ranked_by_score: ClassVar[bool] = False
    notions_agree: ClassVar[bool] = False

    def __post_init__(self) -> None:
        scores.check_scale(self.scale)
        margins.check_unit(self.unit)
        margins.check_flags(self, "order_effect")
        if self.variances not in ("common", "arm"):
            raise ValueError(f"variances should be 'common' or 'arm', got {self.variances!r}")

    @property
    def hypers(self) -> tuple[str, ...]:
        """Positive parameters, given which margins are linear in all others."""
        return (*(("scale",) if self.scale is None else ()), "residual_scale", "noise")

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of the parameters that have some, beside ``score``."""
        return {"residual": ("pair",), **({"noise": ("arm",)} if self.variances == "arm" else {})}

    @property
    def _flat(self) -> bool:
        return self.scale is not None and bool(np.isinf(self.scale))

    def check(self, duels: "Duels") -> None:
        """Raise unless the log determines what this model estimates."""
        margin_cells.check_log(duels, flat=self._flat, order=self.order_effect)
        n = margin_cells.cells(duels)["n"]
        if not (n > 1).any():
            raise ValueError(
                "some pair should meet more than once: residuals of pairs cannot be told from "
                f"noise otherwise, got {len(n)} pairs that met once each"
            )

    def data(self, duels: "Duels") -> dict[str, np.ndarray]:
        """Return what the likelihood is evaluated on: margins by unordered pair."""
        return {**margin_cells.cells(duels), "unit": margin_cells.typical(duels, self.unit)}

    def start(self, duels: "Duels") -> np.ndarray:
        """Return where the search for the hyperparameters starts: their logarithms, (q,)."""
        unit = np.log(margin_cells.typical(duels, self.unit))
        return margins.start(
            self.hypers, duels, unit, self.variances, {"residual_scale": unit - np.log(4.0)}
        )

    def build(self, duels: "Duels", *, centred: bool = True) -> "pm.Model":
        """Return the PyMC model of `duels`, with dims arm, opponent, cell, statistic.

        Parameters
        ----------
        duels
            The log, with margins.
        centred
            Parameterisation of a learned scale; the posterior does not depend on it.
        """
        import pymc as pm

        arrays = self.data(duels)
        with pm.Model(coords=margins.coords(duels, len(arrays["n"]))) as model:
            data = margins.register(arrays)
            unit = data["unit"]
            score, order = margins.latents(self.scale, unit, self.order_effect, centred=centred)
            spread = pm.HalfNormal("residual_scale", unit / 2)
            variance = margins.noise(self.variances, unit, data, flat=self._flat)
            eta = scores.differences(score, data)
            margins.outcomes(
                eta, order, variance, spread, data, densities.perturbed, densities.draw_perturbed
            )
        return model

    def complete(
        self,
        posterior: Mapping[str, np.ndarray],
        duels: "Duels",
        rng: np.random.Generator,
    ) -> dict[str, np.ndarray]:
        """Return the draws with the residuals, which the likelihood integrates out.

        ``residual`` (draws, pairs), first over second, of all pairs in the order of
        ``triu_indices``: from its conditional distribution, which for a pair that never met is
        the population's.
        """
        cells, n_arms = margin_cells.cells(duels), duels.n_arms
        first, second, n = cells["first"], cells["second"], cells["n"]
        place = margins.pair_place(first, second, n_arms)
        n_pairs = n_arms * (n_arms - 1) // 2
        score, spread = posterior["score"], posterior["residual_scale"]
        kind = np.float64 if len(score) * n_pairs < 2**23 else np.float32
        drawn = np.empty((len(score), n_pairs), dtype=kind)
        order = posterior["order"] if "order" in posterior else np.zeros(len(score))
        for k in range(len(score)):
            own = posterior["noise"][k]
            sigma2 = own[first] ** 2 + own[second] ** 2 if np.ndim(own) else own**2
            mean, _ = margins.pooled(cells["margins"], order[k], n, cells["n_left"])
            precision = 1 / spread[k] ** 2 + n / sigma2
            middle, error = np.zeros(n_pairs), np.full(n_pairs, spread[k])
            error[place] = 1 / np.sqrt(precision)
            off = mean - score[k][first] + score[k][second]
            middle[place] = n / sigma2 * off / precision
            drawn[k] = middle + error * rng.standard_normal(n_pairs)
        return {**posterior, "residual": drawn}

    # -- what a draw says of duels ------------------------------------------------------------

    def margin(
        self,
        posterior: Mapping[str, Any],
        left: np.ndarray,
        right: np.ndarray,
        *,
        order: bool = False,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return middle, scale and degrees of freedom of the margins of `left` over `right`.

        Shapes (..., n), (..., n) and (..., 1); infinite degrees are the normal. `order`: with
        the advantage of the left side.
        """
        score, each = np.asarray(posterior["score"]), np.asarray(posterior["noise"])
        own = margins.of_pairs(np.asarray(posterior["residual"]), left, right, score.shape[-1])
        middle = score[..., left] - score[..., right] + np.where(left < right, own, -own)
        if order and self.order_effect:
            middle = middle + np.asarray(posterior["order"])[..., None]
        if self.variances == "arm":
            spread = np.hypot(each[..., left], each[..., right])
        else:
            spread = np.broadcast_to(each[..., None], middle.shape)
        return middle, spread, np.full((*score.shape[:-1], 1), np.inf)

    def preference(self, posterior: Mapping[str, Any]) -> np.ndarray:
        """Return P, shape (..., K, K): probabilities of a positive margin, sides even."""
        return margins.preference(self, posterior)

    def outcome_probabilities(
        self,
        posterior: Mapping[str, Any],
        left: np.ndarray,
        right: np.ndarray,
        *,
        order: bool = False,
    ) -> dict[str, np.ndarray]:
        """Return ``win`` and ``loss`` of `left` against `right`, shape (..., n)."""
        middle, spread, _ = self.margin(posterior, left, right, order=order)
        win = special.ndtr(middle / spread)
        return {"win": win, "loss": 1.0 - win}
