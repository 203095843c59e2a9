"""Dates that are not written as ISO 8601 says: their format, where a column leaves it no doubt.

Numbers that may be a day and a month are taken for one only where a number of the column is above
12, or where points separate them, as in German, Polish and Russian (25.09.2024).
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

__all__ = ["date_in_form", "dates_in", "format_of_dates", "formats_in_doubt"]

PARTS = re.compile(
    r"(?P<first>\d{1,4})(?P<sign>[./-])(?P<second>\d{1,2})(?P=sign)(?P<third>\d{1,4})"
    r"(?:(?P<gap>T| )(?P<clock>\d{1,2}:\d{2}(?P<seconds>:\d{2})?))?"
)
# Orders of the parts of a date whose year is last.
ORDERS = [
    *(("%m", "%d", year) for year in ("%Y", "%y")),
    *(("%d", "%m", year) for year in ("%Y", "%y")),
]
IN_WORDS = ("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y", "%d-%b-%Y")


def format_of_dates(texts: Iterable[str]) -> str | None:
    """Return the format of all texts, as :func:`time.strftime` has it; None where in doubt."""
    found = [PARTS.fullmatch(text) for text in texts]
    if not found:
        return None
    if None in found:
        return next((form for form in IN_WORDS if _are_in(texts, form)), None)
    parts = [match.groupdict() for match in found if match is not None]
    alike = set()
    for p in parts:
        year_first = len(p["first"]) == 4
        year_last = len(p["third"]) == 4
        alike.add((p["sign"], p["gap"], p["seconds"] is None, year_first, year_last))
    if len(alike) > 1:
        return None
    ((sign, gap, rough, year_first, year_last),) = alike
    clock = ""
    if gap is not None:
        clock = f"{gap}%H:%M" if rough else f"{gap}%H:%M:%S"
    if year_first == year_last:
        return None
    if year_first:
        return f"%Y{sign}%m{sign}%d{clock}"
    first = max(int(p["first"]) for p in parts)
    second = max(int(p["second"]) for p in parts)
    if max(first, second) > 31 or min(first, second) > 12:
        return None
    if max(first, second) <= 12 and sign != ".":
        return None
    if second > 12:
        return f"%m{sign}%d{sign}%Y{clock}"
    return f"%d{sign}%m{sign}%Y{clock}"


def _are_in(texts: Iterable[str], form: str) -> bool:
    """Return whether all texts are dates in a format."""
    dates = dates_in(list(texts), form)
    return not np.isnat(dates).any()


def formats_in_doubt(texts: Iterable[str]) -> list[str]:
    """Return the formats that all of some texts may have, where they leave it in doubt; else [].

    The year may have two digits.
    """
    known = sorted({*texts})
    found = [PARTS.fullmatch(text) for text in known]
    if not known or None in found or format_of_dates(known) is not None:
        return []
    signs = {match["sign"] for match in found if match is not None}
    if len(signs) > 1:
        return []
    (sign,) = signs
    forms = [sign.join(order) for order in ORDERS if sign != "." or order[0] == "%d"]
    return [form for form in forms if _are_in(known, form)]


def dates_in(texts: Sequence[str | None], form: str) -> np.ndarray:
    """Return dates in a format as datetime64[us] in UTC, NaT where they are not in it."""
    values = np.asarray(texts, dtype=object)
    parsed = pd.to_datetime(values, format=form, errors="coerce", utc=True)
    in_utc = parsed.tz_localize(None).to_numpy()
    return np.asarray(in_utc.astype("datetime64[us]"))


def date_in_form(date: np.datetime64, form: str) -> str:
    """Return a date as text in a format."""
    return str(pd.Timestamp(date).strftime(form))
