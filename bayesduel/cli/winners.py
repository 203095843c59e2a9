"""``bayesduel winners``: the winners of a log, in the terminal or as JSON."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli import options as shared
from bayesduel.cli.console import alone, tell, working
from bayesduel.cli.write import check_csv, check_table, write_table

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.posterior.winners import Winners
    from bayesduel.reporting.section import Block

__all__ = ["command"]

COLUMNS = ("place", "arm", "best", "joint ranks", "score", "tier", "rating", "group")


@click.command("winners", short_help="Show the winners of LOG, with uncertainty.")
@shared.log_argument
@shared.json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: one row per arm, with scores.")
@shared.raw_option
@shared.table_option
@shared.noun_option
@shared.anchor_option
@click.option(
    "--covariance",
    default="auto",
    help="Which votes may depend on each other: those of one judge, group, judge and group; "
    "model (no votes); or auto.",
)
@click.option(
    "--check",
    "checks",
    is_flag=True,
    help="Test whether a ranking holds, as `report` does. If it does not, print first what "
    "holds without a ranking.",
)
@shared.reading_options
@shared.fitting_options
@shared.estimand_options
@shared.judging_options
def command(
    log: str,
    as_json: bool,
    as_csv: bool,
    raw: bool,
    output: Path | None,
    covariance: str,
    checks: bool,
    **options: Any,
) -> None:
    """Show the winners of LOG (or of a fit.nc that `bayesduel fit` saved), with uncertainty."""
    from bayesduel.posterior.scores import scores
    from bayesduel.posterior.winners import winners

    check_table(output)
    check_csv(as_json, as_csv, raw, output)
    anchor = shared.anchor_of(options.pop("anchor"))
    noun = options.pop("noun")
    results: dict[str | None, Winners] = {}
    rated: dict[str | None, pd.DataFrame | None] = {}
    logs: list[Any] = []  # none of a saved fit
    fits = shared.fits_of(log, options, logs.append)
    for (label, fit), duels in zip(fits.items(), logs or [None], strict=True):
        check = None
        if checks:
            from bayesduel.criticism.check import check as check_log
            from bayesduel.posterior.update import log_of

            with working("checking transitivity"):
                own = log_of(fit) if duels is None else duels
                check = check_log(own, quick=True, seed=options["seed"])
        with working("computing winners"):
            results[label] = winners(
                fit,
                rope=options["rope"],
                confidence=options["confidence"],
                covariance=covariance,
                check=check,
                noun=noun,
            )
            rated[label] = None
            if results[label].attrs["ranked_by"] == "score":
                level = {"ci_prob": options["confidence"], "covariance": covariance}
                rated[label] = scores(fit, **anchor, **level)
    both = {label: (result, rated[label]) for label, result in results.items()}
    table = partial(_csv, results, rated, raw)
    write_table(
        output, table, lambda: alone({label: _summary(*one) for label, one in both.items()})
    )
    if as_csv:
        click.echo(table(), nl=False)
    else:
        tell(both, as_json, lambda one: _blocks(*one), lambda one: _summary(*one))


def _csv(
    results: "Mapping[str | None, Winners]",
    rated: "Mapping[str | None, pd.DataFrame | None]",
    raw: bool,
) -> str:
    """Return the ranking of every log with its scores as CSV, numbers not rounded."""
    import pandas as pd

    from bayesduel.text import csv_text

    parts = []
    for label, result in results.items():
        frame = result.table()
        frame.insert(0, "rank", range(1, len(frame) + 1))
        table = rated[label]
        frame = frame if table is None else frame.join(table)
        if label is not None:
            frame = pd.concat({label: frame}, names=["log"])
        parts.append(frame)
    table = pd.concat(parts).reset_index()
    return csv_text(table.columns, table.itertuples(index=False), raw=raw)


def _summary(result: "Winners", rated: "pd.DataFrame | None") -> dict[str, Any]:
    """Return what is known of a log for JSON, with its table of scores where it has one."""
    scores = None
    if rated is not None:
        scores = {**rated.attrs, "arms": rated.reset_index().to_dict("records")}
    return result.summary() | {"scores": scores}


def _blocks(result: "Winners", rated: "pd.DataFrame | None") -> "Iterator[Block]":
    """Yield the verdict and the ranking, as they are printed."""
    from bayesduel.posterior.scores import scores_words
    from bayesduel.posterior.verdict import across_words
    from bayesduel.posterior.winners_record import check_words
    from bayesduel.reporting.ranking import order_words
    from bayesduel.reporting.ranking_table import columns_of, rank_range_words, ranking_table
    from bayesduel.reporting.section import Text, Verdict
    from bayesduel.text import SCREEN, an, plural

    noun = result.attrs["noun"]
    further = [result.attrs.get(name, "") for name in ("verdict_reason", "ranking_verdict")]
    further.append("" if result.groups() is None else across_words(noun))
    text = tuple(words for words in further if words)
    yield Verdict(headline=result.attrs["verdict"], text=text)
    yield Text("")
    known = columns_of(result, rated, noun)
    known["place"] = known["place"]._replace(head="")
    shown = [known[name] for name in COLUMNS if name in known]
    yield ranking_table(result, shown, SCREEN.lines, ruled=False)
    frame = result.table()
    halves = "; a tie counts half" if result.attrs["tie_share"] else ""
    if len(frame) > SCREEN.lines:
        yield Text(f"... and {len(frame) - SCREEN.lines} more: --json has all")
    yield Text(f"Model: {result.attrs['model_words']}.", "small")
    yield Text(f"{result.attrs['dependence']} {result.attrs['controls']}".rstrip(), "small")
    yield Text(
        f"\nbest: probability of winning most pairings (Copeland). {rank_range_words(noun)} A "
        f"rank interval, as in a report, is of one {noun}, without the other {plural(noun)} "
        f"(pointwise). Win rate: against {an(noun)} drawn at random{halves}. "
        f"{check_words(result)}{order_words(frame['win_rate'].to_numpy(), noun)}",
        "small",
    )
    if rated is not None:
        yield Text(scores_words(rated.attrs, noun), "small")
