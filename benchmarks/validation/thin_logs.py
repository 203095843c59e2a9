"""Quantiles of posteriors of thin logs, against exact ones."""

from typing import Any

import numpy as np

from benchmarks.exact_posterior import QUANTILES, Chains, exact_quantiles, sampled
from benchmarks.validation.experiment import Cell, Experiment, Record

__all__ = ["EXPERIMENT", "FITS", "TARGET", "compared", "rows"]

FITS = 16  # of each log, with other seeds: their mean has little Monte Carlo error
TARGET = 0.1  # posterior standard deviations
CONTRASTS = 5000  # of a log, at most: all of 100 arms; of 300 a random ninth of 44,850
GROUPS = 10  # of chains, for the standard error of a reference

# Three arms: wins of a over b, a over c, b over c, and the reverse.
THREE = {
    "one duel of a and b": ((1, 0, 0), (0, 0, 0)),
    "a chain of two duels": ((1, 0, 1), (0, 0, 0)),
    "a chain of 5-0": ((5, 0, 5), (0, 0, 0)),
    "1-0 each": ((1, 1, 1), (0, 0, 0)),
    "5-0 each": ((5, 5, 5), (0, 0, 0)),
    "20-0 each": ((20, 20, 20), (0, 0, 0)),
    "9-1 each": ((9, 9, 9), (1, 1, 1)),
    "3-3 each": ((3, 3, 3), (3, 3, 3)),
    "a circle of 2-0": ((2, 0, 2), (0, 2, 0)),
    "undefeated in 2": ((1, 1, 1), (0, 0, 1)),
    "undefeated in 10": ((5, 5, 5), (0, 0, 5)),
    "undefeated in 50": ((25, 25, 25), (0, 0, 25)),
    "undefeated in 100": ((50, 50, 50), (0, 0, 50)),
    "lost once in 50": ((24, 25, 25), (1, 0, 25)),
    "winless in 20": ((0, 0, 10), (10, 10, 10)),
    "undefeated and winless": ((10, 10, 10), (0, 0, 0)),
}
# Arms, duels, standard deviation of the true scores; pairs are drawn at random, as is the seed.
MORE = (
    (4, 6, 1), (4, 12, 3), (5, 10, 1), (5, 10, 3), (6, 12, 2), (7, 14, 1),
    (7, 14, 3), (8, 16, 2), (8, 24, 3), (10, 20, 1), (10, 20, 3), (10, 45, 3),
)  # fmt: skip
MANY = (
    (20, 45, 1), (20, 45, 3), (20, 100, 3), (30, 60, 1), (30, 60, 3), (50, 100, 1),
    (50, 100, 3), (70, 150, 2), (100, 150, 1), (100, 150, 3), (100, 300, 1), (100, 300, 3),
)  # fmt: skip
LOG_SEED = 12


def run(cell: Cell, seed: int) -> Record:
    """Return the errors of the quantiles of one log, in posterior standard deviations."""
    return compared(wins_of(cell), seed)


