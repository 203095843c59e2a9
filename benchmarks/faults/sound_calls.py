"""A sound call of every public function, or the reason why it has none.

The public names are those of ``bayesduel.__all__``, of the rooms that it names and the methods of
its logs, results and studies. Each has a sound call in CALLS, or a reason in LEFT_OUT; settings
(policies, models, problems) whose arguments all have defaults need no entry.
"""

import inspect
from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayesduel as bd
from bayesduel.criticism.calibration import held_out

__all__ = ["CALLS", "LEFT_OUT", "METHODS", "World", "public_names"]

COMPILED = "compiled: policies call it inside compiled code"
RESULT = "a result, which the package makes"
PATTERN = "a pattern for classes of one's own"
LEFT_OUT = {
    "Study.backup": "of a study with a file: tests/study/test_copies.py",
    "Duels.with_votes": "takes the votes of a log",
    "Rankings.to_frame": "takes nothing",
    "Rankings.join": "of two logs of rankings: tests/posterior/test_update.py",
    "Rankings.with_votes": "takes the votes of a log",
    "Rankings.split": "of rankings with a kept column: tests/data/test_rankings.py",
    "Study.include_judge": "of an excluded judge: tests/study/test_excluded_judges.py",
    "Study.resume": "of an ended study: tests/study/test_ended.py",
    "Study.together": "a context without arguments",
    "Study.compiled_meanwhile": "a context without arguments",
    "study.NoQuestion": "an error", "study.StudyError": "an error",
    "study.StudyStopped": "an error",
    "Health": RESULT, "Comparison": RESULT, "FitSummary": RESULT, "datasets.Dataset": RESULT,
    "Rankings": "made by Rankings.from_orders",
    "policies.top_k.MarginFit": RESULT, "problems.RoshamboTable": RESULT,
    "beliefs.Belief": COMPILED, "policies.top_k.Margins": COMPILED,
    **{f"beliefs.{name}": COMPILED for name in (
        "bounds", "pick", "record", "sample", "sample_against", "share", "shares",
        "upper_against", "upper_bound", "upper_bounds", "upper_from_counts")},
    "policies.top_k.record_margin": COMPILED, "policies.top_k.no_margins": COMPILED,
    "beliefs.BeliefSpec": PATTERN, "problems.Problem": PATTERN, "models.Part": PATTERN,
    "models.Model": PATTERN, "models.ScoreModel": PATTERN, "models.Response": PATTERN,
    "models.Term": PATTERN,
    "models.Modifier": PATTERN, "models.Touch": PATTERN, "models.Scale": PATTERN,
    "models.register": "a decorator", "problems.roshambo_match": "needs OpenSpiel",
    "problems.roshambo_table": "needs OpenSpiel", "problems.RoshamboDuels": "needs OpenSpiel",
    "preference.Criterion": "a type",
}  # fmt: skip
METHODS = ("Study", "Comparison", "Duels", "Health", "Pulls", "Rankings")


