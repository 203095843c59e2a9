"""Frozen numbers: what the package computes today, as digests, to be kept by a refactoring.

Run ``python tests/frozen/make_frozen.py`` to write ``frozen.json`` anew (``--only TEXT``: only
items whose name contains TEXT are made again, the others stay). ``test_frozen.py`` computes every
item again and compares. Every name of the package is used in the ADAPTER section alone, so
that a renaming changes that section and nothing else. ``FROZEN_NAME`` there maps new names of
variables, columns and fields to those they had when the numbers were frozen.
"""

import argparse
import hashlib
import json
import re
import sys
import tempfile
import time
import warnings
from dataclasses import asdict, fields, is_dataclass
from functools import cache, partial
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import arviz_stats as azs
import numpy as np
import pandas as pd
import xarray as xr

# == ADAPTER: the only section that names bayesduel ============================================
import bayesduel as bd
from bayesduel import datasets, models, policies, preference, problems
from bayesduel.beliefs import KL, Laplace
from bayesduel.criticism.calibration import held_out as held_out_calibration
from bayesduel.policies.top_k import fit_margins, intransitivity, no_margins, record_margin
from bayesduel.reporting.attributes import analyse_attributes
from bayesduel.simulation.item_run import play_item_duels, play_pulls, play_sphere
from bayesduel.simulation.pair_run import play_pairs
from bayesduel.simulation.run import driver

# New name of a variable, column, field or group -> its name when the numbers were frozen.
FROZEN_NAME: dict[str, str] = {
    "criterion": "notion",
    "covariance": "errors",
    "ci_prob": "prob",
    "cycle_posterior": "belief",
    "cycle_posterior_by_model": "belief_by_model",
    "pair_duels": "duels",
    "log_likelihood_by_cell": "log_likelihood",
    "p_one_ranking_without_side_advantage": "p_one_ranking_without_order_effect",
    "side advantage": "left side",
}

fit_log = bd.fit
load, names_of_datasets = datasets.load, datasets.names
read_pulls = bd.read_pulls
from_votes = bd.Duels.from_votes
winners, coefficients, predict_items = bd.winners, bd.coefficients, bd.predict_items
predict, next_pairs, health_of = bd.predict, bd.next_pairs, bd.health
simulate, regret, success_rate = bd.simulate, bd.regret, bd.success_rate
opportunity_cost, success_difference = bd.opportunity_cost, bd.success_difference
named_problem = problems.named


def table_of_items(name):
    """Return the shipped attributes of a log as a table, indexed by item."""
    return pd.read_csv(files("bayesduel.data.datasets") / f"{name}_items.csv", index_col=0)


def read_items(table, **settings):
    """Return the items of a table, whether its labels are a column or its index."""
    named = table if table.index.name is None else table.reset_index()
    return bd.read_items(named, **settings)


POLICY_NAMES = {  # name in the JSON -> name now
    name: name for name in policies.__all__ if getattr(policies, name).setting != "margins"
}
PAIR_VARIANTS = {
    "RUCB-kl": lambda: policies.RUCB(belief=KL()),
    "CCB-kl": lambda: policies.CCB(belief=KL()),
    "ActionElimination-pair": lambda: policies.ActionElimination(reward="pair"),
    "PBR-borda": lambda: policies.PBR(criterion="borda"),
    "PBR-random-walk": lambda: policies.PBR(criterion="random_walk"),
    "POCOWISTA-transitive": lambda: policies.POCOWISTA(transitive=True),
    "SAVAGE-borda": lambda: policies.SAVAGE(criterion="borda"),
    "SAVAGE-condorcet": lambda: policies.SAVAGE(criterion="condorcet"),
    "SAVAGE-kemeny": lambda: policies.SAVAGE(criterion="kemeny"),
    "SAVAGE-slater": lambda: policies.SAVAGE(criterion="slater"),
    "SAVAGE-sampled": lambda: policies.SAVAGE(independence="sampled"),
    "SCB-epochs": lambda: policies.SCB(cache=False, sign_test="epochs"),
    "SupKLUCB-borda": lambda: policies.SupKLUCB(score="borda"),
    "UCB1-pair": lambda: policies.UCB1(reward="pair"),
}
SELECTION = {
    "POCBAm": lambda: policies.POCBAm(),
    "MLPOCBAm": lambda: policies.MLPOCBAm(),
    "HybridPOCBAm": lambda: policies.HybridPOCBAm(),
    "HybridPOCBAm-calibrated": lambda: policies.HybridPOCBAm(threshold="calibrated"),
    "HybridPOCBAm-posterior": lambda: policies.HybridPOCBAm(index="posterior"),
    "LaplaceAllocation": lambda: policies.LaplaceAllocation(),
    "LaplaceAllocation-residual": lambda: policies.LaplaceAllocation(residual="learned"),
    "PKG": lambda: policies.PKG(),
    "ActiveRanking": lambda: policies.ActiveRanking(),
    "QuickSelect": lambda: policies.QuickSelect(),
    "SelectTop": lambda: policies.SelectTop(),
    "Uniform": lambda: policies.Uniform(),
    "Uniform-model": lambda: policies.Uniform(by="model"),
    "PBR-borda": lambda: policies.PBR(criterion="borda"),
}
SCORE_LAYERS = ("bradley-terry", "davidson", "thurstone")


def policy_called(name):
    """Return the policy of that frozen name."""
    if name in PAIR_VARIANTS:
        return PAIR_VARIANTS[name]()
    return getattr(policies, POLICY_NAMES[name])()


def shows(policy):
    """Return how many items a policy shows, 0 for a policy of pairs."""
    return policy.shows if policy.setting == "items" else 0


