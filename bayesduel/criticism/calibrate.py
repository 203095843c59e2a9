"""Simulation-based calibration of a model on a design of one's own.

Draw the truth from the prior, outcomes of a design from the truth, and fit them: over many truths
the rank of the true value among independent posterior draws is uniform exactly where the fit is the
posterior of the model. Ranks are kept as probability integral transforms (PIT): the rank plus a
uniform number, over the number of draws and one.

References
----------
Talts, Betancourt, Simpson, Vehtari & Gelman, "Validating Bayesian inference algorithms with
simulation-based calibration", arXiv 1804.06788. Modrák, Moon, Kim, Bürkner, Huurre, Faltejsková,
Gelman & Vehtari, "Simulation-based calibration checking for Bayesian computation: the choice of
test quantities shapes sensitivity", Bayesian Analysis 2023, for the log likelihood as a quantity.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from bayesduel.criticism.levels import rows_of_columns
from bayesduel.criticism.replicated_logs import design_of, duel_by_duel, replicated
from bayesduel.data.duels import Duels
from bayesduel.inference.default_model import choose_model
from bayesduel.inference.fit import level_shares, sampled
from bayesduel.inference.prior import prior_draws
from bayesduel.inference.stretched import averaged
from bayesduel.models.settings import settings_to_json
from bayesduel.system.arguments import check_call, path_of, whole
from bayesduel.system.options import Method
from bayesduel.system.threads import ONE_THREAD
from bayesduel.system.warnings import unwarned

if TYPE_CHECKING:
    from bayesduel.data.pulls import Pulls
    from bayesduel.data.rankings import Rankings
    from bayesduel.models.cells import ModelCells
    from bayesduel.models.model import Model

__all__ = ["PROBS", "calibrate"]

# Posterior draws among which the truth is placed: ranks fall into 100 bins (Talts, Betancourt,
# Simpson, Vehtari & Gelman, "Validating Bayesian inference algorithms with simulation-based
# calibration", 2018).
RANKS = 99
# Of central intervals whose coverage is told: the middle, and as wide as 99 draws can say.
PROBS = (0.5, 0.9)


class Truth(NamedTuple):
    """One truth, and what is done with it."""

    model: Any  # the model, settled, and who meets whom: pulls, or duels one per vote
    design: Any
    values: dict[str, np.ndarray]  # parameters by name, first axis of length 1
    method: str  # of the fit
    draws: int
    seed: tuple[int, ...]  # of the outcomes, the fit and the ranks: whole numbers


def calibrate(
    model: "Model",
    design: Duels | xr.DataTree,
    n: int = 100,
    *,
    method: Method = "auto",
    draws: int = 1000,
    seed: int = 0,
    workers: int = 1,
    path: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> xr.DataTree:
    """Check by simulation that fits of a model are its posterior (simulation-based calibration).

    Parameters
    ----------
    model
        A model of :mod:`bayesduel.models`, or its name. Its priors should be proper.
    design
        Who meets whom under which conditions: a log, whose outcomes do not matter, or a frame with
        columns ``left``, ``right``, ``duels`` (how many there are of the row; default: 1) and what
        the model reads (judge, category, time, a covariate as left minus right, a kept column). The
        typical margin on which priors stand is that of the log; of a frame it is 1 unless the model
        has a unit.
    n
        How many truths: at least 20.
    method, draws
        Of each fit, as in :func:`bayesduel.fit`.
    seed
        Of everything random. The result does not depend on `workers`, and the first truths do not
        depend on `n`.
    workers
        Processes.
    path
        A file of JSON lines that keeps the result of each truth: a run that was stopped, or that is
        asked for more truths, goes on from it.
    progress
        Called with the share of the work done, from 0 to 1.

    Returns
    -------
    A tree: ``prior_sbc``, the PIT of every parameter by truth (``chain`` of length 1, ``draw``),
    ``preference`` of pairs and ``log_likelihood`` among them, which ``arviz.plot_ecdf_pit`` takes
    as it is; ``p_value`` (of uniform PIT, by parameter and entry) and ``coverage`` (of central
    intervals, by ``prob``); and ``summary``, with a row a parameter: ``p_value`` (smallest of its
    entries, corrected for their number), ``coverage_50``, ``coverage_90`` (means over entries) and
    ``entries``. Attributes: ``p_value``, the smallest corrected for all entries; ``n_refused``, how
    many simulated logs the model refuses, which are left out (a side advantage so large that one
    side won every duel). Conditions on the data leave PIT uniform.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, a prior is flat, the design does not say what the model
        reads, or `path` is of another calibration.

    References
    ----------
    Tesso et al., "LOO-PIT predictive model checking", arXiv 2603.02928, for the test (``pot_c`` of
    ArviZ).

    Examples
    --------
    >>> design = bd.datasets.load("tennis1990")
    >>> tree = bd.calibrate("bradley-terry", design, n=20, seed=1)
    >>> bool(tree.attrs["p_value"] > 0.001)
    True
    """
    n = whole(n, "n", 20)
    seed = whole(seed, "seed", 0)
    workers = whole(workers, "workers", 1)
    check_call(progress, "progress", none=True)
    path = None if path is None else path_of(path)
    log = design_of(design)
    model = choose_model(model, log).model.settled(log)
    model.check(log)
    if isinstance(log, Duels):
        log = duel_by_duel(log)
    prior = prior_draws(model, log, n, seed)
    truths = []
    for i in range(n):
        only = slice(i, i + 1)
        values = rows_of_columns(prior, only)
        own_seed = (seed, i)
        truths.append(Truth(model, log, values, method, draws, own_seed))
    found = _kept(path, model, log, method, draws, seed)
    missing = [truth for truth in truths if truth.seed[1] not in found]
    for place, pit in _placed(missing, workers):
        found[place] = pit
        if path is not None:
            _append(path, {"truth": place, "pit": pit})
        if progress is not None:
            left = n - len(found)
            progress(1 - left / n)
    pits = [found[i] for i in range(n)]
    accepted = [pit for pit in pits if pit is not None]
    if not accepted:
        raise ValueError(
            f"{model.name} refuses all {n} simulated logs of this design: use a larger design"
        )
    n_refused = n - len(accepted)
    return _tree(model, log, accepted, {"n_refused": n_refused, "seed": seed})


def _kept(
    path: Path | None,
    model: "Model",
    log: "Duels | Rankings | Pulls",
    method: str,
    draws: int,
    seed: int,
) -> dict[int, Any]:
    """Return what a file keeps of a calibration, which is begun where there is none."""
    if path is None:
        return {}
    of_model = [model.name, settings_to_json(model.settings)]
    of_log = [list(log.arms), len(log)]
    head = {"calibration": [*of_model, *of_log, method, draws, seed]}
    if not path.exists():
        _append(path, head)
        return {}
    entries = []
    for line in path.read_bytes().splitlines():
        try:
            entries.append(json.loads(line))
        except ValueError:  # cut off by a kill; that truth is placed again
            continue
    if not entries or entries[0] != head:
        raise ValueError(f"path should be a file of this calibration, got {path} of another one")
    return {entry["truth"]: entry["pit"] for entry in entries[1:]}


def _append(path: Path, entry: Mapping[str, Any]) -> None:
    written = path.read_bytes() if path.exists() else b""
    cut = written and not written.endswith(b"\n")
    with path.open("a", encoding="utf-8") as lines:
        if cut:
            lines.write("\n")
        lines.write(json.dumps(entry) + "\n")


def _placed(truths: list[Truth], workers: int) -> Iterator[tuple[int, Any]]:
    """Yield the place of each truth and its PIT by parameter, None where its log is refused."""
    if workers == 1:
        yield from map(_place, truths)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(backend="loky", inner_max_num_threads=1):
        yield from Parallel(n_jobs=workers, return_as="generator_unordered")(
            delayed(_place)(truth) for truth in truths
        )


def _place(truth: Truth) -> tuple[int, Any]:
    """Simulate a log, fit it, and place the truth among the draws."""
    model = truth.model
    place = truth.seed[1]
    rng = np.random.default_rng(truth.seed)
    log = replicated(model, truth.design, truth.values, rng)
    try:
        model.check(log)
        cells = model.cells(log)
    except ValueError:  # the outcomes are not among those that the model takes
        return place, None
    with ONE_THREAD, unwarned():  # of thin logs
        made = sampled(
            log,
            model,
            truth.method,  # type: ignore[arg-type]
            draws=truth.draws,
            seed=int(rng.integers(2**31)),
            log_likelihood=False,
        )
    posterior = made.drawn.posterior
    n_draws = len(next(iter(posterior.values())))
    evenly = np.linspace(0, n_draws - 1, RANKS).round()
    drawn = rows_of_columns(posterior, evenly.astype(int))
    of_draws = _quantities(model, drawn, cells)
    of_truth = _quantities(model, truth.values, cells)
    pit = {}
    for name, values in of_draws.items():
        if name not in of_truth:
            continue
        true = of_truth[name]
        below = (values < true).sum(axis=0)
        same = (values == true).sum(axis=0)
        # a random rank among those that are as large
        rank = below + rng.random(below.shape) * (same + 1)
        pit[name] = (rank / (RANKS + 1)).tolist()
    return place, pit


def _quantities(
    model: "Model", draws: Mapping[str, np.ndarray], cells: "ModelCells"
) -> dict[str, np.ndarray]:
    """Return what is ranked of draws: what is identified, preferences, and the log likelihood."""
    unidentified = {name for part in model.terms for name in part.unidentified}
    draws = averaged(draws, level_shares(model, cells.log))
    found = {}
    for name, values in draws.items():
        if name not in unidentified:
            found[name] = np.asarray(values)
    if model.log_type != "pulls":
        n_arms = len(cells.log.arms)
        P = model.preference(draws)
        found["preference"] = P[:, *np.triu_indices(n_arms, 1)]
    found["log_likelihood"] = model.log_likelihood(draws, cells).sum(axis=1)
    return found


def _tree(model: Any, log: Any, pits: list[Any], attrs: dict[str, Any]) -> xr.DataTree:
    """Return the tree of a calibration from the PIT of each truth."""
    from arviz_stats.base import array_stats

    arms = log.arms
    dims = {"score": ("arm",), "strength": ("arm",)}
    dims |= model.dims
    dims["preference"] = ("pair",)
    coords: dict[str, Any] = {
        "arm": np.array(arms, dtype=object),
        "pair": [" - ".join(pair) for pair in combinations(arms, 2)],
    }
    coords |= model.terms.coords(log)
    of_log: dict[str, Any] = {}
    uniformity: dict[str, Any] = {}
    coverage: dict[str, Any] = {}
    rows: list[dict[str, float]] = []
    smallest = 1.0
    entries = 0
    used: set[str] = set()
    for name in pits[0]:
        values = np.array([pit[name] for pit in pits])
        own = dims.get(name, ())
        shape = values.shape[1:]
        flat = values.reshape(len(values), -1)
        tests = [array_stats.uniformity_test(one) for one in flat.T]
        p = np.array([test[0] for test in tests])
        n_entries = len(p)
        row = {"p_value": min(1.0, n_entries * p.min())}
        from_middle = np.abs(flat - 0.5)
        inside = []
        for prob in PROBS:
            covered = (from_middle <= prob / 2).mean(axis=0)
            inside.append(covered.reshape(shape))
            row[f"coverage_{100 * prob:g}"] = covered.mean()
        row["entries"] = n_entries
        rows.append(row)
        of_log[name] = (("chain", "draw", *own), values[None])
        uniformity[name] = (own, p.reshape(shape))
        coverage[name] = (("prob", *own), np.stack(inside))
        smallest = min(smallest, p.min())
        entries += n_entries
        used.update(own)
    known = {name: coords[name] for name in coords if name in used}
    sampling = {"chain": [0], "draw": np.arange(len(pits))}
    summary = {}
    for column in rows[0]:
        summary[column] = ("parameter", [row[column] for row in rows])
    tree = xr.DataTree.from_dict(
        {
            "prior_sbc": xr.Dataset(of_log, coords=known | sampling),
            "p_value": xr.Dataset(uniformity, coords=known),
            "coverage": xr.Dataset(coverage, coords=known | {"prob": list(PROBS)}),
            "summary": xr.Dataset(summary, coords={"parameter": list(pits[0])}),
        }
    )
    # Bonferroni's rule, over all entries
    p_value = float(min(1.0, entries * smallest))
    tree.attrs |= {"model": model.name, "p_value": p_value, **attrs}
    return tree
