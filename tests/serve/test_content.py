"""What judges see: rendered safely, from files inside the folder only."""

import os

import pytest

from bayesduel.serve.options import Options

pytestmark = pytest.mark.plain
pytest.importorskip("nh3")
pytest.importorskip("markdown_it")

ARMS = ("a", "b")


def contents(tmp_path, *rows, labels=ARMS, items=()):
    from bayesduel.serve.content import read_contents
    from tests.serve.conftest import write_content

    return read_contents(write_content(tmp_path / "c.csv", rows), labels, items)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "[x](vbscript:x)",
        "<javascript:alert(1)>",
        '<a href="https://x" onclick="alert(1)">x</a>',
        "<svg/onload=alert(1)>",
        "<iframe src=https://evil.example></iframe>",
        "<style>*{display:none}</style>",
        "![x](https://evil.example/track.png)",
        '[x](https://x "\\" onmouseover=alert(1)")',
        "`<script>`\n\n    <script>alert(1)</script>",
        'https://x/"onmouseover=alert(1)',
    ],
)
def test_hostile_text_is_shown_and_does_nothing(tmp_path, text):
    import html.parser

    html_ = contents(tmp_path, ("a", "", text), ("b", "", "x")).answers["a", ""].html

    class Tags(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            assert tag in ("p", "a", "code", "pre", "em", "strong"), html_
            for name, value in attrs:
                assert name in ("href", "title", "target", "rel"), html_
                if name == "href":
                    assert value.startswith(("http://", "https://", "mailto:")), html_

    Tags().feed(html_)


def test_markdown_pictures_recordings_films_and_links(tmp_path):
    for name in ("p.png", "s.mp3", "f.mp4"):
        (tmp_path / name).write_bytes(b"x")
    rows = [("a", "", "**bold** ![a chart](p.png)\n\n| x |\n|---|\n| 1 |"), ("b", "", "p.png")]
    found = contents(tmp_path, *rows)
    first = found.answers["a", ""]
    assert "<strong>bold</strong>" in first.at("/m") and "<table>" in first.html
    assert 'src="/m/0"' in first.at("/m") and 'alt="a chart"' in first.html
    assert "p.png" not in first.at("/m")
    assert first.file(0) == tmp_path / "p.png"
    assert first.file(1) is None
    for text, tag in (("s.mp3", "<audio"), ("f.mp4", "<video"), ("https://example.org/x", "<a ")):
        html = contents(tmp_path, ("a", "", text), ("b", "", "x")).answers["a", ""].html
        assert tag in html
        assert text not in html or tag == "<a "
    assert 'rel="noopener noreferrer nofollow"' in html and 'target="_blank"' in html


@pytest.mark.parametrize("name", ["../own.png", "/etc/x.png", "sub/../../own.png", "link.png",
                                  "gone.png", "![x](../own.png)", "![x](%2e%2e/own.png)",
                                  "![x](c.csv)", "folder.png"])  # fmt: skip
def test_files_outside_of_the_folder_are_refused(tmp_path, name):
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "folder.png").mkdir()
    (tmp_path / "own.png").write_bytes(b"x")
    os.symlink(tmp_path / "own.png", inside / "link.png")
    with pytest.raises(ValueError, match=r"line 2 should name a picture, recording or film"):
        contents(inside, ("a", "", name), ("b", "", "x"))


def test_what_is_missing_or_twice_is_named(tmp_path):
    good = ("a", "", "x"), ("b", "", "x")
    for rows, options, message in (
        (good[:1], {}, "has no row for arm 'b': add one"),
        ((*good, good[0]), {}, "line 4: arm 'a' and item '' are there already"),
        ((*good, ("z", "", "x")), {}, "line 4: the study has no arm 'z'"),
        (good, {"items": ["q"]}, "row for arm 'a' for item 'q'"),
        ((*good, ("a", "q", "x")), {}, "has the items '' and 'q', but the study has no items"),
        (((*good[0], "more"), good[1]), {}, "line 2, should have 3 fields"),
    ):
        with pytest.raises(ValueError, match=message):
            contents(tmp_path, *rows, **options)
    (tmp_path / "d.csv").write_text("arm,text\na,x\n")
    from bayesduel.serve.content import read_contents

    with pytest.raises(ValueError, match="columns arm and content, and rows, got arm and text"):
        read_contents(tmp_path / "d.csv", ARMS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"return_url": "javascript:alert(1)"}, "return_url should begin with http"),
        ({"webhook": "file:///etc/passwd"}, "webhook should begin with http"),
        ({"public_url": "judge.example.org"}, "public_url should begin with http"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Options(**options)