def dts_by_model():
    return policies.DTS(belief=Laplace(models.BradleyTerry(), draws=100))


def plain_model(name, **settings):
    return models.named(name, **settings)


def side_advantage(base):
    return models.named(base) + models.SideAdvantage()


def margin_model(kind, side_advantage=False, **settings):
    kinds = {"score": models.ThurstoneScore, "perturbed": models.PerturbedThurstone}
    model = kinds[kind](**settings)
    prior = float("inf") if model.terms.flat else 1.0
    return model + models.SideAdvantage(prior) if side_advantage else model


def attribute_model(items, side_advantage=False, judge_effect=False, **settings):
    model = models.BradleyTerry(models.Covariates(items, **settings))
    if side_advantage:
        model = model + models.SideAdvantage(float("inf") if model.terms.flat else 1.0)
    return model + models.JudgeTastes() if judge_effect else model


def pull_model(items, **settings):
    return models.LogisticAttributes(items=items, **settings)


def judge_reliability(base="bradley-terry"):
    return models.named(base) + models.JudgeReliability()


def time_varying(base="bradley-terry", **settings):
    return models.named(base) + models.TimeVarying(**settings)


def blade_chest(base="bradley-terry", **settings):
    return models.named(base) + models.BladeChest(**settings)


def nested_layers():
    return models.Thurstone() + models.JudgeReliability() + models.SideAdvantage()


def play_out(policy, P, horizon, seed):
    """Return the wins and self-duels after `horizon` duels by the compiled driver."""
    policy = policy.for_horizon(max(horizon, 2))
    belief, memory = policy.belief.init(len(P)), policy.init(len(P))
    alone = np.zeros(len(P), np.int64)
    rng, coins = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    run = driver(play_pairs, policy.select, repeats=policy.repeats)
    run(belief, memory, np.ascontiguousarray(P), alone, 1, horizon, rng, coins)
    return {"wins": belief.wins, "self_duels": alone}


def play_items(policy, problem, horizon, seed):
    """Return what a policy of items knows after `horizon` steps, and what they were worth."""
    offer, sums = problem.offer, np.zeros(3)
    belief, memory = policy.belief.init(offer), policy.init(offer)
    facts = (problem.preference,) if offer.sphere else (problem.utility, problem.worth)
    rng, coins = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    loop = play_sphere if offer.sphere else (play_pulls if policy.shows == 1 else play_item_duels)
    driver(loop, policy.select)(belief, memory, *facts, sums, 1, horizon, rng, coins)
    best = np.asarray(policy.recommend(belief, memory), dtype=float)
    told = {"worth": sums[0], "paid": sums[1], "recommended": best}
    if not offer.sphere:
        told |= {"pulls": belief.pulls, "successes": belief.successes}
    return told


def items_problem(shown, n_arms=12, n_attributes=3, seed=4):
    family = problems.LogisticItems if shown == 1 else problems.LogisticDuels
    return family(n_arms=n_arms, n_attributes=n_attributes).draw(np.random.default_rng(seed))


def sphere_problem():
    return problems.SpherePulls(np.array([0.5, -1.0, 1.5]))


def score_problem(kind):
    """Return a problem of score duels: drawn afresh, uneven, or a fixed line of scores."""
    if kind == "line":
        score = np.arange(6.0)
        spread = 2.0 * (np.ones((6, 6)) - np.eye(6))
        return problems.ScoreDuels(score[:, None] - score, spread)
    make = {
        "drawn": problems.score_duels,
        "uneven": problems.uneven_duels,
        "perturbed": problems.perturbed_thurstone,
    }[kind]
    return problems.RandomProblem(n_arms=6, generator=make, name=kind)


def simulate_selection(named, problem, k, budget, **settings):
    return bd.simulate(named, problem, budget, k=k, **settings)


def asked_by_hand(policy, arms, outcome, n, seed):
    """Return the places of the pairs a study asks for, and its answer at the end."""
    study = bd.Study(arms=arms, policy=policy, stop=None, seed=seed)
    asked = []
    for step in range(n):
        ticket = study.ask()
        asked.append((arms.index(ticket.left), arms.index(ticket.right)))
        study.tell(ticket, "left" if outcome(*asked[-1], step) else "right")
    return {"asked": np.array(asked), "recommended": study.status().answer[0]}


def check_of(duels, **settings):
    """Return the numbers of a check as plain values."""
    return bd.check(duels, **settings).to_dict()


def compared(duels, named, **settings):
    """Return a comparison as plain values, and the mixture's mean preferences."""
    found = bd.compare_models(duels, named, **settings)
    mixed = np.concatenate(list(bd.preference_draws(found.stacked(draws=200))))
    told = {"table": found.table, "n_units": found.n_units, "pointwise": found.pointwise}
    return told | {"weights": found.weights, "stacked": mixed.mean(axis=0)}


def top_sets_of(fit, k):
    found = bd.top_k(fit, k)
    return {"sets": found.sets["probability"], "members": found.members, "n_sets": found.n_sets} | {
        "first": found.sets["arms"].iloc[0],
        "monte_carlo_error": found.monte_carlo_error,
    }


def checked_margins(fit, **settings):
    found = bd.check_margins(fit, **settings)
    names = ("table", "pairs", "density", "lower", "upper", "ordered")
    names += ("ordered_lower", "ordered_upper", "failed")
    return {name: getattr(found, name) for name in names}


def replicated_margins(fit, **settings):
    return bd.posterior_predictive(fit, **settings)["posterior_predictive"].dataset


def calibrated(duels, model, **settings):
    return asdict(held_out_calibration(duels, model, **settings))


