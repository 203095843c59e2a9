"""``bayesduel study``: a live study from the command line."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli import options as shared
from bayesduel.cli import serve, study_judge
from bayesduel.cli.command_group import GivenOnce
from bayesduel.cli.console import working
from bayesduel.cli.earlier_options import renamed_option
from bayesduel.cli.options import with_terms
from bayesduel.cli.study_tickets import (
    COMMANDS,
    Place,
    json_option,
    of_study,
    opened,
    outcome_of,
    outcome_words,
    say,
    study_argument,
)
from bayesduel.cli.write import check_folder, check_not_input, check_picture
from bayesduel.system.atomic_write import write_text
from bayesduel.system.options import Decision, Fitting, StudyDecision

if TYPE_CHECKING:
    from bayesduel.study.study import Study


__all__ = ["command"]

FOLDERS = ("label-studio", "argilla")
FORMATS = ("csv", "parquet", *FOLDERS)
JUDGING = ("quota", "gold_share", "on_fail", "overlap", "repeats")
# How an answer is confirmed, as --json names it: its option, and the doubt of the stop rule.
CONFIRMED = "confirmed"
IN_DOUBT = "confirmed_in_doubt"
NOT_CONFIRMED = "not_confirmed"
CONFIRMING: dict[str, tuple[str, float]] = {
    CONFIRMED: ("--confirm", 1.0),
    IN_DOUBT: ("--confirm-in-doubt", 0.5),
    NOT_CONFIRMED: ("--no-confirm", 0.0),
}
# What each way asks for, as the line of expected duels says it.
CHECKED = {
    CONFIRMED: "every pair of the answer is asked directly",
    IN_DOUBT: "only pairs in doubt are asked directly",
    NOT_CONFIRMED: "the answer follows from the scores alone",
}
ASKING = ("grades", "slider", "both_bad", "criteria", "decides", "reasons", "comment")


@click.group(
    "study", cls=GivenOnce, short_help="Ask for the next pair, tell the outcome, stop with enough."
)
def command() -> None:
    """Run a live study: ask for the next pair, tell the outcome, stop with enough.

    STUDY is a file (made by `new`) or a database URL.
    """


@command.command("new")
@study_argument
@click.option("--arms", help="Labels, separated by commas.")
@click.option(
    "--arms-file",
    type=click.Path(dir_okay=False),
    help="File with one label per line, or a CSV file with the column arm, such as that of "
    "`serve --content`.",
)
@click.option(
    "--goal",
    default="find-best",
    help="find-best, top-K (such as top-3), full-ranking, or minimize-regret, which needs "
    "--budget to end.",
)
@click.option(
    "--items-file",
    type=click.Path(dir_okay=False),
    help="File with one item (prompt) per line, or a CSV file with the column item. Each ticket "
    "names one item.",
)
@click.option(
    "--model", default="bradley-terry", help="Name of a model, such as bradley-terry or davidson."
)
@shared.term_option(own=False)
@shared.prior_option
@shared.family_option
@click.option(
    "--policy", default="auto", help="auto, or a policy with its settings, such as DTS()."
)
@shared.option_of(
    StudyDecision, "confidence", help="Stop when the answer is right with this probability."
)
@renamed_option("--probability", "--confidence")
@click.option(
    "--confirm",
    flag_value=CONFIRMED,
    help="Before the study stops, confirm the answer by duels of its own pairs. This is the "
    "default for the best arm, where all pairs are allowed.",
)
@click.option(
    "--confirm-in-doubt",
    "confirm",
    flag_value=IN_DOUBT,
    help="Confirm a pair of the answer only where it may not follow the scores.",
)
@click.option(
    "--no-confirm",
    "confirm",
    flag_value=NOT_CONFIRMED,
    help="Do not confirm the answer by duels of its own pairs: trust the scores.",
)
@shared.option_of(StudyDecision, "rope")
@click.option(
    "--budget",
    type=int,
    help="Largest number of duels. With --source only those of the target count.",
)
@click.option(
    "--pairs",
    type=click.Path(dir_okay=False, path_type=Path),
    help="CSV file of the allowed pairs, with the columns left and right. Columns cost and "
    "required may follow; required is the least number of duels before the study may stop.",
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    help="Source of votes and the cost of a vote, NAME=COST. Repeat the option per source. It "
    "needs a term such as --term sources:source=people.",
)
@click.option(
    "--grades",
    type=int,
    help="Number of grades of better, 1 to 4. With 2 the answers are: left much better, left "
    "better, tie, right better, right much better.",
)
@click.option("--slider", is_flag=True, help="Show the grades as a slider on the page.")
@click.option(
    "--both-bad", is_flag=True, help="Offer the answer 'both are bad', separate from a tie."
)
@click.option(
    "--criterion",
    "criteria",
    multiple=True,
    help="Criterion of the comparison, with its own answer. Repeat the option for more criteria.",
)
@click.option("--decides", help="Criterion whose answer decides the duel; by default the first.")
@click.option(
    "--reason",
    "reasons",
    multiple=True,
    help="Reason that judges may choose. Repeat the option for more reasons.",
)
@click.option("--comment", is_flag=True, help="Judges may write a comment.")
@click.option("--quota", type=int, help="Largest number of answers per judge.")
@click.option(
    "--gold",
    type=click.Path(dir_okay=False, path_type=Path),
    help="CSV file of questions with a known answer: columns left, right, outcome and, in a "
    "study with items, item. A question with a text in the column text is an attention "
    "check.",
)
@click.option(
    "--training",
    type=click.Path(dir_okay=False, path_type=Path),
    help="CSV file of questions for every judge to practise on first, with the columns of "
    "--gold. text explains the answer.",
)
@click.option(
    "--on-fail",
    help="What to do with a judge who fails the gold questions: nothing, warn, 'screen out', or "
    "exclude (their answers do not count).",
)
@click.option(
    "--gold-share",
    type=float,
    help="Share of gold questions among a judge's questions, such as 0.1.",
)
@click.option(
    "--overlap",
    type=float,
    help="Share of questions that other judges have answered already, such as 0.2.",
)
@click.option(
    "--repeats",
    type=float,
    help="Share of questions that the same judge has answered before, such as 0.1.",
)
@click.option(
    "--expires",
    default=3600.0,
    help="Seconds after which a ticket without an outcome no longer counts as pending.",
)
@shared.option_of(Fitting, "seed", help="Random seed of the choice of pairs.")
@json_option
def new(
    study: Place,
    arms: str | None,
    arms_file: str | None,
    items_file: str | None,
    model: str,
    term: tuple[str, ...],
    prior: dict[str, Any],
    family: dict[str, str] | None,
    policy: str,
    confidence: float,
    confirm: str | None,
    rope: float,
    budget: int | None,
    pairs: Path | None,
    gold: Path | None,
    training: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Make a new STUDY."""
    from bayesduel.models import named
    from bayesduel.study.confirmed import Confirmed
    from bayesduel.study.stopping import Budget, WithinRope
    from bayesduel.study.study import Study

    if (arms is None) == (arms_file is None):
        raise click.UsageError("Give either --arms or --arms-file.")
    labels = (
        [a.strip() for a in arms.split(",")] if arms is not None else _labels(str(arms_file), "arm")
    )
    automatic = given["goal"] == "find-best" and policy == "auto" and pairs is None
    confirm = confirm or (CONFIRMED if automatic else NOT_CONFIRMED)
    doubt = CONFIRMING[confirm][1]
    stop: Any = WithinRope(confidence, rope=rope)
    stop = stop if confirm == NOT_CONFIRMED else Confirmed(stop, doubt=doubt)
    rules = [] if given["goal"] == "minimize-regret" else [stop]
    rules += [] if budget is None else [Budget(budget)]
    judging = {name: given.pop(name) for name in JUDGING}
    sources = _sources(given.pop("sources"))
    terms = {"term": term, "prior": prior, "family": family}
    made = Study(
        study.path,
        name=study.name,
        arms=labels,
        items=None if items_file is None else _labels(items_file, "item"),
        asking=_asking({name: given.pop(name) for name in ASKING}),
        judging=_judging({"gold": gold, "training": training}, judging),
        sources=sources,
        model=with_terms(named(model), terms, f"--model {model}"),
        policy=_policy(policy),
        stop=rules or None,
        **(given if pairs is None else given | _pairs(pairs)),
    )
    expected = _expected(made, confidence, policy, automatic=automatic)
    text = f"{study} is made, with {len(made.arms)} arms."
    said = _expected_words(study, made, expected, confirm)
    lines = [text, *([said] if said else []), f"Next: bayesduel study ask {study}"]
    data = {"study": str(study), "name": made.name, "arms": list(made.arms)}
    say(as_json, data | {"rope": rope, "expected_duels": expected}, "\n".join(lines))


