"""Sup-KLUCB beside D-TS and RUCB on random problems, and its absorbing state cured.

Agrawal & Chaporkar, "KLUCB Approach to Copeland Bandits", arXiv 1902.02778. Entries of P are
uniform on [0, 1] for i < j (the paper says "random"), with a unique Copeland winner, one problem a
run. As printed the rule can settle on a wrong arm for ever, so that means, medians and the worst
run tell different stories; all three are shown. ``ConfirmedSupKLUCB`` is ours, in no paper.

    python examples/reproduce/sup_klucb.py --quick --workers 2
"""

import matplotlib.pyplot as plt
import numpy as np
from headline import Headline

import bayesduel as bd
from bayesduel.problems import RandomProblem, uniform

# Runs: up to 10 arms, at 20 and at 36 arms.
FULL = {"horizon": 100_000, "runs": 100, "runs_20": 100, "runs_36": 100}
QUICK = {"horizon": 20_000, "runs": 16, "runs_20": 8, "runs_36": 4}
POLICIES = {
    "Sup-KLUCB": bd.policies.SupKLUCB(),
    "Sup-KLUCB, confirmed": bd.policies.ConfirmedSupKLUCB(),
    "D-TS": bd.policies.DTS(),
    "RUCB": bd.policies.RUCB(),
    "pivot index": bd.policies.PivotIndex(),
}
ARMS = (3, 5, 10, 20, 36)
PAPER = "Agrawal & Chaporkar 2019"


def main(arguments=None):
    run = Headline("sup klucb", (FULL, QUICK), arguments)
    horizon = int(run.sizes["horizon"])
    figure, panels = plt.subplots(2, 3, figsize=(15, 8.5), layout="constrained")
    gains = []
    for ax, n_arms in zip(panels.flat, ARMS, strict=False):
        runs = run.sizes["runs" if n_arms <= 10 else f"runs_{n_arms}"]
        problem = RandomProblem(n_arms=n_arms, generator=uniform, name=f"uniform-{n_arms}")
        trace = run.trace(
            f"arms-{n_arms}", POLICIES, problem, horizon, replications=runs, detail="arms"
        )
        bd.plot_regret(trace, ax=ax, log_regret=True)
        ax.set_title(f"{n_arms} arms, {runs} runs", loc="left", fontsize=10)
        ax.get_legend().remove()
        gains.append(tell(run, trace, n_arms, f"{n_arms} arms, T = {horizon:,}, {runs} runs"))
    ax = panels[1, 2]
    for name, values in zip(("means", "medians"), np.transpose(gains), strict=True):
        ax.plot(ARMS, values, "o-", label=f"ratio of {name}")
    ax.axhline(1, color="0.6", lw=1)
    ax.set(xlabel="arms", ylabel="regret of Sup-KLUCB / D-TS", yscale="log")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    lines, names = panels[0, 0].get_legend_handles_labels()
    names = [name.partition(", mean C*")[0] for name in names]  # each panel has a slope of its own
    figure.legend(lines, names, frameon=False, loc="outside lower center", ncols=len(names))
    run.finish(figure)


def tell(run, trace, n_arms, told):
    """Add the rows of one number of arms; return the ratios of means and medians to D-TS."""
    regret = bd.regret(trace)
    last = {str(n): regret.sel(policy=n).isel(time=-1).values for n in POLICIES}
    claim = f"Sup-KLUCB below D-TS at {n_arms} arms"
    run.below(f"{PAPER}, section 5", told, last, "Sup-KLUCB", "D-TS", claim)
    run.below(f"{PAPER}, section 5", told, last, "D-TS", "RUCB", f"D-TS below RUCB, {n_arms} arms")
    half = regret.sel(time=regret["time"][-1] / 2, method="nearest")
    for name in ("Sup-KLUCB", "Sup-KLUCB, confirmed"):
        later = last[name] - half.sel(policy=name).values
        stuck = later > 0.05 * (float(regret["time"][-1]) - float(half["time"]))
        outcome = (
            f"{stuck.sum()} of {len(stuck)} runs; mean {last[name].mean():,.0f}, median "
            f"{np.median(last[name]):,.0f}, worst {last[name].max():,.0f}"
        )
        claim = f"{name}: no run pays more than 0.05 a duel in the second half"
        source = "ours" if "confirmed" in name else "ours: its absorbing state"
        verdict = "holds" if not stuck.any() else "does not hold"
        run.row(claim, source, told, outcome, verdict, len(stuck))
    for rival in ("Sup-KLUCB", "D-TS"):
        run.below("ours", told, last, "Sup-KLUCB, confirmed", rival)
        run.below("ours", told, last, "pivot index", rival)
    return [
        last["Sup-KLUCB"].mean() / last["D-TS"].mean(),
        np.median(last["Sup-KLUCB"]) / np.median(last["D-TS"]),
    ]


if __name__ == "__main__":
    main()
