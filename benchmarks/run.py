"""Run every benchmark, each in a process of its own: ``python -m benchmarks.run [NAME ...]``."""

import subprocess
import sys

NAMES = ("startup", "reading", "fitting", "coverage", "policies", "items", "selection")


def main(names: list[str]) -> int:
    """Run the benchmarks called `names` (all by default); return how many failed."""
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    failed = 0
    for name in names or NAMES:
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        failed += subprocess.run(command, check=False).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
