"""Check the links of the built site: every file and every place in a page that one names is there.

Run: python docs/check_links.py FOLDER   (exit status 1 if a link leads nowhere)
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Links(HTMLParser):
    """The links of a page and the places that others may name."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what an element links to and what it is called."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


@cache
def read(page: Path) -> Links:
    """Return the links and places of a page."""
    found = Links()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def broken(folder: Path) -> list[str]:
    """Return a line for every internal link of a folder of pages that leads nowhere."""
    lines = []
    pages = (p for p in folder.rglob("*.html") if "_static" not in p.parts)
    for page in sorted(pages):
        for link in sorted(read(page).links):
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (page.parent / unquote(url.path)).resolve() if url.path else page
            if not target.exists():
                lines.append(f"{page.relative_to(folder)}: no file {link}")
            elif url.fragment and target.suffix == ".html":
                if unquote(url.fragment) not in read(target).places:
                    lines.append(f"{page.relative_to(folder)}: no place {link}")
    return lines


if __name__ == "__main__":
    found = broken(Path(sys.argv[1]))
    print("\n".join(found) or "every internal link leads somewhere")
    sys.exit(bool(found))
