"""Rankings: how they are built, and the forms in which they are read."""

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.data.read.rankings import ranking_columns

ORDERS = [["ale", "bock", "cider"], ["bock", "cider"], ["cider", "ale", "bock"]]
LONG = pd.DataFrame(
    [(k, arm, place) for k, order in enumerate(ORDERS) for place, arm in enumerate(order, 1)],
    columns=["race", "driver", "finish"],
)
WIDE = pd.DataFrame(
    [order + [None] * (3 - len(order)) for order in ORDERS], columns=["first", "second", "third"]
)
TEXT = pd.DataFrame({"order": [" > ".join(order) for order in ORDERS]})
FORMS = {"long": LONG.sample(frac=1, random_state=1), "wide": WIDE, "text": TEXT}


def orders_of(log):
    """Return the groups of every ranking, arms of a group sorted."""
    found = []
    for here in log.slices:
        groups = {}
        for arm, place in zip(log.arm[here], log.place[here], strict=True):
            groups.setdefault(int(place), []).append(log.arms[arm])
        found.append([sorted(group) for group in groups.values()])
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("source", ["frame", "csv", "parquet"])
def test_every_form_is_read(form, source, tmp_path):
    given = FORMS[form]
    if source != "frame":
        path = tmp_path / f"log.{source}"
        getattr(given, f"to_{source}")(path, index=False)
        given = path
    log = bd.read_rankings(given)
    expected = [[[arm] for arm in order] for order in ORDERS]
    assert sorted(orders_of(log)) == sorted(expected)
    assert (log.n_rankings, log.n_arms) == (3, 3) and "3 rankings, 3 arms" in repr(log)


def test_what_is_not_ranked_is_below():
    long = pd.DataFrame({"ranking": [1] * 4, "arm": list("abcd"), "rank": [2, None, 1, None]})
    assert orders_of(bd.read_rankings(long)) == [[["c"], ["a"], ["b", "d"]]]
    text = pd.DataFrame({"order": ["c > a > b, d", "a > b,c > d"]})
    assert orders_of(bd.read_rankings(text)) == [
        [["c"], ["a"], ["b", "d"]],
        [["a"], ["b", "c"], ["d"]],
    ]


def test_the_best_and_the_worst_are_read():
    frame = pd.DataFrame(
        {
            "best": ["a", "b"],
            "worst": ["d", None],
            "shown": ["a, b, c, d", "a;b;c"],
            "weight": [3, 1],
        }
    )
    log = bd.read_rankings(frame)
    assert orders_of(log) == [[["a"], ["b", "c"], ["d"]], [["b"], ["a", "c"]]]
    assert log.weight.tolist() == [3, 1] and log.n_rankings == 4
    choices = log.choices
    pairs = [(log.arms[i], log.arms[j]) for i, j in zip(choices.first, choices.second, strict=True)]
    assert pairs == [*((("a", x)) for x in "bcd"), ("b", "d"), ("c", "d"), ("b", "a"), ("b", "c")]
    assert choices.stage.tolist() == [0, 0, 0, 1, 1, 2, 2]


def test_columns_of_other_names_are_given(capsys):
    frame = LONG.set_axis(["heat", "car", "came in"], axis=1)
    log = bd.read_rankings(frame, ranking="heat", arm="car", rank="came in")
    assert log.n_rankings == 3 and not capsys.readouterr().err
    bd.read_rankings(LONG)
    assert "ranking=race, arm=driver, rank=finish (guessed)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("names", "form"),
    [
        (["ranking", "item", "rank"], "rank"),
        (["1st", "2nd", "3rd"], "place_1"),
        (["judge", "rank_1", "rank_2", "rank_3"], "place_3"),
        (["best", "alternatives"], "shown"),
        (["ranking"], "order"),
        (["left", "right", "outcome"], None),
        (["first", "second", "winner"], None),
        (["first", "second"], None),
        (["model_a", "model_b", "winner", "order"], None),
        (["player_1", "player_2", "score_1", "score_2"], None),
    ],
)
def test_columns_of_rankings_are_recognised(names, form):
    found = ranking_columns(names)
    assert found is None if form is None else form in found


