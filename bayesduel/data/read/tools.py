"""Judgements as tools for evaluating language models write them: shapes with fixed roles.

Each tool is a line of `TOOLS`: the columns by which it is recognised, and a query of its records,
whose columns are JSON (:class:`bayesduel.data.read.shape.Shape`). A machine is a source, not a
judge: its verdicts are repeated by prompt, not by a voter. What a file says is compared and cast in
these queries, never a part of them.

References
----------
The formats as their tools write them: arena-hard-auto 0.1 and 2.0 (``gen_judgment.py``);
alpaca_eval (``annotations.json``; a preference of 0 or 1.5 is a draw); FastChat's llm_judge
(MT-bench, pairs and single answers); JudgeLM (its ``score`` is a list of two); the logs of LMSYS
and LMArena; Inspect (JSON logs; C, P, I and N are 1, 0.5, 0 and 0); Label Studio (JSON export,
Pairwise); Argilla 2 (``records.to_json``); Open WebUI
(``/api/v1/evaluations/feedbacks/all/export``; its own leaderboard takes a rating of 1 as a win over
each sibling, -1 as a loss to each). Studies of this package (``Study.export``): a table of every
ticket; and their folders for Label Studio and Argilla, whose data name the ticket, so that the
judge, the source and the words of the outcome are those of the study.
"""

from collections.abc import Sequence
from dataclasses import replace

from bayesduel.data.read.shape import Shape, number_of, text_in_json, text_of_column
from bayesduel.data.read.sql import name_of, text_in_sql

__all__ = ["TOOLS", "tool_of"]

# -- parts of queries -------------------------------------------------------------------------


def _first(value: str, *paths: str) -> str:
    """Return the first of some texts in an object that is there."""
    return f"coalesce({', '.join(text_in_json(f'({value} -> {text_in_sql(p)})') for p in paths)})"


def _arm(value: str, side: int) -> str:
    """Return the name of a model in the data that an annotator was given."""
    words = (
        ("model_a", "model_1", "model_left", "left_model", "generator_1"),
        ("model_b", "model_2", "model_right", "right_model", "generator_2"),
    )[side]
    return _first(value, *words)


def _words(verdict: str) -> str:
    """Return the side that a word of an annotator names, by its end (``response_2``)."""
    word = f"lower(trim({verdict}))"
    return (
        f"CASE WHEN regexp_matches({word}, '(^|[^a-z0-9])(a|1|left|first)$') THEN 'model_a' "
        f"WHEN regexp_matches({word}, '(^|[^a-z0-9])(b|2|right|second)$') THEN 'model_b' "
        f"WHEN regexp_matches({word}, '^(tie|draw|equal|same|both|neither)') THEN 'tie' END"
    )


def _own(value: str, own: str, other: str) -> str:
    """Return what a file of a study of this package has, whose data name the ticket, or others."""
    return f"CASE WHEN {value} ->> 'study_ticket' IS NOT NULL THEN {own} ELSE {other} END"


def _asked(value: str, prompt: str, judge: str) -> str:
    """Return the columns of prompt, judge and source: of a study of this package its own."""
    columns = {
        "prompt": _own(value, _first(value, "item"), prompt),
        "judge": _own(value, _first(value, "judge"), judge),
        "source": _own(value, _first(value, "source"), "'people'"),
    }
    return ", ".join(f"{text} AS {name}" for name, text in columns.items())


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
STYLE = {
    "length": "sum_assistant_{}_tokens",
    "headers": "header_count_{}",
    "lists": "list_count_{}",
    "bold": "bold_count_{}",
}

