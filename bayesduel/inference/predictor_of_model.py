"""The linear predictor of a model on a log: which coefficients it has, and their design.

It is read off the model's declaration: each term says which coefficients enter the predictor of a
cell, and times what.
"""

from math import prod
from typing import Any

import numpy as np
from scipy import sparse

from bayesduel.inference.design import Columns, Design, pair_differences, side_differences
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.inference.term_coefficients import TermCoefficients, members_of
from bayesduel.models.prior import normals
from bayesduel.models.registry import is_shipped
from bayesduel.models.scores import Scores
from bayesduel.models.term import Term
from bayesduel.models.touch import check_touches

__all__ = ["linear_predictor"]


def linear_predictor(model: Any, cells: Any) -> LinearPredictor:
    """Return the density of a model on the cells of a log.

    Raises ValueError if eta is not linear in the parameters.
    """
    if model.terms.why_nuts:
        raise ValueError(f"eta should be linear in the parameters of {model.name}")
    model = model.settled(cells.log)
    data = dict(cells.data)
    unit = float(model.response.unit(data))
    lengths = _lengths_of_axes(model, cells.log)
    n_cells = len(cells)
    scores: dict[str, TermCoefficients] = {}
    others: dict[str, TermCoefficients] = {}
    columns = []
    own = dict(model.own)
    blocks = _coefficients(model, cells.log, lengths)
    for name, block in blocks.items():
        if isinstance(block.term, Scores):
            scores[name] = block
            continue
        term = block.term
        touches = term.touches(data)
        check_touches(type(term).__name__, touches, n_cells)
        if touches:
            others[name] = block
            design_of_term = _columns(block, touches, cells, lengths["arm"])
            columns.append(design_of_term)
        else:  # it enters the response itself, as the order of cells of both orders does
            own[term.parameter] = _prior_of_number(block, data, unit)
    hypers = {}
    for name, scale in model.scales.items():
        hypers[name] = None if scale.dim is None else lengths[scale.dim]
    beside = _beside(columns, n_cells)
    design: Design = beside
    for block in scores.values():  # one at most
        design = _with_scores(block.term, beside, cells)
    return LinearPredictor(
        model,
        data,
        design,
        scores | others,
        own,
        hypers,
    )


def _lengths_of_axes(model: Any, log: Any) -> dict[str, int]:
    """Return the length of each axis of coefficients, by name."""
    lengths = {"arm": log.n_arms, "free": log.n_arms - 1}
    for name, values in model.terms.coords(log).items():
        lengths[name] = len(values)
    return lengths


def _coefficients(
    model: Any,
    log: Any,
    lengths: dict[str, int],
) -> dict[str, TermCoefficients]:
    """Return the coefficients of each term, by the name of their free numbers."""
    said = model.entries(log)
    found = {}
    for term in model.terms:
        own = tuple(lengths[axis] for axis in term.free_dims)
        priors = None
        if term.parameter in said:
            priors = normals(said[term.parameter])
        member = members_of(term, log.arms)
        found[term.free] = TermCoefficients(term, own, priors, member)
    return found


def _prior_of_number(block: TermCoefficients, data: Any, unit: float) -> tuple[float, float]:
    """Return the prior mean and deviation of a coefficient that is one number."""
    if block.said is not None:
        mean, deviation = block.said
        return float(mean[0]), float(deviation[0])
    if block.term.flat:
        return 0.0, np.inf
    deviation = block.term.deviation({}, data, unit)
    return 0.0, float(deviation)


def _with_scores(term: Term, beside: Columns, cells: Any) -> Design:
    """Return the design of scores and of the columns beside them."""
    data = cells.data
    n_arms = cells.log.n_arms
    if _of_teams(cells):
        touches = term.design(data)
        members = columns_of(touches, (n_arms,), len(cells))
        return side_differences(Columns(members), beside)
    return pair_differences(data["first"], data["second"], n_arms, beside)


def _of_teams(cells: Any) -> bool:
    """Return whether sides have several arms."""
    return "first_0" in cells.data


