"""Test of transitivity: p-values under transitive null models, and power.

The p-value of a null model (:mod:`bayesduel.criticism.transitivity.null_models`) is the share of
logs replicated from it, on the same design, that are at least as cyclic
(:mod:`bayesduel.criticism.transitivity.triads`). The p-value of the test is the largest of the
null models that fit, strongly and weakly transitive ones: a null model that predicts far more
cycles than the log has (at most 2.5 % of its logs are no more cyclic) has a large p-value for
the wrong reason. It does not acquit the log, nor does it count against it.

Where no number of logs is asked for, they are drawn in stages (200 or 400, then twice as many, and
so on) until the p-values are on one side of 0.05 beyond Monte Carlo error, or until the stated
maximum.

References
----------
Gandy, "Sequential implementation of Monte Carlo tests with uniformly bounded resampling risk", JASA
2009. Deviation: looks after each doubling, with an exact binomial interval at each.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import betainccinv, betaincinv

from bayesduel.criticism.transitivity.conditions import conditional_p_value
from bayesduel.criticism.transitivity.design import (
    DecidedDuels,
    OrderStatus,
    design_of,
    majority_design,
)
from bayesduel.criticism.transitivity.null_models import (
    NULL_MODELS,
    STRONG_MODELS,
    NullModel,
    NullModels,
    too_cyclic,
)
from bayesduel.criticism.transitivity.triads import Triads, closed_triads, measured
from bayesduel.data.duels import Duels
from bayesduel.data.majority import repeated_role
from bayesduel.system.arguments import whole
from bayesduel.system.threads import one_thread_if_small

__all__ = [
    "LEVEL",
    "MIDDLE",
    "STRENGTHS",
    "CycleEvidence",
    "Strength",
    "evidence_strength",
    "transitivity_test",
]

LEVEL = 0.05  # what p-values are held against
STRENGTHS = (0.6, 0.75, 0.9)  # win probability around a planted cycle
SMALL = 20_000  # triads, up to which the first of each pair of numbers holds
FIRST_DRAWS = (400, 200)  # logs of each null model in the first stage
MANY_PAIRS = 10_000  # pairs that met, from which fewer do for a start
FIRST_OF_MANY = 50
MOST_DRAWS = (6400, 3200)  # and in all, where p-values stay close to `LEVEL`
LEAST_DRAWS = 19  # logs of each null model from which a p-value can reach `LEVEL`
LOOK_ERROR = 0.001  # of the interval of a p-value at one look, two-sided
CROSSED = 0.5  # share of pairs that met in both orders, from which an order effect is plain
MIDDLE = 0.75  # win probability of the planted cycles by whose power a log can tell
POWERLESS = 0.5  # chance to find these cycles below which a log cannot tell
POWER_LOGS = 100  # logs drawn for each strength
Planted = Literal["three arms", "throughout"]
Strength = Literal[
    "none", "weak", "strong", "undecided", "borderline", "conditions", "no fit", "no power"
]


@dataclass(frozen=True, eq=False, kw_only=True)
class CycleEvidence:
    """What `transitivity_test` found."""

    # the p-value of the test: the largest of the null models that fit, of all where none does. NaN
    # where no three arms have all met.
    p_value: float
    p_strong: float  # the same of the strongly transitive null models
    p_by_model: dict[NullModel, float]  # the p-value by null model
    # of the log: its cyclicity, its cyclic triads, and its triads without a level pair (the latter
    # two scaled up where triads were sampled)
    statistic: float
    cyclic: float
    decided: float
    # the same three of the replicated logs, by null model, shape (draws, 3)
    replicated: dict[NullModel, np.ndarray]
    # triads whose pairs all met, and all triads. A triad that cannot close says nothing.
    n_closed: int
    n_all: int
    sampled: float  # share of the closed triads that was looked at
    # what counts as one observation: "duel", or "majority verdict of each pair and group" (or
    # judge)
    unit: str
    # the test that takes every vote as independent, where `unit` is not "duel"
    naive: "CycleEvidence | None"
    # chance to reject transitivity had there been cycles: by kind ("three arms": one cycle, at a
    # random triad; "throughout": every arm beats some that others cannot), by the win probability
    # around them
    power: dict[Planted, dict[float, float]]
    # whether an effect of the order was "estimated" together with the scores, was "not identified"
    # by the design, or sides were "not recorded"
    order: OrderStatus
    # the strength of the evidence without an order effect, where one was estimated although fewer
    # than half of the pairs met in both orders; else None
    without_order: "Strength | None"
    null_models: NullModels | None  # the null models fitted, None where there was nothing to fit
    # false where, after the most logs that are replicated, the p-values are still too close to 0.05
    # for their Monte Carlo error. True where a number of logs was asked for.
    settled: bool = True
    # the log's cyclic and decided triads by counting alone, not adjusted for an order effect
    unadjusted: tuple[float, float] = (0.0, 0.0)
    # conditions that the votes name (time, category, covariates, ...), where transitive models
    # without them do not explain the log, and the p-value under a ranking that changes with them;
    # NaN where that was not tested
    conditions: tuple[str, ...] = ()
    p_conditions: float = float("nan")

    @property
    def transitive(self) -> bool | None:
        """Whether the log is consistent with a transitive ranking.

        False where the evidence of cycles is strong; None where the log cannot tell: no three
        arms have all met, or an order effect that the design does not identify may be the
        cause of the cycles, or the p-value is within Monte Carlo error of 0.05, or no null model
        fits, or cycles would hardly have been found.
        """
        unknown = ("undecided", "borderline", "no fit", "no power")
        if self.strength in unknown or self.p_value != self.p_value:
            return None
        return self.strength != "strong"

    @property
    def strength(self) -> Strength:
        """How strong the evidence of cycles is.

        "weak": no strongly transitive model explains the cycles, but a ranking with uneven
        margins (weak transitivity) may; "strong": nor do the weakly transitive models;
        "undecided": the same, but an order effect may be the cause; "conditions": the same, but a
        ranking that changes with the conditions under which pairs met explains them; "borderline":
        the p-value is within Monte Carlo error of 0.05 after the most logs that are replicated;
        "no fit": each null model predicts too few cycles or far too many; "no power": none was
        found, and even frequent cycles won at 75 % would hardly have been. The null
        models do not represent every possible order: see the error rates in
        docs/understand/transitivity.md.
        """
        if not self.n_closed:
            return "none"
        if not self.settled and _near(self._fitting, self.n_replicated):
            return "borderline"
        if self.p_value <= LEVEL:
            if self.p_conditions > LEVEL:
                return "conditions"
            if self.order == "not identified":
                return "undecided"
            return "strong" if max(self.p_by_model.values()) <= LEVEL else "no fit"
        if self.p_strong <= LEVEL:
            return "weak"
        return "no power" if self.best_power < POWERLESS else "none"

    @property
    def best_power(self) -> float:
        """The largest chance to have found planted cycles won at 75 %; 1 where it was not asked."""
        return max((row[MIDDLE] for row in self.power.values()), default=1.0)

    @property
    def too_cyclic(self) -> tuple[NullModel, ...]:
        """The null models that do not fit: they predict far more cycles than the log has."""
        return _misfits(self.statistic, self.replicated)

    @property
    def _fitting(self) -> list[float]:
        """The p-values of the null models that fit."""
        return _p_of_fitting(self.p_by_model, self.too_cyclic)

    @property
    def likeliest(self) -> NullModel | None:
        """The null model that the p-value is of; of equal ones, whose logs are most cyclic."""
        if not self.p_by_model:
            return None
        fitting = [model for model in self.p_by_model if model not in self.too_cyclic]
        return max(
            fitting or list(self.p_by_model),
            key=lambda model: (self.p_by_model[model], self.replicated[model][:, 0].mean()),
        )

    @property
    def met_once(self) -> float:
        """Share of the pairs with decided duels that have a single one."""
        if self.null_models is None:
            return 0.0
        design = self.null_models.design
        return float((design.by_pair(design.n) == 1).mean())

    @property
    def n_replicated(self) -> int:
        """Number of replicated logs of each null model; 0 where no triad could close."""
        return len(next(iter(self.replicated.values()), ()))

    @property
    def expected(self) -> float:
        """Mean number of cyclic triads in logs of the model of the largest p-value."""
        model = self.likeliest
        return 0.0 if model is None else float(self.replicated[model][:, 1].mean())


def transitivity_test(
    duels: Duels,
    draws: int | None = None,
    seed: int = 0,
    *,
    naive: bool = True,
    power: bool = True,
    quick: bool = False,
) -> CycleEvidence:
    """Test whether a log has more cyclic triads than transitive models predict.

    The null hypothesis is that the arms have an order in which an arm of better rank wins more
    often than not, by null models of strong transitivity (an arm of better rank does at least as
    well against every opponent, as in Bradley-Terry, Thurstone and steep hierarchies) and of weak
    transitivity. They contain an effect of the order of presentation wherever the design
    identifies it. The statistic was fixed beforehand: the log of one plus the sum over cyclic
    triads of ``exp(z^2 / 2)``, z the z score of the weakest of the three majorities.

    duels: the log. Ties are left out; where votes repeat a pair and group (or judge), one majority
        verdict of each is counted.
    draws: logs replicated from each null model; the smallest p-value is 1 / (draws + 1). Default:
        in stages, 400 at first for up to 20,000 triads, 200 for more and 50 where over 10,000 pairs
        met, until the p-values are decided or there are 6,400 (3,200).
    seed: seed of these draws.
    naive: whether to test every vote as independent, too, where votes repeat.
    power: whether to find the power the log had.
    quick: whether to stop as soon as a strongly transitive model surely explains the log.
    Raises ValueError if `draws` is below 19, so that no p-value could reach 0.05.

    References
    ----------
    Gelman, Meng & Stern, "Posterior predictive assessment of model fitness", Statistica
    Sinica 1996 (the reference of each model, conservative); Berger & Boos, "P values
    maximized over a confidence set for the nuisance parameter", JASA 1994 (the largest over
    what the null leaves open; here over fitted models, so its level is measured, not proven:
    see benchmarks/transitivity.py).
    """
    draws = None if draws is None else whole(draws, "draws", LEAST_DRAWS)
    streams = np.random.SeedSequence(seed).spawn(2)
    role = repeated_role(duels)
    rng = np.random.default_rng(streams[0])
    design, unit, voted = design_of(duels), "duel", None
    with one_thread_if_small(len(duels.arms)):
        if role is not None:
            if naive:
                voted = _test(design, draws, unit, rng)
            design = majority_design(duels, role)
            unit = f"majority verdict of each pair and {role}"
            rng = np.random.default_rng(streams[1])
        found = _test(design, draws, unit, rng, naive=voted, power=power, quick=quick)
        if found.p_value <= LEVEL and found.null_models is not None:
            asked = np.random.default_rng(seed)
            triads = closed_triads(design.n_arms, design.first, design.second, asked)
            first_wins = found.null_models.first_wins
            names, p = conditional_p_value(duels, design, role, triads, first_wins, seed)
            found = replace(found, conditions=names, p_conditions=p)
        few_crossed = design.order == "estimated" and design.both_ways < CROSSED
        if few_crossed and found.n_closed and not quick:
            without = evidence_strength(replace(duels, ordered=False), draws, seed)
            found = replace(found, without_order=without)
    return found


def evidence_strength(duels: Duels, draws: int | None = None, seed: int = 0) -> Strength:
    """Return the strength of the evidence that `transitivity_test` finds, without its numbers.

    The answer is the same for the same arguments. No more logs are replicated than it needs, so
    it takes a fraction of the time where a transitive model explains the log; error rates are
    measured with it.
    """
    quick = transitivity_test(duels, draws, seed, naive=False, power=False, quick=True)
    return quick.strength


def _test(
    design: DecidedDuels,
    draws: int | None,
    unit: str,
    rng: np.random.Generator,
    *,
    naive: CycleEvidence | None = None,
    power: bool = False,
    quick: bool = False,
) -> CycleEvidence:
    """Return the evidence of one design; where `draws` is None, in stages."""
    triads = closed_triads(design.n_arms, design.first, design.second, rng)
    scale = 1 / triads.share
    if not triads.n_closed:
        nan = float("nan")
        return CycleEvidence(
            p_value=nan, p_strong=nan, p_by_model={}, statistic=0.0, cyclic=0, decided=0,
            replicated={}, n_closed=0, n_all=triads.n_all, sampled=1.0, unit=unit, naive=naive,
            power=_no_power(), order=design.order, without_order=None,
            null_models=NullModels(design) if len(design.n) else None,
        )  # fmt: skip
    null_models = NullModels(design)
    first_wins, won = null_models.first_wins, design.by_pair(design.won)
    observed = measured(design, triads, won[None], first_wins)[0]
    counted = measured(design, triads, won[None], 0.5)[0]
    large = len(triads.edges) > SMALL
    many = large and len(design.first) > MANY_PAIRS
    first, most = FIRST_OF_MANY if many else FIRST_DRAWS[large], MOST_DRAWS[large]
    if draws:
        first = most = draws
    own = dict(zip(NULL_MODELS, rng.spawn(len(NULL_MODELS)), strict=True))
    replicated: dict[NullModel, np.ndarray] = {model: np.empty((0, 3)) for model in NULL_MODELS}
    n, p, settled = 0, dict.fromkeys(NULL_MODELS, 1.0), False
    while not settled and n < most:
        stage = first if n == 0 else min(n, most - n)
        n += stage
        for model in NULL_MODELS:
            logs = null_models.replicate(model, stage, own[model])
            parts = [measured(design, triads, won, first_wins) for won in logs]
            replicated[model] = np.concatenate([replicated[model], *parts])
            as_cyclic = (replicated[model][:, 0] >= observed[0] - 1e-9).sum()
            p[model] = float((1 + as_cyclic) / (n + 1))
            strong = quick and model in STRONG_MODELS and p[model] > LEVEL
            fits = strong and not too_cyclic(observed[0], replicated[model][:, 0])
            if fits and not _near([p[model]], n):
                settled = True
                break
        else:
            wrong = _misfits(observed[0], replicated)
            fitting = _p_of_fitting(p, wrong)
            of_strong = _p_of_fitting({m: p[m] for m in STRONG_MODELS}, wrong)
            settled = not (_near(fitting, n) or _near(of_strong, n))
    wrong = _misfits(observed[0], replicated)
    return CycleEvidence(
        p_value=max(_p_of_fitting(p, wrong)),
        p_strong=max(_p_of_fitting({m: p[m] for m in STRONG_MODELS}, wrong)),
        p_by_model=p,
        statistic=float(observed[0]),
        cyclic=float(observed[1] * scale),
        decided=float(observed[2] * scale),
        replicated={w: found * np.array([1, scale, scale]) for w, found in replicated.items()},
        n_closed=triads.n_closed,
        n_all=triads.n_all,
        sampled=triads.share,
        unit=unit,
        naive=naive,
        power=_power(null_models, triads, replicated, rng) if power else {},
        order=design.order,
        without_order=None,
        null_models=null_models,
        settled=settled or draws is not None,
        unadjusted=(float(counted[1] * scale), float(counted[2] * scale)),
    )


def _misfits(observed: float, replicated: Mapping[NullModel, np.ndarray]) -> tuple[NullModel, ...]:
    """Return the null models that predict far more cycles than were observed."""
    return tuple(m for m, logs in replicated.items() if too_cyclic(observed, logs[:, 0]))


def _p_of_fitting(p: Mapping[NullModel, float], wrong: Collection[NullModel]) -> list[float]:
    """Return the p-values of the null models that are not `wrong`, those of all where all are."""
    return [value for model, value in p.items() if model not in wrong] or list(p.values())


def _near(p: Sequence[float], n: int) -> bool:
    """Return whether the largest of p-values is too close to `LEVEL` to be on one side of it.

    It is above where the interval of one of them is, and below where those of all are. The
    intervals are exact binomial ones (Clopper & Pearson), at `LOOK_ERROR`.
    """
    count = np.round(np.asarray(p) * (n + 1)) - 1
    low = betaincinv(np.maximum(count, 1), n - count + 1, LOOK_ERROR / 2)
    high = betainccinv(count + 1, np.maximum(n - count, 1), LOOK_ERROR / 2)
    above = (np.where(count > 0, low, 0.0) > LEVEL).any()
    below = (np.where(count < n, high, 1.0) <= LEVEL).all()
    return not (above or below)


def _power(
    null_models: NullModels,
    triads: Triads,
    replicated: dict[NullModel, np.ndarray],
    rng: np.random.Generator,
) -> dict[Planted, dict[float, float]]:
    """Return the share of logs with planted cycles that the test rejects, null models as fitted."""
    draws = len(next(iter(replicated.values())))
    place = draws - int(np.floor(LEVEL * (draws + 1) + 1e-9))  # so many are as cyclic at `LEVEL`
    critical = max(np.sort(found[:, 0])[place] for found in replicated.values())
    design = null_models.design
    top = null_models.best.fits[0]
    many = len(design.first) > MANY_PAIRS
    logs = POWER_LOGS // 2 if many else POWER_LOGS
    base = null_models.chances(null_models.best, top.mode[None], np.array([top.lapse]))[0]
    turns = rng.uniform(0, 2 * np.pi, (logs, design.n_arms))
    around = np.sin(turns.take(design.first, axis=1) - turns.take(design.second, axis=1))
    at = rng.integers(len(triads.edges), size=logs)
    turned = np.zeros((logs, len(design.first)))
    np.put_along_axis(turned, triads.edges[at], np.array([1.0, 1.0, -1.0]), axis=1)
    power: dict[Planted, dict[float, float]] = _no_power()
    against, each, pull = (1 - base) / base, np.arange(logs), 0.0

    def without(worlds: np.ndarray) -> np.ndarray:
        return np.tile(base, (len(worlds), 1))

    def at_a_triad(worlds: np.ndarray) -> np.ndarray:
        at_cells = turned[worlds].take(design.pair, axis=1)
        return np.where(at_cells == 0, base, 1 / (1 + np.exp(-pull * at_cells)))

    def throughout(worlds: np.ndarray) -> np.ndarray:
        found = against * np.exp(-pull * around[worlds]).take(design.pair, axis=1)
        found += 1
        return np.divide(1, found, out=found)

    others = null_models.drawn(without, each, rng) if many else None  # without a planted cycle
    log, cell = np.nonzero(turned.take(design.pair, axis=1))
    planted = log, design.pair[cell]
    for strength in STRENGTHS:
        pull = np.log(strength / (1 - strength))
        for kind in power:
            if kind == "throughout":
                won = null_models.drawn(throughout, each, rng)
            elif others is None:
                won = null_models.drawn(at_a_triad, each, rng)
            else:
                won = others.copy()
                chance = 1 / (1 + np.exp(-pull * turned[planted]))
                won[planted] = 0.0
                np.add.at(won, planted, rng.binomial(design.n[cell].astype(np.int64), chance))
            statistic = measured(design, triads, won, null_models.first_wins)[:, 0]
            reached = statistic > critical + 1e-9
            power[kind][strength] = float(reached.mean())
    return power


def _no_power() -> dict[Planted, dict[float, float]]:
    return {kind: dict.fromkeys(STRENGTHS, 0.0) for kind in ("three arms", "throughout")}
