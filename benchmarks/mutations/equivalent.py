"""Mutations that change nothing a user can see, each with the reason."""

__all__ = ["EQUIVALENT"]

# By file, line and change; "at" and the column where the line has the piece more than once.
EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("bayesduel/inference/polya_gamma.py", "if x <= CUT:", "<= -> <"): (
        "a draw from a continuous law equals the cut with probability 0"
    ),
    (
        "bayesduel/inference/sample.py",
        "columns = [values.reshape(len(values), -1) for values in named.values()]",
        "1 -> 2",
    ): "NumPy takes -2 as it takes -1: the size that is left",
    ("bayesduel/data/read/line_numbers.py", "if len(text) * 4 > LONGEST_LINE:", "> -> >="): (
        "a character has at most four bytes: the exact test that follows refuses no such line"
    ),
    ("bayesduel/beliefs/beta.py", "if above + budget > 0:", "> -> >="): (
        "a root that is hit exactly has been returned before"
    ),
    ("bayesduel/beliefs/margin_mle.py", "reached[0] = True", "0 -> 1"): (
        "whether all arms are connected does not depend on the arm to begin with; there are two"
    ),
    (
        "bayesduel/beliefs/model_posterior.py",
        "inside = np.clip(draws, 1e-16, 1 - 1e-16)  # a model of margins may round to 0 or 1",
        "1e-16 -> 1.5e-16 at 35",
    ): "1 - 1e-16 and 1 - 1.5e-16 are the same floating-point number",
    ("bayesduel/beliefs/score_posterior.py", "LOGIT, PROBIT = 0, 1", "1 -> 2"): (
        "a label that is only compared"
    ),
    ("bayesduel/policies/rmed.py", "if ceil(due) > memory.place[CLEARED]:", "> -> >="): (
        "looks once more for a pair with fewer duels than every pair was found to have"
    ),
    ("bayesduel/policies/rmed.py", "place=np.array([-1, 0, 0, 0, 0]),", "0 -> 1 at 26"): (
        "the search begins at the first pair whether the number of duels it is for was set or not"
    ),
    (
        "bayesduel/policies/top_k/active_ranking.py",
        "freedom = max(memory.duels.sum() - n_arms, 1)",
        "1 -> 2",
    ): "each of two or more arms has had two duels by then",
}
