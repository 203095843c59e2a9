"""The rope of a study where none is given, in Python and on the command line."""

__all__ = ["ROPE"]

# Difference of the probability to win from one half. As a rule people judge: two equal arms need
# about 0.68 / rope^2 duels, 270 with 0.05 and 1,690 with 0.02 (docs/understand/stopping.md).
ROPE = 0.05
