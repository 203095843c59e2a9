"""TimeVarying: scores that change over time; those of a fit are of the last period."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from bayesduel.models.cells import Log, seats_of_both
from bayesduel.models.elementary import Quantity, Unit
from bayesduel.models.prior import Prior
from bayesduel.models.scale_prior import Scale
from bayesduel.models.scores import Scores
from bayesduel.models.settings import Dims, Named
from bayesduel.models.term import Term
from bayesduel.models.touch import Touch, contribution
from bayesduel.system.arguments import as_options, check_one_of, shown_value
from bayesduel.system.warnings import warn
from bayesduel.text import count, join

__all__ = ["TimeVarying"]


@dataclass(frozen=True)
class TimeVarying(Term):
    """A rating for each arm in each of several periods.

    Time is cut into periods of equal length. Today's (the last period's) scores are those of the
    model; looking back, ratings depart from them as a random walk, or smoothly::

        drift           ~ HalfNormal(prior)
        change_i(T)     = 0
        change_i(t)     = change_i(t + 1) + drift x Normal(0, 1)         (process="walk")
        change_i        = drift x (f_i - f_i(T)), f_i a Gaussian process (process="smooth")
        length          ~ LogNormal(log(T / 3), 0.5), in periods         (process="smooth")
        rating_i(t)     = score_i + change_i(t)
        eta             = eta of the other terms + change_first(t) - change_second(t)

    Changes are centred over the arms, as scores are. Under "walk" `drift` is the standard
    deviation of a rating's change from one period to the next; under "smooth" that of the
    process, whose correlation falls as ``exp(-(gap / length)^2 / 2)``. ``score``, P and all
    that follows are today's; ``rating`` holds all periods.

    A prediction of a duel after the last period lets the ratings go on: as the random walk, or as
    the process given its values in all periods. Each draw has a future of its own, so that
    intervals widen with time.

    Only the times count, not the order of the rows. Every vote needs a time.

    Use it for logs that span long enough for strengths to change: seasons, careers, versions.

    Parameters
    ----------
    process
        "walk": a random walk, which keeps wandering. "smooth": a Gaussian process with a
        squared exponential kernel, which turns slowly and stays within a range.
    periods
        How many, by default 20; fewer where the log has fewer distinct times.
    prior
        Scale of the prior of `drift`, on the scale of the scores.
    edges
        Limits of the periods, increasing, the first and the last one too: dates (a datetime, or
        text such as "2026-05-01"), or numbers where times of the log are numbers. A vote before the
        first or after the last limit counts to the nearest period, with a warning. Written down by
        a fit; by default they cut the log's span evenly.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; when built, if a vote has no time (missing, or
        not read as one), all have the same, or no vote lies within the limits.

    Warns
    -----
    BayesduelWarning
        If votes lie before the first or after the last limit.

    References
    ----------
    Glickman, "Parameter estimation in large dynamic paired comparison experiments", Applied
    Statistics 1999 (the random walk). Rasmussen & Williams, "Gaussian Processes for Machine
    Learning", 2006, chapter 4 (the kernel).

    Examples
    --------
    >>> model = bd.models.ThurstoneScore() + bd.models.TimeVarying(periods=3)
    >>> fit = bd.fit(bd.datasets.load("icehockey"), model)
    >>> fit.posterior.sizes["period"]
    3
    """

    process: Literal["walk", "smooth"] = "walk"
    periods: int = 20
    prior: float | Prior = 0.5
    edges: tuple[float, ...] | tuple[str, ...] | None = None

    name: ClassVar[str] = "time"
    takes_teams: ClassVar[bool] = True
    parameter: ClassVar[str] = "change"
    reads: ClassVar[tuple[str, ...]] = ("time",)
    dims: ClassVar[Dims] = {"rating": ("period", "arm"), "change": ("earlier", "arm")}
    ranges: ClassVar[dict[str, str]] = {"prior": "> 0 and finite"}

    def __post_init__(self) -> None:
        check_one_of(self.process, "process", ("walk", "smooth"))
        if not 2 <= self.periods <= 200:
            raise ValueError(f"periods should be from 2 to 200, got {self.periods}")
        if self.edges is not None:
            edges = _limits_of(self.edges)
            increases = np.diff(_as_numbers(edges)) > 0
            if len(edges) < 3 or not increases.all():
                raise ValueError(f"edges should be at least three, increasing, got {self.edges}")
            object.__setattr__(self, "edges", _written(edges))
        super().__post_init__()

    @classmethod
    def worded(cls, text: str) -> "TimeVarying":
        """Return the term that a word names after a colon.

        "time:12" for a number of periods, "time:smooth" for a process, and limits of periods with
        commas: "time:2024-08-01,2025-01-01,2025-07-01".
        """
        if "," in text:
            limits = text.split(",")
            with suppress(ValueError):
                return cls(edges=tuple(map(float, limits)))
            return cls(edges=tuple(limits))
        if text.isdecimal():
            return cls(periods=int(text))
        return cls(text)  # type: ignore[arg-type]

    def settled(self, log: Any) -> Self:
        edges = self._limits(log)
        if self.edges is not None:
            _check_limits(edges, log)
        return replace(self, edges=_written(edges))

    def columns(self, log: Log) -> dict[str, np.ndarray]:
        """Return the period of each vote; times beyond the limits are in the nearest."""
        edges = _as_numbers(self._limits(log))
        period = np.searchsorted(edges[1:-1], _times(log), side="right")
        return {"period_of_cell": period}

    def beyond(self, log: Log) -> dict[str, np.ndarray]:
        """Return how many periods after the last one each vote is, (votes,)."""
        edges = _as_numbers(self._limits(log))
        last = edges[-1]
        length = last - edges[-2]
        after = (_times(log) - last) / length
        ahead = np.maximum(after, 0.0)
        return {"periods_ahead": np.ceil(ahead)}

    def coords(self, log: Any) -> dict[str, Any]:
        """Return the middle of each period: a datetime64, or a number."""
        edges = _as_numbers(self._limits(log))
        middle = (edges[1:] + edges[:-1]) / 2
        if _is_dated(log):
            middle = _as_dates(middle)
        return {"period": middle, "earlier": middle[:-1]}

    def extent(self, seen: Named, coords: Named) -> dict[str, np.ndarray]:
        ends = _as_numbers(_limits_of(self.edges))[[0, -1]]
        if np.issubdtype(coords["period"].dtype, np.datetime64):
            ends = _as_dates(ends)
        return {"time": ends}

    def neutral(self, name: str, cells: Named | None = None) -> str:
        if self.edges is None:
            return "the end of the log"
        end = self.edges[-1]
        shown = end if isinstance(end, str) else f"{end:g}"
        return f"the end of the log, {shown}"

    @property
    def scales(self) -> dict[str, Scale]:
        drift = {"drift": Scale("half-normal", self.prior)}
        if self.process == "walk":
            return drift
        n = self.periods
        if self.edges is not None:
            n = len(self.edges) - 1
        length = Scale("log-normal", n / 3.0, 0.5, in_units=False)
        return drift | {"length": length}

    def design(self, cells: Named) -> tuple[Touch, ...]:
        if "period_of_cell" not in cells:
            return ()
        period = cells["period_of_cell"]
        last = len(self.edges or ()) - 2
        is_before = period < last
        before = is_before * 1.0
        at = period * is_before
        touches = []
        for arm, share in seats_of_both(cells):
            touches.append(Touch((at, arm), share * before))
        return tuple(touches)

    def deviation(self, scales: Named, cells: Named, unit: Unit) -> Any:
        return scales["drift"]

    def covariance(self, scales: Named, n: int) -> Any:
        """Return the covariance of changes between periods, in units of the drift."""
        before = np.arange(n, 0, -1)  # periods until the last one
        if self.process == "walk":
            return np.minimum.outer(before, before) * 1.0
        return self._between(before, scales["length"])

    def _between(self, before: np.ndarray, length: np.ndarray) -> Any:
        """Return the covariance of a smooth process less its value in the last period.

        before: periods until the last one, (n,).
        """
        curve = -0.5 / length**2
        gap = np.subtract.outer(before, before)
        apart = np.e ** (curve * gap**2)
        until = np.e ** (curve * before**2)
        jitter = 1e-6 * np.eye(len(before))
        return apart - until[:, None] - until[None, :] + 1.0 + jitter

    def coefficients(self, parameters: Named) -> Any:
        """Return how far ratings were from today's."""
        if "change" in parameters:
            return parameters["change"]
        rating = parameters["rating"]
        today = parameters["score"][..., None, :]
        return rating[..., :-1, :] - today

    def apply(self, eta: Quantity, parameters: Named, cells: Named) -> Any:
        """Return the predictor of cells, each draw with a future of its own after the last period.

        The future of an arm is the same normal number at all times, from a fixed seed.
        """
        found = super().apply(eta, parameters, cells)
        periods = cells.get("periods_ahead", 0.0)
        if not np.any(periods):
            return found
        shape = np.shape(parameters["score"])
        normal = np.random.default_rng(0).standard_normal(shape)
        sides = {}
        for name, values in cells.items():
            if name.split("_")[0] in ("first", "second"):
                sides[name] = values
        design = Scores().design(sides)
        for ahead in np.unique(periods):
            if ahead:
                mean, deviation = self._future(parameters, ahead)
                change = mean + deviation * normal
                move = contribution(change, design)
                found = found + move * (periods == ahead)
        return found

    def _future(self, parameters: Named, ahead: float) -> tuple[Any, Any]:
        """Return mean and deviation of the change of ratings some periods after the last one.

        Shapes (draws, K) and (draws, 1), given the changes until then.
        """
        drift = np.asarray(parameters["drift"])[:, None]
        if self.process == "walk":
            return 0.0, drift * ahead**0.5
        change = np.asarray(self.coefficients(parameters))
        n = change.shape[-2]
        until_last = np.arange(n, 0, -1)
        before = np.append(until_last, -ahead)  # periods until the last one
        n_draws = len(change)
        mean = np.empty((n_draws, change.shape[-1]))
        deviation = np.empty((n_draws, 1))
        for k, length in enumerate(np.asarray(parameters["length"])):
            whole = self._between(before, length)
            past = whole[:n, :n]
            with_past = whole[:n, n]
            share = np.linalg.solve(past, with_past)
            mean[k] = share @ change[k]
            variance = whole[n, n] - share @ with_past
            deviation[k] = max(variance, 0.0) ** 0.5
        return mean, drift * deviation

    def add(self, given: Named, unit: Unit, scales: Named, *, centred: bool) -> dict[str, Any]:
        import pymc as pm
        import pytensor.tensor as pt

        found = super().add(given, unit, scales, centred=centred)
        today = pm.modelcontext(None)["score"][None]
        past = today + found["change"]
        then = pt.concatenate([past, today], axis=0)
        pm.Deterministic("rating", then, dims=("period", "arm"))
        return found

    def complete(
        self, posterior: dict[str, np.ndarray], arms: tuple[str, ...]
    ) -> dict[str, np.ndarray]:
        found = super().complete(posterior, arms)
        change = found.pop("change", None)
        if change is not None and "rating" not in found:
            today = found["score"][..., None, :]
            past = today + change
            found["rating"] = np.concatenate([past, today], axis=-2)
        return found

    def _limits(self, log: Log) -> np.ndarray:
        """Return the limits of the periods, which span the log's times evenly: numbers or dates."""
        if self.edges is not None:
            edges = _limits_of(self.edges)
            if edges.dtype.kind == "M" and not _is_dated(log):
                raise ValueError(
                    f"edges should be numbers, as times of the log are, got {self.edges[0]!r}"
                )
            return edges
        times = _times(log)
        distinct = len(np.unique(times))
        if distinct < 2:
            raise ValueError(
                f"duels should have at least two distinct times, got only {times[0]:g}"
            )
        n = min(self.periods, distinct)
        edges = np.linspace(times.min(), times.max(), n + 1)
        if not _is_dated(log):
            return edges
        return _dates(edges, times)


