"""Games of chess in portable game notation (``.pgn``) as a source of rows: a game, its tags.

References
----------
"Portable Game Notation Specification and Implementation Guide", 1994, sections 4.1 and 8.1: text in
ISO 8859-1 (today mostly UTF-8), and before the moves of a game a line for each tag, such as
``[White "Carlsen, Magnus"]``. The result ``*`` is that of a game which is not over.
"""

import os
import re
from os import PathLike
from pathlib import Path

from bayesduel.data.read.formats import check_file
from bayesduel.data.read.in_memory import as_frame
from bayesduel.data.read.narwhals_source import FrameSource

__all__ = ["Games"]

TAG = re.compile(r'\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]')
NEEDED = ("White", "Black", "Result")
NOT_OVER = "*"


class Games(FrameSource):
    """The games of a file, with a column for each tag that the tags of one of them name.

    path: the file.
    Raises OSError if it cannot be opened; ValueError if a game lacks its players or its result.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        name = os.fspath(path)
        check_file(name)
        games = _games_in(_text_of(name))
        if not games:
            raise ValueError(
                f'{name}: should contain games with tags such as [White "..."], got none'
            )
        for k, tags in enumerate(games, 1):
            lost = [tag for tag in NEEDED if tag not in tags]
            if lost:
                raise ValueError(f"{name}, game {k}: should have the tag {lost[0]}, got none")
        self._number = [k for k, tags in enumerate(games) if tags["Result"] != NOT_OVER]
        self._n_not_over = len(games) - len(self._number)
        tags_of_any = dict.fromkeys(tag for tags in games for tag in tags)
        columns = {tag: [games[k].get(tag) for k in self._number] for tag in tags_of_any}
        super().__init__(as_frame(columns)[0], name)
        self.files = (os.path.abspath(name),)
        self.shape = "one game per row"

    def left_out(self) -> list[tuple[str, int]]:
        """Return how many games are not over."""
        found = [(f"games that are not over ({NOT_OVER})", self._n_not_over)]
        return [(why, n) for why, n in found if n]

    def _place(self, number: int) -> str:
        return f"{self.name}, game {self._number[number] + 1}"


def _text_of(name: str) -> str:
    """Return the text of a file, in UTF-8 or else in ISO 8859-1."""
    content = Path(name).read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _games_in(text: str) -> list[dict[str, str | None]]:
    """Return the tags of each game; what is not known (?) is missing."""
    games: list[dict[str, str | None]] = []
    in_tags = False
    for line in text.splitlines():
        found = TAG.fullmatch(line.strip())
        if found and not in_tags:
            games.append({})
        if found:
            value = re.sub(r"\\(.)", r"\1", found[2])
            games[-1][found[1]] = None if "?" in value else value
        if found or line.strip():
            in_tags = bool(found)
    return games
