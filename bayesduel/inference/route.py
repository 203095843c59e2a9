"""Which route a fit takes: matrices of arm by arm, or the sparse graph of pairs that met.

Measured (docs/scale.md): from some hundred arms the sparse route costs less, and its memory grows
with arms and pairs, not with arms squared.
"""

from typing import Any, Literal, get_args

import numpy as np

__all__ = ["METHODS", "SPARSE", "SPARSE_ARMS", "Method", "default_draws", "takes_sparse"]

Method = Literal["auto", "laplace", "nuts", "variational", "gibbs"]
METHODS: tuple[Method, ...] = get_args(Method)
SPARSE = ("variational", "gibbs")
SPARSE_ARMS = 500  # from which "auto" takes the sparse route
NUMBERS = 50_000_000  # arms times draws made by default
FEWEST = 256  # draws made by default, at least


def takes_sparse(model: Any, n_arms: int, method: Method) -> bool:
    """Return whether a fit takes the sparse route.

    Raises
    ------
    ValueError
        If `method` is a sparse one and the model cannot take it.
    """
    why = model.why_not_sparse
    if method in SPARSE and why:
        raise ValueError(
            f"method should be 'auto', 'laplace' or 'nuts' for this model, got {method!r}: {why}"
        )
    return method in SPARSE or (method == "auto" and n_arms >= SPARSE_ARMS and not why)


def default_draws(n_arms: int, most: int, *, sparse: bool) -> int:
    """Return the number of draws made by default: `most`, or fewer of very many arms."""
    if not sparse:
        return most
    return int(np.clip(NUMBERS // max(n_arms, 1) // 4 * 4, FEWEST, most))
