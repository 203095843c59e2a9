"""The options of how a log is read: their defaults, their help, and what each takes.

:func:`bayesduel.read_duels` and :func:`bayesduel.read_rankings` take them, the command line makes
its options of them, and a log, a fit and a study store those that it was read with.
"""

from typing import Literal, get_args

from bayesduel.system.options import declared

__all__ = [
    "ABSENT",
    "COLUMNS",
    "DEFAULTS",
    "OF_RANKINGS",
    "RANKING_ROLES",
    "READING",
    "Given",
    "OnBad",
    "TieRule",
]

Given = str | bool | None  # a column, False where the log has none, None to find it
OnBad = Literal["error", "skip"]
TieRule = Literal["keep", "half", "drop"]
READING = {
    "left": declared(
        "left",
        "Column of the left arm. Where a side has several members, one column per member: A,B,...",
        "COLUMN",
    ),
    "right": declared("right", "Column of the right arm, or of its members: A,B,...", "COLUMN"),
    "outcome": declared(
        "outcome",
        "Column of the outcome. Give none where the left arm won every duel, or where the "
        "margin says who won.",
        "COLUMN",
    ),
    "margin": declared(
        None,
        "Column of the left score minus the right score, or the two columns of scores: A,B. "
        "Here and below, none says that the log has no such column.",
        "COLUMN",
    ),
    "judge": declared(None, "Column of the judges.", "COLUMN"),
    "group": declared(
        None,
        "Column of groups, such as prompts: votes of one group depend on each other.",
        "COLUMN",
    ),
    "time": declared(None, "Column of the time.", "COLUMN"),
    "weight": declared(
        None, "Column of counts: how many identical duels each row stands for.", "COLUMN"
    ),
    "sampling_weight": declared(
        None,
        "Column of survey weights: how many people of the population each vote stands for.",
        "COLUMN",
    ),
    "covariates": declared(
        (),
        "Columns of differences between the two sides, left minus right, or a name with a "
        "column per side. The model learns their effects. The ranking is then that of equal "
        "sides.",
        "A,B,...",
    ),
    "keep": declared(
        (), "Further columns of few levels to keep with the votes (a prompt, a league).", "A,B,..."
    ),
    "ties": declared(
        "keep",
        "What to do with ties: keep them, count each as half a win per side, or leave them "
        "out.  [default: keep]",
        allowed=get_args(TieRule),
    ),
    "both_bad": declared(
        None,
        "Name of an arm that wins the votes 'both bad', such as neither. Arms with a higher "
        "score are good enough.  [default: such votes are ties]",
        "NAME",
    ),
    "on_bad": declared(
        "error",
        "Stop at a bad row, or leave it out and report it.  [default: error]",
        allowed=get_args(OnBad),
    ),
    "missing": declared(
        (),
        "Texts that stand for a missing arm, such as NA.  [default: in a column of text every "
        "text is a name]",
        "A,B,...",
    ),
    "coding": declared(
        None,
        "How outcomes are written, where the values can be read in two ways: w/l or l/r, "
        "1/0/0.5 or 1/-1/0, a/b or h/a, winner (its label), columns (their names) and so on.",
        "NAME",
    ),
    "means": declared(
        None,
        "What each value of the outcome means: 0=left,1=tie,2=right,error=none. A meaning is "
        "left, right, tie, a grade ('grade -2'), a share from 0 to 1, or none (leave the row "
        "out).",
        "VALUE=MEANING,...",
    ),
    "grades": declared(
        None,
        "The two ends of a scale: the number that is best for left and the one that is best "
        "for right, such as 1,5.",
        "A,B",
    ),
    "lower_is_better": declared(
        False, "The side with the lower score won (seconds, errors, ranks)."
    ),
    "tie": declared(None, "Column that is true where the duel was a tie.", "COLUMN"),
    "shown_first": declared(
        None,
        "Column of the side or the arm that was shown first; it becomes the left side.",
        "COLUMN",
    ),
    "shape": declared(
        None,
        "Which rows and columns make one comparison: duels, counts, matrix, scores, pairs, "
        "choices, best, ranks, places, lists, one-hot, nested, matches, members, judges, versus, "
        "results, or the name of a tool. With none each row is a duel.  [default: found]",
        "NAME",
    ),
    "where": declared(
        None, "Condition in SQL on the rows that are read: \"status = 'ok'\".", "CONDITION"
    ),
    "decimal": declared(
        None, "The sign before decimals, a comma or a point.  [default: found]", "SIGN"
    ),
    "time_format": declared(
        None, "How times are written, as %d/%m/%Y.  [default: found]", "FORMAT"
    ),
    "teams": declared(
        None,
        "Text between the members of a side, such as a comma. Each member is then an arm.",
        "TEXT",
    ),
    "rankings": declared(
        None,
        "Columns of a log of rankings: ranking=race,arm=driver,rank=place, or order=, or "
        "best=, shown= and worst=. Repeat ranking= where several columns together name a "
        "ranking.",
        "ROLE=COLUMN,...",
    ),
    "by": declared(None, "Split LOG into one log per value of this column.", "COLUMN"),
    "memory": declared(
        None,
        "Memory that reading may take, such as 2GB. Larger files are then counted on disk.  "
        "[default: no limit]",
        "SIZE",
    ),
}
# Those that may say that the log has no such column: "none" on the command line, in Python False.
ABSENT = {"outcome", "margin", "judge", "group", "time", "weight", "tie", "shown_first", "shape"}
# Those that a log of rankings takes, too, and the columns that only such a log has.
OF_RANKINGS = ("weight", "judge", "group", "keep", "on_bad", "shape", "where", "decimal", "by")
RANKING_ROLES = ("ranking", "arm", "rank", "order", "best", "worst", "shown")
# Those that no log keeps to read others alike.
NOT_STORED = {"both_bad", "on_bad", "rankings", "by", "memory"}
COLUMNS = {name for name, option in READING.items() if option.metadata["takes"] == "COLUMN"}
DEFAULTS = {name: READING[name].default for name in READING if name not in NOT_STORED}
