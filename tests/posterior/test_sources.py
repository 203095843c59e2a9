"""Sources: what votes of a machine are worth in votes of people, its agreement and its biases."""

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.criticism import calibration
from bayesduel.models import (
    BradleyTerry,
    Covariates,
    Davidson,
    SideAdvantage,
    Sources,
    ThurstoneScore,
)
from bayesduel.posterior.sources import _told, _worth
from bayesduel.reporting.fit import diagnostics

ARMS = [f"a{k:02d}" for k in range(12)]
KINDS = {  # slope and noise of a machine's scores, its left side, what it adds to the first arm
    "good": (1.3, 0.2, 0.0, 0.0),
    "useless": (0.0, 1.0, 0.0, 0.0),
    "left": (1.0, 0.2, 1.5, 0.0),
    "favours": (1.0, 0.2, 0.0, 3.0),
}


def votes(kind, people=300, machine=3000, seed=1):
    """Return a log of people and a machine, and the people's scores."""
    slope, noise, side, more = KINDS[kind]
    rng = np.random.default_rng(seed)
    score = rng.normal(size=len(ARMS))
    other = slope * score + noise * rng.normal(size=len(ARMS)) + more * (np.arange(len(ARMS)) == 0)
    rows = []
    for name, n, own, left in (("human", people, score, 0.0), ("gpt", machine, other, side)):
        i = rng.integers(0, len(ARMS), n)
        j = (i + rng.integers(1, len(ARMS), n)) % len(ARMS)
        won = rng.random(n) < 1 / (1 + np.exp(-(own[i] - own[j] + left)))
        rows += [
            (ARMS[a], ARMS[b], "left" if w else "right", name)
            for a, b, w in zip(i, j, won, strict=True)
        ]
    return pd.DataFrame(rows, columns=["left", "right", "outcome", "source"])


def opposed(table):
    """Return the log of a machine that says the opposite of what the machine of `table` says."""
    said = table["outcome"]
    other = said.map({"left": "right", "right": "left"})
    return table.assign(outcome=said.where(table["source"] == "human", other))


def fitted(table):
    duels = bd.read_duels(table, keep=["source"])
    model = BradleyTerry(Sources("source", "human") + SideAdvantage(by="source"))
    return bd.fit(duels, model, draws=1000)


@pytest.fixture(scope="module")
def found():
    logs = {kind: votes(kind) for kind in KINDS}
    logs["adversary"] = opposed(logs["good"])
    return {kind: bd.sources(fitted(log)) for kind, log in logs.items()}


def drawn_posterior(rng, n_arms=5, n_draws=3):
    """Return covariances of three sources, their votes' information and what these tell."""
    w = np.triu(rng.gamma(2, 3, (3, n_arms, n_arms)), 1)
    w += w.transpose(0, 2, 1)
    information = w.sum(2)[:, :, None] * np.eye(n_arms) - w
    sigma = np.array([[1.0, 0.9, -0.4], [0.9, 1.5, -0.5], [-0.4, -0.5, 0.7]])
    shrunk = rng.uniform(0.3, 1, (n_draws, 1, 1)) ** (1 - np.eye(3)) * sigma
    return shrunk, information, np.einsum("skl,sl->sk", information, rng.normal(size=(3, n_arms)))


def exact(sigma, information, told, of):
    """Return mean and covariance of the scores of sources in a row, given each sigma."""
    n_arms = information.shape[1]
    within = np.linalg.inv(sigma[..., of, :][..., of])
    size = len(of) * n_arms
    precision = np.einsum("...st,kl->...sktl", within, np.eye(n_arms))
    precision = precision.reshape(*sigma.shape[:-2], size, size)
    for place, s in enumerate(of):
        here = slice(place * n_arms, (place + 1) * n_arms)
        precision[..., here, here] += information[s]
    covariance = np.linalg.inv(precision)
    return covariance @ told[of].ravel(), covariance


