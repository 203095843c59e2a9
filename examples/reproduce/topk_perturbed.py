"""The 4 best of ten when the scores are not quite transitive: who wins, and by what index.

Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
Bandits", Figures 5 and 6: margins have mean gamma_i - gamma_j + eps_ij, eps ~ N(0, d^2). On
the left the success rates after 250 duels for each d; on the right both intransitivity
indices, with the threshold of 0.17 as printed, and what d and they are where ML-POCBAm and
POCBAm do equally well. The hybrid's threshold as printed and the calibrated one are both run,
and the orderings put to the test (``claims``). Eight minutes of one processor.

    python examples/reproduce/topk_perturbed.py --workers 2
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
    "hybrid": bd.policies.HybridPOCBAm(),
    "hybrid, calibrated": bd.policies.HybridPOCBAm(threshold="calibrated"),
    "uniform": bd.policies.Uniform(),
    "uniform, fitted model": bd.policies.Uniform(by="model"),
    "Laplace allocation": bd.policies.LaplaceAllocation(),
    "Laplace, residual learned": bd.policies.LaplaceAllocation(residual="learned"),
}

AT = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)  # where claims are made
BELOW = 0.03  # how far what adapts may fall below either of the two: "never far"


def claimed(d):
    """Return the claims at d: better, worse, and by how much the better may be below."""
    both = [("ML-POCBAm", "POCBAm", 0)] if d == 0 else []
    if d >= 0.2:
        both = [("POCBAm", "ML-POCBAm", 0)]
    for hybrid in ("hybrid", "hybrid, calibrated", "Laplace, residual learned"):
        both += [(hybrid, other, BELOW) for other in ("ML-POCBAm", "POCBAm")]
    return both


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=3000)
    parser.add_argument("--budget", type=int, default=250)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=seed_of("perturbed"))
    parser.add_argument("--out", default="topk_perturbed.png")
    given = parser.parse_args(arguments)
    steps = np.linspace(0, 0.5, 11)
    rates, indices, claims = [], [], []
    for d in steps:
        trace = bd.simulate(
            POLICIES,
            RandomProblem(n_arms=10, generator=score_duels, settings=(("d", float(d)),)),
            given.budget,
            k=4,
            replications=given.replications,
            seed=given.seed,
            record_at=[given.budget],
            index=True,
            workers=given.workers,
        )
        rates.append(bd.success_rate(trace).isel(time=-1))
        at = trace["trace"].dataset.isel(time=-1).sel(policy="POCBAm")
        indices.append([float(at[name].mean()) for name in ("predictive", "posterior")])
        said = "  ".join(f"{n} {float(rates[-1]['rate'].sel(policy=n)):.3f}" for n in POLICIES)
        right = rates[-1]["success"]
        if any(np.isclose(d, AT)):
            claims += [
                (
                    f"d = {d:.1f}, {given.budget} duels",
                    a,
                    b,
                    right.sel(policy=a),
                    right.sel(policy=b),
                    m,
                )
                for a, b, m in claimed(round(float(d), 2))
            ]
        print(f"d = {d:.2f}  index {indices[-1][0]:.3f} / {indices[-1][1]:.3f}  {said}")
    cross(steps, rates, indices)
    judged(claims)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for name in POLICIES:
        at = [r.sel(policy=name) for r in rates]
        line = left.plot(steps, [r["rate"] for r in at], label=name)[0]
        low, high = [r["low"] for r in at], [r["high"] for r in at]
        left.fill_between(steps, low, high, alpha=0.12, color=line.get_color(), linewidth=0)
    left.set_ylabel(f"sets that are right after {given.budget} duels")
    left.set_xlabel("d, standard deviation of the intransitive part")
    left.legend(frameon=False, fontsize=8)
    labels = ("predictive (not divided by n)", "posterior (divided by n)")
    for place, name in enumerate(labels):
        right.plot(steps, np.array(indices)[:, place], label=name)
    right.axhline(0.17, color="#767676", linewidth=1, linestyle=":", label="0.17, as printed")
    right.set_ylabel("mean intransitivity index under POCBAm")
    right.set_xlabel("d, standard deviation of the intransitive part")
    right.set_ylim(0, 1)
    right.legend(frameon=False, fontsize=8)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"4 of 10, {given.replications:,} replications", x=0.02, ha="left", fontsize=10)
    figure.savefig(given.out, dpi=150)
    print(given.out)


def cross(steps, rates, indices) -> None:
    """Print d and the indices where ML-POCBAm falls to POCBAm, between steps along a line."""
    lead = np.array([float(r["rate"].sel(policy="ML-POCBAm")) for r in rates])
    lead -= [float(r["rate"].sel(policy="POCBAm")) for r in rates]
    for k in range(len(lead) - 1):
        if lead[k] > 0 >= lead[k + 1]:
            part = lead[k] / (lead[k] - lead[k + 1])
            d, predictive, posterior = (
                a + part * (b - a)
                for a, b in zip(
                    (steps[k], *indices[k]), (steps[k + 1], *indices[k + 1]), strict=True
                )
            )
            print(f"equal at d = {d:.3f}: index {predictive:.3f} / {posterior:.3f}")


if __name__ == "__main__":
    main()