ARENA_HARD = f"""
SELECT row_of_file, 'game ' || game AS part, prompt, source, category, verdict,
    CASE game WHEN 1 THEN base ELSE own END AS model_a,
    CASE game WHEN 1 THEN own ELSE base END AS model_b,
    CASE WHEN trim(verdict, '[] ') IN ('A>B', 'A>>B', 'B<A', 'B<<A') THEN 'model_a'
         WHEN trim(verdict, '[] ') IN ('B>A', 'B>>A', 'A<B', 'A<<B') THEN 'model_b'
         WHEN trim(verdict, '[] ') IN ('A=B', 'B=A') THEN 'tie' END AS winner
FROM (SELECT row_of_file, unnest([1, 2]) AS game, {text_in_json("model")} AS own,
    coalesce({text_in_json("baseline")}, 'baseline') AS base, {text_in_json("judge")} AS source,
    coalesce({text_in_json("uid")}, {text_in_json("question_id")}) AS prompt,
    {text_in_json("category")} AS category,
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
    {text_in_json("model_1")} AS one, {text_in_json("model_2")} AS two,
    coalesce(judge ->> '$[0]', {text_in_json("judge")}) AS source,
    {text_in_json("question_id")} AS prompt,
    unnest([g1_winner ->> '$', g2_winner ->> '$']) AS verdict
FROM records)"""

ALPACA = f"""
SELECT row_of_file, {text_in_json("instruction")} AS prompt, {text_in_json("annotator")} AS source,
    {text_in_json("generator_1")} AS model_a, {text_in_json("generator_2")} AS model_b,
    preference ->> '$' AS verdict, TRY_CAST(preference ->> '$' AS DOUBLE) AS number,
    CASE WHEN number IN (0, 1.5) THEN 'tie' WHEN number = 1 THEN 'model_a'
         WHEN number = 2 THEN 'model_b'
         WHEN number > 1 AND number < 2 THEN CAST(2 - number AS VARCHAR) END AS winner
FROM records"""

PROMPT_OF_TASK = f"coalesce({_first('data', *PROMPTS)}, {text_in_json('id')})"
USER_OF_TASK = "(made -> 'completed_by')"
JUDGE_OF_TASK = f"coalesce({_first(USER_OF_TASK, 'email', 'id')}, {text_in_json(USER_OF_TASK)})"
SELECTED = "json_extract_string(made, '$.result[*].value.selected')[1]"

LABEL_STUDIO = f"""
SELECT row_of_file, 'annotation ' || n AS part, {_arm("data", 0)} AS model_a,
    {_arm("data", 1)} AS model_b, {_asked("data", PROMPT_OF_TASK, JUDGE_OF_TASK)},
    CASE WHEN json_type(annotations) <> 'ARRAY' THEN annotations ->> '$'
         WHEN made ->> 'was_cancelled' = 'true' THEN NULL
         ELSE coalesce({_own("data", "NULL", SELECTED)},
                       json_extract_string(made, '$.result[*].value.choices[0]')[1])
    END AS verdict, {_own("data", "verdict", _words("verdict"))} AS winner
FROM (SELECT *, unnest(every) AS made, unnest(range(1, len(every) + 1)) AS n FROM
    (SELECT *, coalesce(nullif(json_extract(annotations, '$[*]'), []), [NULL]) AS every
     FROM records))"""

PROMPT_OF_RECORD = f"coalesce({_first('fields', *PROMPTS)}, {text_in_json('id')})"

ARGILLA = f"""
SELECT row_of_file, 'response ' || n AS part, {_arm("metadata", 0)} AS model_a,
    {_arm("metadata", 1)} AS model_b,
    {_asked("metadata", PROMPT_OF_RECORD, "made ->> 'user_id'")},
    CASE WHEN made ->> 'status' IN ('discarded', 'draft') THEN NULL
         WHEN json_array_length(made -> 'value') = 2 THEN made ->> '$.value[0]'
         WHEN json_type(responses) <> 'OBJECT' THEN responses ->> '$'
         ELSE made ->> 'value' END AS verdict,
    {_own("metadata", "verdict", _words("verdict"))} AS winner
FROM (SELECT *, unnest(every) AS made, unnest(range(1, len(every) + 1)) AS n FROM
    (SELECT *, coalesce(nullif(json_extract(answers[asked], '$[*]'), []), [NULL]) AS every FROM
        (SELECT *, json_extract(responses, '$.*') AS answers, coalesce(nullif(list_position(
            list_transform(json_keys(responses), lambda k: regexp_matches(lower(k),
                'prefer|rank|better|best|winner|choice|compar|verdict')), true), 0), 1) AS asked
         FROM records)))"""

