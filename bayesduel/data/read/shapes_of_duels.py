"""Shapes whose rows make duels: counts, flags of who won, objects, matches, pairs."""

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from operator import eq
from typing import Any

from bayesduel.data.read.columns import REPEATED, Finder, has_word, plain, shared_start
from bayesduel.data.read.outcome_text import difference
from bayesduel.data.read.outcomes import coding_of
from bayesduel.data.read.roles import ROLES, arms_in, scores_in, wins_columns
from bayesduel.data.read.rows import MEMBERS
from bayesduel.data.read.shape import (
    OTHER,
    Shape,
    listed,
    text_in_json,
    text_of_column,
)
from bayesduel.data.read.sql import name_of, text_in_sql
from bayesduel.data.read.table import (
    ABSENT,
    JUDGES,
    SIGNS,
    TWO_ROWS,
    Table,
    flag_in_sql,
    is_number,
    number_in,
)
from bayesduel.data.read.words import (
    DRAWS,
    JUDGE,
    LOSSES,
    MATCHES,
    OPPONENTS,
    OUTCOMES,
    PLAYERS,
    RESULTS,
    SIDES_OF_MATCH,
    TEAMS,
    VERSUS,
    WINS,
)
from bayesduel.system.arguments import as_options
from bayesduel.text import EXAMPLES, join

__all__ = [
    "counts",
    "duels",
    "judges",
    "matches",
    "matrix",
    "members",
    "nested",
    "one_hot",
    "pairs",
    "results",
    "versus",
]

OF_MATCHES = ("left", "right", "outcome", "group")  # options that name columns of matches
REVERSE = "a win, a loss or a draw, and the reverse in the other row of the match"
SEPARATORS = (
    r" *: *",
    r" +vs?\.? +",
    r"[_.-]vs?[_.-]",
    r" +(?:-|/|\||>|&) +",
    r"[|/>]",
    r"-",
    r"_",
    r"\.",
)
CERTAIN = 4  # of the separators: the first ones are those of pairs alone
DASHES = {"", "-", "–", "—"}  # for no match
WON = re.compile("win|won|prefer|chosen|better|vote|best|select|pick")
TIED = re.compile("tie|draw|equal|same|both|neither|none|nopref|nowin")
# A row for each of several columns of a row, with its verdict.
VERDICTS = """
SELECT *, CASE WHEN list_contains({absent}, lower(written)) THEN NULL ELSE written END AS verdict,
    verdict AS winner
FROM (SELECT row_of_file, unnest({part}) AS part, unnest({values}) AS written, {beside}
      FROM records)"""
MIRRORED = """
SELECT row_of_file{outcome} FROM records
WHERE {arm} <= {other} OR {arm} IS NULL OR {other} IS NULL"""


def duels(table: Table | None = None) -> Shape:
    """Return the shape of a table whose rows are duels; it is not looked for, but the default."""
    return Shape("", (), "SELECT row_of_file FROM records", "", open=True)


def counts(table: Table) -> str | None:
    """Return None for a table of pairs with their counts, which is read as it is."""
    sides = (table.given.get("left") or "left", table.given.get("right") or "right")
    weight = table.given.get("weight")
    found = wins_columns(table.columns, table.source.name, *sides, weight, table.peek)
    if found:
        return None
    return "columns of two arms and of the wins of each, such as wins_a, wins_b"


def matrix(table: Table) -> str | None:
    """Return None for a square table of wins, which is read as it is."""
    if table.source.matrix() is not None:
        return None
    return "the same arms in the first column and in the header line"


def results(table: Table) -> Shape | str:
    """Return the shape of a table of results: a row for each arm at home, a column for each away.

    The columns may be called otherwise, as by abbreviations: then they stand in the order of rows.
    """
    lack = "an arm in each row and in each column, and scores such as 2-1 in the cells"
    if not table.columns:
        return lack
    first, *away = table.columns
    arms = table.rows[first]
    if len(arms) != len(away) or len({*arms}) < len(arms):
        return lack
    called = away if {*arms} == {*away} else arms
    own: set[str] = set()
    met: set[str] = set()
    for column, other in zip(away, called, strict=True):
        for one, text in zip(arms, table.rows[column], strict=True):
            cells = own if one == other else met
            cells.add(text)
    met -= DASHES
    scores = [difference(text) for text in met]
    if not scores or None in scores or any(map(difference, own)):
        return lack
    home = text_of_column(first)
    opponents = listed(map(text_in_sql, called))
    cells_in_rows = VERDICTS.format(
        absent=listed(map(text_in_sql, sorted(ABSENT | DASHES))),
        part=listed(map(text_in_sql, away)),
        values=listed(map(text_of_column, away)),
        beside=f"{home} AS model_a, unnest({opponents}) AS model_b",
    )
    query = f"SELECT * FROM ({cells_in_rows}) WHERE model_a <> model_b"
    said = f"left={first}, right=the other columns, outcome=the score of left against right"
    return Shape(
        "a table of results",
        tuple(table.columns),
        query,
        said,
        open=True,
        roles={"model_a": first, "model_b": join(away, EXAMPLES), "winner": "the cells"},
    )


