"""Is a log more cyclic than any transitive world makes? A test, and its power.

The p-value is the largest of three, one for each strongly transitive world that could have
made the log (:mod:`bayesduel.criticism.transitivity.null_models`): the share of logs drawn from
that world, on the same design, that are at least as cyclic
(:mod:`bayesduel.criticism.transitivity.triads`).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesduel.criticism.transitivity.design import Meetings, meetings, unit_verdicts
from bayesduel.criticism.transitivity.null_models import STRONG_WORLDS, WORLDS, World, Worlds
from bayesduel.criticism.transitivity.triads import Triads, closed_triads, cyclicity, sureties

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["LEVEL", "STRENGTHS", "Evidence", "transitivity_test"]

LEVEL = 0.05  # what p-values are held against
STRENGTHS = (0.6, 0.75, 0.9)  # win probability around a planted cycle
DRAWS, DRAWS_LARGE = 1000, 400  # logs of each world, by the number of triads
SMALL = 20_000  # triads
POWER_LOGS = 100  # logs drawn for each strength
Planted = Literal["three arms", "throughout"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What `transitivity_test` found.

    Attributes
    ----------
    p_value
        The headline: the largest p-value of the strongly transitive worlds. NaN where no
        three arms have all met.
    p_weak
        The largest p-value of all worlds, the weakly transitive ones among them.
    p_by_world
        The p-value by world.
    statistic, cyclic, decided
        Of the log: its cyclicity, its cyclic triads, and its triads without a level pair
        (the latter two scaled up where triads were sampled).
    replicated
        The same three of the logs drawn, by world, shape (draws, 3).
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
    worlds
        The transitive worlds fitted, None where there was nothing to fit.
    """

    p_value: float
    p_weak: float
    p_by_world: dict[World, float]
    statistic: float
    cyclic: float
    decided: float
    replicated: dict[World, np.ndarray]
    n_closed: int
    n_all: int
    sampled: float
    unit: str
    naive: "Evidence | None"
    power: dict[Planted, dict[float, float]]
    worlds: Worlds | None

    @property
    def transitive(self) -> bool:
        """False where the evidence contradicts transitivity at the 5 % level."""
        return not self.p_value <= LEVEL

    @property
    def strength(self) -> Literal["none", "weak", "strong"]:
        """How strong the evidence of cycles is.

        "weak": no strongly transitive world explains them; "strong": nor do the weakly
        transitive ones. Where pairs met but once or twice these cannot stand for every order
        there might be: see the calibration table in docs/transitivity.md.
        """
        if self.transitive:
            return "none"
        return "strong" if self.p_weak <= LEVEL else "weak"

    @property
    def likeliest(self) -> World | None:
        """The strongly transitive world of the largest p-value."""
        if not self.p_by_world:
            return None
        return max(STRONG_WORLDS, key=lambda world: self.p_by_world[world])

    @property
    def n_replicated(self) -> int:
        """Number of replicated logs of each null model; 0 where no triad could close."""
        return len(next(iter(self.replicated.values()), ()))

    @property
    def expected(self) -> float:
        """Mean number of cyclic triads in logs of the world of the largest p-value."""
        world = self.likeliest
        return 0.0 if world is None else float(self.replicated[world][:, 1].mean())


def transitivity_test(
    duels: "Duels",
    draws: int | None = None,
    seed: int = 0,
    *,
    naive: bool = True,
    power: bool = True,
) -> Evidence:
    """Test whether a log is more cyclic than a transitive world makes.

    The null hypothesis is a strongly transitive world: the arms have an order in which a
    better placed arm does at least as well against every opponent. Bradley-Terry, Thurstone
    and steep hierarchies are such worlds. The statistic was fixed beforehand: the log of one
    plus the sum over cyclic triads of ``exp(z^2 / 2)``, z the surety of the weakest of the
    three majorities.

    Parameters
    ----------
    duels
        The log. Ties are left out; where votes repeat a pair and group (or judge), one
        majority verdict of each is counted.
    draws
        Logs drawn from each world; the smallest p-value is 1 / (draws + 1). Default: 1,000
        for up to 20,000 triads, 400 for more.
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
    Sinica 1996 (the reference of each world, conservative); Berger & Boos, "P values
    maximized over a confidence set for the nuisance parameter", JASA 1994 (the largest over
    what the null leaves open; here over fitted worlds, so its level is measured, not proven:
    see benchmarks/transitivity.py).
    """
    from bayesduel.data.majority import repeated_role

    if draws is not None and (isinstance(draws, bool) or draws != int(draws) or draws < 19):
        raise ValueError(f"draws should be a whole number >= 19, got {draws}")
    streams = np.random.SeedSequence(seed).spawn(2)
    role = repeated_role(duels)
    plain = np.random.default_rng(streams[0])
    if role is None:
        return _test(meetings(duels), draws, "duel", None, power, plain)
    voted = None
    if naive:
        voted = _test(meetings(duels), draws, "duel", None, False, plain)
    unit = f"majority verdict of each pair and {role}"
    rng = np.random.default_rng(streams[1])
    return _test(unit_verdicts(duels, role), draws, unit, voted, power, rng)


