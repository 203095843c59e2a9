"""Files that people bring: what is read, or asked, beside what is right.

Run with ``python -m benchmarks.files_of_users FOLDER``, a folder of the files named in `FILES`. Of
each, the points of every arm against every other are counted here from the text, with nothing of
the reader. A file is read without options; where it is refused, once more with options that the
message has to name. A row says whether it was read or asked, and whether the points are right.
"""

import argparse
import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from io import StringIO
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.tables import show

type Points = dict[tuple[str, str], float]
type Row = Mapping[str, str]

SHARES = {"left": 1.0, "right": 0.0, "tie": 0.5}
RATING = {-1: "right", 0: "tie", 1: "left"}


@dataclass(frozen=True)
class File:
    """How to count what is right in a file, and the advice that its refusal should give."""

    right: Callable[[Path], Points]
    options: Mapping[str, Any] = field(default_factory=dict)  # by which it is read once asked
    advice: str = ""  # what the message says then, a pattern
    rewritten: Callable[[Path], Any] = Path  # the table that the advice asks for


def table(path: Path, sign: str = ",") -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream, delimiter=sign))


def total(duels: Iterable[tuple[str, str, float, float]]) -> Points:
    """Return the points of duels: left, right, the share of left, how many."""
    found: Counter[tuple[str, str]] = Counter()
    for left, right, share, n in duels:
        found[left, right] += share * n  # type: ignore[assignment]
        found[right, left] += (1 - share) * n  # type: ignore[assignment]
    return {pair: float(points) for pair, points in found.items() if points}


def rows(left: str, right: str, share: Callable[[Row], float | None], sign: str = ",") -> Any:
    """Return how points are counted of a file with a duel in each row; None: no duel."""

    def right_points(path: Path) -> Points:
        each = [(row[left], row[right], share(row)) for row in table(path, sign)]
        return total((a, b, s, 1.0) for a, b, s in each if s is not None)

    return right_points


def words(column: str, left: str, right: str, tie: str = "") -> Callable[[Row], float | None]:
    """Return the share of left by the words of a column."""
    shares = {left: 1.0, right: 0.0, tie: 0.5}
    return lambda row: shares.get(row[column])


def named(column: str, left: str, right: str) -> Callable[[Row], float | None]:
    """Return the share of left where a column names the winner, half where it names nobody."""
    return lambda row: (
        1.0 if row[column] == row[left] else 0.0 if row[column] == row[right] else 0.5
    )


def higher(left: str, right: str) -> Callable[[Row], float | None]:
    """Return the share of left by two scores."""

    def share(row: Row) -> float | None:
        try:
            difference = float(row[left].replace(",", ".")) - float(row[right].replace(",", "."))
        except ValueError:
            return None
        return 0.5 if difference == 0 else float(difference > 0)

    return share


def ahead(orders: Iterable[list[list[str]]]) -> Points:
    """Return how often each arm stands above each; orders of groups, the best first."""
    found = []
    for order in orders:
        for one, other in combinations(order, 2):
            found += [(a, b, 1.0, 1.0) for a in one for b in other]
    return total(found)


def by_score(scores: Iterable[dict[str, float]], sign: int = 1) -> Points:
    """Return the points of arms that have a score each in every group."""
    found = []
    for own in scores:
        for one, other in combinations(sorted(own), 2):
            difference = sign * (own[one] - own[other])
            found.append((one, other, 0.5 if difference == 0 else float(difference > 0), 1.0))
    return total(found)


def open_webui(path: Path) -> Points:
    """Return the points of feedback: the rated model against each sibling."""
    found = []
    for record in json.loads(path.read_text()):
        data = record["data"]
        if data["rating"] in (1, -1):
            siblings = data["sibling_model_ids"] or []
            found += [(data["model_id"], s, float(data["rating"] == 1), 1.0) for s in siblings]
    return total(found)


