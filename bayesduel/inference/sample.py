"""Sampled parameters of a model, by either method."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from bayesduel.inference import conjugate as pairwise
from bayesduel.inference import laplace as laplace_method
from bayesduel.inference.dense import Dense, dense
from bayesduel.inference.draws import Sampled
from bayesduel.inference.linear_predictor import Derivatives, centre, derivatives, uncentre
from bayesduel.inference.population_monte_carlo import laplace_nested, likelihood
from bayesduel.inference.psis import certify, resample
from bayesduel.models.layers import Layer

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["Sampled", "laplace", "nuts"]

Progress = Callable[[float], None]


def laplace(
    model: Any,
    duels: "Duels",
    n: int,
    rng: np.random.Generator,
    keep: bool,
    progress: Progress | None = None,
) -> Sampled:
    """Return `n` draws by Laplace's method (pair by pair for a preference matrix)."""
    if model.link == "margin":
        return laplace_nested(model, duels, n, rng, keep, progress)

    def tick(done: int) -> None:
        if progress is not None:
            progress(0.1 + 0.8 * done / n)

    if model.name == "preference-matrix":
        density = pairwise.densities(model, duels)
        grid = pairwise.tables(density)
        proposals = pairwise.propose(density, grid, n, rng, log_likelihood=keep, tick=tick)
    else:
        derivative = dense(model, duels) if _has_items(model) else derivatives(model, duels)
        grid = laplace_method.conditionals(derivative)
        if progress is not None:
            progress(0.1)
        proposals = laplace_method.propose(derivative, grid, n, rng, log_likelihood=keep, tick=tick)
    certificate = certify(proposals.log_ratio)
    if model.name != "preference-matrix" and not certificate.good(n):
        wide = laplace_method.widened(derivative, grid)
        second = laplace_method.propose(derivative, wide, n, rng, log_likelihood=keep, tick=tick)
        again = certify(second.log_ratio)
        if again.khat < certificate.khat:
            proposals, certificate = second, again
    kept = resample(certificate.weights, rng)
    x, hyper = proposals.x[kept], proposals.hyper[kept]
    if model.name == "preference-matrix":
        posterior = _pairs(model, duels, expit(x), hyper, rng)
        extra: dict[str, Any] = {}
    elif isinstance(derivative, Dense):
        posterior = _with_scores(model, duels, derivative.parameters(x))
        if derivative.hyper:
            posterior[derivative.hyper] = np.exp(hyper)
        extra = _dense_mode(derivative, grid)
    else:
        posterior = _parameters(derivative, x, hyper)
        extra = _mode(derivative, grid)
    if len(grid.nodes) > 1:
        extra["hyper_node"] = ("node", np.exp(grid.nodes))
        extra["hyper_log_density"] = ("node", grid.log_density)
    by_cell = proposals.log_likelihood
    return Sampled(
        posterior=posterior,
        stats={
            "lp": proposals.log_density[kept],
            "importance_weight": certificate.weights[kept] * n,
        },
        log_likelihood=None if by_cell is None else by_cell[kept],
        khat=certificate.khat,
        effective=certificate.effective,
        extra=extra,
    )


def nuts(
    model: Any,
    duels: "Duels",
    per_chain: int,
    chains: int,
    seed: int,
    keep: bool,
    progress: Progress | None = None,
) -> Sampled:
    """Return draws by NUTS, chain after chain."""
    import arviz as az

    from bayesduel.inference.nuts import sample

    if progress is not None:
        progress(0.2)
    tree = sample(model, duels, draws=per_chain, chains=chains, seed=seed)
    if progress is not None:
        progress(0.8)
    inner = ("_free", "_standard")  # numbers that only the sampler knows
    by_margins = model.link == "margin"
    posterior = {
        str(name): v.values.reshape(-1, *v.shape[2:])
        for name, v in tree["posterior"].data_vars.items()
        if not str(name).endswith(inner)
    }
    wanted = ("diverging", "energy", "logp", "n_steps", "step_size", "depth")
    stats = {
        ("lp" if name == "logp" else name): tree["sample_stats"][name].to_numpy().reshape(-1)
        for name in wanted
        if name in tree["sample_stats"]
    }
    if isinstance(model, Layer) and not model.transitive:
        posterior["strength"] = posterior.pop("score")
        i, j = np.triu_indices(duels.n_arms, 1)
        shown = model.preference(posterior)[:, i, j].reshape(chains, -1, len(i))
        effective = float(np.min([az.ess(shown[..., k]) for k in range(len(i))]))
    else:
        shown = tree["posterior"]["theta" if "theta" in posterior else "score"]
        effective = float(az.ess(shown).min())
    found = likelihood if by_margins else _likelihood
    kept = found(model, duels, posterior) if keep else None
    if by_margins:
        posterior = model.complete(posterior, duels, np.random.default_rng(seed))
    return Sampled(posterior, stats, kept, float("nan"), effective)


