"""A first check of transitivity: cyclic triads observed and expected.

In a log of noisy duels some triads come out cyclic (most duels of i and j went to i, of j and
k to j, of k and i to k) although the arms are perfectly ordered. The fitted model says how
many: its posterior predictive distribution, on the same pairs with the same numbers of decided
duels, is what the observed count is held against.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesduel.drawing import model_of
from bayesduel.labels import SENTENCE, shorten
from bayesduel.preference import cyclic_triads, decided_triads
from bayesduel.units import one_verdict_per_unit, repeated_role
from bayesduel.winning.drawn import check_fit, draws_of

if TYPE_CHECKING:
    from bayesduel.duels import Duels

__all__ = ["Cycle", "CyclicCheck", "cyclic_check"]

CHUNK = 4_000_000  # entries of replicated matrices worked on at once
SHOWN = 5  # cycles named


@dataclass(frozen=True, kw_only=True)
class Cycle:
    """A cyclic triad of the log: each beat the next, the last beat the first.

    Attributes
    ----------
    arms
        Three labels.
    counts
        Duels won and lost against the next arm, ties left out, one pair an arm.
    """

    arms: tuple[str, str, str]
    counts: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        following = (*self.arms[1:], self.arms[0])
        return ", ".join(
            f"{shorten(a, SENTENCE)} beat {shorten(b, SENTENCE)} {won}:{lost}"
            for a, b, (won, lost) in zip(self.arms, following, self.counts, strict=True)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class CyclicCheck:
    """What `cyclic_check` found.

    Attributes
    ----------
    observed, decided
        Cyclic triads of the log, and triads no pair of which is level or has not met.
    replicated
        Cyclic triads of each replicated log, shape (draws,).
    p_value
        Mid-p: the share of replicated logs with more cyclic triads than observed, those with
        as many counted half. NaN where no triad is decided.
    unit
        What counts as one observation: "duel", or "majority verdict of each pair and group"
        (or "... and judge") where the log repeats them.
    naive
        The check that takes every vote as independent, where `unit` is not "duel".
    cycles
        The most lopsided cycles: those whose weakest majority is surest.
    model
        The transitive model.
    """

    observed: int
    decided: int
    replicated: np.ndarray
    p_value: float
    unit: str
    naive: "CyclicCheck | None"
    cycles: tuple[Cycle, ...]
    model: str

    @property
    def expected(self) -> float:
        """Mean number of cyclic triads of the replicated logs."""
        return float(self.replicated.mean()) if len(self.replicated) else 0.0

    def __repr__(self) -> str:
        return f"<CyclicCheck: {self.sentence}>"

    @property
    def sentence(self) -> str:
        """What the check says, for a reader."""
        if self.decided == 0:
            return (
                "No three arms have all met with a majority each, so there are no triads to be "
                "cyclic: this log says nothing of transitivity."
            )
        words = (
            f"{self.observed:,} of {self.decided:,} decided triads are cyclic; a transitive "
            f"{self.model.title()} model makes {self.expected:,.0f} on the same design "
            f"({_p_words(self)}). {_meaning(self.p_value)}"
        )
        if self.naive is not None:
            words += (
                f" One {self.unit} counts as one observation, because the votes within it are "
                f"not independent; taking every vote as independent would give "
                f"{_p_words(self.naive)} ({self.naive.observed:,} against "
                f"{self.naive.expected:,.0f}) and is not to be trusted here."
            )
        return words


def cyclic_check(duels: "Duels", fit: xr.DataTree, draws: int = 500, seed: int = 0) -> CyclicCheck:
    """Hold the observed number of cyclic triads against a fitted transitive model.

    A triad is cyclic when its three majorities form a cycle; ties are left out, and a triad
    with a level or unmet pair does not count. A model in which ties count half a win is
    fitted again to the duels that were decided, since these are what is replicated (the
    Davidson model knows ties and stands). Where votes repeat the same pair and group (or
    pair and judge), taking each as independent finds cycles where there are none: then each
    such unit gives one majority verdict (none, if level), the model is fitted to these, and
    the naive check stands beside.

    Parameters
    ----------
    duels
        The log.
    fit
        A fit of it. If its model has no scores (it need not be transitive), or has more than
        scores (layers), Bradley-Terry is fitted in its stead.
    draws
        How many replicated logs.
    seed
        Seed of the replicated logs.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; the message names it.

    References
    ----------
    Kendall & Babington Smith, "On the method of paired comparisons", Biometrika 1940 (the
    count); Gelman, Meng & Stern, "Posterior predictive assessment of model fitness",
    Statistica Sinica 1996 (the p-value, which tends to be conservative).
    """
    check_fit(fit)
    if isinstance(draws, bool) or draws != int(draws) or draws < 1:
        raise ValueError(f"draws should be a whole number >= 1, got {draws}")
    labels = tuple(str(a) for a in fit["posterior"]["arm"].to_numpy())
    if labels != duels.arms:
        raise ValueError(f"fit should be of the log's {len(duels.arms)} arms, got {len(labels)}")
    from bayesduel.models import BradleyTerry

    streams = np.random.SeedSequence(seed).spawn(2)
    if not decided_triads(_majority(duels.tally("drop").wins)):
        return _check(duels, fit, int(draws), "duel", None, np.random.default_rng(streams[0]))
    if "score" not in fit["posterior"] or hasattr(model_of(fit), "layers"):
        fit = _refit(_decided(duels), BradleyTerry())
    elif duels.n_ties and fit.attrs["model"] != "davidson":
        fit = _refit(_decided(duels), model_of(fit))
    naive = _check(duels, fit, int(draws), "duel", None, np.random.default_rng(streams[0]))
    role = repeated_role(duels)
    if role is None:
        return naive
    verdicts = one_verdict_per_unit(duels, role)
    model = model_of(fit)
    if naive.model == "davidson":  # no ties are left
        model = BradleyTerry(scale=model.scale)
    refitted = _refit(verdicts, model)
    unit = f"majority verdict of each pair and {role}"
    rng = np.random.default_rng(streams[1])
    return _check(verdicts, refitted, int(draws), unit, naive, rng)


# -- in calling order ----------------------------------------------------------------------


def _decided(duels: "Duels") -> "Duels":
    """Return the log without its ties."""
    from bayesduel.duels import Duels

    wins, _ = duels.tally("drop")
    return Duels.from_wins(wins, duels.arms)


def _refit(duels: "Duels", model: Any) -> xr.DataTree:
    """Fit a score model by Laplace; a flat prior, which the log might not bear, is learned.

    Warnings are those of the fit that the caller already has, and not repeated.
    """
    from bayesduel.fitting import fit

    if model.scale == np.inf:
        model = replace(model, scale=1.0 if hasattr(model, "items") else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return fit(duels, model, method="laplace", clusters=False)


def _check(
    duels: "Duels",
    fit: xr.DataTree,
    n_draws: int,
    unit: str,
    naive: CyclicCheck | None,
    rng: np.random.Generator,
) -> CyclicCheck:
    wins, _ = duels.tally("drop")
    majority = _majority(wins)
    observed, decided = int(cyclic_triads(majority)), int(decided_triads(majority))
    replicated = _replicate(fit, wins, n_draws, rng) if decided else np.array([], dtype=int)
    p_value = float("nan")
    if decided:
        p_value = float((replicated > observed).mean() + (replicated == observed).mean() / 2)
    return CyclicCheck(
        observed=observed,
        decided=decided,
        replicated=replicated,
        p_value=p_value,
        unit=unit,
        naive=naive,
        cycles=_most_lopsided(wins, duels.arms) if observed else (),
        model=str(fit.attrs["model"]),
    )


def _majority(wins: np.ndarray) -> np.ndarray:
    """Return 1, 0 or 1/2 where i won more, fewer or as many duels, shape (..., K, K)."""
    return (1 + np.sign(wins - np.swapaxes(wins, -1, -2))) / 2


def _replicate(
    fit: xr.DataTree, wins: np.ndarray, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the cyclic triads of logs drawn from the posterior predictive distribution."""
    source, _, _ = draws_of(fit, "model")
    n_arms = len(wins)
    i, j = np.nonzero(np.triu(wins + wins.T))
    n = (wins + wins.T)[i, j].astype(np.int64)
    picked = np.linspace(0, source.n_draws - 1, n_draws).round().astype(int)
    counts = []
    for part in np.array_split(picked, -(-n_draws * n_arms**2 // CHUNK)):
        chances = source.chances(part, i, j)
        won = rng.binomial(n, chances["win"] / (chances["win"] + chances["loss"]))
        majority = np.full((len(part), n_arms, n_arms), 0.5)
        majority[:, i, j] = (1 + np.sign(2 * won - n)) / 2
        majority[:, j, i] = 1 - majority[:, i, j]
        counts.append(cyclic_triads(majority))
    return np.concatenate(counts)


def _most_lopsided(wins: np.ndarray, labels: Sequence[str]) -> tuple[Cycle, ...]:
    """Return the cycles whose weakest majority is surest, by (won - lost) / sqrt(n)."""
    n = wins + wins.T
    surety = np.where(wins > wins.T, (wins - wins.T) / np.sqrt(np.maximum(n, 1)), 0.0)
    best: list[tuple[float, int, int, int]] = []
    for i in range(len(wins)):  # each cycle once: from its lowest arm
        after = np.arange(len(wins)) > i
        second, third = (np.flatnonzero(s > 0) for s in (surety[i] * after, surety[:, i] * after))
        if not len(second) or not len(third):
            continue
        weakest = np.minimum(surety[np.ix_(second, third)], surety[i, second][:, None])
        weakest = np.minimum(weakest, surety[third, i])
        flat = weakest.ravel()
        for place in np.argsort(-flat, kind="stable")[:SHOWN]:
            j, k = second[place // len(third)], third[place % len(third)]
            if flat[place] > 0:
                best.append((float(flat[place]), i, int(j), int(k)))
    best.sort(key=lambda found: -found[0])
    cycles = []
    for _, *arms in best[:SHOWN]:
        following = [*arms[1:], arms[0]]
        counts = tuple(
            (int(wins[a, b]), int(wins[b, a])) for a, b in zip(arms, following, strict=True)
        )
        a, b, c = (labels[k] for k in arms)
        cycles.append(Cycle(arms=(a, b, c), counts=counts))
    return tuple(cycles)


def _p_words(check: CyclicCheck) -> str:
    finest = 1 / len(check.replicated)
    if check.p_value < finest:
        return f"p < {finest:.2g}"
    return f"p = {check.p_value:.2g}" if check.p_value < 0.01 else f"p = {check.p_value:.2f}"


def _meaning(p_value: float) -> str:
    if p_value < 0.01:
        return "That is more than chance: the log holds preferences that no ranking explains."
    if p_value < 0.05:
        return "That is a hint, no more, of preferences that no ranking explains."
    if p_value > 0.99:
        return (
            "That is fewer than chance: nothing speaks against a single ranking, but the duels "
            "may not be independent of each other (pairs chosen or votes cast by a ranking?)."
        )
    return "That is what chance makes: nothing here speaks against a single ranking."
