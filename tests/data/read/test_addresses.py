"""Addresses: the log of a table is that of the same rows in a file, and what they say is data."""

import hashlib
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.data.read.address import is_address, shown_address
from bayesduel.data.read.duckdb_source import connected

EXTENSIONS = {"sqlite": "sqlite_scanner", "postgresql": "postgres_scanner", "https": "httpfs",
              "s3": "httpfs"}  # fmt: skip
HOSTILE = [
    *('x"; DROP TABLE votes; --', "x'; --", "read_csv('/etc/passwd')", "/etc/passwd", "(SELECT 1)"),
    *("a b", "x.nc", "é", "information_schema", "s.votes\\", "?", "%s", "{}"),
]


def installed(extension):
    """Return whether this machine's DuckDB has an extension."""
    with connected(alone=True) as (con, _):
        try:
            con.execute(f"LOAD {extension}")
        except duckdb.Error:
            return False
    return True


def run(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


def said(*args):
    """Return the one line in which a command refuses its input."""
    done = run(*args)
    assert done.exit_code == 2, done.output
    (line,) = done.stderr.splitlines()
    return line


def rows(coding, judge, covariate, weights, n=200):
    """Return a table of votes."""
    rng = np.random.default_rng(0)
    won = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    words = {
        "sides": ["left", "right", "tie"],
        "1/0/0.5": [1.0, 0.0, 0.5],
        "w/l": ["W", "L", "D"],
        "probability": [0.9, 0.25, 0.5],
        "grades": [2, -1, 0],
    }[coding]
    frame = pd.DataFrame({"left": rng.choice(list("abc"), n), "right": rng.choice(list("abc"), n)})
    frame["outcome"] = np.array(words)[won]
    if coding == "winner":
        frame["outcome"] = np.where(won == 0, frame["left"], frame["right"])
    if judge != "none":
        frame["judge"] = rng.choice(["x", "y", None if judge == "missing" else "z"], n)
    if covariate:
        frame["length"] = rng.integers(-1, 2, n).astype(float)
    if weights:
        frame["weight"] = rng.integers(0, 4, n)
    return frame


def written(scheme, frame, folder):
    """Return the address of a table."""
    if scheme == "sqlite":
        with closing(sqlite3.connect(folder / "log.sqlite")) as con:
            frame.to_sql("votes", con, index=False)
        return f"sqlite:///{folder}/log.sqlite::votes"
    with duckdb.connect(folder / "log.db") as con:
        con.register("frame", frame)
        con.execute("CREATE SCHEMA own; CREATE TABLE own.votes AS FROM frame")
        con.execute("CREATE VIEW seen AS FROM own.votes")
    return f"duckdb:///{folder}/log.db::" + ("seen" if scheme == "view" else "own.votes")


def same(one, other):
    frames = [log.to_frame().sort_values([*log.to_frame()]) for log in (one, other)]
    frames = [frame.reset_index(drop=True) for frame in frames]  # counts come in any order
    return (
        one.arms == other.arms
        and all(np.array_equal(x, y) for x, y in zip(one.cells, other.cells, strict=True))
        and frames[0].equals(frames[1])
        and one.read_summary.n_rows == other.read_summary.n_rows
    )


CASES = list(product(
    ("table", "view", "sqlite"), ("sides", "1/0/0.5", "w/l", "probability", "grades"),
    ("none", "all", "missing"), (False, True), (False, True),
))  # fmt: skip


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, marks=[] if k % 13 == 0 else pytest.mark.slow) for k, c in enumerate(CASES)],
    ids=lambda case: "-".join(map(str, case)),
)
@pytest.mark.sampled(4)
@pytest.mark.slow
def test_a_table_is_read_as_a_file_of_its_rows(case, tmp_path):
    scheme, coding, judge, covariate, weights = case
    if scheme == "sqlite" and not installed("sqlite_scanner"):
        pytest.skip("DuckDB's extension sqlite_scanner is not installed")
    frame = rows(coding, judge, covariate, weights)
    address = written(scheme, frame, tmp_path)
    frame.to_parquet(tmp_path / "log.parquet")
    options = {} if coding == "sides" else {"coding": coding}
    options |= {"covariates": ["length"]} if covariate else {}
    for more in ({}, {"shard": "s"}):
        of_file = bd.read_duels(tmp_path / "log.parquet", **options, **more)
        assert same(bd.read_duels(address, **options, **more), of_file)
    merged = bd.merge([address, address], **options)
    assert len(merged.votes) == len(of_file.votes) < len(frame)
    assert merged.n_duels == of_file.n_duels == of_file.votes.weight.sum()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Return a file with a table of each of the names."""
    path = tmp_path_factory.mktemp("hostile") / "log.db"
    with duckdb.connect(path) as con:
        con.register("frame", rows("sides", "all", False, False))
        for name in ("votes", *HOSTILE):
            quoted = name.replace('"', '""')
            con.execute(f'CREATE TABLE "{quoted}" AS FROM frame')
    return path


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.sampled(3)
def test_a_name_of_a_table_is_a_name(name, hostile):
    """It is quoted wherever it stands, and whoever asks for another gets one line."""
    before = hashlib.sha256(hostile.read_bytes()).digest()
    log = bd.read_duels(f"duckdb:///{hostile}::{name}")
    assert same(log, bd.read_duels(f"duckdb:///{hostile}::votes"))
    assert "should name one table" in said("winners", f"duckdb:///{hostile}::no {name}")
    assert hashlib.sha256(hostile.read_bytes()).digest() == before
    assert [p.name for p in hostile.parent.iterdir()] == ["log.db"]


def test_commands_take_names_of_tables(hostile):
    for name in (HOSTILE[0], "x.nc"):
        assert run("health", f"duckdb:///{hostile}::{name}").exit_code == 0


@pytest.mark.parametrize(
    "name", ["it's.db", "a;b.db", "a*b.db", "a::b.db", "é ü.db", "md:x", "%.db"]
)
@pytest.mark.sampled(3)
@pytest.mark.slow
def test_a_name_of_a_file_is_a_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("plain.db") as con:
        con.register("frame", rows("sides", "all", False, False))
        con.execute("CREATE TABLE votes AS FROM frame")
    (tmp_path / "plain.db").rename(tmp_path / name)
    assert bd.read_duels(f"duckdb:///{name}::votes").n_arms == 3
    log = bd.read_duels(f"duckdb:///{tmp_path}/{name}::votes")
    assert log.read_summary.files == (str(tmp_path / name),)
    assert str(tmp_path) not in log.read_summary.public_source


STORE = r"""
import re
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

