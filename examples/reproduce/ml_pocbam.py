"""The k best of ten by score duels: 4 of 10 and 1 of 10, budget 1,000.

Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
Bandits", Figure 2. Their text gives two laws of the duels' variances; both are run. The dashed
baseline, uniform allocation with the fitted model, separates the model's part from the
allocation's; the Laplace allocation is ours. The paper's orderings, and ours, are put to the
test after 300 and 1,000 duels (``CLAIMS``). The full form takes about an hour of one processor;
docs/validation/top_k.md says more of it, and has the experiments of the scripts beside this one.

    python examples/reproduce/ml_pocbam.py --quick --workers 2
"""

import matplotlib.pyplot as plt
from claims import judged, seed_of
from headline import Headline

import bayesduel as bd
from bayesduel.problems import RandomProblem, score_duels

POLICIES = {
    "ML-POCBAm": bd.policies.MLPOCBAm(),
    "POCBAm": bd.policies.POCBAm(),
    "hybrid": bd.policies.HybridPOCBAm(),
    "uniform": bd.policies.Uniform(),
    "SELECT/TOP": bd.policies.SelectTop(),
    "PKG": bd.policies.PKG(),
    "active ranking": bd.policies.ActiveRanking(),
    "uniform, fitted model": bd.policies.Uniform(by="model"),
    "Laplace allocation": bd.policies.LaplaceAllocation(),
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
FULL = {"budget": 1000, "runs": 5000}
QUICK = {"budget": 1000, "runs": 300}
TIMES = (135, 200, 250, 300, 400, 500, 600, 700, 850, 1000)


def main(arguments: list[str] | None = None) -> None:
    run = Headline("ml pocbam", (FULL, QUICK), arguments, seed=seed_of("4 and 1 of 10"))
    budget, runs = run.sizes["budget"], run.sizes["runs"]
    times = [time for time in TIMES if time < budget] + [budget]
    claims = []
    figure, panels = plt.subplots(2, 2, figsize=(11, 8), layout="constrained", sharey=True)
    for row, k in zip(panels, (4, 1), strict=True):
        for ax, spread in zip(row, ("sd", "variance"), strict=True):
            problem = RandomProblem(
                n_arms=10, generator=score_duels, settings=(("spread", spread),)
            )
            trace = run.trace(
                f"{k}-{spread}",
                POLICIES,
                problem,
                budget,
                k=k,
                replications=runs,
                record_at=times,
            )
            bd.plot_success(trace, ax)
            law = "sigma" if spread == "sd" else "sigma squared"
            title = f"{k} of 10, {law} uniform on [0, 1], {runs:,} replications"
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
    for where, claim, shown, verdict in judged(claims):
        *law, duels = where.split(", ")
        told = f"{', '.join(law)}, {duels} duels, {runs:,} runs"
        paper = "uniform with" not in claim and "Laplace" not in claim and "fitted" not in claim
        source = "Groves & Branke, Figure 2" if paper else "ours"
        run.row(f"{claim} (share of runs right)", source, told, shown, verdict)
    run.finish(figure)


if __name__ == "__main__":
    main()
