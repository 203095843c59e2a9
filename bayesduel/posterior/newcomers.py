"""Arms that have not duelled: draws of their scores, given those of their families.

Scores of a fit are centred. Before that an arm is worth its family's mean plus what it is beside
it, all normal given the scales. So what a draw of the centred scores leaves open is normal, too:
how far all scores were moved, then the mean of each family, then the new arms.

References
----------
Gelman & Hill, "Data Analysis Using Regression and Multilevel/Hierarchical Models", 2007, section
12.5 (predictions for new units of known and of new groups).
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import xarray as xr

from bayesduel.inference.gaussian_prior import Families, family_means, level_of
from bayesduel.models import Model, Scores
from bayesduel.models.prior import entries_of, normals
from bayesduel.models.scores import FAMILY
from bayesduel.models.settings import Arrays
from bayesduel.system.arguments import check_type, did_you_mean
from bayesduel.text import join

__all__ = ["newcomers", "told_of", "with_newcomers"]


def newcomers(
    fit: xr.DataTree, family: Mapping[str, str | None] | None
) -> tuple[Scores | None, tuple[str, ...]]:
    """Return the scores of a model with the families of new arms, and the labels of these.

    None and () where arms have no families.
    family: of new arms, beside those that the model was given.
    Raises TypeError or ValueError if it is no such mapping, names an arm of the fit, or the model
    has no families.
    """
    scores = fit.duel.model.terms.find(Scores)
    apart = scores is None or scores.family is None
    if family is not None:
        check_type(family, Mapping, "family", "the family of each new arm by label")
        if apart:
            raise ValueError(
                "family needs a fit with families (Scores(family=...)), "
                f"got a fit of {fit.attrs['model']} without families"
            )
        old = [arm for arm in family if arm in fit.duel.arms]
        if old:
            raise ValueError(
                f"family should name only new arms, but the fit has {join(old, 8, quote=True)}"
            )
    if apart:
        return None, ()
    families = dict(scores.family)
    for arm, name in (family or {}).items():
        families[str(arm)] = name
    new = sorted(families.keys() - {*fit.duel.arms})
    with_new = replace(scores, family=families)
    return with_new, tuple(new)


def told_of(scores: Scores, arms: tuple[str, ...], new: tuple[str, ...]) -> str:
    """Return in words what new arms are foreseen from, given the arms of the fit."""
    families = set(map(scores.family.get, arms)) - {None}
    told = []
    for arm in new:
        own = scores.family.get(arm)
        source = "a new family"
        if own in families:
            source = f"its family, {own}"
        elif own is not None:
            hint = did_you_mean(own, families)
            source += f", {own}{hint}"
        told.append(f"{arm} has not duelled: its score is drawn from {source}.")
    return " ".join(told)


def with_newcomers(
    fit: xr.DataTree, posterior: Arrays, scores: Scores, new: tuple[str, ...]
) -> dict[str, np.ndarray]:
    """Return draws of a fit in which new arms follow those of the fit.

    posterior: draws of the fit by name, arms on the last axis.
    scores: those of its model, with the families of the new arms.
    Raises ValueError if more than scores and effects by levels depends on the arm.
    """
    model = fit.duel.model
    _check_foreseeable(model)
    seed = int(fit.attrs["seed"])
    rng = np.random.default_rng(seed)  # the same fit makes the same predictions
    found = dict(posterior)
    for part in model.terms.deviating:
        spread = posterior[part.spread][:, None, None]
        known = posterior[part.parameter]
        whole = _with_deviations(known, spread, len(new), rng)
        found[part.parameter] = whole
    found["score"] = _with_scores(model, posterior, scores, fit.duel.arms, new, rng)
    return found


def _check_foreseeable(model: Model) -> None:
    """Raise ValueError unless arms differ in scores and in effects of levels that are a sample."""
    foreseeable = {part.parameter for part in model.terms.deviating if part.samples}
    foreseeable.add("score")
    wrong = []
    for part in model.terms:
        for name, dims in part.dims.items():
            by_arm = {*dims} & {"arm", "matchup"}
            if by_arm and name not in foreseeable:
                wrong.append(part.key)
    if model.response.by_arms:
        wrong.append(f"the response of {model.name}")
    if wrong:
        raise ValueError(
            "a fit can predict a new arm only from scores and from effects by judge or prompt, got "
            "a "
            f"fit with {join(wrong)}"
        )


def _with_deviations(
    deviation: np.ndarray, spread: np.ndarray, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Return deviations (draws, levels, K) that were centred over K arms, with `n` arms more."""
    *shape, n_arms = deviation.shape
    of_mean = spread / n_arms**0.5
    moved = of_mean * rng.standard_normal((*shape, 1))
    own = spread * rng.standard_normal((*shape, n))
    centred = own - moved
    return np.concatenate([deviation, centred], axis=-1)


def _with_scores(
    model: Model,
    posterior: Arrays,
    scores: Scores,
    arms: tuple[str, ...],
    new: tuple[str, ...],
    rng: np.random.Generator,
) -> np.ndarray:
    """Return scores, (draws, K), with those of new arms, from the same centre."""
    score = posterior["score"]
    n_draws, n_arms = score.shape
    everyone = (*arms, *new)
    mean, deviation = _prior_of_arms(model, posterior, scores, everyone)
    number = scores.families(everyone)
    assert number is not None
    n_families = int(number.max()) + 1
    member = np.eye(n_families)[number]
    variance = posterior[FAMILY][:, None] ** 2
    known = Families(member[:n_arms], variance)
    prior_mean = mean[:n_arms]
    precision = deviation[:, :n_arms] ** -2.0
    above = score - prior_mean
    level, error = level_of(above, precision, known)
    level = level + error * rng.standard_normal((n_draws, 1))
    before = score + level  # as they were before they were centred
    above = before - prior_mean
    middle, width = family_means(above, precision, known)
    family = middle + width * rng.standard_normal(middle.shape)
    of_family = family @ member[n_arms:].T
    normal = rng.standard_normal((n_draws, len(new)))
    own = deviation[:, n_arms:] * normal
    added = mean[n_arms:] + of_family + own
    centred = added - level
    return np.concatenate([score, centred], axis=1)


def _prior_of_arms(
    model: Model, posterior: Arrays, scores: Scores, arms: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean (K,) and deviation (draws, K) of what arms are beside their family.

    Raises ValueError if some have a prior that is not normal.
    """
    n_draws = len(posterior["score"])
    said = model.said.get("score")
    entries = (None,) * len(arms) if said is None else entries_of(said, arms, "score")
    for prior in entries:
        if prior and prior.distribution != "Normal":
            raise ValueError(
                "an arm that has not duelled should be foreseen by a fit whose scores have normal "
                f"priors, got {prior}"
            )
    mean, known = normals(entries)
    usual = np.full(n_draws, np.nan)
    unknown = np.isnan(known)
    if unknown.any():
        learned = scores.deviation(posterior, {}, 1.0)
        usual = np.broadcast_to(learned, (n_draws,))
    return mean, np.where(unknown, usual[:, None], known)
