"""Thurstone with margins: by how much a duel is won is the difference of two performances."""

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

__all__ = ["ThurstoneScore"]

Variances = Literal["common", "arm", "pair"]


@dataclass(frozen=True, kw_only=True)
class ThurstoneScore:
    """Scores in the unit of the margins (goals, points, chips), one an arm.

    The story: each arm draws a score; a duel ends with the difference of the scores, plus the
    advantage of the left side (if there is one), plus noise::

        scale         ~ HalfNormal(unit)                  (if learned)
        score_i       ~ Normal(0, scale), then centred
        order         ~ Normal(0, unit)                   (if order_effect)
        margin_ij     ~ Normal(score_i - score_j + order, sigma_ij^2)     (i at the left)
        Pr(i beats j) = Pr(margin_ij > 0) without the advantage of order

        variances="common":  sigma_ij = noise,        noise ~ LogNormal(log unit, 1)
        variances="arm":     sigma_ij^2 = noise_i^2 + noise_j^2,
                             noise_i ~ LogNormal(log(unit / sqrt 2), 1)
        variances="pair":    sigma_ij^2 ~ noise^2 shrinkage / ChiSquared(shrinkage),
                             noise ~ LogNormal(log unit, 1),
                             shrinkage ~ LogNormal(log 5, 1.2)
        degrees:             Student's t with so many degrees instead of the normal, with
                             sigma_ij its scale; "learned": 1 + LogNormal(log 8, 1)

    A variance for each pair is shrunk towards what pairs have in common: as much as
    `shrinkage` more duels of a typical variance would. Without that (maximum likelihood,
    :func:`bayesduel.policies.top_k.fit_margins`) the variance of a pair with few duels collapses.

    Use it where logs say by how much: a margin tells several times more than who won. A tie is
    a margin of 0. Votes are taken as independent: no cluster-robust errors for margins.

    Parameters
    ----------
    scale
        Prior standard deviation of a score, in the unit of the margins. None learns it.
        ``numpy.inf`` is a flat prior, on the order effect too and, unless it is by arm, on the
        logarithm of the noise: with a common variance the posterior is that of least squares.
    variances
        What duels have in common in their noise.
    degrees
        None: normal margins. A number or "learned": Student's t, robust to odd margins.
    order_effect
        Whether the left side has an advantage, e.g. the home side.
    unit
        Size of a typical margin, on which all priors stand. None: the root mean square of the
        log's margins.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    References
    ----------
    Thurstone, "A law of comparative judgment", Psychological Review 1927, Cases III (by arm)
    and V (common). Groves & Branke, "Exploiting Transitivity for Top-k Selection with
    Score-Based Dueling Bandits", section 4, for a variance a pair (by maximum likelihood).
    Lange, Little & Taylor, "Robust statistical modeling using the t distribution", JASA 1989.
    """

    scale: float | None = None
    variances: Variances = "common"
    degrees: float | Literal["learned"] | None = None
    order_effect: bool = False
    unit: float | None = None

    name: ClassVar[str] = "thurstone-score"
    link: ClassVar[str] = "margin"
    ranked_by_score: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scores.check_scale(self.scale)
        margins.check_unit(self.unit)
        margins.check_flags(self, "order_effect")
        if self.variances not in ("common", "arm", "pair"):
            raise ValueError(
                f"variances should be 'common', 'arm' or 'pair', got {self.variances!r}"
            )
        if self.degrees is None:
            return
        if self.degrees != "learned":
            if isinstance(self.degrees, bool | str):
                raise TypeError(
                    f"degrees should be None, a number or 'learned', got {self.degrees!r}"
                )
            if not 0 < self.degrees < np.inf:
                raise ValueError(f"degrees should be a finite number > 0, got {self.degrees}")
        if self.variances == "pair":
            raise ValueError(
                "degrees should be None with variances='pair', which has heavy tails already, "
                f"got {self.degrees!r}"
            )

    @property
    def hypers(self) -> tuple[str, ...]:
        """Positive parameters, given which margins are linear in all others."""
        return (
            *(("scale",) if self.scale is None else ()),
            *(("shrinkage",) if self.variances == "pair" else ()),
            *(("degrees_over_1",) if self.degrees == "learned" else ()),
            "noise",
        )

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of the parameters that have some, beside ``score``."""
        return {"arm": {"noise": ("arm",)}, "pair": {"pair_noise": ("pair",)}}.get(
            self.variances, {}
        )  # type: ignore[return-value]

    @property
    def notions_agree(self) -> bool:
        """Whether an arm of larger score has the larger row of P: with equal noise only."""
        return self.variances == "common"

    @property
    def _flat(self) -> bool:
        return self.scale is not None and bool(np.isinf(self.scale))

    def check(self, duels: "Duels") -> None:
        """Raise unless the log determines what this model estimates."""
        margin_cells.check_log(duels, flat=self._flat, order=self.order_effect)

    def data(self, duels: "Duels") -> dict[str, np.ndarray]:
        """Return what the likelihood is evaluated on: margins by pair, or one by one."""
        cells = margin_cells.cells(duels, each=self.degrees is not None)
        return {**cells, "unit": margin_cells.typical(duels, self.unit)}

    def start(self, duels: "Duels") -> np.ndarray:
        """Return where the search for the hyperparameters starts: their logarithms, (q,)."""
        unit = np.log(margin_cells.typical(duels, self.unit))
        known = {"shrinkage": np.log(5.0), "degrees_over_1": np.log(8.0)}
        return margins.start(self.hypers, duels, unit, self.variances, known)

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
            shape: Any = 0.0
            if self.variances == "pair":
                shape = margins.positive("shrinkage", 5.0, 1.2)
            elif self.degrees == "learned":
                shape = 1.0 + margins.positive("degrees_over_1", 8.0, 1.0)
            elif self.degrees is not None:
                shape = float(self.degrees)
            variance = margins.noise(self.variances, unit, data, flat=self._flat)
            eta = scores.differences(score, data)
            density, draw = self._density
            margins.outcomes(eta, order, variance, shape, data, density, draw)
        return model

    @property
    def _density(self) -> tuple[Any, Any]:
        """The log density of a cell, and how to draw from it."""
        if self.variances == "pair":
            return densities.pair_student, densities.draw_pair_student
        if self.degrees is None:
            return densities.normal, densities.draw_normal
        return densities.student, densities.draw_student

    def complete(
        self,
        posterior: Mapping[str, np.ndarray],
        duels: "Duels",
        rng: np.random.Generator,
    ) -> dict[str, np.ndarray]:
        """Return the draws with what was integrated out of the likelihood drawn too.

        ``degrees`` where they are learned; ``pair_noise`` (draws, pairs), of all pairs in the
        order of ``triu_indices``, where each has its variance: from its conditional
        distribution, which for a pair that never met is the population's.
        """
        found = dict(posterior)
        if "degrees_over_1" in found:
            found["degrees"] = 1.0 + found.pop("degrees_over_1")
        if self.variances != "pair":
            return found
        cells, n_arms = margin_cells.cells(duels), duels.n_arms
        place = margins.pair_place(cells["first"], cells["second"], n_arms)
        score, shrinkage, noise = (found[n] for n in ("score", "shrinkage", "noise"))
        n_pairs = n_arms * (n_arms - 1) // 2
        kind = np.float64 if len(score) * n_pairs < 2**23 else np.float32
        drawn = np.empty((len(score), n_pairs), dtype=kind)
        order = found["order"] if "order" in found else np.zeros(len(score))
        for k in range(len(score)):
            freedom = np.full(n_pairs, shrinkage[k])
            total = np.full(n_pairs, shrinkage[k] * noise[k] ** 2)
            eta = score[k][cells["first"]] - score[k][cells["second"]]
            freedom[place] += cells["n"]
            total[place] += margins.squares(
                cells["margins"], eta, order[k], cells["n"], cells["n_left"]
            )
            drawn[k] = np.sqrt(total / rng.chisquare(freedom))
        return found | {"pair_noise": drawn}

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
        score = np.asarray(posterior["score"])
        middle = score[..., left] - score[..., right]
        if order and self.order_effect:
            middle = middle + np.asarray(posterior["order"])[..., None]
        if self.variances == "common":
            spread = np.broadcast_to(np.asarray(posterior["noise"])[..., None], middle.shape)
        elif self.variances == "arm":
            each = np.asarray(posterior["noise"])
            spread = np.hypot(each[..., left], each[..., right])
        else:
            each = np.asarray(posterior["pair_noise"])
            spread = margins.of_pairs(each, left, right, score.shape[-1])
            spread = np.where(left == right, 1.0, spread)
        if self.degrees == "learned":
            degrees = np.asarray(posterior["degrees"])[..., None]
        else:
            degrees = np.full((*score.shape[:-1], 1), self.degrees or np.inf)
        return middle, spread, degrees

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
        middle, spread, degrees = self.margin(posterior, left, right, order=order)
        standard = middle / spread
        if self.degrees is None:
            win = special.ndtr(standard)
        else:
            win = special.stdtr(degrees, standard)
        return {"win": win, "loss": 1.0 - win}
