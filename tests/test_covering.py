"""Of many like cases the fast tests keep those that meet every value and most pairs of values."""

from itertools import combinations, product

import pytest

from tests.support.covering import covering

NAMES = [f"test_{k}" for k in range(12)]


def cases_of(*sizes):
    return [dict(enumerate(case)) for case in product(*map(range, sizes))]


@pytest.mark.parametrize("sizes", [(4, 3, 3), (5, 6), (2, 2, 2, 2), (7,)])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 100])
def test_an_nth_is_taken_and_more_where_a_shared_value_was_not_met(sizes, n):
    cases = cases_of(*sizes)
    for name in NAMES:
        taken = covering(cases, n, name)
        assert taken == sorted(set(taken)) == covering(cases, n, name)
        assert len(taken) == max(-(-len(cases) // n), max(sizes) if len(sizes) > 1 else 1)
        if len(sizes) > 1:
            met = {pair for k in taken for pair in cases[k].items()}
            assert met == {
                (name, value) for name, size in enumerate(sizes) for value in range(size)
            }


def test_nine_of_27_cases_meet_all_pairs_of_values():
    cases = cases_of(3, 3, 3)
    for name in NAMES:
        taken = [cases[k] for k in covering(cases, 3, name)]
        met = {pair for case in taken for pair in combinations(case.items(), 2)}
        assert len(taken) == 9 and len(met) == 27


def test_values_of_one_case_alone_need_not_be_met():
    cases = [{"kind": k % 2, "text": [k]} for k in range(10)]  # lists cannot be hashed
    for name in NAMES:
        taken = covering(cases, 5, name)
        assert len(taken) == 2 and {k % 2 for k in taken} == {0, 1}


def test_another_name_begins_elsewhere():
    begun = {tuple(covering(cases_of(4), 4, name)) for name in NAMES}
    assert begun == {(0,), (1,), (2,), (3,)}