def preferences_of(fit, covariance):
    """Return the mean and spread of the preference draws with a choice of errors."""
    draws = np.concatenate(list(bd.preference_draws(fit, covariance)))
    return {"mean": draws.mean(axis=0), "sd": draws.std(axis=0)}


def winners_with(fit, covariance):
    return winners(fit, covariance=covariance)


def coefficients_with(fit, covariance, share):
    return coefficients(fit, share, covariance=covariance)


def margin_statistics(problem_margins):
    """Enter (i, j, margin) rows; return fits by maximum likelihood and intransitivity indices."""
    rows, n_arms = problem_margins
    margins = no_margins(n_arms)
    for i, j, margin in rows:
        record_margin(margins, i, j, margin)
    told = {}
    for kind in ("common", "arm", "pair"):
        shrunk = {"shrinkage": 4.0} if kind == "pair" else {}
        found = fit_margins(margins, kind, **shrunk)
        told[f"{kind} score"], told[f"{kind} variance"] = found.score, found.variance
        told[f"{kind} log likelihood"] = found.log_likelihood
    for index in ("predictive", "posterior"):
        told[f"intransitivity {index}"] = intransitivity(margins, index)
    return told


def preference_facts(P):
    """Return what every function of a preference matrix says of `P`."""
    names = ["borda_scores", "copeland_scores", "random_walk_scores", "von_neumann", "smith_set"]
    names += ["kemeny", "slater", "cyclic_triads", "decided_triads", "condorcet_winner"]
    told = {name: getattr(preference, name)(P) for name in names}
    return told | {f"winner {n}": preference.winner_mask(P, n) for n in preference.CRITERIA}


def report_html(duels, path, **settings):
    return bd.report(duels, path, **settings).read_text(encoding="utf-8")


def attribute_html(duels, model, path, **settings):
    return bd.report(analyse_attributes(duels, model, **settings), path).read_text("utf-8")


def log_density(model, duels):
    """Return the free variables' start and the compiled log density of a model's PyMC graph."""
    built = model.build(duels)
    return built.initial_point(), built.compile_logp()


# == END OF ADAPTER ===========================================================================

HERE = Path(__file__).parent
STORE = HERE / "frozen.json"
DRAWS, SEED = 400, 7
HEAD, FEW = 12, 6  # values kept of an array; of an array that is not of the posterior
FAST: dict[str, Any] = {}  # name -> function without arguments
SLOW: dict[str, Any] = {}


# -- digests -----------------------------------------------------------------------------------


class Told(dict):
    """The digest of an array: not to be digested again."""


def number(value):
    """Return a float of ten significant digits; what is not finite as a word."""
    value = float(value)
    return float(f"{value:.10g}") if np.isfinite(value) else str(value)


def digest(value, head=HEAD):
    """Return a value as JSON: arrays by shape, mean, sd and a few values at fixed positions."""
    if isinstance(value, xr.DataTree):
        return {old(g): digest(value[g].dataset, head) for g in value.children}
    if isinstance(value, xr.Dataset):
        return {old(n): digest(v.to_numpy(), head) for n, v in value.data_vars.items()}
    if isinstance(value, pd.DataFrame):
        columns = {old(n): digest(value[n].to_numpy(), head) for n in value.columns}
        named = value.index.inferred_type == "string"
        index = value.index.map(old) if named else value.index
        return {"index": digest(index.to_numpy(), head)} | columns
    if isinstance(value, xr.DataArray | pd.Series):
        return digest(value.to_numpy(), head)
    if isinstance(value, Told):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, dict):
        return {old(k): digest(v, head) for k, v in value.items()}
    if value is None or isinstance(value, str | bool | int | np.bool_ | np.integer):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float | np.floating):
        return number(value)
    if isinstance(value, list | tuple) and any(isinstance(v, dict | list | tuple) for v in value):
        return [digest(v, head) for v in value[:10]]
    return digest_array(np.asarray(value), head)


def digest_array(array, head):
    if array.dtype.kind in "OUSM":
        words = [str(x) for x in array.ravel()]
        return Told(shape=list(array.shape), hash=hashed(words), first=words[:3])
    if array.ndim == 0:
        return number(array)
    told = Told(shape=list(array.shape))
    if array.dtype.kind in "bui" and array.size:
        told["hash"] = hashed(array.astype(np.int64).ravel().tolist())
    flat = array.astype(float).ravel()
    if flat.size > head:
        finite = flat[np.isfinite(flat)]
        if finite.size:
            told.update(mean=number(finite.mean()), sd=number(finite.std()))
        if finite.size < flat.size:
            told["finite"] = int(finite.size)
        flat = flat[np.linspace(0, flat.size - 1, head).astype(int)]
    told["values"] = [number(x) for x in flat]
    return told


def hashed(value):
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def old(name):
    return FROZEN_NAME.get(str(name), str(name))


def item(name, make, slow=False):
    """Enter an item; its name is the key in the JSON."""
    store = SLOW if slow else FAST
    assert name not in FAST and name not in SLOW, name
    store[name] = make


