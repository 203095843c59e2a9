"""The named problems of the dueling-bandit literature."""

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import numpy as np

from bayesduel.problems.contexts import ContextualDuels
from bayesduel.problems.matrix import Matrix
from bayesduel.problems.random_items import LogisticDuels, LogisticItems, UnitSphere
from bayesduel.system.arguments import check_range, check_type, did_you_mean, real, shown_value

__all__ = ["NAMES", "named"]

YUE = "six retrieval functions of arXiv, Yue & Joachims, ICML 2011; (4, 6) is an exact tie"
MSLR = "rankers (single features) of MSLR-WEB30K, informational clicks"
WU = "Wu & Liu, NeurIPS 2016, authors' files"
KOMIYAMA = "Komiyama et al., COLT 2015, authors' files"
RAMAMOHAN = "Ramamohan, Rajkumar & Agarwal, NeurIPS 2016, as in Haddenhorst et al. 2021"

STORED = {
    "arxiv-6": YUE,
    "mslr-5": f"{MSLR}: features 1, 3, 2, 0, 4; {WU}",
    "mslr-5-c3": f"{MSLR}: features 6, 91, 92, 132, 102; three Copeland winners in a cycle",
    "mslr-5-c1": f"{MSLR}: features 6, 67, 91, 103, 53; one Copeland winner with one loss",
    "cyclic-4": KOMIYAMA,
    "sushi-16": f"the 16 sushi most often compared, Kamishima 2003; {KOMIYAMA}",
    "tennis-8": f"{RAMAMOHAN}, their harder version; one entry is 0 or 1",
    "mslr-32": f"{MSLR}: features 3, 7, ..., 127; {WU}, four decimals",
}


def named(name: str, **settings: Any) -> Any:
    """Return a problem of the literature by its kebab-case name.

    Parameters
    ----------
    name
        One of ``NAMES``.
    settings
        Of the families by formula: ``cdb-500`` takes `gap`; ``bvsc`` takes `n_arms`, `e`;
        ``swirl`` takes `n_arms`, `a`; ``arithmetic-8`` none; ``linear`` takes `n_arms`;
        ``flat`` takes `n_arms`, `e`; ``logistic-items``, ``logistic-duels``, ``unit-sphere`` and
        ``contextual-duels`` those of :class:`LogisticItems`, `LogisticDuels`, `UnitSphere` and
        `ContextualDuels`.

    Raises
    ------
    ValueError
        If there is no such problem, or a setting is out of its range.
    TypeError
        If a setting is not one of this problem's.

    Examples
    --------
    >>> bd.problems.named("cyclic-4").P
    array([[0.5, 0.6, 0.6, 0.6],
           [0.4, 0.5, 0.9, 0.1],
           [0.4, 0.1, 0.5, 0.9],
           [0.4, 0.9, 0.1, 0.5]])
    """
    check_type(name, str, "name", "the name of a problem")
    if name in STORED and not settings:
        table = files("bayesduel.problems") / "matrices" / f"{name}.csv"
        rows = table.read_text().split()
        P = np.array([row.split(",") for row in rows], dtype=float)
        return Matrix(P, name, source=STORED[name])
    if name in FORMULAS:
        return FORMULAS[name](**settings)
    if name in STORED:
        raise TypeError(f"{name} takes no settings, got {sorted(settings)}")
    hint = did_you_mean(name, NAMES)
    raise ValueError(f"name should be one of {', '.join(NAMES)}, got {shown_value(name)}{hint}")


def arithmetic() -> Matrix:
    """Return ``P[i, j] = 0.5 + 0.05 (j - i)``, 8 arms."""
    rank = np.arange(8)
    P = 0.5 + 0.05 * (rank - rank[:, None])
    return Matrix(P, "arithmetic-8", source=KOMIYAMA)


def hudry() -> Matrix:
    """Return Hudry's 13-arm tournament; its Copeland winner is outside the Banks set.

    Arm 1 beats 5 to 13 with 0.6 and loses to 2, 3, 4 with 0.1; all else is 0.9 or 0.1.
    """
    beaten = {
        2: (3, 8, 9, 10, 11, 12, 13),
        3: (4, 5, 6, 7, 11, 12, 13),
        4: (2, 5, 6, 7, 8, 9, 10),
        5: (2, 6, 7, 8, 9, 10),
        6: (2, 7, 8, 9, 10),
        7: (2, 8, 9, 10),
        8: (3, 9, 10, 11, 12, 13),
        9: (3, 10, 11, 12, 13),
        10: (3, 11, 12, 13),
        11: (4, 5, 6, 7, 12, 13),
        12: (4, 5, 6, 7, 13),
        13: (4, 5, 6, 7),
    }
    wins = np.zeros((13, 13), dtype=bool)
    for i, losers in beaten.items():
        wins[i - 1, np.array(losers) - 1] = True
    P = np.where(wins, 0.9, 0.1)
    P[0, 1:4] = 0.1
    P[1:4, 0] = 0.9
    P[0, 4:] = 0.6
    P[4:, 0] = 0.4
    np.fill_diagonal(P, 0.5)
    return Matrix(P, "hudry-13", source=f"Hudry, Math. Soc. Sci. 2009; {RAMAMOHAN}")


