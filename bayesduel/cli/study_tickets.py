"""What the commands of ``bayesduel study`` share, and those about single tickets and arms."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

__all__ = ["COMMANDS", "Place", "json_option", "opened", "outcome_of", "say", "study_argument"]

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
by_option = click.option("--by", help="Who does it, kept in the audit trail.")


class Place(NamedTuple):
    """Where a study is: a file or a database URL, and its name where there are several."""

    path: str
    name: str | None

    def __str__(self) -> str:
        return self.path


def study_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument STUDY and the option --name, which arrive as one ``study``."""

    @click.argument("study", metavar="STUDY")
    @click.option("--name", help="Name of the study, where the database holds several.")
    @wraps(function)
    def found(study: str, name: str | None, **given: Any) -> Any:
        return function(study=Place(study, name), **given)

    return found


def opened(study: Place) -> Any:
    """Return the study of a place; raise ValueError where there is no file."""
    from bayesduel.study.study import Study

    _check_there(study.path)
    return Study(study.path, name=study.name)


def _check_there(path: str) -> None:
    if "://" not in path and not Path(path).exists():
        raise ValueError(f"{path} should be a study, made by `bayesduel study new`; got no file")


def outcome_of(text: str) -> Any:
    """Return an outcome: a margin if it is a number, else as it is."""
    try:
        return float(text)
    except ValueError:
        return text


def say(as_json: bool, data: Any, text: str) -> None:
    """Print data as JSON, or a text."""
    from bayesduel.cli.console import print_json

    if as_json:
        print_json(data)
    else:
        click.echo(text)


def _say(ticket: Any, done: str, as_json: bool) -> None:
    say(as_json, ticket.to_dict(), f"{ticket.id} {done}")


@click.command("skip")
@study_argument
@click.argument("ticket")
@click.option("--judge", help="Who skips; by default the ticket's judge.")
@json_option
def skip(study: Place, ticket: str, judge: str | None, as_json: bool) -> None:
    """Give a TICKET back without an answer; its judge is not asked the same again."""
    found = opened(study)
    found.skip(ticket, judge=judge)
    _say(found.ticket(ticket), "is skipped.", as_json)


@click.command("cancel")
@study_argument
@click.argument("ticket")
@by_option
@json_option
def cancel(study: Place, ticket: str, by: str | None, as_json: bool) -> None:
    """Withdraw a TICKET that has no answer."""
    found = opened(study)
    found.cancel(ticket, by=by)
    _say(found.ticket(ticket), "is cancelled.", as_json)


@click.command("reissue")
@study_argument
@click.argument("ticket")
@click.option("--judge", help="Who is to judge from now on; by default who was.")
@by_option
@json_option
def reissue(study: Place, ticket: str, judge: str | None, by: str | None, as_json: bool) -> None:
    """Open a TICKET again that expired, was skipped or cancelled, or is with another judge."""
    _say(opened(study).reissue(ticket, judge, by=by), "is open again.", as_json)


@click.command("undo")
@study_argument
@click.option("--judge", required=True, help="Whose last answer is taken back.")
@json_option
def undo(study: Place, judge: str, as_json: bool) -> None:
    """Take back the last answer, or skip, of a judge; the ticket is open again."""
    _say(opened(study).undo(judge), "is open again.", as_json)


@click.command("add")
@study_argument
@click.argument("left")
@click.argument("right")
@click.argument("outcome")
@click.option("--judge", help="Who judged.")
@click.option("--item", help="On which item, in a study with items.")
@json_option
def add(
    study: Place,
    left: str,
    right: str,
    outcome: str,
    judge: str | None,
    item: str | None,
    as_json: bool,
) -> None:
    """Store a duel of LEFT and RIGHT that the study did not ask for, with its OUTCOME."""
    made = opened(study).add(left, right, outcome_of(outcome), judge=judge, item=item)
    _say(made, f"is stored: {outcome}.", as_json)


@click.command("tickets")
@study_argument
@click.option("--judge", help="Those of this judge alone.")
@json_option
def tickets(study: Place, judge: str | None, as_json: bool) -> None:
    """List the tickets that wait for an outcome, expired ones last."""
    found = opened(study)
    late = [t for t in found.expired() if judge in (None, t.judge)]
    rows = [*found.pending(judge), *late]
    lines = [
        f"{t.id}: left {t.left}, right {t.right}"
        f"{'' if t.judge is None else f', judge {t.judge}'}, {t.state}"
        for t in rows
    ]
    none = "No ticket waits for an outcome."
    say(as_json, [ticket.to_dict() for ticket in rows], "\n".join(lines) or none)


@click.command("judges")
@study_argument
@json_option
def judges(study: Place, as_json: bool) -> None:
    """Say of each judge what was answered, how often right where it is known, and the costs."""
    rows = opened(study).judges()
    lines = []
    for row in rows:
        said = [f"{row['told']:,} answered", f"{row['skipped']:,} skipped"]
        for part, of, words in (
            ("gold_right", "gold", "gold questions right"),
            ("agreed", "shared", "as other judges"),
            ("consistent", "repeated", "as before"),
        ):
            if row[of]:
                said.append(f"{row[part]:,} of {row[of]:,} {words}")
        said += [f"{row['corrected']:,} corrected"] * bool(row["corrected"])
        said += [f"cost {row['cost']:,.6g}"] * bool(row["cost"])
        said += ["fails the gold questions"] * row["fails"]
        lines.append(f"{row['judge']}: {', '.join(said)}.")
    say(as_json, rows, "\n".join(lines) or "No judge was asked by name yet.")


@click.command("arms")
@study_argument
@click.option("--add", multiple=True, metavar="ARM", help="Add an arm; again for each.")
@click.option("--retire", multiple=True, metavar="ARM", help="Ask for an arm no more.")
@click.option("--restore", multiple=True, metavar="ARM", help="Take a retired arm back.")
@json_option
def arms(
    study: Place,
    add: tuple[str, ...],
    retire: tuple[str, ...],
    restore: tuple[str, ...],
    as_json: bool,
) -> None:
    """List the arms; add, retire or restore some."""
    found = opened(study)
    for change, labels in (
        (found.add_arms, add),
        (found.retire_arms, retire),
        (found.restore_arms, restore),
    ):
        if labels:
            change(labels)
    retired = {found.arms[k] for k in found.retired}
    rows = [{"arm": arm, "retired": arm in retired} for arm in found.arms]
    say(as_json, rows, "\n".join(f"{r['arm']}{' (retired)' * r['retired']}" for r in rows))


@click.command("list")
@click.argument("study")
@json_option
def list_(study: str, as_json: bool) -> None:
    """List the names of the studies of a file or a database."""
    from bayesduel.study.study import studies

    _check_there(study)
    names = studies(study)
    say(as_json, list(names), "\n".join(names))


COMMANDS = (skip, cancel, reissue, undo, add, tickets, judges, arms, list_)
