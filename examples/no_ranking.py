"""A log that no ranking explains: choices among five gambles (Tversky 1969).

Each subject met each pair twenty times. Majorities run in cycles: d over e, c over d, b over
c, a over b, and yet e over a. A model with scores cannot say so; a preference matrix can.

Run: python examples/no_ranking.py
"""

import bayesduel as bd


def main() -> None:
    logs = bd.datasets.load("tversky1969", by="annotator")
    for subject, duels in logs.items():
        ranked = bd.fit(duels)  # Bradley-Terry: one score a gamble
        check = bd.cyclic_check(duels, ranked)
        free = bd.fit(duels, "preference-matrix")  # one probability a pair
        winners = bd.winners(free)
        print(
            f"{subject}: {check.observed} of {check.decided} triads cyclic, "
            f"{check.expected:.1f} expected of a ranking (p = {check.p_value:.3f}); "
            f"Pr(some gamble beats all others) = {float(winners['condorcet_exists']):.2f}"
        )
    first = bd.winners(bd.fit(logs["s1"], "preference-matrix"))
    print(f"\nSubject s1: {first.attrs['verdict']}")


if __name__ == "__main__":
    main()