def compute(name):
    """Return the digest of one item, or the kind of its refusal."""
    make = FAST[name] if name in FAST else SLOW[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return digest(make())
        except (ValueError, TypeError) as error:
            return {"refused": type(error).__name__}


# -- logs --------------------------------------------------------------------------------------


@cache
def log(name):
    """Return a shipped log, a part of one ("tversky1969/s3"), or a simulated one."""
    if name in SIMULATED:
        return SIMULATED[name]()
    whole, _, part = name.partition("/")
    if part:
        by = {"tversky1969": "annotator", "icehockey": "conference"}[whole]
        return load(whole, by=by)[part]
    return load(whole)


def drawn_votes(n_arms, n, seed, judges=0, ties=0.0, spread=1.0):
    """Return left, right, outcome, judge and time of a random log with known scores."""
    rng = np.random.default_rng(seed)
    score = spread * np.linspace(-1, 1, n_arms)
    left = rng.integers(0, n_arms, n)
    right = (left + rng.integers(1, n_arms, n)) % n_arms
    judge = rng.integers(0, max(judges, 1), n)
    eta = (score[left] - score[right]) * np.where(judge % 4 == 3, 0.2, 1.2)
    outcome = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
    outcome[rng.random(n) < ties] = 0.5
    names = np.array([f"a{k}" for k in range(n_arms)])
    return names[left], names[right], outcome, [f"j{g:02}" for g in judge], rng.random(n)


def judged_log():
    """A log in which 30 judges vote repeatedly, three times on the same pair each."""
    left, right, outcome, judge, when = drawn_votes(6, 150, 3, judges=30, ties=0.15)
    again = [np.repeat(np.asarray(x), 3) for x in (left, right, outcome, judge, when)]
    return from_votes(*again[:3], judge=again[3], time=again[4])


def grouped_log():
    """A log in which each of 25 groups votes four times on each of its pairs."""
    left, right, outcome, group, _ = drawn_votes(5, 120, 13, judges=25)
    again = [np.repeat(np.asarray(x), 4) for x in (left, right, outcome, group)]
    return from_votes(*again[:3], group=again[3])


def tiny_log():
    """A tiny log with judges, times and ties, for models that are sampled."""
    left, right, outcome, judge, when = drawn_votes(4, 60, 11, judges=4, ties=0.1)
    return from_votes(left, right, outcome, judge=judge, time=when)


def cyclic_log():
    """Rock, paper, scissors and a fourth."""
    rows = [("r", "s"), ("s", "p"), ("p", "r"), ("r", "q"), ("s", "q"), ("p", "q")]
    left = [a for a, _ in rows for _ in range(12)]
    right = [b for _, b in rows for _ in range(12)]
    return from_votes(left, right, [float(k % 12 < 10) for k in range(72)])


def margin_log():
    """Five arms, 90 margins with side advantage, uneven noise and a few odd ones, none tied."""
    rng = np.random.default_rng(5)
    left = rng.integers(0, 5, 90)
    right = (left + rng.integers(1, 5, 90)) % 5
    score, noise = np.array([-1.0, -0.4, 0.1, 0.6, 1.2]), np.array([0.5, 0.7, 0.9, 1.2, 1.5])
    margin = score[left] - score[right] + 0.3
    margin += np.hypot(noise[left], noise[right]) * rng.standard_t(5, 90)
    names = np.array(list("vwxyz"))
    won = (margin > 0).astype(float)
    return from_votes(names[left], names[right], won, margin=np.round(margin, 3))


def separate_log():
    """Two components that never met."""
    left, right, outcome, *_ = drawn_votes(4, 40, 21)
    other = np.char.replace(np.concatenate([left, right]), "a", "b")
    return from_votes([*left, *other[:40]], [*right, *other[40:]], [*outcome, *(1 - outcome)])


SIMULATED = {
    "judged": judged_log,
    "grouped": grouped_log,
    "tiny": tiny_log,
    "cyclic": cyclic_log,
    "margins": margin_log,
    "separate": separate_log,
}
SHIPPED = tuple(sorted(names_of_datasets()))
PARTS = ("tversky1969/s1", "tversky1969/s5")
WITH_ITEMS = ("celebrities", "chameleons", "heaviness", "springall", "tversky1969")
MARGINS = ("icehockey", "icehockey/NC", "margins")


@cache
def items_of(name):
    """Return the attributes of a shipped log; words that differ for every item are left out."""
    if name == "tversky1969":
        return read_items(table_of_items(name), columns=["payoff"])
    return read_items(table_of_items(name))


def some_new_items(name):
    """Return the first three items again under other labels, as a table."""
    return table_of_items(name).iloc[:3].rename(index=lambda x: f"new {x}")


@cache
def attributed_log(judges, n=80):
    """Return duels by judges of eight items with two attributes, and the items."""
    rng = np.random.default_rng(31)
    table = pd.DataFrame(rng.normal(size=(8, 2)), columns=["x", "y"])
    table.insert(0, "item", [f"i{k}" for k in range(8)])
    items = read_items(table)
    left = rng.integers(0, 8, n)
    right = (left + rng.integers(1, 8, n)) % 8
    judge = rng.integers(0, judges, n)
    x = table["x"].to_numpy()
    eta = (x[left] - x[right]) * (judge % 5 - 1.0)
    won = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
    labels = np.array(items.labels)
    return from_votes(labels[left], labels[right], won, judge=[f"j{g}" for g in judge]), items


@cache
def pulls_of(name):
    """Return a log of pulls: each arm shown once in each duel, paid where it won."""
    duels, rows = log(name), []
    for i, j, wins, losses, _ in zip(*duels.pairs(), strict=True):
        rows += [(duels.arms[i], 1.0), (duels.arms[j], 0.0)] * int(wins)
        rows += [(duels.arms[i], 0.0), (duels.arms[j], 1.0)] * int(losses)
    return read_pulls(pd.DataFrame(rows, columns=["item", "reward"]))


# -- (a) fits ----------------------------------------------------------------------------------

FITS: dict[str, Any] = {}  # name after "fit/" -> function that returns log and model


def fit_item(name, make, slow=False):
    FITS[name] = make
    item(f"fit/{name}", lambda: told_fit(fitted(name)), slow)


@cache
def fitted(name):
    """Return the fit of that name; what is refused is refused again."""
    duels, model = FITS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit_log(duels, model, method="laplace", draws=DRAWS, seed=SEED)


def posterior_of(fit):
    """Return the draws of the sampler, as the posterior was, with the preference matrix of these.

    A fit now keeps that in a group of its own, and robust draws in its posterior.
    """
    own = fit.duel.sampled
    if "preference" not in fit.children:
        return own
    kept = fit["preference"].dataset
    P = fit.duel.model.preference(fit.duel.posterior("model"))
    matrix = kept["preference"].copy(data=P.reshape(kept["preference"].shape))
    return own.merge(kept.assign(preference=matrix))


def told_fit(fit):
    """Return the groups of a fit and its attributes that are numbers."""
    told = {"khat": number(fit.attrs["khat"]), "ess": number(fit.attrs["importance_ess"])}
    for group in fit.children:
        if old(group) == "posterior":
            told["posterior"] = digest(posterior_of(fit))
        elif old(group) in ("log_likelihood", "laplace", "clusters", "parameter_clusters"):
            told[old(group)] = digest(fit[group].dataset, FEW)
    return told


for data in (*SHIPPED, *PARTS, "judged", "separate"):
    for kind in ("bradley-terry", "thurstone", "davidson", "preference-matrix"):
        fit_item(f"{kind}/{data}", lambda d=data, k=kind: (log(d), plain_model(k)))
    for base in SCORE_LAYERS:
        fit_item(f"order-effect({base})/{data}", lambda d=data, b=base: (log(d), side_advantage(b)))

for kind in SCORE_LAYERS:
    fit_item(f"{kind}/grouped", lambda k=kind: (log("grouped"), plain_model(k)))

for data in ("springall", "judged"):
    for kind in SCORE_LAYERS:
        for scale in (1.0, np.inf):
            fit_item(
                f"{kind} scale={scale}/{data}",
                lambda d=data, k=kind, s=scale: (log(d), plain_model(k, scale=s)),
                slow=kind != "bradley-terry",
            )
    fit_item(
        f"preference-matrix concentration=2/{data}",
        lambda d=data: (log(d), plain_model("preference-matrix", concentration=2.0)),
    )

MARGIN_MODELS = {
    "score common": ("score", {}),
    "score common order": ("score", {"side_advantage": True}),
    "score common flat": ("score", {"scale": np.inf}),
    "score arm": ("score", {"variances": "arm"}),
    "score arm order": ("score", {"variances": "arm", "side_advantage": True}),
    "score pair": ("score", {"variances": "pair"}),
    "score pair order": ("score", {"variances": "pair", "side_advantage": True}),
    "score degrees=5": ("score", {"degrees": 5.0, "side_advantage": True}),
    "score degrees learned": ("score", {"degrees": "learned"}),
    "score arm degrees learned": ("score", {"variances": "arm", "degrees": "learned"}),
    "perturbed common": ("perturbed", {}),
    "perturbed common order": ("perturbed", {"side_advantage": True}),
    "perturbed arm": ("perturbed", {"variances": "arm"}),
}
LARGE = ("score common order", "score pair order", "perturbed common")  # of ice hockey
# Each model and log has a graph of its own, which every process loads: these only where asked.
LESS = ("score common", "score common flat", "score arm", "score pair", "score degrees learned")
LESS += ("score arm degrees learned", "perturbed common order", "perturbed arm")
for data in MARGINS:
    for kind, (family, settings) in MARGIN_MODELS.items():
        if data == "margins" or kind in LARGE:
            fit_item(
                f"thurstone {kind}/{data}",
                lambda d=data, f=family, s=settings: (log(d), margin_model(f, **s)),
                slow=kind in LESS or (data == "icehockey" and kind != "score common order"),
            )

ATTRIBUTE_SETTINGS = {
    "plain": {"item_effect": False},
    "order": {"item_effect": False, "side_advantage": True},
    "item effect": {"item_effect": True},
    "item effect order": {"item_effect": True, "side_advantage": True},
    "flat": {"item_effect": False, "scale": np.inf},
}
for data in WITH_ITEMS:
    for kind, settings in ATTRIBUTE_SETTINGS.items():
        fit_item(
            f"attributes {kind}/{data}",
            lambda d=data, s=settings: (log(d), attribute_model(items_of(d), **s)),
        )
    for kind, scale in (("normal", 1.0), ("flat", np.inf)):
        fit_item(
            f"logistic-attributes {kind}/{data}",
            lambda d=data, s=scale: (pulls_of(d), pull_model(items_of(d), scale=s)),
        )


def by_many_judges(**settings):
    """Return a log whose judges vote repeatedly, and a model of attributes with these settings."""
    duels, items = attributed_log(30, 400)
    return duels, attribute_model(items, **settings)


for kind in ("plain", "item effect order"):
    fit_item(f"attributes {kind}/judges", partial(by_many_judges, **ATTRIBUTE_SETTINGS[kind]))

# -- (b) policies and selection ----------------------------------------------------------------

STEPS = 200
for key in (*POLICY_NAMES, *PAIR_VARIANTS):
    if getattr(policy_called(key), "reads", "") == "scores":
        continue  # choices between nearly equal gains; tests/contracts holds their traces
    if shows(policy_called(key)):
        shown = shows(policy_called(key))
        for seed in (4, 5):
            item(
                f"policy/{key}/items {seed}",
                lambda k=key, n=shown, s=seed: play_items(
                    policy_called(k), items_problem(n, seed=s), STEPS, seed=3
                ),
            )
        if shown == 1:
            item(
                f"policy/{key}/sphere",
                lambda k=key: play_items(policy_called(k), sphere_problem(), STEPS, seed=3),
            )
        else:
            item(
                f"policy/{key}/items large",
                lambda k=key, n=shown: play_items(
                    policy_called(k), items_problem(n, 40, 4, seed=6), STEPS, seed=3
                ),
            )
        continue
    for problem in ("cyclic-4", "mslr-5-c3", "arxiv-6"):
        item(
            f"policy/{key}/{problem}",
            lambda k=key, p=problem: play_out(policy_called(k), named_problem(p).P, STEPS, seed=3),
        )


def by_hand(policy, n):
    """Ask a policy by hand; outcomes follow from the step and the pair alone."""
    arms = ["a", "b", "c", "d", "e"]
    return asked_by_hand(policy, arms, lambda i, j, t: (i < j) == (t % 4 != 3), n, seed=5)


item("asking/DTS", lambda: by_hand(policy_called("DTS"), 60))
item("asking/RUCB", lambda: by_hand(policy_called("RUCB"), 60))
item("asking/DTS-by-model", lambda: by_hand(dts_by_model(), 25))


@cache
def selected(problem):
    """Return a trace of all selection policies on one problem of score duels, k = 2."""
    where = log("margins") if problem == "replay" else score_problem(problem)
    named = {name: make() for name, make in SELECTION.items()}
    settings = {"replications": 3, "seed": 3, "record_at": [60, 90, 120], "index": True}
    return simulate_selection(named, where, 2, 120, **settings)


def told_selection(name, problem):
    trace = selected(problem)["trace"].dataset.sel(policy=name)
    return {old(n): v.to_numpy() for n, v in trace.data_vars.items()}


for problem in ("drawn", "uneven", "perturbed", "line", "replay"):
    for key in SELECTION:
        item(f"selection/{key}/{problem}", partial(told_selection, key, problem))
    item(f"selection/truth/{problem}", lambda p=problem: selected(p)["problem"].dataset)
    item(
        f"selection/success/{problem}",
        lambda p=problem: {
            "rate": success_rate(selected(p)),
            "cost": opportunity_cost(selected(p)),
            "difference": success_difference(
                success_rate(selected(p))["success"].sel(policy="POCBAm"),
                success_rate(selected(p))["success"].sel(policy="Uniform"),
            ),
        },
    )


def margin_rows(cyclic):
    """Return rows (i, j, margin) among five arms, four of each pair, and the number of arms."""
    rng = np.random.default_rng(17)
    score = np.linspace(-1, 1, 5)
    rows = []
    for i in range(5):
        for j in range(i):
            off = cyclic * (1 if (i - j) % 2 else -1)
            rows += [(i, j, score[i] - score[j] + off + x) for x in rng.normal(size=4)]
    return rows, 5


item("selection/fit-margins/transitive", lambda: margin_statistics(margin_rows(0.0)))
item("selection/fit-margins/cyclic", lambda: margin_statistics(margin_rows(1.5)))

# -- (c) readings of fits, checks, simulation --------------------------------------------------

for data in ("springall", "tversky1969", "judged", "icehockey", "chess3", "separate"):
    for kind in ("bradley-terry", "davidson", "preference-matrix"):
        fit_name = f"{kind}/{data}"
        item(f"winners/{fit_name}", lambda n=fit_name: told_winners(winners(fitted(n))))
        item(f"top-k/{fit_name}", lambda n=fit_name: top_sets_of(fitted(n), 2))
        item(f"next-pairs/{fit_name}", lambda n=fit_name: next_pairs(fitted(n), 5))
        item(f"predict/{fit_name}", lambda n=fit_name: predicted(n))
for fit_name in (
    "thurstone score common order/margins",
    "thurstone score pair order/margins",
    "thurstone perturbed common/margins",
    "attributes item effect/springall",
    "attributes item effect/tversky1969",
    "order-effect(bradley-terry)/baseball1987",
    "order-effect(davidson)/chess3",
):
    item(f"winners/{fit_name}", lambda n=fit_name: told_winners(winners(fitted(n))))
    item(f"top-k/{fit_name}", lambda n=fit_name: top_sets_of(fitted(n), 2))
    item(f"next-pairs/{fit_name}", lambda n=fit_name: next_pairs(fitted(n), 5))
    item(f"predict/{fit_name}", lambda n=fit_name: predicted(n))
for about in ("winner", "scores"):
    item(
        f"next-pairs {about}/bradley-terry/springall",
        lambda a=about: next_pairs(fitted("bradley-terry/springall"), 8, a),
    )


DEPENDENCE = ("n_clusters", "degrees_of_freedom")  # of the covariance, whose items tell them


def told_winners(found):
    """Return the variables of a table of winners, and its attributes that are numbers."""
    numbers = {
        old(k): v
        for k, v in found.attrs.items()
        if isinstance(v, int | float) and not isinstance(v, bool) and k not in DEPENDENCE
    }
    words = ("verdict", "verdict_kind", "verdict_arms", "safe_choices", "top_set")
    told = {name: found.attrs[name] for name in found.attrs if old(name) in words}
    variables = {old(n): digest(v.to_numpy(), FEW) for n, v in found.data_vars.items()}
    return variables | {"attributes": numbers, "words": told}


def predicted(name):
    """Return predictions of the first arm against all others."""
    fit = fitted(name)
    arms = [str(a) for a in fit["posterior"]["arm"].to_numpy()][:8]
    return predict(fit, arms[0], arms[1:])


for covariance, data in (
    ("model", "judged"),
    ("judge", "judged"),
    ("model", "grouped"),
    ("group", "grouped"),
):
    for kind in ("bradley-terry", "davidson"):
        fit_name = f"{kind}/{data}"
        item(
            f"errors {covariance}/{fit_name}",
            lambda n=fit_name, c=covariance: preferences_of(fitted(n), c),
        )
        item(
            f"errors {covariance}/winners/{fit_name}",
            lambda n=fit_name, c=covariance: told_winners(winners_with(fitted(n), c)),
        )

for data in WITH_ITEMS:
    for kind in ("attributes item effect", "attributes order", "logistic-attributes normal"):
        fit_name = f"{kind}/{data}"
        item(f"coefficients/{fit_name}", lambda n=fit_name: coefficients(fitted(n)))
        item(
            f"predict-items/{fit_name}",
            lambda n=fit_name, d=data: predict_items(
                fitted(n), read_items(some_new_items(d), like=items_of(d))
            ),
        )
for covariance in ("model", "judge"):
    for kind in ("plain", "item effect order"):
        item(
            f"coefficients {covariance}/attributes {kind}/judges",
            lambda k=kind, c=covariance: coefficients_with(
                fitted(f"attributes {k}/judges"), c, 0.9
            ),
        )
item(
    "coefficients model 0.8/attributes item effect/tversky1969",
    lambda: coefficients_with(fitted("attributes item effect/tversky1969"), "model", 0.8),
)

for data in ("tversky1969", "celebrities", "tennis1990", "springall", "icehockey/NC", "cyclic"):
    item(f"check/{data}", lambda d=data: check_of(log(d), quick=True, seed=2))
for data in (*SHIPPED, "judged", "separate"):
    item(f"health/{data}", lambda d=data: plain_health(log(d)))


def plain_health(duels):
    """Return the facts of a log's health that are numbers."""
    found = health_of(duels)
    numbers = (int, float, tuple)
    return {
        old(f.name): getattr(found, f.name)
        for f in fields(found)
        if f.name not in ("source", "columns", "guessed", "warnings", "bad_rows")
        and isinstance(getattr(found, f.name), numbers)
    }


for unit in ("pair", "duel"):
    item(
        f"compare-models {unit}/cyclic",
        lambda u=unit: compared(
            log("cyclic"),
            {n: plain_model(n) for n in ("bradley-terry", "thurstone", "preference-matrix")},
            unit=u, method="laplace", draws=300, folds=2, seed=4,
        ),
    )  # fmt: skip

for kind in ("score common order", "score pair order", "score degrees=5", "perturbed common"):
    fit_name = f"thurstone {kind}/margins"
    item(f"margin-check/{fit_name}", lambda n=fit_name: checked_margins(fitted(n), draws=100))
    item(
        f"replicated-margins/{fit_name}",
        lambda n=fit_name: replicated_margins(fitted(n), draws=50),
    )
item(
    "margin-check/thurstone score common order/icehockey/NC",
    lambda: checked_margins(fitted("thurstone score common order/icehockey/NC"), draws=100),
)

for data, kind in (
    ("springall", "bradley-terry"),
    ("springall", "davidson"),
    ("tversky1969", "preference-matrix"),
):
    item(
        f"held-out/{kind}/{data}",
        lambda d=data, k=kind: calibrated(log(d), plain_model(k), folds=3, draws=200, seed=1),
    )
item(
    "held-out/thurstone-score/margins",
    lambda: calibrated(
        log("margins"), margin_model("score", side_advantage=True), folds=3, draws=200, seed=1
    ),
)
item(
    "held-out/attributes/springall",
    lambda: calibrated(
        log("springall"), attribute_model(items_of("springall")), folds=3, draws=200, seed=1
    ),
)


@cache
def simulated(problem):
    """Return a trace of three policies on a problem, of pairs or of items."""
    settings = {"replications": 3, "seed": 9, "record_at": [30, 100, 300], "progress": False}
    shown = {"items": 1, "item-duels": 2, "contextual-duels": 2}.get(problem)
    if shown:
        fresh = problem == "contextual-duels"
        where = problems.ContextualDuels() if fresh else items_problem(shown, 15)
        known = [k for k in POLICY_NAMES if shows(policy_called(k)) == shown]
        if fresh:
            known.remove("BETCGLM")  # it plays items that stay the same
    else:
        where = log(problem) if problem in SHIPPED else named_problem(problem)
        known = ("DTS", "RUCB", "Uniform")
    return simulate({k: policy_called(k) for k in known}, where, 300, **settings)


for problem in ("mslr-5-c3", "springall"):
    item(f"simulate/{problem}", lambda p=problem: simulated(p)["trace"].dataset)
    for notion in ("copeland", "borda", "copeland_sum"):
        item(
            f"regret {notion}/{problem}",
            lambda p=problem, n=notion: regret(simulated(p), n).mean("replication"),
        )
for notion in ("condorcet", "weak", "strong"):
    item(
        f"regret {notion}/springall",
        lambda n=notion: regret(simulated("springall"), n).mean("replication"),
    )
for problem in ("items", "item-duels", "contextual-duels"):
    item(f"simulate/{problem}", lambda p=problem: simulated(p)["trace"].dataset)
    item(f"regret/{problem}", lambda p=problem: regret(simulated(p)).mean("replication"))
for problem in ("cyclic-4", "arxiv-6", "mslr-5-c1"):
    item(f"preference/{problem}", lambda p=problem: preference_facts(named_problem(p).P))


# -- (d) reports -------------------------------------------------------------------------------


class Cells(HTMLParser):
    """The text of all cells of tables, and of paragraphs, in order."""

    def __init__(self):
        super().__init__()
        self.cells, self.open = [], 0

    def handle_starttag(self, tag, attrs):
        if tag in ("td", "th"):
            self.cells.append("")
            self.open += 1

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.open -= 1

    def handle_data(self, data):
        if self.open:
            self.cells[-1] += data


def told_cells(html):
    """Return the cells of a page's tables: how many, their hash and the first 60.

    The rows that tell versions and the machine are left out.
    """
    parser = Cells()
    parser.feed(html)
    cells = [re.sub(r"\s+", " ", cell).strip() for cell in parser.cells]
    cells = [cell for cell in cells if not re.search(r"\d+\.\d+\.\d+", cell)]
    return {"n": len(cells), "hash": hashed(cells), "first": " | ".join(cells[:60])}


def reported(name, **settings):
    with tempfile.TemporaryDirectory() as folder:
        return told_cells(report_html(log(name), Path(folder) / "r.html", seed=3, **settings))


def reported_attributes(name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.html"
        model, settings = attribute_model(items_of(name)), {"draws": 400, "method": "laplace"}
        return told_cells(attribute_html(log(name), model, path, seed=3, **settings))


item("report/tennis1990", lambda: reported("tennis1990", draws=400, method="laplace"))
item("report/margins", lambda: reported("margins", draws=400, method="laplace"), slow=True)
item("report/attributes/heaviness", lambda: reported_attributes("heaviness"))
item("report/judged", lambda: reported("judged", draws=400, method="laplace"), slow=True)

# -- slow: sampled models, whole checks, log densities -----------------------------------------


def by_judges():
    duels, items = attributed_log(5)
    return duels, attribute_model(items, judge_effect=True)


def sparse():
    duels, items = attributed_log(5)
    return duels, attribute_model(items, sparsity=1.0)


def sparse_pulls():
    items = items_of("springall")
    return pulls_of("springall"), pull_model(items, sparsity=1.0)


SAMPLED = {
    "bradley-terry": lambda: (log("tiny"), plain_model("bradley-terry")),
    "judge-reliability": lambda: (log("tiny"), judge_reliability()),
    "judge-reliability(davidson)": lambda: (log("tiny"), judge_reliability("davidson")),
    "time-varying walk": lambda: (log("tiny"), time_varying(periods=3)),
    "time-varying smooth": lambda: (log("tiny"), time_varying(process="smooth", periods=3)),
    "blade-chest": lambda: (log("cyclic"), blade_chest(planes=1)),
    "nested layers": lambda: (log("tiny"), nested_layers()),
    "attributes judge effect": by_judges,
    "attributes sparsity": sparse,
    "logistic-attributes sparsity": sparse_pulls,
}


def sampled(name):
    """Return posterior means by NUTS with their Monte Carlo errors.

    Draws themselves cannot be frozen: a last digit of a log density that another compilation
    rounds otherwise leads to other trajectories. ``density/`` holds the densities.
    """
    duels, model = SAMPLED[name]()
    fit = fit_log(duels, model, method="nuts", draws=1000, chains=4, seed=SEED)
    return {old(n): moments(v) for n, v in posterior_of(fit).data_vars.items()}


def moments(draws):
    """Return means and their Monte Carlo errors at fixed positions, as ``mean`` and ``error``."""
    components = draws.to_numpy().reshape(*draws.shape[:2], -1)
    at = np.unique(np.linspace(0, components.shape[2] - 1, HEAD).astype(int))
    chosen = [components[:, :, k] for k in at]
    errors = [float(azs.mcse(x)) if np.ptp(x) else 0.0 for x in chosen]
    means = np.array([x.mean() for x in chosen])
    return {"shape": list(draws.shape[2:]), "mean": means, "error": np.array(errors)}


def density(duels, model):
    """Return the log density of a PyMC graph at its start and at two points around it."""
    start, value = log_density(model, duels)
    told = [float(value(start))]
    for size in (0.1, 0.4):
        point = {
            name: np.asarray(v) + size * np.random.default_rng(k).normal(size=np.shape(v))
            for k, (name, v) in enumerate(sorted(start.items()))
        }
        told.append(float(value(point)))
    return {"names": sorted(old(n) for n in start), "density": np.array(told)}


for key in SAMPLED:
    item(f"nuts/{key}", partial(sampled, key), slow=True)
    item(f"density/{key}", lambda k=key: density(*SAMPLED[k]()), slow=True)
for key in (
    *(f"{kind}/{data}" for kind in SCORE_LAYERS for data in ("chess3", "judged")),
    "preference-matrix/chess3",
    "order-effect(davidson)/chess3",
    *(f"thurstone {kind}/margins" for kind in MARGIN_MODELS),
    *(f"attributes {kind}/springall" for kind in ATTRIBUTE_SETTINGS),
    "logistic-attributes normal/springall",
):
    item(f"density/{key}", lambda k=key: density(*FITS[k]()), slow=True)
item("check with models/tennis1990", lambda: check_of(log("tennis1990")), slow=True)


def write(stored):
    """Write the store, one item a line, in the order that it has; new ones come last."""
    kept = {name: stored[name] for name in stored if name in FAST or name in SLOW}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in kept.items()]
    STORE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main(arguments=None):
    """Write the store; tell what took long."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="make again items whose name contains this")
    parser.add_argument("--missing", action="store_true", help="only items not yet stored")
    parser.add_argument("--fast", action="store_true", help="without the slow items")
    asked = parser.parse_args(arguments)
    stored = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    total = 0.0
    for name in (*FAST, *(() if asked.fast else SLOW)):
        if asked.only not in name or (asked.missing and name in stored):
            continue
        start = time.process_time()
        stored[name] = compute(name)
        took = time.process_time() - start
        total += took
        if took > 1:
            print(f"{took:6.1f} s  {name}", file=sys.stderr, flush=True)
            write(stored)
    write(stored)
    refused = [name for name, value in stored.items() if "refused" in value]
    print(f"{len(stored)} items, {total:.0f} s of one core; refused: {refused}")


if __name__ == "__main__":
    main()
