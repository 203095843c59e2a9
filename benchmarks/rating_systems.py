"""Forecasts beside rating systems: log loss of the next duels, on real logs and simulated walks.

``python -m benchmarks.rating_systems [LOG.csv ...]`` cuts the last half of each log (columns left,
right, outcome, time) into blocks, fits everything before a block and forecasts its duels. It does
the same with worlds drawn here, whose ratings walk. Beside the package: Elo and Glicko-2 as they
are played, whose numbers are those that would have been best so far, and TrueSkill Through Time
with the settings of the highest evidence. They need ``pip install --no-deps glicko2
trueskillthroughtime``. A tie counts half, so that every system forecasts one number: the expected
points of left. Elo may have a side advantage, which the other two do not know.

References
----------
Elo, "The Rating of Chessplayers", 1978. Glickman, "Example of the Glicko-2 system", 2013.
Dangauthier, Herbrich, Minka & Graepel, "TrueSkill Through Time", NIPS 2007; Landfried & Mocskos,
JSS 2025.
"""

import argparse
import math
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr

import bayesduel as bd
from benchmarks.tables import show

BLOCKS = 5  # of the last half of a log
WORLDS = 20  # simulated, of 8 arms
PERIODS = 10  # of the past, in each of which 60 duels are seen
DUELS = 60
DRIFT = 0.5  # scale of the half-normal prior of the drift, which worlds are drawn from
K_FACTORS = (8, 16, 24, 32, 48, 64)
ADVANTAGES = (0, 30, 60, 90)  # points of the left side
GLICKO_PERIODS = 20  # of the past; Glickman asks for 10 to 15 games of a player in each
SIGMAS = (0.5, 1.0, 2.0, 4.0)  # of TrueSkill's prior, beside its beta of 1
GAMMAS = (0.0, 0.1, 0.3, 1.0)  # how far a skill moves over the whole past

Forecast = Callable[[pd.DataFrame, pd.DataFrame], np.ndarray]  # of past and block: points of left


