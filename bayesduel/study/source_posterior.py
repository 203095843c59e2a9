"""Sources of a study, people and machines: their posterior, and who is asked next.

The scores of all sources have a joint normal prior given the standard deviations and correlations
of :class:`bayesduel.models.Sources`. At some nodes of these the posterior of the scores is a normal
distribution at its mode (Laplace); the mixture over the nodes, weighted by their importance, is the
posterior. After new votes nodes and modes are found from the start again, so that the same votes
have the same posterior, in whatever order and in however many parts they came.

A vote of a source tells as much about the goal as it is expected to take relative variance off the
target's contrasts in question (:mod:`bayesduel.policies.contrast_allocation`), given the standard
deviations and correlations and averaged over their posterior. So a source whose agreement is not
known yet is tried, and one that is known not to agree is left.

References
----------
Rue, Martino & Chopin, "Approximate Bayesian inference for latent Gaussian models by using
integrated nested Laplace approximations", JRSS B 2009. Deviation: the nodes are a low-discrepancy
sequence under a normal distribution that is fitted to their own weights (adaptive importance
sampling: Cappé et al., "Population Monte Carlo", JCGS 2004).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from bayesduel.beliefs.score_posterior import heaviest
from bayesduel.data.votes import ROLES
from bayesduel.models import Model, Sources
from bayesduel.policies.contrast_allocation import disagreement
from bayesduel.policies.score_rules import contenders
from bayesduel.system.arguments import check_type, finite, shown_value, texts_of

__all__ = ["SourcePosterior", "checked_sources", "source_costs", "sources_term"]

STEP = 1e-3  # of numerical derivatives in the predictor, by central differences: right to 1e-6
CAP = 3.0  # largest change of a score in one Newton step, in logits: odds of 20


def sources_term(model: Model) -> Sources | None:
    """Return the term :class:`bayesduel.models.Sources` of a model, or None."""
    for part in model.terms.arms:
        if isinstance(part, Sources):
            return part
    return None


def checked_sources(given: Any, model: Model) -> list[list[Any]] | None:
    """Return the sources as they are stored: name and cost of a vote of each.

    Raises TypeError or ValueError if they are not, or not with a model that a study follows by
    source.
    """
    term = sources_term(model)
    if given is None:
        if term is not None:
            raise ValueError(
                f"a model with {term.key} needs sources, the cost of a vote by source, such as "
                "{'people': 1, 'machine': 0.01}, got None"
            )
        return None
    check_type(given, Mapping, "sources", "costs by source")
    costs = source_costs(given)
    names = ", ".join(costs)
    alone = term is not None and tuple(model.terms) == (term,)
    linked = model.response.score_link is not None
    if term is None or not alone or not linked or term.by in ROLES:
        raise ValueError(
            "model of a study with sources should have only the term Sources, such as "
            "BradleyTerry(Sources('source', target='people')), got "
            f"{model.name}"
        )
    if term.target not in costs:
        target = shown_value(term.target)
        raise ValueError(f"sources should contain {target}, the target of the model, got {names}")
    if term.levels is not None and set(term.levels) != set(costs):
        levels = ", ".join(term.levels)
        raise ValueError(f"sources should be the levels of the model, {levels}, got {names}")
    return [[name, cost] for name, cost in costs.items()]


def source_costs(given: Mapping[str, Any]) -> dict[str, float]:
    """Return the cost of a vote by source.

    Raises TypeError or ValueError if there are fewer than two, or a cost is no positive number.
    """
    names = texts_of(tuple(given), "sources")
    if len(names) < 2:
        got = ", ".join(names) or "an empty dictionary"
        raise ValueError(f"sources should have at least two names, got {got}")
    costs = {}
    for name in names:
        cost = given[name]
        if not finite(cost, f"cost of {name}") > 0:
            raise ValueError(f"cost of {name} should be positive, got {shown_value(cost)}")
        costs[name] = float(cost)
    return costs


class _Nodes(NamedTuple):
    """Nodes of the standard deviations and correlations."""

    phi: np.ndarray  # their logarithms, shape (nodes, parameters)
    log_prior: np.ndarray  # logarithm of the prior density over that of the nodes, (nodes,)
    prior: np.ndarray  # prior precision of the scores, shape (nodes, S K, S K)
    log_det: np.ndarray  # logarithm of its determinant, (nodes,)


class SourcePosterior:
    """The posterior of the scores by source, followed vote by vote.

    model: a model of scores by source and nothing else, with one source as target.
    costs: cost of a vote by source.
    by, names, target: the column, the sources, and the place of the target among them.
    wins: times arm i beat arm j, a tie half a win each, by source, shape (S, K, K).
    """

    def __init__(self, model: Model, costs: Mapping[str, float], n_arms: int) -> None:
        term = sources_term(model)
        assert term is not None
        self.by = term.by
        self.names = tuple(costs)
        self._term = replace(term, levels=self.names)
        self.target = self.names.index(str(term.target))
        self.cost = np.array(list(costs.values()))
        n_sources = len(self.names)
        self.wins = np.zeros((n_sources, n_arms, n_arms))
        self._response = model.response
        self._seen = np.full_like(self.wins, -1.0)
        typical = model.response.score_scale
        n_others = n_sources - 1
        lengths = {self.by: n_sources, f"{self.by}_other": n_others}
        self._scales = {}
        self._lengths = []
        start = []
        for name, given in self._term.scales.items():
            scale = given if given.size else replace(given, size=typical)
            self._scales[name] = scale
            length = lengths.get(str(scale.dim), 1)
            self._lengths.append(length)
            start.append(scale.of_logarithm(1.0))
        by_parameter = np.repeat(np.array(start), self._lengths, axis=0)
        middle, deviation = by_parameter.T
        # 128 nodes for each source beside the target
        points = _sequence(128 * n_others, len(middle))
        self._normal = ndtri(points)
        self._first = self._placed(middle, np.diag(deviation))
        self.follow()

    def source_of(self, judge: str | None) -> int:
        """Return the source of a judge: the one of that name, else the target."""
        if judge in self.names:
            return self.names.index(judge)
        return self.target

    def record(self, source: int, i: int, j: int, outcome: float) -> None:
        """Record one vote: 1 if i won, 0 if j won, 0.5 for a tie; ``follow`` takes it up."""
        self.wins[source, i, j] += outcome
        self.wins[source, j, i] += 1 - outcome

    def follow(self) -> None:
        """Compute the posterior of the votes, from the prior on, if there are new ones."""
        if (self.wins == self._seen).all():
            return
        self._seen = self.wins.copy()
        nodes = self._first
        for _ in range(6):  # times that nodes are placed, at most
            self._solve(nodes)
            effective = 1 / (self._weight**2).sum()
            # A larger share: nodes are placed more often, and each time takes a Newton search; not
            # tuned.
            if effective >= 0.4 * len(nodes.phi):
                return
            middle = self._weight @ nodes.phi
            away = nodes.phi - middle
            # Variance of the nodes over that of their weights: 1.8
            spread = 1.8 * (away.T * self._weight) @ away
            spread += 0.01 * np.eye(len(middle))  # a single heavy node has none
            root = np.linalg.cholesky(spread)
            nodes = self._placed(middle, root)
        self._solve(nodes)

    def draws(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return draws of the target's scores, shape (n, K), in a random order."""
        n_arms = self.wins.shape[1]
        mine = _places(self.target, n_arms)
        share = np.cumsum(self._weight)
        edges = np.floor(n * share + rng.random())  # rounded at random
        edges = edges.astype(int).clip(0, n)
        edges[-1] = n
        found = np.empty((n, n_arms))
        first = 0
        for g, last in enumerate(edges):
            if last <= first:
                continue
            centre = self._centre[g]
            root = self._root[g]
            normal = rng.standard_normal((last - first, len(centre)))
            found[first:last] = centre[mine] + normal @ root[mine].T
            first = last
        order = rng.permutation(n)
        return found[order]

    def win(self, difference: np.ndarray) -> np.ndarray:
        """Return probabilities of winning by differences of scores, elementwise."""
        return self._response.typical_score(difference, {})

    def divide(
        self, n: int, scores: np.ndarray, memory: Any, cost: np.ndarray,
        pending: Sequence[tuple[int, int, int]],
    ) -> list[tuple[int, int, int]]:  # fmt: skip
        """Return source and pair of the next n votes, each the one that tells most for its cost.

        n: how many; none where no pair is allowed.
        scores: draws of the target's scores, (n, K).
        memory: of a posterior-driven policy, with its goal and draws.
        cost: of a vote of each source on each pair, infinite where it is not allowed, (S, K, K).
        pending: source and pair of the votes that are awaited.
        """
        if np.isinf(cost).all():
            return []
        n_sources, n_arms = self.wins.shape[:2]
        mean, covariance = heaviest(memory.posterior)
        arms = np.flatnonzero(contenders(scores, memory))
        disagreeing = disagreement(scores, memory, arms, mean, covariance)
        weight = np.tril(disagreeing, -1)
        weight += weight.T
        # Weight of a node, of the heaviest, below which a choice leaves it out: 1e-3
        least = 1e-3 * self._weight.max()
        kept = np.flatnonzero(self._weight > least)
        heavy = self._weight[kept]
        share = heavy / heavy.sum()
        root = self._root[kept]
        C = root @ np.swapaxes(root, 1, 2)
        centre = self._centre[kept]
        by_source = centre.reshape(-1, n_sources, n_arms)
        differences = by_source[:, :, :, None] - by_source[:, :, None, :]
        bend = self._information(differences)
        asked = list(pending)

        def expect(s: int, i: int, j: int) -> None:
            of_source = s * n_arms
            _expect(C, bend[:, s, i, j], of_source + i, of_source + j)

        for s, i, j in pending:
            expect(s, i, j)
        mine = self.target * n_arms + arms
        itself = np.eye(len(arms))
        for _ in range(n):
            toward = C[:, mine]  # (nodes, contenders, S K)
            spread = _spread(toward[:, :, mine])
            variance = np.where(itself > 0, 1.0, spread)
            graph = weight / variance
            degree = graph.sum(axis=2)
            laplacian = degree[:, :, None] * itself - graph
            pulled = np.swapaxes(toward, 1, 2) @ laplacian
            gain = np.empty((n_sources, n_arms, n_arms))
            for s in range(n_sources):
                own = _places(s, n_arms)
                less = _spread(pulled[:, own] @ toward[:, :, own])
                noise = 1 / np.maximum(bend[:, s], 1e-300)
                known = _spread(C[:, own, own])
                each = less / (noise + known)
                expected = np.tensordot(share, each, 1)
                gain[s] = expected / cost[s]
            best = np.unravel_index(gain.argmax(), gain.shape)
            s, i, j = (int(k) for k in best)
            asked.append((s, i, j))
            expect(s, i, j)
        return asked[len(pending) :]

    def _placed(self, middle: np.ndarray, root: np.ndarray) -> _Nodes:
        """Return the nodes around a point, and the priors there."""
        phi = middle + self._normal @ root.T
        ends = np.cumsum(self._lengths)
        parts = np.split(phi, ends[:-1], axis=1)
        named = dict(zip(self._scales, parts, strict=True))
        squares = self._normal**2
        log_prior = 0.5 * squares.sum(axis=1)  # of importance
        for name, scale in self._scales.items():
            log_density = scale.log_density(named[name], 1.0)
            log_prior += log_density.sum(axis=1)
        n_sources, n_arms = self.wins.shape[:2]
        sigma = []
        for g in range(len(phi)):
            at_node = {name: np.exp(values[g]) for name, values in named.items()}
            sigma.append(self._term.covariance(at_node, n_sources))
        trace = np.trace(sigma, axis1=1, axis2=2)
        ridge = 1e-9 * trace[:, None, None] * np.eye(n_sources)
        inverse = np.linalg.inv(sigma + ridge)
        _, log_det = np.linalg.slogdet(inverse)
        prior = np.kron(inverse, np.eye(n_arms))
        return _Nodes(phi, log_prior, prior, n_arms * log_det)

    def _solve(self, nodes: _Nodes) -> None:
        """Compute mode, mean and covariance at nodes, and their weights."""
        n_arms = self.wins.shape[1]
        met = self.wins + np.swapaxes(self.wins, 1, 2)
        source, i, j = np.nonzero(np.triu(met))
        points = self.wins[source, i, j]
        n = points + self.wins[source, j, i]
        first = source * n_arms + i
        second = source * n_arms + j
        n_pairs = len(n)
        data = {"n": n, "points": points, "log_coefficient": np.zeros(n_pairs)}
        n_nodes, n_scores, _ = nodes.prior.shape
        row = np.arange(n_pairs)
        touch = np.zeros((n_pairs, n_scores))
        touch[row, first] = 1.0
        touch[row, second] = -1.0

        def pulled(x: np.ndarray) -> np.ndarray:
            columns = nodes.prior @ x[:, :, None]
            return np.asarray(columns[:, :, 0])

        def predictor(x: np.ndarray) -> np.ndarray:
            return x[:, first] - x[:, second]

        def height(x: np.ndarray) -> np.ndarray:
            log_likelihood = self._response.log_likelihood(predictor(x), {}, data)
            seen = log_likelihood.sum(axis=1)
            length = (x * pulled(x)).sum(axis=1)
            return np.asarray(seen - 0.5 * length)

        x = np.zeros((n_nodes, n_scores))
        value = height(x)
        for _ in range(50):
            eta = predictor(x)
            slope, bend, *_ = self._response.derivatives(eta, {}, data)
            precision = nodes.prior.copy()
            precision[:, first, second] += bend
            precision[:, second, first] += bend
            diagonal = np.einsum("gii->gi", precision)
            diagonal -= bend @ np.abs(touch)
            gradient = slope @ touch - pulled(x)
            columns = np.linalg.solve(precision, gradient[:, :, None])
            step = columns[:, :, 0]
            decrement = (step * gradient).sum(axis=1)
            if (decrement < 1e-7 * n_scores).all():  # nats of a score
                break
            largest = np.abs(step).max(axis=1)
            shorter = CAP / np.maximum(largest, CAP)
            step *= shorter[:, None]
            for _ in range(30):
                found = height(x + step)
                rounding = 1e-9 * np.maximum(1.0, np.abs(value))
                worse = found < value - rounding
                if not worse.any():
                    break
                step[worse] /= 2
            x = x + step
            value = found
        factor = np.linalg.cholesky(precision)
        inverse = np.linalg.inv(factor)
        self._root = np.swapaxes(inverse, 1, 2)
        spread = touch @ self._root
        variance = (spread**2).sum(axis=2)
        _, bend_below, *_ = self._response.derivatives(eta - STEP, {}, data)
        _, bend_above, *_ = self._response.derivatives(eta + STEP, {}, data)
        third = (bend_above - bend_below) / (2 * STEP)
        pull = (0.5 * third * variance) @ touch
        shift = self._root @ (inverse @ pull[:, :, None])
        self._centre = x + shift[:, :, 0]  # mean less mode, as in beliefs.score_posterior
        diagonal = np.einsum("gii->gi", factor)
        half = np.log(diagonal).sum(axis=1)
        log_weight = value + 0.5 * nodes.log_det - half + nodes.log_prior
        weight = np.exp(log_weight - log_weight.max())
        self._weight = weight / weight.sum()

    def _information(self, eta: np.ndarray) -> np.ndarray:
        """Return the Fisher information of a vote on its predictor."""
        low = self.win(eta - STEP)
        win = self.win(eta)
        high = self.win(eta + STEP)
        slope = (high - low) / (2 * STEP)
        variance = np.maximum(win * (1 - win), 1e-300)
        return slope**2 / variance


