"""Scores: the predictor of arms with one strength each.

An arm's score is its strength. Only differences of scores are ever observed, so scores are
centred: they live in the (K - 1)-dimensional space of vectors that sum to zero, reached from
K - 1 free numbers by an isometry. Independent normal scores, once centred, are independent
normal free numbers of the same standard deviation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from bayesduel.models.elementary import Unit, centre
from bayesduel.models.prior import Prior, Said, priors_of
from bayesduel.models.scale_prior import Scale
from bayesduel.models.settings import Dims, Named
from bayesduel.models.term import ArmTerm
from bayesduel.system.arguments import check_one_of, check_type, labels_of
from bayesduel.text import join

__all__ = ["FAMILY", "Scores"]

FAMILY = "family_scale"  # the standard deviation of families


@dataclass(frozen=True)
class Scores(ArmTerm):
    """One score per arm: ``score_i ~ Normal(0, scale)``, then centred.

    Parameters
    ----------
    scale
        Prior standard deviation of a score, in the unit of the response. None learns it, with a
        half-normal prior whose scale the response knows, and a :class:`bayesduel.Prior` with that
        prior; a number fixes it; ``numpy.inf`` is a flat prior.
    side
        What a side of several arms is worth (doubles, teams, systems made of parts): the "sum" of
        its members' scores, or the "mean". Under "sum", where sizes differ, a member whose score
        is 0, that of the average arm, adds nothing to a side: see :class:`TeamSize`. Of sides of
        one arm both are its score.
    prior
        Priors by arm, ``{"gpt-5": Prior("Normal", mu=0.4, sigma=0.3)}``, of their scores before
        these are centred: what such priors say of differences between arms holds as it is. Other
        arms have ``Normal(0, scale)``. Or one prior, of all arms.
    family
        The family of each arm by label, as ``items.levels("maker")`` has it: versions of one model,
        players of one club. Families differ by ``Normal(0, family_scale)`` and arms from their
        family by ``Normal(0, scale)``; both are learned. An arm of few duels keeps to its family.
        An arm without a family (it is not named, or its family is None) is a family of its own.
        Arms that are not in the log may be named, too: :func:`bayesduel.predict` knows them.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> bd.models.BradleyTerry(bd.models.Scores(scale=1.0)) == bd.models.BradleyTerry(scale=1.0)
    True
    """

    scale: float | Prior | None = None
    side: Literal["sum", "mean"] = "sum"
    prior: Any = None
    family: Any = None

    name: ClassVar[str] = "scores"
    parameter: ClassVar[str] = "score"
    dims: ClassVar[Dims] = {"score": ("arm",)}
    free_dims: ClassVar[tuple[str, ...]] = ("free",)  # from which the centred scores follow
    ranges: ClassVar[dict[str, str]] = {"scale": "> 0"}

    def __post_init__(self) -> None:
        check_one_of(self.side, "side", ("sum", "mean"))
        if self.prior is not None:
            said = priors_of({"score": self.prior})
            object.__setattr__(self, "prior", said["score"])
        if self.family is not None:
            check_type(self.family, Mapping, "family", "a dictionary from arm to family")
            families = labels_of(self.family.values(), "families")
            named = zip(map(str, self.family), families, strict=True)
            known = {arm: family for arm, family in named if family}
            object.__setattr__(self, "family", known)
        super().__post_init__()

    @classmethod
    def worded(cls, text: str) -> "Scores":
        """Return the scores of sides that are worth a "sum" or a "mean": "scores:mean"."""
        return cls(side=text)  # type: ignore[arg-type]

    @property
    def settings(self) -> dict[str, Any]:
        """Settings as JSON holds them, without a prior or families where there are none."""
        found = super().settings
        for name in ("prior", "family"):
            if found[name] is None:
                del found[name]
        return found

    def families(self, arms: Sequence[str]) -> np.ndarray | None:
        """Return the family of each arm, a number, or None where arms have none.

        An arm without a family is one of its own. Raises ValueError if that is true of all arms.
        """
        if self.family is None:
            return None
        if not self.family.keys() & {*arms}:
            raise ValueError(
                "family should have arms of the log as keys, got no key among "
                f"{join(arms, 8, quote=True)}"
            )
        # A family may have the name of an arm: whether it is an arm stands beside the name.
        names = []
        for arm in arms:
            is_arm = arm not in self.family
            names.append((is_arm, self.family.get(arm, arm)))
        in_order = sorted({*names})
        number = {name: k for k, name in enumerate(in_order)}
        return np.array([number[name] for name in names])

    def without_family(self, arms: Sequence[str]) -> list[str]:
        """Return which arms have no family, where others have one."""
        if self.family is None:
            return []
        return [arm for arm in arms if arm not in self.family]

    @property
    def priors(self) -> dict[str, Said]:
        return {} if self.prior is None else {"score": self.prior}

    @property
    def scales(self) -> dict[str, Scale]:
        """The learned scale; its size is that which the response finds typical."""
        found = {}
        if not isinstance(self.scale, int | float):
            found["scale"] = Scale("half-normal", self.scale)
        if self.family is not None:
            found[FAMILY] = Scale("half-normal", None)
        return found

    def deviation(self, scales: Named, cells: Named, unit: Unit) -> Any:
        if isinstance(self.scale, int | float):
            return float(self.scale)
        return scales["scale"]

    @property
    def arms_have_own(self) -> bool:
        """Whether each arm has a normal score of its own: unless the prior is flat, or shared."""
        return not self.flat and self.family is None

    def add(self, given: Named, unit: Unit, scales: Named, *, centred: bool) -> dict[str, Any]:
        """Add the scores to the PyMC model in context and return them.

        With a learned scale `centred` draws the scores themselves (mixes well when data are
        plentiful), otherwise the scores divided by their scale.
        """
        import pymc as pm

        deviation = self.deviation(scales, given, unit)
        if self.family is not None:
            standard = pm.Normal("score_standard", 0.0, 1.0, dims="arm")
            free = self.with_family(deviation * standard, scales)
            return {"score": pm.Deterministic("score", free - free.mean(), dims="arm")}
        if self.flat:
            free = pm.Flat("score_free", dims="free")
        elif centred or not self.scales:
            free = pm.Normal("score_free", 0.0, deviation, dims="free")
        else:
            standard = pm.Normal("score_standard", 0.0, 1.0, dims="free")
            free = deviation * standard
        return {"score": pm.Deterministic("score", centre(free), dims="arm")}

    def with_family(self, own: np.ndarray, scales: Named) -> Any:
        """Return what arms are worth with their families, in the PyMC model in context.

        own: what they are beside their family, (K,).
        """
        import pymc as pm

        arms = pm.modelcontext(None).coords["arm"]
        families = self.families(arms)
        if families is None:
            return own
        n_families = int(families.max()) + 1
        standard = pm.Normal("family_standard", 0.0, 1.0, shape=n_families)
        return own + scales[FAMILY] * standard[families]
