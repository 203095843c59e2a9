"""``bayesduel study serve``: the pages of a study, for judges and an administrator."""

from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli.study_tickets import Place, opened, study_argument
from bayesduel.system.extras import load_extra

if TYPE_CHECKING:
    from bayesduel.study.study import Study


__all__ = ["command"]

text_file = click.Path(dir_okay=False, exists=True, path_type=Path)


@click.command("serve", short_help="Let judges answer in a browser, and watch the standings.")
@study_argument
@click.option(
    "--content",
    type=text_file,
    help="CSV file of what judges see, with the columns arm, content and, in a study with "
    "items, item. content is Markdown, a link, or the name of a picture, recording or film "
    "in the same folder. A row without an arm is shown above the pairs of its item.",
)
@click.option("--show-labels", is_flag=True, help="Judges see the labels of the arms themselves.")
@click.option(
    "--uploads",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the contents that the administrator uploads on the page.",
)
@click.option("--title", help="Title of the pages.")
@click.option("--question", help="Question above every pair.")
@click.option("--instructions", type=text_file, help="Markdown file that judges read first.")
@click.option("--consent", type=text_file, help="Markdown file that judges have to agree to.")
@click.option(
    "--completion",
    "--completion-code",
    "completion_code",
    metavar="CODE",
    help="Code that a judge gets at the end. The judge has to decide at least half of the pairs "
    "shown, and pass the gold questions.",
)
@click.option("--return-url", help="Link that these judges get at the end.")
@click.option(
    "--screened-out",
    metavar="TEXT|URL",
    help="Text or link that all other judges get at the end.",
)
@click.option("--full", metavar="TEXT|URL", help="Text or link for people who find no free place.")
@click.option(
    "--recruiter",
    help="Site that sends the judges: prolific, mturk or sona. For prolific and mturk give "
    "codes as --completion, --screened-out and --full. For sona give its completion "
    "address as --return-url.",
)
@click.option(
    "--seats",
    multiple=True,
    metavar="N|LINK=N",
    help="Largest number of judges per open link, or of one link by its name (default: 200).",
)
@click.option(
    "--frame-ancestors",
    multiple=True,
    metavar="SITE",
    help="Site that may show these pages in a frame, such as https://school.example.org.",
)
@click.option("--open-standings", is_flag=True, help="Judges may see the standings.")
@click.option(
    "--webhook",
    help="Address that gets a post for each answer, each judge who finishes, and the stop.",
)
@click.option(
    "--webhook-private",
    is_flag=True,
    help="The name in --webhook may stand for an address of a private network.",
)
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option("--port", default=8000, help="Port to listen on.")
@click.option(
    "--public-url",
    "--url",
    "url",
    help="Address of the pages in the browsers of judges. Needed where a proxy stands in front.",
)
@click.option(
    "--language",
    metavar="CODE|FILE",
    help="Language of the judge's page: en, de, fr, es, pt, zh, ja, ar, or a file of texts.",
)
@click.option("--noun", help="Word for an arm on the pages: model, player, dish.")
@click.option(
    "--tls-certificate", type=text_file, help="PEM file of the certificate, to serve HTTPS."
)
@click.option("--tls-key", type=text_file, help="PEM file of the certificate's key.")
def command(study: Place, host: str, port: int, **given: Any) -> None:
    """Serve the pages of STUDY until stopped.

    Prints a link for the administrator, valid for a day, who invites judges on the page that it
    opens. All that counts is in the study's database: stop and start as you like.
    """
    uvicorn = load_extra("uvicorn", "serve")
    for module in ("starlette", "nh3", "markdown_it"):
        load_extra(module, "serve")
    from bayesduel.serve.server import SETTINGS

    app, link, secret = application(study, host, port, **given)
    if not _is_loopback(host):
        click.echo(_warning(host, bool(given["tls_certificate"])), err=True)
    click.echo(f"Administrator (valid for a day, keep it to yourself): {link}")
    if secret is not None:
        click.echo(f"Key of the signatures of the webhook (keep it to yourself): {secret}")
    uvicorn.run(
        app,
        host=host,
        port=port,
        ssl_certfile=given["tls_certificate"],
        ssl_keyfile=given["tls_key"],
        **SETTINGS,
    )


