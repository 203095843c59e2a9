"""Policies find the best arm equally often wherever it is listed."""

from typing import Any

import numpy as np

from benchmarks.validation.experiment import Cell, Experiment, Record

__all__ = ["BY_SETTING", "EXPERIMENT"]

N_ARMS, RUNS = 5, 20
HORIZON = {"pairs": 300, "items": 300, "margins": 100}
BY_SETTING = {
    "pairs": (
        *("ActionElimination", "BeatTheMean", "CCB", "CWRMED", "DTS", "DTSPlus", "ECWRMED"),
        *(
            "InterleavedFilter",
            "MergeRUCB",
            "PBR",
            "PivotIndex",
            "RCS",
            "RMED1",
            "RMED2",
            "RMED2FH",
            "RUCB",
        ),
        *("RankEl", "SAVAGE", "SCB", "SelfSparring", "SupKLUCB", "UCB1", "Uniform"),
        "ConfirmedSupKLUCB",
        *("ContrastAllocation", "ExpectedPCS", "InformationGain", "KnowledgeGradient"),
        *("TopTwoThompson", "BeatTheWinner", "WinnerStays", "Doubler", "MultiSBM", "Sparring"),
        *("DEXP3", "VersatileDB", "ExploreThenVerify", "Knockout", "SEEBS"),
        *("SequentialElimination", "BeatTheWinnerReset", "DETECT", "MDB", "PCOMP", "POCOWISTA"),
        *("TrackAndStop", "NTS", "ANACONDA", "DKWT"),
    ),
    "items": (
        *("GLMETC", "KLUCB", "LogisticDuelThompson", "LogisticThompson", "LogisticUCB"),
        *("ThompsonBeta", "TwoPhase", "CoLSTIM", "FGTSCDB", "MaxInP", "VACDB", "BETCGLM"),
    ),
    "margins": (
        *("ActiveRanking", "HybridPOCBAm", "LaplaceAllocation", "MLPOCBAm", "PBR", "PKG"),
        *("POCBAm", "QuickSelect", "SelectTop", "Uniform"),
    ),
}
CELLS: tuple[Cell, ...] = tuple(
    {"setting": setting, "policy": name} for setting, names in BY_SETTING.items() for name in names
)
LEAST_P = 0.05 / len(CELLS)


def run(cell: Cell, seed: int) -> Record:
    """Return for each place of the best arm in how many of the runs it was found."""
    import bayesduel as bd

    settings: dict[str, Any]
    settings = {"criterion": "borda"} if cell == {"setting": "margins", "policy": "PBR"} else {}
    kind = getattr(bd.policies, cell["policy"])
    if getattr(kind, "reads", "") == "scores":
        settings = {"draws": 50}
    policy = kind(**settings)
    found = []
    for place in range(N_ARMS):
        trace = bd.simulate(
            policy,
            problem(cell["setting"], policy.shows, place),
            HORIZON[cell["setting"]],
            k=1 if cell["setting"] == "margins" else None,
            replications=RUNS,
            seed=(seed + place) % 2**32,
            record_at=[HORIZON[cell["setting"]]],
            permute=False,
            workers=1,
        )
        found.append(int(bd.success_rate(trace)["success"].isel(time=-1).sum()))
    return {"found": found}


def problem(setting: str, shows: int, place: int) -> Any:
    """Return the same problem with its best arm at this place, the others in one order."""
    from bayesduel.problems import ItemDuels, ItemPulls, Matrix, ScoreDuels

    order = np.insert(np.arange(1, N_ARMS), place, 0)  # of the arms from best to worst
    above = order[:, None] < order
    if setting == "pairs":
        return Matrix(np.where(np.eye(N_ARMS) == 1, 0.5, np.where(above, 0.6, 0.4)))
    if setting == "margins":
        score = -0.3 * order
        return ScoreDuels(score[:, None] - score, 1.0 - np.eye(N_ARMS))
    angle = 0.4 * np.arange(N_ARMS)
    table = np.column_stack([np.cos(angle), np.sin(angle)])[order]
    return (ItemPulls, ItemDuels)[shows - 1](table, np.array([1.5, 0.0]))


def rows(cell: Cell, records: list[Record]) -> list[Record]:
    """Return how often the best arm was found at each place, and the test of equal shares."""
    from scipy import stats

    found = np.sum([r["found"] for r in records], axis=0)
    n = RUNS * len(records)
    p = 1.0  # always or never right: nothing differs
    if 0 < found.sum() < N_ARMS * n:
        p = float(stats.chi2_contingency([found, n - found]).pvalue)
    return [
        {
            "setting": cell["setting"],
            "policy": cell["policy"],
            "right, best arm listed 1st to 5th": ", ".join(f"{100 * f / n:.0f} %" for f in found),
            "runs at each place": n,
            "p": p,
            "target": "met" if p >= LEAST_P else "missed",
        }
    ]


EXPERIMENT = Experiment(
    name="policies_symmetry",
    title="Policies do not favour an arm by its place",
    question=(
        "Five arms or items, the best of them listed first, second, ... fifth; arms are not "
        "permuted. How often is the recommended arm (of margins: the selected one) the best "
        f"after {HORIZON['pairs']} duels (margins: {HORIZON['margins']})? Every policy at its "
        'defaults (`PBR(criterion="borda")` on margins).'
    ),
    target=(
        "no difference between places: the chi-squared test of equal shares has p at least 0.05 "
        f"divided by the {len(CELLS)} policies."
    ),
    cells=CELLS,
    run=run,
    rows=rows,
    quick=3,
    full=100,
    notes=(
        "The 5 % of all policies together mean that about one quick form in twenty has a miss by "
        "chance. `Uniform` has a p of 0.0009 with seed 0, which was a miss among the 45 policies "
        "of 2026-11-22; 1,000 runs a place with other seeds gave 75.7, 75.5 and 76.0 % for the "
        "best arm listed first, third and fifth. `MDB` missed at first (100 % and four times 0 %): "
        "its turns take all duels of so short a run, and it now recommends by these. Most "
        "replicates ran as plain Python on a busy machine: the full form takes less than is stated "
        "(3.1 hours of compiled code for 45 policies)."
    ),
)
