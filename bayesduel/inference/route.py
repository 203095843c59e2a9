"""Which route a fit takes: matrices of arm by arm, or the sparse graph of pairs that met.

Measured (docs/scale.md): from some hundred arms the sparse route costs less, and its memory grows
with arms and pairs, not with arms squared.
"""

from typing import Any, Literal, get_args

import numpy as np

from bayesduel.system.arguments import shown_value
from bayesduel.system.memory import check_square

__all__ = [
    "METHODS",
    "SPARSE",
    "SPARSE_ARMS",
    "Method",
    "check_dense",
    "check_nuts",
    "default_draws",
    "takes_sparse",
]

Method = Literal["auto", "laplace", "nuts", "variational", "gibbs"]
METHODS: tuple[Method, ...] = get_args(Method)
SPARSE = ("variational", "gibbs")
SPARSE_ARMS = 500  # from which "auto" takes the sparse route
NUMBERS = 50_000_000  # arms times draws made by default
MATRICES = 30  # of arm by arm: a factor at each node of a grid, and workspace
NUTS_CELLS = 100_000  # beyond which NUTS is expected to take hours
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
            f"method should be 'auto', 'laplace' or 'nuts' for this model, "
            f"got {shown_value(method)}: {why}"
        )
    return method in SPARSE or (method == "auto" and n_arms >= SPARSE_ARMS and not why)


def check_dense(model: Any, n_arms: int) -> None:
    """Raise ValueError unless the matrices of a fit that takes the dense route fit in memory."""
    if model.log_type != "duels" or model.items is not None:
        return  # its matrices are of attributes
    instead = (
        "fit a part (Duels.subset), a model of attributes (read_items), or BradleyTerry() with "
        "method='auto', whose sparse route needs no such matrix"
    )
    if why := model.why_not_sparse:
        instead += f" (it is not taken here: {why})"
    check_square(n_arms, MATRICES, "a fit with a score for each arm", instead)


def check_nuts(model: Any, n_cells: int) -> None:
    """Raise ValueError where NUTS, which alone can fit a model, would take hours unasked."""
    if n_cells > NUTS_CELLS:
        raise ValueError(
            f"{model.name} should have at most {NUTS_CELLS:,} rows of counts with method='auto', "
            f"which is NUTS here ({model.why_nuts}), got {n_cells:,}; fit BradleyTerry() and ask "
            "judge_agreement of judges, fit a part (Duels.subset), or allow hours with "
            "method='nuts'"
        )


def default_draws(n_arms: int, most: int, *, sparse: bool) -> int:
    """Return the number of draws made by default: `most`, or fewer of very many arms."""
    if not sparse:
        return most
    return int(np.clip(NUMBERS // max(n_arms, 1) // 4 * 4, FEWEST, most))
