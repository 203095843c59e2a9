"""Readings share a database of DuckDB, and see nothing of one another."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import bayesduel as bd
from bayesduel.data.read.duckdb_source import _kept, connected

SETTINGS = ("threads", "memory_limit", "enable_external_access", "autoload_known_extensions")
FORKS = """
import os, signal, sys
import bayesduel as bd
log = sys.argv[1]
n = bd.read_duels(log).n_duels
assert len(os.listdir("/proc/self/task")) > 1  # those of the database
child = os.fork()
if not child:
    signal.alarm(60)  # what waits for threads of the parent would wait for ever
    sys.exit(bd.read_duels(log).n_duels != n)  # closes what is open
assert os.waitpid(child, 0)[1] == 0
assert bd.read_duels(log).n_duels == n
"""


def setting(con, name):
    return con.execute(f"SELECT current_setting('{name}')").fetchone()[0]


def left(con):
    """Return what there is beside what DuckDB is made of: tables, macros, files and so on."""
    names = [row[:1] for row in con.execute("FROM duckdb_databases()").fetchall()]
    return (
        con.execute("SELECT table_name FROM duckdb_tables()").fetchall(),
        con.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall(),
        con.execute("SELECT function_name FROM duckdb_functions() WHERE NOT internal").fetchall(),
        names
        == [row[:1] for row in duckdb.connect().execute("FROM duckdb_databases()").fetchall()],
        con.execute("FROM duckdb_temporary_files()").fetchall(),
    )


NOTHING = ([], [], [], True, [])


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\na,b,left\nb,c,right\n")
    return path


def test_two_readings_see_nothing_of_each_other():
    with connected() as (one, folder), connected() as (other, beside):
        assert folder != beside
        one.register("frame", pa.table({"x": [1]}))
        one.execute("CREATE TEMP TABLE duels AS SELECT 1 AS x")
        for name in ("frame", "duels"):
            with pytest.raises(duckdb.CatalogException):
                other.execute(f"FROM {name}")
        other.execute("CREATE TEMP TABLE duels AS SELECT 2 AS x")
        assert one.execute("FROM duels JOIN frame USING (x)").fetchall() == [(1,)]
    with connected() as (con, _):
        assert left(con) == NOTHING


def test_readings_share_a_database_unless_they_have_limits_of_their_own():
    new = duckdb.connect()
    with connected() as (one, _), connected() as (other, _), connected(200_000_000) as (small, _):
        for name in SETTINGS[:3]:  # as DuckDB opens
            assert setting(one, name) == setting(new, name)
        assert not setting(one, SETTINGS[3])
        assert setting(one, "TimeZone") == setting(other, "TimeZone") == "UTC"
        temporary = [setting(con, "temp_directory") for con in (one, other, small)]
        assert temporary[0] == temporary[1] != temporary[2]
        assert setting(small, "memory_limit") != setting(one, "memory_limit")


@pytest.mark.slow
def test_threads_read_their_own_logs(tmp_path):
    def read(k):
        rows = [(f"a{k}", f"b{k}", "left")] * (k + 1)
        frame = pd.DataFrame(rows, columns=["left", "right", "outcome"])
        path = tmp_path / f"{k}.parquet"
        frame.to_parquet(path)
        for source in (path, frame):
            duels = bd.read_duels(source)
            assert (duels.n_duels, sorted(duels.arms)) == (k + 1, [f"a{k}", f"b{k}"])
        return k

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(12))) == list(range(12))


def test_an_interrupted_reading_leaves_nothing(log):
    with pytest.raises(KeyboardInterrupt), connected() as (con, folder):
        con.execute("CREATE TEMP TABLE duels AS FROM range(100_000)")
        con.register("frame", pa.table({"x": [1]}))
        rows = con.sql("FROM duels").fetch_record_batch(1)  # not read to its end
        rows.read_next_batch()
        raise KeyboardInterrupt
    assert not os.path.exists(folder)
    with connected() as (con, _):
        assert left(con) == NOTHING
    assert bd.read_duels(log).n_duels == 2


def test_an_attached_database_is_seen_by_its_reading_alone(tmp_path, log):
    path = tmp_path / "votes.db"
    with duckdb.connect(path) as con:
        con.execute(f"CREATE TABLE votes AS FROM '{log}'")
    assert bd.read_duels(f"duckdb:///{path}::votes").n_duels == 2
    with connected() as (con, _):
        assert left(con) == NOTHING
        assert setting(con, "enable_external_access")
    assert bd.read_duels(log).n_duels == 2


def test_a_database_that_failed_is_opened_anew(log):
    bd.read_duels(log)
    _kept().close()
    assert bd.read_duels(log).n_duels == 2


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_a_forked_process_opens_its_own(log):
    subprocess.run([sys.executable, "-W", "error", "-c", FORKS, log], check=True)
