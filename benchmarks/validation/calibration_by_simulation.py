"""Simulation-based calibration of responses and terms, by ``bayesduel.calibrate``."""

from typing import Any

from benchmarks.validation.experiment import Cell, Experiment, Record

__all__ = ["EXPERIMENT", "made"]

TRUTHS = {"engine": 300, "sampler": 300, "nuts": 100}  # a cell
DRAWS = 400  # of a fit, of which 99 are ranked
LEAST = 1e-3  # p-value of a cell, corrected for all of its entries
RESPONSES = ("bradley-terry", "thurstone", "davidson", "thurstone-score")
ENGINE: tuple[tuple[str, ...], ...] = (
    (),
    ("order",),
    ("covariate:x",),
    ("judge",),
    ("time:3",),
    ("order", "category"),
)
FURTHER = (
    ("bradley-terry", ("judge", "random:prompt")),
    ("bradley-terry", ("time:smooth",)),
    ("bradley-terry", ("order", "covariate:x", "judge", "time:3")),
    ("cumulative-logit", ()),
    ("cumulative-logit", ("order", "judge")),
    ("plackett-luce", ()),
    ("plackett-luce, best and worst", ()),
    ("plackett-luce, items", ()),
    ("preference-matrix", ()),
    ("items", ()),
    ("items", ("order",)),
    ("items", ("tastes",)),
    ("pulls", ()),
    ("margins, noise by pair", ("order",)),
    ("margins, degrees learned", ()),
    ("perturbed-thurstone", ("order",)),
)
SAMPLER = (
    ("bradley-terry", ("judge", "random:prompt")),
    ("bradley-terry", ("judge", "time:3")),
    ("bradley-terry", ("category", "random:prompt")),
    ("thurstone", ("judge", "random:prompt")),
    ("davidson", ("order", "judge", "random:prompt")),
    ("davidson", ("time:3",)),
    ("cumulative-logit", ("order", "judge", "random:prompt")),
    ("cumulative-logit", ("time:3",)),
    ("thurstone-score", ("judge", "random:prompt")),
    ("plackett-luce", ()),
    ("bradley-terry, priors by name", ("order", "judge")),
    ("cumulative-logit, priors of scales", ("judge", "random:prompt")),
    ("bradley-terry, families", ("judge",)),
    ("bradley-terry, an earlier fit", ("order", "judge")),
)
ONLY_NUTS = (
    ("bradley-terry", ("reliability",)),
    ("davidson", ("reliability", "order")),
    ("bradley-terry", ("cycles",)),
    ("pulls, horseshoe", ()),
    ("margins, noise by arm", ()),
    ("davidson, priors that are not normal", ("order", "random:prompt")),
)

FAMILIES = {"a0": "one", "a1": "one", "a2": "two", "a3": "two"}  # a4 is a family of its own


def made(model: str, terms: str) -> tuple[Any, Any]:
    """Return the model of a cell and its design."""
    from bayesduel.models import (
        BradleyTerry,
        Covariates,
        LogisticAttributes,
        PerturbedThurstone,
        PlackettLuce,
        PreferenceMatrix,
        Scores,
        ThurstoneScore,
        TimeVarying,
        add_term,
        named,
    )

    few, many = _items(8, 2), _items(20, 3)
    special = {
        "preference-matrix": PreferenceMatrix(),
        "items": BradleyTerry(Covariates(few)),
        "pulls": LogisticAttributes(items=many),
        "pulls, horseshoe": LogisticAttributes(items=_items(20, 6), sparsity=2),
        "thurstone-score": ThurstoneScore(unit=1.0),
        "margins, noise by arm": ThurstoneScore(unit=1.0, variances="arm"),
        "margins, noise by pair": ThurstoneScore(unit=1.0, variances="pair"),
        "margins, degrees learned": ThurstoneScore(unit=1.0, degrees="learned"),
        "perturbed-thurstone": PerturbedThurstone(unit=1.0),
        "plackett-luce, best and worst": PlackettLuce(),
        "plackett-luce, items": PlackettLuce(Covariates(few, item_effect=False)),
        "bradley-terry, priors by name": BradleyTerry(),
        "davidson, priors that are not normal": named("davidson"),
        "cumulative-logit, priors of scales": named("cumulative-logit"),
        "bradley-terry, families": BradleyTerry(Scores(family=FAMILIES)),
        "bradley-terry, an earlier fit": BradleyTerry(),
    }
    found = special[model] if model in special else named(model)
    for term in terms.split(" + ") if terms else ():
        smooth = term == "time:smooth"
        found = found + TimeVarying("smooth", periods=3) if smooth else add_term(found, term)
    if found.log_type == "pulls":
        return found, _pulls(found.items.labels)
    if found.log_type == "rankings":
        return found, _rankings(few.labels, best_worst="best" in model)
    if "prior" in model or "earlier" in model:
        found = found.with_priors(_priors(model))
    if model.startswith("cumulative-logit"):
        return found, _graded(_duels(5, 4))
    return found, _duels(8, 2, few.labels) if model == "items" else _duels(5, 4)


