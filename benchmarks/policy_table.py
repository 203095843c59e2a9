"""Policies by kind of regret, or by the duels until they answer, as a table.

Run with ``python -m benchmarks.policy_table weak condorcet borda changing answers best-k contexts
ties batches``, or some of these. It prints the rows of ``docs/validation/policies.md``; duels a
second are by ``benchmarks.policies``.
"""

import math
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.policies import rate

HORIZON, RUNS = 100_000, 20
DELTA, ANSWERS = 0.05, 200
ROUNDS = 5_000


def of_regret(kind: str) -> list[Any]:
    """Return the policies to compare, the known ones last."""
    import bayesduel as bd

    return {
        "weak": [
            bd.policies.WinnerStays(),
            bd.policies.BeatTheWinner(),
            bd.policies.RUCB(),
            bd.policies.SelfSparring(),
        ],
        "condorcet": [
            *(
                bd.policies.Doubler(),
                bd.policies.MultiSBM(),
                bd.policies.Sparring(),
                bd.policies.WinnerStays(regret="strong"),
            ),
            *(
                bd.policies.VersatileDB(),
                bd.policies.VersatileDB(shared=True),
                bd.policies.RUCB(),
                bd.policies.DTS(),
            ),
        ],
        "changing": [
            *(
                bd.policies.BeatTheWinnerReset(),
                bd.policies.BeatTheWinner(),
                bd.policies.WinnerStays(),
            ),
            *(
                bd.policies.DETECT(),
                bd.policies.DETECT(change=0.6),
                bd.policies.MDB(),
                bd.policies.MDB(change=0.6),
            ),
            *(
                bd.policies.WinnerStays(regret="strong"),
                bd.policies.VersatileDB(),
                bd.policies.DTS(),
            ),
            *(bd.policies.ANACONDA(), bd.policies.ANACONDA(replay=1.0)),
        ],
        "borda": [bd.policies.DEXP3(), bd.policies.SAVAGE(criterion="borda"), bd.policies.UCB1()],
    }[kind]


def regrets(kind: str) -> list[list[str]]:
    """Return a row for each policy: its mean regrets with standard errors, and its speed."""
    import bayesduel as bd
    from bayesduel.problems import named
    from bayesduel.simulation.replication import label

    problems = ["mslr-5", "sushi-16"]
    policies = of_regret(kind)
    found = [
        bd.regret(
            bd.simulate(
                policies, problem, HORIZON, replications=RUNS, seed=1, record_at=[HORIZON],
                detail="pairs", workers=1,
            ),
            kind,
        ).values[..., -1]
        for problem in problems
    ]  # fmt: skip
    P = np.array(named("sushi-16").P)
    return [
        [
            *(f"`{label(policy)}`", kind),
            *(mean_of(runs[place]) for runs in found),
            f"{rate(policy, P, 50_000):,.0f}",
        ]
        for place, policy in enumerate(policies)
    ]


def changing() -> list[list[str]]:
    """Return a row for each policy: weak and strong regret where preferences change four times."""
    import bayesduel as bd
    from bayesduel.problems import RandomChanges, RandomProblem, bradley_terry, named
    from bayesduel.simulation.replication import label

    settings = (("sd", 1.5),)
    family = RandomProblem(n_arms=5, generator=bradley_terry, settings=settings)
    rows = []
    for policy in of_regret("changing"):
        trace = bd.simulate(
            policy, RandomChanges(family=family, n_changes=4), HORIZON, replications=RUNS, seed=1,
            record_at=[HORIZON], detail="pairs", workers=1,
        )  # fmt: skip
        paid = [mean_of(bd.regret(trace, kind).values[0, :, -1]) for kind in ("weak", "strong")]
        speed = rate(policy.for_horizon(HORIZON), np.array(named("mslr-5").P), 50_000)
        rows.append([f"`{label(policy)}`", *paid, f"{speed:,.0f}"])
    return rows


