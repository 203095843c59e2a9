"""Frozen numbers: what the package computes today, as digests, to be kept by a refactoring.

Run ``python -m tests.frozen.make_frozen`` to write ``frozen.json`` anew (``--only TEXT``: only
items whose name contains TEXT are made again, the others stay). ``test_frozen.py`` computes every
item again and compares. ``adapter.py`` alone names the package, ``digests.py`` makes the digests.
"""

import argparse
import json
import sys
import tempfile
import time
import warnings
from dataclasses import fields
from functools import cache, partial
from pathlib import Path
from typing import Any

import arviz_stats as azs
import numpy as np

from tests.frozen.adapter import (
    PAIR_VARIANTS,
    POLICY_NAMES,
    SCORE_LAYERS,
    SELECTION,
    asked_by_hand,
    attribute_html,
    attribute_model,
    blade_chest,
    calibrated,
    check_of,
    checked_margins,
    coefficients,
    coefficients_with,
    compared,
    dts_by_model,
    fit_log,
    health_of,
    items_problem,
    judge_reliability,
    log_density,
    margin_model,
    margin_statistics,
    named_problem,
    nested_layers,
    next_pairs,
    opportunity_cost,
    plain_model,
    play_items,
    play_out,
    policy_called,
    predict,
    predict_items,
    preference_facts,
    preferences_of,
    problems,
    pull_model,
    read_items,
    regret,
    replicated_margins,
    report_html,
    score_problem,
    shows,
    side_advantage,
    simulate,
    simulate_selection,
    sphere_problem,
    success_difference,
    success_rate,
    time_varying,
    top_sets_of,
    winners,
    winners_with,
)
from tests.frozen.digests import HEAD, digest, number, old, told_cells
from tests.frozen.logs import (
    MARGINS,
    PARTS,
    SHIPPED,
    WITH_ITEMS,
    attributed_log,
    items_of,
    log,
    pulls_of,
    some_new_items,
)

HERE = Path(__file__).parent
STORE = HERE / "frozen.json"
DRAWS, SEED = 400, 7
FEW = 6  # values kept of an array that is not of the posterior
FAST: dict[str, Any] = {}  # name -> function without arguments
SLOW: dict[str, Any] = {}


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
