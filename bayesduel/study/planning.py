"""Planning: how many more duels a study is expected to take, by simulating its futures.

A future draws the truth from the posterior (or the prior), plays on with the study's own policy
and stop rule, and counts the duels until it stops.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.beliefs.model_posterior import log_of_tally
from bayesduel.jit import tell_if_it_compiles
from bayesduel.models import model_named
from bayesduel.policies.score_rules import ScoreRule
from bayesduel.study.desk import Desk
from bayesduel.study.goal import MinimizeRegret, goal_of
from bayesduel.study.policy_settings import is_automatic
from bayesduel.study.session import Session, belief_of
from bayesduel.study.stop_settings import stop_rule, usual_rule
from bayesduel.study.stopping import Budget
from bayesduel.system.arguments import (
    check_call,
    check_seed,
    check_type,
    path_of,
    shown_value,
    whole,
)
from bayesduel.system.memory import TABLE_ARMS, check_square
from bayesduel.system.options import StudyDecision
from bayesduel.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.models.model import Model
    from bayesduel.policies.policy import Policy

__all__ = ["Future", "Plan", "plan", "play", "usual_duels"]

# Duels to find the best of 8 arms at a rope of 0.05, and the powers of arms and of the rope by
# which they grow, by the doubt of the rule that confirms the answer; 0: without confirmation.
# The first two are of scores N(0, 1), 8 and 20 arms (docs/understand/stopping.md: 80 and 163, 198
# and 480). The last is of 4 arms: means of 61 studies from the prior at ropes of 0.1, 0.05 and 0.02
# are 17, 38, 82; with confirmation 51, 113, 225. With a doubt of 0.5: 1.4 times those without by 8
# arms (1.31 of 100 trial studies, 1.43 of docs/validation/studies.md); the powers as with 1.
USUAL = {0.0: (80, 0.78, -1.0), 0.5: (110, 0.97, -0.92), 1.0: (198, 0.97, -0.92)}


@dataclass(frozen=True)
class Future:
    """One simulated future of a study."""

    duels: int  # from now until it stopped
    decided: bool  # whether it stopped by more than the spent budget
    right: bool  # whether the answer was right


@dataclass(frozen=True)
class Plan:
    """How many more duels a study is expected to take.

    Attributes
    ----------
    futures
        One simulated future each.
    budget
        Duels after which a future was given up.
    """

    futures: tuple[Future, ...]
    budget: int

    @property
    def duels(self) -> np.ndarray:
        """Duels of each future, shape (n,); a future that was given up counts its budget."""
        return np.array([future.duels for future in self.futures])

    @property
    def undecided(self) -> float:
        """Share of the futures that were not decided within the budget."""
        return float(np.mean([not future.decided for future in self.futures]))

    @property
    def right(self) -> float:
        """Share of the decided futures whose answer was right; NaN if none was decided."""
        decided = [future.right for future in self.futures if future.decided]
        return float(np.mean(decided)) if decided else float("nan")

    def quantile(self, q: float) -> float:
        """Return a quantile of the number of duels, infinite beyond the decided futures."""
        times = [future.duels if future.decided else np.inf for future in self.futures]
        return float(np.quantile(times, q, method="inverted_cdf"))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON holds it; a quantile beyond the budget is None."""
        quantiles: dict[str, float | None] = {}
        for q in (0.05, 0.25, 0.5, 0.75, 0.95):
            value = self.quantile(q)
            quantiles[f"{100 * q:g} %"] = value if np.isfinite(value) else None
        return {
            "futures": len(self.futures),
            "budget": self.budget,
            "mean": float(self.duels.mean()),
            "quantiles": quantiles,
            "undecided": self.undecided,
            "right": None if np.isnan(self.right) else self.right,
        }

    def __str__(self) -> str:
        if not self.duels.any():
            return "No more duels: the stop rule is reached."
        most = self.duels.max() if self.undecided else self.budget  # the study may have its own
        simulated = f"The study was simulated {count(len(self.futures), 'time')}."
        within = f"within {count(int(most), 'more duel')}"
        if self.undecided == 1:
            return f"{simulated} No simulation was decided {within}."
        ends = []
        for q in (0.1, 0.9):
            value = self.quantile(q)
            ends.append(f"{value:,.0f}" if np.isfinite(value) else f"over {most:,}")
        middle = self.quantile(0.5)
        median = f" (median {middle:,.0f})" if middle < most else ""
        decided = "All were decided"
        if self.undecided:
            decided = f"{100 * self.undecided:.0f} % were not decided {within}"
        return (
            f"{simulated} 80 % of the simulations needed {ends[0]} to {ends[1]} more "
            f"duels{median}. {decided}."
        )

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the share of futures that are decided against the number of duels."""
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots(figsize=(6, 3.5), layout="constrained")[1]
        times = np.sort([future.duels for future in self.futures if future.decided])
        share = np.arange(len(times) + 1) / len(self.futures)
        ax.step([0, *times, self.budget], [*share, share[-1]], where="post")
        ax.set(
            xlabel="further duels",
            ylabel="share of futures decided",
            ylim=(0, 1.02),
            xlim=(0, max(times[-1] * 1.05, 1) if len(times) else self.budget),
        )
        return ax


def plan(
    start: Any,
    goal: Any = None,
    policy: Any = "auto",
    stop: Any = None,
    *,
    model: Any = "bradley-terry",
    n_futures: int = 100,
    budget: int = 5000,
    seed: int = 0,
    workers: int = 1,
    path: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Plan:
    """Return how many duels a study takes to decide, by simulated futures.

    Parameters
    ----------
    start
        A :class:`bayesduel.Study`, from which goal, policy and model are taken, and the stop rule
        where none is given; a fit; or a number of arms, with scores from the model's prior.
    goal, policy
        As for :class:`bayesduel.Study`.
    stop
        As for :class:`bayesduel.Study`. None: the rule of the study, 0.95 where `start` is none.
    model
        Where `start` is a number of arms.
    n_futures
        Simulated futures.
    budget
        Duels after which a future is given up.
    seed
        Whole number; the same for any number of workers.
    workers
        Processes.
    path
        A file in which futures are kept as they come: a plan that was interrupted goes on.
    progress
        Called with the share of the work done.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the goal has no end.

    Examples
    --------
    >>> print(bd.study.plan(3, stop=bd.study.WithinRope(0.9, rope=0.1), n_futures=20))
    The study was simulated 20 times. 80 % of the simulations needed 4 to 20 more duels (med...
    """
    from joblib import Parallel, delayed

    n_futures = whole(n_futures, "n_futures", 1)
    budget = whole(budget, "budget", 1)
    workers = whole(workers, "workers", 1)
    check_seed(seed)
    check_call(progress, "progress", none=True)
    setting = _setting(start, goal, policy, stop, model, seed, n_futures)
    kept = _kept(path)
    missing = [k for k in range(n_futures) if k not in kept]
    (_, _, chosen, *_), _, stopped, _ = setting
    if missing and not stopped:
        tell_if_it_compiles(chosen.select, "the policy")
    jobs = (delayed(_future)(setting, k, budget, seed) for k in missing)
    for k, future in Parallel(workers, return_as="generator_unordered")(jobs):
        kept[k] = future
        if path is not None:
            with Path(path).open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"future": k, **vars(future)}) + "\n")
        if progress is not None:
            progress(len(kept) / n_futures)
    return Plan(tuple(kept[k] for k in range(n_futures)), budget)


def usual_duels(n_arms: int, rope: float, doubt: float) -> int | None:
    """Return about how many duels finding the best arm takes; None where that was not measured.

    n_arms: all of which may meet, under a model of scores and the usual policy.
    rope: of the stop rule, whose probability is 0.95.
    doubt: of the rule that confirms the answer by its own duels; 0 where none does.
    """
    inside = 3 <= n_arms <= 40 and 0.02 <= rope <= 0.1  # hardly beyond what was measured
    if not inside or doubt not in USUAL:
        return None
    duels, by_arms, by_rope = USUAL[doubt]
    found = duels * (n_arms / 8) ** by_arms * (rope / 0.05) ** by_rope
    return int(round(found, 1 - math.floor(math.log10(found))))  # two digits


def play(
    session: Session,
    P: np.ndarray,
    budget: int,
    rng: np.random.Generator,
    *,
    ties: np.ndarray | None = None,
    every: int = 1,
    stopped: bool = False,
) -> tuple[Future, np.ndarray]:
    """Play a session until it stops; return its order of the arms too.

    session: the study; it is changed.
    P: probability that i beats j, shape (K, K); with ties, plus half the probability of a tie. Or
        of each duel its own, shape (T, K, K), of which the last one stays.
    budget: duels after which the study is given up.
    rng: randomness of the choices, of the draws and of the outcomes.
    ties: probability of a tie, shape (K, K); default 0.
    every: duels from one look at the stop rule to the next.
    stopped: whether the stop rule is reached already, by draws that may not be repeated here.
    """
    start = int(session.belief.n_duels[0])
    while True:
        played = int(session.belief.n_duels[0]) - start
        if played % every == 0 or played >= budget:
            decision = session.decision(rng)
            stopped = stopped or decision.stopped
            if stopped or played >= budget:
                break
        ((i, j),) = session.choose(1, [], rng)
        tie = 0.0 if ties is None else ties[i, j]
        won = _at(P, played)[i, j] - tie / 2
        u = rng.random()
        outcome = 0.0
        if u < won:
            outcome = 1.0
        elif u < won + tie:
            outcome = 0.5
        session.record(i, j, outcome)
        session.refit(lambda n: rng)
    order = decision.order
    above, below = session.goal.contrasts(order)
    ahead = _at(P, played)[above, below]
    right = bool((ahead >= 0.5).all())
    decided = stopped and (decision.decided or not decision.stopped)
    return Future(played, decided, right), order


def _at(P: np.ndarray, played: int) -> np.ndarray:
    """Return the preference matrix after some duels, the last of those given from its time on."""
    if P.ndim == 2:
        return P
    last = len(P) - 1
    return np.asarray(P[min(played, last)])


# Arguments of a session, its tally, whether it has stopped, and the truth of each future.
Setting = tuple[tuple[Any, ...], np.ndarray, bool, np.ndarray]


def _setting(
    start: Any,
    goal: Any,
    policy: "Policy",
    stop: Any,
    model: "Model",
    seed: int,
    n: int,
) -> Setting:
    from xarray import DataTree

    rng = np.random.default_rng([seed, 3])
    retired: tuple[int, ...] = ()
    required = None
    stopped = False
    if isinstance(start, DataTree) or (isinstance(start, int) and not isinstance(start, bool)):
        found_goal = goal_of("find-best" if goal is None else goal)
        stop = StudyDecision.confidence if stop is None else stop
        if isinstance(found_goal, MinimizeRegret) and isinstance(stop, float):
            raise ValueError(f"goal should have an end, as FindBest() has, got {found_goal}")
        if isinstance(start, DataTree):
            model, wins = _from_fit(start)
        else:
            n_arms = whole(start, "start", 2)
            check_square(n_arms, 10, "a plan", "plan with fewer arms")
            model = model_named(model)
            wins = np.zeros((n_arms, n_arms))
        spec = belief_of(model)
        chosen = found_goal.policy(belief=spec) if is_automatic(policy) else policy
        rule = usual_rule(stop, found_goal, confirms=isinstance(chosen, ScoreRule))
    else:
        check_type(start, Desk, "start", "a Study, a fit or a number of arms")
        study: Any = start
        found_goal = study.goal
        chosen = study.policy
        rule = study.stop if stop is None else stop_rule(stop)
        if rule is None:
            raise ValueError(
                "a plan needs a rule that ends the study: give stop=, such as stop=WithinRope(0.95)"
            )
        if study.sources:
            raise ValueError(
                "a plan needs a study with one source of votes, got the sources "
                f"{', '.join(study.sources)}"
            )
        wins = study.tally()
        retired = study.retired
        spec = belief_of(study.model)
        required = study.required
        stopped = stop is None and study._reached  # an ended study may be resumed
        model = study.model
    try:  # who won is all that futures hold
        tally = log_of_tally(np.ones((3, 3)) - np.eye(3), model)
        model.settled(tally).check(tally)
    except ValueError as error:
        raise ValueError(
            f"a plan needs a model of who wins, because it simulates nothing else: {error}"
        ) from error
    given = (len(wins), found_goal, chosen, rule, spec, retired, required)
    session = Session(*given).loaded(wins, rng)
    truths = session.matrices(n, rng)
    return given, wins, stopped, truths


def _from_fit(fit: Any) -> tuple[Any, np.ndarray]:
    from bayesduel.posterior.draws import check_fit

    check_fit(fit)
    data = fit["constant_data"]
    if "wins" not in data:
        raise ValueError(
            f"fit should have at most {TABLE_ARMS:,} arms to plan from, got "
            f"{fit['posterior'].sizes['arm']:,}"
        )
    wins = np.asarray(data["wins"], float)
    ties = np.asarray(data["ties"], float)
    return fit.duel.model, wins + ties / 2


def _future(setting: Setting, k: int, budget: int, seed: int) -> tuple[int, Future]:
    rng = np.random.default_rng([seed, 4, k])
    (n_arms, goal, policy, stop, *more), wins, stopped, truths = setting
    rule = stop | Budget(10**9)
    session = Session(n_arms, goal, policy, rule, *more).loaded(wins, rng)
    future, _ = play(session, truths[k], budget, rng, stopped=stopped)
    return k, future


def _kept(path: str | Path | None) -> dict[int, Future]:
    """Return the futures that a file holds; a line cut off by a kill is left out."""
    kept: dict[int, Future] = {}
    if path is None or not path_of(path).exists():
        return kept
    if Path(path).is_dir():
        raise IsADirectoryError(f"path should be a file, got the folder {path}")
    lines = Path(path).read_bytes().splitlines()
    for k, line in enumerate(lines):
        try:
            row = json.loads(line)
            kept[row.pop("future")] = Future(**row)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if k == len(lines) - 1:  # of a run that was killed; it is run again
                continue
            rule = f"path should be a file of a plan, but {path} has the line {shown_value(line)}"
            raise ValueError(rule) from error
    return kept
