"""``bayesduel attributes``: effects of the items' attributes, from a log and a table of items."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli import options as shared
from bayesduel.cli.console import print_json, remark, show, steps
from bayesduel.cli.report import shown_command
from bayesduel.cli.write import check_folder

if TYPE_CHECKING:
    from bayesduel.data.items import Items
    from bayesduel.reporting.attributes import AttributeAnalysis

__all__ = ["command"]

SHOWN = ("verdict", "coefficients", "new")  # sections that are printed


@click.command("attributes", short_help="Estimate the effects of items' attributes in LOG.")
@shared.log_argument
@click.option(
    "--items",
    metavar="TABLE",
    help="File of the items' attributes, one row per item.  [default: the file of a shipped LOG]",
)
@click.option("--item", metavar="COLUMN", help="Column of the labels.  [default: found]")
@click.option("--leave-out", metavar="A,B", help="Columns of the table to leave out.")
@click.option("--predict", metavar="TABLE", help="File of new items to predict.")
@click.option("--judge-effect", is_flag=True, help="Give each judge coefficients of their own.")
@click.option(
    "--no-item-effect", is_flag=True, help="Include no effects of items beyond their attributes."
)
@shared.json_option
@shared.page_option
@shared.reading_options
@click.option(
    "--scale",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    help="Prior deviation of a standardised coefficient; inf: maximum likelihood.",
)
@click.option(
    "--sparsity",
    type=click.FloatRange(min=0, min_open=True),
    metavar="NUMBER",
    help="Expected number of attributes with an effect: a horseshoe prior.",
)
@shared.sampling_options
@shared.term_option("tastes, ")
@shared.prior_option
@shared.ci_prob_option
@click.pass_obj
def command(argv: list[str], /, log: str, **options: Any) -> None:
    """Estimate the effects of items' attributes on winning in LOG, with uncertainty.

    The table of items has one row per item: its label, numbers, and words (levels of a
    categorical attribute, compared with the most frequent one).
    """
    from bayesduel.models import BradleyTerry, Covariates, JudgeTastes, SideAdvantage
    from bayesduel.reporting.attributes import analyse_attributes
    from bayesduel.reporting.report import report, sections

    output = options["output"]
    check_folder(output)
    if options.get("by") is not None:
        raise click.UsageError("attributes takes one log at a time: leave out --by")
    items = _items(log, options)
    model: Any = BradleyTerry(
        Covariates(
            items,
            scale=options["scale"],
            item_effect=not options["no_item_effect"],
            sparsity=options["sparsity"],
        )
    )
    if options["side_advantage"]:
        model = model + SideAdvantage(prior=float("inf") if model.terms.flat else 1.0)
    if options["judge_effect"]:
        model = model + JudgeTastes()
    model = shared.with_terms(model, options | {"side_advantage": None}, "attributes")
    duels = shared.read_log(log, options)[None]
    with steps() as step:
        a = analyse_attributes(
            duels,
            model,
            new=options["predict"],
            check=output is not None,
            step=step,
            **{name: options[name] for name in ("method", "draws", "seed", "ci_prob")},
        )
        if output is not None:
            report(a, output, command=shown_command(argv), step=step)
    if options["as_json"]:
        print_json(_json(a))
    else:
        show(s for s in sections(a) if s.id in SHOWN)
    if output is not None:
        remark(f"wrote {output}")


def _items(log: str, options: dict[str, Any]) -> "Items":
    """Return the items of the table that was named, or of the shipped log."""
    from bayesduel.data import datasets
    from bayesduel.data.read.items import read_items

    out = [name for name in (options["leave_out"] or "").split(",") if name]
    if options["items"] is not None:
        return read_items(options["items"], item=options["item"], leave_out=out)
    if log not in datasets.names() or Path(log).exists():
        raise click.UsageError("--items should name the file of the items' attributes")
    return datasets.items(log, leave_out=out)


def _json(a: "AttributeAnalysis") -> dict[str, Any]:
    """Return the content of the JSON output."""
    content = {
        "sentence": a.sentence,
        "ci_prob": a.table.attrs["ci_prob"],
        "covariance": a.table.attrs["covariance"],
        "method": a.fit.attrs["method"],
        "method_reason": a.fit.attrs["method_reason"],
        "khat": a.fit.attrs["khat"],
        "explained_share": a.explained,
        "coefficients": a.table.rename_axis("attribute").reset_index().to_dict("records"),
    }
    if a.new is not None:
        content["new_items"] = a.new.reset_index().to_dict("records")
    return content
