"""Run every benchmark, each in a process of its own: ``python -m benchmarks.run [NAME ...]``."""

import os
import subprocess
import sys

NAMES = (
    "startup",
    "reading",
    "fitting",
    "coverage",
    "policies",
    "items",
    "selection",
    "study_cost",
    "scale",
)
ONE_CORE = {"policies", "items", "selection", "study_cost"}  # these say what one core does
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}


def main(names: list[str]) -> int:
    """Run the benchmarks called `names` (all by default); return how many failed."""
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    failed = 0
    for name in names or NAMES:
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        env = os.environ | (ONE_THREAD if name in ONE_CORE else {})
        failed += subprocess.run(command, check=False, env=env).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
