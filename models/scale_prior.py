"""Learned positive numbers: one declaration of a prior, for the ``pm.Model`` and every method."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayesduel.models.elementary import Unit
from bayesduel.models.prior import LOGS, Prior

__all__ = ["Scale"]


@dataclass(frozen=True)
class Scale:
    """The prior of a learned positive number, or of one for each entry of a dimension.

    Attributes
    ----------
    prior
        "half-normal" (scale `size`), "log-normal" (median `size`, `spread` of the logarithm), or
        "flat" in the logarithm; or a :class:`Prior` of positive numbers, in the unit of the scores.
    size, spread
        As `prior` says. None: the size that the response finds typical of scores. A
        :class:`Prior` in place of the size is the whole prior, as where a term's setting is one.
    tail
        Of a log-normal one: share of a second, broader part of the same median, and its spread.
    dim
        Dimension along which there is one each, or None.
    in_units
        Whether `size` is in the unit of the response.

    Examples
    --------
    >>> bd.models.Scale("half-normal", 2.0)
    Scale(prior='half-normal', size=2.0, spread=1.0, tail=None, dim=None, in_units=True)
    """

    prior: Literal["half-normal", "log-normal", "flat"] | Prior
    size: float | Prior | None = 1.0
    spread: float = 1.0
    tail: tuple[float, float] | None = None
    dim: str | None = None
    in_units: bool = True

    def __post_init__(self) -> None:
        said = self.size if isinstance(self.size, Prior) else self.prior
        if not isinstance(said, Prior):
            return
        if not said.positive:
            raise ValueError(f"prior of a scale should allow only positive numbers, got {said}")
        known = said.parameters
        own: dict[str, Any] = {"prior": said, "size": 1.0, "tail": None, "in_units": False}
        if said.distribution == "HalfNormal":
            own |= {"prior": "half-normal", "size": known["sigma"]}
        elif said.distribution == "LogNormal":
            middle = float(np.exp(known["mu"]))
            own |= {"prior": "log-normal", "size": middle}
            own["spread"] = known["sigma"]
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def text(self, unit: float) -> str:
        """Return the prior in PyMC's words."""
        if isinstance(self.prior, Prior):
            return str(self.prior)
        if self.prior == "flat":
            return "flat in its logarithm"
        size = self._size(unit)
        if self.prior == "half-normal":
            return f"HalfNormal(sigma={size:.4g})"
        mu = np.log(size)
        parts = []
        for share, spread in self._parts:
            words = f"LogNormal(mu={mu:.4g}, sigma={spread:g})"
            if share != 1:
                words = f"{share:g} {words}"
            parts.append(words)
        return " + ".join(parts)

    def log_density(self, log_value: np.ndarray, unit: float) -> np.ndarray:
        """Return the log density of its logarithm, shape of `log_value`."""
        if isinstance(self.prior, Prior):
            value = np.exp(log_value)
            return self.prior.log_density(value) + log_value
        if self.prior == "flat":
            return np.zeros_like(log_value)
        size = self._size(unit)
        log_size = np.log(size)
        if self.prior == "half-normal":
            constant = 0.5 * np.log(2 / np.pi) - log_size
            standard = np.exp(log_value) / size
            return constant - 0.5 * standard**2 + log_value
        parts = []
        for share, spread in self._parts:
            standard = (log_value - log_size) / spread
            log_height = np.log(share / spread)
            parts.append(log_height - 0.5 * standard**2)
        log_sum = np.logaddexp.reduce(parts)
        return log_sum - 0.5 * np.log(2 * np.pi)

    def of_logarithm(self, unit: float) -> tuple[float, float]:
        """Return mean and standard deviation of its logarithm."""
        if isinstance(self.prior, Prior):
            log_mass = self.log_density(LOGS, unit)
            mass = np.exp(log_mass)
            mass /= mass.sum()
            mean = float(mass @ LOGS)
            squares = (LOGS - mean) ** 2
            variance = float(mass @ squares)
            return mean, variance**0.5
        size = self._size(unit)
        middle = float(np.log(size))
        if self.prior == "half-normal":  # half the logarithm of a chi-squared number
            below = np.euler_gamma + np.log(2)
            mean = middle - 0.5 * below
            return mean, np.pi / 8**0.5
        variances = [share * spread**2 for share, spread in self._parts]
        variance = sum(variances)
        return middle, variance**0.5

    def add(self, name: str, unit: Unit) -> Any:
        """Add it to the PyMC model in context."""
        import pymc as pm
        import pytensor.tensor as pt

        if isinstance(self.prior, Prior):
            return self.prior.add(name, self.dim)
        if self.prior == "flat":
            value = pm.HalfFlat(name, dims=self.dim)
            log_value = pt.log(value)
            pm.Potential(f"{name}_flat", -log_value)
            return value
        size = self._size(unit)
        if self.prior == "half-normal":
            return pm.HalfNormal(name, size, dims=self.dim)
        middle = pt.log(size)
        if self.tail is None:
            return pm.LogNormal(name, middle, self.spread, dims=self.dim)
        shares = []
        parts = []
        for share, spread in self._parts:
            shares.append(share)
            part = pm.LogNormal.dist(middle, spread)
            parts.append(part)
        lengths = []
        if self.dim is not None:
            length = pm.modelcontext(None).dim_lengths[self.dim]
            lengths.append(length)
        start = pt.full(lengths, pt.exp(middle))  # PyMC's is the mean, far out
        return pm.Mixture(name, shares, parts, dims=self.dim, initval=start)

    @property
    def _parts(self) -> list[tuple[float, float]]:
        """Share and spread of the normal distributions of the logarithm."""
        if self.tail is None:
            return [(1.0, self.spread)]
        share, spread = self.tail
        return [(1.0 - share, self.spread), (share, spread)]

    def _size(self, unit: Unit) -> Any:
        assert isinstance(self.size, int | float)
        return self.size * unit if self.in_units else self.size
