"""Tables that are no log of duels: totals of each arm, and scores whose columns are not found."""

import re
from collections.abc import Collection

from bayesduel.data.read.columns import REPEATED, Finder, has_word, texts_in
from bayesduel.data.read.reading import measures
from bayesduel.data.read.rows import NUMBER, are_numbers
from bayesduel.data.read.words import (
    CLUBS,
    DOWN,
    MODELS,
    RATINGS,
    RECORDS,
    SUCCESSES,
    TEAMS,
    THUMBS,
    UP,
    VARIANTS,
)
from bayesduel.system.arguments import as_options
from bayesduel.text import join

__all__ = ["as_scores", "check_no_totals"]

# Wins and losses in a table of standings; in German, French and Spanish or Italian by a letter.
STANDINGS = (*RECORDS, ("s", "n"), ("v", "d"), ("g", "p"))
UP_AND_DOWN = (("up", "down"), ("likes", "dislikes"), ("positive", "negative"))


def check_no_totals(finder: Finder) -> None:
    """Raise ValueError for a table of what is known of each arm alone: totals, ratings, thumbs."""
    for arm in finder.all_free((*MODELS, *TEAMS, *CLUBS, *VARIANTS))[:1]:
        said = _totals(finder, arm)
        if said:
            raise ValueError(f"{finder.source}: who met whom is missing: {said}")


def as_scores(finder: Finder) -> str:
    """Return how a table of numbers is read as scores, as a sentence; "" of another."""
    read = finder.rows(finder.columns)
    numbers = []
    labels = []
    for name, column in read.items():
        own = texts_in(column)
        repeated = len(column.code) >= REPEATED * len(own)
        if len(own) < 2:
            continue
        if are_numbers(own) and measures(name, own):
            numbers.append(name)
        elif repeated:
            labels.append(name)
    if not numbers:
        return ""
    if len(labels) > 1:
        named = [name for name in labels if has_word(name, (*MODELS, *TEAMS, *CLUBS))]
        fewest = min(labels, key=lambda name: len(texts_in(read[name])))
        arm = named[0] if named else fewest
        unit = next(name for name in labels if name != arm)
        by = as_options(shape="scores", left=arm, group=unit, outcome=numbers[0])
        shown = join(numbers, quote=True, word="or")
        return f"If {shown} is the score of a {arm!r}, use {by}. "
    if len(numbers) > 1:
        shown = join(numbers, quote=True)
        scores = as_options(shape="scores")
        ranks = as_options(shape="ranks")
        return f"If each of {shown} is an arm, use {scores}, or {ranks} where 1 is best. "
    return ""


def _totals(finder: Finder, arm: str) -> str:
    """Return what is known of each arm alone, and what to give, as a sentence; "" if nothing."""
    needed = (
        "Give a row for each duel (left, right, outcome), or for each pair with its counts (left, "
        "right, wins_a, wins_b)"
    )
    read = finder.rows(finder.columns)
    once = len(read[arm].values) == len(read[arm].code)
    for names in STANDINGS if once else ():
        for _, won, lost in finder.named(names, names):
            return f"{won!r} and {lost!r} are totals of each {arm!r} against all others. {needed}"
    for part in finder.all_free(SUCCESSES):
        if all(re.fullmatch(rf"({NUMBER})\s*%?", text) for text in texts_in(read[part])):
            return (
                f"{part!r} is of each {arm!r} alone, and nobody chose between two of them. Compare "
                "the rates as proportions (of k in n, Beta(1 + k, 1 + n - k) by a flat prior). "
                f"A ranking needs other data. {needed}"
            )
    for _, up, down in finder.pairs(THUMBS, UP_AND_DOWN):
        return f"{up!r} and {down!r} are of the answers of each {arm!r} alone. {needed}"
    for rating in finder.all_free(RATINGS) if once else ():
        return f"{rating!r} is one number for each {arm!r}, as computed from duels. {needed}"
    named = [name for name in read if has_word(name, THUMBS)]
    thumbs = [name for name in named if _are_thumbs(texts_in(read[name]))]
    for name in thumbs:
        said = f"{name!r} is of one answer of {arm!r} alone. bayesduel.read_pulls(..., "
        said += f"item={arm!r}, reward={name!r}) reads such rewards"
        scores = as_options(shape="scores")
        same = f". If several have answered the same prompt, {scores} compares them"
        texts = {text.casefold() for text in texts_in(read[name])}
        return said + (same if are_numbers(texts - {"true", "false"}) else "")
    return ""


def _are_thumbs(texts: Collection[str]) -> bool:
    """Return whether texts say of one answer whether it was liked."""
    folded = {text.casefold() for text in texts}
    return len(texts) > 0 and folded <= {*UP, *DOWN}
