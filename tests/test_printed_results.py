"""What results print fits a terminal of 80 columns, and what a notebook shows is escaped."""

import re
import warnings

import numpy as np
import pytest
import xarray as xr
from rich.cells import cell_len

import bayesduel as bd
from bayesduel.criticism.calibration import held_out
from bayesduel.models import BradleyTerry, CategoryEffects, RandomEffects, Sources
from bayesduel.simulation.policy_comparison import compare_regrets
from bayesduel.text import number_with_interval, wrapped

LINES, COLUMNS = 30, 80
NAMES = (  # forty letters, right to left, wide letters, HTML, line ends
    "an arm of forty letters, <b>bold</b> ones",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd \u05d0\u05e8\u05d5\u05da",
    "\N{TEACUP WITHOUT HANDLE}" * 20,
    "\u65e5\u672c\u8336\u306e\u540d\u524d\u306f\u3068\u3066\u3082\u9577\u3044\u3067\u3059",
    "<script>alert(1)</script>",
    "line\nend\ttab & amp",
)
JUDGES = (
    "<i>ann</i> of a name that nobody would read",
    *("\N{SLIGHTLY SMILING FACE}" * n for n in (3, 40)),
)


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(1)
    n = 400
    i = rng.integers(0, 6, n)
    j = (i + rng.integers(1, 6, n)) % 6
    outcome = (rng.logistic(size=n) < (j - i) * 0.4) * 1.0
    outcome[rng.uniform(size=n) < 0.1] = 0.5
    names = np.array(NAMES, dtype=object)
    return bd.Duels.from_votes(
        list(names[i]),
        list(names[j]),
        outcome,
        judge=[JUDGES[k] for k in rng.integers(0, 3, n)],
        category=[("<b>", "\N{TEACUP WITHOUT HANDLE}")[k] for k in rng.integers(0, 2, n)],
        keep={"source": [("human", "<i>gpt</i>")[k] for k in rng.integers(0, 2, n)]},
    )


@pytest.fixture(scope="module")
def fit(log):
    return fitted(log)


def fitted(log, *terms):
    model = BradleyTerry()
    for term in terms:
        model = model + term
    return bd.fit(log, model, "laplace", draws=200, clusters=False)


def studied(folder):
    study = bd.Study(folder / "a.study", arms=NAMES[:3])
    for _ in range(12):
        study.tell(study.ask().id, "left")
    return study.status()


def compared(n_runs=8):
    regrets = np.random.default_rng(1).gamma(2.0, size=(25, n_runs))
    policies = [*NAMES, *map(str, range(19))]
    return xr.DataArray(regrets, {"policy": policies}, ("policy", "replication"))


RESULTS = {
    "fit": lambda log, fit, folder: fit,
    "summary": lambda log, fit, folder: bd.summary(fit),
    "winners": lambda log, fit, folder: bd.winners(fit),
    "top-k": lambda log, fit, folder: bd.top_k(fit, 3),
    "predictions": lambda log, fit, folder: bd.predict(fit, NAMES[:5], NAMES[5]),
    "one prediction": lambda log, fit, folder: bd.predict(fit, *NAMES[:2]),
    "judges": lambda log, fit, folder: bd.judge_agreement(log, fit),
    "panel": lambda log, fit, folder: bd.panel(log, fit),
    "audit": lambda log, fit, folder: bd.audit(fit, log, by=["judge"]),
    "health": lambda log, fit, folder: bd.health(log),
    "categories": lambda log, fit, folder: bd.category_ranks(fitted(log, CategoryEffects())),
    "generalizability": lambda log, fit, folder: bd.generalizability(
        fitted(log, RandomEffects("judge"))
    ),
    "sources": lambda log, fit, folder: bd.sources(
        bd.fit(log, BradleyTerry(Sources("source", target="human")), draws=200)
    ),
    "comparison": lambda log, fit, folder: bd.compare_models(
        log, {f"<b>{'x' * 40}": fit, JUDGES[1]: fit}, folds=0
    ),
    "calibration": lambda log, fit, folder: held_out(log, BradleyTerry(), folds=2, draws=200),
    "policies": lambda log, fit, folder: compare_regrets(compared()),
    "few runs": lambda log, fit, folder: compare_regrets(compared(n_runs=5)),
    "status": lambda log, fit, folder: studied(folder),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_fits_a_terminal_and_a_notebook(log, fit, tmp_path, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of votes that judges repeat
        found = RESULTS[name](log, fit, tmp_path)
        lines = repr(found).split("\n")
        html = found._repr_html_()
    assert str(found) == repr(found)
    assert max(map(cell_len, lines)) <= COLUMNS, max(lines, key=cell_len)
    assert 1 < len(lines) <= LINES
    assert not re.search("<(script>alert|b>bold|i>ann|i>gpt)", html)
    assert re.search("<(table|p)", html)


TABLED = (
    "winners",
    "top-k",
    "predictions",
    "judges",
    "panel",
    "policies",
    "few runs",
    "categories",
    "audit",
    "generalizability",
    "sources",
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", TABLED)
def test_tables_name_the_arms_or_the_judges(log, fit, tmp_path, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = RESULTS[name](log, fit, tmp_path)
        html = found._repr_html_()
    assert html.count("<table") >= 1
    assert "alert(1)" in html or "nobody would read" in html or "gpt" in html


@pytest.mark.parametrize("width", [10, 33, 80])
def test_wrapped_lines_hold_every_word(width):
    """Of text without wide letters they are those of textwrap; wide ones take two columns."""
    text = f"{' '.join(NAMES)} and the end"
    lines = wrapped(text, width, "- ", "  ")
    assert max(map(cell_len, lines)) <= width
    assert lines[0].startswith("- ")
    assert all(line.startswith("  ") for line in lines[1:])
    joined = "".join("".join(line[2:].split()) for line in lines)
    assert joined == "".join(text.split())
    assert wrapped("", width) == [""]


def test_compared_policies_print_as_a_table():
    found = compare_regrets(compared())
    lines = repr(found).split("\n")
    assert lines[1].split() == ["policy", "ratio", "[95", "%]", "p", "regret"]
    assert "1 (reference)" in lines[2]
    row = found.isel(policy=9)
    numbers = number_with_interval(*(float(row[n]) for n in ("ratio", "ratio_low", "ratio_high")))
    (shown,) = [line for line in lines if line.startswith("3 ")]
    assert numbers in shown
    assert shown.endswith(f" {100 * float(row['lower']):.0f} %")
    assert "too few runs" not in repr(found)
    few = repr(compare_regrets(compared(n_runs=5)))
    assert "inf" not in few
    assert "too few runs" in few
