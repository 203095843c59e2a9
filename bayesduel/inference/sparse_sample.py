"""Sample scores on a sparse comparison graph: a variational Gaussian, or Gibbs sampling.

Both serve one score per arm with a logistic link, and a few coefficients with normal priors beside
them (a side advantage, covariates of the duel); nothing of theirs is as large as K x K.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesduel.inference.comparison_graph import ComparisonGraph
from bayesduel.inference.draws import PosteriorDraws, chains_joined
from bayesduel.inference.linear_predictor import split_blocks
from bayesduel.inference.mixing import bulk_ess
from bayesduel.inference.polya_gamma_gibbs import GibbsChain, gibbs_certificate
from bayesduel.inference.psis import Certificate, Tails
from bayesduel.inference.sparse_gaussian import SparseGaussian
from bayesduel.system.arguments import Progress

__all__ = ["effect_lengths", "sample_gibbs", "sample_variational"]

# Sweeps of each Gibbs chain that are not counted: it starts from a draw of the normal fit.
BURN_IN = 100


def sample_variational(
    model: Any,
    cells: Any,
    n: int,
    rng: np.random.Generator,
    *,
    log_likelihood: bool = False,
    progress: Progress = None,
) -> PosteriorDraws:
    """Return `n` independent draws of the variational Gaussian, certified by a Gibbs chain.

    Of a model whose ``why_not_sparse`` is ""; `log_likelihood` says whether to keep that of every
    cell.

    Raises FloatingPointError if an iteration does not converge.
    """
    source = _Shares(progress)
    found = _approximation(model, cells, rng)
    source.reached(0.4)
    drawn = found.draw(n, rng, source.part(0.4, 0.7))
    certificate = gibbs_certificate(found, n, rng, source.part(0.7, 1.0))
    blocks = effect_lengths(model, cells)
    posterior = {"score": drawn.score}
    posterior |= split_blocks(drawn.effect, blocks)
    if found.typical is not None:
        posterior["scale"] = drawn.scale
    extra: dict[str, Any] = {
        "score_mode": ("arm", found.score),
        "score_se": ("arm", drawn.standard_error),
    }
    for name, value in split_blocks(found.effect, blocks).items():
        dims = model.dims.get(name, ())
        extra[f"{name}_mode"] = (dims, value)
    extra["gibbs_shift"] = ((), certificate.shift)
    extra["gibbs_spread"] = ((), certificate.spread)
    extra["gibbs_scale_shift"] = ((), certificate.scale_shift)
    return PosteriorDraws(
        posterior,
        {},
        model.log_likelihood(posterior, cells) if log_likelihood else None,
        certificate,
        extra,
        found,
    )


def sample_gibbs(
    model: Any,
    cells: Any,
    *,
    draws: int,
    chains: int,
    rng: np.random.Generator,
    log_likelihood: bool = False,
    progress: Progress = None,
) -> PosteriorDraws:
    """Return `draws` draws of each of `chains` Gibbs chains with Polya-Gamma variables.

    Chain after chain. Each starts from a draw of the variational Gaussian; its first `BURN_IN`
    sweeps are left out.
    """
    source = _Shares(progress)
    start = _approximation(model, cells, rng)
    source.reached(0.1)
    graph = start.graph
    at = start.draw(chains, rng)
    n_arms = graph.n_arms
    n_effects = len(start.effect)
    score = np.empty((chains, draws, n_arms), dtype=np.float32)
    scale = np.empty((chains, draws))
    effect = np.empty((chains, draws, n_effects))
    part = source.part(0.1, 1.0)
    sweeps = BURN_IN + draws
    for c in range(chains):
        chain = GibbsChain(
            graph,
            start.typical,
            at.score[c].astype(float),
            float(np.log(at.scale[c])),
            at.effect[c],
        )
        for k in range(-BURN_IN, draws):
            chain.sweep(rng)
            if k >= 0:
                score[c, k] = chain.score
                scale[c, k] = np.exp(chain.log_scale)
                effect[c, k] = chain.effect
            done = c * sweeps + k + BURN_IN + 1
            part(done / (chains * sweeps))
    n_draws = draws * chains
    posterior = {"score": chains_joined(score)}
    flat = effect.reshape(n_draws, n_effects)
    posterior |= split_blocks(flat, effect_lengths(model, cells))
    if start.typical is not None:
        posterior["scale"] = scale.ravel()
    unknown = float("nan")
    certificate = Certificate(
        khat=unknown,
        effective=_effective(score, graph.duels),
        n_draws=n_draws,
        tails=Tails(unknown, unknown, 0),
    )
    return PosteriorDraws(
        posterior,
        {},
        model.log_likelihood(posterior, cells) if log_likelihood else None,
        certificate,
        approximation=start,
    )


def effect_lengths(model: Any, cells: Any) -> dict[str, int | None]:
    """Return the length of each coefficient beside the scores, by name; None of a number."""
    found: dict[str, int | None] = {}
    for name, (_, deviation) in fixed_effects(model, cells).items():
        is_number = np.ndim(deviation) == 0
        found[name] = None if is_number else len(deviation)
    return found


def fixed_effects(model: Any, cells: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return what enters the predictor of cells beside the scores, by name of the parameter.

    Its columns, (cells,) or (cells, m), and the standard deviation of its normal prior, () or (m,).
    """
    unit = model.response.unit(cells.data)
    found = {}
    for part in model.terms:
        if part in model.terms.arms:
            continue
        touches = part.design(cells.data)
        deviation = part.deviation({}, cells.data, unit)
        found[part.parameter] = (
            touches[0].value,
            np.asarray(deviation, dtype=float),
        )
    return found


@dataclass(frozen=True)
class _Shares:
    """Shares of one work reported as shares of the whole."""

    told: Progress

    def reached(self, share: float) -> None:
        if self.told is not None:
            self.told(share)

    def part(self, start: float, end: float) -> Callable[[float], None]:
        """Return a function to be called with the share of a part of the work."""
        width = end - start
        return lambda share: self.reached(start + width * share)


def _approximation(model: Any, cells: Any, rng: np.random.Generator) -> SparseGaussian:
    effects = fixed_effects(model, cells)
    graph = ComparisonGraph.of(cells, effects)
    learned = model.scales.get("scale")
    if learned is not None:
        return SparseGaussian.of(graph, None, learned.size, rng)
    fixed = model.terms.arms[0].scale
    return SparseGaussian.of(graph, fixed, np.nan, rng)


def _effective(score: np.ndarray, duels: np.ndarray) -> float:
    """Return the smallest effective number of draws over the 200 arms with the most duels."""
    busiest = np.argsort(-duels, kind="stable")
    measured = score[:, :, busiest[:200]].astype(float)
    return float(bulk_ess(measured).min())
