"""Simulation-based calibration: ranks of true parameters among their posterior draws.

Draw the truth from the prior, a log from the truth, and fit it: over many repetitions the rank
of the truth among independent posterior draws is uniform exactly when the posterior is the right
one. A case is a model with the design of its logs and the quantities whose ranks are taken; the
truths of margins are drawn by NumPy from the story that the docstrings tell, the others by PyMC.

References
----------
Talts, Betancourt, Simpson, Vehtari & Gelman, "Validating Bayesian inference algorithms with
simulation-based calibration", arXiv 1804.06788.
"""

import logging
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

import bayesduel as bd
from bayesduel.data.items import Items
from bayesduel.models import (
    BladeChest,
    BradleyTerry,
    Covariates,
    Davidson,
    JudgeReliability,
    JudgeTastes,
    LogisticAttributes,
    OrderEffect,
    PerturbedThurstone,
    PreferenceMatrix,
    Scores,
    Thurstone,
    ThurstoneScore,
    TimeVarying,
)

__all__ = ["CASES", "RANKS", "p_values", "ranks"]

RANKS = 99  # posterior draws among which the truth is placed
DRAWS = 1600  # of a fit, thinned to RANKS nearly independent ones
BINS = 10  # of the ranks, for the chi-square test; fewer where there are few ranks

Truth = Mapping[str, np.ndarray]
Quantities = Callable[[Any, Mapping[str, np.ndarray]], dict[str, np.ndarray]]


class Case(NamedTuple):
    """A model, how its truths and logs are drawn, and the quantities that are ranked.

    Attributes
    ----------
    model
        What is calibrated.
    simulate
        Function of (model, n, seed) that returns n truths, parameters by name, and their logs.
    quantities
        Function of (model, draws) that returns numbers by name, each (draws,).
    methods
        Methods that serve the model: "laplace" stands for whatever method="auto" chooses.
    """

    model: Any
    simulate: Callable[[Any, int, int], tuple[list[Truth], list[Any]]]
    quantities: Quantities
    methods: tuple[str, ...] = ("laplace", "nuts")


def ranks(name: str, method: str, n: int, seed: int) -> dict[str, list[int]]:
    """Return the ranks of `n` truths, from 0 to `RANKS`, by quantity.

    Parameters
    ----------
    name
        Of the case.
    method
        One of its methods.
    n
        Number of truths.
    seed
        Of everything random.
    """
    case = CASES[name]
    rng = np.random.default_rng(seed)
    found: dict[str, list[int]] = {}
    for truth, log in _drawn(case, n, rng):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a thin log is meant here
            fit = bd.fit(
                log,
                case.model,
                "nuts" if method == "nuts" else "auto",
                draws=DRAWS,
                seed=int(rng.integers(2**31)),
                log_likelihood=False,
                clusters=False,
            )
        posterior = {
            str(k): v.values.reshape(-1, *v.shape[2:])
            for k, v in fit["posterior"].data_vars.items()
        }
        kept = np.linspace(0, DRAWS - 1, RANKS).astype(int)
        true = case.quantities(case.model, {k: np.asarray(v)[None] for k, v in truth.items()})
        for quantity, values in case.quantities(case.model, posterior).items():
            below = (values[kept] < true[quantity][0]).sum()
            same = (values[kept] == true[quantity][0]).sum()
            found.setdefault(quantity, []).append(int(below + rng.integers(0, same + 1)))
    return found


def p_values(found: Mapping[str, list[int]]) -> dict[str, float]:
    """Return the p-value of uniform ranks by quantity: the chi-square test of equal bins."""
    return {name: _p_value(values) for name, values in found.items()}


# -- in calling order ----------------------------------------------------------------------


def _drawn(case: Case, n: int, rng: np.random.Generator) -> list[tuple[Truth, Any]]:
    """Return n truths with their logs.

    A log that the model refuses (an order effect so large that one side won every duel) is left
    out: ranks are uniform given any log, and so given those that are accepted.
    """
    found: list[tuple[Truth, Any]] = []
    while len(found) < n:
        truths, logs = case.simulate(case.model, n, int(rng.integers(2**31)))
        pairs = zip(truths, logs, strict=True)
        found += [(truth, log) for truth, log in pairs if _accepts(case.model, log)]
    return found[:n]


def _accepts(model: Any, log: Any) -> bool:
    try:
        model.settled(log).cells(log)
    except ValueError as refused:
        if "lists the winner" not in str(refused):
            raise
        return False
    return True


