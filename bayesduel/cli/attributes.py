"""``bayesduel attributes``: what makes items win, from a log and a table of items."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli.options import METHODS, check_folder, log_argument, read_log, reading_options

if TYPE_CHECKING:
    from bayesduel.data.items import Items
    from bayesduel.reporting.attributes import AttributeAnalysis

__all__ = ["command"]


@click.command("attributes", short_help="Say which attributes of items win in LOG.")
@log_argument
@click.option(
    "--items",
    metavar="TABLE",
    help="File of the items' attributes, one row an item.  [default: those of a shipped LOG]",
)
@click.option(
    "--item", metavar="COLUMN", default="item", show_default=True, help="Column of the labels."
)
@click.option("--leave-out", metavar="A,B", help="Columns of the table not to take.")
@click.option("--predict", metavar="TABLE", help="File of new items, to be predicted.")
@click.option("--order-effect", is_flag=True, help="Let the left side have an advantage.")
@click.option("--judge-effect", is_flag=True, help="Let judges want different things.")
@click.option(
    "--no-item-effect", is_flag=True, help="Take the attributes to tell everything of an item."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="HTML file to write.")
@reading_options
@click.option(
    "--scale",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="Prior deviation of a standardised coefficient; inf: maximum likelihood.",
)
@click.option(
    "--sparsity",
    type=click.FloatRange(min=0, min_open=True),
    metavar="NUMBER",
    help="How many of many attributes are thought to count: a horseshoe prior.",
)
@click.option(
    "--method", type=click.Choice(METHODS), default=METHODS[0], show_default=True,
    help="How the posterior is found; auto takes Laplace where it is certified.",
)  # fmt: skip
@click.option("--draws", type=click.IntRange(min=1), help="Posterior draws.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed."
)
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="What intervals hold.",
)
@click.pass_obj
def command(argv: list[str], log: str, **options: Any) -> None:
    """Say which attributes of items win in LOG, and how surely.

    The table of items has one row an item: its label, numbers, and words (levels told against
    the most frequent one).
    """
    import shlex

    from bayesduel.cli.console import print_json, remark, steps
    from bayesduel.models import BradleyTerry, Covariates, JudgeTastes, OrderEffect
    from bayesduel.reporting.attributes import analyse_attributes, write_page

    output = options["output"]
    if output is not None:
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
    if options["order_effect"]:
        model = OrderEffect(model, prior=float("inf") if model.flat else 1.0)
    if options["judge_effect"]:
        model = JudgeTastes(model)
    duels = read_log(log, options)[None]
    with steps() as step:
        a = analyse_attributes(
            duels,
            model,
            new=options["predict"],
            check=output is not None,
            step=step,
            **{name: options[name] for name in ("method", "draws", "seed", "confidence")},
        )
        if output is not None:
            step("drawing")
            write_page(a, output, command=shlex.join(["bayesduel", *argv]))
    if options["as_json"]:
        print_json(_told(a))
    else:
        _show(a)
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


def _told(a: "AttributeAnalysis") -> dict[str, Any]:
    """Return what JSON tells."""
    told = {
        "sentence": a.sentence,
        "prob": a.table.attrs["ci_prob"],
        "errors": a.table.attrs["covariance"],
        "method": a.fit.attrs["method"],
        "method_reason": a.fit.attrs["method_reason"],
        "khat": a.fit.attrs["khat"],
        "share_told_by_attributes": a.told,
        "coefficients": a.table.reset_index().to_dict("records"),
    }
    if a.new is not None:
        told["new_items"] = a.new.reset_index().to_dict("records")
    return told


def _show(a: "AttributeAnalysis") -> None:
    from rich.table import Table

    from bayesduel.cli.console import out
    from bayesduel.reporting.attribute_rows import spread_words
    from bayesduel.text import number_with_interval, percent, rounded

    console = out()
    console.print(a.sentence, style="bold")
    console.print(a.told_words)
    if a.errors_words:
        console.print(a.errors_words)
    console.print()
    level = f"{100 * a.table.attrs['ci_prob']:g} %"
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("attribute")
    for name in (f"log odds a unit [{level}]", "odds ratio", "win rate", "Pr(> 0)"):
        table.add_column(name, justify="right", no_wrap=True)
    if "judge_spread" in a.table:
        table.add_column("judges +-", justify="right", no_wrap=True)
    for name, row in a.table.iterrows():
        ends = ("", "_lower", "_upper")
        odds = rounded(*(row[f"odds_ratio{end}"] for end in ends))[0]
        change = rounded(*(100 * row[f"change{end}"] for end in ends))[0]
        coefficient = number_with_interval(row["coefficient"], row["lower"], row["upper"])
        cells = [str(name), coefficient, odds, change, f"{percent(row['positive'])} %"]
        if "judge_spread" in a.table:
            cells.append(spread_words(row))
        table.add_row(*cells)
    console.print(table)
    levels = a.table[a.table["level"] != ""]
    references = dict(zip(levels["column"], levels["reference"], strict=True))
    against = "".join(f"; {c} against {r}" for c, r in references.items())
    apart = "; judges +-: how far judges differ, log odds a unit" * ("judge_spread" in a.table)
    console.print(
        "\none unit more, all else equal; win rate: points in a hundred from one half, against an "
        f"otherwise equal item{against}{apart}",
        style="dim",
    )
    if a.new is not None:
        console.print()
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("new item")
        for name in (f"win rate [{level}]", "better than all", "extrapolated"):
            table.add_column(name, justify="right", no_wrap=True)
        for name, row in a.new.iterrows():
            table.add_row(
                str(name),
                f"{100 * row['win_rate']:.0f} % [{100 * row['win_rate_lower']:.0f}, "
                f"{100 * row['win_rate_upper']:.0f}]",
                f"{percent(row['beats_best'])} %",
                f"{int(row['outside'])}" if row["outside"] else "",
            )
        console.print(table)
