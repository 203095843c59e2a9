"""Kinds of files that were once read wrongly: the answer beside the right one, counted here.

Each kind has at least five variations: other words, other languages, other orders of columns, with
judges, ties and columns that nobody asked about beside. What is right is counted from the list that
a file was made from, by pandas and NumPy; nothing of the reader is used for it.
"""

import io
import random
import re
import shlex
from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.system.arguments import command_line

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ARMS = ("Ada", "Bo", "Cyd", "Dee")
STRENGTH = dict(zip(ARMS, (1.5, 0.5, -0.5, -1.5), strict=True))


def drawn(n=200, seed=3, ties=0.15, arms=ARMS):
    """Return duels as a frame: first, second, a result (1, 0.5 or 0 for the first), a judge."""
    rng = random.Random(seed)
    rows = []
    for k in range(n):
        first, second = rng.sample(arms, 2)
        chance = 1 / (1 + np.exp(STRENGTH[second] - STRENGTH[first]))
        result = 0.5 if rng.random() < ties else float(rng.random() < chance)
        rows.append((first, second, result, f"u{k % 8}"))
    return pd.DataFrame(rows, columns=["first", "second", "result", "judge"])


def table_of(found):
    """Return the sums of each arm over each as a frame; there should be no other arms."""
    assert {arm for pair in found for arm in pair} <= {*ARMS}
    sums = [[float(found[one, other]) for other in ARMS] for one in ARMS]
    return pd.DataFrame(sums, index=ARMS, columns=ARMS)


def points(first, second, result):
    """Return the points of each arm over each, a tie half a point for both."""
    found = Counter()
    for one, other, share in zip(first, second, result, strict=True):
        found[one, other] += share
        found[other, one] += 1 - share
    return table_of(found)


def right_points(duels):
    return points(duels["first"], duels["second"], duels["result"])


def points_of(log):
    """Return the same of a log that was read."""
    frame = log.to_frame()
    weight = frame["weight"] if "weight" in frame else np.ones(len(frame))
    shares = {"left": 1.0, "right": 0.0, "tie": 0.5}
    found = Counter()
    for left, right, outcome, n in zip(
        frame["left"], frame["right"], frame["outcome"], weight, strict=True
    ):
        share = float(shares.get(outcome, outcome))
        found[left, right] += share * n
        found[right, left] += (1 - share) * n
    return table_of(found)


def same(log, wanted):
    pd.testing.assert_frame_equal(points_of(log), wanted, check_exact=False, atol=1e-9)


def bradley_terry(wanted):
    """Return the maximum-likelihood scores of points, by Zermelo's iteration; their mean is 0."""
    wins = wanted.to_numpy()
    strength = np.ones(len(wins))
    for _ in range(2_000):
        met = (wins + wins.T) / (strength[:, None] + strength[None])
        strength = wins.sum(axis=1) / met.sum(axis=1)
        strength /= np.exp(np.log(strength).mean())
    return pd.Series(np.log(strength), index=wanted.index)


def words(duels, first, second, tie):
    return duels["result"].map({1.0: first, 0.0: second, 0.5: tie})


def names(duels, tie=None):
    won = np.where(duels["result"] == 1, duels["first"], duels["second"])
    return pd.Series(np.where(duels["result"] == 0.5, tie, won))


def written(frame, tmp_path, **how):
    path = tmp_path / "log.csv"
    frame.to_csv(path, index=False, **how)
    return path


# -- D1: the direction of ranks and of numbers


def places(kind, seed=1, n=40):
    """Return a table of places, a column per arm: strict, with ties, or times."""
    rng = np.random.default_rng(seed)
    noisy = pd.DataFrame(
        {arm: -STRENGTH[arm] + rng.gumbel(size=n) for arm in ARMS}
    )  # fmt: skip
    if kind == "seconds":
        return (10 * np.exp(noisy)).round(2)
    how = {"strict": "first", "lowest": "min", "dense": "dense"}[kind]
    rough = noisy if kind == "strict" else noisy.round(0)
    return rough.rank(axis=1, method=how).astype(int)


def orders_of(table):
    """Return how often one arm stands before another in a table of places."""
    found = pd.DataFrame(0.0, index=ARMS, columns=ARMS)
    for one in ARMS:
        for other in ARMS:
            found.loc[one, other] = float((table[one] < table[other]).sum())
    return found


