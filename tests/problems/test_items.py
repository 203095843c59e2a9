"""Problems of items, their simulation, their regret and its picture."""

import matplotlib
import numpy as np
import pytest
import xarray as xr
from scipy.special import expit

import bayesduel as bd
from bayesduel.problems import (
    ItemDuels,
    ItemPulls,
    LogisticDuels,
    LogisticItems,
    SpherePulls,
    UnitSphere,
)
from bayesduel.simulation.replication import streams
from bayesduel.simulation.trace import StoredTrace

pytestmark = pytest.mark.plain

matplotlib.use("Agg")
POLICIES = [bd.policies.TwoPhase(), bd.policies.LogisticThompson()]
FAMILY = LogisticItems(n_arms=30, n_attributes=3)


@pytest.fixture(scope="module")
def reference():
    return bd.simulate(POLICIES, FAMILY, 300, replications=3, seed=11, workers=1)


def same(a, b):
    for group in ("trace", "problem"):
        left, right = a[group].to_dataset().load(), b[group].to_dataset().load()
        assert set(left) == set(right)
        for name in left:
            xr.testing.assert_identical(left[name], right[name])


def test_families_control_what_they_promise():
    rng = np.random.default_rng(0)
    one = LogisticItems(n_arms=4000, n_attributes=4, norm=2.5).draw(rng)
    np.testing.assert_allclose(np.linalg.norm(one.attributes, axis=1), 1)
    assert np.linalg.norm(one.preference) == pytest.approx(2.5)
    moments = np.linalg.eigvalsh(one.attributes.T @ one.attributes / 4000)
    assert moments.max() / moments.min() < 1.2
    squeezed = LogisticItems(n_arms=4000, n_attributes=4, condition=100).draw(rng)
    moments = np.linalg.eigvalsh(squeezed.attributes.T @ squeezed.attributes / 4000)
    assert moments.max() / moments.min() == pytest.approx(100, rel=0.15)
    for condition in (1, 20):
        gapped = LogisticItems(n_arms=5000, gap=0.1, condition=condition).draw(rng)
        worth = np.sort(gapped.worth)
        assert worth[-1] - worth[-2] >= 0.1
        assert gapped.worth[0] == worth[-1] == pytest.approx(gapped.best)
    assert LogisticItems(gap=0.1).draw(rng).best == pytest.approx(expit(3.0))


def test_pulls_duels_and_worth_follow_the_model():
    u, z = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.array([0.5, -1.0])
    pulls = ItemPulls(u, z, values=np.array([1.0, 8.0, 2.0]))
    chance = expit(u @ z)
    np.testing.assert_allclose(pulls.worth, [1, 8, 2] * chance)
    assert pulls.best == pytest.approx(8 * chance[1])
    assert pulls.pull(0, chance[0] - 1e-9) == 1
    assert pulls.pull(0, chance[0] + 1e-9) == 0
    duels = ItemDuels(u, z)
    win = expit((u[0] - u[2]) @ z)
    assert duels.duel((0, 2), win - 1e-9) == 1
    assert duels.duel((0, 2), win + 1e-9) == 0
    np.testing.assert_allclose(duels.worth, expit(u @ z - (u @ z).max()))
    sphere = SpherePulls(z)
    assert sphere.best == pytest.approx(expit(np.linalg.norm(z)))
    assert sphere.pull(np.array([1.0, 0.0]), expit(0.5) - 1e-9) == 1


def test_regret_is_what_the_best_was_worth_less_what_was_shown(reference):
    regret = bd.regret(reference)
    assert regret.dims == ("policy", "replication", "time")
    assert (regret.name, regret.attrs["formula"]) == ("pull", "max v p - v_a p_a")
    assert (np.diff(regret, axis=-1) >= -1e-9).all()
    last = regret.isel(time=-1)
    for r in range(3):
        problem = FAMILY.draw(streams(11, r)[0])
        pulls = reference["trace"]["pulls"].isel(replication=r).values
        assert (pulls.sum(axis=-1) == 300).all()
        expected = pulls @ (problem.best - problem.worth)
        np.testing.assert_allclose(last.isel(replication=r), expected)
        np.testing.assert_allclose(reference["problem"]["preference"][r], problem.preference)
    with pytest.raises(ValueError, match="criterion should be 'pull' for this problem of items"):
        bd.regret(reference, "copeland")


