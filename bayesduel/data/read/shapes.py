"""The shapes of a table: which rows and columns make one comparison.

=========  ====================================================================================
shape      a row is
=========  ====================================================================================
duels      a duel
counts     a pair of arms, with columns of the wins of each (``wins_a``, ``wins_b``, ``ties``)
matrix     an arm, with a column for each arm that it beat
scores     an item, with a column of numbers for each arm; or the score of an arm on an item
pairs      a judge, with a column for each pair of arms, such as ``London:Paris``
choices    an alternative of a set, chosen (1) or not (0)
best       a choice, with a column for each of three arms or more, and one of the best (and worst)
ranks      a ranking, with a column for each arm that holds its place; 0 or nothing: not ranked;
           or a column of its name and one of its place for each of several arms
places     an arm of a ranking, with its place; several columns may name the ranking (item, judge)
lists      a ranking, with a column of lists of arms, the best first
one-hot    a duel, with a column of 0 and 1 for each outcome (``winner_model_a``, ``winner_tie``)
nested     a duel of objects in JSON, or of a list of two arms
matches    a side of a match: each match has two rows
versus     a duel whose two arms stand in one column, such as ``Ajax - Celtic``
=========  ====================================================================================

The formats of tools are shapes, too (:mod:`bayesduel.data.read.tools`). A shape is one function and
one line of `SHAPES`. The function looks at the columns and the first rows of a table, and returns a
:class:`bayesduel.data.read.shape.Shape`, or what the table lacks to be one. Where the user names no
shape, a shape is recognised only where it is unmistakable.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

from bayesduel.data.read.columns import (
    ROLES,
    THIRD,
    Columns,
    arms_in,
    bare,
    plain,
    scores_in,
    side_of,
    take,
    wins_columns,
    words_of,
)
from bayesduel.data.read.decimals import columns_with_commas, text_with_point
from bayesduel.data.read.faults import MISSING
from bayesduel.data.read.outcomes import difference
from bayesduel.data.read.rows import NUMBER
from bayesduel.data.read.shape import (
    OTHER,
    Asked,
    Kind,
    Shape,
    listed,
    number_of,
    text_in_json,
    text_of_column,
)
from bayesduel.data.read.sql import name_of, text_in_sql
from bayesduel.data.read.tools import TOOLS, tool_of
from bayesduel.data.read.words import (
    BEST,
    CHOSEN,
    DRAWS,
    LISTS,
    LOSSES,
    MATCHES,
    MODELS,
    OPPONENTS,
    OUTCOMES,
    PLACES,
    POINTS,
    RESULTS,
    SCORES,
    TEAMS,
    TIES,
    VERSUS,
    WINS,
    WORST,
)
from bayesduel.system.arguments import check_one_of
from bayesduel.text import join

__all__ = [
    "RANKS",
    "SHAPES",
    "Table",
    "checked_shape",
    "duels",
    "goes_on",
    "shape_asked",
    "shape_found",
]

RANKS = "a column of places for each arm"
MOST_VALUES = 7  # of columns of pairs: no more than a scale has
PEEK = 500  # rows by which a shape is recognised
FEWEST_RANKS = 5  # rows; the chance that scores from 0 to 3 are ranks in all of them is 0.007
ITEMS = tuple(
    stem + end
    for stem in ("item", "prompt", "question", "task", "example", "instance", "sample", "query",
                 "game", "match", "race", "round", "test", "problem", "trial", "utterance", "utt",
                 "sentence", "clip", "image", "segment", "stimulus")
    for end in ("", "id", "name", "number", "no")
)  # fmt: skip
ROWS = ("id", "row", "no", "index", "unnamed:0", "")  # numbers of rows
JUDGES = (*(stem + end for stem in ROLES["judge"] for end in ("", "id", "name")), "email",
          "participantemail", "sessionuuid", "responseid")  # fmt: skip
SETS = ("choiceid", "choiceset", "choicesetid", "set", "setid", "choice", "task", "taskid", "chid",
        "observation", "obs", "obsid", "occasion", "screen", *ITEMS, "id")  # fmt: skip
ALTERNATIVES = ("alternative", "alternativeid", "alternativename", "alt", "altid", "option",
                "optionid", "brand", "item", "arm", *MODELS)  # fmt: skip
RANKING = ("rankingid", "race", "ballot", "list", "event")  # as a log of rankings calls it
ORDINAL = "(st|nd|rd|th|ST|ND|RD|TH|[.]|º|ª)$"  # what makes 1 the first
BY_NUMBER = re.compile("(rank|place|position)?[0-9]+")  # of an arm, or the arm at that place
FEWER = {"seconds", "second", "latency", "time", "duration", "ms", "error", "errors", "wer", "cer",
         "loss", "cost", "perplexity", "ppl", "rank", "ranks", "strokes", "mistakes", "rmse", "mae",
         "mse", "zeit", "fehler", "temps", "erreurs", "tiempo", "tempo"}  # fmt: skip
# What a scale says of itself, in words: "1 = best, 7 = worst", "best = 1", "1 (sehr gut)".
BEST_WORDS = ("best|top|excellent|(very|sehr|muy|très) (good|gut|bueno|bien)|beste|mejor|meilleur"
              "|migliore|melhor|лучший")  # fmt: skip
BEST_IS_1 = re.compile(rf"\b1 (is |means |the )*({BEST_WORDS})\b|\b({BEST_WORDS}) (is )?1\b")
MARKS_OF_SCHOOLS = {"note", "noten", "schulnote", "schulnoten", "zensur"}  # in German 1 is best
REPEATED = 1.5  # duels per arm above which the texts of a column name arms
SEPARATORS = (r" *: *", r" +vs?\.? +", r"[_.-]vs?[_.-]", r" +(?:-|/|\||>|&) +", r"[|/>]", r"-",
              r"_",
              r"\.")  # fmt: skip
MOST_DIGITS = 2  # of the number of an arm in the name of its column
CERTAIN = 4  # of the separators: the first ones are those of pairs alone
WON = re.compile("win|won|prefer|chosen|better|vote|best|select|pick")
TIED = re.compile("tie|draw|equal|same|both|neither|none|nopref|nowin")
TRUTH = {"true": 1.0, "false": 0.0}
MARKS = ("x", "✓", "✔")  # for 1; nothing stands for 0
FLAGS = {"0", "1", "0.0", "1.0", "true", "false", *MARKS}
ABSENT = {text.lower() for text in MISSING} | {"."}


@dataclass(frozen=True)
class Table:
    """A table of which a shape is looked for."""

    source: Any
    given: Mapping[str, Any]  # options of the caller that name columns, by role
    named: bool  # whether the caller names the shape
    decimal: str | None = None  # the sign before decimals; None: recognised

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns."""
        found: list[str] = self.source.columns()
        return found

    @cached_property
    def rows(self) -> dict[str, list[str]]:
        """The first rows of each column as text, "" where missing."""
        first = self.source.peek(Columns({f"c{k}": n for k, n in enumerate(self.columns)}), PEEK)
        found = {
            name: [_plain_text(text) for text in column.texts]
            for name, column in zip(self.columns, first.values(), strict=True)
        }
        for name in columns_with_commas(self.source, self.decimal):
            found[name] = [text_with_point(text, self.decimal) for text in found[name]]
        return found

    def known(self, column: str) -> set[str]:
        """Return the texts of a column that are not missing."""
        return set(self.rows[column]) - {""}

    def column(self, role: str, names: Sequence[str], but: Sequence[str | None] = ()) -> str | None:
        """Return the column that is given for a role, else the first with one of some plain names.

        but: columns that have another role.
        """
        given = self.given.get(role)
        if isinstance(given, str):
            take(self.columns, self.source.name, {role: given})
            return given
        free = {plain(bare(name)): name for name in reversed(self.columns) if name not in but}
        return next((free[name] for name in names if name in free), None)

    def used(self, *roles: str) -> tuple[str, ...]:
        """Return which of some options are given."""
        return tuple(role for role in roles if isinstance(self.given.get(role), str))

    def beside(self, *taken: str | None) -> list[str]:
        """Return the columns that have no role, given or by their names."""
        given: set[str] = set()
        for name in self.given.values():
            given |= {name} if isinstance(name, str) else set()
            given |= {*name} if isinstance(name, list | tuple) else set()
        return [name for name in self.columns if name not in {*taken} | given]

    def numbers(self, column: str) -> list[float] | None:
        """Return the numbers of a column, without missing values; None if one is no number."""
        texts = [text for text in self.rows[column] if text]
        return [*map(_number, texts)] if all(map(_is_number, texts)) else None

    def all(self, *columns: str) -> dict[str, list[str]]:
        """Return all rows of some columns as text, "" where missing."""
        wanted = take(self.columns, self.source.name, {name: name for name in columns})
        found = self.source.texts(wanted)
        return {name: [(text or "").strip() for text in found[name].texts] for name in columns}

    def is_flag(self, column: str) -> bool:
        """Return whether a column holds 0 and 1, or true and false."""
        known = {text.lower() for text in self.known(column)}
        return bool(known) and known <= FLAGS


