"""The 40 best of a hundred by score duels, budget 30,000.

Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
Bandits", Figure 2 (right). The warm-up is three duels a pair, 14,850, half of the budget.
Orderings are put to the test (``claims``). A replication takes 17 s of one processor.

    python examples/reproduce/topk_of_hundred.py --workers 2
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from claims import judged, seed_of

import bayesduel as bd
from bayesduel.problems import RandomProblem, score_duels

POLICIES = {
    "ML-POCBAm": bd.policies.MLPOCBAm(),
    "POCBAm": bd.policies.POCBAm(),
    "uniform": bd.policies.Uniform(),
    "SELECT/TOP": bd.policies.SelectTop(),
    "uniform, fitted model": bd.policies.Uniform(by="model"),
    "Laplace allocation": bd.policies.LaplaceAllocation(),
}

CLAIMS = (
    ("ML-POCBAm", "POCBAm"),
    ("POCBAm", "uniform"),
    ("uniform", "SELECT/TOP"),
    ("ML-POCBAm", "SELECT/TOP"),
    ("ML-POCBAm", "uniform, fitted model"),
    ("Laplace allocation", "uniform, fitted model"),
)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", type=int, default=100)
    parser.add_argument("--budget", type=int, default=30_000)
    parser.add_argument("--replications", type=int, default=80)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=seed_of("hundred"))
    parser.add_argument("--out", default="topk_of_hundred.png")
    given = parser.parse_args(arguments)
    k, budget = given.arms * 2 // 5, given.budget
    common = {
        "problem": RandomProblem(n_arms=given.arms, generator=score_duels),
        "k": k,
        "replications": given.replications,
        "seed": given.seed,
        "workers": given.workers,
    }
    warm_up = bd.policies.POCBAm().opening(given.arms)
    times = np.unique(np.linspace(warm_up, budget, 11).round().astype(int)).tolist()
    trace = bd.simulate(POLICIES, horizon=budget, record_at=times, **common)
    success = bd.success_rate(trace)["success"]
    rates = bd.success_rate(trace).isel(time=-1)
    cost = bd.opportunity_cost(trace).isel(time=-1).mean("replication") / (given.arms - 1)
    print(f"{k} of {given.arms}, {budget:,} duels, {common['replications']} replications")
    for name in POLICIES:
        at = rates.sel(policy=name)
        low, high = float(at["low"]), float(at["high"])
        lost = float(cost.sel(policy=name))
        print(f"  {name:22} {float(at['rate']):.2f} [{low:.2f}, {high:.2f}]  cost {lost:.4f}")
    last = success.isel(time=-1)
    claims = [
        (f"{budget:,} duels", a, b, last.sel(policy=a), last.sel(policy=b), 0) for a, b in CLAIMS
    ]
    judged(claims)
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    bd.plot_success(trace, panels[0])
    mean = bd.opportunity_cost(trace).mean("replication") / (given.arms - 1)
    for line, name in zip(panels[0].get_lines(), POLICIES, strict=True):
        panels[1].plot(mean["time"], mean.sel(policy=name), color=line.get_color(), label=name)
    panels[1].set_yscale("symlog", linthresh=1e-3)
    panels[1].xaxis.set_major_formatter("{x:,.0f}")
    panels[1].set_xlabel("duels", fontsize=9)
    panels[1].set_ylabel("mean margin given away by the set named", fontsize=9)
    panels[1].spines[["top", "right"]].set_visible(False)
    figure.savefig(given.out, dpi=150)
    print(given.out)


if __name__ == "__main__":
    main()
