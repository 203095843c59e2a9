"""A file in another encoding than UTF-8 is refused before anything else is said of it."""

import pytest

import bayesduel as bd
from bayesduel.data.read.formats import check_encoding, recognise

HEADS = ["Bier A;Bier B;Urteil", "quux;zorp;blah", "links;rechts;Gewinner"]
ROWS = ["Störtebeker;Becks;A", "Becks;Störtebeker;keine Präferenz", "Becks;Köln;B"]


def written(folder, head, rows, encoding):
    path = folder / "log.csv"
    path.write_bytes("\n".join([head, *rows, ""]).encode(encoding))
    return path


@pytest.mark.parametrize("on_bad", ["error", "skip"])
@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "mac-roman", "cp850"])
@pytest.mark.parametrize("head", HEADS)
def test_another_encoding_is_named_at_once(tmp_path, head, encoding, on_bad):
    path = written(tmp_path, head, ROWS, encoding)
    with pytest.raises(ValueError, match=r"log.csv, line 2: should be UTF-8") as caught:
        bd.read_duels(path, on_bad=on_bad)
    assert "save it as UTF-8" in str(caught.value)
    assert "(and 2 more such lines)" in str(caught.value)
    assert ("in CP1252" in str(caught.value)) == (encoding in ("cp1252", "latin-1"))
    assert ("'Störtebeker'" in str(caught.value)) == (encoding in ("cp1252", "latin-1"))


@pytest.mark.parametrize("damaged", [0, 1])
@pytest.mark.parametrize("others", [["Becks;Veltins;Becks"] * 4, ["Becks;Müller;Becks"] * 4])
def test_damaged_lines_of_a_file_in_utf8_are_left_out(tmp_path, others, damaged):
    path = written(tmp_path, "left;right;winner", others, "utf-8")
    with path.open("ab") as file:
        file.write(b"Becks;St\xf6rtebeker;Becks\n" * damaged)
    log = bd.read_duels(path, on_bad="skip")
    assert (log.n_duels, log.read_summary.n_bad_rows) == (4, damaged)


@pytest.mark.parametrize("n", [1, 3])
def test_the_line_of_a_long_file_is_named(tmp_path, n):
    plain = ["Becks;Veltins;A"] * 200_000  # more than a block
    path = written(tmp_path, HEADS[0], [*plain, *["Becks;Köln;B"] * n], "cp1252")
    with pytest.raises(ValueError, match="line 200002: should be UTF-8"):
        check_encoding(recognise(str(path)), skip=False)
    if n == 1:
        check_encoding(recognise(str(path)), skip=True)
