"""NUTS: which parameterisation a log asks for, and what its draws are worth without scores."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.data.duels import Duels
from bayesduel.inference.fit import UncertifiedWarning
from bayesduel.inference.nuts import _certificate, _check_moved, well_informed


@pytest.mark.parametrize(
    ("wins", "ties", "centred"),
    [((28, 12), 0, True), ((26, 14), 0, False), ((20, 4), 16, True), ((18, 6), 16, False)],
)
def test_forty_duels_measure_two_arms_whose_scores_are_apart(wins, ties, centred):
    """Information 40 / 4 on each score: centred where the variance of scores is above 0.4.

    That is the variance of the logits (0.68 at 28 of 40, 0.36 at 26) less 4 / 41 of noise.
    """
    table, level = np.array([[0, wins[0]], [wins[1], 0]]), np.array([[0, ties], [ties, 0]])
    assert well_informed(Duels.from_wins(table, ["a", "b"], ties=level)) is centred


class Blades:
    """A model without scores of three arms."""

    def n_arms(self, posterior):
        return posterior["P"].shape[-1]

    def preference(self, posterior):
        return posterior["P"]


def test_without_scores_draws_are_worth_as_much_as_for_the_pair_that_mixes_worst():
    rng = np.random.default_rng(0)
    P, stats = rng.uniform(size=(400, 3, 3)), {"diverging": np.zeros(400)}
    assert _certificate(Blades(), {"P": P}, stats, chains=4).effective > 200
    assert _certificate(Blades(), {"P": P}, stats, chains=4).holds
    P[:, 1, 2] = 1.0  # always the same, as a sure win: it says nothing of the others
    assert _certificate(Blades(), {"P": P}, stats, chains=4).holds
    P[:, 0, 1] = np.repeat(rng.uniform(size=8), 50)  # moves every fifty draws
    assert _certificate(Blades(), {"P": P}, stats, chains=4).effective < 20
    P[:, 0, 1] += np.repeat(np.arange(4), 100)
    assert "chains disagree" in _certificate(Blades(), {"P": P}, stats, chains=4).shortfall


def test_a_chain_that_does_not_move_is_refused_by_the_name_of_its_parameter():
    rng = np.random.default_rng(0)
    score, lp = rng.normal(size=(400, 3)), rng.normal(size=400)
    stats = {"lp": lp, "diverging": np.zeros(400)}
    _check_moved({"score": score}, stats, chains=4)
    lp[:100], score[:100] = 1.0, score[0]
    with pytest.raises(ValueError, match="100 equal draws of 'score' in chain 0"):
        _check_moved({"score": score}, stats, chains=4)


def test_missing_draws_are_refused_by_the_name_of_their_parameter():
    score, stats = np.random.default_rng(0).normal(size=(400, 3)), {}
    score[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"NUTS should draw finite numbers, got .* of 'score'"):
        _check_moved({"score": score}, stats, chains=4)


def test_where_nuts_fails_draws_of_the_approximation_are_kept_and_doubted(monkeypatch):
    def lost(*_, **__):
        raise ValueError("no finite numbers")

    monkeypatch.setattr("bayesduel.inference.fit.sample_nuts", lost)
    monkeypatch.setattr("bayesduel.inference.psis.TRUSTED", -1.0)
    duels = Duels.from_wins(np.array([[0, 9, 7], [3, 0, 8], [5, 4, 0]]))
    with pytest.warns(UncertifiedWarning, match="the Laplace draws are not certified"):
        fit = bd.fit(duels, "thurstone", draws=200)
    assert fit.attrs["method"] == "laplace"
    assert "NUTS failed: no finite numbers" in fit.attrs["method_reason"]
    with pytest.raises(ValueError, match="no finite numbers"):
        bd.fit(duels, "thurstone", "nuts", draws=200)
