"""SAVAGE: time to a confident answer, and explore-then-exploit, beside its baselines.

Urvoy, Clerot, Feraud & Naamane, "Generic Exploration and K-armed Voting Bandits", ICML 2013. Its
settings and figures are lost from the text that we have; the claims are those that remain, put in
checkable form. Above: the duels until each run answered, filled where the answer is right, and at
the right edge the share of runs whose recommendation is right at the end. A triangle is a run
without an answer, which most baselines never give. Below: the Copeland regret of each run, and its
mean, where the answer is exploited. Confidence 0.05 for the identification, 1/T for the regret, as
printed.

    python examples/reproduce/savage.py --quick --workers 2
"""

import matplotlib.pyplot as plt
import numpy as np
from headline import Headline, last_regrets, ratio
from matplotlib.ticker import MaxNLocator

import bayesduel as bd
from bayesduel.problems import named

FULL = {"horizon": 100_000, "runs": 20}
QUICK = {"horizon": 30_000, "runs": 8}
PAPER = "Urvoy et al. 2013"
PROBLEMS = {
    "cyclic-4": named("cyclic-4"),
    "linear order, 10 arms": named("linear"),
    "flat order, 10 arms": named("flat"),
    "hudry-13": named("hudry-13"),
}
ORDERED = ("linear order, 10 arms", "flat order, 10 arms")


def explorers(delta):
    """Return what identifies a winner, with the Copeland and the Condorcet and Borda baselines."""
    return {
        "SAVAGE, Copeland": bd.policies.SAVAGE(delta=delta),
        "SAVAGE, Copeland, sampled test": bd.policies.SAVAGE(delta=delta, independence="sampled"),
        "SAVAGE, Condorcet": bd.policies.SAVAGE(criterion="condorcet", delta=delta),
        "SAVAGE, Borda": bd.policies.SAVAGE(criterion="borda", delta=delta),
        "Interleaved Filter": bd.policies.InterleavedFilter(),
        "Beat the Mean": bd.policies.BeatTheMean(),
        "wrapped elimination (Borda)": bd.policies.ActionElimination(delta=delta),
        "naive elimination": bd.policies.ActionElimination(reward="pair", delta=delta),
        "wrapped UCB (Borda)": bd.policies.UCB1(),
        "naive UCB": bd.policies.UCB1(reward="pair"),
        "uniform": bd.policies.Uniform(),
    }


def main(arguments=None):
    run = Headline("savage", (FULL, QUICK), arguments)
    horizon, runs = int(run.sizes["horizon"]), run.sizes["runs"]
    figure, panels = plt.subplots(2, len(PROBLEMS), figsize=(16, 9), sharey=True)
    figure.subplots_adjust(0.165, 0.06, 0.96, 0.96, wspace=0.25, hspace=0.22)
    for column, (name, problem) in enumerate(PROBLEMS.items()):
        label = name.split(",")[0].replace(" ", "-")
        found = run.trace(f"{label}-explore", explorers(0.05), problem, horizon, replications=runs)
        plot_answers(panels[0, column], found)
        panels[0, column].set_title(f"{name}, {runs} runs", loc="left", fontsize=11)
        trace = run.trace(f"{label}-exploit", explorers(None), problem, horizon, replications=runs)
        plot_last_regrets(panels[1, column], last_regrets(trace))
        panels[1, column].set_title("explore, then exploit", loc="left", fontsize=11)
        told = f"{name}, T = {horizon:,}, {runs} runs"
        identification(run, told, name, found)
        exploitation(run, told, name, last_regrets(trace))
    run.finish(figure)


def plot_answers(ax, trace):
    """Draw the duels until every run's answer, a row a policy, and the share that is right."""
    success = bd.success_rate(trace)["success"].isel(time=-1)
    horizon = int(trace["trace"]["time"][-1])
    for row, (policy, times) in enumerate(answers(trace).items()):
        right = success.sel(policy=policy).values.astype(bool)
        answered = times >= 0
        height = row + spread(len(times))
        sure, wrong = answered & right, answered & ~right
        ax.plot(times[sure], height[sure], "o", color="#0072b2", markersize=4)
        ax.plot(times[wrong], height[wrong], "o", color="#d55e00", markersize=4, fillstyle="none")
        open_ended = np.full((~answered).sum(), horizon)
        ax.plot(open_ended, height[~answered], ">", color="0.6", markersize=3, clip_on=False)
        share = f"{100 * right.mean():.0f} %"
        edge = ax.get_yaxis_transform()
        ax.annotate(share, (1, row), (34, 0), edge, "offset points", ha="right", va="center")
    rows_of_policies(ax, list(answers(trace)), "duels until the answer")


