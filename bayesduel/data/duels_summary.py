"""A log of duels in a table with a row per arm, and in a line."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.data.votes import ROLES, by_arm

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["table_of", "words_of"]


def table_of(duels: Any) -> "pd.DataFrame":
    """Return what :meth:`Duels.summary` does."""
    import pandas as pd

    pairs = duels.pairs()
    n_arms = duels.n_arms
    each = partial(by_arm, pairs.first, pairs.second, n_arms)
    won, lost, tied = duels.results_by_arm()
    n_duels = pairs.first_wins + pairs.second_wins + pairs.ties
    met = (n_duels > 0).astype(float)
    opponents = each(met, met).astype(int)
    total = won + lost + tied
    points = won + tied / 2
    with np.errstate(invalid="ignore"):
        share = points / total
    frame = pd.DataFrame(
        {
            "duels": total.astype(int),
            "wins": won.astype(int),
            "losses": lost.astype(int),
            "ties": tied.astype(int),
            "opponents": opponents,
            "win_share": share,
        },
        index=pd.Index(duels.arms, name="arm"),
    )
    return frame.sort_values(["win_share", "duels"], ascending=False, kind="stable")


def words_of(duels: Any) -> str:
    """Return the line that a log prints: what it counts, what it has, where it comes from."""
    parts = [f"{duels.n_duels:,} duels", f"{duels.n_arms:,} arms"]
    if duels.teams is not None:
        sizes = duels.teams.sizes
        least = sizes.min()
        most = sizes.max()
        several = f"{least}" if least == most else f"{least} to {most}"
        parts.append(f"sides of {several} arms")
    if duels.n_ties:
        half = " (half a win each)" if duels.tie_rule == "half" else ""
        parts.append(f"{duels.n_ties:,} ties{half}")
    parts += _of_votes(duels)
    content = ", ".join(parts)
    return f"<Duels: {content}; from {duels.read_summary.source}>"


def _of_votes(duels: Any) -> list[str]:
    """Return what the log knows of each vote, in words; nothing of a log of counts."""
    votes = duels.votes
    if votes is None:
        return []
    here = votes.columns
    parts = []
    for role, names in ROLES.items():
        if role in here:
            labels = getattr(votes, names)
            parts.append(f"{len(labels):,} {names}")
    parts += [name for name in ("margin", "grade", "time") if name in here]
    parts += votes.covariate_names
    if votes.share is not None:
        n_soft = np.isfinite(votes.share).sum()
        parts.append(f"{n_soft:,} soft votes")
    if "sampling_weight" in here:
        parts.append("sampling weights")
    for by, (_, levels) in votes.kept.items():
        parts.append(f"{len(levels):,} of {by}")
    return parts
