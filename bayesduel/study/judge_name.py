"""Names of judges: one name is one text, and holds nothing that cannot be seen.

References
----------
RFC 8266, "Nicknames", section 2: compatibility forms are made one (NFKC), white space is one space
between words, and invisible characters are refused. Deviation: upper and lower case differ.
"""

import re
import unicodedata
from typing import overload

from bayesduel.system.arguments import check_utf8, shown_value

__all__ = ["judge_name"]

# Characters that are not seen and are of another category than control or format: Unicode Standard,
# DerivedCoreProperties, Default_Ignorable_Code_Point; and the blank of Braille.
UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)


@overload
def judge_name(given: str, name: str = "judge") -> str: ...
@overload
def judge_name(given: str | None, name: str = "judge") -> str | None: ...


def judge_name(given: object, name: str = "judge") -> str | None:
    """Return a name as it is stored; None for None.

    Raises ValueError if it is not a name, or holds a character that is not seen or turns the
    direction of the text.
    """
    if given is None:
        return None
    if not isinstance(given, str) or not given.strip():
        raise ValueError(f"{name} should be a name, got {shown_value(given)}")
    check_utf8(given, f"{name} should be UTF-8 text")
    found = " ".join(unicodedata.normalize("NFKC", given).split())
    for letter in f"{given.strip()}{found}":
        control = unicodedata.category(letter)[0] == "C" and not letter.isspace()
        if control or UNSEEN.match(letter):
            raise ValueError(
                f"{name} should have no invisible character, got U+{ord(letter):04X} in {given!a}"
            )
    if not found:
        raise ValueError(f"{name} should be a name, got {shown_value(given)}")
    return found
