"""Rows that are there twice: counted as pandas counts them, whatever their times."""

import itertools

import pandas as pd
import pytest

import bayesduel as bd

ROWS = [("x", "y", "left", "u1"), ("y", "z", "right", "u2"), ("x", "z", "tie", "u1")] * 4
TIMES = {
    "in order": [f"2024-01-{k:02}" for k in range(1, 13)],
    "out of order": [f"2024-01-{13 - k:02}" for k in range(1, 13)],
    "of one day": ["2024-01-01"] * 12,
    "two at a time": [f"2024-01-0{1 + k // 2}" for k in range(12)],
    "numbers": [float(k) for k in range(12)],
    "some unknown": [None, *(f"2024-01-{k:02}" for k in range(1, 11)), None],
    "no time": None,
}


def frame_of(times, note, judge):
    frame = pd.DataFrame(ROWS, columns=["left", "right", "outcome", "judge"])
    if not judge:
        del frame["judge"]
    if times is not None:
        frame["time"] = times
    frame["note"] = [note(k) for k in range(len(frame))]  # which has no role
    return frame


NOTES = {
    "all differ": lambda k: f"n{k}",
    "all the same": lambda k: "n",
    "few": lambda k: f"n{k % 3}",
}


@pytest.mark.parametrize(
    ("times", "note", "judge", "ending"),
    itertools.product(TIMES, NOTES, (True, False), ("csv", "parquet", "frame")),
)
@pytest.mark.sampled(3)
def test_duplicates_are_those_of_pandas(tmp_path, times, note, judge, ending):
    frame = frame_of(TIMES[times], NOTES[note], judge)
    given = frame
    if ending != "frame":
        given = tmp_path / f"log.{ending}"
        frame.to_csv(given, index=False) if ending == "csv" else frame.to_parquet(given)
    log = bd.read_duels(given, group=False)
    votes = judge or times != "no time"
    right = int(frame.duplicated().sum()) if votes else None
    assert log.read_summary.n_duplicates == right


def test_duplicates_by_part(tmp_path):
    frame = frame_of(TIMES["of one day"], NOTES["few"], True)
    frame["part"] = ["p", "q"] * 6
    frame.to_csv(tmp_path / "log.csv", index=False)
    logs = bd.read_duels(tmp_path / "log.csv", by="part")
    for part, log in logs.items():
        right = int(frame[frame["part"] == part].duplicated().sum())
        assert log.read_summary.n_duplicates == right
