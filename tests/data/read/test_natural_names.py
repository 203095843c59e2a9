"""Names that people give to columns and outcomes: read right, or asked for; never read wrongly."""

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.system.arguments import command_line

ROWS = [  # first, second, the one that won ("": a tie)
    ("ada", "bob", "ada"), ("bob", "cyd", "cyd"), ("cyd", "ada", "ada"), ("bob", "ada", "bob"),
    ("ada", "cyd", ""), ("cyd", "bob", "bob"), ("ada", "bob", "ada"), ("bob", "cyd", "cyd"),
]  # fmt: skip
PAIRS = [  # arenas, sport, tastings, speech and image tests, schools, hackathons; six languages
    ("model_a", "model_b"), ("modelA", "modelB"), ("model_1", "model_2"), ("Model 1", "Model 2"),
    ("model_a_name", "model_b_name"), ("model_name_a", "model_name_b"), ("model.a", "model.b"),
    ("answer_a", "answer_b"), ("answer1_model_id", "answer2_model_id"),
    ("assistant_a", "assistant_b"),
    ("chatbot_a", "chatbot_b"), ("bot1", "bot2"), ("agent_0", "agent_1"), ("llm_a", "llm_b"),
    ("left_model", "right_model"), ("modelLeft", "modelRight"), ("system_x", "system_y"),
    ("home", "away"), ("home_team", "away_team"), ("HomeTeam", "AwayTeam"), ("home", "visitor"),
    ("home_team", "visitor_team"), ("homeTeamName", "awayTeamName"), ("hometeam_id", "awayteam_id"),
    ("team1", "team2"), ("Team A", "Team B"), ("T1", "T2"), ("player1", "player2"),
    ("player_one", "player_two"), ("p1_name", "p2_name"), ("fighter_a", "fighter_b"),
    ("red_fighter", "blue_fighter"), ("R_fighter", "B_fighter"), ("white", "black"),
    ("White Player", "Black Player"), ("boxer1", "boxer2"), ("club_home", "club_away"),
    ("product_a", "product_b"), ("Product 1", "Product 2"), ("sample_a", "sample_b"),
    ("wine_left", "wine_right"), ("brand1", "brand2"), ("recipe_a", "recipe_b"),
    ("stimulus_1", "stimulus_2"), ("stim_left", "stim_right"), ("image1", "image2"),
    ("img_left", "img_right"), ("left_image", "right_image"), ("photo_a", "photo_b"),
    ("audio_a", "audio_b"), ("voice_1", "voice_2"), ("system_a", "system_b"), ("sysA", "sysB"),
    ("clip_first", "clip_second"), ("first_clip", "second_clip"), ("essay_a", "essay_b"),
    ("script_left", "script_right"), ("student1", "student2"), ("project_a", "project_b"),
    ("idea_left", "idea_right"), ("entry1", "entry2"), ("candidate_a", "candidate_b"),
    ("option_1", "option_2"), ("alt_a", "alt_b"), ("design_top", "design_bottom"),
    ("heim", "gast"), ("heim_verein", "gast_verein"), ("equipo_local", "equipo_visitante"),
    ("equipe_domicile", "equipe_exterieur"), ("produit_gauche", "produit_droite"),
    ("squadra_casa", "squadra_trasferta"), ("time_casa", "time_fora"), ("左侧", "右侧"),
    ("主队", "客队"), ("Vino izq.", "Vino dcha."), ("muestra_izda", "muestra_dcha"),
    ("amostra esq.", "amostra dir."), ("campione SX", "campione DX"),
]  # fmt: skip
WORDS = [  # of a win of the first, of the second, and of a tie
    ("left", "right", "tie"), ("Left", "Right", "Equal"), ("L", "R", "T"), ("A", "B", "tie"),
    ("A wins", "B wins", "draw"), ("a", "b", "c"), ("model_a", "model_b", "tie (bothbad)"),
    ("modelA", "modelB", "same"), ("first", "second", "neither"), ("1st", "2nd", "no preference"),
    ("1", "2", "0"), ("1", "0", "0.5"), ("1", "-1", "0"), ("0", "1", "2"), ("0", "2", "1"),
    ("win", "lose", "draw"), ("win", "loss", "draw"), ("W", "L", "D"), ("H", "A", "D"),
    ("home", "away", "draw"), ("1-0", "0-1", "1/2-1/2"), ("2-1", "0-3", "1-1"),
    ("3:1", "0:2", "2:2"), ("6-4 3-6 7-6(5)", "6-1, 1-6, 2-6", "6-4 4-6"),
    ("W 3-1", "L 1-3", "D 2-2"), ("W 3-1", "L 3-1", "T 0-0"),
    ("yes", "no", "tie"), ("true", "false", "tie"), (">", "<", "="), ("A>B", "A<B", "A=B"),
    ("A is better", "B is better", "Both are good"), ("prefer A", "prefer B", "no preference"),
    ("strongly A", "strongly B", "equal"), ("links", "rechts", "unentschieden"),
    ("gauche", "droite", "égalité"), ("izquierda", "derecha", "empate"),
    ("sinistra", "destra", "pareggio"), ("左", "右", "平局"), ("слева", "справа", "ничья"),
    ("Heim", "Gast", "Remis"), ("answer_1", "answer_2", "tie"), ("option1", "option2", "both"),
    ("chosen_left", "chosen_right", "skip"), ("top", "bottom", "equal"), ("X", "Y", "Z"),
]  # fmt: skip
ASKED = {("0", "1", "2"), ("0", "2", "1"), ("1", "2", "0"), ("X", "Y", "Z"),
         ("chosen_left", "chosen_right", "skip")}  # fmt: skip


