"""Held-out calibration: predicted and observed win probabilities of duels left out of the fit.

The log is cut into folds; each fold is predicted by a fit of the others. Votes that the log
repeats (the same pair, by the same judge or in the same group) stay in one fold, because they
are not independent; intervals and standard errors are by such unit, not by duel.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from scipy.special import bdtr

from bayesduel.criticism.cross_validation import cut, rows_of
from bayesduel.criticism.levels import levels_by, with_votes, without_votes
from bayesduel.data.duels import Duels
from bayesduel.data.votes import Cells, distinct, unordered
from bayesduel.inference.default_model import choose_model
from bayesduel.inference.earlier_scales import EarlierScales
from bayesduel.inference.fit import sampled, takes_sparse
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.inference.psis import WEIGHED
from bayesduel.inference.sample import sample
from bayesduel.inference.stretched import draws_in
from bayesduel.intervals import wilson
from bayesduel.models.cells import data_of_rows
from bayesduel.posterior.draws import CHUNK, chunks
from bayesduel.records import Result
from bayesduel.system.arguments import check_log, whole
from bayesduel.system.options import Method
from bayesduel.system.threads import ONE_THREAD
from bayesduel.system.warnings import unwarned

if TYPE_CHECKING:
    from bayesduel.models.model import Model

__all__ = ["Calibration", "held_out"]

GUESS = float(np.log(2))  # log loss of predicting 1/2 for every duel
# Votes from which a share is judged: the standard error of a share of as many is 0.09.
ENOUGH = 30
KEPT = 2**25  # numbers kept of the draws of predictions, of which their variance is computed


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Calibration(Result):
    """Predicted and observed outcomes of held-out duels.

    Bins are by the predicted win probability of the favourite, each of about as many duels.

    Attributes
    ----------
    predicted
        Mean predicted win probability of the favourite in each bin, shape (bins,).
    observed
        Share of its duels that it won, half a win for a tie, shape (bins,).
    lower, upper
        95 % interval of `observed` around which the prediction should lie, shape (bins,): Wilson's,
        of as many independent duels as the bin's are worth, which is `n` over its design effect.
        The effect covers votes that depend on one another and the posterior variance of the mean
        prediction, which dependent votes widen by the same factor.
    n
        Held-out duels in each bin, shape (bins,).
    intraclass
        Correlation of the outcomes of two duels of one unit, estimated over all bins, from 0 to 1;
        0 where units are single duels.
    log_loss
        Mean negative log probability of the outcomes, in nats per duel; predicting 1/2 scores ln 2.
        A tie counts half of a win and half of a loss.
    log_loss_error
        Its standard error.
    folds
        How many folds.
    unit
        What was held out: "duel", "pair and judge", "pair and group", or what was asked for.
    """

    predicted: np.ndarray
    observed: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    n: np.ndarray
    intraclass: float = 0.0
    log_loss: float
    log_loss_error: float
    folds: int
    unit: str

    @property
    def inside(self) -> int:
        """How many bins have their prediction inside the interval."""
        not_below = self.lower <= self.predicted
        not_above = self.predicted <= self.upper
        return int((not_below & not_above).sum())

    @property
    def sentence(self) -> str:
        """The result in a sentence.

        "Better" or "worse" than predicting 1/2 requires 30 held-out duels or more and a log loss
        that differs from ln 2 by more than two standard errors.
        """
        gain = GUESS - self.log_loss
        n_duels = int(self.n.sum())
        n_bins = len(self.n)
        # 0.0005 nats that a log loss of three digits does not show
        noise = max(2 * self.log_loss_error, 0.0005)
        if n_duels < ENOUGH:
            worth = f"too few for a comparison with predicting 1/2 (at least {ENOUGH} needed)"
        elif gain > noise:
            worth = "better than predicting 1/2"
        elif gain < -noise:
            worth = "worse than predicting 1/2"
        else:
            worth = "not distinguishable from predicting 1/2"
        if n_bins > 1:
            held = f"{self.inside} of {n_bins} bins"
        else:
            held = "the only bin" if self.inside else "no bin"
        by = "" if self.unit == "duel" else f" (interval by {self.unit})"
        # Share of bins whose prediction is inside, of a calibrated model: 0.95
        # Probability below which so few bins inside are told: 0.01
        if bdtr(self.inside, n_bins, 0.95) < 0.01:
            by += ". This is fewer than chance explains: the predictions are not calibrated"
        return (
            f"The log loss is {self.log_loss:.3f} nats per duel (standard error "
            f"{self.log_loss_error:.3f}; predicting 1/2: {GUESS:.3f}), on "
            f"{n_duels:,} duels held out in {self.folds} folds: {worth}. In "
            f"{held} the prediction lies inside the interval of the observed share{by}."
        )


def held_out(
    duels: Duels,
    model: Any = "bradley-terry",
    *,
    unit: str | None = None,
    folds: int = 5,
    draws: int = 1000,
    seed: int = 0,
    fit: xr.DataTree | None = None,
    progress: Callable[[float], None] | None = None,
) -> Calibration:
    """Predict each fold of a log from the others.

    Fits are by Laplace, or by NUTS where the model needs it. With over 1,000 coefficients (effects
    of judges beside those of prompts), they have the learned scales of the whole log.

    model: what :func:`bayesduel.fit` takes.
    unit: what is held out together: "pair", "judge", "group", "category", "time" (ten periods of
        about as many votes each) or a column that was kept. Default: a single duel, or the votes of
        a judge or a group on a pair where the log repeats them.
    folds: how many parts; at most as many as there are duels (or units of repeated votes).
    draws: posterior draws of each fit; fewer, 200 at least, where a fold has over 4,000 rows.
    seed: random seed, of the folds and the draws.
    fit: a fit of the whole log by this model, whose scales serve then. Default: one is made.
    progress: called with the share of the work done, from 0 to 1.
    Raises ValueError if `folds` is less than 2, or the log holds fewer than two duels (or units).

    References
    ----------
    Dawid, "The well-calibrated Bayesian", JASA 1982; :func:`bayesduel.intervals.wilson` for the
    intervals. Dean & Pagano, "Evaluating confidence interval methods for binomial proportions in
    clustered surveys", J. Survey Statistics and Methodology 2015, for effective sizes in Wilson's
    interval; Kish, "Survey Sampling", 1965, section 5.4, for the design effect by the intraclass
    correlation. The error of a prediction is its posterior variance, taken as independent between
    folds: what folds share, and what the outcomes of one fold teach the predictions of another,
    are of opposite sign and cancel for a mean. The posterior takes votes as independent, so its
    variance is multiplied by the design effect too.
    """
    check_log(duels, Duels)
    folds = whole(folds, "folds", 2)
    rng = np.random.default_rng(seed)
    duels = duels.as_plain()
    model = choose_model(model, duels).model
    held_together = unit
    reads_votes = bool(model.terms.columns(duels))
    by_vote = reads_votes or not model.response.counts_add_up
    if held_together is None:
        rows, unit = rows_of(duels, by_vote=by_vote)
    else:
        unit = held_together
        duels = with_votes(duels)
        rows, _ = rows_of(duels, by_vote=True)
        code, _ = levels_by(duels, unit)
        alone = code.max() + 1 + np.arange(len(code))
        rows[5] = np.where(code >= 0, code, alone)
    n_rows = rows.shape[1]
    if unit == "duel":
        n_units = int(rows[2:5].sum())
    else:
        n_units = len(np.unique(rows[5]))
    if n_units < 2:
        raise ValueError(f"duels should hold two {unit}s or more to hold one out, got {n_units}")
    folds = min(folds, n_units)
    held = np.stack(cut(rows, unit, folds, rng))  # (folds, 3, rows)
    if not model.why_not("laplace"):  # NUTS needs its draws for its own diagnostics
        # 4,000,000 predictions computed of a fold, draws times rows: fewer draws of large logs
        # Posterior draws of a fold at least: 200
        affordable = max(200, 4_000_000 // n_rows)
        draws = min(draws, affordable)
    # 20 draws kept of a prediction, however many there are
    kept = KEPT // (folds * n_rows)
    most = int(np.clip(kept, 20, draws))
    every = held.sum(axis=0)
    out = held.sum(axis=1) > 0  # (folds, rows)
    p = np.full(out.shape, 0.5)
    spread = []
    whole_log = _of_whole_log(duels, model, fit, draws, seed)
    for k, part in enumerate(held):
        expected, drawn = _predict(
            duels, every - part, rows, part, model, draws, seed, most, whole_log, by_vote=by_vote
        )
        p[k, out[k]] = expected
        of_favourite = np.subtract(1, drawn, out=drawn, where=expected < 0.5)
        spread.append(of_favourite)
        if progress is not None:
            progress((k + 1) / folds)
    p = p[out]
    number = held.swapaxes(0, 1)[:, out]
    of_unit = None
    if unit not in ("duel", "vote"):
        of_unit = np.broadcast_to(rows[5], out.shape)[out]
    n = number.sum(axis=0)
    won = number[0] + number[2] / 2
    favourite = np.maximum(p, 1 - p)
    points = np.where(p < 0.5, n - won, won)
    mean, error = _log_loss(p, number, of_unit)
    return Calibration(
        **_bins(favourite, points, n, of_unit, spread),
        log_loss=mean,
        log_loss_error=error,
        folds=folds,
        unit="duel" if unit == "vote" else unit,
    )


def _log_loss(p: np.ndarray, number: np.ndarray, unit: np.ndarray | None) -> tuple[float, float]:
    """Return the mean log loss of a duel and its standard error, clustered by unit.

    number: wins, losses and ties of each row, (3, rows). unit: as for `_bins`.
    """
    win = -np.log(p)
    loss = -np.log1p(-p)
    tie = (win + loss) / 2
    losses = np.stack([win, loss, tie])
    total = number.sum()
    mean = float((number * losses).sum() / total)
    away = losses - mean
    if unit is None:
        square = float((number * away**2).sum())
    else:
        by_row = (number * away).sum(axis=0)
        by_unit = np.bincount(unit, by_row)
        square = float((by_unit**2).sum())
    return mean, float(np.sqrt(square) / total)


def _predict(
    duels: Duels,
    counts: np.ndarray,
    rows: np.ndarray,
    held: np.ndarray,
    model: Any,
    draws: int,
    seed: int,
    most: int,
    whole_log: Mapping[str, np.ndarray] | None,
    *,
    by_vote: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean expected score of left in the rows that are held out, and `most` draws.

    A vote is predicted with its own judge, time and covariates.
    """
    kept = counts.sum(axis=0) > 0
    out = held.sum(axis=0) > 0
    left, right = rows[:2, out]
    given: Any
    if by_vote:
        log = without_votes(duels, ~kept)
        model = model.settled(duels)
        each = not model.response.counts_add_up  # else votes of one cell are predicted once
        cells = model.cells(without_votes(duels, ~out), each=each, by_vote=True)
        given = cells.data
        row = cells.seen.of_vote
    else:
        ordered = model.terms.reads_order
        sides = rows[:2, kept]
        cells, cell = distinct(*sides)
        results = []
        for n in counts[:, kept]:
            of_cell = np.bincount(cell, n, len(cells))
            results.append(of_cell.astype(np.int64))
        met = sides[:, cells].astype(np.int32)
        counted = Cells(*met, *results)
        log = replace(duels, cells=counted, votes=None, ordered=ordered)
        pair = (left, right) if ordered else unordered(left, right)
        asked, row = distinct(*pair)  # what is the same is predicted once
        first, second = (side[asked] for side in pair)
        given = {"first": first, "second": second}
        given |= model.seats(duels.teams, first, second)
        if ordered:
            given["left_first"] = np.ones(len(asked))
    if whole_log is None:
        posterior = _posterior(log, model, _quick_method(model, log), draws, seed)
    else:
        try:
            approximation = EarlierScales.of(model, model.cells(log), whole_log)
        except FloatingPointError as error:
            raise ValueError(f"the votes of a part of the log have no fit: {error}") from error
        made = sample(approximation, draws, np.random.default_rng(seed))
        posterior = dict(made.posterior)
    mean, drawn = _scored(model, posterior, given, draws, most)
    turned = given["first"][row] != left
    mean = mean[row]
    of_left = np.where(turned, 1 - mean, mean)
    drawn = drawn.take(row, axis=1)
    np.subtract(1, drawn, out=drawn, where=turned)
    return of_left, drawn