def one_hot(table: Table) -> Shape | str:
    """Return the shape of a table of duels with a column of 0 and 1 for each outcome."""
    lack = "two columns of 0 and 1 that say which side won, such as winner_a and winner_b"
    says_won = [name for name in table.columns if WON.search(plain(name))]
    if not table.named and len(says_won) < 2:
        return lack
    flags = [name for name in table.columns if table.is_flag(name)]
    says_tied = [name for name in flags if TIED.search(plain(name))]
    won = [name for name in flags if name in says_won and name not in says_tied]
    sided = next(iter(Finder(won, "").sided()), None)
    of_wins = any("wins" in plain(name) for name in table.columns)
    counted = of_wins and counts(table) is None
    if sided is None or (not table.named and counted):
        return lack
    _, *pair = sided
    left, right = pair
    ties = [name for name in says_tied if name not in pair]
    number = {name: f"coalesce({flag_in_sql(name)}, 0)" for name in (*pair, *ties)}
    found = {"left": number[left], "right": number[right]}
    if ties:
        found["tie"] = " + ".join(number[name] for name in ties)
    cases = " ".join(f"WHEN ({value}) = 1 THEN '{side}'" for side, value in found.items())
    total = " + ".join(f"({value})" for value in found.values())
    written = ", ".join(text_of_column(name) for name in number)
    query = (
        f"SELECT row_of_file, nullif(concat_ws(', ', {written}), '') AS verdict, "
        f"CASE WHEN {total} = 1 THEN CASE {cases} END END AS winner FROM records"
    )
    said = f"winner=left where {left} is 1, right where {right} is 1"
    if ties:
        tied = join(ties)
        said += f", tie where {tied} is 1"
    rule = (", ".join(number), "1 in one of them and 0 in the others")
    return Shape(
        "a column of 0 and 1 for each outcome",
        (*number,),
        query,
        said,
        rule,
        open=True,
        roles={"winner": join([*number], EXAMPLES)},
    )


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
    fields = []
    for name, found in values.items():
        for field, path in _fields(name, found).items():
            fields.append((name, field, path))
    if not fields:
        return lack
    times = Counter(field for _, field, _ in fields)
    called = {}
    for name, field, path in fields:
        alone = times[field] == 1 and (rows or field not in table.columns)
        called[field if alone else f"{name}.{field}"] = (name, path)
    has_pairs = any(path == "$[0]" for _, path in called.values())
    if not table.named and not has_pairs and arms_in([*called]) is None:
        return lack
    columns = []
    for field, (name, path) in called.items():
        part = f"({value(name)} -> {text_in_sql(path)})"
        column = name_of(OTHER + field)
        columns.append(f"{text_in_json(part)} AS {column}")
    texts = ", ".join(columns)
    source = "records"
    if rows:
        lists = f"from_json({name_of(rows)}, '[\"JSON\"]')"
        source = f"(SELECT row_of_file, unnest({lists}) AS one FROM records)"
    query = f"SELECT row_of_file, {texts} FROM {source}"
    own = list(dict.fromkeys(name for name, _ in called.values()))
    found_fields = ", ".join(called)
    said = f"{found_fields} of {join(own)}"
    return Shape("objects in columns", (*own,), query, said, open=not rows)


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
    if not values or not all(isinstance(one, list) and one for one in values):
        return False
    return all(isinstance(part, dict) for one in values for part in one)


