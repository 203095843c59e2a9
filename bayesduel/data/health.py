"""Health of a log: counts and warnings to read before any model is fitted."""

from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any, cast

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.labels import alike_words, labels_alike, without_words
from bayesduel.data.majority import REPEATED
from bayesduel.data.relaxation_time import relaxation_time
from bayesduel.data.sides import one_order
from bayesduel.data.teams import Teams
from bayesduel.data.votes import MANY_MISSING, pair_codes
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
        found["repeats"] = [asdict(r) | {"n_repeated": r.n_repeated} for r in self.repeats]
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
        caption = f"<caption>Health of {escape(self.source)}</caption>"
        table = f"<table>{caption}{rows}</table>"
        notes = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.warnings)
        page = f"{table}<ul>{notes}</ul>"
        bad = ""
        for where, what in self.bad_rows:
            bad += f"<li>{escape(where)}: {escape(what)}</li>"
        if bad:
            page += f"<p>Rows left out:</p><ul>{bad}</ul>"
        return page


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
    if not _is_thin(duels.n_duels, duels.n_arms):
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
    each = f"{low:,}"
    if low < high:
        each += f" to {high:,}, median {median:,.0f}"
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
        percent = 100 * h.first_share
        low_end, high_end = (100 * end for end in h.first_interval)
        told = (
            f"{percent:.1f} % of {h.n_decisive:,} decisive duels "
            f"(ties left out; 95 %: {low_end:.1f} to {high_end:.1f})"
        )
        lines.append((f"won by the {noun} listed first", told))
    for role, n, without in _named(h):
        lines.append((plural(role), f"{n:,}"))
        if without:
            lines.append((f"votes without a {role}", f"{without:,}"))
    for repeats in h.repeats:
        told = f"{repeats.n_votes:,} on {repeats.n_units:,} units"
        lines.append((f"votes by {repeats.unit}", told))
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
    n_parts = len(h.components)
    if n_parts > 1:
        parts = "; ".join(join(part, NAMED) for part in h.components[:NAMED])
        if n_parts > NAMED:
            parts += f"; and {n_parts - NAMED:,} more"
        if h.teams:
            found.append(
                f"The {nouns} are in {n_parts:,} groups ({parts}). The teams do not compare "
                f"{nouns} of different groups: such comparisons depend on the prior alone."
            )
        else:
            found.append(
                f"The comparison graph has {n_parts:,} components ({parts}): "
                "comparisons across components depend on the prior alone."
            )
    for group in h.together:
        members = join(group, NAMED)
        found.append(f"{members} are always in one team: no duel says which of them is better.")
    if not h.n_decisive:
        found.append(
            f"Every duel is a tie: the log has no information on differences between {nouns}."
        )
    if h.is_thin:
        n_duels = count(h.n_duels, "duel")
        found.append(
            f"{n_duels} for {h.n_arms:,} {nouns}, fewer than {DUELS_PER_SCORE} "
            "per score: intervals are wide and depend on the prior."
        )
    if not h.strongly_connected and h.n_decisive:
        found.append(
            "Maximum-likelihood scores do not exist, because wins do not lead from every "
            f"{noun} to every other: a prior is needed."
        )
    for word, who in (("lost", h.never_lost), ("won", h.never_won)):
        if who:
            n_arms = count(len(who), noun)
            labels = join(who, NAMED)
            found.append(f"{n_arms} never {word}: {labels}.")
    for r in h.repeats:
        if r.n_repeated and r.n_repeated >= REPEATED * r.n_votes:
            n_units = count(r.n_units, "unit")
            found.append(
                f"{r.n_votes:,} votes in {n_units} of {r.unit}: votes within a "
                "unit are not independent."
            )
    for role, n, without in _named(h):
        repeated = h.n_duels - without > n
        many_missing = without >= MANY_MISSING * h.n_duels
        if repeated and many_missing:
            missing = without_words(role, without, h.n_duels)
            found.append(f"{missing}.")
    if h.n_decisive and h.first_share in (0, 1) and h.n_decisive > DUELS_PER_SCORE:
        side = "first" if h.first_share == 1 else "second"
        found.append(
            f"The {noun} listed {side} won every decisive duel: the order of the columns gives the "
            "winner, not the order of presentation."
        )
    elif h.n_decisive and _order_counts(h):
        percent = 100 * h.first_share
        low, high = (100 * end for end in h.first_interval)
        ahead = "first" if h.first_share > 0.5 else "second"
        found.append(
            f"The {noun} listed first won {percent:.1f} % of the {h.n_decisive:,} "
            f"decisive duels (95 % interval {low:.1f} to {high:.1f} %). This may be an effect of "
            f"the order of presentation or a home advantage, unless stronger {nouns} were listed "
            f"{ahead} more often. {side}"
        )
    elif h.one_orientation:
        found.append(
            "Every pair is listed in one order only: a side advantage cannot "
            f"be distinguished from the strength of the {nouns} in any pair, only by a model with "
            f"one score per {noun}. If sides carry a meaning (shown first, home), list them as "
            "they were."
        )
    if h.n_bad_rows:
        rows_were = _were(h.n_bad_rows, "bad row")
        found.append(f"{rows_were} left out.")
    if h.n_duplicates and h.n_duplicates >= REPEATED * h.n_rows:
        rows_were = _were(h.n_duplicates, "duplicate row")
        found.append(f"{rows_were} kept.")
    if h.n_self_duels:
        duels_were = _were(h.n_self_duels, "self-duel")
        found.append(f"{duels_were} left out.")
    if h.neither:
        votes_were = _were(h.n_both_bad, "vote")
        other_ties = count(h.n_ties_dropped, "other tie")
        found.append(
            f"{votes_were} marked both bad: {h.neither!r} wins them. {other_ties} left out."
        )
    elif h.n_both_bad:
        duels_were = _were(h.n_both_bad, "duel")
        found.append(f"{duels_were} marked both bad, which counts as a tie.")
    if h.alike:
        alike = alike_words(h.alike)
        found.append(f"{alike}.")
    return found


def _named(h: "Health") -> list[tuple[str, int, int]]:
    """Return "judge" and "group" where the log has them: how many, and the votes without one."""
    roles = (
        ("judge", h.n_judges, h.n_without_judge),
        ("group", h.n_groups, h.n_without_group),
    )
    return [(r, n, without) for r, n, without in roles if n is not None and without is not None]


def _order_counts(h: "Health") -> bool:
    """Return whether the interval of the first side's share is clearly above or below half.

    False if most pairs were always listed in the same order: the share is then
    confounded with strength.
    """
    low, high = h.first_interval
    both = 2 * h.n_pairs_both_ways >= h.n_pairs_met
    clear = low > 0.5 + ORDER or high < 0.5 - ORDER
    return both and clear and 0 < h.first_share < 1


def _is_thin(n_duels: int, n_arms: int) -> bool:
    return n_duels < DUELS_PER_SCORE * (n_arms - 1)


def _were(n: int, what: str) -> str:
    verb = "was" if n == 1 else "were"
    return f"{count(n, what)} {verb}"
