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

from bayesduel.criticism.levels import grouped, rows_of_columns, size_of
from bayesduel.data.votes import pair_codes
from bayesduel.inference.datatree import BY_CELL
from bayesduel.intervals import TAILS95, rejected
from bayesduel.models.cells import ModelCells, data_of_rows
from bayesduel.posterior.conditions import observed_conditions
from bayesduel.posterior.draws import chunks, draws_of
from bayesduel.records import Result
from bayesduel.system.arguments import whole
from bayesduel.text import join, plural

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
        n_failed = rejected(order, 0.05)
        return [str(name) for name in order.index[:n_failed]]

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
            shown = join(shown_check(name, noun) for name in names)
            least = self.table["p_value"].min()
            return (
                f"The {self.n_margins:,} margins are consistent with the model by all of "
                f"{len(names)} checks ({shown}; smallest p = {least:.2g})."
            )
        deviations = []
        for name in failed:
            deviation = CHECKS[name].format(nouns=nouns)
            deviations.append(f"{deviation}, p {self.p_words(name)}")
        words = f"The margins deviate from the model: {'; '.join(deviations)}."
        once = bool((self.pairs["duels"] == 1).all())
        fine = [name for name in names if name not in failed]
        if once and "pairs" in fine:
            fine.remove("pairs")
        if fine:
            shown = join(shown_check(name, noun) for name in fine)
            words += f" The other checks find nothing ({shown})."
        if once:
            words += " Pairs have one margin each, so that their means cannot be checked."
        return words

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


