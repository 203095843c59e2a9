"""Problems of pairs whose preferences change: constant in segments, one preference matrix each.

A changepoint is the first duel of a segment after the first one. Preferences that change with each
duel have as many segments as duels.

References
----------
Kolpaczki, Hüllermeier & Bengs, "Piecewise-Stationary Dueling Bandits", TMLR 2024 (the setting).
Saha, Koren & Mansour, "Adversarial Dueling Bandits", ICML 2021: any sequence of matrices that is
fixed before the first duel. Their adversaries of the proofs and experiments could not be read.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import expit

from bayesduel.preference import check_preference
from bayesduel.problems.convert import as_problem
from bayesduel.problems.problem import ArmsProblem, Problem, checked_labels
from bayesduel.system.arguments import check_range, listed, shown_value, whole
from bayesduel.system.settings import Settings

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["FromPeriods", "PiecewiseStationary", "RandomChanges", "ScoreWalk"]


@dataclass(frozen=True, eq=False)
class PiecewiseStationary(ArmsProblem):
    """Duels drawn from a preference matrix that changes at known times.

    Parameters
    ----------
    P
        What each segment is played on, in turn: matrices, shape (K, K), names of problems, problems
        of pairs (with ties, too) or logs, of the same arms; or a function, ``P(t)``, of which each
        segment has the value at its first duel. Kept as an array, shape (S, K, K).
    changes
        Changepoints: the duel, counted from 1, with which each segment after the first begins,
        increasing, length S - 1.
    arms
        K labels. Default: those of the segments.

    Examples
    --------
    >>> problem = bd.problems.PiecewiseStationary(["mslr-5", "mslr-5-c3"], [501])
    >>> trace = bd.simulate(bd.policies.Uniform(), problem, horizon=1000, seed=0)
    >>> trace["problem"]["P"].dims
    ('segment', 'arm', 'opponent')

    A preference that falls with every tenth duel:

    >>> def falling(t):
    ...     first = 0.9 - 0.8 * t / 1000
    ...     return [[0.5, first], [1 - first, 0.5]]
    >>> problem = bd.problems.PiecewiseStationary(falling, range(11, 1001, 10))
    >>> problem.P[[0, 50, 99], 0, 1].round(2)
    array([0.9 , 0.5 , 0.11])
    """

    P: Any
    changes: Any
    name: str = "piecewise stationary"
    arms: tuple[str, ...] = ()
    source: str = ""
    setting: ClassVar[str] = "pairs"
    ties: np.ndarray | None = field(default=None, init=False)  # of each segment, shape (S, K, K)

    def __post_init__(self) -> None:
        changes = tuple(whole(one, "changes", 2) for one in listed(self.changes, "changes"))
        given = self.P
        if callable(given):
            given = [given(start) for start in (1, *changes)]
        parts = [as_problem(one) for one in listed(given, "P")]
        if len(parts) < 2:
            raise ValueError(f"P should have at least two preference matrices, got {len(parts)}")
        for one in parts:
            if one.setting != "pairs" or one.is_family or one.n_segments > 1:
                raise ValueError(f"each problem in P should have one matrix, got {one!r}")
        own = [one.arms for one in parts]
        n_arms = {one.n_arms for one in parts}
        alike = len(n_arms) == 1 if self.arms else len(set(own)) == 1
        if not alike:
            raise ValueError(f"the matrices of P should have the same arms, got {own}")
        P = check_preference(np.stack([one.P for one in parts]))
        increasing = list(changes) == sorted(set(changes))
        if len(changes) != len(P) - 1 or not increasing:
            raise ValueError(
                f"changes should be {len(P) - 1} increasing numbers, the first duel of each "
                f"segment after the first segment, got {shown_value(self.changes)}"
            )
        P.setflags(write=False)
        ties = None
        if any(one.may_tie for one in parts):
            ties = np.stack([one.ties if one.may_tie else np.zeros_like(one.P) for one in parts])
        arms = checked_labels(self.arms or own[0], P.shape[-1])
        object.__setattr__(self, "P", P)
        object.__setattr__(self, "ties", ties)
        object.__setattr__(self, "changes", changes)
        object.__setattr__(self, "arms", arms)

    @property
    def may_tie(self) -> bool:
        return self.ties is not None

    @property
    def n_segments(self) -> int:  # type: ignore[override]
        return len(self.P)

    @property
    def starts(self) -> tuple[int, ...]:  # type: ignore[override]
        """The first duel of each segment, from 1, length S."""
        return (1, *self.changes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.n_arms} arms, changes={self.changes})"


class FromPeriods(PiecewiseStationary):
    """The preference matrices of the periods of a fit over time, of one posterior draw.

    Parameters
    ----------
    fit
        What :func:`bayesduel.fit` returned for a model with :class:`bayesduel.models.TimeVarying`.
    each
        How many duels a period lasts.
    draw
        Which draw, from 0, chains one after another.

    Raises
    ------
    ValueError
        If the fit knows no periods, or a number is out of its range.

    Examples
    --------
    >>> model = bd.models.ThurstoneScore() + bd.models.TimeVarying(periods=3)
    >>> fit = bd.fit(bd.datasets.load("icehockey"), model)
    >>> bd.problems.FromPeriods(fit, each=1_000).changes
    (1001, 2001)
    """

    def __init__(self, fit: "xr.DataTree", each: int, draw: int = 0) -> None:
        from bayesduel.posterior.draws import draws_of

        draws, arms, _ = draws_of(fit)
        if "rating" not in fit["posterior"]:
            model = shown_value(fit.attrs.get("model"))
            raise ValueError(f"fit should be of a model with TimeVarying, got {model}")
        each = whole(each, "each", 1)
        draw = whole(draw, "draw", 0, most=draws.n_draws - 1)
        row = draws.rows([draw])
        ratings = fit["posterior"]["rating"].stack(sample=("chain", "draw"))
        scores = ratings.isel(sample=draw).transpose("period", "arm").to_numpy()
        P = []
        for score in scores:
            of_period = row | {"score": score[None]}
            P.append(draws.model.preference(of_period)[0])
        log = fit.attrs["source"]
        source = f"draw {draw} of {fit.attrs['model']} on {log}"
        changes = 1 + each * np.arange(1, len(P))
        super().__init__(P, changes, f"periods of {log}", arms, source)


class ChangingFamily(Settings, Problem):
    """Defaults of a family of piecewise-stationary problems."""

    n_changes: int
    horizon: int | None
    setting: ClassVar[str] = "pairs"
    is_family: ClassVar[bool] = True
    ranges: ClassVar = {"n_changes": "at least 1"}

    @property
    def n_segments(self) -> int:  # type: ignore[override]
        return self.n_changes + 1

    def for_horizon(self, horizon: int) -> Self:
        return self if self.horizon is not None else replace(self, horizon=horizon)  # type: ignore[type-var]

    def known_horizon(self) -> int:
        """Return the horizon; raise ValueError if it is not known or below the segments."""
        if self.horizon is None:
            raise ValueError("horizon should be given outside a simulation, got None")
        check_range(self.horizon, "horizon", f"at least n_segments = {self.n_segments}")
        return self.horizon


@dataclass(frozen=True, kw_only=True)
class RandomChanges(ChangingFamily):
    """A family of problems that change at random times, to matrices drawn independently.

    With ``generator=fixed_gap`` and many changes it is an adversary against all but the Borda
    winner.

    Parameters
    ----------
    family
        What the matrix of each segment is drawn from, such as a ``RandomProblem``.
    n_changes
        How many changes there are in a run, at times that are uniform among the duels.
    horizon
        Number of duels among which they are. Default: the simulation's.

    Examples
    --------
    >>> family = bd.problems.RandomProblem(n_arms=4, generator=bd.problems.bradley_terry)
    >>> problem = bd.problems.RandomChanges(family=family, n_changes=2, horizon=1_000)
    >>> problem.draw(np.random.default_rng(0)).changes
    (638, 850)
    """

    family: Any
    n_changes: int = 4
    horizon: int | None = None
    name: str = "random changes"

    def __post_init__(self) -> None:
        super().__post_init__()
        one = self.family
        sound = isinstance(one, Problem) and one.setting == "pairs" and one.n_segments == 1
        if not sound:
            raise TypeError(
                "family should draw problems of one preference matrix, such as "
                f"RandomProblem(n_arms=5, generator=uniform), got {shown_value(one)}"
            )

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return int(self.family.n_arms)

    @property
    def arms(self) -> tuple[str, ...]:
        return tuple(self.family.arms)

    @property
    def may_tie(self) -> bool:
        """Whether duels may end in a tie."""
        return bool(self.family.may_tie)

    @property
    def source(self) -> str:
        """Description of how it is drawn."""
        return f"{self.n_changes} changes of {self.family.source}; drawn for every run"

    def draw(self, rng: np.random.Generator) -> Any:
        later_duels = self.known_horizon() - 1
        changes = 2 + rng.choice(later_duels, self.n_changes, replace=False)
        P = [self.family.draw(rng) for _ in range(self.n_segments)]
        return PiecewiseStationary(P, np.sort(changes), self.name, self.arms, self.source)


@dataclass(frozen=True, kw_only=True)
class ScoreWalk(ChangingFamily):
    """A family of Bradley-Terry problems whose scores drift: independent normal random walks.

    Parameters
    ----------
    n_arms
        How many arms, at least 2.
    n_changes
        How many steps the walk takes in a run, at equal distances.
    step
        Standard deviation of a score's step.
    sd
        Standard deviation of the scores before the first step.
    horizon
        Number of duels that the steps divide. Default: the simulation's.

    Examples
    --------
    >>> problem = bd.problems.ScoreWalk(n_arms=4, n_changes=9)
    >>> trace = bd.simulate(bd.policies.Uniform(), problem, 100)
    >>> trace["problem"].sizes["segment"]
    10
    """

    n_arms: int = 10
    n_changes: int = 100
    step: float = 0.1
    sd: float = 1.0
    horizon: int | None = None
    name: str = "score walk"
    ranges: ClassVar = {
        "n_arms": "at least 2",
        "step": "positive and finite",
        "sd": "positive and finite",
    }

    @property
    def source(self) -> str:
        """Description of how it is drawn."""
        return f"{self.n_changes} steps N(0, {self.step:g}^2) of scores; drawn for every run"

    def draw(self, rng: np.random.Generator) -> Any:
        size = np.full((self.n_segments, 1), self.step)
        size[0] = self.sd
        n_segments = self.n_segments
        steps = size * rng.standard_normal((n_segments, self.n_arms))
        scores = np.cumsum(steps, axis=0)
        changes = 1 + self.known_horizon() * np.arange(1, n_segments) // n_segments
        P = expit(scores[:, :, None] - scores[:, None, :])
        return PiecewiseStationary(P, changes, self.name, (), self.source)
