"""The test of transitivity that :func:`bayesduel.check` uses."""

from bayesduel.criticism.transitivity.evidence import (
    LEVEL,
    STRENGTHS,
    CycleEvidence,
    Strength,
    evidence_strength,
    transitivity_test,
)

__all__ = [
    "LEVEL",
    "STRENGTHS",
    "CycleEvidence",
    "Strength",
    "evidence_strength",
    "transitivity_test",
]
