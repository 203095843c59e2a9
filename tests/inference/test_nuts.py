"""NUTS: which parameterisation a log asks for, and what its draws are worth without scores."""

import io
from types import SimpleNamespace

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.data.duels import Duels
from bayesduel.inference import nuts
from bayesduel.inference.fit import UncertifiedWarning
from bayesduel.inference.nuts import _certificate, _check_moved, well_informed
from bayesduel.models import BladeChest, BradleyTerry


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

    monkeypatch.setattr("bayesduel.inference.hamiltonian.sample_hamiltonian", lost)
    monkeypatch.setattr("bayesduel.inference.psis.TRUSTED", -1.0)
    duels = Duels.from_wins(np.array([[0, 9, 7], [3, 0, 8], [5, 4, 0]]))
    with pytest.warns(UncertifiedWarning, match="the Laplace draws are not certified"):
        fit = bd.fit(duels, "thurstone", draws=200)
    assert fit.attrs["method"] == "laplace"
    assert "NUTS failed: no finite numbers" in fit.attrs["method_reason"]
    with pytest.raises(ValueError, match="no finite numbers"):
        bd.fit(duels, "thurstone", "nuts", draws=200)


def chain(draws, seconds, steps):
    """The state of a chain of 2,000 draws, as nutpie reports it."""
    return SimpleNamespace(
        finished_draws=draws, total_draws=2000, runtime_ms=1000 * seconds, total_num_steps=steps
    )


def test_a_fit_that_comes_to_nuts_says_how_long_it_may_take_and_shows_progress(monkeypatch, caplog):
    """4 chains of 2,000 draws on 2 cores, 10 ms a gradient: 4,000 draws of 7 to 63 gradients."""
    early = [chain(10, 0.5, 90), chain(0, 0, 0), chain(0, 0, 0), chain(0, 0, 0)]
    later = [chain(2000, 2, 200), chain(1000, 1.5, 150), chain(0, 0, 0), chain(0, 0, 0)]

    def sampled(compiled, *, progress_callback, **options):
        if progress_callback is not None:
            for state in (early, later, later):
                progress_callback(state)

    monkeypatch.setattr("nutpie.sample", sampled)
    monkeypatch.setattr(nuts, "_compiled", lambda model, cells: None)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    model, shares = BradleyTerry(), []
    given = {"draws": 1000, "chains": 4, "seed": 0}
    nuts.sample(model, None, notice="Quicker: fewer draws.", progress=shares.append, **given)
    assert caplog.messages == [
        "NUTS samples bradley-terry, which may take 5 minutes to 42 minutes. Quicker: fewer draws."
    ]
    assert shares == pytest.approx([0.2 + 0.6 * 10 / 8000, *[0.2 + 0.6 * 3 / 8] * 2])
    nuts.sample(model, None, progress=shares.append, **given)  # asked for
    assert len(shares) == 6
    monkeypatch.setattr(nuts, "LONG", 1e6)  # or over soon
    nuts.sample(model, None, notice="Quicker: fewer draws.", **given)
    assert len(caplog.messages) == 1
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    nuts.sample(model, None, notice="Quicker: fewer draws.", **given)
    assert "NUTS" in screen.getvalue() and "38%" in screen.getvalue()


@pytest.mark.parametrize(("cores", "rounds"), [(1, 4), (2, 2), (3, 2), (4, 1), (16, 1)])
def test_the_forecast_counts_the_chains_that_wait_for_others(cores, rounds):
    """Four chains, 10 ms a gradient, 7 to 63 gradients for each of 2,000 draws."""
    states = [chain(10, 2, 200), *[chain(0, 0, 0)] * 3]
    assert nuts._seconds(states, cores) == pytest.approx((rounds * 140, rounds * 1260))


@pytest.mark.slow
def test_nutpie_reports_the_state_of_its_chains():
    """What the callback reads is there, and the shares of a true fit grow to 0.8."""
    shares = []
    duels = Duels.from_wins(np.array([[0, 9, 7], [3, 0, 8], [5, 4, 0]]))
    fit = bd.fit(duels, BradleyTerry() + BladeChest(), draws=4000, progress=shares.append)
    assert fit.attrs["method"] == "nuts"
    sampling = [share for share in shares if 0.2 < share < 0.8]
    assert sampling and sampling == sorted(sampling)


def test_the_notice_of_a_fit_names_why_and_what_is_quicker(monkeypatch):
    heard = []

    def stop(*_, notice, **__):
        heard.append(notice)
        raise ValueError("enough")

    monkeypatch.setattr("bayesduel.inference.hamiltonian.sample_hamiltonian", stop)
    monkeypatch.setattr("bayesduel.inference.fit.sample_nuts", stop)
    monkeypatch.setattr("bayesduel.inference.psis.TRUSTED", -1.0)
    duels = Duels.from_wins(np.array([[0, 9, 7], [3, 0, 8], [5, 4, 0]]))
    with pytest.warns(UncertifiedWarning):
        bd.fit(duels, "thurstone", draws=200)
    with pytest.raises(ValueError, match="enough"):
        bd.fit(duels, BradleyTerry() + BladeChest(), draws=200)
    with pytest.raises(ValueError, match="enough"):
        bd.fit(duels, "thurstone", "nuts", draws=200)
    assert "certificate does not hold" in heard[0] and "method='laplace'" in heard[0]
    assert heard[1].startswith("The quick method does not serve this model: ")
    assert "Quicker: a model of fewer terms" in heard[1] and heard[2] == ""
