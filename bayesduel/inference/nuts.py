"""NUTS by nutpie, on the same ``pm.Model`` that every other method uses."""

import logging
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.inference.draws import PosteriorDraws, chains_joined
from bayesduel.inference.mixing import FEW, bulk_ess, rhat
from bayesduel.inference.psis import Uncorrected
from bayesduel.models.settings import Arrays
from bayesduel.system.arguments import Progress
from bayesduel.system.cache_folder import keep_generated_source
from bayesduel.text import count, join

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "INNER",
    "STATISTICS",
    "ChainCertificate",
    "completed",
    "run_chains",
    "sample_nuts",
    "statistics_of",
    "variable_names",
    "well_informed",
]

INNER = ("_free", "_standard")  # numbers that only the sampler knows
STATISTICS = ("diverging", "energy", "logp", "n_steps", "step_size", "depth")
# Seconds that a fit may take in silence: a user's attention is kept for as long (Nielsen,
# "Usability Engineering", 1993, section 5.5).
LONG = 10.0
_COMPILED: dict[Any, Any] = {}
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ChainCertificate(Uncorrected):
    """Whether the chains of a sampler agree."""

    effective: float  # effective number of the draws, the smallest over what the model identifies
    rhat: float  # R-hat, the largest likewise
    diverging: float  # share of the draws that diverged
    of: str  # what `rhat` and `effective` are of

    @property
    def shortfall(self) -> str:
        if not self.rhat < FEW.rhat:
            return f"chains disagree: R-hat of {self.of} is {self.rhat:.3g}, not below {FEW.rhat}"
        # More are a matter of the posterior, not of a few places. By eye: Stan warns of any
        # divergence; so does the page of a fit.
        if self.diverging > 0.1:
            return f"{self.diverging:.0%} of the draws diverged"
        return ""


def sample_nuts(
    model: Any,
    cells: Any,
    *,
    draws: int,
    chains: int,
    seed: int,
    log_likelihood: bool = False,
    progress: Progress = None,
    notice: str = "",
) -> PosteriorDraws:
    """Return `draws` draws by NUTS of each of `chains` chains, chain after chain.

    log_likelihood: whether to keep that of every cell.
    notice: why NUTS was not expected, and what would be quicker; logged where it may take long.
    """
    if progress is not None:
        progress(0.2)
    tree = sample(
        model,
        cells,
        draws=draws,
        chains=chains,
        seed=seed,
        progress=progress,
        notice=notice,
    )
    if progress is not None:
        progress(0.8)
    found = {}
    for name, variable in tree["posterior"].data_vars.items():
        if not str(name).endswith(INNER):
            found[str(name)] = chains_joined(variable.values)
    stats = statistics_of(tree)
    return completed(
        model, cells, found, stats, chains=chains, seed=seed, log_likelihood=log_likelihood
    )


def variable_names(built: Any) -> list[str]:
    """Return the names of what a ``pm.Model`` draws and derives."""
    return [variable.name for variable in (*built.free_RVs, *built.deterministics)]


def statistics_of(tree: "xr.DataTree") -> dict[str, np.ndarray]:
    """Return the statistics of nutpie's draws by our names, chain after chain."""
    drawn = tree["sample_stats"]
    found = {}
    for name in STATISTICS:
        if name in drawn:
            own = "lp" if name == "logp" else name
            by_chain = drawn[name].to_numpy()
            found[own] = by_chain.reshape(-1)
    return found


def completed(
    model: Any,
    cells: Any,
    found: Arrays,
    stats: dict[str, np.ndarray],
    *,
    chains: int,
    seed: int,
    log_likelihood: bool,
) -> PosteriorDraws:
    """Return the draws of a sampler as a posterior, with the certificate of its chains.

    found: variables of the ``pm.Model`` by name, chain after chain. stats: statistics likewise.

    Raises ValueError if draws are not finite, or a chain stays where it is or always diverges.
    """
    _check_moved(found, stats, chains)
    rng = np.random.default_rng(seed)
    posterior = model.complete(found, cells, rng)
    kept = model.log_likelihood(posterior, cells) if log_likelihood else None
    certificate = _certificate(model, posterior, stats, chains)
    return PosteriorDraws(posterior, stats, kept, certificate)


