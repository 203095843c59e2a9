"""Shapes of scores: a row per score, or a column of numbers per arm; which number is better."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bayesduel.data.read.columns import plain, words_of
from bayesduel.data.read.roles import ROLES
from bayesduel.data.read.shape import (
    Shape,
    listed,
    number_of,
    text_in_json,
    text_of_column,
)
from bayesduel.data.read.shapes_of_rankings import are_ranks, columns_of_places
from bayesduel.data.read.sql import name_of, text_in_sql
from bayesduel.data.read.table import ITEMS, JUDGES, RANKING, ROWS, Table, left_over, mostly_numbers
from bayesduel.data.read.words import FEWER, MARKS_OF_SCHOOLS, MODELS, POINTS, THUMBS
from bayesduel.system.arguments import as_options
from bayesduel.text import join

__all__ = [
    "scores",
]

# What names the column in Duels.from_scores and, with the shape, in read_duels.
OPTIONS = {"item": "group", "model": "left", "score": "outcome"}
# What a scale says of itself, in words: "1 = best, 7 = worst", "best = 1", "1 (sehr gut)".
BEST_WORDS = (
    "best|top|excellent|(very|sehr|muy|très) (good|gut|bueno|bien)|beste|mejor|meilleur"
    "|migliore|melhor|лучший"
)
BEST_IS_1 = re.compile(rf"\b1 (is |means |the )*({BEST_WORDS})\b|\b({BEST_WORDS}) (is )?1\b")


def scores(table: Table) -> Shape | str:
    """Return the shape of a table of scores: a row per score, or a column of numbers per arm."""
    lack = (
        "columns of an item, a model and a score (group, left, outcome; of Duels.from_scores item, "
        "model, score), or a column of numbers for each of several models"
    )
    if table.given.get("lower_is_better", False) is None:  # it is asked for where it matters
        _check_no_ranks(table)
    names = {"item": ITEMS, "model": MODELS, "score": POINTS}
    if table.named:
        names["score"] += THUMBS
    found: dict[str, str | None] = {}
    for role, usual in names.items():
        option = role if table.used(role) else OPTIONS[role]
        found[role] = table.column(option, usual, [*found.values()])
    if found["model"] is None and found["score"] is not None:
        found["model"] = left_over(table, [found["score"]])
    if found["item"] is None and found["model"] is not None and found["score"] is not None:
        found["item"] = table.column("judge", JUDGES, [*found.values()])  # who scored them all
    if not table.named and found["item"] is None:
        return lack
    item, model, score = found.values()
    if item is None or model is None or score is None:
        return _wide_scores(table, item) or lack
    _check_direction(table, [score])
    judge = table.column("judge", JUDGES, [item, model, score])
    return _long_scores(table, item, model, score, judge) or lack


def _long_scores(
    table: Table, item: str, model: str, score: str, judge: str | None
) -> Shape | None:
    """Return the shape of a table with a row per score; None where another column names models."""
    own = [name for name in (item, model, score, judge) if name is not None]
    if not table.named and table.numbers(model) is None:
        labels = table.known(model)
        others = [name for name in table.columns if name not in own]
        if any(table.known(name) & labels for name in others):
            return None
    number = number_of("written")
    item_text = text_in_json(name_of(item))
    model_text = text_in_json(name_of(model))
    better = "lower" if table.given.get("lower_is_better") else "higher"
    said = f"a duel for each pair of {model!r} with a {score!r} of the same {item!r}"
    called = {"model_a": model, "model_b": model, "winner": score, "prompt": item}
    beside = ""
    if judge is not None:
        beside = f"{text_of_column(judge)} AS judge, "
        said += f" by the same {judge!r}"
        called["judge"] = judge
    said += f"; the {better} {score!r} wins"
    query = (
        f"SELECT *, {number} AS number FROM (SELECT row_of_file, {beside}"
        f"{item_text} AS item, {model_text} AS model, "
        f"{name_of(score)} ->> '$' AS written FROM records)"
    )
    return _of_scores(table, said, called, own, query)


def _wide_scores(table: Table, item: str | None) -> Shape | None:
    """Return the shape of a table with a row per item; None where text columns are left over."""
    named = {name for names in ROLES.values() for name in names} | {*JUDGES}
    item = item or table.column("item", (*ROWS, *RANKING))
    beside = [name for name in table.columns if name != item and plain(name) not in named]
    models = [name for name in beside if mostly_numbers(table.rows[name])]
    others = [name for name in beside if name not in models]
    left_over = [name for name in others if len(table.known(name)) > 1]
    if len(models) < 2 or (left_over and not table.named):
        return None
    _check_direction(table, models)
    judge = table.column("judge", JUDGES, [item, *models])
    place = "row_of_file::VARCHAR" if item is None else text_in_json(name_of(item))
    names = listed(map(text_in_sql, models))
    texts = listed(f"{name_of(model)} ->> '$'" for model in models)
    number = number_of("written")
    better = "lower" if table.given.get("lower_is_better") else "higher"
    labels = join(models, quote=True)
    of_item = "the same row" if item is None else f"the same {item!r}"
    said = f"a duel for each pair of {labels} of {of_item}; the {better} score wins"
    if left_over:
        unused = join(left_over, quote=True)
        said += f"; {unused} not used"
    own = [name for name in (item, judge, *models) if name is not None]
    # 3 columns that a role of several names
    called = dict.fromkeys(("model_a", "model_b", "winner"), join(models, 3))
    called["prompt"] = item or "the row"
    who = ""
    if judge is not None:
        who = f"{text_of_column(judge)} AS judge, "
        called["judge"] = judge
    query = (
        f"SELECT *, model AS part, {number} AS number FROM (SELECT row_of_file, "
        f"{who}{place} AS item, unnest({names}) AS model, unnest({texts}) AS written FROM records)"
    )
    return _of_scores(table, said, called, own, query)


def _of_scores(
    table: Table, said: str, names: Mapping[str, str], columns: Sequence[str], query: str
) -> Shape:
    better = "lower" if table.given.get("lower_is_better") else "higher"
    return Shape(
        f"a table of scores, the {better} is better",
        (*columns,),
        query,
        said,
        (names["winner"], "a number"),
        kind="scores",
        ordered=False,
        used=table.used(*OPTIONS, *OPTIONS.values(), "judge"),
        roles=names,
    )


def _check_no_ranks(table: Table) -> None:
    """Raise ValueError if the numbers of each row may be ranks, of which the lowest is best."""
    arms = columns_of_places(replace(table, named=False))
    if len(arms) > 1 and are_ranks(table, arms):
        labels = join(arms, quote=True)
        raise ValueError(
            f"{table.source.name}: {labels} hold 1 to {len(arms)} in each row: say "
            "lower_is_better=True where 1 is best, or False where it is worst"
        )


def _check_direction(table: Table, columns: Sequence[str]) -> None:
    """Raise ValueError if the names of all columns, or that of the file, say: fewer is better."""
    if table.named or table.given.get("lower_is_better"):
        return
    stem = Path(table.source.name).stem
    columns_say = all(map(_says_fewer_is_better, columns))
    constant: list[str] = []  # texts that are the same in every row
    for name in table.columns:
        known = table.known(name)
        if len(known) == 1:
            constant += known
    file_says = _says_fewer_is_better(stem) or any(map(_says_1_is_best, constant))
    marks = all(words_of(name) & {*MARKS_OF_SCHOOLS} for name in columns)
    if marks:
        numbers = [n for name in columns for n in table.numbers(name) or [0]]
        marks = all(1 <= n <= 6 for n in numbers)
    if not (columns_say or file_says or marks):
        return
    labels = join(columns, quote=True)
    lower = as_options(lower_is_better=True)
    as_scores = as_options(shape="scores")
    raise ValueError(
        f"{table.source.name}: of {labels} the lower number may be better: say "
        f"{lower}, or {as_scores} where the higher is"
    )


def _says_fewer_is_better(name: str) -> bool:
    """Return whether a name says that the lower number is better."""
    return not words_of(name).isdisjoint(FEWER) or _says_1_is_best(name)


def _says_1_is_best(text: str) -> bool:
    """Return whether a text says of a scale that 1 is its best."""
    words = re.findall("[^\\W_]+", text.casefold())
    sentence = " ".join(words)
    return BEST_IS_1.search(sentence) is not None