def plot_last_regrets(ax, regrets):
    """Draw every run's regret at the horizon, a row a policy, and the mean as a bar."""
    for row, values in enumerate(regrets.values()):
        ax.plot(values, row + spread(len(values)), "o", color="0.6", markersize=3)
        ax.plot(values.mean(), row, "|", color="black", markersize=14, markeredgewidth=2)
    rows_of_policies(ax, list(regrets), "Copeland regret at the horizon")


def rows_of_policies(ax, policies, quantity):
    """Label the rows with the policies, the first on top, and the axis with its quantity."""
    ax.set_xlim(0)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel(quantity)
    ax.set_yticks(range(len(policies)), policies)
    ax.set_ylim(len(policies) - 0.5, -0.5)
    ax.grid(axis="y", color="0.93")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(left=False)


def spread(runs):
    """Return small offsets that keep the marks of `runs` runs apart."""
    return np.linspace(-0.25, 0.25, runs) if runs > 1 else np.zeros(1)


def identification(run, told, name, trace):
    """Add the rows on times to an answer and on answers that are right."""
    source = f"{PAPER}, Algorithm 1"
    answered = answers(trace)
    right = bd.success_rate(trace)["success"].isel(time=-1)
    savage = answered["SAVAGE, Copeland"]
    share = float(right.sel(policy="SAVAGE, Copeland").mean())
    finished = int((savage >= 0).sum())
    outcome = f"{finished} of {len(savage)} answered, {100 * share:.0f} % right at the end"
    wrong = int(((savage >= 0) & ~right.sel(policy="SAVAGE, Copeland").values).sum())
    verdict = "holds" if wrong == 0 and finished else "not reached" if not finished else "see text"
    run.row("SAVAGE-Copeland answers, and is right", source, told, outcome, verdict, len(savage))
    horizon = int(trace["trace"]["time"][-1])
    times = {k: np.where(v >= 0, v, horizon) for k, v in answered.items()}
    claim = "The sampled test takes about as long as the formal one (within a factor of 1.5)"
    first, second = times["SAVAGE, Copeland, sampled test"], times["SAVAGE, Copeland"]
    if (second < horizon).all():
        found = ratio(first, second)
        run.within(f"{PAPER}, Algorithm 2", told, claim, found, 1 / 1.5, 1.5, len(first))
    sampled = right.sel(policy="SAVAGE, Copeland, sampled test")
    found = bd.success_difference(sampled, right.sel(policy="SAVAGE, Copeland"), 0.95)
    outcome = f"formal {100 * share:.0f} %, sampled {100 * float(sampled.mean()):.0f} %"
    verdict = "does not hold" if float(found["high"]) < 0 else "not distinguishable"
    claim = "The sampled test is right as often as the formal one"
    run.row(claim, f"{PAPER}, Algorithm 2", told, outcome, verdict, len(savage))
    for rival in ("Interleaved Filter", "Beat the Mean"):
        rate = float(right.sel(policy=rival).mean())
        outcome = f"right at the end: SAVAGE {100 * share:.0f} %, {rival} {100 * rate:.0f} %"
        claim = f"SAVAGE-Copeland is right more often than {rival} where arms have no linear order"
        if name not in ORDERED:
            found = bd.success_difference(
                right.sel(policy="SAVAGE, Copeland"), right.sel(policy=rival), 0.95
            )
            low, high = float(found["low"]), float(found["high"])
            verdict = "holds" if low > 0 else "does not hold" if high < 0 else "not distinguishable"
            run.row(claim, f"{PAPER}, section 5", told, outcome, verdict, len(savage))


def exploitation(run, told, name, regrets):
    """Add the rows on regret."""
    source = f"{PAPER}, Algorithm 4"
    for rival in ("uniform", "naive UCB", "naive elimination", "Interleaved Filter"):
        run.below(source, told, regrets, "SAVAGE, Copeland", rival)
    if name in ORDERED:
        claim = "Beat the Mean competitive or better than SAVAGE on flat matrices"
        run.below(f"{PAPER}, B.6", told, regrets, "Beat the Mean", "SAVAGE, Copeland", claim)
        run.below(source, told, regrets, "SAVAGE, Condorcet", "SAVAGE, Copeland")
        run.below(source, told, regrets, "SAVAGE, Borda", "wrapped UCB (Borda)")


def answers(trace):
    """Return when each run answered, -1 for never, by policy."""
    answered = trace["trace"]["answered"]
    return {str(name): answered.sel(policy=name).values for name in answered["policy"].values}


if __name__ == "__main__":
    main()
