"""Mutations that change nothing a user can see, each with the reason."""

__all__ = ["EQUIVALENT"]

# By file, line and change.
EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("bayesduel/inference/polya_gamma.py", "if x <= CUT:", "<= -> <"): (
        "a draw from a continuous law equals the cut with probability 0"
    ),
}
