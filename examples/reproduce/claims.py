"""Claims that one policy is right more often than another, put to the test.

Used by the experiments beside this file. What is fixed before a run: the seed, which is the
SHA-256 of the experiment's name; the replications, each experiment's default; the claims,
written in its file. The chance of one false verdict or more in an experiment's table is 0.05 at
most: each interval has probability ``1 - 0.05 / number of claims``.
"""

from hashlib import sha256

import bayesduel as bd


def seed_of(name: str) -> int:
    """Return the seed of an experiment: the first eight hex digits of its name's SHA-256."""
    return int(sha256(name.encode()).hexdigest()[:8], 16)


def judged(claims) -> list[tuple[str, str, str, str]]:
    """Print a table of claims; return where, what, what came out and the verdict of each.

    Parameters
    ----------
    claims
        Rows (where, better, worse, success of the one, success of the other, margin): it is
        claimed that the first is right more often, or, with a margin, less rarely than by so
        much. Success is bool with the one dimension `replication`.
    """
    ci_prob = 1 - 0.05 / len(claims)
    print(f"\nclaims, each by an interval of probability {ci_prob:.4f}, on the same replications")
    rows = []
    for where, better, worse, first, second, margin in claims:
        found = bd.success_difference(first, second, ci_prob)
        low, high = float(found["low"]), float(found["high"])
        if low > -margin:
            verdict = "holds"
        else:
            verdict = "does not hold" if high < -margin else "not distinguishable"
        above = f"above {worse}" if margin == 0 else f"at most {margin:g} below {worse}"
        shown = f"{float(found['difference']):+.4f} [{low:+.4f}, {high:+.4f}]"
        print(f"  {where:36} {better + ' ' + above:56} {shown}  {verdict}")
        rows.append((where, f"{better} {above}", shown, verdict))
    return rows