def _limits_of(edges: Any) -> np.ndarray:
    """Return limits of periods as dates if they are some, or else as numbers, (periods + 1,).

    Raises TypeError if they are neither.
    """
    given = np.asarray(edges)
    if given.dtype.kind in "biuf":
        return given.astype(float).ravel()
    try:
        labels = [str(edge) for edge in given.ravel()]
        return np.array(labels, dtype="datetime64[us]")
    except ValueError:
        rule = "edges should be numbers or dates such as 2026-05-01"
        raise TypeError(f"{rule}, got {shown_value(edges)}") from None


def _as_numbers(edges: np.ndarray) -> np.ndarray:
    """Return limits as the times of votes are compared with them: dates in microseconds."""
    if edges.dtype.kind != "M":
        return edges
    return edges.astype("int64").astype(float)


def _as_dates(numbers: np.ndarray) -> np.ndarray:
    """Return numbers of microseconds as dates."""
    return numbers.astype("int64").astype("datetime64[us]")


def _written(edges: np.ndarray) -> tuple[float, ...] | tuple[str, ...]:
    """Return limits as settings hold them: numbers, or dates as texts without zeros behind."""
    if edges.dtype.kind != "M":
        return tuple(edges.tolist())
    return tuple(str(np.datetime_as_string(edge, unit="auto")) for edge in edges)