def log_loss(points: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return the loss of each duel in nats; a tie is half a win and half a loss."""
    chance = np.clip(expected, 1e-6, 1 - 1e-6)
    return -(points * np.log(chance) + (1 - points) * np.log1p(-chance))


def elo(past: pd.DataFrame, block: pd.DataFrame) -> np.ndarray:
    """Return forecasts of Elo, whose two numbers have the least loss on the past."""
    found = []
    for k_factor, advantage in product(K_FACTORS, ADVANTAGES):
        rating: dict[str, float] = {}
        expected = np.empty(len(past))
        for row, (left, right, points) in enumerate(_duels(past)):
            ahead = rating.get(left, 0.0) - rating.get(right, 0.0) + advantage
            expected[row] = 1 / (1 + 10 ** (-ahead / 400))
            change = k_factor * (points - expected[row])
            rating[left] = rating.get(left, 0.0) + change
            rating[right] = rating.get(right, 0.0) - change
        found.append((log_loss(past["points"].to_numpy(), expected).sum(), advantage, rating))
    _, advantage, rating = min(found, key=lambda one: one[0])
    ahead = np.array([rating.get(a, 0.0) - rating.get(b, 0.0) for a, b, _ in _duels(block)])
    return np.asarray(1 / (1 + 10 ** (-(ahead + advantage) / 400)))


def glicko(past: pd.DataFrame, block: pd.DataFrame) -> np.ndarray:
    """Return forecasts of Glicko-2 with Glickman's defaults."""
    import glicko2

    arms = sorted({*past["left"], *past["right"], *block["left"], *block["right"]})
    players = {arm: glicko2.Player() for arm in arms}
    edges = np.linspace(past["time"].min(), past["time"].max(), GLICKO_PERIODS + 1)
    period = np.clip(np.searchsorted(edges, past["time"], side="right"), 1, GLICKO_PERIODS)
    for _, played in past.groupby(period):
        before = {arm: (one.rating, one.rd) for arm, one in players.items()}
        games: dict[str, list[tuple[float, float, float]]] = {arm: [] for arm in arms}
        for left, right, points in _duels(played):
            games[left].append((*before[right], points))
            games[right].append((*before[left], 1 - points))
        for arm, own in games.items():
            if own:
                players[arm].update_player(*(list(column) for column in zip(*own, strict=True)))
            else:
                players[arm].did_not_compete()
    ahead = np.array([players[a].rating - players[b].rating for a, b, _ in _duels(block)])
    variance = np.array([players[a].rd ** 2 + players[b].rd ** 2 for a, b, _ in _duels(block)])
    q = math.log(10) / 400
    flattened = 1 / np.sqrt(1 + 3 * q**2 * variance / math.pi**2)
    return np.asarray(expit(q * flattened * ahead))


def through_time(past: pd.DataFrame, block: pd.DataFrame) -> np.ndarray:
    """Return forecasts of TrueSkill Through Time, whose settings have the highest evidence."""
    import trueskillthroughtime as ttt

    span = max(float(past["time"].max() - past["time"].min()), 1e-9)
    day = ((past["time"] - past["time"].min()) / span * 100).round().astype(int)  # hundredths
    games = [[[left], [right]] for left, right, _ in _duels(past)]
    results = [[2 * points, 2 - 2 * points] for _, _, points in _duels(past)]
    share = float((past["points"] == 0.5).mean())
    found = []
    for sigma, gamma in product(SIGMAS, GAMMAS):
        history = ttt.History(
            games, results, day.tolist(), sigma=sigma, gamma=gamma / 10, p_draw=share
        )
        history.convergence(epsilon=1e-3, iterations=10, verbose=False)
        found.append((history.log_evidence(), sigma, gamma / 10, history))
    _, sigma, gamma, history = max(found, key=lambda one: one[0])
    last = {arm: curve[-1] for arm, curve in history.learning_curves().items()}
    now = ((block["time"] - past["time"].min()) / span * 100).to_numpy()

    def skill(arm: str, at: float) -> tuple[float, float]:
        if arm not in last:
            return 0.0, sigma**2
        when, known = last[arm]
        return known.mu, known.sigma**2 + gamma**2 * max(at - when, 0.0)

    margin = ttt.compute_margin(share, math.sqrt(2)) if share else 0.0
    expected = np.empty(len(block))
    for row, (left, right, _) in enumerate(_duels(block)):
        mean, variance = skill(left, now[row])
        other_mean, other_variance = skill(right, now[row])
        deviation = math.sqrt(2 + variance + other_variance)
        ahead = mean - other_mean
        above = ndtr((ahead - margin) / deviation)
        expected[row] = (above + ndtr((ahead + margin) / deviation)) / 2
    return expected


def of_model(terms: str) -> Forecast:
    """Return forecasts of the package with these terms beside the usual ones."""

    def forecast(past: pd.DataFrame, block: pd.DataFrame) -> np.ndarray:
        named = past.rename(columns={"left": "home", "right": "away"})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # thin arms, and times after the log, are meant here
            log = bd.read_duels(named, left="home", right="away", outcome="points", time="time")
            response = "davidson" if (past["points"] == 0.5).mean() > 0.05 else "bradley-terry"
            fit = bd.fit(log, f"{response} + order{terms}", clusters=False, seed=1)
            known = block["left"].isin(log.arms) & block["right"].isin(log.arms)
            expected = np.full(len(block), np.nan)
            asked = block[known]
            given: dict[str, Any] = {"side_advantage": True}
            if terms:
                given["time"] = asked["time"].to_numpy()
            found = bd.predict(fit, asked["left"].tolist(), asked["right"].tolist(), **given)
            tied = found["tie"] if "tie" in found else 0.0
            expected[known] = found["win"] + tied / 2
        return expected

    return forecast


SYSTEMS: dict[str, Forecast] = {
    "Elo": elo,
    "Glicko-2": glicko,
    "TrueSkill Through Time": through_time,
    "bayesduel, static": of_model(""),
    "bayesduel, time": of_model(" + time"),
}


def _duels(frame: pd.DataFrame) -> Iterator[tuple[str, str, float]]:
    """Yield left, right and the points of left of each duel."""
    yield from zip(frame["left"], frame["right"], frame["points"], strict=True)


def real(path: Path) -> pd.DataFrame:
    """Return a log in the order of time, which is in days."""
    frame = pd.read_csv(path).dropna(subset=["left", "right", "outcome", "time"])
    points = frame["outcome"].map({"left": 1.0, "tie": 0.5, "right": 0.0})
    when = pd.to_datetime(frame["time"], format="ISO8601")
    days = (when - when.min()).dt.total_seconds() / 86400
    found = frame[["left", "right"]].assign(points=points, time=days).dropna()
    return found.sort_values("time", kind="stable", ignore_index=True)


def blocks_of(frame: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield past and block for each block of the last half."""
    ends = np.linspace(len(frame) // 2, len(frame), BLOCKS + 1).astype(int)
    for start, stop in pairwise(ends):
        yield frame[:start], frame[start:stop]


def world(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return past and next period of a world whose ratings walk."""
    rng = np.random.default_rng([5, seed])
    drift = abs(rng.normal(0, DRIFT))
    scale = abs(rng.normal(0, 2.0))
    walk = drift * rng.normal(size=(PERIODS + 1, 8))
    walk[0] = scale * rng.normal(size=8)
    rating = walk.cumsum(axis=0)
    time = np.repeat(np.arange(PERIODS + 1.0), DUELS)
    left = rng.integers(0, 8, len(time))
    right = (left + rng.integers(1, 8, len(time))) % 8
    period = time.astype(int)
    chance = expit(rating[period, left] - rating[period, right])
    points = (rng.random(len(time)) < chance).astype(float)
    names = np.array([f"a{k}" for k in range(8)])
    frame = pd.DataFrame(
        {"left": names[left], "right": names[right], "points": points, "time": time}
    )
    return frame[time < PERIODS], frame[time == PERIODS]


def losses(parts: list[tuple[pd.DataFrame, pd.DataFrame]]) -> dict[str, np.ndarray]:
    """Return the loss of every forecast duel, by system; duels that one cannot forecast are out."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in SYSTEMS}
    for past, block in parts:
        points = block["points"].to_numpy()
        for name, forecast in SYSTEMS.items():
            expected = np.asarray(forecast(past, block))
            loss = np.where(np.isnan(expected), np.nan, log_loss(points, expected))
            found[name].append(loss)
    table = {name: np.concatenate(each) for name, each in found.items()}
    known = np.isfinite(np.column_stack(list(table.values()))).all(axis=1)
    return {name: each[known] for name, each in table.items()}


def rows(log: str, found: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return a row a system: its loss, and how much more it is than that of the last one."""
    own = found["bayesduel, time"]
    table = []
    for name, loss in found.items():
        apart = loss - own
        error = apart.std(ddof=1) / len(apart) ** 0.5
        row = {"log": log, "system": name, "duels": len(loss), "log loss": f"{loss.mean():.4f}"}
        row["more than with time"] = "" if loss is own else f"{apart.mean():+.4f} ± {error:.4f}"
        table.append(row)
    return table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="*", type=Path)
    table = []
    for path in parser.parse_args().logs:
        table += rows(path.parent.name, losses(list(blocks_of(real(path)))))
    table += rows(f"{WORLDS} walks", losses([world(seed) for seed in range(WORLDS)]))
    show("Log loss of the next duels, in nats", table)


if __name__ == "__main__":
    main()
