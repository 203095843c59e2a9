"""The test of transitivity that :func:`bayesduel.check` uses."""

from bayesduel.criticism.transitivity.evidence import LEVEL, STRENGTHS, Evidence, transitivity_test

__all__ = ["LEVEL", "STRENGTHS", "Evidence", "transitivity_test"]
