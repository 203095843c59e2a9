"""Judges whose votes are improbable: false alarms, and planted judges that are found."""

from typing import Any

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record, share, shown_share

__all__ = ["EXPERIMENT"]

ALPHA = 0.05
SPREAD = 1.0  # standard deviation of the scores
TASTE = 0.7  # that of a judge's own deviations, where judges differ
PLANTED = 3  # judges of a log, where some are
POWER = 0.8


def run(cell: Cell, seed: int) -> Record:
    """Return which judges of a simulated log are flagged, planted or honest."""
    import warnings

    import bayesduel as bd
    from bayesduel.models import BradleyTerry, RandomEffects, Scores

    rng = np.random.default_rng(seed)
    n_arms, n_judges, n = cell["arms"], cell["judges"], cell["judges"] * cell["votes a judge"]
    score = SPREAD * rng.standard_normal(n_arms)
    left = rng.integers(0, n_arms, n)
    right = (left + rng.integers(1, n_arms, n)) % n_arms
    judge = np.arange(n) % n_judges
    own = np.zeros((n_judges, n_arms))
    if cell["judges are"] == "of different tastes":
        own = TASTE * rng.standard_normal(own.shape)
    worth = score + own
    apart = worth[judge, left] - worth[judge, right]
    won = rng.random(n) < 1 / (1 + np.exp(-apart))
    planted = np.zeros(n_judges, dtype=bool)
    if cell["planted"]:
        planted[:PLANTED] = True
        mine, middle = planted[judge], int(np.argsort(score)[n_arms // 2])
        if cell["planted"] == "for one arm":
            won = np.where(mine & (left == middle), True, won)
            won = np.where(mine & (right == middle), False, won)
        elif cell["planted"] == "in reverse":
            won = won != mine
        else:
            won = np.where(mine, rng.random(n) < 0.5, won)
    duels = bd.Duels.from_votes(left, right, won.astype(float), judge=judge)
    effects = RandomEffects("judge", prior=1.0)
    model = BradleyTerry(Scores() + effects) if cell["model"] == "tastes" else BradleyTerry()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = bd.fit(duels, model, draws=1000, clusters=False, seed=seed % 2**31)
        found = _improbable(fit, duels)
    flagged = planted[[int(name) for name in found.loc[found["flagged"], "level"]]]
    return {"found": int(flagged.sum()), "false": int((~flagged).sum())}


def rows(cell: Cell, records: list[Record]) -> list[Record]:
    """Return a row: the share of logs with a false alarm, and of planted judges found."""
    n = len(records)
    alarms = sum(r["false"] > 0 for r in records)
    found = sum(r["found"] for r in records)
    row = {
        **cell,
        "logs": n,
        "logs with a false alarm": shown_share(alarms, n),
        "planted judges found": shown_share(found, PLANTED * n) if cell["planted"] else "",
    }
    if cell["judges are"] != "alike" and cell["model"] != "tastes":
        return [row | {"target": ""}]
    met = share(alarms, n)[1] <= ALPHA and (not cell["planted"] or found >= POWER * PLANTED * n)
    return [row | {"target": "met" if met else "missed"}]


# -- in calling order ----------------------------------------------------------------------


def _improbable(fit: Any, duels: Any) -> Any:
    """Return the table of judges alone, without the rest of an audit."""
    from bayesduel.criticism.audit import _refitted
    from bayesduel.criticism.fragility import worth_of
    from bayesduel.criticism.rigging import improbable_levels

    level, names = duels.votes.level("judge")
    rng = np.random.default_rng(0)
    worth = worth_of(fit).mean(axis=0, dtype=float)
    return improbable_levels(duels, level, names, worth, lambda p: _refitted(fit, p), ALPHA, rng)


def _cell(
    judges: int,
    votes: int,
    planted: str = "",
    are: str = "alike",
    model: str = "Bradley-Terry",
    arms: int = 10,
) -> Cell:
    return {
        "judges": judges,
        "votes a judge": votes,
        "arms": arms,
        "judges are": are,
        "model": model,
        "planted": planted,
    }


EXPERIMENT = Experiment(
    name="audit_judges",
    title="Judges whose votes are improbable",
    question=(
        f"How often does an audit call an honest judge's votes improbable, at a familywise error "
        f"rate of 5 %, and how many of {PLANTED} planted judges does it find? They vote for one "
        "arm of middle rank wherever they see it, in reverse (whom an honest judge would not "
        "choose), or at random. Scores are standard normal."
    ),
    target=(
        "false alarms in at most 5 % of logs, by the interval, where the model says how judges "
        f"differ; at least {100 * POWER:.0f} % of planted judges found where they cast 200 votes."
    ),
    cells=(
        _cell(20, 20),
        _cell(20, 200),
        _cell(200, 20),
        _cell(20, 200, "for one arm"),
        _cell(20, 200, "in reverse"),
        _cell(20, 200, "at random"),
        _cell(100, 200, "for one arm"),
        _cell(20, 100, are="of different tastes"),
        _cell(20, 100, are="of different tastes", model="tastes"),
    ),
    run=run,
    rows=rows,
    quick=10,
    full=50,
    sizes=lambda cell: (2, 6) if cell["model"] == "tastes" else (10, 50),
    notes=(
        "Judges of different tastes are improbable under a model in which all are alike, as they "
        'should be; with `RandomEffects("judge")` they are not. Probabilities are upper bounds, so '
        "that false alarms are fewer than 5 %."
    ),
)
