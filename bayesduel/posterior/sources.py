"""What each source of votes (people, a machine) says of the target's scores, and its biases."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.sparse import csr_array

from bayesduel.intervals import check_ci_prob, eti, with_interval
from bayesduel.models import Model, Sources
from bayesduel.models.cells import seats_of_both
from bayesduel.posterior.conditions import observed_conditions
from bayesduel.posterior.draws import check_fit
from bayesduel.records import Result
from bayesduel.system.options import Decision
from bayesduel.text import join, shorten

__all__ = ["SourceAgreement", "sources", "vote_information"]

SENTENCE = 24  # columns that a name has in a sentence of three names


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SourceAgreement(Result):
    """The result of :func:`bayesduel.sources`.

    Attributes
    ----------
    table
        One row a source, by name: ``votes``, ``target`` (weight in the target), ``correlation``
        (with the target's scores), ``scale`` (standard deviation of its scores) and ``left`` (its
        side advantage, in the unit of the scores; NaN if the model has none by source),
        each with ``_lower`` and ``_upper``, and ``worth`` (how many more votes of the target tell
        as much as its votes do; NaN for the target, and where that is a mix or has no votes).
    arms
        One row a source and arm: ``score`` by the source and ``target_score``, posterior means;
        ``difference`` (of the arm's score by the source from what the target's scores and the
        correlation say: above 0, the source favours the arm), with ``lower``, ``upper`` and
        ``positive``, the probability that it is above 0.
    target
        Whose scores are those of the fit, in words.
    unit
        Unit of the scores.
    ci_prob
        Probability of the intervals.
    """

    target: str
    unit: str
    ci_prob: float
    table: pd.DataFrame
    arms: pd.DataFrame

    @property
    def sentence(self) -> str:
        """What the votes of each source are worth, its agreement and its biases."""
        others = self.table.index[self.table["target"] < 1]
        return " ".join(map(self._words, others))

    def _words(self, source: str) -> str:
        row = self.table.loc[source]
        target = "the target"
        if not np.isnan(row["worth"]):
            target = shorten(self.target, SENTENCE)
        said = [_agreement_words(row, target)]
        bias = row["left"]
        if row["left_lower"] > 0 or row["left_upper"] < 0:
            side = "left" if bias > 0 else "right"
            by = abs(bias)
            said.append(f"it favours the {side} side by {by:.2g} {self.unit}")
        of_source = self.arms["source"] == source
        raised = self.arms["lower"] > 0
        favoured = self.arms[of_source & raised]
        if len(favoured):
            stand = _favoured_words(favoured)
            said.append(f"{stand} higher with it than with {target}")
        return f"{join(said, width=None)}."


def _agreement_words(row: pd.Series, target: str) -> str:
    """Return what the votes of a source are worth, if that is known, and how its scores agree."""
    name = shorten(str(row.name), SENTENCE)
    correlation = row["correlation"]
    lower = row["correlation_lower"]
    upper = row["correlation_upper"]
    interval = f"[{lower:.2f}, {upper:.2f}]"
    agrees = f"correlate with those of {target} by {correlation:.2f} {interval}"
    if np.isnan(row["worth"]):
        return f"The scores of {name} {agrees}"
    rounded = float(f"{row['worth']:.2g}")
    worth = f"{rounded:,.0f} votes of {target}"
    n_votes = row["votes"]
    votes = f"{n_votes:,.0f} votes of {name}"
    return f"{votes} are worth {worth} here: its scores {agrees}"


def _favoured_words(favoured: pd.DataFrame) -> str:
    """Return which arms "stand", those that a source favours most first."""
    first = favoured.nlargest(3, "difference")
    named = []
    for arm, by in zip(first["arm"], first["difference"], strict=True):
        label = shorten(arm, SENTENCE)
        named.append(f"{label} (by {by:.2g})")
    n_others = len(favoured) - len(first)
    if n_others:
        named.append(f"{n_others:,} others")
    stand = "stands" if len(named) == 1 else "stand"
    return f"{join(named, width=None)} {stand}"


def sources(fit: xr.DataTree, ci_prob: float = Decision.ci_prob) -> SourceAgreement:
    """Return how each source of votes agrees with the target, and what its votes are worth.

    Parameters
    ----------
    fit
        A fit of a model with :class:`bayesduel.models.Sources`.
    ci_prob
        Probability of the intervals, in (0, 1).

    Returns
    -------
    A :class:`SourceAgreement`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Notes
    -----
    The worth of a source is the number of further votes of the target, spread evenly over the
    pairs and as informative as those it has, with which the mean posterior variance of differences
    between arms would be that of the target's and the source's votes together. That variance has
    two parts: of the scores given the covariance of the sources, on average over its draws, and of
    their means over these draws, so that a source of which it is not known how far it agrees is
    worth less. Both follow from the expected information of each vote at the posterior means; what
    other terms leave unknown is left out.

    Examples
    --------
    >>> rows = {"left": "abba" * 20, "right": "bccc" * 20, "outcome": "1110" * 20}
    >>> rows = {name: list(text) for name, text in rows.items()}
    >>> rows["source"] = ["human"] * 8 + ["gpt"] * 72
    >>> duels = bd.read_duels(rows, keep=["source"])
    >>> fit = bd.fit(duels, bd.models.BradleyTerry(bd.models.Sources("source", target="human")))
    >>> bd.sources(fit).table["votes"].to_dict()
    {'gpt': 72, 'human': 8}
    """
    check_fit(fit)
    check_ci_prob(ci_prob)
    model = fit.duel.model
    term = _sources_term(model)
    draws = fit.duel.posterior("model")
    weights = np.array(term.weights)
    levels = term.levels or ()
    sigma = _covariances(term, draws)
    toward = sigma @ weights
    spread = toward @ weights  # (draws,): variance of the target's scores
    variances = np.diagonal(sigma, axis1=1, axis2=2)
    scale = np.sqrt(variances)
    target_scale = np.sqrt(spread)[:, None]
    correlation = toward / (scale * target_scale)
    by_source = draws[term.parameter]
    votes, information = _information(fit, model, term, draws)
    unknown = np.full(len(levels), np.nan)
    left = draws.get(f"order_by_{term.by}", unknown[None])
    worth = unknown
    target = None
    if isinstance(term.target, str):
        target = levels.index(term.target)
    if target is not None and votes[target]:
        told = _told(by_source, sigma, information)
        # 200 draws of the covariance for which the worth of votes is computed
        step = max(1, len(sigma) // 200)
        some = sigma[::step]
        worth = _worth(some, information, told, target, votes)
    columns: dict[str, Any] = {"votes": votes, "target": weights}
    columns |= with_interval("correlation", correlation, ci_prob)
    columns |= with_interval("scale", scale, ci_prob)
    columns |= with_interval("left", left, ci_prob)
    columns["worth"] = worth
    slope = toward / spread[:, None]
    labels = fit["posterior"]["arm"].to_numpy()
    found = []
    for s, level in enumerate(levels):
        if weights[s] == 1:
            continue
        own = by_source[:, s]
        arms = _by_arm(own, draws["score"], slope[:, s, None], ci_prob)
        arms.insert(0, "source", level)
        arms.insert(1, "arm", labels)
        found.append(arms)
    return SourceAgreement(
        table=pd.DataFrame(columns, index=pd.Index(levels, name="source")),
        arms=pd.concat(found, ignore_index=True),
        target=term.words,
        unit=str(fit.attrs["score_unit"]),
        ci_prob=ci_prob,
    )


def _sources_term(model: Model) -> Sources:
    for part in model.terms.arms:
        if isinstance(part, Sources):
            return part
    raise ValueError(
        "fit should be of a model with the term Sources, such as "
        f"BradleyTerry(Sources('source', target='human')), got {model.name}"
    )


def _by_arm(
    score: np.ndarray, target_score: np.ndarray, slope: np.ndarray, ci_prob: float
) -> pd.DataFrame:
    """Return the arms of one source: its scores beyond what the target's scores say of them.

    Draws of the scores have the shape (draws, K); the slope of the source on the target (draws, 1).
    """
    beyond = score - slope * target_score
    by_arm = np.ascontiguousarray(beyond.T)
    lower, upper = eti(by_arm, ci_prob)
    return pd.DataFrame(
        {
            "score": score.mean(axis=0),
            "target_score": target_score.mean(axis=0),
            "difference": beyond.mean(axis=0),
            "lower": lower,
            "upper": upper,
            "positive": (beyond > 0).mean(axis=0),
        }
    )


def _covariances(term: Sources, draws: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return covariances of an arm's scores between the sources, (draws, S, S)."""
    n_sources = len(term.levels or ())
    found = []
    for d in range(len(draws[term.spread])):
        scales = {name: draws[name][d] for name in term.scales}
        covariance = term.covariance(scales, n_sources)
        found.append(covariance)
    return np.stack(found)