def _check_moved(found: Arrays, stats: Arrays, chains: int) -> None:
    """Raise ValueError if draws are not finite, or a chain stays where it is or always diverges."""
    lost = [name for name, values in found.items() if not np.isfinite(values).all()]
    if lost:
        raise ValueError(
            f"NUTS should draw finite numbers, got missing or infinite ones of "
            f"{join(lost, 8, quote=True)}"
        )
    diverging = stats["diverging"].reshape(chains, -1)
    density = diverging
    stuck = diverging.all(axis=1)
    if "lp" in stats:
        density = stats["lp"].reshape(chains, -1)
        stuck |= np.ptp(density, axis=1) == 0
    if stuck.any():
        chain = int(np.argmax(stuck))
        what = "draws that all diverged"
        equal = []
        for name, values in found.items():
            of_chains = values.reshape(chains, -1, *values.shape[1:])
            if not np.ptp(of_chains[chain], axis=0).any():
                equal.append(name)
        if equal:
            what = f"{density.shape[1]:,} equal draws of {join(equal, 8, quote=True)}"
        raise ValueError(
            f"NUTS should move in each chain, got {what} in chain {chain} "
            f"({diverging.sum():,} of {diverging.size:,} draws diverged): the density cannot be "
            "followed, as where margins, covariates or counts differ by many orders of magnitude"
        )


def _certificate(model: Any, posterior: Arrays, stats: Arrays, chains: int) -> ChainCertificate:
    """Return whether chains agree on what the model identifies."""
    name = next((n for n in ("score", "theta") if n in posterior), "preference")
    if name == "preference":  # blades and chests are not identified, preferences are
        preference = model.preference(posterior)
        n_arms = preference.shape[-1]
        first, second = np.triu_indices(n_arms, 1)
        values = preference[:, first, second]
    else:
        values = posterior[name]
    of_each = len(values) // chains
    draws = values.reshape(chains, of_each, -1)
    largest = float(np.nanmax(rhat(draws), initial=1.0))  # NaN: always the same, as a sure win
    effective = float(bulk_ess(draws).min())
    diverging = float(stats["diverging"].mean())
    return ChainCertificate(effective, largest, diverging, repr(name))


def sample(
    model: Any,
    cells: Any,
    *,
    draws: int,
    chains: int,
    seed: int,
    progress: Progress = None,
    notice: str = "",
) -> "xr.DataTree":
    """Return nutpie's tree of `draws` draws in each of `chains` chains.

    As many draws again, at least 600, are used to tune. The parameterisation of a learned scale
    follows the data (:func:`well_informed`). `progress` and `notice` are as in `sample_nuts`.
    """
    funnels = "horseshoe" in model.terms.why_nuts  # which make divergences at 0.9
    with warnings.catch_warnings(action="ignore"):  # numba's notes on random ops it never runs
        return run_chains(
            model,
            _compiled(model, cells),
            draws=draws,
            tune=max(600, draws),
            chains=chains,
            seed=seed,
            progress=progress,
            notice=notice,
            target_accept=0.99 if funnels else 0.9,
        )


def run_chains(
    model: Any,
    compiled: Any,
    *,
    progress: Progress = None,
    notice: str = "",
    **settings: Any,
) -> "xr.DataTree":
    """Return nutpie's tree of a compiled density of a model, with these settings of nutpie's.

    `progress` and `notice` are as in `sample_nuts`.
    """
    import nutpie

    cores = settings.setdefault("cores", os.cpu_count() or 1)
    with _shown(model, progress, notice, cores) as report:
        return nutpie.sample(compiled, progress_bar=False, progress_callback=report, **settings)


def _seconds(chains: Any, cores: int) -> tuple[float, float] | None:
    """Return how long nutpie's chains may take in all, by a tenth of `LONG`, or None before.

    cores: how many chains run at a time.
    """
    first = 1000 * LONG / 10
    gradient = 0.0
    for chain in chains:
        if chain.total_num_steps and chain.runtime_ms >= first:
            seconds = chain.runtime_ms / 1000 / chain.total_num_steps
            gradient = max(gradient, seconds)
    if not gradient:  # no chain has begun
        return None
    rounds = math.ceil(len(chains) / cores)  # chains wait for others
    each = gradient * chains[0].total_draws * rounds
    # Gradients a draw, as trees double: 7 to 15 are measured (tversky1969 with reliability,
    # icehockey with cycles), and twice doubled that is 63.
    return each * 7, each * 63


