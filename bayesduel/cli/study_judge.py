"""``bayesduel study judge``: a language model judges the pairs of a study."""

import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli.study_tickets import Place, json_option, opened, say, study_argument

if TYPE_CHECKING:
    from bayesduel.study.study import Study
    from bayesduel.study.tickets import Ticket

__all__ = ["command"]

text_file = click.Path(dir_okay=False, exists=True, path_type=Path)
PRICE = click.FloatRange(min=0)


@click.command("judge", short_help="Let a language model judge pairs, until there is enough.")
@study_argument
@click.option("--endpoint", required=True, help="Address of a server, http://127.0.0.1:8000/v1.")
@click.option("--model", required=True, help="Name of the model, as the server knows it.")
@click.option(
    "--prompt",
    type=text_file,
    required=True,
    help="File of the prompt, with {left} and {right}, and {question} and {item} where wanted. "
    "In a study with criteria it asks for each, as [[criterion: answer]].",
)
@click.option("--judge", help="Name of the machine in the study, or its source [default: --model].")
@click.option(
    "--content",
    type=text_file,
    help="CSV file of what the arms say, in the format of `serve --content`.",
)
@click.option(
    "--show-labels", is_flag=True, help="The machine compares the labels of the arms themselves."
)
@click.option("--question", default="Which one is better?", help="Text in place of {question}.")
@click.option("--key-from", metavar="VARIABLE", help="Environment variable that holds the API key.")
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=JSON",
    help="Setting of each request, such as max_tokens=200. temperature is 0 by default; "
    "temperature=null leaves it out.",
)
@click.option("--both-orders/--one-order", default=True, help="Show each pair in both orders.")
@click.option(
    "--tries",
    default=3,
    type=click.IntRange(min=1),
    help="Largest number of replies per order. If none has an answer, the ticket is skipped.",
)
@click.option(
    "--retries",
    default=8,
    type=click.IntRange(min=0),
    help="How often a request is sent again if it fails (429, 5xx, no connection).",
)
@click.option("--timeout", default=60.0, type=click.FloatRange(min=0.1), help="Seconds a request.")
@click.option("--workers", default=8, type=click.IntRange(min=1), help="Tickets at a time.")
@click.option("--most", type=click.IntRange(min=1), help="Largest number of tickets in this run.")
@click.option("--price-read", default=0.0, type=PRICE, help="Price of a million tokens of prompts.")
@click.option(
    "--price-written", default=0.0, type=PRICE, help="Price of a million tokens of replies."
)
@click.option("--price-request", default=0.0, type=PRICE, help="Of a request.")
@click.option("--budget", type=PRICE, help="Largest cost of all replies of the machine.")
@json_option
def command(
    study: Place,
    endpoint: str,
    model: str,
    prompt: Path,
    judge: str | None,
    content: Path | None,
    show_labels: bool,
    question: str,
    key_from: str | None,
    parameters: tuple[str, ...],
    both_orders: bool,
    workers: int,
    most: int | None,
    budget: float | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Let a language model judge pairs of STUDY, until the study has enough.

    Every reply is stored as it comes. After a stop, or a kill, the same command goes on: no verdict
    counts twice, and no reply that is stored is paid again.
    """
    from rich.console import Console
    from rich.progress import Progress

    from bayesduel.study.chat_completions import ChatCompletions
    from bayesduel.study.judge_name import judge_name
    from bayesduel.study.machine_judge import MachineJudge, Prices, checked_prompt, summary
    from bayesduel.study.replies import Replies

    prices = Prices(*(given[f"price_{part}"] for part in ("read", "written", "request")))
    if budget is not None and prices == Prices():
        raise click.UsageError("--budget needs a price: --price-read, --price-written.")
    if (content is None) != show_labels:
        raise click.UsageError("Give either --content FILE or --show-labels.")
    found = opened(study)
    text = checked_prompt(prompt.read_text(encoding="utf-8"), found.asking)
    name = judge_name(model if judge is None else judge)
    server = ChatCompletions(
        endpoint,
        model,
        _parameters(parameters),
        _key(key_from),
        given["timeout"],
        given["retries"],
    )
    replies = Replies(found, name)
    asked = MachineJudge(
        server,
        text,
        _shown(found, content, question),
        replies,
        found.asking,
        tries=given["tries"],
        prices=prices,
        budget=budget,
    )
    _open_again(found, name)
    with (
        closing(server),
        _stopping(server) as stops,
        Progress(console=Console(stderr=True), transient=True) as progress,
    ):
        bar = progress.add_task("tickets", total=most)
        done = found.run(
            asked,
            name=name,
            workers=workers,
            retries=0,
            both_orders=both_orders,
            most=most,
            progress=lambda n: progress.update(bar, completed=n),
        )
    sums = summary(replies, found.asking)
    data = {"judge": name, "told": done.told, "no_answer": done.skipped, "ended": done.ended}
    data |= {"errors": done.errors, "all_runs": sums, "worth": _worth(found)}
    say(as_json, data, _words(data))
    if stops:
        stop = KeyboardInterrupt()
        stop.add_note("The answers so far are stored. Run the same command again to go on")
        raise stop
    if server.failed:
        raise click.ClickException(done.ended)


def _words(data: Mapping[str, Any]) -> str:
    from bayesduel.text import count

    sums = data["all_runs"]
    lines = [
        f"{data['judge']} answered {count(data['told'], 'ticket')} in this run, "
        f"{data['no_answer']:,} have no answer. It ended: {data['ended'].rstrip('.')}.",
        f"In all runs: {count(sums['replies'], 'reply')}, {sums['without_answer']:,} without an "
        f"answer; {sums['read']:,} tokens read, {sums['written']:,} written; "
        f"cost {sums['cost']:,.6g}.",
    ]
    if sums["orders"]:
        lines.append(
            f"Of {count(sums['orders'], 'pair')} in both orders, {sums['same']:,} got the same "
            f"answer. The first side was better {sums['first']:,} times, the second "
            f"{sums['second']:,} times."
        )
    return "\n".join([*lines, *([data["worth"]] if data["worth"] else [])])


def _worth(study: "Study") -> str | None:
    """Return what the votes of the sources are worth; None before there are votes of each."""
    from bayesduel.posterior.sources import sources

    if not study.sources or any(votes == 0 for _, votes in study.sources.values()):
        return None
    return sources(study.fit(clusters=False)).sentence


def _shown(study: "Study", content: Path | None, question: str) -> Any:
    """Return a function of a ticket: what stands for each placeholder of the prompt."""
    from bayesduel.serve.content import Contents, read_contents

    contents = Contents(None, {}, {})
    if content is not None:
        contents = read_contents(content, study.arms, study.items)
        for (arm, _), each in contents.answers.items():
            if each.files:
                raise ValueError(f"content of {arm!r} should be text for a machine, got a file")

    def values(ticket: "Ticket") -> dict[str, str]:
        prompt, left, right = contents.shown(ticket.left, ticket.right, ticket.item)
        if left is None or right is None:
            raise ValueError(f"{content} should have a row of each arm, got none of {ticket}")
        item = (ticket.item or "") if prompt is None else prompt.text
        return {"left": left.text, "right": right.text, "question": question, "item": item}

    return values


def _key(variable: str | None) -> str | None:
    if variable is None:
        return None
    found = os.environ.get(variable, "").strip()
    if not found:
        raise click.UsageError(f"--key-from: the environment variable {variable} should be set.")
    return found


def _parameters(given: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {"temperature": 0}
    for text in given:
        name, _, value = text.partition("=")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise click.UsageError(f"--parameter should be NAME=JSON, got {text!r}") from error
        if name in ("", "model", "messages", "stream", "n"):
            raise click.UsageError(f"--parameter should not be {name or 'without a name'}.")
    return {name: value for name, value in found.items() if value is not None}


def _open_again(study: "Study", name: str) -> None:
    """Open the tickets of a judge that expired since a run was cut off: their replies are here."""
    retired = {study.arms[k] for k in study.retired}
    for ticket in study.expired():
        if ticket.judge == name and not {ticket.left, ticket.right} & retired:
            study.reissue(ticket, by=name)


@contextmanager
def _stopping(server: Any) -> Iterator[list[int]]:
    """Let Ctrl-C and SIGTERM send no further request; a second one stops at once."""
    stops: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield stops  # only the main thread may say what a signal does
        return

    def stop(number: int, frame: Any) -> None:
        stops.append(number)
        server.stopped.set()
        for each in before:
            signal.signal(each, signal.default_int_handler)

    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    for each in before:
        signal.signal(each, stop)
    try:
        yield stops
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
