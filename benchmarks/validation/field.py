"""Live studies: which pair next, beside the rule of ASAP.

ASAP (Mikhailiuk, Wilmot, Perez-Ortiz, Yue & Mantiuk, "Active sampling for pairwise comparisons via
approximate message passing and information gain maximization", ICPR 2020, arXiv:2004.05691; its
Python code in gfxdisp/asap was read for what the paper leaves open) duels the edges of a minimum
spanning tree over the inverse expected information gain of all pairs, then computes the gains anew.
Deviations here: means and variances of the scores are those of this package's posterior under the
probit link, and the gain is that of one update of the two scores of the pair, of every pair, where
ASAP runs two iterations of message passing and leaves out clear pairs at random.

UniCBE (Yuan and others, "UniCBE: an uniformity-driven comparing based evaluation framework with
unified multi-objective optimization", ICLR 2025, arXiv:2502.11454) takes, greedily, the triple of
two models and an item with the largest product of three weights: one for few duels of the triple's
parts, one for an uncertain win rate of the pair, one for models with few duels. Second hand: only
summaries could be read. Deviations here: there are no items, the weights for few duels are halved
by each duel, and the uncertainty is the standard error of the rate under Beta(1, 1).

Claims: none. Seeds: those of this experiment under seed 0. Fixed on 2026-11-26 before the run.
"""

from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr
from scipy.stats import kendalltau, norm

from benchmarks.validation.confirmation import WORLDS
from benchmarks.validation.experiment import Cell, Experiment, Record

RULES = (
    "ContrastAllocation",
    "ContrastAllocation, ranking",
    "InformationGain",
    "ASAP",
    "UniCBE",
    "Uniform",
)
HORIZON = {8: 400, 20: 1000}
LOOKS = 20  # duels between looks at the estimates
LOSS, TAU = 0.02, 0.8  # levels to which duels are counted


