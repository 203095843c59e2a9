"""Teams: the sides of a log whose duels are between several arms each.

A side of a duel is one arm or several: a pair of doubles, a team, a system made of parts. The cells
and the votes of such a log name sides; the arms of the log are their members. Order within a side
is of no account. A member on both sides of a duel (systems that share a part) cancels there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bayesduel.data.votes import Cells, distinct
from bayesduel.system.arguments import labels_of, listed

__all__ = [
    "SEPARATOR",
    "Teams",
    "has_teams",
    "one_numbering",
    "sides_as_tuples",
    "split_sides",
]

SEPARATOR = " + "  # between the members in the label of a side


@dataclass(frozen=True, eq=False)
class Teams:
    """The members of each side of a log.

    Attributes
    ----------
    members
        Indices of the arms of each side, increasing, then -1 to the length of the largest side;
        int32, shape (n_sides, largest).

    Examples
    --------
    >>> duels = bd.Duels.from_votes([("d", "e"), ("e", "d")], [("a", "b")] * 2, [1, 0])
    >>> duels.teams.labels(duels.arms)
    ('a + b', 'd + e')
    """

    members: np.ndarray

    def __post_init__(self) -> None:
        self.members.setflags(write=False)

    def __len__(self) -> int:
        return len(self.members)

    @classmethod
    def of(cls, sides: Iterable[Sequence[int]]) -> "Teams":
        """Return sides of these arms, one a sequence of indices."""
        each = [sorted(side) for side in sides]
        largest = max(map(len, each))
        members = np.full((len(each), largest), -1, dtype=np.int32)
        for row, side in zip(members, each, strict=True):
            row[: len(side)] = side
        return cls(members)

    @property
    def sizes(self) -> np.ndarray:
        """Number of members of each side, (n_sides,)."""
        present = self.members >= 0
        return np.asarray(present.sum(axis=1))

    def shares(self, *, mean: bool = False) -> np.ndarray:
        """Return how much each member counts, (n_sides, largest): 1, or 1 over the size."""
        here = (self.members >= 0).astype(float)
        if not mean:
            return here
        return here / self.sizes[:, None]

    def matrix(self, n_arms: int) -> np.ndarray:
        """Return which arms each side has, 1 or 0, (n_sides, n_arms)."""
        side, seat = np.nonzero(self.members >= 0)
        arm = self.members[side, seat]
        found = np.zeros((len(self), n_arms))
        found[side, arm] = 1.0
        return found

    def tuples(self, arms: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the labels of the members of each side."""
        found = []
        for side in self.members.tolist():
            members = [arms[arm] for arm in side if arm >= 0]
            found.append(tuple(members))
        return found

    def labels(self, arms: Sequence[str]) -> tuple[str, ...]:
        """Return a label for each side, such as "d + e"."""
        return tuple(SEPARATOR.join(side) for side in self.tuples(arms))

    def apart(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Return the members of left and of right of each cell that are on one side alone.

        int32, -1 where there is none, shape (n_cells, largest) each.
        """
        left = self.members[cells.left]
        right = self.members[cells.right]
        shared = left[:, :, None] == right[:, None, :]
        left_alone = np.where(shared.any(axis=2), -1, left)
        right_alone = np.where(shared.any(axis=1), -1, right)
        return left_alone, right_alone

    def opponents(self, cells: Cells) -> Cells:
        """Return counts of the arms on opposite sides: a duel counts for each pair of these."""
        lefts, rights = self.apart(cells)
        of_left = lefts >= 0
        of_right = rights >= 0
        opponents = of_left[:, :, None] & of_right[:, None, :]
        cell, seat, opposite = np.nonzero(opponents)
        left = lefts[cell, seat]
        right = rights[cell, opposite]
        row, place = distinct(left, right)
        counts = []
        for count in (cells.left_wins, cells.right_wins, cells.ties):
            summed = np.bincount(place, count[cell], len(row))
            counts.append(summed.astype(np.int64))
        return Cells(left[row], right[row], *counts)

    def by_arm(
        self, cells: Cells, n_arms: int, of_left: np.ndarray, of_right: np.ndarray
    ) -> np.ndarray:
        """Return the sum over cells of numbers for the members of left and of right, (n_arms,)."""
        lefts, rights = self.apart(cells)
        found = np.zeros(n_arms)
        for members, numbers in ((lefts, of_left), (rights, of_right)):
            cell, seat = np.nonzero(members >= 0)
            arm = members[cell, seat]
            np.add.at(found, arm, numbers[cell])
        return found

    def within(self, arms: np.ndarray) -> np.ndarray:
        """Return which sides consist of these arms alone, (n_sides,); `arms` is a mask."""
        inside = np.append(arms, True)  # the last place serves -1
        return np.asarray(inside[self.members].all(axis=1))

    def take(self, sides: np.ndarray, place: np.ndarray) -> "Teams":
        """Return these sides, whose arms have a new `place` each."""
        taken = self.members[sides]
        places = np.append(place, -1).astype(np.int32)
        sizes = (taken >= 0).sum(axis=1)
        largest = int(sizes.max(initial=1))
        members = places[taken]
        return Teams(members[:, :largest])

    def differences(self, cells: Cells, n_arms: int) -> np.ndarray:
        """Return the members of left less those of right of each pair of sides, (pairs, n_arms)."""
        unordered = np.sort([cells.left, cells.right], axis=0)
        first, second = np.unique(unordered, axis=1)
        inside = self.matrix(n_arms)
        return np.asarray(inside[first] - inside[second])

    def together(self, cells: Cells, n_arms: int) -> list[list[int]]:
        """Return the groups of arms that are in the same sides only, of two or more.

        Of these no duel says which one is better.
        """
        met = np.union1d(cells.left, cells.right)
        sides_of_arm = self.matrix(n_arms)[met].T
        _, group = np.unique(sides_of_arm, axis=0, return_inverse=True)
        group = group.ravel()
        found = []
        for k in range(group.max() + 1):
            arms = np.flatnonzero(group == k)
            first = arms[0]
            has_met = sides_of_arm[first].any()
            if len(arms) > 1 and has_met:
                found.append(arms.tolist())
        return found

    def comparable(self, cells: Cells, n_arms: int) -> np.ndarray:
        """Return a number for each arm, equal of arms that the duels compare, (n_arms,).

        They compare two arms if the difference of their scores is a combination of differences of
        sides that met. Partners who are never apart are not compared; where each side is a model
        and a prompt, models are compared among themselves, and prompts.
        """
        design = self.differences(cells, n_arms)
        values, vectors = np.linalg.eigh(design.T @ design)
        largest = max(float(values[-1]), 1.0)
        none = values <= 1e-10 * largest  # rounding, of a matrix of small whole numbers
        unseen = vectors[:, none]
        # Scores may move in these directions unseen; of two that are compared all moves are equal.
        moves = unseen @ (unseen.T @ _unlike(n_arms))
        # 6 digits, to which moves of scores of order 1, exact to about 1e-12, are told apart
        rounded = np.round(moves, 6)
        _, number = np.unique(rounded, return_inverse=True)
        return number.ravel()


def split_sides(labels: Iterable[str], separator: str) -> list[tuple[str, ...]]:
    """Return the members of sides written in one text, "d, e" with the separator ","; sorted."""
    sides = []
    for label in labels:
        parts = [part.strip() for part in label.split(separator)]
        members = sorted(part for part in parts if part)
        sides.append(tuple(members))
    return sides


def _unlike(n: int) -> np.ndarray:
    """Return numbers of which no combination with small whole coefficients is 0, (n,)."""
    return np.random.default_rng(0).standard_normal(n)


def has_teams(column: Iterable[object]) -> bool:
    """Return whether an entry of a column of sides is a tuple or a list of arms."""
    return any(isinstance(entry, tuple | list | np.ndarray) for entry in column)


def sides_as_tuples(column: Iterable[object], name: str) -> list[tuple[str, ...]]:
    """Return the labels of each side of a column.

    Raises ValueError if a side is empty, lacks a label or has a member twice.
    """
    found = []
    for row, entry in enumerate(listed(column, name)):
        if not isinstance(entry, tuple | list | np.ndarray):
            entry = [entry]
        members = labels_of(entry, name)
        labels = [label for label in members if label is not None]
        if not labels or len(labels) < len(members):
            what = "an empty side" if not members else f"None in {members}"
            raise ValueError(
                f"{name} should name an arm or several in every row, got {what} at row {row}"
            )
        repeated = [label for label in labels if labels.count(label) > 1]
        if repeated:
            twice = repeated[0]
            raise ValueError(
                f"{name} should name each member of a side once, got {twice!r} twice at row {row}"
            )
        found.append(tuple(sorted(labels)))
    return found


def one_numbering(
    teams: Sequence[Teams | None], places: Sequence[np.ndarray]
) -> tuple[Teams | None, list[np.ndarray]]:
    """Return the sides of several logs as those of one, and where each side of each log is then.

    teams: of each log, None where each side is one arm.
    places: the place of each arm of each log among the arms of all.
    """
    if not any(teams):
        return None, list(places)
    each: list[list[tuple[int, ...]]] = []
    for own, place in zip(teams, places, strict=True):
        arms = place.tolist()
        if own is None:
            each.append([(arm,) for arm in arms])
            continue
        sides = []
        for members in own.members.tolist():
            of_side = sorted(arms[k] for k in members if k >= 0)
            sides.append(tuple(of_side))
        each.append(sides)
    every_side = {side for sides in each for side in sides}
    known = sorted(every_side)
    index = {side: k for k, side in enumerate(known)}
    numbers = []
    for sides in each:
        number = [index[side] for side in sides]
        numbers.append(np.array(number, dtype=np.int32))
    return Teams.of(known), numbers
