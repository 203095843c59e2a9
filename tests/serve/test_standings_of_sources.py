"""What the page of standings says of sources of votes."""

from itertools import combinations

import pytest

from bayesduel.models import BradleyTerry, Sources

pytest.importorskip("starlette")

VOTES = 20  # of each source: of very few the approximation is not certified, and fits take long


def test_the_standings_say_what_a_machine_is_worth(site):
    model = BradleyTerry(Sources("source", target="people"))
    made = site(policy="auto", model=model, sources={"people": 1.0, "machine": 0.02})
    pairs = list(combinations(made.study.arms, 2))
    for judge in ("ann", "machine"):
        assert made.pages.standings()["sources"] is None
        for k in range(VOTES):
            outcome = "left" if k % 3 else "right"
            made.study.add(*pairs[k % len(pairs)], outcome, judge=judge)
    eye = made.client("eye", "viewer")
    made.pages._due = 0.0
    rows = {r["source"]: r for r in eye.get("/api/standings").json()["sources"]["sources"]}
    assert rows["machine"]["votes"] == VOTES and rows["machine"]["cost"] == 0.02
    assert rows["people"]["worth"] is None and rows["machine"]["worth"] >= 0
    page = eye.get("/standings").text
    assert "votes of machine are worth" in page and '<td class="n">0.02</td>' in page
