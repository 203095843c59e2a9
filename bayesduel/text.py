"""Labels of arms, made short enough to print."""

from unicodedata import combining, east_asian_width

__all__ = ["CELL", "SENTENCE", "columns", "shorten"]

CELL = 48  # columns that a label may take in a table
SENTENCE = 60  # and in a sentence


def columns(text: str) -> int:
    """Return how many columns a text takes where letters are one wide, as in a terminal."""
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def shorten(label: str, width: int = 24) -> str:
    """Return a label of at most `width` columns, its middle left out where it is longer."""
    if columns(label) <= width:
        return label
    head = (width - 1) * 2 // 3
    start = _first(label, head)
    end = _first(label[::-1], width - 1 - head)[::-1]
    return f"{start.rstrip()}…{end.lstrip()}"


def _first(text: str, width: int) -> str:
    """Return as much of the start of `text` as fits into `width` columns."""
    taken = 0
    for k, c in enumerate(text):
        taken += columns(c)
        if taken > width:
            return text[:k]
    return text
