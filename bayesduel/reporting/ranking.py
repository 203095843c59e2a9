"""What each section of the report says: numbers of an analysis, put into words and rows."""

import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.preference import CRITERIA
from bayesduel.text import SENTENCE, join, shorten
from bayesduel.text import percent as per_cent

if TYPE_CHECKING:
    from bayesduel.posterior.winners import Winners
    from bayesduel.reporting.analysis import Analysis

__all__ = [
    "caution",
    "criterion_words",
    "facts",
    "pair_rows",
    "pair_words",
    "percent",
    "rank_words",
    "ranking_rows",
    "tier_words",
    "uncertain_words",
    "verdict_parts",
    "warning_words",
]

CRITERION_NAMES = {
    "condorcet": "Condorcet (beats every other arm)",
    "copeland": "Copeland (beats most arms)",
    "borda": "Borda (best win rate)",
    "random_walk": "random walk (beats those that beat others)",
    "von_neumann": "von Neumann (weight in the mixture that nothing beats)",
}


def percent(p: float) -> str:
    """Return a probability in per cent, never rounding what is uncertain to 0 or 100."""
    return f"{per_cent(p)} %"


def facts(a: "Analysis") -> list[tuple[str, str]]:
    """Return what a log holds, as (label, number)."""
    d, votes = a.duels, a.duels.votes
    n_pairs = d.n_arms * (d.n_arms - 1) // 2
    rows = [
        ("duels", f"{d.n_duels:,}"),
        ("arms", f"{d.n_arms:,}"),
        ("pairs that met", f"{len(d.pairs().first):,} of {n_pairs:,}"),
        ("ties", _ties(d.n_ties, d.n_duels)),
    ]
    if votes is not None:
        if votes.judge is not None:
            rows.append(("judges", f"{len(votes.judges):,}"))
        if votes.group is not None:
            rows.append(("groups", f"{len(votes.groups):,}"))
        if votes.margin is not None:
            rows.append(("median margin", f"{np.nanmedian(np.abs(votes.margin)):g}"))
        if votes.time is not None and votes.time.dtype.kind == "M":
            known = votes.time[~np.isnat(votes.time)]
            if len(known):
                rows += [("from", str(known.min())[:10]), ("to", str(known.max())[:10])]
    return rows


def _ties(n_ties: int, n_duels: int) -> str:
    """Return how many duels are ties, and their share where it is not plain."""
    if n_ties in (0, n_duels):
        return f"{n_ties:,}"
    return f"{n_ties:,} ({percent(n_ties / n_duels)})"


def ranking_rows(a: "Analysis") -> list[dict[str, Any]]:
    """Return one row an arm, best first."""
    table = a.winners.table()
    counts = a.duels.summary().to_dict("index")
    share = a.winners["winner_share"].sel(criterion="copeland")
    best = dict(zip(map(str, share["arm"].values), map(float, share.values), strict=True))
    rows: list[dict[str, Any]] = []
    group = a.winners.groups()
    last = None
    records = table.reset_index().to_dict("records")
    for place, row in enumerate(records, 1):
        arm = str(row["arm"])
        own = counts[arm]
        rows.append(
            {
                "place": place,
                "arm": arm,
                "tier": int(row["tier"]),
                "new_tier": last is not None and row["tier"] != last,
                "best": percent(best[arm]),
                "ranks": _range(row["rank_lower"], row["rank_upper"]),
                "group": None if group is None else group[arm],
                "rate": percent(row["borda_mean"]),
                "interval": f"{per_cent(row['borda_lower'])} to {per_cent(row['borda_upper'])}",
                "duels": f"{int(own['duels']):,}",
                "record": " / ".join(f"{int(own[c]):,}" for c in ("wins", "ties", "losses")),
            }
        )
        last = row["tier"]
    return rows


def tier_words(w: "Winners") -> str:
    """Tell how the ranking falls into tiers, and the error of that."""
    tier = w["tier"].values
    n = int(tier.max())
    if n == 1:
        return (
            "No cut between places is sure enough to make tiers: the order within the ranking "
            "is a best guess."
        )
    return (
        f"The ranking falls into {n} tiers. Every boundary between them is right with probability "
        f"{percent(1 - w.attrs['tier_error'])}; the order within a tier is a best guess."
    )


def rank_words(w: "Winners") -> str:
    """Tell how wide the rank intervals are."""
    width = (w["rank_upper"] - w["rank_lower"]).values
    sure = int((width == 0).sum())
    return (
        f"The {100 * w.attrs['confidence']:g} % interval of a rank spans "
        f"{float(np.median(width)) + 1:.0f} places for the median arm; "
        f"{sure} of {len(width)} arms have their place to themselves."
    )


def uncertain_words(w: "Winners") -> str:
    """Tell how many pairs are decided."""
    first, second = np.triu_indices(w.sizes["arm"], 1)
    low, high = (w[f"preference_{e}"].values[first, second] for e in ("lower", "upper"))
    open_ = int(((low <= 0.5) & (high >= 0.5)).sum())
    return (
        f"{open_:,} of {len(first):,} pairs are uncertain: the {100 * w.attrs['confidence']:g} % "
        "interval of who beats whom contains 1/2."
    )


