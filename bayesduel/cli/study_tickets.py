"""What the commands of ``bayesduel study`` share, and those about single tickets and arms."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from bayesduel.cli.console import print_json
from bayesduel.cli.options import json_option

if TYPE_CHECKING:
    from bayesduel.study.study import Study
    from bayesduel.study.tickets import Ticket


__all__ = [
    "COMMANDS",
    "Place",
    "by_option",
    "json_option",
    "of_study",
    "opened",
    "outcome_of",
    "outcome_words",
    "say",
    "study_argument",
]

COMMANDS: list[click.Command] = []  # of ``bayesduel study``
WITH_OUTCOME = ("tell", "correct", "add")  # which may be a negative margin, and no option
by_option = click.option("--by", help="Name of the person who does it, for the audit trail.")
because_option = click.option("--because", required=True, help="Reason, kept in the audit trail.")


class Place(NamedTuple):
    """Where a study is: a file or a database URL, and its name where there are several."""

    path: str
    name: str | None

    def __str__(self) -> str:
        from bayesduel.study.database import masked

        return masked(self.path)


def study_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument STUDY and the option --name, which arrive as one ``study``."""

    @click.argument("study", metavar="STUDY")
    @click.option("--name", help="Name of the study, where the database holds several.")
    @wraps(function)
    def found(study: str, name: str | None, **given: Any) -> Any:
        return function(study=Place(study, name), **given)

    return found


