"""Since 2021: a tournament of batches, change without knowing when, Borda regret by attributes.

Haddenhorst, Bengs & Hüllermeier, NeurIPS 2021 (DKWT); Kleine Buening & Saha, AISTATS 2023
(ANACONDA); Wu, Jin, Di, Lou, Farnoud & Gu, ICML 2024 (BETC-GLM). Of the first the program could be
read, of the others the abstracts; their printed numbers could not. So the claims are those of the
abstracts. Points are medians over runs with 95 % intervals. Left, the duels until DKWT and two
rivals answer, as in the experiment of its program: random matrices with a Condorcet winner, where
the two chances of a pair (i beats j, j beats i) differ by h at least; delta = 0.05; 100 runs in the
program. A run without an answer counts with the horizon.
Middle, dynamic Condorcet regret by the horizon: five arms, Bradley-Terry with log strengths of
standard deviation 1.5, drawn anew four times at random. ANACONDA's factor and the rate of its
replays are ours; with replays as likely as in the paper, the other line. Right, Borda regret by the
horizon (`max B - (B_a + B_b) / 2` a duel): 20 items with four attributes, by logistic chances.

    python examples/reproduce/since_2021.py --quick --workers 2
"""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from headline import Headline, slope_of_runs
from scipy.special import expit

import bayesduel as bd
from bayesduel.intervals import median_interval
from bayesduel.plots.style import COLOURS
from bayesduel.problems import LogisticDuels, Matrix, RandomChanges, RandomProblem, bradley_terry

FULL = {"horizon": 160_000, "runs": 20, "matrices": 50}
QUICK = {"horizon": 40_000, "runs": 10, "matrices": 10}
CELLS = ((5, 0.2), (5, 0.1), (10, 0.2), (10, 0.1))  # arms, h
LONGEST = 500_000  # duels until an answer
DELTA = 0.05
TOURNAMENT = "Haddenhorst et al. 2021, abstract"


def separated(n_arms, *, h, rng):
    """Return a matrix with a Condorcet winner, drawn as in the program of Haddenhorst et al."""
    P = np.full((n_arms, n_arms), 0.5)
    winner = rng.integers(n_arms)
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            chances = rng.random(2)
            larger = (1 - h) * chances.max() / chances.sum() + h
            if i == winner or (j != winner and chances[0] > chances[1]):
                P[i, j] = larger
            else:
                P[i, j] = 1 - larger
            P[j, i] = 1 - P[i, j]
    return Matrix(P, name=f"separated by {h:g}")


def main(arguments=None):
    run = Headline("since 2021", (FULL, QUICK), arguments)
    figure, panels = plt.subplots(1, 3, figsize=(16, 5), layout="constrained")
    for ax, panel in zip(panels, (tournament, change, borda), strict=True):
        panel(run, ax)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
    run.finish(figure)


def tournament(run, ax):
    """Duels until the answer, and how often it is right."""
    given = {"delta": DELTA, "horizon": LONGEST}
    rivals = {"DKWT": bd.policies.DKWT(**given), "SEEBS": bd.policies.SEEBS(**given)}
    rivals |= {"explore-then-verify": bd.policies.ExploreThenVerify(**given)}
    runs = int(run.sizes["matrices"])
    by_cell, wrong = [], 0
    for n_arms, h in CELLS:
        problem = RandomProblem(
            n_arms=n_arms, generator=separated, settings=(("h", h),), name=f"h = {h:g}"
        )
        settings = {"replications": runs, "record_at": [LONGEST]}
        trace = run.trace(f"separated-{n_arms}-{h}", rivals, problem, LONGEST, **settings)
        played = trace["trace"]["answered"]
        duels = played.where(played > 0, LONGEST)
        found = {name: duels.sel(policy=name).values.ravel() for name in rivals}
        by_cell.append(found)
        told = f"{n_arms} arms, h = {h:g}, {runs} matrices"
        for rival in ("SEEBS", "explore-then-verify"):
            claim = f"DKWT takes fewer duels than {rival}"
            run.below(TOURNAMENT, told, found, "DKWT", rival, claim)
        P = trace["problem"]["P"].values
        best = (P > 0.5).sum(axis=-1).argmax(axis=-1)
        named = trace["trace"]["recommended"].sel(policy="DKWT").values.ravel()
        wrong += int(((named != best) | (found["DKWT"] == LONGEST)).sum())
    share = wrong / (runs * len(CELLS))
    verdict = "holds" if share <= DELTA else "does not hold"
    claim = "DKWT errs with probability 0.05 at most"
    run.row(claim, TOURNAMENT, f"{runs * len(CELLS)} matrices", f"{share:.3f}", verdict)
    where = np.arange(len(CELLS))
    for place, name in enumerate(rivals):
        duels = np.array([found[name] for found in by_cell])
        points(ax, where + 0.15 * (place - 1), duels, name, place, "o")
    ax.set(title="Batches: duels until the answer", ylabel="duels")
    ax.set_yticks([5_000, 10_000, 20_000, 50_000], ["5,000", "10,000", "20,000", "50,000"])
    ax.minorticks_off()
    ax.set_xticks(where, [f"{n} arms\nchances differ\nby {h:g} at least" for n, h in CELLS])