def orders_read(log):
    found = Counter()
    for k in range(len(log.weight)):
        own = log.ranking == k
        rows = list(zip([log.arms[a] for a in log.arm[own]], log.place[own], strict=True))
        for one, place in rows:
            for other, place_of_other in rows:
                found[one, other] += float(place < place_of_other) * log.weight[k]
    return table_of(found)


BESIDE = {
    "a question": lambda t: t.assign(question_id=range(len(t))),
    "a judge": lambda t: t.assign(juror=[f"u{k % 5}" for k in range(len(t))]),
    "nothing": lambda t: t,
    "an id first": lambda t: pd.concat([pd.Series(range(len(t)), name="id"), t], axis=1),
    "a date": lambda t: t.assign(date="2024-05-01"),
    "columns turned round": lambda t: t[[*t.columns[::-1]]],
}


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.sampled(3)
def test_ranks_are_never_read_as_scores(beside, tmp_path, capsys):
    table = places("strict")
    path = written(BESIDE[beside](table), tmp_path)
    with pytest.raises(ValueError, match=r"rankings .*1 is best.*read_rankings.*lower_is_better"):
        bd.read_duels(path)
    pd.testing.assert_frame_equal(orders_read(bd.read_rankings(path)), orders_of(table))
    assert "1 is best" in capsys.readouterr().err
    as_scores = bd.read_duels(path, shape="scores", lower_is_better=True)
    pd.testing.assert_frame_equal(points_of(as_scores), orders_of(table))


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("kind", ["strict", "seconds"])
@pytest.mark.sampled(3)
def test_a_table_of_scores_that_may_be_ranks_needs_its_direction(beside, kind, tmp_path):
    table = places(kind)
    path = written(BESIDE[beside](table), tmp_path)
    if kind == "strict":
        with pytest.raises(ValueError, match="lower_is_better=True where 1 is best, or False"):
            bd.Duels.from_scores(path)
    else:
        pd.testing.assert_frame_equal(points_of(bd.Duels.from_scores(path)), orders_of(-table))
    for lower, right in ((True, orders_of(table)), (False, orders_of(-table))):
        log = bd.Duels.from_scores(path, lower_is_better=lower)
        pd.testing.assert_frame_equal(points_of(log), right)
    with_margin = bd.Duels.from_scores(path, lower_is_better=True, margin=True)
    assert (
        np.sign(with_margin.rows.margin) == np.where(with_margin.rows.outcome == 1, 1, -1)
    ).all()


@pytest.mark.parametrize("name", ["61e_time_by_task", "latency", "WER-per-speaker", "errors2024",
                                  "Zeit", "run.seconds"])  # fmt: skip
@pytest.mark.sampled(3)
def test_the_name_of_a_file_may_say_that_fewer_is_better(name, tmp_path):
    """Both commands that the message prints are run; each reads the numbers its own way."""
    frame = pd.DataFrame({"task": range(9), "Ada": 0.5, "Bo": 2.25, "Cyd": 3.5})
    path = tmp_path / f"{name}.csv"
    frame.to_csv(path, index=False)
    with command_line(), pytest.raises(ValueError, match=r"--lower-is-better.*--shape scores"):
        bd.read_duels(path)
    lower = bd.read_duels(path, lower_is_better=True).tally()[0]
    higher = bd.read_duels(path, shape="scores").tally()[0]
    assert lower[0, 2] == higher[2, 0] == 9
    other = tmp_path / "time" / "marks.csv"
    other.parent.mkdir()
    frame.to_csv(other, index=False)
    assert bd.read_duels(other).tally()[0][2, 0] == 9


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.sampled(3)
def test_of_seconds_the_lower_is_better_where_it_is_said(beside, tmp_path, capsys):
    table = places("seconds")
    path = written(BESIDE[beside](table), tmp_path)
    shape = None if beside == "a question" else "scores"  # no item is named: asked for
    if shape:
        with command_line(), pytest.raises(ValueError, match="--shape"):
            bd.read_duels(path, lower_is_better=True)
    log = bd.read_duels(path, shape=shape, lower_is_better=True)
    pd.testing.assert_frame_equal(points_of(log), orders_of(table))
    assert "the lower score" in capsys.readouterr().err
    higher = bd.read_duels(path, shape=shape)
    pd.testing.assert_frame_equal(points_of(higher), orders_of(-table))
    assert "the higher score" in capsys.readouterr().err


