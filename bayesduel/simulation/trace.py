"""The trace of a simulation: what happened, as a DataTree, in memory or on disk.

On disk it is a Zarr store with one chunk per policy and replication, written when that run is
complete; its checksums are written after it. A simulation that was killed finds the runs that are
whole there and repeats the others, with the same numbers.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np
import xarray as xr
import zarr
from filelock import FileLock, Timeout

from bayesduel.simulation.checksums import (
    CHECKSUM,
    HEADER,
    SIZE,
    checksums_of,
    fault_of_header,
    keep_header,
    runs_of,
    variables_of,
)
from bayesduel.simulation.run import RUN, Layout, Truth
from bayesduel.system.arguments import path_of, shown_value
from bayesduel.system.atomic_write import new_folder, write_netcdf
from bayesduel.system.open_datatree import ZARR_FORMAT, open_datatree
from bayesduel.system.warnings import warn
from bayesduel.text import join

if TYPE_CHECKING:
    from os import PathLike


LOCK = f"{CHECKSUM}/.writer"  # in the folder of a trace: held by the process that writes to it

__all__ = [
    "Header",
    "MemoryTrace",
    "StoredTrace",
    "each_problem",
    "finished_trace",
    "keep_finished",
    "open_trace",
    "plan_of",
    "together",
]


class Header(NamedTuple):
    """The contents of a trace before its first run."""

    plan: Mapping[str, Any]  # what is simulated: settings, as JSON takes them
    coordinates: Mapping[str, Any]  # labels of policies and arms, replications, recorded times
    truth: Truth  # what the problem's group holds: dimensions and values of each variable
    layout: Layout  # dimensions and type of each variable of the trace

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each variable of the trace."""
        sizes = {name: len(values) for name, values in self.coordinates.items()}
        shapes = {}
        for name, (dims, _) in self.layout.items():
            shapes[name] = tuple(sizes[dim] for dim in dims)
        return shapes


class MemoryTrace:
    """A trace kept in memory."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self.arrays = {}
        for name, shape in header.shapes.items():
            _, kind = header.layout[name]
            self.arrays[name] = np.zeros(shape, kind)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def finished(self) -> np.ndarray:
        """Return which runs are there, bool, shape (n_policies, n_replications)."""
        shape = [len(self.header.coordinates[dim]) for dim in RUN]
        return np.zeros(shape, bool)

    def write(self, policy: int, replication: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Enter one complete run."""
        for name, array in arrays.items():
            self.arrays[name][policy, replication] = array

    def tree(self) -> xr.DataTree:
        """Return the trace."""
        plan, coordinates, truth, layout = self.header
        variables = {}
        for name, array in self.arrays.items():
            dims, _ = layout[name]
            variables[name] = (dims, array)
        written = json.dumps(dict(plan))
        root = xr.Dataset(coords=coordinates, attrs={"plan": written})
        return xr.DataTree.from_dict(
            {"/": root, "/trace": xr.Dataset(variables), "/problem": xr.Dataset(dict(truth))}
        )


class StoredTrace:
    """A trace kept in a Zarr store, so that a killed simulation can go on.

    It has one writer at a time, the one that entered it as a context.

    path: the folder. If it holds a trace of the same plan, that one is continued.
    header: what it holds before its first run.
    Raises ValueError if `path` is something else, a trace of another plan (the message says what
    differs), or one whose settings, labels or problem are not whole.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        if not path.exists():
            _create(path, header)
        self.group = _group(path, "r+", "out should be a new path or a trace to continue")
        known = json.loads(str(self.group.attrs["plan"]))
        _require_same(path, known, header.plan)
        self.variables = variables_of(self.group)
        self._lock = FileLock(path / LOCK, timeout=0)

    def __enter__(self) -> Self:
        try:
            self._lock.acquire()
        except Timeout:
            raise ValueError(
                "out should have one writer at a time, but another simulation is writing to "
                f"{self.path}"
            ) from None
        except OSError as error:
            raise OSError(f"{self.path} cannot be written: {error.strerror}") from None
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def finished(self) -> np.ndarray:
        """Return which runs are there, bool, shape (n_policies, n_replications).

        Warns UserWarning if some were finished and are not whole.
        """
        whole, faults = runs_of(self.path, self.group)
        if faults:
            warn(
                f"{self.path} has runs that are missing or damaged. They are simulated again: "
                f"{_shown_runs(self.group, faults)}"
            )
        return whole

    def write(self, policy: int, replication: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Enter one complete run, and then its checksums."""
        try:
            trace = self.group["trace"]
            for name, array in arrays.items():
                trace[name][policy, replication] = array
            sums = checksums_of(self.path, self.variables, (policy, replication))
            self.group[CHECKSUM][policy, replication] = sums
        except OSError as error:
            raise OSError(
                f"{self.path} cannot be written: {error.strerror or error}. Repeat the same call "
                "to continue after the finished runs"
            ) from error

    def tree(self) -> xr.DataTree:
        """Return the trace, its arrays left on disk until they are asked for."""
        return open_trace(self.path)


