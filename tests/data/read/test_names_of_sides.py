"""White and black, home and away have a meaning in every language that the package knows."""

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.data.sides import sides_of

WHITE = [
    "White Black", "Weiß Schwarz", "WEISS SCHWARZ", "Weiss Schwarz", "Blancs Noirs", "Blanc Noir",
    "Blancas Negras", "Blanco Negro", "Bianco Nero", "Brancas Pretas", "Branco Preto",
    "Белые Чёрные", "Белые Черные", "白 黑", "白方 黑方", "Wit Zwart", "Białe Czarne", "Vit Svart",
    "Weißspieler Schwarzspieler", "joueur_blanc joueur_noir",
]  # fmt: skip
HOME = [
    "Home Away", "Heim Gast", "Heimteam Gastteam", "Heim Auswärts", "Domicile Extérieur",
    "Recevant Visiteur", "Local Visitante", "Casa Fuera", "Casa Trasferta", "Casa Ospite",
    "Mandante Visitante", "Casa Fora", "Хозяева Гости", "主 客", "主队 客队", "Thuis Uit",
]  # fmt: skip
ARMS = ["ada", "bob", "cyd", "dua", "eve"]


def log_of(names):
    """Return a log in which the left won 60 % of the duels, each pair of arms in both orders."""
    rng = np.random.default_rng(2)
    rows = [
        (a, b, "1-0" if rng.random() < 0.6 else "0-1")
        for _ in range(6)
        for a in ARMS
        for b in ARMS
        if a != b
    ]
    return bd.read_duels(pd.DataFrame(rows, columns=[*names, "Result"]))


@pytest.mark.parametrize("names", [*WHITE, *HOME])
@pytest.mark.sampled(3)
def test_words_of_sides_have_the_same_rule_in_every_language(names):
    called = names.split()
    log = log_of(called)
    found = sides_of(log)
    english = ["White", "Black"] if names in WHITE else ["Home", "Away"]
    expected = sides_of(log_of(english))
    assert found.meaning
    assert expected.meaning
    assert found.left == expected.left == ("white" if names in WHITE else "the home side")
    assert found.why == f"columns {called[0]} and {called[1]} are named as sides"


def test_the_default_model_has_the_advantage_of_white_in_german():
    german, english = (bd.fit(log_of(names.split())) for names in WHITE[:2])
    assert "order" in german.attrs["model"]
    np.testing.assert_array_equal(german["posterior"]["score"], english["posterior"]["score"])
