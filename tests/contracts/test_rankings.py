"""Rankings through every consumer of a log or a fit: an answer, or a statistician's reason."""

import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.criticism.calibration import held_out
from bayesduel.models import BradleyTerry, Covariates, PlackettLuce, Scores

ARMS = list("abcdef")
ITEMS = bd.read_items(pd.DataFrame({"item": ARMS, "u": np.arange(6.0), "v": [0, 1, 0, 2, 1, 0]}))
KINDS = {
    "full": lambda order: order,
    "partial": lambda order: [*order[:2], order[2:]],
    "best": lambda order: [order[0], order[1:]],
    "best and worst": lambda order: [order[0], order[1:-1], order[-1]],
}
WORTH = {"scores": Scores(), "items": Covariates(ITEMS, item_effect=False), "flat": Scores(np.inf)}


FAST = [("full", "scores"), ("best", "items"), ("best and worst", "flat")]  # covers either
CASES = [
    pytest.param(kind, worth, marks=[] if (kind, worth) in FAST else pytest.mark.slow)
    for kind in KINDS
    for worth in WORTH
]


def rankings(kind, n=40, seed=4):
    rng, score = np.random.default_rng(seed), np.linspace(0.8, -0.8, 6)
    orders = []
    for _ in range(n):
        shown = rng.permutation(6)[: rng.integers(4, 7)]
        order = shown[np.argsort(-(score[shown] + rng.gumbel(size=len(shown))))]
        orders.append(KINDS[kind]([ARMS[k] for k in order]))
    return bd.Rankings.from_orders(orders)


@pytest.fixture(scope="module")
def fits():
    made = {}

    def fit_of(kind, worth):
        if (kind, worth) not in made:
            log = rankings(kind)
            made[kind, worth] = log, bd.fit(log, PlackettLuce(WORTH[worth]), draws=400, chains=2)
        return made[kind, worth]

    return fit_of


@pytest.mark.parametrize(("kind", "worth"), CASES)
@pytest.mark.sampled(3)
def test_every_question_of_a_fit(fits, tmp_path, kind, worth):
    log, fit = fits(kind, worth)
    assert (
        fit.attrs["method"] == "laplace"
        and "was checked and is accurate" in fit.attrs["method_reason"]
    )
    winners = bd.winners(fit)
    assert set(winners["arm"].values) == set(ARMS)
    assert "places within one ranking are not" in winners.attrs["dependence"]
    assert f"{log.n_rankings} rankings" in winners.attrs["model_reasons"]
    told = bd.predict(fit, "a", "f")
    assert float(told["win"] + told["loss"]) == pytest.approx(1) and float(told["win"]) > 0.5
    assert set(bd.top_k(fit, 2).members.index) == set(ARMS)
    assert len(bd.next_pairs(fit, 2)) == 2 and len(bd.duels_to_decide(fit)) == 5
    assert set(bd.scores(fit).index) == set(ARMS)
    assert fit["log_likelihood"]["place"].sizes["ranking"] == 40
    if worth != "flat":
        assert len(bd.sensitivity(fit))
    fit.to_netcdf(tmp_path / "fit.nc")
    back = bd.load(tmp_path / "fit.nc")
    assert back.duel.model.settings == fit.duel.model.settings
    assert bd.winners(back).attrs["verdict"] == winners.attrs["verdict"]


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[] if k == "full" else pytest.mark.slow) for k in KINDS]
)
def test_a_report_is_written(fits, tmp_path, kind):
    log, fit = fits(kind, "scores")
    for given in (log, fit) if kind == "partial" else (fit,):
        page = bd.report(given, tmp_path / "page.html").read_text(encoding="utf-8")
        assert "Plackett-Luce" in page and "Not computed for rankings" in page
        assert f"{log.n_rankings} rankings" in page
        assert "first won every decisive duel" not in page


@pytest.mark.slow
def test_the_engine_agrees_with_nuts():
    log = rankings("best and worst")
    one, other = (bd.fit(log, PlackettLuce(), m, draws=2000, chains=2) for m in ("auto", "pymc"))
    for name in ("score", "scale"):
        mean = [fit["posterior"][name].mean(("chain", "draw")) for fit in (one, other)]
        spread = other["posterior"][name].std(("chain", "draw"))
        assert float((np.abs(mean[0] - mean[1]) / spread).max()) < 0.2


def test_two_learned_scales_are_left_to_nuts():
    model = PlackettLuce(Covariates(ITEMS))
    assert len(model.scales) < 2 or "two scales" in model.why_not("laplace")
    assert not PlackettLuce().why_not("laplace") and model.why_not("sparse")


