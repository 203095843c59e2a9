"""Mutations that change nothing a user can see, each with the reason."""

__all__ = ["EQUIVALENT"]

# By file, line and change.
EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("bayesduel/inference/polya_gamma.py", "if x <= CUT:", "<= -> <"): (
        "a draw from a continuous law equals the cut with probability 0"
    ),
    (
        "bayesduel/inference/sample.py",
        "columns = [values.reshape(len(values), -1) for values in named.values()]",
        "1 -> 2",
    ): "NumPy takes -2 as it takes -1: the size that is left",
    (
        "bayesduel/inference/population_monte_carlo.py",
        "inside = (self._place(standard)[:, self.linear] > 0).all(axis=1)",
        "> -> >=",
    ): "a draw from a continuous law equals 0 with probability 0",
    (
        "bayesduel/inference/nested_laplace.py",
        "flat, none, effects = np.empty((0, 0)), np.empty((0, 0, 0)), np.zeros((groups, width))",
        "0 -> 1",
    ): "the sizes of the empty arrays: of where Newton's method starts only the place is read",
    ("bayesduel/data/read/line_numbers.py", "if len(text) * 4 > LONGEST_LINE:", "> -> >="): (
        "a character has at most four bytes: the exact test that follows refuses no such line"
    ),
}
