"""PyMC draws the graph of any model: what has a prior leads to the votes, plates have labels."""

import re

import numpy as np
import pymc as pm
import pytest

import bayesduel as bd
from bayesduel.models import (
    BradleyTerry,
    CategoryEffects,
    CumulativeLogit,
    Davidson,
    RandomEffects,
    SideAdvantage,
    Thurstone,
    ThurstoneScore,
)


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(2)
    i = rng.integers(0, 4, 80)
    j = (i + rng.integers(1, 4, 80)) % 4
    margin = np.round(2 * rng.normal(size=80))
    return bd.Duels.from_votes(
        np.array([*"abcd"])[i],
        np.array([*"abcd"])[j],
        (1 + np.sign(margin)) / 2,
        margin=margin,
        grade=np.clip(margin, -2, 2),
        judge=rng.integers(0, 5, 80),
        category=rng.integers(0, 3, 80),
    )


MODELS = [
    *(response() for response in (BradleyTerry, Thurstone, Davidson, CumulativeLogit)),
    ThurstoneScore() + SideAdvantage(),
    Davidson() + SideAdvantage() + RandomEffects("judge"),
    BradleyTerry() + CategoryEffects(),
]


def causes(name, arrows):
    """Return all from which arrows (pairs of names) lead to a name."""
    direct = {start for start, end in arrows if end == name}
    return direct.union(*(causes(one, arrows) for one in direct))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_the_graph_leads_from_priors_to_votes(log, model):
    built = model.build(log)
    text = pm.model_to_mermaid(built)
    (seen,) = (one.name for one in built.observed_RVs)
    above = causes(seen, re.findall(r"^(\w+) --> (\w+)$", text, flags=re.M))
    assert {free.name for free in built.free_RVs} <= above
    plates = dict(re.findall(r'subgraph "([^"]+)"\n(.*?)end', text, flags=re.S))
    assert "score" in plates["arm (4)"].split()
    (around,) = (name for name, inside in plates.items() if seen in inside.split())
    assert around.startswith("cell (")
    if "judge" in model.name:
        assert "judge_deviation" in plates["judge (5) x arm (4)"].split()
