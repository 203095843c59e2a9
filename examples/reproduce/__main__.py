"""Every headline run again and the table of its claims: ``python examples/reproduce``.

``--quick`` takes the small sizes, under 15 minutes on two cores, and prints the table. The full
form writes docs/validation/papers.md and its figures; so does ``--quick`` with ``--page`` and that
path. A headline that was not run in this form stays on the page as it was.
"""

import argparse
import importlib
import json
import sys
from pathlib import Path

from PIL import Image

HEADLINES = ("copeland_dueling_bandits", "copeland_many_arms", "savage", "sup_klucb")
HEADLINES += ("sup_klucb_games", "two_phase", "ml_pocbam", "ml_pocbam_poker", "since_2021")
ROOT = Path(__file__).parents[2]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("reproduced"), help="folder of traces")
    parser.add_argument("--only", nargs="+", choices=HEADLINES, default=HEADLINES)
    parser.add_argument("--page", type=Path, help="where to write the page, its figures beside it")
    parser.add_argument("--only-collect", action="store_true", help="run nothing")
    given = parser.parse_args(arguments)
    options = ["--workers", str(given.workers), "--out", str(given.out)]
    options += ["--quick"] if given.quick else []
    if not given.only_collect:
        for name in given.only:
            importlib.import_module(name).main(options)
    folder = given.out / ("quick" if given.quick else "full")
    place = folder if given.quick else ROOT / "docs" / "validation"
    page = given.page or place / "papers.md"
    text = collected(folder, page.read_text() if page.exists() else "")
    for name in HEADLINES:
        if (folder / name / "figure.png").exists():
            picture = Image.open(folder / name / "figure.png").convert("RGB")
            picture.save(page.with_name(f"papers_{name}.png"), optimize=True)
    page.write_text(text)
    print(text if given.quick and given.page is None else f"wrote {page}")


def collected(folder, before=""):
    """Return the page of all headlines; those that were not run are taken from the page before."""
    lines = [HEAD.strip(), ""]
    sections = {part.partition("\n")[0]: part for part in before.split("\n## ")[1:]}
    for name in HEADLINES:
        path = folder / name / "rows.json"
        script = importlib.import_module(name)
        title, *text = script.__doc__.strip().split("\n\n")
        if not path.exists():
            kept = sections.get(title.rstrip("."))
            lines += [
                f"## {kept.rstrip()}" if kept else f"## {title.rstrip('.')}\n\nNot run here yet."
            ]
            lines += [""]
            continue
        told = json.loads(path.read_text())
        sizes = ", ".join(f"{key} {value:,}" for key, value in told["sizes"].items())
        lines += [f"## {title.rstrip('.')}", "", *"\n\n".join(text[:-1]).splitlines(), ""]
        form = "full" if told["sizes"] == script.FULL else "smaller than the full form's"
        lines += [f"Sizes ({form}): {sizes} (`examples/reproduce/{name}.py`).", ""]
        lines += [f"![{title.rstrip('.')}](papers_{name}.png)", ""]
        lines += ["| claim | source | what was run | what came out | verdict |"]
        lines += ["| --- | --- | --- | --- | --- |"]
        keys = ("claim", "source", "run", "outcome", "verdict")
        lines += [f"| {' | '.join(row[key] for key in keys)} |" for row in told["rows"]]
        lines += [""]
    return "\n".join(lines)


HEAD = """
# The papers, run again

Made by `make reproduce`. The claims are those of the papers as far as they can be checked without
their unpublished matrices; "ours" marks a comparison that no paper makes. Claims, seeds and sizes
stand in the scripts and were fixed before a run, but for the rows on how often SAVAGE's sampled
test is right: they were added after its first figure was seen. Two sizes were enlarged after a
smaller run had been seen: many arms from T = 100,000 and at most 4 runs to 10 runs of T = 1,000,000
(50 arms) and 5,000,000 (500), and Sup-KLUCB at 20 and 36 arms from 16 and 6 runs to 100, the
number in the paper; games of Sup-KLUCB had 2 runs before they had the paper's 25, the poker-like
populations 100 before the paper's 500. T of 500 arms was made smaller for lack of time (10,000,000
was meant), before its result was seen.
Doubler, MultiSBM and Sparring are in none of the figures that we know of: the papers cite them, or
are older. What the visualisation in appendix B.7 of the paper on SAVAGE shows is in no text that we
found; the figure of SAVAGE below, all runs' duels until the answer and regret, stands in its place.
Regret is Copeland regret, `max c - (c_a + c_b) / 2` a duel, unless said. What came out: both means,
and the median ratio of two runs with the same problem and outcomes, with its 95 % interval, which
holds whatever the law of the runs is. A claim "holds" where the interval is below 1 and "does not
hold" where it is above; fewer than ten runs have no verdict. So a verdict is about most runs: where
rare runs decide the mean, the means may say the opposite. Exponents are medians over runs, too.
Means have no interval: ten runs do not know them ([coverage](arena.md#intervals-of-ten-runs)).
Rows without an interval were run before and are not run again yet: "lower mean" and "higher mean"
compare the two means alone, "inside" and "outside" look at the value alone. Rows with the same
problem and number of runs share their runs, and are no independent confirmations. Verdicts are not
corrected for their number: of true ties one in twenty is decided by chance.
"""


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