# -- general shapes ----------------------------------------------------------------------------


def duels(table: Table | None = None) -> Shape:
    """Return the shape of a table whose rows are duels; it is not looked for, but the default."""
    return Shape("", (), "SELECT row_of_file FROM records", "", open=True)


def counts(table: Table) -> str | None:
    """Return None for a table of pairs with their counts, which is read as it is."""
    sides = (table.given.get("left") or "left", table.given.get("right") or "right")
    found = wins_columns(table.columns, table.source.name, *sides, table.given.get("weight"))
    return None if found else "columns of two arms and of the wins of each, such as wins_a, wins_b"


def matrix(table: Table) -> str | None:
    """Return None for a square table of wins, which is read as it is."""
    found = table.source.matrix()
    return None if found is not None else "the same arms in the first column and in the header line"


def one_hot(table: Table) -> Shape | str:
    """Return the shape of a table of duels with a column of 0 and 1 for each outcome."""
    lack = "two columns of 0 and 1 that say which side won, such as winner_a and winner_b"
    if not table.named and sum(bool(WON.search(plain(name))) for name in table.columns) < 2:
        return lack
    flags = [name for name in table.columns if table.is_flag(name)]
    won = [n for n in flags if WON.search(plain(n)) and not TIED.search(plain(n))]
    pair = next((p for p in permutations(won, 2) if side_of(*p)), None)
    counted = counts(table) is None and any("wins" in plain(name) for name in table.columns)
    if pair is None or (not table.named and counted):
        return lack
    ties = [name for name in flags if name not in pair and TIED.search(plain(name))]
    number = {name: f"coalesce({_flag(name)}, 0)" for name in (*pair, *ties)}
    found = {"left": number[pair[0]], "right": number[pair[1]]}
    found |= {"tie": " + ".join(number[name] for name in ties)} if ties else {}
    cases = " ".join(f"WHEN ({value}) = 1 THEN '{side}'" for side, value in found.items())
    total = " + ".join(f"({value})" for value in found.values())
    written = ", ".join(text_of_column(name) for name in number)
    query = (
        f"SELECT row_of_file, nullif(concat_ws(', ', {written}), '') AS verdict, "
        f"CASE WHEN {total} = 1 THEN CASE {cases} END END AS winner FROM records"
    )
    said = f"winner=left where {pair[0]} is 1, right where {pair[1]} is 1"
    said += f", tie where {join(ties)} is 1" if ties else ""
    rule = (", ".join(number), "1 in one of them and 0 in the others")
    return Shape("a column of 0 and 1 for each outcome", (*number,), query, said, rule, open=True)


def _flag(column: str) -> str:
    """Return a column of 0 and 1, or of marks, as numbers, in SQL."""
    text = text_of_column(column)
    marks = ", ".join(map(text_in_sql, MARKS))
    return f"CASE WHEN lower({text}) IN ({marks}) THEN 1 ELSE {number_of(text)} END"


def nested(table: Table) -> Shape | str:
    """Return the shape of a table of duels with columns of objects, or of lists of two arms.

    A single list of objects is a table itself. A field is called by its own name or, where others
    have this name, by its column's and its own.
    """
    lack = "columns of objects of JSON, such as {'left': ..., 'right': ...}, or of lists of two"
    values = {name: _parsed(texts) for name, texts in table.rows.items()}
    (rows, *more) = [n for n, found in values.items() if _are_objects(found[:1])] or [""]
    value = name_of if not rows else lambda name: "one"
    if rows and not more:
        values = {rows: [one for found in values[rows] for one in found]}
    fields = [
        (name, field, path)
        for name, found in values.items()
        for field, path in _fields(name, found).items()
    ]
    if not fields:
        return lack
    times = Counter(field for _, field, _ in fields)
    called = {}
    for name, field, path in fields:
        alone = times[field] == 1 and (rows or field not in table.columns)
        called[field if alone else f"{name}.{field}"] = (name, path)
    if not table.named and not any(path == "$[0]" for _, path in called.values()):
        if arms_in([*called]) is None:
            return lack
    texts = ", ".join(
        f"{text_in_json(f'({value(name)} -> {text_in_sql(path)})')} AS {name_of(OTHER + field)}"
        for field, (name, path) in called.items()
    )
    source = "records"
    if rows:
        lists = f"from_json({name_of(rows)}, '[\"JSON\"]')"
        source = f"(SELECT row_of_file, unnest({lists}) AS one FROM records)"
    query = f"SELECT row_of_file, {texts} FROM {source}"
    own = list(dict.fromkeys(name for name, _ in called.values()))
    said = f"{', '.join(called)} of {join(own)}"
    return Shape("objects in columns", (*own,), query, said, open=not rows)


