"""The sampler beside PyMC's NUTS: moments, and quantiles of scales, by response and terms.

Both sample the same posterior. One runs on the package's density of the linear predictor, the other
on the ``pm.Model``, whose density PyTensor makes and compiles.
"""

import warnings
from typing import Any

import arviz as az
import numpy as np

from benchmarks.validation.engine import log_of
from benchmarks.validation.experiment import Cell, Experiment, Record

__all__ = ["EXPERIMENT"]

DRAWS = {"nuts": 12_000, "pymc": 20_000}  # in four chains
# Of 31 cells with some fifteen figures each, one or two are beyond two standard errors by chance.
AGAIN = 4  # times as many draws where a figure is beyond its target: half the error
SHIFT = 0.1  # posterior standard deviations
DEVIATION = 0.03  # relative
CONSTANT = 1e-6  # a deviation of numbers that do not vary but for rounding
ODDS = "agreement"  # of a source with the target: its tail is so long that it has no mean
QUANTILE = 0.05  # relative, of the 2.5 and 97.5 % quantiles of a scale
PROBS = (0.025, 0.975)
SIZE = {"arms": 8, "duels": 800, "judges": 6, "prompts": 8, "periods": 4}
FAMILIES = 3
RANKED = 4  # arms of a ranking

RESPONSES = (
    "bradley-terry", "soft votes", "thurstone", "davidson", "cumulative-logit", "thurstone-score",
)  # fmt: skip
TERMS = (
    "random:prompt", "random:prompt + random:judge", "time:4", "sources:source=human", "family",
)  # fmt: skip


def run(cell: Cell, seed: int) -> Record:
    """Return how far moments and quantiles of both methods are apart, with Monte Carlo errors.

    Where a figure is beyond its target both sample again, `AGAIN` times as much.
    """
    warnings.simplefilter("ignore")
    log = _log(cell, seed)
    model = _model(cell)
    parameters = _compared(log, model, 1)
    if not _misses(parameters):
        return {"parameters": parameters, "times": 1}
    return {"parameters": _compared(log, model, AGAIN), "times": AGAIN}


def rows(cell: Cell, records: list[Record]) -> list[Record]:
    """Return a row: the largest shift, the range of ratios of deviations, and that of quantiles."""
    (record,) = records
    parameters = record["parameters"]
    shift, shifted = _furthest_shift(parameters)
    ratio, stretched = _furthest_ratio(parameters)
    quantiles = _gathered(parameters, "quantiles")
    errors = _gathered(parameters, "error of quantiles")
    return [
        {
            "response": cell["model"],
            "terms": cell["terms"],
            "largest shift": f"{shift['shift']:.3f} ± {shift['error of shift']:.3f} ({shifted})",
            "deviations, ratio": (
                f"{ratio['ratio']:.3f} ± {ratio['error of ratio']:.3f} ({stretched})"
            ),
            "quantiles of scales, ratio": _range(quantiles),
            "their errors": f"at most {max(errors, default=0.0):.3f}",
            "draws": f"{record.get('times', 1) * DRAWS['nuts']:,}",
            "target": "missed" if _misses(parameters) else "met",
        }
    ]


# -- in calling order ----------------------------------------------------------------------


def _log(cell: Cell, seed: int) -> Any:
    """Return the log of a cell."""
    if cell["model"] == "plackett-luce":
        return _rankings(cell, seed)
    return log_of(cell, seed)