# -- D2: no table of scores where columns name models

SIDES_OF_SCORES = {
    "judgelm": ("answer1_model_id", "answer2_model_id", "score1", "score2"),
    "camel case": ("modelA", "modelB", "scoreA", "scoreB"),
    "left and right": ("left_system", "right_system", "left_score", "right_score"),
    "points": ("team1", "team2", "points1", "points2"),
    "goals": ("home_club", "away_club", "home_goals", "away_goals"),
    "german": ("heim_verein", "gast_verein", "tore_heim", "tore_gast"),
}


@pytest.mark.parametrize("names_of", SIDES_OF_SCORES)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.sampled(3)
def test_scores_of_two_named_arms_are_a_margin(names_of, turned, tmp_path, capsys):
    one, other, score, score_of_other = SIDES_OF_SCORES[names_of]
    duels = drawn()
    frame = pd.DataFrame(
        {"question_id": range(len(duels)), one: duels["first"], other: duels["second"],
         score: (2 * duels["result"] + 3).astype(int), score_of_other: 4}
    )  # fmt: skip
    frame = frame[[*frame.columns[::-1]]] if turned else frame
    path = written(frame, tmp_path)
    same(bd.read_duels(path), right_points(duels))
    assert f"margin={score} - {score_of_other}" in capsys.readouterr().err
    given = bd.read_duels(path, left=other, right=one, margin=(score_of_other, score))
    same(given, right_points(duels))


@pytest.mark.parametrize("numbers", ["tokens_a tokens_b", "elo_a elo_b", "len1 len2", "ms cost",
                                     "answer_words_a answer_words_b"])  # fmt: skip
def test_numbers_beside_named_arms_are_not_models(numbers, tmp_path):
    duels = drawn()
    frame = pd.DataFrame(
        {"model_a_name": duels["first"], "model_b_name": duels["second"],
         "chosen_model_name": names(duels), "both_equal": duels["result"] == 0.5}
    )  # fmt: skip
    for k, column in enumerate(numbers.split()):
        frame[column] = np.arange(len(frame)) % (37 + k)
    path = written(frame, tmp_path)
    same(bd.read_duels(path), right_points(duels))
    with pytest.raises(ValueError, match="model_a_name"):
        bd.read_duels(path, outcome="winner")


# -- D3: words for a tie among the best; partial orders


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "tie", ["tie", "equal", "no preference", "unentschieden", "égalité", "平局"]
)
@pytest.mark.parametrize("wrong", [False, True])
def test_a_best_that_was_not_shown_is_a_tie_or_a_bad_row(tie, wrong, tmp_path, capsys):
    rng = random.Random(2)
    shown = [rng.sample(ARMS, 3) for _ in range(30)]
    best = [tie if k % 5 == 0 else own[0] for k, own in enumerate(shown)]
    frame = pd.DataFrame({"best": best, "shown": [", ".join(sorted(own)) for own in shown]})
    if wrong:
        frame.loc[3, "best"] = "Zed"
        with pytest.raises(ValueError, match=r"line 5: best should be one of those shown .*'Zed'"):
            bd.read_rankings(written(frame, tmp_path))
        return
    log = bd.read_rankings(written(frame, tmp_path))
    wanted = Counter()
    for won, own in zip(best, shown, strict=True):
        wanted.update((won, other) for other in own if won not in (tie, other))
    pd.testing.assert_frame_equal(orders_read(log), table_of(wanted))
    assert tie not in log.arms
    assert "left out 6 rankings" in capsys.readouterr().err


@pytest.mark.parametrize("mark", ["=", " = ", ", ", ";", " | "])
def test_arms_joined_in_an_order_share_a_place(mark, tmp_path):
    rng = random.Random(4)
    made, texts = [], []
    for k in range(20):
        own = rng.sample(ARMS, 4)
        last = 2 if k % 2 else 1
        made.append([*([a] for a in own[:-last]), own[-last:]])
        texts.append(" > ".join(mark.join(group) for group in made[-1]))
    log = bd.read_rankings(written(pd.DataFrame({"order": texts}), tmp_path))
    wanted = Counter()
    for groups in made:
        for k, group in enumerate(groups):
            for below in groups[k + 1 :]:
                wanted.update(product(group, below))
    pd.testing.assert_frame_equal(orders_read(log), table_of(wanted))


# -- D4: the winner is written first


