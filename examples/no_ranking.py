"""A log that no ranking explains: choices among five gambles (Tversky 1969).

Each subject met each pair twenty times. Majorities run in cycles: d over e, c over d, b over
c, a over b, and yet e over a. A model with scores cannot say so; a preference matrix can.
Pictures of the cycles of s6 are written beside.

Run: python examples/no_ranking.py
"""

from pathlib import Path

import bayesduel as bd


def main(folder: Path = Path(".")) -> None:
    logs = bd.datasets.load("tversky1969", by="annotator")
    for subject, duels in logs.items():
        check = bd.check(duels, quick=True)
        print(
            f"{subject}: {check.evidence.cyclic:.0f} of {check.evidence.decided:.0f} triads "
            f"cyclic, {check.evidence.expected:.1f} expected of a ranking "
            f"(p = {check.p_value:.3f}); Pr(one ranking) = {check.p_one_ranking:.2f}, "
            f"Pr(some gamble beats all others) = {check.p_condorcet_winner:.2f}"
        )
        if subject == "s6":
            for plot in (bd.plots.plot_cyclicity, bd.plots.plot_cycles, bd.plots.plot_residuals):
                figure = plot(check).figure
                figure.savefig(folder / f"{plot.__name__.removeprefix('plot_')}.png", dpi=150)
    first = bd.winners(bd.fit(logs["s1"], "preference-matrix"))
    print(f"\nSubject s1: {first.attrs['verdict']}")


if __name__ == "__main__":
    main()
