"""Studies: ask a policy for the next pair, tell the outcome."""

from bayesduel.study.study import Study

__all__ = ["Study"]
