"""Intervals of many arms: the sparse route, its cluster-robust errors, and matched opponents."""

from typing import Any

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record

__all__ = ["EXPERIMENT"]

DRAWS = {"variational": 1_000, "gibbs": 400}
PROB = 0.95
COPIES = 3  # of each vote where votes are repeated
NEAR = 0.3  # logits within which opponents are matched
CLOSE = 0.01  # of the nominal coverage


def run(cell: Cell, seed: int) -> Record:
    """Return the share of true centred scores in their intervals, in one simulated log."""
    import warnings

    import bayesduel as bd
    from bayesduel.models import BradleyTerry

    rng = np.random.default_rng(seed)
    score = rng.normal(size=cell["arms"])
    left, right = _pairs(cell, score, rng)
    won = (rng.random(len(left)) < 1 / (1 + np.exp(score[right] - score[left]))).astype(float)
    vote = np.repeat(np.arange(len(left)), COPIES if cell["repeated"] else 1)
    group = [f"g{k}" for k in vote] if cell["repeated"] else None
    duels = bd.Duels.from_votes(left[vote], right[vote], won[vote], group=group)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # matched opponents are meant here
        options = {"draws": DRAWS[cell["method"]], "seed": seed % 2**31, "log_likelihood": False}
        fit = bd.fit(duels, BradleyTerry(scale=cell["scale"]), cell["method"], **options)
        table = bd.scores(fit, ci_prob=PROB)
    truth = (score - score.mean())[np.array([int(arm) for arm in table.index])]
    inside = (table["score_lower"] <= truth) & (truth <= table["score_upper"])
    return {
        "covered": float(inside.mean()),
        "certified": "not certified" not in fit.attrs["method_reason"],
        "error": float(np.sqrt(((table["score_mean"] - truth) ** 2).mean())),
        "sd": float(table["score_sd"].mean()),
    }


def rows(cell: Cell, records: list[Record]) -> list[Record]:
    """Return a row: the mean coverage with its standard error between logs."""
    covered = np.array([r["covered"] for r in records])
    error = covered.std(ddof=1) / np.sqrt(len(covered)) if len(covered) > 1 else float("nan")
    met = abs(covered.mean() - PROB) <= max(CLOSE, 2 * error)
    if cell["pairs"] == "matched":
        met = covered.mean() >= 0.9
    return [
        {
            **{k: v for k, v in cell.items() if k != "scale"},
            "scale": "learned" if cell["scale"] is None else cell["scale"],
            "logs": len(records),
            "covered": f"{100 * covered.mean():.1f} % +- {100 * error:.1f}",
            "mean posterior sd": f"{np.mean([r['sd'] for r in records]):.3f}",
            "root mean square error": f"{np.mean([r['error'] for r in records]):.3f}",
            "certified": f"{100 * np.mean([r['certified'] for r in records]):.0f} %",
            "target": "met" if met else "missed",
        }
    ]


# -- in calling order ----------------------------------------------------------------------


def _pairs(cell: Cell, score: np.ndarray, rng: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the arms of each duel."""
    n_arms = len(score)
    n_duels = cell["duels an arm"] * n_arms // 2
    if cell["pairs"] == "matched":
        place = np.argsort(score)
        ordered = score[place]
        left = rng.integers(0, n_arms, n_duels)
        low = np.searchsorted(ordered, ordered[left] - NEAR)
        high = np.searchsorted(ordered, ordered[left] + NEAR)
        right = low + (rng.random(n_duels) * (high - low)).astype(int)
        left, right = place[left], place[right]
    else:
        share = np.cumsum((np.arange(n_arms) + 10.0) ** -0.8)
        drawn = np.searchsorted(share, rng.random((2, n_duels)) * share[-1])
        left, right = np.minimum(drawn, n_arms - 1)
    kept = left != right
    return left[kept], right[kept]


EXPERIMENT = Experiment(
    name="many_arms",
    title="Intervals of many arms",
    question=(
        "How many true centred scores do 95 % intervals of Bradley-Terry hold where the sparse "
        "route is taken? Scores are standard normal. Power law: arms of very different activity, "
        f"independent of strength. Repeated: each vote {COPIES} times, in a group; errors are "
        f"cluster-robust. Matched: opponents within {NEAR} logits."
    ),
    target=(
        "within 1 percentage point of 95 %, or two standard errors (power law); at least 90 % with "
        "the remedy for matched opponents, a wide fixed scale. With the scale learned they are "
        "expected to fail (`LocalPairingWarning`)."
    ),
    cells=tuple(
        {
            "pairs": pairs,
            "arms": arms,
            "duels an arm": 20,
            "repeated": repeated,
            "scale": scale,
            "method": method,
        }
        for pairs, arms, repeated, scale, method in (
            ("power law", 500, False, None, "variational"),
            ("power law", 2_000, False, None, "variational"),
            ("power law", 1_100, True, None, "variational"),
            ("matched", 200, False, None, "gibbs"),
            ("matched", 200, False, 10.0, "gibbs"),
            ("matched", 200, False, 10.0, "variational"),
        )
    ),
    run=run,
    rows=rows,
    quick=4,
    full=40,
    paired=("scale", "method"),
    notes=(
        "Matched opponents: close results look alike whatever the scale of the scores is, and the "
        "prior that learns it takes no account of who was chosen. Gibbs sampling is exact: what it "
        "misses is the posterior's fault, not that of an approximation."
    ),
)