@pytest.mark.parametrize(
    ("orders", "words"),
    [
        ([["a"]], "should order two arms or more"),
        ([[["a", "b"]]], "should order two arms or more"),
        ([["a", "b", "a"]], "row 0: a ranking should have an arm once, got 'a' twice"),
        ([["a", "b"], [["a", "b"], "c", "d"]], "has no ties"),
        ([["a", ["b", "c"], ["d", "e"]]], "has no ties"),
        ([], "orders should hold at least one ranking"),
    ],
)
def test_orders_are_checked(orders, words):
    with pytest.raises(ValueError, match=words):
        bd.Rankings.from_orders(orders)


def test_files_are_checked():
    for frame, words in [
        (pd.DataFrame({"left": ["a"], "right": ["b"]}), "columns should be those of rankings"),
        (LONG.assign(finish="first"), r"row 0 .*rank should be a number \(DNF.* got 'first'"),
        (LONG.assign(driver=None), "should name a ranking and an arm"),
        (pd.DataFrame({"order": ["a > b > a"]}), r"row 0 \(the first is 0\): .*'a' twice"),
        (pd.DataFrame({"order": ["a > b"], "weight": [0.5]}), "weight should be a whole number"),
        (
            pd.DataFrame({"order": ["a > b"], "weight": ["x"]}),
            "weight should be a whole number > 0, got 'x'",
        ),
        (pd.DataFrame({"best": [None], "shown": ["a, b"]}), "best should be one of those shown"),
    ]:
        with pytest.raises(ValueError, match=words):
            bd.read_rankings(frame)
    with pytest.raises(
        ValueError, match=r"columns should be those of duels, got those of rankings"
    ):
        bd.read_duels(WIDE)


SHOWN = "line,best,shown\n0,a,'a, b, c'\n1,tie,'a, b, c'\n2,b,'b; c'\n3,a,'b, c'\n".replace(
    "'", '"'
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SHOWN, r"line 5: best should be one of those shown \(b and c\), got 'a'; on_bad"),
        ("best,worst,shown\na,d,a|b|c\n", r"line 2: worst should be one of those shown .* got 'd'"),
        (
            "order\na > b\na=b > c > d\n",
            r"line 3: .* got a = b above others.* Order these arms",
        ),
        ("order\na > b\nc > c\nd\n", r"line 3: .* got 'c' twice \(and 1 more bad row\)"),
        ("race,driver,place\n1,x,1\n1,y,2\n2,x,oil\n2,y,1\n", r"line 4: rank .* got 'oil'; on_bad"),
        (
            "race,judge,driver,place\n1,u,x,1\n1,v,y,2\n",
            r"line 2: ranking '1': the rows of one ranking should have one judge, got",
        ),
    ],
)
def test_a_bad_row_is_named_or_left_out(text, words, tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        bd.read_rankings(path)
    if text.count("\n") > 3:
        log = bd.read_rankings(path, on_bad="skip")
        assert log.read_summary.n_bad_rows and "left out" in capsys.readouterr().err
        assert words.split(":")[0] in log.read_summary.bad_rows[0][0]


@pytest.mark.parametrize("word", ["tie", "Tie", "neither", "none", "None", "equal", "both bad"])
def test_a_best_that_is_a_word_for_a_tie_orders_nothing(word, capsys):
    frame = {"best": ["a", word, "b"], "shown": ["a, b, c"] * 3}
    log = bd.read_rankings(frame)
    assert log.arms == ("a", "b", "c") and log.n_rankings == 2
    assert log.read_summary.n_ties_dropped == 1
    assert f"left out 1 ranking that put all arms in one place (1 {word!r})" in (
        capsys.readouterr().err
    )
    listed = bd.read_rankings({"best": ["a", word], "shown": [f"a, {word.strip()}, c"] * 2})
    assert listed.n_rankings == (1 if word == "None" else 2)  # an arm of that name is one


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("a > b = c", [["a"], ["b", "c"]]),
        ("a>b=c", [["a"], ["b", "c"]]),
        ("a = b > c", [["a", "b"], ["c"]]),
        ("a > b = c > d", [["a"], ["b", "c"], ["d"]]),
        ("a > b = c, d", [["a"], ["b", "c", "d"]]),
    ],
)
def test_an_equals_sign_joins_arms_of_one_place(text, order, capsys):
    log = bd.read_rankings({"order": [text, "a > b = c"]})
    assert orders_of(log)[0] == order and not any("=" in arm for arm in log.arms)
    assert "2 rankings join arms by '='" in capsys.readouterr().err
    nothing = bd.read_rankings({"order": ["a = b = c", "a > b"]})
    assert nothing.n_rankings == 1 and nothing.read_summary.n_ties_dropped == 1


