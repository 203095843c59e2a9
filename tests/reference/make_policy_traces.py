"""Add the fixed-seed traces of new policies to policy_traces.json; --all rewrites them."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.contracts import test_policies as contracts

FILE = Path(__file__).parent / "policy_traces.json"

known = json.loads(FILE.read_text()) if FILE.exists() and "--all" not in sys.argv else {}
for policy in contracts.ALL:
    name = contracts.label(policy)
    if name not in known:
        known[name] = contracts.digest(policy)
        print("added", name)
rows = (f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known))
FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")
