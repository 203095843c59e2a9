"""TimeVarying: scores that change over time; those of a fit are of the last period."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from bayesduel.models.layers import Layer
from bayesduel.models.predictor import difference
from bayesduel.models.scores import centre
from bayesduel.models.settings import check_positive
from bayesduel.system.arguments import numbers, real, shown_value

__all__ = ["TimeVarying"]

JITTER = 1e-6


@dataclass(frozen=True)
class TimeVarying(Layer):
    """A rating for each arm in each of several periods.

    Generative model: time is cut into periods of equal length. Today's (the last period's) scores
    are those of the base; looking back, ratings depart from them as a random walk, or smoothly::

        drift           ~ HalfNormal(prior)
        change_i(T)     = 0
        change_i(t)     = change_i(t + 1) + drift x Normal(0, 1)         (process="walk")
        change_i        = drift x (f_i - f_i(T)), f_i a Gaussian process (process="smooth")
        length          ~ LogNormal(log(T / 3), 0.5), in periods         (process="smooth")
        rating_i(t)     = score_i + change_i(t)
        eta             = eta of the base + change_first(t) - change_second(t)

    Changes are centred over the arms, as scores are. Under "walk" `drift` is the standard
    deviation of a rating's change from one period to the next; under "smooth" that of the
    process, whose correlation falls as ``exp(-(gap / length)^2 / 2)``. ``score``, P and all
    that follows are today's; ``rating`` holds all periods.

    Only the times count, not the order of the rows. Every vote needs a time.

    Use it for logs that span long enough for strengths to change: seasons, careers, versions.

    Parameters
    ----------
    base
        What is wrapped: a model or another layer. Put ``JudgeReliability`` outside, so
        that it scales the changes as well.
    process
        "walk": a random walk, which keeps wandering. "smooth": a Gaussian process with a
        squared exponential kernel, which turns slowly and stays within a range.
    periods
        How many; fewer where the log has fewer distinct times.
    prior
        Scale of the prior of `drift`, on the scale of the scores.
    edges
        Limits of the periods, in microseconds since 1970 or in the log's own numbers. Written
        down by a fit; by default they cut the log's span evenly.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; when built, if a vote has no time (missing, or
        not read as one), or all have the same.

    References
    ----------
    Glickman, "Parameter estimation in large dynamic paired comparison experiments", Applied
    Statistics 1999 (the random walk). Rasmussen & Williams, "Gaussian Processes for Machine
    Learning", 2006, chapter 4 (the kernel).
    """

    process: Literal["walk", "smooth"] = field(default="walk", kw_only=True)
    periods: int = field(default=20, kw_only=True)
    prior: float = field(default=0.5, kw_only=True)
    edges: tuple[float, ...] | None = field(default=None, kw_only=True)

    layer: ClassVar[str] = "time-varying"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("prior", self.prior)
        if not isinstance(self.process, str) or self.process not in ("walk", "smooth"):
            raise ValueError(
                f"process should be 'walk' or 'smooth', got {shown_value(self.process)}"
            )
        if isinstance(self.periods, bool) or not isinstance(self.periods, int):
            raise TypeError(f"periods should be a whole number, got {shown_value(self.periods)}")
        real(self.periods, "periods")
        if not 2 <= self.periods <= 200:
            raise ValueError(f"periods should be from 2 to 200, got {self.periods}")
        if self.edges is not None:
            edges = tuple(numbers(self.edges, "edges").ravel().tolist())
            if len(edges) < 3 or not (np.diff(edges) > 0).all():
                raise ValueError(f"edges should be at least three, increasing, got {self.edges}")
            object.__setattr__(self, "edges", edges)

    def settled(self, log: Any) -> Self:
        """Return the same with its periods' limits written down."""
        return replace(super().settled(log), edges=self._limits(log))

    def own_columns(self, log: Any) -> dict[str, np.ndarray]:
        """Return the period of each vote; times beyond the limits are in the nearest."""
        inner = np.array(self._limits(log)[1:-1])
        return {"period_of_cell": np.searchsorted(inner, _times(log), side="right")}

    def own_coords(self, log: Any) -> dict[str, Any]:
        """Return the middle of each period: a datetime64, or a number."""
        edges = np.array(self._limits(log))
        middle = (edges[1:] + edges[:-1]) / 2
        time: Any = log.votes and log.votes.time
        if np.issubdtype(time.dtype, np.datetime64):
            middle = middle.astype("int64").astype("datetime64[us]")
        return {"period": middle, "step": np.arange(len(middle) - 1)}

    @property
    def own_dims(self) -> dict[str, tuple[str, ...]]:
        """``rating`` is by period and arm."""
        return {"rating": ("period", "arm")}

    def add(
        self, given: Mapping[str, Any], parameters: Mapping[str, Any], log: Any
    ) -> dict[str, Any]:
        """Add ``drift``, ``length`` if smooth, and ``rating``."""
        import pymc as pm
        import pytensor.tensor as pt

        n = len(self._limits(log)) - 1
        drift = pm.HalfNormal("drift", self.prior * self.unit(given))
        if self.process == "walk":
            steps = pm.Normal("step_standard", 0.0, 1.0, dims=("step", "free"))
            walk = pt.cumsum(steps[::-1], axis=0)[::-1]
            free = pt.concatenate([walk, pt.zeros_like(walk[:1])], axis=0)
        else:
            length = pm.LogNormal("length", np.log(n / 3.0), 0.5)
            gap = np.subtract.outer(np.arange(n), np.arange(n))
            kernel = pt.exp(-((gap / length) ** 2) / 2.0) + JITTER * np.eye(n)
            standard = pm.Normal("process_standard", 0.0, 1.0, dims=("period", "free"))
            free = pt.linalg.cholesky(kernel) @ standard
            free = free - free[-1:]
        change = centre(drift * free)
        score = pm.modelcontext(None)["score"]
        rating = pm.Deterministic("rating", score[None, :] + change, dims=("period", "arm"))
        return {"rating": rating}

    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return the base's predictor, and how far ratings then were from today's."""
        eta = self.base.eta(parameters, cells)
        if "period_of_cell" not in cells:
            return eta
        rating, period = parameters["rating"], cells["period_of_cell"]
        then = rating[..., period, cells["first"]] - rating[..., period, cells["second"]]
        return eta + then - difference(parameters, cells)

    def _limits(self, log: Any) -> tuple[float, ...]:
        """Return the limits of the periods, which span the log's times evenly."""
        if self.edges is not None:
            return self.edges
        times = _times(log)
        distinct = len(np.unique(times))
        if distinct < 2:
            raise ValueError(
                f"duels should have at least two distinct times, got only {times[0]:g}"
            )
        n = min(self.periods, distinct)
        return tuple(float(e) for e in np.linspace(times.min(), times.max(), n + 1))


def _times(log: Any) -> np.ndarray:
    """Return each vote's time as a number, (votes,)."""
    votes = log.votes
    if votes is None or votes.time is None:
        raise ValueError("duels should have a time for each vote, got a log without times")
    time = votes.time
    if np.issubdtype(time.dtype, np.datetime64):
        missing = np.isnat(time)
        numbers = time.astype("datetime64[us]").astype("int64").astype(float)
    else:
        numbers = time.astype(float)
        missing = ~np.isfinite(numbers)
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise ValueError(
            f"time should be known for every vote, got {int(missing.sum()):,} of "
            f"{len(time):,} without one (missing or not read as a time), first at vote {row}: "
            "leave these duels out"
        )
    return numbers
