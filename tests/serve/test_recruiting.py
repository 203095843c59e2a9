"""Recruiters by their documented forms, places of links, and frames of other sites."""

from urllib.parse import quote

import pytest

import bayesduel as bd
from bayesduel.serve.options import Options
from bayesduel.serve.recruiters import PREVIEW, RECRUITERS, TURK, arrival, way_back

pytestmark = pytest.mark.plain
pytest.importorskip("starlette")

ORIGIN = "http://127.0.0.1:8000"
CREDIT = "https://school.sona-systems.com/webstudy_credit.aspx?experiment_id=1&survey_code=XXXX"
SETTINGS = {
    "prolific": {"completion_code": "DONE1", "screened_out": "OUT1", "full": "FULL1"},
    "mturk": {"completion_code": "DONE1", "screened_out": "OUT1", "full": "FULL1"},
    "sona": {"return_url": CREDIT, "screened_out": "No credit.", "full": "Nothing is left."},
}
LINKS = {
    "prolific": "PROLIFIC_PID=p{k}&STUDY_ID=s1&SESSION_ID=x{k}",
    "mturk": "assignmentId=a{k}&hitId=h1&workerId=p{k}&turkSubmitTo=" + quote(TURK[1], safe=""),
    "sona": "survey_code=p{k}",
}
CODES = {"completed": "DONE1", "screened out": "OUT1", "full": "FULL1"}


def expected(recruiter, outcome, k):
    """Return what a participant is given at the end, by the recruiter's documentation."""
    code = CODES[outcome]
    if recruiter == "prolific":
        return {"url": f"https://app.prolific.com/submissions/complete?cc={code}"}
    if recruiter == "mturk":
        fields = {"assignmentId": f"a{k}", "outcome": outcome, "code": code}
        return {"form": {"action": f"{TURK[1]}/mturk/externalSubmit", "fields": fields}}
    return {"url": CREDIT.replace("XXXX", f"p{k}")} if outcome == "completed" else None


@pytest.mark.parametrize("again", ["once", "same browser", "other browser"])
@pytest.mark.parametrize("outcome", CODES)
@pytest.mark.parametrize("recruiter", SETTINGS)
@pytest.mark.sampled(3)
def test_a_participant_comes_judges_and_is_given_back(site, recruiter, outcome, again):
    judging = None if outcome == "full" else bd.study.Judging(quota=2)
    stop = bd.study.Budget(2) if outcome == "full" else None
    made = site(recruiter=recruiter, judging=judging, stop=stop, **SETTINGS[recruiter])
    made.client("panel", "open")

    def come(browser, k):
        sent = {"token": made.tokens["panel"], "arrival": LINKS[recruiter].format(k=k)}
        return browser.post("/enter", data=sent, headers={"origin": ORIGIN})

    def judged(browser, answer):
        headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
        browser.post("/api/judge/begin", json={"agree": True}, headers=headers)
        state = browser.get("/api/judge").json()
        while state["phase"] == "judging":
            sent = {"key": state["ticket"]["key"], "answer": answer}
            state = browser.post("/api/judge/answer", json=sent, headers=headers).json()
        return state

    browser = made.framed() if recruiter == "mturk" else made.stranger()
    if outcome == "full":  # somebody else has given all answers
        first = made.framed() if recruiter == "mturk" else made.stranger()
        assert come(first, 0).status_code == 303
        assert judged(first, "1")["completion"] is not None
    assert come(browser, 1).status_code == 303
    state = judged(browser, "cannot tell" if outcome == "screened out" else "1")
    if again == "same browser":
        assert come(browser, 1).status_code == 303
        state = judged(browser, "1")
    if again == "other browser":
        other = made.framed() if recruiter == "mturk" else made.stranger()
        refused = come(other, 1)
        assert refused.status_code == 403 and "another browser" in refused.text
        assert "DONE1" not in refused.text
    found = {k: v for k, v in (state["completion"] or {}).items() if k != "code" and v}
    assert (found or None) == expected(recruiter, outcome, 1)
    code = CODES["completed"] if outcome == "completed" and recruiter != "sona" else None
    assert (state["completion"] or {"code": None})["code"] == code
    names = {row["judge"] for row in made.study.judges()}
    assert names <= {"panel-p0", "panel-p1"}


