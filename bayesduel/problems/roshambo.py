"""Score duels between OpenSpiel's roshambo bots; the true means are a table of long-run means.

A duel is a short match of rock-paper-scissors between two entrants of the First
International RoShamBo Programming Competition; its margin is throws won less throws lost.
Some bots exploit others and are exploited in turn: cycles and spreads are real.

The bots use the C library's ``random``; each match seeds it with a number of its own, so that the
nth match of a pair has the same margin under every policy, as in every other problem here. Bots
are always built for the competition's 1,000 throws and stopped before: built for fewer,
OpenSpiel 2.0.2 writes beyond its arrays.

Needs the optional package ``open-spiel`` (``pip install 'bayesduel[roshambo]'``).

References
----------
Billings, "The First International RoShamBo Programming Competition", ICGA Journal 2000;
Lanctot et al., "OpenSpiel", arXiv 1908.09453; Lanctot et al., "Population-based evaluation in
repeated rock-paper-scissors as a benchmark for multiagent reinforcement learning", TMLR 2023.
"""

import csv
import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bayesduel.problems.margins import ScoreDuels, lot
from bayesduel.system.arguments import check_range, real, shown_value
from bayesduel.system.atomic_write import write_text
from bayesduel.system.extras import load_extra, missing_extra
from bayesduel.text import csv_text

__all__ = ["RoshamboDuels", "RoshamboTable", "roshambo_bots", "roshambo_match", "roshambo_table"]

COLUMNS = ("first", "second", "throws", "matches", "mean", "sd")
FULL_MATCH = 1000  # throws: what the bots are built for


def roshambo_bots() -> tuple[str, ...]:
    """Return the names of OpenSpiel's roshambo bots.

    Examples
    --------
    >>> len(bd.problems.roshambo_bots())
    43
    """
    return tuple(_open_spiel().roshambo_bot_names())


def roshambo_match(first: str, second: str, *, throws: int = 50, seed: int = 0) -> float:
    """Play one match of two bots; return throws won by `first` less those lost.

    Parameters
    ----------
    first, second
        Names of :func:`roshambo_bots`.
    throws
        Of the match, at most 1000.
    seed
        Whole number in 0..2**32 - 1; the same seed gives the same match.

    Returns
    -------
    The margin.

    Raises
    ------
    ValueError
        If an argument breaks its rule.

    Examples
    --------
    >>> bd.problems.roshambo_match("rockbot", "copybot", throws=10)
    -10.0
    """
    known = roshambo_bots()
    for bot in (first, second):
        if bot not in known:
            raise ValueError(f"bots should be among {known}, got {shown_value(bot)}")
    _check_throws(throws)
    real(seed, "seed")
    if not 0 <= seed < 2**32:
        raise ValueError(f"seed should be from 0 to 2**32 - 1, got {seed}")
    return _margins(first, second, throws, [seed])[0]


@dataclass(frozen=True, eq=False)
class RoshamboTable:
    """Mean and spread of the margins of every pair of bots, over many matches.

    Parameters
    ----------
    bots
        K names.
    throws
        Of a match.
    matches
        Of every pair.
    mean, sd
        Of a match's margin, first over second, shape (K, K).

    Examples
    --------
    >>> table = bd.problems.RoshamboTable(("r", "s"), 50, 10, np.zeros((2, 2)), np.ones((2, 2)))
    >>> table.bots
    ('r', 's')
    """

    bots: tuple[str, ...]
    throws: int
    matches: int
    mean: np.ndarray
    sd: np.ndarray

    def save(self, path: str | Path) -> None:
        """Write the table as CSV, one row per pair."""
        pairs = combinations(range(len(self.bots)), 2)
        rows = (
            (self.bots[i], self.bots[j], self.throws, self.matches, self.mean[i, j], self.sd[i, j])
            for i, j in pairs
        )
        write_text(path, csv_text(COLUMNS, rows, raw=True))

    @staticmethod
    def load(path: str | Path) -> "RoshamboTable":
        """Read a table that :meth:`save` wrote.

        Raises ValueError if the columns are others, a pair is missing, or its matches are of
        another length.
        """
        with Path(path).open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) != COLUMNS:
                raise ValueError(f"{path} should have the columns {COLUMNS}")
            rows = list(reader)
        first = [row["first"] for row in rows]
        second = [row["second"] for row in rows]
        bots = tuple(dict.fromkeys(first + second))
        place = {bot: k for k, bot in enumerate(bots)}
        kinds = {(int(row["throws"]), int(row["matches"])) for row in rows}
        pairs = set(zip(first, second, strict=True))
        n_pairs = len(bots) * (len(bots) - 1) // 2
        whole = len(rows) == len(pairs) == n_pairs
        if len(kinds) != 1 or not whole:
            raise ValueError(
                f"{path} should have each pair once, with the same throws and matches for all"
            )
        mean, sd = np.zeros((2, len(bots), len(bots)))
        for row in rows:
            i = place[row["first"]]
            j = place[row["second"]]
            mean[i, j] = float(row["mean"])
            mean[j, i] = -float(row["mean"])
            sd[i, j] = float(row["sd"])
            sd[j, i] = float(row["sd"])
        return RoshamboTable(bots, *kinds.pop(), mean, sd)


