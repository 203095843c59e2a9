"""Which duels the answers of a fit are about: levels of columns averaged, chosen or new.

Levels that are a sample of more (judges, prompts: ``RandomEffects``) are integrated out: the next
duel has a new one. Levels that are all there is (languages, leagues: ``CategoryEffects``) are
averaged by their shares of the votes.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.inference.datatree import answer_by, with_preference
from bayesduel.inference.fit import describe_model
from bayesduel.models import CategoryEffects, Model
from bayesduel.models.settings import settings_to_json
from bayesduel.posterior.draws import check_fit
from bayesduel.system.arguments import by_reader, finite, shown_value
from bayesduel.text import count, join, plural

__all__ = ["averaged_words", "estimand", "estimand_words", "level_words", "same_estimand"]


def estimand(
    fit: xr.DataTree,
    *,
    at: Mapping[str, str] | None = None,
    weights: Mapping[str, Mapping[str, float]] | None = None,
) -> xr.DataTree:
    """Return a fit whose answers are about other duels: with a level given, or others averaged.

    The posterior of the model stays as it is. What reads the fit that is returned (winners, scores,
    predictions, next pairs, pages) says which duels it is about.

    Parameters
    ----------
    fit
        A fit of a model with :class:`bayesduel.models.RandomEffects` or
        :class:`bayesduel.models.CategoryEffects`.
    at
        The level of each column that is asked about, ``{"language": "de"}``.
    weights
        How much each level of a column counts, ``{"language": {"de": 0.3, "en": 0.7}}``: numbers
        that are at least 0, of which the sum is taken as 1. A level that is not named counts for
        nothing.

    Raises
    ------
    TypeError
        If `fit` is not a fit, or an argument is not as described.
    ValueError
        If the model has no such column, or the column no such level.

    Examples
    --------
    >>> rows = {"left": list("aab") * 40, "right": list("bcc") * 40}
    >>> rows |= {"outcome": list("1110111100") * 12, "language": ["de"] * 60 + ["en"] * 60}
    >>> model = bd.models.BradleyTerry() + bd.models.CategoryEffects("language")
    >>> fit = bd.fit(bd.read_duels(rows, keep=["language"]), model)
    >>> bd.winners(bd.estimand(fit, at={"language": "de"})).attrs["controls"]
    'Answers are those of duels in which language is de.'
    """
    check_fit(fit)
    chosen = _one_level(at)
    averaged_by = _weights(weights)
    twice = sorted({*chosen} & {*averaged_by})
    if twice:
        raise ValueError(f"at and weights should name different columns, got {twice[0]!r} in both")
    asked = chosen | averaged_by
    if not asked:
        raise ValueError("give at or weights, such as at={'language': 'de'}")
    terms = {part.by: part for part in fit.duel.model.terms.deviating}
    found = fit.copy()
    model = fit.duel.model
    averaged = json.loads(fit.attrs.get("averaged_over", "{}"))
    said = json.loads(fit.attrs.get("estimand", "{}"))
    renamed: dict[str, str] = {}
    for column, by_level in asked.items():
        if column not in terms:
            if column == "time" and "rating" in fit["posterior"]:
                raise ValueError(
                    "answers are about the last period of the log. Predictions of other times: "
                    f"{by_reader('bd.predict(fit, ..., time=...)', 'predict --given time=...')}"
                )
            known = "no column"
            if terms:
                known = join(sorted(terms), quote=True)
            term = by_reader(f"RandomEffects({column!r}) in the model", f"--term random:{column}")
            argument = "at" if column in chosen else "weights"
            raise ValueError(
                f"{argument} should name what scores differ by: the scores of "
                f"{fit.attrs['model']} do not differ by {shown_value(column)}; they differ by "
                f"{known}. Fit again with {term}"
            )
        old = terms[column]
        new = CategoryEffects(column, old.prior)
        model = _replaced(model, old, new)
        renamed[old.parameter] = new.parameter
        renamed[old.spread] = new.spread
        averaged[new.parameter] = _shares(fit, column, by_level)
        said[column] = by_level
    sampled = fit.duel.sampled
    names = {}
    for before, after in renamed.items():
        if before in sampled and before != after:
            names[before] = after
    covariance = fit.duel.covariance()
    found["posterior"] = xr.DataTree(sampled.rename(names))
    found["posterior"].attrs["covariance"] = "model"
    if "posterior_sampled" in found:
        del found["posterior_sampled"]
    if "clusters" in found:
        of_block = dict(names)
        for before, after in names.items():
            of_block[f"{before}_free"] = f"{after}_free"  # of centred arms
        attrs = found["clusters"].attrs
        blocks = []
        for block in np.atleast_1d(attrs["blocks"]):
            name = str(block)
            blocks.append(of_block.get(name, name))
        attrs["blocks"] = blocks
    asked_first = settings_to_json(fit.duel.asked.settings)  # what an update fits again
    described = describe_model(model)
    found.attrs.update(described, model_asked=asked_first)
    found.attrs["estimand"] = json.dumps(said)
    answer_by(found, covariance, averaged)
    if "preference" in found:
        with_preference(found, model)
    return found


def same_estimand(fit: xr.DataTree, earlier: xr.DataTree) -> xr.DataTree:
    """Return a fit whose answers are about the duels that those of an earlier one are about.

    Raises ValueError if the log of `fit` lacks a level that they are about.
    """
    said = json.loads(earlier.attrs.get("estimand", "{}"))
    if not said:
        return fit
    return estimand(fit, weights=said)


def estimand_words(fit: xr.DataTree) -> str:
    """Return the sentences on which duels answers are about, or "" where they are of all."""
    held = fit.duel.model.terms.controls
    sides = ""
    if held:
        sides = f"Winners and scores are those of duels in which {join(held)}."
    return f"{sides} {level_words(fit)}".strip()


def level_words(fit: xr.DataTree) -> str:
    """Return the sentences on the levels of columns that answers are about, or ""."""
    model = fit.duel.model
    said = json.loads(fit.attrs.get("estimand", "{}"))
    sentences = []
    chosen = []
    for by, weights in said.items():
        if len(weights) == 1:
            level = averaged_words(by, weights)
            chosen.append(f"{by} is {level}")
    if chosen:
        sentences.append(f"Answers are those of duels in which {join(chosen)}.")
    for part in model.terms.exhaustive:
        weights = said.get(part.by)
        if weights is None:
            n_levels = fit["posterior"].sizes[part.by]
            n = count(n_levels, part.by)
            sentences.append(f"Scores are the average over the {n}, by their votes.")
        elif len(weights) > 1:
            average = averaged_words(part.by, weights)
            sentences.append(f"Scores are {average}.")
    if model.terms.samples:
        new = [f"a new {column}" for column in model.terms.samples]
        sentences.append(f"Win probabilities are those of {join(new)}.")
    return " ".join(sentences)


def averaged_words(by: str, weights: Mapping[str, float]) -> str:
    """Return in words the level of a column that answers are about, or the average over several."""
    if len(weights) == 1:
        return next(iter(weights))
    shares = []
    for level, share in weights.items():
        shares.append(f"{level} {share:.2g}")
    return f"the average over {plural(by)}, by weight: {join(shares, 8)}"


def _replaced(model: Model, old: Any, new: Any) -> Model:
    """Return a model with another term in the place of one."""
    terms = model.terms
    parts = tuple(new if part == old else part for part in terms)
    return replace(model, predictor=type(terms)(parts))  # type: ignore[type-var]


def _one_level(at: Mapping[str, str] | None) -> dict[str, dict[str, float]]:
    """Return levels that are asked about as weights, by column."""
    if at is not None and not isinstance(at, Mapping):
        raise TypeError(
            f'at should be levels by column, such as {{"language": "de"}}, got {shown_value(at)}'
        )
    found = {}
    for column, level in (at or {}).items():
        found[str(column)] = {str(level): 1.0}
    return found


def _weights(weights: Mapping[str, Mapping[str, float]] | None) -> dict[str, dict[str, float]]:
    """Return weights that sum to 1, by column and level; raise where they are none."""
    rule = 'weights should be numbers by column and level, such as {"language": {"de": 0.3}}'
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError(f"{rule}, got {shown_value(weights)}")
    found = {}
    for column, by_level in (weights or {}).items():
        if not isinstance(by_level, Mapping):
            raise TypeError(f"{rule}, got {shown_value(by_level)}")
        numbers = {}
        for level, weight in by_level.items():
            numbers[str(level)] = finite(weight, f"weight of {level}")
        total = sum(numbers.values())
        least = min(numbers.values(), default=-1.0)
        if least < 0 or not total > 0:
            raise ValueError(
                f"{rule} that are at least 0 and not all 0, got {shown_value(by_level)}"
            )
        shares = {level: weight / total for level, weight in numbers.items()}
        found[str(column)] = shares
    return found


def _shares(fit: xr.DataTree, column: str, by_level: Mapping[str, float]) -> np.ndarray:
    """Return how much each level of a column counts, (levels,)."""
    labels = fit["posterior"][column].to_numpy()
    levels = list(map(str, labels))
    wrong = [level for level in by_level if level not in levels]
    if wrong:
        raise ValueError(
            f"level of {column} should be one of {join(levels, 8, quote=True)}, got {wrong[0]!r}"
        )
    shares = [by_level.get(level, 0.0) for level in levels]
    return np.array(shares)
