"""The regularised horseshoe: a prior of sparse coefficients."""

from typing import Any

import numpy as np

from bayesduel.models.elementary import Unit
from bayesduel.models.settings import Named
from bayesduel.system.arguments import shown_value

__all__ = ["check_sparsity", "horseshoe", "log_horseshoe"]

# Degrees of freedom of the t distribution that large coefficients have: Piironen & Vehtari,
# "Sparsity information and regularization in the horseshoe and other shrinkage priors", EJS 2017.
SLAB_FREEDOM = 4.0


def check_sparsity(sparsity: float | None, scale: Any, n: int) -> None:
    """Raise unless `sparsity` is None or a number of attributes in (0, n).

    Raises TypeError or ValueError if it is not, or if `scale`, then that of the slab, is infinite.
    """
    if sparsity is None:
        return
    if isinstance(sparsity, bool) or not isinstance(sparsity, int | float):
        raise TypeError(
            f"sparsity should be None or a number of attributes, got {shown_value(sparsity)}"
        )
    if not 0 < sparsity < n:
        raise ValueError(
            f"sparsity should be the number of attributes that you expect to matter, in (0, {n}), "
            f"got {shown_value(sparsity)}"
        )
    if not isinstance(scale, int | float) or np.isinf(scale):
        raise ValueError(f"scale should be a finite number when sparsity is given, got {scale}")


def horseshoe(scale: Any, sparsity: float, n_outcomes: Unit = 1.0, unit: Unit = 1.0) -> Any:
    """Add ``coefficient`` (attribute) to the model in context and return it.

    `scale` is the standard deviation of a coefficient that is large, in `unit`s of the response;
    `sparsity` is the expected number of relevant ones. The number of binary outcomes sets the scale
    below which a coefficient is noise.

    References
    ----------
    Piironen & Vehtari, "Sparsity information and regularization in the horseshoe and other
    shrinkage priors", Electronic Journal of Statistics 2017: eq. 2.8 with a slab of t_4 and
    eq. 3.12 for the global scale, with the pseudo variance of a binary outcome at one half.
    """
    import pymc as pm
    import pytensor.tensor as pt

    n = len(pm.modelcontext(None).coords["attribute"])
    narrow = _narrow(sparsity, n, n_outcomes, unit)
    shrinkage = pm.HalfCauchy("shrinkage", narrow)
    local = pm.HalfCauchy("local", 1.0, dims="attribute")
    half = SLAB_FREEDOM / 2
    slab_scale = half * (scale * unit) ** 2
    slab = pm.InverseGamma("slab", half, slab_scale)
    uncut = slab + shrinkage**2 * local**2
    width = shrinkage * local * pt.sqrt(slab / uncut)
    standard = pm.Normal("coefficient_standard", 0.0, 1.0, dims="attribute")
    return pm.Deterministic("coefficient", width * standard, dims="attribute")


def log_horseshoe(
    parameters: Named, scale: Any, sparsity: float, n_outcomes: Unit, unit: Unit
) -> dict[str, np.ndarray]:
    """Return the log densities of ``shrinkage`` and ``slab``, (draws,), up to constants."""
    n = np.shape(parameters["coefficient"])[-1]
    half = SLAB_FREEDOM / 2
    shrinkage = np.asarray(parameters["shrinkage"])
    slab = np.asarray(parameters["slab"])
    relative = shrinkage / _narrow(sparsity, n, n_outcomes, unit)
    slab_scale = half * (scale * unit) ** 2
    return {
        "shrinkage": -np.log1p(relative**2),
        "slab": -(half + 1) * np.log(slab) - slab_scale / slab,
    }


def _narrow(sparsity: float, n: int, n_outcomes: Unit, unit: Unit) -> Any:
    """Return the scale of the shrinkage of `n` coefficients."""
    # What one binary outcome is worth as a deviation, in logits at chance one half: 2
    return unit * sparsity / (n - sparsity) * 2.0 / n_outcomes**0.5
