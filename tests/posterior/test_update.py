"""Updates: a fit brought up to date equals a fit of all duels."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesduel as bd
from bayesduel.models import (
    BradleyTerry,
    Covariates,
    CumulativeLogit,
    Davidson,
    PreferenceMatrix,
    SideAdvantage,
    Sources,
    ThurstoneScore,
    TimeVarying,
)
from bayesduel.posterior.update import AddedBeforeWarning, log_of

PARTS = {"draws": 400, "seed": 3}


def votes(arms, n, seed, **columns):
    """Return a log of random votes among arms."""
    rng = np.random.default_rng(seed)
    left = rng.choice(arms, n)
    right = np.array([rng.choice([a for a in arms if a != one]) for one in left])
    return bd.Duels.from_votes(left, right, rng.choice([0, 0.5, 1], n), **columns)


@pytest.fixture(scope="module")
def logs():
    return votes(list("bcdef"), 300, 1), votes(list("abcdf"), 80, 2)  # "a" is new, "e" absent


def equal(updated, refitted):
    assert list(updated["posterior"]["arm"].values) == list(refitted["posterior"]["arm"].values)
    for name in ("wins", "ties"):
        found, wanted = (t["constant_data"][name].values for t in (updated, refitted))
        np.testing.assert_array_equal(found, wanted)
    for name, wanted in refitted["laplace"].data_vars.items():
        np.testing.assert_allclose(updated["laplace"][name].values, wanted.values, atol=1e-6)
    for name, wanted in refitted["posterior"].data_vars.items():
        np.testing.assert_allclose(
            updated["posterior"][name].values, wanted.values, atol=1e-4, err_msg=name
        )


@pytest.mark.parametrize("model", [BradleyTerry(), Davidson(), BradleyTerry(scale=1.0)])
def test_an_update_is_a_fit_of_all_duels(model, logs):
    old, new = logs
    updated = bd.update(bd.fit(old, model, **PARTS), new, draws=400)
    equal(updated, bd.fit(old.join(new), model, **PARTS))
    assert "earlier mode" in updated.attrs["method_reason"]
    assert updated.attrs["n_duels"] == 380


EXTRA = {
    "time": lambda k: f"2026-{k % 12 + 1:02}-01",
    "judge": lambda k: f"j{k}",  # one vote each
    "margin": lambda k: 1 + k % 3,
    "length": lambda k: k % 7,
    "category": lambda k: "xy"[k % 2],
}


@pytest.mark.parametrize("name", EXTRA)
@pytest.mark.parametrize("model", [bd.DefaultModel(), "bradley-terry", "davidson + order"])
@pytest.mark.filterwarnings("ignore:the log has covariates")
@pytest.mark.sampled(3)
def test_columns_that_the_model_does_not_read_are_no_hindrance(tmp_path, name, model):
    """Both files have the same columns; the fit keeps nothing but counts of its own log."""
    rng = np.random.default_rng(4)
    rows = {side: [] for side in ("left", "right", "outcome", name)}
    for k in range(300):
        left, right = rng.choice(4, 2, replace=False)
        won = "left" if rng.random() < 1 / (1 + np.exp((left - right) / 2)) else "right"
        for key, value in zip(
            rows, ("abcd"[left], "abcd"[right], won, EXTRA[name](k)), strict=True
        ):
            rows[key].append(value)
    whole = pd.DataFrame(rows)
    first, second, both = (tmp_path / f"{part}.csv" for part in ("first", "second", "both"))
    for path, part in ((first, whole[:200]), (second, whole[200:]), (both, whole)):
        part.to_csv(path, index=False)
    read = {"margin": False} if name == "margin" else {}
    keep = {"keep": ["length"]} if name == "length" else {}
    old, new = (bd.read_duels(path, **read, **keep) for path in (first, second))
    updated = bd.update(bd.fit(old, model, **PARTS), new, draws=400)
    equal(updated, bd.fit(bd.read_duels(both, **read, **keep), model, **PARTS))


def test_new_votes_of_one_judge_need_the_earlier_log(tmp_path):
    path = tmp_path / "new.csv"
    rows = "".join(f"a,b,left,{judge}\nb,c,left,{judge}\n" for judge in ("ann", "bob"))
    path.write_text("left,right,outcome,judge\n" + rows)
    fit = bd.fit(
        bd.Duels.from_wins([[0, 9, 8], [4, 0, 9], [3, 4, 0]], list("abc")), "bradley-terry"
    )
    with pytest.raises(ValueError, match="several votes by judge: give its file or its duels"):
        bd.update(fit, path)


def test_the_search_starts_at_the_earlier_mode(logs, monkeypatch):
    from bayesduel.inference import laplace

    starts = []

    def watched(density, hyper, start=None, **rest):
        starts.append(start)
        return find_mode(density, hyper, start, **rest)

    find_mode = laplace.find_mode
    old, new = logs
    fit = bd.fit(old, "bradley-terry", **PARTS)
    monkeypatch.setattr(laplace, "find_mode", watched)
    bd.update(fit, new, draws=400)
    from bayesduel.inference.design import centre

    mode = fit["laplace"]["score_mode"].values
    np.testing.assert_allclose(centre(starts[0])[1:], mode - mode.sum() / 6, atol=1e-12)


@pytest.mark.parametrize("model", [BradleyTerry() + SideAdvantage(), Davidson() + SideAdvantage()])
def test_a_model_that_reads_the_order_is_updated_from_its_counts(logs, model):
    old, new = logs
    fit = bd.fit(old, model, **PARTS)
    with pytest.raises(ValueError, match="that was fitted, of 300 duels"):
        bd.update(fit, new, duels=new)
    whole = bd.fit(old.join(new), model, **PARTS)
    equal(bd.update(fit, new, draws=400), whole)
    equal(bd.update(fit, new, duels=old, draws=400), whole)
    fit["constant_data"] = fit["constant_data"].dataset.drop_vars("first_wins")
    with pytest.raises(ValueError, match="who was left"):  # as an earlier version left it
        bd.update(fit, new)


def test_an_exact_posterior_is_fitted_anew(logs):
    old, new = logs
    fit = bd.fit(old, PreferenceMatrix(), **PARTS)
    updated, refitted = (
        bd.update(fit, new, draws=400),
        bd.fit(old.join(new), fit.attrs["model"], **PARTS),
    )
    np.testing.assert_array_equal(updated["posterior"]["theta"], refitted["posterior"]["theta"])
    assert "fitted anew" in updated.attrs["method_reason"]


def test_votes_of_judges_are_joined(logs):
    first, second = (
        votes(list("abc"), 60, s, judge=[str((i + s) % 7) for i in range(60)]) for s in (1, 5)
    )
    both = first.join(second)
    assert (both.n_duels, len(both.votes.judges)) == (120, 7)
    np.testing.assert_array_equal(both.tally().wins, first.tally().wins + second.tally().wins)
    with pytest.raises(ValueError, match="judge"):
        first.join(logs[0])
    with pytest.raises(ValueError, match="cluster-robust"):
        bd.update(bd.fit(first, **PARTS), second)


@pytest.mark.filterwarnings("ignore:the log has covariates", "ignore:the Laplace draws")
@pytest.mark.parametrize(
    "model",
    [
        BradleyTerry() + TimeVarying(periods=3),  # limits of the periods
        BradleyTerry() + Covariates(["x"]),  # the size of a covariate
        BradleyTerry(Sources("category", target="u")),  # the sources
        ThurstoneScore() + SideAdvantage(),  # the size of a margin
        CumulativeLogit(),  # the grades
    ],
)
@pytest.mark.sampled(6)
@pytest.mark.slow
def test_what_a_model_reads_off_the_log_is_read_off_the_whole(model, tmp_path):
    """The new duels are later, of larger covariates and margins, and of another source."""

    def log(n, seed, first, **columns):
        size = 1 + first / 50
        rng = np.random.default_rng(seed)
        known = {"time": first + np.arange(n), "covariates": {"x": size * rng.standard_normal(n)}}
        left, right = np.tile(list("abc"), n // 3), np.tile(list("bca"), n // 3)
        sign = rng.choice([-1, 1], n)
        grade = sign * rng.integers(1, 3 + (first > 0), n)
        known |= {"margin": np.round(size * sign * rng.uniform(1, 3, n), 1), "grade": grade}
        return bd.Duels.from_votes(left, right, (1 + sign) / 2, **known, **columns)

    old = log(60, 1, 0, category=["u", "v"] * 30)
    new = log(60, 2, 60, category=["u", "w"] * 30)
    bd.fit(old, model, "laplace", **PARTS).to_netcdf(tmp_path / "fit.nc")
    fit = bd.load(tmp_path / "fit.nc")
    updated = bd.update(fit, new, duels=old, method="laplace", draws=400)
    whole = bd.fit(old.join(new), model, "laplace", **PARTS)
    assert updated.duel.model == whole.duel.model != fit.duel.model
    assert updated.duel.asked == model
    for name, wanted in whole["posterior"].data_vars.items():
        found = updated["posterior"][name]
        xr.testing.assert_equal(found.coords.to_dataset(), wanted.coords.to_dataset())
        spread = wanted.std(("chain", "draw")).max().item()
        np.testing.assert_allclose(found, wanted, atol=0.05 * spread + 1e-9, err_msg=name)


@pytest.mark.slow
def test_the_command_updates_a_saved_fit(tmp_path):
    import xarray as xr
    from click.testing import CliRunner

    from bayesduel.cli import main

    for name, rows in (("old", "a,b\na,c\nb,c\nc,a\n" * 8), ("new", "d,a\nb,d\n" * 6)):
        (tmp_path / f"{name}.csv").write_text("winner,loser\n" + rows, encoding="utf-8")
    fit, draws = str(tmp_path / "fit.nc"), ("--draws", "400")
    for args in (
        ["fit", str(tmp_path / "old.csv"), "-o", fit, *draws],
        ["update", fit, str(tmp_path / "new.csv"), *draws],
    ):
        result = CliRunner().invoke(main, args)
        assert result.exit_code == 0, result.output
    with xr.open_datatree(fit) as updated:
        assert updated.attrs["n_duels"] == 44
        assert list(updated["posterior"]["arm"].values) == list("abcd")


def test_a_tree_without_counts_is_no_fit():
    for given in ({}, {"constant_data": xr.Dataset({"n": ("cell", [1])})}):
        with pytest.raises(ValueError, match="got a tree without its wins"):
            log_of(xr.DataTree.from_dict(given))


# -- batches are read as the log of the fit was -------------------------------------------

CODES = {  # a log with both sides of its coding, by columns; a batch, and who won it
    "FTR": (("home", "away", "FTR"), "HHAD", "A", "right"),
    "w/l": (("p", "q", "how"), "WLWD", "L", "right"),
    "w/l and ties": (("p", "q", "how"), "WLWD", "LD", "right"),
    "signs": (("p", "q", "how"), ["1", "-1", "0", "1"], ["0"], "tie"),
    "signs and wins": (("p", "q", "how"), ["1", "-1", "0", "1"], ["1", "0"], "left"),
    "winner": (("p", "q", "how"), ["x", "y", "y", "x"], ["y"], "right"),
}


def written(path, columns, codes, times=12):
    rows = [",".join(columns), *(f"x,y,{code}" for code in list(codes) * times)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def run(*args):
    from click.testing import CliRunner

    from bayesduel.cli import main

    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.mark.parametrize(
    ("how", "codes"),
    [(how, codes) for how in ("call", "path", "frame") for codes in CODES]
    + [("command", "w/l and ties")],
)
@pytest.mark.sampled(8)
def test_a_batch_is_read_as_the_log_of_the_fit_was(tmp_path, codes, how):
    columns, old, new, side = CODES[codes]
    options = dict(zip(("left", "right", "outcome"), columns, strict=True))
    log, batch = (
        written(tmp_path / f"{name}.csv", columns, rows)
        for name, rows in (("old", old), ("new", new))
    )
    fit, path = bd.fit(bd.read_duels(log, **options), draws=100), tmp_path / "fit.nc"
    if how != "command":
        given = {"path": batch, "frame": None if how != "frame" else pd.read_csv(batch, dtype=str)}
        new_duels = given[how] if how in given else bd.read_duels(batch, like=fit)
        updated = bd.update(fit, new_duels, draws=100)
    else:
        fit.to_netcdf(path)
        result = run("update", path, batch, "--draws", 100)
        assert result.exit_code == 0, result.output
        updated = xr.open_datatree(path).load()
    data = [tree["constant_data"].dataset for tree in (fit, updated)]
    won, lost, tied = (
        int(data[1][name].values[ends] - data[0][name].values[ends])
        for name, ends in (("wins", (0, 1)), ("wins", (1, 0)), ("ties", (0, 1)))
    )
    ties = 12 * sum(code in ("D", "0") for code in new)
    assert {"left": (12, 0), "right": (0, 12), "tie": (0, 0)}[side] == (won, lost)
    assert tied == ties
    assert updated.attrs["reading"] == fit.attrs["reading"]


@pytest.mark.slow
def test_a_batch_that_the_stored_coding_does_not_understand_is_refused(tmp_path):
    columns = ("home", "away", "FTR")
    fit = tmp_path / "fit.nc"
    bd.fit(bd.read_duels(written(tmp_path / "old.csv", columns, "HAD")), draws=100).to_netcdf(fit)
    before = fit.read_bytes()
    batch = written(tmp_path / "new.csv", columns, ["A", "left"])
    result = run("update", fit, batch)
    assert result.exit_code == 2
    said = "new.csv, line 3: column 'FTR' should be h, a or tie (coding 'h/a'), got 'left'"
    assert said in result.stderr.replace("\n", " ")
    assert fit.read_bytes() == before
    assert run("update", fit, batch, "--on-bad", "skip", "--draws", 100).exit_code == 0
    other = written(tmp_path / "other.csv", ("left", "right", "outcome"), ["left", "right"])
    result = run("update", fit, other)
    assert "no column 'FTR' for outcome" in result.stderr.replace("\n", " ")
    given = ("--left", "left", "--right", "right", "--outcome", "outcome", "--coding", "left/right")
    assert run("update", fit, other, *given, "--draws", 100).exit_code == 2


def test_a_log_that_the_coding_of_the_fit_reads_otherwise_is_refused(tmp_path):
    columns = ("p", "q", "how")
    options = dict(zip(("left", "right", "outcome"), columns, strict=True))
    log = bd.read_duels(written(tmp_path / "old.csv", columns, ["1", "-1", "0"]), **options)
    fit, batch = bd.fit(log, draws=100), written(tmp_path / "new.csv", columns, ["1", "0"])
    with pytest.raises(ValueError, match=r"coding of the earlier log, '1/-1/0'.*got '1/0/0.5'"):
        bd.update(fit, bd.read_duels(batch, **options))
    said = bd.read_duels(batch, **options, coding="1/0/0.5")
    assert bd.update(fit, said, draws=100).attrs["n_duels"] == 60


@pytest.mark.parametrize("judges", [None, 12])
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.sampled(2)
def test_an_update_of_rankings_is_a_fit_of_all(judges, kept):
    """Rankings join those of a fit, which needs its log where errors are robust by judge."""
    rng = np.random.default_rng(5)

    def log(arms, n):
        beside = (
            {} if judges is None else {"judge": [f"j{k}" for k in rng.integers(judges, size=n)]}
        )
        beside |= {"keep": {"land": rng.choice(["x", "y"], n)}} if kept else {}
        return bd.Rankings.from_orders([rng.permutation(arms) for _ in range(n)], **beside)

    old = log(list("bcde"), 60)
    new = log(list("abcd"), 30)
    whole = old.join(new)
    assert whole.arms == tuple("abcde") and whole.n_rankings == 90
    names = [whole.arms[k] for k in whole.arm[whole.ranking == 60]]
    assert names == [new.arms[k] for k in new.arm[new.ranking == 0]]
    fit = bd.fit(old, **PARTS)
    if judges is not None:
        with pytest.raises(ValueError, match=r"cluster-robust .*duels as duels="):
            bd.update(fit, new)
    needed = judges is not None or kept
    updated = bd.update(fit, new, duels=old if needed else None, draws=400)
    refitted = bd.fit(whole, **PARTS)
    for name, wanted in refitted["posterior"].data_vars.items():
        np.testing.assert_allclose(
            updated["posterior"][name].values, wanted.values, atol=1e-4, err_msg=name
        )
    assert updated.attrs["n_rankings"] == 90
    with pytest.raises(TypeError, match=r"new_duels should be a bayesduel\.Rankings"):
        bd.update(fit, new.duels)
    with pytest.raises(ValueError, match="that was fitted, of 60 rankings"):
        bd.update(fit, old, duels=new)


def test_the_command_reads_updates_and_splits_rankings(tmp_path):
    """What --rankings names is read by every command; --by gives a log each, update all."""
    from click.testing import CliRunner

    from bayesduel.cli import main

    rng = np.random.default_rng(0)
    rows = [(f"s{k}", f"w{k % 2}", arm, place, "xy"[k % 2]) for k in range(20)
            for place, arm in enumerate(rng.permutation(list("abcd")), 1)]  # fmt: skip
    head = "scene,who,entry,r,land"
    log = tmp_path / "log.csv"
    log.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows), ""]))
    said = ["--rankings", "ranking=scene,ranking=who,arm=entry,rank=r"]

    def run(*words):
        return CliRunner().invoke(main, [str(word) for word in words])

    refused = run("read", log)
    assert refused.exit_code == 2 and "--rankings ranking=COLUMN" in refused.stderr
    few = ("--draws", 100)
    by = run("winners", log, *said, "--by", "land", *few, "--json")
    assert by.exit_code == 0, by.stderr
    path = tmp_path / "fit.nc"
    assert run("fit", log, *said, *few, "-o", path).exit_code == 0
    for day, options in (("monday", said), ("tuesday", ())):  # without options: as the fit's log
        batch = log.with_stem(day)
        batch.write_text(log.read_text())
        updated = run("update", path, batch, *options, *few)
        assert updated.exit_code == 0, updated.stderr
    assert "60 rankings" in updated.stderr, updated.stderr
    wrong = run("winners", log, *said, "--coding", "w/l")
    assert wrong.exit_code == 2 and "--coding cannot be used" in wrong.stderr
    for roles in ("ranking", "x=scene", "rank="):
        assert "--rankings should be ROLE=COLUMN" in run("read", log, "--rankings", roles).stderr


@pytest.mark.slow
def test_the_earlier_log_may_be_a_file_or_a_frame(tmp_path):
    rows = {"left": list("abc") * 30, "right": list("bca") * 30, "outcome": [1, 1, 0, 1, 0] * 18}
    frame = pd.DataFrame(rows | {"judge": [f"j{k // 6}" for k in range(90)]})
    first, last = bd.read_duels(frame[:60]), bd.read_duels(frame[60:])
    frame = frame[:60]
    fit = bd.fit(first, draws=200)
    with pytest.raises(ValueError, match=r"earlier log is needed too, because .*: give its file"):
        bd.update(fit, last)
    frame.to_csv(tmp_path / "first.csv", index=False)
    again = bd.update(fit, last, duels=first)["posterior"]["score"]
    for given in (frame, tmp_path / "first.csv", str(tmp_path / "first.csv")):
        found = bd.update(fit, last, duels=given)["posterior"]["score"]
        np.testing.assert_allclose(found, again, atol=1e-6)


@pytest.mark.filterwarnings("ignore::bayesduel.data.health.ThinDataWarning")
@pytest.mark.parametrize(
    ("what", "how"), [("duels", "path"), ("duels", "log"), ("rankings", "log")]
)
def test_a_file_that_was_added_before_is_refused(tmp_path, what, how):
    """A job that runs twice adds no vote twice; other votes of that name are added."""
    logs = {
        "duels": ("left,right,outcome\na,b,left\nb,c,right\nc,a,tie\n", "c,b,left\n"),
        "rankings": ("1,2,3\na,b,c\nb,a,c\nc,a,b\n", "c,b,a\n"),
    }
    text, more = logs[what]
    read = bd.read_duels if what == "duels" else bd.read_rankings
    first = tmp_path / "first.csv"
    first.write_text(text)
    second = tmp_path / "second.csv"
    second.write_text(text + more)
    taken = (lambda path: path) if how == "path" else read
    fit = bd.update(bd.fit(read(first), draws=100), taken(second), draws=100)
    fit.to_netcdf(tmp_path / "fit.nc")
    fit = bd.load(tmp_path / "fit.nc")
    for known, n in ((first, 3), (second, 4)):
        with pytest.raises(ValueError, match=f"{known.name} should hold new votes.* {n} {what}"):
            bd.update(fit, taken(known), draws=100)
    second.write_text(text)
    with pytest.warns(AddedBeforeWarning, match=f"the new 3 {what} are the same, row by row"):
        added = bd.update(fit, taken(second), draws=100)
    assert added.attrs[f"n_{what}"] == fit.attrs[f"n_{what}"] + 3


@pytest.mark.parametrize("judges", [None, 6])
@pytest.mark.slow
def test_votes_in_memory_that_were_added_before_are_warned_of(judges, tmp_path):
    """Logs and frames have no name by which to know them: their rows say it."""

    def frame(seed, n=60):
        rng = np.random.default_rng(seed)
        columns = {"left": list("abc") * (n // 3), "right": list("bca") * (n // 3)}
        columns["outcome"] = rng.choice(["left", "right"], n)
        if judges:
            columns["judge"] = [f"j{k % judges}" for k in range(n)]
        return pd.DataFrame(columns)

    first = frame(1)
    second = frame(2)
    known = bd.read_duels(first)
    fit = bd.fit(known, "bradley-terry", draws=100)
    fit.to_netcdf(tmp_path / "fit.nc")
    fit = bd.load(tmp_path / "fit.nc")

    def updated(fit, new, *earlier):
        whole = pd.concat(earlier) if judges else None
        return bd.update(fit, new, duels=whole, draws=100)

    for again in (known, first):
        with pytest.warns(AddedBeforeWarning, match="60 duels are the same.*keep the fit before"):
            twice = updated(fit, again, first)
        assert twice.attrs["n_duels"] == 120
    both = updated(fit, second, first)  # other votes, no warning
    for again in (first, second, bd.read_duels(second)):
        with pytest.warns(AddedBeforeWarning):
            updated(both, again, first, second)
    del fit.attrs["batches"]  # as an earlier version left it
    assert updated(fit, first, first).attrs["n_duels"] == 120


def test_a_copy_of_a_file_under_another_name_is_warned_of_by_the_command(tmp_path):
    rows = "left,right,outcome\n" + "a,b,left\nb,c,right\nc,a,left\n" * 9
    for name in ("log", "copy"):
        (tmp_path / f"{name}.csv").write_text(rows, encoding="utf-8")
    fit = tmp_path / "fit.nc"
    assert run("fit", tmp_path / "log.csv", "--draws", 100, "-o", fit).exit_code == 0
    result = run("update", fit, tmp_path / "copy.csv", "--draws", 100)
    assert result.exit_code == 0, result.output
    assert "new 27 duels are the same, row by row" in " ".join(result.stderr.split())
    assert "54 duels" in result.stderr


@pytest.mark.slow
def test_the_command_takes_the_earlier_log_of_several_days(tmp_path):
    """Judges need the earlier votes: on the third day those of two files."""
    from click.testing import CliRunner

    from bayesduel.cli import main

    rng = np.random.default_rng(5)
    days = [tmp_path / f"{day}.csv" for day in ("monday", "tuesday", "wednesday")]
    for day in days:
        votes = {
            "left": list("abc") * 10,
            "right": list("bca") * 10,
            "outcome": rng.choice(["left", "right"], 30),
            "judge": [f"j{k // 6}" for k in range(30)],
        }
        pd.DataFrame(votes).to_csv(day, index=False)
    monday, tuesday, wednesday = days
    path = tmp_path / "fit.nc"

    def run(*words):
        return CliRunner().invoke(main, [str(word) for word in words])

    few = ("--draws", 100)
    assert run("fit", monday, *few, "-o", path).exit_code == 0
    second = run("update", path, tuesday, "--earlier", monday, *few)
    assert "60 duels" in second.stderr, second.stderr
    short = run("update", path, wednesday, "--earlier", monday)
    assert "--earlier should be the log that was fitted, of 60 duels, got" in short.stderr
    third = run("update", path, wednesday, "--earlier", monday, "--earlier", tuesday, *few)
    assert "90 duels" in third.stderr, third.stderr


@pytest.mark.parametrize(
    ("before", "now", "model", "warned"),
    [
        (0.0, 0.3, "bradley-terry", True),
        (0.0, 0.3, "davidson", False),
        (0.3, 0.3, "bradley-terry", False),
        (0.0, 0.0, "bradley-terry", False),
    ],
)
def test_new_ties_that_the_model_has_not_are_told(before, now, model, warned):
    def log(share, seed):
        rng = np.random.default_rng(seed)
        outcome = np.where(rng.random(90) < share, 0.5, rng.integers(0, 2, 90))
        return bd.Duels.from_votes(["a", "b", "c"] * 30, ["b", "c", "a"] * 30, outcome)

    fit = bd.fit(log(before, 1), model)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        bd.update(fit, log(now, 2))
    texts = [str(one.message) for one in told if "are ties" in str(one.message)]
    assert bool(texts) == warned
    if warned:
        assert "The model bradley-terry is kept, in which a tie counts half a win" in texts[0]
