"""``bayesduel policies``: the dueling-bandit policies, each with its paper."""

import click

__all__ = ["command"]


@click.command("policies")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List the policies, each with its reference and what is proved of it."""
    from bayesduel import policies
    from bayesduel.cli.console import out, print_json

    classes = {name: getattr(policies, name) for name in policies.__all__}
    if as_json:
        rows = ((n, c.reference, c.guarantee) for n, c in classes.items())
        print_json({n: {"reference": told, "guarantee": proved} for n, told, proved in rows})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("policy", no_wrap=True)
    table.add_column("reference")
    table.add_column("guarantee")
    for name, policy in classes.items():
        table.add_row(name, policy.reference, policy.guarantee)
    out().print(table)
