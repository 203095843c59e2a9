"""What frozen numbers call of bayesduel: the only file of them that names it.

A renaming changes this file and nothing else. ``FROZEN_NAME`` maps new names of variables, columns
and fields to those they had when the numbers were frozen.
"""

from dataclasses import asdict
from importlib.resources import files

import numpy as np
import pandas as pd

import bayesduel as bd
from bayesduel import datasets, models, policies, preference, problems
from bayesduel.beliefs import KL, Laplace
from bayesduel.criticism.calibration import held_out as held_out_calibration
from bayesduel.policies.top_k import fit_margins, intransitivity, no_margins, record_margin
from bayesduel.records import Record as Record
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
