"""Health of a log: counts and warnings to read before any model is fitted."""

from dataclasses import replace
from typing import cast

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.health_record import Health, Repeats, health_words, is_thin
from bayesduel.data.labels import labels_alike
from bayesduel.data.relaxation_time import relaxation_time
from bayesduel.data.sides import one_order
from bayesduel.data.teams import Teams
from bayesduel.data.votes import pair_codes
from bayesduel.intervals import wilson
from bayesduel.system.arguments import check_log
from bayesduel.system.warnings import BayesduelWarning, warn
from bayesduel.text import plural

__all__ = [
    "DisconnectedWarning",
    "LocalPairingWarning",
    "OutlierWarning",
    "ThinDataWarning",
    "components",
    "disconnected_words",
    "health",
    "maximum_likelihood_exists",
    "thin_data_words",
    "warn_of_pairing",
]

READ = (  # what health takes over from the read summary
    *("source", "columns", "guessed", "n_rows", "n_both_bad", "n_ties_dropped", "n_self_duels"),
    *("neither", "n_zero_weight", "n_duplicates", "n_bad_rows", "bad_rows"),
)
# Relaxation time in duels above which pairing is taken as local. Pairs drawn at random need a few
# duels to reach any arm from any other.
LOCAL = 20.0


class DisconnectedWarning(BayesduelWarning):
    """The log has several components: comparisons across them depend on the prior alone."""


class LocalPairingWarning(BayesduelWarning):
    """Opponents were chosen near one another, by strength perhaps: a learned scale is too small."""


class OutlierWarning(BayesduelWarning):
    """A margin or a covariate is far larger than the others, and may decide the scores alone."""


class ThinDataWarning(BayesduelWarning):
    """The log has few duels for its arms: intervals are wide and depend on the prior."""


def health(duels: Duels) -> Health:
    """Return counts and warnings on a log, to read before any model is fitted.

    Parameters
    ----------
    duels
        The log.

    Returns
    -------
    Counts of duels, arms, pairs, ties and repeated votes, the connected components, an interval
    of the advantage of the arm listed first, and warnings: see
    :class:`bayesduel.data.health.Health`.

    Examples
    --------
    >>> bd.health(bd.datasets.load("tennis1990")).warnings
    ()
    """
    check_log(duels, Duels)
    cells = duels.opponents()
    votes = duels.votes
    n_arms = duels.n_arms
    won, lost, tied = duels.results_by_arm()
    total = won + lost + tied
    arms = np.asarray(duels.arms, dtype=object)
    first = int(duels.cells.left_wins.sum())
    second = int(duels.cells.right_wins.sum())
    n_decisive = first + second
    low, high = (float(end) for end in wilson(first, n_decisive))
    first_share = first / n_decisive if n_decisive else float("nan")
    n_met = len(duels.pairs().first)
    met_in_order = cells.left_wins + cells.right_wins + cells.ties > 0
    n_ordered = int(met_in_order.sum())
    n_judges: int | None = None
    n_without_judge: int | None = None
    n_groups: int | None = None
    n_without_group: int | None = None
    if votes is not None and votes.judge is not None:
        n_judges = len(votes.judges)
        n_without_judge = votes.n_without("judge")
    if votes is not None and votes.group is not None:
        n_groups = len(votes.groups)
        n_without_group = votes.n_without("group")
    repeats = [_repeats(duels, role) for role in ("judge", "group")]
    read = {name: getattr(duels.read_summary, name) for name in READ}
    found = Health(
        **read,
        n_duels=duels.n_duels,
        n_arms=n_arms,
        n_ties=duels.n_ties,
        tie_rule=duels.tie_rule,
        never_won=tuple(arms[(won == 0) & (total > 0)]),
        never_lost=tuple(arms[(lost == 0) & (total > 0)]),
        n_pairs=n_arms * (n_arms - 1) // 2,
        n_pairs_met=n_met,
        n_pairs_both_ways=n_ordered - n_met,
        duels_per_arm=(int(total.min()), float(np.median(total)), int(total.max())),
        n_decisive=n_decisive,
        ordered=duels.ordered,
        one_orientation=duels.ordered and one_order(duels),
        first_share=first_share,
        first_interval=(low, high),
        n_judges=n_judges,
        n_groups=n_groups,
        n_without_judge=n_without_judge,
        n_without_group=n_without_group,
        repeats=tuple(repeat for repeat in repeats if repeat is not None),
        components=tuple(components(duels)),
        strongly_connected=maximum_likelihood_exists(duels),
        alike=labels_alike(duels.arms),
        teams=duels.teams is not None,
        together=_together(duels),
    )
    return replace(found, warnings=tuple(health_words(found)))