STUDY = f"""
SELECT row_of_file, {text_in_json(name_of("left"))} AS model_a,
    {text_in_json(name_of("right"))} AS model_b,
    coalesce({text_of_column("outcome")}, {text_of_column("margin")}) AS verdict,
    CASE sign(TRY_CAST({text_of_column("margin")} AS DOUBLE)) WHEN 1 THEN 'left'
        WHEN -1 THEN 'right' WHEN 0 THEN 'tie' ELSE verdict END AS winner
FROM records"""

ARENA = f"""
SELECT row_of_file, {text_in_json("model_a")} AS model_a, {text_in_json("model_b")} AS model_b,
    {text_in_json("winner")} AS winner, {text_in_json("judge")} AS judge,
    coalesce({text_in_json("winner")}, 'nothing') AS verdict,
    CASE WHEN {text_in_json("judge")} = 'gpt4_pair' THEN 'gpt4_pair' ELSE 'people' END AS source,
    {", ".join(f"{_size(path, s)} AS {name}_{s}" for name, path in STYLE.items() for s in "ab")}
FROM records"""

MT_SINGLE = f"""
SELECT row_of_file, {text_in_json("question_id")} AS item, {text_in_json("turn")} AS round,
    {text_in_json("model")} AS model, coalesce(judge ->> '$[0]', {text_in_json("judge")}) AS source,
    CASE WHEN TRY_CAST(score ->> '$' AS DOUBLE) IS DISTINCT FROM -1 THEN score ->> '$' END
    AS written, {NUMBER}
FROM records"""

JUDGELM = f"""
SELECT row_of_file, {text_in_json("answer1_model_id")} AS model_a,
    {text_in_json("answer2_model_id")} AS model_b, {text_in_json("question_id")} AS prompt,
    score ->> '$' AS verdict, TRY_CAST(score ->> '$[0]' AS DOUBLE) AS score_a,
    TRY_CAST(score ->> '$[1]' AS DOUBLE) AS score_b,
    CASE sign(score_a - score_b) WHEN 1 THEN 'model_a' WHEN -1 THEN 'model_b' WHEN 0 THEN 'tie' END
    AS winner
FROM records"""

INSPECT = f"""
SELECT row_of_file, 'sample ' || n AS part, source, made ->> 'epoch' AS round, model,
    concat_ws(' ', task, {text_in_json("(made -> 'id')")}) AS item,
    score ->> 'value' AS written,
    CASE WHEN written = 'P' THEN 0.5
         WHEN lower(written) IN ('c', 'yes') THEN 1 WHEN lower(written) IN ('i', 'n', 'no') THEN 0
         ELSE {number_of("written")} END AS number
FROM (SELECT *, unnest(json_keys(made -> 'scores')) AS source,
             unnest(json_extract(made -> 'scores', '$.*')) AS score FROM
    (SELECT row_of_file, eval ->> 'model' AS model, eval ->> 'task' AS task,
            unnest(json_extract(samples, '$[*]')) AS made,
            unnest(range(1, json_array_length(samples)::BIGINT + 1)) AS n FROM records))"""

OPEN_WEBUI = f"""
SELECT row_of_file, 'sibling ' || n AS part, own AS model_a, coalesce(other, '') AS model_b, prompt,
    source, judge, CASE WHEN other IS NOT NULL THEN rating END AS verdict,
    CASE rating WHEN '1' THEN 'model_a' WHEN '-1' THEN 'model_b' WHEN '0' THEN 'tie' END AS winner
FROM (SELECT row_of_file, {_first("data", "model_id")} AS own, {_first("data", "rating")} AS rating,
    {text_in_json("user_id")} AS judge, 'people' AS source,
    {_first("meta", "message_id")} AS prompt,
    unnest(others) AS other, unnest(range(1, len(others) + 1)) AS n FROM
    (SELECT *, coalesce(nullif(json_extract_string(data, '$.sibling_model_ids[*]'), []), [NULL])
        AS others FROM records))"""

