"""Health of a log: counts and warnings to read before any model is fitted."""

from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any, cast

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.labels import alike_words, labels_alike
from bayesduel.data.majority import REPEATED
from bayesduel.data.relaxation_time import relaxation_time
from bayesduel.data.sides import one_order
from bayesduel.data.teams import Teams
from bayesduel.data.votes import MANY_MISSING
from bayesduel.intervals import wilson
from bayesduel.system.arguments import check_log
from bayesduel.system.warnings import BayesduelWarning, warn
from bayesduel.text import NAMED, count, join, json_ready, plural, screen, shorten

__all__ = [
    "IGNORED",
    "DisconnectedWarning",
    "Health",
    "LocalPairingWarning",
    "OutlierWarning",
    "Repeats",
    "ThinDataWarning",
    "components",
    "disconnected_words",
    "health",
    "health_lines",
    "health_words",
    "maximum_likelihood_exists",
    "thin_data_words",
    "warn_of_pairing",
    "without_words",
]

READ = (  # what health takes over from the read summary
    *("source", "columns", "guessed", "n_rows", "n_both_bad", "n_ties_dropped", "n_self_duels"),
    *("neither", "n_zero_weight", "n_duplicates", "n_bad_rows", "bad_rows"),
)
# Relaxation time in duels above which pairing is taken as local. Pairs drawn at random need a few
# duels to reach any arm from any other.
LOCAL = 20.0
DUELS_PER_SCORE = 5  # Vittinghoff & McCulloch 2007: fewer events per parameter are unreliable
# Distance from 1/2 that the interval of `first_share` keeps, to be reported: a smaller advantage
# moves a score by less than 0.08 logits.
ORDER = 0.02
IGNORED = "Models without a side advantage ignore it."


@dataclass(frozen=True)
class Repeats:
    """Votes that share a unit, such as a judge and a pair, and so are not independent.

    Attributes
    ----------
    unit
        "judge and pair" or "group and pair".
    n_votes
        Votes with a known judge or group, counted with their weights.
    n_units
        Distinct units among them.
    """

    unit: str
    n_votes: int
    n_units: int

    @property
    def n_repeated(self) -> int:
        """Votes beyond the first of their unit."""
        return self.n_votes - self.n_units


