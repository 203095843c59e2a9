"""The product of responses and terms: its models, a log that has what they ask, and their draws.

What linear models take is the engine itself; what only NUTS samples has points near the prior in
place of draws.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from pytensor.compile.mode import Mode

import bayesduel as bd
from bayesduel.inference.draws import PosteriorDraws
from bayesduel.inference.nuts import ChainCertificate
from bayesduel.models import (
    BladeChest,
    BradleyTerry,
    CategoryEffects,
    Covariates,
    CumulativeLogit,
    Davidson,
    JudgeReliability,
    JudgeTastes,
    PairEffects,
    PerturbedThurstone,
    RandomEffects,
    Scores,
    SideAdvantage,
    Sources,
    Thurstone,
    ThurstoneScore,
    TimeVarying,
)

PLAIN = Mode("py", None)  # no compiler: these graphs run a few times
POINTS = 20  # that stand for draws
UNITS = ("pair", "duel")
ARMS = list("abcd")
ITEMS = bd.read_items(
    pd.DataFrame({"item": ARMS, "u": [1.0, 0.2, -0.1, -1.0], "v": [0.0, 1.0, 0.0, 2.0]})
)
RESPONSES = {
    "bradley-terry": BradleyTerry,
    "thurstone": Thurstone,
    "davidson": Davidson,
    "grades": CumulativeLogit,
    "margin": ThurstoneScore,
    "margin by arm": lambda p: ThurstoneScore(p, variances="arm"),
    "margin by pair": lambda p: ThurstoneScore(p, variances="pair"),
    "student": lambda p: ThurstoneScore(p, degrees=5),
    "residuals": PerturbedThurstone,
}
TERMS = {
    "order": SideAdvantage(),
    "sides": SideAdvantage(by="half"),
    "x": Covariates(["x"]),
    "judge": RandomEffects("judge"),
    "prompt": RandomEffects("prompt"),
    "category": CategoryEffects(),
    "walk": TimeVarying(periods=3),
    "smooth": TimeVarying(process="smooth", periods=3),
    "tastes": JudgeTastes(),
    "reliability": JudgeReliability(),
    "cycles": BladeChest(),
    "pairs": PairEffects(),
}
WORTH = {
    "scores": Scores(),
    "known scale": Scores(1.2),
    "items": Covariates(ITEMS),
    "attributes": Covariates(ITEMS, item_effect=False),
    "sources": Sources("prompt", target="p1"),
    "two sources": Sources("half", target="h0"),
    "mix": Sources("category", target={"u": 0.5, "v": 1.5}),
}
COUPLED = ("margin by pair", "residuals")
MODIFIERS = ("reliability", "cycles")
SAID = {"judge": "j03", "half": "h1", "prompt": "p1", "category": "v", "time": 10.0, "x": 0.7}
NEVER = ({"walk", "smooth"}, {"tastes", "reliability"})  # alike, and not told apart
ALONE = [(name,) for name in TERMS]
PAIRS = [pair for pair in combinations(TERMS, 2) if set(pair) not in NEVER]
PRODUCT = [(response, terms) for response in RESPONSES for terms in [(), *ALONE, *PAIRS]]
# Every response with every term, every pair of terms with some response. Of the fast tests one
# compares the density of every other of these, one the likelihood of half of the rest.
COVERING = [
    (list(RESPONSES)[(k + n) % len(RESPONSES)], terms)
    for n, terms in enumerate([(), *ALONE])
    for k in range(len(RESPONSES))
] + [(list(RESPONSES)[n % len(RESPONSES)], pair) for n, pair in enumerate(PAIRS)]

# Every response, every term, some pairs; those with tastes or Student's noise take ten seconds.
FEW = [
    (response, terms)
    for n, terms in enumerate([(), *ALONE, *PAIRS[2::5]])
    if (response := list(RESPONSES)[n % len(RESPONSES)])
    and (len(terms) < 2 or ("tastes" not in terms and response != "student"))
]


def ids(value):
    return ("+".join(value) or "none") if isinstance(value, tuple) else value.replace(" ", "-")


def each(cases):
    return pytest.mark.parametrize(("response", "terms"), cases, ids=ids)


def make(response, terms, worth=None):
    """Return the model; by default attributes where tastes are about them, else scores."""
    chosen = WORTH[worth or ("items" if "tastes" in terms else "scores")]
    return RESPONSES[response](sum((TERMS[name] for name in terms), start=chosen))


def table(n=240, seed=1):
    """Return a log as a frame: margins with an advantage of the left, a covariate and ties."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    score, x = np.array([1.0, 0.3, -0.3, -1.0]), rng.standard_normal(n).round(1)
    margin = np.round(score[left] - score[right] + 0.3 + 0.5 * x + rng.standard_normal(n), 1)
    margin = np.where(np.abs(margin) < 0.3, 0.0, margin)
    return pd.DataFrame(
        {
            "left": np.array(ARMS)[left],
            "right": np.array(ARMS)[right],
            "outcome": (np.sign(margin) + 1) / 2,
            "margin": margin,
            "judge": [f"j{k:02}" for k in rng.integers(0, 8, n)],
            "time": np.arange(n) * 1.0,
            "category": np.array(["u", "v", "w"])[np.arange(n) % 3],
            "prompt": np.array(["p0", "p1", "p2", "p3"])[rng.integers(0, 4, n)],
            "half": np.array(["h0", "h1"])[np.arange(n) // 3 % 2],
            "x": x,
        }
    )


def near_the_prior(model, cells, n, seed):
    """Return n points of what a sampler hands over, and the log likelihood of the pm.Model."""
    built = model.build(cells)
    rng = np.random.default_rng(seed)
    outcome = built.logp(vars=[built["outcome"]], sum=False)[0]
    values = built.replace_rvs_by_values(built.unobserved_RVs)
    function = built.compile_fn([*values, outcome], mode=PLAIN)
    start = built.initial_point()
    points = [{k: v + rng.normal(0, 0.3, np.shape(v)) for k, v in start.items()} for _ in range(n)]
    *drawn, terms = (np.array(v) for v in zip(*map(function, points), strict=True))
    found = {v.name: d for v, d in zip(built.unobserved_RVs, drawn, strict=True)}
    inner = ("_free", "_standard")
    return {k: v for k, v in found.items() if not k.endswith(inner)}, terms


def without_nuts(
    model, cells, *, draws, chains, seed, log_likelihood=False, progress=None, notice=""
):
    n = draws * chains
    row = np.arange(n) % POINTS
    points, terms = near_the_prior(model, cells, POINTS, seed)
    drawn, terms = {k: v[row] for k, v in points.items()}, terms[row]
    posterior = model.complete(drawn, cells, np.random.default_rng(seed))
    stats = {"lp": np.zeros(n), "diverging": np.zeros(n, dtype=bool)}
    certificate = ChainCertificate(effective=n, rhat=1.0, diverging=0.0, of="'score'")
    return PosteriorDraws(posterior, stats, terms, certificate)


def fit(log, model, **settings):
    return bd.fit(log, model, draws=200, chains=2, **settings)


def draws_by_name(tree):
    return {
        str(n): v.values.reshape(-1, *v.shape[2:])
        for n, v in tree["posterior"].data_vars.items()
        if n != "preference"
    }
