"""What judges see of an item: Markdown, a picture, a recording, a film or a link.

Text is rendered by markdown-it-py without HTML and cleaned by nh3. A formula is code of the class
"formula", because Markdown would take its underscores and backslashes for marks; the page sets it.
Files lie in the folder of the CSV file; judges get them under addresses that name a ticket and a
side, never a file.
"""

import csv
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from bayesduel.system.arguments import shown_value
from bayesduel.system.extras import load_extra
from bayesduel.text import csv_rows

if TYPE_CHECKING:
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline

__all__ = ["Content", "Contents", "read_contents", "read_page"]

KINDS = {
    "img": {".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg"},
    "audio": {".mp3", ".wav", ".ogg", ".oga", ".m4a", ".flac", ".opus"},
    "video": {".mp4", ".webm", ".ogv", ".mov"},
}
MARK = secrets.token_hex(8)  # stands in rendered text for the address of its files
TAGS = set(
    "a p br hr h1 h2 h3 h4 h5 h6 strong em s del code pre blockquote ul ol li table thead tbody "
    "tr th td img audio video".split()
)
ATTRIBUTES = {
    "a": {"href", "title", "target"},
    "img": {"src", "alt", "title"},
    "audio": {"src", "controls", "preload"},
    "video": {"src", "controls", "preload", "playsinline"},
    "ol": {"start"},
}
# $x$ as Pandoc reads it (no space inside of the dollars, no digit after them, so that prices are
# none), $$x$$ and \(x\); each ends at the latest where another one begins.
INLINE = re.compile(
    r"\$\$(?:\\.|[^\\$]|\$(?!\$))+\$\$"
    r"|\$(?![\s$])(?:\\.|[^\\$])+(?<!\s)\$(?!\d)"
    r"|\\\((?:(?!\\[()]).)+\\\)",
    re.DOTALL,
)
DISPLAYED = {"$$": "$$", "\\[": "\\]"}  # what a formula of its own lines begins and ends with


@dataclass(frozen=True)
class Content:
    """One item as judges see it."""

    text: str  # as given
    html: str  # clean HTML, in which ``MARK/n`` stands for the address of file n
    files: tuple[Path, ...] = ()
    folder: Path = Path()  # in which the files have to be

    def file(self, number: int) -> Path | None:
        """Return a file; None if there is none, or it has left the folder since."""
        if not 0 <= number < len(self.files):
            return None
        path = self.files[number]
        return path if path.is_file() and _inside(path, self.folder) else None

    def at(self, address: str) -> str:
        """Return the HTML whose files lie at `address`/n."""
        return self.html.replace(MARK, address)