@pytest.mark.parametrize("word", ["DNF", "dns", "DSQ", "NC", "-", " - ", "Ret.", "", "–"])
def test_a_word_in_place_of_a_rank_is_below_all(word, capsys):
    rows = [(1, "x", "2"), (1, "y", word), (1, "z", "1"), (1, "w", word)]
    log = bd.read_rankings(pd.DataFrame(rows, columns=["race", "driver", "place"]))
    assert orders_of(log) == [[["z"], ["x"], ["w", "y"]]]
    counted = f"2 {word.strip()!r}" if word else "2 blank"
    said = f"2 entries have no rank ({counted}): they rank below all arms with a rank"
    assert said in capsys.readouterr().err


def judged(names):
    """Return every form of the same three rankings with a column of this name."""
    who = ["u", "v", "u"]
    long = LONG.assign(**{names: [who[k] for k in LONG["race"]]})
    best = pd.DataFrame({"best": ["ale", "bock", "cider"], "shown": ["ale, bock, cider"] * 3})
    return [long, *(frame.assign(**{names: who}) for frame in (WIDE, TEXT, best))]


@pytest.mark.parametrize("name", ["judge", "respondent", "Rater ID", "participant_id", "voter"])
@pytest.mark.sampled(3)
def test_judges_of_every_form_are_found(name, capsys):
    for frame in judged(name):
        log = bd.read_rankings(frame)
        assert log.votes.judges == ("u", "v") and log.votes.judge.tolist() == [0, 1, 0]
        told = capsys.readouterr().err
        assert name == "judge" or f"judge={name}" in told
        without = bd.read_rankings(frame, judge=False)
        assert without.votes.judge is None and f"not used: {name}" in capsys.readouterr().err


def test_judges_and_groups_of_other_names_are_given_and_kept(capsys):
    for frame in judged("who"):
        log = bd.read_rankings(frame, judge="who")
        assert log.votes.judges == ("u", "v")
        assert bd.read_rankings(frame, group="who").votes.groups == ("u", "v")
        capsys.readouterr()
        parts = bd.read_rankings(frame, keep=["who"]).split("who")
        assert {label: part.n_rankings for label, part in parts.items()} == {"u": 2, "v": 1}
    with pytest.raises(ValueError, match="by should be one of"):
        log.split("where")
    repeated = pd.concat([TEXT.assign(who=who) for who in "uv"])
    bd.read_rankings(repeated)
    assert "not used: who (2 values in 6 rows; judge='who'?)" in capsys.readouterr().err
    with pytest.raises(ValueError, match="no column 'whom' for judge"):
        bd.read_rankings(repeated, judge="whom")


def test_columns_of_orders_are_checked():
    for given, words in [
        ({"judge": ["u"]}, "judge should have length 2 like orders, got 1"),
        ({"keep": {"where": ["x"]}}, r"keep\['where'\] should have length 2 like orders"),
    ]:
        with pytest.raises(ValueError, match=words):
            bd.Rankings.from_orders(["ab", "ba"], **given)
    log = bd.Rankings.from_orders(["ab", "ba", "ab"], judge=["u", None, "u"], weight=[1, 2, 3])
    assert log.votes.judge.tolist() == [0, -1, 0]
    taken = log.with_votes([2, 0, 2])
    assert orders_of(taken) == [[["a"], ["b"]]] * 3 and taken.weight.tolist() == [3, 1, 3]
    assert log.duels.votes.judges == ("u",)


def test_pairs_of_rankings_are_counted():
    duels = bd.read_rankings(TEXT).duels
    wins = duels.tally().wins
    order = {arm: k for k, arm in enumerate(duels.arms)}
    assert wins[order["ale"], order["bock"]] == 2 and wins[order["cider"], order["ale"]] == 1
    assert wins.sum() == 7 and not duels.ordered
    assert len(duels.votes.groups) == 3
    np.testing.assert_array_equal(duels.votes.left < duels.votes.right, True)