def change(run, ax):
    """Dynamic regret by the horizon."""
    rivals = {
        "ANACONDA": bd.policies.ANACONDA(),
        "ANACONDA, replays as in the paper": bd.policies.ANACONDA(replay=1),
    }
    rivals |= {"D-TS": bd.policies.DTS(), "uniform": bd.policies.Uniform()}
    family = RandomProblem(n_arms=5, generator=bradley_terry, settings=(("sd", 1.5),))
    problem = RandomChanges(family=family, n_changes=4)
    horizons, regrets = by_horizon(run, "change", rivals, problem, partial(of_pairs, rivals=rivals))
    for place, name in enumerate(rivals):
        points(ax, horizons, regrets[name], name, place)
    ax.set(title="Preferences that change four times", ylabel="dynamic Condorcet regret")
    ax.set(xscale="log", xlabel="horizon, duels")
    paper, told = "Kleine Buening & Saha 2023, abstract", f"4 changes, T = {horizons[-1]:,}"
    claim = "Regret grows as sqrt(T) up to logarithms: exponent at most 2/3"
    for name in ("ANACONDA", "ANACONDA, replays as in the paper"):
        found = slope_of_runs(horizons, regrets[name])
        run.within(f"{paper}; {name}", told, claim, found, 0, 2 / 3, int(run.sizes["runs"]))
    last = {name: values[-1] for name, values in regrets.items()}
    for name in ("ANACONDA", "ANACONDA, replays as in the paper"):
        run.below("ours", told, last, name, "D-TS")


def borda(run, ax):
    """Borda regret by the horizon."""
    rng = np.random.default_rng(run.seed)
    problem = LogisticDuels(n_arms=20, n_attributes=4).draw(rng)
    rivals = {
        "BETC-GLM": bd.policies.BETCGLM(),
        "logistic Thompson": bd.policies.LogisticDuelThompson(),
    }
    utility = problem.attributes @ problem.preference
    scores = expit(utility[:, None] - utility).mean(axis=1)

    def of_items(trace):
        pulls = trace["trace"]["pulls"].values  # of both sides of a duel
        return dict(zip(rivals, pulls @ (scores.max() - scores) / 2, strict=True))

    horizons, regrets = by_horizon(run, "borda", rivals, problem, of_items)
    for place, name in enumerate(rivals):
        points(ax, horizons, regrets[name], name, place)
    ax.set(title="20 items with four attributes", ylabel="Borda regret")
    ax.set(xscale="log", xlabel="horizon, duels")
    paper, told = "Wu et al. 2024, abstract", f"20 items, 4 attributes, T = {horizons[-1]:,}"
    claim = "Regret grows as T^(2/3): exponent from 0.6 to 0.73"
    found = slope_of_runs(horizons, regrets["BETC-GLM"])
    run.within(paper, told, claim, found, 0.6, 0.73, int(run.sizes["runs"]))
    last = {name: values[-1] for name, values in regrets.items()}
    run.below("ours", told, last, "BETC-GLM", "logistic Thompson")


def points(ax, x, values, label, place, mark="o-"):
    """Draw medians of runs with their 95 % intervals; `values` has shape (points, runs)."""
    middle = np.median(values, axis=1)
    low, high = median_interval(values, 0.95)
    given = {"fmt": mark, "capsize": 3, "color": COLOURS[place], "label": label}
    ax.set_yscale("log")
    ax.errorbar(x, middle, yerr=(middle - low, high - middle), **given)


def by_horizon(run, label, rivals, problem, of_trace):
    """Return horizons that double, and each policy's regrets there, (horizons, runs)."""
    last, found = int(run.sizes["horizon"]), []
    horizons = [last // 16, last // 8, last // 4, last // 2, last]
    settings = {"replications": int(run.sizes["runs"])}
    for horizon in horizons:
        trace = run.trace(label, rivals, problem, horizon, record_at=[horizon], **settings)
        found.append(of_trace(trace))
    return horizons, {name: np.array([one[name] for one in found]) for name in rivals}


def of_pairs(trace, rivals):
    regret = bd.regret(trace, "condorcet").isel(time=-1)
    return {name: regret.sel(policy=name).values for name in rivals}


if __name__ == "__main__":
    main()
