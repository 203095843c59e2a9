"""Draws from the prior of a model, and the log density of the priors that somebody chose."""

import logging
import warnings
from typing import Any

import numpy as np

from bayesduel.inference.nuts import INNER
from bayesduel.models.settings import Arrays

__all__ = ["check_proper", "log_priors", "prior_draws"]


def check_proper(model: Any) -> None:
    """Raise ValueError where the prior of a model is flat, so that nothing can be drawn from it."""
    flat = [part.key for part in model.terms if part.flat]
    if flat:
        raise ValueError(
            f"scale should be finite to draw from the prior of {model.name}, got a flat prior of "
            f"{flat[0]}"
        )


def prior_draws(model: Any, log: Any, n: int, seed: int) -> dict[str, np.ndarray]:
    """Return `n` draws of all parameters from the prior, by the names that a fit has, draws first.

    The first draws do not depend on how many are made. The model is settled; sizes of the
    parameters are read off the log, not its outcomes.

    Raises ValueError if the prior is flat.
    """
    import pymc as pm
    from pytensor.compile.mode import Mode

    check_proper(model)
    # What the duels of a pair share is a parameter, as where single duels are left out.
    cells = model.cells(log, unit="duel" if model.response.coupled else "")
    logging.getLogger("pymc.sampling.forward").setLevel(logging.WARNING)  # it names what it draws
    with model.build(cells) as built, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba notes that it draws in object mode
        drawn = [v.name for v in (*built.free_RVs, *built.deterministics)]
        tree = pm.sample_prior_predictive(
            n,
            var_names=[name for name in drawn if name not in ("eta", "preference")],
            random_seed=seed,
            compile_kwargs={"mode": Mode("py", None)},  # type: ignore[arg-type]  # it runs briefly
        )
    found = {
        str(name): v.values[0]
        for name, v in tree["prior"].data_vars.items()
        if not str(name).endswith(INNER)
    }
    complete: dict[str, np.ndarray] = model.complete(found, cells, np.random.default_rng(seed))
    return complete


def log_priors(model: Any, posterior: Arrays, data: Arrays) -> dict[str, np.ndarray]:
    """Return the log density of the priors that somebody chose, (draws,) by parameter.

    These are the priors of learned scales, of the response's own numbers, and of coefficients whose
    deviation is fixed, up to constants; flat ones are left out. The normal distribution of
    coefficients given a learned scale is a part of the model, not a choice about it. Of a settled
    model, its parameters by name, draws first, and what it knows of each cell.

    References
    ----------
    Kallioinen, Paananen, Bürkner & Vehtari, "Detecting and diagnosing prior and likelihood
    sensitivity with power-scaling", Statistics and Computing 2024, section 2.4 (of hierarchical
    models the top level alone is scaled).
    """
    known, unit = model.parameters(posterior), model.response.unit(data)
    if "degrees" in known:
        known["degrees_over_1"] = known["degrees"] - 1.0
    found: dict[str, np.ndarray] = {}
    for name, scale in model.scales.items():
        if scale.prior != "flat":
            logs = np.log(np.asarray(known[name], dtype=float))
            density = scale.log_density(logs, unit) - logs  # of the number, not of its logarithm
            found[name] = density.reshape(len(density), -1).sum(axis=1)
    if not model.terms.flat:
        for name, (mean, deviation) in model.response.own.items():
            found[name] = -0.5 * ((np.asarray(known[name]) - mean) / deviation) ** 2
    for part in model.terms:
        found |= part.log_prior(known, data, unit)
    return found
