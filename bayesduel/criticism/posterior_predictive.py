"""Posterior predictive checks: replicated outcomes, and standardised residuals of margins.

In a draw of the posterior every margin has a standardised residual: how far it lies from what
the draw expects, in units of the noise (put on the normal scale where noise is Student's t).
Under the model these are independent standard normal numbers, given the draw that the margins
came from. Each check is a statistic of them, held against the same statistic of replicated
residuals, draw by draw.

The share of draws in which the replicate is as large is the posterior predictive p-value. It is
not uniform under the model, because the draws have seen the margins; but it is below p with
probability at most 2 p (Meng 1994). Twice that share is therefore a valid, conservative
p-value, and is what is reported.

References
----------
Gelman, Meng & Stern, "Posterior predictive assessment of model fitness via realized
discrepancies", Statistica Sinica 1996. Meng, "Posterior predictive p-values", Annals of
Statistics 1994, for the bound.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from scipy import sparse
from scipy.special import ndtri, stdtr

from bayesduel.criticism.levels import grouped, size_of
from bayesduel.inference.datatree import BY_CELL
from bayesduel.intervals import TAILS95, rejected
from bayesduel.models.cells import ModelCells, data_of_rows
from bayesduel.posterior.conditions import observed_conditions
from bayesduel.posterior.draws import chunks, draws_of
from bayesduel.system.arguments import whole
from bayesduel.text import Result, join, plural

if TYPE_CHECKING:
    from bayesduel.models.model import Model

__all__ = ["CHECKS", "MarginCheck", "check_margins", "posterior_predictive", "shown_check"]

EDGES = np.linspace(-4.5, 4.5, 31)  # bins of residuals

CHECKS = {  # what is wrong where one fails, of arms that are called {nouns}
    "sides": "the left side does better or worse than predicted (mean residual)",
    "tails": "the tails are heavier or lighter than predicted (kurtosis)",
    "skew": "margins are more skewed than predicted (skewness)",
    "pairs": "pairs differ from their scores in all their duels (spread of pair means)",
    "arm noise": "the noise differs between {nouns} more than predicted",
    "pair noise": "the noise differs between pairs more than predicted",
}


def shown_check(name: str, noun: str) -> str:
    """Return the name of a check for a reader; `noun` is what an arm is called."""
    return f"{noun} noise" if name == "arm noise" else name


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MarginCheck(Result):
    """The result of `check_margins`.

    Attributes
    ----------
    table
        One row a check, indexed by ``check`` (see :data:`CHECKS`): ``observed`` and
        ``expected`` (the statistic of the residuals and of replicated ones, means over draws),
        ``share`` (the posterior predictive p-value) and ``p_value`` (conservative: twice the
        share).
    pairs
        One row per pair that met, the farthest off first: ``first``, ``second`` (labels),
        ``duels``, ``residual`` (mean residual of the pair times the root of its duels: about
        standard normal under the model, less what the fit took) and ``off`` (by how much its
        mean margin is off, in the unit of the margins); posterior means.
    edges, density, lower, upper
        Histogram of the residuals: edges (bins + 1,), mean density over draws and the middle
        95 % of replicated densities, each (bins,); the outer bins hold what lies beyond.
    ordered, ordered_lower, ordered_upper
        Pair residuals in increasing order, means over draws, and the middle 95 % of
        replicated ones, each (pairs,).
    n_draws, n_margins
        How many draws and margins.
    model
        Name of the model.
    """

    table: pd.DataFrame
    pairs: pd.DataFrame
    edges: np.ndarray
    density: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    ordered: np.ndarray
    ordered_lower: np.ndarray
    ordered_upper: np.ndarray
    n_draws: int
    n_margins: int
    model: str

    @property
    def failed(self) -> list[str]:
        """The checks that fail at 0.05, all together (Holm's rule)."""
        order = self.table["p_value"].sort_values(kind="stable")
        # Familywise level of the checks that a sentence names: 0.05
        return [str(name) for name in order.index[: rejected(order, 0.05)]]

    @property
    def sentence(self) -> str:
        """The result of the checks in sentences."""
        return self.words()

    def words(self, noun: str = "arm") -> str:
        """Return the sentence; `noun` is what an arm is called."""
        names = list(self.table.index)
        failed = self.failed
        nouns = plural(noun)
        if not failed:
            return (
                f"The {self.n_margins:,} margins are consistent with the model by all of "
                f"{len(names)} checks ({join(shown_check(n, noun) for n in names)}; smallest p = "
                f"{self.table['p_value'].min():.2g})."
            )
        parts = "; ".join(f"{CHECKS[n].format(nouns=nouns)}, p {self.p_words(n)}" for n in failed)
        once = bool((self.pairs["duels"] == 1).all())
        fine = [n for n in names if n not in failed and not (once and n == "pairs")]
        shown = join(shown_check(n, noun) for n in fine)
        rest = f" The other checks find nothing ({shown})." if fine else ""
        if once:
            rest += " Pairs have one margin each, so that their means cannot be checked."
        return f"The margins deviate from the model: {parts}.{rest}"

    def p_words(self, name: str) -> str:
        """Return the p-value of a check in a sentence, "= 0.03", or "\u2264 0.002"."""
        cell = self.p_cell(name)
        return f"= {cell}" if cell[0].isdigit() else cell

    def p_cell(self, name: str) -> str:
        """Return the p-value of a check in a table, "0.03", or "\u2264 0.002", the least."""
        row = self.table.loc[name]
        least = 1 / (1 + self.n_draws)
        if row["share"] > least:
            return f"{row['p_value']:.2g}"
        return f"\u2264 {2 * least:.1g}"


class _Summary(NamedTuple):
    """What residuals are compared by with replicated ones, one row per draw."""

    statistics: np.ndarray  # (draws, 6), in the order of the checks
    histogram: np.ndarray  # (draws, bins)
    ordered: np.ndarray  # mean residuals of pairs, times the root of their duels, (draws, pairs)


def check_margins(fit: xr.DataTree, draws: int = 1000, seed: int = 0) -> MarginCheck:
    """Compare the residuals of a model of margins with replicated ones.

    Parameters
    ----------
    fit
        A fit of :class:`bayesduel.models.ThurstoneScore` or `PerturbedThurstone`. Where these
        know residuals or a variance of each pair, they are taken out too.
    draws
        How many draws of the posterior, evenly spread.
    seed
        Of the replicated residuals.

    Returns
    -------
    A `MarginCheck`, for :func:`plot_margins` and :func:`plot_pair_residuals`.

    Raises
    ------
    TypeError, ValueError
        If `fit` is not of a model of margins, or `draws` is less than 20.

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("icehockey"), bd.models.ThurstoneScore())
    >>> print(bd.check_margins(fit, draws=200))
    <MarginCheck: The 1,083 margins are consistent with the model by all of 6 checks (sides, tails,
    skew, pairs, arm noise and pair noise; smallest p = 0.01).>
    """
    draws = whole(draws, "draws", 20)
    seed = whole(seed, "seed", 0)
    of_fit, labels, _ = draws_of(fit, "model")
    model: Any = of_fit.model
    if model.response.outcome != "margin":
        raise ValueError(f"fit should be of a model of margins, got one of {fit.attrs['model']}")
    posterior = of_fit.rows(of_fit.spread(draws))
    labels = labels if fit.duel.teams is None else fit.duel.teams.labels(labels)
    n_arms = len(labels)
    n_draws = len(next(iter(posterior.values())))
    weight = fit["constant_data"]["vote_weight"].to_numpy()
    rows = np.repeat(np.arange(len(weight)), weight)
    given = data_of_rows(observed_conditions(fit, model), rows)
    left = given["first"]
    right = given["second"]
    margin = fit["observed_data"]["margin"].to_numpy()[rows]
    sign = np.where(left < right, 1.0, -1.0)
    low = np.minimum(left, right)
    high = np.maximum(left, right)
    key, place = np.unique(low.astype(np.int64) * n_arms + high, return_inverse=True)
    by_pair = grouped(place, len(key))
    by_arm = grouped(left, n_arms) + grouped(right, n_arms)
    to_root = per_root(by_pair)
    size = size_of(by_pair)
    rng = np.random.default_rng(seed)

    def summary(values: np.ndarray) -> _Summary:
        pair_means = (sign * values) @ to_root
        found = statistics(values, pair_means, by_pair, by_arm).T
        return _Summary(found, histogram(values), np.sort(pair_means, axis=1))

    summaries = []
    replicates = []
    residual = np.zeros(len(key))
    off = np.zeros(len(key))
    # 4,000,000 residuals worked on at once
    for part in chunks(n_draws, 4_000_000 // len(margin)):
        here = {name: values[part] for name, values in posterior.items()}
        middle, spread, degrees = model.margins(here, given)
        z = (margin - middle) / spread
        if not np.isinf(degrees).all():
            z = normal_scores(z, degrees)
        off += ((sign * (margin - middle)) @ by_pair).sum(axis=0)
        residual += ((sign * z) @ to_root).sum(axis=0)
        summaries.append(summary(z))
        replicates.append(summary(rng.standard_normal(z.shape)))
    observed, bars, ordered = map(np.concatenate, zip(*summaries, strict=True))
    replicated, made, made_ordered = map(np.concatenate, zip(*replicates, strict=True))
    share = (1 + (replicated >= observed).sum(axis=0)) / (1 + n_draws)
    bounds = np.quantile(made, TAILS95, axis=0)
    envelope = np.quantile(made_ordered, TAILS95, axis=0)
    table = pd.DataFrame(
        {
            "observed": observed.mean(axis=0),
            "expected": replicated.mean(axis=0),
            "share": share,
            "p_value": np.minimum(2 * share, 1.0),
        },
        index=pd.Index(list(CHECKS), name="check"),
    )
    residual /= n_draws
    pairs = pd.DataFrame(
        {
            "first": [labels[k] for k in key // n_arms],
            "second": [labels[k] for k in key % n_arms],
            "duels": size.astype(int),
            "residual": residual,
            "off": off / size / n_draws,
        }
    )
    return MarginCheck(
        table=table,
        pairs=pairs.iloc[np.argsort(-np.abs(residual), kind="stable")].reset_index(drop=True),
        edges=EDGES,
        density=bars.mean(axis=0),
        lower=bounds[0],
        upper=bounds[1],
        ordered=ordered.mean(axis=0),
        ordered_lower=envelope[0],
        ordered_upper=envelope[1],
        n_draws=n_draws,
        n_margins=len(margin),
        model=str(fit.attrs["model"]),
    )


def posterior_predictive(fit: xr.DataTree, draws: int = 500, seed: int = 0) -> xr.DataTree:
    """Return replicated outcomes beside the observed ones, as ArviZ takes them.

    Parameters
    ----------
    fit
        A fit of any model of duels.
    draws
        How many draws of the posterior, evenly spread.
    seed
        Of the replicates.

    Returns
    -------
    A tree of these draws, one chain: ``posterior_predictive`` and ``observed_data``, ``margin`` by
    vote for a model of margins, else ``outcome`` by cell (wins of the first arm, a tie counting
    half; or wins, losses and ties, or grades from worst to best, and then ``points`` by cell, too);
    ``posterior`` and ``constant_data`` of the fit; and ``log_likelihood`` by the same observations,
    where the fit kept it or a margin alone has one. ``arviz.plot_ppc_dist``, ``plot_loo_pit`` and
    ``loo`` take it as it is; of a model of ties or grades ``plot_loo_pit`` with
    ``var_names="points"``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> tree = bd.posterior_predictive(bd.fit(bd.datasets.load("tennis1990")))
    >>> tree["posterior_predictive"].ds.sizes["cell"]
    10
    """
    draws = whole(draws, "draws", 20)
    seed = whole(seed, "seed", 0)
    rng = np.random.default_rng(seed)
    found, _, _ = draws_of(fit, "model")
    model = found.model
    used = found.spread(draws)
    if model.log_type != "duels":
        raise TypeError(
            f"fit should be of a model of duels, got one of {model.name}: its {model.log_type} are "
            "not independent duels"
        )
    posterior = found.rows(used)
    design = fit["constant_data"]
    dims: tuple[str, ...]
    if model.response.outcome == "margin":
        name = "margin"
        dims = ("chain", "draw", "vote")
        made = model.replicate(posterior, observed_conditions(fit, model), rng)
    else:
        name = "outcome"
        dims = ("chain", "draw", "cell")
        n = np.rint(design["n"].to_numpy()).astype(np.int64)
        # Distance from a whole number that rounding explains: 1e-6
        if abs(n - design["n"].to_numpy()).max() > 1e-6:
            raise ValueError(
                "fit should have no sampling weights, because the model draws whole votes: fit the "
                "log without weights"
            )
        p = model.results(posterior, observed_conditions(fit, model))
        if "result" in fit["observed_data"].dims:
            dims = (*dims, "result")
            made = rng.multinomial(n, p / p.sum(axis=-1, keepdims=True)).astype(float)
        else:
            made = rng.binomial(n, p[..., 0]).astype(float)
    predicted: dict[str, Any] = {name: (dims, made[None])}
    observed = fit["observed_data"].dataset
    if "result" in dims:
        each = model.response.result_points
        predicted["points"] = (dims[:-1], (made @ each)[None])
        observed = observed.assign(points=observed["outcome"] @ xr.DataArray(each, dims="result"))
    groups = {
        "posterior": _of_draws(fit.duel.sampled, used),
        "posterior_predictive": xr.Dataset(predicted),
        "observed_data": observed,
        "constant_data": design.dataset,
    }
    pointwise = _log_likelihood(fit, model, posterior, used)
    if pointwise is not None:
        name = "points" if "points" in predicted else name
        groups["log_likelihood"] = pointwise.rename({next(iter(pointwise)): name})
    tree = xr.DataTree.from_dict(groups)
    tree.attrs.update(fit.attrs)
    return tree


def _of_draws(group: xr.Dataset, used: np.ndarray) -> xr.Dataset:
    """Return some draws of a group as one chain; `used` are their places, chain after chain."""
    kept = {
        str(name): (v.dims, v.values.reshape(-1, *v.shape[2:])[used][None])
        for name, v in group.data_vars.items()
    }
    coords = {n: c for n, c in group.coords.items() if n not in ("chain", "draw")}
    return xr.Dataset(kept, coords=coords).assign_coords(chain=[0], draw=np.arange(len(used)))


def _log_likelihood(
    fit: xr.DataTree, model: "Model", posterior: dict[str, np.ndarray], used: np.ndarray
) -> xr.Dataset | None:
    """Return the log likelihood of each observation in some draws, or None.

    A fit of margins keeps that of cells; of a margin alone it follows from the votes.
    """
    if model.response.outcome != "margin":
        if BY_CELL not in fit:
            return None
        return _of_draws(fit[BY_CELL].dataset, used)
    if model.response.coupled:
        return None
    margin = fit["observed_data"]["margin"].to_numpy()
    one = np.ones(len(margin))
    statistics = np.stack([margin, 0 * margin, 0 * margin], axis=1)
    data = {"n": one, "n_left": one, "margins": statistics}
    cells = ModelCells(log=None, seen=None, data=observed_conditions(fit, model) | data)
    values = model.log_likelihood(posterior, cells)
    return xr.Dataset({"margin": (("chain", "draw", "vote"), values[None])})


def per_root(member: sparse.csr_array) -> sparse.csr_array:
    """Return weights that give the means of groups times the root of their size."""
    return sparse.csr_array(member / np.sqrt(np.maximum(size_of(member), 1.0)))


def normal_scores(z: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Map Student residuals to the normal scale, from the nearer tail."""
    tail = np.maximum(stdtr(degrees, -np.abs(z)), 1e-300)
    return np.where(z < 0, 1.0, -1.0) * ndtri(tail)


def statistics(
    z: np.ndarray, pair_means: np.ndarray, by_pair: sparse.csr_array, by_arm: sparse.csr_array
) -> np.ndarray:
    """Return the statistics of residuals (draws, n), in the order of the checks, (6, draws)."""
    square = z**2
    about = z - z.mean(axis=1, keepdims=True)
    moment = (about**2).mean(axis=1)
    found = [
        np.abs(z.mean(axis=1)),
        np.abs((about**4).mean(axis=1) / moment**2 - 3.0),
        np.abs((about**3).mean(axis=1) / moment**1.5),
        np.sqrt((pair_means**2).mean(axis=1)),
    ]
    for groups in (by_arm, by_pair):
        excess = (square - 1.0) @ per_root(groups)
        found.append(np.sqrt((excess[:, size_of(groups) > 0] ** 2).mean(axis=1) / 2))
    return np.stack(found)


def histogram(z: np.ndarray) -> np.ndarray:
    """Return the density of each row by bin, shape (draws, bins), outer bins open."""
    n_bins = len(EDGES) - 1
    width = EDGES[1] - EDGES[0]
    place = np.clip(np.searchsorted(EDGES, z) - 1, 0, n_bins - 1)
    place += n_bins * np.arange(len(z))[:, None]
    counts = np.bincount(place.ravel(), minlength=n_bins * len(z))
    return counts.reshape(len(z), n_bins) / (z.shape[1] * width)
