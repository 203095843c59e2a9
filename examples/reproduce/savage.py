"""SAVAGE: time to a confident answer, and explore-then-exploit, beside its baselines.

Urvoy, Clerot, Feraud & Naamane, "Generic Exploration and K-armed Voting Bandits", ICML 2013. Its
settings and figures are lost from the text that we have; the claims are those that remain, put in
checkable form. Above: how often the recommended arm is right against time; below: cumulative regret
where the answer is exploited. Confidence 0.05 for the
identification, 1/T for the regret, as printed.

    python examples/reproduce/savage.py --quick --workers 2
"""

import matplotlib.pyplot as plt
import numpy as np
from headline import Headline, last_regrets

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
        "SAVAGE, Copeland": bd.SAVAGE(delta=delta),
        "SAVAGE, Copeland, sampled test": bd.SAVAGE(delta=delta, independence="sampled"),
        "SAVAGE, Condorcet": bd.SAVAGE(criterion="condorcet", delta=delta),
        "SAVAGE, Borda": bd.SAVAGE(criterion="borda", delta=delta),
        "Interleaved Filter": bd.InterleavedFilter(),
        "Beat the Mean": bd.BeatTheMean(),
        "wrapped elimination (Borda)": bd.ActionElimination(delta=delta),
        "naive elimination": bd.ActionElimination(reward="pair", delta=delta),
        "wrapped UCB (Borda)": bd.UCB1(),
        "naive UCB": bd.UCB1(reward="pair"),
        "uniform": bd.Uniform(),
    }


def main(arguments=None):
    run = Headline("savage", (FULL, QUICK), arguments)
    horizon, runs = int(run.sizes["horizon"]), run.sizes["runs"]
    figure, panels = plt.subplots(2, 4, figsize=(18, 9), layout="constrained")
    for column, (name, problem) in enumerate(PROBLEMS.items()):
        label = name.split(",")[0].replace(" ", "-")
        found = run.trace(f"{label}-explore", explorers(0.05), problem, horizon, replications=runs)
        bd.plot_success(found, ax=panels[0, column])
        for band in list(panels[0, column].collections):  # eleven of them hide the lines
            band.remove()
        panels[0, column].set_title(f"{name}, {runs} runs", loc="left", fontsize=10)
        trace = run.trace(f"{label}-exploit", explorers(None), problem, horizon, replications=runs)
        bd.plot_regret(trace, ax=panels[1, column], log_regret=True)
        panels[1, column].set_title("explore, then exploit", loc="left", fontsize=10)
        told = f"{name}, T = {horizon:,}, {runs} runs"
        identification(run, told, name, found)
        exploitation(run, told, name, last_regrets(trace))
    for ax in panels.flat[1:]:
        if ax.get_legend() is not None:
            ax.get_legend().remove()
    run.finish(figure)


def identification(run, told, name, trace):
    """Add the rows on times to an answer and on answers that are right."""
    source = f"{PAPER}, Algorithm 1"
    answered = {str(k): v for k, v in answers(trace).items()}
    right = bd.success_rate(trace)["success"].isel(time=-1)
    savage = answered["SAVAGE, Copeland"]
    share = float(right.sel(policy="SAVAGE, Copeland").mean())
    finished = int((savage >= 0).sum())
    outcome = f"{finished} of {len(savage)} answered, {100 * share:.0f} % right at the end"
    wrong = int(((savage >= 0) & ~right.sel(policy="SAVAGE, Copeland").values).sum())
    verdict = "holds" if wrong == 0 and finished else "not reached" if not finished else "see text"
    run.row("SAVAGE-Copeland answers, and is right", source, told, outcome, verdict)
    horizon = int(trace["trace"]["time"][-1])
    times = {k: np.where(v >= 0, v, horizon) for k, v in answered.items()}
    claim = "The sampled test takes about as long as the formal one (within a factor of 1.5)"
    first, second = times["SAVAGE, Copeland, sampled test"], times["SAVAGE, Copeland"]
    if (second < horizon).all():
        found = interval_of_ratio(first, second)
        run.within(f"{PAPER}, Algorithm 2", told, claim, found, 1 / 1.5, 1.5)
    sampled = right.sel(policy="SAVAGE, Copeland, sampled test")
    found = bd.success_difference(sampled, right.sel(policy="SAVAGE, Copeland"), 0.95)
    outcome = f"formal {100 * share:.0f} %, sampled {100 * float(sampled.mean()):.0f} %"
    verdict = "does not hold" if float(found["high"]) < 0 else "not distinguishable"
    claim = "The sampled test is right as often as the formal one"
    run.row(claim, f"{PAPER}, Algorithm 2", told, outcome, verdict)
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
            run.row(claim, f"{PAPER}, section 5", told, outcome, verdict)


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
    return {name: answered.sel(policy=name).values for name in answered["policy"].values}


def interval_of_ratio(first, second):
    chosen = np.random.default_rng(0).integers(0, len(first), (2000, len(first)))
    drawn = first[chosen].mean(axis=1) / second[chosen].mean(axis=1)
    return first.mean() / second.mean(), *np.quantile(drawn, [0.025, 0.975])


if __name__ == "__main__":
    main()
