"""What makes a contest won: 35 male chameleons and seven measurements (Stuart-Fox et al. 2006).

Run: python examples/attributes_real_log.py [FOLDER]   (picture and page go to FOLDER)
"""

import sys
from pathlib import Path

import pandas as pd

import bayesduel as bd
from bayesduel.models import BradleyTerry, Covariates


def main(folder: Path) -> None:
    duels = bd.datasets.load("chameleons")  # a file of yours: bd.read_duels("votes.csv")
    items = bd.datasets.items("chameleons")  # bd.read_items("items.csv")

    fit = bd.fit(duels, BradleyTerry(Covariates(items)))
    table = bd.coefficients(fit)
    print(table[["coefficient", "lower", "upper", "odds_ratio", "positive"]].round(3).to_string())

    # A male that never fought, twice: as he is, and with a casque two units higher.
    average = {a.column: a.mean for a in items.attributes}
    rows = {"item": ["average", "higher casque"]} | {k: [v, v] for k, v in average.items()}
    rows["ch.res"] = [average["ch.res"], average["ch.res"] + 2]
    print(bd.predict_items(fit, bd.read_items(pd.DataFrame(rows), like=items)).round(2))

    ax = bd.plot_coefficients(fit)
    ax.figure.savefig(folder / "coefficients.png", dpi=144)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