def _p_value(values: list[int]) -> float:
    bins = int(np.clip(len(values) // 5, 2, BINS))
    counts = np.histogram(values, bins=bins, range=(0, RANKS + 1))[0]
    return float(stats.chisquare(counts).pvalue)


def _prior(model: Any, log: Any, n: int, seed: int) -> tuple[list[Truth], np.ndarray]:
    """Return n draws from the prior, each by name, and outcomes of the cells of `log`."""
    import pymc as pm

    logging.getLogger("pymc.sampling.forward").setLevel(logging.WARNING)  # it names what it draws
    with model.build(log), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba notes that it draws in object mode
        tree = pm.sample_prior_predictive(n, random_seed=seed)
    prior = {str(k): v.values[0] for k, v in tree["prior"].data_vars.items()}
    truths = [{k: v[i] for k, v in prior.items()} for i in range(n)]
    return truths, tree["prior_predictive"]["outcome"].values[0]


# Plain models: five arms, every pair six times.

PAIRS = (5, 6)


def _pairs(model: Any, n: int, seed: int) -> tuple[list[Truth], list[Any]]:
    n_arms, each = PAIRS
    wins = np.full((n_arms, n_arms), each // 2 - 1)
    np.fill_diagonal(wins, 0)
    ties = 2 * (np.ones((n_arms, n_arms)) - np.eye(n_arms))  # outcomes are replaced
    truths, outcome = _prior(model, bd.Duels.from_wins(wins, ties=ties), n, seed)
    first, second = np.triu_indices(n_arms, 1)
    logs = []
    for drawn in outcome:
        counts = drawn if drawn.ndim == 2 else np.stack([drawn, each - drawn, 0 * drawn], 1)
        wins, ties = np.zeros((2, n_arms, n_arms))
        wins[first, second], wins[second, first] = counts[:, 0], counts[:, 1]
        ties[first, second] = ties[second, first] = counts[:, 2]
        logs.append(bd.Duels.from_wins(wins, ties=ties))
    return truths, logs


def _of_pairs(model: Any, draws: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    P = model.preference(draws)
    found = {"P[0,1]": P[:, 0, 1], "P[2,4]": P[:, 2, 4], "min P[0]": P[:, 0].min(axis=-1)}
    return found | {k: draws[k] for k in ("scale", "tie", "concentration") if k in draws}


# Layers: four arms, every ordered pair four times by each of four judges, in three periods.

LAYERED = (4, 4, 4)
PERIODS: dict[str, Any] = {"periods": 3, "edges": (0.0, 1.0, 2.0, 3.0)}


def _layered(model: Any, n: int, seed: int) -> tuple[list[Truth], list[Any]]:
    n_arms, judges, each = LAYERED
    i, j, judge, k = (x.ravel() for x in np.indices((n_arms, n_arms, judges, each)))
    met = i != j
    i, j, judge, k = i[met], j[met], judge[met], k[met]
    time = (k + i + judge) % 3 + 0.5
    duels = bd.Duels.from_votes(i, j, [1, 0, 0.5] * (len(i) // 3), judge=judge, time=time)
    data = model.cells(duels).data
    truths, outcome = _prior(model, duels, n, seed)
    if not model.ranks_by_score:  # what a fit calls its scores then
        truths = [{**truth, "strength": truth["score"]} for truth in truths]
    none = np.zeros(len(data["n"]), dtype=int)
    judge, period = data.get("judge_of_cell", none), data.get("period_of_cell", none)
    logs = []
    for drawn in outcome:
        counts = drawn if drawn.ndim == 2 else np.stack([drawn, data["n"] - drawn, 0 * drawn], 1)
        cell, result = np.nonzero(counts)
        logs.append(
            bd.Duels.from_votes(
                data["first"][cell],
                data["second"][cell],
                np.array([1.0, 0.0, 0.5])[result],
                weight=counts[cell, result],
                judge=judge[cell],
                time=period[cell] + 0.5,
                arms=duels.arms,
            )
        )
    return truths, logs


def _of_layers(model: Any, draws: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    P = model.preference(draws)
    found = {"P[0,1]": P[:, 0, 1], "P[2,3]": P[:, 2, 3]}
    numbers = ("scale", "tie", "order", "judge_spread", "drift", "length")
    found |= {name: draws[name] for name in numbers if name in draws}
    if "sensitivity" in draws:
        found["sensitivity[0]"] = draws["sensitivity"][:, 0]
    if "rating" in draws:
        found["rating[0]"] = draws["rating"][:, 0, 0] - draws["rating"][:, 0, 1]
    if "plane_scale" in draws:
        found["plane_scale"] = draws["plane_scale"][:, 0]
        odds = [P[:, a, b] for a, b in ((0, 1), (1, 2), (2, 0))]
        found["cycle"] = np.sum([np.log(p / (1 - p)) for p in odds], axis=0)
    return found


# Attributes: duels are ordered pairs of eight items, pulls are of twenty; the table is the same.

TIMES = 4
JUDGES = ("a", "b", "c", "d")


def _items(n_items: int, n_attributes: int) -> Items:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((n_items, n_attributes))
    frame = pd.DataFrame(values, columns=[f"x{k}" for k in range(n_attributes)])
    frame.insert(0, "item", [f"i{k:02}" for k in range(n_items)])
    return bd.read_items(frame)


def _attributes(model: Any, n: int, seed: int) -> tuple[list[Truth], list[Any]]:
    truths, outcome = _prior(model, _log_of_attributes(model), n, seed)
    return truths, [_log_of_attributes(model, points) for points in outcome]


def _log_of_attributes(model: Any, points: np.ndarray | None = None) -> Any:
    """Return a log whose outcomes are `points` of each cell (any, to fix the shape)."""
    labels = np.array(model.terms.items.labels, dtype=object)
    m = len(labels)
    if model.log_type == "pulls":
        n = np.full(m, 3.0 * TIMES)
        paid = n // 2 if points is None else points
        return bd.Pulls(arms=model.terms.items.labels, n=n, successes=paid)
    every = ~np.eye(m, dtype=bool) if model.terms.reads_order else np.triu(np.ones((m, m)), 1)
    by_judge = model.terms.find(JudgeTastes) is not None
    judges = np.array(JUDGES if by_judge else [None], dtype=object)
    first, second = (np.repeat(x, len(judges)) for x in np.nonzero(every))  # the order of cells
    judge = np.tile(judges, len(first) // len(judges))
    won = np.full(len(first), TIMES // 2) if points is None else points.astype(int)
    return bd.Duels.from_votes(
        np.concatenate([labels[first]] * 2),
        np.concatenate([labels[second]] * 2),
        np.repeat([1.0, 0.0], len(first)),
        weight=np.concatenate([won, TIMES - won]),
        judge=np.tile(judge, 2) if by_judge else None,
        arms=model.terms.items.labels,
    )


def _of_attributes(model: Any, draws: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    found = {f"coefficient[{k}]": draws["coefficient"][:, k] for k in (0, 1)}
    found["score[0] - score[1]"] = draws["score"][:, 0] - draws["score"][:, 1]
    names = ("effect_scale", "order", "intercept", "shrinkage")
    found |= {name: draws[name] for name in names if name in draws}
    if "judge_spread" in draws:
        found["judge_spread[0]"] = draws["judge_spread"][:, 0]
        found["taste[2, 1]"] = draws["taste"][:, 2, 1]
    return found


# Covariates of the duel: five arms, each vote with a covariate of its own.


def _covariates(model: Any, n: int, seed: int) -> tuple[list[Truth], list[Any]]:
    i, j, k = (x.ravel() for x in np.indices((5, 5, 4)))
    i, j, k = i[i < j], j[i < j], k[i < j]
    value = np.random.default_rng(0).standard_normal(len(i))

    def log(won: np.ndarray) -> bd.Duels:
        arms = [str(a) for a in range(5)]
        names = np.array(arms)
        return bd.Duels.from_votes(names[i], names[j], won, covariates={"x": value}, arms=arms)

    any_log = log((k % 2).astype(float))
    truths, outcome = _prior(model, any_log, n, seed)
    cells = model.cells(any_log).data
    place = np.argsort(np.lexsort((value, j, i)))  # votes differ, so that each is a cell
    assert np.array_equal(cells["covariate_values"][place, 0], value)
    return truths, [log(drawn[place].astype(float)) for drawn in outcome]


def _of_covariates(model: Any, draws: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {
        "score[0] - score[1]": draws["score"][:, 0] - draws["score"][:, 1],
        "covariate_effect": draws["covariate_effect"][:, 0],
        "scale": draws["scale"],
    }


# Margins: five arms, every pair six times, sides not balanced.

LEFT, RIGHT = (np.repeat(x, 6) for x in np.triu_indices(5, 1))
PAIR = np.repeat(np.arange(10), 6)
TURNED = np.arange(len(LEFT)) % 3 == 0
SIDES = np.where(TURNED, RIGHT, LEFT), np.where(TURNED, LEFT, RIGHT)


def _margins(model: Any, n: int, seed: int) -> tuple[list[Truth], list[Any]]:
    rng = np.random.default_rng([seed, 1])
    truths, _ = _prior(model, _log_of_margins(np.linspace(-1, 1, len(LEFT))), n, seed)
    return truths, [_log_of_margins(_drawn_margins(truth, rng)) for truth in truths]


def _log_of_margins(margin: np.ndarray) -> bd.Duels:
    labels, (left, right) = np.array([str(k) for k in range(5)]), SIDES
    outcome = (np.sign(margin) + 1) / 2
    return bd.Duels.from_votes(
        labels[left], labels[right], outcome, margin=margin, arms=list(labels)
    )


def _drawn_margins(truth: dict[str, Any], rng: np.random.Generator) -> np.ndarray:
    """Return margins of the design given the truth, and put what pairs have into it."""
    left, right = SIDES
    n_pairs = PAIR[-1] + 1
    middle = truth["score"][left] - truth["score"][right] + truth.get("order", 0.0)
    spread, noise = truth["noise"], rng.standard_normal(len(left))
    if "residual_scale" in truth:
        truth["residual"] = truth["residual_scale"] * rng.standard_normal(n_pairs)
        middle = middle + np.where(TURNED, -1, 1) * truth["residual"][PAIR]
    elif np.ndim(spread):
        spread = np.sqrt(spread[left] ** 2 + spread[right] ** 2)
    elif "shrinkage" in truth:
        freedom = truth["shrinkage"]
        truth["pair_noise"] = spread * np.sqrt(freedom / rng.chisquare(freedom, n_pairs))
        spread = truth["pair_noise"][PAIR]
    elif "degrees_over_1" in truth:
        truth["degrees"] = 1.0 + truth.pop("degrees_over_1")
        noise = stats.t.rvs(truth["degrees"], size=len(left), random_state=rng)
    return middle + spread * noise


def _of_margins(model: Any, draws: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    score = draws["score"]
    found = {"score[0] - score[1]": score[:, 0] - score[:, 1], "best score": score.max(axis=1)}
    for name in ("scale", "noise", "order", "shrinkage", "degrees", "residual_scale"):
        if name in draws:
            found[name] = draws[name].reshape(len(score), -1)[:, 0]
    for name in ("residual", "pair_noise"):
        if name in draws:
            found[f"{name}[0]"] = draws[name][:, 0]
    return found


# -- the cases -----------------------------------------------------------------------------

RESPONSES = {"Bradley-Terry": BradleyTerry, "Thurstone": Thurstone, "Davidson": Davidson}
FURTHER: dict[str, tuple[Any, tuple[str, ...]]] = {
    "order effect": (OrderEffect(), ("laplace", "nuts")),
    "judge reliability": (JudgeReliability(), ("nuts",)),
    "time-varying, walk": (TimeVarying(**PERIODS), ("nuts",)),
    "time-varying, smooth": (TimeVarying(process="smooth", **PERIODS), ("nuts",)),
    "blade-chest": (BladeChest(planes=1), ("nuts",)),
}
FEW, MANY, WIDE = _items(8, 2), _items(20, 3), _items(20, 6)
BY_ITEMS = BradleyTerry(Covariates(FEW, item_effect=False))
EVERY_TERM = Davidson(
    Scores() + BladeChest() + TimeVarying(**PERIODS) + JudgeReliability() + OrderEffect()
)

CASES: dict[str, Case] = {
    **{name: Case(model(), _pairs, _of_pairs) for name, model in RESPONSES.items()},
    "preference matrix": Case(PreferenceMatrix(), _pairs, _of_pairs),
    **{
        f"{name}, {further}": Case(model() + term, _layered, _of_layers, methods)
        for name, model in RESPONSES.items()
        for further, (term, methods) in FURTHER.items()
    },
    "Davidson, all layers": Case(EVERY_TERM, _layered, _of_layers, ("nuts",)),
    "items": Case(BradleyTerry(Covariates(FEW)), _attributes, _of_attributes),
    "items, order effect": Case(BY_ITEMS + OrderEffect(), _attributes, _of_attributes),
    "items, judge tastes": Case(BY_ITEMS + JudgeTastes(), _attributes, _of_attributes, ("nuts",)),
    "pulls": Case(LogisticAttributes(items=MANY), _attributes, _of_attributes),
    "pulls, horseshoe": Case(
        LogisticAttributes(items=WIDE, sparsity=2), _attributes, _of_attributes, ("nuts",)
    ),
    "covariates of the duel": Case(
        BradleyTerry(Scores() + Covariates(["x"])), _covariates, _of_covariates
    ),
    "score duels, order effect": Case(
        ThurstoneScore(unit=1.0) + OrderEffect(), _margins, _of_margins
    ),
    "score duels, noise by arm": Case(
        ThurstoneScore(unit=1.0, variances="arm"), _margins, _of_margins
    ),
    "score duels, noise by pair, order effect": Case(
        ThurstoneScore(unit=1.0, variances="pair") + OrderEffect(), _margins, _of_margins
    ),
    "score duels, degrees learned": Case(
        ThurstoneScore(unit=1.0, degrees="learned"), _margins, _of_margins
    ),
    "perturbed score duels, order effect": Case(
        PerturbedThurstone(unit=1.0) + OrderEffect(), _margins, _of_margins
    ),
}
