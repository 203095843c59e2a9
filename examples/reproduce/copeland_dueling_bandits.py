"""Copeland dueling bandits: CCB and SCB beside their rivals, with and without a Condorcet winner.

Zoghi, Karnin, Whiteson & de Rijke, "Copeland Dueling Bandits", NIPS 2015. Figure 1: two cuts of
five MSLR rankers without a Condorcet winner (theirs is not published), on log time; the methods
that are told their horizon are grey markers, the mean of the runs for each horizon. Below right,
Figure 3: a Condorcet winner.

    python examples/reproduce/copeland_dueling_bandits.py --quick --workers 2
"""

import matplotlib.pyplot as plt
from headline import Headline, exponent, last_regrets

import bayesduel as bd

FULL = {"horizon": 1_000_000, "runs": 10}
QUICK = {"horizon": 100_000, "runs": 8}
CURVES = {
    "CCB": bd.policies.CCB(),
    "RUCB": bd.policies.RUCB(),
    "SCB": bd.policies.SCB(),
    "D-TS+": bd.policies.DTSPlus(),
}
CURVES |= {"pivot index": bd.policies.PivotIndex()}
AT_HORIZON = {
    "SAVAGE": bd.policies.SAVAGE(),
    "PBR": bd.policies.PBR(),
    "RankEl": bd.policies.RankEl(),
}
PAPER = "Zoghi et al. 2015"


def main(arguments=None):
    run = Headline("copeland dueling bandits", (FULL, QUICK), arguments)
    horizon, runs = int(run.sizes["horizon"]), run.sizes["runs"]
    figure, panels = plt.subplots(2, 2, figsize=(11, 8.5), layout="constrained")
    without_a_winner(run, panels.flat[:3], horizon, runs)
    with_a_winner(run, panels[1, 1], min(horizon, 100_000), runs)
    lines, names = panels[0, 0].get_legend_handles_labels()
    names = [name.partition(", C* =")[0] for name in names]  # each panel has a slope of its own
    figure.legend(lines, names, frameon=False, loc="outside lower center", ncols=5)
    for ax in panels.flat:
        ax.get_legend().remove()
    run.finish(figure)


def without_a_winner(run, panels, horizon, runs):
    """Figure 1, and RUCB on hudry-13."""
    for ax, name in zip(panels, ("mslr-5-c3", "mslr-5-c1", "hudry-13"), strict=True):
        policies = CURVES if name != "hudry-13" else {k: CURVES[k] for k in ("CCB", "RUCB")}
        length = horizon if name != "hudry-13" else min(horizon, 100_000)
        trace = run.trace(name, policies, name, length, replications=runs)
        bd.plot_regret(trace, ax=ax, log_regret=True)
        regrets = last_regrets(trace)
        told = f"{name}, T = {length:,}, {runs} runs"
        if name != "hudry-13":
            for t in [10**k for k in range(4, 9) if 10**k <= length]:
                fixed = run.trace(f"{name}-fixed", AT_HORIZON, name, t, replications=runs)
                values = last_regrets(fixed)
                for place, label in enumerate(AT_HORIZON):  # side by side, one entry each
                    x, shown = t * 0.8 ** (3 - place), label if t == 10_000 else None
                    mark = "os^"[place]
                    ax.plot(x, values[label].mean(), mark, color="0.4", ms=5, label=shown)
            regrets |= values
            for rival in ("SCB", "SAVAGE", "PBR", "RankEl", "RUCB"):
                run.below(f"{PAPER}, Figure 1", told, regrets, "CCB", rival)
            for rival in ("CCB", "D-TS+"):
                run.below("ours", told, regrets, "pivot index", rival)
        slope = exponent(trace, "RUCB")
        claim = "RUCB is linear without a Condorcet winner: exponent of regret at least 0.9"
        run.within(f"{PAPER}, section 6", told, claim, slope, 0.9, 2.0, runs)
        ax.set_title(told, loc="left", fontsize=10)


def with_a_winner(run, ax, horizon, runs):
    """Figure 3."""
    for name in ("mslr-5", "arithmetic-8", "cyclic-4", "sushi-16"):
        policies = {k: CURVES[k] for k in ("CCB", "RUCB")}
        trace = run.trace(name, policies, name, horizon, replications=runs)
        told = f"{name}, T = {horizon:,}, {runs} runs"
        regrets = last_regrets(trace)
        claim = "CCB slightly below RUCB with a Condorcet winner"
        run.below(f"{PAPER}, Figure 3", told, regrets, "CCB", "RUCB", claim)
        if name == "mslr-5":
            bd.plot_regret(trace, ax=ax)
            ax.set_title(told, loc="left", fontsize=10)


if __name__ == "__main__":
    main()