def _information(
    fit: xr.DataTree, model: Model, term: Sources, draws: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the votes of each source, (S,), and their information on its scores, (S, K, K)."""
    given = observed_conditions(fit, model)
    means = {}
    for name, values in draws.items():
        means[name] = values.mean(axis=0, keepdims=True)
    n, of_vote = vote_information(fit, means)
    of_cell = n * of_vote
    source = given[f"{term.by}_of_cell"]
    n_arms = fit["posterior"].sizes["arm"]
    design = _members_less(given, n_arms)
    n_sources = len(term.levels or ())
    found = []
    for level in range(n_sources):
        own_cells = source == level
        own = design[own_cells]
        weight = of_cell[own_cells][:, None]
        weighted = own.multiply(weight)
        information = own.T @ weighted
        found.append(information.toarray())
    said = source >= 0
    votes = np.bincount(source[said], n[said], n_sources)
    return votes.astype(int), np.stack(found)


def _members_less(given: Mapping[str, np.ndarray], n_arms: int) -> csr_array:
    """Return the members of first less those of second of each cell, (cells, K)."""
    n_cells = len(given["first"])
    rows = np.arange(n_cells)
    shape = (n_cells, n_arms)
    found = csr_array(shape)
    for arm, share in seats_of_both(given):
        counted = np.broadcast_to(share, n_cells)
        entries = (counted, (rows, arm))
        found = found + csr_array(entries, shape=shape)
    return found


def vote_information(
    fit: xr.DataTree, draws: dict[str, np.ndarray], most: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return the votes of each cell, and the expected information of one on its predictor.

    Both (cells,); the information is averaged over `most` draws, evenly spaced.
    """
    model = fit.duel.model
    given = observed_conditions(fit, model)
    counted = "vote_weight" if model.response.outcome == "margin" else "n"
    n = fit["constant_data"][counted].to_numpy()
    n_draws = len(next(iter(draws.values())))
    step = max(1, n_draws // most)
    found = []
    for d in range(0, n_draws, step):
        here = slice(d, d + 1)
        draw = {name: values[here] for name, values in draws.items()}
        known = model.parameters(draw)
        eta = model.eta(known, given)
        information = _of_outcome(model, eta, known, given)
        found.append(information[0])
    return n, np.mean(found, axis=0)


def _of_outcome(
    model: Model, eta: np.ndarray, known: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Return the expected information of one outcome on its predictor, the shape of `eta`."""
    arms = given["first"], given["second"]
    margin = model.response.margin(eta, known, *arms)
    if margin is not None:
        _, scale, degrees = margin
        scales = np.asarray(scale, float)
        information = margin_information(scales, np.asarray(degrees, float))
        return np.broadcast_to(information, eta.shape)
    results = model.response.results
    step = 1e-4  # of a central difference, which is right to the square of it
    lower = results(eta - step, known, *arms)
    upper = results(eta + step, known, *arms)
    slope = (upper - lower) / (2 * step)
    chances = results(eta + 0.0, known, *arms)
    by_result = slope**2 / chances
    return np.asarray(by_result.sum(axis=-1))


def margin_information(scale: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Return the Fisher information of a margin on its location.

    Student's t has the share (df + 1) / (df + 3) of the information of a normal margin.
    """
    with np.errstate(invalid="ignore"):
        of_normal = (degrees + 1) / (degrees + 3)
    of_standard = np.where(np.isinf(degrees), 1.0, of_normal)
    return of_standard / scale**2


def _told(scores: np.ndarray, sigma: np.ndarray, information: np.ndarray) -> np.ndarray:
    """Return the information of the sources' votes times the scores that they say, (S, K).

    Where the scores given a covariance are normal, the precision times a draw of them (draws, S, K)
    has these as its mean, whatever the covariance (draws, S, S); draws count as they are precise.
    """
    precision = np.linalg.inv(sigma)
    total = np.trace(precision, axis1=1, axis2=2)
    weight = 1 / total
    weight /= weight.sum()
    of_prior = np.einsum("d,dst,dtk->sk", weight, precision, scores)
    mean = np.tensordot(weight, scores, 1)
    of_votes = np.einsum("skl,sl->sk", information, mean)
    return of_prior + of_votes


def _worth(
    sigma: np.ndarray, information: np.ndarray, told: np.ndarray, target: int, votes: np.ndarray
) -> np.ndarray:
    """Return the target's votes that each source is worth, (S,), NaN for the target."""
    n_arms = information.shape[1]
    # On differences alone: the direction in which all arms move together is known of no votes.
    centre = np.eye(n_arms) - 1 / n_arms
    prior_variance = sigma[:, target, target].mean()
    prior = 1 / prior_variance * centre
    own = information[target]
    eigenvalues = np.linalg.eigvalsh(own + prior)
    precisions = eigenvalues[1:]
    of_votes = np.trace(own) / (n_arms - 1)
    of_vote = of_votes / votes[target]
    in_votes = precisions / of_vote
    n_sources = len(information)
    found = np.full(n_sources, np.nan)
    for s in range(n_sources):
        if s == target:
            continue
        pair = np.array([target, s])
        joint = sigma[:, pair][:, :, pair]
        variance = _joint_variance(joint, information[pair], told[pair], centre)
        found[s] = _further(in_votes, variance * of_vote)
    return found


def _joint_variance(
    sigma: np.ndarray, information: np.ndarray, told: np.ndarray, centre: np.ndarray
) -> float:
    """Return the variance of differences of the target's scores, with the votes of two sources.

    The target is the first of the two: `sigma` (draws, 2, 2), `information` (2, K, K), and that
    times their scores (2, K). The variance is that given the covariance, on average, and that of
    the means.
    """
    unit = np.eye(len(centre))
    # In the eigenvectors of the other source's information, its scores are integrated out by arm.
    values, vectors = np.linalg.eigh(information[1])
    rotated = vectors.T @ told[1]
    variance = 0.0
    means = []
    for precision in np.linalg.inv(sigma):
        own = precision[0, 0]
        between = precision[0, 1]
        of_other = precision[1, 1] + values
        toward = between * vectors / of_other
        lent = between * toward @ vectors.T
        of_target = own * unit + information[0] - lent
        covariance = np.linalg.inv(of_target)
        of_differences = centre @ covariance
        variance += np.trace(of_differences) / len(sigma)
        told_target = told[0] - toward @ rotated
        means.append(of_differences @ told_target)
    of_means = np.var(means, axis=0).sum()
    return float(variance + of_means)


def _further(precisions: np.ndarray, wanted: float) -> float:
    """Return by how much all precisions are raised where the sum of variances is `wanted`."""
    from scipy.optimize import brentq

    def above(further: float) -> float:
        variances = 1 / (precisions + further)
        return float(variances.sum() - wanted)

    if above(0.0) <= 0:
        return 0.0
    most = len(precisions) / wanted
    return float(brentq(above, 0.0, most))