@command.command("ask")
@study_argument
@click.option("-n", "number", type=int, help="Number of tickets, chosen together.")
@click.option("--judge", help="Name of the judge.")
@json_option
def ask(study: Place, number: int | None, judge: str | None, as_json: bool) -> None:
    """Ask for the next pair. A judge gets an open ticket again before a new one.

    Exit status 3: there is nothing to ask now. With --json `stopped` says whether the study has
    stopped, or goes on (with open tickets, or for other judges).
    """
    from bayesduel.study.study import NoQuestion, StudyStopped

    found = opened(study)
    try:
        tickets = found.ask(1 if number is None else number, judge)
    except StudyStopped as stopped:
        data = {
            "stopped": not isinstance(stopped, NoQuestion),
            "reason": str(stopped),
            "open": [ticket.id for ticket in found.pending()],
            "ended": found.ended,
        }
        say(as_json, data, str(stopped))
        raise click.exceptions.Exit(3) from stopped
    plain = [ticket.to_dict() for ticket in tickets]
    lines = [
        f"{t.id}: left {t.left}, right {t.right}{'' if t.item is None else f', on {t.item}'}"
        f"{'' if t.source is None else f', for {t.source}'}"
        f"{', to practise' if t.training else ''}{'' if t.note is None else f'. {t.note}'}"
        for t in tickets
    ]
    say(as_json, plain if number is not None else plain[0], "\n".join(lines))