def grouped(key: str, arm: str, value: str) -> Callable[[Path], list[dict[str, float]]]:
    """Return the numbers of the arms of each group of a long table."""

    def groups(path: Path) -> list[dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for row in table(path):
            found.setdefault(row[key], {})[row[arm]] = float(row[value])
        return list(found.values())

    return groups


def wide(path: Path, but: str = "") -> list[dict[str, float]]:
    """Return the numbers of the arms in each row of a wide table."""
    return [
        {arm: float(text) for arm, text in row.items() if arm != but and text}
        for row in table(path)
    ]


def placed(path: Path) -> Points:
    """Return the points of a matrix of places, 0 for an arm that is not ranked."""
    return by_score([{a: n for a, n in own.items() if n} for own in wide(path)], sign=-1)


def best_of(path: Path) -> Points:
    """Return the points of the best of those shown; a best that is not among them is none."""
    found = []
    for row in table(path):
        shown = [arm.strip() for arm in row["shown"].split(",")]
        if row["best"] in shown:
            found.append([[row["best"]], [arm for arm in shown if arm != row["best"]]])
    return ahead(found)


def orders(path: Path) -> Points:
    """Return the points of orders such as a > b = c."""
    texts = [row["order"] for row in table(path)]
    return ahead([re.split(r"\s*=\s*", group) for group in re.split(r"\s*>\s*", t)] for t in texts)


def pairs_in_columns(path: Path) -> Points:
    """Return the points of a column for each pair, 1 of its first."""
    found = []
    for row in table(path):
        for name, text in row.items():
            if ":" in name and text not in ("", "NA"):
                left, right = name.split(":")
                found.append((left, right, (float(text) + 1) / 2, 1.0))
    return total(found)


def matches(path: Path) -> Points:
    """Return the points of matches with two rows each, of which the first counts."""
    first = {row["match_id"]: row for row in reversed(table(path))}
    shares = {"W": 1.0, "D": 0.5, "L": 0.0}
    return total((r["team"], r["opponent"], shares[r["result"]], 1.0) for r in first.values())


def sheet(path: Path) -> Points:
    """Return the points of a sheet of Excel."""
    from python_calamine import CalamineWorkbook

    head, *body = CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()
    shares = {"model_a": 1.0, "model_b": 0.0}
    each = [dict(zip(map(str, head), row, strict=True)) for row in body]
    return total((r["model_a"], r["model_b"], shares.get(r["winner"], 0.5), 1.0) for r in each)


def doubles(left: tuple[str, ...], right: tuple[str, ...]) -> Callable[[Path], Points]:
    """Return how points of sides are counted, whatever the order of their members."""

    def side(row: Row, columns: tuple[str, ...]) -> str:
        members = [member for name in columns for member in row[name].split(",")]
        return " + ".join(sorted(member.strip() for member in members))

    def right_points(path: Path) -> Points:
        return total(
            (side(r, left), side(r, right), float(r["winner"] == "team1"), 1.0) for r in table(path)
        )

    return right_points


def proportions(path: Path) -> Points:
    """Return the points of a matrix of proportions, of 100 duels a pair."""
    body = table(path)
    return {
        (row[""], arm): 100 * float(text)
        for row in body
        for arm, text in row.items()
        if arm and arm != row[""]
    }


def row_for_each_pair(path: Path) -> Any:
    """Return a matrix of proportions as a table of its pairs, of 100 duels each."""
    points = proportions(path)
    above = [pair for pair in points if pair[0] < pair[1]]
    left, right = zip(*above, strict=True)
    shares = [points[pair] / 100 for pair in above]
    return {"left": left, "right": right, "outcome": shares, "weight": [100] * len(above)}


def pair_of_numbers(wins: Callable[[Row], tuple[float, float]]) -> Callable[[Path], Points]:
    """Return how points are counted of a row for each pair, with the points of both."""
    return lambda path: {
        pair: n
        for row in table(path)
        for pair, n in zip(
            ((row["model_a"], row["model_b"]), (row["model_b"], row["model_a"])),
            wins(row),
            strict=True,
        )
        if n
    }


def share_of(row: Row) -> tuple[float, float]:
    """Return the points of both arms of a win rate."""
    n = float(row["n"])
    won = float(row["win_rate"]) * n
    return won, n - won


MODELS = ("model_a", "model_b")
SCORES = {"left": "home_team", "right": "away_team", "share": higher("home_score", "away_score")}
COMPARED = rows(
    "model_a_name",
    "model_b_name",
    named("chosen_model_name", "model_a_name", "model_b_name"),
)
TIES = {
    "53_Abetter.csv": ("A is better", "B is better", "Both are good"),
    "53_de.csv": ("links", "rechts", "unentschieden"),
    "53_winlose.csv": ("win", "lose", "draw"),
    "53_yes.csv": ("yes", "no", "tie"),
    "53_zh.csv": ("左", "右", "平局"),
}
FILES: dict[str, File] = {
    "03_ab.csv": File(rows("system_a", "system_b", words("winner", "a", "b", "tie"))),
    "04_cmos.csv": File(
        rows("system_a", "system_b", lambda r: (float(r["rating"]) > 0) + (r["rating"] == "0") / 2),
        {"outcome": "rating", "coding": "grades"},
        "--outcome rating --coding grades",
    ),
    "05_012.csv": File(
        rows("model_1", "model_2", words("label", "0", "2", "1")),
        {"means": {0: "left", 1: "tie", 2: "right"}},
        r"--means '0=\?,1=\?,2=\?'",
    ),
    "10_international.csv": File(rows(**SCORES)),
    "10b_international_fixture.csv": File(rows(**SCORES), {"on_bad": "skip"}, "--on-bad skip"),
    "111_likert5.csv": File(
        rows(*MODELS, lambda r: (3 - float(r["preference"]) > 0) + (r["preference"] == "3") / 2),
        {"grades": (1, 5)},
        "--grades BEST_FOR_LEFT,BEST_FOR_RIGHT",
    ),
    "11_nflverse.csv": File(rows(**SCORES)),
    "12d_mostly_first.csv": File(rows("player1", "player2", words("outcome", "1", "0"))),
    "13_rankmatrix.csv": File(placed),
    "15_ffa_scores.csv": File(lambda p: by_score(grouped("game_id", "player", "score")(p))),
    "16_doubles.csv": File(doubles(("team1",), ("team2",)), {"teams": ","}, "--teams ','"),
    "16b_doubles_cols.csv": File(
        doubles(("team1_player1", "team1_player2"), ("team2_player1", "team2_player2")),
        {
            "left": ["team1_player1", "team1_player2"],
            "right": ["team2_player1", "team2_player2"],
        },
        "--left team1_player1,team1_player2 --right team2_player1,team2_player2",
    ),
    "17_openwebui.json": File(open_webui),
    "18b_best_shown.csv": File(best_of),
    "19_wide_pairs.csv": File(pairs_in_columns),
    "20_choice_long.csv": File(
        lambda p: ahead(
            [[a for a, n in own.items() if n], [a for a, n in own.items() if not n]]
            for own in grouped("choice_id", "alternative", "chosen")(p)
        )
    ),
    "21_tworows.csv": File(matches),
    "22_subject.csv": File(rows("left", "right", named("preferred", "left", "right"))),
    "23_votes.xlsx": File(sheet),
    "24b_euro_en.csv": File(rows("player_a", "player_b", higher("score_a", "score_b"), ";")),
    "28b_score_text.csv": File(
        rows(
            "home_team",
            "away_team",
            lambda r: higher("0", "1")(dict(zip("01", r["result"].split(":"), strict=True))),
        )
    ),
    "30_onehot.csv": File(
        rows(*MODELS, lambda r: float(r["winner_model_a"]) + float(r["winner_tie"]) / 2)
    ),
    "32_comparia.csv": File(COMPARED),
    "36_propmatrix.csv": File(
        proportions, {"weight": "weight"}, "a row for each pair", row_for_each_pair
    ),
    "38_bye.csv": File(
        lambda p: {
            pair: n
            for pair, n in rows("white", "black", words("result", "1-0", "0-1", "1/2-1/2"))(
                p
            ).items()
            if "bye" not in map(str.lower, pair)
        }
    ),
    "41c_half.csv": File(pair_of_numbers(share_of)),
    "41d_counts.csv": File(pair_of_numbers(lambda r: (float(r["wins_a"]), float(r["wins_b"])))),
    "47_choice_respondent.csv": File(best_of),
    "48_order_ties.csv": File(orders),
    **{name: File(rows(*MODELS, words("winner", *three))) for name, three in TIES.items()},
    "61_ranks_by_question.csv": File(lambda p: by_score(wide(p, "question_id"), sign=-1)),
    "61e_time_by_task.csv": File(
        lambda p: by_score(wide(p, "task"), sign=-1),
        {"lower_is_better": True},
        "--lower-is-better",
    ),
    "62_judgelm.csv": File(
        rows("answer1_model_id", "answer2_model_id", higher("score1", "score2"))
    ),
    "63_names_tokens.csv": File(COMPARED),
    "71_footballdata.csv": File(rows("HomeTeam", "AwayTeam", words("FTR", "H", "A", "D"))),
    "81_index.csv": File(
        rows(*MODELS, words("winner", "0", "1")),
        {"means": {0: "left", 1: "right"}},
        r"--means '0=\?,1=\?'",
    ),
}


def points_of(log: Any) -> Points:
    """Return the points of a log that was read; of rankings those of their choices."""
    log = getattr(log, "duels", log)
    cells = log.cells
    sides = log.sides
    if log.votes is not None and log.votes.share is not None:
        votes = log.votes
        each = zip(votes.left, votes.right, votes.share, votes.weight, strict=True)
        return total((sides[a], sides[b], float(s), float(n)) for a, b, s, n in each)
    won = zip(cells.left, cells.right, cells.left_wins, cells.right_wins, cells.ties, strict=True)
    found: list[tuple[str, str, float, float]] = []
    for a, b, left, right, ties in won:
        counts = {1.0: left, 0.0: right, 0.5: ties}
        found += [(sides[a], sides[b], share, float(n)) for share, n in counts.items() if n]
    return total(found)


def read(path: Any, options: Mapping[str, Any]) -> tuple[Any, str]:
    """Return a log of duels or of rankings, and what was said; the error where it is refused."""
    from bayesduel.data.read.duels import read_duels
    from bayesduel.data.read.rankings import rankings_in
    from bayesduel.system.arguments import command_line

    said = StringIO()
    with redirect_stderr(said), command_line():  # the advice of a file is that of a command
        try:
            log = None if options else rankings_in(path)
            return log or read_duels(path, **options), said.getvalue()
        except ValueError as error:
            return error, said.getvalue()


def agree(found: Points, right: Points) -> bool:
    """Return whether points are the same."""
    pairs = {*found, *right}
    return all(abs(found.get(pair, 0.0) - right.get(pair, 0.0)) < 1e-6 for pair in pairs)


def best(points: Points) -> str:
    """Return the arm with the largest share of its points."""
    arms = sorted({arm for arm, _ in points})
    won = {a: sum(n for (x, _), n in points.items() if x == a) for a in arms}
    lost = {a: sum(n for (_, y), n in points.items() if y == a) for a in arms}
    first = max(arms, key=lambda arm: won[arm] / (won[arm] + lost[arm]))
    return f"{first} {won[first] / (won[first] + lost[first]):.3f}"


def answer(path: Path, file: File) -> dict[str, str]:
    """Return the row of a file: how it was read, its best arm beside the right one."""
    log, said = read(path, {})
    how = "read"
    if file.options:
        message = f"{log}{said}"
        helps = re.search(file.advice, message)
        refused = isinstance(log, ValueError)
        how = "asked" if refused else "read, advised" if helps else "read"
        how += "" if helps else ", no advice"
        log, _ = read(file.rewritten(path), file.options)
    right = file.right(path)
    found: Points = {} if isinstance(log, ValueError) else points_of(log)
    return {
        "file": path.name,
        "how": how,
        "advice": file.advice.replace("\\", ""),
        "best": best(found) if found else f"refused: {log}",
        "right": best(right),
        "points": "right" if agree(found, right) else "WRONG",
    }


def run(folder: Path) -> list[dict[str, str]]:
    """Return a row for each file."""
    return [answer(folder / name, file) for name, file in FILES.items()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    show("Files that people bring", run(parser.parse_args().folder))
