"""Covariates: attributes of the items that duel, or of the duel itself.

``Covariates(items)`` says what arms are worth by what they are made of; ``Covariates(["length"])``
adds what differs between the two sides of a duel beside the arms.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesduel.data.items import Attribute, Items
from bayesduel.models.horseshoe import check_sparsity, coefficients
from bayesduel.models.predictor import ArmPredictor, DuelPredictor
from bayesduel.models.settings import check_positive
from bayesduel.system.arguments import listed, numbers, shown_value, texts_of
from bayesduel.text import join

__all__ = ["Covariates", "DuelCovariates", "ItemCovariates"]


def Covariates(of: Items | Iterable[str], **settings: Any) -> "ItemCovariates | DuelCovariates":
    """Return the predictor of covariates of items, or of the duel.

    Parameters
    ----------
    of
        The table of items (:func:`bayesduel.read_items`), or names of columns of the log that
        hold left minus right.
    settings
        Of :class:`ItemCovariates` (`scale`, `item_effect`, `sparsity`), or of
        :class:`DuelCovariates` (`scale`).

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """
    if isinstance(of, Items):
        return ItemCovariates(of, **settings)
    if isinstance(of, str) or not isinstance(of, Iterable):
        raise TypeError(
            f"of should be items (bayesduel.read_items) or a list of column names, "
            f"got {shown_value(of)}"
        )
    return DuelCovariates(listed(of, "of"), **settings)


@dataclass(frozen=True)
class ItemCovariates(ArmPredictor):
    """Covariates of the items: utilities that are linear in the attributes of the arms.

    Generative model: utilities are linear in the attributes, and items may deviate from that::

        coefficient   ~ Normal(0, scale)                  (one a standardised attribute)
        effect_scale  ~ HalfNormal(1)                     (if item_effect)
        effect_i      ~ Normal(0, effect_scale)           (if item_effect)
        utility_i     = u_i' coefficient + effect_i

    in the unit of the response. The scores of a fit are the utilities, centred.

    Use it to estimate which attributes make items win, to share information between items with
    few duels, and to predict items that never duelled. Without the item effect the attributes are
    assumed to explain all differences: intervals of coefficients are then too narrow wherever
    items differ in ways that the table does not contain.

    Parameters
    ----------
    items
        The attributes of every item of the log: :func:`bayesduel.read_items`.
    scale
        Prior standard deviation of a coefficient, for one standard deviation of a numeric
        attribute (for having the level, where it is an indicator). With 1 and a logistic response
        such a step wins between 12 % and 88 % of duels against an otherwise equal item, with
        probability 0.95. ``numpy.inf`` is a flat prior: maximum likelihood; it needs
        ``item_effect=False``.
    item_effect
        Whether items differ beyond their attributes; the deviation of that is learned.
    sparsity
        None, or the expected number of relevant attributes: a regularised horseshoe in place of
        the normal prior, fitted by NUTS. `scale` is then that of a coefficient that counts.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    References
    ----------
    Springall, "Response surface fitting using a generalization of the Bradley-Terry paired
    comparison model", Applied Statistics 1973, without item effects. Turner & Firth,
    "Bradley-Terry models in R: the BradleyTerry2 package", JSS 2012, with them.
    """

    items: Items = None  # type: ignore[assignment]
    scale: float = 1.0
    item_effect: bool = True
    sparsity: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.items, Items):
            raise TypeError(
                f"items should be what bayesduel.read_items returned, got {shown_value(self.items)}"
            )
        if self.scale is None:
            raise TypeError("scale should be a number or numpy.inf, got None")
        check_positive("scale", self.scale, none=True, flat=True)
        if not isinstance(self.item_effect, bool):
            raise TypeError(
                f"item_effect should be True or False, got {shown_value(self.item_effect)}"
            )
        check_sparsity(self.sparsity, self.scale, len(self.items.names))
        if self.item_effect and np.isinf(self.scale):
            raise ValueError("item_effect should be False under a flat prior (scale=inf)")

    @property
    def flat(self) -> bool:
        """Whether the prior is flat."""
        return bool(np.isinf(self.scale))

    @property
    def hypers(self) -> tuple[str, ...]:
        """The deviation of the item effects, where it is learned."""
        return ("effect_scale",) if self.item_effect else ()

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of the parameters."""
        return {"coefficient": ("attribute",), "local": ("attribute",), "effect": ("arm",)}

    @property
    def why_nuts(self) -> str:
        """A horseshoe is fitted by NUTS."""
        return "" if self.sparsity is None else "a horseshoe prior has no mode that stands for it"

    @property
    def settings(self) -> dict[str, Any]:
        """Settings without the items, which a fit keeps in a group of their own."""
        return {"scale": self.scale, "item_effect": self.item_effect, "sparsity": self.sparsity}

    def coords(self, log: Any) -> dict[str, Any]:
        """Return the names of the attributes."""
        return {"attribute": list(self.items.names)}

    def data(self, log: Any) -> dict[str, np.ndarray]:
        """Return ``table``, the standardised attributes of the arms, (arm, attribute).

        Raises
        ------
        ValueError
            If an item of the log is not in the table.
        """
        return {"table": self.items.matrix(log.arms)}

    def utility(self, given: Any, typical: Any, unit: Any, *, centred: bool) -> Any:
        """Add the coefficients and item effects to the model in context."""
        import pymc as pm

        utility = given["table"] @ coefficients(self.scale, self.sparsity, given["n"].sum(), unit)
        if self.item_effect:
            spread = pm.HalfNormal("effect_scale", 1.0 * unit)
            if centred:
                effect = pm.Normal("effect", 0.0, spread, dims="arm")
            else:
                standard = pm.Normal("effect_standard", 0.0, 1.0, dims="arm")
                effect = pm.Deterministic("effect", spread * standard, dims="arm")
            utility = utility + effect
        pm.Deterministic("score", utility - utility.mean(), dims="arm")
        return utility

    def score(
        self, posterior: Mapping[str, np.ndarray], arms: tuple[str, ...]
    ) -> Mapping[str, np.ndarray]:
        """Return the draws with ``score``, the centred utilities, (..., K)."""
        utility = np.asarray(posterior["coefficient"]) @ self.items.matrix(arms).T
        if self.item_effect:
            utility = utility + posterior["effect"]
        return {"score": utility - utility.mean(axis=-1, keepdims=True), **posterior}

    def example(self) -> "ItemCovariates":
        """Return the same with a table of the arms "0", "1" and "2"."""
        return replace(self, items=EXAMPLE, sparsity=None)


