"""Fit a model to a log: ``fit(duels, model, method)`` to a tree that ArviZ takes as it is."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple, get_args

import numpy as np
import xarray as xr

from bayesduel.data.duels import Duels
from bayesduel.data.health import components, warn_of_pairing
from bayesduel.data.pulls import Pulls
from bayesduel.data.rankings import Rankings
from bayesduel.data.read.duels import log_in
from bayesduel.data.votes import fingerprint, fingerprint_of_votes
from bayesduel.inference.datatree import answer_by, datatree, observed, with_preference
from bayesduel.inference.default_model import (
    AUTO,
    SPARSE_ARMS,
    choose_model,
    missing_covariates,
)
from bayesduel.inference.draws import PosteriorDraws
from bayesduel.inference.nuts import sample_nuts
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.inference.psis import Quality
from bayesduel.inference.sample import approximation_of, sample
from bayesduel.inference.sandwich import robust_covariance
from bayesduel.models import Model
from bayesduel.models.cells import levels_of
from bayesduel.models.registry import classes_of
from bayesduel.models.settings import Arrays, settings_to_json
from bayesduel.system.arguments import (
    Progress,
    as_options,
    check_call,
    check_flag,
    check_log,
    check_one_of,
    refused_arguments,
    shown_value,
)
from bayesduel.system.cost import CostLimit
from bayesduel.system.memory import check_draws, check_square
from bayesduel.system.options import Method
from bayesduel.system.threads import one_at_a_time, one_thread_if_small
from bayesduel.system.warnings import BayesduelWarning, warn
from bayesduel.text import join

__all__ = [
    "SPARSE",
    "UncertifiedWarning",
    "UnusedCovariatesWarning",
    "describe_model",
    "fit",
    "fitted",
    "keeps_likelihood",
    "level_shares",
    "sampled",
    "takes_sparse",
    "tree_of",
    "uncertified",
]

METHODS: tuple[Method, ...] = get_args(Method)
SPARSE = ("variational", "gibbs")  # methods on the graph of pairs that met
TEAMS = "sides of the log have several arms"  # why the graph of pairs does not hold it
# Beyond which NUTS is expected to take hours (docs/validation/scale.md, judges).
NUTS_CELLS = 100_000
QUICKER = "Quicker: a model of fewer terms, such as BradleyTerry(), or fewer draws."
# Draws made by default. Of 4,000 independent ones, an end of a 95 % interval has a Monte Carlo
# error of 0.04 standard deviations, of 256 one of 0.17. Draws of 200,000 arms then take 200 MB.
DRAWS = 4000
SPARSE_DRAWS = CostLimit(total=50_000_000, least=256, most=DRAWS)
# That of NUTS by its coefficients: seconds to a minute. With 440 draws each score of llmfao's 8,143
# coefficients is worth over 300.
NUTS_DRAWS = CostLimit(total=500_000, least=440, most=DRAWS)
CHAINS = ("nuts", "pymc")  # methods by chains of NUTS
LIKELIHOOD_BYTES = 128 * 2**20
NOT_CLUSTERED = {
    "clusters_repeated": "{}",
    "clusters_lone": "{}",
    "clusters_auto": "model",
    "clusters_reason": "",
}
LOGS: dict[str, type] = {"duels": Duels, "pulls": Pulls, "rankings": Rankings}


class Sampled(NamedTuple):
    """The draws of a fit, and what they are of."""

    model: Model
    asked: Model  # the same before what the log says was written down
    reasons: Any  # why it was chosen
    cells: Any  # of the log, as the model takes them
    layout: tuple[int, int]  # chains, and draws of each
    drawn: PosteriorDraws
    method: str  # the one used
    method_reason: str


class UnusedCovariatesWarning(BayesduelWarning):
    """The log has covariates that the model does not include."""


class UncertifiedWarning(BayesduelWarning):
    """An approximation was asked for and its certificate does not hold."""


@refused_arguments(
    random_seed="argument 'random_seed' is called 'seed' here",
    random_state="argument 'random_state' is called 'seed' here",
    n_samples="argument 'n_samples' is called 'draws' here, of all chains together",
    samples="argument 'samples' is called 'draws' here, of all chains together",
    family="families of arms are a setting of the model: DefaultModel(family=...)",
)
@one_at_a_time
def fit(
    duels: Any,
    model: Any = AUTO,
    method: Method = "auto",
    *,
    priors: Mapping[str, Any] | None = None,
    draws: int | None = None,
    chains: int = 4,
    seed: int = 0,
    log_likelihood: bool | None = None,
    clusters: bool = True,
    progress: Progress = None,
) -> xr.DataTree:
    """Return the posterior of `model` given `duels`.

    Parameters
    ----------
    duels
        The log, or a path or a frame that :func:`bayesduel.read_duels` reads without options; for
        :class:`bayesduel.models.LogisticAttributes` a log of pulls.
    model
        "auto": by what the log has (ties, grades, margins, sides with a meaning, groups), as
        :mod:`bayesduel.inference.default_model` says; the attribute ``model_reasons`` says why. Or
        a model of :mod:`bayesduel.models`, or its name, taken as it is: "bradley-terry",
        "thurstone", "davidson", "preference-matrix", "cumulative-logit" (of logs with grades),
        "thurstone-score" and "perturbed-thurstone" (of logs with margins). Or
        :class:`bayesduel.DefaultModel` with settings.
    method
        "laplace": mode and curvature, corrected and certified by Pareto-smoothed importance
        sampling; where normal proposals are not certified, skewed ones that are refined from
        weighted draws. "nuts": Hamiltonian Monte Carlo by nutpie, on the density of the linear
        predictor, which compiles nothing; on the ``pm.Model`` where the model is not linear in its
        coefficients. "pymc": always on the ``pm.Model``. "variational": a normal
        distribution fitted on the sparse graph of pairs that met, certified by a short Gibbs
        chain. "gibbs": Gibbs sampling with Polya-Gamma variables on that graph. Both serve
        Bradley-Terry models of one score per arm, with a side advantage and covariates of the duel
        if wanted, and need no array of arm by arm. "auto":
        variational from 500 arms where the model allows, Gibbs where its certificate does not
        hold; else Laplace where its certificate holds, NUTS where it does not. The attribute
        ``method_reason`` says which and why. The certificate of Laplace: k-hat < 0.7, as many
        effective draws as half of the draws, and proposals that reach both tails of every
        parameter. That of the variational approximation: mean, spread and scale as those of the
        Gibbs chain.
    priors
        Priors of your own, by the name of a variable of the fit: a :class:`bayesduel.Prior`, or its
        text ("Normal(0.1, 0.05)"), or some by label: ``{"scale": Prior("HalfNormal", sigma=0.5),
        "score": {"gpt-5": Prior("Normal", mu=0.4, sigma=0.3)}}``. An earlier fit as that of "score"
        stands for :func:`bayesduel.earlier_scores` of it. :func:`bayesduel.priors` shows
        all names and priors. Of positive numbers (scales) any prior serves every method. Of other
        numbers "laplace" takes normal priors; a fit with others is by NUTS.
    draws
        Posterior draws in all, divided evenly among `chains`. Default: 4,000; fewer of very many
        arms by the sparse methods (500 of 100,000), and of very many coefficients by NUTS (440 of
        8,000).
    chains
        Chains of NUTS; Laplace's independent draws are laid out alike.
    seed
        Whole number; the same seed gives the same draws. On the ``pm.Model`` the process that
        compiles it may round otherwise than later ones, which load what was compiled.
    log_likelihood
        Whether to keep the log likelihood of every draw and cell. Default: where it fits in
        128 MB.
    clusters
        Whether to compute cluster-robust standard errors where a judge cast several votes or a
        group holds several: the posterior has them then. The attribute ``clusters_repeated`` holds
        the number of clusters of each such clustering, ``clusters_auto`` the one that is used by
        default, and ``clusters_reason`` says why a model has no such errors.
    progress
        Called with the share of the work done, from 0 to 1. Default: where "auto" takes NUTS, a
        terminal shows a bar. A warning is logged with how long it may take and what is quicker,
        if that is more than 10 seconds.

    Returns
    -------
    A tree with groups ``posterior``, which every answer is read from (``score`` (chain, draw, arm),
    centred, of categories the average by their votes; the model's parameters; cluster-robust draws
    where votes are repeated, which ``posterior.attrs`` says under "covariance"),
    ``posterior_sampled`` (where that differs: the draws of the sampler, every vote independent),
    ``preference`` (the variable of that name, (chain, draw, arm, opponent), where it fits in 64 MB;
    else :func:`bayesduel.preference_draws` derives it), ``sample_stats``, ``observed_data``,
    ``constant_data``, ``log_likelihood_by_cell`` (of the duels of an unordered pair that met;
    :func:`bayesduel.loo` has that of duels; of rankings ``log_likelihood``, one each),
    ``log_prior`` (of learned scales and of priors with a fixed deviation, for
    :func:`bayesduel.sensitivity`), ``laplace`` (mode, covariance, grid of the scale; by the
    variational method mode, standard errors and the figures of the certificate) and ``clusters``; a
    model of attributes adds ``items``. Attributes: model, method, method_reason, seed, versions,
    khat, importance_ess (effective draws), tail_ess (those in the thinnest tail of a parameter) and
    more.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; under a flat prior also if the log does not
        determine the scores (several components, or arms that never lose or win); if a chain of
        NUTS has not moved.

    Warns
    -----
    DisconnectedWarning
        If the log has several components: only the prior compares their arms.
    LocalPairingWarning
        If opponents were chosen near one another (by strength, by league) and the scale of the
        scores is learned, whose prior takes no account of that.
    ThinDataWarning
        If there are few duels for the number of arms.
    UncertifiedWarning
        If ``method`` is "laplace" or "variational" and its certificate does not hold, or chains of
        NUTS disagree.
    UnusedCovariatesWarning
        If the log has covariates that the model does not include.

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("tennis1990"))
    >>> fit.attrs["method"], fit.duel.arms
    ('laplace', ('Graf', 'Navratilova', 'Sabatini', 'Sanchez', 'Seles'))
    """
    duels = log_in(duels)
    tree = fitted(
        duels,
        model,
        method,
        priors=priors,
        draws=draws,
        chains=chains,
        seed=seed,
        log_likelihood=log_likelihood,
        clusters=clusters,
        progress=progress,
    )
    _warn_of_covariates(duels, tree.duel.model)
    return tree


def fitted(
    duels: Duels | Pulls | Rankings,
    model: Any,
    method: Method,
    *,
    seed: int = 0,
    clusters: bool = True,
    progress: Progress = None,
    preference: bool = True,
    **options: Any,
) -> xr.DataTree:
    """Return what :func:`fit` returns, with or without the group ``preference``.

    `options` are further ones of :func:`sampled`.
    """
    check_flag(clusters, "clusters")
    check_call(progress, "progress", none=True)
    made = sampled(duels, model, method, seed=seed, progress=progress, **options)
    tree = tree_of(made, duels, seed=seed, clusters=clusters, preference=preference)
    if progress is not None:
        progress(1.0)
    return tree


def tree_of(
    made: Sampled, duels: Any, *, seed: int, clusters: bool = True, preference: bool = True
) -> xr.DataTree:
    """Return the tree of a fit of a log, by its draws."""
    model = made.model
    drawn = made.drawn
    attrs = describe_model(model)
    if made.asked != model:
        attrs["model_asked"] = settings_to_json(made.asked.settings)
    if made.reasons:
        attrs["model_reasons"] = json.dumps(made.reasons)
    attrs |= {
        "method": made.method,
        "method_reason": made.method_reason,
        "seed": seed,
        "khat": drawn.certificate.khat,
        "importance_ess": drawn.certificate.effective,
        "tail_ess": drawn.certificate.tails.effective,
        "shortfall": drawn.certificate.shortfall,
        "versions": json.dumps(_versions()),
        **_of_log(duels, model),
    }
    with one_thread_if_small(len(duels.arms)):
        tree = datatree(model, made.cells, drawn, made.layout, attrs)
        if clusters and not isinstance(duels, Pulls):
            tree.attrs.update(NOT_CLUSTERED)
            if duels.votes is not None:
                robust, told = robust_covariance(duels, model, made.cells, drawn)
                for name in ("clusters_repeated", "clusters_lone"):
                    told[name] = json.dumps(told[name])
                tree.attrs.update(told)
                if robust is not None:
                    tree["clusters"] = xr.DataTree(robust)
        covariance = tree.duel.covariance()
        answer_by(tree, covariance, level_shares(model, duels))
        if preference and model.log_type != "pulls":
            with_preference(tree, model)
    return tree


def level_shares(model: Model, duels: Any) -> dict[str, np.ndarray]:
    """Return the shares of the votes that levels have, (levels,), where these are all there is.

    By the name of the deviations of a term.
    """
    found = {}
    for part in model.terms.exhaustive:
        level, names = levels_of(duels, part.by)
        known = level >= 0
        weight = duels.votes.weight[known]
        n = np.bincount(level[known], weight, len(names))
        found[part.parameter] = n / n.sum()
    return found


def sampled(
    duels: Duels | Pulls | Rankings,
    model: Any,
    method: Method,
    *,
    priors: Mapping[str, Any] | None = None,
    draws: int | None = None,
    chains: int = 4,
    seed: int = 0,
    log_likelihood: bool | None = None,
    progress: Progress = None,
    near: Arrays | None = None,
) -> Sampled:
    """Return the draws of a fit, of which :func:`fitted` makes a tree.

    Newton's method starts at parameters `near`, by name.
    """
    asked, reasons = choose_model(model, duels, priors)
    if log_likelihood is not None:
        check_flag(log_likelihood, "log_likelihood")
    n_asked = DRAWS if draws is None else draws
    _check(duels, asked, method, n_asked, chains, seed)
    sparse = takes_sparse(asked, duels, method)
    fewer = draws is None  # where many cost much
    if draws is None:
        of_chain = SPARSE_DRAWS.times(len(duels.arms)) // 4  # of each of four chains
        draws = 4 * of_chain if sparse else DRAWS
    else:
        check_draws(draws, len(duels.arms))
    if isinstance(duels, Duels) and _ranks_arms(asked):
        warn_of_pairing(duels, learned_scale="scale" in asked.scales)
    model = asked.settled(duels)
    model.check(duels)
    cells = model.cells(duels)
    layout = (chains, -(-draws // chains))
    if log_likelihood is None:
        log_likelihood = keeps_likelihood(layout, cells)
    options = {"log_likelihood": log_likelihood, "progress": progress}
    with one_thread_if_small(len(duels.arms)):
        if sparse:
            drawn, used, reason = _sample_sparse(model, cells, method, layout, seed, **options)
        else:
            _check_dense(model, len(duels.arms))
            drawn, used, reason = _sample(
                model, cells, method, layout, seed, near, fewer=fewer, **options
            )
    drawn_values = next(iter(drawn.posterior.values()))
    layout = (chains, len(drawn_values) // chains)
    return Sampled(model, asked, reasons, cells, layout, drawn, used, reason)


def keeps_likelihood(layout: tuple[int, int], cells: Any) -> bool:
    """Return whether the log likelihood of every draw and cell is kept by default."""
    n_draws = layout[0] * layout[1]
    return n_draws * len(cells) * 8 <= LIKELIHOOD_BYTES


def describe_model(model: Model) -> dict[str, Any]:
    """Return the attributes of a tree by which its model is known."""
    found: dict[str, Any] = {
        "model": model.name,
        "model_settings": settings_to_json(model.settings),
    }
    own = classes_of(model)
    if own:
        found["model_classes"] = json.dumps(own)
    found["outcome"] = model.response.outcome
    found["score_unit"] = model.response.score_unit
    return found


def _warn_of_covariates(duels: Any, model: Model) -> None:
    """Warn of covariates of the log that the model does not include."""
    unused = missing_covariates(model, duels) if isinstance(duels, Duels) else []
    if unused:
        warn(
            f"the log has covariates that {model.name} does not include, so that they are not "
            f"controlled for: {join(unused, 8, quote=True)}; include them by "
            "BradleyTerry(Scores() + Covariates([...])), or read the log without covariates",
            UnusedCovariatesWarning,
        )


def takes_sparse(model: Any, log: Any, method: Method) -> bool:
    """Return whether a fit takes the sparse route.

    Raises ValueError if `method` is a sparse one and the model cannot take it.
    """
    why = model.why_not("sparse")
    if not why and isinstance(log, Duels) and log.teams is not None:
        why = TEAMS
    if method in SPARSE and why:
        raise ValueError(
            f"method should be 'auto', 'laplace' or 'nuts' for this model, "
            f"got {shown_value(method)}: {why}"
        )
    if method != "auto":
        return method in SPARSE
    return len(log.arms) >= SPARSE_ARMS and not why


def _check_dense(model: Any, n_arms: int) -> None:
    """Raise ValueError unless the matrices of a fit that takes the dense route fit in memory."""
    if n_arms < SPARSE_ARMS or not _ranks_arms(model):
        return  # some 50 MB at most, or matrices of attributes
    instead = (
        "fit a part (Duels.subset), a model of attributes (read_items), or BradleyTerry() with "
        "method='auto', whose sparse route needs no such matrix"
    )
    if why := model.why_not("sparse"):
        instead += f" (it is not taken here: {why})"
    # 30 matrices: a factor at each node of a grid, and workspace.
    check_square(n_arms, 30, "a fit with a score for each arm", instead)


def _check_nuts(model: Any, n_cells: int) -> None:
    """Raise ValueError where NUTS, which alone can fit a model, would take hours unasked."""
    if n_cells > NUTS_CELLS:
        raise ValueError(
            f"{model.name} should have at most {NUTS_CELLS:,} rows of counts with method='auto', "
            f"which is NUTS here ({model.why_not('laplace')}), got {n_cells:,}; fit BradleyTerry() "
            "and ask judge_agreement of judges, fit a part (Duels.subset), or allow hours with "
            "method='nuts'"
        )


def _sample(
    model: Model,
    cells: Any,
    method: Method,
    layout: tuple[int, int],
    seed: int,
    near: Arrays | None,
    *,
    fewer: bool,
    **options: Any,
) -> tuple[PosteriorDraws, str, str]:
    """Sample by `method`; return what was sampled, the method used and why."""
    chains, per_chain = layout
    near_by: PosteriorDraws | None = None
    reason = "asked for"
    if method == "pymc":
        reason = "asked for, of the pm.Model"
    notice = ""  # of NUTS that nobody asked for
    rng = np.random.default_rng(seed)
    if model.why_not("laplace") and method not in CHAINS:
        if method == "laplace":
            raise ValueError(
                f"method should be 'nuts' or 'auto' for {model.name}, got 'laplace': "
                f"{model.why_not('laplace')}"
            )
        _check_nuts(model, len(cells))
        method = "nuts"
        reason = model.why_not("laplace")
        notice = f"The quick method does not serve this model: {reason}. {QUICKER}"
    if method not in CHAINS:
        try:
            instead = method == "auto"  # NUTS
            approximation = approximation_of(model, cells, near, weighed=instead)
            drawn = sample(approximation, chains * per_chain, rng, instead=instead, **options)
        except FloatingPointError as error:
            if method == "laplace":
                raise ValueError(f"the Laplace approximation does not exist: {error}") from error
            reason = f"Laplace failed: {error}"
            notice = f"{reason}. {QUICKER}"
        else:
            certificate = drawn.certificate
            if certificate.khat == -np.inf:
                return drawn, "laplace", "the posterior is conjugate: the draws are exact"
            if certificate.holds:
                kind = "asked for" if method == "laplace" else "it was checked and is accurate here"
                return drawn, "laplace", f"{kind}: {certificate}"
            if method == "laplace":
                short = uncertified("the Laplace draws", certificate, "'auto' or 'nuts'")
                return drawn, "laplace", f"asked for; {short}"
            reason = f"Laplace's certificate does not hold: {certificate.shortfall}"
            near_by = drawn
            laplace = as_options(method="laplace")
            notice = f"{reason}. Quicker: {laplace} (not certified), or fewer draws."
    try:
        options["notice"] = notice
        drawn = _by_nuts(model, cells, method, layout, seed, fewer=fewer, **options)
    except ValueError as error:
        if near_by is None:
            raise
        short = uncertified("the Laplace draws", near_by.certificate)
        return near_by, "laplace", f"{short}; NUTS failed: {error}"
    if not drawn.certificate.holds:
        reason += f"; {uncertified('the draws of NUTS', drawn.certificate)}"
    return drawn, "nuts", reason


def _by_nuts(
    model: Model,
    cells: Any,
    method: Method,
    layout: tuple[int, int],
    seed: int,
    *,
    fewer: bool,
    **options: Any,
) -> PosteriorDraws:
    """Sample by NUTS: on the density of a linear predictor, else on the ``pm.Model``.

    fewer: whether a model of many coefficients may have fewer draws.
    """
    chains, draws = layout
    linear = model.why_not("conjugate") and not model.why_not("laplace")
    if method == "pymc" or not linear:
        return sample_nuts(model, cells, draws=draws, chains=chains, seed=seed, **options)
    from bayesduel.inference.hamiltonian import sample_hamiltonian

    density = linear_predictor(model, cells)
    if fewer:
        fewer_draws = NUTS_DRAWS.times(density.size)
        draws = -(-fewer_draws // chains)
    settings = {"draws": draws, "chains": chains, "seed": seed, **options}
    try:
        return sample_hamiltonian(density, cells, **settings)
    except FloatingPointError:  # nothing to start from, as where data and prior leave a direction
        return sample_nuts(model, cells, **settings)


def uncertified(draws: str, certificate: Quality, instead: str = "") -> str:
    """Warn of draws that are not certified, and return why as a clause."""
    short = f"not certified: {certificate.shortfall}"
    use = instead and f"; use method={instead}"
    warn(f"{draws} are {short}{use}", UncertifiedWarning)
    return short


def _sample_sparse(
    model: Model, cells: Any, method: Method, layout: tuple[int, int], seed: int, **options: Any
) -> tuple[PosteriorDraws, str, str]:
    """Sample on the sparse graph; return what was sampled, the method used and why."""
    from bayesduel.inference.sparse_sample import sample_gibbs, sample_variational

    chains, per_chain = layout
    rng = np.random.default_rng(seed)
    reason = "asked for"
    if method != "gibbs":
        if method == "auto":
            n = cells.log.n_arms
            reason = f"{n:,} scores, from {SPARSE_ARMS:,} the sparse route costs less"
        drawn = sample_variational(model, cells, chains * per_chain, rng, **options)
        certificate = drawn.certificate
        if certificate.holds:
            return drawn, "variational", f"{reason}; {certificate}"
        if method == "variational":
            short = uncertified("the variational draws", certificate, "'gibbs'")
            return drawn, "variational", f"asked for; {short}"
        reason = f"the variational approximation is not certified: {certificate.shortfall}"
    drawn = sample_gibbs(model, cells, draws=per_chain, chains=chains, rng=rng, **options)
    return drawn, "gibbs", reason


def _check(duels: Any, model: Model, method: Any, draws: Any, chains: Any, seed: Any) -> None:
    kind = LOGS[model.log_type]
    check_log(duels, kind, see=f" (see bayesduel.read_{kind.__name__.lower()})")
    check_one_of(method, "method", METHODS)
    ranges = (
        ("draws", draws, 100, 10**8),
        ("chains", chains, 1, 10**4),
        ("seed", seed, 0, 2**128),
    )
    for name, value, least, most in ranges:
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise TypeError(f"{name} should be a whole number, got {shown_value(value)}")
        if value < least:
            raise ValueError(f"{name} should be at least {least}, got {shown_value(value)}")
        if value > most:
            raise ValueError(f"{name} should be at most {most:,}, got {shown_value(value)}")


def _ranks_arms(model: Model) -> bool:
    """Return whether arms have scores of their own, which only duels that connect them compare."""
    return model.log_type != "pulls" and model.terms.items is None


def without_draws(duels: Any, model: Model) -> xr.DataTree:
    """Return what a fit of a model says of its log, with no draws: its groups and attributes."""
    arms = np.array(duels.arms, dtype=object)
    groups = observed(model, model.cells(duels), arms)
    tree = xr.DataTree.from_dict(groups)
    versions = json.dumps(_versions())
    tree.attrs.update(_of_log(duels, model), versions=versions)
    return tree


def _of_log(duels: Any, model: Model) -> dict[str, Any]:
    """Return the attributes of a fit that describe its log."""
    if model.log_type == "pulls":
        return {"source": duels.source, "n_pulls": duels.n_pulls}
    files = duels.read_summary.files
    fingerprints = [fingerprint(duels)] if files else []
    pairs = duels.duels if model.log_type == "rankings" else duels
    parts = components(pairs) if _ranks_arms(model) else [duels.arms]
    found = {
        "source": duels.read_summary.source,
        "reading": json.dumps(dict(duels.read_summary.reading)),
        "understood": json.dumps(duels.reading.to_dict()),
        "added": json.dumps(fingerprints),
        "batches": json.dumps([fingerprint_of_votes(duels)]),
    }
    if model.log_type == "rankings":
        found["n_rankings"] = duels.n_rankings
    else:
        found["n_duels"] = duels.n_duels
        found["plain"] = int(duels.plain)
        if duels.teams is not None:
            found["teams"] = 1
    found["tie_rule"] = model.response.tie_rule(duels)
    found["components"] = json.dumps([list(part) for part in parts])
    return found


@cache
def _versions() -> dict[str, str]:
    packages = ("bayesduel", "pymc", "pytensor", "nutpie", "arviz", "numpy", "scipy", "xarray")
    return {name: version(name) for name in packages}