@of_study("tell")
@click.argument("ticket")
@click.argument("outcome")
@click.option("--judge", help="Name of the person who tells; by default the ticket's judge.")
@click.option(
    "--criterion",
    "criteria",
    multiple=True,
    metavar="NAME=OUTCOME",
    help="The answer to a criterion that does not decide, once for each.",
)
@click.option("--reason", "reasons", multiple=True, help="A reason of the study's, once for each.")
@click.option("--comment", help="Comment of the judge.")
def tell(
    study: "Study", ticket: str, outcome: str, criteria: tuple[str, ...], **given: Any
) -> tuple[Any, str]:
    """Tell the OUTCOME of a TICKET, by its id or number: left, right, tie, or a margin.

    The name of the better arm may stand in place of left or right. "cannot tell" is stored and is
    no duel. In a study with grades the OUTCOME is, say, "left much better".
    """
    from bayesduel.text import count

    parts = [text.rpartition("=") for text in criteria]
    told = {name: answer for name, _, answer in parts}
    study.tell(ticket, outcome_of(study, outcome), criteria=told, **given)
    stored = study.ticket(ticket)
    text = f"{ticket} is stored: {outcome_words(stored)}. {count(study.n_duels, 'duel')}."
    data = {"ticket": ticket, "outcome": stored.outcome, "duels": study.n_duels}
    feedback = stored.feedback
    if feedback is not None:
        right = "That is right." if feedback["right"] else f"Right is: {feedback['outcome']}."
        text = " ".join([text, right, feedback["text"]]).rstrip()
    return data | {"feedback": feedback}, text


@of_study("correct")
@click.argument("ticket")
@click.argument("outcome")
@click.option("--reason", help="Reason, kept in the audit trail. It has to be given.")
@click.option("--by", help="Name of the person who corrects, for the audit trail.")
def correct(
    study: "Study", ticket: str, outcome: str, reason: str | None, by: str | None
) -> tuple[Any, str]:
    """Replace the OUTCOME of a TICKET; the old one stays in the audit trail."""
    study.correct(ticket, outcome_of(study, outcome), reason or "", by=by)
    stored = study.ticket(ticket)
    data = {"ticket": ticket, "outcome": stored.outcome, "reason": reason}
    return data, f"{ticket} is corrected: {outcome_words(stored)}."