def gains(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the expected information gain of each pair about the scores, in nats, (K, K).

    The scores are independent normal; a duel is won if the difference plus N(0, 1) is positive.
    """
    total = 1 + variance[:, None] + variance
    t = (mean[:, None] - mean) / np.sqrt(total)
    gain = np.zeros_like(total)
    for sign in (1, -1):
        chance = ndtr(sign * t)
        slope = np.exp(norm.logpdf(t) - norm.logcdf(sign * t))
        bend = slope * (slope + sign * t)
        for own in (variance[:, None], variance[None, :]):
            shrunk = 1 - own / total * bend
            moved = own / total * slope**2  # squared, in units of the variance before
            gain += chance * 0.5 * (shrunk + moved - 1 - np.log(shrunk))
    np.fill_diagonal(gain, 0.0)
    return gain


def spanning_tree(gain: np.ndarray) -> list[tuple[int, int]]:
    """Return the edges of a minimum spanning tree over the inverse gains, the best first."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    tree = minimum_spanning_tree(np.triu(1 / np.maximum(gain, 1e-12), 1)).tocoo()
    order = np.argsort(tree.data)
    return list(zip(tree.row[order].tolist(), tree.col[order].tolist(), strict=True))


def heaviest_pair(wins: np.ndarray, rng: np.random.Generator) -> tuple[int, int]:
    """Return the pair of the largest product of UniCBE's weights, ties by chance."""
    met = wins + wins.T
    own = met.sum(axis=1)
    rate = (wins + 1) / (met + 2)
    weight = np.log(rate * (1 - rate) / (met + 2)) / 2
    weight -= np.log(2) * (met + own[:, None] + own)
    i, j = np.triu_indices(len(wins), 1)
    chance = weight[i, j] + 1e-9 * rng.random(len(i))
    k = int(chance.argmax())
    return int(i[k]), int(j[k])


def run(cell: Cell, seed: int) -> Record:
    """Play one world by one rule; look at the estimates now and then."""
    import bayesduel as bd
    from bayesduel.beliefs import Followed, record
    from bayesduel.beliefs.followed import updated
    from bayesduel.beliefs.score_posterior import heaviest, heaviest_mean

    n_arms = cell["arms"]
    P = WORLDS[cell["world"]](n_arms, np.random.default_rng([seed, 1]))
    np.fill_diagonal(P, 0.5)
    rng = np.random.default_rng(seed)
    name, _, about = cell["rule"].partition(", ")
    made: dict[str, Any] = {
        "ContrastAllocation": partial(bd.policies.ContrastAllocation, about=about or "winner"),
        "InformationGain": bd.policies.InformationGain,
        "Uniform": bd.policies.Uniform,
    }
    belief, own, probit = Followed().init(n_arms), Followed().scores(n_arms), Followed("probit")
    wide, batch = probit.scores(n_arms), []
    policy = made[name]() if name in made else None
    memory = policy.init(n_arms) if policy is not None else None
    losses, taus = [], []
    borda = P.mean(axis=1)
    for t in range(1, HORIZON[n_arms] + 1):
        if policy is not None:
            i, j = policy.select(belief, memory, t, rng)
        elif name == "UniCBE":
            i, j = heaviest_pair(belief.wins, rng)
        else:
            if not batch:
                updated(wide, belief)
                mean, covariance = heaviest(wide)
                batch = spanning_tree(gains(mean, np.diag(covariance)))
            i, j = batch.pop(0)
        record(belief, (i, j), float(rng.random() < P[i, j]))
        if t % LOOKS == 0:
            updated(own, belief)
            scores = heaviest_mean(own)
            losses.append(max(float(P[:, scores.argmax()].max()) - 0.5, 0.0))
            taus.append(float(kendalltau(scores, borda).statistic))
    return {"losses": losses, "taus": taus}


def rows(cell: Cell, records: list[Record]) -> list[dict[str, Any]]:
    """Return the row of one rule in one world."""
    losses = np.array([r["losses"] for r in records])
    taus = np.array([r["taus"] for r in records])
    half = losses.shape[1] // 2
    return [
        {
            **cell,
            f"duels to a mean loss of {100 * LOSS:g} points": first(losses.mean(axis=0) <= LOSS),
            f"duels to a mean tau of {TAU:g}": first(taus.mean(axis=0) >= TAU),
            **{
                f"{shown} after {part} of the duels (standard error)": (
                    f"{scale * at.mean():.2f} ({scale * at.std(ddof=1) / len(at) ** 0.5:.2f})"
                )
                for part, k in (("half", half - 1), ("all", -1))
                for shown, scale, at in (
                    ("loss in points", 100, losses[:, k]),
                    ("tau", 1, taus[:, k]),
                )
            },
            "target": "",
        }
    ]


def first(reached: np.ndarray) -> str:
    """Return the number of duels at the first look from which a level is reached to the end."""
    if not reached[-1]:
        return f"over {LOOKS * len(reached):,}"
    missed = np.flatnonzero(~reached)
    return f"{LOOKS * (missed[-1] + 2 if len(missed) else 1):,}"


EXPERIMENT = Experiment(
    name="field",
    title="Live studies: which pair next, beside ASAP and UniCBE",
    question=(
        f"Studies without a stop rule, {HORIZON[8]} duels with 8 arms and {HORIZON[20]:,} with 20, "
        "in three of the worlds of the confirmation. All rules are judged by the Bradley-Terry "
        f"posterior mean of their own duels, at every {LOOKS}th: the loss is by how much the arm "
        "that most often beats the leader does so beyond one half; tau is Kendall's, between the "
        "scores and the shares of duels that the arms win against all. ASAP's rule duels the "
        "minimum spanning tree of the pairs by expected information gain about all scores, here "
        "on this package's posterior; UniCBE's takes the pair of the largest product of weights "
        "for few duels of the pair, an uncertain rate and few duels of its arms. The same worlds "
        "for all rules."
    ),
    target="none: the rules have different aims; ASAP and `ranking` aim at all scores.",
    cells=tuple(
        {"arms": arms, "world": world, "rule": rule}
        for arms in HORIZON
        for world in ("scores N(0, 1)", "perturbed", "Condorcet is not Borda")
        for rule in RULES
    ),
    run=run,
    rows=rows,
    quick=2,
    full=60,
    paired=("rule",),
    sizes=lambda cell: (2, 60 if cell["arms"] == 8 else 20),
    notes=(
        "UniCBE chooses triples of two models and an item; without items, and with all models "
        "there from the start, it goes round all pairs and breaks ties by the uncertainty of their "
        "rates. Its weights are known second hand."
    ),
)