def matches(table: Table) -> Shape | str:
    """Return the shape of a table with two rows for each match, one for each side.

    Where each row is there again from the other side, the rows of one of both sides are kept as
    they are. Else the two rows of a match have the same in a column of matches.
    """
    lack = (
        "two rows for each match: its id (or the opponent), a team and its result (group, right, "
        "left, outcome)"
    )
    opponent = table.column("right", OPPONENTS)
    team = table.column("left", TEAMS, [opponent])
    match = table.column("group", MATCHES, [team, opponent])
    if table.named and (team is None or opponent is None) and match is None:
        team, opponent = arms_in(table.columns) or (team, opponent)
    if team is None or (opponent is None and match is None):
        return lack
    scores = [] if opponent is None else scores_in(table.columns, team, opponent)
    result = None if scores else table.column("outcome", RESULTS, [match, team, opponent])
    if opponent is not None and _are_mirrored(table, team, opponent, result, scores):
        said = "each match is there twice, once from each side, and is counted once"
        own = () if result is None or plain(result) in OUTCOMES else (result,)
        kept = MIRRORED.format(
            arm=text_of_column(team),
            other=text_of_column(opponent),
            outcome="".join(f", {text_of_column(name)} AS outcome" for name in own),
        )
        return Shape("two rows for each match", own, kept, said, ordered=False, open=True)
    result = result or table.column("outcome", RESULTS, [match, team, opponent])
    if result is None or match is None or not _are_of_two(table.all(match)[match]):
        return lack
    if opponent is None and not table.named and arms_in(table.columns):
        return lack
    results = {text.lower() for text in table.known(result)}
    in_words = results <= {*WINS, *LOSSES, *DRAWS}
    scored = table.numbers(result) is not None and not in_words
    if not table.named and not in_words and (opponent is None or not scored):
        return lack  # of scores, a table of scores
    columns = {"arm": team, "other": opponent, "value": result}
    said = f"each match is there twice, once for each team, and is counted once; left={team}, "
    said += f"right={opponent or f'the other {team}'}, outcome={result} of the first row, "
    said += f"match={match}"
    taken = {role: name for role, name in columns.items() if name is not None}
    texts = ", ".join(f"{text_of_column(name)} AS {role}" for role, name in taken.items())
    winner = f"CASE WHEN {_side('a')} = {_side('b', other=True)} THEN {_side('a')} END"
    if scored:
        number = "TRY_CAST({}.value AS DOUBLE)".format
        winner = f"CASE sign({number('a')} - {number('b')}) {SIGNS} END"
    agree = " AND a.other = b.arm AND b.other = a.arm" if opponent else ""
    query = TWO_ROWS.format(key=text_of_column(match), texts=texts, winner=winner, agree=agree)
    rule = (result, "a win, a loss or a draw, and the reverse in the other row of the match")
    return Shape(
        "two rows for each match", (*taken.values(), match), query, said, rule,
        ordered=False, open=True, used=table.used("left", "right", "outcome", "group"),
    )  # fmt: skip


def versus(table: Table) -> Shape | str:
    """Return the shape of a table of duels whose two arms stand in one column."""
    lack = "a column of two arms, such as 'Ajax vs Celtic' or 'Ajax - Celtic' (group)"
    named = table.column("group", VERSUS)
    for column in table.columns if named is None else [named]:
        texts = [text for text in table.rows[column] if text]
        for separator in SEPARATORS[: CERTAIN if named else CERTAIN - 2]:
            sides = [re.split(separator, text, flags=re.IGNORECASE) for text in texts]
            labels = Counter(label.strip() for both in sides for label in both)
            if not texts or any(len(both) != 2 for both in sides) or "" in labels:
                continue
            if not table.named and 2 * len(texts) < REPEATED * len(labels):
                continue
            parts = (
                f"regexp_split_to_array({text_of_column(column)}, {text_in_sql(separator)}, 'i')"
            )
            query = (
                'SELECT row_of_file, trim(part[1]) AS "left", trim(part[2]) AS "right" '
                f"FROM (SELECT row_of_file, {parts} AS part FROM records)"
            )
            said = f"left=the first of {column}, right=the second"
            return Shape("two arms in one column", (column,), query, said, open=True,
                         used=table.used("group"))  # fmt: skip
    return lack


def choices(table: Table) -> Shape | str:
    """Return the shape of a table with a row for each alternative, one of which is chosen."""
    lack = (
        "columns of a set, an alternative and whether it was chosen, 0 or 1 (group, left, outcome)"
    )
    chosen = table.column("outcome", CHOSEN)
    judge = table.column("judge", JUDGES, [chosen])
    of = table.column("ranking" if "ranking" in table.given else "group", SETS, [chosen, judge])
    arm = table.column("left", ALTERNATIVES, [chosen, judge, of])
    if of is None or arm is None or chosen is None or not table.is_flag(chosen):
        return lack
    own = [name for name in (judge, of) if name is not None]
    keys = [*zip(*table.all(*own).values(), strict=True)]
    sizes = {*Counter(keys).values()}
    if not table.named and (min(sizes) < 2 or _n_chosen(table, chosen) != len({*keys})):
        return lack
    texts = f"{text_of_column(arm)} AS arm, {_flag(chosen)} AS value"
    key = text_of_column(of)
    if judge is not None:
        key = f"to_json([{text_of_column(judge)}, {key}])::VARCHAR"
    pairs = sizes == {2}
    winner = f"CASE WHEN a.value + b.value = 1 THEN CASE sign(a.value - b.value) {SIGNS} END END"
    query = (TWO_ROWS if pairs else CHOSEN_OF).format(key=key, texts=texts, winner=winner, agree="")
    said = f"set={' and '.join(own)}, alternative={arm}, chosen={chosen}; "
    said += "a duel for each set of two" if pairs else "the chosen is best, the others are below it"
    rule = (chosen, "1 for one alternative of a set and 0 for the others")
    kind: Kind = "duels" if pairs else "rankings"
    used = table.used("left", "outcome", "group")
    return Shape("a row for each alternative", (of, arm, chosen), query, said, rule,
                 may=(*own[:-1],), kind=kind, used=used, open=True,
                 roles={"ranking": ", ".join(own), "arm": arm, "rank": chosen})  # fmt: skip