@of_study("status")
@click.option(
    "--futures", default=10, help="Simulated futures that estimate the duels to go; 0 for none."
)
@click.option(
    "--check/--no-check",
    default=None,
    help="Run the transitivity check or leave it out; by default once the study is decided.",
)
@shared.noun_option
def status(study: "Study", futures: int, check: bool | None, noun: str) -> tuple[Any, str]:
    """Say what the study has found so far, and how many more duels are expected."""
    found = study.status(check=check, futures=futures if study.n_duels else 0, noun=noun)
    ranking = f"Ranking by posterior mean: {', '.join(found.ranking[:10])}"
    with working("checking transitivity"):
        lines = found.lines
    return found.to_dict(), "\n".join([*lines, ranking])


@of_study("plan", lambda given: given["plot_path"] and check_picture(given["plot_path"]))
@click.option("--futures", default=100, help="Simulated futures.")
@click.option("--budget", default=5000, help="Number of duels after which a future is given up.")
@click.option("--workers", default=2, help="Processes.")
@shared.option_of(Fitting, "seed", help="Seed of the futures.")
@click.option(
    "--plot", "plot_path", type=click.Path(path_type=Path), help="Write a figure to this file."
)
def plan(
    study: Any, futures: int, budget: int, plot_path: Path | None, **given: int
) -> tuple[Any, str]:
    """Say how many more duels the study is expected to take.

    If its answer is confirmed by direct duels, also how many it would take if fewer pairs were
    confirmed, or none.
    """
    from rich.console import Console
    from rich.progress import Progress

    from bayesduel.study.planning import plan as simulated

    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("futures", total=1.0)
        done = partial(progress.update, bar)
        found = study.plan(futures, budget, progress=lambda n: done(completed=n), **given)
        others = {}
        for name, rule in _other_rules(study.stop).items():
            options: dict[str, Any] = {"n_futures": futures, "budget": budget, **given}
            others[name] = simulated(
                study, stop=rule, progress=lambda n: done(completed=n), **options
            )
    if plot_path is not None:
        from bayesduel.system.atomic_write import write_figure

        write_figure(plot_path, found.plot().figure, dpi=150)
    data = found.to_dict() | {"rope": study.stop.rope}
    data["other_rules"] = {name: plan.to_dict() for name, plan in others.items()}
    lines = [f"{found} The rope is {study.stop.rope:g}."]
    lines += [f"With {CONFIRMING[name][0]}: {plan}" for name, plan in others.items()]
    return data, "\n".join(lines)


def _other_rules(stop: Any) -> dict[str, Any]:
    """Return the rules that confirm the same answer otherwise; none where it is not confirmed."""
    if stop is None or stop.confirming(0.0) == stop:
        return {}
    rules = {name: stop.confirming(doubt) for name, (_, doubt) in CONFIRMING.items()}
    return {name: rule for name, rule in rules.items() if rule != stop}