def _duration(seconds: float) -> str:
    """Return a time in words, as a reader waits for it."""
    if seconds < 90:
        return count(max(round(seconds), 1), "second")
    if seconds < 5400:
        return count(round(seconds / 60), "minute")
    return count(round(seconds / 3600), "hour")


@contextmanager
def _shown(
    model: Any, progress: Progress, notice: str, cores: int
) -> Iterator[Callable[[Any], None] | None]:
    """Yield what nutpie calls with the state of its chains, or None where nobody looks.

    With a `notice` it logs how long the fit may take, once, if that is long. Without `progress` it
    then shows a bar in a terminal, on stderr.
    """
    show: Progress = None if progress is None else _part_of(progress)
    with ExitStack() as stack:
        if show is None and notice and sys.stderr.isatty():
            show = stack.enter_context(_bar())
        silent = bool(notice)

        def report(chains: Any) -> None:
            nonlocal silent
            expected = _seconds(chains, cores) if silent else None
            if expected is not None:
                silent = False
                if expected[1] > LONG:
                    least, most = map(_duration, expected)
                    words = "NUTS samples %s, which may take %s to %s. %s"
                    logger.warning(words, model.name, least, most, notice)
            if show is not None:
                show(_share(chains))

        yield report if notice or show is not None else None


def _part_of(progress: Callable[[float], None]) -> Callable[[float], None]:
    """Return a function of the share of the draws that reports the share of the fit."""
    return lambda done: progress(0.2 + 0.6 * done)


@contextmanager
def _bar() -> Iterator[Callable[[float], None]]:
    """Show the share of the draws on stderr; yield a function to call with it."""
    from rich import progress as bars
    from rich.console import Console

    with bars.Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("NUTS", total=1.0)
        yield lambda done: shown.update(task, completed=done)


def _share(chains: Any) -> float:
    """Return the share of the draws that nutpie's chains have made."""
    total = sum(chain.total_draws for chain in chains)
    finished = sum(chain.finished_draws for chain in chains)
    return float(finished / max(total, 1))


def _compiled(model: Any, cells: Any) -> Any:
    """Return the compiled model over cells; one compilation serves logs of the same form."""
    import nutpie
    from pytensor.graph.traversal import ancestors

    centred = model.log_type != "duels" or well_informed(cells.log)
    built = model.build(cells, centred=centred)
    # Cells may differ in number: they are data. Whatever has a parameter of its own may not.
    sizes = []
    for name, labels in built.coords.items():
        if name != "cell" and labels is not None:
            sizes.append((name, len(labels)))
    key = (model, centred, tuple(sizes))
    if key not in _COMPILED:
        kept = [name for name in variable_names(built) if name != "preference"]
        if len(_COMPILED) >= 8:  # so many are kept for reuse; the first of more is forgotten
            oldest = next(iter(_COMPILED))
            _COMPILED.pop(oldest)
        keep_generated_source()
        _COMPILED[key] = nutpie.compile_pymc_model(built, var_names=kept)
    used = set(ancestors([built.logp(), *built.deterministics]))
    data = {}
    for variable in built.data_vars:
        if variable in used:
            data[variable.name] = variable.get_value()
    return _COMPILED[key].with_data(**data)


def well_informed(duels: Any) -> bool:
    """Return whether the log measures enough arms for the centred parameterisation.

    An arm is measured when its duels determine its score at least four times as well as knowing
    the spread of the scores does. Eight measured arms (half of them where there are fewer
    than sixteen) pin the scale down, and the centred form then mixes better; with fewer the
    scores divided by their scale do.
    """
    wins, ties = duels.tally("keep")
    points = (wins + ties / 2).sum(axis=1)
    n = (wins + wins.T + ties).sum(axis=1)
    information = n / 4.0  # of a logit, for a duel near one half
    lost = n - points
    logit = np.log((points + 0.5) / (lost + 0.5))
    noise = np.mean(1.0 / (information + 0.25))
    excess = float(np.var(logit) - noise)
    spread = max(excess, 0.0)
    is_measured = information * spread > 4.0
    half = max(2, duels.n_arms / 2)
    return int(is_measured.sum()) >= min(8, half)
