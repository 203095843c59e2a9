"""Imports without what libraries bring in vain, and without looking for garbage."""

import gc
import sys
import weakref

import pytest

from bayesduel.system import imports
from bayesduel.system.imports import Later, quick_imports


class Ring:
    """An object in a circle, which only the search for garbage frees."""

    def __init__(self):
        self.own = self


@pytest.fixture(autouse=True)
def as_before():
    yield
    gc.enable()


def test_a_module_of_the_list_runs_when_it_is_used(tmp_path, monkeypatch):
    for name in ("in_vain_1", "in_vain_2"):
        (tmp_path / f"{name}.py").write_text("import sys; sys.ran.append(__name__); known = 3")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(imports, "LATER", frozenset({"in_vain_1"}))
    monkeypatch.setattr(sys, "ran", [], raising=False)
    finders = list(sys.meta_path)
    with quick_imports():
        import in_vain_1
        import in_vain_2
    assert sys.ran == ["in_vain_2"] and sys.meta_path == finders
    assert in_vain_1.known == in_vain_2.known == 3
    assert sys.ran == ["in_vain_2", "in_vain_1"]


def test_modules_of_the_list_that_are_not_installed_are_not_found(monkeypatch):
    monkeypatch.setattr(imports, "LATER", frozenset({"in_vain_3"}))
    assert Later.find_spec("in_vain_3", None) is None
    with quick_imports(), pytest.raises(ModuleNotFoundError, match="in_vain_3"):
        import in_vain_3  # noqa: F401


def test_no_garbage_is_looked_for_and_none_stays():
    seen = []

    def watch(phase, info):
        seen.append((phase, info["generation"]))

    gc.callbacks.append(watch)
    try:
        with quick_imports():
            kept = [Ring() for _ in range(10_000)]
            ring = weakref.ref(kept[0])
            del kept
        assert not seen and ring() is not None
    finally:
        gc.callbacks.remove(watch)
    assert gc.isenabled() and not gc.get_freeze_count()
    gc.collect()
    assert ring() is None


@pytest.mark.parametrize("enabled", [True, False])
def test_the_search_for_garbage_is_as_before(enabled):
    (gc.enable if enabled else gc.disable)()
    with pytest.raises(ZeroDivisionError), quick_imports():
        assert not gc.isenabled()
        1 / 0  # noqa: B018
    assert gc.isenabled() == enabled


def test_what_the_user_froze_stays_frozen():
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        with quick_imports():
            pass
        assert gc.get_freeze_count() == before > 0
    finally:
        gc.unfreeze()
