"""The k best of ten by score duels: 4 of 10 and 1 of 10, budget 1,000.

Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
Bandits", Figure 2. Their text gives two laws of the duels' variances; both are run. The dashed
baseline, uniform allocation with the fitted model, separates the model's part from the
allocation's; the Laplace allocation is ours. The paper's orderings, and ours, are put to the
test after 300 and 1,000 duels (``claims``). Eleven minutes of one processor.

    python examples/topk_of_ten.py --workers 2
"""

import argparse

import matplotlib.pyplot as plt
from claims import judged, seed_of

import bayesduel as bd
from bayesduel.problems import RandomProblem, score_duels

POLICIES = {
    "ML-POCBAm": bd.MLPOCBAm(),
    "POCBAm": bd.POCBAm(),
    "hybrid": bd.HybridPOCBAm(),
    "uniform": bd.Uniform(),
    "SELECT/TOP": bd.SelectTop(),
    "PKG": bd.PKG(),
    "active ranking": bd.ActiveRanking(),
    "uniform, fitted model": bd.Uniform(by="model"),
    "Laplace allocation": bd.LaplaceAllocation(),
}

CLAIMS = (
    ("ML-POCBAm", "POCBAm"),
    ("POCBAm", "uniform"),
    ("uniform", "SELECT/TOP"),
    ("ML-POCBAm", "uniform"),
    ("ML-POCBAm", "uniform, fitted model"),
    ("uniform, fitted model", "uniform"),
    ("Laplace allocation", "uniform, fitted model"),
    ("Laplace allocation", "ML-POCBAm"),
)
TIMES = (135, 200, 250, 300, 400, 500, 600, 700, 850, 1000)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=5000)
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=seed_of("4 and 1 of 10"))
    parser.add_argument("--out", default="topk_of_ten.png")
    given = parser.parse_args(arguments)
    times = [time for time in TIMES if time < given.budget] + [given.budget]
    claims = []
    figure, panels = plt.subplots(2, 2, figsize=(11, 8), layout="constrained", sharey=True)
    for row, k in zip(panels, (4, 1), strict=True):
        for ax, spread in zip(row, ("sd", "variance"), strict=True):
            problem = RandomProblem(
                n_arms=10, generator=score_duels, settings=(("spread", spread),)
            )
            trace = bd.simulate(
                POLICIES,
                problem,
                given.budget,
                k=k,
                replications=given.replications,
                seed=given.seed,
                record_at=times,
                workers=given.workers,
            )
            bd.plot_success(trace, ax)
            law = "sigma" if spread == "sd" else "sigma squared"
            title = f"{k} of 10, {law} uniform on [0, 1], {given.replications:,} replications"
            ax.set_title(title, loc="left", fontsize=10)
            if ax is not panels[0, 0]:
                ax.get_legend().remove()
            rates = bd.success_rate(trace)
            last = rates.isel(time=-1)
            print(title)
            for name in POLICIES:
                at = last.sel(policy=name)
                low, high = float(at["low"]), float(at["high"])
                print(f"  {name:22} {float(at['rate']):.3f} [{low:.3f}, {high:.3f}]")
            for time in dict.fromkeys((times[min(3, len(times) - 1)], times[-1])):
                right = rates["success"].sel(time=time)
                where = f"{k} of 10, {law} uniform, {time}"
                claims += [
                    (where, a, b, right.sel(policy=a), right.sel(policy=b), 0) for a, b in CLAIMS
                ]
    judged(claims)
    figure.savefig(given.out, dpi=150)
    print(given.out)


if __name__ == "__main__":
    main()
