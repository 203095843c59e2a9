"""Mutations that change nothing a user can see, each with the reason."""

__all__ = ["EQUIVALENT"]

# By file, line and change.
EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("bayesduel/inference/polya_gamma.py", "if x <= CUT:", "<= -> <"): (
        "a draw from a continuous law equals the cut with probability 0"
    ),
    (
        "bayesduel/inference/hyper_grid.py",
        "for _ in range(200):  # walk uphill until the middle of three is the highest",
        "200 -> 201",
    ): "a bound that a density with a maximum does not reach",
    (
        "bayesduel/inference/sample.py",
        "columns = [values.reshape(len(values), -1) for values in named.values()]",
        "1 -> 2",
    ): "NumPy takes -2 as it takes -1: the size that is left",
}