def cdb(gap: float = 0.3) -> Matrix:
    """Return 500 arms: 1 > 2 > 3 > 1, each beating all others, the others in order.

    The published example gives no probabilities: all are 1/2 plus or minus `gap`.
    """
    check_range(gap, "gap", "in (0, 0.5]")
    P = np.full((500, 500), 0.5 + gap)
    P[np.tril_indices(500, -1)] = 0.5 - gap
    P[0, 2] = 0.5 - gap
    P[2, 0] = 0.5 + gap
    np.fill_diagonal(P, 0.5)
    source = "structure of Zoghi et al., NIPS 2015, section 6; probabilities ours"
    return Matrix(P, f"cdb-500 (gap {gap:g})", source=source)


def borda_versus_condorcet(n_arms: int = 5, e: float = 0.01) -> Matrix:
    """Return a Condorcet winner (arm 1, by `e`) that is not the Borda winner (arm 2).

    Arm 1 beats all with 1/2 + e; of the others, the one with the smaller number always wins.
    """
    check_range(n_arms, "n_arms", "at least 3")
    check_range(e, "e", "in (0, 0.5]")
    P = np.triu(np.ones((n_arms, n_arms)), 1)
    P[0, 1:] = 0.5 + e
    P[1:, 0] = 0.5 - e
    np.fill_diagonal(P, 0.5)
    return Matrix(P, "bvsc", source=RAMAMOHAN)


def swirl(n_arms: int = 20, a: float = 0.6) -> Matrix:
    """Return a Condorcet winner by 0.1 a before a regular cycle of certain wins.

    Each of the other K - 1 (odd) arms beats the next (K - 2) / 2 in the circle.
    """
    real(n_arms, "n_arms")
    if not (n_arms >= 4 and n_arms % 2 == 0):
        raise ValueError(f"n_arms should be even and at least 4, got {n_arms}")
    check_range(a, "a", "in (0, 5]")
    place = np.arange(n_arms - 1)
    ahead = (place - place[:, None]) % (n_arms - 1)
    P = np.empty((n_arms, n_arms))
    n_beaten = (n_arms - 2) // 2
    P[1:, 1:] = (ahead >= 1) & (ahead <= n_beaten)
    P[0, 1:] = 0.5 + 0.1 * a
    P[1:, 0] = 0.5 - 0.1 * a
    np.fill_diagonal(P, 0.5)
    return Matrix(P, "swirl", source=RAMAMOHAN)


def linear(n_arms: int = 10) -> Matrix:
    """Return ``P[i, j] = 1/2 + (j - i) / (2 K)``."""
    check_range(n_arms, "n_arms", "at least 2")
    rank = np.arange(n_arms)
    ahead = rank - rank[:, None]
    P = 0.5 + ahead / (2 * n_arms)
    return Matrix(P, "linear", source="in the style of Urvoy et al., ICML 2013")


def flat(n_arms: int = 10, e: float = 0.1) -> Matrix:
    """Return ``P[i, j] = 1/2 + e`` for i < j."""
    check_range(n_arms, "n_arms", "at least 2")
    check_range(e, "e", "in (0, 0.5]")
    rank = np.arange(n_arms)
    better = np.sign(rank - rank[:, None])
    P = 0.5 + e * better
    return Matrix(P, "flat", source="in the style of Urvoy et al., ICML 2013")


FORMULAS: dict[str, Callable[..., Any]] = {
    "arithmetic-8": arithmetic,
    "hudry-13": hudry,
    "cdb-500": cdb,
    "bvsc": borda_versus_condorcet,
    "swirl": swirl,
    "linear": linear,
    "flat": flat,
    "logistic-duels": LogisticDuels,
    "contextual-duels": ContextualDuels,
    "logistic-items": LogisticItems,
    "unit-sphere": UnitSphere,
}
NAMES = tuple(sorted({*STORED, *FORMULAS}))