# -- in calling order ----------------------------------------------------------------------


def _test(
    met: Meetings,
    draws: int | None,
    unit: str,
    naive: Evidence | None,
    power: bool,
    rng: np.random.Generator,
) -> Evidence:
    triads = closed_triads(met.n_arms, met.first, met.second, rng)
    scale = 1 / triads.share
    if not triads.n_closed:
        nan = float("nan")
        return Evidence(
            p_value=nan, p_weak=nan, p_by_world={}, statistic=0.0, cyclic=0, decided=0,
            replicated={}, n_closed=0, n_all=triads.n_all, sampled=1.0, unit=unit, naive=naive,
            power=_no_power(), worlds=Worlds(met) if len(met.n) else None,
        )  # fmt: skip
    if draws is None:
        draws = DRAWS if len(triads.edges) <= SMALL else DRAWS_LARGE
    worlds = Worlds(met)
    observed = _measure(worlds, triads, met.won[None])[0]
    replicated = {
        world: np.concatenate(
            [_measure(worlds, triads, won) for won in worlds.replicate(world, draws, rng)]
        )
        for world in WORLDS
    }
    p = {
        world: float((1 + (found[:, 0] >= observed[0] - 1e-9).sum()) / (draws + 1))
        for world, found in replicated.items()
    }
    return Evidence(
        p_value=max(p[world] for world in STRONG_WORLDS),
        p_weak=max(p.values()),
        p_by_world=p,
        statistic=float(observed[0]),
        cyclic=float(observed[1] * scale),
        decided=float(observed[2] * scale),
        replicated={w: found * np.array([1, scale, scale]) for w, found in replicated.items()},
        n_closed=triads.n_closed,
        n_all=triads.n_all,
        sampled=triads.share,
        unit=unit,
        naive=naive,
        power=_power(worlds, triads, replicated, rng) if power else {},
        worlds=worlds,
    )


def _measure(worlds: Worlds, triads: Triads, won: np.ndarray) -> np.ndarray:
    """Return statistic, cyclic and decided triads of each log, shape (n, 3)."""
    return np.asarray(
        cyclicity(sureties(worlds.met, won, worlds.first_wins), triads.edges), dtype=float
    )


def _power(
    worlds: Worlds,
    triads: Triads,
    replicated: dict[World, np.ndarray],
    rng: np.random.Generator,
) -> dict[Planted, dict[float, float]]:
    """Return the share of logs with planted cycles that the test, worlds as fitted, rejects."""
    draws = len(replicated[STRONG_WORLDS[0]])
    allowed = int(np.floor(LEVEL * (draws + 1))) - 1  # logs at least as cyclic, at most
    critical = max(np.sort(replicated[world][:, 0])[draws - 1 - allowed] for world in STRONG_WORLDS)
    met = worlds.met
    number = met.n.astype(np.int64)
    top = worlds.best.rungs[0]
    drawn, lapse = np.repeat(top.mode[None], POWER_LOGS, 0), np.full(POWER_LOGS, top.lapse)
    base = worlds.chances(worlds.best, drawn, lapse)
    turns = rng.uniform(0, 2 * np.pi, (POWER_LOGS, met.n_arms))
    around = np.sin(turns[:, met.first] - turns[:, met.second])[:, met.pair]
    at = rng.integers(len(triads.edges), size=POWER_LOGS)
    turned = np.zeros((POWER_LOGS, len(met.first)))
    np.put_along_axis(turned, triads.edges[at], np.array([1.0, 1.0, -1.0]), axis=1)
    turned = turned[:, met.pair]
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
            reached = _measure(worlds, triads, won)[:, 0] > critical + 1e-9
            found[kind][strength] = float(reached.mean())
    return found


def _no_power() -> dict[Planted, dict[float, float]]:
    return {kind: dict.fromkeys(STRENGTHS, 0.0) for kind in ("three arms", "throughout")}
