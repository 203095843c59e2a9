"""CategoryEffects: scores that vary by category around an overall score."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from bayesduel.models.layers import Layer
from bayesduel.models.scores import centre
from bayesduel.models.settings import check_positive

__all__ = ["CategoryEffects"]


@dataclass(frozen=True)
class CategoryEffects(Layer):
    """Varying effects of arms by category, partially pooled.

    Generative model: the base has the overall scores; in each category every arm deviates from
    them::

        category_spread ~ HalfNormal(prior)                    (in the unit of the response)
        deviation_ci    ~ Normal(0, category_spread), then centred over the arms of category c
        eta             = eta of the base + deviation_c,first - deviation_c,second

    Categories are alike where `category_spread` is near 0: their scores are then pooled. It is
    learned from all categories together, so that an arm with few duels in a category keeps to its
    overall score there. ``score``, P and all that follows are those of an average category;
    ``score + deviation`` are the scores in a category. A vote without a category has the overall
    scores.

    Use it where duels come from categories that share arms: topics, prompts, leagues, criteria.

    Parameters
    ----------
    base
        What is wrapped: a model or another layer. Default: Bradley-Terry.
    prior
        Scale of the prior of `category_spread`, in the unit of the scores. With 0.5 and
        Bradley-Terry, two arms of equal overall score beat each other with probability
        0.18 to 0.82 in a category, with probability 0.95 before any duel is seen.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; when fitted, if the log has fewer than two categories.

    References
    ----------
    Gelman & Hill, "Data Analysis Using Regression and Multilevel/Hierarchical Models", 2007,
    chapters 11-13.
    """

    prior: float = field(default=0.5, kw_only=True)

    layer: ClassVar[str] = "category-effects"
    adds: ClassVar[bool] = True
    centred: ClassVar[bool] = False  # a sampler draws deviations divided by their spread

    def __post_init__(self) -> None:
        check_positive("prior", self.prior)
        super().__post_init__()

    @property
    def own_hypers(self) -> tuple[str, ...]:
        """``category_spread``."""
        return ("category_spread",)

    @property
    def own_varying(self) -> dict[str, tuple[str, str]]:
        """``deviation_free`` is by category."""
        return {"deviation_free": ("category_of_cell", "category")}

    @property
    def own_dims(self) -> dict[str, tuple[str, ...]]:
        """``deviation`` is by category and arm."""
        return {"deviation": ("category", "arm")}

    def own_columns(self, log: Any) -> dict[str, np.ndarray]:
        """Return each vote's category, -1 where it has none."""
        votes = log.votes
        if votes is None or votes.category is None:
            raise ValueError(
                "duels should have a category for each vote, got a log without categories "
                "(Duels.from_categories, read_duels(..., by=))"
            )
        if len(votes.categories) < 2:
            raise ValueError(
                f"duels should be of at least two categories, got {list(votes.categories)}"
            )
        return {"category_of_cell": votes.category}

    def own_coords(self, log: Any) -> dict[str, Any]:
        """Return the categories, and the free numbers of their deviations."""
        categories = list(log.votes.categories)
        free = len(categories) * (log.n_arms - 1)
        return {"category": categories, "category_free": np.arange(free)}

    def add(
        self, given: Mapping[str, Any], parameters: Mapping[str, Any], log: Any
    ) -> dict[str, Any]:
        """Add ``category_spread`` and ``deviation``."""
        import pymc as pm

        spread = pm.HalfNormal("category_spread", self.prior * self.unit(given))
        if self.centred:
            free = pm.Normal("deviation_free", 0.0, spread, dims="category_free")
        else:
            free = spread * pm.Normal("deviation_standard", 0.0, 1.0, dims="category_free")
        n_arms: Any = pm.modelcontext(None).dim_lengths["arm"]
        by_category = centre(free.reshape((-1, n_arms - 1)))
        return {
            "category_spread": spread,
            "deviation": pm.Deterministic("deviation", by_category, dims=("category", "arm")),
        }

    def own_implied(
        self, posterior: Mapping[str, np.ndarray], arms: tuple[str, ...]
    ) -> Mapping[str, np.ndarray]:
        """Return the draws with ``deviation``, (..., categories, K)."""
        if "deviation_free" not in posterior:
            return posterior
        found = dict(posterior)
        free = found.pop("deviation_free")
        by_category = free.reshape(*free.shape[:-1], -1, len(arms) - 1)
        return found | {"deviation": _centred(by_category)}

    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return the base's predictor, and the difference of deviations in the category."""
        eta = self.base.eta(parameters, cells)
        if "category_of_cell" not in cells:
            return eta
        category = cells["category_of_cell"]  # -1: none; the mask takes the last one out again
        deviation = parameters["deviation"]
        first, second = (deviation[..., category, cells[side]] for side in ("first", "second"))
        return eta + (category >= 0) * (first - second)

    def of_example(self) -> Self:
        """Return a model of the same form for three arms, with its deviations centred."""
        known: Any = CentredCategoryEffects
        return known(self.base.of_example(), prior=self.prior)


@dataclass(frozen=True)
class CentredCategoryEffects(CategoryEffects):
    """The same model, its free numbers the deviations themselves: for a Laplace approximation."""

    centred: ClassVar[bool] = True


def _centred(free: np.ndarray) -> np.ndarray:
    """Map K - 1 free numbers (..., K - 1) to K that sum to zero, as ``centre`` does."""
    total = free.sum(axis=-1, keepdims=True)
    n_arms = free.shape[-1] + 1
    root = np.sqrt(n_arms)
    return np.concatenate([free - total / (n_arms + root), -total / root], axis=-1)
