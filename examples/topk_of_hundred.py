"""The 40 best of a hundred by score duels, budget 30,000; or the one far above the others.

Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
Bandits", Figure 2 (right), and with --separated Figure 3: the best of a hundred, gamma_1 =
1.2, the others on [0, 1]. Half of the budget is the warm-up of three duels a pair. A
replication takes about a minute of one processor.

    python examples/topk_of_hundred.py --replications 50 --workers 2
    python examples/topk_of_hundred.py --separated --replications 50 --workers 2
"""

import argparse

import matplotlib.pyplot as plt

import bayesduel as bd
from bayesduel.problems import Drawn, score_duels
from bayesduel.selection import Uniform

POLICIES = {
    "ML-POCBAm": bd.MLPOCBAm(),
    "POCBAm": bd.POCBAm(),
    "uniform": Uniform(),
    "SELECT/TOP": bd.SelectTop(),
    "uniform, fitted model": Uniform(by="model"),
    "Laplace allocation": bd.LaplaceAllocation(),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--separated", action="store_true")
    parser.add_argument("--arms", type=int, default=100)
    parser.add_argument("--budget", type=int, default=30_000)
    parser.add_argument("--replications", type=int, default=5)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="topk_of_hundred.png")
    given = parser.parse_args(arguments)
    k, settings = (1, (("best", 1.2),)) if given.separated else (given.arms * 2 // 5, ())
    trace = bd.select_top(
        POLICIES,
        Drawn(n_arms=given.arms, generator=score_duels, settings=settings),
        k,
        given.budget,
        replications=given.replications,
        seed=given.seed,
        record=[round(given.budget * part / 20) for part in range(10, 21)],  # from the warm-up on
        workers=given.workers,
    )
    rates = bd.success_rate(trace).isel(time=-1)
    cost = bd.opportunity_cost(trace).isel(time=-1).mean("replication") / (given.arms - 1)
    print(f"{k} of {given.arms}, {given.budget:,} duels, {given.replications} replications")
    for name in POLICIES:
        at = rates.sel(policy=name)
        low, high = float(at["low"]), float(at["high"])
        lost = float(cost.sel(policy=name))
        print(f"  {name:22} {float(at['rate']):.2f} [{low:.2f}, {high:.2f}]  cost {lost:.4f}")
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    bd.plot_success(trace, panels[0])
    mean = bd.opportunity_cost(trace).mean("replication") / (given.arms - 1)
    for line, name in zip(panels[0].get_lines(), POLICIES, strict=True):
        panels[1].plot(mean["time"], mean.sel(policy=name), color=line.get_color(), label=name)
    panels[1].set_yscale("symlog", linthresh=1e-3)
    panels[1].set_xlabel("duels", fontsize=9)
    panels[1].set_ylabel("mean margin given away by the set named", fontsize=9)
    panels[1].spines[["top", "right"]].set_visible(False)
    figure.savefig(given.out, dpi=150)
    print(given.out)


if __name__ == "__main__":
    main()