class World:
    """Sound things to pass, each made when it is first wanted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rng = np.random.default_rng(0)
        self.P = np.array([[0.5, 0.7, 0.6], [0.3, 0.5, 0.8], [0.4, 0.2, 0.5]])

    @cached_property
    def log(self) -> Any:
        """A log of three arms."""
        return bd.Duels.from_wins([[0, 6, 5], [4, 0, 7], [3, 2, 0]], ["a", "b", "c"])

    @cached_property
    def judges_fit(self) -> Any:
        """A fit of scores that vary by judge."""
        model = bd.models.BradleyTerry() + bd.models.RandomEffects("judge")
        return bd.fit(bd.datasets.load("tversky1969"), model, draws=100)

    @cached_property
    def sources_fit(self) -> Any:
        """A fit of the votes of two sources."""
        rows = {
            "left": "abba" * 10,
            "right": "bccc" * 10,
            "outcome": "1101" * 10,
            "judge": "xyy" * 14,
        }
        log = bd.read_duels({name: list(text[:40]) for name, text in rows.items()})
        model = bd.models.BradleyTerry(bd.models.Sources("judge", "x"))
        return bd.fit(log, model, draws=100, chains=2)

    @cached_property
    def margins(self) -> Any:
        """A log of three arms with margins."""
        frame = pd.DataFrame({"left": list("abcabc"), "right": list("bcacab"),
                              "margin": [1.0, 2.0, -1.5, 0.5, -1.0, 1.0]})  # fmt: skip
        return bd.read_duels(frame, outcome=False, margin="margin")

    @cached_property
    def statistics(self) -> Any:
        """Margins of three arms, of which each pair met three times."""
        found = bd.policies.top_k.no_margins(3)
        for pair in ((0, 1), (1, 2), (2, 0)):
            for margin in (1.0, 2.0, -0.5):
                bd.policies.top_k.record_margin(found, *pair, margin)
        return found

    @cached_property
    def fit(self) -> Any:
        """A small fit."""
        return bd.fit(self.log, draws=100)

    @cached_property
    def saved(self) -> Path:
        """The file of a small fit."""
        path = self.folder / "saved.nc"
        self.fit.to_netcdf(path, engine="h5netcdf")
        return path

    @cached_property
    def margin_fit(self) -> Any:
        """A small fit of margins."""
        return bd.fit(self.margins, "thurstone-score", draws=100)

    @cached_property
    def category_fit(self) -> Any:
        """A fit of two categories."""
        log = bd.Duels.from_categories({"x": self.log, "y": self.log})
        return bd.fit(log, bd.models.BradleyTerry() + bd.models.CategoryEffects(), draws=100)

    @cached_property
    def judge_fit(self) -> Any:
        """A fit with the reliability of judges."""
        log = bd.datasets.load("tversky1969")
        return bd.fit(log, bd.models.BradleyTerry() + bd.models.JudgeReliability(), draws=100)

    @cached_property
    def season_fit(self) -> Any:
        """A fit of scores that vary in time."""
        frame = pd.DataFrame({"left": list("abcabc"), "right": list("bcacab"),
                              "outcome": ["left", "right"] * 3,
                              "time": [f"2020-0{m}-01" for m in range(1, 7)]})  # fmt: skip
        return bd.fit(
            bd.read_duels(frame), bd.models.BradleyTerry() + bd.models.TimeVarying(), draws=100
        )

    @cached_property
    def winners(self) -> Any:
        """The winners of the fit."""
        return bd.winners(self.fit)

    @cached_property
    def check(self) -> Any:
        """A check of the log."""
        return bd.check(self.log, quick=True)

    @cached_property
    def comparison(self) -> Any:
        """A comparison of two models."""
        return bd.compare_models(self.log, ["bradley-terry", "thurstone"], draws=100)

    @cached_property
    def trace(self) -> Any:
        """A simulation of regret."""
        return bd.simulate(bd.policies.Uniform(), "cyclic-4", 10, replications=2, workers=1)

    @cached_property
    def selections(self) -> Any:
        """A simulation of selection."""
        problem = bd.problems.ScoreDuels(np.zeros((4, 4)), np.ones((4, 4)))
        return bd.simulate(bd.policies.Uniform(), problem, 40, k=1, replications=2, workers=1)

    @cached_property
    def items(self) -> Any:
        """Attributes of the arms."""
        return bd.read_items(pd.DataFrame({"item": list("abc"), "x": [1.0, 2.0, 4.0]}))

    @cached_property
    def item_fit(self) -> Any:
        """A fit with attributes."""
        return bd.fit(self.log, bd.models.BradleyTerry(bd.models.Covariates(self.items)), draws=100)

    @property
    def study(self) -> Any:
        """A new study of three arms, with one ticket told and one open."""
        study = bd.Study(arms=list("abc"), policy=bd.policies.Uniform(), stop=bd.study.Budget(5))
        self.told = study.ask()
        study.tell(self.told, "left")
        self.open = study.ask()
        return study

    @property
    def path(self) -> Path:
        """A file that is not there yet."""
        return self.folder / "new.html"


def _log(w: World) -> dict[str, Any]:
    return {"duels": w.log}


def _fit(w: World) -> dict[str, Any]:
    return {"fit": w.fit}


def _matrix(w: World) -> dict[str, Any]:
    return {"P": w.P}


def _family(w: World) -> dict[str, Any]:
    return {"n_arms": 3, "rng": w.rng}


CALLS: dict[str, Callable[[World], dict[str, Any]]] = {
    "beliefs.Laplace": lambda w: {"model": bd.models.BradleyTerry()},
    "beliefs.MCMC": lambda w: {"model": bd.models.BradleyTerry()},
    "study.TopK": lambda w: {"k": 1},
    "study.AllOf": lambda w: {"rules": (bd.study.Budget(3),)},
    "study.AnyOf": lambda w: {"rules": (bd.study.Budget(3),)},
    "study.Budget": lambda w: {"n": 3},
    "study.Confirmed": lambda w: {"rule": bd.study.WithinRope()},
    "studies": lambda w: {"path": w.folder / "no.study"},
    "Duels": lambda w: {"arms": w.log.arms, "cells": w.log.cells},
    "Pulls": lambda w: {"arms": ("a", "b"), "n": np.ones(2, int), "successes": np.ones(2, int)},
    "Study": lambda w: {"arms": ["a", "b"]},
    "study.plan": lambda w: {"start": 3, "n_futures": 1, "budget": 5,
        "policy": bd.policies.Uniform()},
    "audit": lambda w: {"fit": w.fit, "duels": w.log, "share": 0.1},
    "category_ranks": lambda w: {"fit": w.category_fit},
    "check": lambda w: {"duels": w.log, "quick": True},
    "coefficients": lambda w: {"fit": w.item_fit},
    "components": _log,
    "compare_models": lambda w: {"duels": w.log, "models": ["bradley-terry"], "draws": 100},
    "fit": lambda w: {"duels": w.log, "draws": 100},
    "health": _log,
    "calibrate": lambda w: {"model": "bradley-terry", "design": w.log, "n": 20, "draws": 100},
    "check_groups": lambda w: {"fit": w.fit, "duels": w.log, "by": "pair", "draws": 20},
    "prior_predictive": lambda w: {"model": "bradley-terry", "design": w.log, "draws": 20},
    "plots.plot_prior_predictive": lambda w: {"tree": bd.prior_predictive("bradley-terry", w.log,
        20)},
    "priors": lambda w: {"duels": w.log},
    "Prior": lambda w: {"distribution": "Normal", "mu": 0.0, "sigma": 1.0},
    "from_pymc": lambda w: {
        "idata": w.fit, "model": w.fit.duel.model, "duels": w.log, "clusters": False},
    "earlier_scores": _fit,
    "sensitivity": _fit,
    "loo": lambda w: {"fit": w.fit, "duels": w.log},
    "summary": _fit,
    "estimand": lambda w: {"fit": w.category_fit, "at": {
        "category": str(w.category_fit["posterior"]["category"].to_numpy()[0])}},
    "check_margins": lambda w: {"fit": w.margin_fit, "draws": 20},
    "next_pairs": _fit,
    "open_trace": lambda w: {"path": w.folder / "no.nc"},
    "opportunity_cost": lambda w: {"trace": w.selections},
    "plots.plot_calibration": lambda w: {"calibration": held_out(w.log)},
    "plots.plot_categories": lambda w: {"ranks": bd.category_ranks(w.category_fit)},
    "plot_coefficients": lambda w: {"fit": w.item_fit},
    "plots.plot_comparison": lambda w: {"comparison": w.comparison},
    "plots.plot_cycles": lambda w: {"check": w.check},
    "plots.plot_cyclicity": lambda w: {"check": w.check},
    "plots.plot_judges": lambda w: {"fit": w.judge_fit},
    "plots.plot_margins": lambda w: {"check": bd.check_margins(w.margin_fit, draws=20)},
    "plots.plot_panel": lambda w: {"found": bd.panel(w.log, w.fit)},
    "plots.plot_policies": lambda w: {"comparison": bd.compare_policies(w.trace)},
    "plots.plot_profiles": lambda w: {"comparison": bd.compare_policies(w.trace)},
    "plots.plot_pair_residuals": lambda w: {"check": bd.check_margins(w.margin_fit, draws=20)},
    "plot_preference": lambda w: {"winners": w.winners},
    "plot_ranking": lambda w: {"winners": w.winners},
    "plots.plot_ranks": lambda w: {"winners": w.winners},
    "plots.plot_ratings": lambda w: {"fit": w.season_fit},
    "plot_regret": lambda w: {"trace": w.trace},
    "plots.plot_residuals": lambda w: {"check": w.check},
    "plots.plot_sources": lambda w: {"found": bd.sources(w.sources_fit)},
    "plot_success": lambda w: {"trace": w.selections},
    "plot_winners": lambda w: {"winners": w.winners},
    "predict": lambda w: {"fit": w.fit, "left": "a", "right": "b"},
    "predict_items": lambda w: {"fit": w.item_fit, "items": w.items},
    "preference_draws": _fit,
    "merge": lambda w: {"parts": [w.log.counted("s")]},
    "read_duels": lambda w: {
        "path_or_frame": pd.DataFrame({"left": ["a"], "right": ["b"], "outcome": ["left"]})},
    "read_items": lambda w: {
        "path_or_frame": pd.DataFrame({"item": list("abc"), "x": [1.0, 2.0, 4.0]})},
    "read_rankings": lambda w: {"path_or_frame": pd.DataFrame({"order": ["a > b > c"]})},
    "Rankings.from_orders": lambda w: {"orders": [["a", "b", "c"]]},
    "read_pulls": lambda w: {
        "path_or_frame": pd.DataFrame({"item": list("ab"), "reward": [1, 0]})},
    "load": lambda w: {"path": w.saved},
    "compare_policies": lambda w: {"trace": w.trace},
    "regret": lambda w: {"trace": w.trace},
    "regret_difference": lambda w: {"trace": w.trace, "policy": "Uniform", "other": "Uniform"},
    "least_duels": lambda w: {"P": w.P, "delta": 0.05},
    "least_slope": lambda w: {"P": w.P},
    "posterior_predictive": lambda w: {"fit": w.fit, "draws": 20},
    "report": lambda w: {"log": w.log, "path": w.path, "draws": 100},
    "duels_to_decide": _fit,
    "export": lambda w: {"log": w.log, "folder": w.folder / "export", "draws": 100},
    "site": lambda w: {"log": w.log, "folder": w.folder / "site", "draws": 100},
    "head_to_head": _log,
    "raw_winners": _log,
    "scores": _fit,
    "generalizability": lambda w: {"fit": w.judges_fit},
    "sources": lambda w: {"fit": w.sources_fit},
    "judge_agreement": lambda w: {"duels": bd.datasets.load("tversky1969")},
    "preference_matrix": _fit,
    "panel": lambda w: {"duels": w.log, "fit": w.fit},
    "simulate": lambda w: {
        "policies": bd.policies.Uniform(), "problem": "cyclic-4", "horizon": 10, "workers": 1},
    "default_models": _log,
    "success_difference": lambda w: {
        "better": bd.success_rate(w.selections)["success"],
        "worse": bd.success_rate(w.selections)["success"]},
    "success_rate": lambda w: {"trace": w.selections},
    "top_k": lambda w: {"fit": w.fit, "k": 1},
    "update": lambda w: {"fit": w.fit, "new_duels": w.log, "draws": 100},
    "winners": _fit,
    "beliefs.require_sampling": lambda w: {
        "policy": bd.policies.Uniform(), "belief": bd.beliefs.Beta()},
    "beliefs.require_scores": lambda w: {
        "policy": bd.policies.Uniform(), "belief": bd.beliefs.Laplace(bd.models.BradleyTerry())},
    "datasets.describe": lambda w: {"name": "springall"},
    "datasets.items": lambda w: {"name": "springall"},
    "datasets.load": lambda w: {"name": "springall"},
    "datasets.names": lambda w: {},
    "datasets.text": lambda w: {"name": "springall"},
    "models.Covariates": lambda w: {"of": w.items},
    "models.DuelCovariates": lambda w: {"of": ("x",)},
    "models.ItemCovariates": lambda w: {"items": w.items},
    "models.LogisticAttributes": lambda w: {"items": w.items},
    "models.model_from_settings": lambda w: {
        "description": bd.models.model_settings(bd.models.BradleyTerry())},
    "models.model_named": lambda w: {"model": "bradley-terry"},
    "models.model_settings": lambda w: {"model": bd.models.BradleyTerry()},
    "models.named": lambda w: {"name": "bradley-terry"},
    "models.RandomEffects": lambda w: {"by": "judge"},
    "models.Sources": lambda w: {"by": "judge", "target": "ann"},
    "models.Terms": lambda w: {"parts": (bd.models.Scores(),)},
    "models.scored": lambda w: {"model": bd.models.BradleyTerry()},
    "models.term_named": lambda w: {"term": "order"},
    "models.add_family": lambda w: {"model": bd.models.BradleyTerry(), "family": {"a": "x"}},
    "models.add_term": lambda w: {"model": bd.models.BradleyTerry(), "term": "order"},
    **{f"preference.{name}": _matrix for name in (
        "beats", "borda_scores", "check_preference", "condorcet_winner", "consistence",
        "copeland_scores", "cyclic_triads", "decided_triads", "kemeny", "random_walk_scores",
        "slater", "smith_set", "von_neumann")},
    "preference.rank_order": lambda w: {"scores": [1.0, 2.0]},
    "preference.ranks": lambda w: {"scores": [1.0, 2.0]},
    "preference.top_k": lambda w: {"scores": [1.0, 2.0], "k": 1},
    "preference.winner_mask": lambda w: {"P": w.P, "criterion": "borda"},
    "problems.BinaryDuels": lambda w: {"problem": bd.problems.Matrix(w.P)},
    "problems.FromFit": _fit,
    "problems.FromPeriods": lambda w: {"fit": w.season_fit, "each": 10},
    "problems.davidson": lambda w: {"scores": [0.0, 1.0], "nu": 1.0},
    "problems.ItemDuels": lambda w: {"attributes": np.eye(3), "preference": np.ones(3)},
    "problems.ItemPulls": lambda w: {"attributes": np.eye(3), "preference": np.ones(3)},
    "problems.MarginReplay": lambda w: {"duels": w.margins},
    "problems.Matrix": _matrix,
    "problems.PiecewiseStationary": lambda w: {"P": [w.P, w.P], "changes": [10]},
    "problems.RandomChanges": lambda w: {"family": bd.problems.RandomProblem(
        n_arms=3, generator=bd.problems.bradley_terry)},
    "problems.RandomProblem": lambda w: {
        "n_arms": 3, "generator": bd.problems.bradley_terry},
    "problems.Replay": _log,
    "problems.ScoreDuels": lambda w: {"mean": np.zeros((3, 3)), "sd": np.ones((3, 3))},
    "problems.SpherePulls": lambda w: {"preference": np.ones(3)},
    "problems.as_margin_problem": lambda w: {"problem": w.margins},
    "problems.as_problem": lambda w: {"problem": "cyclic-4"},
    **{f"problems.{name}": _family for name in (
        "bradley_terry", "fixed_gap", "perturbed_thurstone", "score_duels", "thurstone",
        "uneven_duels", "uniform")},
    "problems.named": lambda w: {"name": "cyclic-4"},
    "problems.noise_floor": lambda w: {"problem": bd.problems.Matrix(w.P), "gap": 0.01},
    "problems.roshambo_bots": lambda w: {},
    "policies.top_k.fit_margins": lambda w: {"margins": w.statistics},
    "policies.top_k.intransitivity": lambda w: {"margins": w.statistics},
    "Study.add": lambda w: {"left": "a", "right": "b", "outcome": "left"},
    "Study.barred": lambda w: {"judge": "ann"},
    "Study.export": lambda w: {"path": w.path},
    "Study.exclude_judge": lambda w: {"judge": "ann", "because": "at random"},
    "Study.cancel": lambda w: {"ticket": w.open},
    "Study.expired": lambda w: {},
    "Study.judges": lambda w: {},
    "Study.reissue": lambda w: {"ticket": w.open},
    "Study.restore_arms": lambda w: {"arms": ["c"]},
    "Study.rows": lambda w: {},
    "Study.run": lambda w: {"judge": lambda ticket: "left"},
    "Study.end": lambda w: {"reason": "the kitchen closes", "by": "lead"},
    "Study.skip": lambda w: {"ticket": w.open},
    "Study.ticket": lambda w: {"ticket": w.open},
    "Study.undo": lambda w: {"judge": "ann"},
    "Study.add_arms": lambda w: {"arms": ["d"]},
    "Study.ask": lambda w: {},
    "Study.audit": lambda w: {},
    "Study.close": lambda w: {},
    "Study.correct": lambda w: {"ticket": w.told, "outcome": "right", "reason": "mistyped"},
    "Study.duels": lambda w: {},
    "Study.fit": lambda w: {},
    "Study.import_duels": _log,
    "Study.pending": lambda w: {},
    "Study.plan": lambda w: {"n_futures": 1, "budget": 5},
    "Study.report": lambda w: {"path": w.path, "draws": 100},
    "Study.retire_arms": lambda w: {"arms": ["c"]},
    "Study.status": lambda w: {},
    "Study.tally": lambda w: {},
    "Study.tell": lambda w: {"ticket": w.open, "outcome": "left"},
    "Study.winners": lambda w: {},
    "Comparison.formatted": lambda w: {},
    "Comparison.stacked": lambda w: {"draws": 100},
    "Comparison.to_dict": lambda w: {},
    "Comparison.to_html": lambda w: {},
    "Comparison.to_json": lambda w: {},
    "Duels.as_plain": lambda w: {},
    "Duels.as_sides": lambda w: {},
    "Duels.check_single": lambda w: {"what": "a policy"},
    "Duels.opponents": lambda w: {},
    "Duels.results_by_arm": lambda w: {},
    "Duels.counted": lambda w: {"shard": "s"},
    "Duels.join": lambda w: {"other": w.log},
    "Duels.from_categories": lambda w: {"logs": {"x": w.log}},
    "Duels.from_scores": lambda w: {"path_or_frame": {"item": ["q"], "a": [0.4], "b": [0.8]}},
    "Duels.from_votes": lambda w: {"left": ["a"], "right": ["b"], "outcome": [1.0]},
    "Duels.from_wins": lambda w: {"wins": [[0, 1], [2, 0]]},
    "Duels.head": lambda w: {"n": 2},
    "Duels.pairs": lambda w: {},
    "Duels.subset": lambda w: {"arms": ["a", "b"]},
    "Duels.summary": lambda w: {},
    "Duels.tally": lambda w: {},
    "Duels.to_frame": lambda w: {},
    "Duels.unweighted": lambda w: {},
    "Health.to_dict": lambda w: {},
    "Pulls.from_rows": lambda w: {"items": ["a"], "rewards": [1]},
}  # fmt: skip


def public_names() -> dict[str, Any]:
    """Return every public callable by its dotted name."""
    found: dict[str, Any] = {}
    for name in (*bd.__all__, "policies.top_k"):
        value = attrgetter(name)(bd)
        if inspect.ismodule(value):
            inside = {part: getattr(value, part) for part in value.__all__}
            known = {id(v) for v in found.values()}
            found |= {f"{name}.{part}": v for part, v in inside.items() if id(v) not in known}
        else:
            found[name] = value
    for name in METHODS:
        for part in dir(found[name]):
            value = getattr(found[name], part)
            if not part.startswith("_") and inspect.isroutine(value):
                found[f"{name}.{part}"] = value
    own = {id(getattr(bd, name)) for name in bd.__all__}
    return {
        name: value
        for name, value in found.items()
        if callable(value) and ("." not in name or id(value) not in own)
    }