def of_study(name: str, first: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Make a command of a function of the study that returns what is printed: JSON and text.

    `first` gets the options before the study is opened, which changes its file.
    """

    def made(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def command(study: Place, as_json: bool, **given: Any) -> None:
            if first is not None:
                first(given)
            say(as_json, *function(opened(study), **given))

        settings = {"ignore_unknown_options": name in WITH_OUTCOME}
        made = click.command(name, context_settings=settings)
        COMMANDS.append(made(study_argument(json_option(command))))
        return function

    return made


def opened(study: Place) -> Any:
    """Return the study of a place; raise ValueError where there is no file."""
    from bayesduel.study.study import Study

    _check_there(study)
    return Study(study.path, name=study.name)


def _check_there(study: Place) -> None:
    if "://" not in study.path and not Path(study.path).exists():
        raise ValueError(f"{study} should be a study, made by `bayesduel study new`; got no file")


def outcome_of(study: "Study", text: str) -> Any:
    """Return an outcome: a margin if the study asks for these and it is a number, else as it is."""
    if study.kind != "margin":
        return text
    try:
        return float(text)
    except ValueError:
        return text


def outcome_words(ticket: "Ticket") -> str:
    """Return the outcome of a ticket as it is stored, with the arm that it is for."""
    side = str(ticket.outcome).partition(" ")[0]
    arm = {"left": ticket.left, "right": ticket.right}.get(side)
    return str(ticket.outcome) if arm is None else f"{ticket.outcome} ({arm})"


def say(as_json: bool, data: Any, text: str) -> None:
    """Print data as JSON, or a text."""
    if as_json:
        print_json(data)
    else:
        click.echo(text)


@of_study("skip")
@click.argument("ticket")
@click.option("--judge", help="Name of the person who skips; by default the ticket's judge.")
def skip(study: "Study", ticket: str, judge: str | None) -> tuple[Any, str]:
    """Give a TICKET back without an answer; its judge is not asked the same again."""
    study.skip(ticket, judge=judge)
    return _done(study.ticket(ticket), "is skipped.")


@of_study("cancel")
@click.argument("ticket")
@by_option
def cancel(study: "Study", ticket: str, by: str | None) -> tuple[Any, str]:
    """Withdraw a TICKET that has no answer."""
    study.cancel(ticket, by=by)
    return _done(study.ticket(ticket), "is cancelled.")


@of_study("reissue")
@click.argument("ticket")
@click.option("--judge", help="Name of the new judge; by default the same judge as before.")
@by_option
def reissue(study: "Study", ticket: str, judge: str | None, by: str | None) -> tuple[Any, str]:
    """Open a TICKET again that expired, was skipped or cancelled, or is with another judge."""
    return _done(study.reissue(ticket, judge, by=by), "is open again.")


@of_study("undo")
@click.option("--judge", help="Judge whose last answer is taken back.")
def undo(study: "Study", judge: str | None) -> tuple[Any, str]:
    """Take back the last answer, or skip, of a judge; the ticket is open again."""
    return _done(study.undo(judge), "is open again.")


@of_study("add")
@click.argument("left")
@click.argument("right")
@click.argument("outcome")
@click.option("--judge", help="Name of the judge.")
@click.option("--item", help="Item of the duel, in a study with items.")
def add(
    study: "Study", left: str, right: str, outcome: str, **given: str | None
) -> tuple[Any, str]:
    """Store a duel of LEFT and RIGHT that the study did not ask for, with its OUTCOME.

    OUTCOME is left, right, tie or the name of the better arm.
    """
    ticket = study.add(left, right, outcome_of(study, outcome), **given)
    return _done(ticket, f"is stored: {outcome_words(ticket)}.")


def _done(ticket: "Ticket", what: str) -> tuple[Any, str]:
    return ticket.to_dict(), f"{ticket.id} {what}"


@of_study("tickets")
@click.option("--judge", help="Show only the tickets of this judge.")
def tickets(study: "Study", judge: str | None) -> tuple[Any, str]:
    """List the tickets that wait for an outcome, expired ones last."""
    late = [t for t in study.expired() if judge in (None, t.judge)]
    rows = [*study.pending(judge), *late]
    lines = [
        f"{t.id}: left {t.left}, right {t.right}"
        f"{'' if t.judge is None else f', judge {t.judge}'}, {t.state}"
        for t in rows
    ]
    none = "No ticket waits for an outcome."
    return [ticket.to_dict() for ticket in rows], "\n".join(lines) or none


@of_study("judges")
def judges(study: "Study") -> tuple[Any, str]:
    """List the judges: answers, how many of them were right, times and costs.

    Shares have a 95 % interval. A judge is too fast if an answer takes less than a third of the
    time of the median judge. A judge is too slow if an answer takes more than three times this
    time. Both times are medians.
    """
    rows = study.judges()
    lines = []
    for row in rows:
        said = [f"{row['told']:,} answered", f"{row['skipped']:,} skipped"]
        for part, of, words in (
            ("gold_right", "gold", "gold questions right"),
            ("agreed", "shared", "as other judges"),
            ("consistent", "repeated", "as before"),
        ):
            if row[of]:
                low, high = row[f"{part.removesuffix('_right')}_interval"]
                said.append(f"{row[part]:,} of {row[of]:,} {words} ({low:.2f} to {high:.2f})")
        if row["training"]:
            said.append(f"{row['training_right']:,} of {row['training']:,} right in training")
        if row["seconds"] is not None:
            speed = ", too fast" * row["too_fast"] + ", too slow" * row["too_slow"]
            said.append(f"{row['seconds']:.3g} s an answer{speed}")
        said += [f"{row['corrected']:,} corrected"] * bool(row["corrected"])
        said += [f"cost {row['cost']:,.6g}"] * bool(row["cost"])
        said += ["fails the gold questions"] * row["fails"]
        if row["excluded"] is not None:
            said.append(f"excluded: {row['excluded'].rstrip('.')}")
        lines.append(f"{row['judge']}: {', '.join(said)}.")
    return rows, "\n".join(lines) or "No judge was asked by name yet."


@of_study("exclude")
@click.argument("judge")
@because_option
@by_option
def exclude(study: "Study", judge: str, because: str, by: str | None) -> tuple[Any, str]:
    """Exclude a JUDGE: stored answers no longer count, and the judge is not asked again."""
    study.exclude_judge(judge, because, by=by)
    return _judge_set(study, judge, "is excluded")


@of_study("include")
@click.argument("judge")
@because_option
@by_option
def include(study: "Study", judge: str, because: str, by: str | None) -> tuple[Any, str]:
    """Let the answers of an excluded JUDGE count again."""
    study.include_judge(judge, because, by=by)
    return _judge_set(study, judge, "counts again")


def _judge_set(study: "Study", judge: str, what: str) -> tuple[Any, str]:
    from bayesduel.text import count

    data = {"judge": judge, "excluded": study.excluded.get(judge), "duels": study.n_duels}
    return data, f"{judge} {what}. The study now has {count(study.n_duels, 'duel')}."


@of_study("arms")
@click.option("--add", multiple=True, metavar="ARM", help="Add arms, separated by commas.")
@click.option("--retire", multiple=True, metavar="ARM", help="Stop asking for an arm.")
@click.option("--restore", multiple=True, metavar="ARM", help="Ask for a retired arm again.")
@by_option
def arms(
    study: Any,
    add: tuple[str, ...],
    retire: tuple[str, ...],
    restore: tuple[str, ...],
    by: str | None,
) -> tuple[Any, str]:
    """List the arms; add, retire or restore some."""
    new = [label.strip() for part in add for label in part.split(",")]
    changes: dict[Any, Any] = {
        study.add_arms: new,
        study.retire_arms: retire,
        study.restore_arms: restore,
    }
    for change, labels in changes.items():
        if labels:
            change(labels, by=by)
    retired = {study.arms[k] for k in study.retired}
    rows = [{"arm": arm, "retired": arm in retired} for arm in study.arms]
    return rows, "\n".join(f"{r['arm']}{' (retired)' * r['retired']}" for r in rows)


@click.command("list")
@click.argument("study")
@json_option
def list_(study: str, as_json: bool) -> None:
    """List the names of the studies of a file or a database."""
    from bayesduel.study.study import studies

    _check_there(Place(study, None))
    names = studies(study)
    say(as_json, list(names), "\n".join(names))


COMMANDS.append(list_)


@of_study("end")
@click.option("--reason", default="", help="Reason, kept in the audit trail; `status` says it.")
@by_option
def end(study: Any, reason: str, by: str | None) -> tuple[Any, str]:
    """End STUDY: no further question is asked, until `resume`.

    Nothing is lost. Open tickets can still be told, and their answers count.
    """
    from bayesduel.text import count

    study.end(reason, by=by)
    waiting = len(study.pending())
    lines = [study.ended.sentence, f"It has {count(study.n_duels, 'duel')}."]
    if waiting:
        lines.append(f"Open tickets: {waiting:,}. Their answers still count.")
    lines.append(f"To resume it: bayesduel study resume {study.store.url}")
    data = {"ended": study.ended, "duels": study.n_duels, "open": waiting}
    return data, "\n".join(lines)


@of_study("resume")
@click.option("--reason", default="", help="Reason, kept in the audit trail.")
@by_option
def resume(study: "Study", reason: str, by: str | None) -> tuple[Any, str]:
    """Resume STUDY after `end`: questions are asked again."""
    study.resume(reason, by=by)
    text = f"The study is resumed. Next: bayesduel study ask {study.store.url}"
    if study.stopped:
        text = f"The study is resumed. It asks nothing: {study.status(check=False).reason}."
    return {"ended": None, "stopped": study.stopped, "duels": study.n_duels}, text