def _fields(name: str, values: Sequence[Any]) -> dict[str, str]:
    """Return the fields of objects that hold values, or both of pairs, with their paths."""
    if not values:
        return {}
    if all(isinstance(one, dict) for one in values):
        found = {}
        for one in values:
            for key, part in one.items():
                if not isinstance(part, dict | list):
                    found[key] = f"$.{json.dumps(key)}"
        return found
    pairs = all(isinstance(one, list) and len(one) == 2 for one in values)
    if pairs and all(isinstance(part, str) for one in values for part in one):
        return {f"{name}_1": "$[0]", f"{name}_2": "$[1]"}
    return {}


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
        own: tuple[str, ...] = ()
        outcome = ""
        if result is not None and plain(result) not in OUTCOMES:
            own = (result,)
            outcome = f", {text_of_column(result)} AS outcome"
        kept = MIRRORED.format(
            arm=text_of_column(team), other=text_of_column(opponent), outcome=outcome
        )
        return Shape("two rows for each match", own, kept, said, ordered=False, open=True)
    result = result or table.column("outcome", RESULTS, [match, team, opponent])
    if result is None or match is None or not _are_of_two(table.all(match)[match]):
        return lack
    if opponent is None and not table.named and arms_in(table.columns):
        return lack
    in_words = _in_words(table.known(result))
    scored = table.numbers(result) is not None and not in_words
    if not table.named and not in_words and (opponent is None or not scored):
        return lack  # of scores, a table of scores
    columns = {"arm": team, "other": opponent, "value": result}
    called = {"model_a": team, "model_b": opponent or team, "winner": result}
    other = opponent or f"the other {team}"
    said = (
        "each match is there twice, once for each team, and is counted once; "
        f"left={team}, right={other}, outcome={result} of the first row, match={match}"
    )
    taken = {role: name for role, name in columns.items() if name is not None}
    texts = ", ".join(f"{text_of_column(name)} AS {role}" for role, name in taken.items())
    agree = " AND a.other = b.arm AND b.other = a.arm" if opponent else ""
    key = text_of_column(match)
    rows = f"SELECT row_of_file, {key} AS key, {texts} FROM records"
    query = TWO_ROWS.format(rows=rows, winner=_winner_of_two(scored), agree=agree)
    return Shape(
        "two rows for each match",
        (*taken.values(), match),
        query,
        said,
        (result, REVERSE),
        ordered=False,
        open=True,
        used=table.used(*OF_MATCHES),
        roles=called,
    )


def members(table: Table) -> Shape | str:
    """Return the shape of a table with a row for each member of both sides of a match.

    The side is a column, or those with the same result are one: winners and losers.
    """
    lack = (
        "a row for each player of a match: its id, the side, the player and the result of the "
        "side (group, right, left, outcome)"
    )
    match = table.column("group", MATCHES)
    result = table.column("outcome", RESULTS, [match])
    side = table.column("right", SIDES_OF_MATCH, [match, result])
    player = table.column("left", PLAYERS, [match, result, side])
    if match is None or result is None or player is None:
        return lack
    of_side = side or result
    rows = table.all(*dict.fromkeys((match, of_side, result)))
    sizes = Counter(zip(rows[match], rows[of_side], strict=True))
    largest = max(sizes.values(), default=0)
    if largest < 2 or not _are_of_two([key for key, _ in sizes]):
        return lack
    in_words = _in_words(rows[result])
    if not in_words and table.numbers(result) is None:
        return lack
    if side is None and not (in_words and _equal_sizes(sizes)):
        return lack
    results_of_sides = {*zip(rows[match], rows[of_side], rows[result], strict=True)}
    if len(results_of_sides) > len(sizes):
        if table.named:
            return lack
        as_scores = as_options(shape="scores")
        raise ValueError(
            f"{table.source.name}: the rows of a side should have one {result!r}, got several in "
            f"the column {side!r} of a match: give the result of the side to each of its rows, or "
            f"compare the players one by one ({as_scores})"
        )
    key = text_of_column(match)
    value = text_of_column(result)
    member = text_of_column(player)
    side_key = text_of_column(of_side)
    between = ord(MEMBERS)
    grouped = (
        f"SELECT min(row_of_file) AS row_of_file, {key} AS key, any_value({value}) AS value, "
        f"string_agg({member}, chr({between}) ORDER BY row_of_file) AS arm "
        f"FROM records GROUP BY {key}, {side_key}"
    )
    query = TWO_ROWS.format(rows=grouped, winner=_winner_of_two(not in_words), agree="")
    of_one_side = side or "those with the same result"
    said = f"members={player}, side={of_one_side}, outcome={result}, match={match}"
    taken = (*dict.fromkeys((match, of_side, result, player)),)
    return Shape(
        "a row for each member of a side",
        taken,
        query,
        said,
        (result, REVERSE),
        teams=True,
        ordered=False,
        open=True,
        used=table.used(*OF_MATCHES),
        roles={"model_a": player, "model_b": player, "winner": result},
    )


