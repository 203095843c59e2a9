"""Test of transitivity: p-values under transitive null models, and power.

The p-value is the largest of three, one for each strongly transitive null model
(:mod:`bayesduel.criticism.transitivity.null_models`): the share of logs replicated from that
model, on the same design, that are at least as cyclic
(:mod:`bayesduel.criticism.transitivity.triads`).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesduel.criticism.transitivity.design import Design, design_of, majority_design
from bayesduel.criticism.transitivity.null_models import (
    NULL_MODELS,
    STRONG_MODELS,
    NullModel,
    NullModels,
)
from bayesduel.criticism.transitivity.triads import Triads, closed_triads, cyclicity, majority_z

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["LEVEL", "STRENGTHS", "Evidence", "transitivity_test"]

LEVEL = 0.05  # what p-values are held against
STRENGTHS = (0.6, 0.75, 0.9)  # win probability around a planted cycle
DRAWS, DRAWS_LARGE = 1000, 400  # logs of each null model, by the number of triads
SMALL = 20_000  # triads
POWER_LOGS = 100  # logs drawn for each strength
Planted = Literal["three arms", "throughout"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What `transitivity_test` found.

    Attributes
    ----------
    p_value
        The headline: the largest p-value of the strongly transitive models. NaN where no
        three arms have all met.
    p_weak
        The largest p-value of all null models, the weakly transitive ones included.
    p_by_model
        The p-value by null model.
    statistic, cyclic, decided
        Of the log: its cyclicity, its cyclic triads, and its triads without a level pair
        (the latter two scaled up where triads were sampled).
    replicated
        The same three of the replicated logs, by null model, shape (draws, 3).
    n_closed, n_all
        Triads whose pairs all met, and all triads. A triad that cannot close says nothing.
    sampled
        Share of the closed triads that was looked at.
    unit
        What counts as one observation: "duel", or "majority verdict of each pair and group"
        (or judge).
    naive
        The test that takes every vote as independent, where `unit` is not "duel".
    power
        Chance to reach a p-value of 0.05 had there been cycles: by kind ("three arms": one
        cycle, at a random triad; "throughout": every arm beats some that others cannot), by
        the win probability around them.
    null_models
        The null models fitted, None where there was nothing to fit.
    """

    p_value: float
    p_weak: float
    p_by_model: dict[NullModel, float]
    statistic: float
    cyclic: float
    decided: float
    replicated: dict[NullModel, np.ndarray]
    n_closed: int
    n_all: int
    sampled: float
    unit: str
    naive: "Evidence | None"
    power: dict[Planted, dict[float, float]]
    null_models: NullModels | None

    @property
    def transitive(self) -> bool:
        """False where the evidence contradicts transitivity at the 5 % level."""
        return not self.p_value <= LEVEL

    @property
    def strength(self) -> Literal["none", "weak", "strong"]:
        """How strong the evidence of cycles is.

        "weak": no strongly transitive model explains the cycles; "strong": nor do the weakly
        transitive ones. Where pairs met only once or twice these do not represent every
        possible order: see the calibration table in docs/transitivity.md.
        """
        if self.transitive:
            return "none"
        return "strong" if self.p_weak <= LEVEL else "weak"

    @property
    def likeliest(self) -> NullModel | None:
        """The strongly transitive model of the largest p-value."""
        if not self.p_by_model:
            return None
        return max(STRONG_MODELS, key=lambda model: self.p_by_model[model])

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
    duels: "Duels",
    draws: int | None = None,
    seed: int = 0,
    *,
    naive: bool = True,
    power: bool = True,
) -> Evidence:
    """Test whether a log has more cyclic triads than transitive models predict.

    The null hypothesis is strong stochastic transitivity: the arms have an order in which an arm
    of better rank does at least as well against every opponent, as in Bradley-Terry, Thurstone
    and steep hierarchies. The statistic was fixed beforehand: the log of one plus the sum over
    cyclic triads of ``exp(z^2 / 2)``, z the z score of the weakest of the three majorities.

    Parameters
    ----------
    duels
        The log. Ties are left out; where votes repeat a pair and group (or judge), one
        majority verdict of each is counted.
    draws
        Logs replicated from each null model; the smallest p-value is 1 / (draws + 1).
        Default: 1,000 for up to 20,000 triads, 400 for more.
    seed
        Seed of these draws.
    naive
        Whether to test every vote as independent, too, where votes repeat.
    power
        Whether to find the power the log had.

    Raises
    ------
    ValueError
        If `draws` is below 19, so that no p-value could reach 0.05.

    References
    ----------
    Gelman, Meng & Stern, "Posterior predictive assessment of model fitness", Statistica
    Sinica 1996 (the reference of each model, conservative); Berger & Boos, "P values
    maximized over a confidence set for the nuisance parameter", JASA 1994 (the largest over
    what the null leaves open; here over fitted models, so its level is measured, not proven:
    see benchmarks/transitivity.py).
    """
    from bayesduel.data.majority import repeated_role

    if draws is not None and (isinstance(draws, bool) or draws != int(draws) or draws < 19):
        raise ValueError(f"draws should be a whole number >= 19, got {draws}")
    streams = np.random.SeedSequence(seed).spawn(2)
    role = repeated_role(duels)
    plain = np.random.default_rng(streams[0])
    if role is None:
        return _test(design_of(duels), draws, "duel", None, power, plain)
    voted = None
    if naive:
        voted = _test(design_of(duels), draws, "duel", None, False, plain)
    unit = f"majority verdict of each pair and {role}"
    rng = np.random.default_rng(streams[1])
    return _test(majority_design(duels, role), draws, unit, voted, power, rng)