VOTES = pd.DataFrame(
    [("x", "y", "left", 3), ("y", "x", "both bad", 2), ("y", "x", "tie", 5), ("x", "z", "right", 1),
     ("z", "z", "both bad", 1)],
    columns=["left", "right", "outcome", "n"],
)  # fmt: skip


@pytest.mark.parametrize("source", ["frame", "csv", "parquet"])
def test_votes_both_bad_are_won_by_neither(source, tmp_path):
    given = VOTES
    if source != "frame":
        given = tmp_path / f"log.{source}"
        getattr(VOTES, f"to_{source}")(given, index=False)
    log = bd.read_duels(given, weight="n", both_bad="neither")
    expected = {
        3: [["x"], ["neither", "y"]],
        2: [["neither"], ["x", "y"]],
        1: [["z"], ["neither", "x"]],
    }
    assert dict(zip(log.weight.tolist(), orders_of(log), strict=True)) == expected
    read = log.read_summary
    assert (read.n_both_bad, read.n_ties_dropped, read.n_self_duels) == (2, 5, 1)
    parts = bd.read_duels(VOTES.assign(part=list("aabba")), both_bad="none", by="part")
    assert {name: part.arms for name, part in parts.items()} == {"a": ("none", "x", "y")}


def test_votes_both_bad_keep_their_judges():
    votes = VOTES.drop(columns="n").assign(judge=list("uvuvu"), prompt=list("ppqqq"))
    log = bd.read_duels(votes, both_bad="neither")
    found = zip(log.votes.judge, log.votes.group, orders_of(log), strict=True)
    assert sorted(
        (log.votes.judges[j], log.votes.groups[g], order[0][0]) for j, g, order in found
    ) == [("u", "p", "x"), ("v", "p", "neither"), ("v", "q", "z")]


def test_a_judge_and_an_item_of_a_table_of_scores_are_both_clusters():
    rng = np.random.default_rng(0)
    cells = [(f"q{q}", f"j{j}", arm) for q in range(12) for j in range(6) for arm in "abc"]
    table = pd.DataFrame(cells, columns=["item", "annotator", "model"])
    table["score"] = rng.normal(size=len(table)).round(3)
    for read in (bd.Duels.from_scores, bd.read_duels):
        fit = bd.fit(read(table), draws=100)
        assert fit.attrs["clusters_auto"] == "judge and group"
        assert fit.attrs["clusters_repeated"] == '{"judge": 6, "group": 12}'


@pytest.mark.parametrize(
    ("votes", "label", "what"),
    [
        (VOTES, "x", "label of no arm, got 'x'"),
        (
            VOTES[VOTES.outcome != "both bad"],
            "neither",
            "both_bad needs votes 'both bad', but the log has none",
        ),
        (VOTES, 1, "label of an arm, got 1"),
    ],
)
def test_both_bad_that_cannot_be_read(votes, label, what):
    with pytest.raises((ValueError, TypeError), match=what):
        bd.read_duels(votes, both_bad=label)


def test_a_frame_of_counts_has_no_votes_both_bad():
    with pytest.raises(ValueError, match="no column for the outcome"):
        bd.read_duels({"a": ["x"], "b": ["y"], "wins_a": [3], "wins_b": [2]}, both_bad="neither")


@pytest.mark.parametrize("by_name", [True, False])
def test_votes_that_both_are_bad_are_said_to_be_what_they_count_for(by_name, capsys):
    words = {"left": "a", "right": "b"} if by_name else {"left": "left", "right": "right"}
    outcome = [words["left"], words["right"], "both bad", "tie", "both bad", words["left"]]
    votes = {"left": ["a"] * 6, "right": ["b"] * 6, "outcome": outcome}
    log = bd.read_duels(votes, both_bad="nothing")
    said = capsys.readouterr().err + str(log.reading)
    assert "both bad nothing wins (2)" in said and "tie left out (1)" in said
    found = bd.health(log.duels)
    assert "2 votes were marked both bad: 'nothing' wins them. 1 other tie left out." in str(found)
    plain = bd.read_duels(votes)
    assert "both bad tie (2)" in str(plain.reading)
    assert "2 duels were marked both bad, which counts as a tie." in str(bd.health(plain))
