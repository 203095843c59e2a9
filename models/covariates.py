"""Attributes decide: items are what they are made of, and one vector says what counts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import expit, log_expit

from bayesduel.data.items import Attribute, Items
from bayesduel.models import scores
from bayesduel.models.bradley_terry import binomial
from bayesduel.models.cells import Seen, judges_of, tallied
from bayesduel.models.horseshoe import check_sparsity, coefficients
from bayesduel.models.identifiability import check_determined

if TYPE_CHECKING:
    import pymc as pm

    from bayesduel.data.duels import Duels

__all__ = ["AttributeDuels"]

JUDGE_SPREAD = 0.5  # scale of the prior of a judge_spread, in logits a standardised attribute


@dataclass(frozen=True, kw_only=True)
class AttributeDuels:
    """Duels between items that have attributes.

    The story: one vector says how much each attribute counts; an item may be liked more or
    less than its attributes tell; in a duel the better item is likelier to win::

        coefficient   ~ Normal(0, scale)                  (one a standardised attribute)
        effect_scale  ~ HalfNormal(1)                     (if item_effect)
        effect_i      ~ Normal(0, effect_scale)           (if item_effect)
        order         ~ Normal(0, 1)                      (if order_effect)
        judge_spread  ~ HalfNormal(0.5)                   (if judge_effect; one an attribute)
        taste_g       ~ Normal(0, judge_spread)           (if judge_effect; of judge g)
        utility_i     = u_i' coefficient + effect_i
        Pr(i beats j) = logistic(utility_i - utility_j + order [i is left]
                                 + (u_i - u_j)' taste_g [g judges])
        wins_ij       ~ Binomial(n_ij, Pr(i beats j))

    A tie counts half a win for each side. The scores of a fit are the utilities, centred: with
    a judge effect those of the average judge, as whom a vote without a judge is taken.

    Use it to learn what makes items win, to borrow strength between items with few duels,
    and to predict items that never duelled. Without the item effect the attributes are
    taken to say everything: intervals of coefficients are then too narrow wherever items differ
    in ways that the table does not hold.

    Parameters
    ----------
    items
        The attributes of every item of the log: :func:`bayesduel.read_items`.
    scale
        Prior standard deviation of a coefficient, in logits for one standard deviation of a
        numeric attribute (for having the level, where it is an indicator). With 1 such a step
        wins between 12 % and 88 % of duels against an otherwise equal item, with probability
        0.95. ``numpy.inf`` is a flat prior: logistic regression by maximum likelihood; it
        needs ``item_effect=False``.
    item_effect
        Whether items differ beyond their attributes; the deviation of that is learned.
    order_effect
        Whether the left item has an advantage, e.g. the home side or the first shown.
    judge_effect
        Whether judges want different things: each has coefficients of their own, around those of
        the average judge, which then carry the differences between judges in their intervals.
        Fitted by NUTS.
    sparsity
        None, or how many attributes are thought to count: a regularised horseshoe in place of
        the normal prior, fitted by NUTS. `scale` is then that of a coefficient that counts.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    References
    ----------
    Springall, "Response surface fitting using a generalization of the Bradley-Terry paired
    comparison model", Applied Statistics 1973, without item effects. Turner & Firth,
    "Bradley-Terry models in R: the BradleyTerry2 package", JSS 2012, with them. Revelt & Train,
    "Mixed logit with repeated choices", Review of Economics and Statistics 1998, for tastes.
    """

    items: Items
    scale: float = 1.0
    item_effect: bool = True
    order_effect: bool = False
    judge_effect: bool = False
    sparsity: float | None = None

    name: ClassVar[str] = "attribute-duels"
    link: ClassVar[str] = "logit"
    dims: ClassVar[dict[str, tuple[str, ...]]] = {
        "local": ("attribute",),
        "judge_spread": ("attribute",),
        "taste": ("judge", "attribute"),
    }
    tie_outcome: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.items, Items):
            raise TypeError(
                f"items should be what bayesduel.read_items returned, got {self.items!r}"
            )
        if self.scale is None:
            raise TypeError("scale should be a number or numpy.inf, got None")
        scores.check_scale(self.scale)
        for name in ("item_effect", "order_effect", "judge_effect"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} should be True or False, got {getattr(self, name)!r}")
        check_sparsity(self.sparsity, self.scale, len(self.items.names))
        for name in ("item_effect", "judge_effect"):
            if getattr(self, name) and np.isinf(self.scale):
                raise ValueError(f"{name} should be False under a flat prior (scale=inf)")

    # -- what fit asks of a model whose linear predictor is dense ------------------------

    @property
    def hyper(self) -> str | None:
        """Name of the scale that is learned, or None."""
        return "effect_scale" if self.item_effect else None

    @property
    def settings(self) -> dict[str, Any]:
        """Settings without the items, which a fit keeps in a group of their own."""
        names = ("scale", "item_effect", "order_effect", "judge_effect", "sparsity")
        return {n: getattr(self, n) for n in names}

    def example(self) -> tuple["AttributeDuels", "Duels"]:
        """Return a model of the same form on a small log; equal for equal settings."""
        from bayesduel.data.duels import Duels

        log = Duels.from_wins(np.ones((3, 3)) - np.eye(3))
        return replace(self, items=EXAMPLE, judge_effect=False, sparsity=None), log

    def check(self, duels: "Duels") -> None:
        """Raise unless the log determines what this model estimates.

        Raises
        ------
        ValueError
            If an item of the log is not in the table; with a judge effect also if the log does
            not name two judges; under a flat prior also if the items of the log do not tell
            the attributes apart, or separate wins from losses.
        """
        matrix = self.items.matrix(duels.arms)
        if self.judge_effect:
            judges_of(duels)
        if not np.isinf(self.scale):
            return
        names = [*self.items.names, *(["order"] if self.order_effect else [])]
        data = self.data(duels)
        design = matrix[data["first"]] - matrix[data["second"]]
        if self.order_effect:
            design = np.column_stack([design, np.ones(len(design))])
        # No constant tells differences apart: both signs of each.
        check_determined(np.vstack([design, -design]), design, data["points"], data["n"], names)

    def seen(self, duels: "Duels") -> Seen:
        """Return the log in the cells that this model tells apart."""
        columns = {"judge_of_cell": judges_of(duels)} if self.judge_effect else None
        return tallied(duels, columns, ordered=self.order_effect)

    def coords(self, duels: "Duels") -> dict[str, list[str]]:
        """Return the judges, where they have an effect."""
        votes: Any = duels.votes
        return {"judge": list(votes.judges)} if self.judge_effect else {}

    def data(self, duels: "Duels") -> dict[str, np.ndarray]:
        """Return what the likelihood is evaluated on.

        The tallied cells (by ordered pair where there is an order effect, by judge where there
        is one of judges) and ``design``, the standardised attributes of first minus those of
        second, shape (cells, n).
        """
        cells = scores.cells(duels, seen=self.seen(duels))
        cells.pop("left_first", None)
        matrix = self.items.matrix(duels.arms)
        return {**cells, "design": matrix[cells["first"]] - matrix[cells["second"]]}

    def build(self, duels: "Duels", *, centred: bool = True) -> "pm.Model":
        """Return the PyMC model of `duels`, with dims arm, opponent, attribute, cell (, judge).

        Parameters
        ----------
        duels
            The log.
        centred
            Parameterisation of the item effects; the posterior does not depend on it.
        """
        import pymc as pm

        data = self.data(duels)
        coords = {
            "arm": list(duels.arms),
            "opponent": list(duels.arms),
            "attribute": list(self.items.names),
            "cell": np.arange(len(data["n"])),
            **self.coords(duels),
        }
        with pm.Model(coords=coords) as model:
            given = scores.register(data)
            table = pm.Data("table", self.items.matrix(duels.arms), dims=("arm", "attribute"))
            coefficient = coefficients(self.scale, self.sparsity, data["n"].sum())
            utility = table @ coefficient
            eta = given["design"] @ coefficient
            if self.item_effect:
                spread = pm.HalfNormal("effect_scale", 1.0)
                if centred:
                    effect = pm.Normal("effect", 0.0, spread, dims="arm")
                else:
                    standard = pm.Normal("effect_standard", 0.0, 1.0, dims="arm")
                    effect = pm.Deterministic("effect", spread * standard, dims="arm")
                utility = utility + effect
                eta = eta + effect[given["first"]] - effect[given["second"]]
            if self.order_effect:
                flat = np.isinf(self.scale)
                eta = eta + (pm.Flat("order") if flat else pm.Normal("order", 0.0, 1.0))
            if self.judge_effect:
                apart = pm.HalfNormal("judge_spread", JUDGE_SPREAD, dims="attribute")
                standard = pm.Normal("taste_standard", 0.0, 1.0, dims=("judge", "attribute"))
                taste = pm.Deterministic("taste", apart * standard, dims=("judge", "attribute"))
                judge = given["judge_of_cell"]  # -1: none; the mask takes the last one out again
                eta = eta + (judge >= 0) * (given["design"] * taste[judge]).sum(axis=1)
            eta.name = "eta"
            binomial(eta, given)
            score = pm.Deterministic("score", utility - utility.mean(), dims="arm")
            scores.preference(duels, score, pm.math.sigmoid)
        return model

    def scores(self, posterior: Mapping[str, np.ndarray], arms: tuple[str, ...]) -> np.ndarray:
        """Return the centred utilities of `arms`, shape (..., K), from the parameters."""
        utility = np.asarray(posterior["coefficient"]) @ self.items.matrix(arms).T
        if self.item_effect:
            utility = utility + posterior["effect"]
        return utility - utility.mean(axis=-1, keepdims=True)

    def log_likelihood(self, posterior: Mapping[str, np.ndarray], duels: "Duels") -> np.ndarray:
        """Return the log likelihood of each draw and cell, (draws, cells)."""
        data = self.data(duels)
        score, design = posterior["score"], data["design"]
        eta = score[:, data["first"]] - score[:, data["second"]]
        if self.order_effect:
            eta = eta + posterior["order"][:, None]
        if self.judge_effect:
            for g in range(posterior["taste"].shape[1]):
                own = data["judge_of_cell"] == g
                eta[:, own] += posterior["taste"][:, g] @ design[own].T
        points, n = data["points"], data["n"]
        return points * log_expit(eta) + (n - points) * log_expit(-eta) + data["log_coefficient"]

    def preference(self, posterior: Mapping[str, Any]) -> np.ndarray:
        """Return P without the advantage of order, shape (..., K, K), from ``score``."""
        score = np.asarray(posterior["score"])
        return expit(score[..., :, None] - score[..., None, :])

    def outcome_probabilities(
        self,
        posterior: Mapping[str, Any],
        left: np.ndarray,
        right: np.ndarray,
        *,
        order: bool = False,
    ) -> dict[str, np.ndarray]:
        """Return ``win`` and ``loss`` of `left` against `right`.

        Without the advantage of order, or, with `order`, with that of the left side.
        """
        score = np.asarray(posterior["score"])
        apart = score[..., left] - score[..., right]
        if order and self.order_effect:
            apart = apart + np.asarray(posterior["order"])[..., None]
        win = expit(apart)
        return {"win": win, "loss": 1.0 - win}


EXAMPLE = Items(
    labels=("0", "1", "2"),
    attributes=(Attribute("x", "x", "", "", 0.0, 1.0), Attribute("y", "y", "", "", 0.0, 1.0)),
    values=np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]),
)
