"""The 4 best of ten of a poker-like problem: ten populations, each far from an order.

Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling Bandits",
section on poker. Their players, Li and Miikkulainen's, are not published. In their place stands a
problem of our own, called poker-like: `uneven_duels` with the two numbers that the paper prints of
its players. Variances differ up to 40,000-fold (2.3 decades of standard deviations), and d = 0.52
makes 11.1 of 45 pairs on average be won by the arm of lower score. Margins are normal, which those
of poker are not. Above, the matrices of the first population, arms by score, the mean margins with
the pairs won by the lower in score marked: as the paper's Figure 4 shows matrices of an example
with an intransitive triplet, whose entries we do not have (second hand). Below, for each
population, the number of such pairs (Figure 7), and the share of runs whose four arms are right
after 500 duels (Figure 8). The hybrid's index of intransitivity is above its threshold throughout,
so that it duels as POCBAm does in every run.

    python examples/reproduce/ml_pocbam_poker.py --quick --workers 2
"""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from claims import judged
from headline import Headline

import bayesduel as bd
from bayesduel.plots.style import COLOURS
from bayesduel.problems import uneven_duels

FULL = {"budget": 500, "populations": 10, "runs": 500}
QUICK = {"budget": 500, "populations": 10, "runs": 30}
POKER_LIKE = {"decades": 2.3, "d": 0.52}
POLICIES = {
    "ML-POCBAm": bd.policies.MLPOCBAm(),
    "POCBAm": bd.policies.POCBAm(),
    "hybrid": bd.policies.HybridPOCBAm(),
    "uniform": bd.policies.Uniform(),
    "SELECT/TOP": bd.policies.SelectTop(),
    "Laplace, residual learned": bd.policies.LaplaceAllocation(residual="learned"),
}
MARKS = "osD^v*"
BELOW = 0.05  # how far the hybrid may fall below POCBAm in one population: "at least as good"
PAPER = "Groves & Branke, Figure 8"


def main(arguments=None):
    run = Headline("ml pocbam poker", (FULL, QUICK), arguments)
    budget, populations, runs = (run.sizes[key] for key in ("budget", "populations", "runs"))
    problems, rates = [], []
    for place in range(populations):
        rng = np.random.default_rng([run.seed, place])
        problems.append(uneven_duels(10, **POKER_LIKE, rng=rng))
        trace = run.trace(
            f"population-{place}",
            POLICIES,
            problems[-1],
            budget,
            k=4,
            replications=runs,
            record_at=[budget],
        )
        rates.append(bd.success_rate(trace).isel(time=-1))
    figure, panels = plt.subplots(2, 2, figsize=(12, 10), layout="constrained")
    show_matrices(figure, panels[0], problems[0])
    against = [len(upsets(problem)[0]) for problem in problems]
    x = np.arange(1, populations + 1)
    panels[1, 0].bar(x, against, color="0.7")
    panels[1, 0].axhline(11.1, color="black", linewidth=1, linestyle=":")
    panels[1, 0].set_title("pairs won by the lower in score, of 45 (dotted: mean as printed)")
    for place, (name, colour, mark) in enumerate(zip(POLICIES, COLOURS, MARKS, strict=False)):
        at = xr.concat([rate.sel(policy=name) for rate in rates], "population")
        middle, low, high = (at[key].values for key in ("rate", "low", "high"))
        shift = (place - (len(POLICIES) - 1) / 2) * 0.12
        error = (middle - low, high - middle)
        panels[1, 1].errorbar(x + shift, middle, error, fmt=mark, ms=5, color=colour, label=name)
    panels[1, 1].set_title(f"sets that are right after {budget} duels, {runs} runs, 95 % intervals")
    panels[1, 1].set(ylim=(-0.03, 1.03))
    for ax in panels[1]:
        ax.set(xlabel="population", xticks=x)
        ax.spines[["top", "right"]].set_visible(False)
    lines = panels[1, 1].get_legend_handles_labels()
    figure.legend(*lines, frameon=False, loc="outside lower center", ncols=len(POLICIES))
    for ax in panels.flat:
        ax.set_title(ax.get_title(), loc="left", fontsize=10)
        ax.set_title("")
    tell(run, against, rates, f"poker-like, {populations} populations, {budget} duels, {runs} runs")
    run.finish(figure)


def upsets(problem):
    """Return the pairs (winner, loser) that the arm of lower score wins on average."""
    return np.nonzero((problem.mean > 0) & (problem.scores[:, None] < problem.scores))


def show_matrices(figure, panels, problem):
    """Draw mean margins and standard deviations, arms by score, the best first."""
    order = np.argsort(-problem.scores)
    mean, sd = (matrix[np.ix_(order, order)] for matrix in (problem.mean, problem.sd))
    largest = np.abs(mean).max()
    shown = panels[0].imshow(mean, cmap="RdBu", vmin=-largest, vmax=largest)
    figure.colorbar(shown, ax=panels[0], shrink=0.8)
    first, second = np.nonzero(np.triu(mean < 0))
    panels[0].plot(second, first, "k.", markersize=5)
    panels[0].set_title("population 1: mean margins of row over column (dots: won by the lower)")
    shown = panels[1].imshow(np.log10(np.where(sd > 0, sd, np.nan)), cmap="viridis")
    figure.colorbar(shown, ax=panels[1], shrink=0.8)
    panels[1].set_title("population 1: log10 of standard deviations")
    for ax in panels:
        ax.set(xticks=range(len(mean)), yticks=range(len(mean)))
        ax.set(xticklabels=order, yticklabels=order, xlabel="arm, by score", ylabel="arm, by score")


def tell(run, against, rates, told):
    """Add the rows: of each population, and of all together."""
    outcome = f"{np.mean(against):.1f} of 45 pairs on average, {min(against)} to {max(against)}"
    verdict = "holds" if min(against) > 0 else "does not hold"
    claim = "Every population has pairs won by the lower in score (printed: 11.1 of 45 on average)"
    run.row(claim, "Groves & Branke, Figure 7; d is set to it", told, outcome, verdict)
    rights = [rate["success"] for rate in rates]
    claims = [
        (f"population {place}", "hybrid", "POCBAm", right.sel(policy="hybrid"),
         right.sel(policy="POCBAm"), BELOW)
        for place, right in enumerate(rights, 1)
    ]  # fmt: skip
    apart = [
        r.assign_coords(replication=r["replication"] + 10**6 * p) for p, r in enumerate(rights)
    ]
    everyone = xr.concat(apart, "replication")
    pairs = [(name, "SELECT/TOP") for name in POLICIES if name != "SELECT/TOP"]
    pairs += [("POCBAm", "ML-POCBAm"), ("Laplace, residual learned", "POCBAm")]
    claims += [
        ("all populations", a, b, everyone.sel(policy=a), everyone.sel(policy=b), 0)
        for a, b in pairs
    ]
    for where, claim, shown, verdict in judged(claims):
        source = "ours" if "Laplace" in claim or "above ML" in claim else PAPER
        run.row(f"{claim} (share of runs right)", source, f"{told}, {where}", shown, verdict)


if __name__ == "__main__":
    main()
