"""The best of a hundred when it stands apart: gamma_1 = 1.2, the others on [0, 1].

Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
Bandits", Figure 3. The warm-up of ML-POCBAm, three duels a pair, is 14,850 duels here, before
which only the others have anything to show. The text says that SELECT/TOP reaches ML-POCBAm's
first success rate with 12 % fewer duels, and that ML-POCBAm is the first that is always right.
Twenty seconds of one processor.

    python examples/reproduce/topk_separated.py --workers 2
"""

import argparse

import matplotlib.pyplot as plt
from claims import judged, seed_of

import bayesduel as bd
from bayesduel.problems import RandomProblem, score_duels

WITHOUT = {
    "SELECT/TOP": bd.policies.SelectTop(),
    "uniform": bd.policies.Uniform(),
    "uniform, fitted model": bd.policies.Uniform(by="model"),
}
WARMED_UP = {
    "ML-POCBAm": bd.policies.MLPOCBAm(),
    "POCBAm": bd.policies.POCBAm(),
    "Laplace allocation": bd.policies.LaplaceAllocation(),
}
PARTS = (0.01, 0.02, 0.04, 0.07, 0.13, 0.2, 0.3, 0.45, 0.65, 0.88, 1.0)  # of the warm-up
CLAIMED = (0.04, 0.13, 0.3)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", type=int, default=100)
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=seed_of("separated"))
    parser.add_argument("--out", default="topk_separated.png")
    given = parser.parse_args(arguments)
    common = {
        "problem": RandomProblem(
            n_arms=given.arms, generator=score_duels, settings=(("best", 1.2),)
        ),
        "k": 1,
        "replications": given.replications,
        "seed": given.seed,
        "workers": given.workers,
    }
    first = bd.policies.POCBAm().opening(given.arms)
    at = {part: max(round(part * first), given.arms) for part in PARTS}
    early = bd.simulate(WITHOUT, horizon=first, record_at=sorted(set(at.values())), **common)
    last = first + given.arms
    late = bd.simulate(WARMED_UP, horizon=last, record_at=[first, last], **common)
    before, after = bd.success_rate(early), bd.success_rate(late)
    figure, ax = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
    for rates in (before, after):
        for name in rates["policy"].values.tolist():
            r = rates.sel(policy=name)
            line = ax.plot(
                r["time"], r["rate"], marker="." if rates is before else "o", label=name
            )[0]
            ax.fill_between(r["time"], r["low"], r["high"], alpha=0.1, color=line.get_color(), lw=0)
            said = ", ".join(
                f"{100 * float(x):.0f} % at {int(t):,}"
                for t, x in zip(r["time"], r["rate"], strict=True)
            )
            print(f"  {name:22} {said}")
    ax.set_xscale("log")
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("duels")
    ax.set_ylabel("how often the best is named")
    ax.set_title(
        f"1 of {given.arms}, apart, {given.replications} replications", loc="left", fontsize=10
    )
    ax.legend(frameon=False, fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    top = before["success"].sel(policy="SELECT/TOP")
    plain = before["success"].sel(policy="uniform")
    claims = [
        (f"{t:,} duels", "SELECT/TOP", "uniform", top.sel(time=t), plain.sel(time=t), 0)
        for t in dict.fromkeys(at[part] for part in CLAIMED)
    ]
    model = after["success"].sel(policy="ML-POCBAm", time=first)
    fewer = f"SELECT/TOP at {at[0.88]:,}"
    claims.append((f"{first:,} duels", fewer, "ML-POCBAm", top.sel(time=at[0.88]), model, 0.05))
    judged(claims)
    figure.savefig(given.out, dpi=150)
    print(given.out)


if __name__ == "__main__":
    main()
