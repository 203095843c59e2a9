"""Winners of a fit, with their uncertainty, and the verdict.

The winners under every criterion are found in each posterior draw of the preference matrix; the
result is how often each arm won. See `bayesduel.posterior.verdict` for the rule that turns this
into a sentence.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, get_args

import numpy as np
import pandas as pd
import xarray as xr
from xarray.indexes import PandasIndex

from bayesduel.data.duels import Duels
from bayesduel.data.rankings import Rankings
from bayesduel.data.read.duels import log_in
from bayesduel.inference.datatree import dataset
from bayesduel.inference.fit import fit as fit_model
from bayesduel.posterior.dependence import (
    Dependence,
    FewClustersWarning,
    MissingLabelWarning,
    RepeatedVotesWarning,
    dependence_of,
)
from bayesduel.posterior.draws import Draws, check_fit, draws_of, tie_share, without_retired
from bayesduel.posterior.election import (
    ElectionResult,
    PairSummary,
    Ties,
    hold_elections,
    pair_summary,
)
from bayesduel.posterior.election_of_many import (
    OpponentsOfMany,
    borda_of_many,
    interval_by_arm,
    tiers_of_many,
)
from bayesduel.posterior.estimand import estimand, estimand_words
from bayesduel.posterior.separation import rank_range, separation, tiers
from bayesduel.posterior.top_k import check_k
from bayesduel.posterior.upset import upset_words
from bayesduel.posterior.verdict import BestArmVerdict, decide
from bayesduel.posterior.verdict_check import TransitivityCheck, checked, rejects
from bayesduel.posterior.winners_record import Winners
from bayesduel.preference import CRITERIA
from bayesduel.system.arguments import check_noun, check_one_of, shown_value
from bayesduel.system.options import Decision, check_options
from bayesduel.system.warnings import warn
from bayesduel.text import count, join, plural

__all__ = ["Winners", "check_decision", "winners"]

TEAMS_APART = "that the teams do not compare"


def winners(
    fit: xr.DataTree,
    *,
    rope: float = Decision.rope,
    confidence: float = Decision.confidence,
    k: int | None = None,
    ties: Ties = "strict",
    covariance: str = "auto",
    check: TransitivityCheck | None = None,
    at: Mapping[str, str] | None = None,
    weights: Mapping[str, Mapping[str, float]] | None = None,
    retired: Sequence[str] = (),
    noun: str = "arm",
) -> Winners:
    """Return who wins, under every criterion, with uncertainty, and the verdict.

    Parameters
    ----------
    fit
        What `bayesduel.fit` returned; or what `bayesduel.check` did, for the winners of the
        model picked there (:meth:`Check.using`), or of the stacked one; or a log or a frame of
        one, which `bayesduel.fit` fits as it does by default.
    rope
        A win probability within this of 1/2 does not matter in practice; in [0, 0.5).
    confidence
        Posterior probability that a definite verdict, the tiers and the intervals need; in
        (0.5, 1).
    k
        Size of the top set, which is the first k arms of the ranking. Default: 3, or K - 1 if
        that is less.
    ties
        What an opponent at exactly 1/2 counts for in Copeland scores: "strict" (nothing) or
        "half".
    covariance
        "model" (every vote independent), "judge", "group" or "judge and group" (cluster-robust),
        or "auto": the clustering that covers all votes which the log repeats. By judge where a
        judge cast several votes, by group where a group holds several, by both where both do
        (by the larger where one lies within the other). ``attrs["covariance"]`` says which,
        ``attrs["dependence"]`` why. Where the model has a side advantage or covariates of the duel,
        ``attrs["controls"]`` says which duels the winners are of.
    check
        What :func:`bayesduel.check` found on the log. Where it rejects the ranking that the model
        assumes, the verdict is read from a model that allows cycles and controls for what the model
        does (``Check.answer_without_ranking``),
        and that of the ranking is ``attrs["ranking_verdict"]``. Default: no check is made, which
        ``attrs["check"]`` says: a check replicates the log some thousand times, and winners of a
        fit need none of it.
    at, weights
        Which duels the answer is about, as in :func:`bayesduel.estimand`: the level of a column, or
        how much each counts.
    retired
        Labels of arms that are no longer in question. Their duels stay in the fit; verdict, ranks,
        win rates and winners are among the other arms, and the record has only these.
    noun
        What an arm is called in the sentences: "model", "player".

    Returns
    -------
    A record, whose ``.to_dataset()`` is an ``xarray.Dataset``. Its arms are in the order of
    ``fit.duel.arms``. What is printed, ``.table()`` and
    ``.to_dataframe()`` have the best arm first; so has ``winners.sortby("rank_mean")``.

    By criterion and arm: ``winner_probability`` (of being among the winners; for von Neumann the
    mean weight in the maximin mixture), ``winner_share`` (a win split among those
    who tie for it: sums to 1, for Condorcet to ``condorcet_exists``). By arm:
    ``rank_mean``, ``_lower``, ``_upper`` (1 is best; quantiles of the rank in the draws),
    ``rank_joint_lower``, ``rank_joint_upper`` (by pairwise certainty, see
    :mod:`bayesduel.posterior.separation`), ``rank_probability`` (by rank too),
    ``top_k_probability``, ``win_rate``, ``_lower``, ``_upper``, ``_quarter``,
    ``_three_quarters``, ``tier``, ``unbeaten_probability`` (no arm beats it by more than
    the rope), ``smith_probability``, ``von_neumann_support``. By arm and opponent:
    ``preference_mean``, ``_lower``, ``_upper``, ``beats_probability``, ``tie_mean`` (probability of
    a tie, in models that have it as an outcome) and, for score models,
    ``score_difference_mean``, ``_lower``, ``_upper``: contrasts, so that no interval depends
    on a reference arm. ``order`` holds the arms' indices, best mean rank first. Attributes:
    ``verdict`` (a sentence), ``check`` (what the check found, or "not made"), ``upset`` (without a
    check: a pair whose duels say the contrary of the ranking, beyond chance; or ""),
    ``verdict_kind``,
    ``verdict_arms``, ``verdict_probability``, ``top_set`` (the first k arms of ``order``),
    ``top_set_probability`` (that they are the k best; :func:`bayesduel.top_k` has the most
    probable sets), ``tier_errors`` (of each boundary: posterior
    probability that some arm below it ranks at least as high as the first arm of the tier above)
    and the largest, ``tier_error``, ``monte_carlo_error``, ``n_clusters`` and
    ``degrees_of_freedom`` (of cluster-robust errors), ``votes_without_label`` (of the roles by
    which errors are robust: votes without a judge or group) and what was asked.

    Over 1,000 arms of a model whose criteria agree there are no variables by arm and opponent and
    no ``rank_probability``; ``score_mean`` and ``score_sd`` by arm take their place, Borda scores
    are of all draws, and rank ranges and tiers are by normal bounds
    (:mod:`bayesduel.posterior.election_of_many`).

    Arms rank by score in score models, by the Borda scores of the draw in others. Intervals
    are equal-tailed and hold `confidence`. Over 100 arms those of pairs
    and of Borda scores use every n-th draw; ``pair_draws`` says how many that are.

    Raises
    ------
    TypeError
        If `fit` is none of these.
    ValueError
        If another argument is out of its range; the message names it.

    Warns
    -----
    FewClustersWarning
        If "auto" finds fewer than 3 clusters: the verdict is then "undecided".
    MissingLabelWarning
        If standard errors are cluster-robust and 5 % of the votes or more name no judge (or group).
    RepeatedVotesWarning
        If votes are repeated and the model has no cluster-robust errors.

    Examples
    --------
    >>> winners = bd.winners(bd.fit(bd.datasets.load("tennis1990")))
    >>> winners.verdict
    'Not enough data yet: the best arm is one of Graf, Seles and Navratilova (probability 0.97).'
    >>> winners.rank.to_series().sort_values().head(2)
    arm
    Graf     1
    Seles    2
    Name: rank, dtype: int64
    """
    check_decision(rope, confidence)
    check_noun(noun)
    check_one_of(ties, "ties", get_args(Ties))
    if check is not None and not isinstance(check, TransitivityCheck):
        raise TypeError(f"check should be what bayesduel.check found, got {shown_value(check)}")
    tree = _fit_in(fit)
    if at is not None or weights is not None:
        tree = estimand(tree, at=at, weights=weights)
    draws, labels, used = draws_of(tree, covariance)
    arms = labels
    if retired:
        draws, labels = without_retired(draws, arms, retired)
    dependence = dependence_of(tree, used, covariance, noun)
    _warn_of(dependence)
    n_arms = len(labels)
    if k is None:
        k = min(3, n_arms - 1)
    else:
        k = check_k(k, n_arms)

    found, pairs = _elected(draws, rope, ties, confidence)
    share_of_ties = tie_share(tree)
    options = _decision(tree, rope, confidence, dependence.refusal, noun)
    parts = _groups_of(tree, labels)
    if len(parts) > 1:
        why = TEAMS_APART if "teams" in tree.attrs else "that never met"
        verdict, inside = _in_parts(draws, labels, parts, ties, why, **options)
    else:
        verdict = decide(draws, found, pairs, labels, **options)
        inside = []
    borda = pairs.borda if found.borda is None else found.borda
    win_rate = pairs.borda.mean(0)
    mean_rank = found.rank.mean(0)
    order = np.lexsort((-win_rate, mean_rank))
    value = borda if draws.score is None else draws.score
    if draws.many:
        tier, ranges = tiers_of_many(value, order, confidence)
    else:
        apart = separation(value, confidence)
        tier = tiers(apart, order)
        ranges = rank_range(apart)
    tier_errors = _tier_errors(found.rank, order, tier)
    top = order[:k]
    in_top = found.rank[:, top] < k
    top_probability = float(in_top.all(axis=1).mean())
    upset = ""
    if check is None and draws.score is not None and isinstance(pairs, PairSummary):
        mean = _of_all(pairs.mean, draws.arms, len(arms))
        upset = upset_words(tree, mean, used)
    attrs = {
        "verdict": f"{verdict.words} {upset}".rstrip(),
        "verdict_overall": verdict.sentence,
        "upset": upset,
        "refusal": dependence.refusal,
        "verdict_kind": verdict.kind,
        "verdict_arms": json.dumps(verdict.arms),
        "verdict_probability": verdict.probability,
        "safe_choices": json.dumps(verdict.safe),
        "component_verdicts": json.dumps(inside),
        "rope": float(rope),
        "confidence": float(confidence),
        "k": k,
        "top_set": json.dumps([labels[a] for a in top]),
        "top_set_probability": top_probability,
        "tier_error": max(tier_errors, default=0.0),
        "tier_errors": json.dumps(tier_errors),
        "ties": ties,
        **dependence.attrs,
        "controls": estimand_words(tree),
        "ranked_by": "Borda score" if draws.score is None else "score",
        "n_draws": draws.n_draws,
        "pair_draws": pairs.n_draws,
        "effective_draws": float(tree.attrs["importance_ess"]),
        "monte_carlo_error": options["monte_carlo_error"],
        "model": tree.attrs.get("model", ""),
        "model_words": draws.model.titled(noun),
        "noun": noun,
        "method": tree.attrs.get("method", ""),
        "model_reasons": tree.attrs.get("model_reasons", "[]"),
        "source": tree.attrs.get("source", ""),
        "log_type": draws.model.log_type,
        "tie_share": share_of_ties,
    }
    if retired:
        left_out = [arm for arm in arms if arm not in labels]
        attrs["retired"] = json.dumps(left_out)
    coords = {"arm": list(labels), "rank": np.arange(1, n_arms + 1), "criterion": list(CRITERIA)}
    variables = _variables(found, borda, order, tier, ranges, k, confidence)
    if isinstance(pairs, PairSummary):
        coords["opponent"] = list(labels)
        variables |= _by_pair(found, pairs)
    else:
        variables |= {
            "score_mean": (("arm",), value.mean(axis=0, dtype=float)),
            "score_sd": (("arm",), value.std(axis=0, dtype=float)),
        }
    data = dataset(variables).data_vars
    made = xr.Dataset(data, _coordinates(coords), attrs)
    result = Winners(made)
    if check is None or not rejects(check, tree):
        return checked(result, check, result, noun=noun)
    cyclic, why = check.answer_without_ranking(draws.model)
    other = None
    if cyclic is not None:
        other = winners(
            cyclic, rope=rope, confidence=confidence, ties=ties, retired=retired, noun=noun
        )
    return checked(result, check, other, why, noun)


def _fit_in(given: Any) -> xr.DataTree:
    """Return the fit given, that of an object which holds one, or that of a log, made now."""
    known = log_in(given)
    if isinstance(known, Duels | Rankings):
        known = fit_model(known)
    held = known
    if not isinstance(known, xr.DataTree):
        held = getattr(known, "fit", known)
    tree = known if callable(held) else held  # a method `fit` is no fit
    check_fit(tree)
    return tree


def _warn_of(dependence: Dependence) -> None:
    """Warn where the errors of dependent votes are not known well, or are not in the model."""
    if dependence.refusal:
        warn(dependence.refusal, FewClustersWarning)
    if dependence.ignored:
        warn(dependence.sentence, RepeatedVotesWarning)
    if dependence.missing:
        warn(dependence.missing, MissingLabelWarning)


def _groups_of(fit: xr.DataTree, labels: Sequence[str]) -> list[list[str]]:
    """Return the groups of arms that never met, those of `labels` alone; [] if all have met."""
    groups = []
    for group in json.loads(fit.attrs.get("components", "[]")):
        left = [arm for arm in group if arm in labels]
        if left:
            groups.append(left)
    return groups


def _decision(
    fit: xr.DataTree, rope: float, confidence: float, refusal: str, noun: str
) -> dict[str, Any]:
    """Return the settings of a verdict on a fit, by the names of the arguments of `decide`."""
    effective = float(fit.attrs["importance_ess"])
    variance = confidence * (1 - confidence)
    return {
        "ties": tie_share(fit) > 0,
        "rope": rope,
        "confidence": confidence,
        "monte_carlo_error": float(np.sqrt(variance / effective)),
        "refusal": refusal,
        "cases": _cases(fit),
        "noun": noun,
    }


def _of_all(table: np.ndarray, arms: np.ndarray, n_arms: int) -> np.ndarray:
    """Return a table of some arms (indices) as one of all arms, NaN for the others."""
    whole = np.full((n_arms, n_arms), np.nan)
    whole[np.ix_(arms, arms)] = table
    return whole


def _cases(fit: xr.DataTree) -> str:
    """Return what a win probability is a share of, in words.

    Items that are shown one at a time have no duels: the probability that one beats another is that
    of being the one that pays, where one of them does.
    """
    if fit.duel.model.log_type == "pulls":
        return "the cases in which one of the two pays"
    return str(fit.attrs.get("counted", "duels"))


def check_decision(rope: float, confidence: float) -> None:
    """Raise ValueError where `winners` would refuse what is asked of a verdict."""
    check_options(Decision, rope=rope, confidence=confidence)


def _elected(
    draws: Draws, rope: float, ties: Ties, confidence: float
) -> tuple[ElectionResult, PairSummary | OpponentsOfMany]:
    """Return the elections held in the draws, and the posterior of their pairs."""
    found = hold_elections(draws, rope, ties)
    if draws.many:
        borda = borda_of_many(draws)
        return found, OpponentsOfMany(draws, confidence, borda)
    return found, pair_summary(draws, confidence)


def _coordinates(labels: dict[str, Any]) -> xr.Coordinates:
    """Return coordinates by their indexes: of arrays xarray would ask Dask, and import it."""
    indexes = {}
    variables = {}
    for name, values in labels.items():
        array = np.asarray(values)
        index = PandasIndex(pd.Index(array), name, array.dtype)
        indexes[name] = index
        variables[name] = index.create_variables()[name]
    return xr.Coordinates(variables, indexes)


def _in_parts(
    draws: Draws,
    labels: tuple[str, ...],
    parts: list[list[str]],
    half: Ties,
    apart: str,
    **options: Any,
) -> tuple[BestArmVerdict, list[dict[str, Any]]]:
    """Return the verdict on a log whose arms fall into parts, such as some that never met."""
    place = {label: k for k, label in enumerate(labels)}
    inside: list[dict[str, Any]] = []
    sentences: list[str] = []
    verdicts: list[BestArmVerdict] = []
    for part in parts:
        arms = np.array([place[a] for a in part])
        if len(arms) < 2:
            inside.append({"arms": part, "verdict": "", "verdict_kind": "alone"})
            continue
        within = draws.among(arms)
        found, pairs = _elected(within, options["rope"], half, options["confidence"])
        judged = decide(within, found, pairs, part, **options)
        verdicts.append(judged)
        inside.append({"arms": part, "verdict": judged.sentence, "verdict_kind": judged.kind})
        sentences.append(f"Within {join(part)}: {judged.sentence}")
    shown = sentences[:3]
    if len(sentences) > 3:
        rest = len(sentences) - 3
        are = "is" if rest == 1 else "are"
        shown.append(f"({count(rest, 'smaller group')} {are} judged in component_verdicts.)")
    named = [join(part, 4) for part in parts[:4]]
    if len(parts) > 4:
        named.append("...")
    names = "; ".join(named)
    words = (
        f"Not comparable as a whole: the {plural(options['noun'])} fall into {len(parts)} groups "
        f"{apart} ({names}). Comparisons across groups depend on the prior alone, so no overall "
        "winner is named."
    )
    if not verdicts:  # of teams that never change
        return BestArmVerdict(
            kind="not comparable", sentence=words, arms=(), safe=(), probability=float("nan")
        ), inside
    first = verdicts[0]
    return (
        BestArmVerdict(
            kind="not comparable",
            sentence=words,
            within=tuple(shown),
            arms=first.arms,
            safe=first.safe,
            probability=first.probability,
        ),
        inside,
    )


def _tier_errors(rank: np.ndarray, order: np.ndarray, tier: np.ndarray) -> list[float]:
    """Return the posterior probability that each boundary of tiers is wrong."""
    placed = rank[:, order]
    own = tier[order]
    firsts = np.flatnonzero(np.diff(own, prepend=0))
    errors = []
    for a, b in pairwise(firsts):
        best_below = placed[:, b:].min(1)
        wrong = best_below <= placed[:, a]
        errors.append(float(wrong.mean()))
    return errors


def _variables(
    found: ElectionResult,
    borda: np.ndarray,
    order: np.ndarray,
    tier: np.ndarray,
    ranges: tuple[np.ndarray, np.ndarray],
    k: int,
    confidence: float,
) -> dict[str, tuple[Any, ...]]:
    one = ("arm",)
    low, high = interval_by_arm(found.rank, confidence)
    variables: dict[str, tuple[Any, ...]] = {
        "order": (("rank",), order),
        "tier": (one, tier),
        "winner_probability": (("criterion", "arm"), found.probability),
        "winner_share": (("criterion", "arm"), found.share),
        "condorcet_exists": ((), found.share[0].sum()),
        "rank_mean": (one, 1 + found.rank.mean(0)),
        "rank_lower": (one, 1 + low),
        "rank_upper": (one, 1 + high),
        "rank_joint_lower": (one, ranges[0]),
        "rank_joint_upper": (one, ranges[1]),
        "top_k_probability": (one, (found.rank < k).mean(0)),
        "win_rate": (one, borda.mean(0)),
        "unbeaten_probability": (one, found.unbeaten.mean(0)),
        "smith_probability": (one, found.smith),
        "von_neumann_support": (one, found.support),
    }
    for prob, ends in ((confidence, ("lower", "upper")), (0.5, ("quarter", "three_quarters"))):
        for end, limit in zip(ends, interval_by_arm(borda, prob), strict=True):
            variables[f"win_rate_{end}"] = (one, limit)
    return variables


def _by_pair(found: ElectionResult, pairs: PairSummary) -> dict[str, tuple[Any, ...]]:
    """Return the variables that are tables of arm by arm, or by rank."""
    two = ("arm", "opponent")
    n_arms = len(pairs.mean)
    cells = found.rank + n_arms * np.arange(n_arms)
    counted = np.bincount(cells.ravel(), minlength=n_arms**2)
    counts = counted.reshape(n_arms, n_arms)
    rank_probability = counts / len(found.rank)
    variables: dict[str, tuple[Any, ...]] = {
        "rank_probability": (("arm", "rank"), rank_probability),
        "preference_mean": (two, pairs.mean),
        "preference_lower": (two, pairs.lower),
        "preference_upper": (two, pairs.upper),
        "beats_probability": (two, pairs.beats),
    }
    if pairs.tie is not None:
        variables["tie_mean"] = (two, pairs.tie)
    if pairs.difference is not None:
        for end, value in zip(("mean", "lower", "upper"), pairs.difference, strict=True):
            variables[f"score_difference_{end}"] = (two, value)
    return variables
