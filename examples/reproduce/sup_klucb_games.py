"""Sup-KLUCB on games of 3 to 36 arms, as the paper draws them.

Agrawal & Chaporkar, "KLUCB Approach to Copeland Bandits", arXiv 1902.02778, section 5: 25 games, 25
runs of each. The number of arms of a game is drawn uniformly from 3 to 36 and its matrix is random,
with a unique Copeland winner (entries uniform on [0, 1] for i < j: our reading); each is fixed for
the runs of the game. Left, the paper's figure: mean regret over all games and runs, with the band
of 50 % of the runs that the paper draws. Right, game by game: the regret of Sup-KLUCB relative to
that of D-TS, means and medians of the runs. The paper reports a gain over D-TS that grows with the
number of arms; its 100 games for that are the figure before this one. Games are the units of the
intervals: the runs of a game share its matrix.

    python examples/reproduce/sup_klucb_games.py --quick --workers 2
"""

import matplotlib.pyplot as plt
import numpy as np
from headline import Headline
from scipy.stats import theilslopes

import bayesduel as bd
from bayesduel.plots.style import COLOURS
from bayesduel.problems import uniform

FULL = {"horizon": 100_000, "games": 25, "runs": 25}
QUICK = {"horizon": 5_000, "games": 10, "runs": 4}
POLICIES = {
    "Sup-KLUCB": bd.policies.SupKLUCB(),
    "D-TS": bd.policies.DTS(),
    "RUCB": bd.policies.RUCB(),
}
FEWEST, MOST = 3, 36  # arms
PAPER = "Agrawal & Chaporkar 2019, section 5"


def main(arguments=None):
    run = Headline("sup klucb games", (FULL, QUICK), arguments)
    horizon, games, runs = (int(run.sizes[key]) for key in ("horizon", "games", "runs"))
    arms, regrets = [], []
    for game in range(games):
        rng = np.random.default_rng([run.seed, game])
        arms.append(int(rng.integers(FEWEST, MOST + 1)))
        problem = uniform(arms[-1], rng=rng)
        trace = run.trace(f"game-{game}", POLICIES, problem, horizon, replications=runs)
        regrets.append(bd.regret(trace).transpose("policy", "replication", "time"))
    time = regrets[0]["time"].values
    values = np.stack([regret.values for regret in regrets])  # (games, policies, runs, times)
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
    for place, (name, colour) in enumerate(zip(POLICIES, COLOURS, strict=False)):
        every = values[:, place].reshape(-1, len(time))
        low, high = np.quantile(every, [0.25, 0.75], axis=0)
        left.fill_between(time, low, high, alpha=0.15, linewidth=0, color=colour)
        left.plot(time, every.mean(axis=0), color=colour, label=name)
    left.set(xlabel="duels", ylabel="cumulative Copeland regret", xlim=(0, horizon), ylim=0)
    for axis in (left.xaxis, left.yaxis):
        axis.set_major_formatter("{x:,.0f}")
    left.legend(frameon=False, loc="upper left")
    title = f"{games} games of {FEWEST} to {MOST} arms, {runs} runs of each: mean, 50 % of runs"
    left.set_title(title, loc="left", fontsize=10)
    last = values[..., -1]
    for of, label, mark in ((np.mean, "means", "o"), (np.median, "medians", "x")):
        sizes = of(last, axis=2)
        right.plot(
            arms, sizes[:, 0] / sizes[:, 1], mark, color="black", fillstyle="none", label=label
        )
    right.axhline(1, color="0.6", linewidth=1)
    right.set(xlabel="arms of the game", ylabel="regret of Sup-KLUCB / D-TS", yscale="log")
    right.legend(frameon=False, title="ratio of", loc="upper right")
    right.set_title("game by game", loc="left", fontsize=10)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    tell(
        run, np.array(arms), last.mean(axis=2), f"{games} games, T = {horizon:,}, {runs} runs each"
    )
    run.finish(figure)


def tell(run, arms, means, told):
    """Add the rows; `means` are those of the games' runs, shape (games, policies)."""
    by_game = dict(zip(POLICIES, means.T, strict=True))
    run.below(f"{PAPER}, claim a", told, by_game, "Sup-KLUCB", "D-TS")
    run.below(f"{PAPER}, claim a", told, by_game, "D-TS", "RUCB")
    gain = np.log(by_game["D-TS"] / by_game["Sup-KLUCB"])
    line = theilslopes(gain, arms)  # no law assumed, as for medians
    found = line.slope, line.low_slope, line.high_slope
    claim = "The gain over D-TS grows with the arms: slope of ln gain in arms positive"
    run.within(f"{PAPER}, claim b", told, claim, found, 0, np.inf, len(arms))


if __name__ == "__main__":
    main()