@of_study("export", lambda given: _check_place(given["path"], given["format"]))
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option(
    "--format",
    type=shared.OneOf(FORMATS),
    help="label-studio and argilla write a folder.  [default: parquet if PATH ends with .parquet, "
    "else csv]",
)
@click.option(
    "--everything",
    is_flag=True,
    help="Write all tickets, and what each cost: training, gold questions, repeats, tickets "
    "without an answer and answers of excluded judges, too.",
)
@click.option(
    "--audit",
    is_flag=True,
    help="Write the audit trail: every answer and every correction, in order.",
)
@click.option(
    "--criterion", help="Export the answers to this criterion instead of the one that decides."
)
@click.option(
    "--content",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help=(
        "For label-studio and argilla: CSV file of what judges saw, in the format of `serve "
        "--content`."
    ),
)
@click.option(
    "--users",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help=(
        "For label-studio and argilla: CSV file with the columns judge and user (e-mail "
        "address; in Argilla the id)."
    ),
)
@shared.raw_option
def export(
    study: "Study", path: Path | None, format: str | None, audit: bool, raw: bool, **given: Any
) -> tuple[Any, str]:
    """Write the duels as a file that ``bayesduel report`` reads.

    Without PATH, print the duels as CSV.
    """
    from bayesduel.study.outcomes import export_csv, export_rows
    from bayesduel.text import count, join

    if audit and (given["criterion"] or given["everything"] or format not in (None, "csv")):
        raise click.UsageError(
            "Give --audit without --criterion, --everything and --format: the audit trail has "
            "everything, as CSV."
        )
    if path is None and format not in (None, "csv"):
        raise click.UsageError(f"--format {format} needs PATH.")
    out = [] if audit or given["everything"] else list(study.excluded)
    said = f" Answers of excluded judges are left out: {', '.join(out)}." if out else ""
    if path is not None and not audit:
        contents = given.pop("content")
        users = given.pop("users")
        given["content"] = None if contents is None else _texts(study, contents)
        given["users"] = None if users is None else _users(users)
        n = study.export(path, format=format, raw=raw, **given)
    else:
        told = study.rows(everything=given["everything"])
        rows = study.audit() if audit else export_rows(told, given["criterion"])
        if not rows:
            raise ValueError(f"{study.store.url} should have an outcome to export, got none")
        text = export_csv(rows, raw=raw)
        if path is None:
            return rows, text.removesuffix("\n")
        write_text(path, text)
        n = len(rows)
    retired = [study.arms[k] for k in study.retired]
    said += f" Retired arms, whose duels are in it: {join(retired)}." if retired else ""
    data = {"path": path, "rows": n, "excluded": study.excluded, "retired": retired}
    return data, f"{path} is written, {count(n, 'row')}.{said}"


@of_study("report", lambda given: check_folder(given["output"]))
@shared.report_option
@click.option("--criterion", help="Report on the answers to this criterion.")
@shared.option_of(Decision, "rope", default=None, show_default="that of the study")
@shared.option_of(Decision, "confidence", default=None, show_default="that of the study")
@shared.noun_option
def report(
    study: "Study",
    output: Path,
    criterion: str | None,
    rope: float | None,
    confidence: float | None,
    noun: str,
) -> tuple[Any, str]:
    """Write a report on the duels of the study, with the rope and the confidence of its rule.

    The verdict and the ranks are without retired arms.
    """
    given = {"rope": rope, "confidence": confidence}
    own = {name: value for name, value in given.items() if value is not None}
    study.report(output, criteria=criterion, noun=noun, **own)
    return {"path": output}, f"{output} is written."


@of_study("backup", lambda given: check_folder(given["output"]))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="File of the copy. It should not exist yet.",
)
def backup(study: "Study", output: Path) -> tuple[Any, str]:
    """Write a copy of the file of STUDY, as it stands now, while the study goes on.

    All studies of the file are copied.
    """
    study.backup(output)
    return {"path": output}, f"{output} is written."


command.add_command(serve.command)
command.add_command(study_judge.command)


def _expected(
    study: "Study", confidence: float, policy: str, *, automatic: bool
) -> dict[str, int] | None:
    """Return about how many duels each stop rule takes; None where that was not measured."""
    from bayesduel.models import named
    from bayesduel.study.planning import usual_duels

    usual = (
        automatic
        and confidence == StudyDecision.confidence
        and study.model == named("bradley-terry")
    )
    if study.stop is None or not usual or study.sources:
        return None
    found = {
        name: usual_duels(len(study.arms), study.stop.rope, doubt)
        for name, (_, doubt) in CONFIRMING.items()
    }
    known = {name: duels for name, duels in found.items() if duels is not None}
    return known or None


