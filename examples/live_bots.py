"""A live study: which bot plays rock-paper-scissors best? Every ask is answered by a match.

Run with ``python examples/live_bots.py`` (seconds), or with ``--command-line`` to do every step by
the command ``bayesduel study`` (minutes: each step starts Python). The study is kept in a file:
stop the script at any time and start it again. Needs ``pip install 'bayesduel[roshambo]'``.
"""

import argparse
import json
import subprocess
import sys
import zlib
from pathlib import Path

import bayesduel as bd
from bayesduel.problems import roshambo_match

BOTS = ("antirotnbot", "copybot", "driftbot", "freqbot2", "iocainebot", "piedra", "switchbot")
THROWS = 50


def outcome_of(ticket_id: str, left: str, right: str) -> str:
    """Play a match and return its outcome; the ticket's id is the seed."""
    margin = roshambo_match(left, right, throws=THROWS, seed=zlib.crc32(ticket_id.encode()))
    return "tie" if margin == 0 else "left" if margin > 0 else "right"


def from_python(path: Path) -> None:
    """Run the study by ``bd.Study``."""
    stop = bd.study.WithinRope(0.95, rope=0.05) | bd.study.Budget(2000)
    new = {} if path.exists() else {"arms": BOTS, "stop": stop, "seed": 0}
    with bd.Study(path, **new) as study:
        for ticket in study.pending():  # asked before the script was stopped
            study.tell(ticket, outcome_of(ticket.id, ticket.left, ticket.right))
        while not study.stopped:
            ticket = study.ask()
            study.tell(ticket, outcome_of(ticket.id, ticket.left, ticket.right))
            if study.n_duels % 20 == 0:
                print(study.status(), end="\n\n")
        print(study.status())
        if study.n_duels:
            print(study.winners())


def from_the_command_line(path: Path) -> None:
    """Run the study by the command ``bayesduel study``, one process a step."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "bayesduel", "study", *words]
        return subprocess.run(command, text=True, capture_output=True, check=False)

    if not path.exists():
        print(run("new", str(path), "--arms", ",".join(BOTS), "--budget", "2000").stdout, end="")
    while (asked := run("ask", str(path), "--json")).returncode == 0:
        ticket = json.loads(asked.stdout)
        outcome = outcome_of(ticket["id"], ticket["left"], ticket["right"])
        print(run("tell", str(path), ticket["id"], outcome).stdout, end="", flush=True)
    print(asked.stdout, run("status", str(path)).stdout)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, default=Path("bots.study"))
    parser.add_argument("--command-line", action="store_true")
    options = parser.parse_args()
    (from_the_command_line if options.command_line else from_python)(options.path)


if __name__ == "__main__":
    main()
