"""Judgements as tools for evaluating language models write them: a table of formats.

A format is the columns by which it is recognised, and a query of its records, whose columns are
JSON. Every query has the same few columns, so that the rest of the reader, and a log of files of
several formats, needs no knowledge of any:

- duels: ``model_a`` and ``model_b`` as they were shown, ``verdict`` as written (missing where none
  was given: these are left out, and counted), ``winner`` as it is understood, ``prompt``,
  ``source`` ("people", or the name of a machine) and, of people, ``judge``;
- scores: ``item``, ``model``, the score as ``written``, its ``number``, ``round`` (a turn, a
  repetition). Two models with a score of the same item, round, judge and source are a duel.

A machine is a source, not a judge: its verdicts are repeated by prompt, not by a voter. What a file
says is compared and cast in these queries, never a part of them.

References
----------
The formats as their tools write them: arena-hard-auto 0.1 and 2.0 (``gen_judgment.py``);
alpaca_eval (``annotations.json``; a preference of 0 or 1.5 is a draw); FastChat's llm_judge
(MT-bench, pairs and single answers); the logs of LMSYS and LMArena; Inspect (JSON logs; C, P, I and
N are 1, 0.5, 0 and 0); Label Studio (JSON export, Pairwise); Argilla 2 (``records.to_json``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayesduel.data.read.columns import has_arms, plain
from bayesduel.data.read.sql import name_of, text_in_sql

__all__ = [
    "HIDDEN",
    "ITEMS",
    "Format",
    "as_text",
    "format_of",
    "long_scores",
    "named",
    "number_of",
    "others",
    "recognisable",
    "wide_scores",
]

HIDDEN = ("file", "row_of_file", "part", "verdict", "wrong", "judged", "number")  # of no log
ITEMS = ("item", "itemid", "prompt", "promptid", "question", "questionid", "task", "taskid",
         "example", "exampleid", "instance", "instanceid", "sample", "sampleid")  # fmt: skip
MODELS = ("model", "modelid", "modelname", "system", "systemid")
SCORES = ("score", "rating", "grade", "accuracy", "correct")
TABLE = {"item": ITEMS, "model": MODELS, "score": SCORES, "judge": ("judge", "annotator", "rater")}


@dataclass(frozen=True)
class Format:
    """How the records of a tool are recognised and read."""

    name: str  # what it is called in messages
    has: tuple[str, ...]  # columns by which it is recognised, all of them
    query: str  # of the table ``records``, whose columns are JSON; its columns are those above
    said: str  # what is taken as what
    # of a verdict or a score that is not understood: its column, and what it should be
    accepted: tuple[str, str]
    may: tuple[str, ...] = ()  # further columns that the query reads
    ordered: bool = True  # whether ``model_a`` was shown first
    scored: bool = False  # whether the records are scores
    open: bool = False  # whether its other columns are kept as they are


# -- the formats -----------------------------------------------------------------------------


def number_of(text: str) -> str:
    """Return a text as a number: true and false are 1 and 0; missing where it is none."""
    words = f"CASE lower({text}) WHEN 'true' THEN 1 WHEN 'false' THEN 0"
    return f"{words} ELSE TRY_CAST({text} AS DOUBLE) END"


def _text(value: str) -> str:
    """Return a value of JSON as text, missing where it is an object or a list."""
    return f"CASE WHEN json_type({value}) NOT IN ('OBJECT', 'ARRAY') THEN {value} ->> '$' END"


def _first(value: str, *paths: str) -> str:
    """Return the first of some texts in an object that is there."""
    return f"coalesce({', '.join(_text(f'({value} -> {text_in_sql(p)})') for p in paths)})"


def _arm(value: str, side: int) -> str:
    """Return the name of a model in the data that an annotator was given."""
    words = (("model_a", "model_1", "model_left", "left_model", "generator_1"),
             ("model_b", "model_2", "model_right", "right_model", "generator_2"))[side]  # fmt: skip
    return _first(value, *words)


def _words(verdict: str) -> str:
    """Return the side that a word of an annotator names, by its end (``response_2``)."""
    word = f"lower(trim({verdict}))"
    return (
        f"CASE WHEN regexp_matches({word}, '(^|[^a-z0-9])(a|1|left|first)$') THEN 'model_a' "
        f"WHEN regexp_matches({word}, '(^|[^a-z0-9])(b|2|right|second)$') THEN 'model_b' "
        f"WHEN regexp_matches({word}, '^(tie|draw|equal|same|both|neither)') THEN 'tie' END"
    )


def _size(name: str, side: str) -> str:
    """Return a number of the style metadata of an arena, or the sum of an object of numbers."""
    value = f"(conv_metadata -> '{name.format(side)}')"
    return (
        f"CASE json_type({value}) WHEN 'OBJECT' THEN "
        f"list_sum(TRY_CAST(json_extract({value}, '$.*') AS DOUBLE[])) "
        f"ELSE TRY_CAST({value} ->> '$' AS DOUBLE) END"
    )


NUMBER = f"{number_of('written')} AS number"
PROMPTS = ("prompt_id", "question_id", "prompt", "question", "instruction")
STYLE = {"length": "sum_assistant_{}_tokens", "headers": "header_count_{}",
         "lists": "list_count_{}", "bold": "bold_count_{}"}  # fmt: skip

ARENA_HARD = f"""
SELECT row_of_file, 'game ' || game AS part, prompt, source, category, verdict,
    CASE game WHEN 1 THEN base ELSE own END AS model_a,
    CASE game WHEN 1 THEN own ELSE base END AS model_b,
    CASE WHEN trim(verdict, '[] ') IN ('A>B', 'A>>B', 'B<A', 'B<<A') THEN 'model_a'
         WHEN trim(verdict, '[] ') IN ('B>A', 'B>>A', 'A<B', 'A<<B') THEN 'model_b'
         WHEN trim(verdict, '[] ') IN ('A=B', 'B=A') THEN 'tie' END AS winner
