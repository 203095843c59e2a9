"""What every result does that holds an ``xarray.Dataset``: winners, predictions and others."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from rich.cells import cell_len

import bayesduel as bd
from bayesduel.models import CategoryEffects, Davidson
from bayesduel.records import NOW_CALLED, OF_DATASET, Record
from bayesduel.simulation.policy_comparison import compare_regrets
from bayesduel.text import SCREEN

LABELS = ("<b>apple</b>", "pear", "a name of plums that is longer than any column of a table")


@pytest.fixture(scope="module")
def fit():
    rng = np.random.default_rng(1)
    n = 300
    left = rng.integers(0, 3, n)
    right = (left + rng.integers(1, 3, n)) % 3
    outcome = rng.choice([0.0, 0.5, 1.0], n)
    names = np.array(LABELS, dtype=object)
    category = np.array(["<i>one</i>", "two"], dtype=object)[rng.integers(0, 2, n)]
    log = bd.Duels.from_votes(names[left], names[right], outcome, category=list(category))
    return bd.fit(log, Davidson() + CategoryEffects(), "laplace", draws=200)


def compared():
    values = np.random.default_rng(1).gamma(2.0, size=(3, 8))
    regrets = xr.DataArray(values, {"policy": [*LABELS]}, ("policy", "replication"))
    return compare_regrets(regrets)


MADE = {
    "winners": bd.winners,
    "category ranks": bd.category_ranks,
    "predictions": lambda fit: bd.predict(fit, LABELS[:2], LABELS[2]),
    "one prediction": lambda fit: bd.predict(fit, *LABELS[:2]),
    "policies compared": lambda fit: compared(),
}
ROWS = {  # of its frame
    "winners": 3,
    "category ranks": 2 * 3 * 3,
    "predictions": 2,
    "one prediction": 1,
    "policies compared": 3 * 101,
}


@pytest.fixture(scope="module", params=MADE)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def found(name, fit):
    return MADE[name](fit)


def test_every_record_of_the_package_is_here(fit):
    assert {type(make(fit)) for make in MADE.values()} == {*Record.__subclasses__()}


def test_it_has_the_variables_and_attributes_of_its_dataset(found):
    data = found.to_dataset()
    assert type(data) is xr.Dataset
    assert list(found) == list(found.keys()) == list(data.data_vars)
    assert len(found) == len(data.data_vars) > 0
    for name in data.variables:
        assert name in found
        assert found[name].identical(data[name])
    for name in data.data_vars:
        assert getattr(found, name).identical(data[name])
        assert found.get(name).identical(data[name])
    for name, value in data.attrs.items():
        assert found.attrs[name] == value or value != value
    assert "nothing" not in found
    assert found.get("nothing", 3) == 3
    assert dict(found.sizes) == dict(data.sizes)
    assert set(found.dims) == set(data.dims)
    assert list(found.coords) == list(data.coords)


def test_what_selects_or_computes_gives_objects_of_xarray(found):
    taken = [
        found.isel(dict.fromkeys(found.dims, 0)),
        found.mean(),
        found.assign(more=1.0),
        found.assign_attrs(more=1.0),
        found.map(np.isfinite),
        *(found.isel({dim: [0]}) for dim in found.dims),
        *(found.sel({dim: found[dim].values[:1]}) for dim in found.dims),
        *(found.sortby(dim) for dim in found.dims),
    ]
    assert {type(one) for one in taken} == {xr.Dataset}
    data = found.to_dataset()
    assert taken[0].identical(data.isel(dict.fromkeys(data.dims, 0)))


def test_some_of_its_variables(name, found):
    """Of predictions they print and become a frame as all do; of others they are a Dataset."""
    names = list(found)[1:3]
    some = found[names]
    assert some.identical(found.to_dataset()[names])
    assert list(some) == names
    if "prediction" not in name:
        assert type(some) is xr.Dataset
        return
    assert type(some) is type(found)
    assert len(some.to_dataframe()) == ROWS[name]
    assert max(map(cell_len, repr(some).splitlines())) <= SCREEN.columns
    assert "<table" in some._repr_html_()


def test_completion_offers_variables_and_what_selects_and_stores(found):
    offered = dir(found)
    own = {"to_dataset", "to_dataframe", "copy", "equals", "identical", *vars(type(found))}
    assert {*OF_DATASET, *found.variables, *own} <= {*offered}
    assert offered == sorted(set(offered))
    public = [name for name in offered if not name.startswith("_")]
    assert all(hasattr(found, name) for name in public)
    assert found._ipython_key_completions_() == list(found.to_dataset().variables)


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        lambda found: found.copy(),
        lambda found: found.copy(deep=True),
        lambda found: pickle.loads(pickle.dumps(found)),
    ],
    ids=["copy.copy", "deepcopy", "copy", "deep", "pickle"],
)
def test_a_copy_is_the_same_and_its_own(found, copied):
    other = copied(found)
    assert type(other) is type(found) and other is not found
    assert other == found
    assert other.identical(found) and found.identical(other.to_dataset())
    assert repr(other) == repr(found)
    other.attrs["more"] = 1
    assert "more" not in found.attrs
    assert other.equals(found) and other != found


def test_two_records_of_other_values_differ(found):
    name = next(iter(found))
    changed = type(found)(found.assign({name: found[name] + 1}))
    assert changed != found
    assert not changed.equals(found) and not changed.identical(found)
    assert found != found.to_dataset()
    assert found.equals(found.to_dataset())
    with pytest.raises(TypeError, match="unhashable"):
        hash(found)


def test_a_change_of_its_dataset_leaves_it_as_it_is(found):
    before = repr(found)
    data = found.to_dataset()
    data["more"] = 1.0
    data.attrs["more"] = 1.0
    assert "more" not in found and "more" not in found.attrs
    assert repr(found) == before
    with pytest.raises(TypeError, match="item assignment"):
        found["more"] = 1.0
    with pytest.raises(AttributeError, match="more"):
        found.more = 1.0


@pytest.mark.sampled(3)
def test_xarray_and_files_take_its_dataset(found, tmp_path):
    data = found.to_dataset()
    twice = xr.concat([found.to_dataset(), found.to_dataset()], "run")
    assert twice.sizes["run"] == 2
    assert xr.DataTree(data)["/"].to_dataset().identical(data)
    found.to_netcdf(tmp_path / "found.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "found.nc", engine="h5netcdf") as back:
        assert found.equals(back.load())
    found.to_zarr(tmp_path / "found.zarr", consolidated=False, zarr_format=2)
    assert found.equals(xr.open_zarr(tmp_path / "found.zarr", consolidated=False).load())
    held = found.to_dict()
    assert xr.Dataset.from_dict(held).equals(data)


def test_it_is_a_frame(name, found):
    frame = found.to_dataframe()
    assert type(frame) is pd.DataFrame
    assert len(frame) == ROWS[name]
    assert pd.DataFrame(frame).equals(frame)
    for make in (pd.DataFrame, np.asarray, np.log):
        with pytest.raises(TypeError, match=r"several variables.*\.to_dataframe\(\)"):
            make(found)


def test_a_long_frame_has_every_variable(found):
    if found.dims:
        frame = found.to_dataframe(dim_order=list(found.dims))
        assert {*found} <= {*frame.columns}
        assert len(frame) == np.prod(list(found.sizes.values()))


def test_it_prints_a_table_and_its_variables(found):
    lines = repr(found).splitlines()
    assert str(found) == repr(found)
    assert max(map(cell_len, lines)) <= SCREEN.columns
    assert len(lines) <= SCREEN.lines
    assert "Variables of .to_dataset(), an xarray.Dataset: " in " ".join(lines)
    html = found._repr_html_()
    table, _, whole = html.partition("<details><summary>All variables</summary>")
    assert "<table" in table
    assert "xarray.Dataset" in whole
    assert not re.search("<b>apple|<i>one", html)


def test_an_earlier_name_names_the_new_one(found, monkeypatch):
    new = next(iter(found))
    monkeypatch.setitem(NOW_CALLED, "earlier", new)
    monkeypatch.setitem(NOW_CALLED, "of another result", "nothing")
    told = f"'earlier' is now called {new!r}"
    with pytest.raises(KeyError, match=told):
        found["earlier"]
    with pytest.raises(KeyError, match=told):
        found[[new, "earlier"]]
    with pytest.raises(AttributeError, match=told):
        found.earlier  # noqa: B018
    with pytest.raises(KeyError, match="No variable named 'of another result'"):
        found["of another result"]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        found.nothing  # noqa: B018