def roshambo_table(
    bots: Sequence[str] | None = None,
    *,
    throws: int = 50,
    matches: int = 1000,
    seed: int = 0,
    workers: int = 1,
) -> RoshamboTable:
    """Estimate the table by playing every pair of bots: about 0.1 ms per match of 50 throws.

    Parameters
    ----------
    bots
        At least two names of :func:`roshambo_bots`. Default: all 43.
    throws
        Of a match, at most 1000.
    matches
        Of every pair, at least 2.
    seed
        Whole number >= 0.
    workers
        Processes.

    Returns
    -------
    The table.

    Raises
    ------
    ValueError
        If an argument breaks its rule.

    Examples
    --------
    >>> bd.problems.roshambo_table(["rockbot", "copybot"], throws=10, matches=5).mean.shape
    (2, 2)
    """
    from joblib import Parallel, delayed

    known = roshambo_bots()
    bots = known if bots is None else tuple(bots)
    unknown = sorted(set(bots) - set(known))
    distinct = len(set(bots)) == len(bots)
    if unknown or not distinct or len(bots) < 2:
        raise ValueError(f"bots should be two or more distinct names of {known}, got {bots}")
    _check_throws(throws)
    check_range(matches, "matches", "at least 2")
    pairs = list(combinations(range(len(bots)), 2))
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 2**32, (len(pairs), matches))
    played = Parallel(n_jobs=workers)(
        delayed(_margins)(bots[i], bots[j], throws, seeds.tolist())
        for (i, j), seeds in zip(pairs, keys, strict=True)
    )
    mean, sd = np.zeros((2, len(bots), len(bots)))
    for (i, j), margins in zip(pairs, played, strict=True):
        mean[i, j] = np.mean(margins)
        mean[j, i] = -mean[i, j]
        sd[i, j] = np.std(margins, ddof=1)
        sd[j, i] = sd[i, j]
    return RoshamboTable(bots, int(throws), int(matches), mean, sd)


class RoshamboDuels(ScoreDuels):
    """Matches between some bots of a table, whose means are the true means.

    Parameters
    ----------
    table
        Long-run means, of matches of the length to be played.
    bots
        At least two of its names. Default: all.

    Raises
    ------
    ValueError
        If a bot is not in the table.

    Examples
    --------
    >>> table = bd.problems.RoshamboTable(("r", "s"), 50, 10, np.zeros((2, 2)), np.ones((2, 2)))
    >>> bd.problems.RoshamboDuels(table).n_arms
    2
    """

    throws: int
    live: ClassVar[bool] = True

    def __init__(self, table: RoshamboTable, bots: Sequence[str] | None = None) -> None:
        bots = table.bots if bots is None else tuple(bots)
        unknown = sorted(set(bots) - set(table.bots))
        if unknown:
            raise ValueError(f"bots should be among {table.bots}, got {unknown}")
        places = [table.bots.index(bot) for bot in bots]
        at = np.ix_(places, places)
        source = f"OpenSpiel's roshambo bots, matches of {table.throws} throws"
        super().__init__(table.mean[at], table.sd[at], "roshambo", bots, source)
        object.__setattr__(self, "throws", table.throws)

    def play(self, i: int, j: int, nth: int, key: Any) -> float:
        """Play the nth match of bots i and j, from 0; return i's margin.

        `key` is the replication's, uint64.
        """
        a = min(i, j)
        b = max(i, j)
        seed = int(lot(a, b, self.n_arms, nth, key)) >> 32
        (margin,) = _margins(self.arms[a], self.arms[b], self.throws, [seed])
        return margin if i == a else -margin


def _check_throws(throws: int) -> None:
    real(throws, "throws")
    if not 1 <= throws <= FULL_MATCH:
        raise ValueError(f"throws should be from 1 to {FULL_MATCH}, got {throws}")


def _margins(first: str, second: str, throws: int, seeds: Sequence[int]) -> list[float]:
    """Return the margins of matches with these seeds, unsigned 32-bit each."""
    spiel = _open_spiel()
    seeded = ctypes.CDLL(None).srandom
    game = _game(throws)
    margins = []
    for seed in seeds:
        seeded(ctypes.c_uint(seed))
        bots = [
            spiel.make_roshambo_bot(0, first, FULL_MATCH),
            spiel.make_roshambo_bot(1, second, FULL_MATCH),
        ]
        results = spiel.evaluate_bots(game.new_initial_state(), bots, 0)
        margins.append(float(results[0]))
    return margins


@cache
def _game(throws: int) -> Any:
    return _open_spiel().load_game(
        f"repeated_game(stage_game=matrix_rps(),num_repetitions={throws})"
    )


def _open_spiel() -> Any:
    """Return the module ``pyspiel``."""
    pyspiel = load_extra("pyspiel", "roshambo")
    if not hasattr(pyspiel, "roshambo_bot_names"):
        raise missing_extra("pyspiel with its bots", "roshambo")
    return pyspiel
