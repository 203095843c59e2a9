"""Category effects: coverage of deviations and ranks, and changes of the ranking that are claimed.

Worlds are drawn from known spreads: scores of standard deviation 1, deviations of 0, 0.3 or 0.8 in
each of ten categories. The intervals of deviations, of scores in categories and of ranks there are
held against the truth, and so are changes of the order of two arms that are claimed with
probability 0.9 or more.
"""

from benchmarks.validation.experiment import Cell, Experiment, Record, share, shown_share

LEVEL = 0.9
N_ARMS, N_CATEGORIES = 5, 10


def run(cell: Cell, seed: int) -> Record:
    """Return what intervals covered and claims said in one world."""
    import warnings

    import numpy as np
    from scipy.special import expit

    import bayesduel as bd
    from bayesduel.models import BradleyTerry, CategoryEffects

    rng = np.random.default_rng(seed)
    overall = rng.standard_normal(N_ARMS)
    overall -= overall.mean()
    deviation = cell["spread"] * rng.standard_normal((N_CATEGORIES, N_ARMS))
    deviation -= deviation.mean(axis=1, keepdims=True)
    score = overall + deviation
    n = cell["duels"] * N_CATEGORIES
    category = np.repeat(np.arange(N_CATEGORIES), cell["duels"])
    i = rng.integers(0, N_ARMS, n)
    j = (i + rng.integers(1, N_ARMS, n)) % N_ARMS
    won = rng.uniform(size=n) < expit(score[category, i] - score[category, j])
    arms = np.array(list("abcde"))
    log = bd.Duels.from_votes(
        arms[i],
        arms[j],
        won.astype(float),
        category=[f"c{c}" for c in category],
        arms=list(arms),
    )
    model = BradleyTerry() + CategoryEffects()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = bd.fit(log, model, "laplace", draws=1000, seed=seed % 2**31)
        found = bd.category_ranks(fit, confidence=LEVEL)
    named = {"deviation": deviation, "score": score}
    covered = {}
    for name, truth in named.items():
        low, high = (found[f"{name}_{end}"].values for end in ("lower", "upper"))
        covered[name] = int(((low <= truth) & (truth <= high)).sum())
    rank = 1 + (score[:, None, :] > score[:, :, None]).sum(axis=2)
    low, high = (found[f"rank_{end}"].values for end in ("lower", "upper"))
    covered["rank"] = int(((low <= rank) & (rank <= high)).sum())
    claims = np.argwhere(found["reversed_probability"].values >= LEVEL)
    right = sum(
        overall[a] > overall[b] and score[c, a] < score[c, b] for c, a, b in claims.tolist()
    )
    return {
        "covered": covered,
        "claims": len(claims),
        "right": int(right),
        "certified": not fit.attrs["method_reason"].startswith("asked for; not"),
    }


def rows(cell: Cell, records: list[Record]) -> list[Record]:
    """Return the coverage of each quantity, and how many claimed changes are right."""
    label = {"spread": cell["spread"], "duels a category": cell["duels"]}
    n = len(records) * N_ARMS * N_CATEGORIES
    found = []
    for name in ("deviation", "score", "rank"):
        hits = sum(record["covered"][name] for record in records)
        # Fifty intervals of a world depend on one another: an interval of the share by worlds.
        shares = [record["covered"][name] * len(records) / n for record in records]
        mean = sum(shares) / len(shares)
        spread = (sum((s - mean) ** 2 for s in shares) / max(len(shares) - 1, 1)) ** 0.5
        error = 2 * spread / len(shares) ** 0.5
        least = LEVEL if name == "rank" else LEVEL - 0.01
        found.append(
            {
                **label,
                "quantity": f"90 % interval of the {name} in a category",
                "result": f"{100 * hits / n:.1f} % +- {100 * error:.1f}",
                "target": "met" if mean + error >= least else "missed",
            }
        )
    claims = sum(record["claims"] for record in records)
    right = sum(record["right"] for record in records)
    words = f"{shown_share(right, claims)} of {claims}" if claims else "none claimed"
    target = "" if not claims else ("met" if share(right, claims)[2] >= LEVEL else "missed")
    certified = sum(record["certified"] for record in records)
    return [
        *found,
        {**label, "quantity": "claimed changes that are right", "result": words, "target": target},
        {
            **label,
            "quantity": "fits with a certificate",
            "result": f"{certified} of {len(records)}",
            "target": "",
        },
    ]


EXPERIMENT = Experiment(
    name="category_effects",
    title="Category effects",
    question=(
        "Do intervals of scores and ranks in categories cover the truth, and are changes of the "
        "ranking between categories right as often as is claimed? Five arms, ten categories."
    ),
    target=(
        "90 % intervals cover at least 89 % (those of ranks at least 90 %) within two standard "
        "errors; changes of the order of two arms that are claimed with probability 0.9 or more "
        "are right in 90 % or more, within the 95 % interval."
    ),
    cells=tuple(
        {"spread": spread, "duels": duels} for spread in (0.0, 0.3, 0.8) for duels in (30, 150)
    ),
    run=run,
    rows=rows,
    quick=3,
    full=200,
)
