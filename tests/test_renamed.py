"""Old spellings are refused, with the one of today: names, arguments and options."""

from inspect import signature

import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main

ARGUMENTS = {
    "check": (bd.check, "order_effect", "side_advantage"),
    "DefaultModel": (bd.DefaultModel, "order_effect", "side_advantage"),
    "predict": (bd.predict, "left_advantage", "side_advantage"),
}
OPTIONS = [
    (command, f"--{no}order-effect", f"--{no}side-advantage")
    for command in (
        "fit springall -o fit.nc",
        "winners springall",
        "top-k springall --k 2",
        "report springall -o page.html",
        "attributes springall --items items.csv",
        "check springall",
    )
    for no in ("", "no-")
]
OPTIONS += [("predict fit.nc a b", "--left-advantage", "--side-advantage")]


@pytest.mark.parametrize("function", ARGUMENTS)
def test_an_argument_of_an_earlier_version_names_the_one_of_today(function):
    call, old, new = ARGUMENTS[function]
    with pytest.raises(TypeError, match=f"^argument '{old}' is now called '{new}'$"):
        call(**{old: True})
    assert new in signature(call).parameters


@pytest.mark.parametrize(("command", "old", "new"), OPTIONS)
def test_an_option_of_an_earlier_version_names_the_one_of_today(command, old, new):
    answer = CliRunner().invoke(main, [*command.split(), old])
    assert answer.exit_code == 2
    assert f"bayesduel: {old} is now called {new} " in answer.stderr
    shown = CliRunner().invoke(main, [command.split()[0], "--help"]).stdout
    assert new.replace("no-", "") in shown
    assert old not in shown


def test_a_key_of_an_earlier_version_names_the_one_of_today():
    found = bd.check(bd.datasets.load("tennis1990"), quick=True).to_dict()
    old = "p_one_ranking_without_order_effect"
    new = "p_one_ranking_without_side_advantage"
    assert new in found
    with pytest.raises(KeyError, match=f"'{old}' is now called '{new}'"):
        found[old]
    with pytest.raises(KeyError, match=r"^'nothing'$"):
        found["nothing"]


def test_a_column_of_winners_of_an_earlier_version_names_the_one_of_today():
    winners = bd.winners(bd.fit(bd.datasets.load("tennis1990")))
    said = "'borda_mean' is now called 'win_rate'"
    for key in ("borda_mean", ["rank_mean", "borda_mean"]):
        with pytest.raises(KeyError, match=said):
            winners[key]
    with pytest.raises(AttributeError, match=said):
        winners.borda_mean  # noqa: B018
    assert (winners.win_rate == winners["win_rate"]).all()
    assert list(winners[["win_rate", "rank_mean"]]) == ["win_rate", "rank_mean"]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        winners.nothing  # noqa: B018


def test_a_class_of_an_earlier_version_names_the_one_of_today():
    with pytest.raises(ImportError, match="OrderEffect is now called SideAdvantage"):
        from bayesduel.models import OrderEffect  # noqa: F401
    with pytest.raises(AttributeError, match=r"is now called bayesduel\.models\.SideAdvantage$"):
        bd.OrderEffect  # noqa: B018
    assert not hasattr(bd.models, "Nothing")
