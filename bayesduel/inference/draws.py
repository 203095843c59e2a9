"""What a sampler hands over, whichever it was."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Sampled"]


@dataclass(frozen=True, eq=False)
class Sampled:
    """Equally weighted draws of a model's parameters, and what is known of their quality.

    Attributes
    ----------
    posterior
        Parameters by name, draws first.
    stats
        Sample statistics by name, draws first.
    log_likelihood
        By cell, shape (draws, cells), or None.
    khat, effective
        Certificate: Pareto k-hat (NaN for NUTS) and effective number of draws.
    extra
        Group ``laplace``: mode, covariance, grid of the hyperparameter.
    """

    posterior: Mapping[str, np.ndarray]
    stats: Mapping[str, np.ndarray]
    log_likelihood: np.ndarray | None
    khat: float
    effective: float
    extra: Mapping[str, Any] = field(default_factory=dict)