@pytest.mark.parametrize("turned", [0, 1, 3, 6, 10])
@pytest.mark.parametrize("columns", [("player1", "player2"), ("model_a", "model_b")])
@pytest.mark.sampled(2)
def test_a_winner_that_is_written_first_is_no_side_advantage(turned, columns, tmp_path, capsys):
    duels = drawn(n=240, ties=0)
    won_first = duels["result"] == 1
    won_first[: 2 * turned : 2] = ~won_first[: 2 * turned : 2]
    first = duels["first"].where(won_first, duels["second"])
    second = duels["second"].where(won_first, duels["first"])
    result = (first == names(duels)).astype(float)
    frame = pd.DataFrame({columns[0]: first, columns[1]: second, "outcome": result.astype(int)})
    log = bd.read_duels(written(frame, tmp_path))
    same(log, right_points(duels))
    if result.mean() < 1:
        assert "sides are not used" in capsys.readouterr().err
    scores = bd.scores(bd.fit(log, draws=400))["score_mean"]
    right = bradley_terry(right_points(duels))
    assert abs(scores["Ada"] - scores["Dee"] - (right["Ada"] - right["Dee"])) < 0.25


# -- D5: who judged


@pytest.mark.parametrize("column", ["subject_id", "listener", "Panelist", "consumer no", "observer",
                                    "reviewer_name", "labeler", "PROLIFIC_PID", "completed_by",
                                    "session_id", "student", "visitor_id"])  # fmt: skip
@pytest.mark.sampled(3)
def test_a_judge_is_found_or_named_as_not_used(column, tmp_path, capsys):
    duels = drawn()
    frame = pd.DataFrame(
        {column: duels["judge"], "left": duels["first"], "right": duels["second"],
         "preferred": names(duels, "tie")}
    )  # fmt: skip
    log = bd.read_duels(written(frame, tmp_path))
    same(log, right_points(duels))
    said = capsys.readouterr().err
    line = log.reading.line("judge")
    assert (line is not None and line.understood == "8 judges, 25 rows each") or (
        f"not used: {column}" in said
    )


@pytest.mark.parametrize("column", ["household", "respnum", "batch", "device", "rid"])
def test_an_unknown_unit_is_named_wherever_votes_share_it(column, tmp_path, capsys):
    duels = drawn()
    units = [f"x{k % 25}" for k in range(len(duels))]
    frame = pd.DataFrame(
        {"left": duels["first"], "right": duels["second"], column: units,
         "preferred": names(duels, "tie")}
    )  # fmt: skip
    log = bd.read_duels(written(frame, tmp_path))
    assert f"{column} (25 values, most in 8 rows)" in capsys.readouterr().err
    assert [line.column for line in log.reading.shared] == [column]


# -- D6: each match twice

RESULTS = {"letters": ("W", "L", "D"), "words": ("win", "loss", "draw"),
           "numbers": ("1", "0", "0.5"), "capitals": ("Won", "Lost", "Tied"),
           "points": (3, 0, 1)}  # fmt: skip


@pytest.mark.parametrize("results", RESULTS)
@pytest.mark.parametrize("with_id", ["match_id", "Game", None])
@pytest.mark.sampled(3)
def test_a_match_of_two_rows_counts_once(results, with_id, tmp_path, capsys):
    won, lost, drew = RESULTS[results]
    duels = drawn()
    said = words(duels, won, lost, drew)
    reverse = words(duels.assign(result=1 - duels["result"]), won, lost, drew)
    ours = pd.DataFrame({"team": duels["first"], "opponent": duels["second"], "result": said})
    theirs = pd.DataFrame({"team": duels["second"], "opponent": duels["first"], "result": reverse})
    if with_id:
        ours.insert(0, with_id, range(len(duels)))
        theirs.insert(0, with_id, range(len(duels)))
    both = pd.concat([ours, theirs]).sort_index(kind="stable")
    path = written(both, tmp_path)
    if results == "points" and not with_id:  # 3, 1 and 0 are no words for a result
        with command_line(), pytest.raises(ValueError, match="--means"):
            bd.read_duels(path)
        return
    same(bd.read_duels(path), right_points(duels))
    assert "counted once" in capsys.readouterr().err


# -- D7 and D8: what codes mean


