"""A policy names its rule, and says so where it has none."""

import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest

pytestmark = pytest.mark.plain

FILE = """
from dataclasses import dataclass
from typing import ClassVar

from bayesduel.jit import compiled
from bayesduel.policies.policy import PairPolicy


@compiled
def select(belief, memory, t, rng):
    return 0, 1


@compiled
def other(belief, memory, t, rng):
    return 1, 0


@dataclass(frozen=True, kw_only=True)
class First(PairPolicy):
    {first}
    def init(self, n_arms):
        return ()


@dataclass(frozen=True, kw_only=True)
class Second({base}):
    {own}
    def init(self, n_arms):
        return ()
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    def module(first="select = staticmethod(select)", base="First", own=""):
        path = tmp_path / "own_rules.py"
        path.write_text(FILE.format(first=first, base=base, own=own))
        spec = spec_from_file_location("own_rules", path)
        found = module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "own_rules", found)
        spec.loader.exec_module(found)
        return found

    return module


def test_a_second_class_inherits_a_rule_or_names_another(written):
    assert written().Second().select is sys.modules["own_rules"].select
    found = written(own="select: ClassVar = staticmethod(other)")
    assert found.First().select is found.select
    assert found.Second().select is found.other


def test_a_policy_without_a_rule_says_what_it_lacks(written):
    found = written(first="")
    with pytest.raises(TypeError, match="First should have a compiled function 'select': define"):
        found.First()


def test_a_rule_with_self_is_told_to_be_static(written):
    own = "def select(self, belief, memory, t, rng): return 0, 1"
    with pytest.raises(TypeError, match=r"Second\.select should be a static method.*@staticmethod"):
        written(own=own).Second()


def test_what_a_rule_reads_is_one_of_four(written):
    with pytest.raises(ValueError, match=r"reads of Second should be .*'counts'.*'count'"):
        written(own="reads: ClassVar = 'count'").Second()