FROM (SELECT row_of_file, unnest([1, 2]) AS game, {_text("model")} AS own,
    coalesce({_text("baseline")}, 'baseline') AS base, {_text("judge")} AS source,
    coalesce({_text("uid")}, {_text("question_id")}) AS prompt, {_text("category")} AS category,
    unnest(CASE json_type(games) WHEN 'ARRAY' THEN [games ->> '$[0].score', games ->> '$[1].score']
           ELSE [games ->> '$', NULL] END) AS verdict
FROM records)"""

MT_PAIRS = f"""
SELECT row_of_file, 'game ' || game AS part, prompt, source, nullif(verdict, 'error') AS verdict,
    CASE game WHEN 1 THEN one ELSE two END AS model_a,
    CASE game WHEN 1 THEN two ELSE one END AS model_b,
    CASE verdict WHEN 'tie' THEN 'tie' WHEN 'model_' || game THEN 'model_a'
                 WHEN 'model_' || (3 - game) THEN 'model_b' END AS winner
FROM (SELECT row_of_file, unnest([1, 2]) AS game,
    {_text("model_1")} AS one, {_text("model_2")} AS two,
    coalesce(judge ->> '$[0]', {_text("judge")}) AS source, {_text("question_id")} AS prompt,
    unnest([g1_winner ->> '$', g2_winner ->> '$']) AS verdict
FROM records)"""

ALPACA = f"""
SELECT row_of_file, {_text("instruction")} AS prompt, {_text("annotator")} AS source,
    {_text("generator_1")} AS model_a, {_text("generator_2")} AS model_b,
    preference ->> '$' AS verdict, TRY_CAST(preference ->> '$' AS DOUBLE) AS number,
    CASE WHEN number IN (0, 1.5) THEN 'tie' WHEN number = 1 THEN 'model_a'
         WHEN number = 2 THEN 'model_b'
         WHEN number > 1 AND number < 2 THEN CAST(2 - number AS VARCHAR) END AS winner
FROM records"""

LABEL_STUDIO = f"""
SELECT row_of_file, 'annotation ' || n AS part, {_arm("data", 0)} AS model_a,
    {_arm("data", 1)} AS model_b, coalesce({_first("data", *PROMPTS)}, {_text("id")}) AS prompt,
    coalesce({_first("(made -> 'completed_by')", "email", "id")},
             {_text("(made -> 'completed_by')")}) AS judge, 'people' AS source,
    CASE WHEN json_type(annotations) <> 'ARRAY' THEN annotations ->> '$'
         WHEN made ->> 'was_cancelled' = 'true' THEN NULL
         ELSE coalesce(json_extract_string(made, '$.result[*].value.selected')[1],
                       json_extract_string(made, '$.result[*].value.choices[0]')[1])
    END AS verdict, {_words("verdict")} AS winner