class Store(SimpleHTTPRequestHandler):  # sends parts of files, as object stores do
    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            return self.send_error(404)
        data = path.read_bytes()
        part = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first, last = (int(end or len(data) - 1) for end in part.groups()) if part else (0, None)
        sent = data[first:] if last is None else data[first:last + 1]
        self.send_response(206 if part else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(sent)))
        if part:
            self.send_header("Content-Range", f"bytes {first}-{first + len(sent) - 1}/{len(data)}")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(sent)

    do_HEAD = do_GET

server = ThreadingHTTPServer(("127.0.0.1", 0), Store)
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.fixture
def served(tmp_path, monkeypatch):
    """Return a folder that a server on this machine serves over HTTP and, by a secret, as S3."""
    if not installed("httpfs"):
        pytest.skip("DuckDB's extension httpfs is not installed")
    home, bucket = tmp_path / "home", tmp_path / "bucket"
    (home / ".duckdb").mkdir(parents=True)
    bucket.mkdir()
    (home / ".duckdb" / "extensions").symlink_to(Path.home() / ".duckdb" / "extensions")
    monkeypatch.setenv("HOME", str(home))
    call = (sys.executable, "-c", STORE)  # a process of its own: DuckDB holds the interpreter
    with subprocess.Popen(call, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        place = f"127.0.0.1:{server.stdout.readline().strip()}"
        with duckdb.connect() as con:
            con.execute(
                "LOAD httpfs; CREATE PERSISTENT SECRET store (TYPE s3, KEY_ID 'id', SECRET 'key', "
                f"ENDPOINT '{place}', URL_STYLE 'path', USE_SSL false)"
            )
        yield bucket, (f"http://{place}/bucket", "s3://bucket")
        server.kill()


def test_files_on_the_web_are_read_as_files_of_a_folder(served):
    bucket, places = served
    frame = rows("sides", "all", True, False)
    frame.to_parquet(bucket / "log.parquet")
    for name in ("log.csv", "log.csv.gz", "log.tsv"):
        frame.to_csv(bucket / name, index=False, sep=",\t"["tsv" in name])
    for name, place in product(("log.csv", "log.csv.gz", "log.tsv", "log.parquet"), places):
        of_file = bd.read_duels(bucket / name, covariates=["length"])
        assert same(bd.read_duels(f"{place}/{name}", covariates=["length"]), of_file)
    for place in places:
        with pytest.raises(
            ValueError, match=f"^{place}/gone.parquet: cannot be read: .*404"
        ) as got:
            bd.read_duels(f"{place}/gone.parquet")
        assert str(got.value).count("gone.parquet") == 1


VIEWS = {
    "another file": "SELECT content AS left, content AS right, 'left' AS outcome "
    "FROM read_text('{secret}')",
    "a path": "FROM '{secret}'",
    "a folder": "SELECT file AS left, file AS right, 'left' AS outcome FROM glob('/*')",
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_in_a_file_reaches_nothing_else(view, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("left,right,outcome\nhidden,seen,left\n")
    path, query = tmp_path / "log.db", VIEWS[view].format(secret=secret)
    with duckdb.connect(path) as con:
        con.execute("CREATE TABLE votes AS SELECT 'a' AS left, 'b' AS right, 'left' AS outcome")
        con.execute(f"CREATE VIEW v AS {query}")
    line = said("winners", f"duckdb:///{path}::v")
    assert "cannot be read" in line
    assert "hidden" not in line


def test_nothing_is_written_and_no_network_is_asked(tmp_path):
    address = written("table", rows("sides", "all", False, False), tmp_path)
    path = tmp_path / "log.db"
    path.chmod(0o400)
    assert bd.read_duels(address).n_arms == 3
    assert "should not be a file that is read" in said("report", address, "-o", path)


REFUSED = {
    "duckdb:///{}/none.db::votes": "no such file",
    "duckdb:///{}::votes": "should be a file that can be read again, got a folder",
    "duckdb:///{}/log.csv::votes": "not a valid DuckDB database file",
    "duckdb:///{}/log.db": "should end in ::TABLE",
    "duckdb:///{}/log.db::": "should end in ::TABLE",
    "duckdb:///{}/log.db::gone": "should name one table of 'main.votes', got 'gone'",
    "duckdb://": "should end in ::TABLE",
    "duckdb:///::votes": "should be a file that can be read again, got a folder",
    "s3://bucket/log.json": "should end in .parquet, .csv or .tsv",
    "https://host/log": "should end in .parquet, .csv or .tsv",
}


@pytest.mark.parametrize("address", REFUSED)
def test_what_cannot_be_read_is_said_in_one_line(address, tmp_path):
    (tmp_path / "log.csv").write_text("left,right,outcome\na,b,left\n")
    with duckdb.connect(tmp_path / "log.db") as con:
        con.execute("CREATE TABLE votes AS SELECT 'a' AS left, 'b' AS right, 'left' AS outcome")
    assert REFUSED[address] in said("winners", address.format(tmp_path))


@pytest.mark.parametrize("scheme", EXTENSIONS)
def test_an_extension_that_is_missing_is_named(scheme, tmp_path):
    if installed(EXTENSIONS[scheme]):
        pytest.skip(f"DuckDB's extension {EXTENSIONS[scheme]} is installed")
    (tmp_path / "log").touch()
    place = {"sqlite": f"/{tmp_path}/log::votes", "postgresql": "me:secret@host/base::votes"}
    address = f"{scheme}://{place.get(scheme, 'me:secret@host/log.parquet?key=secret')}"
    line = said("winners", address)
    assert f"INSTALL {EXTENSIONS[scheme]}" in line
    assert "secret" not in line


SHOWN = {
    "postgresql://me:se@cret@host/base::votes": "postgresql://me@host/base::votes",
    "postgresql://me:secret@[::1]:5432/base::votes": "postgresql://me@[::1]:5432/base::votes",
    "postgres://host/base?password=secret::a?b": "postgres://host/base::a?b",
    "postgres://host:5432/base::a@b": "postgres://host:5432/base::a@b",
    "https://me:secret@host/x.csv?sig=a::secret": "https://me@host/x.csv",
    "s3://bucket/x.parquet?s3_secret_access_key=secret": "s3://bucket/x.parquet",
    "duckdb:///a:b@c.db::votes": "duckdb:///a:b@c.db::votes",
    "votes:secret@host?x.csv": "votes:secret@host?x.csv",
}


@pytest.mark.parametrize("address", SHOWN)
def test_passwords_are_not_shown(address):
    assert shown_address(address) == SHOWN[address]
    assert is_address(address) == ("://" in address)


@pytest.mark.slow
def test_a_page_does_not_show_a_password(tmp_path):
    """What a command was given stands on its page."""
    address = written("table", rows("sides", "none", False, False), tmp_path)
    page = tmp_path / "page.html"
    done = run("report", address, "-o", page, "--missing", "postgres://me:secret@host/base::t")
    assert done.exit_code == 0, done.output
    assert "secret" not in page.read_text(encoding="utf-8")


def test_addresses_stand_alone(tmp_path):
    address = written("table", rows("sides", "all", False, False), tmp_path)
    assert "should be a log of its own, got 2 in a list" in said("winners", address, address)
    with pytest.raises(ValueError, match="should be a log of its own"):
        bd.read_duels([address, tmp_path / "log.csv"])
    merged = bd.merge([address, address])
    assert merged.n_duels == bd.read_duels(address).n_duels


def test_items_and_rankings_have_addresses(tmp_path):
    with duckdb.connect(tmp_path / "log.db") as con:
        con.execute(
            "CREATE TABLE items AS SELECT * FROM (VALUES ('a', 1.5), ('b', 2.0)) t(item, x)"
        )
        con.execute("CREATE TABLE ranks AS SELECT 'a > b > c' AS \"order\" FROM range(5)")
    assert bd.read_rankings(f"duckdb:///{tmp_path}/log.db::ranks").n_arms == 3
    assert bd.read_items(f"duckdb:///{tmp_path}/log.db::items").labels == ("a", "b")
    assert run("winners", f"duckdb:///{tmp_path}/log.db::ranks").exit_code == 0
