"""Report section: scores with intervals on the scale of the model; the leaderboard has ratings."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.reporting.ranking import order_words
from bayesduel.reporting.section import Section, Table, blocks
from bayesduel.system.memory import TABLE_ARMS
from bayesduel.text import digits_of, first_rows

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["scores_section"]

LISTED = 1000  # arms on the page, of very many: the files have all
WAYS = {
    "logits": "The rating is the score in points of Elo: 400 points are odds of 10 to 1 of a win "
    "against a loss.",
    "probits": "The rating is the score in points of Elo's normal curve: the standard deviation "
    "of a difference in performance is 283 points.",
}


def scores_section(table: "pd.DataFrame | None") -> Section | None:
    """Return the section on what :func:`bayesduel.scores` returned; None without scores."""
    if table is None:
        return None
    level = f"{100 * table.attrs['ci_prob']:g} %"
    rows = []
    n_arms = len(table)
    shown = LISTED if n_arms > TABLE_ARMS else n_arms
    width = (table["score_upper"] - table["score_lower"]).to_numpy()
    digits = digits_of(float(np.median(width[width > 0]))) if (width > 0).any() else 0
    more = first_rows(shown, n_arms, " arms")
    for place, (arm, row) in enumerate(table.head(shown).iterrows(), 1):
        middle, low, high = (f"{row[f'score_{k}']:z.{digits}f}" for k in ("mean", "lower", "upper"))
        rows.append((f"{place}", str(arm), middle, f"{low} to {high}"))
    return Section(
        id="scores",
        title="Scores",
        body=blocks(
            table.attrs["sentence"],
            WAYS.get(table.attrs["unit"]),
            Table(
                columns="nlnn",
                heads=("rank", "arm", "score", f"{level} interval"),
                rows=tuple(rows),
                full=True,
                caption=f"{order_words(table['score_mean'].to_numpy())}{more}".strip(),
                search="arm" if shown < n_arms else "",
                data={"arm": list(table.index), **{c: table[c].to_numpy() for c in table}},
            ),
        ),
    )
