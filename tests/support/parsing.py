"""A page taken to pieces: its ids, tags, text and tables, section by section."""

import re
from html.parser import HTMLParser

VOID = {"meta", "img", "br", "link", "input"}


class Page(HTMLParser):
    """A parsed page: its sections' ids, anchors, tags, and text and rows by section."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.ids: list[str] = []
        self.anchors: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.section = ""
        self.text: dict[str, str] = {}
        self.rows: dict[str, list[list[str]]] = {}
        self.feed(html)
        self.close()
        assert not self.open, f"unclosed {self.open}"

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append((tag, found))
        if "id" in found:
            self.anchors.append(str(found["id"]))
        if tag == "section":
            self.ids.append(str(found["id"]))
            self.section = str(found["id"])
        if tag == "tr":
            self.rows.setdefault(self.section, []).append([])
        if tag in ("td", "th") and "tr" in self.open:
            self.rows[self.section][-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data):
        if "style" in self.open or "script" in self.open:
            return
        data = re.sub("(?<=[<>])\u00a0|\u00a0(?=%)", " ", data)  # per cents stay on one line
        self.text[self.section] = self.text.get(self.section, "") + data
        if "td" in self.open or "th" in self.open:
            self.rows[self.section][-1][-1] += data

    def pictures(self) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.tags if tag == "img"]