FROM (SELECT *, unnest(every) AS made, unnest(range(1, len(every) + 1)) AS n FROM
    (SELECT *, coalesce(nullif(json_extract(annotations, '$[*]'), []), [NULL]) AS every
     FROM records))"""

ARGILLA = f"""
SELECT row_of_file, 'response ' || n AS part, {_arm("metadata", 0)} AS model_a,
    {_arm("metadata", 1)} AS model_b, coalesce({_first("fields", *PROMPTS)}, {_text("id")})
    AS prompt, made ->> 'user_id' AS judge, 'people' AS source,
    CASE WHEN json_array_length(made -> 'value') = 2 THEN made ->> '$.value[0]'
         WHEN json_type(responses) <> 'OBJECT' THEN responses ->> '$'
         ELSE made ->> 'value' END AS verdict, {_words("verdict")} AS winner
FROM (SELECT *, unnest(every) AS made, unnest(range(1, len(every) + 1)) AS n FROM
    (SELECT *, coalesce(nullif(json_extract(answers[asked], '$[*]'), []), [NULL]) AS every FROM
        (SELECT *, json_extract(responses, '$.*') AS answers, coalesce(nullif(list_position(
            list_transform(json_keys(responses), lambda k: regexp_matches(lower(k),
                'prefer|rank|better|best|winner|choice|compar|verdict')), true), 0), 1) AS asked
         FROM records)))"""

ARENA = f"""
SELECT row_of_file, {{others}}, {_text("winner")} AS winner,
    coalesce({_text("winner")}, 'nothing') AS verdict,
    CASE WHEN {_text("judge")} = 'gpt4_pair' THEN 'gpt4_pair' ELSE 'people' END AS source,
    {", ".join(f"{_size(path, s)} AS {name}_{s}" for name, path in STYLE.items() for s in "ab")}
FROM records"""

MT_SINGLE = f"""
SELECT row_of_file, {_text("question_id")} AS item, {_text("turn")} AS round,
    {_text("model")} AS model, coalesce(judge ->> '$[0]', {_text("judge")}) AS source,
    CASE WHEN TRY_CAST(score ->> '$' AS DOUBLE) IS DISTINCT FROM -1 THEN score ->> '$' END
    AS written, {NUMBER}
FROM records"""

INSPECT = f"""
SELECT row_of_file, 'sample ' || n AS part, source, made ->> 'epoch' AS round, model,
    concat_ws(' ', task, {_text("(made -> 'id')")}) AS item,
    score ->> 'value' AS written,
    CASE WHEN written = 'P' THEN 0.5
         WHEN lower(written) IN ('c', 'yes') THEN 1 WHEN lower(written) IN ('i', 'n', 'no') THEN 0
         ELSE {number_of("written")} END AS number