@pytest.mark.parametrize("recruiter", SETTINGS)
def test_a_link_without_a_place_says_so_by_the_form_of_the_recruiter(site, recruiter):
    made = site(recruiter=recruiter, quotas={"panel": 1}, seats=50, **SETTINGS[recruiter])
    for name in ("panel", "other"):
        made.client(name, "open")

    def come(name, k):
        sent = {"token": made.tokens[name], "arrival": LINKS[recruiter].format(k=k)}
        browser = made.framed() if recruiter == "mturk" else made.stranger()
        return browser.post("/enter", data=sent, headers={"origin": ORIGIN})

    assert come("panel", 1).status_code == 303
    refused = come("panel", 2)
    assert refused.status_code == 403
    wanted = expected(recruiter, "full", 2)
    text = "Nothing is left." if wanted is None else "FULL1"
    assert text in refused.text and "DONE1" not in refused.text
    assert [come("other", k).status_code for k in (3, 4)] == [303, 303]
    made.study.add("secret-a", "secret-b", "left", judge="panel-p1")
    made.study.exclude_judge("panel-p1", "at random")  # its place is free again
    assert come("panel", 5).status_code == 303


def test_a_preview_takes_no_place_and_shows_no_form(site):
    made = site(recruiter="mturk", completion_code="DONE1")
    made.client("panel", "open")
    query = f"assignmentId={PREVIEW}&hitId=h&turkSubmitTo={quote(TURK[0], safe='')}"
    page = made.framed().get(f"/enter?{query}")
    assert "This is a preview" in page.text and "<form" not in page.text
    sent = {"token": made.tokens["panel"], "arrival": query}
    page = made.framed().post("/enter", data=sent, headers={"origin": ORIGIN})
    assert "This is a preview" in page.text and "set-cookie" not in page.headers
    assert [i.role for i in made.pages.access.all()] == ["open"]


@pytest.mark.parametrize(
    "place",
    ["https://evil.example", "https://www.mturk.com.evil.example", "javascript:a()", ""],
)
def test_no_form_goes_to_another_site_than_mturk(place):
    fields = arrival(f"assignmentId=a1&turkSubmitTo={quote(place, safe='')}&x=1")
    found = way_back("mturk", "completed", "DONE1", fields)
    assert found is None if place else found["form"]["action"].startswith(TURK[0] + "/")


def test_what_a_link_says_is_data(site):
    ugly = quote('"><script>alert(1)</script>', safe="")
    fields = arrival(f"survey_code={ugly}&PROLIFIC_PID={'x' * 999}&evil=1&STUDY_ID=%00%ff")
    assert set(fields) <= {"survey_code", "STUDY_ID"}
    back = way_back("sona", "completed", CREDIT, fields)
    assert "<" not in back["url"] and '"' not in back["url"]
    made = site(recruiter="sona", return_url=CREDIT)
    made.client("panel", "open")
    sent = {"token": made.tokens["panel"], "arrival": f"survey_code={ugly}"}
    refused = made.stranger().post("/enter", data=sent, headers={"origin": ORIGIN})
    assert refused.status_code == 400 and "<script>alert" not in refused.text


@pytest.mark.sampled(3)
@pytest.mark.parametrize("sites", [(), ("https://school.example.org",)])
@pytest.mark.parametrize("recruiter", [None, *RECRUITERS])
def test_frames_and_forms_of_other_sites(site, sites, recruiter):
    settings = {} if recruiter is None else SETTINGS[recruiter]
    made = site(recruiter=recruiter, frame_ancestors=sites, **settings)
    frames = [*sites, *(["https://worker.mturk.com"] if recruiter == "mturk" else [])]
    for path in ("/enter", "/judge", "/standings", "/static/page.css", "/admin"):
        headers = made.stranger().get(path, headers={"accept": "text/html"}).headers
        policy = dict(
            part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
        )
        framed = bool(frames) and path != "/admin"
        assert ("x-frame-options" in headers) is not framed
        turk = recruiter == "mturk" and path != "/admin"
        wanted = frames[0] if framed else "'none'"
        assert policy["frame-ancestors"].split()[0] == wanted
        assert (TURK[0] in policy["form-action"].split()) is turk
        assert policy["script-src"] == "'self'"
    cookies = made.stranger().get("/enter").headers["set-cookie"]
    assert ("samesite=none; Secure; Partitioned".lower() in cookies.lower()) is bool(frames)
    made.client("root", "admin")
    sent = {"token": made.tokens["root"], "arrival": ""}
    entered = made.stranger().post("/enter", data=sent, headers={"origin": ORIGIN})
    assert "samesite=strict" in entered.headers["set-cookie"].lower()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recruiter": "clickworker"}, "recruiter should be"),
        ({"recruiter": "sona"}, "survey_code=XXXX"),
        ({"quotas": {"panel": 0}}, "seats should be"),
        ({"frame_ancestors": ["ftp://x"]}, "frame_ancestors should begin with http"),
        ({"frame_ancestors": ["https://x; script-src *"]}, "frame_ancestors should"),
        ({"frame_ancestors": ["https://x.org/path"]}, "frame_ancestors should be sites"),
        (
            {"frame_ancestors": ["https://x.org"], "public_url": "http://judge.example.org"},
            "public_url should begin with https",
        ),
        ({"full": "https://"}, "full should begin with http"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Options(**options)
