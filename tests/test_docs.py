"""The pages of docs/: what they show runs, they are all reached, and their links lead somewhere."""

import re
import runpy
from pathlib import Path

import matplotlib
import pytest

import bayesduel as bd

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", flags=re.M | re.S)
MADE = {DOCS / "gallery.md"}  # by the site, of docstrings that are tested as such
PAGES = [
    p for p in sorted(set(DOCS.rglob("*.md")) - MADE) if CELL.search(p.read_text(encoding="utf-8"))
]


SLOW = ["bandits", "llm_evaluation", "priors", "priors_and_pymc", "pymc", "workflow"]
SLOW += ["custom_models", "studies", "certificates", "stopping"]
SLOW += ["sports"]  # 58 teams in four periods: 6 seconds of a processor
MARKS = dict.fromkeys(SLOW, pytest.mark.slow)
MARKS["dueling_bandits"] = pytest.mark.plain
# Pages that others wrote while this rule was made.
WITHOUT_PICTURE = {"reading"}


def of_pages():
    """Return the pages as parameters; those that compile much are slow."""
    return [
        pytest.param(page, id=f"{page.parent.name}-{page.stem}", marks=MARKS.get(page.stem, ()))
        for page in PAGES
    ]


@pytest.mark.filterwarnings("ignore::bayesduel.data.health.ThinDataWarning")  # small on purpose
@pytest.mark.parametrize("page", of_pages())
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}  # as in a notebook
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
        assert "\n\n{notebook}`Download this page as a notebook`\n\n" in text
        assert "plot_" in text


def test_numbers_of_the_validation_summary_stand_on_the_pages_that_it_names():
    folder = DOCS / "validation"
    text = (folder / "index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*?\?) \| (.*?) \| (.*?) \|$", text, flags=re.M)
    assert len(rows) >= 10
    for _, answer, where in rows:
        links = re.findall(r"\]\((.*?)\)", where)
        named = "".join((folder / link).read_text(encoding="utf-8") for link in links)
        for number in re.findall(r"\d[\d,.]*\d ?%|\d[\d,]*\.\d+|\d+,000,000", answer):
            assert number in named, (number, links)
    found = runpy.run_path(str(DOCS / "conf.py"))["myst_substitutions"]
    assert int(found["met"]) + int(found["missed"]) == int(found["targets"]) > 300
    assert set(found) == set(re.findall(r"\{\{ (\w+) \}\}", text))


@pytest.mark.parametrize("folder", ["how_to", "understand"])
def test_every_page_has_a_picture(folder):
    pages = set((DOCS / folder).glob("*.md")) - {DOCS / folder / "index.md"}
    drawn = re.compile(r"^(figure, |ax = bd\.(plots\.)?plot_)|^!\[|^```\{image\}", flags=re.M)
    without = {p.stem for p in pages if not drawn.search(p.read_text(encoding="utf-8"))}
    assert without <= WITHOUT_PICTURE


def test_every_page_of_the_reference_can_be_made():
    """Else a public name in a new room breaks the site, and no other test notices."""
    made = {name: page() for name, page in runpy.run_path(str(DOCS / "conf.py"))["PAGES"].items()}
    assert all("# " in text for text in made.values())
    plots = re.findall(r"^## `(plot_\w+)`$", made["gallery"], flags=re.M)
    assert set(plots) == set(bd.plots.__all__)
    drawn = CELL.findall(made["gallery"])[1:]  # the first imports the package
    assert len(drawn) == len(plots)
    for name, code in zip(plots, drawn, strict=True):
        assert f"{name}(" in code
        assert len(code.splitlines()) <= 10


def test_broken_links_are_named(tmp_path):
    broken = runpy.run_path(str(DOCS / "check_links.py"))["broken"]
    (tmp_path / "b.html").write_text('<p id="here">', encoding="utf-8")
    links = ["b.html#here", "b.html#gone", "c.html", "https://example.org/"]
    text = "".join(f'<a href="{link}">' for link in links)
    (tmp_path / "a.html").write_text(text, encoding="utf-8")
    assert broken(tmp_path) == ["a.html: no place b.html#gone", "a.html: no file c.html"]