def pairs(table: Table) -> Shape | str:
    """Return the shape of a table with a column for each pair of arms, and a row for each judge."""
    lack = "columns that are named by two arms each, such as London:Paris or 'London vs Paris'"
    found = _pairs_of(table)
    if not found:
        return lack
    judge = table.column("judge", (*JUDGES, "id", "no", "row"))
    who = "'row ' || row_of_file" if judge is None else text_of_column(judge)
    absent = listed(map(text_in_sql, sorted(ABSENT)))
    columns = [*found]
    values = listed(text_of_column(name) for name in columns)
    left, right = (listed(text_in_sql(sides[k]) for sides in found.values()) for k in (0, 1))
    query = (
        f"SELECT *, CASE WHEN list_contains({absent}, lower(written)) THEN NULL ELSE written END "
        f"AS verdict, verdict AS winner FROM (SELECT row_of_file, {who} AS judge, "
        f"unnest({listed(map(text_in_sql, columns))}) AS part, unnest({left}) AS model_a, "
        f"unnest({right}) AS model_b, "
        f"unnest({values}) AS written FROM records)"
    )  # fmt: skip
    first = columns[0]
    said = f"{len(columns):,} pairs of {len({*sum(found.values(), ())}):,} arms, such as {first}: "
    said += f"left={found[first][0]}, right={found[first][1]}; judge={judge or 'the row'}"
    used = table.used("judge")
    may = (judge,) if judge else ()
    return Shape(
        "a column for each pair", (*columns,), query, said,
        may=may, open=True, ordered=False, used=used,
    )  # fmt: skip


def ranks(table: Table) -> Shape | str:
    """Return the shape of a table with a column for each arm that holds its place in the row.

    Beside each of these may be a column of the name of the arm (system1, rank1, system2, rank2).
    """
    lack = "a column for each of several arms with its place in the row, 1, 2, 3, ..."
    pair = None if table.named or not _may_be_arms(table) else arms_in(table.columns)
    if pair is not None and not _more_than_two(table.columns, pair):
        return lack
    arms = _columns_of_places(table)
    names = _names_beside(table, arms) if len(arms) > 1 else []
    sure = bool(names) and all(any(word in plain(name) for word in PLACES) for name in arms)
    if len(arms) < 2 or not (table.named or sure or _are_ranks(table, arms)):
        return lack
    if not table.named and _from_0(table, arms):
        raise ValueError(
            f"{table.source.name}: {join(arms, quote=True)} hold 0 to {len(arms) - 1} in each row: "
            "these may be points (shape='scores', --shape scores; where 0 is best, "
            "lower_is_better=True, --lower-is-better, too) or ranks, of which 0 is no place "
            "(shape='ranks', --shape ranks); say which"
        )
    if pair is not None and not (len(arms) > 2 and (names or {*pair} <= {*arms})):
        return lack
    numbered = [name for name in arms if any(word in plain(name) for word in (*SCORES, *POINTS))]
    if not table.named and len(numbered) == len(arms):
        raise _ranks_or_scores(table, arms)
    if not table.named and not names and all(BY_NUMBER.fullmatch(plain(name)) for name in arms):
        raise ValueError(
            f"{table.source.name}: {arms[0]!r} may hold the place of arm {arms[0][-1]} "
            "(shape='ranks', --shape ranks) or the arm at that place (shape=False, --shape none); "
            "say which"
        )
    if not table.named and (len(arms) < 3 or len(table.rows[arms[0]]) < FEWEST_RANKS):
        raise _ranks_or_scores(table, arms)
    places = [f"regexp_replace({text_of_column(name)}, '{ORDINAL}', '')" for name in arms]
    query = RANKED.format(
        names=listed(map(text_of_column, names) if names else map(text_in_sql, arms)),
        texts=listed(places),
        absent=listed(map(text_in_sql, sorted(ABSENT))),
    )
    said = f"arms={', '.join(names or arms)}; "
    said += f"places={', '.join(arms)}; " if names else ""
    said += "1 is best; an arm without a place (0 or nothing) is not of the ranking"
    rule = ("rank", "a place from 1, or 0 or nothing where the arm is not ranked")
    roles = {"arm": ", ".join(names), "rank": ", ".join(arms)}
    return Shape(RANKS, (*arms, *names), query, said, rule, kind="rankings", open=True,
                 roles=roles)  # fmt: skip


def _ranks_or_scores(table: Table, arms: Sequence[str]) -> ValueError:
    """Return the error of columns that may hold ranks or scores."""
    return ValueError(
        f"{table.source.name}: {join(arms, quote=True)} hold 1 to {len(arms)} in each row: "
        "these may be ranks (1 is best: shape='ranks', --shape ranks) or scores "
        "(shape='scores', --shape scores); say which"
    )


def best(table: Table) -> Shape | str:
    """Return the shape of a table of choices, with a column for each alternative that was shown.

    The best, and the worst, are named by their arm, or by the number or the letter of their column.
    """
    lack = "three columns or more of the arms that were shown, and one of the best (best)"
    column = table.column("best", BEST)
    worst = table.column("worst", WORST, [column])
    shown = {} if column is None else _numbered(table, [column, worst])
    if column is None or len(shown) < 3:
        return lack
    arms = [*shown.values()]
    keys = _keys(shown)
    labels = {text for name in arms for text in table.known(name)}
    ends = {}
    for name in filter(None, (column, worst)):
        texts = table.known(name)
        at = {text for text in texts if text.casefold() in keys}
        ties = {text for text in texts if plain(text) in TIES}
        if not texts or (not table.named and not (texts <= labels | ties or texts <= at | ties)):
            return lack
        ends[name] = text_of_column(name) if texts <= labels | ties else _at(name, keys)
    middle = "" if worst is None else f"WHEN {ends[worst]} IS NOT NULL THEN '2'"
    last = "" if worst is None else f"WHEN arm = {ends[worst]} THEN '3'"
    tied = listed(map(text_in_sql, TIES))
    word = f"lower({text_of_column(column)})"
    query = BEST_OF.format(
        shown=listed(map(text_of_column, arms)), best=ends[column], last=last, middle=middle,
        word=text_of_column(column), tie=f"list_contains({tied}, {word})",
        columns=", ".join(name_of(name) for name in (*arms, *ends)),
    )  # fmt: skip
    words = f"best={column}, shown={', '.join(arms)}"
    words += "" if worst is None else f", worst={worst}"
    rule = (column, "one of the arms that were shown, or its column")
    return Shape("a column for each arm shown, and one of the best", (*arms, *ends), query, words,
                 rule, kind="rankings", open=True,
                 roles={"arm": ", ".join(arms), "rank": ", ".join(ends)})  # fmt: skip