def test_worth_is_the_number_of_votes_with_the_same_variance():
    """Against the joint precision of all scores; the covariance of the sources is not known."""
    sigma, information, told = drawn_posterior(np.random.default_rng(4))
    counts = np.array([200, 5000, 70])
    worth, n_arms = _worth(sigma, information, told, 0, counts), information.shape[1]
    centre = np.eye(n_arms) - 1 / n_arms
    assert np.isnan(worth[0])
    for s in (1, 2):
        given = [exact(one, information, told, [0, s]) for one in sigma]
        means = np.array([mean[:n_arms] for mean, _ in given]) @ centre
        within = np.mean([np.trace(centre @ c[:n_arms, :n_arms]) for _, c in given])
        pairs = n_arms * (n_arms - 1) / 2
        laplacian = n_arms * centre / pairs * np.trace(information[0]) / 2 / counts[0]  # of a vote
        prior = np.eye(n_arms) / sigma[:, 0, 0].mean()
        known = prior + information[0] + worth[s] * laplacian
        alone = np.trace(centre @ np.linalg.inv(known))
        assert alone == pytest.approx(within + means.var(axis=0).sum(), rel=1e-8)
    sure = _worth(sigma[:1], information, told, 0, counts)
    doubted = _worth(
        np.concatenate([sigma[:1], sigma[:1] * np.array([[1, -1, 1], [-1, 1, -1], [1, -1, 1]])]),
        information,
        told,
        0,
        counts,
    )
    assert doubted[1] < sure[1] and doubted[2] == pytest.approx(sure[2])


def test_draws_say_what_the_votes_told():
    """Whatever the covariances, precise or not, of which there are many."""
    rng = np.random.default_rng(5)
    sigma, information, told = drawn_posterior(rng, n_draws=20_000)
    mean, covariance = exact(sigma, information, told, [0, 1, 2])
    noise = rng.normal(size=(*mean.shape, 1))
    scores = mean + (np.linalg.cholesky(covariance) @ noise)[..., 0]
    found = _told(np.reshape(scores, (len(sigma), 3, -1)), sigma, information)
    np.testing.assert_allclose(found, told, atol=0.04 * np.abs(told).max())


@pytest.mark.slow
def test_correlation_and_worth(found):
    table = {kind: one.table.loc["gpt"] for kind, one in found.items()}
    assert table["good"]["correlation_lower"] > 0.5 > 0 > table["adversary"]["correlation_upper"]
    assert table["useless"]["correlation_lower"] < 0 < table["useless"]["correlation_upper"]
    for kind in ("good", "adversary", "left"):
        assert table[kind]["worth"] > 100 > 20 > table["useless"]["worth"]
    # A source that is always wrong is as useful; its worth, of 200 draws, has an error of some 5 %.
    assert table["adversary"]["worth"] == pytest.approx(table["good"]["worth"], rel=0.2)
    for of, mirrored in (("", ""), ("_lower", "_upper"), ("_upper", "_lower")):
        right = table["good"][f"correlation{of}"]
        wrong = table["adversary"][f"correlation{mirrored}"]
        assert wrong == pytest.approx(-right, abs=0.1)
    for one in found.values():
        assert one.table["votes"].to_dict() == {"gpt": 3000, "human": 300}
        human = one.table.loc["human"]
        assert human["correlation"] == pytest.approx(1) and np.isnan(human["worth"])


def test_biases(found):
    left = {kind: one.table.loc["gpt"] for kind, one in found.items()}
    assert left["left"]["left"] == pytest.approx(1.5, abs=0.2)
    assert "favours the left side by 1.4 logits" in found["left"].sentence
    assert "favours" not in found["good"].sentence
    arms = found["favours"].arms.set_index("arm")
    assert arms["difference"].idxmax() == "a00" and arms.loc["a00", "lower"] > 0
    assert "a00 (by " in found["favours"].sentence
    assert ") stands higher with it than with human" in found["favours"].sentence
    assert found["favours"].sentence.startswith("3,000 votes of gpt are worth ")


def test_what_is_no_fit_of_sources_is_refused(rock_fit):
    with pytest.raises(ValueError, match="fit should be of a model with the term Sources"):
        bd.sources(rock_fit)


@pytest.fixture(scope="module")
def rock_fit():
    return bd.fit(bd.datasets.load("springall"), "bradley-terry", draws=100, chains=2)


def no_predictions(*args, **kwargs):
    raise ValueError("not asked for")


