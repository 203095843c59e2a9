"""Tables of duels as users write them, and the points that arms have in them.

Nothing of the reader is used: what is right is counted from the list of duels itself.
"""

import csv
import io
import random
from collections import Counter

import numpy as np

import bayesduel as bd

ARMS = ("Ajax", "Brest", "Celtic", "Dynamo")
STRENGTH = dict(zip(ARMS, (1.5, 0.5, -0.5, -1.5), strict=True))


def votes_of(ties=True, n=80):
    """Return duels: both arms, who won ("a", "b", "t"), both scores, a judge, a number."""
    rng = random.Random(5)
    found = []
    for k in range(n):
        a, b = rng.sample(ARMS, 2)
        chance = 1 / (1 + np.exp(STRENGTH[b] - STRENGTH[a]))
        won = "t" if ties and rng.random() < 0.2 else "a" if rng.random() < chance else "b"
        low = rng.randrange(3)
        high = low + 1 + rng.randrange(2)
        goals = {"a": (high, low), "b": (low, high), "t": (low, low)}[won]
        found.append({"a": a, "b": b, "w": won, "ga": goals[0], "gb": goals[1], "k": k,
                      "j": f"u{k % 8}"})  # fmt: skip
    return found


TIED, STRICT = votes_of(), votes_of(ties=False)


def points(votes):
    """Return the points of each arm against each, a tie half a point for both."""
    found = Counter()
    for v in votes:
        share = {"a": 1.0, "b": 0.0, "t": 0.5}[v["w"]]
        found[v["a"], v["b"]] += share
        found[v["b"], v["a"]] += 1 - share
    return {pair: n for pair, n in found.items() if n}


def ahead(orders):
    """Return how often each arm stands before each; orders of groups, the best first."""
    found = Counter()
    for groups in orders:
        for k, group in enumerate(groups):
            below = [arm for later in groups[k + 1 :] for arm in later]
            found.update((arm, other) for arm in group for other in below)
    return dict(found)


def points_read(log):
    """Return the same of a log of duels or of rankings."""
    found = Counter()
    if isinstance(log, bd.Rankings):
        for k, weight in enumerate(log.weight):
            own = log.ranking == k
            rows = [*zip([log.arms[i] for i in log.arm[own]], log.place[own], strict=True)]
            found.update({(a, b): float(weight) for a, p in rows for b, q in rows if p < q})
        return dict(found)
    frame = log.to_frame()
    weight = frame["weight"] if "weight" in frame else [1] * len(frame)
    for left, right, said, n in zip(
        frame["left"], frame["right"], frame["outcome"], weight, strict=True
    ):
        share = float({"left": 1, "right": 0, "tie": 0.5}.get(said, said))
        found[left, right] += share * n
        found[right, left] += (1 - share) * n
    return {pair: round(n, 6) for pair, n in found.items() if abs(n) > 1e-9}


def rows(names, values, sep=","):
    """Return a table of text."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=sep, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(values)
    return stream.getvalue()


def table(votes, sep=",", after=(), **columns):
    """Return a table of duels: of each column a field, a text, or a function of the duel."""
    values = [[f(v) if callable(f) else v.get(f, f) for f in columns.values()] for v in votes]
    return rows([*columns], [*values, *after], sep)


def says(a, b, tie=""):
    return lambda v: {"a": a, "b": b, "t": tie}[v["w"]]


def winner(tie=""):
    return lambda v: tie if v["w"] == "t" else v[v["w"]]


def loser(v):
    return v["b"] if v["w"] == "a" else v["a"]


def first_of(v):
    return v["b"] if v["w"] == "b" else v["a"]


def score(form):
    return lambda v: form.format(v["ga"], v["gb"], min(v["ga"], 1))
