"""Logs of teams whose members have known scores."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

import bayesduel as bd


class TeamWorld(NamedTuple):
    """A log, and the scores that it was drawn from."""

    log: Any
    score: dict[str, float]  # of each arm
    groups: list[list[str]]  # of arms that the duels compare with one another


def _scores(arms, rng, scale=1.0):
    drawn = rng.normal(0, scale, len(arms))
    return dict(zip(arms, (drawn - drawn.mean()).tolist(), strict=True))


def _random_teams(arms, sizes, rng):
    """Return two teams of these sizes, without a member in common."""
    drawn = [arms[k] for k in rng.permutation(len(arms))]
    return tuple(drawn[: sizes[0]]), tuple(drawn[sizes[0] : sum(sizes)])


def doubles(seed, n=150):
    """Return doubles of six players."""
    rng = np.random.default_rng(seed)
    arms = list("abcdef")
    score = _scores(arms, rng)
    pairs = [_random_teams(arms, (2, 2), rng) for _ in range(n)]
    eta = np.array([_worth(left, score) - _worth(right, score) for left, right in pairs])
    log = bd.Duels.from_votes(*zip(*pairs, strict=True), rng.uniform(size=n) < expit(eta))
    return TeamWorld(log, score, [arms])


def teams_of_any_size(seed, n=300):
    """Return duels of teams of 2 to 5 of twelve players; a member more is worth 0.4."""
    rng = np.random.default_rng(seed)
    arms = [f"p{k:02d}" for k in range(12)]
    score = _scores(arms, rng, 0.7)
    pairs = [_random_teams(arms, rng.integers(2, 6, 2), rng) for _ in range(n)]
    more = np.array([len(left) - len(right) for left, right in pairs])
    eta = [_worth(left, score) - _worth(right, score) for left, right in pairs] + 0.4 * more
    log = bd.Duels.from_votes(*zip(*pairs, strict=True), rng.uniform(size=n) < expit(eta))
    return TeamWorld(log, score, [arms])


def systems(seed, n=300):
    """Return duels of systems of a model and a prompt; the left one has an advantage of 0.3."""
    rng = np.random.default_rng(seed)
    models, prompts = [f"m{k}" for k in range(5)], [f"prompt{k}" for k in range(4)]
    score = _scores(models, rng) | _scores(prompts, rng, 0.5)
    drawn = [(rng.permutation(5)[:2], rng.permutation(4)[:2]) for _ in range(n)]
    left = [(models[m[0]], prompts[p[0]]) for m, p in drawn]
    right = [(models[m[1]], prompts[p[1]]) for m, p in drawn]
    eta = [0.3 + _worth(a, score) - _worth(b, score) for a, b in zip(left, right, strict=True)]
    log = bd.Duels.from_votes(left, right, rng.uniform(size=n) < expit(eta))
    return TeamWorld(log, score, [models, prompts])


def judged(seed, n=300):
    """Return doubles with ties, a side advantage and judges of different tastes."""
    rng = np.random.default_rng(seed)
    arms = list("abcdef")
    score = _scores(arms, rng)
    taste = [_scores(arms, rng, 0.4) for _ in range(8)]
    judge = rng.integers(0, 8, n)
    pairs = [_random_teams(arms, (2, 2), rng) for _ in range(n)]
    eta = np.array(
        [
            0.3 + sum(_worth(left, s) - _worth(right, s) for s in (score, taste[g]))
            for (left, right), g in zip(pairs, judge, strict=True)
        ]
    )
    weight = np.stack([np.exp(eta / 2), 0.5 * np.ones(n), np.exp(-eta / 2)])
    chance = (weight / weight.sum(axis=0)).cumsum(axis=0)
    outcome = np.array([1.0, 0.5, 0.0])[(rng.uniform(size=n) > chance[:2]).sum(axis=0)]
    log = bd.Duels.from_votes(*zip(*pairs, strict=True), outcome, judge=judge)
    return TeamWorld(log, score, [arms])


def _worth(side, score):
    return sum(score[arm] for arm in side)
