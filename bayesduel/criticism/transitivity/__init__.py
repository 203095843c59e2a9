"""Is a log more cyclic than a transitive world makes? The test of :func:`bayesduel.check`."""

from bayesduel.criticism.transitivity.evidence import LEVEL, STRENGTHS, Evidence, transitivity_test

__all__ = ["LEVEL", "STRENGTHS", "Evidence", "transitivity_test"]
