"""Small matrices use one thread of BLAS, and the number of threads is restored."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import bayesduel as bd
from bayesduel.criticism import check as check_room
from bayesduel.inference import fit
from bayesduel.posterior import election, information_gain
from bayesduel.reporting.analysis import analyse
from bayesduel.system.threads import SMALL, one_thread_if_small


def threads():
    """Return the numbers of threads of the BLAS libraries."""
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def test_one_thread_where_matrices_are_small():
    with threadpool_limits(2, user_api="blas"):
        with one_thread_if_small(SMALL - 1):
            assert threads() == {1}
        with one_thread_if_small(SMALL):
            assert threads() == {2}
        assert threads() == {2}


@pytest.mark.slow
def test_fits_tests_elections_and_reports_use_one_thread(monkeypatch):
    used = {}

    def watched(module, name):
        function = getattr(module, name)

        def call(*args, **options):
            used[name] = threads()
            return function(*args, **options)

        monkeypatch.setattr(module, name, call)

    places = {
        fit: ("_sample", "robust_covariance"),
        check_room: ("cycle_evidence", "ranking_posterior"),
    }
    places |= {election: ("_by_matrix",), information_gain: ("next_pairs",)}
    for module, names in places.items():
        for name in names:
            watched(module, name)
    log = bd.datasets.load("tversky1969")
    with threadpool_limits(2, user_api="blas"):
        bd.winners(bd.fit(log, "preference-matrix", draws=100), covariance="model")
        check_room.check(log, quick=True)
        assert threads() == {2}
        checked = {"cycle_evidence", "ranking_posterior"}
        assert used.keys() == {"_sample", "robust_covariance", "_by_matrix", *checked}
        analyse(log, draws=100)
        assert threads() == {2}
    assert used == {name: {1} for names in places.values() for name in names}
