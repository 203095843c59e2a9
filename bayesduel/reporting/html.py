"""Sections as HTML: one template for pages, one for a section."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import cache_from_source
from typing import Any

from bayesduel import __version__
from bayesduel.text import CELL, shorten

__all__ = ["assets", "fragment", "page", "part"]

UNIT = re.compile(r"(?<=\d) (?=%)|(?<=[<>]) (?=\d+ %)")  # 5 %, > 99 %


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
        finalize=_unbroken,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=FileSystemBytecodeCache(kept, f"{__version__}-%s.jinja") if writes else None,
    )
    environment.filters["short"] = lambda label: shorten(str(label), CELL)
    return environment


def _unbroken(value: Any) -> Any:
    """Return a text whose per cents stay on one line; else the value."""
    return UNIT.sub("\u00a0", value) if type(value) is str else value
