"""Draws from the prior of a model, and the log density of the priors that somebody chose."""

import logging
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bayesduel.data.read.duels import log_in
from bayesduel.inference.default_model import AUTO, choose_model
from bayesduel.inference.gaussian_prior import Families, log_projected
from bayesduel.inference.nuts import INNER, variable_names
from bayesduel.inference.term_coefficients import members_of
from bayesduel.models.prior import Entries, normals
from bayesduel.models.scores import FAMILY
from bayesduel.models.settings import Arrays, Named
from bayesduel.models.term import Term
from bayesduel.text import join

__all__ = ["check_proper", "log_priors", "prior_draws", "prior_words", "priors"]


def priors(
    duels: Any,
    model: Any = AUTO,
    priors: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Return the prior of each variable of the fit of a model to a log.

    Parameters
    ----------
    duels
        The log.
    model
        A model, its name, or "auto", as for :func:`bayesduel.fit`.
    priors
        Priors of your own, likewise.

    Returns
    -------
    One row a variable, or an entry with a prior of its own (``score[gpt-5]``), by the name that
    `priors` of :func:`bayesduel.fit` takes. ``prior`` is in PyMC's words, in the unit of the
    variable, and ``said`` whether it is yours. A deviation that is a name, as in ``Normal(mu=0,
    sigma=scale)``, is that variable: such a row shows what the coefficients are given it, and takes
    no prior of its own unless they are scores. Scores are centred afterwards.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> duels = bd.datasets.load("baseball1987")
    >>> bd.priors(duels, priors={"order": bd.Prior("Normal", mu=0.1, sigma=0.05)})
                                     prior   said
    score       Normal(mu=0, sigma=scale)  False
    scale             HalfNormal(sigma=2)  False
    order    Normal(mu=0.1, sigma=0.05)   True
    """
    log: Any = log_in(duels)
    choice = choose_model(model, log, priors)
    model = choice.model.settled(log)
    rows = prior_words(model, model.cells(log))
    return pd.DataFrame.from_dict(rows, orient="index", columns=["prior", "said"])


def prior_words(model: Any, cells: Any) -> dict[str, tuple[str, bool]]:
    """Return the prior of each variable of a settled model in words, and whether it was said."""
    unit = float(model.response.unit(cells.data))
    said = model.said
    entries = model.entries(cells.log)
    rows: dict[str, tuple[str, bool]] = {}
    for part in model.terms:
        if isinstance(part, Term):
            own = entries.get(part.parameter)
            rows |= _of_term(part, own, model, cells, unit)
        for name in part.scales:
            if name in model.scales:
                rows[name] = ("", name in said)
    for name, scale in model.scales.items():
        rows[name] = (scale.text(unit), name in said)
    for name, (mean, deviation) in model.response.own.items():
        usual = f"Normal(mu={mean:g}, sigma={deviation:g})"
        text = "flat"
        if not model.terms.flat:
            text = str(said.get(name, usual))
        rows[name] = (text, name in said)
    return rows


def _of_term(
    part: Term,
    said: Entries | None,
    model: Any,
    cells: Any,
    unit: float,
) -> dict[str, tuple[str, bool]]:
    """Return the prior in words, and whether it was said, of the coefficients of a term.

    By name, or by entry where entries differ.
    """
    name = part.parameter
    if part.flat:
        return {name: ("flat", False)}
    learned = [scale for scale in part.scales if scale in model.scales]
    sizes = np.ones(0)
    unsaid = said is None or None in said
    if unsaid and not learned:
        deviation = part.deviation({}, cells.data, unit)
        numbers = np.asarray(deviation, dtype=float)
        sizes = np.atleast_1d(numbers)
    axis = part.dims.get(name, ())[-1:]
    labels: Any = [""]
    if axis == ("arm",):
        labels = cells.log.arms
    elif axis:
        coords = model.terms.coords(cells.log)
        labels = coords[axis[0]]
    usual = f"Normal(mu=0, sigma={learned[0]})" if learned else ""
    if len(learned) > 1:
        usual = f"normal given {join(learned)}"
    n = len(labels)
    unlearned = np.resize(sizes, n)
    words = []
    for k in range(n):
        own = None if said is None else said[k]
        known = usual
        if not learned:
            known = f"Normal(mu=0, sigma={unlearned[k]:.4g})"
        text = str(own or known)
        words.append((text, own is not None))
    different = set(words)
    if len(different) == 1:
        return {name: words[0]}
    found = {name: (usual, False)} if learned else {}
    told = list(found.values())
    for label, one in zip(labels, words, strict=True):
        if one not in told:
            found[f"{name}[{label}]"] = one
    return found


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
        derived = ("eta", "preference")
        names = variable_names(built)
        kept = [name for name in names if name not in derived]
        tree = pm.sample_prior_predictive(
            n,
            var_names=kept,
            random_seed=seed,
            compile_kwargs={"mode": Mode("py", None)},  # type: ignore[arg-type]  # it runs briefly
        )
    found = {}
    for label, variable in tree["prior"].data_vars.items():
        name = str(label)
        if not name.endswith(INNER):
            found[name] = variable.values[0]
    rng = np.random.default_rng(seed)
    complete: dict[str, np.ndarray] = model.complete(found, cells, rng)
    return complete


def log_priors(model: Any, posterior: Arrays, cells: Any) -> dict[str, np.ndarray]:
    """Return the log density of the priors that somebody chose, (draws,) by parameter.

    These are the priors of learned scales, of the response's own numbers, and of coefficients whose
    deviation is fixed, up to constants; flat ones are left out. The normal distribution of
    coefficients given a learned scale is a part of the model, not a choice about it. Of a settled
    model, its parameters by name, draws first, and its cells.

    References
    ----------
    Kallioinen, Paananen, Bürkner & Vehtari, "Detecting and diagnosing prior and likelihood
    sensitivity with power-scaling", Statistics and Computing 2024, section 2.4 (of hierarchical
    models the top level alone is scaled).
    """
    data = cells.data
    known = model.parameters(posterior)
    unit = model.response.unit(data)
    entries = model.entries(cells.log)
    if "degrees" in known:
        known["degrees_over_1"] = known["degrees"] - 1.0
    found: dict[str, np.ndarray] = {}
    for name, scale in model.scales.items():
        if scale.prior == "flat":
            continue
        number = np.asarray(known[name], dtype=float)
        logs = np.log(number)
        density = scale.log_density(logs, unit) - logs  # of the number, not of its logarithm
        by_draw = density.reshape(len(density), -1)
        found[name] = by_draw.sum(axis=1)
    if not model.terms.flat:
        for name, (mean, deviation) in model.response.own.items():
            value = np.asarray(known[name])
            if name in model.said:
                found[name] = model.said[name].log_density(value)
            else:
                standard = (value - mean) / deviation
                found[name] = -0.5 * standard**2
    for part in model.terms:
        parameter = getattr(part, "parameter", "")
        own = entries.get(parameter)
        if own is None:
            found |= part.log_prior(known, data, unit)
        else:
            member = members_of(part, cells.log.arms)
            found[parameter] = _log_said(part, own, known, data, unit, member)
    return found


def _log_said(
    part: Any,
    said: Entries,
    known: Named,
    data: Arrays,
    unit: Any,
    member: np.ndarray | None,
) -> np.ndarray:
    """Return the log density of coefficients, (draws,), with the priors that were said of entries.

    Of scores that of the centred ones, where all priors are normal; else that of what was said.
    """
    values = np.asarray(part.coefficients(known))
    deviation: Any = np.nan
    if None in said:
        columns = {}
        for name, value in known.items():
            if np.ndim(value) == 1:
                columns[name] = np.asarray(value)[:, None]
        deviation = part.deviation(columns, data, unit)
    normal = [one for one in said if one is None or one.distribution == "Normal"]
    all_normal = len(normal) == len(said)
    if part.over_arms and all_normal:
        mean, own = normals(tuple(normal))
        unknown = np.isnan(own)
        spread = np.where(unknown, deviation, own)
        tight = spread**-2.0
        centred_mean = mean - mean.mean()
        away = values - centred_mean
        families = None
        if member is not None:
            deviation_of_families = np.asarray(known[FAMILY])
            variance = deviation_of_families[:, None] ** 2
            families = Families(member, variance)
        by_draw = np.broadcast_to(tight, away.shape)
        return log_projected(away, by_draw, families)
    n = len(said)
    rows = values.reshape(len(values), -1, n)
    total = np.zeros(len(rows))
    for k, one in enumerate(said):
        if one is not None:
            own_values = rows[:, :, k]
            log_density = one.log_density(own_values)
            total += log_density.sum(axis=1)
    return total
