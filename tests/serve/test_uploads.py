"""What an administrator uploads stays in its folder, runs nothing, and is whole when it is seen."""

import os
import re

import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from tests.serve.conftest import ARMS, PNG

pytestmark = pytest.mark.plain
pytest.importorskip("starlette")

PAGE = {"accept": "text/html"}
CSV = b"arm,item,content\n,,Which **one**?\nsecret-a,,a.png\nsecret-b,,x $y^2$\nsecret-c,,b.svg\n"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(7)</script></svg>'
HTML = b"<!doctype html><script>alert(7)</script>"


def send(root, name, data, part=300, **changes):
    """Send a file in parts; return the last answer."""
    answer = None
    for offset in range(0, len(data), part):
        query = {"name": name, "size": len(data), "offset": offset} | changes
        answer = root.post("/api/admin/upload", params=query, content=data[offset : offset + part])
        if answer.status_code != 200:
            break
    return answer


def publish(root, whether="true"):
    return root.post("/api/admin/content", json={"publish": whether == "true"})


@pytest.fixture
def uploading(site, tmp_path):
    """Return pages whose contents are uploaded, and their administrator."""
    made = site(uploads=tmp_path / "uploads")
    return made, made.client("root", "admin")


def test_an_upload_is_looked_at_and_then_published(uploading, tmp_path):
    made, root = uploading
    ann = made.client("ann")
    assert ann.get("/api/judge").json()["phase"] == "paused"
    assert "Nothing yet" in root.get("/admin", headers=PAGE).text
    for name, data in {"c.csv": CSV, "a.png": PNG}.items():
        assert send(root, name, data).json() == {"whole": True}
    assert "b.svg" in root.get("/admin/content", headers=PAGE).text  # which is missing
    assert str(tmp_path) not in root.get("/admin/content", headers=PAGE).text
    assert publish(root).status_code == 400
    send(root, "b.svg", SVG)
    page = root.get("/admin/content", headers=PAGE).text
    assert "Nothing is missing" in page and "Which <strong>one</strong>?" in page
    shown = re.findall(r'src="(/admin/content/\d+/\d+)"', page)
    files = [root.get(address) for address in shown]
    assert {file.content for file in files} == {PNG, SVG}
    for file in files:
        assert "sandbox" in file.headers["content-security-policy"]
        assert file.headers["x-content-type-options"] == "nosniff"
    assert publish(root).status_code == 200
    state = ann.get("/api/judge").json()
    assert state["phase"] == "judging" and "<strong>one</strong>" in state["ticket"]["prompt"]
    again = made.again()  # a server that is started again
    assert not again.contents.is_empty


def test_names_of_files_say_which_arm_they_are(uploading):
    _, root = uploading
    for name, data in {
        "secret-a.png": PNG,
        "secret-b.txt": b"**Text**",
        "prompt.md": b"Well?",
    }.items():
        send(root, name, data)
    send(root, "other.txt", b"x")
    page = root.get("/admin/content", headers=PAGE).text
    assert "1 missing" in page and '<li dir="auto">secret-c</li>' in page
    assert "other.txt" in page and "<strong>Text</strong>" in page and "Well?" in page
    send(root, "secret-c.svg", SVG)
    assert publish(root).status_code == 200
    assert "the upload has no files" in root.get("/admin/content", headers=PAGE).text.lower()


def test_folders_are_items(site, tmp_path):
    made = site(items=["q 1", "q 2"], uploads=tmp_path / "uploads")
    root = made.client("root", "admin")
    for item in ("q 1", "q 2"):
        for arm in ARMS:
            assert send(root, f"{item}/{arm}.txt", b"text").status_code == 200
    assert publish(root).status_code == 200
    assert made.pages.contents.items == ["q 1", "q 2"]


ATTACKS = {
    "up": "../x.png", "up inside": "a/../../x.png", "here": "./x.png", "root": "/etc/x.png",
    "backslash": "..\\x.png", "drive": "C:\\x.png", "drive 2": "C:x.png", "empty": "",
    "empty part": "a//x.png", "hidden": ".x.png", "hidden folder": ".git/x.png",
    "nul": "x\0.png", "newline": "x\n.png", "direction": "x\u202egnp.png", "space": " x.png",
    "dots": "x.png...", "deep": "a/b/c/d/x.png", "long": "x" * 300 + ".png", "stream": "x.png:y",
    "html": "x.html", "script": "x.js", "zip": "x.zip", "none": "x", "double": "x.png.html",
    "url": "http://evil.example/x.png", "surrogate": "x\ud800.png", "device": "con?.png",
    "device 2": "CON.png", "device 3": "a/nul", "device 4": "com1.tar.png", "device 5": "Aux .txt",
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS.values(), ids=ATTACKS)
def test_no_name_leaves_the_folder(uploading, tmp_path, name):
    made, root = uploading
    before = sorted(tmp_path.rglob("*"))
    if "\ud800" in name:
        with pytest.raises(Exception, match="name should"):
            made.pages.uploads.add(name, 1, 0, b"x")
    else:
        assert send(root, name, PNG).status_code == 400
    assert [p for p in sorted(tmp_path.rglob("*")) if p not in before and not p.is_dir()] == []