def run(cell: Cell, seed: int) -> Record:
    """Return the summary of a calibration."""
    import bayesduel as bd

    model, design = made(cell["model"], cell["terms"])
    tree = bd.calibrate(
        model,
        design,
        TRUTHS[cell["route"]],
        method="auto" if cell["route"] == "engine" else "nuts",
        draws=DRAWS,
        seed=seed,
    )
    summary = tree["summary"].to_dataset().to_dataframe().reset_index()
    return {
        "p_value": tree.attrs["p_value"],
        "refused": tree.attrs["n_refused"],
        "parameters": summary.to_dict("records"),
    }


def rows(cell: Cell, records: list[Record]) -> list[Record]:
    """Return a row: the least uniform parameter, and the coverage of the parameters."""
    (record,) = records
    parameters = record["parameters"]
    worst = min(parameters, key=lambda row: row["p_value"])
    entries = sum(row["entries"] for row in parameters)

    def covered(prob: int) -> str:
        shares = [100 * row[f"coverage_{prob}"] for row in parameters]
        return f"{min(shares):.0f} to {max(shares):.0f} %"

    return [
        {
            **cell,
            "truths": TRUTHS[cell["route"]] - record["refused"],
            "entries": entries,
            "least uniform": worst["parameter"],
            "its p-value": f"{worst['p_value']:.2g}",
            "corrected for all": f"{record['p_value']:.2g}",
            "50 % intervals cover": covered(50),
            "90 % intervals cover": covered(90),
            "target": "met" if record["p_value"] >= LEAST else "missed",
        }
    ]


def sizes(cell: Cell) -> tuple[int, int]:
    """Return the replicates of the quick and of the full form: chains are left to the full."""
    return (1, 1) if cell["route"] == "engine" else (0, 1)


# -- in calling order ----------------------------------------------------------------------


def _items(n_items: int, n_attributes: int) -> Any:
    import numpy as np
    import pandas as pd

    import bayesduel as bd

    values = np.random.default_rng(0).standard_normal((n_items, n_attributes))
    frame = pd.DataFrame(values, columns=[f"x{k}" for k in range(n_attributes)])
    frame.insert(0, "item", [f"i{k:02}" for k in range(n_items)])
    return bd.read_items(frame)


def _priors(model: str) -> Any:
    """Return priors that somebody might have, by the name of a variable."""
    import numpy as np

    import bayesduel as bd
    from bayesduel import Prior

    if "by name" in model:
        known = {
            "a0": Prior("Normal", mu=0.4, sigma=0.3),
            "a3": Prior("Normal", mu=-1.0, sigma=0.5),
        }
        return {
            "scale": Prior("HalfNormal", sigma=0.5),
            "order": Prior("Normal", mu=0.1, sigma=0.05),
            "score": known,
        }
    if "not normal" in model:
        return {
            "scale": Prior("Gamma", alpha=4.0, beta=5.0),
            "order": Prior("StudentT", nu=4, mu=0.3, sigma=0.2),
            "tie": Prior("Gumbel", mu=-0.5, beta=0.4),
        }
    if "of scales" in model:
        return {
            "scale": Prior("LogNormal", mu=0.0, sigma=0.3),
            "judge_scale": Prior("Exponential", lam=2.0),
            "prompt_scale": Prior("InverseGamma", alpha=4.0, beta=1.5),
        }
    frame = _duels(5, 4)
    strength = {"a0": 0.8, "a1": 0.3, "a2": 0.0, "a3": -0.4, "a4": -0.7}
    odds = frame["left"].map(strength) - frame["right"].map(strength)
    won = np.random.default_rng(3).random(len(frame)) < 1 / (1 + np.exp(-odds))
    last_year = bd.Duels.from_votes(frame["left"], frame["right"], won.astype(float))
    return {"score": bd.earlier_scores(bd.fit(last_year, "bradley-terry"), spread=0.2)}