def test_results_depend_on_nothing_but_the_seed(reference, tmp_path):
    given = {"replications": 3, "seed": 11}
    same(reference, bd.simulate(POLICIES, FAMILY, 300, **given, workers=2))
    out = tmp_path / "trace.zarr"
    bd.simulate(POLICIES, FAMILY, 300, **given, out=out)
    again = bd.simulate(POLICIES, FAMILY, 300, **given, out=out)  # finished: only read
    same(reference, again)
    same(reference, bd.open_trace(out))
    with pytest.raises(ValueError, match="policies is"):
        bd.simulate(bd.policies.TwoPhase(), FAMILY, 300, **given, out=out)
    often = bd.simulate(POLICIES, FAMILY, 300, **given, record_at=range(1, 301))
    times = reference["time"].values
    for name in ("worth", "paid", "recommended"):
        np.testing.assert_array_equal(
            often["trace"][name].sel(time=times), reference["trace"][name]
        )


def test_a_run_that_was_cut_off_goes_on(reference, tmp_path, monkeypatch):
    """Killed in the second run: the first is kept, the rest are made again."""
    out, write, calls = tmp_path / "trace.zarr", StoredTrace.write, []

    def killed(self, *run):
        calls.append(run)
        if len(calls) == 2:
            raise KeyboardInterrupt
        write(self, *run)

    given = {"replications": 3, "seed": 11, "workers": 1, "out": out}
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(StoredTrace, "write", killed)
        bd.simulate(POLICIES, FAMILY, 300, **given)
    with pytest.raises(ValueError, match="0 of its 3 replications are complete"):
        bd.open_trace(out)  # each has two policies
    same(reference, bd.simulate(POLICIES, FAMILY, 300, **given))


def test_duels_of_items_and_the_sphere_have_their_own_regret():
    duels = bd.simulate(
        bd.policies.LogisticDuelThompson(),
        LogisticDuels(n_arms=30, n_attributes=3),
        200,
        replications=2,
    )
    regret = bd.regret(duels)
    assert regret.name == "item_duel"
    assert (regret >= 0).all()
    uniform = 200 * float((0.5 - duels["problem"]["typical"]).mean())
    assert regret.isel(time=-1).mean() < 0.7 * uniform
    sphere = bd.simulate(bd.policies.TwoPhase(), UnitSphere(n_attributes=3), 200, replications=2)
    assert (sphere["trace"]["recommended"] == -1).all()
    assert (np.diff(bd.regret(sphere), axis=-1) >= 0).all()


def test_the_picture_has_the_bound_and_uniform_play(reference):
    ax = bd.plot_regret(reference)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    uniform = "uniform, expected"
    assert labels == ["TwoPhase", "LogisticThompson", uniform, "TwoPhase, bound's shape"]
    assert ax.get_xlabel() == "pulls"
    bound = reference["trace"]["bound"].sel(policy="TwoPhase").isel(replication=0)
    np.testing.assert_array_equal(ax.get_lines()[-1].get_ydata(), bound)
    per_pull = float((reference["problem"]["best"] - reference["problem"]["typical"]).mean())
    np.testing.assert_allclose(ax.get_lines()[-2].get_ydata(), per_pull * reference["time"])
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ItemPulls([[1.0, 2.0]], [1, 2]), r"shape \(m, n\), m >= 2, got \(1, 2\)"),
        (lambda: ItemPulls(np.eye(3), [1, 2]), r"preference should have shape \(3,\)"),
        (lambda: ItemPulls([[1, 0], [0, np.nan]], [1, 2]), r"finite, got nan at \(1, 1\)"),
        (lambda: ItemPulls(np.eye(2), [1, 2], [1.0]), r"values should have shape \(2,\)"),
        (lambda: ItemPulls(np.eye(2), [1, 2], [1.0, 0.0]), "values should be positive"),
        (lambda: SpherePulls([0.0, 0.0]), "preference should be finite, not zero"),
        (lambda: LogisticItems(n_arms=2), "n_arms should be at least n_attributes = 5"),
        (lambda: LogisticItems(norm=0), "norm should be positive"),
        (lambda: LogisticItems(condition=0.5), "condition should be >= 1"),
        (lambda: LogisticItems(gap=0.6), r"gap should be in \(0, 0.453\)"),
        (lambda: UnitSphere(n_attributes=1), "n_attributes should be at least 2"),
        (
            lambda: bd.simulate(bd.policies.DTS(), LogisticItems(), 10),
            r"policies should fit the problem .*, got DTS.* GLMETC, KLUCB, .*TwoPhase",
        ),
        (
            lambda: bd.simulate(bd.policies.TwoPhase(), "mslr-5", 10),
            "policies should fit the problem mslr-5, got TwoPhase.* ANACONDA, ActionElimination, "
            "BeatTheMean, BeatTheWinner",
        ),
        (
            lambda: bd.simulate(bd.policies.TwoPhase(), LogisticItems(), 10, detail="pairs"),
            "detail should be 'auto' or 'arms' for items",
        ),
        (
            lambda: bd.simulate(bd.policies.KLUCB(), UnitSphere(), 10),
            "problem should have a table of items for KLUCB, got a sphere",
        ),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