@pytest.mark.parametrize("where", ["folder", "part", "draft", "file"])
def test_a_link_in_the_folder_is_not_followed(uploading, tmp_path, where):
    made, root = uploading
    outside = tmp_path / "outside"
    outside.mkdir()
    secret = outside / "secret.png"
    secret.write_bytes(b"secret")
    draft = made.pages.uploads.draft
    if where == "draft":
        draft.symlink_to(outside)
    else:
        draft.mkdir()
    if where == "folder":
        (draft / "sub").symlink_to(outside)
        assert send(root, "sub/x.png", PNG).status_code == 400
    elif where == "part":
        from hashlib import sha256

        (draft / f".{sha256(b'x.png').hexdigest()}").symlink_to(secret)
        assert send(root, "x.png", PNG).status_code >= 400
    elif where == "draft":
        assert send(root, "x.png", PNG).status_code == 400
    else:
        (draft / "a.png").symlink_to(secret)
        send(root, "c.csv", CSV)
        page = root.get("/admin/content", headers=PAGE).text
        assert "should name a picture" in page and "Nothing is missing" not in page
    assert secret.read_bytes() == b"secret"
    assert os.listdir(outside) == ["secret.png"]


@pytest.mark.parametrize(
    ("changes", "status"),
    [({"size": 0}, 400), ({"size": 10**11}, 400), ({"size": "x"}, 400), ({"offset": 10**9}, 400),
     ({"offset": -1}, 400), ({"offset": 5, "size": 10**6}, 409), ({"size": 10}, 400)],
)  # fmt: skip
def test_sizes_are_kept(uploading, changes, status):
    made, root = uploading
    assert send(root, "a.png", PNG, **changes).status_code == status
    assert made.pages.uploads.files() == []


def test_a_part_is_limited_and_may_be_sent_again(uploading, monkeypatch):
    made, root = uploading
    big = bytes(600_000)
    assert send(root, "a.wav", big, part=600_000).status_code == 413
    for offset in (0, 0, 300_000, 300_000):
        query = {"name": "a.wav", "size": len(big), "offset": offset}
        answer = root.post(
            "/api/admin/upload", params=query, content=big[offset : offset + 300_000]
        )
    assert answer.status_code == 409  # it is whole: the part is gone
    assert (made.pages.uploads.draft / "a.wav").read_bytes() == big
    monkeypatch.setattr("bayesduel.serve.uploads.MOST_FILES", 1)
    assert send(root, "b.wav", big[:9]).status_code == 413


@pytest.mark.parametrize("who", ["judge", "viewer", "stranger", "elsewhere"])
@pytest.mark.parametrize(
    "path",
    [
        "/api/admin/upload?name=a.png&size=1&offset=0",
        "/api/admin/content",
        "/admin/content",
        "/admin/content/0/0",
    ],
)
@pytest.mark.sampled(2)
def test_only_the_administrator_uploads(uploading, who, path):
    made, _ = uploading
    if who == "stranger":
        client = made.stranger()
    elif who == "elsewhere":
        client = made.client("root", "admin", cookie=True)
        client.headers["origin"] = "https://evil.example"
    else:
        client = made.client(who, who)
    post = path.startswith("/api")
    if who == "elsewhere" and not post:
        return
    answer = client.post(path, content=b"x") if post else client.get(path)
    assert answer.status_code in (401, 403)
    assert made.pages.uploads.files() == []


def test_without_a_folder_nothing_is_uploaded(site):
    root = site().client("root", "admin")
    assert send(root, "a.png", PNG).status_code == 404
    assert root.get("/admin/content").status_code == 404
    assert "What judges see" not in root.get("/admin", headers=PAGE).text


def test_two_tables_and_other_faults_are_said(uploading):
    _, root = uploading
    for name, data, said in (
        ("c.csv", b"arm,content\nnobody,x\n", "the study has no arm"),
        ("d.csv", CSV, "one CSV file"),
    ):
        send(root, name, data)
        assert said in root.get("/admin/content", headers=PAGE).text
    assert publish(root, "false").status_code == 200
    send(root, "sub/c.csv", CSV)
    assert "at the top of the upload" in root.get("/admin/content", headers=PAGE).text
    assert publish(root).status_code == 400


def test_a_file_that_claims_to_be_a_picture_runs_nothing(uploading):
    _, root = uploading
    send(root, "secret-a.png", HTML)
    page = root.get("/admin/content", headers=PAGE).text
    (address,) = re.findall(r'src="(/admin/content/\d+/\d+)"', page)
    found = root.get(address)
    assert found.headers["content-type"] == "image/png"
    assert found.headers["content-security-policy"].startswith("default-src 'none'")


def test_arms_and_items_come_from_a_table(tmp_path):
    path = tmp_path / "content.csv"
    path.write_text("arm,item,content\n,q1,Say\nb,q1,x\na,q1,y\n,q2,Why\nb,q2,x\na,q2,y\n", "utf-8")
    words = [
        "study",
        "new",
        str(tmp_path / "s"),
        "--arms-file",
        str(path),
        "--items-file",
        str(path),
    ]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    study = bd.Study(tmp_path / "s")
    assert (study.arms, study.items) == (("b", "a"), ("q1", "q2"))


def test_a_folder_is_uploaded_in_a_browser(serving, opened, tmp_path):
    folder = tmp_path / "given"
    folder.mkdir()
    for arm in ARMS:
        (folder / f"{arm}.txt").write_text(
            f"text of {arm[-1]} with $x^2$ and <script>alert(7)</script>"
        )
    (folder / "evil.html").write_bytes(HTML)
    (folder / ".DS_Store").write_bytes(b"x")
    made = serving(uploads=tmp_path / "uploads")
    page = opened(made.pages.invited("root", "admin", 1)[1])
    page.set_input_files("#folder", folder)
    page.wait_for_selector("text=3 of 4 files are uploaded.")
    assert "evil.html should end in one of" in page.inner_text("#upload-state")
    page.click("text=Look at the upload")
    page.wait_for_selector("text=Nothing is missing.")
    assert page.locator(".preview .card").count() == 3
    assert page.locator(".preview math").count() == 3
    page.click("text=Publish")
    page.wait_for_selector("text=An upload is published.")
    assert [f for f in opened.faults if "400" not in f] == []
