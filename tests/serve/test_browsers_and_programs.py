"""A browser gets pages that say what to do, with what was typed in them; a program gets JSON."""

import re

import pytest

from bayesduel.serve.options import Options
from tests.serve.conftest import ORIGIN, PNG

pytestmark = pytest.mark.plain
pytest.importorskip("starlette")

PAGE = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
FORM = PAGE | {"origin": ORIGIN}


def invite(client, judges, **more):
    return client.post("/api/admin/invite", data={"judges": judges} | more, headers=FORM)


EVIL = {"origin": "https://evil.example"}


def links(page):
    return re.findall(r"<code>(\S+)</code>", page.text)


def test_new_links_loaded_again_invite_nobody(site):
    made = site()
    root = made.client("root", "admin", cookie=True)
    answer = invite(root, "ann\nbob")
    assert answer.status_code == 303
    first, second = (root.get(answer.headers["location"]) for _ in range(2))
    assert len(links(first)) == 2 and links(second) == links(first)
    assert sorted(i.judge for i in made.pages.access.all()) == ["ann", "bob", "root"]


def test_links_are_shown_to_their_administrator_for_some_minutes(site, monkeypatch):
    made = site()
    root, other = (made.client(name, "admin", cookie=True) for name in ("root", "other"))
    place = invite(root, "ann").headers["location"]
    assert links(other.get(place)) == []
    assert len(links(root.get(place))) == 1
    monkeypatch.setattr("bayesduel.serve.links.KEPT", 0)
    late = root.get(place)
    assert (late.status_code, links(late)) == (404, [])
    assert "make new ones" in late.text


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"judges": "ann\n" + "x" * 101, "role": "viewer", "days": "3"}, "judge should be a name"),
        ({"judges": ",;", "role": "viewer", "days": "3"}, "Judges should have 1 to 200 names"),
        ({"judges": "ann", "role": "viewer", "days": "a week"}, "Days should be a number"),
        ({"judges": "ann <b>", "role": "viewer", "days": "400"}, "Days should be in"),
    ],
)
def test_what_was_typed_in_a_form_that_is_refused_is_there_again(site, typed, message):
    made = site()
    root = made.client("root", "admin", cookie=True)
    answer = invite(root, **typed)
    assert answer.status_code == 400
    assert message.lower() in answer.text.lower()
    shown = typed["judges"].replace("<", "&lt;").replace(">", "&gt;")
    assert f"\n{shown}</textarea>" in answer.text
    assert '<option value="viewer" selected>' in answer.text
    assert f'name="days" type="number" value="{typed["days"]}"' in answer.text
    assert [i.judge for i in made.pages.access.all()] == ["root"]  # all of them or none


def test_a_correction_that_is_refused_keeps_its_reason(site):
    made = site()
    made.study.add("secret-a", "secret-b", "left", judge="ann")
    (row,) = made.study.rows()
    root = made.client("root", "admin", cookie=True)
    sent = {"ticket": row["id"], "outcome": "right", "reason": "because " * 70}
    answer = root.post("/api/admin/correct", data=sent, headers=FORM)
    assert answer.status_code == 400
    assert sent["reason"].strip() in answer.text and '<details name="correct" open>' in answer.text


def refusals(made):
    """Return answers to requests that are refused, by what is wrong, for headers that are given."""
    ann = made.client("ann", cookie=True)
    root = made.client("root", "admin", cookie=True)

    evil = made.stranger(host="evil.example")
    long = b"x" * 70_000

    def flood(headers):
        return [ann.get("/judge", headers=headers) for _ in range(100)][-1]

    return {
        "another page": (403, lambda h: ann.get("/standings", headers=h)),
        "no page": (404, lambda h: ann.get("/nowhere", headers=h)),
        "no duels": (409, lambda h: root.get("/admin/duels.csv", headers=h)),
        "long body": (413, lambda h: root.post("/api/admin/invite", content=long, headers=h)),
        "another host": (400, lambda h: evil.get("/enter", headers=h)),
        "another site": (403, lambda h: root.post("/leave", headers=h | EVIL)),
        "flood": (429, flood),
    }  # fmt: skip


@pytest.mark.usefixtures("still_clock")
@pytest.mark.parametrize(
    "what",
    ["another page", "no page", "no duels", "long body", "another host", "another site", "flood"],
)
def test_a_browser_gets_a_page_and_a_program_json(site, what):
    status, ask = refusals(site())[what]
    page = ask(PAGE)
    assert page.status_code == status
    assert page.headers["content-type"].startswith("text/html")
    assert 'role="alert"' in page.text and '{"' not in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    plain = ask({"accept": "application/json"})
    assert plain.status_code == status
    if what != "no page":
        assert set(plain.json()) == {"error"}
    if status == 429:
        assert page.headers["retry-after"] == plain.headers["retry-after"] == "2"


PUBLIC = "https://judge.example.org"


@pytest.mark.parametrize(
    ("public_url", "origin", "status"),
    [
        (PUBLIC, PUBLIC, 303),
        (f"{PUBLIC}:443/", PUBLIC, 303),
        (PUBLIC, "https://evil.example", 403),
        (PUBLIC, "https://judge.example.org:444", 403),
        (ORIGIN, PUBLIC, 403),
    ],
)
def test_a_proxy_that_puts_its_own_host_is_let_in_by_the_public_address(
    site, public_url, origin, status
):
    made = site(public_url=public_url)
    made.client("ann", begun=False)
    sent = {"token": made.tokens["ann"]}
    answer = made.stranger().post("/enter", data=sent, headers=PAGE | {"origin": origin})
    assert answer.status_code == status
    if status == 403:
        assert "--public-url" in answer.text and origin in answer.text


def test_pictures_of_instructions_are_shown(site, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "how.png").write_bytes(PNG)
    rules, consent = tmp_path / "sub" / "rules.md", tmp_path / "consent.md"
    rules.write_text("Like **this**: ![two cups](how.png)", encoding="utf-8")
    consent.write_text("![seal](sub/how.png) ![again](sub/how.png)", encoding="utf-8")
    made = site(instructions=rules, consent=consent)
    ann = made.client("ann", begun=False)
    page = ann.get("/judge").text
    found = re.findall(r'<img src="(\S+)"', page)
    assert len(found) == 3 and "<strong>this</strong>" in page and "how.png" not in page
    for address in found:
        assert ann.get(address).content == PNG
    assert ann.get(found[0] + "1").status_code == 404
    assert made.stranger().get(found[0]).status_code == 401
    rules.write_text("![gone](gone.png)", encoding="utf-8")
    with pytest.raises(ValueError, match=r"rules\.md should name a picture"):
        site(path=tmp_path / "two.study", instructions=rules)


def test_arms_are_called_what_the_study_compares(site):
    made = site(noun="dish")
    root = made.client("root", "admin", cookie=True)
    made.study.add("secret-a", "secret-b", "left")
    assert ">Dishes</h2>" in root.get("/admin").text
    assert "<th>dish</th>" in root.get("/standings").text
    assert not re.search(r"\barms?\b", re.sub(r"<[^>]*>", "", root.get("/admin").text), re.I)
    with pytest.raises(ValueError, match="noun should be what an arm is called"):
        Options(noun=" ")
