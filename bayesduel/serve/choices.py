"""What a judge may choose on a page: answers, criteria and reasons, each with its key.

Judges see "first" and "second", studies are told "left" and "right".
"""

from typing import Any

from bayesduel.serve.language import Language
from bayesduel.study.asking import BOTH_BAD, CANNOT_TELL, COMMENT, Asking

__all__ = ["EVERY_ANSWER", "asked_of_judges", "told"]

SIDES = {"left": ("1", "First"), "right": ("2", "Second")}
KEYS = "qwertyiopadfghjklzxvm"  # of reasons: letters that mean nothing else on the page


def told(asking: Asking) -> dict[str, str]:
    """Return the word that a study is told for each answer of a page, in the order of the page."""
    return {_answer(word): word for word in asking.words}


def asked_of_judges(asking: Asking, say: Language) -> dict[str, Any]:
    """Return what is asked of a judge, as the page and programs take it.

    ``choices`` are the answers to each of ``criteria`` (none: there is one question), each with
    whether it is a place of a ``slider``; with ``form`` the page sends an answer when it is
    complete, else at once. Labels are in the page's language.
    """
    n = sum(word not in (BOTH_BAD, CANNOT_TELL) for word in asking.words)
    keys = ["1", "=", "2"] if asking.grades == 1 else [str(k + 1) for k in range(n)]
    keys += ["b"] * asking.both_bad + ["c"]
    choices = [
        {
            "answer": answer,
            "label": say(_label(word)),
            "short": say(_short(word)),
            "key": key,
            "place": word not in (BOTH_BAD, CANNOT_TELL),
        }
        for (answer, word), key in zip(told(asking).items(), keys, strict=True)
    ]
    reasons = [{"reason": r, "key": KEYS[k]} for k, r in enumerate(asking.reasons)]
    return {
        "choices": choices,
        "criteria": list(asking.criteria),
        "decides": asking.deciding,
        "reasons": reasons,
        "comment": COMMENT if asking.comment else None,
        "slider": asking.slider,
        "form": bool(asking.criteria or reasons or asking.comment or asking.slider),
    }


def _answer(word: str) -> str:
    side, space, degree = word.partition(" ")
    if side in SIDES:
        return f"{SIDES[side][0]}{space}{degree}"
    return {"tie": "=", BOTH_BAD: "both bad"}.get(word, word)


def _label(word: str) -> str:
    side, _, degree = word.partition(" ")
    if side in SIDES:
        return f"{SIDES[side][1]} is {degree or 'better'}"
    return {"tie": "Equal", BOTH_BAD: "Both are bad", CANNOT_TELL: "Cannot tell"}[word]


def _short(word: str) -> str:
    """Return what a narrow button says."""
    return SIDES[word][1] if word in SIDES else _label(word)


# Of any study: each asks for some of them.
EVERY_ANSWER = tuple(dict.fromkeys([*told(Asking(both_bad=True)), *told(Asking(grades=4))]))