def components(duels: Duels) -> list[tuple[str, ...]]:
    """Return the connected components of the comparison graph, the largest first.

    Arms are its vertices, and each pair that met is an edge. No duel compares arms of different
    components, so such comparisons depend on the prior alone. In a log with teams two arms are in
    one component if the duels determine the difference of their scores: partners who never play
    apart are not, nor are a model and a prompt where each side is one of both.

    Parameters
    ----------
    duels
        The log.

    Returns
    -------
    The labels of each component, sorted.

    Examples
    --------
    >>> bd.components(bd.Duels.from_wins([[0, 3, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 1, 0]]))
    [('0', '1'), ('2', '3')]
    """
    check_log(duels, Duels)
    if duels.teams is None:
        place = _components(duels)
    else:
        place = duels.teams.comparable(duels.cells, duels.n_arms)
    groups: dict[int, list[str]] = {}
    for arm, k in zip(duels.arms, place.tolist(), strict=True):
        groups.setdefault(k, []).append(arm)
    parts = map(tuple, groups.values())
    return sorted(parts, key=lambda part: (-len(part), part))


def warn_of_pairing(duels: Duels, *, learned_scale: bool) -> None:
    """Emit the warnings on who met whom that bear on a ranking.

    learned_scale: whether the model learns the scale of its scores from the log.
    Warns DisconnectedWarning, LocalPairingWarning or ThinDataWarning: see :func:`bayesduel.fit`.
    """
    if apart := disconnected_words(duels):
        warn(apart, DisconnectedWarning)
    # Of fewer than 30 arms, opponents are always near
    if duels.n_arms >= 30 and learned_scale:
        steps = relaxation_time(duels)
        if steps > LOCAL:
            warn(
                "opponents were chosen near one another: most arms are linked only by a long chain "
                f"of duels (relaxation time {steps:,.0f} duels; more than {LOCAL:g} is long). If "
                "opponents were matched by strength, the learned scale is too small and "
                "intervals are too narrow. Hold the scale at a value, such as "
                "BradleyTerry(scale=10)",
                LocalPairingWarning,
            )
    if few := thin_data_words(duels):
        warn(few, ThinDataWarning)


def disconnected_words(duels: Duels, noun: str = "arm") -> str:
    """Return which components of a log never met, or ""; `noun` is what an arm is called."""
    parts = components(duels)
    n_parts = len(parts)
    if n_parts == 1:
        return ""
    shown = []
    for part in parts[:6]:
        labels = ", ".join(part[:5])
        shown.append(f"{labels}, ..." if len(part) > 5 else labels)
    named = "; ".join(shown)
    more = f"; and {n_parts - 6} more" if n_parts > 6 else ""
    nouns = plural(noun)
    return (
        f"the log has {n_parts} components that never met ({named}{more}): only the "
        f"prior compares {nouns} of different components"
    )


def thin_data_words(duels: Duels, noun: str = "arm") -> str:
    """Return that a log has few duels for its arms, or ""; `noun` is what an arm is called."""
    if not is_thin(duels.n_duels, duels.n_arms):
        return ""
    some = "1 duel is" if duels.n_duels == 1 else f"{duels.n_duels} duels are"
    nouns = plural(noun)
    return f"{some} few for {duels.n_arms} {nouns}: expect wide intervals that depend on the prior"