def _dates(edges: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return limits in microseconds as dates that part the times as these do.

    A limit between two times may be later, as long as it is not after the second: whole seconds if
    times are.
    """
    second = 1_000_000  # microseconds
    later = np.ceil(edges / second) * second
    whole_seconds = (times % second == 0).all()
    apart = np.diff(later) > 0
    if whole_seconds and apart.all():
        return _as_dates(later)
    return _as_dates(np.ceil(edges))


def _check_limits(edges: np.ndarray, log: Any) -> None:
    """Raise ValueError if no vote lies within the limits; warn of votes beyond them."""
    times = _times(log)
    limits = _as_numbers(edges)
    seen = np.array([times.min(), times.max()])
    if _is_dated(log):
        seen = _as_dates(seen)
    span = join(_written(seen), word="to")
    own = join(_written(edges))
    outside = (times < limits[0]) | (times > limits[-1])
    beyond = int(outside.sum())
    if beyond == len(times):
        raise ValueError(
            f"edges should part the votes, whose times are {span}, but no vote lies within {own}"
        )
    if beyond:
        warn(
            f"{count(beyond, 'vote')} of {len(times):,} lie before the first or after the last "
            f"limit of periods ({own}) and count to the nearest period: times of the log are {span}"
        )


def _is_dated(log: Any) -> bool:
    """Return whether the times of a log are dates."""
    kind = log.votes.time.dtype
    return bool(np.issubdtype(kind, np.datetime64))


def _times(log: Any) -> np.ndarray:
    """Return each vote's time as a number, (votes,)."""
    votes = log.votes
    if votes is None or votes.time is None:
        raise ValueError(
            "duels should have a time for each vote, got a log without times: read it with "
            f"{as_options(time=None)} and the name of the column"
        )
    time = votes.time
    if _is_dated(log):
        missing = np.isnat(time)
        numbers = time.astype("datetime64[us]").astype("int64").astype(float)
    else:
        numbers = time.astype(float)
        missing = ~np.isfinite(numbers)
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise ValueError(
            f"every vote should have a time, but {int(missing.sum()):,} of {len(time):,} have no "
            f"readable time, the first at vote {row}: leave these duels out"
        )
    return numbers
