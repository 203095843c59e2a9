"""Crafted files: every text of a fit, a study or a trace in turn names something to run.

`planted` gives the copies; `Watch` sees whether one of them ran anything.
"""

import json
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import bayesduel as bd
from bayesduel.models import BradleyTerry, SideAdvantage

MODULE = "crafted_trap"  # on the path; importing it, or calling what it has, leaves a mark
NAMES = (
    "subprocess:Popen",
    "os:system",
    "posix:system",
    "builtins:eval",
    f"{MODULE}:run",
    f"{MODULE}:Trap",
    MODULE,
    "subprocess.Popen",
    "__class__",
    "__import__",
    "__subclasses__",
)
RUN = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork")
_watching: list[list[str]] = []


def _heard(event: str, arguments: Any) -> None:
    if _watching and (event in RUN or (event == "import" and arguments[0] == MODULE)):
        _watching[-1].append(f"{event} {arguments[:2]}")


sys.addaudithook(_heard)


class Watch:
    """What was run while this context was open: processes, and the module of the trap."""

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "ran"
        self.module = folder / f"{MODULE}.py"
        self.module.write_text(
            f"from pathlib import Path\nPath({str(self.mark)!r}).write_text('imported')\n"
            f"def run(*a, **k): Path({str(self.mark)!r}).write_text('called')\n"
            f"class Trap:\n    def __new__(cls, *a, **k): run()\n"
        )

    def __enter__(self) -> list[str]:
        sys.path.insert(0, str(self.module.parent))
        _watching.append([])
        return _watching[-1]

    def __exit__(self, *_: Any) -> None:
        heard = _watching.pop()
        sys.path.remove(str(self.module.parent))
        if self.mark.exists() or MODULE in sys.modules:
            heard.append(f"{MODULE} ran")


def voted() -> bd.Duels:
    """Return a log with judges."""
    outcomes = np.random.default_rng(1).integers(0, 2, 60).astype(float)
    pairs = ["ab", "bc", "ca"] * 20
    lefts, rights = [p[0] for p in pairs], [p[1] for p in pairs]
    return bd.Duels.from_votes(lefts, rights, outcomes, judge=["u", "v", "w", "x"] * 15)


def make_files(folder: Path) -> Path:
    """Write one file of each kind that is opened: a fit, a study, and a trace of both formats."""
    fit = bd.fit(voted(), BradleyTerry() + SideAdvantage(), draws=100, seed=1)
    fit.to_netcdf(folder / "fit.nc", engine="h5netcdf")
    policy = bd.policies.ContrastAllocation(
        belief=bd.beliefs.Laplace(model=BradleyTerry() + SideAdvantage())
    )
    stop = bd.study.WithinRope(0.95) | bd.study.Budget(50)
    bd.Study(folder / "a.study", arms=list("abc"), policy=policy, stop=stop, seed=1).close()
    given: dict[str, Any] = {"seed": 1, "replications": 1, "workers": 1, "progress": False}
    for name in ("trace.zarr", "trace.nc"):
        bd.simulate(bd.policies.Uniform(), "cyclic-4", horizon=20, out=folder / name, **given)
    return folder


