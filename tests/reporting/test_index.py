"""The table of all logs, and what their tests say together."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.data.duels import Duels
from bayesduel.reporting.partial_report import together_words
from tests.support.parsing import Page


@pytest.mark.plain
def test_logs_without_a_ranking_are_counted():
    words = together_words([False] * 14 + [True] * 220 + [None] * 5)
    assert "in 14 of 234 logs; 5 more are not tested or cannot tell." in words
    assert "1 more is not tested" in together_words([False, True, None])


@pytest.mark.plain
@pytest.mark.parametrize("transitive", [[True, True], [None, None], [False], []])
def test_without_rejections_or_with_one_log_nothing_is_said(transitive):
    assert together_words(transitive) is None


@pytest.mark.slow
def test_the_table_of_all_says_how_many_are_rejected(tmp_path):
    wins = np.array([[0, 50, 10], [10, 0, 50], [50, 10, 0]])
    ranked = np.array([[0, 40, 50], [20, 0, 40], [10, 20, 0]])
    logs = {"circle": Duels.from_wins(wins), "ranked": Duels.from_wins(ranked)}
    page = Page(bd.report(logs, tmp_path / "both.html").read_text(encoding="utf-8"))
    assert "No ranking holds in 1 of 2 logs." in page.text["index"]
    assert [row[0] for row in page.rows["index"][1:]] == ["circle", "ranked"]
