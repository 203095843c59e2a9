"""Sections as HTML: one template for pages, one for a section."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.util import cache_from_source
from itertools import repeat
from typing import Any

from markupsafe import Markup, escape

from bayesduel import __version__
from bayesduel.text import CELL, shorten

__all__ = ["assets", "fragment", "page", "part"]

CELLS = 4_096  # cells whose HTML is kept: names and counts stand on many pages of a site
UNIT = re.compile(r"(?<=\d) (?=%)|(?<=[<>]) (?=\d+ %)")  # 5 %, > 99 %
# A word that is written from right to left, its number too, before a bracket of other letters.
LEFTWARD = re.compile(
    r"([\u0590-\u08ff\ufb1d-\ufefc](?:\d|[^\w(\[])*)(?= [(\[][^\u0590-\ufefc]*[)\]])"
)


def page(
    title: str,
    parts: "Mapping[str, Sequence[Any] | str]",
    *,
    subject: str,
    index: Any = None,
    home: tuple[str, str] | None = None,
) -> str:
    """Return a self-contained HTML page.

    title: its heading.
    parts: sections (:class:`bayesduel.reporting.section.Section`), the verdict first, by the label
        of their log; or what :func:`part` made of them. Of several parts, links in part n are
        prefixed with "p", n and "-".
    subject: what the page is about, for the title of its window.
    index: a section that lists the parts, or None.
    home: of a page of a site, the address of the site's folder, such as "../", and its title: the
        page links to its index.html, and has its style and script from there. Else None.
    """
    style, script = assets().values()
    rendered = {
        label: one if isinstance(one, str) else part(one, f"p{n}-" if len(parts) > 1 else "")
        for n, (label, one) in enumerate(parts.items(), 1)
    }
    scripted = any("<form class=" in one for one in rendered.values())
    own = {"style": style, "script": script if scripted else "", "version": __version__}
    text: str = (
        _environment()
        .get_template("page.html")
        .render(title=title, subject=subject, parts=rendered, index=index, home=home, **own)
    )
    return text


@cache
def assets() -> dict[str, str]:
    """Return the style and the script of pages, by the name of their files in a site."""
    from importlib.resources import files

    names = {"style.css": "report.css", "page.js": "page.js"}
    folder = files("bayesduel.reporting") / "templates"
    return {name: (folder / own).read_text(encoding="utf-8") for name, own in names.items()}


def part(sections: Sequence[Any], prefix: str = "") -> str:
    """Return the sections on one log as HTML, the verdict first; links have a prefix."""
    return str(_environment().get_template("section.html").module.part(sections, prefix))


def fragment(section: Any) -> str:
    """Return one section as HTML, for a notebook."""
    return str(_environment().get_template("section.html").module.section(section, ""))


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined

    kept = os.path.dirname(cache_from_source(__file__))  # beside the bytecode of modules
    writes = os.access(kept, os.W_OK) and not sys.dont_write_bytecode
    environment = Environment(
        loader=PackageLoader("bayesduel.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=FileSystemBytecodeCache(kept, f"{__version__}-%s.jinja") if writes else None,
    )
    environment.filters["short"] = lambda label: shorten(str(label), CELL)
    environment.filters["rows"] = _rows
    return environment


def _rows(rows: Sequence[Sequence[Any]], letters: str, rules: Sequence[int], prefix: str) -> Markup:
    """Return rows of a table as HTML, by columns and rules of the table and a prefix of links.

    A template takes ten times as long, and a site of many arms has a million cells.
    """
    made = (f"{''.join(map(_cell, row, letters, repeat(prefix)))}</tr>\n" for row in rows)
    return Markup(
        "".join(f'<tr class="rule">{r}' if k in rules else f"<tr>{r}" for k, r in enumerate(made))
    )


@lru_cache(CELLS)
def _cell(cell: Any, letter: str, prefix: str) -> str:
    """Return a cell of a table, a text or a ``Cell``, as HTML.

    `letter` is its column, `prefix` that of links.
    """
    text = cell if isinstance(cell, str) else cell.text
    shown = shorten(text, CELL) if letter == "l" else text
    title = "" if shown == text else f' title="{_escaped(text)}"'
    name = ""
    inner = _escaped(shown)
    if not isinstance(cell, str):
        name = f' id="{_escaped(prefix + cell.id)}"' if cell.id else ""
        if cell.bar is not None:
            low, mean, width = cell.bar
            ends = f"--l:{low}%;--w:{width}%;--m:{mean}%"
            bar = f'<span class="bar" title="{inner}" style="{ends}"><i></i><b></b></span>'
            inner = f"{bar}<span>{inner}</span>"
        elif to := cell.href or (f"#{prefix}{cell.id}" if cell.id else ""):
            inner = f'<a href="{_escaped(to)}">{inner}</a>'
        elif cell.style != "plain":
            inner = f'<b class="{cell.style}">{inner}</b>'
        if cell.small:
            inner += f'<br><span class="small">{_escaped(cell.small)}</span>'
    tag = "th" if letter == "h" else "td"
    kind = {"l": ' class="name"', "n": ' class="n"'}.get(letter, "")
    return f"<{tag}{kind}{name}{title}>{inner}</{tag}>"


@lru_cache(CELLS)
def _escaped(text: str) -> str:
    return str(escape(_unbroken(text)))


def _shown(value: Any) -> Any:
    """Return a text as a page shows it; else the value.

    A left-to-right mark ends a name in Arabic or Hebrew: else a bracket after it, (92 %), would
    stand before it, and its parts in the other order.
    """
    text = _unbroken(value)
    return LEFTWARD.sub("\\1\u200e", text) if type(text) is str else text


def _unbroken(value: Any) -> Any:
    """Return a text whose per cents stay on one line; else the value."""
    return UNIT.sub("\u00a0", value) if type(value) is str else value
