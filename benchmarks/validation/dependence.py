"""Dependent votes: coverage of contrasts and wrong winners where judges and prompts differ."""

from typing import Any

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record, shown_share

__all__ = ["EXPERIMENT"]

N_ARMS, N_VOTES, DRAWS = 8, 600, 1000
SCORE_SD = 0.8
JUDGES, TASTES = (3, 6, 8, 20, 40), (0.0, 0.5, 1.0)


def _cell(judges: int, taste: float, prompts: int = 0, prompt: float = 0.0, **more: Any) -> Cell:
    """Return a cell: numbers of judges and prompts, and the sd of their own scores in logits."""
    known = {"judges": judges, "taste": taste, "prompts": prompts, "prompt": prompt}
    return known | {"uneven": False} | more


CELLS = (
    *(_cell(judges, taste) for judges in JUDGES for taste in TASTES),
    _cell(2, 0.5),
    _cell(2, 1.0),
    *(_cell(judges, 1.0, uneven=True) for judges in (6, 20, 40)),
    *(_cell(0, 0.0, prompts, sd) for prompts in (6, 40, 150) for sd in (0.0, 0.5, 1.0)),
    *(_cell(6, taste, 40, prompt) for taste in (0.0, 1.0) for prompt in (0.0, 1.0)),
    *(_cell(20, taste, 40, prompt) for taste in (0.0, 1.0) for prompt in (0.0, 1.0)),
)


def run(cell: Cell, seed: int) -> Record:
    """Simulate a log, fit Bradley-Terry, and compare intervals and verdict with the truth."""
    import warnings

    import bayesduel as bd

    rng = np.random.default_rng(seed)
    arms = [str(k) for k in range(N_ARMS)]
    score = rng.normal(0.0, SCORE_SD, N_ARMS)
    left = rng.integers(0, N_ARMS, N_VOTES)
    right = (left + rng.integers(1, N_ARMS, N_VOTES)) % N_ARMS
    eta = score[left] - score[right]
    columns = {}
    for role, n, sd in (
        ("judge", cell["judges"], cell["taste"]),
        ("group", cell["prompts"], cell["prompt"]),
    ):
        if n:
            share = rng.dirichlet(np.full(n, 0.5)) if cell["uneven"] else np.full(n, 1.0 / n)
            code = rng.choice(n, N_VOTES, p=share)
            own = rng.normal(0.0, sd, (n, N_ARMS))
            eta = eta + own[code, left] - own[code, right]
            columns[role] = code
    won = (rng.random(N_VOTES) < 1 / (1 + np.exp(-eta))).astype(float)
    labels = np.array(arms)
    duels = bd.Duels.from_votes(labels[left], labels[right], won, arms=arms, **columns)
    truth = marginal_scores(score, 2 * (cell["taste"] ** 2 + cell["prompt"] ** 2))
    first, second = np.triu_indices(N_ARMS, 1)
    gap = truth[first] - truth[second]
    found: Record = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = bd.fit(duels, method="laplace", draws=DRAWS, seed=seed % 2**31)
        for name in ("auto", "model"):
            told = bd.winners(fit, covariance=name)
            low, high = (
                told[f"score_difference_{end}"].values[first, second] for end in ("lower", "upper")
            )
            winner = told.attrs["verdict_kind"] == "winner"
            best = arms[int(truth.argmax())]
            found[name] = {
                "covered": float(((low <= gap) & (gap <= high)).mean()),
                "width": float((high - low).mean()),
                "winner": winner,
                "wrong": winner and best not in told.attrs["verdict_arms"],
                "covariance": told.attrs["covariance"],
            }
    return found


def marginal_scores(score: np.ndarray, variance: float) -> np.ndarray:
    """Return the Bradley-Terry scores nearest to win probabilities averaged over judges.

    A pair's logit is normal over judges, with `variance` around the difference of its scores; the
    scores are those at which expected wins of every arm agree, all pairs met equally often.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    gap = score[:, None] - score
    moved = gap[..., None] + np.sqrt(variance) * nodes
    P = (1 / (1 + np.exp(-moved))) @ (weights / weights.sum())
    found = score.copy()
    for _ in range(50):
        q = 1 / (1 + np.exp(found - found[:, None]))
        w = q * (1 - q) * (1 - np.eye(len(score)))
        laplacian = np.diag(w.sum(axis=1)) - w
        found = found + np.linalg.pinv(laplacian) @ ((P - q) * (1 - np.eye(len(score)))).sum(axis=1)
    return found


def rows(cell: Cell, records: list[Record]) -> list[Record]:
    """Return coverage and wrong verdicts, cluster-robust and with independent votes."""
    covered = np.array([r["auto"]["covered"] for r in records])
    error = 1.96 * covered.std(ddof=1) / np.sqrt(len(covered)) if len(covered) > 1 else 1.0
    low, high = covered.mean() - error, covered.mean() + error
    n = len(records)
    wrong = sum(r["auto"]["wrong"] for r in records)
    width = np.median([r["auto"]["width"] / r["model"]["width"] for r in records])
    kept = low <= 0.97 and high >= 0.93 and (n < 20 or wrong / n <= 0.05)
    return [
        {
            "judges": cell["judges"] or "-",
            "sd of judges": cell["taste"],
            "prompts": cell["prompts"] or "-",
            "sd of prompts": cell["prompt"],
            "votes": "uneven" if cell["uneven"] else "even",
            "clustered by": records[0]["auto"]["covariance"],
            "coverage of 95 %": f"{100 * covered.mean():.1f} % ({100 * low:.1f} to "
            f"{100 * min(high, 1.0):.1f})",
            "side": "conservative" if low > 0.97 else "too short" if high < 0.93 else "",
            "width, of independent": round(float(width), 2),
            "independent votes": f"{100 * np.mean([r['model']['covered'] for r in records]):.1f} %",
            "winner named": shown_share(sum(r["auto"]["winner"] for r in records), n),
            "wrong": shown_share(wrong, n),
            "wrong, independent votes": shown_share(sum(r["model"]["wrong"] for r in records), n),
            "target": "met" if kept else "missed",
        }
    ]


EXPERIMENT = Experiment(
    name="dependence",
    title="Dependent votes: few judges, shared prompts",
    question=(
        f"{N_ARMS} arms with scores of standard deviation {SCORE_SD} (logits), {N_VOTES} votes on "
        "random pairs; each judge and each prompt adds scores of its own, normal with the standard "
        'deviation stated. `bd.fit` by Laplace, `bd.winners` as it comes (`covariance="auto"`). '
        "The truth is that of the mean over judges and prompts: the Bradley-Terry scores nearest "
        "to the averaged win probabilities. Uneven: shares of votes from Dirichlet(1/2)."
    ),
    target=(
        "coverage of the 28 contrasts between 93 and 97 % (missed where its 95 % interval, over "
        "logs, lies outside), and at most 5 % of logs with a wrong winner."
    ),
    cells=CELLS,
    run=run,
    rows=rows,
    quick=8,
    full=600,
    notes=(
        'With 2 judges no verdict is given, so no winner is named. "Conservative" marks intervals '
        "that cover more than they promise: with one or two degrees of freedom (2 or 3 judges, or "
        "6 of whom one or two cast most votes) Satterthwaite's t is too wide where a part of the "
        "variance, the prior's and that of single votes, is known better."
    ),
)
