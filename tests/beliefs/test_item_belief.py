"""Beliefs about items before the first pull."""

import numpy as np
import pytest

from bayesduel.beliefs import item_belief
from bayesduel.beliefs.item_belief import WINDOW, Counts, ItemSet, Logistic, record_duel

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(("spec", "window", "known"), [(Logistic(), WINDOW, 7), (Counts(), 0, 0)])
def test_a_belief_has_the_documented_shapes_and_nothing_in_it(spec, window, known):
    belief = spec.init(ItemSet(np.asfortranarray(np.ones((7, 3))), np.ones(1), False))
    shapes = {
        "attributes": (7, 3), "values": (1,), "pulls": (7,), "successes": (7,),
        "rows": (window, 3), "tries": (window,), "paid": (window,), "row_of": (known,),
        "n_rows": (1,), "centre": (3,), "stiffness": (3, 3), "mode": (3,), "precision": (3, 3),
        "covariance": (3, 3), "last": (2,), "n_pulls": (1,), "due": (1,),
    }  # fmt: skip
    assert {name: getattr(belief, name).shape for name in shapes} == shapes
    for name in ("pulls", "successes", "rows", "tries", "paid", "n_rows", "centre", "mode"):
        assert not getattr(belief, name).any(), name
    assert not belief.n_pulls.any()
    assert (belief.row_of == -1).all()
    assert belief.last.tolist() == [-1, -1]


def test_the_prior_of_the_preference_vector_has_its_scale():
    belief = Logistic(scale=3.0).init(ItemSet(np.asfortranarray(np.eye(2)), np.ones(1), False))
    np.testing.assert_allclose(belief.covariance, 9 * np.eye(2))
    np.testing.assert_allclose(belief.precision, np.eye(2) / 9)
    np.testing.assert_allclose(belief.stiffness, np.eye(2) / 9)


def test_a_full_window_is_folded_into_the_prior(monkeypatch):
    """The next duel stands alone in the window, before the posterior of those in it."""
    monkeypatch.setattr(item_belief, "WINDOW", 4)
    items = np.random.default_rng(1).normal(size=(6, 2))
    belief = Logistic().init(ItemSet(np.asfortranarray(items), np.ones(1), False))
    for j in range(1, 5):
        record_duel(belief, 0, j, 1.0)
    assert belief.n_rows[0] == 4
    assert not belief.centre.any()
    record_duel(belief, 5, 0, 0.0)
    assert belief.n_rows[0] == belief.tries[0] == 1
    assert belief.paid[0] == 0
    np.testing.assert_array_equal(belief.rows[0], items[5] - items[0])
    p = 1 / (1 + np.exp(-(items[0] - items[1:5]) @ belief.centre))
    slope = (1 - p) @ (items[0] - items[1:5]) - belief.centre / 4
    np.testing.assert_allclose(slope, 0, atol=1e-8)
    p = 1 / (1 + np.exp(-(items[5] - items[0]) @ belief.mode))
    slope = -p * (items[5] - items[0]) - belief.stiffness @ (belief.mode - belief.centre)
    np.testing.assert_allclose(slope, 0, atol=1e-6)


@pytest.mark.parametrize("spec", [Logistic(), Counts()])
def test_a_self_duel_only_counts(spec):
    belief = spec.init(ItemSet(np.asfortranarray(np.eye(3)), np.ones(1), False))
    record_duel(belief, 2, 2, 1.0)
    assert belief.n_pulls[0] == 1
    assert belief.pulls.tolist() == [0, 0, 2]
    assert belief.successes.tolist() == [0, 0, 1]
    assert belief.n_rows[0] == 0
    assert not belief.mode.any()
