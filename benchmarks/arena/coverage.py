"""How often intervals from few runs hold: ``python -m benchmarks.arena.coverage`` (half a minute).

The runs that are kept of 34 problems (``benchmarks/pivot_index.jsonl.gz``: 200 of each policy, T =
10,000) are the truth. ``SETS`` sets are drawn from them: ten runs of one problem, and four runs of
each of twenty problems. Each set gives intervals of 95 %: those of ``bd.compare_policies``, and two
that the package had before, t intervals of the logarithm of a ratio of means and of interquartile
means (Yuen's). Seeds and sizes were fixed before the run.
The tables are written to docs/validation/arena.md.
"""

from pathlib import Path

import numpy as np
from scipy import stats

from bayesduel.intervals import clopper_pearson, median_interval
from bayesduel.system.atomic_write import write_text
from benchmarks.arena.__main__ import PAGE
from benchmarks.pivot_index import gathered, problems, read
from benchmarks.scale.__main__ import written
from benchmarks.validation.experiment import shown_share
from benchmarks.validation.page import table_of

__all__ = ["coverage", "over_problems"]

REFERENCE = "DTS"
# The pivot index; a policy with rare wrong winners; one with frequent ones; one with light tails.
POLICIES = ("PivotIndex", "SelfSparring", "SupKLUCB", "RUCB")
HORIZON = 10_000
SETS = 1000
RUNS = 10  # of one problem
OF_SEVERAL = (20, 4)  # problems, and runs of each: the families of the arena
MEDIAN = "median ratio"
SHARE = "share of runs with less regret"
WAYS = (MEDIAN, SHARE, "ratio of means", "ratio of interquartile means")


def coverage(runs: np.ndarray, base: np.ndarray, rng: np.random.Generator) -> dict[str, int]:
    """Return how many of the sets' intervals hold, of a policy's kept runs and the reference's."""
    every = np.tile(np.arange(len(runs)), (SETS, 1))
    chosen = rng.permuted(every, axis=1)[:, :RUNS]
    ratios = runs / base
    less = ratios < 1
    means, middles = (
        (log_ratio(runs, base, trim), yuen(runs[chosen], base[chosen], trim)) for trim in (0, 0.25)
    )
    found = (
        (np.median(ratios), median_interval(ratios[chosen], 0.95)),
        (less.mean(), clopper_pearson(less[chosen].sum(axis=1), RUNS, 0.95)),
        means,
        middles,
    )
    return {
        way: int(((low <= truth) & (truth <= high)).sum())
        for way, (truth, (low, high)) in zip(WAYS, found, strict=True)
    }


def log_ratio(runs: np.ndarray, base: np.ndarray, trim: float) -> np.ndarray:
    """Return the logarithms of ratios of means without the share `trim` at each end."""
    own, other = (stats.trim_mean(part, trim, axis=-1) for part in (runs, base))
    return np.log(own / other)


def yuen(runs: np.ndarray, base: np.ndarray, trim: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the t intervals of ``log_ratio`` of paired runs.

    Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 1974, for pairs.
    """
    n = runs.shape[-1]
    cut = int(trim * n)
    left = n - 2 * cut
    apart = np.zeros(runs.shape)
    for part, sign in ((runs, 1), (base, -1)):
        ordered = np.sort(part, axis=-1)
        winsorised = np.clip(part, ordered[..., cut, None], ordered[..., n - 1 - cut, None])
        apart += sign * winsorised / stats.trim_mean(part, trim, axis=-1)[..., None]
    error = np.sqrt((n - 1) * apart.var(axis=-1, ddof=1) / (left * (left - 1)))
    half = stats.t.ppf(0.975, left - 1) * error
    centre = log_ratio(runs, base, trim)
    return centre - half, centre + half


def over_problems(ratios: np.ndarray, rng: np.random.Generator) -> int:
    """Return how many sets' intervals hold the median over problems; `ratios`: (problems, runs)."""
    n_problems, n_runs = OF_SEVERAL
    truth = np.median(np.median(ratios, axis=1))
    places = rng.integers(len(ratios), size=(SETS, n_problems, 1))
    runs = rng.integers(ratios.shape[1], size=(SETS, n_problems, n_runs))
    units = np.exp(np.median(np.log(ratios[places, runs]), axis=2))
    low, high = median_interval(units, 0.95)
    return int(((low <= truth) & (truth <= high)).sum())


def of_one_problem(pools: dict[str, dict[str, np.ndarray]], rng: np.random.Generator) -> str:
    """Return the table of ten runs: for each policy and way, the middle problem and the worst."""
    rows = []
    for policy in POLICIES:
        counts = {
            name: coverage(pool[policy], pool[REFERENCE], rng) for name, pool in pools.items()
        }
        for way in WAYS:
            hits = {name: found[way] for name, found in counts.items()}
            worst = min(hits, key=lambda name: hits[name])
            rows.append(
                {
                    "policy": policy,
                    "interval of the": way,
                    "middle problem": f"{100 * np.median([*hits.values()]) / SETS:.1f} %",
                    "problems under 90 %": sum(n < 0.9 * SETS for n in hits.values()),
                    "worst problem": f"{worst}, {shown_share(hits[worst], SETS)}",
                }
            )
    return table_of(rows)


def of_several(pools: dict[str, dict[str, np.ndarray]], rng: np.random.Generator) -> str:
    """Return the table of medians over problems."""
    rows = []
    for policy in POLICIES:
        ratios = np.array([pool[policy] / pool[REFERENCE] for pool in pools.values()])
        rows.append({"policy": policy, "covers": shown_share(over_problems(ratios, rng), SETS)})
    return table_of(rows)


def main() -> None:
    """Write the tables to the page, and print them."""
    rng = np.random.default_rng(63)
    done = read(Path("none"))  # the runs that are kept
    pools = {name: gathered(done, name, HORIZON) for name in problems()}
    page = PAGE.read_text(encoding="utf-8")
    for name, table in (
        ("coverage", of_one_problem(pools, rng)),
        ("coverage of several", of_several(pools, rng)),
    ):
        page = written(page, name, table)
        print(table, end="\n\n")
    write_text(PAGE, page)


if __name__ == "__main__":
    main()
