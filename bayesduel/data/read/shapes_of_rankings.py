"""Shapes whose rows make rankings: choices, the best of those shown, places, lists."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from bayesduel.data.read.columns import plain, shared_end, shared_start, take
from bayesduel.data.read.roles import ROLES, arms_in, goes_on
from bayesduel.data.read.shape import (
    Kind,
    Shape,
    listed,
    text_of_column,
)
from bayesduel.data.read.sql import name_of, text_in_sql
from bayesduel.data.read.table import (
    ABSENT,
    ALTERNATIVES,
    ITEMS,
    JUDGES,
    RANKING,
    SETS,
    SIGNS,
    TRUTH,
    TWO_ROWS,
    Table,
    flag_in_sql,
    is_number,
    left_over,
    may_be_arms,
    mostly_numbers,
    number_in,
)
from bayesduel.data.read.words import (
    BEST,
    CHOSEN,
    LISTS,
    MODELS,
    OUTCOMES,
    PLACES,
    POINTS,
    SCORES,
    TIES,
    WORST,
)
from bayesduel.system.arguments import as_options
from bayesduel.text import join

__all__ = [
    "RANKS",
    "are_ranks",
    "best",
    "choices",
    "columns_of_places",
    "lists",
    "places",
    "ranks",
]

RANKS = "a column of places for each arm"
FEWEST_RANKS = 5  # rows; the chance that scores from 0 to 3 are ranks in all of them is 0.007
ORDINAL = "(st|nd|rd|th|ST|ND|RD|TH|[.]|º|ª)$"  # what makes 1 the first
BY_NUMBER = re.compile("(rank|place|position)?[0-9]+")  # of an arm, or the arm at that place
CHOSEN_OF = """
SELECT row_of_file, key AS ranking, arm, CASE WHEN value = 1 THEN '1' END AS rank, true AS judged,
    CASE WHEN sum(value) OVER (PARTITION BY key) <> 1 OR value NOT IN (0, 1)
         THEN sum(value) OVER (PARTITION BY key) || ' in the set ' || key END AS wrong
