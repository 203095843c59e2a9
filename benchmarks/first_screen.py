"""What an analyst sees first: small logs, each with one trait, and what the package says of them.

Run with ``python -m benchmarks.first_screen`` (some minutes), or with numbers of cases. Each case
makes a log in a temporary folder, runs a command on it and prints the sentences that the trait
decides. Nothing is asserted here: the tests beside each part of the package do.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill, indent

import click
import numpy as np
import polars as pl

SEED = 14
CASES: dict[str, Callable[[], None]] = {}


def case(title: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Return a decorator that keeps a case under its title."""

    def keep(function: Callable[[], None]) -> Callable[[], None]:
        CASES[title] = function
        return function

    return keep


def write_log(path: str, rows: Iterable[Sequence[object]], columns: str) -> None:
    """Write a CSV file of rows whose columns are named in `columns`, separated by spaces."""
    names = columns.split()
    pl.DataFrame(list(rows), schema=names, orient="row").write_csv(path)


def drawn(
    P: np.ndarray, n_duels: int, rng: np.random.Generator, left: Sequence[int] | None = None
) -> list[tuple[str, str, str]]:
    """Return duels of every pair, sides in turn, with outcomes drawn from P."""
    rows = []
    for i, j in zip(*np.triu_indices(len(P), 1), strict=True):
        for k in range(n_duels):
            a, b = (i, j) if k % 2 == 0 else (j, i)
            rows.append(
                (f"arm{a:02d}", f"arm{b:02d}", "left" if rng.random() < P[a, b] else "right")
            )
    return rows


def run(*words: str, lines: Sequence[str] = (), limit: int = 12) -> str:
    """Run a command of bayesduel and print it; return what it printed.

    Parameters
    ----------
    *words
        The command.
    lines
        Texts: only lines that hold one of them are printed; by default the first ones.
    limit
        How many lines are printed.
    """
    print("  $ bayesduel " + " ".join(w if " " not in w else f'"{w}"' for w in words))
    done = subprocess.run(
        [sys.executable, "-m", "bayesduel", *words], capture_output=True, text=True, check=False
    )
    found = (done.stdout + done.stderr).splitlines()
    kept = [line for line in found if not lines or any(text in line for text in lines)]
    print(indent("\n".join(kept[:limit]), "    "))
    return done.stdout


def shown(path: str, section: str, sentences: Sequence[str] = ()) -> None:
    """Print the text of a section of a page, or its sentences that hold one of some texts."""
    html = Path(path).read_text(encoding="utf-8")
    found = re.search(rf'<section id="{section}".*?</section>', html, flags=re.S)
    if found is None:
        print(f"    no section {section}")
        return
    plain = re.sub(r"<(style|script|svg|table)\b.*?</\1>", " ", found[0], flags=re.S)
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", plain)).split())
    if sentences:
        split = re.split(r"(?<=[.!?]) (?=[A-Z])", text)
        text = " ".join(s for s in split if any(t in s for t in sentences))
    print(fill(text[:900], 96, initial_indent="    ", subsequent_indent="    "))