FROM (SELECT *, unnest(json_keys(made -> 'scores')) AS source,
             unnest(json_extract(made -> 'scores', '$.*')) AS score FROM
    (SELECT row_of_file, eval ->> 'model' AS model, eval ->> 'task' AS task,
            unnest(json_extract(samples, '$[*]')) AS made,
            unnest(range(1, json_array_length(samples)::BIGINT + 1)) AS n FROM records))"""

BETTER = "left, right, tie, or a word that ends in a, b, 1 or 2"
FORMATS = (
    Format(
        "arena-hard-auto judgements", ("games", "model", "judge"), ARENA_HARD,
        "two duels a question, in both orders; model_a=baseline, model_b=model (game 2: the "
        "other way round), winner=games.score (A>>B as A>B), prompt=uid, source=judge",
        ("games.score", "A>>B, A>B, A=B, B>A or B>>A"),
        may=("baseline", "uid", "question_id", "category"),
    ),
    Format(
        "MT-bench judgements of pairs", ("model_1", "model_2", "g1_winner", "g2_winner"), MT_PAIRS,
        "two duels a question, in both orders; model_a=model_1, model_b=model_2 (game 2: the "
        "other way round), winner=g1_winner and g2_winner, prompt=question_id, source=judge",
        ("g1_winner, g2_winner", "model_1, model_2, tie or error"), ("judge", "question_id"),
    ),
    Format(
        "alpaca_eval annotations", ("generator_1", "generator_2", "preference"), ALPACA,
        "model_a=generator_1, model_b=generator_2 (the order shown is not in the file), "
        "winner=preference (1: generator_1, 2: generator_2, between: a soft vote), "
        "prompt=instruction, source=annotator",
        ("preference", "between 1 and 2, or 0 for a draw"),
        may=("instruction", "annotator"), ordered=False,
    ),
    Format(
        "a Label Studio export", ("annotations", "data"), LABEL_STUDIO,
        "model_a=data.model_a, model_b=data.model_b, winner=annotations.result.value.selected, "
        "judge=annotations.completed_by, prompt=the prompt in data, source=people",
        ("annotations.result.value", BETTER), ("id",),
    ),
    Format(
        "an Argilla export", ("responses", "fields", "metadata"), ARGILLA,
        "model_a=metadata.model_a, model_b=metadata.model_b, winner=the first of responses (a "
        "label, or a ranking of two), judge=user_id, prompt=the prompt in fields, source=people",
        ("responses", BETTER), ("id",),
    ),
    Format(
        "an arena log", ("model_a", "model_b", "winner", "conv_metadata"), ARENA,
        f"source=people; covariates may be {', '.join(STYLE)} (of conv_metadata)",
        ("winner", "model_a, model_b or a tie"), ("judge",), open=True,
    ),
    Format(
        "MT-bench judgements of single answers", ("question_id", "model", "score", "turn"),
        MT_SINGLE, "a duel for each pair of models with a score of a question and turn, "
        "winner=the higher score, prompt=question_id, source=judge",
        ("score", "a number"), ("judge",), ordered=False, scored=True,
    ),
    Format(
        "an Inspect log", ("eval", "samples"), INSPECT,
        "a duel for each pair of models (eval.model) with a score of a sample and epoch, "
        "winner=the higher score, prompt=task and id of the sample, source=the scorer",
        ("samples.scores.value", "a number, or C, P, I or N"), ordered=False, scored=True,
    ),
)  # fmt: skip


def format_of(columns: Sequence[str]) -> Format | None:
    """Return the format of a tool whose columns these are, or None."""
    return next((known for known in FORMATS if set(known.has) <= set(columns)), None)


def recognisable(columns: Sequence[str]) -> bool:
    """Return whether a source with these columns may be in a format that is recognised.

    A table of scores is one only where there are no columns of two arms.
    """
    if format_of(columns) is not None:
        return True
    return not has_arms(columns) and named(columns, ITEMS) is not None


def long_scores(columns: Sequence[str], given: Mapping[str, str | None]) -> Format | None:
    """Return the format of a table with a row a score, or None if it has no such columns.

    given: the columns of ``item``, ``model`` and ``score``; None: found by their names.
    """
    found = {role: given.get(role) or named(columns, names) for role, names in TABLE.items()}
    item, model, score, judge = found.values()
    if item is None or model is None or score is None:
        return None
    beside = "" if judge is None else f"{_text(name_of(judge))} AS judge, "
    query = (
        f"SELECT *, {NUMBER} FROM (SELECT row_of_file, {beside}{_text(name_of(item))} AS item, "
        f"{_text(name_of(model))} AS model, {name_of(score)} ->> '$' AS written FROM records)"
    )
    said = f"model={model}, winner=the higher {score}, prompt={item}"
    return _of_scores(said, score, tuple(name for name in found.values() if name), query)


def wide_scores(item: str | None, models: Sequence[str]) -> Format:
    """Return the format of a table with a row an item and a column a model."""
    place = "row_of_file::VARCHAR" if item is None else _text(name_of(item))
    names = ", ".join(map(text_in_sql, models))
    scores = ", ".join(f"{name_of(model)} ->> '$'" for model in models)
    query = (
        f"SELECT *, model AS part, {NUMBER} FROM (SELECT row_of_file, {place} AS item, "
        f"unnest([{names}]) AS model, unnest([{scores}]) AS written FROM records)"
    )
    said = f"models={', '.join(models)}, winner=the higher score, prompt={item or 'the row'}"
    return _of_scores(said, "score", (*([] if item is None else [item]), *models), query)


def others(columns: Sequence[str]) -> list[str]:
    """Return the columns that an arena log keeps as they are, of all its columns."""
    own = {"winner", "source", *(f"{name}_{side}" for name in STYLE for side in "ab"), *HIDDEN}
    names = [name for name in columns if name.casefold() not in own]
    return [name for name in names if "conversation" not in name.casefold()]


def as_text(names: Sequence[str]) -> str:
    """Return columns as text, in a query."""
    return ", ".join(f"{_text(name_of(name))} AS {name_of(name)}" for name in names)


def named(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the first column with one of some plain names, or None."""
    found = {plain(column): column for column in reversed(columns)}
    return next((found[name] for name in names if name in found), None)


def _of_scores(said: str, score: str, columns: tuple[str, ...], query: str) -> Format:
    what = f"a duel for each pair of models with a score of an item; {said}"
    return Format(
        "a table of scores", columns, query, what, (score, "a number"), ordered=False, scored=True
    )