def places(table: Table) -> Shape | str:
    """Return the shape of a table with a row for the place of an arm in a ranking.

    The ranking is named by one column, or by the fewest that name each arm once (item and judge).
    """
    lack = (
        "columns of a ranking (one, or several that name it together), of an arm and of its place "
        "(ranking, arm, rank)"
    )
    rank = table.column("outcome", PLACES)
    arm = table.column("left", (*MODELS, *ALTERNATIVES, "driver", "name"), [rank])
    arm = arm or _left_over(table, [rank])
    others = {plain(name) for name in table.columns if name not in (rank, arm)}
    if (
        rank is None
        or arm is None
        or (not table.named and others & {*POINTS, *CHOSEN, *RANKING, "ranking"})
    ):
        return lack
    numbers = [re.sub(ORDINAL, "", text) for text in table.rows[rank]]
    if not table.named and not _mostly_numbers(numbers):
        return lack
    of = table.given.get("ranking") or _key_of(table, rank, arm)
    own = [of] if isinstance(of, str) else [*of]
    if not own:
        return lack
    take(table.columns, table.source.name, {f"ranking_{k}": name for k, name in enumerate(own)})
    texts = [text_of_column(name) for name in own]
    key = texts[0] if len(texts) == 1 else f"to_json({listed(texts)})::VARCHAR"
    query = (
        f"SELECT row_of_file, {key} AS ranking, {text_of_column(arm)} AS arm, "
        f"regexp_replace({text_of_column(rank)}, '{ORDINAL}', '') AS rank, true AS judged, "
        "NULL::VARCHAR AS wrong FROM records"
    )
    said = f"ranking={' and '.join(own)}, arm={arm}, rank={rank}; 1 is best"
    return Shape("a row for the place of each arm", (arm, rank), query, said,
                 may=(*own,), kind="rankings", open=True,
                 roles={"ranking": ", ".join(own), "arm": arm, "rank": rank})  # fmt: skip


def lists(table: Table) -> Shape | str:
    """Return the shape of a table with a column of lists of arms, the best first."""
    lack = "a column of lists of arms, the best first (order)"
    order = table.column("order", LISTS)
    if order is None or not _are_lists(table.rows[order]):
        return lack
    query = LISTED.format(text=text_of_column(order), value=name_of(order))
    said = f"arms=the list in {order}, the best first"
    rule = (order, "a list of two arms or more, each once")
    return Shape("lists of arms, the best first", (order,), query, said, rule, kind="rankings",
                 open=True, roles={"rank": order})  # fmt: skip


def scores(table: Table) -> Shape | str:
    """Return the shape of a table of scores: a row a score, or a column of numbers for each arm."""
    lack = (
        "columns of an item, a model and a score (item=, model=, score=), or a column of numbers "
        "for each of several models"
    )
    if table.given.get("lower_is_better", False) is None:  # it is asked for where it matters
        _check_no_ranks(table)
    names = {"item": ITEMS, "model": MODELS, "score": POINTS}
    found: dict[str, str | None] = {}
    for role, usual in names.items():
        found[role] = table.column(role, usual, [*found.values()])
    if found["model"] is None and found["score"] is not None:
        found["model"] = _left_over(table, [found["score"]])
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


SHAPES: dict[str, Callable[[Table], Shape | str | None]] = {
    "duels": duels,
    "counts": counts,
    "matrix": matrix,
    "one-hot": one_hot,
    "nested": nested,
    "matches": matches,
    "versus": versus,
    "choices": choices,
    "best": best,
    "pairs": pairs,
    "ranks": ranks,
    "places": places,
    "lists": lists,
    "scores": scores,
}
# In this order.
RECOGNISED = (
    "one-hot", "nested", "matches", "versus", "choices", "best", "pairs", "ranks", "places",
    "lists", "scores",
)  # fmt: skip
BESIDE_ARMS = ("one-hot", "matches", "best", "ranks")  # those that have columns named like two arms


def checked_shape(name: Any) -> Any:
    """Return the name of a shape, or None or False; raise ValueError for any other."""
    if name is not None and name is not False:
        check_one_of(name, "shape", [*SHAPES, *TOOLS])
    return name


def shape_asked(source: Any, name: str, asked: Asked) -> Shape | None:
    """Return the shape of that name; None for one that is read as it is.

    Raises ValueError if the table lacks what the shape needs.
    """
    table = Table(source, asked.given, named=True, decimal=asked.decimal)
    if name in TOOLS:
        tool = TOOLS[name]
        lost = [column for column in tool.has if column not in table.columns]
        found: Shape | str | None = f"columns {join(lost, quote=True)}" if lost else tool
    else:
        found = SHAPES[name](table)
    if isinstance(found, str):
        raise ValueError(
            f"{source.name}: shape {name!r} needs {found}; "
            f"the columns are {join(table.columns, quote=True)}"
        )
    return None if found is None else replace(found, key=name)


def shape_found(source: Any, asked: Asked) -> Shape | None:
    """Return the shape of a table where it is unmistakable, else None.

    asked: what the caller says, who names no column.
    """
    lower = {"lower_is_better": asked.given.get("lower_is_better")}
    table = Table(source, lower, named=False, decimal=asked.decimal)
    tool = tool_of(table.columns)
    if tool is not None or source.matrix() is not None:
        return tool
    arms = _may_be_arms(table)
    found = ((n, SHAPES[n](table)) for n in RECOGNISED if not arms or n in BESIDE_ARMS)
    return next((replace(shape, key=n) for n, shape in found if isinstance(shape, Shape)), None)


# -- parts of queries --------------------------------------------------------------------------

SIGNS = "WHEN 1 THEN 'left' WHEN -1 THEN 'right' WHEN 0 THEN 'tie'"
# Two rows with the same key, which the first one and the second one are.
TWO_ROWS = """
WITH sides AS (
    SELECT *, row_number() OVER (PARTITION BY key ORDER BY row_of_file) AS place,
           count(*) OVER (PARTITION BY key) AS n
    FROM (SELECT row_of_file, {key} AS key, {texts} FROM records))
SELECT a.row_of_file, a.arm AS model_a, coalesce(b.arm, '') AS model_b,
    CASE WHEN a.n = 2 THEN nullif(concat_ws(' and ', a.value, b.value), '')
         ELSE a.n || CASE WHEN a.n = 1 THEN ' row' ELSE ' rows' END END AS verdict,
    CASE WHEN a.n = 2{agree} THEN {winner} END AS winner
FROM sides a LEFT JOIN sides b ON a.key = b.key AND b.place = 2 WHERE a.place = 1"""
MIRRORED = """
SELECT row_of_file{outcome} FROM records
WHERE {arm} <= {other} OR {arm} IS NULL OR {other} IS NULL"""
CHOSEN_OF = """
SELECT row_of_file, key AS ranking, arm, CASE WHEN value = 1 THEN '1' END AS rank, true AS judged,
    CASE WHEN sum(value) OVER (PARTITION BY key) <> 1 OR value NOT IN (0, 1)
         THEN sum(value) OVER (PARTITION BY key) || ' in the set ' || key END AS wrong
FROM (SELECT row_of_file, {key} AS key, {texts} FROM records)"""
# The best of the arms shown has rank 1; of a tie no arm has a rank.
BEST_OF = """
SELECT row_of_file, 'row ' || row_of_file AS ranking, arm,
    CASE WHEN arm = {best} THEN '1' {last} {middle} END AS rank,
    {word} IS NOT NULL AS judged,
    CASE WHEN NOT {tie} AND NOT coalesce(list_contains(shown, {best}), false) THEN {word} END
        AS wrong
FROM (SELECT row_of_file, {columns}, shown, unnest(shown) AS arm
      FROM (SELECT *, {shown} AS shown FROM records))
WHERE arm IS NOT NULL"""
RANKED = """
SELECT row_of_file, 'row ' || row_of_file AS ranking, arm, CAST(number AS VARCHAR) AS rank,
    count(*) OVER (PARTITION BY row_of_file) > 1 AS judged,
    CASE WHEN number IS NULL OR number < 1 THEN written END AS wrong
FROM (SELECT *, TRY_CAST(written AS DOUBLE) AS number FROM
    (SELECT row_of_file, unnest({names}) AS arm, unnest({texts}) AS written FROM records)
    WHERE written IS NOT NULL AND NOT list_contains({absent}, lower(written)))
WHERE number IS DISTINCT FROM 0 AND number IS DISTINCT FROM -1"""
LISTED = """
SELECT row_of_file, 'row ' || row_of_file AS ranking, unnest(arms) AS arm,
    CAST(unnest(range(1, len(arms) + 1)) AS VARCHAR) AS rank, len(arms) > 1 AS judged,
    NULL::VARCHAR AS wrong
FROM (SELECT row_of_file, coalesce(CASE json_type({value})
        WHEN 'ARRAY' THEN from_json({value}, '["VARCHAR"]')
        ELSE [trim(label, ' "' || chr(39))
              FOR label IN regexp_split_to_array(trim({text}, '[]() '), '[,;|]')]
        END, ['']) AS arms FROM records)"""


