"""Report sections: scores and ranks by category, and where the ranking changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.inference.default_model import AUTO
from bayesduel.reporting.analysis import called_reasons, called_warnings, given_again
from bayesduel.reporting.category_ranks import category_ranks_table
from bayesduel.reporting.leaderboard import VIEWED, leaderboard_section
from bayesduel.reporting.section import (
    Figure,
    Section,
    Table,
    Verdict,
    blocks,
)
from bayesduel.reporting.verdict_text import alerts, exact_warnings, headline
from bayesduel.system.arguments import check_noun
from bayesduel.system.options import Decision
from bayesduel.text import (
    an,
    begun,
    count,
    join,
    number_with_interval,
    plural,
    probability,
)

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.data.duels import Duels
    from bayesduel.posterior.category_ranks import CategoryRanks
    from bayesduel.posterior.winners import Winners

__all__ = [
    "CategoryAnalysis",
    "analyse_categories",
    "categories_section",
    "category_board",
    "category_verdict_section",
    "changes_section",
    "table_section",
]

CHANGES = 50  # changes of the ranking that are listed, the most probable first


@dataclass(frozen=True, eq=False, kw_only=True)
class CategoryAnalysis:
    """What a report says of a log whose duels come from categories."""

    duels: "Duels"  # the log of all categories
    # of the model with category effects; winners are by the average over the log's categories
    fit: "xr.DataTree"
    winners: "Winners"
    ranks: "CategoryRanks"  # scores and ranks by category
    warnings: tuple[tuple[str, str], ...]  # (name, words) of every warning raised on the way
    noun: str = "arm"  # what an arm is called


def analyse_categories(
    logs: "Mapping[str, Duels]",
    *,
    model: Any = AUTO,
    method: str = "auto",
    draws: int | None = None,
    seed: int = 0,
    rope: float = Decision.rope,
    confidence: float = Decision.confidence,
    noun: str = "arm",
    step: Callable[[str], None] = lambda name: None,
) -> CategoryAnalysis:
    """Return everything that a report says of the logs of several categories.

    logs: the log of each category.
    model, method, draws, seed: as in :func:`bayesduel.fit`; the model gets category effects.
    rope, confidence: as in :func:`bayesduel.winners`.
    noun: what an arm is called.
    step: called with the name of each step before it begins.
    """
    from bayesduel.data.duels import Duels
    from bayesduel.inference.default_model import choose_model
    from bayesduel.inference.fit import fit as fit_model
    from bayesduel.models import CategoryEffects, scored
    from bayesduel.posterior.category_ranks import category_ranks
    from bayesduel.posterior.winners import Winners, winners

    check_noun(noun)
    with given_again() as raised:
        duels = Duels.from_categories(logs)
        step("fitting all categories")
        options: dict[str, Any] = {"method": method, "seed": seed, "log_likelihood": False}
        pooled = scored(choose_model(model, duels).model)
        if pooled.terms.find(CategoryEffects) is None:
            pooled = pooled + CategoryEffects()
        if draws is not None:
            options["draws"] = draws
        fit = fit_model(duels, pooled, **options)
        step("computing ranks by category")
        found = winners(fit, rope=rope, confidence=confidence, noun=noun)
        reasons = called_reasons(fit, pooled, duels, noun)
        ranks = category_ranks(fit, confidence=confidence)
    return CategoryAnalysis(
        duels=duels,
        fit=fit,
        winners=Winners(found.assign_attrs(model_reasons=reasons)),
        ranks=ranks,
        warnings=called_warnings(raised, duels, noun),
        noun=noun,
    )


def category_verdict_section(a: CategoryAnalysis) -> Section:
    """Return the section on the main result."""
    ranks = a.ranks
    confidence = a.ranks.attrs["confidence"]
    level = f"{100 * confidence:g} %"
    spread = number_with_interval(
        *(float(ranks[f"spread_{e}"]) for e in ("mean", "lower", "upper"))
    )
    n = ranks.sizes["category"]
    labels = ranks["category"].values
    changed = int((ranks["reversed_pairs"] > 0).sum())
    other = labels[ranks["best_differs_probability"].values >= confidence]
    words = "In no category is there strong evidence of another order."
    if changed:
        words = f"In {changed:,} of {n:,} categories there is strong evidence of another order."
    if len(other):
        words += f" There is strong evidence that another {a.noun} is the best in {join(other)}."
    note = (
        f"From {count(a.duels.n_duels, 'duel')} between {count(a.duels.n_arms, a.noun)} in "
        f"{ranks.sizes['category']:,} categories, under one model. Each {a.noun} has an "
        "overall score, and a deviation from it in each category. All categories "
        f"together determine the standard deviation of the deviations ({spread} "
        f"{a.fit.attrs['score_unit']}, {level} interval). The overall score is the "
        f"average over these categories, weighted by their votes. So {an(a.noun)} with few "
        "duels in a category stays near its overall score there. Each pair and category "
        "is judged on its own, without a correction for their number."
    )
    settled = a.winners.attrs["verdict_kind"] not in ("undecided", "not comparable")
    exact = (
        ranks.words(a.noun),
        f"Average over the categories, by their votes: {a.winners.attrs['verdict']}",
        *exact_warnings(a.warnings),
        note,
    )
    said = f"On average over the {n:,} categories, by their votes: {headline(a.winners, a.noun)}"
    verdict = Verdict(headline=said, text=(words,), exact=exact, settled=settled)
    return Section(id="verdict", body=(verdict, *alerts(a.warnings, a.noun)))


def category_board(a: CategoryAnalysis) -> Section:
    """Return the leaderboard over all categories, and of each that a reader chooses."""
    from bayesduel.posterior.scores import scores

    level = {"ci_prob": a.ranks.attrs["confidence"]}
    rated = scores(a.fit, **level)
    views = {}
    if a.ranks["duels"].size <= VIEWED:
        frame = a.ranks.scores()
        for end in ("", "_lower", "_upper"):
            score = frame[f"score{end or '_mean'}"]
            points = rated.attrs["points_per_unit"] * score
            frame[f"rating{end}"] = 1000.0 + points  # that of the average arm, and above it
        views = {str(label): rows for label, rows in frame.groupby("category", sort=False)}
    return leaderboard_section(a.winners, a.duels, rated, noun=a.noun, views=views)


def categories_section(a: CategoryAnalysis) -> Section:
    """Return the section with one row per category."""
    words = "Categories with the most changes of the ranking are first."
    return Section(
        id="categories",
        title="Categories",
        body=blocks(words, category_ranks_table(a.ranks, a.noun)),
    )


def changes_section(a: CategoryAnalysis) -> Section:
    """Return the section on the pairs whose order changes."""
    frame = a.ranks.changes()
    if frame.empty:
        words = "No pair is reversed with the stated probability."
        return Section(id="changes", title="Where the ranking changes", body=blocks(words))
    words = f"{count(len(frame), 'change')} of the order of two {plural(a.noun)} in a category"
    more = f"; the {CHANGES} most probable are listed." if len(frame) > CHANGES else "."
    columns = (
        ("l", "category", "{category}"),
        ("l", "ahead in the category", "{ahead}"),
        ("l", "ahead overall", "{behind}"),
        ("n", "probability of both", lambda r: probability(r["probability"])),
    )
    table = Table.of(columns, frame.head(CHANGES).to_dict("records"))
    return Section(
        id="changes", title="Where the ranking changes", body=blocks(words + more, table)
    )


def table_section(a: CategoryAnalysis) -> Section:
    """Return the section with scores and ranks of arms by category, and their figure."""
    from bayesduel.plots.categories import categories_size, plot_categories

    ranks = a.ranks
    order = np.argsort(ranks["overall_rank_mean"].values, kind="stable")
    level = f"{100 * ranks.attrs['confidence']:g} %"
    figure = Figure(
        plot=partial(plot_categories, ranks),
        size=categories_size(ranks.sizes["category"], ranks.sizes["arm"]),
        alt=f"Heat map of how far the score of each {a.noun} in each category is from its overall "
        "score",
        caption=(
            f"Deviation of each {a.noun}'s score in a category from its overall score, posterior "
            f"mean ({a.fit.attrs['score_unit']}). A dot marks deviations whose {level} interval "
            "excludes 0."
        ),
        wide=True,
    )
    by_category = ranks.sizes["arm"] <= 12  # more columns do not fit a page
    score, rank = (ranks[f"{name}_mean"].values[:, order] for name in ("score", "rank"))
    duels = ranks["duels"].values[:, order]
    arms = [str(arm) for arm in ranks["arm"].values[order]]
    labels = [str(label) for label in ranks["category"].values]
    overall = [
        f"{s:+.2f} ({r:.1f})"
        for s, r in zip(
            ranks["overall_score_mean"].values[order],
            ranks["overall_rank_mean"].values[order],
            strict=True,
        )
    ]
    cells = [
        [
            f"{score[c, k]:+.2f} ({rank[c, k]:.1f})" + "*" * int(duels[c, k] == 0)
            for k in range(len(arms))
        ]
        for c in range(len(labels))
    ]
    caption = "Posterior mean of the score, and of the rank in brackets (1 is best)."
    if (duels == 0).any():
        caption += (
            f" * no duel of the {a.noun} in the category: its overall score, with more uncertainty."
        )
    if by_category:
        heads = ("category", *arms)
        rows = (("overall", *overall), *((n, *row) for n, row in zip(labels, cells, strict=True)))
    else:
        heads = (a.noun, "overall", *labels)
        rows = tuple((arm, overall[k], *(row[k] for row in cells)) for k, arm in enumerate(arms))
    letters = "l" + "n" * (len(heads) - 1)
    named = heads if by_category else ("arm", *heads[1:])
    table = Table(
        columns=letters,
        heads=heads,
        rows=rows,
        full=True,
        caption=caption,
        rules=(1,) if by_category else (),
        data=Table(columns=letters, heads=named, rows=rows).content,
    )
    title = f"{begun(plural(a.noun))} by category"
    return Section(id="by-category", title=title, body=(figure, table))
