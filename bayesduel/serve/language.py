"""What the judge's page says, in a language: a file of texts by their English ones."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from bayesduel.system.arguments import shown_value
from bayesduel.text import join

__all__ = ["LANGUAGES", "Language", "read_language"]

FOLDER = files("bayesduel.serve") / "languages"
LANGUAGES = ("en", "de", "fr", "es", "pt", "zh", "ja", "ar")
PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Language:
    """A language of the judge's page."""

    code: str  # as HTML names it, such as "de"
    direction: str  # "ltr" or "rtl"
    texts: Mapping[str, str]  # by the English one

    def __call__(self, text: str, **values: Any) -> str:
        """Return a text in this language, with values in place of its {names}."""
        return PLACE.sub(lambda found: str(values.get(found[1], found[0])), self.texts[text])


def read_language(given: str | Path) -> Language:
    """Return a language.

    given: one of `LANGUAGES`, or the path of a file like those in ``serve/languages``.
    Raises ValueError if it is not a language, or a text is missing, unknown, or has other {names}.
    """
    wanted = _read(FOLDER / "en.json").texts
    if str(given) in LANGUAGES:
        return _read(FOLDER / f"{given}.json")
    path = Path(given)
    if not path.is_file():
        raise ValueError(
            f"language should be {join(LANGUAGES, 10, word='or')}, or a file, got "
            f"{shown_value(str(given))}"
        )
    found = _read(path)
    missing = [text for text in wanted if not found.texts.get(text, "").strip()]
    unknown = [text for text in found.texts if text not in wanted]
    if missing or unknown:
        what = "should also have" if missing else "should not have"
        texts = join(missing or unknown, len(missing or unknown), quote=True)
        raise ValueError(f"{path} {what} the texts {texts}")
    for text, own in found.texts.items():
        if set(PLACE.findall(text)) != set(PLACE.findall(own)):
            raise ValueError(f"{path} should keep the names in braces of the text {text!r}")
    return found


def _read(path: Any) -> Language:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        found = Language(held["language"], held["direction"], held["texts"])
        good = found.direction in ("ltr", "rtl") and re.fullmatch(r"[A-Za-z0-9-]{2,35}", found.code)
        texts = [*found.texts.items()]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} should have the form of serve/languages/en.json: {error!r}"
        ) from error
    if not good or not all(isinstance(text, str) for pair in texts for text in pair):
        raise ValueError(f"{path} should have language (a code), direction (ltr or rtl) and texts")
    return found
