"""Other packages beside bayesduel: the numbers on the pages of ``docs/coming_from``.

A page has the code of the other package, which leaves its numbers in `theirs`, and cells of
bayesduel, which leave them in `ours`. Both are run as they stand on the page, on shipped logs, and
the table of both is written under them. What is not installed keeps the table that it has.

Run: python -m benchmarks.coming_from --python PYTHON, the interpreter of an environment with

    pip install choix evalica arena-rank trueskill

R with BradleyTerry2 is found as ``Rscript``. bpcs is not run: its page cites what it prints.
"""

import argparse
import io
import re
import shutil
import subprocess
import tempfile
from datetime import date
from pathlib import Path

import pandas as pd

from bayesduel.data import datasets

PAGES = Path(__file__).parents[1] / "docs" / "coming_from"
LOGS = Path(datasets.__file__).parent
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", flags=re.M | re.S)
TABLE = re.compile(r"(?<=<!-- numbers -->\n).*?(?=<!-- end of numbers -->)", flags=re.S)
# Of each page: the distribution of the other package.
PACKAGES = {
    "choix": "choix",
    "evalica": "evalica",
    "arena_rank": "arena-rank",
    "bradleyterry2": "BradleyTerry2",
    "bpcs": "bpcs",
    "trueskill": "trueskill",
}


def block(text: str, language: str) -> str:
    """Return the first block of a language on a page."""
    found = re.search(rf"^```{language}\n(.*?)^```$", text, flags=re.M | re.S)
    if found is None:
        raise ValueError(f"the page should have a block of {language}")
    return found.group(1)


def ours(text: str) -> pd.Series:
    """Return `ours` of a page, once the cell that makes it has run."""
    names: dict[str, pd.Series] = {}
    for code in CELL.findall(text):
        exec(compile(code, "coming_from", "exec"), names)
        if "ours" in names:
            return names["ours"]
    raise ValueError("a cell of the page should make `ours`")


def of_python(code: str, package: str, python: str) -> tuple[pd.Series, str]:
    """Return `theirs` of a block of Python, and the version of the package."""
    shown = "\nfrom importlib.metadata import version\n"
    shown += f"print(version({package!r}))\nprint(theirs.to_csv(header=False))"
    return _printed([python, "-c", code + shown])


def of_r(code: str, package: str, rscript: str) -> tuple[pd.Series, str]:
    """Return `theirs` of a block of R, and the version of the package."""
    shown = f'\ncat(as.character(packageVersion("{package}")), "\\n")\n'
    shown += 'write.table(theirs, sep = ",", col.names = FALSE)'
    return _printed([rscript, "-e", code + shown])


def cited(text: str) -> pd.Series:
    """Return the numbers of a block of text: two names and how often the first beats the second."""
    rows = [line.split() for line in block(text, "text").splitlines()]
    return pd.Series({f"{first} beats {second}": float(wins) for first, second, wins in rows})


def table(theirs: pd.Series, ours: pd.Series, package: str, source: str) -> str:
    """Return both in Markdown, with the largest difference under them."""
    beside = pd.DataFrame({package: theirs, "bayesduel": ours})
    lines = [f"| | {package} | bayesduel |", "|---|---:|---:|"]
    lines += [
        f"| {name} | {row.iloc[0]:.4f} | {row.iloc[1]:.4f} |" for name, row in beside.iterrows()
    ]
    difference = float((theirs - ours).abs().max())
    lines.append(f"\nThe largest difference is {difference:.2g}. {source}\n")
    return "\n".join(lines)


def beside(page: Path, python: str | None, rscript: str | None) -> str | None:
    """Return the table of a page, or None where the other package cannot be run here."""
    text = page.read_text(encoding="utf-8")
    package = PACKAGES[page.stem]
    if package == "bpcs":
        return table(cited(text), ours(text), package, "bpcs was not run here.")
    if "```r\n" in text:
        if rscript is None:
            return None
        theirs, version = of_r(block(text, "r"), package, rscript)
    else:
        if python is None:
            return None
        theirs, version = of_python(block(text, "python"), package, python)
    source = f"{package} {version}, run on {date.today().isoformat()}."
    return table(theirs, ours(text), package, source)


def main() -> None:
    """Write the tables of all pages whose packages are there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", help="interpreter with the Python packages")
    parser.add_argument("--rscript", default=shutil.which("Rscript"), help="default: Rscript")
    options = parser.parse_args()
    for name in PACKAGES:
        page = PAGES / f"{name}.md"
        written = beside(page, options.python, options.rscript)
        print(f"{name}: {'not run, its table stays' if written is None else written}")
        if written is not None:
            text = page.read_text(encoding="utf-8")
            start, end = TABLE.search(text).span()
            page.write_text(text[:start] + written + text[end:], encoding="utf-8")


def _printed(command: list[str]) -> tuple[pd.Series, str]:
    """Return the numbers that a program prints under its version, where the shipped logs are."""
    with tempfile.TemporaryDirectory() as folder:
        for log in LOGS.glob("*.csv"):
            shutil.copy(log, folder)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()}")
    version, _, numbers = done.stdout.partition("\n")
    frame = pd.read_csv(io.StringIO(numbers), header=None, index_col=0)
    return frame.iloc[:, 0], version.strip()


if __name__ == "__main__":
    main()
