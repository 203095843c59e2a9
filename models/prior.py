"""Priors by name: a distribution of PyMC and its parameters, as a user says them."""

import ast
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np

from bayesduel.system.arguments import check_text, did_you_mean, real, shown_value
from bayesduel.text import join

__all__ = ["LOGS", "Entries", "Prior", "Said", "each_of", "entries_of", "normals", "priors_of"]

# Distributions whose parameters and densities are known here: to import PyMC takes seconds.
KNOWN = {"Normal": ("mu", "sigma"), "HalfNormal": ("sigma",), "LogNormal": ("mu", "sigma")}
CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*")
LOG_2PI = float(np.log(2 * np.pi))
# Logarithms of scales at which a prior is looked at: they differ by 13 orders of magnitude, and
# 0.01 apart no density that a log could tell from a point falls between two.
LOGS = np.linspace(-15.0, 15.0, 3001)


@dataclass(frozen=True, init=False, repr=False)
class Prior:
    """A prior distribution: the name of a univariate distribution of PyMC, and its parameters.

    It is of a variable of a fit as that is, in the unit of the scores: of margins in points.

    Parameters
    ----------
    distribution
        Name of a continuous distribution of PyMC of one number: "Normal", "HalfNormal",
        "StudentT", "Gamma", ...
    *places, **parameters
        Its parameters in PyMC's order, or by PyMC's names for them.

    Attributes
    ----------
    distribution
        The name.
    parameters
        The parameters by name.

    Raises
    ------
    TypeError, ValueError
        If PyMC has no such distribution, or that distribution no such parameters.

    References
    ----------
    The record is that of Bambi (``bambi.Prior("Normal", mu=0, sigma=1)``) and of PyMC-Extras.

    Examples
    --------
    >>> bd.Prior("Normal", mu=0.1, sigma=0.05)
    Prior("Normal", mu=0.1, sigma=0.05)
    """

    distribution: str
    given: tuple[tuple[str, float], ...]

    def __init__(self, distribution: str, *places: float, **parameters: float) -> None:
        check_text(distribution, "distribution")
        by_place = _by_name(distribution, places)
        if twice := by_place.keys() & parameters.keys():
            raise ValueError(
                f"{distribution} should have each parameter once, got {min(twice)} twice"
            )
        parameters = by_place | parameters
        for name, value in parameters.items():
            real(value, f"{name} of {distribution}")
        in_order = sorted(parameters.items())
        given = tuple((name, float(value)) for name, value in in_order)
        object.__setattr__(self, "distribution", distribution)
        object.__setattr__(self, "given", given)
        _check(self)

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters by name."""
        return dict(self.given)

    @classmethod
    def parsed(cls, text: str) -> Self:
        """Return the prior of a text such as "Normal(0.1, 0.05)" or "HalfNormal(sigma=0.5)".

        Parameters
        ----------
        text
            The name of a distribution, and its parameters in PyMC's order or by name.

        Raises
        ------
        ValueError
            If it is no such text.

        Examples
        --------
        >>> bd.Prior.parsed("Normal(0.1, 0.05)")
        Prior("Normal", mu=0.1, sigma=0.05)
        """
        check_text(text, "text of a prior")
        found = CALL.fullmatch(text)
        rule = f"prior should be a call such as Normal(0.1, 0.05), got {shown_value(text)}"
        if found is None:
            raise ValueError(rule)
        name = found[1]
        try:
            call: Any = ast.parse(f"f({found[2]})", mode="eval").body
            given = [float(ast.literal_eval(value)) for value in call.args]
            named = {}
            for word in call.keywords:
                named[word.arg] = float(ast.literal_eval(word.value))
        except (SyntaxError, TypeError, ValueError):
            raise ValueError(rule) from None
        return cls(name, *given, **named)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Return the log density of values, of their shape; -inf where there is none."""
        known = self.parameters
        if self.distribution == "Normal":
            sigma = known["sigma"]
            standard = (values - known["mu"]) / sigma
            log_shape = -0.5 * standard**2
            return np.asarray(log_shape - np.log(sigma) - 0.5 * LOG_2PI)
        flat = np.ravel(np.asarray(values, dtype=float))
        density = _log_density_of(self)
        found = np.asarray(density(flat))
        return found.reshape(np.shape(values))

    def add(self, name: str, dims: str | Sequence[str] | None = None) -> Any:
        """Add a variable with this prior to the PyMC model in context."""
        kind = _kind_of(self.distribution)
        return kind(name, **self.parameters, dims=dims)

    @property
    def positive(self) -> bool:
        """Whether it is of positive numbers."""
        if self.distribution in KNOWN:
            return self.distribution != "Normal"
        of_negative = self.log_density(-np.exp(LOGS))
        return bool(np.isneginf(of_negative).all())

    def __str__(self) -> str:
        parameters = [f"{name}={value:g}" for name, value in self.given]
        return f"{self.distribution}({', '.join(parameters)})"

    def __repr__(self) -> str:
        inner = "".join(f", {name}={value!r}" for name, value in self.given)
        return f'Prior("{self.distribution}"{inner})'


Said = Prior | Mapping[str, Prior]  # of a variable, or of some of its entries by label
Entries = tuple[Prior | None, ...]  # of each entry; None where nothing was said


def each_of(said: Said) -> tuple[Prior, ...]:
    """Return the priors that were said of a variable, one or several by label."""
    if isinstance(said, Prior):
        return (said,)
    return tuple(said.values())