def _places(source: int, n_arms: int) -> slice:
    """Return where the scores of a source are among all."""
    first = source * n_arms
    return slice(first, first + n_arms)


def _sequence(n: int, q: int) -> np.ndarray:
    """Return a low-discrepancy sequence in the unit cube, (n, q): that of the plastic numbers.

    Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018.
    """
    root = 2.0
    for _ in range(60):
        root = (1 + root) ** (1 / (q + 1))
    steps = root ** -np.arange(1.0, q + 1)
    number = np.arange(1, n + 1)[:, None]
    return (0.5 + number * steps) % 1.0


def _expect(covariance: np.ndarray, bend: np.ndarray, first: int, second: int) -> None:
    """Update covariances (nodes, n, n), in place, by the information of a vote."""
    c = covariance[:, :, first] - covariance[:, :, second]
    variance = c[:, first] - c[:, second]
    less = bend / (1 + bend * variance)
    scaled = less[:, None, None] * c[:, :, None]
    covariance -= scaled * c[:, None, :]


def _spread(matrix: np.ndarray) -> np.ndarray:
    """Return ``m[i, i] + m[j, j] - 2 m[i, j]`` of the last two axes."""
    diagonal = np.einsum("...ii->...i", matrix)
    return diagonal[..., :, None] + diagonal[..., None, :] - 2 * matrix