@dataclass(frozen=True)
class DuelCovariates(DuelPredictor):
    """Covariates of the duel: what differs between its two sides beside the arms.

    Generative model: a column of the log says by how much left exceeds right, in length, in number
    of lists, in any trait of the two answers shown; its effect on the outcome is learned with the
    scores, so that the scores are those of a duel in which nothing differs::

        covariate_effect_k ~ Normal(0, scale / deviation_k)   (one a column, for one unit of it)
        eta                = eta of the arms + sum over k of covariate_effect_k x_k

    Winners and the preference matrix of a fit are at neutral covariates, all 0. Analysts of
    arenas call this style control.

    Parameters
    ----------
    columns
        Names of columns of the log that hold left minus right: ``read_duels(covariates=...)``.
    scale
        Prior standard deviation of the effect of one standard deviation of a column, in the unit
        of the response. ``numpy.inf`` is a flat prior.
    deviations
        One standard deviation (about 0) of each column. Written down by a fit; by default that of
        the log.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; when fitted, if the log has no such column.

    References
    ----------
    Springall, Applied Statistics 1973, for covariates of the comparison. Chiang et al., "Chatbot
    Arena", ICML 2024, for their use as controls.
    """

    columns: tuple[str, ...]
    scale: float = 1.0
    deviations: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        columns = texts_of(self.columns, "columns")
        if not columns or not all(isinstance(c, str) for c in columns):
            raise TypeError(
                f"columns should be names of columns of the log, got {shown_value(columns)}"
            )
        if len(set(columns)) < len(columns):
            raise ValueError(f"columns should be distinct, got {list(columns)}")
        if self.scale is None:
            raise TypeError("scale should be a number or numpy.inf, got None")
        check_positive("scale", self.scale, none=True, flat=True)
        object.__setattr__(self, "columns", columns)
        if self.deviations is not None:
            deviations = numbers(self.deviations, "deviations").ravel()
            object.__setattr__(self, "deviations", tuple(deviations.tolist()))

    @property
    def flat(self) -> bool:
        """Whether the prior is flat."""
        return bool(np.isinf(self.scale))

    @property
    def settings(self) -> dict[str, Any]:
        """Settings as JSON holds them."""
        return {
            "columns": list(self.columns),
            "scale": self.scale,
            "deviations": None if self.deviations is None else list(self.deviations),
        }

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Effects are by covariate."""
        return {"covariate_effect": ("covariate",)}

    def coords(self, log: Any) -> dict[str, Any]:
        """Return the names of the covariates."""
        return {"covariate": list(self.columns)}

    def settled(self, log: Any) -> "DuelCovariates":
        """Return the same with the deviations of the log written down."""
        if self.deviations is not None:
            return self
        values = self.differences(log)["covariate_values"]
        weight = log.votes.weight
        size = np.sqrt(np.average(values**2, axis=0, weights=weight))
        if not (size > 0).all():
            k = int(np.flatnonzero(size <= 0)[0])
            raise ValueError(f"covariate {self.columns[k]!r} should vary, got 0 in every duel")
        return replace(self, deviations=tuple(size.tolist()))

    def differences(self, log: Any) -> dict[str, np.ndarray]:
        """Return ``covariate_values``, (votes, covariates).

        Raises
        ------
        ValueError
            If the log has no such column.
        """
        votes = log.votes
        known = () if votes is None else votes.covariate_names
        missing = [c for c in self.columns if c not in known]
        if missing:
            has = f"it has {join(known, 8, quote=True)}" if known else "it has none"
            raise ValueError(
                f"duels should have the covariates {join(missing, 8, quote=True)} "
                f"(read_duels(..., covariates=[...]), --covariates): {has}"
            )
        place = [known.index(c) for c in self.columns]
        return {"covariate_values": votes.covariates[:, place]}

    def data(self, log: Any) -> dict[str, np.ndarray]:
        """Return ``covariate_deviation``, (covariates,)."""
        deviations = self.settled(log).deviations
        return {"covariate_deviation": np.array(deviations, dtype=float)}

    def add(self, given: Any, unit: Any) -> dict[str, Any]:
        """Add ``covariate_effect``."""
        import pymc as pm

        name = "covariate_effect"
        if self.flat:
            return {name: pm.Flat(name, dims="covariate")}
        spread = self.scale * unit / given["covariate_deviation"]
        return {name: pm.Normal(name, 0.0, spread, dims="covariate")}

    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return the contribution of the covariates; 0 for cells without them."""
        if "covariate_values" not in cells:
            return 0.0
        return parameters["covariate_effect"] @ cells["covariate_values"].T

    def fixed_effects(
        self, cells: Mapping[str, Any], unit: Any
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return ``covariate_values`` and the standard deviation of each effect."""
        spread = self.scale * unit / cells["covariate_deviation"]
        return {"covariate_effect": (cells["covariate_values"], spread)}

    def example(self) -> "DuelCovariates":
        """Return the same with deviations of 1."""
        return replace(self, deviations=(1.0,) * len(self.columns))


EXAMPLE = Items(
    labels=("0", "1", "2"),
    attributes=(Attribute("x", "x", "", "", 0.0, 1.0), Attribute("y", "y", "", "", 0.0, 1.0)),
    values=np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]),
)
