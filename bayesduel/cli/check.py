"""``bayesduel check``: is LOG transitive, and which model predicts best."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli import options as shared
from bayesduel.cli.console import alone, remark, steps, tell
from bayesduel.cli.report import shown_command
from bayesduel.cli.write import check_folder
from bayesduel.system.options import Decision

if TYPE_CHECKING:
    from bayesduel.criticism.check_result import Check

__all__ = ["command"]


@click.command("check", short_help="Test whether LOG is transitive, and compare models.")
@shared.log_argument
@shared.page_option
@shared.json_option
@click.option(
    "--models",
    metavar="NAMES",
    help="Models to compare, separated by commas, with terms after a plus: "
    "'bradley-terry, bradley-terry + cycles + order'.  [default: by what is found]",
)
@click.option(
    "--unit",
    metavar="COLUMN",
    default="pair",
    help="What the comparison leaves out, one at a time: pair, duel, judge, group, category, time "
    "(ten periods) or another column.",
)
@click.option("--quick", is_flag=True, help="Compare no models; the test is the same.")
@click.option(
    "--side-advantage/--no-side-advantage",
    default=True,
    show_default=False,
    help="Estimate a side advantage, or none, where sides carry no meaning.  [default: estimate "
    "it]",
)
@shared.old_side_advantage_options
@shared.option_of(Decision, "material")
@click.option("--title", help="Heading of the HTML file.  [default: the log's name]")
@shared.seed_option
@shared.term_option()
@shared.prior_option
@shared.family_option
@shared.reading_options
@click.pass_obj
def command(
    argv: list[str],
    /,
    log: str,
    output: Path | None,
    as_json: bool,
    models: str | None,
    unit: str,
    quick: bool,
    side_advantage: bool,
    material: float,
    title: str | None,
    seed: int,
    **options: Any,
) -> None:
    """Test whether LOG is transitive, show where it is not, and compare models.

    The answer leads with how much is in no ranking: "cyclic_share" in the JSON, the part of the
    squared log odds that no scores explain. "transitive" is true where there is one ranking, or no
    cycle that matters, with a probability of 0.95 or more; false where there is such a cycle; and
    null where the log cannot tell.
    """
    from bayesduel.criticism.check import check
    from bayesduel.reporting.report import report, sections

    check_folder(output)
    options["side_advantage"] = None if side_advantage else False
    compared: Any = None if models is None else _models(models)
    asked = {name: options[name] for name in ("term", "prior", "family") if options[name]}
    if asked and compared is None:
        compared = _without_and_with(asked)
    elif asked:
        compared = [shared.with_terms(m, asked, f"the model {m.name}") for m in compared]
    if unit not in ("pair", "duel", "judge", "group", "time"):
        options["kept_for"] = {unit: "--unit"}
    found: dict[str | None, Check] = {}
    with steps() as step:
        for label, duels in shared.read_log(log, options).items():

            def named(name: str, label: str | None = label) -> None:
                step(name if label is None else f"{label}: {name}")

            def share(done: float, named: Any = named) -> None:
                named(f"comparing models, {100 * done:.0f} %")

            found[label] = check(
                duels,
                compared,
                quick=quick,
                unit=unit,
                side_advantage=side_advantage,
                material=material,
                seed=seed,
                step=named,
                progress=share,
            )
        if output is not None:
            shown = shown_command(argv)
            report(alone(found), output, title=title, command=shown, step=step)
    if output is not None:
        remark(f"wrote {output}")
    tell(found, as_json, lambda one: (s for s in sections(one) if s.id != "reproduce"))


def _without_and_with(asked: dict[str, Any]) -> dict[str, Any]:
    """Return Bradley-Terry without and with the terms, priors and families of options, by name.

    Priors and families are in no model's name: the options that ask for them are then.
    """
    from bayesduel.models import BradleyTerry
    from bayesduel.text import join

    plain = BradleyTerry()
    whole = shared.with_terms(plain, asked, f"the model {plain.name}")
    words = join([f"--{name}" for name in asked])
    name = f"{plain.name} with {words}" if whole.name == plain.name else whole.name
    return {plain.name: plain, name: whole}


def _models(names: str) -> list[Any]:
    from bayesduel.models import named

    try:
        return [named(name.strip()) for name in names.split(",")]
    except ValueError as error:
        raise click.UsageError(f"--models: {error}") from error