def entries_of(said: Said, labels: Sequence[str], name: str) -> Entries:
    """Return the prior of each entry of a variable; raise ValueError if a label is none of these.

    labels: of the entries. name: of the variable.
    """
    if isinstance(said, Prior):
        return (said,) * len(labels)
    unknown = [label for label in said if label not in labels]
    if unknown:
        hint = did_you_mean(unknown[0], labels)
        raise ValueError(
            f"priors of {name} should be of {join(labels, 8, quote=True)}, got {unknown[0]!r}{hint}"
        )
    return tuple(said.get(label) for label in labels)


def normals(said: Entries) -> tuple[np.ndarray, np.ndarray]:
    """Return means and deviations of normal priors, (n,); 0 and NaN where nothing was said."""
    mean = np.zeros(len(said))
    deviation = np.full(len(said), np.nan)
    for k, prior in enumerate(said):
        if prior is not None:
            mean[k] = prior.parameters["mu"]
            deviation[k] = prior.parameters["sigma"]
    return mean, deviation


def priors_of(given: object) -> dict[str, Said]:
    """Return priors by the name of a variable; texts such as "Normal(0, 1)" are read.

    given: by name, a prior, or priors by label.
    Raises TypeError or ValueError if they are something else.
    """
    if not isinstance(given, Mapping):
        raise TypeError(
            'priors should be a dictionary by variable, such as {"order": Prior("Normal", mu=0, '
            f"sigma=1)}}, got {shown_value(given)}"
        )
    found: dict[str, Said] = {}
    for name, one in given.items():
        check_text(name, "name of a prior")
        if not isinstance(one, Mapping):
            found[name] = _prior_of(one, name)
            continue
        by_label = {}
        for label, prior in one.items():
            by_label[str(label)] = _prior_of(prior, f"{name}[{label}]")
        found[name] = by_label
    return found


def _prior_of(given: object, name: str) -> Prior:
    if isinstance(given, str):
        return Prior.parsed(given)
    if not isinstance(given, Prior):
        raise TypeError(
            f'prior of {name} should be a bayesduel.Prior, such as Prior("Normal", mu=0, sigma=1), '
            f"got {shown_value(given)}"
        )
    return given


def _check(prior: Prior) -> None:
    """Raise ValueError unless PyMC has the distribution, with these parameters."""
    name = prior.distribution
    given = prior.parameters
    if name not in KNOWN:
        _check_by_pymc(prior)
        return
    if given.keys() != set(KNOWN[name]):
        raise ValueError(f"{name} should have the parameters {join(KNOWN[name])}, got {prior}")
    wrong = [n for n, value in given.items() if not np.isfinite(value)]
    if wrong or given["sigma"] <= 0:
        raise ValueError(f"{name} should have finite parameters and sigma > 0, got {prior}")


def _check_by_pymc(prior: Prior) -> None:
    names = _parameters_of(prior.distribution)
    wrong = [name for name in prior.parameters if name not in names]
    if wrong:
        raise ValueError(
            f"{prior.distribution} should have parameters among {join(names)}, "
            f"got {join(wrong, quote=True)}"
        )
    positive = np.exp(LOGS)
    values = np.concatenate([-positive[::-1], positive])
    try:
        density = prior.log_density(values)
    except Exception as error:  # PyMC raises what it likes of a parameter out of its range
        raise ValueError(
            f"prior should have parameters that PyMC accepts. PyMC says: {error}"
        ) from error
    if not np.isfinite(density).any():
        raise ValueError(f"prior should have a positive density for some value, got {prior}")


def _by_name(distribution: str, places: tuple[float, ...]) -> dict[str, float]:
    """Return parameters in PyMC's order by their names."""
    if not places:
        return {}
    names = KNOWN[distribution] if distribution in KNOWN else _parameters_of(distribution)
    if len(places) > len(names):
        values = ", ".join(map(repr, places))
        got = f"{distribution}({values})"
        raise ValueError(f"{distribution} should have the parameters {join(names)}, got {got}")
    return dict(zip(names, places, strict=False))


def _parameters_of(name: str) -> tuple[str, ...]:
    """Return the names of the parameters of a distribution of PyMC, in its order."""
    kind = _kind_of(name)
    names = []
    for of in inspect.signature(kind.dist).parameters.values():
        if of.kind in (of.POSITIONAL_OR_KEYWORD, of.KEYWORD_ONLY):
            names.append(of.name)
    return tuple(names)


def _kind_of(name: str) -> Any:
    """Return the distribution of PyMC of a name; raise ValueError if it is none of one number."""
    import pymc as pm

    kinds: dict[str, Any] = {}
    for known, value in vars(pm).items():
        if isinstance(value, type) and issubclass(value, pm.Continuous):
            kinds[known] = value
    kind = kinds.get(name)
    operation = getattr(kind, "rv_op", None)
    several = getattr(operation, "ndim_supp", 0) > 0  # of vectors, as Dirichlet
    if kind is None or several:
        others = [known for known in kinds if known != name]
        hint = did_you_mean(name, others)
        raise ValueError(
            "distribution should be a distribution of PyMC for a real number, such as 'Normal', "
            f"got {name!r}{hint}"
        )
    return kind


@cache
def _log_density_of(prior: Prior) -> Any:
    """Return a function of values (n,) to their log density, by PyMC."""
    import pymc as pm
    import pytensor
    import pytensor.tensor as pt
    from pytensor.compile.mode import Mode

    values = pt.vector("values")
    kind = _kind_of(prior.distribution)
    log_density = pm.logp(kind.dist(**prior.parameters), values)
    mode = Mode("py", None)  # type: ignore[arg-type]  # to compile it would take longer than it runs
    return pytensor.function([values], log_density, mode=mode)