def _parameters(derivative: Derivatives, x: np.ndarray, hyper: np.ndarray) -> dict[str, np.ndarray]:
    cut = derivative.n_arms - 1
    posterior = {"score": centre(x[:, :cut])}
    for place, name in enumerate(derivative.extras):
        posterior[name] = x[:, cut + place]
    if derivative.hyper:
        posterior[derivative.hyper] = np.exp(hyper)
    return posterior


def _has_items(model: Any) -> bool:
    return hasattr(model, "items")


def _with_scores(
    model: Any, duels: "Duels", parameters: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the parameters of a model of attributes and the scores they imply."""
    return {"score": model.scores(parameters, duels.arms), **parameters}


def _dense_mode(derivative: Dense, grid: Any) -> dict[str, Any]:
    """Return the group ``laplace`` of a model of attributes, at the grid's best node."""
    best = grid.conditionals[grid.best]
    dims = {"coefficient": ("attribute",), "effect": ("arm",), "order": (), "intercept": ()}
    modes, errors = (
        derivative.parameters(x) for x in (best.x, np.sqrt(best.covariance().diagonal()))
    )
    return {f"{n}_mode": (dims[n], v) for n, v in modes.items()} | {
        f"{n}_se": (dims[n], v) for n, v in errors.items()
    }


def _pairs(
    model: Any, duels: "Duels", met: np.ndarray, hyper: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return all pairs' win probabilities, those that never met drawn from the prior."""
    n, n_pairs = len(met), duels.n_arms * (duels.n_arms - 1) // 2
    place = model.data(duels)["pair_of_cell"]
    theta = np.empty((n, n_pairs), dtype=np.float64 if n * n_pairs < 2**23 else np.float32)
    theta[:, place] = met
    never = np.setdiff1d(np.arange(n_pairs), place)
    learned = model.concentration is None
    concentration = np.exp(hyper) if learned else np.full(n, float(model.concentration))
    theta[:, never] = model.unmet(concentration, len(never), rng)
    return {"theta": theta} | ({"concentration": concentration} if learned else {})


def _mode(derivative: Derivatives, grid: Any) -> dict[str, Any]:
    """Return the group ``laplace``: the mode and covariance at the grid's best node."""
    best = grid.conditionals[grid.best]
    cut = derivative.n_arms - 1
    extra: dict[str, Any] = {
        "score_mode": ("arm", centre(best.x[:cut])),
        "score_cov": (
            ("arm", "opponent"),
            laplace_method.score_covariance(best, derivative.n_arms),
        ),
    }
    for place, name in enumerate(derivative.extras):
        extra[f"{name}_mode"] = ((), float(best.x[cut + place]))
    return extra


def _likelihood(model: Any, duels: "Duels", posterior: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the log likelihood of each draw and cell, through the model's own density."""
    if hasattr(model, "log_likelihood"):
        return model.log_likelihood(posterior, duels)
    if model.name == "preference-matrix":
        density = pairwise.densities(model, duels)
        hyper = np.log(posterior.get("concentration", np.ones(len(posterior["theta"]))))
        place = model.data(duels)["pair_of_cell"]
        odds = logit(np.clip(posterior["theta"][:, place], 1e-300, 1 - 1e-16))
        return np.stack([density.split(o, h)[1] for o, h in zip(odds, hyper, strict=True)])
    n = len(posterior["score"])
    derivative = derivatives(model, duels)
    extras = [posterior[name][:, None] for name in derivative.extras]
    x = np.concatenate([uncentre(posterior["score"]), *extras], axis=1)
    hyper = np.log(posterior["scale"]) if derivative.hyper else np.zeros(n)
    return np.stack([derivative.cells(x[k], hyper[k])[1] for k in range(n)])