def _of_whole_log(
    duels: Duels, model: "Model", fit: xr.DataTree | None, draws: int, seed: int
) -> dict[str, np.ndarray] | None:
    """Return the draws of the whole log, whose scales serve all folds, or None.

    They serve where a model has several scales, and more coefficients than weights certify.
    """
    if _quick_method(model, duels) == "auto" or not model.why_not("conjugate"):
        return None
    settled = model.settled(duels)
    density = linear_predictor(settled, settled.cells(duels))
    if len(density.hypers) < 2 or density.size <= WEIGHED:
        return None
    if fit is None:
        return _posterior(duels, model, "auto", draws, seed)
    return draws_in(fit["posterior"].to_dataset())


def _quick_method(model: "Model", log: Duels) -> Method:
    """Return Laplace's method, or "auto" where it does not serve or the log has many arms."""
    if model.why_not("laplace") or takes_sparse(model, log, "auto"):
        return "auto"
    return "laplace"


def _posterior(
    log: Duels, model: "Model", method: Method, draws: int, seed: int
) -> dict[str, np.ndarray]:
    """Return the draws of a fit."""
    with ONE_THREAD, unwarned():  # warnings on a fold are not about the log
        made = sampled(log, model, method, draws=draws, seed=seed, log_likelihood=False)
    return dict(made.drawn.posterior)