def texts(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the texts of a JSON value are, and where a dictionary could have another one."""
    if isinstance(value, str):
        yield at
    elif isinstance(value, dict):
        yield (*at, "planted")
        plain = [name for name in value if isinstance(value[name], str)]
        alike = plain[1:] if len(plain) > 5 else []  # of many versions, one
        for name in value:
            if name not in alike:
                yield from texts(value[name], (*at, name))
    elif isinstance(value, list):
        for place in range(len(value) if value and not isinstance(value[0], str) else 1):
            yield from texts(value[place], (*at, place)) if value else ()


def planted(value: Any, at: tuple[Any, ...], name: str) -> Any:
    """Return a JSON value with a text at a place replaced."""
    if not at:
        return name
    copy = list(value) if isinstance(value, list) else dict(value)
    inner = copy.get(at[0], {}) if isinstance(copy, dict) else copy[at[0]]
    copy[at[0]] = planted(inner, at[1:], name)
    return copy


def spots_of_attributes(path: Path) -> list[tuple[str, str, tuple[Any, ...]]]:
    """Return the texts in the attributes of an HDF5 file: group, attribute, place in its JSON."""
    found = []
    with h5py.File(path) as file:
        groups: list[Any] = [file]
        file.visititems(lambda _, item: groups.append(item))
        for item in groups:
            for name, value in item.attrs.items():
                if isinstance(value, str):
                    found.append((item.name, name, ()))
                    found += [(item.name, name, at) for at in texts(_json(value)) if at]
    return found


def plant_attribute(path: Path, spot: tuple[str, str, tuple[Any, ...]], name: str) -> None:
    """Write a name into an attribute of an HDF5 file."""
    group, attribute, at = spot
    with h5py.File(path, "r+") as file:
        attributes = file[group].attrs
        held = attributes[attribute]
        attributes[attribute] = json.dumps(planted(_json(held), at, name)) if at else name


def spots_of_study(path: Path) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the texts in the settings of a study: the setting, and the place in its JSON."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("select name, value from settings").fetchall()
    return [(name, at) for name, value in rows for at in ((), *texts(json.loads(value)))]


def plant_setting(path: Path, spot: tuple[str, tuple[Any, ...]], name: str) -> None:
    """Write a name into a setting of a study."""
    setting, at = spot
    with closing(sqlite3.connect(path)) as connection, connection:
        (held,) = connection.execute(
            "select value from settings where name = ?", (setting,)
        ).fetchone()
        new = json.dumps(planted(json.loads(held), at, name))
        connection.execute("update settings set value = ? where name = ?", (new, setting))


def spots_of_folder(path: Path) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the texts in the metadata of a Zarr folder: the file, and the place in its JSON."""
    found: list[tuple[str, tuple[Any, ...]]] = []
    known = set()  # of arrays that are described alike, one
    for file in sorted(path.rglob("zarr.json")):
        held = json.loads(file.read_text())
        name = str(file.relative_to(path))
        alike = held["node_type"], str(held.get("data_type"))
        if alike in known:
            continue
        known.add(alike)
        found += [(name, at) for at in texts(held)]
        plan = held.get("attributes", {}).get("plan")
        if plan is not None:
            found += [(name, ("attributes", "plan", *at)) for at in texts(json.loads(plan))]
    return found


def plant_metadata(path: Path, spot: tuple[str, tuple[Any, ...]], name: str) -> None:
    """Write a name into the metadata of a Zarr folder."""
    file, at = path / spot[0], spot[1]
    held = json.loads(file.read_text())
    if at[:2] == ("attributes", "plan") and len(at) > 2:
        plan = json.loads(held["attributes"]["plan"])
        held["attributes"]["plan"] = json.dumps(planted(plan, at[2:], name))
    else:
        held = planted(held, at, name)
    file.write_text(json.dumps(held))


def copy(source: Path, folder: Path) -> Path:
    """Return a copy of a file or a folder, in place of an earlier one."""
    target = folder / f"crafted{source.suffix}"
    if source.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
    else:
        for left in folder.glob(f"{target.name}*"):
            left.unlink()
        shutil.copy(source, target)
    return target


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


# by kind of file: where its texts are, and how one is replaced
KINDS: dict[str, tuple[Any, Any]] = {
    "fit.nc": (spots_of_attributes, plant_attribute),
    "trace.nc": (spots_of_attributes, plant_attribute),
    "a.study": (spots_of_study, plant_setting),
    "trace.zarr": (spots_of_folder, plant_metadata),
}
CLASSES = ("evil", "order", "scores", "bradley-terry")
PARTS = {  # of a study: where a class is named
    "model": ("model", ("name",)),
    "classes": ("model", ("classes", "evil")),
    "policy": ("policy", ("class",)),
    "belief": ("policy", ("belief", "class")),
    "stop": ("stop", ("rules", 0, "name")),
    "goal": ("goal", ("name",)),
}


def plant_class(path: Path, part: str, name: str, mark: Path) -> None:
    """Let a fit name a class that is none, its arguments among the settings."""
    settings = {"args": ["touch", str(mark)], "command": f"touch {mark}"}
    with h5py.File(path, "r+") as file:
        file.attrs["model_classes"] = json.dumps({part: name})
        if part == "evil":
            file.attrs["model"], file.attrs["model_settings"] = part, json.dumps(settings)