def _rankings(cell: Cell, seed: int) -> Any:
    """Return a quarter as many rankings of four arms, drawn from Plackett and Luce's model."""
    import bayesduel as bd

    rng = np.random.default_rng(seed)
    score = rng.standard_normal(cell["arms"])
    orders = []
    for _ in range(cell["duels"] // 4):
        shown = rng.choice(cell["arms"], RANKED, replace=False)
        worth = score[shown] + rng.gumbel(size=RANKED)
        orders.append([f"a{arm:02}" for arm in shown[np.argsort(-worth)]])
    return bd.Rankings.from_orders(orders)


def _model(cell: Cell) -> Any:
    """Return the model of a cell."""
    from bayesduel.models import Scores, add_term
    from bayesduel.models import named as model_named

    name = "bradley-terry" if cell["model"] == "soft votes" else cell["model"]
    model: Any = model_named(name)
    if cell["terms"] == "family":
        family = {f"a{arm:02}": f"f{arm % FAMILIES}" for arm in range(cell["arms"])}
        return type(model)(Scores(family=family))
    for term in cell["terms"].split(" + "):
        model = add_term(model, term)
    return model


def _compared(log: Any, model: Any, times: int) -> dict[str, Any]:
    """Return how far the draws of each parameter are apart, of so many times the usual draws."""
    import bayesduel as bd

    found = {}
    for method, draws in DRAWS.items():
        fit = bd.fit(
            log,
            model,
            method,
            draws=times * draws,
            clusters=False,
            log_likelihood=False,
            seed=times,
        )
        found[method] = fit["posterior"].to_dataset()
    parameters = {}
    for name in found["pymc"].data_vars:
        parameters[str(name)] = _apart(*(found[method][name] for method in DRAWS))
    return parameters


def _misses(parameters: Record) -> bool:
    """Return whether a figure is beyond its target."""
    shift, _ = _furthest_shift(parameters)
    ratio, _ = _furthest_ratio(parameters)
    if _beyond(shift["shift"], SHIFT, shift["error of shift"]):
        return True
    if _beyond(abs(ratio["ratio"] - 1), DEVIATION, ratio["error of ratio"]):
        return True
    quantiles = _gathered(parameters, "quantiles")
    errors = _gathered(parameters, "error of quantiles")
    return any(_beyond(abs(q - 1), QUANTILE, e) for q, e in zip(quantiles, errors, strict=True))


def _furthest_shift(parameters: Record) -> tuple[Record, str]:
    """Return the parameter whose mean is furthest away, and its name."""
    name = max(parameters, key=lambda name: parameters[name]["shift"])
    return parameters[name], name


def _furthest_ratio(parameters: Record) -> tuple[Record, str]:
    """Return the parameter whose ratio of deviations is furthest from 1, and its name."""
    name = max(parameters, key=lambda name: abs(np.log(parameters[name]["ratio"])))
    return parameters[name], name


def _apart(ours: Any, theirs: Any) -> dict[str, Any]:
    """Return how far the draws of one parameter are apart, with Monte Carlo errors."""
    if theirs.name == ODDS:
        ours, theirs = np.log(ours), np.log(theirs)
    deviation = theirs.std(("chain", "draw"))
    varies = (deviation > CONSTANT).to_numpy().ravel()
    shift = (ours.mean(("chain", "draw")) - theirs.mean(("chain", "draw"))) / deviation
    error = _both(ours, theirs, "mean") / deviation
    shifts = np.abs(shift.to_numpy().ravel()[varies])
    furthest = shifts.argmax()
    ratio = (ours.std(("chain", "draw")) / deviation).to_numpy().ravel()[varies]
    error_of_ratio = np.ravel(_both(ours, theirs, "sd") / deviation)[varies]
    found = {
        "shift": float(shifts[furthest]),
        "error of shift": float(np.ravel(error)[varies][furthest]),
        "ratio": float(np.exp(np.log(ratio).mean())),
        # entries are taken for dependent: an error that is too large is no reason to call one met
        "error of ratio": float(error_of_ratio.mean()),
    }
    if str(theirs.name).endswith("scale") and theirs.ndim == 2:
        there = np.quantile(theirs, PROBS)
        errors = [float(_both(ours, theirs, "quantile", prob=prob)) for prob in PROBS]
        found["quantiles"] = (np.quantile(ours, PROBS) / there).tolist()
        found["error of quantiles"] = (np.array(errors) / there).tolist()
    return found


def _both(ours: Any, theirs: Any, method: str, **of: float) -> Any:
    """Return the Monte Carlo standard error of the difference of two estimates."""
    first, second = (az.mcse(one, method=method, **of) for one in (ours, theirs))
    return np.hypot(first, second)


def _gathered(parameters: Record, key: str) -> list[float]:
    """Return the numbers that the scales have under a key."""
    return [value for one in parameters.values() for value in one.get(key, [])]


def _beyond(away: float, target: float, error: float) -> bool:
    """Return whether a figure is beyond its target by more than chance explains."""
    return away > target + 2 * error


def _range(values: list[float]) -> str:
    return f"{min(values):.3f} to {max(values):.3f}" if values else "no scale"


def _cells() -> tuple[Cell, ...]:
    crossed = [(response, terms) for response in RESPONSES for terms in TERMS]
    return tuple(
        {"model": response, "terms": terms, **SIZE}
        for response, terms in (*crossed, ("plackett-luce", "family"))
    )


EXPERIMENT = Experiment(
    name="sampler_beside_pymc",
    title="The sampler beside PyMC's NUTS",
    question=(
        "Does the sampler on the density of the linear predictor draw from the posterior of the "
        "`pm.Model`? Each response with effects by one group, by two crossed groups, with scores "
        "that drift, with two sources and with families of arms (a ranking has families alone): "
        f"{SIZE['arms']} arms, {SIZE['duels']} duels, {SIZE['judges']} judges, {SIZE['prompts']} "
        f"prompts, {SIZE['periods']} periods. {DRAWS['nuts']:,} draws of `method='nuts'`, "
        f"{DRAWS['pymc']:,} of `method='pymc'`. Shift: of a mean, in posterior standard "
        "deviations, the largest of all entries of all parameters. Ratio of deviations: of each "
        "parameter the mean over its entries, the one furthest from 1. Quantiles: 2.5 and 97.5 % "
        "of each learned scale. Of `agreement`, odds without a mean, the logarithm. After ± "
        "stands the Monte Carlo standard error. Where a figure is beyond its target, both sample "
        f"again with {AGAIN} times as many draws, and the row is of these."
    ),
    target=(
        f"shifts of at most {SHIFT}, deviations within {100 * DEVIATION:g} %, quantiles of scales "
        f"within {100 * QUANTILE:g} %; what is beyond by less than two standard errors is met."
    ),
    cells=_cells(),
    run=run,
    rows=rows,
    quick=0,
    full=1,
)