def _scored(
    model: "Model", posterior: dict[str, np.ndarray], given: Any, draws: int, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean expected score of the first arm by row, and at most `most` of its draws.

    `given` are the conditions of the rows, as ``Model.expected_score`` takes them.
    """
    means = []
    drawn = []
    for part in chunks(len(given["first"]), CHUNK // draws):
        score = model.expected_score(posterior, data_of_rows(given, part))
        means.append(np.clip(score.mean(0), 1e-12, 1 - 1e-12))
        step = ceil(len(score) / most)
        drawn.append(score[::step].astype(np.float32))
    return np.concatenate(means), np.concatenate(drawn, axis=1)


def _bins(
    p: np.ndarray,
    won: np.ndarray,
    n: np.ndarray,
    unit: np.ndarray | None = None,
    spread: Sequence[np.ndarray] = (),
) -> dict[str, Any]:
    """Return bins of about equal numbers of duels, ordered by prediction.

    Rows of the same prediction are in one bin: the order in which a log lists the arms of a pair
    may tell who won. `unit` is the unit of each row; None where single duels are units.
    `spread` holds draws of the predictions, (draws, rows of a fold), one array for each fold, in
    the order of the rows.
    """
    order = np.argsort(p, kind="stable")
    # Difference of two predictions that are equal up to rounding: 1e-12
    apart = np.diff(p[order]) > 1e-12  # else both orders of a pair
    alike = np.empty(len(p), dtype=int)
    alike[order] = np.cumsum(np.append(False, apart))
    size = np.bincount(alike, n)
    middle = (np.cumsum(size) - size / 2)[alike]
    n_duels = n.sum()
    # 20 duels that a bin should hold at least
    # 10 bins at most
    n_bins = int(np.clip(n_duels // 20, 1, 10))
    in_bins = middle * n_bins / n_duels
    place = in_bins.astype(int).clip(max=n_bins - 1)
    _, place = np.unique(place, return_inverse=True)
    size = np.bincount(place, n)
    observed = np.bincount(place, won) / size
    predicted = np.bincount(place, p * n) / size
    effect = np.ones(len(size))
    intraclass = 0.0
    if unit is not None:
        effect, intraclass = _design_effect(place, unit, won, n, observed)
    weight = n / size[place]
    variance = _variance_of_means(spread, place, weight, len(size))
    of_one = np.maximum(predicted * (1 - predicted), 1e-12)
    effect = effect * (1 + variance * size / of_one)
    effective_won = observed * size / effect
    effective_size = size / effect
    lower, upper = wilson(effective_won, effective_size)
    return {
        "predicted": predicted,
        "observed": observed,
        "lower": lower,
        "upper": upper,
        "n": size.astype(int),
        "intraclass": intraclass,
    }


def _variance_of_means(
    spread: Sequence[np.ndarray], place: np.ndarray, weight: np.ndarray, n_bins: int
) -> np.ndarray:
    """Return the posterior variance of the mean prediction of each bin, folds being independent."""
    variance = np.zeros(n_bins)
    start = 0
    for drawn in spread:
        n_rows = drawn.shape[1]
        rows = slice(start, start + n_rows)
        start += n_rows
        into = np.zeros((n_rows, n_bins))
        of_row = np.arange(n_rows), place[rows]
        into[of_row] = weight[rows]
        means = drawn @ into
        variance += means.var(axis=0, ddof=1)
    return variance


def _design_effect(
    place: np.ndarray, unit: np.ndarray, won: np.ndarray, n: np.ndarray, observed: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the design effect of each bin and the intraclass correlation over all bins.

    By moments: the squared deviation of the wins of m duels from m p has the mean
    ``p (1 - p) (m + rho m (m - 1))``.
    """
    first, row = distinct(place, unit)
    size = np.bincount(row, n)
    wins = np.bincount(row, won)
    bin_of = place[first]
    p = observed[bin_of]
    n_units = np.bincount(bin_of)[bin_of]
    several = n_units > 1
    freedom = np.maximum(n_units - 1, 1)
    away = wins - size * p
    square = away**2 * n_units / freedom
    independent = p * (1 - p) * size
    most = independent * (size - 1)  # more than that, of units of one outcome
    possible = most[several].sum()
    rho = 0.0
    if possible > 0:
        excess = (square - independent)[several].sum()
        rho = float(np.clip(excess / possible, 0.0, 1.0))
    total = np.bincount(bin_of, size)
    mean_size = np.bincount(bin_of, size**2) / total
    effect = 1 + rho * (mean_size - 1)
    return effect, rho
