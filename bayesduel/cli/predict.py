"""``bayesduel predict``: the outcome of duels under a saved fit."""

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli.console import print_json, remark, show
from bayesduel.cli.earlier_options import renamed_flag
from bayesduel.cli.options import (
    ci_prob_option,
    is_saved,
    json_option,
    own_term_option,
    raw_option,
    table_option,
)
from bayesduel.cli.write import check_csv, check_table, write_table

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["command"]


@click.command("predict", short_help="Predict the outcome of duels by a saved fit.")
@click.argument("fit", type=click.Path(path_type=Path))
@click.argument("left", required=False)
@click.argument("right", required=False)
@click.option(
    "--pairs",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of duels with the columns left and right, or those of the log. Columns of "
    "conditions are read too. It is read as a log is.",
)
@click.option(
    "--side-advantage/--neutral",
    default=None,
    help="Give LEFT the side advantage, or none.  [default: give it where --pairs has the log's "
    "own side columns, such as home and away]",
)
@renamed_flag("--left-advantage", "--side-advantage")
@click.option(
    "--given",
    metavar="NAME=VALUE",
    multiple=True,
    help="Condition of the duels, by the name of its column: judge=ann, time=2024-05-01, "
    "length=0.5, prompt=p1; judge=none is no judge of the fit. Repeat the option for more.  "
    "[default: neutral]",
)
@click.option(
    "--family",
    metavar="ARM=FAMILY",
    multiple=True,
    help="Family of a new arm, for a fit with --family. Arms of the fit's table need no option. "
    "Repeat it for more arms.",
)
@own_term_option
@ci_prob_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: one row per duel, not rounded.")
@raw_option
@table_option
def command(
    fit: Path,
    left: str | None,
    right: str | None,
    pairs: Path | None,
    side_advantage: bool | None,
    given: tuple[str, ...],
    family: tuple[str, ...],
    ci_prob: float,
    as_json: bool,
    as_csv: bool,
    raw: bool,
    output: Path | None,
) -> None:
    """Predict the outcome of LEFT against RIGHT (or of many --pairs) by a fit that `fit` saved.

    `predict fit.nc coming.csv` is the same as `predict fit.nc --pairs coming.csv`.
    A side of several arms is written as in its log ("ann, bob"), or as "ann + bob".
    """
    import pandas as pd

    from bayesduel.posterior.conditions import duels_in_file
    from bayesduel.posterior.load import load
    from bayesduel.posterior.predict import notes, predict, win_words
    from bayesduel.text import csv_text

    check_table(output)
    check_csv(as_json, as_csv, raw, output)
    if not is_saved(fit):
        raise click.UsageError(f"FIT should be a file that `bayesduel fit` saved, got {fit}")
    if pairs is None and left is not None and right is None and Path(left).is_file():
        pairs = Path(left)
        left = None
    if (pairs is None) == (left is None) or (left is None) != (right is None):
        raise click.UsageError(
            "give LEFT and RIGHT, or a file of duels"
            if pairs is None
            else "give LEFT and RIGHT or --pairs, not both"
        )
    one = pd.DataFrame({"left": [left], "right": [right]}, dtype=object)
    saved = load(fit)
    duels = one if pairs is None else duels_in_file(pairs, saved)
    conditions: dict[str, Any] = {**_by_name(given, "--given", "NAME=VALUE")}
    for name in conditions:
        if name in duels:
            raise click.UsageError(f"--given {name} should not be a column of the duels")
        if name in signature(predict).parameters:
            raise click.UsageError(f"--given {name} should be a condition, not an option")
    if pairs is None:
        side_advantage = bool(side_advantage)
    asked: Any = {"ci_prob": ci_prob, "side_advantage": side_advantage, **conditions}
    if family:
        asked["family"] = _by_name(family, "--family", "ARM=FAMILY")
    for name in _new_levels(saved, conditions):
        asked[name] = conditions[name] = None
    found = predict(saved, duels, **asked)
    for name, value in conditions.items():
        duels[name] = value
    table = duels.assign(**{str(name): found[name].to_numpy() for name in found.data_vars})
    everything = {**found.attrs, "duels": table.to_dict("records")}
    text = csv_text(table.columns, table.itertuples(index=False), raw=raw)
    write_table(output, lambda: text, lambda: everything)
    told = [words for words in notes(found) if words != found.attrs.get("unknown")]  # warned of
    if as_json:
        print_json(everything)
    elif as_csv:
        click.echo(text, nl=False)
    else:
        shown = table.drop(columns=list(conditions))
        level = f"{100 * ci_prob:g} %"
        show(_blocks(shown, f"{win_words(found)}. {level} intervals.", told))
        return
    for words in told:
        remark(words)


def _new_levels(fit: "xr.DataTree", conditions: Mapping[str, Any]) -> list[str]:
    """Return the conditions that are said to be none, of which no level has that name."""
    from bayesduel.posterior.duels_to_predict import condition_names

    roles = condition_names(fit)
    levels = fit["posterior"].coords
    found = []
    for name, value in conditions.items():
        role = roles.get(name, name)
        if value.casefold() == "none" and role in levels:
            found += [] if value in levels[role].to_numpy().astype(str) else [name]
    return found


def _by_name(texts: tuple[str, ...], option: str, form: str) -> dict[str, str]:
    """Return what an option says by name; raise click.UsageError where a text has another form."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value) or name in found:
            raise click.UsageError(f"{option} should be {form}, each name once, got {text!r}")
        found[name] = value
    return found


def _blocks(table: "pd.DataFrame", words: str, notes: list[str]) -> Any:
    """Yield the predictions, as they are printed, with what `win` is."""
    from bayesduel.reporting.predict import predictions_table
    from bayesduel.reporting.section import Text

    yield predictions_table(table)
    yield Text(" ".join([words, *notes]), "small")
