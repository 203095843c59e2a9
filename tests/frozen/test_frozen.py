"""Every frozen number is computed again and compared: see ``make_frozen.py``.

An item that differs is told with all of its differences. Where a number was meant to change, run
``python -m tests.frozen.make_frozen --only NAME`` and say so in the change log.
"""

import json
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from tests.frozen import make_frozen as frozen

HERE = Path(__file__).parent
matplotlib.use("Agg")


STORED = json.loads(frozen.STORE.read_text(encoding="utf-8"))
REL, ABS = 1e-7, 1e-9
FAR = 5.0  # Monte Carlo standard errors between two means by NUTS
# (start of the item's name, a field in the path to the number) -> relative, absolute tolerance.
RELAXED: dict[tuple[str, str], tuple[float, float]] = {
    # k-hat is a fit to the tail of importance weights: the last digits of log densities, which
    # differ between two compilations of the same graph, are magnified.
    ("", "khat"): (1e-6, 1e-7),
    ("fit/", "ess"): (1e-6, 1e-7),
    # 1.2e-7 apart on two processors: the search for the best scale ends elsewhere
    ("fit/thurstone score pair order/icehockey", "shrinkage"): (2e-7, 1e-9),
    # 4.0e-5 apart compiled and as plain Python. The log stays the same where its arms are turned:
    # an uneven ranking has modes of one height, and last digits say where its saddle is left.
    ("check/cyclic", "p_one_ranking_without_order_effect"): (1e-4, 1e-6),
}


def differences(name, path, was, now):
    """Yield a line for each place where two digests differ."""
    if isinstance(was, dict) and isinstance(now, dict):
        if {"mean", "error"} <= was.keys() & now.keys():
            yield from apart(path, was, now)
            return
        for key in [*was, *(k for k in now if k not in was)]:
            if key not in was or key not in now:
                yield f"{path}/{key}: only {'now' if key in now else 'before'}"
            else:
                yield from differences(name, f"{path}/{key}", was[key], now[key])
    elif isinstance(was, list) and isinstance(now, list):
        if len(was) != len(now):
            yield f"{path}: {len(was)} entries before, {len(now)} now"
        for k, (a, b) in enumerate(zip(was, now, strict=False)):
            yield from differences(name, f"{path}/{k}", a, b)
    elif path.endswith("/verdict_arms"):  # of equal probability: in an order by their last digits
        if set(json.loads(was)) != set(json.loads(now)):
            yield f"{path}: {was!r} before, {now!r} now"
    elif isinstance(was, bool | str | None) or isinstance(now, bool | str | None):
        if was != now:
            yield f"{path}: {was!r} before, {now!r} now"
    else:
        fields = path.split("/")
        relative, absolute = next(
            (t for (start, f), t in RELAXED.items() if name.startswith(start) and f in fields),
            (REL, ABS),
        )
        if not abs(was - now) <= max(relative * max(abs(was), abs(now)), absolute):
            yield f"{path}: {was!r} before, {now!r} now"


def apart(path, was, now):
    """Yield a line for each posterior mean that differs by more than its Monte Carlo error."""
    if was["shape"] != now["shape"]:
        yield f"{path}: shape {was['shape']} before, {now['shape']} now"
        return
    means, errors = (
        [np.array(told[name]["values"]) for told in (was, now)] for name in ("mean", "error")
    )
    far = np.abs(means[1] - means[0]) > np.maximum(FAR * np.hypot(*errors), ABS)
    for k in np.flatnonzero(far):
        before, after = (f"{m[k]} ± {e[k]}" for m, e in zip(means, errors, strict=True))
        yield f"{path}/{k}: {before} before, {after} now"


def check(name):
    now = json.loads(json.dumps(frozen.compute(name)))
    found = list(differences(name, "", STORED[name], now))
    assert not found, f"{name}: {len(found)} differences\n" + "\n".join(found[:25])


SHOWN = ("springall", "judged", "margins", "cyclic")  # logs that stand for all in the fast suite
# Each form of a model is compiled anew on a fresh machine, seconds each: make test-all has them.
OTHER_FORMS = (
    *("thurstone/", "thurstone)", "(davidson)", "degrees", "score arm", "score pair", "perturbed"),
    *("flat/", "plain/", "attributes order", "effect order", "logistic", "thurstone scale"),
    *("scale=1.0/judged", "scale=inf/judged", "davidson"),
    *("attributes item", "compare-models pair", "thurstone score common"),
)

LONG = (
    *("by-model", "/items large", "contextual-duels", "item-duels"),
    # a problem is played once for all of its policies: the fast tests have them all on one
    *("/drawn", "/uneven", "/line", "/replay"),
)


def shown(name):
    """Return whether an item is compared in the fast suite: one log and model of each kind."""
    if any(form in name for form in OTHER_FORMS):
        return False
    return any(log in name for log in SHOWN)


def marks(name):
    """Return the marks of an item; kernels of policies need not be compiled to be compared."""
    if name.startswith(("policy/", "selection/", "simulate/", "asking/", "regret ")):
        return pytest.mark.slow if any(part in name for part in LONG) else pytest.mark.plain
    return () if shown(name) else pytest.mark.slow


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=marks(n)) for n in frozen.FAST if n in STORED],
)
def test_the_number_is_what_it_was(name):
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in frozen.SLOW if n in STORED])
def test_the_slow_number_is_what_it_was(name):
    check(name)


def test_nothing_stored_is_forgotten():
    assert set(STORED) == {*frozen.FAST, *frozen.SLOW}


def test_items_made_again_stay_in_their_place(tmp_path, monkeypatch):
    monkeypatch.setattr(frozen, "STORE", tmp_path / "frozen.json")
    first, second, third = list(frozen.FAST)[:3]
    frozen.write({third: 1.5, "an item that is no more": 0, first: [2], second: 3})
    assert list(json.loads(frozen.STORE.read_text(encoding="utf-8"))) == [third, first, second]