def answers() -> list[list[str]]:
    """Return a row for each policy: duels until it answers, right answers, and its speed.

    A ratio is that of the mean duels to the least, `bd.least_duels`, which stands in the last row.
    """
    import bayesduel as bd
    from bayesduel.problems import named
    from bayesduel.simulation.replication import label

    problems = named("flat"), named("linear")
    P = np.array(problems[1].P)
    least = [bd.least_duels(problem.P, DELTA) for problem in problems]
    given: dict[str, Any] = {"delta": DELTA, "horizon": 10**6}
    rows = []
    for policy in (
        *(
            bd.policies.Knockout(**given),
            bd.policies.SequentialElimination(**given),
            bd.policies.SEEBS(**given),
        ),
        *(
            bd.policies.ExploreThenVerify(**given),
            bd.policies.SAVAGE(criterion="condorcet", **given),
        ),
        *(
            bd.policies.SAVAGE(**given),
            bd.policies.POCOWISTA(**given),
            bd.policies.POCOWISTA(transitive=True, **given),
        ),
        *(
            bd.policies.TrackAndStop(**given),
            bd.policies.NTS(**given),
            bd.policies.NTS(gap=0.025, **given),
        ),
        bd.policies.DKWT(**given),
    ):
        cells = []
        for problem, bound in zip(problems, least, strict=True):
            long = isinstance(policy, bd.policies.ExploreThenVerify | bd.policies.DKWT)
            horizon = 1_000_000 if long else 120_000
            trace = bd.simulate(
                policy, problem, horizon, replications=ANSWERS, seed=1, record_at=[horizon],
                workers=1,
            )["trace"]  # fmt: skip
            answered = trace["answered"].values.ravel()
            right = (trace["recommended"].values.ravel() == 0) & (answered > 0)
            late = f", {(answered < 0).sum()} without an answer" if (answered < 0).any() else ""
            duels = answered[answered > 0]
            ratio = f"{duels.mean() / bound:.1f}" if len(duels) else "none"
            cells += [f"{mean_of(duels)}; {right.sum()} right{late}", ratio]
        name = label(replace(policy, delta=None, horizon=None))
        rows.append([f"`{name}`", *cells, f"{rate(policy, P, 3_000):,.0f}"])
        print(rows[-1], file=sys.stderr, flush=True)
    bounds = [cell for bound in least for cell in (f"{bound:,.0f}", "1.0")]
    return [*rows, ["`least_duels`", *bounds, ""]]


def best_k() -> list[list[str]]:
    """Return a row for each policy: duels until it has selected the k best, right ones, speed."""
    import bayesduel as bd
    from bayesduel.problems import as_margin_problem
    from bayesduel.simulation.replication import label

    rows, last = [], 5_000_000
    for policy, runs in (
        (bd.policies.QuickSelect(epsilon=0.04, delta=DELTA), ANSWERS),
        (bd.policies.ActiveRanking(delta=DELTA), RUNS),
        (bd.policies.PBR(criterion="borda", delta=DELTA, horizon=last), RUNS),
    ):
        cells = []
        for problem, k in (("flat", 1), ("flat", 3), ("linear", 3)):
            trace = bd.simulate(
                policy, as_margin_problem(problem), last, k=k, replications=runs, seed=1,
                record_at=[last], workers=1,
            )  # fmt: skip
            spent = trace["trace"]["spent"].values.ravel()
            right = bd.success_rate(trace)["success"].values.ravel() & (spent < last)
            cells.append(f"{mean_of(spent[spent < last])}; {right.sum()} of {runs} right")
        rows.append([f"`{label(policy)}`", *cells, f"{margin_rate(policy, 3):,.0f}"])
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def margin_rate(policy: Any, k: int) -> float:
    """Return duels a second of processor time at linear, from 1,000 to 10,000 duels."""
    from bayesduel.margins.tallies import no_margins
    from bayesduel.problems import as_margin_problem
    from bayesduel.simulation.margin_run import play_margins
    from bayesduel.simulation.run import driver

    dice, policy = as_margin_problem("linear").dice, policy.on_margins(k, 10**6)
    run, margins = driver(play_margins, policy.select), no_margins(10)
    given = margins, policy.init(10), dice, np.arange(10), np.uint64(1)
    rng = np.random.default_rng(1)
    run(*given, 1_000, rng)
    start = time.process_time()
    run(*given, 10_000, rng)
    return 9_000 / (time.process_time() - start)