def truth():
    """Return the wins of each arm over each, a tie half a win for both, counted by hand."""
    arms = ["ada", "bob", "cyd"]
    wins = np.zeros((3, 3))
    for first, second, won in ROWS:
        for one, other in ((first, second), (second, first)):
            wins[arms.index(one), arms.index(other)] += 0.5 if not won else float(one == won)
    return wins


def points(duels):
    wins, ties = duels.tally()
    return wins + ties / 2


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.sampled(2)
def test_pairs_of_columns(pair):
    """The winner's name is the outcome; answers and tokens of each side stand beside."""
    first, second = pair
    log = pd.DataFrame(ROWS, columns=[first, second, "winner"]).replace({"winner": {"": "tie"}})
    log.insert(0, "text_a", [f"first answer {k}" for k in range(len(log))])
    log.insert(1, "text_b", [f"second answer {k}" for k in range(len(log))])
    log["tokens_a"] = range(100, 108)
    log["tokens_b"] = range(101, 109)
    duels = bd.read_duels(log)
    assert duels.arms == ("ada", "bob", "cyd")
    assert (points(duels) == truth()).all()
    assert duels.read_summary.columns["left"] == first


@pytest.mark.parametrize("words", WORDS, ids=" | ".join)
def test_words_of_outcomes(words, capsys):
    """What is not understood is asked for, with a line to complete that then reads it right."""
    means = {"": words[2]}
    said = [means.get(won, words[0] if won == first else words[1]) for first, _, won in ROWS]
    log = pd.DataFrame([row[:2] for row in ROWS], columns=["model_a", "model_b"])
    log["verdict"] = said
    if words in ASKED:
        with command_line(), pytest.raises(ValueError, match="--means") as refused:
            bd.read_duels(log)
        assert all(f"{word}=?" in str(refused.value) for word in words)
    elif words == ("a", "b", "c"):
        line = r"--means 'a=left,b=right,c=\?'"
        with command_line(), pytest.raises(ValueError, match=rf"row 4 .* got 'c'; say .* {line}"):
            bd.read_duels(log)
    else:
        assert (points(bd.read_duels(log)) == truth()).all()
    given = bd.read_duels(log, means=dict(zip(words, ("left", "right", "tie"), strict=True)))
    assert (points(given) == truth()).all()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["fecha", "Datum", "data", "Data", "дата", "日期", "date"])
@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y"])
def test_dates_by_their_names_in_several_languages(name, form):
    days = pd.date_range("2024-01-25", periods=len(ROWS))
    frame = pd.DataFrame(ROWS, columns=["left", "right", "winner"])
    frame["winner"] = frame["winner"].replace("", "tie")
    frame[name] = days.strftime(form)
    log = bd.read_duels(frame)
    assert log.read_summary.columns["time"] == name
    assert (log.votes.time == days.to_numpy()).all()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["fecha", "Datum", "data", "дата", "日期"])
@pytest.mark.parametrize("values", [[*range(8)], ["x", "y"] * 4])
def test_a_column_with_the_name_of_dates_that_holds_others_is_no_time(name, values):
    frame = pd.DataFrame(ROWS, columns=["left", "right", "winner"])
    frame["winner"] = frame["winner"].replace("", "tie")
    frame[name] = values
    log = bd.read_duels(frame)
    assert "time" not in log.read_summary.columns
    assert [line.column for line in log.reading.not_used] == [name]