# -- in calling order ----------------------------------------------------------------------


def _test(
    design: Design,
    draws: int | None,
    unit: str,
    naive: Evidence | None,
    power: bool,
    rng: np.random.Generator,
) -> Evidence:
    triads = closed_triads(design.n_arms, design.first, design.second, rng)
    scale = 1 / triads.share
    if not triads.n_closed:
        nan = float("nan")
        return Evidence(
            p_value=nan, p_weak=nan, p_by_model={}, statistic=0.0, cyclic=0, decided=0,
            replicated={}, n_closed=0, n_all=triads.n_all, sampled=1.0, unit=unit, naive=naive,
            power=_no_power(), null_models=NullModels(design) if len(design.n) else None,
        )  # fmt: skip
    if draws is None:
        draws = DRAWS if len(triads.edges) <= SMALL else DRAWS_LARGE
    null_models = NullModels(design)
    observed = _measure(null_models, triads, design.won[None])[0]
    replicated = {
        model: np.concatenate(
            [_measure(null_models, triads, won) for won in null_models.replicate(model, draws, rng)]
        )
        for model in NULL_MODELS
    }
    p = {
        model: float((1 + (found[:, 0] >= observed[0] - 1e-9).sum()) / (draws + 1))
        for model, found in replicated.items()
    }
    return Evidence(
        p_value=max(p[model] for model in STRONG_MODELS),
        p_weak=max(p.values()),
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
        null_models=null_models,
    )


def _measure(null_models: NullModels, triads: Triads, won: np.ndarray) -> np.ndarray:
    """Return statistic, cyclic and decided triads of each log, shape (n, 3)."""
    return np.asarray(
        cyclicity(majority_z(null_models.design, won, null_models.first_wins), triads.edges),
        dtype=float,
    )


def _power(
    null_models: NullModels,
    triads: Triads,
    replicated: dict[NullModel, np.ndarray],
    rng: np.random.Generator,
) -> dict[Planted, dict[float, float]]:
    """Return the share of logs with planted cycles that the test rejects, null models as fitted."""
    draws = len(replicated[STRONG_MODELS[0]])
    allowed = int(np.floor(LEVEL * (draws + 1))) - 1  # logs at least as cyclic, at most
    critical = max(np.sort(replicated[m][:, 0])[draws - 1 - allowed] for m in STRONG_MODELS)
    design = null_models.design
    number = design.n.astype(np.int64)
    top = null_models.best.fits[0]
    drawn, lapse = np.repeat(top.mode[None], POWER_LOGS, 0), np.full(POWER_LOGS, top.lapse)
    base = null_models.chances(null_models.best, drawn, lapse)
    turns = rng.uniform(0, 2 * np.pi, (POWER_LOGS, design.n_arms))
    around = np.sin(turns[:, design.first] - turns[:, design.second])[:, design.pair]
    at = rng.integers(len(triads.edges), size=POWER_LOGS)
    turned = np.zeros((POWER_LOGS, len(design.first)))
    np.put_along_axis(turned, triads.edges[at], np.array([1.0, 1.0, -1.0]), axis=1)
    turned = turned[:, design.pair]
    found: dict[Planted, dict[float, float]] = _no_power()
    for strength in STRENGTHS:
        pull = np.log(strength / (1 - strength))
        odds = np.log(base / (1 - base))
        planted: dict[Planted, np.ndarray] = {
            "three arms": np.where(turned == 0, odds, pull * turned),
            "throughout": odds + pull * around,
        }
        for kind, logits in planted.items():
            won = rng.binomial(number, 1 / (1 + np.exp(-logits))).astype(float)
            reached = _measure(null_models, triads, won)[:, 0] > critical + 1e-9
            found[kind][strength] = float(reached.mean())
    return found


def _no_power() -> dict[Planted, dict[float, float]]:
    return {kind: dict.fromkeys(STRENGTHS, 0.0) for kind in ("three arms", "throughout")}
