"""Generalizability: variance components, levels that stand out, and rounds that are predicted."""

import json
from itertools import combinations

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.criticism import calibration
from bayesduel.models import BradleyTerry, RandomEffects, ThurstoneScore

K, PROMPTS = 6, 24


def margins(seed=1):
    """Return margins of every pair on every prompt, (prompts, K, K), antisymmetric."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(0, 1.5, K) + rng.normal(0, 0.8, (PROMPTS, K))
    noise = rng.normal(0, 1.0, (PROMPTS, K, K))
    found = worth[:, :, None] - worth[:, None, :] + np.triu(noise, 1)
    return np.triu(found, 1) - np.swapaxes(np.triu(found, 1), 1, 2)


def by_hand(y):
    """Return the components of a balanced design by mean squares: arm, prompt, vote."""
    each = y.mean(axis=2)  # least squares scores of each prompt
    fitted = each[:, :, None] - each[:, None, :]
    pairs = np.triu_indices(K, 1)
    freedom = PROMPTS * (len(pairs[0]) - (K - 1))
    noise = ((y - fitted)[:, *pairs] ** 2).sum() / freedom
    mean = each.mean(axis=0)
    rest = ((each - mean) ** 2).sum() / ((K - 1) * (PROMPTS - 1))
    arms = PROMPTS * (mean**2).sum() / (K - 1)
    return np.array([(arms - rest) / PROMPTS, rest - noise / K, noise / 2])


@pytest.fixture(scope="module")
def found():
    y = margins()
    rows = [
        (f"a{i}", f"a{j}", y[p, i, j], f"p{p:02d}")
        for p in range(PROMPTS)
        for i, j in combinations(range(K), 2)
    ]
    left, right, margin, prompt = zip(*rows, strict=True)
    outcome = (np.sign(margin) + 1) / 2
    log = bd.Duels.from_votes(left, right, outcome, margin=margin, keep={"prompt": prompt})
    fit = bd.fit(log, ThurstoneScore() + RandomEffects("prompt"), draws=1000, clusters=False)
    return bd.generalizability(fit, cost=4.0, designs=[(10, 15), (40, 30)])


def test_components_are_those_of_mean_squares(found):
    table = found.components
    assert list(table.index) == ["arm", "prompt", "vote"]
    hand = by_hand(margins())
    np.testing.assert_allclose(table["variance"][1:], hand[1:], rtol=0.12)
    # The posterior of the arms' variance is of these arms: its mean adds their uncertainty.
    assert table["variance"]["arm"] == pytest.approx(hand[0], rel=0.12)
    assert table["share"].sum() == pytest.approx(1, abs=1e-9)
    assert (table["share_lower"] <= table["share"]).all()
    assert (table["share"] <= table["share_upper"]).all()
    assert list(table["levels"]) == [K, PROMPTS, K * (K - 1) / 2 * PROMPTS]
    classic = hand[0] / (hand[0] + hand[1] / PROMPTS + 2 * hand[2] / (K * PROMPTS))
    assert found.coefficient == pytest.approx(classic, abs=0.01)


def test_a_round_is_predicted_by_the_precision_of_a_balanced_design(found):
    """Against the generalised least squares of all scores and deviations."""
    arm, prompt, vote = found.components["variance"]
    known = arm * (1 / found.coefficient - 1)
    for row in found.designs.to_dict("records"):
        n, m = int(row["levels"]), int(row["votes"])
        graph = m / (2 * vote) / (K * (K - 1) / 2) * (K * np.eye(K) - 1)  # of one prompt
        inner = np.linalg.inv(graph + np.eye(K) / prompt)
        precision = n * (graph - graph @ inner @ graph)
        fresh = np.linalg.eigvalsh(precision)[1:]
        assert fresh == pytest.approx(fresh[0])
        variance = 1 / (1 / known + fresh[0])
        assert row["error"] == pytest.approx((2 * variance) ** 0.5)
        assert row["coefficient"] == pytest.approx(arm / (arm + variance))
    assert found.best == round((4.0 * (K - 1) * vote / prompt) ** 0.5)


def votes(n=3000, seed=2):
    """Return a log whose first prompt spreads the arms, and whose first judge turns them round."""
    rng = np.random.default_rng(seed)
    i, prompt, judge = rng.integers(0, K, n), rng.integers(0, 9, n), rng.integers(0, 5, n)
    j = (i + rng.integers(1, K, n)) % K
    score = np.linspace(-1, 1, K)
    slope = np.where(prompt == 0, 4.0, 1.0) - 2.0 * (judge == 0)
    won = rng.random(n) < 1 / (1 + np.exp(-slope * (score[i] - score[j])))

    def named(kind, codes):
        return [f"{kind}{c}" for c in codes]

    return bd.Duels.from_votes(
        named("a", i),
        named("a", j),
        won.astype(float),
        judge=named("j", judge),
        keep={"prompt": named("p", prompt)},
    )


def no_predictions(*args, **kwargs):
    raise ValueError("not asked for")


def test_levels_that_stand_out_are_named_on_the_page_too(tmp_path, monkeypatch):
    """The page leaves out predictions of held-out duels, for which it takes five more fits."""
    monkeypatch.setattr(calibration, "held_out", no_predictions)
    log = votes()
    model = BradleyTerry() + RandomEffects("judge") + RandomEffects("prompt")
    fit = bd.fit(log, model, draws=1000, clusters=False)
    found = bd.generalizability(fit)
    assert (found.facet, list(found.components.index)) == (
        "prompt",
        ["arm", "judge", "prompt", "vote"],
    )
    assert "Arms differ more than on average in prompt p0" in found.sentence
    assert "Scores correlate with the average scores below 0.5 in judge j0." in found.sentence
    assert found.levels.groupby("facet")["votes"].sum().to_dict() == {"judge": 3000, "prompt": 3000}
    more = found.designs.sort_values("total")["error"]
    assert more.iloc[-1] < more.iloc[0]
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["components"][0]["component"] == "arm"
    assert plain["levels"][0]["level"] == "j0"
    assert "component  levels" in repr(found)
    path = tmp_path / "page.html"
    bd.report(log, path, model=model, draws=200)
    text = path.read_text()
    assert 'id="generalizability"' in text
    assert "below 0.5 in judge j0." in text


def test_what_has_no_facets_is_refused():
    plain = bd.fit(bd.datasets.load("springall"), "bradley-terry", draws=100, chains=2)
    with pytest.raises(ValueError, match="fit should be of a model of scores with the term Random"):
        bd.generalizability(plain)
    fit = bd.fit(votes(200), BradleyTerry() + RandomEffects("prompt"), draws=100, chains=2)
    for wrong, message in (
        ({"facet": "judge"}, "facet should be .*prompt.*, got 'judge'"),
        ({"cost": 0}, "cost should be positive"),
        ({"ci_prob": 2}, "ci_prob should"),
        ({"designs": [(0, 3)]}, "levels of a design should"),
    ):
        with pytest.raises(ValueError, match=message):
            bd.generalizability(fit, **wrong)