def _joined(parts: list[_Summary]) -> _Summary:
    """Return the summary of all draws from those of parts of them."""
    return _Summary(*map(np.concatenate, zip(*parts, strict=True)))


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
    used = of_fit.spread(draws)
    posterior = of_fit.rows(used)
    n_draws = len(used)
    if fit.duel.teams is not None:
        labels = fit.duel.teams.labels(labels)
    n_arms = len(labels)
    weight = fit["constant_data"]["vote_weight"].to_numpy()
    rows = np.repeat(np.arange(len(weight)), weight)
    given = data_of_rows(observed_conditions(fit, model), rows)
    left = given["first"]
    right = given["second"]
    margin = fit["observed_data"]["margin"].to_numpy()[rows]
    sign = np.where(left < right, 1.0, -1.0)
    pair = pair_codes(left, right, n_arms)
    met, place = np.unique(pair, return_inverse=True)
    by_pair = grouped(place, len(met))
    by_arm = grouped(left, n_arms) + grouped(right, n_arms)
    to_root = per_root(by_pair)
    size = size_of(by_pair)
    rng = np.random.default_rng(seed)

    def summary(values: np.ndarray) -> _Summary:
        pair_means = (sign * values) @ to_root
        found = statistics(values, pair_means, by_pair, by_arm)
        ordered = np.sort(pair_means, axis=1)
        return _Summary(found.T, histogram(values), ordered)

    summaries = []
    replicates = []
    residual = np.zeros(len(met))
    off = np.zeros(len(met))
    # 4,000,000 residuals worked on at once
    for part in chunks(n_draws, 4_000_000 // len(margin)):
        here = rows_of_columns(posterior, part)
        middle, spread, degrees = model.margins(here, given)
        away = margin - middle
        z = away / spread
        if not np.isinf(degrees).all():
            z = normal_scores(z, degrees)
        off_of_pairs = (sign * away) @ by_pair
        off += off_of_pairs.sum(axis=0)
        residual_of_pairs = (sign * z) @ to_root
        residual += residual_of_pairs.sum(axis=0)
        made = rng.standard_normal(z.shape)
        summaries.append(summary(z))
        replicates.append(summary(made))
    observed = _joined(summaries)
    replicated = _joined(replicates)
    as_large = replicated.statistics >= observed.statistics
    n_as_large = as_large.sum(axis=0)
    share = (1 + n_as_large) / (1 + n_draws)
    lower, upper = np.quantile(replicated.histogram, TAILS95, axis=0)
    ordered_lower, ordered_upper = np.quantile(replicated.ordered, TAILS95, axis=0)
    columns = {
        "observed": observed.statistics.mean(axis=0),
        "expected": replicated.statistics.mean(axis=0),
        "share": share,
        "p_value": np.minimum(2 * share, 1.0),
    }
    checks = pd.Index(list(CHECKS), name="check")
    residual /= n_draws
    first, second = np.divmod(met, n_arms)
    pairs = pd.DataFrame(
        {
            "first": [labels[arm] for arm in first],
            "second": [labels[arm] for arm in second],
            "duels": size.astype(int),
            "residual": residual,
            "off": off / size / n_draws,
        }
    )
    farthest_first = np.argsort(-np.abs(residual), kind="stable")
    return MarginCheck(
        table=pd.DataFrame(columns, index=checks),
        pairs=pairs.iloc[farthest_first].reset_index(drop=True),
        edges=EDGES,
        density=observed.histogram.mean(axis=0),
        lower=lower,
        upper=upper,
        ordered=observed.ordered.mean(axis=0),
        ordered_lower=ordered_lower,
        ordered_upper=ordered_upper,
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
    given = observed_conditions(fit, model)
    design = fit["constant_data"]
    dims: tuple[str, ...]
    if model.response.outcome == "margin":
        name = "margin"
        dims = ("chain", "draw", "vote")
        made = model.replicate(posterior, given, rng)
    else:
        name = "outcome"
        dims = ("chain", "draw", "cell")
        counted = design["n"].to_numpy()
        n = np.rint(counted).astype(np.int64)
        # Distance from a whole number that rounding explains: 1e-6
        if abs(n - counted).max() > 1e-6:
            raise ValueError(
                "fit should have no sampling weights, because the model draws whole votes: fit the "
                "log without weights"
            )
        p = model.results(posterior, given)
        if "result" in fit["observed_data"].dims:
            dims = (*dims, "result")
            total = p.sum(axis=-1, keepdims=True)
            made = rng.multinomial(n, p / total).astype(float)
        else:
            first_wins = p[..., 0]
            made = rng.binomial(n, first_wins).astype(float)
    one_chain = made[None]
    predicted: dict[str, Any] = {name: (dims, one_chain)}
    observed = fit["observed_data"].dataset
    if "result" in dims:
        points = model.response.result_points
        made_points = made @ points
        predicted["points"] = (dims[:-1], made_points[None])
        of_result = xr.DataArray(points, dims="result")
        observed = observed.assign(points=observed["outcome"] @ of_result)
    groups = {
        "posterior": _of_draws(fit.duel.sampled, used),
        "posterior_predictive": xr.Dataset(predicted),
        "observed_data": observed,
        "constant_data": design.dataset,
    }
    pointwise = _log_likelihood(fit, model, posterior, used)
    if pointwise is not None:
        name = "points" if "points" in predicted else name
        kept_as = next(iter(pointwise))
        groups["log_likelihood"] = pointwise.rename({kept_as: name})
    tree = xr.DataTree.from_dict(groups)
    tree.attrs.update(fit.attrs)
    return tree


def _of_draws(group: xr.Dataset, used: np.ndarray) -> xr.Dataset:
    """Return some draws of a group as one chain; `used` are their places, chain after chain."""
    kept = {}
    for name, variable in group.data_vars.items():
        _, _, *shape = variable.shape
        draws = variable.values.reshape(-1, *shape)[used]
        kept[str(name)] = (variable.dims, draws[None])
    coords = group.drop_vars(["chain", "draw"], errors="ignore").coords
    one_chain = xr.Dataset(kept, coords=coords)
    return one_chain.assign_coords(chain=[0], draw=np.arange(len(used)))


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
    zeros = 0 * margin
    of_one = np.stack([margin, zeros, zeros], axis=1)
    data = {"n": one, "n_left": one, "margins": of_one}
    given = observed_conditions(fit, model)
    cells = ModelCells(log=None, seen=None, data=given | data)
    values = model.log_likelihood(posterior, cells)
    return xr.Dataset({"margin": (("chain", "draw", "vote"), values[None])})


def per_root(member: sparse.csr_array) -> sparse.csr_array:
    """Return weights that give the means of groups times the root of their size."""
    size = np.maximum(size_of(member), 1.0)
    return sparse.csr_array(member / np.sqrt(size))


def normal_scores(z: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Map Student residuals to the normal scale, from the nearer tail."""
    tail = stdtr(degrees, -np.abs(z))
    below_zero = ndtri(np.maximum(tail, 1e-300))
    sign = np.where(z < 0, 1.0, -1.0)
    return sign * below_zero


def statistics(
    z: np.ndarray, pair_means: np.ndarray, by_pair: sparse.csr_array, by_arm: sparse.csr_array
) -> np.ndarray:
    """Return the statistics of residuals (draws, n), in the order of the checks, (6, draws)."""
    mean = z.mean(axis=1, keepdims=True)
    about = z - mean
    variance = (about**2).mean(axis=1)
    kurtosis = (about**4).mean(axis=1) / variance**2
    skewness = (about**3).mean(axis=1) / variance**1.5
    square_of_pairs = (pair_means**2).mean(axis=1)
    found = [
        np.abs(mean[:, 0]),
        np.abs(kurtosis - 3.0),
        np.abs(skewness),
        np.sqrt(square_of_pairs),
    ]
    beyond = z**2 - 1.0
    for groups in (by_arm, by_pair):
        excess = beyond @ per_root(groups)
        of_met = excess[:, size_of(groups) > 0]
        square = (of_met**2).mean(axis=1)
        found.append(np.sqrt(square / 2))
    return np.stack(found)


def histogram(z: np.ndarray) -> np.ndarray:
    """Return the density of each row by bin, shape (draws, bins), outer bins open."""
    n_rows, n_values = z.shape
    n_bins = len(EDGES) - 1
    width = EDGES[1] - EDGES[0]
    edge = np.searchsorted(EDGES, z) - 1
    place = np.clip(edge, 0, n_bins - 1)
    first_bin = n_bins * np.arange(n_rows)
    place += first_bin[:, None]
    counts = np.bincount(place.ravel(), minlength=n_bins * n_rows)
    return counts.reshape(n_rows, n_bins) / (n_values * width)
