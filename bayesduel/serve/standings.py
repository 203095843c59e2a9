"""Standings of a study: verdict, ranking with intervals, probability over time, agreement."""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from bayesduel.inference.fit import fit
from bayesduel.posterior.judge_agreement import judge_agreement
from bayesduel.posterior.sources import sources
from bayesduel.posterior.winners import winners
from bayesduel.study.study import Study
from bayesduel.system.threads import ONE_THREAD
from bayesduel.text import json_ready

__all__ = ["curve", "standings"]

SHOWN = ("verdict", "stopped", "decided", "answer", "probability", "reason", "history")


def standings(study: Study, noun: str = "arm") -> dict[str, Any]:
    """Return the standings as JSON holds them.

    The ranking is by the study's posterior, every vote independent, as its stop rule sees it; win
    rates are the probability to win against an average rival, with 95 % intervals.
    """
    n = study.n_duels
    status = study.status(noun=noun)
    made_at = 0 if status.plan is None else status.plan["duels"]
    # 20 duels before the first of these estimates; then after half as many more
    if not status.stopped and study.stop is not None and n >= max(20, 1.5 * made_at):
        # Simulated, for the duels that are expected to go: 10
        status = study.status(futures=10, noun=noun)
    found: dict[str, Any] = {name: getattr(status, name) for name in SHOWN} | {
        "duels": status.n_duels,
        "pending": status.n_pending,
        "cannot_tell": status.n_cannot_tell,
        "expected": _expected(status.plan, status.n_duels),
        "check": None if status.check is None else status.check["sentence"],
        "ended": None if status.ended is None else status.ended.sentence,
        "ranking": [],
        "warnings": [],
        "agreement": None,
        "sources": None,
    }
    if status.n_duels:
        found["ranking"], found["warnings"], posterior = _ranking(study, status.ranking)
        found["sources"] = _sources(study, posterior)
        found["agreement"] = _agreement(study)
    ready: dict[str, Any] = json_ready(found)
    return ready


def curve(history: list[list[float]], width: float, height: float) -> str:
    """Return the points of the probability over the number of duels, as SVG takes them.

    history: number of duels and probability at every look.
    width, height: of the picture; the probability runs from 0 at `height` to 1 at 0.
    """
    # 200 points of the curve of the probability over time
    step = math.ceil(len(history) / 200) or 1
    kept = history[::step] + history[-1:]
    last = max((n for n, _ in kept), default=1) or 1
    return " ".join(f"{width * n / last:.1f},{height * (1 - p):.1f}" for n, p in kept)


def _expected(plan: Mapping[str, Any] | None, n_duels: int) -> dict[str, Any] | None:
    """Return the estimate of the duels to go, less those told since it was made."""
    if plan is None:
        return None
    left = plan["quantiles"]["50 %"]
    if left is not None:
        left = max(round(left - (n_duels - plan["duels"])), 0)
    return {"left": left, "sentence": plan["sentence"], "made_at": plan["duels"]}


def _ranking(study: Study, order: Sequence[str]) -> tuple[list[Any], list[str], Any]:
    """Return a row per arm in the order of the verdict, retired ones last; warnings; the fit."""
    import pandas as pd

    duels = study.duels()
    # The study's lock is not taken in here: who has it may wait for this one, to refit.
    with ONE_THREAD, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Win rates are shown in whole per cent. With two sources and 40 votes, 4,000 draws take
        # 55 s of a processor and 1,000 take 5; their means differ by .001, lower ends of intervals
        # by .005.
        posterior = fit(duels, study.model, draws=1000, clusters=False)
        retired = study.deciding["retired"]
        table = winners(posterior, covariance="model", retired=retired).table()
        if retired:  # their rows are those of a ranking of all arms
            whole = winners(posterior, covariance="model").table()
            table = pd.concat([table, whole.loc[list(retired)]])
    said = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
    table = table.loc[[*order, *retired]]
    wins = study.tally()
    met = dict(zip(study.arms, (wins + wins.T).sum(axis=1), strict=True))
    rows = [
        {
            "arm": str(arm),
            "rank": place,
            "rank_lower": int(row["rank_lower"]),
            "rank_upper": int(row["rank_upper"]),
            "win_rate": float(row["win_rate"]),
            "lower": float(row["win_rate_lower"]),
            "upper": float(row["win_rate_upper"]),
            "duels": int(met[str(arm)]),
            "retired": str(arm) in retired,
        }
        for place, (arm, row) in enumerate(table.iterrows(), start=1)
    ]
    return rows, said, posterior


def _sources(study: Study, posterior: Any) -> dict[str, Any] | None:
    """Return what the votes of each source cost and are worth, None before there are of each."""
    voted = study.sources
    if not voted or any(votes == 0 for _, votes in voted.values()):
        return None
    found = sources(posterior)
    table = found.table[["votes", "worth", "correlation", "correlation_lower", "correlation_upper"]]
    rows = [
        {"source": source, "cost": voted[str(source)][0], **row}
        for source, row in table.to_dict("index").items()
    ]
    return {"sentence": found.sentence, "target": found.target, "sources": rows}


def _agreement(study: Study) -> dict[str, Any] | None:
    """Return how judges agree, None unless at least two named judges have answered."""
    duels = study.duels()
    if duels.votes is None or duels.votes.judge is None or len(set(duels.votes.judges)) < 2:
        return None
    found = judge_agreement(duels)
    return {"sentence": found.sentence, "judges": found.to_dict()["table"]}
