"""``bayesduel problems``: the named problems of the literature."""

import click

__all__ = ["command"]


@click.command("problems")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List the problems that can be simulated, with their winners under every criterion."""
    from bayesduel.cli.console import out, print_json, working
    from bayesduel.problems import NAMES, named

    with working("finding the winners"):
        problems = {name: named(name) for name in NAMES}
        winners = {n: p.winners for n, p in problems.items() if not hasattr(p, "shows")}
    if as_json:
        print_json(
            {
                name: {"arms": p.n_arms, "source": p.source, "winners": winners.get(name)}
                for name, p in problems.items()
            }
        )
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("arms", justify="right")
    for criterion in next(iter(winners.values())):
        table.add_column(criterion.replace("_", " "))
    for name, problem in problems.items():
        if name in winners:
            told = [" ".join(w) or "none" for w in winners[name].values()]
        else:  # drawn anew for every run
            told = ["drawn"] * len(next(iter(winners.values())))
        table.add_row(name, str(problem.n_arms), *told)
    sources = Table(box=None, pad_edge=False, header_style="bold")
    sources.add_column("name", no_wrap=True)
    sources.add_column("source")
    for name, problem in problems.items():
        sources.add_row(name, problem.source)
    console = out()
    console.print(table)
    console.print()
    console.print(sources)