def finished_trace(path: Path, plan: Mapping[str, Any]) -> xr.DataTree:
    """Return the trace that a NetCDF file holds, if it is one of this plan."""
    try:
        tree = open_trace(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"out should be a new path or a trace, got {path}") from error
    _require_same(path, json.loads(tree.attrs["plan"]), plan)
    return tree


def _require_same(path: Path, known: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
    """Raise unless the plan found at `path` is the one wanted."""
    wanted = json.loads(json.dumps(dict(plan)))
    names = {*known, *wanted}
    differs = [name for name in names if known.get(name) != wanted.get(name)]
    if differs:
        name = min(differs)
        there, here = _shown(known.get(name), wanted.get(name))
        raise ValueError(
            f"out should be a new path or a trace of the same simulation, got {path}. Its {name} "
            f"is {there}, and this simulation has {here}"
        )


def _shown(known: Any, wanted: Any) -> tuple[str, str]:
    """Return two settings of plans for a message: of policies by name, those that differ."""
    if not isinstance(known, dict) or not isinstance(wanted, dict):
        return repr(known), repr(wanted)
    if known.keys() != wanted.keys():
        return join([*known]), join([*wanted])
    there = []
    here = []
    for name in known:
        if known[name] != wanted[name]:
            there.append(str(known[name]))
            here.append(str(wanted[name]))
    return join(there), join(here)


def keep_finished(path: Path, stored: "StoredTrace") -> xr.DataTree:
    """Move a complete trace into a NetCDF file and return it from there."""
    with stored.tree() as tree:
        write_netcdf(path, tree)
    shutil.rmtree(stored.path)
    return open_trace(path)


def open_trace(path: "str | PathLike[str]") -> xr.DataTree:
    """Return a trace that :func:`bayesduel.simulate` left on disk.

    Parameters
    ----------
    path
        A Zarr folder, of which the replications are read that every policy has finished; a folder
        of such folders, one for each problem; or a NetCDF file.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If it is not a trace, has no finished replication, or is a folder whose settings, labels
        or problem are not whole.

    Warns
    -----
    UserWarning
        If replications are left out, as they are not finished or not whole.

    Examples
    --------
    >>> trace = bd.simulate(bd.policies.DTS(), "mslr-5", horizon=100, seed=0, out="trace.zarr")
    >>> bd.regret(bd.open_trace("trace.zarr")).dims
    ('policy', 'replication', 'time')
    """
    path = path_of(path)
    if not path.exists():
        raise FileNotFoundError(f"path should be a trace, but {path} does not exist")
    if path.is_dir():
        inner = [folder for folder in path.iterdir() if (folder / HEADER).is_file()]
        if not inner or (path / HEADER).is_file():
            return _open_folder(path)
        return together({folder.name: _open_folder(folder) for folder in sorted(inner)})
    wrong = f"path should be a trace of bayesduel.simulate, got {path}"
    try:
        tree = open_datatree(path)
    except (OSError, ValueError) as error:  # not HDF5
        raise ValueError(wrong) from error
    if "plan" not in tree.attrs:
        raise ValueError(wrong)
    return tree


def _open_folder(path: Path) -> xr.DataTree:
    """Return the replications of a folder that are whole; warn of others."""
    group = _group(path, "r", "path should be a trace of bayesduel.simulate")
    whole, faults = runs_of(path, group)
    complete = whole.all(0)
    tree = open_datatree(path).drop_nodes("finished")
    if complete.all():
        return tree
    unfinished = {(p, r): "not finished" for p, r in np.argwhere(~whole).tolist()}
    reasons = faults | unfinished | faults
    n_complete = int(complete.sum())
    found = f"{n_complete:,} of its {complete.size:,} replications are complete"
    missing = f"Missing: {_shown_runs(group, reasons)}"
    said = f"{found}. {missing}. Repeat the same simulation to make them"
    if not complete.any():
        raise ValueError(f"path should be a trace with complete runs, got {path}: {said}")
    warn(f"{path} is read in part: {said}")
    return tree.isel(replication=np.flatnonzero(complete))


def _group(path: Path, mode: Any, rule: str) -> Any:
    """Return the Zarr group of a folder; raise unless it is a trace whose first files are whole."""
    again = "Repeat the same simulation with another folder"
    with suppress(FileNotFoundError, NotADirectoryError):  # an earlier trace, or something else
        fault = fault_of_header(path)
        if fault is not None:
            raise ValueError(f"{rule}, but {fault} of {path} is missing or damaged. {again}")
    try:
        group = zarr.open_group(path, mode=mode, zarr_format=ZARR_FORMAT)
        group.attrs["plan"]
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(f"{rule}, got {path}") from error
    if not (path / HEADER).is_file():
        raise ValueError(
            f"{rule}, but {path} has no checksums. They are lost, or an earlier bayesduel wrote "
            f"the folder. {again}, or read it unchecked with xarray.open_datatree"
        )
    return group


def _shown_runs(group: xr.Dataset, reasons: Mapping[tuple[int, int], str]) -> str:
    """Return runs with what is wrong with them, the first few of many."""
    names = group["policy"][:]
    shown = []
    # 3 runs that a warning names
    for (policy, replication), why in list(reasons.items())[:3]:
        shown.append(f"{names[policy]} in replication {replication} ({why})")
    words = ", ".join(shown)
    more = len(reasons) - len(shown)
    return f"{words} and {more:,} more" if more else words


def plan_of(trace: xr.DataTree) -> dict[str, Any]:
    """Return the settings of the simulation that made a trace; refuse what is not a trace."""
    wrong = f"trace should be what bayesduel.simulate returned, got {shown_value(trace)}"
    if not isinstance(trace, xr.DataTree):
        raise TypeError(wrong)
    if _problems(trace):
        raise ValueError(
            f"trace should be of one problem, such as trace[{next(iter(trace.children))!r}], "
            f"got a trace of {len(trace.children)} problems"
        )
    if "plan" not in trace.attrs:
        raise ValueError(wrong)
    return dict(json.loads(trace.attrs["plan"]))


def together(traces: Mapping[str, xr.DataTree]) -> xr.DataTree:
    """Return one trace of several problems: a node for each, by label."""
    return xr.DataTree.from_dict(dict(traces))


def each_problem[F: Callable[..., Any]](measure: F) -> F:
    """Let a measure of a trace take one of several problems too: a dimension `problem` more.

    The recorded times are those that all of the problems have.
    """

    @wraps(measure)
    def measured(trace: xr.DataTree, *args: Any, **settings: Any) -> Any:
        if not _problems(trace):
            return measure(trace, *args, **settings)
        problems = trace.children
        parts = [measure(part, *args, **settings) for part in problems.values()]
        names = xr.IndexVariable("problem", list(problems))
        return xr.concat(parts, names, join="inner", combine_attrs="drop_conflicts")

    return cast(F, measured)


def _problems(trace: xr.DataTree) -> bool:
    """Return whether a tree is a trace of several problems."""
    return (
        isinstance(trace, xr.DataTree)
        and bool(trace.children)
        and all("plan" in part.attrs for part in trace.children.values())
    )


def _create(path: Path, header: Header) -> None:
    """Make an empty store beside `path`, then move it there in one step."""
    if not path.parent.is_dir():
        raise ValueError(f"out should be in a folder that exists, got {path}")
    with suppress(FileExistsError), new_folder(path) as draft:  # made at the same time by another
        _fill_store(draft, header)


def _fill_store(path: Path, header: Header) -> None:
    """Make an empty store in a folder."""
    plan, coordinates, truth, layout = header
    written = json.dumps(dict(plan))
    group = zarr.open_group(path, mode="w", attributes={"plan": written})
    for name, values in coordinates.items():
        _fill(group, name, (name,), np.asarray(values))
    trace = group.create_group("trace")
    for name, shape in header.shapes.items():
        dims, kind = layout[name]
        trace.create_array(
            name,
            shape=shape,
            chunks=(1, 1, *shape[2:]),
            dtype=np.dtype(kind),
            dimension_names=dims,
            fill_value=0,
        )
    problem = group.create_group("problem")
    for name, (dims, values) in truth.items():
        _fill(problem, name, dims, values)
    n_bytes = SIZE * len(layout)
    n_runs = [len(coordinates[dim]) for dim in RUN]
    group.create_array(
        CHECKSUM,
        shape=(*n_runs, n_bytes),
        chunks=(1, 1, n_bytes),
        dtype=np.uint8,
        dimension_names=(*RUN, "byte"),
        compressors=None,
        fill_value=0,
    )
    keep_header(path)


def _fill(group: Any, name: str, dims: tuple[str, ...], values: np.ndarray) -> None:
    array = group.create_array(name, shape=values.shape, dtype=values.dtype, dimension_names=dims)
    array[...] = values
