"""Times as text: read by Arrow in the usual forms, by pandas in the others, alike."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayesduel.data.read.rows import times

USUAL = ["2026-01-01", " 2026-01-01 10:11:12", "2026-01-01T10:11:12.5", "2026-02-28 10", "", None]
ZONED = ["2026-01-01T10:11:12Z", "2026-01-01 10:11:12.25+02:00", None]
OTHER = ["2026-1-1", "20260101", "2026", "2026-02-30", "soon", "2026-01-01T10:11:12.1234567"]


@pytest.mark.parametrize("texts", [USUAL, ZONED, OTHER, [*USUAL, *ZONED, *OTHER]])
def test_dates_are_those_of_pandas(texts):
    found, unreadable, _ = times([pa.array(texts, pa.string())], "time", "date")
    known = [text.strip() if text and text.strip() else None for text in texts]
    parsed = pd.to_datetime(pd.Series(known), format="ISO8601", errors="coerce", utc=True)
    expected = parsed.dt.tz_localize(None).to_numpy().astype("datetime64[us]")
    assert np.array_equal(found, expected, equal_nan=True)
    assert unreadable.tolist() == [
        text is not None and bool(np.isnat(day)) for text, day in zip(known, expected, strict=True)
    ]
