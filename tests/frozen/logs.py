"""The logs and items of which numbers are frozen: shipped, parts of these, and simulated ones."""

from functools import cache

import numpy as np
import pandas as pd

from tests.frozen.adapter import (
    from_votes,
    load,
    names_of_datasets,
    read_items,
    read_pulls,
    table_of_items,
)


@cache
def log(name):
    """Return a shipped log, a part of one ("tversky1969/s3"), or a simulated one."""
    if name in SIMULATED:
        return SIMULATED[name]()
    whole, _, part = name.partition("/")
    if part:
        by = {"tversky1969": "annotator", "icehockey": "conference"}[whole]
        return load(whole, by=by)[part]
    return load(whole)


def drawn_votes(n_arms, n, seed, judges=0, ties=0.0, spread=1.0):
    """Return left, right, outcome, judge and time of a random log with known scores."""
    rng = np.random.default_rng(seed)
    score = spread * np.linspace(-1, 1, n_arms)
    left = rng.integers(0, n_arms, n)
    right = (left + rng.integers(1, n_arms, n)) % n_arms
    judge = rng.integers(0, max(judges, 1), n)
    eta = (score[left] - score[right]) * np.where(judge % 4 == 3, 0.2, 1.2)
    outcome = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
    outcome[rng.random(n) < ties] = 0.5
    names = np.array([f"a{k}" for k in range(n_arms)])
    return names[left], names[right], outcome, [f"j{g:02}" for g in judge], rng.random(n)


def judged_log():
    """A log in which 30 judges vote repeatedly, three times on the same pair each."""
    left, right, outcome, judge, when = drawn_votes(6, 150, 3, judges=30, ties=0.15)
    again = [np.repeat(np.asarray(x), 3) for x in (left, right, outcome, judge, when)]
    return from_votes(*again[:3], judge=again[3], time=again[4])


def grouped_log():
    """A log in which each of 25 groups votes four times on each of its pairs."""
    left, right, outcome, group, _ = drawn_votes(5, 120, 13, judges=25)
    again = [np.repeat(np.asarray(x), 4) for x in (left, right, outcome, group)]
    return from_votes(*again[:3], group=again[3])


def tiny_log():
    """A tiny log with judges, times and ties, for models that are sampled."""
    left, right, outcome, judge, when = drawn_votes(4, 60, 11, judges=4, ties=0.1)
    return from_votes(left, right, outcome, judge=judge, time=when)


def cyclic_log():
    """Rock, paper, scissors and a fourth."""
    rows = [("r", "s"), ("s", "p"), ("p", "r"), ("r", "q"), ("s", "q"), ("p", "q")]
    left = [a for a, _ in rows for _ in range(12)]
    right = [b for _, b in rows for _ in range(12)]
    return from_votes(left, right, [float(k % 12 < 10) for k in range(72)])


def margin_log():
    """Five arms, 90 margins with side advantage, uneven noise and a few odd ones, none tied."""
    rng = np.random.default_rng(5)
    left = rng.integers(0, 5, 90)
    right = (left + rng.integers(1, 5, 90)) % 5
    score, noise = np.array([-1.0, -0.4, 0.1, 0.6, 1.2]), np.array([0.5, 0.7, 0.9, 1.2, 1.5])
    margin = score[left] - score[right] + 0.3
    margin += np.hypot(noise[left], noise[right]) * rng.standard_t(5, 90)
    names = np.array(list("vwxyz"))
    won = (margin > 0).astype(float)
    return from_votes(names[left], names[right], won, margin=np.round(margin, 3))


def separate_log():
    """Two components that never met."""
    left, right, outcome, *_ = drawn_votes(4, 40, 21)
    other = np.char.replace(np.concatenate([left, right]), "a", "b")
    return from_votes([*left, *other[:40]], [*right, *other[40:]], [*outcome, *(1 - outcome)])


SIMULATED = {
    "judged": judged_log,
    "grouped": grouped_log,
    "tiny": tiny_log,
    "cyclic": cyclic_log,
    "margins": margin_log,
    "separate": separate_log,
}
SHIPPED = tuple(sorted(names_of_datasets()))
PARTS = ("tversky1969/s1", "tversky1969/s5")
WITH_ITEMS = ("celebrities", "chameleons", "heaviness", "springall", "tversky1969")
MARGINS = ("icehockey", "icehockey/NC", "margins")


@cache
def items_of(name):
    """Return the attributes of a shipped log; words that differ for every item are left out."""
    if name == "tversky1969":
        return read_items(table_of_items(name), columns=["payoff"])
    return read_items(table_of_items(name))


def some_new_items(name):
    """Return the first three items again under other labels, as a table."""
    return table_of_items(name).iloc[:3].rename(index=lambda x: f"new {x}")


@cache
def attributed_log(judges, n=80):
    """Return duels by judges of eight items with two attributes, and the items."""
    rng = np.random.default_rng(31)
    table = pd.DataFrame(rng.normal(size=(8, 2)), columns=["x", "y"])
    table.insert(0, "item", [f"i{k}" for k in range(8)])
    items = read_items(table)
    left = rng.integers(0, 8, n)
    right = (left + rng.integers(1, 8, n)) % 8
    judge = rng.integers(0, judges, n)
    x = table["x"].to_numpy()
    eta = (x[left] - x[right]) * (judge % 5 - 1.0)
    won = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
    labels = np.array(items.labels)
    return from_votes(labels[left], labels[right], won, judge=[f"j{g}" for g in judge]), items


@cache
def pulls_of(name):
    """Return a log of pulls: each arm shown once in each duel, paid where it won."""
    duels, rows = log(name), []
    for i, j, wins, losses, _ in zip(*duels.pairs(), strict=True):
        rows += [(duels.arms[i], 1.0), (duels.arms[j], 0.0)] * int(wins)
        rows += [(duels.arms[i], 0.0), (duels.arms[j], 1.0)] * int(losses)
    return read_pulls(pd.DataFrame(rows, columns=["item", "reward"]))
