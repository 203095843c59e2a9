"""A warning names the line of the user that called the package, whichever door it came through."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.data.health import DisconnectedWarning, OutlierWarning, ThinDataWarning
from bayesduel.inference.fit import UnusedCovariatesWarning
from bayesduel.models import BradleyTerry, SideAdvantage
from bayesduel.posterior.dependence import (
    FewClustersWarning,
    MissingLabelWarning,
    RepeatedVotesWarning,
)
from bayesduel.posterior.update import AddedBeforeWarning
from bayesduel.reporting.analysis import given_again
from bayesduel.system.warnings import BayesduelWarning, warn

ROOT = Path(bd.__file__).parents[1]
SOURCES = [*(ROOT / "bayesduel").rglob("*.py"), *(ROOT / "models").rglob("*.py")]
PAIRS = [("ash", "beech"), ("beech", "cedar"), ("cedar", "ash")]


def votes(n=60, **more):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(PAIRS * (n // 3), columns=["left", "right"])
    return rows.assign(outcome=rng.choice(["left", "right"], n), **more)


def by_judges(n_judges):
    return votes(judge=[f"j{k % n_judges}" for k in range(60)])


def without_judges(n):
    """Return votes of twelve judges, the first n of which name none."""
    return by_judges(12).assign(judge=[None] * n + [f"j{k % 12}" for k in range(60 - n)])


def outlying():
    return votes().drop(columns="outcome").assign(margin=[*np.linspace(-3, 3, 59), 1e6])


def of_a_report():
    with given_again():
        warn("few votes")


def two_components():
    return pd.concat([votes(), votes().replace({"left": LABELS, "right": LABELS})])


LABELS = {"ash": "fir", "beech": "larch", "cedar": "oak"}
WITH_X = {"x": np.linspace(-1, 1, 60)}
CASES = {
    "read, outlier": (OutlierWarning, lambda: bd.read_duels(outlying())),
    "fit of a frame, outlier": (OutlierWarning, lambda: bd.fit(outlying(), draws=100)),
    "fit, few duels": (ThinDataWarning, lambda: bd.fit(votes(3), draws=100)),
    "fit, two components": (DisconnectedWarning, lambda: bd.fit(two_components(), draws=100)),
    "fit of a model without the covariate": (
        UnusedCovariatesWarning,
        lambda: bd.fit(
            bd.read_duels(votes(**WITH_X), covariates=["x"]),
            BradleyTerry() + SideAdvantage(),
            draws=100,
        ),
    ),
    "winners of a log, two judges": (
        FewClustersWarning,
        lambda: bd.winners(bd.read_duels(by_judges(2))),
    ),
    "winners of a matrix, judges left out": (
        RepeatedVotesWarning,
        lambda: bd.winners(bd.fit(by_judges(12), "preference-matrix", draws=100)),
    ),
    "winners of a log, votes without a judge": (
        MissingLabelWarning,
        lambda: bd.winners(bd.read_duels(without_judges(6))),
    ),
    "update, votes that the fit has": (
        AddedBeforeWarning,
        lambda: bd.update(bd.fit(votes(), draws=100), votes(), draws=100),
    ),
    "report, given again": (BayesduelWarning, lambda: of_a_report()),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(3)
def test_a_warning_names_the_line_that_called_the_package(case):
    category, call = CASES[case]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    files = {w.filename for w in caught if w.category is category}
    assert files == {__file__}


def test_the_package_warns_in_one_way():
    calls = {p.name for p in SOURCES if "warnings.warn(" in p.read_text(encoding="utf-8")}
    assert calls == {"warnings.py"}


def test_every_warning_of_the_package_is_one_kind():
    kinds = re.compile(r"^class (\w+Warning)\((\w+)\):", flags=re.M)
    bases = dict(pair for source in SOURCES for pair in kinds.findall(source.read_text("utf-8")))
    assert len(bases) >= 10
    assert bases.pop("BayesduelWarning") == "UserWarning"
    assert set(bases.values()) == {"BayesduelWarning"}