def maximum_likelihood_exists(duels: Duels) -> bool:
    """Return whether maximum-likelihood scores exist and are unique.

    They do if and only if wins lead from every arm to every other (ties and soft votes lead both
    ways).

    References
    ----------
    Ford, "Solution of a ranking problem from binary comparisons", American Mathematical
    Monthly 64(8), 1957, 28-33.
    """
    from scipy.sparse import coo_array, csgraph

    if duels.teams is not None:
        connected = len(components(duels)) == 1
        return connected and not _separated(duels)
    left, right, left_wins, right_wins, ties = duels.cells
    forward = (left_wins + ties) > 0
    backward = (right_wins + ties) > 0
    winner = np.concatenate([left[forward], right[backward]])
    loser = np.concatenate([right[forward], left[backward]])
    if duels.votes is not None and duels.votes.share is not None:
        soft = ~np.isnan(duels.votes.share)
        soft_left = duels.votes.left[soft]
        soft_right = duels.votes.right[soft]
        winner = np.concatenate([winner, soft_left, soft_right])
        loser = np.concatenate([loser, soft_right, soft_left])
    shape = (duels.n_arms, duels.n_arms)
    edges = coo_array((np.ones(len(winner)), (winner, loser)), shape=shape)
    n_components, _ = csgraph.connected_components(edges, connection="strong")
    return bool(n_components == 1)


def _together(duels: Duels) -> tuple[tuple[str, ...], ...]:
    """Return the groups of arms that are in the same teams only."""
    if duels.teams is None:
        return ()
    groups = []
    for group in duels.teams.together(duels.cells, duels.n_arms):
        labels = tuple(duels.arms[k] for k in group)
        groups.append(labels)
    return tuple(groups)


def _separated(duels: Duels) -> bool:
    """Return whether some scores of members explain who won every duel of a log with teams.

    Albert & Anderson, "On the existence of maximum likelihood estimates in logistic regression
    models", Biometrika 1984.
    """
    from scipy.optimize import linprog

    teams = cast(Teams, duels.teams)
    rows = duels.rows
    inside = teams.matrix(duels.n_arms)
    points = rows.counts[:, 0] - rows.counts[:, 1]
    sure = np.abs(points) == rows.counts.sum(axis=1)
    differences = inside[rows.left] - inside[rows.right]
    winner = np.sign(points[sure])
    ahead = differences[sure] * winner[:, None]
    level = differences[~sure]
    won = np.unique(ahead, axis=0)
    sides = np.concatenate([won, level, -level])
    no_lead = np.zeros(len(sides))
    found = linprog(-won.sum(axis=0), A_ub=-sides, b_ub=no_lead, bounds=(-1.0, 1.0))
    # A sum of leads above it is more than the rounding of the solver: 1e-7
    return bool(-found.fun > 1e-7)


def _components(duels: Duels) -> np.ndarray:
    """Return the component of each arm, shape (K,)."""
    from scipy.sparse import coo_array, csgraph

    left, right, *_ = duels.cells
    shape = (duels.n_arms, duels.n_arms)
    edges = coo_array((np.ones(len(left)), (left, right)), shape=shape)
    _, component = csgraph.connected_components(edges, directed=False)
    return component


def _repeats(duels: Duels, role: str) -> Repeats | None:
    """Return how many votes share a unit of `role` and pair, or None without such a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    votes = duels.votes
    code = None if votes is None else getattr(votes, role)
    if votes is None or code is None:
        return None
    known = code >= 0
    pair = pair_codes(votes.left[known], votes.right[known], duels.n_sides)
    labels = getattr(votes, f"{role}s")
    unit = pair * (len(labels) + 1) + code[known]
    n_units = pc.count_distinct(pa.array(unit)).as_py()  # by hashing: faster than np.unique
    n_votes = int(votes.weight[known].sum())
    return Repeats(f"{role} and pair", n_votes, n_units)