@pytest.mark.parametrize(
    "column", ["winner", "label", "index", "preferred", "choice", "best_index", "winner_idx",
               "better_response_id", "chosen", "selected"],
)  # fmt: skip
@pytest.mark.parametrize("sides", [("model_a", "model_b"), ("response_0", "response_1")])
@pytest.mark.sampled(3)
def test_0_and_1_are_asked_about_where_they_may_be_an_index(column, sides, tmp_path):
    duels = drawn(ties=0)
    index = (1 - duels["result"]).astype(int)
    frame = pd.DataFrame({sides[0]: duels["first"], sides[1]: duels["second"], column: index})
    path = written(frame, tmp_path)
    with command_line(), pytest.raises(ValueError, match=r"--means '0=\?,1=\?'"):
        bd.read_duels(path, outcome=column)
    given = bd.read_duels(path, outcome=column, means={0: "left", 1: "right"})
    same(given, right_points(duels))


@pytest.mark.parametrize(
    "columns",
    [
        ("chosen", "not_chosen"),
        ("preferred", "not_preferred"),
        ("Selected", "Not selected"),
        ("picked_model", "not_picked_model"),
        ("chosen", "unchosen"),
    ],
)
def test_a_word_and_its_negation_are_who_won_and_who_lost(columns, tmp_path):
    duels = drawn(ties=0)
    won = duels["result"] == 1
    winner = duels["first"].where(won, duels["second"])
    loser = duels["second"].where(won, duels["first"])
    frame = pd.DataFrame(
        {"seconds": range(len(won)), columns[1]: loser, columns[0]: winner,
         "judge": duels["judge"]}
    )  # fmt: skip
    log = bd.read_duels(written(frame, tmp_path))
    assert log.votes.judge is not None
    same(log, points(winner, loser, np.ones(len(won))))


@pytest.mark.parametrize("column", ["outcome", "result", "a_wins", "win_a", "y"])
def test_the_coding_of_0_and_1_is_said(column, tmp_path, capsys):
    duels = drawn(ties=0)
    frame = pd.DataFrame(
        {"model_a": duels["first"], "model_b": duels["second"], column:
         duels["result"].astype(int)}
    )  # fmt: skip
    log = bd.read_duels(written(frame, tmp_path), outcome=column)
    same(log, right_points(duels))
    assert re.search(rf"{column}: .*1 left wins", capsys.readouterr().err)


CODES = {
    "0 first, 1 tie, 2 second": (0, 2, 1), "0 first, 1 second, 2 tie": (0, 1, 2),
    "1 first, 2 second, 3 tie": (1, 2, 3), "1 first, 2 second, 0 tie": (1, 2, 0),
    "letters": ("X", "Y", "Z"), "french": ("le premier", "le second", "ni l'un ni l'autre"),
    "spanish": ("opción uno", "opción dos", "da igual"), "japanese": ("前者", "後者", "同じくらい"),
}  # fmt: skip


@pytest.mark.parametrize("codes", CODES)
def test_codes_that_are_not_understood_are_asked_about(codes, tmp_path):
    first, second, tie = CODES[codes]
    duels = drawn()
    frame = pd.DataFrame(
        {"judge": duels["judge"], "system_1": duels["first"], "system_2": duels["second"],
         "answer": words(duels, first, second, tie)}
    )  # fmt: skip
    path = written(frame, tmp_path)
    with command_line(), pytest.raises(ValueError, match="--means") as refused:
        bd.read_duels(path)
    line = str(refused.value).partition("--means ")[2].partition(" (in place of")[0]
    (said,) = shlex.split(line)  # as a shell reads it
    assert all(re.search(rf"{code}=[?a-z]", said) for code in (first, second, tie))
    given = bd.read_duels(path, means={first: "left", second: "right", tie: "tie"})
    same(given, right_points(duels))


