"""New links, kept in memory for some minutes, so that their page may be loaded again.

A link is stored nowhere else: the database holds the hash of its token.
"""

import secrets
import time
from typing import Any

__all__ = ["Links"]

KEPT = 15 * 60.0  # seconds: time to copy the links of a lecture hall (choice)


class Links:
    """Sets of links, each of the administrator who made them."""

    def __init__(self) -> None:
        self._sets: dict[str, tuple[int, float, list[dict[str, Any]]]] = {}

    def keep(self, owner: int, links: list[dict[str, Any]]) -> str:
        """Keep links, and return the key of their page.

        owner: number of the administrator's invitation.
        """
        now = time.monotonic()
        key = secrets.token_urlsafe(12)
        young = [(k, kept) for k, kept in self._sets.items() if now - kept[1] < KEPT]
        # 100 sets of links at once, the last ones (choice)
        self._sets = dict(young[1 - 100 :])
        self._sets[key] = owner, now, links
        return key

    def kept(self, owner: int, key: str) -> list[dict[str, Any]]:
        """Return the links of a page; none if they are too old, or another administrator's."""
        whose, since, links = self._sets.get(key, (0, 0.0, []))
        return links if whose == owner and time.monotonic() - since < KEPT else []
