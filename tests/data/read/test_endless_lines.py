"""A compressed line that does not end is refused while it is read."""

import gzip
import tracemalloc

import pytest

import bayesduel as bd

pytestmark = pytest.mark.plain

MANY = 64_000_000  # characters of the line, which gzip packs into 62 kB
HEADER = b"left,right,outcome\na,b,left\n"
ROW = b'{"left": "a", "right": "b", "outcome": "left"}\n'


@pytest.mark.parametrize(
    ("name", "before", "line"),
    [
        ("log.csv.gz", b"", 1),
        ("log.csv.gz", HEADER, 3),
        ("log.jsonl.gz", b'{"left": "', 1),
        ("log.jsonl.gz", ROW, 2),
        ("log.jsonl.gz", ROW * 1200, 1201),
    ],
)
@pytest.mark.parametrize("on_bad", ["error", "skip"])
@pytest.mark.sampled(2)
def test_an_endless_compressed_line_is_refused_while_it_is_read(
    name, before, line, on_bad, tmp_path
):
    path = tmp_path / name
    path.write_bytes(gzip.compress(before + b"x" * MANY, 1))
    rule = f"line {line}: should be at most 2,000,000 bytes long, got more than 8,000,000"
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=rule):
            bd.read_duels(path, on_bad=on_bad)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < MANY
