"""Copeland dueling bandits: many arms, and the constants of the regret bounds.

Zoghi, Karnin, Whiteson & de Rijke, "Copeland Dueling Bandits", NIPS 2015. Above left, Figure 2:
many arms, three Copeland winners in a cycle (probabilities ours: 1/2 plus or minus 0.3). The other
panels are of random subsets of rankers. Figure 4: how often they have a Condorcet winner. Figure 5:
the constants of the regret bounds, the number C of Copeland winners and the number L_C of arms that
each of them loses to. Figure 6: what the bounds divide by, the square of the gap Delta that decides
who wins, relative to that of the smallest gap of any pair. The paper draws subsets of 136 rankers,
whose matrix is not published: the public one of 135 lacks one of them, and is not ours to ship.
Ours are drawn from the 32 of mslr-32, so that no number is comparable with the printed one. Of
Figures 5 and 6 we know what they show and one printed number, second hand.

    python examples/reproduce/copeland_many_arms.py --quick --workers 2
"""

import matplotlib.pyplot as plt
import numpy as np
from headline import Headline, exponent, last_regrets

import bayesduel as bd
from bayesduel.preference import (
    borda_scores,
    condorcet_winner,
    copeland_scores,
    random_walk_scores,
    von_neumann,
)
from bayesduel.problems import Matrix, named

FULL = {"arms": 500, "horizon": 10_000_000, "runs": 10, "subsets": 2000}
QUICK = {"arms": 50, "horizon": 100_000, "runs": 4, "subsets": 300}
POLICIES = {"CCB": bd.policies.CCB(), "SCB": bd.policies.SCB()}
PAPER = "Zoghi et al. 2015"
CONTAINED = "All Copeland winners are in the support of the von Neumann winner"
OTHER = "other rankers: not comparable"
EXPLORING = 0.9  # exponent of regret above which a policy still explores


def main(arguments=None):
    run = Headline("copeland many arms", (FULL, QUICK), arguments)
    numbers = sorted({50, run.sizes["arms"]})  # of arms
    columns = len(numbers) + 1
    figure, panels = plt.subplots(2, columns, figsize=(5 * columns, 8.5), layout="constrained")
    many_arms(run, panels.flat, numbers)
    subsets(run, panels.flat[len(numbers) : len(numbers) + 3])
    for ax in panels.flat[len(numbers) + 3 :]:
        ax.remove()
    run.finish(figure)


def many_arms(run, panels, numbers):
    """Figure 2, and smaller: the first arms of the 500, which keep the structure."""
    for ax, n_arms in zip(panels, numbers, strict=False):
        problem = Matrix(named("cdb-500").P[:n_arms, :n_arms], f"{n_arms} arms of cdb-500")
        horizon, runs = int(run.sizes["horizon"]), run.sizes["runs"]
        horizon = min(horizon, 1_000_000) if n_arms == 50 else horizon
        trace = run.trace(f"many-{n_arms}", POLICIES, problem, horizon, replications=runs)
        told = f"{n_arms} arms, gaps 0.3, T = {horizon:,}, {runs} runs"
        claim = "SCB substantially below CCB with many arms"
        slopes = {k: exponent(trace, k)[0] for k in POLICIES}
        if min(slopes.values()) > EXPLORING:
            shown = ", ".join(f"{k} {v:.2f}" for k, v in slopes.items())
            outcome = f"exponents of regret in t {shown}"
            verdict = "not reached: both still explore"
            run.row(claim, f"{PAPER}, Figure 2", told, outcome, verdict, runs)
        else:
            regrets = last_regrets(trace)
            run.below(f"{PAPER}, Figure 2", told, regrets, "SCB", "CCB", claim)
        bd.plot_regret(trace, ax=ax, log_regret=True)
        ax.set_title(told, loc="left", fontsize=10)


