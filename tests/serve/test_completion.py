"""The completion code is for judges who judged; the others are given another text or link."""

import pytest

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.serve.options import SEATS
from bayesduel.serve.pages import Pages

pytestmark = pytest.mark.plain
pytest.importorskip("starlette")

CODE = {"completion_code": "C0FFEE", "return_url": "https://example.org/back?cc=C0FFEE"}
GOLD = [("secret-a", "secret-b", "left"), ("secret-a", "secret-c", "left")]


def played(judge, answers):
    """Answer pairs until the page is done, the last answer again and again."""
    response = judge.get("/api/judge")
    for k in range(40):
        state = response.json()
        if state["phase"] == "done":
            return response
        sent = {"key": state["ticket"]["key"], "answer": answers[min(k, len(answers) - 1)]}
        response = judge.post("/api/judge/answer", json=sent)
    raise AssertionError(state)


@pytest.mark.parametrize(
    ("answers", "settings"),
    [
        (["s"], {"items": ["p"]}),  # three skips of three pairs
        (["cannot tell"], {"judging": bd.study.Judging(quota=20)}),
        (["1", "cannot tell", "cannot tell"], {"judging": bd.study.Judging(quota=3)}),
        (["1", "s", "s", "s", "s"], {"items": ["p"], "judging": bd.study.Judging(quota=3)}),
    ],
)
def test_who_decides_less_than_half_of_the_pairs_gets_no_code(site, answers, settings):
    made = site(**CODE, **settings)
    done = played(made.client("idle"), answers)
    assert done.json()["completion"] is None
    assert "C0FFEE" not in done.text
    assert "at least half of their pairs" in done.json()["message"]


def test_who_fails_the_gold_questions_gets_no_code(site):
    made = site(judging=bd.study.Judging(quota=2, gold=GOLD, gold_share=1.0), **CODE)

    def judged(judge, *, right):
        """Answer every question; secret-a, which shows as "answer 0", is better than all others."""
        response = judge.get("/api/judge")
        while (state := response.json())["phase"] == "judging":
            best_is_left = "answer 0" in state["ticket"]["left"]
            answer = "1" if best_is_left == right else "2"
            sent = {"key": state["ticket"]["key"], "answer": answer}
            response = judge.post("/api/judge/answer", json=sent)
        return response

    careless = judged(made.client("careless"), right=False)
    assert careless.json()["completion"] is None and "C0FFEE" not in careless.text
    careful = judged(made.client("careful"), right=True)
    assert careful.json()["completion"]["code"] == "C0FFEE"


def test_who_comes_after_the_stop_gets_no_code(site):
    made = site(stop=bd.study.Budget(2), **CODE)
    assert played(made.client("ann"), ["1"]).json()["completion"]["code"] == "C0FFEE"
    late = played(made.client("late"), ["1"])
    assert late.json()["message"].startswith("The study has all")
    assert late.json()["completion"] is None and "C0FFEE" not in late.text


def test_who_decides_half_of_the_pairs_gets_the_code(site):
    made = site(judging=bd.study.Judging(quota=4), **CODE)
    done = played(made.client("ann"), ["1", "cannot tell", "=", "cannot tell"]).json()
    assert done["completion"] == {"code": "C0FFEE", "url": CODE["return_url"]}


@pytest.mark.parametrize("given", ["Your code is SORRY.", "https://example.org/out?cc=SORRY"])
def test_the_others_are_given_a_text_or_a_link(site, given):
    made = site(judging=bd.study.Judging(quota=2), screened_out=given, **CODE)
    done = played(made.client("idle"), ["cannot tell"]).json()
    assert "at least half" not in done["message"]
    if given.startswith("https"):
        assert done["completion"] == {"code": None, "url": given}
    else:
        assert done["message"].endswith(given) and done["completion"] is None
    assert played(made.client("ann"), ["1"]).json()["completion"]["code"] == "C0FFEE"


def test_without_a_code_nobody_reads_of_one(site):
    made = site(judging=bd.study.Judging(quota=2))
    done = played(made.client("idle"), ["cannot tell"]).json()
    assert done["message"] == "You have answered all your pairs. Thank you!"


def test_the_command_takes_the_codes_and_the_seats(tmp_path, monkeypatch, capsys):
    made = []

    class Kept(Pages):
        def __init__(self, study, contents, options):
            super().__init__(study, contents, options)
            made.append(options)

    monkeypatch.setattr("bayesduel.serve.pages.Pages", Kept)
    monkeypatch.setattr("uvicorn.run", lambda app, **settings: None)
    path = str(tmp_path / "own.study")
    for words in (
        ["study", "new", path, "--arms", "tea,coffee", "--budget", "1"],
        ["study", "serve", path, "--show-labels", "--completion", "A", "--screened-out", "B",
         "--seats", "3"],
        ["study", "serve", path, "--show-labels", "--completion-code", "A"],
    ):  # fmt: skip
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0, capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["study", "serve", path, "--show-labels", "--screened-out", "https://"])
    assert ended.value.code == 2
    assert "screened_out should begin with http" in capsys.readouterr().err
    kept = [(o.completion_code, o.screened_out, o.seats) for o in made]
    assert kept == [("A", "B", 3), ("A", None, SEATS)]
