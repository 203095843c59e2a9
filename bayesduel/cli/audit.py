"""``bayesduel audit``: how few votes or judges decide who leads, and whose votes are improbable."""

from typing import Any

import click

from bayesduel.cli import options as shared
from bayesduel.cli.console import steps, tell
from bayesduel.cli.reading import names_of
from bayesduel.system.options import Decision

__all__ = ["command"]

NOT_KEPT = ("vote", "judge", "group", "category", "pair", "time")


@click.command("audit", short_help="Show how few votes or judges of LOG decide who leads.")
@shared.log_argument
@shared.json_option
@click.option(
    "--change",
    metavar="A,B,...",
    help="What to leave out or reverse: vote, judge, group, pair, time (ten periods) or another "
    "column.  [default: vote, and judge where LOG has judges]",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=1,
    help="Size of the top set that should stand; 1 is the leader.",
)
@click.option("--pair", metavar="A,B", help="Two arms whose order should stand, instead.")
@click.option(
    "--variants",
    metavar="NAME=A,B,...",
    multiple=True,
    help="A family of variants of which the best was chosen; again for each.",
)
@shared.option_of(Decision, "share")
@shared.reading_options
@shared.fitting_options
@shared.estimand_options
def command(
    log: str,
    as_json: bool,
    change: str | None,
    top: int,
    pair: str | None,
    variants: tuple[str, ...],
    share: float,
    **options: Any,
) -> None:
    """Show how few votes or judges of LOG would have to be left out for another leader.

    Also whose votes are improbable given all others', how much of the lead of the best of several
    variants is selection, and how often an early look would have announced another leader. LOG may
    be a fit.nc, of which votes alone are known.
    """
    from bayesduel.criticism.audit import audit
    from bayesduel.reporting.audit import audit_section

    given: dict[str, Any] = {"k": top, "share": share}
    given |= {"pair": names_of(pair)} if pair is not None else {}
    given |= {"variants": _families(variants)} if variants else {}
    if change is not None:
        given["by"] = names_of(change)
        kept = [name for name in given["by"] if name not in NOT_KEPT]
        options["kept_for"] = dict.fromkeys(kept, "--change")
    logs: list[Any] = []  # none of a saved fit
    fits = shared.fits_of(log, options, logs.append)
    found = {}
    with steps() as step:
        for (label, fit), duels in zip(fits.items(), logs or [None], strict=True):
            found[label] = audit(fit, duels, seed=options["seed"], step=step, **given)
    tell(found, as_json, lambda one: [audit_section(one)])


def _families(variants: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the arms of each family that ``--variants NAME=A,B`` names."""
    found = {}
    for text in variants:
        family, equals, arms = text.partition("=")
        if not equals:
            raise click.UsageError(f"--variants should be NAME=A,B, got {text!r}")
        found[family] = names_of(arms)
    return found