@dataclass(frozen=True, kw_only=True)
class Health:
    """Counts and warnings on a log, as :func:`bayesduel.health` returns them.

    Attributes
    ----------
    source, columns, guessed, n_rows, n_self_duels, n_both_bad, n_ties_dropped, n_zero_weight,
    neither, n_duplicates, n_bad_rows, bad_rows
        As in :class:`bayesduel.data.votes.ReadSummary`.
    n_duels, n_arms, n_ties, tie_rule
        As in :class:`bayesduel.Duels`.
    never_won, never_lost
        Arms with duels but no win, or no loss; a tie is neither.
    n_pairs, n_pairs_met, n_pairs_both_ways
        Pairs of arms, K (K - 1) / 2; those that met; those that met with either arm listed
        first.
    duels_per_arm
        Smallest, median and largest number of duels of an arm.
    n_decisive
        Duels that are not ties.
    ordered
        Whether the order in which a row lists the arms may carry a meaning.
    one_orientation
        Whether sides may carry a meaning but no pair met with either arm listed first, although so
        many duels are repeats of their pair that this is no chance (seven or more: less than 1 %
        if orders were random).
    first_share, first_interval
        Proportion of decisive duels won by the arm listed first, and its 95 % Wilson interval;
        NaN without decisive duels.
    n_judges, n_groups
        Number of judges and groups, or None for a log without such a column.
    n_without_judge, n_without_group
        Votes that name no judge, or no group, likewise.
    repeats
        For each of these columns, the votes that share a unit.
    components
        Connected components of the comparison graph, the largest first
        (:func:`bayesduel.components`).
    teams, together
        Whether sides have several arms; the groups of arms that are never apart.
    strongly_connected
        Whether maximum-likelihood scores exist (Ford 1957): wins lead from every arm to every
        other.
    alike
        Pairs of labels that differ only in case, spaces, Unicode form, invisible characters,
        letters of other alphabets that look the same, or in how a number is written.
    warnings
        Sentences, the most serious first.

    Examples
    --------
    >>> health = bd.health(bd.datasets.load("springall"))
    >>> health.n_duels, health.n_ties, health.strongly_connected
    (885, 198, True)
    """

    source: str
    columns: dict[str, str]
    guessed: tuple[str, ...]
    n_rows: int
    n_duels: int
    n_arms: int
    n_ties: int
    tie_rule: str
    n_both_bad: int
    neither: str
    n_ties_dropped: int
    n_self_duels: int
    n_zero_weight: int
    n_duplicates: int | None
    n_bad_rows: int
    bad_rows: tuple[tuple[str, str], ...]
    never_won: tuple[str, ...]
    never_lost: tuple[str, ...]
    n_pairs: int
    n_pairs_met: int
    n_pairs_both_ways: int
    duels_per_arm: tuple[int, float, int]
    n_decisive: int
    ordered: bool
    one_orientation: bool
    first_share: float
    first_interval: tuple[float, float]
    n_judges: int | None
    n_groups: int | None
    n_without_judge: int | None
    n_without_group: int | None
    repeats: tuple[Repeats, ...]
    components: tuple[tuple[str, ...], ...]
    strongly_connected: bool
    alike: tuple[tuple[str, str], ...]
    teams: bool = False
    together: tuple[tuple[str, ...], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def n_pairs_never_met(self) -> int:
        """Number of pairs of arms that never met."""
        return self.n_pairs - self.n_pairs_met

    @property
    def is_thin(self) -> bool:
        """Whether there are fewer than five duels for each free score.

        References
        ----------
        Vittinghoff & McCulloch, "Relaxing the rule of ten events per variable in logistic and
        Cox regression", American Journal of Epidemiology 165(6), 2007, 710-718.
        """
        return _is_thin(self.n_duels, self.n_arms)

    @property
    def table(self) -> list[tuple[str, str]]:
        """The counts as text: one (name, value) per line."""
        return health_lines(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON types; NaN becomes None."""
        found = asdict(self)
        found["repeats"] = [{**asdict(r), "n_repeated": r.n_repeated} for r in self.repeats]
        found |= {"n_pairs_never_met": self.n_pairs_never_met, "is_thin": self.is_thin}
        return json_ready(found)

    def __repr__(self) -> str:
        rows = self.table
        width = max(len(name) for name, _ in rows)
        notes = [f"! {sentence}" for sentence in self.warnings]
        notes += [f"  {where}: {what}" for where, what in self.bad_rows]
        body = (f"  {name:<{width}}  {value}" for name, value in rows)
        return screen([f"Health of {shorten(self.source, 80)}"], body, notes, whole=".table")

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in self.table
        )
        notes = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.warnings)
        bad = "".join(f"<li>{escape(w)}: {escape(x)}</li>" for w, x in self.bad_rows)
        return (
            f"<table><caption>Health of {escape(self.source)}</caption>{rows}</table>"
            f"<ul>{notes}</ul>" + (f"<p>Rows left out:</p><ul>{bad}</ul>" if bad else "")
        )


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
    low, high = (float(end) for end in wilson(first, first + second))
    n_met = len(duels.pairs().first)
    n_ordered = int((cells.left_wins + cells.right_wins + cells.ties > 0).sum())
    found = Health(
        **{name: getattr(duels.read_summary, name) for name in READ},
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
        n_decisive=first + second,
        ordered=duels.ordered,
        one_orientation=duels.ordered and one_order(duels),
        first_share=first / (first + second) if first + second else float("nan"),
        first_interval=(low, high),
        n_judges=None if votes is None or votes.judge is None else len(votes.judges),
        n_groups=None if votes is None or votes.group is None else len(votes.groups),
        n_without_judge=None if votes is None or votes.judge is None else votes.n_without("judge"),
        n_without_group=None if votes is None or votes.group is None else votes.n_without("group"),
        repeats=tuple(r for role in ("judge", "group") if (r := _repeats(duels, role))),
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
    groups: list[list[str]] = [[] for _ in range(place.max() + 1)]
    for arm, k in zip(duels.arms, place, strict=True):
        groups[k].append(arm)
    return sorted((tuple(g) for g in groups), key=lambda g: (-len(g), g))


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
    if len(parts) == 1:
        return ""
    shown = "; ".join(", ".join(p[:5]) + (", ..." if len(p) > 5 else "") for p in parts[:6])
    more = f"; and {len(parts) - 6} more" if len(parts) > 6 else ""
    return (
        f"the log has {len(parts)} components that never met ({shown}{more}): only the "
        f"prior compares {plural(noun)} of different components"
    )


def thin_data_words(duels: Duels, noun: str = "arm") -> str:
    """Return that a log has few duels for its arms, or ""; `noun` is what an arm is called."""
    if not _is_thin(duels.n_duels, duels.n_arms):
        return ""
    some = "1 duel is" if duels.n_duels == 1 else f"{duels.n_duels} duels are"
    return (
        f"{some} few for {duels.n_arms} {plural(noun)}: expect wide intervals that depend on the "
        "prior"
    )


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
        return len(components(duels)) == 1 and not _separated(duels)
    left, right, left_wins, right_wins, ties = duels.cells
    forward = (left_wins + ties) > 0
    backward = (right_wins + ties) > 0
    winner = np.concatenate([left[forward], right[backward]])
    loser = np.concatenate([right[forward], left[backward]])
    if duels.votes is not None and duels.votes.share is not None:
        soft = ~np.isnan(duels.votes.share)
        ends = duels.votes.left[soft], duels.votes.right[soft]
        winner = np.concatenate([winner, *ends])
        loser = np.concatenate([loser, *ends[::-1]])
    edges = coo_array((np.ones(len(winner)), (winner, loser)), shape=(duels.n_arms,) * 2)
    return bool(csgraph.connected_components(edges, connection="strong")[0] == 1)


def _together(duels: Duels) -> tuple[tuple[str, ...], ...]:
    """Return the groups of arms that are in the same teams only."""
    if duels.teams is None:
        return ()
    groups = duels.teams.together(duels.cells, duels.n_arms)
    return tuple(tuple(duels.arms[k] for k in group) for group in groups)


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
    ahead = (inside[rows.left] - inside[rows.right]) * np.where(sure, np.sign(points), 0.0)[:, None]
    level = (inside[rows.left] - inside[rows.right])[~sure]
    won = np.unique(ahead[sure], axis=0)
    sides = np.concatenate([won, level, -level])
    found = linprog(-won.sum(axis=0), A_ub=-sides, b_ub=np.zeros(len(sides)), bounds=(-1.0, 1.0))
    # A sum of leads above it is more than the rounding of the solver: 1e-7
    return bool(-found.fun > 1e-7)


def _components(duels: Duels) -> np.ndarray:
    """Return the component of each arm, shape (K,)."""
    from scipy.sparse import coo_array, csgraph

    left, right = duels.cells[:2]
    edges = coo_array((np.ones(len(left)), (left, right)), shape=(duels.n_arms,) * 2)
    return csgraph.connected_components(edges, directed=False)[1]


def _repeats(duels: Duels, role: str) -> Repeats | None:
    """Return how many votes share a unit of `role` and pair, or None without such a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    votes = duels.votes
    code = None if votes is None else getattr(votes, role)
    if votes is None or code is None:
        return None
    known = code >= 0
    low = np.minimum(votes.left, votes.right)[known].astype(np.int64)
    high = np.maximum(votes.left, votes.right)[known]
    unit = (low * duels.n_sides + high) * (len(getattr(votes, f"{role}s")) + 1) + code[known]
    n_units = pc.count_distinct(pa.array(unit)).as_py()  # by hashing: faster than np.unique
    return Repeats(f"{role} and pair", int(votes.weight[known].sum()), n_units)


def health_lines(h: "Health", noun: str = "arm") -> list[tuple[str, str]]:
    """Return the counts as text, a (name, value) a line; `noun` is what an arm is called."""
    ties = f"{h.n_ties:,}"
    if h.n_ties and h.tie_rule == "half":
        ties += " (half a win each)"
    if h.n_both_bad and not h.neither:
        ties += f" (both bad: {h.n_both_bad:,})"
    if h.n_ties_dropped:
        ties += f", {h.n_ties_dropped:,} left out"
    share = 100 * h.n_pairs_never_met / h.n_pairs
    low, median, high = h.duels_per_arm
    each = f"{low:,}" if low == high else f"{low:,} to {high:,}, median {median:,.0f}"
    lines = [
        ("rows", f"{h.n_rows:,}"),
        ("duels", f"{h.n_duels:,}"),
        (plural(noun), f"{h.n_arms:,}"),
        ("ties", ties),
        (f"duels per {noun}", each),
        ("pairs that met", f"{h.n_pairs_met:,} of {h.n_pairs:,}"),
        ("pairs that never met", f"{h.n_pairs_never_met:,} ({share:.0f} %)"),
        ("never won", join(h.never_won, NAMED) or "none"),
        ("never lost", join(h.never_lost, NAMED) or "none"),
        (
            "groups that teams compare" if h.teams else "components",
            f"{len(h.components):,}",
        ),
        ("maximum-likelihood scores exist", "yes" if h.strongly_connected else "no"),
    ]
    if h.n_decisive and h.ordered:
        first = f"{100 * h.first_share:.1f} % of {h.n_decisive:,} decisive duels"
        interval = " to ".join(f"{100 * x:.1f}" for x in h.first_interval)
        told = f"{first} (ties left out; 95 %: {interval})"
        lines.append((f"won by the {noun} listed first", told))
    for role, n, without in _named(h):
        lines.append((plural(role), f"{n:,}"))
        if without:
            lines.append((f"votes without a {role}", f"{without:,}"))
    lines += [(f"votes by {r.unit}", f"{r.n_votes:,} on {r.n_units:,} units") for r in h.repeats]
    lines += [
        ("self-duels, left out", f"{h.n_self_duels:,}"),
        ("rows of weight 0", f"{h.n_zero_weight:,}"),
        ("bad rows, left out", f"{h.n_bad_rows:,}"),
    ]
    if h.n_duplicates is not None:
        lines.append(("duplicate rows", f"{h.n_duplicates:,}"))
    return lines


def health_words(h: "Health", noun: str = "arm", side: str = IGNORED) -> list[str]:
    """Return the warnings, the most serious first.

    noun: what an arm is called.
    side: what the model makes of an effect of the side, a sentence.
    """
    found = []
    nouns = plural(noun)
    if len(h.components) > 1:
        parts = "; ".join(join(part, NAMED) for part in h.components[:NAMED])
        more = f"; and {len(h.components) - NAMED:,} more" if len(h.components) > NAMED else ""
        found.append(
            f"The comparison graph has {len(h.components):,} components ({parts}{more}): "
            "comparisons across components depend on the prior alone."
            if not h.teams
            else f"The {nouns} are in {len(h.components):,} groups ({parts}{more}). The teams do "
            f"not compare {nouns} of different groups: such comparisons depend on the prior alone."
        )
    for group in h.together:
        found.append(
            f"{join(group, NAMED)} are always in one team: no duel says which of them is better."
        )
    if not h.n_decisive:
        found.append(
            f"Every duel is a tie: the log has no information on differences between {nouns}."
        )
    if h.is_thin:
        found.append(
            f"{count(h.n_duels, 'duel')} for {h.n_arms:,} {nouns}, fewer than {DUELS_PER_SCORE} "
            "per score: intervals are wide and depend on the prior."
        )
    if not h.strongly_connected and h.n_decisive:
        found.append(
            "Maximum-likelihood scores do not exist, because wins do not lead from every "
            f"{noun} to every other: a prior is needed."
        )
    for word, who in (("lost", h.never_lost), ("won", h.never_won)):
        if who:
            found.append(f"{count(len(who), noun)} never {word}: {join(who, NAMED)}.")
    for r in h.repeats:
        if r.n_repeated and r.n_repeated >= REPEATED * r.n_votes:
            found.append(
                f"{r.n_votes:,} votes in {count(r.n_units, 'unit')} of {r.unit}: votes within a "
                "unit are not independent."
            )
    for role, n, without in _named(h):
        repeated = h.n_duels - without > n
        if repeated and without >= MANY_MISSING * h.n_duels:
            found.append(f"{without_words(role, without, h.n_duels)}.")
    if h.n_decisive and h.first_share in (0, 1) and h.n_decisive > DUELS_PER_SCORE:
        side = "first" if h.first_share == 1 else "second"
        found.append(
            f"The {noun} listed {side} won every decisive duel: the order of the columns gives the "
            "winner, not the order of presentation."
        )
    elif h.n_decisive and _order_counts(h):
        low, high = (100 * x for x in h.first_interval)
        found.append(
            f"The {noun} listed first won {100 * h.first_share:.1f} % of the {h.n_decisive:,} "
            f"decisive duels (95 % interval {low:.1f} to {high:.1f} %). This may be an effect of "
            f"the order of presentation or a home advantage, unless stronger {nouns} were listed "
            f"{'first' if h.first_share > 0.5 else 'second'} more often. {side}"
        )
    elif h.one_orientation:
        found.append(
            "Every pair is listed in one order only: a side advantage cannot "
            f"be distinguished from the strength of the {nouns} in any pair, only by a model with "
            f"one score per {noun}. If sides carry a meaning (shown first, home), list them as "
            "they were."
        )
    if h.n_bad_rows:
        found.append(f"{_were(h.n_bad_rows, 'bad row')} left out.")
    if h.n_duplicates and h.n_duplicates >= REPEATED * h.n_rows:
        found.append(f"{_were(h.n_duplicates, 'duplicate row')} kept.")
    if h.n_self_duels:
        found.append(f"{_were(h.n_self_duels, 'self-duel')} left out.")
    if h.neither:
        found.append(
            f"{_were(h.n_both_bad, 'vote')} marked both bad: {h.neither!r} wins them. "
            f"{count(h.n_ties_dropped, 'other tie')} left out."
        )
    elif h.n_both_bad:
        found.append(f"{_were(h.n_both_bad, 'duel')} marked both bad, which counts as a tie.")
    if h.alike:
        found.append(f"{alike_words(h.alike)}.")
    return found


def _named(h: "Health") -> list[tuple[str, int, int]]:
    """Return "judge" and "group" where the log has them: how many, and the votes without one."""
    roles = (
        ("judge", h.n_judges, h.n_without_judge),
        ("group", h.n_groups, h.n_without_group),
    )
    return [(r, n, without) for r, n, without in roles if n is not None and without is not None]


def without_words(role: str, without: int, total: int) -> str:
    """Return that votes name no judge (or group), what is assumed, and what to do.

    role: "judge" or "group"; without: how many; total: number of votes.
    """
    one = without == 1
    same = "person" if role == "judge" else role
    return (
        f"{count(without, 'vote')} of {total:,} {'has' if one else 'have'} no {role}: "
        f"{'it' if one else 'each'} is taken as a {role} of its own. If they share {role}s, "
        f"intervals are too narrow. Name the {role}s; if all are of one {same}, fill the column "
        "with one label"
    )


def _order_counts(h: "Health") -> bool:
    """Return whether the interval of the first side's share is clearly above or below half.

    False if most pairs were always listed in the same order: the share is then
    confounded with strength.
    """
    low, high = h.first_interval
    both = 2 * h.n_pairs_both_ways >= h.n_pairs_met
    return both and 0 < h.first_share < 1 and (low > 0.5 + ORDER or high < 0.5 - ORDER)


def _is_thin(n_duels: int, n_arms: int) -> bool:
    return n_duels < DUELS_PER_SCORE * (n_arms - 1)


def _were(n: int, what: str) -> str:
    return f"{count(n, what)} {'was' if n == 1 else 'were'}"
