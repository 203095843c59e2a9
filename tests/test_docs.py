"""The pages of docs/: what they show runs, they are all reached, and their links lead somewhere."""

import re
import runpy
from pathlib import Path

import matplotlib
import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", flags=re.M | re.S)
PAGES = [p for p in sorted(DOCS.rglob("*.md")) if CELL.search(p.read_text(encoding="utf-8"))]


def of_pages():
    """Return the pages as parameters: two, one of which compiles eight policies, are slow."""
    slow = dict.fromkeys(("bandits", "llm_evaluation"), pytest.mark.slow)
    return [pytest.param(p, id=p.stem, marks=slow.get(p.stem, ())) for p in PAGES]


@pytest.mark.parametrize("page", of_pages())
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in CELL.findall(page.read_text(encoding="utf-8")):
        exec(compile(code, page.name, "exec"), names)


def test_every_page_is_in_the_table_of_contents_of_its_folder():
    for folder in ("start", "how_to", "understand", "compare", "validation"):
        index = (DOCS / folder / "index.md").read_text(encoding="utf-8")
        (listed,) = re.findall(r"```\{toctree\}\n(?::.*\n)*\n(.*?)```", index, flags=re.S)
        pages = {path.stem for path in (DOCS / folder).glob("*.md")} - {"index"}
        assert set(listed.split()) == pages


def test_broken_links_are_named(tmp_path):
    broken = runpy.run_path(str(DOCS / "check_links.py"))["broken"]
    (tmp_path / "b.html").write_text('<p id="here">', encoding="utf-8")
    links = ["b.html#here", "b.html#gone", "c.html", "https://example.org/"]
    text = "".join(f'<a href="{link}">' for link in links)
    (tmp_path / "a.html").write_text(text, encoding="utf-8")
    assert broken(tmp_path) == ["a.html: no place b.html#gone", "a.html: no file c.html"]