def compared(wins: np.ndarray, seed: int) -> Record:
    """Return the errors of the quantiles of a log of wins (K, K), in posterior deviations."""
    import time
    import warnings

    import bayesduel as bd

    duels = bd.Duels.from_wins(wins, [f"{i:03d}" for i in range(len(wins))])
    rng = np.random.default_rng(seed)
    fits = []
    begun = time.process_time()
    for one in rng.integers(0, 2**31, FITS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a thin log is meant here
            fits.append(bd.fit(duels, seed=int(one), log_likelihood=False, clusters=False))
    seconds = (time.process_time() - begun) / FITS
    wanted, deviation, wanted_error = _reference(wins, rng)
    found = np.stack([_quantiles(_of_fit(fit)) for fit in fits])
    errors = (found - wanted) / deviation
    bias = errors.mean(axis=0)
    standard = np.sqrt(errors.var(axis=0, ddof=1) / FITS + (wanted_error / deviation) ** 2)
    worst = np.unravel_index(np.abs(bias).argmax(), bias.shape)
    return {
        "bias": [float(np.abs(b).max()) for b in bias],
        "error_of_worst": float(standard[worst]),
        "quantities": int(bias.shape[1]),
        "laplace": float(np.mean([fit.attrs["method"] == "laplace" for fit in fits])),
        "effective": float(np.mean([fit.attrs["importance_ess"] for fit in fits])),
        "seconds_of_fit": seconds,
        "draws": int(fits[0]["posterior"].sizes["chain"] * fits[0]["posterior"].sizes["draw"]),
    }


def rows(cell: Cell, records: list[Record]) -> list[Record]:
    """Return a row: the largest biases over scores, contrasts and scale."""
    bias = np.max([r["bias"] for r in records], axis=0)
    worst = max(records, key=lambda r: max(r["bias"]))
    return [
        {
            **cell,
            **{f"{100 * q:g} %": f"{b:.3f}" for q, b in zip(QUANTILES, bias, strict=True)},
            "standard error of the largest": f"{worst['error_of_worst']:.3f}",
            "quantities": worst["quantities"],
            "by Laplace": f"{100 * np.mean([r['laplace'] for r in records]):.0f} %",
            "effective draws": f"{np.mean([r['effective'] for r in records]):,.0f}",
            "target": "met" if bias.max() <= TARGET else "missed",
        }
    ]


def sizes(cell: Cell) -> tuple[int, int]:
    """Return the replicates of the quick and of the full form: quick leaves out many arms."""
    return (1, 1) if cell["arms"] <= 10 else (0, 1)


# -- in calling order ----------------------------------------------------------------------


def wins_of(cell: Cell) -> np.ndarray:
    """Return the wins of a cell's log, (K, K)."""
    if cell["log"] in THREE:
        wins, upper = np.zeros((3, 3)), np.triu_indices(3, 1)
        wins[upper], wins.T[upper] = THREE[cell["log"]]
        return wins
    n_arms, n_duels, spread = cell["arms"], cell["duels"], cell["spread"]
    rng = np.random.default_rng([LOG_SEED, n_arms, n_duels, spread])
    score = rng.normal(0, spread, n_arms)
    left = rng.integers(0, n_arms, n_duels)
    right = (left + rng.integers(1, n_arms, n_duels)) % n_arms
    won = rng.random(n_duels) < 1 / (1 + np.exp(score[right] - score[left]))
    wins = np.zeros((n_arms, n_arms))
    np.add.at(wins, (np.where(won, left, right), np.where(won, right, left)), 1.0)
    return wins


def _reference(
    wins: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return quantiles (3, q), standard deviations (q,) and standard errors of quantiles (3, q)."""
    if len(wins) == 3:
        exact = exact_quantiles(wins)
        names = ("a", "b", "c", "a - b", "a - c", "b - c", "scale")
        wanted = np.stack([exact[name][0] for name in names], axis=1)
        return wanted, np.array([exact[name][1] for name in names]), np.zeros_like(wanted)
    chains = sampled(wins, int(rng.integers(2**31)), chains=20, draws=10_000)
    wanted, deviation = _quantiles(chains), _deviations(chains)
    parts = [
        _quantiles(Chains(chains.score[k::GROUPS], chains.scale[k::GROUPS])) for k in range(GROUPS)
    ]
    return wanted, deviation, np.std(parts, axis=0, ddof=1) / np.sqrt(GROUPS)


def _of_fit(fit: Any) -> Chains:
    return Chains(fit["posterior"]["score"].to_numpy(), fit["posterior"]["scale"].to_numpy())


def _blocks(chains: Chains) -> list[np.ndarray]:
    """Return scores, contrasts i - j of i < j, and the scale: blocks of (draws, quantities)."""
    score = chains.score.reshape(-1, chains.score.shape[-1])
    n_arms = score.shape[1]
    first, second = np.triu_indices(n_arms, 1)
    if len(first) > CONTRASTS:
        some = np.random.default_rng(LOG_SEED).choice(len(first), CONTRASTS, replace=False)
        some.sort()
        first = first[some]
        second = second[some]
    contrasts = [score[:, [i]] - score[:, second[first == i]] for i in range(n_arms - 1)]
    return [score, *contrasts, chains.scale.reshape(-1, 1)]


def _quantiles(chains: Chains) -> np.ndarray:
    return np.concatenate([np.quantile(b, QUANTILES, axis=0) for b in _blocks(chains)], axis=1)


def _deviations(chains: Chains) -> np.ndarray:
    return np.concatenate([b.std(axis=0) for b in _blocks(chains)])


def _cells() -> tuple[Cell, ...]:
    three = [
        {"log": name, "arms": 3, "duels": sum(won) + sum(lost)}
        for name, (won, lost) in THREE.items()
    ]
    drawn = [
        {"log": f"random, score sd {spread}", "arms": n_arms, "duels": n_duels, "spread": spread}
        for n_arms, n_duels, spread in (*MORE, *MANY)
    ]
    return (*three, *drawn)


EXPERIMENT = Experiment(
    name="thin_logs",
    title="Quantiles of thin logs",
    question=(
        "How far are the 2.5, 50 and 97.5 % quantiles of every score, every contrast and the scale "
        "from the exact ones, in posterior standard deviations? Largest bias, the mean over "
        f"{FITS} fits of Bradley-Terry with 4,000 draws each. Exact: quadrature for three arms, "
        "otherwise NUTS of a model written out in the benchmark, 200,000 draws of 20 chains."
    ),
    target=f"at most {TARGET} posterior standard deviations.",
    cells=_cells(),
    run=run,
    rows=rows,
    quick=1,
    full=1,
    sizes=sizes,
    notes=(
        "A figure is the largest of three quantiles of all quantities and so grows with their "
        "Monte Carlo error, which stands beside it: one that misses the target by less than two "
        "standard errors cannot be told from one that meets it. A first run with references of "
        "20,000 draws (errors of the largest up to 0.05) called ten of the 40 logs missed, nine of "
        "the twelve from 20 arms; the references were then made ten times longer, for all logs."
    ),
)
