"""The words for the health of a log: its table, and what to heed."""

from typing import TYPE_CHECKING

from bayesduel.text import SENTENCE, count, join, shorten

if TYPE_CHECKING:
    from bayesduel.data.health import Health

__all__ = ["DUELS_PER_SCORE", "sentences", "table"]

DUELS_PER_SCORE = 5  # Vittinghoff & McCulloch 2007: below it, trust no regression coefficient
ORDER = 0.02  # how far from 1/2 the share of the first side surely is, to be spoken of
NAMED = 5  # arms a sentence names before it counts the others


def table(h: "Health") -> list[tuple[str, str]]:
    """Return (what, how much) for each line of the table a person reads."""
    ties = f"{h.n_ties:,}"
    if h.n_ties and h.tie_rule == "half":
        ties += " (half a win each)"
    if h.n_both_bad:
        ties += f" (both bad: {h.n_both_bad:,})"
    if h.n_ties_dropped:
        ties += f", {h.n_ties_dropped:,} left out"
    share = 100 * h.n_pairs_never_met / h.n_pairs
    low, median, high = h.duels_per_arm
    lines = [
        ("rows", f"{h.n_rows:,}"),
        ("duels", f"{h.n_duels:,}"),
        ("arms", f"{h.n_arms:,}"),
        ("ties", ties),
        ("duels an arm", f"{low:,} to {high:,}, median {median:,.0f}"),
        ("pairs that met", f"{h.n_pairs_met:,} of {h.n_pairs:,}"),
        ("pairs that never met", f"{h.n_pairs_never_met:,} ({share:.0f} %)"),
        ("never won", join(h.never_won, NAMED) or "none"),
        ("never lost", join(h.never_lost, NAMED) or "none"),
        ("components", f"{len(h.components):,}"),
        ("maximum likelihood exists", "yes" if h.strongly_connected else "no"),
    ]
    if h.n_decisive:
        first = f"{100 * h.first_share:.1f} % of {h.n_decisive:,} decisive duels"
        interval = " to ".join(f"{100 * x:.1f}" for x in h.first_interval)
        lines.append(("won by the arm listed first", f"{first} (95 %: {interval})"))
    for name, n in (("judges", h.n_judges), ("groups", h.n_groups)):
        if n is not None:
            lines.append((name, f"{n:,}"))
    lines += [(f"votes by {r.unit}", f"{r.n_votes:,} on {r.n_units:,} units") for r in h.repeats]
    lines += [
        ("self-duels, left out", f"{h.n_self_duels:,}"),
        ("rows of weight 0", f"{h.n_zero_weight:,}"),
        ("bad rows, left out", f"{h.n_bad_rows:,}"),
    ]
    if h.n_duplicates is not None:
        lines.append(("rows like an earlier one", f"{h.n_duplicates:,}"))
    return lines


def sentences(h: "Health") -> list[str]:
    """Return what to heed, the gravest first."""
    told = []
    if len(h.components) > 1:
        parts = "; ".join(join(part, NAMED) for part in h.components[:NAMED])
        more = f"; and {len(h.components) - NAMED:,} more" if len(h.components) > NAMED else ""
        told.append(
            f"The arms fall into {len(h.components):,} components that never met ({parts}{more}): "
            "across them only the prior speaks."
        )
    if not h.n_decisive:
        told.append("Every duel is a tie: nothing tells the arms apart.")
    if h.is_thin:
        told.append(
            f"{count(h.n_duels, 'duel')} for {h.n_arms:,} arms: fewer than {DUELS_PER_SCORE} for "
            "each score, so intervals are wide and lean on the prior."
        )
    if not h.strongly_connected and h.n_decisive:
        told.append(
            "Wins do not lead from every arm to every other: maximum-likelihood scores do not "
            "exist, a prior is needed."
        )
    for word, who in (("lost", h.never_lost), ("won", h.never_won)):
        if who:
            told.append(f"{count(len(who), 'arm')} never {word}: {join(who, NAMED)}.")
    for r in h.repeats:
        if r.n_repeated:
            told.append(
                f"{r.n_votes:,} votes on {count(r.n_units, 'unit')} of {r.unit}: votes that share "
                "a unit are not independent."
            )
    if h.n_decisive and h.first_share in (0, 1) and h.n_decisive > DUELS_PER_SCORE:
        side = "first" if h.first_share == 1 else "second"
        told.append(
            f"The arm listed {side} won every decisive duel: the order tells who won, not who "
            "was shown first."
        )
    elif h.n_decisive and _order_counts(h):
        low, high = (100 * x for x in h.first_interval)
        told.append(
            f"The arm listed first won {100 * h.first_share:.1f} % of the {h.n_decisive:,} "
            f"decisive duels (95 %: {low:.1f} to {high:.1f}). That may be an effect of "
            "the order of presentation, or of being at home, unless stronger arms were listed "
            f"{'first' if h.first_share > 0.5 else 'second'} more often. "
            "Models without an order effect ignore that."
        )
    if h.n_bad_rows:
        told.append(f"{count(h.n_bad_rows, 'bad row')} left out.")
    if h.n_duplicates:
        told.append(f"{count(h.n_duplicates, 'row')} like an earlier one in every column, kept.")
    if h.n_self_duels:
        told.append(f"{count(h.n_self_duels, 'duel')} of an arm with itself left out.")
    if h.n_both_bad:
        told.append(f"{count(h.n_both_bad, 'duel')} called both bad, taken for ties.")
    if h.alike:
        pairs = "; ".join(
            f"{shorten(a, SENTENCE)!r} and {shorten(b, SENTENCE)!r}" for a, b in h.alike[:NAMED]
        )
        told.append(f"{count(len(h.alike), 'pair')} of labels look alike: {pairs}.")
    return told


def _order_counts(h: "Health") -> bool:
    """Return whether the first side surely wins more (or less) than half, and this may matter.

    It cannot be told from strength where most pairs were always listed the same way round.
    """
    low, high = h.first_interval
    both = 2 * h.n_pairs_both_ways >= h.n_pairs_met
    return both and 0 < h.first_share < 1 and (low > 0.5 + ORDER or high < 0.5 - ORDER)
