"""From a log to a ranking: nine gels tasted in pairs (Springall 1973).

Run: python examples/rank_a_log.py [FOLDER]   (report and pictures go to FOLDER, default here)
"""

import sys
from pathlib import Path

import bayesduel as bd


def main(folder: Path) -> None:
    duels = bd.datasets.load("springall")  # a file of yours: bd.read_duels("votes.csv")
    print(bd.health(duels))

    fit = bd.fit(duels)
    winners = bd.winners(fit)
    print(winners)

    best, second = winners["arm"].values[winners["order"].values[:2]]
    print(f"\nIf {best} meets {second}:")
    print(bd.predict(fit, best, second).to_pandas().round(3).to_string())

    print("\nWhat to ask next:")
    print(bd.next_pairs(fit, 3)[["first", "second", "bits"]].to_string(index=False))

    for name in ("ranking", "ranks", "preference", "winners"):
        ax = getattr(bd.plots, f"plot_{name}")(winners)
        ax.figure.savefig(folder / f"{name}.png", dpi=144)
    bd.report(fit, folder / "report.html", duels=duels)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
