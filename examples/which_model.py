"""Which model may I believe? Leave-one-out comparison, judges and drifting strengths.

Eight subjects chose among five gambles, whose majorities run in cycles (Tversky 1969): models
with a score a gamble against models that may be cyclic, with and without a sensitivity for each
subject; then a season of ice hockey, in which strengths may change.

Run: python examples/which_model.py [FOLDER]    (two minutes; figures in FOLDER)
"""

import sys
from pathlib import Path

import bayesduel as bd
from bayesduel.models import (
    BladeChest,
    BradleyTerry,
    JudgeReliability,
    PreferenceMatrix,
    TimeVarying,
)


def main(folder: Path, draws: int = 4000) -> None:
    choices = bd.datasets.load("tversky1969")
    models = [
        BradleyTerry(),
        PreferenceMatrix(),
        BradleyTerry() + BladeChest(),
        BradleyTerry() + BladeChest() + JudgeReliability(),
    ]
    found = bd.compare_models(choices, models, unit="duel", draws=draws)
    print(found)
    save(bd.plots.plot_comparison(found), folder / "comparison.png")
    judges = found.fits["bradley-terry + cycles + reliability"]
    save(bd.plots.plot_judges(judges), folder / "judges.png")
    print(f"\nStacked: {bd.winners(found.stacked()).attrs['verdict']}")

    drifting = BradleyTerry() + TimeVarying(periods=8)
    season = bd.fit(bd.datasets.load("icehockey"), drifting, draws=draws)
    save(bd.plots.plot_ratings(season), folder / "ratings.png")
    drift = season["posterior"]["drift"]
    low, high = drift.quantile([0.025, 0.975]).to_numpy()
    print(
        f"\nIce hockey: a rating moves by {float(drift.mean()):.2f} logits from one eighth of "
        f"the season to the next (95 % interval {low:.2f} to {high:.2f})"
    )


def save(ax, path: Path) -> None:
    ax.figure.savefig(path, dpi=150)


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    target.mkdir(parents=True, exist_ok=True)
    main(target)