def criterion_rows(w: "Winners") -> list[dict[str, str]]:
    """Return the two likeliest winners of each criterion; of equal ones, the better ranked."""
    rows = []
    for criterion, chances in _chances(w).items():
        (first, p), (second, q) = sorted(chances, key=lambda c: -c[1])[:2]
        rows.append(
            {
                "criterion": CRITERION_NAMES[criterion],
                "arm": first,
                "probability": percent(p),
                "second": second,
                "second_probability": percent(q) if q > 0 else "\u2013",
            }
        )
    return rows


def criterion_words(w: "Winners") -> str:
    """Tell whether the winner criteria agree, as far as the draws can tell.

    Two disagree where each puts its own likeliest winner ahead of the other's by more than
    two Monte Carlo errors.
    """
    chances = {criterion: dict(found) for criterion, found in _chances(w).items()}
    likeliest = {n: max(found, key=lambda arm: found[arm]) for n, found in chances.items()}
    lone = likeliest["condorcet"]
    exists = percent(float(w["condorcet_exists"]))
    named = {n: arm for n, arm in likeliest.items() if (n, arm) != ("condorcet", NONE)}
    effective = float(w.attrs["effective_draws"])
    differ = any(
        _ahead(chances[n], a, b, effective) and _ahead(chances[m], b, a, effective)
        for (n, a), (m, b) in combinations(named.items(), 2)
        if a != b
    )
    leaders = list(dict.fromkeys(named.values()))
    if len(set(likeliest.values())) == 1:
        words = f"The criteria agree: {shorten(lone, SENTENCE)} is the likeliest winner by each."
    elif len(leaders) > 1 and not differ:
        words = (
            f"Whether the criteria disagree cannot be told: {join(leaders)} are the likeliest "
            "winners by one or another, none ahead by more than the error of the draws."
        )
    else:
        by_arm: dict[str, list[str]] = {}
        for criterion in CRITERIA:
            if criterion in named:
                by_arm.setdefault(named[criterion], []).append(_short(criterion))
        parts = [
            f"{shorten(arm, SENTENCE)} by {join(criteria)}" for arm, criteria in by_arm.items()
        ]
        agree = "agree but for Condorcet" if len(by_arm) == 1 else "disagree"
        words = f"The criteria {agree}. Likeliest winner: {'; '.join(parts)}."
    return f"{words} Some arm beats every other (is a Condorcet winner) with probability {exists}."


def _ahead(chances: dict[str, float], first: str, second: str, effective: float) -> bool:
    """Return whether `first` is likelier to win than `second` beyond Monte Carlo error.

    The error is that of the difference of two shares of `effective` independent draws.
    """
    p, q = (chances.get(arm, 0.0) for arm in (first, second))
    return p - q > 2 * np.sqrt(max(p + q - (p - q) ** 2, 0.0) / effective)


def _chances(w: "Winners") -> dict[str, list[tuple[str, float]]]:
    """Return (arm, probability) by criterion, in rank order; for Condorcet also of none."""
    order = w["order"].values
    share = w["winner_share"].transpose("criterion", "arm").values[:, order]
    arms = [str(a) for a in w["arm"].values[order]]
    found = {
        str(n): list(zip(arms, map(float, p), strict=True))
        for n, p in zip(w["criterion"].values, share, strict=True)
    }
    found["condorcet"].append((NONE, 1 - float(w["condorcet_exists"])))
    return found


NONE = "none"


def verdict_parts(w: "Winners") -> tuple[str, list[str]]:
    """Return the verdict, and those on each group of arms where groups never met."""
    inside = [part for part in json.loads(w.attrs["component_verdicts"]) if part["verdict"]]
    words = w.attrs["verdict"]
    if not inside:
        return words, []
    words = words[: words.index(f" Within {join(inside[0]['arms'])}: ")]
    return words, [f"Within {join(part['arms'])}: {part['verdict']}" for part in inside]


def warning_words(a: "Analysis") -> list[tuple[str, str]]:
    """Return the name and the words of each warning, as sentences."""
    return [(name, f"{words[:1].upper()}{words[1:].rstrip('.')}.") for name, words in a.warnings]


def caution(a: "Analysis") -> str:
    """Tell, beside the verdict, that no ranking explains the log, where that is so."""
    if a.check.transitive or a.free is None:
        return ""
    return (
        "But the log has more cycles than a ranking explains "
        f"({a.check.evidence.cyclic:,.0f} cyclic triads, {a.check.evidence.expected:,.0f} "
        "expected), and this verdict assumes one. Without that assumption: "
        f"{a.free.attrs['verdict']}"
    )


def pair_rows(a: "Analysis") -> list[dict[str, str]]:
    """Return the pairs that would teach most."""
    return [
        {
            "first": str(r["first"]),
            "second": str(r["second"]),
            "chance": f"{percent(r['preference_mean'])} "
            f"({per_cent(r['preference_lower'])} to {per_cent(r['preference_upper'])})",
            "duels": f"{int(r['duels']):,}",
            "bits": f"{r['bits']:.3g}",
        }
        for r in a.pairs.to_dict("records")
    ]


def pair_words(a: "Analysis") -> str:
    """Tell what the pairs are chosen for."""
    if a.pairs.attrs["about"] == "winner":
        return "One more duel of these pairs is expected to tell most about who the winner is."
    return (
        "The winner is settled; one more duel of these pairs is expected to tell most about all "
        "preferences together."
    )


def _short(criterion: str) -> str:
    return {"random_walk": "random walk", "von_neumann": "von Neumann"}.get(
        criterion, criterion.capitalize()
    )


def _range(low: float, high: float) -> str:
    return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"
