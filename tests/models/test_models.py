"""Models: priors mean what the docstrings say, and the two forms of each link agree."""

import numpy as np
import pymc as pm
import pytest
from pytensor.compile.mode import Mode
from scipy.special import expit, ndtr

from bayesduel.data.duels import Duels
from bayesduel.models import MODELS, BradleyTerry, Davidson, PreferenceMatrix, Thurstone, named

PLAIN = Mode("py", None)  # no compiler: each graph draws a few seconds at most
DRAWS, MANY = 5_000, 20_000
ALL = [BradleyTerry(), Thurstone(), Davidson(), PreferenceMatrix(), BradleyTerry(scale=1.0)]


def small_log() -> Duels:
    rng = np.random.default_rng(4)
    wins = rng.integers(0, 9, (5, 5))
    np.fill_diagonal(wins, 0)
    ties = np.triu(rng.integers(0, 4, (5, 5)), 1)
    return Duels.from_wins(wins, ["a", "b", "c", "d", "e"], ties=ties + ties.T)


@pytest.fixture(scope="module")
def prior():
    """Prior and prior predictive draws of a model on the small log, drawn once a model."""
    seen = {}

    def draw(model, n=DRAWS):
        if (model, n) not in seen:
            with model.build(small_log()):
                seen[model, n] = pm.sample_prior_predictive(
                    n, random_seed=11, compile_kwargs={"mode": PLAIN}
                )
        tree = seen[model, n]
        prior = {str(n): v.values[0] for n, v in tree["prior"].data_vars.items()}
        known = {n: v for n, v in prior.items() if n != "preference"}
        prior["preference"] = model.preference(known)
        by_model = tree["prior"].get("preference")
        if by_model is not None:
            np.testing.assert_allclose(by_model.values[0], prior["preference"], atol=1e-12)
        return prior, tree["prior_predictive"]["outcome"].values[0]

    return draw


def by_hand(model, draws):
    """Return P as the docstrings write it, from draws of the parameters."""
    if "theta" in draws:
        P = np.full((DRAWS, 5, 5), 0.5)
        for k, (i, j) in enumerate(zip(*np.triu_indices(5, 1), strict=True)):
            P[:, i, j], P[:, j, i] = draws["theta"][:, k], 1 - draws["theta"][:, k]
        return P
    apart = draws["score"][:, :, None] - draws["score"][:, None, :]
    if "tie" in draws:
        win, tie = np.exp(apart / 2), np.exp(draws["tie"])[:, None, None]
        return (win + tie / 2) / (win + 1 / win + tie)
    return expit(apart) if model.response.score_unit == "logits" else ndtr(apart)


SLOW = pytest.mark.slow


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "model",
    [
        pytest.param(m, marks=[] if isinstance(m, Davidson | PreferenceMatrix) else [SLOW])
        for m in ALL
    ],
    ids=repr,
)
def test_preference_is_what_the_docstrings_say(model, prior):
    draws, _ = prior(model)
    P = draws["preference"]
    np.testing.assert_allclose(by_hand(model, draws), P, atol=1e-12)
    np.testing.assert_allclose(P + P.swapaxes(1, 2), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(P, axis1=1, axis2=2), 0.5, atol=1e-12)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("model", ALL, ids=repr)
def test_outcome_probabilities_add_up_and_agree_with_preference(model, prior):
    draws, _ = prior(model)
    left, right = np.array([0, 3, 2, 4]), np.array([1, 1, 2, 0])
    parts = model.outcomes(draws, {"first": left, "second": right})
    np.testing.assert_allclose(sum(parts.values()), 1.0, atol=1e-12)
    points = parts["win"] + parts.get("tie", 0.0) / 2
    np.testing.assert_allclose(points, draws["preference"][:, left, right], atol=1e-12)


@pytest.mark.parametrize("tie", [-900.0, 0.0, 900.0])
@pytest.mark.parametrize("eta", [-3_000.0, 0.0, 3_000.0])
@pytest.mark.filterwarnings("error")
def test_outcomes_of_a_log_with_ties_are_finite_whatever_the_draw(eta, tie):
    """Of two judges, draws have one degree of freedom: some are this large."""
    parts = Davidson.response.outcome_probabilities(np.array([[eta]]), {"tie": [tie]}, None, None)
    weights = {"win": eta / 2, "tie": tie, "loss": -eta / 2}
    first = [weight == max(weights.values()) for weight in weights.values()]
    np.testing.assert_allclose(
        [parts[k].item() for k in weights], np.array(first) / sum(first), atol=1e-12
    )


