"""What a page is called: the title that is given, else the name of the log."""

import gzip
import re

import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.models import BradleyTerry

ROWS = "left,right,outcome\n" + "a,b,left\na,b,right\nb,a,left\n" * 3


def csv(path):
    path.write_text(ROWS, encoding="utf-8")
    return path


def packed(path):
    path.write_bytes(gzip.compress(ROWS.encode()))
    return path


def folder(path):
    path.mkdir()
    csv(path / "one.csv")
    csv(path / "two.csv")
    return path


@pytest.mark.parametrize(
    ("name", "written", "title"),
    [
        ("votes.csv", csv, "votes"),
        ("votes of 28.11.2026.csv", csv, "votes of 28.11.2026"),
        ("votes.csv.gz", packed, "votes"),
        (".csv", csv, ".csv"),
        ("votes", folder, "2 files: one.csv, two.csv"),
    ],
)
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_a_page_is_called_like_its_file_without_the_ending(tmp_path, name, written, title):
    log = bd.read_duels(written(tmp_path / name))
    given = {"model": BradleyTerry(), "draws": 100}
    bd.report(log, tmp_path / "page.html", **given)
    bd.site(log, tmp_path / "site", **given)
    for page in ("page.html", "site/index.html"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert re.search("<h1[^>]*>([^<]*)", text)[1] == title, page


@pytest.mark.slow
def test_a_title_that_is_given_is_kept(tmp_path):
    frame = pd.DataFrame(
        [row.split(",") for row in ROWS.split()[1:]], columns=ROWS.split()[0].split(",")
    )
    for log in (frame, csv(tmp_path / "votes.csv")):
        page = bd.report(bd.read_duels(log), tmp_path / "page.html", title="votes.csv", draws=100)
        assert ">votes.csv</h1>" in page.read_text(encoding="utf-8")