FROM ({rows})"""
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
    keys = table.all(*own).values()
    rows_of_set = Counter(zip(*keys, strict=True))
    sizes = {*rows_of_set.values()}
    if not table.named:
        one_chosen = _n_chosen(table, chosen) == len(rows_of_set)
        if min(sizes) < 2 or not one_chosen:
            return lack
    texts = f"{text_of_column(arm)} AS arm, {flag_in_sql(chosen)} AS value"
    key = text_of_column(of)
    if judge is not None:
        key = f"to_json([{text_of_column(judge)}, {key}])::VARCHAR"
    pairs = sizes == {2}
    winner = f"CASE WHEN a.value + b.value = 1 THEN CASE sign(a.value - b.value) {SIGNS} END END"
    rows = f"SELECT row_of_file, {key} AS key, {texts} FROM records"
    query = (TWO_ROWS if pairs else CHOSEN_OF).format(rows=rows, winner=winner, agree="")
    of_set = " and ".join(own)
    said = f"set={of_set}, alternative={arm}, chosen={chosen}; "
    said += "a duel for each set of two" if pairs else "the chosen is best, the others are below it"
    rule = (chosen, "1 for one alternative of a set and 0 for the others")
    kind: Kind = "duels" if pairs else "rankings"
    used = table.used("left", "outcome", "group")
    return Shape(
        "a row for each alternative",
        (of, arm, chosen),
        query,
        said,
        rule,
        may=(*own[:-1],),
        kind=kind,
        used=used,
        open=True,
        roles={
            "ranking": ", ".join(own),
            "arm": arm,
            "rank": chosen,
            "model_a": arm,
            "model_b": arm,
            "winner": chosen,
        },
    )


def _n_chosen(table: Table, chosen: str) -> int:
    texts = [text.lower() for text in table.all(chosen)[chosen]]
    return sum(text in ("1", "1.0", "true") for text in texts)


def ranks(table: Table) -> Shape | str:
    """Return the shape of a table with a column for each arm that holds its place in the row.

    Beside each of these may be a column of the name of the arm (system1, rank1, system2, rank2).
    """
    lack = "a column for each of several arms with its place in the row, 1, 2, 3, ..."
    pair = None if table.named or not may_be_arms(table) else arms_in(table.columns)
    if pair is not None and not _more_than_two(table.columns, pair):
        return lack
    arms = columns_of_places(table)
    names = _names_beside(table, arms) if len(arms) > 1 else []
    sure = bool(names) and all(_has_any(name, PLACES) for name in arms)
    if len(arms) < 2 or not (table.named or sure or are_ranks(table, arms)):
        return lack
    as_ranks = as_options(shape="ranks")
    if not table.named and _from_0(table, arms):
        labels = join(arms, quote=True)
        most = len(arms) - 1
        as_scores = as_options(shape="scores")
        lower = as_options(lower_is_better=True)
        raise ValueError(
            f"{table.source.name}: {labels} hold 0 to {most} in each row: "
            f"these may be points ({as_scores}; where 0 is best, "
            f"{lower}, too) or ranks, of which 0 is no place "
            f"({as_ranks}); say which"
        )
    if pair is not None and not (len(arms) > 2 and (names or {*pair} <= {*arms})):
        return lack
    numbered = [name for name in arms if _has_any(name, (*SCORES, *POINTS))]
    if not table.named and len(numbered) == len(arms):
        raise _ranks_or_scores(table, arms)
    by_number = all(BY_NUMBER.fullmatch(plain(name)) for name in arms)
    if by_number and not table.named and not names:
        first = arms[0]
        as_places = as_options(shape=False)
        raise ValueError(
            f"{table.source.name}: {first!r} may hold the place of arm {first[-1]} "
            f"({as_ranks}) or the arm at that place ({as_places}); say which"
        )
    n_rows = len(table.rows[arms[0]])
    if not table.named and (len(arms) < 3 or n_rows < FEWEST_RANKS):
        raise _ranks_or_scores(table, arms)
    places = [f"regexp_replace({text_of_column(name)}, '{ORDINAL}', '')" for name in arms]
    labelled = map(text_of_column, names) if names else map(text_in_sql, arms)
    query = RANKED.format(
        names=listed(labelled),
        texts=listed(places),
        absent=listed(map(text_in_sql, sorted(ABSENT))),
    )
    of_arms = ", ".join(names)
    of_places = ", ".join(arms)
    said = f"arms={of_arms or of_places}; "
    if names:
        said += f"places={of_places}; "
    said += "1 is best; an arm without a place (0 or nothing) is not of the ranking"
    rule = ("rank", "a place from 1, or 0 or nothing where the arm is not ranked")
    roles = {"arm": of_arms, "rank": of_places}
    return Shape(RANKS, (*arms, *names), query, said, rule, kind="rankings", open=True, roles=roles)


def _ranks_or_scores(table: Table, arms: Sequence[str]) -> ValueError:
    """Return the error of columns that may hold ranks or scores."""
    labels = join(arms, quote=True)
    as_ranks = as_options(shape="ranks")
    as_scores = as_options(shape="scores")
    return ValueError(
        f"{table.source.name}: {labels} hold 1 to {len(arms)} in each row: "
        f"these may be ranks (1 is best: {as_ranks}) or scores ({as_scores}); say which"
    )


def _has_any(name: str, words: Sequence[str]) -> bool:
    """Return whether one of some words is in the name of a column."""
    return any(word in plain(name) for word in words)


def columns_of_places(table: Table) -> list[str]:
    """Return the columns of whole numbers that are no more than there are such columns."""
    role_names = {*JUDGES, *ITEMS, *SETS}.union(*ROLES.values())
    most = {}
    for name in table.beside():
        texts = [re.sub(ORDINAL, "", text) for text in table.rows[name] if text]
        if not table.named and not all(map(is_number, texts)):
            continue
        if not table.named and {*map(str.lower, texts)} & {*TRUTH}:
            continue
        numbers = [number_in(text) for text in texts if is_number(text)]
        if (
            2 * len(numbers) >= len(texts) > 0
            and min(numbers) >= -1  # -1, as 0, says that an arm has no place
            and plain(name) not in role_names
        ):
            most[name] = max(numbers)
    while any(value > len(most) for value in most.values()):
        most = {name: value for name, value in most.items() if value <= len(most)}
    return [*most]


def are_ranks(table: Table, arms: Sequence[str]) -> bool:
    """Return whether the numbers of each row are ranks, of which half have no ties.

    Of few columns or rows, all have to be ranked in each.
    """
    columns = []
    for name in arms:
        texts = [re.sub(ORDINAL, "", text) for text in table.rows[name]]
        columns.append([number_in(text or "0") for text in texts])
    n_rows = len(table.rows[arms[0]])
    few = len(arms) < 3 or n_rows < FEWEST_RANKS
    n_ordered = 0
    for row in zip(*columns, strict=True):
        places = sorted(place for place in row if place > 0)
        strict = places == [*range(1, len(places) + 1)]
        complete = strict and len(places) == len(arms)
        if few and not complete:
            return False
        if not strict and not _has_ties(places):
            return False
        n_ordered += strict and len(places) > 1
    return 2 * n_ordered >= n_rows > 0


def _from_0(table: Table, arms: Sequence[str]) -> bool:
    """Return whether each row holds 0, 1, 2, ... once, as points and places from 0 do."""
    columns = [table.rows[name] for name in arms]
    if not all(map(is_number, {text for column in columns for text in column})):
        return False
    from_0 = [*range(len(arms))]
    return all(sorted(map(number_in, row)) == from_0 for row in zip(*columns, strict=True))


def _has_ties(row: Sequence[float]) -> bool:
    """Return whether sorted numbers are ranks with ties: the lowest, the next or the mean place."""
    lowest = [1.0 + row.index(place) for place in row]
    dense = [1.0 + sorted({*row}).index(place) for place in row]
    mean = [row.index(place) + (row.count(place) + 1) / 2 for place in row]
    return list(row) in (lowest, dense, mean)


def _more_than_two(columns: Sequence[str], pair: Sequence[str]) -> bool:
    """Return whether columns may hold the places of more arms than two, by their names."""
    known = {plain(name) for name in columns}
    named = [name for name in known if any(word in name for word in PLACES)]
    if len(named) > 2:
        return True
    return goes_on(columns, pair) and known.isdisjoint(OUTCOMES)


def _names_beside(table: Table, places: Sequence[str]) -> list[str]:
    """Return the columns of texts that are named as those of places are: system1 to rank1."""
    start = shared_start(places)
    end = shared_end(places)
    parts = [name[len(start) : len(name) - len(end)] for name in places]
    first = parts[0]
    if not first:
        return []
    free = {*table.columns} - {*places}
    for name in table.beside(*places):
        for place in re.finditer(re.escape(first), name):
            before = name[: place.start()]
            after = name[place.end() :]
            found = [before + part + after for part in parts]
            if free.issuperset(found) and table.numbers(name) is None:
                return found
    return []


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
        are_arms = texts <= labels | ties
        are_columns = texts <= at | ties
        understood = table.named or are_arms or are_columns
        if not texts or not understood:
            return lack
        ends[name] = text_of_column(name) if are_arms else _at(name, keys)
    middle = ""
    last = ""
    if worst is not None:
        worst_arm = ends[worst]
        middle = f"WHEN {worst_arm} IS NOT NULL THEN '2'"
        last = f"WHEN arm = {worst_arm} THEN '3'"
    tied = listed(map(text_in_sql, TIES))
    word = f"lower({text_of_column(column)})"
    query = BEST_OF.format(
        shown=listed(map(text_of_column, arms)),
        best=ends[column],
        last=last,
        middle=middle,
        word=text_of_column(column),
        tie=f"list_contains({tied}, {word})",
        columns=", ".join(name_of(name) for name in (*arms, *ends)),
    )
    of_arms = ", ".join(arms)
    words = f"best={column}, shown={of_arms}"
    if worst is not None:
        words += f", worst={worst}"
    rule = (column, "one of the arms that were shown, or its column")
    return Shape(
        "a column for each arm shown, and one of the best",
        (*arms, *ends),
        query,
        words,
        rule,
        kind="rankings",
        open=True,
        roles={"arm": of_arms, "rank": ", ".join(ends)},
    )


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
                texts = any(not is_number(text) for text in whole)
                n_labels = sum(map(len, labels))
                if len(found) > 2 and texts and 2 * len(whole) <= n_labels:
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
    value = text_of_column(column)
    cases = [f"WHEN {text_in_sql(key)} THEN shown[{k}]" for key, k in keys.items()]
    return f"CASE lower({value}) {' '.join(cases)} END"


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
    arm = arm or left_over(table, [rank])
    others = {plain(name) for name in table.columns if name not in (rank, arm)}
    if (
        rank is None
        or arm is None
        or (not table.named and others & {*POINTS, *CHOSEN, *RANKING, "ranking"})
    ):
        return lack
    numbers = [re.sub(ORDINAL, "", text) for text in table.rows[rank]]
    if not table.named and not mostly_numbers(numbers):
        return lack
    of = table.given.get("ranking") or _key_of(table, rank, arm)
    own = [of] if isinstance(of, str) else [*of]
    if not own:
        return lack
    wanted = {f"ranking_{k}": name for k, name in enumerate(own)}
    take(table.columns, table.source.name, wanted)
    texts = [text_of_column(name) for name in own]
    key = texts[0] if len(texts) == 1 else f"to_json({listed(texts)})::VARCHAR"
    arm_text = text_of_column(arm)
    rank_text = text_of_column(rank)
    query = (
        f"SELECT row_of_file, {key} AS ranking, {arm_text} AS arm, "
        f"regexp_replace({rank_text}, '{ORDINAL}', '') AS rank, true AS judged, "
        "NULL::VARCHAR AS wrong FROM records"
    )
    of_ranking = " and ".join(own)
    said = f"ranking={of_ranking}, arm={arm}, rank={rank}; 1 is best"
    return Shape(
        "a row for the place of each arm",
        (arm, rank),
        query,
        said,
        may=(*own,),
        kind="rankings",
        open=True,
        roles={"ranking": ", ".join(own), "arm": arm, "rank": rank},
    )


def _key_of(table: Table, rank: str, arm: str) -> list[str]:
    """Return the fewest columns that name rankings, each of which has an arm once; [] if none."""
    usual = {*SETS, *JUDGES, *ROLES["group"]}
    others = [name for name in table.columns if name not in (rank, arm)]
    names = [name for name in others if plain(name) in usual]
    rows = table.all(arm, *names)
    arms = rows.pop(arm)
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            keys = [*zip(*(rows[name] for name in chosen), strict=True)]
            once = {*zip(keys, arms, strict=True)}
            n_rankings = len({*keys})
            if len(once) == len(arms) and 2 * n_rankings <= len(arms):
                return [*chosen]
    return []


def lists(table: Table) -> Shape | str:
    """Return the shape of a table with a column of lists of arms, the best first."""
    lack = "a column of lists of arms, the best first (order)"
    order = table.column("order", LISTS)
    if order is None or not _are_lists(table.rows[order]):
        return lack
    query = LISTED.format(text=text_of_column(order), value=name_of(order))
    said = f"arms=the list in {order}, the best first"
    rule = (order, "a list of two arms or more, each once")
    return Shape(
        "lists of arms, the best first",
        (order,),
        query,
        said,
        rule,
        kind="rankings",
        open=True,
        roles={"rank": order},
    )


def _are_lists(texts: Sequence[str]) -> bool:
    """Return whether all texts are lists of labels; those of JSON have no texts here."""
    known = [text for text in texts if text]
    if not known:
        return not texts
    return all(re.search("[,;|]", text) and not re.search("[>=]", text) for text in known)