@pytest.mark.slow
def test_command_and_page(tmp_path, monkeypatch):
    """The page leaves out predictions of held-out duels, for which it takes five more fits."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(calibration, "held_out", no_predictions)
    votes("left", 200, 400).to_csv("votes.csv", index=False)
    term = ["--term", "sources:source=human"]
    refused = CliRunner().invoke(main, ["sources", "votes.csv"])
    assert refused.exit_code == 2 and "--term sources:COLUMN=TARGET" in refused.stderr
    said = CliRunner().invoke(main, ["sources", "votes.csv", *term, "--json"])
    found = json.loads(said.stdout)
    assert found["target"] == "human" and found["table"][0]["source"] == "gpt"
    assert found["table"][0]["left_lower"] > 0.5  # an advantage each, as sides have a meaning
    shown = CliRunner().invoke(main, ["sources", "votes.csv", *term])
    assert "400 votes of gpt are worth" in " ".join(shown.stdout.split())
    page = CliRunner().invoke(main, ["report", "votes.csv", *term, "-o", "page.html"])
    assert page.exit_code == 0, page.stderr
    text = (tmp_path / "page.html").read_text()
    assert "votes of gpt are worth" in text and "k-hat is nan" not in text


def test_a_certificate_without_importance_weights_is_no_fault(rock_fit):
    """Of many coefficients draws are certified by Gibbs sampling: no weight has a number."""
    fit = rock_fit.copy()
    for short in ("", "means of the chain are apart"):
        fit.attrs |= {"khat": float("nan"), "shortfall": short}
        rows = {name: good for name, _, _, good in diagnostics(fit)}
        assert rows["certificate by Gibbs sampling"] == (not short)
        assert "Pareto k-hat" not in rows


BY_SOURCE = Sources("source", "human") + Covariates(["length"], by="source")


def liking(people=1500, machine=1500):
    """Return a log of a machine that likes long answers, and people who do not."""
    table = votes("good", people=people, machine=machine)
    rng = np.random.default_rng(5)
    table["length"] = rng.normal(size=len(table)) * 2
    pull = np.where(table["source"] == "gpt", 0.5, -0.2) * table["length"]
    turned = rng.random(len(table)) < np.tanh(np.abs(pull) / 2)
    table.loc[turned, "outcome"] = np.where(pull[turned] > 0, "left", "right")
    return bd.read_duels(table, keep=["source"], covariates=["length"])


@pytest.mark.slow
def test_covariates_have_effects_by_source():
    fit = bd.fit(liking(), BradleyTerry(BY_SOURCE), draws=1000)
    found = bd.coefficients(fit)
    assert found.loc["gpt: length", "lower"] > 0.2 and found.loc["human: length", "upper"] < 0
    rows = pd.DataFrame({"left": "a00", "right": "a01", "length": [0.0, 3.0, 3.0]})
    chance = bd.predict(fit, rows.assign(source=[None, "human", "gpt"]))["win"].to_numpy()
    assert chance[1] < chance[0] < chance[2]


@pytest.mark.slow
def test_the_advantage_by_source_of_many_duels_at_once():
    fit = fitted(votes("left"))
    rows = pd.DataFrame({"left": "a00", "right": "a01", "source": ["human", "gpt"] * 20})
    chance = bd.predict(fit, rows, side_advantage=True)["win"].to_numpy().reshape(20, 2)
    few = bd.predict(fit, rows[:2], side_advantage=True)["win"].to_numpy()
    np.testing.assert_allclose(chance, np.tile(few, (20, 1)))


@pytest.mark.parametrize(
    ("asked", "neutral"),
    [  # what is not said and is a number is 0
        ({"length": 1.0, "half": "h0"}, {"length": 1.0, "lists": 0.0, "half": "h0"}),
        ({"half": "h0"}, {}),
        ({"side_advantage": True, "half": None}, {}),
        ({"length": 1.0, "half": None}, {}),
        ({"side_advantage": True}, None),  # and whose they are is said
        ({"lists": 1.0}, None),
        ({"side_advantage": True, "lists": 1.0}, None),
    ],
)
@pytest.mark.parametrize("base", [BradleyTerry(), Davidson(), ThurstoneScore()])
@pytest.mark.sampled(3)
def test_what_differs_by_level_is_asked_of_a_level(base, asked, neutral):
    fit = halves(base + SideAdvantage(by="half") + Covariates(["length", "lists"], by="half"))
    if neutral is None:
        with pytest.raises(
            ValueError, match=r":half depends on 'half': say half=..., or half=None"
        ):
            bd.predict(fit, "a", "b", **asked)
    else:
        told = [float(bd.predict(fit, "a", "b", **said)["win"]) for said in (asked, neutral)]
        assert told[0] == told[1]
    moved = [{"length": 1.0}, {"lists": 1.0}, {"side_advantage": True}]
    chance = {float(bd.predict(fit, "a", "b", half="h1", **said)["win"]) for said in moved}
    assert len(chance | {float(bd.predict(fit, "a", "b")["win"])}) == 4


@cache
def halves(model):
    """Return a fit to a log of margins, which has two covariates and two halves."""
    rng = np.random.default_rng(0)
    margin = np.round(rng.standard_normal(60), 1)
    table = {
        "left": np.tile(["a", "b", "c"], 20),
        "right": np.tile(["b", "c", "a"], 20),
        "outcome": np.where(margin == 0, "tie", np.where(margin > 0, "left", "right")),
        "margin": margin,
        "half": np.repeat(["h0", "h1"], 30),
        "length": rng.standard_normal(60),
        "lists": rng.standard_normal(60),
    }
    log = bd.read_duels(table, keep=["half"], covariates=["length", "lists"])
    return bd.fit(log, model, method="laplace", draws=100)


@pytest.mark.filterwarnings("ignore:the log has covariates", "ignore:the Laplace draws")
@pytest.mark.parametrize("levels", [("human", "gpt"), ("a", "gpt", "human"), ("human", "z", "gpt")])
@pytest.mark.parametrize(
    ("term", "name"),
    [
        (SideAdvantage(by="source"), "order_by_source"),
        (Covariates(["length"], by="source"), "covariate_effect"),
    ],
)
@pytest.mark.sampled(6)
def test_a_source_is_the_same_to_all_that_read_it(term, name, levels):
    """In whatever order the levels are given, and whether or not the log has them all."""
    log = liking(people=60, machine=60)
    model = BradleyTerry(Sources("source", "human", levels=levels)) + term
    rng = np.random.default_rng(0)
    score = {level: rng.normal(size=len(ARMS)) for level in levels}
    slope = {level: rng.normal() for level in levels}
    drawn = {
        "score_by_source": np.array([[score[level] for level in levels]]),
        "score": score["human"][None],
        name: np.reshape([slope[level] for level in levels], (1, len(levels), -1)),
    }
    if name == "order_by_source":
        drawn[name] = drawn[name][..., 0]
    votes = log.votes
    code, known = votes.level("source")
    times = np.ones(len(code)) if name == "order_by_source" else votes.covariates[:, 0]
    expected = [
        score[known[s]][i] - score[known[s]][j] + slope[known[s]] * x
        for s, i, j, x in zip(code, votes.left, votes.right, times, strict=True)
    ]
    eta = model.eta(drawn, model.cells(log, each=True).data)
    np.testing.assert_allclose(eta[0], expected)
    assert list(model.build(log).coords["source"]) == list(levels)
    found = bd.sources(bd.fit(log, model, method="laplace", draws=100)).table["votes"]
    assert found.to_dict() == dict.fromkeys(levels, 0) | {"gpt": 60, "human": 60}


@pytest.mark.slow
def test_effects_by_source_are_those_of_nuts():
    duels = liking()
    found, same = (
        bd.coefficients(bd.fit(duels, BradleyTerry(BY_SOURCE), method, draws=1000))["coefficient"]
        for method in ("laplace", "pymc")
    )
    assert np.abs((same - found).iloc[:2]).max() < 0.02


def test_the_picture_names_the_arms_that_a_source_favours(found):
    ax = bd.plots.plot_sources(found["favours"])
    assert "a00" in {text.get_text() for text in ax.texts}
    assert {line.get_label() for line in ax.lines} >= {"gpt"}


@pytest.mark.slow
def test_errors_of_the_target_are_cluster_robust_as_said():
    """Votes copied four times in a group: the target's intervals are those of the originals."""
    once = votes("good", people=800, machine=1600)
    four = pd.concat([once.assign(group=[f"g{k}" for k in range(len(once))])] * 4)
    plain, copied = fitted(once), fitted(four)
    widths = {}
    for name, fit in (("model", copied), ("group", copied), ("once", plain)):
        table = bd.winners(fit, covariance="model" if name == "once" else name)
        widths[name] = float((table["win_rate_upper"] - table["win_rate_lower"]).mean())
    # The model takes copies for four times the votes: half the width. The prior moves either a bit.
    assert widths["model"] / widths["once"] == pytest.approx(0.5, abs=0.15)
    assert widths["group"] / widths["once"] == pytest.approx(1.0, abs=0.25)
