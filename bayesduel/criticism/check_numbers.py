"""A check as plain numbers and words, for JSON."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bayesduel.criticism.cycle_posterior import Belief

if TYPE_CHECKING:
    from bayesduel.criticism.check_result import Check

__all__ = ["numbers_of"]

SHOWN = 10  # rows of each table of residuals


def numbers_of(check: "Check") -> dict[str, Any]:
    """Return what a check found; residuals are the first ten rows of each table."""
    e, b = check.evidence, check.belief
    return {
        "transitive": check.transitive,
        "p_value": e.p_value,
        "verdict": check.verdict,
        "evidence": e.strength,
        "power": e.power,
        "criterion": check.criterion,
        "cycles": [
            {"arms": c.arms, "probability": c.probability, "counts": c.counts} for c in check.cycles
        ],
        "comparison": None if check.comparison is None else check.comparison.to_dict(),
        "why_not_compared": check.why_not_compared,
        "test": {
            "p_by_world": e.p_by_world,
            "p_weak": e.p_weak,
            "unit": e.unit,
            "cyclic_triads": e.cyclic,
            "expected_cyclic_triads": e.expected,
            "decided_triads": e.decided,
            "closed_triads": e.n_closed,
            "triads": e.n_all,
            "share_of_triads_sampled": e.sampled,
            "naive_p_value": None if e.naive is None else e.naive.p_value,
            "naive_would_accuse": None if e.naive is None else not e.naive.transitive,
        },
        "belief": None if b is None else _believed(b),
        "belief_by_model": {name: _believed(one) for name, one in check.beliefs.items()},
        "consistence": check.consistence,
        "order": None
        if check.order is None
        else {
            "first_share": check.order.share,
            "interval": check.order.interval,
            "between_level_arms": check.order.between_level,
            "decisive_duels": check.order.n_decisive,
        },
        "margins": None if check.margins is None else asdict(check.margins),
        "residuals": {
            name: frame.head(SHOWN).to_dict("records") for name, frame in check.residuals.items()
        },
        "source": check.duels.read_summary.source,
        "seed": check.seed,
    }


def _believed(b: Belief) -> dict[str, Any]:
    """Return a belief as plain numbers."""
    return {
        "weakly_transitive": b.weak,
        "weakly_transitive_before": b.weak_prior,
        "moderately_transitive": b.moderate,
        "strongly_transitive": b.strong,
        "condorcet_winner": b.condorcet,
        "total_order": b.weak,
        "cyclic_triads": b.cyclic,
        "cyclic_triads_sampling_error": b.cyclic_error,
        "curl_share": b.curl,
        "draws": b.n_draws,
    }