def _duels(n_arms: int, each: int, labels: tuple[str, ...] | None = None) -> Any:
    """Return a frame: every ordered pair `each` times, under conditions that go round."""
    import numpy as np
    import pandas as pd

    i, j, k = (x.ravel() for x in np.indices((n_arms, n_arms, each)))
    met = i != j
    i, j, k = i[met], j[met], k[met]
    names = np.array(labels or [f"a{arm}" for arm in range(n_arms)])
    return pd.DataFrame(
        {
            "left": names[i],
            "right": names[j],
            "judge": [f"j{g}" for g in (k + i) % 4],
            "category": [f"c{g}" for g in (k + 2 * j) % 3],
            "prompt": [f"p{g}" for g in (2 * k + i + j) % 5],
            "time": (k + i) % 3 + 0.5,
            "x": np.random.default_rng(0).standard_normal(len(i)),
        }
    )


def _rankings(labels: tuple[str, ...], *, best_worst: bool) -> Any:
    """Return 24 rankings of four of eight arms, or as many of the best and the worst of five."""
    import bayesduel as bd

    starts, n = range(24), 5 if best_worst else 4
    shown = [[labels[(k + step * (1, 3, 5)[k // 8]) % 8] for step in range(n)] for k in starts]
    if best_worst:
        return bd.Rankings.from_orders([[a[0], a[1:-1], a[-1]] for a in shown])
    return bd.Rankings.from_orders(shown)


def _graded(frame: Any) -> Any:
    """Return a log of five grades on the design of a frame."""
    import numpy as np

    import bayesduel as bd

    grade = np.arange(len(frame)) % 5 - 2
    return bd.Duels.from_votes(
        frame["left"],
        frame["right"],
        (np.sign(grade) + 1) / 2,
        grade=grade,
        judge=frame["judge"],
        time=frame["time"],
        keep={"prompt": frame["prompt"]},
    )


def _pulls(labels: tuple[str, ...]) -> Any:
    import numpy as np

    import bayesduel as bd

    n = np.full(len(labels), 12.0)
    return bd.Pulls(arms=labels, n=n, successes=n // 2)


def _cells() -> tuple[Cell, ...]:
    crossed = [(response, terms) for terms in ENGINE for response in RESPONSES]
    crossed.remove(("thurstone", ("order", "category")))  # as costly as the other three
    routes = (("engine", (*crossed, *FURTHER)), ("sampler", SAMPLER), ("nuts", ONLY_NUTS))
    return tuple(
        {"model": model, "terms": " + ".join(terms), "route": route}
        for route, cases in routes
        for model, terms in cases
    )


EXPERIMENT = Experiment(
    name="calibration_by_simulation",
    title="Calibration by simulation",
    question=(
        "Is the rank of a true parameter among the draws of its posterior uniform, for truths from "
        "the prior (Talts et al. 2018; `bd.calibrate`)? Five arms, every ordered pair four times "
        "(items: eight, twice; pulls: twenty items, twelve times), with judges, categories, times "
        "and a covariate. A p-value by cell (`pot_c` of ArviZ), by Bonferroni's correction, over "
        "every entry of every parameter, the preferences of all pairs and the log likelihood; and "
        "the range over parameters of how often central intervals cover. The route engine is what "
        "method='auto' does: NUTS where the certificate does not hold. The route sampler is "
        "method='nuts' on the density of the linear predictor, and nuts that on the `pm.Model`."
    ),
    target=f"a corrected p-value of at least {LEAST}.",
    cells=_cells(),
    run=run,
    rows=rows,
    quick=1,
    full=1,
    sizes=sizes,
    notes=(
        "The plain Thurstone model misses the target here and not again: with 600 truths each, "
        "seeds 1 and "
        "2 of `bd.calibrate` give corrected p-values of 1 and 0.44 on the same design, and among "
        "as many cells as these one value of 0.001 is expected in 3 to 4 % of runs."
    ),
)