def subsets(run, panels):
    """Figures 4 to 6 and Table 1 on 32 rankers."""
    P, n = named("mslr-32").P, run.sizes["subsets"]
    rng = np.random.default_rng(0)
    sizes, shares, constants = (3, 5, 8, 12, 16, 20, 24, 28), [], []
    same, pairs = {}, 0
    for size in sizes:
        drawn = [rng.choice(32, size, replace=False) for _ in range(n)]
        cuts = np.stack([P[np.ix_(chosen, chosen)] for chosen in drawn])
        shares.append(float((condorcet_winner(cuts) >= 0).mean()))
        constants.append([hardness(cut) for cut in cuts])
        few = cuts[: n // 10]
        pairs += len(few)
        for label, count in agreements(few).items():
            same[label] = same.get(label, 0) + count
    error = [1.96 * np.sqrt(s * (1 - s) / n) for s in shares]
    panels[0].errorbar(sizes, shares, yerr=error, marker="o", capsize=3)
    panels[0].set(ylabel="share with a Condorcet winner", ylim=(0, 1.02))
    for ax in panels:
        ax.set(xlabel="rankers drawn of 32")
        ax.set_title("Random subsets of mslr-32", loc="left", fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
    told = f"{n:,} random subsets of mslr-32 for each of {len(sizes)} sizes"
    listed = ", ".join(f"{k}: {100 * s:.1f} %" for k, s in zip(sizes, shares, strict=True))
    falling = shares[0] - error[0] > shares[-1] + error[-1]
    claim = "The share of random subsets with a Condorcet winner falls with their size"
    verdict = "holds" if falling else "not distinguishable"
    run.row(claim, f"{PAPER}, Figure 4", told, listed, verdict)
    show_constants(run, panels[1:], sizes, np.array(constants))
    told = f"{pairs:,} subsets of mslr-32, 3 to 28 rankers"
    printed = {"Copeland and von Neumann": 99.94, "Copeland and Borda": 51.49}
    printed |= {"Copeland and random walk": 56.15, "von Neumann and Borda": 77.66}
    printed |= {"von Neumann and random walk": 82.11, "Borda and random walk": 94.81}
    printed |= {CONTAINED: 94.2}
    for label, published in printed.items():
        share = same[label] / pairs
        half = 1.96 * np.sqrt(share * (1 - share) / pairs)
        outcome = f"{100 * share:.1f} % ± {100 * half:.1f}"
        claim = f"{label} winners overlap in {published} % of random subsets of 136 rankers"
        source = f"{PAPER}, Table 1"
        if label == CONTAINED:
            claim = f"{label} in {published} % of random subsets of 136 rankers"
            source = f"{PAPER}, section 6"
        run.row(claim, source, told, outcome, OTHER)


def show_constants(run, panels, sizes, constants):
    """Figures 5 and 6: `constants` are those of `hardness`, shape (sizes, subsets, 3)."""
    n = constants.shape[1]
    told = f"{n:,} random subsets of mslr-32 for each of {len(sizes)} sizes"
    means = constants[:, :, :2].mean(axis=1)
    for values, label in zip(means.T, ("C, Copeland winners", "L_C, losses of each"), strict=True):
        panels[0].plot(sizes, values, "o-", label=label)
    panels[0].set(ylabel="mean", ylim=0)
    panels[0].legend(frameon=False)
    shown = ", ".join(
        f"{k}: {c:.2f} and {lost:.2f}" for k, (c, lost) in zip(sizes, means, strict=True)
    )
    small = all((of <= k / 10).all() for k, of in zip(sizes, means, strict=True) if k >= 12)
    claim = "C and L_C are much smaller than K: means at most K / 10 from K = 12 on"
    verdict = "holds" if small else "does not hold"
    run.row(claim, f"{PAPER}, Figure 5", told, f"C and L_C, {shown}", verdict)
    ratios = constants[:, :, 2]
    low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75], axis=1)
    panels[1].fill_between(sizes, low, high, alpha=0.2, linewidth=0, label="quartiles")
    panels[1].plot(sizes, middle, "o-", label="median")
    panels[1].set(ylabel="Delta^2 / Delta_min^2", yscale="log")
    panels[1].legend(frameon=False, loc="upper left")
    shown = ", ".join(f"{k}: {value:,.0f}" for k, value in zip(sizes, middle, strict=True))
    chosen = np.random.default_rng(0).integers(0, n, (1000, n))
    first, last = (
        np.quantile(np.median(of[chosen], axis=1), [0.025, 0.975]) for of in ratios[[0, -1]]
    )
    verdict = "holds" if first[1] < last[0] else "not distinguishable"
    claim = "Delta^2 / Delta_min^2 grows with the number of rankers: median above that of 3 rankers"
    run.row(claim, f"ours, of {PAPER}, Figure 6", told, f"medians {shown}", verdict)
    claim = "Delta^2 / Delta_min^2 = 1,419 on all 136 rankers"
    outcome = f"{hardness(named('mslr-32').P)[2]:,.1f}"
    run.row(claim, f"{PAPER}, Figure 6", "mslr-32, all rankers", outcome, OTHER)


def hardness(P):
    """Return C, L_C and Delta^2 / Delta_min^2 of a matrix without ties.

    Delta is the smaller of two: the smallest gap of a Copeland winner, and the smallest, over the
    other arms, of the (L_C + 1)-th largest gap to an arm that beats it.
    """
    gaps, lost = np.abs(P - 0.5), P < 0.5
    losses = lost.sum(axis=1)
    fewest = losses.min()
    wins = losses == fewest
    gaps[np.diag_indices_from(gaps)] = np.inf
    beaten_by = np.sort(np.where(lost, gaps, 0), axis=1)[:, ::-1]  # the largest gap first
    delta = min(gaps[wins].min(), beaten_by[~wins, fewest].min(initial=np.inf))
    return wins.sum(), fewest, (delta / gaps.min()) ** 2


def agreements(cuts):
    """Return in how many problems two notions of a winner share an arm."""
    notions = {
        "Copeland": is_largest(copeland_scores(cuts)),
        "von Neumann": von_neumann(cuts) > 1e-6,
        "Borda": is_largest(borda_scores(cuts)),
        "random walk": is_largest(random_walk_scores(cuts)),
    }
    names = list(notions)
    contained = (notions["von Neumann"] | ~notions["Copeland"]).all(axis=-1)
    return {CONTAINED: int(contained.sum())} | {
        f"{a} and {b}": int((notions[a] & notions[b]).any(axis=-1).sum())
        for place, a in enumerate(names)
        for b in names[place + 1 :]
    }


def is_largest(scores):
    return scores >= scores.max(axis=-1, keepdims=True) - 1e-12


if __name__ == "__main__":
    main()