def cyclic(n_arms: int, edge: float) -> np.ndarray:
    """Return preferences in which each arm beats the next half of the circle with 0.5 + edge."""
    step = (np.arange(n_arms) - np.arange(n_arms)[:, None]) % n_arms
    ahead = (step > 0) & (step <= (n_arms - 1) // 2)
    behind = step > n_arms // 2
    return 0.5 + edge * (ahead.astype(float) - behind)


def ranked(n_arms: int, spread: float) -> np.ndarray:
    """Return Bradley-Terry preferences of evenly spaced scores."""
    score = np.linspace(spread, -spread, n_arms)
    return 1 / (1 + np.exp(score - score[:, None]))


@case("1. The headline follows the check: 5 arms in a circle; 71 arms with one")
def headline() -> None:
    """Five arms that beat one another in a circle, then 71 arms of which each beats the next."""
    rng = np.random.default_rng(SEED)
    write_log("circle.csv", drawn(cyclic(5, 0.25), 80, rng), "left right outcome")
    run("report", "circle.csv", "-o", "circle.html", limit=1)
    shown("circle.html", "verdict")
    said = json.loads(run("winners", "circle.csv", "--check", "--json", limit=0))
    print("    check in the JSON:", json.dumps(said["check"], indent=None))
    said = json.loads(run("winners", "circle.csv", "--json", limit=0))
    print("    check in the JSON, where it was not asked for:", said["check"])
    write_log("wide.csv", drawn(cyclic(71, 0.25), 20, rng), "left right outcome")
    run("winners", "wide.csv", "--check", limit=8)


@case("2. Ties in words: 38 of 120 duels of a pair are ties")
def ties() -> None:
    """Three arms; of 120 duels of each pair 54 are won, 28 lost and 38 tied."""
    rows = []
    for a, b in (("a", "b"), ("b", "c"), ("a", "c")):
        rows += [(a, b, "left")] * 54 + [(a, b, "right")] * 28 + [(a, b, "tie")] * 38
    write_log("ties.csv", rows, "left right outcome")
    run("report", "ties.csv", "-o", "ties.html", limit=1)
    shown("ties.html", "verdict")


@case("3. One verdict: report and check on the same log and seed")
def one_verdict() -> None:
    """Six arms, a weak cycle among three of them."""
    rng = np.random.default_rng(SEED + 3)
    P = ranked(6, 1.0)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        P[i, j], P[j, i] = 0.62, 0.38
    write_log("near.csv", drawn(P, 30, rng), "left right outcome")
    run("check", "near.csv", "-o", "check.html", lines=("ranking", "evidence", "p-value"), limit=4)
    run("report", "near.csv", "-o", "near.html", limit=1)
    said = ("p-value", "evidence", "p =")
    for page in ("check.html", "near.html"):
        shown(page, "transitivity", said)


@case("4. The likeliest cycle: two that are alike, then one that is ahead")
def likeliest_cycle() -> None:
    """Two circles of three arms; then one of the two with fewer duels."""
    rng = np.random.default_rng(SEED)
    P = np.full((6, 6), 0.9)
    P[3:, :3] = 0.1
    P[:3, :3] = P[3:, 3:] = cyclic(3, 0.3)
    rows = drawn(P, 60, rng)
    write_log("two.csv", rows, "left right outcome")
    run("check", "two.csv", "--quick", "-o", "two.html", lines=("ycle",), limit=6)
    P[3:, 3:] = ranked(3, 0.3)
    write_log("one.csv", drawn(P, 60, rng), "left right outcome")
    run("check", "one.csv", "--quick", "-o", "one.html", lines=("ycle",), limit=6)


@case("5. Power: what a transitive log could have shown")
def power() -> None:
    """Six ranked arms with 10 and with 100 duels a pair."""
    rng = np.random.default_rng(SEED)
    for n_duels in (10, 100):
        write_log("power.csv", drawn(ranked(6, 1.0), n_duels, rng), "left right outcome")
        run("check", "power.csv", limit=6)


@case("6. Tiers at 100 arms: all pairs met five times")
def tiers() -> None:
    """Rank a hundred arms with scores from N(0, 1.5)."""
    rng = np.random.default_rng(SEED)
    score = -np.sort(-rng.normal(0, 1.5, 100))
    P = 1 / (1 + np.exp(score - score[:, None]))
    write_log("hundred.csv", drawn(P, 5, rng), "left right outcome")
    said = json.loads(run("winners", "hundred.csv", "--json", limit=0))
    table = pl.DataFrame(said["ranking"])
    sizes = table["tier"].value_counts().sort("tier")
    print("    arms by tier:", dict(sizes.iter_rows()))
    print("    error of each border, at most:", max(said["tier_errors"]))
    true = np.array([int(name[3:]) + 1 for name in table["arm"]])
    inside = (table["rank_joint_lower"].to_numpy() <= true) & (
        true <= table["rank_joint_upper"].to_numpy()
    )
    width = (table["rank_joint_upper"] - table["rank_joint_lower"]).median()
    print(f"    rank ranges: median width {width}, {inside.sum()} of 100 hold the true rank")


@case("7. Names: nan, NA, null, None, 1.0 and 1 in columns of text")
def names() -> None:
    """Arms whose names other programs take for missing values."""
    labels = ["tea", "nan", "NA", "null", "None", "1.0", "1"]
    rows = [(a, b, "left") for a in labels for b in labels if a != b]
    write_log("names.csv", rows, "left right outcome")
    run("winners", "names.csv", limit=12)
    run("health", "names.csv", "--missing", "NA", "--on-bad", "skip", limit=6)


@case("8. Thresholds: six repeats in 300,000 votes; a log listed in one orientation")
def thresholds() -> None:
    """Votes by judges, six of them twice; then a log whose left side is always the earlier name."""
    rng = np.random.default_rng(SEED)
    n = 300_000
    P = ranked(20, 1.0)
    left, right = rng.integers(20, size=(2, n))
    right = np.where(left == right, (right + 1) % 20, right)
    won = rng.random(n) < P[left, right]
    frame = pl.DataFrame(
        {
            "left": [f"arm{a:02d}" for a in left],
            "right": [f"arm{b:02d}" for b in right],
            "outcome": np.where(won, "left", "right"),
            "judge": [f"j{k}" for k in range(n)],
        }
    )
    again = pl.concat([frame, frame.head(6)])
    again.write_csv("repeats.csv")
    run("health", "repeats.csv", limit=20)
    rows = [(min(a, b), max(a, b), "left" if (o == "left") == (a < b) else "right")
            for a, b, o in drawn(ranked(8, 1.0), 20, rng)]  # fmt: skip
    write_log("oriented.csv", rows, "left right outcome")
    run("health", "oriented.csv", limit=12)


@case("9. Custom models: a layer of the user's own file")
def custom() -> None:
    """Run the page docs/how_to/custom_models.md."""
    page = Path(__file__).parents[1] / "docs" / "how_to" / "custom_models.md"
    layer, *use = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.S)
    Path("travel.py").write_text(layer, encoding="utf-8")
    Path("use.py").write_text("\n".join(use), encoding="utf-8")
    done = subprocess.run([sys.executable, "use.py"], capture_output=True, text=True, check=False)
    print(f"  $ python use.py   # the {len(use)} other blocks of docs/how_to/custom_models.md")
    print(indent(done.stdout + done.stderr, "    "))
    shown("travel.html", "verdict")


