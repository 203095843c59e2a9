"""Every attack of `benchmarks.study_attacked` on a study with all of it switched on is refused."""

import pytest

import bayesduel as bd
from bayesduel.models import BradleyTerry, Sources
from bayesduel.policies import ContrastAllocation
from benchmarks.study_attacked import ASKING, NAMES, requests
from tests.serve.conftest import ORIGIN

pytestmark = pytest.mark.plain
pytest.importorskip("starlette")
pytest.importorskip("httpx")
ITEMS = [f"question {k}" for k in range(9)]
SOURCES = {"people": 1.0, "machine": 0.01}


@pytest.fixture
def made(site):
    """Return pages of a study with everything."""
    judging = bd.study.Judging(
        gold=[("secret-a", "secret-b", "left", ITEMS[0])], gold_share=0.2, quota=50, repeats=0.1,
        training=[("secret-a", "secret-c", "left", ITEMS[1], "why")], overlap=0.1,
    )  # fmt: skip
    return site(
        items=ITEMS, asking=ASKING, policy=ContrastAllocation(), judging=judging, sources=SOURCES,
        model=BradleyTerry(Sources("source", target="people")), recruiter="prolific",
        completion_code="C0DE", webhook="http://127.0.0.1:9/hook",
    )  # fmt: skip


def kept(study):
    return study.audit(), study.rows(everything=True), study.excluded


@pytest.mark.parametrize("name", requests("a-1.0", "a-2.0"))
def test_an_attack_is_refused_and_stores_nothing(made, name):
    judges = [made.client(who, cookie=True) for who in ("ann", "bob")]
    for each in judges:
        each.headers["origin"] = ORIGIN
        each.post("/api/judge/begin", json={"agree": True})
    mine, other = (each.get("/api/judge").json()["ticket"]["key"] for each in judges)
    before = kept(made.study)
    method, path, sent, due = requests(mine, other)[name]
    answer = judges[0].request(method, path, **sent)
    assert answer.status_code in due, answer.text
    assert "traceback" not in answer.text.lower() and str(made.study.store.path) not in answer.text
    assert kept(made.study) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_refused_and_writes_nothing(site, tmp_path, name):
    root = site(uploads=tmp_path / "uploads").client("root", "admin")
    query = {"name": name, "size": 1, "offset": 0}
    assert root.post("/api/admin/upload", params=query, content=b"x").status_code == 400
    assert [path for path in (tmp_path / "uploads").rglob("*") if path.is_file()] == []