BETTER = "left, right, tie, or a word that ends in a, b, 1 or 2"
TOOLS = {
    "arena-hard-auto": Shape(
        "arena-hard-auto judgements",
        ("games", "model", "judge"),
        ARENA_HARD,
        "two duels a question, in both orders; model_a=baseline, model_b=model (game 2: the "
        "other way round), winner=games.score (A>>B as A>B), prompt=uid, source=judge",
        ("games.score", "A>>B, A>B, A=B, B>A or B>>A"),
        may=("baseline", "uid", "question_id", "category"),
    ),
    "mt-bench-pairs": Shape(
        "MT-bench judgements of pairs",
        ("model_1", "model_2", "g1_winner", "g2_winner"),
        MT_PAIRS,
        "two duels a question, in both orders; model_a=model_1, model_b=model_2 (game 2: the "
        "other way round), winner=g1_winner and g2_winner, prompt=question_id, source=judge",
        ("g1_winner, g2_winner", "model_1, model_2, tie or error"),
        ("judge", "question_id"),
    ),
    "alpaca-eval": Shape(
        "alpaca_eval annotations",
        ("generator_1", "generator_2", "preference"),
        ALPACA,
        "model_a=generator_1, model_b=generator_2 (the order shown is not in the file), "
        "winner=preference (1: generator_1, 2: generator_2, between: a soft vote), "
        "prompt=instruction, source=annotator",
        ("preference", "between 1 and 2, or 0 for a draw"),
        may=("instruction", "annotator"),
        ordered=False,
        soft=True,
    ),
    "label-studio": Shape(
        "a Label Studio export",
        ("annotations", "data"),
        LABEL_STUDIO,
        "model_a=data.model_a, model_b=data.model_b, winner=annotations.result.value.selected, "
        "judge=annotations.completed_by, prompt=the prompt in data, source=people",
        ("annotations.result.value", BETTER),
        ("id",),
    ),
    "argilla": Shape(
        "an Argilla export",
        ("responses", "fields", "metadata"),
        ARGILLA,
        "model_a=metadata.model_a, model_b=metadata.model_b, winner=the first of responses (a "
        "label, or a ranking of two), judge=user_id, prompt=the prompt in fields, source=people",
        ("responses", BETTER),
        ("id",),
    ),
    "study": Shape(
        "every ticket of a study",
        ("left", "right", "answer", "kind", "state", "taken_back"),
        STUDY,
        "rows without an outcome are no duels: training, gold, repeats, no answer, excluded judges",
        ("outcome", "left, right or tie"),
        may=("outcome", "margin"),
        open=True,
    ),
    "open-webui": Shape(
        "an Open WebUI export of feedback",
        ("data", "meta", "type", "user_id", "version"),
        OPEN_WEBUI,
        "a duel with each sibling; model_a=data.model_id, model_b=data.sibling_model_ids, "
        "winner=data.rating (1: model_a, -1: model_b), judge=user_id, prompt=meta.message_id, "
        "source=people",
        ("data.rating", "1 or -1"),
        ordered=False,
    ),
    "arena": Shape(
        "an arena log",
        ("model_a", "model_b", "winner", "conv_metadata"),
        ARENA,
        f"source=people; covariates may be {', '.join(STYLE)} (of conv_metadata)",
        ("winner", "model_a, model_b or a tie"),
        ("judge",),
        open=True,
    ),
    "mt-bench": Shape(
        "MT-bench judgements of single answers",
        ("question_id", "model", "score", "turn"),
        MT_SINGLE,
        "a duel for each pair of models with a score of a question and turn, "
        "winner=the higher score, prompt=question_id, source=judge",
        ("score", "a number"),
        ("judge",),
        kind="scores",
        ordered=False,
    ),
    "judgelm": Shape(
        "JudgeLM judgements",
        ("answer1_model_id", "answer2_model_id", "score"),
        JUDGELM,
        "model_a=answer1_model_id, model_b=answer2_model_id, winner=the higher of the two scores, "
        "prompt=question_id",
        ("score", "a list of two numbers"),
        ("question_id",),
    ),
    "inspect": Shape(
        "an Inspect log",
        ("eval", "samples"),
        INSPECT,
        "a duel for each pair of models (eval.model) with a score of a sample and epoch, "
        "winner=the higher score, prompt=task and id of the sample, source=the scorer",
        ("samples.scores.value", "a number, or C, P, I or N"),
        kind="scores",
        ordered=False,
    ),
}


def tool_of(columns: Sequence[str]) -> Shape | None:
    """Return the shape of a tool whose columns these are, or None."""
    for key, known in TOOLS.items():
        if set(known.has) <= set(columns):
            return replace(known, key=key)
    return None