def contexts() -> list[list[str]]:
    """Return a row for each policy of items: its mean regrets, and rounds a second."""
    import bayesduel as bd
    from bayesduel.simulation.replication import label

    rows = []
    for policy in (
        *(
            bd.policies.CoLSTIM(),
            bd.policies.FGTSCDB(),
            bd.policies.FGTSCDB(eta=1.0),
            bd.policies.MaxInP(),
            bd.policies.VACDB(),
        ),
        *(
            bd.policies.LogisticDuelThompson(),
            bd.policies.LogisticDuelThompson(challenger="information"),
        ),
    ):
        given: dict[str, Any] = {"record_at": [ROUNDS], "seed": 1, "workers": 1}
        bd.simulate(policy, "contextual-duels", ROUNDS, **given)  # compiles it
        start = time.process_time()
        trace = bd.simulate(policy, "contextual-duels", ROUNDS, replications=RUNS, **given)
        speed = RUNS * ROUNDS / (time.process_time() - start)
        found = [mean_of(bd.regret(trace, name).values.ravel()) for name in ("item_duel", "weak")]
        rows.append([f"`{label(policy)}`", *found, f"{speed:,.0f}"])
    return rows


def ties() -> list[list[str]]:
    """Return a row for each policy that finds Copeland winners: duels until it answers, and right.

    Of five arms with a cycle of three at the top, without ties and with; and of five arms that
    differ by 0.6 logits, with ties (Davidson's nu = 1).
    """
    import bayesduel as bd
    from bayesduel.problems import Matrix, davidson, named
    from bayesduel.simulation.replication import label

    P = np.array(named("sushi-16").P)
    cyclic = 0.5 + 0.2 * np.sign(np.arange(5.0) - np.arange(5.0)[:, None])
    cyclic[0, 2], cyclic[2, 0] = 0.3, 0.7
    cases = [
        Matrix(cyclic, "cyclic"),
        Matrix(cyclic, "cyclic with ties", ties=0.3 * ~np.eye(5, dtype=bool)),
        davidson(0.6 * np.arange(5)[::-1], nu=1.0),
    ]
    rows, last = [], 40_000
    for policy in (
        *(bd.policies.POCOWISTA(delta=DELTA), bd.policies.POCOWISTA(delta=DELTA, transitive=True)),
        bd.policies.SAVAGE(delta=DELTA),
    ):
        cells = []
        for problem in cases:
            trace = bd.simulate(policy, problem, last, replications=100, seed=1,
                                record_at=[last], workers=1)  # fmt: skip
            answered = trace["trace"]["answered"].values.ravel()
            right = [
                int((bd.success_rate(trace, criterion=name)["success"].values.ravel() &
                     (answered >= 0)).sum())
                for name in ("copeland", "copeland_indifference")
            ]  # fmt: skip
            cells.append(f"{mean_of(answered[answered >= 0])}; {right[0]} and {right[1]} right")
        name = label(replace(policy, delta=None))
        rows.append([f"`{name}`", *cells, f"{rate(policy, P, 10_000):,.0f}"])
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def batches() -> list[list[str]]:
    """Return a row for each policy: Condorcet regret on mslr-5 and sushi-16 by size of a batch."""
    import bayesduel as bd
    from bayesduel.simulation.replication import label

    policies = [
        bd.policies.RUCB(),
        bd.policies.DTS(),
        bd.policies.PCOMP(n_batches=4),
        bd.policies.PCOMP(),
    ]
    rows = [[f"`{label(policy)}`"] for policy in policies]
    for problem in ("mslr-5", "sushi-16"):
        for batch in (1, 10, 100, 1000):
            trace = bd.simulate(policies, problem, 20_000, replications=RUNS, seed=1,
                                record_at=[20_000], batch=batch, workers=1)  # fmt: skip
            for row, runs in zip(rows, bd.regret(trace, "condorcet").values[..., -1], strict=True):
                row.append(mean_of(runs))
            print(problem, batch, [row[-1] for row in rows], file=sys.stderr, flush=True)
    return rows


def mean_of(values: np.ndarray) -> str:
    """Return a mean and its standard error."""
    if len(values) == 0:
        return "none"
    return f"{values.mean():,.0f} ({values.std(ddof=1) / math.sqrt(len(values)):,.0f})"


if __name__ == "__main__":
    tables = {"changing": changing, "answers": answers, "best-k": best_k, "contexts": contexts}
    tables |= {"ties": ties, "batches": batches}
    for part in sys.argv[1:] or ["weak", "condorcet", "borda", *tables]:
        for row in tables[part]() if part in tables else regrets(part):
            print(f"| {' | '.join(row)} |", flush=True)