@dataclass(frozen=True)
class Contents:
    """What judges see of every arm."""

    path: Path | None  # the file, in whose folder all others are, or None: judges see labels
    prompts: dict[str, Content]  # what stands above a pair, by item
    # by arm and item. An arm that answers no prompts has the one item "".
    answers: dict[tuple[str, str], Content]
    version: tuple[int, int] = 0, 0  # of the file, when it was read

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing yet that judges could see."""
        return self.path is not None and not self.answers

    def missing(self, labels: Sequence[str], items: Sequence[str]) -> list[tuple[str, str]]:
        """Return the arms and items, of those of a study, that have no row."""
        wanted = list(items) or self.items
        return [(a, i) for i in wanted for a in labels if (a, i) not in self.answers]

    @property
    def items(self) -> list[str]:
        """The items, in the order of the file."""
        return list(dict.fromkeys(item for _, item in self.answers)) or [""]

    def answer(self, arm: str, item: str) -> Content | None:
        """Return what judges see of an arm: its label, or of a file what that has, or None."""
        label = Content(arm, f"<p class=label>{escape(arm)}</p>")
        return label if self.path is None else self.answers.get((arm, item))

    def shown(
        self, left: str, right: str, item: str | None
    ) -> tuple[Content | None, Content | None, Content | None]:
        """Return what stands above a pair on an item, and its two sides; None where it has none."""
        own = self.items[0] if item is None else item
        return self.prompts.get(own), self.answer(left, own), self.answer(right, own)

    def renewed(self, labels: Sequence[str], items: Sequence[str]) -> "Contents":
        """Return what the file says now where it changed since; raise as :func:`read_contents`."""
        if self.path is None or _version(self.path) == self.version:
            return self
        return read_contents(self.path, labels, items)


def read_contents(
    path: Path, labels: Sequence[str], items: Sequence[str] = (), *, whole: bool = True
) -> Contents:
    """Return the items of a CSV file with the columns arm, item (where wanted) and content.

    A row without an arm is the prompt of its item.

    path: the file. Names of pictures, recordings and films are taken from its folder.
    labels: of the arms.
    items: prompts of the study; where it has any, the file has to have these.
    whole: whether every arm has to have a row of every item.
    Raises ValueError if a column, an arm or an item is missing, unknown or there twice, or a file
    is missing or outside of the folder.
    """
    folder = path.resolve().parent
    version = _version(path)
    prompts: dict[str, Content] = {}
    answers: dict[tuple[str, str], Content] = {}
    for line, row in _rows(path):
        arm = row["arm"]
        item = row.get("item") or ""
        if arm and arm not in labels:
            raise ValueError(f"{path}, line {line}: the study has no arm {shown_value(arm)}")
        if item in prompts if not arm else (arm, item) in answers:
            raise ValueError(
                f"{path}, line {line}: arm {shown_value(arm)} and item {shown_value(item)} are "
                "there already: keep one row"
            )
        content = _content(row["content"], folder, f"{path}, line {line}")
        if arm:
            answers[arm, item] = content
        else:
            prompts[item] = content
    found = Contents(path, prompts, answers, version)
    if not items and len(found.items) > 1:
        raise ValueError(
            f"{path} has the items {shown_value(found.items[0])} and "
            f"{shown_value(found.items[1])}, but the study has no items: make the study with "
            "--items-file, or leave out the column of items"
        )
    missing = found.missing(labels, items)
    if missing and whole:
        arm, item = missing[0]
        what = f"arm {shown_value(arm)}" + (f" for item {shown_value(item)}" if item else "")
        raise ValueError(f"{path} has no row for {what}: add one")
    return found


def read_page(page: str | Path) -> Content:
    """Return what judges read before the pairs.

    page: Markdown, or the path of a file of it, whose pictures lie in its folder.
    Raises ValueError if a picture is missing or outside of the folder.
    """
    if isinstance(page, str):
        return Content(page, _clean(_parser().render(page)))
    return _rendered(page.read_text(encoding="utf-8"), page.resolve().parent, str(page))


def _version(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    # Characters of one item: two novels, and 1 MB of a page
    before = csv.field_size_limit(1_000_000)
    try:
        return csv_rows(path, ("arm", "content"), short=True)
    finally:
        csv.field_size_limit(before)


def _content(text: str, folder: Path, where: str) -> Content:
    """Return one item: a file or an address if it is nothing else, Markdown otherwise."""
    alone = text.strip()
    kind = _kind(alone) if "\n" not in alone else None
    if kind is not None and not _is_address(alone):
        file = _file(alone, folder, where)
        more = 'alt=""' if kind == "img" else 'controls preload="metadata"'
        close = "" if kind == "img" else f"</{kind}>"
        return Content(text, f'<{kind} src="{MARK}/0" {more}>{close}', (file,), folder)
    if _is_address(alone):
        host = escape(urlsplit(alone).hostname or "")
        link = f'<p><a href="{escape(alone)}">{host} \u2197</a></p>'
        return Content(text, _clean(link))
    return _rendered(text, folder, where)


def _rendered(text: str, folder: Path, where: str) -> Content:
    """Return Markdown whose pictures lie in the folder; those of the web become links."""
    parser = _parser()
    files = []
    tokens = parser.parse(text)
    for token in (inner for block in tokens for inner in block.children or ()):
        if token.type == "image":
            source = unquote(str(token.attrs["src"]))
            if _is_address(source):
                token.type = "text"
                token.content = f"{token.content or 'picture'} ({source})"
            else:
                files.append(_file(source, folder, where))
                token.attrs["src"] = f"{MARK}/{len(files) - 1}"
    html = parser.renderer.render(tokens, parser.options, {})
    return Content(text, _clean(html), tuple(files), folder)


def _file(name: str, folder: Path, where: str) -> Path:
    path = folder / name
    try:
        good = path.is_file() and _inside(path, folder)
    except (OSError, ValueError):
        good = False
    if not good or _kind(name) is None:
        raise ValueError(
            f"content in {where} should name a picture, recording or film in the folder of the "
            f"file, got {shown_value(name)}"
        )
    return path


def _inside(path: Path, folder: Path) -> bool:
    """Return whether a file lies in a folder, links followed."""
    return path.resolve().is_relative_to(folder.resolve())


def _kind(name: str) -> str | None:
    if len(name) > 300:
        return None
    suffix = Path(name).suffix.lower()
    return next((kind for kind, suffixes in KINDS.items() if suffix in suffixes), None)


def _is_address(text: str) -> bool:
    return re.fullmatch(r"https?://[^\s<>\"]+", text) is not None


@cache
def _parser() -> Any:
    load_extra("markdown_it", "serve")
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.push("headings", _lower_headings)
    parser.inline.ruler.before("escape", "formula", _formula)
    ends = ["paragraph", "reference", "blockquote", "list"]  # as of a fence
    parser.block.ruler.before("fence", "displayed_formula", _displayed_formula, {"alt": ends})
    return parser


def _lower_headings(state: "StateCore") -> None:
    """Let headings of a content stand two levels below those of the page."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            level = int(token.tag[1:]) + 2
            token.tag = f"h{min(level, 6)}"


def _formula(state: "StateInline", silent: bool) -> bool:
    """Take a formula in a line as code, so that nothing in it is a mark of Markdown."""
    found = INLINE.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        token = state.push("code_inline", "code", 0)
        token.content = found[0]
        token.attrSet("class", "formula")
    state.pos = found.end()
    return True


def _displayed_formula(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    """Take the lines of a formula as a block of code; one without an end is none."""
    begin = _line(state, first)
    mark = begin[:2]
    if mark not in DISPLAYED or state.is_code_block(first):
        return False
    for end in range(first, last):
        line = _line(state, end)
        inside = line[2:] if end == first else line
        if inside.endswith(DISPLAYED[mark]):
            break
        if not line or inside.startswith(mark):
            return False
    else:
        return False
    if not silent:
        token = state.push("code_block", "code", 0)
        token.content = state.getLines(first, end + 1, state.blkIndent, False)
        token.attrSet("class", "formula")
        state.line = end + 1
    return True


def _line(state: "StateBlock", number: int) -> str:
    start = state.bMarks[number] + state.tShift[number]
    text: str = state.src[start : state.eMarks[number]]
    return text.rstrip()


def _clean(html: str) -> str:
    nh3 = load_extra("nh3", "serve")
    cleaned: str = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        allowed_classes={"code": {"formula"}, "pre": {"formula"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    return cleaned
