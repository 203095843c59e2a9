"""``bayesduel check``: does a ranking explain LOG, and which model to believe."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli.options import check_folder, log_argument, read_log, reading_options

if TYPE_CHECKING:
    from bayesduel.criticism.check import Check

__all__ = ["command"]


@click.command("check", short_help="Ask whether a ranking explains LOG, and where it fails.")
@log_argument
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write a page, one HTML file."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--models",
    metavar="NAMES",
    help="Models to compare, with commas, layers around them in brackets: "
    "bradley-terry,order-effect(blade-chest(bradley-terry)).  [default: by what is found]",
)
@click.option("--quick", is_flag=True, help="Compare no models, draw fewer logs.")
@click.option("--title", help="Heading of the page.  [default: where the log came from]")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed."
)
@reading_options
@click.pass_obj
def command(
    argv: list[str],
    log: str,
    output: Path | None,
    as_json: bool,
    models: str | None,
    quick: bool,
    title: str | None,
    seed: int,
    **options: Any,
) -> None:
    """Ask whether a ranking explains LOG, where it fails, and which model predicts best.

    "transitive" is false in the JSON only where evidence at the 5 % level contradicts it.
    """
    import shlex

    from bayesduel.cli.console import print_json, remark, steps
    from bayesduel.criticism.check import check
    from bayesduel.reporting.check import page

    if output is not None:
        check_folder(output)
    compared = None if models is None else _models(models)
    found: dict[str | None, Check] = {}
    with steps() as step:
        for label, duels in read_log(log, options).items():

            def named(name: str, label: str | None = label) -> None:
                step(name if label is None else f"{label}: {name}")

            def share(done: float, named: Any = named) -> None:
                named(f"comparing models, {100 * done:.0f} %")

            found[label] = check(
                duels, compared, quick=quick, seed=seed, step=named, progress=share
            )
        if output is not None:
            step("drawing")
            output.write_text(
                page(found, title, shlex.join(["bayesduel", *argv])), encoding="utf-8"
            )
    if output is not None:
        remark(f"wrote {output}")
    if as_json:
        plain = {label: one.to_dict() for label, one in found.items()}
        print_json(plain[None] if None in plain else plain)
        return
    for label, one in found.items():
        _show(label, one)


def _models(names: str) -> "list[Any]":
    from bayesduel.models import named

    try:
        return [named(name.strip()) for name in names.split(",")]
    except ValueError as error:
        raise click.UsageError(f"--models: {error}") from error


def _show(label: str | None, check: "Check") -> None:
    from bayesduel.cli.console import out

    console = out()
    if label is not None:
        console.rule(label, align="left", style="dim")
    first, *rest = check.sentences
    console.print(first, style="bold")
    for words in rest:
        console.print(f"\n{words}")
    if check.cycles and not check.transitive:
        console.print("\nLikeliest cycles:", style="bold")
        for cycle in check.cycles[:5]:
            console.print(f"- {cycle.around}: {cycle.probability:.2f}")