def _parsed(texts: Sequence[str]) -> list[Any]:
    """Return the objects and lists of JSON of a column; none where a text is neither."""
    known = [text for text in texts if text]
    if not known or any(text[0] not in "[{" for text in known):
        return []
    try:
        return [json.loads(text) for text in known]
    except ValueError:
        return []


def _are_objects(values: Sequence[Any]) -> bool:
    """Return whether values are lists of objects."""
    lists = len(values) > 0 and all(isinstance(one, list) and one for one in values)
    return lists and all(isinstance(part, dict) for one in values for part in one)


def _fields(name: str, values: Sequence[Any]) -> dict[str, str]:
    """Return the fields of objects that hold values, or both of pairs, with their paths."""
    if values and all(isinstance(one, dict) for one in values):
        flat = (key for one in values for key, part in one.items()
                if not isinstance(part, dict | list))  # fmt: skip
        return {key: f"$.{json.dumps(key)}" for key in dict.fromkeys(flat)}
    if values and all(isinstance(one, list) and len(one) == 2 for one in values):
        if all(isinstance(part, str) for one in values for part in one):
            return {f"{name}_1": "$[0]", f"{name}_2": "$[1]"}
    return {}


def _side(row: str, *, other: bool = False) -> str:
    """Return the side that won as a row says, or as the row of its opponent says, in SQL."""
    sides = ("right", "left") if other else ("left", "right")
    word = f"lower({row}.value)"
    cases = " ".join(
        f"WHEN {word} IN ({', '.join(map(text_in_sql, words))}) THEN '{side}'"
        for words, side in zip((WINS, LOSSES, DRAWS), (*sides, "tie"), strict=True)
    )
    return f"CASE {cases} END"


# -- what rows say -----------------------------------------------------------------------------


def _are_of_two(keys: Sequence[str]) -> bool:
    """Return whether most keys are of two rows, and none of more."""
    sizes = [*Counter(keys).values()]
    return max(sizes, default=0) == 2 and 4 * sizes.count(2) >= 3 * len(sizes)


def _are_mirrored(
    table: Table, team: str, opponent: str, result: str | None, scores: Sequence[str]
) -> bool:
    """Return whether each row is there again from the other side.

    Where the shape is named, the two arms are enough; else the row has to say who won.
    """
    said = scores or [name for name in (result,) if name is not None]
    left, right, *values = table.all(team, opponent, *said).values()
    sides = [*zip(left, right, strict=True)]
    if table.named:
        return len({*sides}) > 1 and Counter(sides) == Counter((b, a) for a, b in sides)
    if not said:
        return False
    if scores:
        ahead = [_margin(row) for row in zip(*values, strict=True)]
    else:
        ahead = [_ahead(*row) for row in zip(left, right, *values, strict=True)]
    rows = Counter((*both, n) for both, n in zip(sides, ahead, strict=True))
    turned = Counter({(b, a, n and -n): times for (a, b, n), times in rows.items()})
    return len(rows) > 2 and rows == turned and any(ahead)


def _margin(scores: Sequence[str]) -> float | None:
    """Return a margin, or the difference of two scores; None where one is no number."""
    if not all(map(_is_number, scores)):
        return None
    own, *other = map(_number, scores)
    return own - sum(other)


def _ahead(team: str, opponent: str, result: str) -> float | None:
    """Return by how much a team is ahead of its opponent; None where a result does not say it."""
    known = dict.fromkeys((*WINS, team.lower()), 1.0)
    known |= dict.fromkeys((*LOSSES, opponent.lower()), -1.0)
    known |= dict.fromkeys(DRAWS, 0.0)
    return known.get(result.lower(), difference(result))


def _n_chosen(table: Table, chosen: str) -> int:
    texts = [text.lower() for text in table.all(chosen)[chosen]]
    return sum(text in ("1", "1.0", "true") for text in texts)


def _pairs_of(table: Table) -> dict[str, tuple[str, str]]:
    """Return the two arms that each column of a pair is named by."""
    names = [name for name in table.beside() if plain(name) not in JUDGES]
    for certain, separator in enumerate(SEPARATORS):
        parted = [name for name in names if re.search(separator, name, re.IGNORECASE)]
        for start, end in (("", ""), (_common_start(parted), _common_end(parted))):
            found = {}
            for name in parted:
                bare = name.removeprefix(start).removesuffix(end)
                sides = re.split(separator, bare, flags=re.IGNORECASE)
                if len(sides) == 2 and all(sides) and sides[0] != sides[1]:
                    found[name] = (sides[0].strip(), sides[1].strip())
            if found and _are_pairs(table, found, certain < CERTAIN):
                return found
    return {}


def _are_pairs(table: Table, found: Mapping[str, tuple[str, str]], certain: bool) -> bool:
    """Return whether columns are named by two arms, surely so where the shape is not named."""
    labels = Counter(label for sides in found.values() for label in sides)
    n = len({frozenset(sides) for sides in found.values()})
    values = {value for name in found for value in table.known(name)}
    if n < len(found) or not (len(values) <= MOST_VALUES or values <= {*labels}):
        return False
    complete = n == len(labels) * (len(labels) - 1) // 2
    repeated = n > 2 and (complete or (certain and min(labels.values()) > 1))
    return repeated or (table.named and (certain or n > 2))


def _shared_start(names: Sequence[str]) -> str:
    """Return the letters that all of several names start with."""
    first, last = min(names, default=""), max(names, default="")
    n = next((k for k, (x, y) in enumerate(zip(first, last, strict=False)) if x != y), 0)
    return first[:n]


