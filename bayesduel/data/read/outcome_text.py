"""What the text of one outcome says: a word, a number, a share, or a score."""

import re

import numpy as np

from bayesduel.data.read.columns import plain
from bayesduel.data.read.rows import NUMBER

__all__ = ["difference", "exact_key", "outcome_key"]

# What a language model answers as a judge, where "[[C]]" is a tie: Zheng and others, "Judging
# LLM-as-a-judge with MT-Bench and Chatbot Arena", 2023, figure 5.
VERDICT = re.compile(r"\[\[(\w+)\]\]")
# A share of left, or those of both sides, which add up to 100: "60 %", "55% / 45%", "55/45".
PERCENT = re.compile(
    r"\s*(?P<left>[0-9]+(?:[.,][0-9]+)?)\s*(?P<sign>%?)"
    r"(?:\s*[-:–/|]\s*(?P<right>[0-9]+(?:[.,][0-9]+)?)\s*(?P=sign))?\s*"
)
DASHES = re.compile("[‐‑‒–—−－]")  # as editors and phones write a hyphen
SETS = r"\d+-\d+(\(\d+\))?(,? +\d+-\d+(\(\d+\))?)+"  # of tennis, with their tie-breaks
# Two scores, and those of half-time in brackets.
SCORE = re.compile(
    r"\s*([0-9]+(?:\.[0-9]+)?)\s*[-:–—xX×]\s*([0-9]+(?:\.[0-9]+)?)\s*"
    r"(?:\(\s*([0-9]+)\s*[-:–—]\s*([0-9]+)\s*\)\s*)?"
)


def exact_key(text: str) -> str | float:
    """Return an outcome as `means` compares it: a number, or text without regard to case."""
    stripped = text.strip()
    if re.fullmatch(NUMBER, stripped):
        return float(stripped)
    return stripped.casefold()


def outcome_key(text: str) -> str | float:
    """Return an outcome for comparison: a number or a plain word (2-1 keeps its hyphen)."""
    text = DASHES.sub("-", text)
    share = _share_in(text)
    try:
        return float(text) if share is None else share
    except ValueError:
        word = re.sub(r"\s+", "", text.casefold())
        said = VERDICT.fullmatch(word)
        if said is not None:
            word = "tie" if said[1] == "c" else said[1]
        return word if word[:1] in tuple("0123456789½") else plain(word)


def _share_in(text: str) -> float | None:
    """Return the share of left that percentages say; None where a text holds none."""
    found = PERCENT.fullmatch(text)
    if found is None:
        return None
    both_sides = found["right"] and "/" in text
    if not found["sign"] and not both_sides:
        return None
    left = float(found["left"].replace(",", "."))
    if found["right"] is None:
        return left / 100
    right = float(found["right"].replace(",", "."))
    both = left + right
    # Two percentages that are rounded may miss 100 by 1 at most
    if abs(both - 100) > 1:
        return None
    return left / both


def difference(text: str) -> float | None:
    """Return left's score minus right's in a text: of sets ("6-4 3-6 7-5") those won; else None.

    Where a letter says who won ("W 3-1", "L 3-1"), it does, whichever score stands first.
    """
    led = re.match(r"\s*([WLDT])\s+", text, re.IGNORECASE)
    letter = led and led[1].lower()
    score = text[led.end() :] if led else text
    difference = None
    found = SCORE.fullmatch(score)
    if found and all(float(found[k + 2] or 0) <= float(found[k]) for k in (1, 2)):
        difference = float(found[1]) - float(found[2])
    elif re.fullmatch(SETS, score.strip()):
        games = re.findall(r"(\d+)-(\d+)", score)
        leads = [np.sign(int(one) - int(other)) for one, other in games]
        difference = float(sum(leads))
    if letter is None or difference is None:
        return difference
    sign = {"w": 1, "l": -1}.get(letter, 0)
    agree = bool(difference) == bool(sign)
    return sign * abs(difference) if agree else None
