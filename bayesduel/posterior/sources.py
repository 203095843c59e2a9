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
from bayesduel.models.cells import seats
from bayesduel.posterior.conditions import observed_conditions
from bayesduel.posterior.draws import check_fit
from bayesduel.system.options import Decision
from bayesduel.text import Result, join, shorten

__all__ = ["SourceAgreement", "sources", "vote_information"]

STEP = 1e-4  # of the predictor, for the information of an outcome
SENTENCE = 24  # columns that a name has in a sentence


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
        return " ".join(map(self._words, self.table.index[self.table["target"] < 1]))

    def _words(self, source: str) -> str:
        row = self.table.loc[source]
        name = shorten(str(source), SENTENCE)
        no_worth = np.isnan(row["worth"])
        target = "the target" if no_worth else shorten(self.target, SENTENCE)
        ends = f"[{row['correlation_lower']:.2f}, {row['correlation_upper']:.2f}]"
        agrees = f"correlate with those of {target} by {row['correlation']:.2f} {ends}"
        said = []
        if no_worth:
            said.append(f"The scores of {name} {agrees}")
        else:
            rounded = float(f"{row['worth']:.2g}")
            worth = f"{rounded:,.0f} votes of {target}"
            votes = f"{row['votes']:,.0f} votes of {name}"
            said.append(f"{votes} are worth {worth} here: its scores {agrees}")
        if row["left_lower"] > 0 or row["left_upper"] < 0:
            side = "left" if row["left"] > 0 else "right"
            said.append(f"it favours the {side} side by {abs(row['left']):.2g} {self.unit}")
        moved = self.arms[(self.arms["source"] == source) & (self.arms["lower"] > 0)]
        if len(moved):
            first = moved.nlargest(3, "difference")
            named = [
                f"{shorten(arm, SENTENCE)} (by {by:.2g})"
                for arm, by in zip(first["arm"], first["difference"], strict=True)
            ]
            if len(moved) > len(first):
                named.append(f"{len(moved) - len(first):,} others")
            stand = "stands" if len(named) == 1 else "stand"
            said.append(f"{join(named, width=None)} {stand} higher with it than with {target}")
        return f"{join(said, width=None)}."


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
    term = next((part for part in model.terms.arms if isinstance(part, Sources)), None)
    if term is None:
        raise ValueError(
            "fit should be of a model with the term Sources, such as "
            f"BradleyTerry(Sources('source', target='human')), got {model.name}"
        )
    draws = fit.duel.posterior("model")
    weights = np.array(term.weights)
    levels = term.levels or ()
    sigma = _covariances(term, draws)
    toward = sigma @ weights
    spread = toward @ weights  # (draws,): variance of the target's scores
    own = np.sqrt(np.diagonal(sigma, axis1=1, axis2=2))
    correlation = toward / (own * np.sqrt(spread)[:, None])
    votes, information = _information(fit, model, term, draws)
    columns: dict[str, Any] = {"votes": votes, "target": weights}
    columns |= with_interval("correlation", correlation, ci_prob)
    columns |= with_interval("scale", own, ci_prob)
    left = draws.get(f"order_by_{term.by}", np.full((1, len(levels)), np.nan))
    columns |= with_interval("left", left, ci_prob)
    by_source = draws[term.parameter]
    columns["worth"] = np.full(len(levels), np.nan)
    target = levels.index(term.target) if isinstance(term.target, str) else None
    if target is not None and votes[target]:
        told = _told(by_source, sigma, information)
        # 200 draws of the covariance for which the worth of votes is computed
        step = max(1, len(sigma) // 200)
        columns["worth"] = _worth(sigma[::step], information, told, target, votes)
    slope = toward / spread[:, None]
    arms = fit["posterior"]["arm"].to_numpy()
    found = []
    for s, level in enumerate(levels):
        if weights[s] == 1:
            continue
        beyond = by_source[:, s] - slope[:, s, None] * draws["score"]
        lower, upper = eti(np.ascontiguousarray(beyond.T), ci_prob)
        of_source = {
            "source": level,
            "arm": arms,
            "score": by_source[:, s].mean(axis=0),
            "target_score": draws["score"].mean(axis=0),
            "difference": beyond.mean(axis=0),
            "lower": lower,
            "upper": upper,
            "positive": (beyond > 0).mean(axis=0),
        }
        found.append(pd.DataFrame(of_source))
    return SourceAgreement(
        table=pd.DataFrame(columns, index=pd.Index(levels, name="source")),
        arms=pd.concat(found, ignore_index=True),
        target=term.words,
        unit=str(fit.attrs["score_unit"]),
        ci_prob=ci_prob,
    )


def _covariances(term: Sources, draws: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return covariances of an arm's scores between the sources, (draws, S, S)."""
    found = []
    for d in range(len(draws[term.spread])):
        scales = {name: draws[name][d] for name in term.scales}
        found.append(term.covariance(scales, len(term.levels or ())))
    return np.stack(found)


def _information(
    fit: xr.DataTree, model: Model, term: Sources, draws: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the votes of each source, (S,), and their information on its scores, (S, K, K)."""
    given = observed_conditions(fit, model)
    means = {name: values.mean(axis=0, keepdims=True) for name, values in draws.items()}
    n, of_vote = vote_information(fit, means)
    of_cell = n * of_vote
    source = given[f"{term.by}_of_cell"]
    design = _members_less(given, fit["posterior"].sizes["arm"])
    size = len(term.levels or ())
    found = []
    for level in range(size):
        own_cells = source == level
        own = design[own_cells]
        weighted = own.multiply(of_cell[own_cells][:, None])
        found.append((own.T @ weighted).toarray())
    said = source >= 0
    votes = np.bincount(source[said], n[said], size)
    return votes.astype(int), np.stack(found)


def _members_less(given: Mapping[str, np.ndarray], n_arms: int) -> csr_array:
    """Return the members of first less those of second of each cell, (cells, K)."""
    rows = np.arange(len(given["first"]))
    shape = (len(rows), n_arms)
    found = csr_array(shape)
    for side, sign in (("first", 1.0), ("second", -1.0)):
        for arm, share in seats(given, side):
            counted = np.broadcast_to(sign * share, rows.shape)
            found = found + csr_array((counted, (rows, arm)), shape=shape)
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
        known = model.parameters({name: v[d : d + 1] for name, v in draws.items()})
        eta = model.eta(known, given)
        found.append(_of_outcome(model, eta, known, given)[0])
    return n, np.mean(found, axis=0)


def _of_outcome(
    model: Model, eta: np.ndarray, known: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Return the expected information of one outcome on its predictor, the shape of `eta`."""
    arms = given["first"], given["second"]
    margin = model.response.margin(eta, known, *arms)
    if margin is not None:
        _, scale, degrees = (np.asarray(part, dtype=float) for part in margin)
        with np.errstate(invalid="ignore"):
            of_t = np.where(np.isinf(degrees), 1.0, (degrees + 1) / (degrees + 3))
        return np.broadcast_to(of_t / scale**2, eta.shape)
    lower, chances, upper = (
        model.response.results(eta + away, known, *arms) for away in (-STEP, 0.0, STEP)
    )
    slope = (upper - lower) / (2 * STEP)
    return np.asarray((slope**2 / chances).sum(axis=-1))


def _told(scores: np.ndarray, sigma: np.ndarray, information: np.ndarray) -> np.ndarray:
    """Return the information of the sources' votes times the scores that they say, (S, K).

    Where the scores given a covariance are normal, the precision times a draw of them (draws, S, K)
    has these as its mean, whatever the covariance (draws, S, S); draws count as they are precise.
    """
    precision = np.linalg.inv(sigma)
    weight = 1 / np.trace(precision, axis1=1, axis2=2)
    weight /= weight.sum()
    before = np.einsum("d,dst,dtk->sk", weight, precision, scores)
    return before + np.einsum("skl,sl->sk", information, np.tensordot(weight, scores, 1))


def _worth(
    sigma: np.ndarray, information: np.ndarray, told: np.ndarray, target: int, votes: np.ndarray
) -> np.ndarray:
    """Return the target's votes that each source is worth, (S,), NaN for the target."""
    n_arms = information.shape[1]
    centre = np.eye(n_arms) - 1 / n_arms
    # On differences alone: the direction in which all arms move together is known of no votes.
    prior = 1 / sigma[:, target, target].mean() * centre
    met = np.linalg.eigvalsh(information[target] + prior)[1:]
    a_vote = np.trace(information[target]) / (n_arms - 1) / votes[target]
    found = np.full(len(information), np.nan)
    for s in np.delete(np.arange(len(information)), target):
        values, vectors = np.linalg.eigh(information[s])
        pair = np.array([target, s])
        variance = 0.0
        means = []
        for joint in np.linalg.inv(sigma[:, pair][:, :, pair]):
            toward = joint[0, 1] * vectors / (joint[1, 1] + values)
            lent = joint[0, 1] * toward @ vectors.T
            known = np.linalg.inv(joint[0, 0] * np.eye(n_arms) + information[target] - lent)
            variance += np.trace(centre @ known) / len(sigma)
            of_target = told[target] - toward @ (vectors.T @ told[s])
            means.append(centre @ known @ of_target)
        wanted = variance + np.var(means, axis=0).sum()
        found[s] = _further(met / a_vote, wanted * a_vote)
    return found


def _further(met: np.ndarray, wanted: float) -> float:
    """Return by how much all of `met` are raised where the sum of their inverses is `wanted`."""
    from scipy.optimize import brentq

    def above(further: float) -> float:
        return float((1 / (met + further)).sum() - wanted)

    if above(0.0) <= 0:
        return 0.0
    return float(brentq(above, 0.0, len(met) / wanted))