@pytest.mark.parametrize("model", ALL, ids=repr)
def test_prior_predictive_outcomes_are_counts_with_the_stated_mean(model, prior):
    draws, outcome = prior(model)
    pairs = small_log().pairs()
    n = pairs.first_wins + pairs.second_wins + pairs.ties
    points = outcome[..., 0] + outcome[..., 2] / 2 if outcome.ndim == 3 else outcome
    assert ((points >= 0) & (points <= n)).all()
    # By symmetry the mean share is one half; the standard error over draws, at 5 sigma.
    share = points / n
    limit = 5 * share.std(axis=0) / np.sqrt(DRAWS)
    assert (abs(share.mean(axis=0) - 0.5) < limit).all()
    # Outcomes follow the drawn preference: their correlation is not by chance.
    P = draws["preference"][:, pairs.first, pairs.second]
    assert np.corrcoef(P[:, 0], share[:, 0])[0, 1] > 0.5


def outside(draws):
    P = draws["preference"][:, 0, 1]
    return np.mean((P < 0.05) | (P > 0.95))


def better_wins(draws):
    P = draws["preference"][:, 0, 1]
    return np.maximum(P, 1 - P).mean()


@pytest.mark.slow
def test_priors_mean_what_the_docstrings_say(prior):
    """Limits are the docstrings' rounding plus five standard errors (0.02 at 20,000 draws)."""
    assert abs(outside(prior(BradleyTerry(), MANY)[0]) - 1 / 5) < 0.02
    assert abs(better_wins(prior(BradleyTerry(scale=1.0), MANY)[0]) - 0.72) < 0.01
    assert abs(outside(prior(Thurstone(), MANY)[0]) - 1 / 5) < 0.025
    assert abs(better_wins(prior(Thurstone(scale=1.0), MANY)[0]) - 0.80) < 0.01
    assert abs(outside(prior(PreferenceMatrix(), MANY)[0]) - 1 / 12) < 0.02
    tie = 1 / (1 + 2 * np.exp(-prior(Davidson(), MANY)[0]["tie"]))
    np.testing.assert_allclose(np.quantile(tie, [0.05, 0.5, 0.95]), [0.02, 0.20, 0.75], atol=0.02)
    concentration = prior(PreferenceMatrix(), MANY)[0]["concentration"]
    np.testing.assert_allclose(np.quantile(concentration, [0.05, 0.95]), [0.8, 21], rtol=0.06)


def test_scores_are_centred_and_exchangeable(prior):
    score = prior(BradleyTerry(scale=1.0))[0]["score"]
    np.testing.assert_allclose(score.sum(axis=1), 0.0, atol=1e-10)
    covariance = np.cov(score.T)
    # Exact: I - 1/K; the standard error of an entry is about 1 / sqrt(DRAWS) = 0.014.
    np.testing.assert_allclose(covariance, np.eye(5) - 0.2, atol=0.05)


def test_dims_and_data_are_named():
    model = Davidson().build(small_log())
    assert {"arm", "opponent", "cell", "result"} <= set(model.coords)
    assert list(model.coords["arm"]) == ["a", "b", "c", "d", "e"]
    assert {"first", "second", "n", "counts"} <= {v.name for v in model.data_vars}


@pytest.mark.parametrize("settings", [{"scale": 0}, {"scale": -1.0}, {"scale": float("nan")}])
@pytest.mark.parametrize("name", ["bradley-terry", "thurstone", "davidson"])
def test_a_bad_scale_never_makes_a_model(name, settings):
    with pytest.raises(ValueError, match="scale should be > 0"):
        named(name, **settings)


def test_bad_types_and_names_are_refused():
    with pytest.raises(TypeError, match="scale should be None or a number"):
        BradleyTerry(scale="big")
    with pytest.raises(ValueError, match="concentration should be > 0 and finite"):
        PreferenceMatrix(concentration=np.inf)
    with pytest.raises(ValueError, match="model name should be one of bradley-terry"):
        named("elo")


def test_davidson_needs_ties_to_be_kept():
    wins = np.array([[0, 2], [1, 0]])
    halved = Duels.from_wins(wins, ties=np.array([[0, 1], [1, 0]]), tie_rule="half")
    with pytest.raises(ValueError, match="ties='keep'"):
        Davidson().build(halved)
    with pytest.raises(ValueError, match="scale should be finite when the log has no ties"):
        Davidson(scale=np.inf).build(Duels.from_wins(wins))


def test_every_model_is_listed_under_its_own_name():
    assert {name: named(name).name for name in MODELS} == {name: name for name in MODELS}


@pytest.mark.plain
@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Bradley-Terry", "bradley-terry"),
        ("bradley_terry+order", "bradley-terry + order"),
        ("BradleyTerry + order+time:3", "bradley-terry + order + time:3"),
        ("DAVIDSON", "davidson"),
        ("davidson + covariate:a+b", "davidson + covariate:a+b"),
        ("thurstone score", "thurstone-score"),
    ],
)
def test_a_model_is_named_with_any_capitals_spaces_and_hyphens(said, name):
    assert named(said) == named(name)
    assert named(said).name.startswith(name.partition(" ")[0])
