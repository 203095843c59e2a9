"""Log likelihoods summed over cells in a short form: the same as those of each cell."""

import numpy as np
import pytest

from bayesduel.data.duels import Duels
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.models import BradleyTerry, Davidson, SideAdvantage
from bayesduel.models.log_normaliser import log_normalisers


def test_log_normalisers_equal_their_definition():
    eta = np.concatenate([np.linspace(-90, 90, 400), np.linspace(-1, 1, 101)])
    for tie in (0.0, 1e-3, 1.0, 30.0, 400.0):
        wanted = np.log(np.exp(eta / 2) + np.exp(-eta / 2) + tie)
        each = log_normalisers(eta[:, None], np.ones(1), np.full(len(eta), tie))
        np.testing.assert_allclose(each, wanted, rtol=4e-16, atol=2e-15)
        total = log_normalisers(eta[None], np.full(len(eta), 3.0), np.array([tie]))
        np.testing.assert_allclose(total, 3 * wanted.sum(), rtol=1e-14)


@pytest.mark.parametrize(
    "model", [BradleyTerry(), Davidson(), Davidson(scale=1.0) + SideAdvantage()]
)
def test_many_draws_have_the_density_of_their_cells(model):
    rng = np.random.default_rng(1)
    wins, ties = rng.poisson(2.0, (2, 6, 6))
    for counts in (wins, ties):
        np.fill_diagonal(counts, 0)
    duels = Duels.from_wins(wins, ties=np.triu(ties) + np.triu(ties).T, tie_rule="keep")
    density = linear_predictor(model, model.cells(duels))
    x, phi = 2 * rng.normal(size=(40, density.size)), rng.normal(size=(40, len(density.hypers)))
    x[0, -1] = 7.0  # a large tendency to tie
    assert density._pairs is None  # of so few arms, the design is a matrix
    by_cells, _ = density.batch(x, phi)
    np.testing.assert_allclose(density.values(x, phi), by_cells, rtol=1e-12)


@pytest.mark.parametrize(
    "model", [BradleyTerry(), Davidson(), Davidson(scale=1.0) + SideAdvantage()]
)
def test_products_of_pairs_have_the_density_of_their_cells(model):
    rng = np.random.default_rng(2)
    wins, ties = rng.poisson(9.0, (2, 70, 70))
    for counts in (wins, ties):
        np.fill_diagonal(counts, 0)
    duels = Duels.from_wins(wins, ties=np.triu(ties) + np.triu(ties).T, tie_rule="keep")
    density = linear_predictor(model, model.cells(duels))
    x, phi = rng.normal(size=(5, density.size)), rng.normal(size=(5, len(density.hypers)))
    wanted = density.values(x, phi)
    assert density._pairs is not None
    by_pairs = density.log_prior(x, phi) + density._sum_by_pairs(x)
    np.testing.assert_allclose(by_pairs, wanted, rtol=1e-12)
    tie = np.full(5, 0.5)
    for far in (60 * x, np.where(np.arange(density.size) == 3, np.nan, x)):
        assert density._pairs.summed(far[:, : density.n_coefficients], tie) is None
        assert density._sum_by_pairs(far) is None
        np.testing.assert_allclose(density.values(far, phi), density.batch(far, phi)[0], rtol=1e-12)
