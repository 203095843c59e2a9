"""The health of a log as a record, and in words: counts as lines, warnings as sentences."""

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from bayesduel.data.labels import alike_words, without_words
from bayesduel.data.majority import REPEATED
from bayesduel.data.votes import MANY_MISSING
from bayesduel.text import NAMED, count, join, json_ready, plural, screen, shorten

__all__ = ["IGNORED", "Health", "Repeats", "health_lines", "health_words", "is_thin"]

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
        return is_thin(self.n_duels, self.n_arms)

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


def is_thin(n_duels: int, n_arms: int) -> bool:
    """Return whether there are few duels for so many scores."""
    return n_duels < DUELS_PER_SCORE * (n_arms - 1)


def health_lines(h: Health, noun: str = "arm") -> list[tuple[str, str]]:
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


def health_words(h: Health, noun: str = "arm", side: str = IGNORED) -> list[str]:
    """Return the warnings, the most serious first.

    noun: what an arm is called.
    side: what the model makes of an effect of the side, a sentence.
    """
    return [
        *_design_words(h, noun),
        *_repeat_words(h),
        *_side_words(h, noun, side),
        *_row_words(h),
    ]


def _design_words(h: Health, noun: str) -> list[str]:
    """Return what the pairs that met leave open."""
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
    return found


def _repeat_words(h: Health) -> list[str]:
    """Return which votes are not independent, and of how many that is not known."""
    found = []
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
    return found


def _side_words(h: Health, noun: str, model_words: str) -> list[str]:
    """Return what the order of the two sides may have done.

    model_words: what the model makes of it, a sentence.
    """
    if h.n_decisive and h.first_share in (0, 1) and h.n_decisive > DUELS_PER_SCORE:
        side = "first" if h.first_share == 1 else "second"
        return [
            f"The {noun} listed {side} won every decisive duel: the order of the columns gives the "
            "winner, not the order of presentation."
        ]
    nouns = plural(noun)
    if h.n_decisive and _order_counts(h):
        percent = 100 * h.first_share
        low, high = (100 * end for end in h.first_interval)
        ahead = "first" if h.first_share > 0.5 else "second"
        return [
            f"The {noun} listed first won {percent:.1f} % of the {h.n_decisive:,} "
            f"decisive duels (95 % interval {low:.1f} to {high:.1f} %). This may be an effect of "
            f"the order of presentation or a home advantage, unless stronger {nouns} were listed "
            f"{ahead} more often. {model_words}"
        ]
    if h.one_orientation:
        return [
            "Every pair is listed in one order only: a side advantage cannot "
            f"be distinguished from the strength of the {nouns} in any pair, only by a model with "
            f"one score per {noun}. If sides carry a meaning (shown first, home), list them as "
            "they were."
        ]
    return []


def _row_words(h: Health) -> list[str]:
    """Return which rows were left out, or count otherwise than they might."""
    found = []
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


def _named(h: Health) -> list[tuple[str, int, int]]:
    """Return "judge" and "group" where the log has them: how many, and the votes without one."""
    roles = (
        ("judge", h.n_judges, h.n_without_judge),
        ("group", h.n_groups, h.n_without_group),
    )
    return [(r, n, without) for r, n, without in roles if n is not None and without is not None]


def _order_counts(h: Health) -> bool:
    """Return whether the interval of the first side's share is clearly above or below half.

    False if most pairs were always listed in the same order: the share is then
    confounded with strength.
    """
    low, high = h.first_interval
    both = 2 * h.n_pairs_both_ways >= h.n_pairs_met
    clear = low > 0.5 + ORDER or high < 0.5 - ORDER
    return both and clear and 0 < h.first_share < 1


def _were(n: int, what: str) -> str:
    verb = "was" if n == 1 else "were"
    return f"{count(n, what)} {verb}"