@pytest.mark.parametrize(("best", "worst"), [(1, 5), (5, 1), (1, 7), (0, 4), (1, 4)])
def test_a_scale_of_one_side_is_asked_about(best, worst, tmp_path):
    duels = drawn(ties=0 if (worst - best) % 2 else 0.2)
    steps = np.linspace(best, worst, abs(best - worst) + 1).astype(int)
    frame = pd.DataFrame(
        {"model_a": duels["first"], "model_b": duels["second"], "preference":
         words(duels, steps[0], steps[-1], (best + worst) // 2)}
    )  # fmt: skip
    frame.loc[5, "preference"] = steps[1]
    duels.loc[5, "result"] = 1.0
    path = written(frame, tmp_path)
    for coding in (None, "grades"):
        with command_line(), pytest.raises(ValueError, match=r"--means|--grades"):
            bd.read_duels(path, coding=coding)
    same(bd.read_duels(path, grades=(best, worst)), right_points(duels))


# -- D9: what is left out is said


@pytest.mark.sampled(3)
@pytest.mark.parametrize("odd", ["5", "unclear", "n/a", "both lost", "timeout"])
@pytest.mark.parametrize(
    "way",
    [{"on_bad": "skip"}, {"means": {"A": "left", "B": "right", "tie": "tie", "odd": None}}],
)
def test_rows_that_are_left_out_are_counted_aloud(odd, way, tmp_path, capsys):
    duels = drawn(n=90)
    said = words(duels, "A", "B", "tie")
    said[::10] = odd
    frame = pd.DataFrame({"a": duels["first"], "b": duels["second"], "vote": said})
    if "means" in way:
        way = {"means": {odd if key == "odd" else key: word for key, word in way["means"].items()}}
    log = bd.read_duels(written(frame, tmp_path), **way)
    same(log, right_points(duels.drop(index=range(0, 90, 10))))
    assert re.search(r"left out: .*\(9 rows\)", capsys.readouterr().err)
    assert sum(line.rows for line in log.reading.left_out) == 9


# -- D10: true and false


@pytest.mark.parametrize("flags", [("TRUE", "FALSE"), ("true", "false"), ("True", "False"),
                                   ("1", "0"), (True, False)])  # fmt: skip
@pytest.mark.parametrize("way", ["file", "frame"])
def test_true_and_false_are_a_covariate_in_files_and_frames(flags, way, tmp_path):
    duels = drawn()
    truth = np.arange(len(duels)) % 3 == 0
    frame = pd.DataFrame(
        {"home_team": duels["first"], "away_team": duels["second"], "result":
         words(duels, "home", "away", "draw"), "neutral": np.where(truth, *flags)}
    )  # fmt: skip
    given = written(frame, tmp_path) if way == "file" else frame
    log = bd.read_duels(given, covariates=["neutral"])
    assert (log.rows.covariates[:, 0] == truth).all()


# -- D11: half a win


@pytest.mark.sampled(3)
@pytest.mark.parametrize("share", ["win_rate", "winrate", "share", "prob_a_wins", "p"])
@pytest.mark.parametrize("half", [True, False])
def test_a_share_of_a_half_is_half_a_win_each(share, half, tmp_path):
    rates = [0.675, 0.74, 0.5 if half else 0.45, 0.595, 0.8, 0.62]
    pairs = [(a, b) for i, a in enumerate(ARMS) for b in ARMS[i + 1 :]]
    frame = pd.DataFrame(pairs, columns=["model_a", "model_b"])
    frame[share], frame["n"] = rates, 200
    log = bd.read_duels(written(frame, tmp_path), outcome=share)
    wanted = pd.DataFrame(0.0, index=ARMS, columns=ARMS)
    for (one, other), rate in zip(pairs, rates, strict=True):
        wanted.loc[one, other] = 200 * rate
        wanted.loc[other, one] = 200 * (1 - rate)
    same(log, wanted)
    assert log.n_ties == 0


# -- D12: times

DAYS = pd.to_datetime([f"2024-{k % 12 + 1:02}-{k % 28 + 1:02}" for k in range(200)])


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d %b %Y",
                                  "%d/%m/%y", "%d-%b-%y"])  # fmt: skip
def test_dates_of_other_forms_are_read_or_left_out_aloud(form, tmp_path, capsys):
    duels = drawn()
    frame = pd.DataFrame(
        {"Date": DAYS.strftime(form), "HomeTeam": duels["first"], "AwayTeam": duels["second"],
         "FTR": words(duels, "H", "A", "D")}
    )  # fmt: skip
    log = bd.read_duels(written(frame, tmp_path))
    same(log, right_points(duels))
    if log.rows.time is None or len(log.rows.time) == 0:
        assert "Date" in {line.column for line in log.reading.not_used}
        return
    assert (log.rows.time.astype("datetime64[D]") == DAYS.to_numpy().astype("datetime64[D]")).all()