def _common_start(names: Sequence[str]) -> str:
    """Return what all names start with, to the end of a word."""
    shared = _shared_start(names)
    return shared[: max((shared.rfind(sign) for sign in "_.- [("), default=-1) + 1]


def _common_end(names: Sequence[str]) -> str:
    """Return the brackets and marks that all names end with."""
    ends = {re.sub(r".*[^])?.]", "", name) for name in names}
    return ends.pop() if len(ends) == 1 else ""


def _columns_of_places(table: Table) -> list[str]:
    """Return the columns of whole numbers that are no more than there are such columns."""
    role_names = {*JUDGES, *ITEMS, *SETS, *(name for names in ROLES.values() for name in names)}
    most = {}
    for name in table.beside():
        texts = [re.sub(ORDINAL, "", text) for text in table.rows[name] if text]
        if not table.named and not all(map(_is_number, texts)):
            continue
        if not table.named and {*map(str.lower, texts)} & {*TRUTH}:
            continue
        numbers = [_number(text) for text in texts if _is_number(text)]
        if (
            2 * len(numbers) >= len(texts) > 0
            and min(numbers) >= -1  # -1, as 0, says that an arm has no place
            and plain(name) not in role_names
        ):
            most[name] = max(numbers)
    while any(value > len(most) for value in most.values()):
        most = {name: value for name, value in most.items() if value <= len(most)}
    return [*most]


def _may_be_arms(table: Table) -> bool:
    """Return whether two columns are named like arms, and may hold them.

    Numbers in columns a and b, or 1 and 2, are no arms where all others go on (c, d) or say what
    was judged, by whom and when: nothing says who won.
    """
    pair = arms_in(table.columns)
    if pair is None or any(table.numbers(name) is None for name in pair):
        return pair is not None
    side = side_of(*pair)
    units = {*ITEMS, *ROWS, *JUDGES, *ROLES["group"], *ROLES["time"]}
    beside = [name for name in table.columns if name not in pair]
    alone = all(plain(name) in units or _goes_on(pair, name) for name in beside)
    return side is None or side[1] not in THIRD or not alone


def goes_on(names: Sequence[str], pair: Sequence[str]) -> bool:
    """Return whether a column is named like a further arm beside two, such as model_c."""
    return any(_goes_on(pair, name) for name in names if name not in pair)


def _goes_on(pair: Sequence[str], name: str) -> bool:
    """Return whether the name of a column is that of a further arm beside two, such as model_c."""
    start = _shared_start(pair)
    end = _shared_start([one[::-1] for one in pair])[::-1]
    rest = name.removeprefix(start).removesuffix(end)
    return len(name) - len(rest) == len(start + end) and len(rest) <= MOST_DIGITS


def _more_than_two(columns: Sequence[str], pair: Sequence[str]) -> bool:
    """Return whether columns may hold the places of more arms than two, by their names."""
    known = {plain(name) for name in columns}
    named = sum(any(word in name for word in PLACES) for name in known)
    third = goes_on(columns, pair)
    return named > 2 or (third and not known & {*OUTCOMES})


def _names_beside(table: Table, places: Sequence[str]) -> list[str]:
    """Return the columns of texts that are named as those of places are: system1 to rank1."""
    start = _shared_start(places)
    end = _shared_start([name[::-1] for name in places])[::-1]
    parts = [name[len(start) : len(name) - len(end)] for name in places]
    for name in table.beside(*places):
        for place in re.finditer(re.escape(parts[0]), name) if parts[0] else ():
            found = [name[: place.start()] + part + name[place.end() :] for part in parts]
            if {*found} <= {*table.columns} - {*places} and table.numbers(name) is None:
                return found
    return []


def _key_of(table: Table, rank: str, arm: str) -> list[str]:
    """Return the fewest columns that name rankings, each of which has an arm once; [] if none."""
    usual = {*SETS, *JUDGES, *ROLES["group"]}
    names = [n for n in table.columns if n not in (rank, arm) and plain(n) in usual]
    rows = table.all(arm, *names)
    arms = rows.pop(arm)
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            keys = [*zip(*(rows[name] for name in chosen), strict=True)]
            once = {*zip(keys, arms, strict=True)}
            if len(once) == len(arms) and 2 * len({*keys}) <= len(arms):
                return [*chosen]
    return []


def _left_over(table: Table, taken: Sequence[str | None]) -> str | None:
    """Return the one column of texts that may name arms: those that units of votes share are none.

    Each label is in several units, once in each.
    """
    units = {*JUDGES, *ITEMS, *SETS, *ROLES["group"], *ROLES["time"]}
    beside = [name for name in table.columns if name not in taken]
    named = [name for name in beside if plain(bare(name)) in units]
    texts = [name for name in beside if name not in named and table.numbers(name) is None]
    if len(texts) != 1 or not named:
        return None
    rows = [*zip(*(table.rows[name] for name in (*named, *texts)), strict=True)]
    labels = table.known(texts[0])
    return texts[0] if len({*rows}) == len(rows) >= REPEATED * len(labels) else None


def _are_lists(texts: Sequence[str]) -> bool:
    """Return whether all texts are lists of labels; those of JSON have no texts here."""
    known = [text for text in texts if text]
    plain_lists = all(re.search("[,;|]", text) and not re.search("[>=]", text) for text in known)
    return plain_lists and bool(known or not texts)


def _are_ranks(table: Table, arms: Sequence[str]) -> bool:
    """Return whether the numbers of each row are ranks, of which half have no ties.

    Of few columns or rows, all have to be ranked in each.
    """
    columns = [
        [_number(re.sub(ORDINAL, "", text) or "0") for text in table.rows[name]] for name in arms
    ]
    places = [sorted(place for place in row if place > 0) for row in zip(*columns, strict=True)]
    strict = [row == [*range(1, len(row) + 1)] for row in places]
    if not all(s or _has_ties(row) for row, s in zip(places, strict, strict=True)):
        return False
    ordered = [s and len(row) > 1 for row, s in zip(places, strict, strict=True)]
    few = len(arms) < 3 or len(places) < FEWEST_RANKS
    if few and not all(s and len(row) == len(arms) for row, s in zip(places, strict, strict=True)):
        return False
    return 2 * sum(ordered) >= len(places) > 0


def _from_0(table: Table, arms: Sequence[str]) -> bool:
    """Return whether each row holds 0, 1, 2, ... once, as points and places from 0 do."""
    columns = [table.rows[name] for name in arms]
    if not all(map(_is_number, {text for column in columns for text in column})):
        return False
    return all(
        sorted(map(_number, row)) == [*range(len(arms))] for row in zip(*columns, strict=True)
    )


