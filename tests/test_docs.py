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


MARKS = dict.fromkeys(("bandits", "llm_evaluation", "priors", "priors_and_pymc"), pytest.mark.slow)
MARKS["dueling_bandits"] = pytest.mark.plain


def of_pages():
    """Return the pages as parameters; those that compile much are slow."""
    return [
        pytest.param(page, id=f"{page.parent.name}-{page.stem}", marks=MARKS.get(page.stem, ()))
        for page in PAGES
    ]


@pytest.mark.parametrize("page", of_pages())
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in CELL.findall(page.read_text(encoding="utf-8")):
        exec(compile(code, page.name, "exec"), names)


def test_every_page_is_in_the_table_of_contents_of_its_folder():
    folders = ("start", "tutorials", "how_to", "understand", "coming_from", "compare", "validation")
    for folder in folders:
        index = (DOCS / folder / "index.md").read_text(encoding="utf-8")
        (listed,) = re.findall(r"```\{toctree\}\n(?::.*\n)*\n(.*?)```", index, flags=re.S)
        pages = {path.stem for path in (DOCS / folder).glob("*.md")} - {"index"}
        assert set(listed.split()) == pages


def test_every_tutorial_is_a_notebook_that_can_be_downloaded_and_has_pictures():
    pages = sorted(set((DOCS / "tutorials").glob("*.md")) - {DOCS / "tutorials" / "index.md"})
    assert len(pages) == 6
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert page in PAGES
        assert f"<{page.stem}.ipynb>`" in text
        assert "bd.plot_" in text


def test_every_page_of_the_reference_can_be_made():
    """Else a public name in a new room breaks the site, and no other test notices."""
    conf = runpy.run_path(str(DOCS / "conf.py"))
    for name in ("_api", "_policies", "_models", "_commands", "_problems"):
        assert conf[name]().startswith("# ")


def test_broken_links_are_named(tmp_path):
    broken = runpy.run_path(str(DOCS / "check_links.py"))["broken"]
    (tmp_path / "b.html").write_text('<p id="here">', encoding="utf-8")
    links = ["b.html#here", "b.html#gone", "c.html", "https://example.org/"]
    text = "".join(f'<a href="{link}">' for link in links)
    (tmp_path / "a.html").write_text(text, encoding="utf-8")
    assert broken(tmp_path) == ["a.html: no place b.html#gone", "a.html: no file c.html"]