@case("10. ArviZ's habits: summary, plot_ppc_dist, plot_loo_pit, to_dataframe")
def arviz_habits() -> None:
    """Use a fit as ArviZ's own functions do."""
    import arviz as az
    import matplotlib as mpl

    import bayesduel as bd

    mpl.use("agg")
    fit = bd.fit(bd.datasets.load("springall"))
    summary = az.summary(fit)
    print("  >>> az.summary(fit)")
    print(f"    {len(summary)} rows, {int(summary.isna().any(axis=1).sum())} of them with NaN")
    with_draws = bd.posterior_predictive(fit)
    print("  >>> bd.posterior_predictive(fit); az.plot_ppc_dist; az.plot_loo_pit")
    print("    groups:", ", ".join(sorted(with_draws.children)))
    for name in ("plot_ppc_dist", "plot_loo_pit"):
        print(f"    {name}:", type(getattr(az, name)(with_draws)).__name__)
    print("  >>> bd.winners(fit).to_dataframe().head(3)")
    print(indent(str(bd.winners(fit).to_dataframe().head(3)), "    "))


@case("11. repr of every public object is at most a screen; many kinds of input are read")
def inputs() -> None:
    """Read logs in the shapes in which people have them, and print objects."""
    import bayesduel as bd

    shapes = {
        "tuples": [("a", "b", "left"), ("b", "c", "left"), ("a", "c", "right")],
        "dictionaries": [{"winner": "a", "loser": "b"}, {"winner": "b", "loser": "c"}],
        "wins_a, wins_b": pl.DataFrame(
            {"a": ["x", "y"], "b": ["y", "z"], "wins_a": [3, 1], "wins_b": [2, 4]}
        ),
        "chosen, rejected": pl.DataFrame({"chosen": ["x", "y"], "rejected": ["y", "z"]}),
    }
    for name, shape in shapes.items():
        duels = bd.read_duels(shape)
        print(f"    {name}: {len(duels)} duels, {len(duels.arms)} arms")
    Path("wins.csv").write_text(",a,b,c\na,0,3,1\nb,2,0,4\nc,5,1,0\n", encoding="utf-8")
    duels = bd.read_duels("wins.csv")
    print(f"    square matrix of wins: {len(duels)} duels, {len(duels.arms)} arms")
    for k, part in enumerate(("a,b,left", "b,c,left")):
        Path(f"part{k}.csv").write_text(f"left,right,outcome\n{part}\n", encoding="utf-8")
    print(f"    two files: {len(bd.read_duels('part*.csv'))} duels")
    duels = bd.read_duels("hundred.csv") if Path("hundred.csv").exists() else duels
    fit = bd.fit(duels)
    for thing in (duels, fit, bd.winners(fit), bd.check(duels, quick=True), bd.health(duels)):
        lines = repr(thing).splitlines()
        size = f"{len(lines)} lines, {max(map(len, lines))} columns"
        print(f"    repr of {type(thing).__name__}: {size}")


@click.command()
@click.argument("numbers", nargs=-1, type=int)
def main(numbers: tuple[int, ...]) -> None:
    """Run the cases NUMBERS, all by default."""
    import os

    with TemporaryDirectory() as folder:
        os.chdir(folder)
        for title, function in CASES.items():
            if not numbers or int(title.split(".")[0]) in numbers:
                print(f"\n{title}")
                function()
        os.chdir("/")


if __name__ == "__main__":
    main()