@pytest.mark.parametrize("odd", ["n/a", "soon", "24:99", "unknown", "32/13/2024"])
def test_a_guessed_time_that_cannot_be_read_stops_no_command(odd, tmp_path, capsys):
    duels = drawn()
    days = [*DAYS.strftime("%Y-%m-%d")]
    days[7] = odd
    frame = pd.DataFrame(
        {"date": days, "white": duels["first"], "black": duels["second"], "result":
         words(duels, "1-0", "0-1", "1/2-1/2")}
    )  # fmt: skip
    path = written(frame, tmp_path)
    log = bd.read_duels(path)
    same(log, right_points(duels))
    assert "date" in {line.column for line in log.reading.not_used}
    with command_line(), pytest.raises(ValueError, match=r"line 9.*--time-format"):
        bd.read_duels(path, time="date")


# -- refusals that help

REFUSALS = {
    "grades without a hint": (
        "sys_a,sys_b,cmos\nx,y,-3\ny,x,2\nx,y,1\ny,x,-2\n", "--coding grades"),
    "home minus away": ("home,away,diff\nx,y,-3\ny,x,2\nx,y,14\ny,x,-2\n", "a margin"),
    "a fixture": (
        "home,away,home_score,away_score\nx,y,1,0\ny,x,2,2\nx,y,,\n", "line 4.*--on-bad skip"),
    "a matrix of proportions": (",x,y\nx,0.5,0.7\ny,0.3,0.5\n", "proportion.*a row for each pair"),
    "a line that lacks a name": ("left,right,winner\nx,y,left\nx,,left\n", "line 3.*--on-bad skip"),
    "a title": ("Games of May\n\nhome,away,winner\nx,y,x\n", "line 3 may be it"),
    "signs for thousands": (
        'model_a,model_b,wins_a,wins_b\nx,y,"1,204","3,000"\n', "--decimal '\\.'"),
    "an odd word": ("a,b,vote\nx,y,A\ny,x,B\nx,y,A\ny,x,hm\n", "--means 'A=left,B=right,hm=\\?'"),
    "an odd word beside names": (
        "a,b,winner\nx,y,x\ny,x,x\nx,y,y\ny,x,hm\n", "--means 'hm=\\?'"),
    "words of sides": ("a,b,quux\nx,y,left\ny,x,right\n", "--outcome quux"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_says_what_to_do(name, tmp_path):
    text, advice = REFUSALS[name]
    path = tmp_path / "log.csv"
    path.write_text(text)
    with command_line(), pytest.raises(ValueError, match=advice):
        bd.read_duels(path)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("word", ["BYE", "bye", "Bye", "spielfrei", "(bye)"])
@pytest.mark.parametrize("side", ["white", "black"])
def test_a_bye_is_no_arm(word, side, tmp_path, capsys):
    duels = drawn()
    frame = pd.DataFrame(
        {"white": duels["first"], "black": duels["second"], "result":
         words(duels, "1-0", "0-1", "1/2-1/2")}
    )  # fmt: skip
    frame.loc[::20, side] = word
    log = bd.read_duels(written(frame, tmp_path))
    same(log, right_points(duels.drop(index=range(0, 200, 20))))
    assert "left out: no opponent (bye) (10 rows)" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["DNF", "dns", "-", "NC", "ret"])
def test_a_word_in_place_of_a_rank_is_below_all_that_have_one(word, tmp_path):
    rows = [(race, arm, k + 1) for race in range(8) for k, arm in enumerate(ARMS)]
    frame = pd.DataFrame(rows, columns=["race", "driver", "position"]).astype(str)
    frame.loc[frame["driver"] == "Dee", "position"] = word
    log = bd.read_rankings(written(frame, tmp_path))
    wanted = pd.DataFrame(np.triu(np.full((4, 4), 8.0), 1), index=ARMS, columns=ARMS)
    pd.testing.assert_frame_equal(orders_read(log), wanted)


def test_decimal_commas_and_points_for_thousands(tmp_path):
    duels = drawn()
    high, low = "1.204,5", "987,25"
    frame = pd.DataFrame(
        {"Spieler A": duels["first"], "Spieler B": duels["second"],
         "Punkte A": words(duels, high, low, low), "Punkte B": words(duels, low, high, low)}
    )  # fmt: skip
    same(bd.read_duels(written(frame, tmp_path, sep=";")), right_points(duels))
    text = io.StringIO(frame.to_csv(index=False))
    same(bd.read_duels(pd.read_csv(text), decimal=","), right_points(duels))
