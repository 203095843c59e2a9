"""One study that sixteen threads share counts every answer once."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest
from sqlalchemy import event

import bayesduel as bd
from benchmarks.postgresql import postgresql, programs

pytestmark = pytest.mark.plain


def play(study, thread, n):
    """Ask and tell, and return the tally of what was acknowledged."""
    arms = list(study.arms)
    found = np.zeros((len(arms), len(arms)))
    for k in range(n):
        ticket = study.ask(judge=f"judge {thread}")
        i, j = arms.index(ticket.left), arms.index(ticket.right)
        if k % 5 == 0:
            study.tell(ticket, "cannot tell")
            continue
        study.tell(ticket, "left" if i < j else "right")
        found[min(i, j), max(i, j)] += 1
    return found


def share(path, n=8):
    study = bd.Study(path, arms=list("abcde"), stop=None, seed=1)
    with ThreadPoolExecutor(16) as threads:
        told = sum(threads.map(lambda k: play(study, k, n), range(16)))
    duels = round(told.sum())
    np.testing.assert_array_equal(study.tally(), told)
    assert (study.n_duels, study.status().n_cannot_tell) == (duels, 16 * n - duels)
    posterior = study._ledger.parts.session.memory.posterior
    assert posterior.seen.sum() <= duels
    if path is not None:
        again = bd.Study(path)
        np.testing.assert_array_equal(again.tally(), told)
        assert again.n_duels == duels


@pytest.mark.parametrize("where", ["file", "memory"])
@pytest.mark.sampled(2)
def test_threads_share_a_study(where, tmp_path):
    share(tmp_path / "s" if where == "file" else None)


@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")
def test_threads_share_a_study_on_postgresql():
    pytest.importorskip("psycopg")
    with postgresql() as url:
        share(url)


def test_two_handles_are_shared_by_threads(tmp_path):
    """Half of the threads have a handle of their own, as another process has."""
    one = bd.Study(tmp_path / "s", arms=list("abcde"), stop=None, seed=1)
    two = bd.Study(tmp_path / "s")
    with ThreadPoolExecutor(16) as threads:
        told = sum(threads.map(lambda k: play((one, two)[k % 2], k, 4), range(16)))
    for study in (one, two):
        np.testing.assert_array_equal(study.tally(), told)


@pytest.mark.parametrize("where", ["file", "postgresql"])
def test_readers_share_a_few_connections_that_are_kept(where, tmp_path):
    if where == "postgresql":
        pytest.importorskip("psycopg")
        if programs() is None:
            pytest.skip("PostgreSQL is not installed")
    with postgresql() if where == "postgresql" else nullcontext(tmp_path / "s") as path:
        with bd.Study(path, arms=list("abc"), stop=None) as study:
            made = []
            event.listen(study.store.engine, "connect", lambda *_: made.append(1))
            with ThreadPoolExecutor(16) as threads:
                found = list(threads.map(lambda _: study.store.setting("key"), range(200)))
        assert len(set(found)) == 1
        assert len(made) < 5  # one there was


def test_a_turn_reads_the_last_numbers_once(tmp_path):
    """And reads them anew after a turn that was not stored."""
    study = bd.Study(tmp_path / "s", arms=list("abc"), stop=None, seed=1)
    first = study.ask(judge="a")
    said = []
    event.listen(study.store.engine, "before_cursor_execute", lambda *words: said.append(words[2]))
    with pytest.raises(RuntimeError, match="cut"), study.together():
        study.tell(first, "left")
        lost = [study.ask(judge=name).id for name in "bcd"]
        raise RuntimeError("cut")
    assert sum("max(events.number)" in words and "max(tickets" in words for words in said) == 1
    assert study.n_duels == 0
    study.tell(first, "right")
    assert [study.ask(judge=name).id for name in "bcd"] == lost
    assert [e["ticket"] for e in study.audit()] == [first.id]
    assert study.n_duels == 1


def test_handles_that_retire_arms_at_once_leave_two(tmp_path):
    study = bd.Study(tmp_path / "s", arms=list("abcdefgh"), stop=None)
    handles = [bd.Study(tmp_path / "s") for _ in study.arms]
    with ThreadPoolExecutor(len(handles)) as threads:
        each = zip(handles, study.arms, strict=True)
        retired = [threads.submit(handle.retire_arms, [arm]) for handle, arm in each]
    assert sum(each.exception() is None for each in retired) == 6
    assert len(study.retired) == 6