def _in_words(results: Collection[str]) -> bool:
    """Return whether results are words for a win, a loss or a draw."""
    return {text.lower() for text in results} <= {*WINS, *LOSSES, *DRAWS}


def _equal_sizes(sizes: Mapping[tuple[str, str], int]) -> bool:
    """Return whether both sides of a match have as many members, in most matches."""
    by_match: dict[str, set[int]] = {}
    for (match, _), size in sizes.items():
        by_match.setdefault(match, set()).add(size)
    n_equal = sum(len(own) == 1 for own in by_match.values())
    return 4 * n_equal >= 3 * len(by_match)


def _winner_of_two(scored: bool) -> str:
    """Return the side that won, of the rows a and b of a match, in SQL; by scores, or by words."""
    if scored:
        lead = "TRY_CAST(a.value AS DOUBLE) - TRY_CAST(b.value AS DOUBLE)"
        return f"CASE sign({lead}) {SIGNS} END"
    said = _side("a")
    said_by_other = _side("b", other=True)
    return f"CASE WHEN {said} = {said_by_other} THEN {said} END"


def _side(row: str, *, other: bool = False) -> str:
    """Return the side that won as a row says, or as the row of its opponent says, in SQL."""
    sides = ("right", "left") if other else ("left", "right")
    word = f"lower({row}.value)"
    cases = []
    for words, side in zip((WINS, LOSSES, DRAWS), (*sides, "tie"), strict=True):
        known = ", ".join(map(text_in_sql, words))
        cases.append(f"WHEN {word} IN ({known}) THEN '{side}'")
    every = " ".join(cases)
    return f"CASE {every} END"


def _are_of_two(keys: Sequence[str]) -> bool:
    """Return whether most keys are of two rows, and none of more."""
    sizes = [*Counter(keys).values()]
    most_of_two = 4 * sizes.count(2) >= 3 * len(sizes)
    return max(sizes, default=0) == 2 and most_of_two


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
        turned_sides = Counter((other, one) for one, other in sides)
        return len({*sides}) > 1 and Counter(sides) == turned_sides
    if not said:
        return False
    if scores:
        ahead = [_margin(row) for row in zip(*values, strict=True)]
    else:
        ahead = [_ahead(*row) for row in zip(left, right, *values, strict=True)]
    rows = Counter(zip(left, right, ahead, strict=True))
    turned: Counter[Any] = Counter()
    for (one, other, n), times in rows.items():
        turned[other, one, n and -n] = times
    return len(rows) > 2 and rows == turned and any(ahead)


def _margin(scores: Sequence[str]) -> float | None:
    """Return a margin, or the difference of two scores; None where one is no number."""
    if not all(map(is_number, scores)):
        return None
    own, *other = map(number_in, scores)
    return own - sum(other)


def _ahead(team: str, opponent: str, result: str) -> float | None:
    """Return by how much a team is ahead of its opponent; None where a result does not say it."""
    known = dict.fromkeys((*WINS, team.lower()), 1.0)
    known |= dict.fromkeys((*LOSSES, opponent.lower()), -1.0)
    known |= dict.fromkeys(DRAWS, 0.0)
    return known.get(result.lower(), difference(result))


def versus(table: Table) -> Shape | str:
    """Return the shape of a table of duels whose two arms stand in one column."""
    lack = "a column of two arms, such as 'Ajax vs Celtic' or 'Ajax - Celtic' (group)"
    named = table.column("group", VERSUS)
    columns = table.columns if named is None else [named]
    separators = SEPARATORS[: CERTAIN if named else CERTAIN - 2]
    for column in columns:
        texts = [text for text in table.rows[column] if text]
        if not texts:
            continue
        for separator in separators:
            sides = [re.split(separator, text, flags=re.IGNORECASE) for text in texts]
            if any(len(both) != 2 for both in sides):
                continue
            labels = {label.strip() for both in sides for label in both}
            repeated = 2 * len(texts) >= REPEATED * len(labels)
            if "" in labels or not (table.named or repeated):
                continue
            value = text_of_column(column)
            pattern = text_in_sql(separator)
            parts = f"regexp_split_to_array({value}, {pattern}, 'i')"
            query = (
                'SELECT row_of_file, trim(part[1]) AS "left", trim(part[2]) AS "right" '
                f"FROM (SELECT row_of_file, {parts} AS part FROM records)"
            )
            said = f"left=the first of {column}, right=the second"
            return Shape(
                "two arms in one column",
                (column,),
                query,
                said,
                open=True,
                used=table.used("group"),
                roles={"left": column, "right": column},
            )
    return lack


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
    left = listed(text_in_sql(one) for one, _ in found.values())
    right = listed(text_in_sql(other) for _, other in found.values())
    query = VERDICTS.format(
        absent=absent,
        part=listed(map(text_in_sql, columns)),
        values=values,
        beside=f"{who} AS judge, unnest({left}) AS model_a, unnest({right}) AS model_b",
    )
    arms = {arm for sides in found.values() for arm in sides}
    first = columns[0]
    first_left, first_right = found[first]
    said = f"{len(columns):,} pairs of {len(arms):,} arms, such as {first}: "
    said += f"left={first_left}, right={first_right}; judge={judge or 'the row'}"
    used = table.used("judge")
    may = (judge,) if judge else ()
    called = dict.fromkeys(("model_a", "model_b", "winner"), join(columns, EXAMPLES))
    if judge:
        called["judge"] = judge
    return Shape(
        "a column for each pair",
        (*columns,),
        query,
        said,
        may=may,
        open=True,
        ordered=False,
        used=used,
        roles=called,
    )