def application(
    study: Place,
    host: str,
    port: int,
    *,
    content: Path | None,
    show_labels: bool,
    uploads: Path | None,
    url: str | None,
    tls_certificate: Path | None,
    tls_key: Path | None,
    **options: Any,
) -> tuple[Any, str, str | None]:
    """Return the application, the link of its administrator, and the key of the webhook."""
    from bayesduel.serve.app import Site
    from bayesduel.serve.content import Contents, read_contents
    from bayesduel.serve.options import Options
    from bayesduel.serve.pages import Pages
    from bayesduel.serve.uploads import Uploads
    from bayesduel.study.ledger import FEW

    if (content is not None) + show_labels + (uploads is not None) != 1:
        raise click.UsageError(
            "Give either --content FILE or --uploads FOLDER or, as the labels are what judges "
            "compare, --show-labels."
        )
    if (tls_certificate is None) != (tls_key is None):
        raise click.UsageError("Give --tls-certificate and --tls-key together.")
    scheme = "http" if tls_certificate is None else "https"
    shown = f"[{host}]" if ":" in host else host
    own = f"{scheme}://{shown}:{port}"
    chosen = {k: v for k, v in options.items() if v is not None}
    chosen |= _seats(chosen.pop("seats"))
    settings = Options(public_url=url or own, **chosen)
    served = opened(study)
    if served.items and show_labels:
        raise click.UsageError("The study has items: give --content FILE or --uploads FOLDER.")
    contents: Contents | Uploads = Contents(None, {}, {})
    if content is not None:
        contents = read_contents(content, served.arms, served.items)
    if uploads is not None:
        contents = Uploads(uploads, served.arms, served.items)
    pages = Pages(served, contents, settings)
    rehearsal = Thread(target=_rehearse, args=(served,))
    rehearsal.start()
    if len(served.arms) > FEW:
        rehearsal.join()
    hosts = [settings.host, host, "localhost"]
    site = Site(pages, hosts if url or _is_loopback(host) else ["*"])
    secret = None if pages.webhook is None else pages.webhook.secret
    # The link printed at the start is valid for 1 day
    return site.app, pages.invited("administrator", "admin", 1.0)[1], secret


def _seats(given: tuple[str, ...]) -> dict[str, Any]:
    """Return how many judges open links may have, and those by their names."""
    quotas = {}
    for text in given:
        link, _, most = text.rpartition("=")
        if not most.isdecimal():
            raise click.UsageError(f"--seats should be a number, or LINK=NUMBER, got {text!r}")
        quotas[link] = int(most)
    most_of_all = {"seats": quotas.pop("")} if "" in quotas else {}
    return {**most_of_all, "quotas": quotas}


def _rehearse(study: "Study") -> None:
    """Play a duel of a study like this one in memory, compiled, so that no judge waits for that."""
    from bayesduel.jit import interpreted
    from bayesduel.study.questions import StudyStopped
    from bayesduel.study.study import Study

    arms = study.arms
    goal = study.goal
    model = study.model
    given = {"arms": arms, "goal": goal, "model": model, "policy": study.policy}
    given["sources"] = {name: cost for name, (cost, _) in study.sources.items()} or None
    given["items"] = study.items or None
    given["asking"] = study.asking
    with study.compiled_meanwhile(), interpreted(False), Study(**given, stop=study.stop) as copy:
        with suppress(StudyStopped):  # a budget of one duel, say
            best = next(iter(copy.asking.words))
            for answer in (best, copy.asking.swapped(best)):
                others = dict.fromkeys(copy.asking.others, answer)
                copy.tell(copy.ask(judge="anyone"), answer, criteria=others)
        copy.status(check=False)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _warning(host: str, encrypted: bool) -> str:
    where = "any address of this machine" if host in ("0.0.0.0", "::") else host
    words = f"Listening on {where}: every machine that can reach it can open the pages"
    if encrypted:
        return f"{words}. Only people with a link get in."
    return (
        f"{words}. Links and answers cross the network unencrypted, so that anybody who "
        "can read the traffic can use them. Give --tls-certificate and --tls-key, or put "
        "a proxy that serves HTTPS in front and name its address with --public-url."
    )
