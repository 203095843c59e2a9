"""Sample a posterior: propose from an approximation, correct by importance, refine or refuse.

Every approximation answers three questions: ``propose`` (draws with their log importance ratios),
``parameters`` (what the kept draws mean, by name) and ``summary`` (its mode and grid, for the
group ``laplace``). Which one serves a model, the model says. Draws that are not certified lead to
``refined`` approximations, fitted to the weighted draws of the one before, and to more draws.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesduel.inference.approximation import Approximation
from bayesduel.inference.conjugate import ConjugatePairs
from bayesduel.inference.draws import PosteriorDraws, Proposals
from bayesduel.inference.laplace import LaplaceApproximation
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.inference.psis import (
    COVERED,
    LEAST,
    PSIS,
    TRUSTED,
    WEIGHED,
    Certificate,
    Quality,
    Tails,
    importance_weights,
    resample,
    tails,
    tempered,
)
from bayesduel.system.arguments import Progress

__all__ = ["approximation_of", "sample"]

# Coefficients beyond which draws are not refined where NUTS may draw in their place and fewer than
# this share of them are effective. Of 10 such logs of 250 to 400 arms with two duels an arm
# refinement certified 5, and took 2.4 to 5.6 s of each; NUTS takes 3.0 to 3.9 s. Of 200 arms it
# takes 1.1 to 2.3 s and certified all of 5.
REFINED = 250
HOPELESS = 0.005

Near = Mapping[str, np.ndarray] | None  # parameters by name, where a search may start
MOST_SCALES = 12  # learned numbers that are integrated on nodes


def approximation_of(
    model: Any, cells: Any, near: Near = None, *, weighed: bool = False
) -> Approximation:
    """Return the approximation of a model's posterior that its declaration asks for.

    Exact where the posterior is conjugate. One learned scale at most and independent coefficients:
    a normal distribution at each node of a grid, skewed where the log is thin. Up to `MOST_SCALES`,
    or groups of coefficients: normal distributions with averaged curvatures at nodes.

    Raises FloatingPointError if the posterior has no mode, or more scales; with `weighed` also if
    it has so many coefficients that nothing certifies its draws.
    """
    if not model.why_not("conjugate"):
        return ConjugatePairs(model, cells)
    density = linear_predictor(model, cells)
    n_scales = density.n_scales
    of_response = bool(model.response.scales(flat=model.terms.flat))
    if n_scales > MOST_SCALES:
        raise FloatingPointError(f"{n_scales} learned scales are more than {MOST_SCALES}")
    if n_scales < 2 and not of_response:
        return LaplaceApproximation.of(density, cells, near)
    too_many = density.size > WEIGHED
    if weighed and too_many and model.response.score_link != "logit":
        raise FloatingPointError(
            f"{density.size:,} coefficients are too many to certify, more than {WEIGHED:,}"
        )
    from bayesduel.inference.latent_gaussian import LatentGaussian  # with SciPy's sparse solvers

    return LatentGaussian.of(density, cells, near)


def sample(
    approximation: Approximation,
    n: int,
    rng: np.random.Generator,
    *,
    log_likelihood: bool = False,
    progress: Progress = None,
    instead: bool = False,
) -> PosteriorDraws:
    """Return `n` equally weighted draws, with their certificate.

    Draws of the approximation are kept where they are certified. Where they are not, the
    approximation is refined in up to 5 rounds, and up to 8 times `n` draws are made of the best.

    `log_likelihood` says whether to keep that of every cell; `instead` whether NUTS draws in place
    of draws that are not certified.

    References
    ----------
    Vehtari, Simpson, Gelman, Yao & Gabry, "Pareto smoothed importance sampling", JMLR 2024.
    """
    proposals = approximation.propose(n, rng, log_likelihood=log_likelihood)
    found = _weighed(approximation, proposals, n, rng)
    if not found.certificate.holds:
        other = approximation.certified(proposals, rng, progress)
        if other is not None and other.holds:
            stats = {}
            if np.isfinite(proposals.log_density).all():
                stats["lp"] = proposals.log_density
            every = slice(None)
            return _kept(approximation, proposals, every, stats, other, rng, log_likelihood)
        n_made, size = proposals.x.shape
        hopeless = found.psis.effective < HOPELESS * n_made
        far_off = size > REFINED and hopeless
        if not (instead and far_off):
            found = _refined(found, n, rng)
            found = _multiplied(found, n, rng)
    made = found.proposals
    kept = found.kept
    weights = found.psis.weights[kept] * len(made.x)
    stats = {"lp": made.log_density[kept], "importance_weight": weights}
    return _kept(approximation, made, kept, stats, found.certificate, rng, log_likelihood)


def _kept(
    approximation: Approximation,
    made: Proposals,
    kept: Any,
    stats: dict[str, np.ndarray],
    certificate: Quality,
    rng: np.random.Generator,
    log_likelihood: bool,
) -> PosteriorDraws:
    """Return the draws `kept`, as a posterior with its certificate."""
    x = made.x[kept]
    hyper = made.hyper[kept]
    drawn = approximation.parameters(x, hyper, rng)
    posterior = approximation.model.complete(drawn, approximation.cells, rng)
    by_cell = None if made.log_likelihood is None else made.log_likelihood[kept]
    if log_likelihood and by_cell is None:
        by_cell = approximation.model.log_likelihood(posterior, approximation.cells)
    return PosteriorDraws(posterior, stats, by_cell, certificate, approximation.summary())


@dataclass(frozen=True, eq=False)
class _Weighed:
    """Draws of an approximation, their weights, and which of them are kept."""

    approximation: Approximation
    proposals: Proposals
    psis: PSIS
    tails: Tails
    kept: np.ndarray

    @property
    def worth(self) -> tuple[bool, float]:
        """Whether the weights can be trusted, and the effective share of the draws."""
        share = self.psis.effective / len(self.proposals.x)
        return self.psis.khat < TRUSTED, share

    @property
    def certificate(self) -> Certificate:
        """The certificate of the kept draws."""
        n = len(self.kept)
        return Certificate(
            khat=self.psis.khat,
            effective=min(self.psis.effective, n),
            n_draws=n,
            tails=self.tails,
        )


def _weighed(
    approximation: Approximation, proposals: Proposals, n: int, rng: np.random.Generator
) -> _Weighed:
    """Return the draws with their weights; `n` of them are kept."""
    psis = importance_weights(proposals.log_ratio)
    kept = resample(psis.weights, n, rng)
    exact = psis.khat == -np.inf
    unknown = np.isnan(proposals.log_ratio).all()
    if exact or unknown:  # all draws weigh the same
        return _Weighed(approximation, proposals, psis, Tails.of_exact(n), kept)
    named = approximation.parameters(proposals.x, proposals.hyper, rng)
    columns = [values.reshape(len(values), -1) for values in named.values()]
    every = np.concatenate(columns, axis=1)
    measured = tails(every, psis.weights, kept)
    return _Weighed(approximation, proposals, psis, measured, kept)


def _refined(found: _Weighed, n: int, rng: np.random.Generator) -> _Weighed:
    """Return the draws of the best of several refinements, or those `found`."""
    best = last = found
    # A fit that no refinement mends is told as not certified, or goes to NUTS. More: slower; not
    # tuned.
    for _ in range(5):
        weights = tempered(last.psis.weights)
        try:
            better = last.approximation.refined(last.proposals, weights)
        except FloatingPointError:  # no skewed density along some axis
            break
        if better is None:
            break
        n_proposals = max(n, 2000)  # the next refinement is fitted to them
        proposals = better.propose(n_proposals, rng)
        last = _weighed(better, proposals, n, rng)
        if last.worth > best.worth:
            best = last
        if last.certificate.holds:
            return last
    return best


def _multiplied(found: _Weighed, n: int, rng: np.random.Generator) -> _Weighed:
    """Return the draws, and as many more as a certificate asks for: in all, and in each tail.

    The tails are to be reached as often as they should be.
    """
    made = found.proposals
    certificate = found.certificate
    if found.psis.khat >= TRUSTED:  # or there are no ratios: more draws are worth no more
        return found
    # Half more draws in a tail than a certificate asks for. In six larger samples the thinnest of
    # 1,660 tails had .86 to 1.7 times what was foreseen. Ends of 95 % intervals of scores then have
    # a Monte Carlo error of .046 standard deviations; with half of the draws of each tail, which
    # took a third longer, .042, as of independent draws.
    in_tail = 1.5 * LEAST * certificate.tail_draws
    factor = max(
        0.5 * n / found.psis.effective,
        in_tail / found.tails.effective,
        COVERED / found.tails.covered,
    )
    n_made = len(made.x)
    needed = factor * n_made
    times = min(8, int(np.ceil(needed / n)))  # a fit then takes up to 8 times as long to draw
    more = times * n - n_made
    if more <= 0:
        return found
    added = found.approximation.propose(more, rng)
    joined = Proposals(
        x=np.concatenate([made.x, added.x]),
        hyper=np.concatenate([made.hyper, added.hyper]),
        log_ratio=np.concatenate([made.log_ratio, added.log_ratio]),
        log_density=np.concatenate([made.log_density, added.log_density]),
        log_likelihood=None,
    )
    return _weighed(found.approximation, joined, n, rng)
