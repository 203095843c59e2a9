"""``bayesduel study serve``: what is wrong is said in one line, and whom it lets in."""

import pytest

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.cli.serve import _is_loopback, _rehearse, _warning
from bayesduel.models import BradleyTerry, RandomEffects, Sources
from bayesduel.serve.content import Contents

pytestmark = pytest.mark.plain
pytest.importorskip("uvicorn")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Return a study, and what Uvicorn is started with in place of serving."""
    started = []
    monkeypatch.setattr("uvicorn.run", lambda app, **settings: started.append((app, settings)))
    path = tmp_path / "own.study"
    run("study", "new", path, "--arms", "tea,coffee", "--policy", "Uniform()", "--budget", "1")
    return path, started


def run(*words):
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    return ended.value.code


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Give either --content FILE or"),
        (("--show-labels", "--tls-key", "KEY"), "--tls-certificate and --tls-key together"),
        (("--show-labels", "--webhook", "ftp://x"), "webhook should begin with http"),
        (("--content", "KEY"), "should have the columns arm and content"),
        (("--show-labels", "--name", "other"), "holds no study 'other'"),
    ],
)
def test_a_wrong_option_is_named(own, words, message, tmp_path, capsys):
    key = tmp_path / "key.pem"
    key.write_text("x,y\n1,2\n")
    words = [key if word == "KEY" else word for word in words]
    assert run("study", "serve", own[0], *words) == 2
    assert message in capsys.readouterr().err
    assert not own[1]


def test_it_listens_here_alone_and_prints_a_link_once(own, capsys):
    assert run("study", "serve", own[0], "--show-labels") == 0
    (app, settings), shown = own[1][0], capsys.readouterr()
    assert settings["host"] == "127.0.0.1"
    assert settings["access_log"] is False
    assert shown.out.count("http://127.0.0.1:8000/enter#") == 1
    assert "Listening" not in shown.err
    from starlette.testclient import TestClient

    assert TestClient(app, base_url="http://127.0.0.1:8000").get("/enter").status_code == 200
    assert TestClient(app, base_url="http://evil.example").get("/enter").status_code == 400


def test_another_host_says_what_it_means(own, capsys):
    assert run("study", "serve", own[0], "--show-labels", "--host", "0.0.0.0") == 0
    said = capsys.readouterr().err
    assert "every machine that can reach it" in said and "unencrypted" in said
    assert "unencrypted" not in _warning("192.0.2.1", encrypted=True)
    assert [_is_loopback(h) for h in ("127.0.0.2", "::1", "localhost", "0.0.0.0", "x.org")] == [
        True, True, True, False, False,
    ]  # fmt: skip


@pytest.mark.plain
@pytest.mark.parametrize(
    "settings",
    [
        {"model": BradleyTerry(Sources("source", target="me")), "sources": {"me": 1, "it": 0.1}},
        {"model": BradleyTerry() + RandomEffects("item"), "items": ["p", "q"]},
        {
            "model": "cumulative-logit",
            "asking": bd.study.Asking(grades=2, criteria=["helpful", "short"], both_bad=True),
        },
    ],
)
def test_every_study_that_can_be_made_is_rehearsed(settings):
    study = bd.Study(arms=list("abc"), **settings)
    _rehearse(study)
    assert study.n_duels == 0


def test_labels_are_shown_of_arms_that_are_added_later():
    assert Contents(None, {}, {}).answer("<cocoa>", "").html == "<p class=label>&lt;cocoa&gt;</p>"