def _expected_words(
    place: Place, study: "Study", expected: Mapping[str, int] | None, confirm: str
) -> str:
    """Return what the study is expected to cost, "" where it has no end or is not planned.

    confirm: how its answer is confirmed, as in `CONFIRMING`.
    """
    if study.stop is None or study.sources:
        return ""
    if expected is None:
        return f"See the expected number of duels: bayesduel study plan {place}"
    own = expected[confirm]
    others = "".join(
        f"\n  with {CONFIRMING[name][0]}: about {duels:,} ({CHECKED[name]})"
        for name, duels in expected.items()
        if name != confirm
    )
    said = f"Expected to cost about {own:,} duels (rope {study.stop.rope:g})."
    if own > study.stop.most:
        said += f" The budget of {study.stop.most:,.0f} duels will probably be spent first."
    return f"{said}{others}"


def _asking(given: dict[str, Any]) -> Any:
    from bayesduel.study.asking import Asking

    settings = {name: value for name, value in given.items() if value}
    return Asking(**settings) if settings else None


def _judging(known: Mapping[str, Path | None], given: dict[str, Any]) -> Any:
    from bayesduel.study.judging import Judging

    settings = {name: value for name, value in given.items() if value is not None}
    settings |= {name: _known(path) for name, path in known.items() if path is not None}
    return Judging(**settings) if settings else None


def _known(path: Path) -> list[list[str | None]]:
    """Return the questions of a file with known answers."""
    from bayesduel.text import csv_rows

    columns = ("left", "right", "outcome")
    found = []
    for _, row in csv_rows(path, columns, short=True):
        each: list[str | None] = [row[name] for name in columns]
        if row.get("text"):
            each += [row.get("item") or None, row["text"]]
        elif row.get("item"):
            each += [row["item"]]
        found.append(each)
    return found


def _sources(given: tuple[str, ...]) -> dict[str, float] | None:
    found = {}
    for text in given:
        name, _, cost = text.rpartition("=")
        try:
            found[name] = float(cost)
        except ValueError as error:
            raise click.UsageError(f"--source should be NAME=COST, got {text!r}") from error
    return found or None


def _pairs(path: Path) -> dict[str, Any]:
    from bayesduel.text import csv_rows

    rows = [row for _, row in csv_rows(path, ("left", "right"), short=True)]
    found: dict[str, Any] = {"pairs": [(row["left"], row["right"]) for row in rows]}
    for name, argument, kind in (("cost", "costs", float), ("required", "required", int)):
        given = {(r["left"], r["right"]): r[name] for r in rows if r.get(name)}
        try:
            found[argument] = {pair: kind(value) for pair, value in given.items()}
        except ValueError as error:
            raise ValueError(f"{name} in {path} should be numbers: {error}") from error
    return found


def _check_place(path: Path | None, format: str | None) -> None:
    """Raise ValueError if a file, or a folder of a tool, cannot be written."""
    if format not in FOLDERS or path is None:
        check_folder(path, "PATH")
        return
    check_not_input(path, "PATH")
    if path.is_file():
        raise ValueError(f"PATH should be a folder, got the file {path}")


def _texts(study: Any, path: Path) -> dict[tuple[str, str], str]:
    """Return what judges saw, by arm and item; of the arm "" what stood above the pairs."""
    from bayesduel.serve.content import read_contents

    found = read_contents(path, study.arms, study.items, whole=False)
    prompts = {("", item): each.text for item, each in found.prompts.items()}
    return prompts | {place: each.text for place, each in found.answers.items()}


def _users(path: Path) -> dict[str, str]:
    from bayesduel.text import csv_rows

    return {row["judge"]: row["user"] for _, row in csv_rows(path, ("judge", "user"))}


def _labels(path: str, column: str) -> list[str]:
    """Return the lines of a file; of a CSV file what a column has, each once."""
    if path.lower().endswith(".csv"):
        from bayesduel.text import csv_rows

        found = [row[column] for _, row in csv_rows(Path(path), (column,), short=True)]
        return [*dict.fromkeys(label for label in found if label)]
    text = Path(path).read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip()]


def _policy(text: str) -> Any:
    from bayesduel.cli.parse import policies_of

    if text == "auto":
        return text
    found = policies_of(text, "pairs", "--policy")
    if len(found) != 1:
        raise click.UsageError(f"--policy should name one policy, got {text!r}")
    return found[0]


for own in COMMANDS:
    command.add_command(own)
