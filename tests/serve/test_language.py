"""Each text of the judge's page is in each language, once; a file of one's own has to be whole."""

import json
import re
from importlib.resources import files

import pytest

from bayesduel.serve.choices import asked_of_judges
from bayesduel.serve.language import LANGUAGES, read_language
from bayesduel.serve.options import Options
from bayesduel.study.asking import Asking

pytestmark = pytest.mark.plain
pytest.importorskip("starlette")

FOLDER = files("bayesduel.serve")
ENGLISH = json.loads((FOLDER / "languages" / "en.json").read_text("utf-8"))["texts"]


def used():
    """Return the texts that templates, scripts and the server ask for."""
    found = set()
    for folder, pattern in (("templates", r'say\("(.*?)"\)'), ("static", r'\bt\("(.*?)"[,)]')):
        for path in (FOLDER / folder).iterdir():
            if path.name.endswith((".html", ".js")) and "temml" not in path.name:
                found |= set(re.findall(pattern, path.read_text("utf-8")))
    return found


def test_the_pages_ask_for_texts_that_there_are():
    assert used() - ENGLISH.keys() == set()
    assert len(used()) > 40
    assert {text: own for text, own in ENGLISH.items() if text != own} == {}


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_language_has_each_text_once_and_says_all_answers(code):
    text = (FOLDER / "languages" / f"{code}.json").read_text("utf-8")
    pairs = json.loads(text, object_pairs_hook=lambda pairs: pairs)
    keys = [key for key, _ in dict(pairs)["texts"]]
    assert len(keys) == len(set(keys)) == len(ENGLISH) and set(keys) == ENGLISH.keys()
    say = read_language(code)
    assert say.code == code
    for grades in (1, 2, 3, 4):
        choices = asked_of_judges(Asking(grades=grades, both_bad=True), say)["choices"]
        labels = [choice["label"] for choice in choices]
        assert len(set(labels)) == len(labels)
    same = {key for key, own in say.texts.items() if key == own}
    assert code == "en" or len(same) <= 3
    assert Options(language=code).question == say("Which one is better?")
    assert Options(language=code, question="Why?").question == "Why?"
    assert say("{n} of {most}", n="{most}", most=7).count("{most}") == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["texts"].pop("Skip"), "should also have the texts 'Skip'"),
        (
            lambda d: d["texts"].update(Skip=" ", Undo=""),
            "should also have the texts 'Skip' and 'Undo'",
        ),
        (lambda d: d["texts"].update({"Skp": "x"}), "should not have the texts 'Skp'"),
        (lambda d: d["texts"].update({"Answers: {n}": "Antwort"}), "names in braces"),
        (lambda d: d.update(direction="up"), "direction"),
        (lambda d: d.update(language='"><script>'), "language"),
        (lambda d: d.update(texts=["Skip"]), "should have the form of"),
        (lambda d: d["texts"].update(Skip=1), "should have"),
    ],
)
def test_a_file_of_ones_own_is_whole(tmp_path, change, message):
    held = json.loads((FOLDER / "languages" / "de.json").read_text("utf-8"))
    path = tmp_path / "own.json"
    path.write_text(json.dumps(held), "utf-8")
    assert read_language(path) == read_language("de")
    change(held)
    path.write_text(json.dumps(held), "utf-8")
    with pytest.raises((ValueError, AttributeError), match=message):
        read_language(path)


def test_an_unknown_language_is_named():
    with pytest.raises(ValueError, match="en, de, fr, es, pt, zh, ja or ar, or a file, got 'xx'"):
        Options(language="xx")


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_pages_are_in_the_language(site, code):
    made = site(language=code, completion_code="C0DE")
    page = made.client("ann", begun=False)
    html = page.get("/judge", headers={"accept": "text/html"}).text
    say = read_language(code)
    assert f'<html lang="{code}" dir="{say.direction}">' in html
    for text in ("Welcome", "Skip", "Begin", "Check for new pairs"):
        assert f">{say(text)}<" in html or f" {say(text)}<" in html
    enter = made.stranger().get("/enter").text
    assert say("Enter") in enter
    made.pages.pause(True)
    state = made.client("bob").get("/api/judge").json()
    assert state["message"] == say("The study is paused. Please come back later.")
