"""BladeChest: scores and a skew-symmetric part of low rank, which allows cycles."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesduel.models.cells import Log
from bayesduel.models.elementary import Quantity, Unit, centre
from bayesduel.models.settings import Dims, Named
from bayesduel.models.term import Modifier
from bayesduel.system.arguments import shown_value

__all__ = ["BladeChest"]


@dataclass(frozen=True)
class BladeChest(Modifier):
    """A transitive score and a skew-symmetric part of low rank.

    Beside its score each arm has a place in one or more planes, a blade and a
    chest in each; an arm gains where its blade meets the other's chest::

        plane_scale_1   ~ HalfNormal(prior)
        plane_scale_r   = plane_scale_(r-1) x shrink_r,  shrink_r ~ Beta(1, 2)
        blade_r, chest_r~ Normal(0, 1) for each arm, centred over the arms
        eta             = eta of the terms before it
                          + sum over r of plane_scale_r (blade_ri chest_rj - chest_ri blade_rj)

    A plane turned around, or two planes exchanged, make the same model, so blades and chests
    mean nothing one by one. What is identified, and reported: P; the strength of an arm (the
    mean of its log odds against all, the blades being centred: the skew part has rows that
    sum to zero) and the rest, which is all cycles. The size of the planes is shrunk, the second
    more than the first: the rank is what the log pays for.

    A fit calls the scores ``strength``, because they do not decide who beats whom.

    Use it where preferences may be cyclic (rock, paper, scissors; styles of play) and pairs are
    too thinly covered for one probability each.

    Parameters
    ----------
    planes
        How many planes at most; the skew part has rank 2 x planes. No more are used than
        the arms have room for, (K - 1) / 2.
    prior
        Scale of the prior of the first plane's size, on the scale of the scores.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; when built, if the log has only two arms.

    References
    ----------
    Chen & Joachims, "Modeling intransitivity in matchup and comparison data", WSDM 2016 (the
    blade-chest-inner model). Deviations: centred blades and chests, so that strengths and
    cycles do not share anything; priors, and shrinkage instead of a chosen dimension.

    Examples
    --------
    >>> model = bd.models.BradleyTerry() + bd.models.BladeChest(planes=1)
    >>> model.name
    'bradley-terry + cycles'
    """

    planes: int = 2
    prior: float = 1.0

    name: ClassVar[str] = "cycles"
    cyclic: ClassVar[bool] = True
    splits: ClassVar[bool] = False
    unidentified: ClassVar[tuple[str, ...]] = ("blade", "chest")
    ranges: ClassVar[dict[str, str]] = {"prior": "> 0 and finite"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.planes <= 10:
            raise ValueError(f"planes should be from 1 to 10, got {shown_value(self.planes)}")

    def coords(self, log: Log) -> dict[str, Any]:
        """Return the planes that the arms have room for."""
        if log.n_arms < 3:
            raise ValueError(
                "duels should have at least three arms, because cycles need three, got "
                f"{log.n_arms}"
            )
        room = (log.n_arms - 1) // 2
        n_planes = min(self.planes, room)
        return {"plane": np.arange(1, n_planes + 1)}

    @property
    def dims(self) -> Dims:
        both = ("plane", "arm")
        return {"plane_scale": ("plane",), "blade": both, "chest": both}

    def add(self, given: Named, unit: Unit, scales: Named, *, centred: bool) -> dict[str, Any]:
        import pymc as pm
        import pytensor.tensor as pt

        n = len(pm.modelcontext(None).coords["plane"])
        first = pm.HalfNormal("first_plane_standard", self.prior * unit)
        sizes = first[None]
        if n > 1:
            shrink = pm.Beta("shrink_standard", 1.0, 2.0, shape=n - 1)
            further = sizes * pt.cumprod(shrink)
            sizes = pt.concatenate([sizes, further])
        found = {"plane_scale": pm.Deterministic("plane_scale", sizes, dims="plane")}
        for name in ("blade", "chest"):
            place = pm.Normal(f"{name}_free", 0.0, 1.0, dims=("plane", "free"))
            place = centre(place)
            found[name] = pm.Deterministic(name, place, dims=("plane", "arm"))
        return found

    def apply(self, eta: Quantity, parameters: Named, cells: Named) -> Any:
        first = cells["first"]
        second = cells["second"]
        blade = parameters["blade"]
        chest = parameters["chest"]
        of_first = blade[..., first] * chest[..., second]
        of_second = chest[..., first] * blade[..., second]
        size = parameters["plane_scale"][..., None]
        turns = size * (of_first - of_second)
        return eta + turns.sum(axis=-2)

    def log_prior(self, parameters: Named, cells: Named, unit: Unit) -> dict[str, np.ndarray]:
        size = np.asarray(parameters["plane_scale"])
        standard = size[:, 0] / (self.prior * unit)
        shrink = size[:, 1:] / size[:, :-1]
        of_first = -0.5 * standard**2
        of_others = np.log1p(-shrink).sum(axis=1)
        return {"plane_scale": of_first + of_others}
