"""A file of duels to come is read as a log is: separators, decimals, spreadsheets, encodings."""

import io

import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.models import BradleyTerry, Covariates
from tests.support.spreadsheet import write_xlsx

ROWS = [("Störtebeker", "Veltins", "2.5"), ("Veltins", "Becks", "-1.25"), ("Becks", "Veltins", "")]
NAMES = ["Bier A", "Bier B", "Wärme"]


@pytest.fixture(scope="module")
def fit():
    arms = ["Störtebeker", "Veltins", "Becks"]
    rows = [
        (arms[k % 3], arms[(k + 1 + k % 2) % 3], "left" if k % 5 < 3 else "right", k % 7 / 2)
        for k in range(90)
    ]
    frame = pd.DataFrame(rows, columns=[*NAMES[:2], "Urteil", NAMES[2]])
    return bd.fit(
        bd.read_duels(frame, covariates=[NAMES[2]]), BradleyTerry() + Covariates([NAMES[2]])
    )


def comma(number):
    return number.replace(".", ",")


def text(separator, decimal=str, encoding="utf-8"):
    rows = [NAMES, *((a, b, decimal(number)) for a, b, number in ROWS)]
    return "".join(separator.join(row) + "\n" for row in rows).encode(encoding)


def workbook(path):
    rows = [NAMES, *((a, b, float(number) if number else None) for a, b, number in ROWS)]
    write_xlsx(path, {"duels": rows})


FILES = {
    "commas.csv": text(","),
    "semicolons.csv": text(";"),
    "semicolons and decimal commas.csv": text(";", comma),
    "byte-order mark.csv": text(";", comma, "utf-8-sig"),
    "tabs.tsv": text("\t"),
    "workbook.xlsx": None,
    "parquet.parquet": None,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("how", ["command", "Python"])
def test_duels_to_come_are_read_as_a_log_is(fit, name, how, tmp_path):
    path = tmp_path / name
    numbers = [float(number) if number else None for *_, number in ROWS]
    frame = pd.DataFrame(ROWS, columns=NAMES).assign(**{NAMES[2]: numbers})
    if name.endswith("xlsx"):
        pytest.importorskip("python_calamine")
        workbook(path)
    elif name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        path.write_bytes(FILES[name])
    expected = bd.predict(fit, frame)["win"].to_numpy().tolist()
    if how == "Python":
        assert bd.predict(fit, str(path))["win"].to_numpy().tolist() == expected
        return
    fit.to_netcdf(tmp_path / "fit.nc")
    command = ["predict", str(tmp_path / "fit.nc"), "--pairs", str(path), "--csv"]
    answer = CliRunner().invoke(main, command)
    assert answer.exit_code == 0, answer.output
    found = pd.read_csv(io.StringIO(answer.stdout))
    assert found["win"].tolist() == pytest.approx(expected)
    assert found[NAMES[0]].tolist() == [row[0] for row in ROWS]


def test_the_encoding_of_duels_to_come_is_named(fit, tmp_path):
    path = tmp_path / "excel.csv"
    path.write_bytes(text(";", comma, "cp1252"))
    message = r"should be UTF-8, got b'.xe4' in line 1.*save it as UTF-8"
    with pytest.raises(ValueError, match=message):
        bd.predict(fit, str(path))
