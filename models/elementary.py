"""Elementary functions of a density that is written once, for PyTensor graphs and for arrays."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln, log_ndtr

if TYPE_CHECKING:
    from pytensor.tensor import TensorVariable


__all__ = ["Quantity", "Size", "Unit", "centre", "elementary"]

type Quantity = np.ndarray | TensorVariable[Any, Any]  # of draws and data, or of the pm.Model
type Unit = Quantity | float  # of the scores, on which priors stand
type Size = int | tuple[int, ...] | None  # of what is drawn

ARRAYS = SimpleNamespace(
    exp=np.exp,
    log=np.log,
    log1p=np.log1p,
    expm1=np.expm1,
    gammaln=gammaln,
    softplus=lambda x: np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))),
    log_ndtr=log_ndtr,
)


def elementary(value: object) -> Any:
    """Return exp, log, log1p, expm1, gammaln, ... of arrays, or of tensors like `value`."""
    if isinstance(value, np.ndarray | np.generic | float | int):
        return ARRAYS
    import pytensor.tensor as pt

    return SimpleNamespace(
        exp=pt.exp,
        log=pt.log,
        log1p=pt.log1p,
        expm1=pt.expm1,
        gammaln=pt.gammaln,
        softplus=pt.softplus,
        log_ndtr=_log_ndtr,
    )


def _log_ndtr(x: Quantity) -> Any:
    """Return log Phi(x), accurate in the far tail."""
    import pytensor.tensor as pt

    root = np.sqrt(2.0)
    negative = x < 0.0
    low = pt.switch(negative, x, 0.0)  # each branch sees only arguments it is finite at
    high = pt.switch(negative, 0.0, x)
    of_low = pt.log(pt.erfcx(-low / root) / 2.0) - low**2 / 2.0
    of_high = pt.log1p(-pt.erfc(high / root) / 2.0)
    return pt.switch(negative, of_low, of_high)


def centre(free: Quantity) -> Any:
    """Map K - 1 free numbers (..., K - 1) to K that sum to zero, keeping lengths; tensors."""
    import pytensor.tensor as pt

    total = free.sum(axis=-1, keepdims=True)
    n_arms = free.shape[-1] + 1.0
    root = pt.sqrt(n_arms)
    return pt.concatenate([free - total / (n_arms + root), -total / root], axis=-1)
