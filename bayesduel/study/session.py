"""A session: the policy, the belief and the stop rule of a study, as arrays in memory.

The store knows tickets and labels; a session knows indices. Studies, plans and simulated studies
all run on it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

from bayesduel.beliefs import record
from bayesduel.beliefs.belief import FROM_DRAWS, NEVER, Belief, BeliefSpec
from bayesduel.beliefs.followed import Followed, updated
from bayesduel.beliefs.model_posterior import MCMC, Laplace
from bayesduel.beliefs.score_posterior import (
    LOGIT,
    ScorePosterior,
    anticipate,
    anticipate_many,
    copied,
    draw_scores,
)
from bayesduel.policies.score_rules import ScoreRule
from bayesduel.study.evidence import Evidence
from bayesduel.study.goal import Goal
from bayesduel.study.source_posterior import SourcePosterior, sources_term
from bayesduel.study.stopping import StopRule
from bayesduel.text import count

__all__ = ["Decision", "Session", "belief_of", "take"]

# Draws on which a stop rule is asked: the standard error of a probability of 0.95 is 0.01.
QUICK = 500
CONFIRMED = 4000  # draws on which its answer is confirmed: 0.003


@dataclass(frozen=True)
class Decision:
    """What the posterior says of the goal."""

    stopped: bool  # whether the stop rule is reached
    decided: bool  # whether it is by more than a spent budget
    order: np.ndarray  # arms from the best to the worst, indices
    # posterior probability that the answer is right, in the sense of the stop rule
    probability: float
    value: float  # what the stop rule looks at
    reason: str  # the stop rule in words
    # groups of arms that are tied within the rope of the stop rule (indices), once it is reached,
    # and the probability that all of them are
    tied: tuple[tuple[int, ...], ...] = ()
    tied_probability: float = 1.0
    # whether the stop rule looks at the answer's own duels, each pair by itself
    confirmed: bool = False
    nobody: bool = False  # whether the answer is that no arm is such


def belief_of(model: Any) -> BeliefSpec:
    """Return the belief that follows a model: duel by duel if it can, else by refitting.

    Of scores by source it holds the draws: a session follows these itself.
    """
    if model.score_link is not None:
        return Followed(model.score_link)
    return (
        MCMC(model, draws=400)
        if sources_term(model) is None and model.why_not("laplace")
        else Laplace(model, draws=400, growth=0.05)
    )


class Session:
    """One study without its store.

    policy: a policy of pairs.
    stop: when there is enough.
    spec: the belief by which the stop rule judges; a posterior-driven policy uses its own.
    retired: arms that are no longer in question, indices.
    required: how often each pair has to meet before the study may stop, symmetric, shape (K, K);
        default 0.
    sources: the posterior of the scores by source, of a study that has several. Tallies are then
        those of the target: the votes of other sources enter the posterior alone.
    not_fitted: why the model could not be refitted last time, "" where it was: the posterior is
        that of an earlier fit, before the first one the prior.
    """

    def __init__(
        self,
        n_arms: int,
        goal: Goal,
        policy: Any,
        stop: StopRule,
        spec: BeliefSpec,
        retired: tuple[int, ...] = (),
        required: np.ndarray | None = None,
        sources: SourcePosterior | None = None,
    ) -> None:
        self.required = required
        self.sources = sources
        self.active = np.setdiff1d(np.arange(n_arms), retired)
        self.goal = goal
        self.policy = policy
        self.stop = stop
        self.belief: Belief = policy.belief.init(n_arms)
        self.memory = policy.init(n_arms)
        self.driven = isinstance(policy, ScoreRule)
        self._spec = policy.belief if self.driven else spec
        self._own = self.belief if self.driven else self._spec.init(n_arms)
        self._posterior: ScorePosterior = (
            self.memory.posterior if self.driven else self._spec.scores(n_arms)
        )
        self.not_fitted = ""
        self._latest: Evidence | None = None
        # numbers of the first duels to which beliefs were last fitted, by who reads them
        self._fitted = {"policy": NEVER, "stop": NEVER}

    @property
    def chooses_by_fit(self) -> bool:
        """Whether the choice of a pair reads the fitted posterior. Otherwise the stop rule may."""
        refitted = self.policy.belief.due(0) != NEVER
        return self.driven or refitted or self.sources is not None

    @property
    def wins(self) -> np.ndarray:
        """Times i beat j, shape (K, K)."""
        return self.belief.wins

    @property
    def n_counted(self) -> int:
        """Number of duels, as stop rules count them."""
        return round(float(self.wins.sum()))

    @property
    def spent(self) -> bool:
        """Whether a stop rule that counts duels is reached, and no required duel is missing."""
        return self.n_counted >= self.stop.most and not self.missing().any()

    def record(self, i: int, j: int, outcome: float, judge: str | None = None) -> None:
        """Record one outcome: 1 if i won, 0 if j won, 0.5 for a tie.

        In a study of several sources the judge says which one it is of.

        Raises ValueError if an arm is none: compiled code would write beyond its arrays.
        """
        n_arms = len(self.wins)
        if not (0 <= i < n_arms and 0 <= j < n_arms):
            raise ValueError(f"arms should be 0 to {n_arms - 1}, got {i} and {j}")
        if self.sources is not None:
            source = self.sources.source_of(judge)
            self.sources.record(source, i, j, outcome)
            if source != self.sources.target:
                return
        record(self.belief, (i, j), outcome)
        if not self.driven:
            record(self._own, (i, j), outcome)

    def enter(self, wins: np.ndarray) -> None:
        """Enter a whole tally, shape (K, K)."""
        for belief in (self.belief, self._own):
            belief.wins[...] = wins
            belief.n_duels[0] = round(float(wins.sum()))

    def loaded(self, wins: np.ndarray, rng: np.random.Generator) -> "Session":
        """Enter a whole tally, shape (K, K), refit, and return the session."""
        self.enter(wins)
        self.refit(lambda n: rng)
        return self

    def matrices(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return posterior draws of the preference matrix, shape (n, K, K)."""
        if self.sources is None:
            updated(self._posterior, self._own)
            if self._own.source == FROM_DRAWS:
                kept = self._own.draws
                return kept[rng.integers(len(kept), size=n)]
        scores = self._scores(self._posterior, n, rng)
        return self._win(scores[:, :, None] - scores[:, None, :])

    def _scores(self, posterior: ScorePosterior, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return draws of the scores that are followed, shape (n, K)."""
        if self.sources is not None:
            return self.sources.draws(n, rng)
        return draw_scores(posterior, n, rng)

    def _win(self, difference: np.ndarray) -> np.ndarray:
        """Return probabilities of winning by differences of scores, elementwise."""
        if self.sources is not None:
            return self.sources.win(difference)
        return _win(self._posterior.link, difference)

    def refit(
        self,
        rng_after: Callable[[int], np.random.Generator],
        duels: Callable[[int], tuple[Any, Any]] | None = None,
    ) -> None:
        """Refit what is refitted now and then, if that is due.

        A fit is of the duels after which it was due, though more may have come since: a study that
        is opened again has the fits of one that was open all the time.

        rng_after: source of a seed after a number of duels.
        duels: function of a number that returns the log of so many first duels, and its labels in
            the order of the session, for models that need more of it than who won.
        """
        n = int(self.belief.n_duels[0])
        if self.sources is not None:
            self.sources.follow()
            # 400 draws by which a policy knows the scores of the target of several sources
            draws = self.matrices(400, rng_after(n))
            self.belief = self._own = self.belief._replace(draws=draws)
            return
        self.belief = self._refreshed("policy", self.policy.belief, self.belief, rng_after, duels)
        if self.driven:
            self._own = self.belief
        else:
            self._own = self._refreshed("stop", self._spec, self._own, rng_after, duels)

    def _refreshed(
        self,
        reader: str,
        spec: BeliefSpec,
        belief: Belief,
        rng_after: Callable[[int], np.random.Generator],
        duels: Callable[[int], tuple[Any, Any]] | None,
    ) -> Belief:
        """Return a belief, refitted if that is due.

        reader: "policy" or "stop", who reads it.
        """
        n = int(belief.n_duels[0])
        before = self._fitted[reader]
        first = spec.last_due(n)
        if first == before and self.not_fitted:
            first = n  # those that have come since may let it be fitted
        if first == before:
            return belief
        self._fitted[reader] = first
        seed = int(rng_after(first).integers(2**31))
        return self._refitted(spec, belief, seed, first, duels)

    def _refitted(
        self,
        spec: BeliefSpec,
        belief: Belief,
        seed: int,
        first: int,
        duels: Callable[[int], tuple[Any, Any]] | None,
    ) -> Belief:
        """Return a belief refitted; as it was where these duels do not let the model be fitted."""
        try:
            log = () if duels is None else duels(first)
            found = spec.refreshed(belief, seed, *log)
        except Exception as error:  # whatever a model raises, what was told stays open to all
            why = f"{type(error).__name__}: {error}"
            self.not_fitted = f"the model cannot be refitted to these duels ({why})"
            return belief
        self.not_fitted = ""
        return found

    def choose(
        self,
        n: int,
        pending: Sequence[tuple[int, int, int]],
        rng: np.random.Generator,
        room: np.ndarray | None = None,
    ) -> list[tuple[int, int]]:
        """Return the next n pairs.

        Required pairs come first. A posterior-driven policy counts what pending pairs are expected
        to tell and names no pair more often than there is room; other policies choose as if there
        were none pending, and room for all.

        pending: pairs that are asked already, and how often.
        room: how often a pair may be named, symmetric, shape (K, K); None for any number.
        """
        if not self.driven:
            return [self._selected(rng) for _ in range(n)]
        t = int(self.belief.n_duels[0]) + 1
        updated(self._posterior, self.belief)
        ahead = self.memory
        if pending or n > 1:
            ahead = ahead._replace(posterior=copied(self._posterior))
        if len(pending) > len(self.wins) and not len(ahead.posterior.draws):
            anticipate_many(ahead.posterior, np.array(pending, np.int64))
        else:
            for i, j, times in pending:
                anticipate(ahead.posterior, i, j, times)
        if room is not None:
            room = room.copy()
            ahead = ahead._replace(cost=np.where(room < 1, np.inf, ahead.cost))
        found: list[tuple[int, int]] = []
        for _ in range(n):
            if room is not None and np.isinf(ahead.cost).all():
                break
            waiting = [*pending, *((i, j, 1) for i, j in found)]
            missing = self.missing(waiting)
            missing[np.isinf(ahead.cost)] = 0
            wanted = self._wanted(waiting, rng)
            if missing.any():
                above = np.triu(missing)
                most = np.argwhere(above == missing.max())
                i, j = most[rng.integers(len(most))]
            elif wanted is not None and not np.isinf(ahead.cost[wanted]):
                i, j = wanted
            else:
                i, j = self.policy.select(self.belief, ahead, t, rng)
            found.append((int(i), int(j)))
            if room is not None and take(room, i, j) < 1:
                ahead.cost[[i, j], [j, i]] = np.inf
            if len(found) < n:
                anticipate(ahead.posterior, i, j, 1)
        return found

    def divide(
        self,
        n: int,
        pending: Sequence[tuple[int, int, int]],
        without: Sequence[np.ndarray | None] = (),
    ) -> list[tuple[int, int, int]]:
        """Return source and pair of the next n votes: each the most that is told for its cost.

        Of the target the pair is left to ``choose``.

        pending: source and pair of the votes that are awaited.
        without: as in ``choose``, of each source.
        """
        assert self.sources is not None
        updated(self._posterior, self.belief)
        cost = self.sources.cost[:, None, None] * self.memory.cost
        for s, gone in enumerate(without):
            if gone is not None:
                cost[s][gone] = np.inf
        return self.sources.divide(n, self._posterior.draws, self.memory, cost, pending)

    def _wanted(
        self, pending: Sequence[tuple[int, int, int]], rng: np.random.Generator
    ) -> tuple[int, int] | None:
        """Return the pair that the stop rule wants next, if it steers.

        Pending duels count with the outcomes that are expected of their pairs.
        """
        if not self.stop.steers:
            return None
        wins = self.wins.copy()
        for i, j, times in pending:
            won = self.wins[i, j]
            lost = self.wins[j, i]
            share = (won + 1) / (won + lost + 2)
            wins[i, j] += times * share
            wins[j, i] += times * (1 - share)
        active = self.active
        square = np.ix_(active, active)
        latest = self._latest  # of the last decision, unless an outcome was told since
        if latest is None or not np.array_equal(latest.wins, self.wins[square]):
            latest = self.evidence(QUICK, rng)
        if pending:
            latest = replace(latest, wins=wins[square])
        pair = self.stop.wanted(latest)
        if pair is None:
            return None
        i, j = pair
        return int(active[i]), int(active[j])

    def missing(self, pending: Sequence[tuple[int, int, int]] = ()) -> np.ndarray:
        """Return how many duels each required pair lacks, those in `pending` counted, (K, K)."""
        if self.required is None:
            return np.zeros(self.wins.shape)
        met = np.round(self.wins + self.wins.T)
        for i, j, times in pending:
            met[i, j] += times
            met[j, i] += times
        return np.maximum(self.required - met, 0)

    def _selected(self, rng: np.random.Generator) -> tuple[int, int]:
        """Return the next pair of a policy with a memory.

        A duel of an arm with itself is one that nobody has to judge: it is recorded, and the
        policy is asked again, up to 1,000 times.
        """
        for _ in range(1000):
            t = int(self.belief.n_duels[0]) + 1
            i, j = self.policy.select(self.belief, self.memory, t, rng)
            if i != j:
                break
            record(self.belief, (i, j), 0.5)
        return int(i), int(j)

    def evidence(
        self, n_draws: int, rng: np.random.Generator, posterior: ScorePosterior | None = None
    ) -> Evidence:
        """Return posterior draws as stop rules take them.

        posterior: of the scores; default the one that follows the duels.
        """
        posterior = posterior or self._posterior
        updated(posterior, self._own)
        active = self.active
        scores = self._scores(posterior, n_draws, rng)[:, active]
        wins = self.belief.wins[np.ix_(active, active)]
        n = self.n_counted
        if self._own.source == FROM_DRAWS and self.sources is None:
            kept = self._own.draws[:, active][:, :, active]
            scores = posterior.draws[:, active]
            return Evidence(self.goal, scores, lambda a, b: kept[:, a, b], wins, n)
        link = self._win

        def win(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return link(scores[:, a] - scores[:, b])

        sources = self.sources
        target = "" if sources is None else sources.names[sources.target]
        return Evidence(self.goal, scores, win, wins, n, link, target)

    def decision(self, rng: np.random.Generator, *, afresh: bool = False) -> Decision:
        """Return what the posterior says, with the stop confirmed on fresh draws.

        afresh: whether scores that are followed are computed from the tally alone, as they are
            when a study is opened. To follow them duel by duel is quicker, and rounds otherwise.
        """
        posterior = self._posterior
        followed = self.sources is None and self._own.source != FROM_DRAWS
        n_arms = len(self.wins)
        if afresh and followed and n_arms <= 200:  # which take 36 ms; 40 arms take 1 ms
            posterior = self._spec.scores(n_arms)
        found = self.evidence(QUICK, rng, posterior)
        missing = int(self.missing().sum()) // 2
        reached = missing == 0 and self.stop.reached(found)
        if reached:
            found = self.evidence(CONFIRMED, rng, posterior)
            reached = self.stop.reached(found)
        self._latest = found
        reason = self.stop.reason(found)
        if missing:
            reason += f"; required pairs still need {count(missing, 'duel')}"
        if self.not_fitted:
            reason += f"; {self.not_fitted}"
        tied: list[np.ndarray] = []
        joint = 1.0
        if reached:
            tied, joint = found.tied(self.stop.rope, self.stop.level)
        answer = self.stop.answer(found)
        decided = reached and self.stop.decides(found)
        return Decision(
            reached,
            decided,
            self.active[found.order if answer is None else answer],
            self.stop.probability(found),
            self.stop.value(found),
            reason,
            tuple(tuple(self.active[group].tolist()) for group in tied),
            joint,
            self.stop.steers,
            decided and answer is None,
        )


def take(room: np.ndarray, i: int, j: int) -> int:
    """Take one off the room of a pair, in place; return what is left."""
    room[[i, j], [j, i]] -= 1
    return int(room[i, j])


def _win(link: int, difference: np.ndarray) -> np.ndarray:
    """Return probabilities of winning by differences of scores, elementwise."""
    return expit(difference) if link == LOGIT else ndtr(difference)