def _has_ties(row: Sequence[float]) -> bool:
    """Return whether sorted numbers are ranks with ties: the lowest, the next or the mean place."""
    lowest = [1.0 + row.index(place) for place in row]
    dense = [1.0 + sorted({*row}).index(place) for place in row]
    mean = [row.index(place) + (row.count(place) + 1) / 2 for place in row]
    return list(row) in (lowest, dense, mean)


def _check_no_ranks(table: Table) -> None:
    """Raise ValueError if the numbers of each row may be ranks, of which the lowest is best."""
    arms = _columns_of_places(replace(table, named=False))
    if len(arms) > 1 and _are_ranks(table, arms):
        raise ValueError(
            f"{table.source.name}: {join(arms, quote=True)} hold 1 to {len(arms)} in each row: say "
            "lower_is_better=True where 1 is best, or False where it is worst"
        )


def _check_direction(table: Table, columns: Sequence[str]) -> None:
    """Raise ValueError if the names of all columns, or that of the file, say: fewer is better."""
    if table.named or table.given.get("lower_is_better"):
        return
    stem = Path(table.source.name).stem
    fewer = [bool(words_of(name) & FEWER) or _says_1_is_best(name) for name in columns]
    constant = [min(texts) for name in table.columns if len(texts := table.known(name)) == 1]
    marks = all(words_of(name) & MARKS_OF_SCHOOLS for name in columns)
    said = bool(words_of(stem) & FEWER) or any(map(_says_1_is_best, [stem, *constant]))
    said |= marks and all(1 <= n <= 6 for name in columns for n in table.numbers(name) or [0])
    if not (all(fewer) or said):
        return
    raise ValueError(
        f"{table.source.name}: of {join(columns, quote=True)} the lower number may be better: say "
        "lower_is_better=True (--lower-is-better), or shape='scores' (--shape scores) where the "
        "higher is"
    )


def _says_1_is_best(text: str) -> bool:
    """Return whether a text says of a scale that 1 is its best."""
    words = " ".join(re.findall("[^\\W_]+", text.casefold()))
    return BEST_IS_1.search(words) is not None


def _numbered(table: Table, but: Sequence[str | None]) -> dict[str, str]:
    """Return the columns of texts that are named by 1, 2, 3 or a, b, c alone, by that; {} if none.

    They share labels, as lists of what was shown do.
    """
    for marks in ("0123456789", "123456789", "abcdefghij"):
        for name in table.columns:
            for at in re.finditer(marks[0], name, re.IGNORECASE):
                found = {}
                for mark in marks:
                    cased = mark.upper() if at[0].isupper() else mark
                    other = name[: at.start()] + cased + name[at.end() :]
                    if other not in table.columns or other in but:
                        break
                    found[mark] = other
                labels = [table.known(other) for other in found.values()]
                whole = set().union(*labels)
                texts = any(not _is_number(text) for text in whole)
                if len(found) > 2 and texts and 2 * len(whole) <= sum(map(len, labels)):
                    return found
    return {}


def _keys(shown: Mapping[str, str]) -> dict[str, int]:
    """Return the place of each column among those shown, by its mark and by its name.

    shown: the columns by their marks.
    """
    places = enumerate(shown.items(), 1)
    return {text.casefold(): k for k, both in places for text in both}


def _at(column: str, keys: Mapping[str, int]) -> str:
    """Return the arm in the column that another column names, in SQL."""
    cases = " ".join(f"WHEN {text_in_sql(key)} THEN shown[{k}]" for key, k in keys.items())
    return f"CASE lower({text_of_column(column)}) {cases} END"


def _long_scores(
    table: Table, item: str, model: str, score: str, judge: str | None
) -> Shape | None:
    """Return the shape of a table with a row a score; None where another column names models."""
    own = [name for name in (item, model, score, judge) if name is not None]
    if not table.named:
        labels = table.known(model)
        others = (table.known(name) for name in table.columns if name not in own)
        if any(known & labels and table.numbers(model) is None for known in others):
            return None
    beside = "" if judge is None else f"{text_of_column(judge)} AS judge, "
    query = (
        f"SELECT *, {number_of('written')} AS number FROM (SELECT row_of_file, {beside}"
        f"{text_in_json(name_of(item))} AS item, {text_in_json(name_of(model))} AS model, "
        f"{name_of(score)} ->> '$' AS written FROM records)"
    )
    better = "lower" if table.given.get("lower_is_better") else "higher"
    said = f"model={model}, winner=the {better} {score}, prompt={item}"
    return _of_scores(table, said, score, own, query)


def _wide_scores(table: Table, item: str | None) -> Shape | None:
    """Return the shape of a table with a row an item; None where text columns are left over."""
    named = {name for names in ROLES.values() for name in names} | {*JUDGES}
    item = item or table.column("item", (*ROWS, *RANKING))
    beside = [name for name in table.columns if name != item and plain(name) not in named]
    models = [name for name in beside if _mostly_numbers(table.rows[name])]
    left_over = [name for name in beside if name not in models and len(table.known(name)) > 1]
    if len(models) < 2 or (left_over and not table.named):
        return None
    _check_direction(table, models)
    judge = table.column("judge", JUDGES, [item, *models])
    who = "" if judge is None else f"{text_of_column(judge)} AS judge, "
    place = "row_of_file::VARCHAR" if item is None else text_in_json(name_of(item))
    names = listed(map(text_in_sql, models))
    texts = listed(f"{name_of(model)} ->> '$'" for model in models)
    query = (
        f"SELECT *, model AS part, {number_of('written')} AS number FROM (SELECT row_of_file, "
        f"{who}{place} AS item, unnest({names}) AS model, unnest({texts}) AS written FROM records)"
    )
    better = "lower" if table.given.get("lower_is_better") else "higher"
    said = f"models={', '.join(models)}, winner=the {better} score, prompt={item or 'the row'}"
    said += f"; {join(left_over, quote=True)} not used" if left_over else ""
    own = [name for name in (item, judge, *models) if name is not None]
    return _of_scores(table, said, "score", own, query)


def _mostly_numbers(texts: Sequence[str]) -> bool:
    """Return whether half of some texts or more are numbers, true or false."""
    return len(texts) > 0 and 2 * sum(_is_number(text) for text in texts) >= len(texts)


def _plain_text(text: str | None) -> str:
    """Return a text without surrounding spaces, "" where it stands for a missing value."""
    stripped = (text or "").strip()
    return "" if stripped.lower() in ABSENT else stripped


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(NUMBER, text)) or text.lower() in TRUTH


def _number(text: str) -> float:
    return TRUTH[text.lower()] if text.lower() in TRUTH else float(text)


def _of_scores(table: Table, said: str, score: str, columns: Sequence[str], query: str) -> Shape:
    what = f"a duel for each pair of models with a score of an item; {said}"
    better = "lower" if table.given.get("lower_is_better") else "higher"
    return Shape(
        f"a table of scores, the {better} is better", (*columns,), query, what, (score, "a number"),
        kind="scores", ordered=False, used=table.used("item", "model", "score"),
    )  # fmt: skip
