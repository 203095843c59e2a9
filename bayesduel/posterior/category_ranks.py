"""Ranks by category, and where they differ from the overall ranking, with uncertainty."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.intervals import eti
from bayesduel.models import CategoryEffects
from bayesduel.posterior.draws import check_fit, chunks
from bayesduel.preference import ranks
from bayesduel.records import Record
from bayesduel.system.options import Decision, check_options
from bayesduel.text import SENTENCE, join, json_ready, plural, probability, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = ["CategoryRanks", "category_ranks"]

ENDS = ("mean", "lower", "upper")


class CategoryRanks(Record):
    """Scores and ranks by category, printed as a sentence and a table of categories."""

    __slots__ = ()

    @property
    def sentence(self) -> str:
        """The main result in words."""
        return str(self.attrs["sentence"])

    def words(self, noun: str = "arm") -> str:
        """Return where the ranking changes between categories; `noun` is what an arm is called."""
        table = self.table()
        confidence = self.attrs["confidence"]
        changed = table["reversed_pairs"] > 0
        n_changed = int(changed.sum())
        level = f"with probability {confidence:g} or more"
        n = len(table)
        nouns = plural(noun)
        words = f"No pair of {nouns} is reversed {level} in any of the {n:,} categories."
        if n_changed:
            words = (
                f"The ranking changes between categories: in {n_changed:,} of {n:,} a pair of "
                f"{nouns} is reversed {level}."
            )
        words += " A pair is reversed if its order in the category is not its overall order."
        overall = self["overall_best_probability"].values
        top = int(overall.argmax())
        label = str(self["arm"].values[top])
        name = shorten(label, SENTENCE)
        chance = probability(overall[top])
        differs = table["best_differs_probability"] >= confidence
        other = table[differs]
        average = "on average over the categories, weighted by their votes"
        words += f" The best {noun} {average}, is {name} (probability {chance})."
        if other.empty:
            return f"{words} No category has another best {noun} {level}."
        names = join(other.index, 4)
        return f"{words} Another {noun} is the best {level} in {names}."

    def reversal_words(self) -> str:
        """Return what the printed columns of reversed pairs are."""
        return (
            "Pairs reversed: the expected share of pairs whose order in the category is not their "
            "order overall. If ranks are uncertain, it is above 0 even for equal rankings. Surely: "
            f"pairs that are reversed with probability {self.attrs['confidence']:g} or more."
        )

    def table(self) -> pd.DataFrame:
        """Return one row per category, those that differ most from the overall ranking first."""
        best = self["best_probability"].values
        rows = np.arange(len(best))
        leader = best.argmax(axis=1)
        duels_of_arms = self["duels"].sum("arm").values
        frame = pd.DataFrame(
            {
                "duels": (duels_of_arms / 2).astype(int),
                "best": self["arm"].values[leader],
                "best_probability": best[rows, leader],
                "best_differs_probability": self["best_differs_probability"].values,
                "reversed_share": self["reversed_share"].values,
                "reversed_pairs": self["reversed_pairs"].values,
            },
            index=pd.Index(self["category"].values, name="category"),
        )
        keys = ["reversed_pairs", "best_differs_probability", "reversed_share"]
        return frame.sort_values(keys, ascending=False, kind="stable")

    def scores(self) -> pd.DataFrame:
        """Return one row per arm and category: score, rank, and how many duels they had there."""
        names = [f"{name}_{end}" for name in ("score", "rank") for end in ENDS]
        names += ["best_probability", "deviation_mean", "duels"]
        frame = self[names].to_dataframe()
        return frame.reset_index()[["category", "arm", *names]]

    def changes(self, least: float | None = None) -> pd.DataFrame:
        """Return the pairs whose order in a category is the opposite of the overall order.

        `least` is the least posterior probability of the reversal; default: `confidence`. One row
        per category and pair, the most probable first: ``ahead`` has the larger score in the
        category, ``behind`` overall.
        """
        if least is None:
            least = self.attrs["confidence"]
        chance = self["reversed_probability"].values
        category, behind, ahead = np.nonzero(chance >= least)
        arms = self["arm"].values
        frame = pd.DataFrame(
            {
                "category": self["category"].values[category],
                "ahead": arms[ahead],
                "behind": arms[behind],
                "probability": chance[category, behind, ahead],
            }
        )
        return frame.sort_values("probability", ascending=False, kind="stable", ignore_index=True)

    def summary(self) -> dict[str, Any]:
        """Return sentence, categories, scores and changes as plain dictionaries and lists."""
        parts = ("score_mean", "score_lower", "score_upper", "rank_mean")
        names = [f"overall_{name}" for name in parts]
        overall = self[names].to_dataframe()
        found = {
            **self.attrs,
            "overall": overall.set_axis(parts, axis=1),
            "categories": self.table(),
            "scores": self.scores(),
            "changes": self.changes(),
        }
        plain: dict[str, Any] = json_ready(found)
        return plain

    def __repr__(self) -> str:
        methods = "Methods: table(), scores(), changes(), summary()"
        notes = (self.reversal_words(), methods)
        return self._printed([self.sentence, ""], notes, whole=".table()")


def category_ranks(fit: xr.DataTree, *, confidence: float = Decision.confidence) -> CategoryRanks:
    """Return scores and ranks in each category, and where they differ from the overall ones.

    Parameters
    ----------
    fit
        A fit of a model with :class:`bayesduel.models.CategoryEffects`.
    confidence
        Probability of intervals, and that a change of the ranking needs; in (0.5, 1). It is that
        of one pair in one category, without a correction for their number.

    Returns
    -------
    A record, whose ``.to_dataset()`` is an ``xarray.Dataset``.

    By category and arm: ``score_mean``, ``_lower``, ``_upper``, ``rank_mean``,
    ``_lower``, ``_upper`` (1 is best), ``best_probability``, ``deviation_mean``, ``_lower``,
    ``_upper`` and ``duels``. By arm: ``overall_score_*``, ``overall_rank_*`` and
    ``overall_best_probability``: of scores that are averaged over the categories, by their votes.
    By category:
    ``best_differs_probability`` (that the best arm there is not the best overall),
    ``reversed_share`` (the expected share of pairs whose order is the opposite of the overall
    one), ``reversed_pairs`` (how many are with probability `confidence`). By category, arm and
    opponent: ``reversed_probability``, that the arm is ahead overall and the opponent in the
    category. ``spread_mean``, ``_lower``, ``_upper``: the standard deviation of deviations.

    Raises
    ------
    TypeError
        If `fit` is not a fit.
    ValueError
        If its model has no effects of categories, it is an estimand of another fit, or `confidence`
        is out of range.

    Examples
    --------
    >>> rows = {"left": list("aab") * 40, "right": list("bcc") * 40}
    >>> rows |= {"outcome": list("1110111100") * 12, "category": ["code"] * 60 + ["prose"] * 60}
    >>> model = bd.models.BradleyTerry() + bd.models.CategoryEffects()
    >>> fit = bd.fit(bd.read_duels(rows, keep=["category"]), model)
    >>> bd.category_ranks(fit)["rank_mean"].to_pandas().round()
    arm         a    b    c
    category
    code      1.0  2.0  3.0
    prose     1.0  2.0  3.0
    """
    check_fit(fit)
    check_options(Decision, confidence=confidence)
    if fit.attrs.get("estimand"):
        raise ValueError(
            "fit should be what bayesduel.fit returned, got an estimand of it: categories are "
            "compared with the average over all, by their votes"
        )
    term = _category_term(fit)
    posterior = fit["posterior"]
    draws = fit.duel.posterior()
    overall = draws["score"]
    deviation = draws[term.parameter]
    arms = posterior["arm"].to_numpy()
    categories = posterior[term.by].to_numpy()
    n, n_arms = overall.shape
    two = ("category", "arm")
    three = ("category", "arm", "opponent")
    placed = 1 + ranks(overall)
    is_best = placed == 1
    variables: dict[str, Any] = {
        **_summary("overall_score", "arm", overall, confidence),
        **_summary("overall_rank", "arm", placed, confidence),
        "overall_best_probability": ("arm", is_best.mean(axis=0)),
        **_summary("spread", (), draws[term.spread], confidence),
    }
    by_category: dict[str, list[np.ndarray]] = {}
    best = overall.argmax(axis=1)
    for c in range(len(categories)):
        own = deviation[:, c]
        score = overall + own
        rank = 1 + ranks(score)
        found = _mean_and_ends("score", score, confidence)
        found |= _mean_and_ends("rank", rank, confidence)
        found |= _mean_and_ends("deviation", own, confidence)
        is_best = rank == 1
        found["best_probability"] = is_best.mean(axis=0)
        differs = score.argmax(axis=1) != best
        found["best_differs_probability"] = differs.mean()
        found["reversed_probability"] = _reversed(overall, score)
        for name, values in found.items():
            by_category.setdefault(name, []).append(values)
    dims = {"best_differs_probability": "category", "reversed_probability": three}
    for name, each in by_category.items():
        of_name = dims.get(name, two)
        variables[name] = (of_name, np.stack(each))
    chance = variables["reversed_probability"][1]
    n_pairs = n_arms * (n_arms - 1) / 2
    expected = chance.sum(axis=(1, 2))
    n_reversed = (chance >= confidence).sum(axis=(1, 2))
    variables["reversed_share"] = ("category", expected / n_pairs)
    variables["reversed_pairs"] = ("category", n_reversed)
    duels = _duels(fit, term.by, len(categories), n_arms)
    variables["duels"] = (two, duels)
    attrs = {
        "confidence": float(confidence),
        "n_draws": n,
        "model": fit.attrs["model"],
        "source": fit.attrs.get("source", ""),
    }
    coords = {"category": categories, "arm": arms, "opponent": arms}
    dataset = xr.Dataset(variables, coords=coords, attrs=attrs)
    result = CategoryRanks(dataset)
    result.attrs["sentence"] = result.words()
    return result


def _category_term(fit: xr.DataTree) -> CategoryEffects:
    """Return the effects of categories of a fit; raise ValueError if it has none."""
    term = fit.duel.model.terms.find(CategoryEffects)
    if term is None or "score" not in fit["posterior"]:
        raise ValueError(
            f"fit should be of a model with CategoryEffects and scores, got {fit.attrs['model']}"
        )
    return term


def _summary(
    name: str, dims: "Sequence[str]", draws: np.ndarray, confidence: float
) -> dict[str, tuple[Any, np.ndarray]]:
    """Return posterior mean and interval as variables; draws first."""
    found = _mean_and_ends(name, draws, confidence)
    variables = {}
    for key, values in found.items():
        variables[key] = (dims, values)
    return variables


def _mean_and_ends(name: str, draws: np.ndarray, confidence: float) -> dict[str, np.ndarray]:
    """Return posterior mean and interval; draws first."""
    draws_last = np.moveaxis(draws, 0, -1)
    low, high = eti(draws_last, confidence)
    return {
        f"{name}_mean": np.asarray(draws.mean(axis=0)),
        f"{name}_lower": np.asarray(low),
        f"{name}_upper": np.asarray(high),
    }


def _reversed(overall: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Return the probability that i is ahead of j overall and behind it in a category, (K, K)."""
    n, n_arms = overall.shape
    found = np.zeros((n_arms, n_arms))
    # 20,000,000 draws x pairs compared at once
    for here in chunks(n, 20_000_000 // n_arms**2):
        ahead = overall[here, :, None] > overall[here, None, :]
        behind = score[here, :, None] < score[here, None, :]
        found += (ahead & behind).sum(axis=0)
    return found / n


def _duels(fit: xr.DataTree, by: str, n_categories: int, n_arms: int) -> np.ndarray:
    """Return how many duels each arm had in each category, (categories, K)."""
    data = fit["constant_data"].dataset
    category = data[f"{by}_of_cell"].to_numpy()
    known = category >= 0
    n = data["n"].to_numpy()[known]
    teams = fit.duel.teams
    n_sides = n_arms if teams is None else len(teams)
    found = np.zeros((n_categories, n_sides))
    for side in ("first", "second"):
        arm = data[side].to_numpy()[known]
        at = (category[known], arm)
        np.add.at(found, at, n)
    if teams is None:
        return found
    return found @ teams.matrix(n_arms)
