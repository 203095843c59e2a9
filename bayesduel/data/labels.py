"""Labels that look alike: in case, spaces, alphabet or how a number is written; missing labels."""

import unicodedata
from collections.abc import Sequence
from typing import Any

from bayesduel.text import NAMED, SENTENCE, count, shorten

__all__ = ["alike_words", "labels_alike", "without_words"]

# Letters of Cyrillic and Greek that look like Latin ones (Unicode Technical Standard 39).
LATIN = str.maketrans(
    "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425"
    "\u0430\u0435\u0455\u0456\u0458\u043e\u0440\u0441\u0443\u0445\u04bb\u0501\u051b\u051d"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u03b1\u03b9\u03bd\u03bf\u03c1\u03c5",
    "ABESIJKMHOPCTYX" + "aesijopcyxhdqw" + "ABEZHIKMNOPTYX" + "aivopu",
)


def labels_alike(arms: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return pairs of labels of which a reader would take one for the other."""
    seen: dict[Any, str] = {}
    pairs = []
    for arm in arms:
        key: Any = _look(arm)
        try:
            key = float(key)
        except ValueError:
            pass
        if key in seen:
            pairs.append((seen[key], arm))
        seen.setdefault(key, arm)
    return tuple(pairs)


def alike_words(pairs: Sequence[tuple[str, str]]) -> str:
    """Return that pairs of labels look alike, and the first of them; "" of none."""
    if not pairs:
        return ""
    shown = "; ".join(_apart(one, other) for one, other in pairs[:NAMED])
    return f"{count(len(pairs), 'pair')} of labels look alike: {shown}"


def _apart(first: str, second: str) -> str:
    """Return two labels that look alike, with escapes where they would be printed alike."""
    plain = " ".join(first.casefold().split()) == " ".join(second.casefold().split())
    shown = repr if plain else ascii
    return f"{shown(shorten(first, SENTENCE))} and {shown(shorten(second, SENTENCE))}"


def _look(label: str) -> str:
    """Return a label without what is hard to see: case, spaces, Unicode form, alphabet."""
    if not label.isascii():
        label = unicodedata.normalize("NFKC", label.translate(LATIN))
        label = "".join(letter for letter in label if unicodedata.category(letter) != "Cf")
    return " ".join(label.casefold().split())


def without_words(role: str, without: int, total: int) -> str:
    """Return that votes name no judge (or group), what is assumed, and what to do.

    role: "judge" or "group"; without: how many; total: number of votes.
    """
    has, each = ("has", "it") if without == 1 else ("have", "each")
    same = "person" if role == "judge" else role
    n_votes = count(without, "vote")
    return (
        f"{n_votes} of {total:,} {has} no {role}: "
        f"{each} is taken as a {role} of its own. If they share {role}s, "
        f"intervals are too narrow. Name the {role}s; if all are of one {same}, fill the column "
        "with one label"
    )