def judges(table: Table) -> Shape | str:
    """Return the shape of a table of duels with a column for the verdict of each judge.

    The votes of a row are about the same, so that they are a group where no column is one.
    """
    lack = "two columns of arms, and several that each hold the verdicts of a judge"
    arms = _judged(table)
    outcomes = {*map(plain, table.columns)} & {*OUTCOMES}
    if arms is None or (outcomes and not table.named):
        return lack
    labels = table.known(arms[0]) | table.known(arms[1])
    beside = table.beside(*arms)
    if not table.named:
        beside = [name for name in beside if has_word(name, JUDGE)]
    coding = {name: coding_of(table.known(name), labels) for name in beside}
    usual = Counter(found for found in coding.values() if found).most_common(1)
    verdicts = [name for name in beside if usual and coding[name] == usual[0][0]]
    if len(verdicts) < 2:
        return lack
    grouped = any(plain(name) in ROLES["group"] for name in table.columns)
    query = VERDICTS.format(
        absent=listed(map(text_in_sql, sorted(ABSENT))),
        part=listed(map(text_in_sql, verdicts)),
        values=listed(map(text_of_column, verdicts)),
        beside="NULL AS item" if grouped else "'row ' || row_of_file AS \"group\"",
    )
    silent = "CASE WHEN verdict IS NULL THEN part END AS silent"  # the judge gave no verdict
    query = f"SELECT *, part AS judge, {silent} FROM ({query})"
    said = f"judges={', '.join(verdicts)}, winner=what each says"
    said += "" if grouped else "; the votes of a row are a group"
    own = dict.fromkeys(("winner", "judge"), join(verdicts, EXAMPLES))
    return Shape(
        "a column for each judge",
        (*verdicts,),
        query,
        said,
        open=True,
        roles=own | ({} if grouped else {"group": "the row"}),
    )


def _judged(table: Table) -> tuple[str, str] | None:
    """Return the two columns of the arms that judges compare, or None.

    Where the shape is named, columns are arms as in a table with a row per duel. Those called
    after judges are so last, as are two that agree: an arm does not meet itself.
    """
    if table.used("left", "right") == ("left", "right"):
        return table.given["left"], table.given["right"]
    if not table.named:
        return arms_in(table.columns)
    others = [name for name in table.columns if not has_word(name, JUDGE)]
    found = [arms_in(names, table.peek) for names in (others, table.columns)]
    pairs = [pair for pair in found if pair is not None]
    rows = table.rows

    def n_equal(pair: Sequence[str]) -> int:
        left, right = (rows[name] for name in pair)
        return sum(map(eq, left, right))

    return min(pairs, key=n_equal, default=None)


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
    # 7 values at most of columns of pairs: no more than a scale has
    few_values = len(values) <= 7
    if n < len(found) or not (few_values or values <= {*labels}):
        return False
    several = n > 2
    if table.named and (certain or several):
        return True
    complete = n == len(labels) * (len(labels) - 1) // 2
    repeated = min(labels.values()) > 1
    return several and (complete or (certain and repeated))


def _common_start(names: Sequence[str]) -> str:
    """Return what all names start with, to the end of a word."""
    shared = shared_start(names)
    last_sign = max(shared.rfind(sign) for sign in "_.- [(")
    return shared[: last_sign + 1]


def _common_end(names: Sequence[str]) -> str:
    """Return the brackets and marks that all names end with."""
    ends = {re.sub(r".*[^])?.]", "", name) for name in names}
    return ends.pop() if len(ends) == 1 else ""