@pytest.mark.slow
def test_it_is_calibrated_on_a_small_design():
    tree = bd.calibrate(PlackettLuce(), rankings("partial", n=8), n=40, draws=200, seed=2)
    assert tree.attrs["p_value"] > 1e-3 and tree.attrs["n_refused"] == 0


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda log, fit: bd.check(log), "places of one ranking are not independent"),
        (lambda log, fit: bd.health(log), "places of one ranking are not independent"),
        (lambda log, fit: bd.compare_models(log), "places of one ranking are not independent"),
        (lambda log, fit: bd.judge_agreement(log), "places of one ranking are not independent"),
        (lambda log, fit: bd.check_groups(fit, log, "group"), "places of one ranking"),
        (lambda log, fit: bd.posterior_predictive(fit), "rankings are not independent duels"),
        (lambda log, fit: bd.check_margins(fit), "should be of a model of margins"),
        (lambda log, fit: bd.prior_predictive(PlackettLuce(), log), "design should be of duels"),
        (lambda log, fit: bd.fit(log, BradleyTerry()), "places of one ranking are not"),
        (lambda log, fit: bd.fit(log, bd.DefaultModel("davidson")), "places of one ranking are"),
        (lambda log, fit: bd.fit(log, bd.DefaultModel(side_advantage=True)), "has no sides"),
        (lambda log, fit: bd.fit(fit.duel.arms, PlackettLuce()), "see bayesduel.read_rankings"),
        (lambda log, fit: held_out(log, PlackettLuce()), "places of one ranking are not"),
        (lambda log, fit: bd.predict(fit, "a", "b", judge="x"), "does not depend on 'judge'"),
        (lambda log, fit: bd.predict(fit, "a", "b", side_advantage=True), "has learned a side adv"),
        (lambda log, fit: bd.sources(fit), "Sources"),
        (
            lambda log, fit: bd.Study(arms=ARMS, model=PlackettLuce()),
            "should be a model of duels, .* got plackett-luce",
        ),
        (lambda log, fit: bd.coefficients(fit), ""),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(fits, ask, words):
    log, fit = fits("full", "scores")
    if not words:
        assert ask(log, fit) is not None
        return
    with pytest.raises((TypeError, ValueError), match=words):
        ask(log, fit)


def test_the_command_line_recognises_rankings(tmp_path):
    from bayesduel.cli import main

    path = tmp_path / "log.csv"
    order = [[ARMS[k] for k in log.arm[here]] for log in [rankings("full")] for here in log.slices]
    pd.DataFrame({"ranking": [" > ".join(one) for one in order]}).to_csv(path, index=False)

    def run(*args):
        return CliRunner().invoke(main, [*map(str, args)])

    told = run("winners", path, "--draws", 400)
    assert told.exit_code == 0 and "places within one ranking" in " ".join(told.stdout.split())
    assert run("top-k", path, "--k", 2, "--draws", 400).exit_code == 0
    assert run("fit", path, "-o", tmp_path / "fit.nc", "--draws", 400).exit_code == 0
    assert run("predict", tmp_path / "fit.nc", "a", "b").exit_code == 0
    for args, words in [
        (("check", path), "not independent duels"),
        (("winners", path, "--side-advantage"), "a ranking has no sides"),
        (("winners", path, "--model", "davidson"), "not independent duels"),
        (("winners", path, "--check"), "not independent duels"),
        (("health", path), "not independent duels"),
    ]:
        told = run(*args)
        assert told.exit_code and words in " ".join(told.stderr.split()), args


def test_the_command_line_takes_judges_of_rankings(tmp_path):
    from bayesduel.cli import main

    path = tmp_path / "log.csv"
    who = [f"p{k % 8}" for k in range(40)]
    order = [" > ".join("abc"[(j + k * k) % 3] for j in range(3)) for k in range(40)]
    pd.DataFrame({"order": order, "who": who, "at": who}).to_csv(path, index=False)

    def run(*args):
        told = CliRunner().invoke(main, [*map(str, args), "--draws", "400"])
        return told, " ".join(told.stdout.split()), " ".join(told.stderr.split())

    told, page, said = run("winners", path)
    assert told.exit_code == 0 and "Rankings are taken as independent" in page
    assert "not used: who (8 values in 40 rows; --judge who?)" in said
    for option, name in (("--judge", "judge"), ("--group", "group")):
        told, page, said = run("winners", path, option, "who", "--keep", "at")
        assert told.exit_code == 0 and f"cluster-robust by {name} (8 clusters" in page
    told, page, said = run("winners", path, "--ties", "half")
    assert told.exit_code == 2 and "--ties cannot be used with this log: it is of rankings" in said
    told, page, said = run("winners", path, "--judge", "whom")
    assert told.exit_code and "no column 'whom' for judge" in said
    for command in ("judges", "audit"):
        told = CliRunner().invoke(main, [command, str(path), "--judge", "who"])
        assert told.exit_code and "got" in told.stderr


def test_a_frame_of_rankings_stands_for_a_log():
    frame = pd.DataFrame({"order": ["a > b > c", "b > a > c", "a > c > b"] * 5})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "plackett-luce" in bd.winners(frame).attrs["model"]
        assert bd.fit(frame, draws=400).attrs["n_rankings"] == 15
