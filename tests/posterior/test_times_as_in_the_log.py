"""Dates of duels to come are understood in the form that the log has."""

import datetime

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.models import BradleyTerry, TimeVarying

FORMS = ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y-%m-%d", "%d %b %Y"]
START = datetime.date(2024, 1, 1)
DAY = datetime.date(2024, 1, 5)  # 1 May, where day and month are taken for each other
AS_LOG = "dates as the log has them, such as"
FITS: dict[str, object] = {}


def fit_of(form):
    """Return a fit of a log whose dates are written so; a overtakes b from January to June."""
    if form not in FITS:
        rng = np.random.default_rng(5)
        rows = []
        for k in range(0, 180, 2):
            day = START + datetime.timedelta(days=k)
            won = "left" if rng.random() < 0.2 + 0.6 * k / 180 else "right"
            rows.append(("a", "b", won, day.strftime(form)))
        frame = pd.DataFrame(rows, columns=["left", "right", "outcome", "date"])
        log = bd.read_duels(frame)
        assert log.votes.time[0] == np.datetime64(START)
        FITS[form] = bd.fit(log, BradleyTerry() + TimeVarying(periods=4), draws=100)
    return FITS[form]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("how", ["keyword", "column", "ISO", "date"])
def test_a_date_is_read_as_in_the_log(form, how):
    fit = fit_of(form)
    expected = bd.predict(fit, "a", "b", time=np.datetime64(DAY))["win"].item()
    time = {"ISO": DAY.isoformat(), "date": DAY}.get(how, DAY.strftime(form))
    frame = pd.DataFrame({"left": ["a"], "right": ["b"], "date": [time]})
    if how == "column":
        assert bd.predict(fit, frame)["win"].item() == expected
    else:
        assert bd.predict(fit, "a", "b", time=time)["win"].item() == expected
    in_may = bd.predict(fit, "a", "b", time=np.datetime64("2024-05-01"))["win"].item()
    assert expected < in_may


def test_points_say_that_the_day_is_first():
    fit = fit_of("%Y-%m-%d")
    expected = bd.predict(fit, "a", "b", time=np.datetime64(DAY))["win"].item()
    assert bd.predict(fit, "a", "b", time="05.01.2024")["win"].item() == expected


@pytest.mark.parametrize(
    ("form", "time", "such_as"),
    [
        ("%Y-%m-%d", "05/01/2024", "dates such as 2024-06-"),
        ("%d.%m.%Y", "05/01/2024", rf"{AS_LOG} \d\d\.06\.2024, or as 2024-06"),
        ("%m/%d/%Y", "31/01/2024", rf"{AS_LOG} 06/\d\d/2024, or as 2024-06"),
    ],
)
def test_a_date_in_doubt_is_asked_for_in_a_form_that_is_read(form, time, such_as):
    with pytest.raises(ValueError, match=f"time should be {such_as}.*, got '{time}'") as caught:
        bd.predict(fit_of(form), "a", "b", time=time)
    assert "to_datetime" not in str(caught.value)


@pytest.mark.parametrize("batch", ["05/01/2024", "2024-01-05"])
def test_a_batch_is_read_in_the_form_of_the_log(batch):
    frame = pd.DataFrame({"left": ["a"], "right": ["b"], "outcome": ["left"], "date": [batch]})
    log = bd.read_duels(frame, like=fit_of("%d/%m/%Y"))
    assert log.votes.time.tolist() == [datetime.datetime(2024, 1, 5)]