def _beside(columns: "list[sparse.csr_array]", n_cells: int) -> Columns:
    """Return the design of all terms but the scores."""
    if not columns:
        return Columns(np.zeros((n_cells, 0)))
    stacked = sparse.hstack(columns)
    matrix = sparse.csr_array(stacked)
    # Products of pairs need a dense matrix. Value and derivatives of 9,163 cells with 64 columns
    # take 6 ms so, with 128 columns 16 ms; sparse ones 1 ms.
    if matrix.shape[1] <= 64:
        return Columns(matrix.toarray())
    return Columns(matrix)


def _columns(
    block: TermCoefficients,
    touches: Any,
    cells: Any,
    n_arms: int,
) -> "sparse.csr_array":
    """Return the design of a term that is not the scores, (cells, coefficients).

    Raises ValueError if a user's term does not turn with the sides of a duel.
    """
    columns = columns_of(touches, block.lengths, len(cells))
    term = block.term
    turns = not term.reads_order
    if turns and not is_shipped(type(term)):
        _check_sides(block, columns, cells)
    if term.over_arms and _of_teams(cells):
        return balanced(columns, n_arms)
    return columns


def _check_sides(block: TermCoefficients, columns: "sparse.csr_array", cells: Any) -> None:
    """Raise ValueError unless a user's term changes its sign where the sides are exchanged.

    columns: what multiplies its coefficients, (cells, coefficients).
    """
    exchanged = block.term.design(_exchanged(cells))
    turned = columns_of(exchanged, block.lengths, len(cells))
    largest = max(abs(columns).max(), 1.0)
    remainder = columns + turned
    away = abs(remainder).max()
    # Two orders of n numbers have sums that differ by 2e-16 n (Higham, "Accuracy and Stability of
    # Numerical Algorithms", 2002, eq. 4.4).
    if away > 1e-9 * largest:
        name = type(block.term).__name__
        raise ValueError(
            f"{name}.design should change its sign where the sides of a duel are exchanged, as a "
            "difference of left less right does. If it is about the side itself, the class of the "
            "term needs reads_order = True"
        )


def _exchanged(cells: Any) -> dict[str, np.ndarray]:
    """Return the data of cells whose sides are exchanged: arms change places, numbers their sign.

    Numbers that terms ask of a vote are differences of left less right.
    """
    data = dict(cells.data)
    for name, column in cells.seen.columns.items():
        values = np.asarray(column)
        is_number = values.dtype.kind == "f"
        if is_number and name != "left_first":
            data[name] = -values
    for name in list(data):
        if not name.startswith("first"):
            continue
        other = name.replace("first", "second", 1)
        if other in data:
            data[name], data[other] = data[other], data[name]
    return data


def columns_of(touches: Any, lengths: tuple[int, ...], n_cells: int) -> "sparse.csr_array":
    """Return the design of a term as a matrix, (cells, coefficients)."""
    size = prod(lengths)
    total = sparse.csr_array((n_cells, size))
    cell = np.arange(n_cells)
    for index, value in touches:
        value = np.asarray(value, dtype=float)
        n_last = value.shape[1] if value.ndim == 2 else 1
        start = np.zeros(n_cells, dtype=np.int64)
        for at, length in zip(index, lengths, strict=False):
            along = np.asarray(at) % length
            start = start * length + along
        last = np.arange(n_last)
        place = start[:, None] * n_last + last
        rows = np.repeat(cell, n_last)
        column = place.ravel()
        entries = (value.ravel(), (rows, column))
        total = total + sparse.csr_array(entries, shape=total.shape)
    return sparse.csr_array(total)


def balanced(columns: "sparse.csr_array", n_arms: int) -> "sparse.csr_array":
    """Return the design of coefficients that are centred over the arms, from that of any.

    They differ where the sides of a cell differ in size. The last axis is that of the arms.
    """
    groups = sparse.eye_array(columns.shape[1] // n_arms)
    every_arm = np.ones((n_arms, 1))
    sums = sparse.kron(groups, every_arm)
    surplus = sparse.csr_array(columns @ sums)
    surplus.eliminate_zeros()
    if not surplus.nnz:
        return columns
    each = every_arm.T / n_arms
    shares = sparse.kron(groups, each)
    level = surplus @ shares
    return sparse.csr_array(columns - level)
