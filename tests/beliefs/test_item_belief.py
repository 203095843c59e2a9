"""Beliefs about items before the first pull."""

import numpy as np
import pytest

from bayesduel.beliefs.item_belief import WINDOW, Counts, ItemSet, Logistic

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
