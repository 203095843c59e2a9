"""Read a log of duels from files or a frame.

The steps: check the options (``options``); assign roles to the columns (``roles``); read the rows
as codes, counted by the engine of the source if votes are not needed (``source``,
``duckdb_source``, ``narwhals_source``, ``rows``); read the outcomes (``outcomes``); find the bad
rows (``faults``) and their lines (``line_numbers``); build a log of the valid rows
(``duels_in_source``, ``log_from_rows``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

from bayesduel.data.duels import Duels
from bayesduel.data.rankings import Rankings
from bayesduel.data.read.coding import stored_options, with_stored
from bayesduel.data.read.columns import Columns, Roles
from bayesduel.data.read.duckdb_source import PEEKED, connected
from bayesduel.data.read.duels_in_source import duels_in
from bayesduel.data.read.in_memory import WinsMatrix, as_frame, wins_matrix
from bayesduel.data.read.meaning import Meaning, grades_of, means_of
from bayesduel.data.read.options import NAMES, SIDES, checked_options
from bayesduel.data.read.outcomes import SCORED
from bayesduel.data.read.pair_counts import OF_COUNTS, columns_of_wins, counted_votes
from bayesduel.data.read.rankings import columns_in, rankings_in
from bayesduel.data.read.reading_options import COLUMNS, DEFAULTS, Given, OnBad, TieRule
from bayesduel.data.read.roles import assign
from bayesduel.data.read.source import open_log
from bayesduel.system.arguments import as_options, check_one_of, check_type, refused_arguments
from bayesduel.system.memory import bytes_of
from bayesduel.text import join

if TYPE_CHECKING:
    from bayesduel.data.read.in_memory import Readable

__all__ = ["log_in", "read_duels"]

COUNTS = OF_COUNTS["shape"]
OWN = ("bayesduel", "xarray")  # packages of logs, fits and checks: no frames


if TYPE_CHECKING:  # at run time the registry of overloads would keep DuckDB past its end

    @overload
    def read_duels(
        path_or_frame: "Readable", *, both_bad: str, by: None = None, **options: Any
    ) -> Rankings: ...
    @overload
    def read_duels(
        path_or_frame: "Readable", *, both_bad: str, by: str, **options: Any
    ) -> dict[str, Rankings]: ...
    @overload
    def read_duels(path_or_frame: Any, *, by: None = None, **options: Any) -> Duels: ...
    @overload
    def read_duels(path_or_frame: Any, *, by: str, **options: Any) -> dict[str, Duels]: ...


@refused_arguments(  # type: ignore[misc]
    winner="the column of the outcome is outcome=, of labels, sides or numbers",
    prompt="votes on one prompt share a group: group=",
    question="votes on one question share a group: group=",
    rater="the column of who voted is judge=",
    annotator="the column of who voted is judge=",
)
@stored_options
def read_duels(
    path_or_frame: Any,
    *,
    left: str | Sequence[str] = "left",
    right: str | Sequence[str] = "right",
    outcome: str | bool = "outcome",
    margin: Given | tuple[str, str] = None,
    judge: Given = None,
    group: Given = None,
    time: Given = None,
    weight: Given = None,
    covariates: Sequence[str] = (),
    keep: Sequence[str] = (),
    sampling_weight: str | None = None,
    ties: TieRule = "keep",
    both_bad: str | None = None,
    on_bad: OnBad = "error",
    by: str | None = None,
    missing: Sequence[str] = (),
    coding: str | None = None,
    means: Mapping[Any, Any] | None = None,
    grades: tuple[int, int] | None = None,
    lower_is_better: bool = False,
    tie: Given = None,
    shown_first: Given = None,
    shape: str | Literal[False] | None = None,
    where: str | None = None,
    decimal: str | None = None,
    time_format: str | None = None,
    teams: str | None = None,
    like: Any = None,
    memory: str | int | None = None,
    shard: str | None = None,
) -> Duels | Rankings | dict[str, Any]:
    """Read a log of duels.

    Columns that are not given are found by their usual names, and guesses are printed to stderr;
    the rules are in :mod:`bayesduel.data.read.roles`, and the spellings of outcomes in
    :mod:`bayesduel.data.read.outcomes`. Labels are kept as written, without surrounding white
    space; those of a numeric column are its numbers as text: 1 and 1.0 differ, but floats that
    are all whole are whole numbers where the other side is of these. In a column of text every
    text is a name, also "NA", "nan" or "None" (a message says so), and in a frame, Parquet or JSON,
    which have missing values, also ""; in a column of numbers these words are missing. A row with a
    missing label is a bad row.

    Parameters
    ----------
    path_or_frame
        A path, a folder, a glob, or a list of these: CSV, TSV (UTF-8, with a header line), JSON
        (lines, or a list of objects) or Parquet, each plain, .gz or .zst; a sheet of Excel (with
        the extra ``excel``); games of chess (.pgn). Or a frame: pandas,
        Polars, PyArrow, DuckDB, Dask, PySpark, Ibis; rows of lazy frames are counted by their own
        engine. Or a list of tuples (left, right, outcome) or (winner, loser), a list of
        dictionaries (rows) or a dictionary of columns. Columns ``wins_a`` and ``wins_b`` (and
        ``ties``) hold counts of one pair a row; of ``chosen`` and ``rejected``, the first won. A
        square matrix of wins (an array, a frame or file with the same labels of rows and columns)
        holds times row beat column. Or an address, a table of a database or a file on the web
        (``"duckdb:///file.db::table"``: :mod:`bayesduel.data.read.address`). Several files are one
        log; columns that are not in each of them
        are not used. Judgements as other tools write them are recognised (a message says what was
        taken as what), and may be several formats in a folder: arena-hard-auto, alpaca_eval,
        MT-bench, logs of arenas with style metadata, Inspect, Label Studio, Argilla, tables of
        scores (:mod:`bayesduel.data.read.tools`,
        :mod:`bayesduel.data.read.shapes`).
    left, right
        Columns of the two arms; a list of columns where a side has several members (doubles,
        teams, systems made of parts).
    outcome
        Column of the winner. False: left won every duel, or the margin gives the winner.
    margin
        Column of left's score minus right's, or the two columns of their scores. Without an
        outcome its sign gives the winner. False: no margin, whatever the names of the columns.
    judge, group, time
        Columns of the judge, of the group within which votes are not independent, and of the
        time. False: none. The votes are kept if there is one of them or a margin.
    weight
        Column of the number of identical duels that a row represents. False: none.
    covariates
        Names of covariates of the duel: columns of left minus right, or columns of these names
        for each side (``length`` is ``length_a`` minus ``length_b`` if the arms are ``model_a``
        and ``model_b``). The votes are kept.
    keep
        Further columns of few levels to keep with the votes, for the terms of a model
        (``RandomEffects("prompt")``). They may have another role, too.
    sampling_weight
        Column of how many of the population a vote stands for, positive numbers in any unit. The
        votes are kept; their mean weight counts one duel, and standard errors are made robust.
    ties
        "keep" them as an outcome, count "half" a win for each arm, or "drop" them.
    both_bad
        Label of an arm that wins the votes "both bad", which are ties without it: each vote is then
        the choice of left, right or neither, a log of rankings. The score of that arm is the level
        that an arm has to exceed to be preferred to neither. Other ties are left out: under
        Davidson's model a vote that is no tie is such a choice. Judges, times and covariates are
        not used.
    on_bad
        "error" raises ValueError for the first bad row; "skip" leaves bad rows out and lists
        them in ``read_summary``.
    by
        Column whose values are separate logs; those without a duel between two arms are left
        out with a message on stderr.
    missing
        Texts that stand for a missing label of an arm or a log, such as ``["NA"]``.
    coding
        How outcomes are written, where they leave it open: "w/l" or "l/r" (is "L" a loss of the
        left arm, or the left side?), "1/0/0.5" or "1/-1/0", "a/b" or "h/a", "winner" or
        "loser" (the label of this one), "columns" (the names of the columns of arms), "grades"
        (whole numbers of either sign, such as -2 to 2: how much better left is; words such as "A is
        much better" are found to be grades by themselves), "probability" (that left is better, from
        0 to 1: a soft vote, which counts for both sides by its share), "percent" (the same from 0
        to 100) and so on:
        ``bayesduel.data.read.outcomes.CODINGS``. Words for a tie are understood in all of them.
    means
        What each value of the outcome means: "left", "right", "tie", a grade ("grade -2": right is
        better by two), a share (0.7: left is better with that probability) or None, which leaves
        the row out. ``means={0: "left", 1: "tie", 2: "right", "error": None}``. Values are compared
        without regard to case; one that is not named is a bad row.
    grades
        The whole numbers that are best for left and best for right, of a one-sided scale: with
        ``(1, 5)`` 1 says that left is much better, 3 that they are equal, 5 that right is.
    lower_is_better
        Whether the side with the lower score, or a negative margin, won (seconds, errors, ranks).
    tie
        Column that says true where the duel was a tie, whatever stands in the outcome.
    shown_first
        Column of the side or the arm that was shown first; it becomes the left side. Such a column
        is found by its usual names. False: none.
    shape
        Which rows and columns make one comparison, a name of
        :data:`bayesduel.data.read.shapes.SHAPES` or of a tool: "duels", "counts", "matrix",
        "scores", "pairs" (one column per pair), "choices" (one row per alternative), "ranks" (read
        by :func:`bayesduel.read_rankings`), "one-hot", "nested" (objects of JSON), "matches" (two
        rows per match), "members" (a row per member of a side of a match), "judges" (a column per
        judge), "versus" (two arms in one column, ``Ajax - Celtic``), "results" (a row and a column
        per arm, with scores in the cells). Of "scores", `left` is the column of the arms, `group`
        that of the items and `outcome` that of the scores.
        Columns that are given are then those of the shape. None: recognised where it is
        unmistakable and no columns are given. False: a row is a duel.
    where
        A condition in SQL (DuckDB's) on the columns of the source: ``"status = 'ok' AND n > 2"``.
        Rows for which it is not true are left out, and counted.
    decimal
        The sign before decimals, "," or ".". None: recognised in files of semicolons.
    time_format
        How times are written, as in :func:`time.strftime`: ``"%d/%m/%Y"``. None: ISO 8601, numbers,
        or another form where all times leave no doubt.
    teams
        What stands between the members of a side, such as ",": "d, e" and "e, d" are one side,
        whose score is the sum of those of its members; the arms of the log are the members.
    like
        An earlier log, or a fit of it: columns and coding are those that it was read with, where
        they are not given here.
    memory
        Memory that reading files may take, such as "2GB", beside the program itself; rows are then
        counted out of core, in the folder for temporary files. None: no limit.
    shard
        Name of this part of a larger log: equal votes are counted, where they are if the source is
        a file, an address or a lazy frame, with the votes' judges, covariates and other columns,
        as :meth:`Duels.counted` does; :func:`bayesduel.merge` merges such parts. A column
        ``shard`` of the source goes before it. Duplicates are not looked for.

    Returns
    -------
    The log (under `both_bad` :class:`bayesduel.Rankings`); with `by`, a dictionary of logs by
    label.

    Raises
    ------
    OSError
        If a file does not exist or cannot be opened.
    ValueError
        If a column does not exist, a file is malformed, a row is bad (under
        ``on_bad="error"``), no duel between two arms is left, or outcomes can be read in two ways
        with different results.
    TypeError
        If an argument is of the wrong kind.

    Warns
    -----
    OutlierWarning
        If a margin or a covariate is over 1,000 times the median size of the others.

    Examples
    --------
    >>> bd.read_duels({"left": ["a", "b", "a"], "right": ["b", "c", "c"], "outcome": [1, 0, 0.5]})
    <Duels: 3 duels, 3 arms, 1 ties; from a dictionary of columns>
    """
    said = locals()  # the arguments, by name
    check_one_of(on_bad, "on_bad", get_args(OnBad))
    if both_bad is not None and shard is not None:
        raise ValueError("shard should be None with both_bad: choices are counted already")
    check_type(both_bad, str | None, "both_bad", "the label of an arm")
    given = {name: said[name] for name in DEFAULTS}
    options = checked_options(given, by)
    limit = None if memory is None else bytes_of(memory)
    try:
        read = _read_any(path_or_frame, options, like, by, on_bad, limit, shard, both_bad)
        if shard is None or isinstance(read, Rankings):
            return read
        if isinstance(read, Duels):
            return read.counted(shard)
        return {label: log.counted(shard) for label, log in read.items()}
    except ValueError as error:
        if like is None:
            raise
        raise ValueError(
            f"{error}; columns and coding are as in the earlier log where they are not given"
        ) from None


def log_in(given: object, *, like: Any = None) -> Any:
    """Return the log in a file or a frame (pandas, Polars, PyArrow), or else what was given.

    It is of duels or of rankings, and read as `like` was, where that is given.
    """
    if type(given).__module__.partition(".")[0] in OWN:
        return given
    if isinstance(given, PathLike):
        given = str(given)
    if not isinstance(given, str):
        from narwhals.dependencies import is_into_dataframe

        if not is_into_dataframe(given):
            return given
    elif given.endswith(".nc"):
        raise ValueError(f"{given} should be a log, got the file of a fit: bd.load() opens it")
    elif not given:
        raise ValueError("fit should be a fit, a log or the path of a log, got ''")
    return rankings_in(given, like=like) or read_duels(given, like=like)


def _read_any(
    given: object,
    options: dict[str, Any],
    like: Any,
    by: str | None,
    on_bad: OnBad,
    memory: int | None,
    shard: str | None,
    both_bad: str | None,
) -> Duels | Rankings | dict[str, Any]:
    """Read a matrix, counts by pair or votes; see :func:`read_duels`."""
    asked = {name for name, value in options.items() if value != DEFAULTS[name]}
    asked |= {"by"} if by is not None else set()
    asked |= {"outcome"} if both_bad is not None else set()
    own = options
    earlier: set[Any] = set()
    if like is not None:
        options = checked_options(with_stored(options, like), by)
        if options["shape"] == COUNTS:  # votes may follow
            options = options | {name: own[name] for name in OF_COUNTS}
        else:
            earlier = {
                c
                for s in SIDES
                for c in ([options[s]] if isinstance(options[s], str) else options[s])
            }
    ties = options["ties"]
    told = {"outcome", "margin", "coding", "means", "grades", "tie"}  # who won, by a row
    votes = asked & {*told, "covariates", "keep", "by", "sampling_weight", "shown_first"}
    named = bool(asked & {*SIDES, "outcome", "margin", "tie", "shown_first"})
    matrix = None if votes or asked & {"left", "right"} else wins_matrix(given)
    if matrix is not None:
        return _of_matrix(matrix, "a matrix of wins", (), ties)
    frame, words = as_frame(given)
    of_columns = asked & {*NAMES, *COLUMNS} - {"by"}
    given_columns = {name: options[name] for name in of_columns}
    given_columns |= {"by": by, "lower_is_better": options["lower_is_better"]}
    opened = open_log(
        frame,
        skip=on_bad == "skip",
        memory=memory,
        words=words,
        shape=False if options["shape"] is None and named else options["shape"],
        given=given_columns,
        where=options["where"],
        decimal=options["decimal"],
    )
    with opened as source:
        options = options | {role: DEFAULTS[role] for role in source.used}
        options = options | {
            "shape": source.recognised or options["shape"],
            "teams": options["teams"] or source.teams,
        }
        columns = source.columns()
        votes_follow = bool(earlier) and earlier <= set(columns)  # as in the earlier log
        if not (asked & told or votes_follow):
            given = options if options["shape"] == COUNTS or not earlier else own
            taken = columns_of_wins(source, columns, given)
            if taken is not None:
                with connected() as (con, _):
                    counted = counted_votes(source, taken, given["weight"], con)
                    arms = {side: taken[side] for side in SIDES}
                    asked_for = given | OF_COUNTS | arms
                    return _log_of(counted, asked_for, by, on_bad, both_bad, shard)
        if not votes and not votes_follow:
            written = source.matrix()
            if written is not None:
                return _of_matrix(written, source.words, source.files, ties)
        ranked = None if asked & {"left", "right", "outcome"} else columns_in(source)
        if ranked is not None and "order" not in ranked:
            raise ValueError(
                f"{source.name}: columns should be those of duels, got those of rankings "
                f"({', '.join(ranked.values())}); read them by bayesduel.read_rankings"
            )
        return _log_of(source, options, by, on_bad, both_bad, shard)


def _log_of(
    source: Any,
    options: dict[str, Any],
    by: str | None,
    on_bad: OnBad,
    both_bad: str | None,
    shard: str | None,
) -> Duels | Rankings | dict[str, Any]:
    """Return the log of a source whose rows are duels; see :func:`read_duels`."""
    if shard is not None and "shard" in source.columns():
        options = options | {"keep": tuple(dict.fromkeys((*options["keep"], "shard")))}

    def peek(names: Sequence[str]) -> dict[str, Any]:
        return source.peek(Columns({name: name for name in names}), PEEKED)

    roles = assign(source.columns(), source.name, options, by, peek)
    coding = options["coding"] or source.coding
    roles = replace(
        roles,
        coding=coding,
        counted=shard is not None,
        asked=_asked_meaning(options, roles, source.name),
        time_format=options["time_format"],
        lower_is_better=options["lower_is_better"],
    )
    scored = roles.margin is not None or coding == SCORED or "lower_is_better" in source.used
    if roles.lower_is_better and not scored:
        raise ValueError(
            f"{source.name}: {as_options(lower_is_better=True)} needs scores or a margin, but "
            f"the outcome is the column {roles.outcome!r}"
        )
    if roles.coding is not None and roles.outcome is None:
        raise ValueError(
            f"{as_options(coding=roles.coding)} needs a column of outcomes, but in this log "
            "the left arm won every duel"
        )
    unused = (
        f"{column!r} is not used ({as_options(sampling_weight=None)}: weights of a survey)"
        for column in roles.unused
    )
    source.say(*source.said(roles.notice(source.roles)), *unused)
    return duels_in(source, roles, options, on_bad, both_bad)


def _asked_meaning(options: Mapping[str, Any], roles: Roles, name: str) -> Meaning | None:
    """Return the meaning of outcomes that was asked for by `means` or `grades`, or None."""
    asked = [option for option in ("means", "grades", "coding") if options[option] is not None]
    if len(asked) > 1:
        raise ValueError(f"{asked[0]} should be given without {join(asked[1:])}")
    if not asked or asked == ["coding"]:
        return None
    if roles.outcome is None:
        raise ValueError(
            f"{name}: {as_options(**{asked[0]: None})} needs a column of outcomes: name it by "
            f"{as_options(outcome=None)}"
        )
    if asked == ["means"]:
        return means_of(options["means"])
    return grades_of(options["grades"])


def _of_matrix(matrix: WinsMatrix, source: str, files: tuple[str, ...], ties: TieRule) -> Duels:
    log = Duels.from_wins(matrix.wins, matrix.arms, tie_rule=ties)
    return replace(log, read_summary=replace(log.read_summary, source=source, files=files))
