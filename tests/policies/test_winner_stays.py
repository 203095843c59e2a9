"""Winner Stays in lockstep with a plain version, and its weak regret."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.beliefs import record
from bayesduel.policies import WinnerStays
from bayesduel.problems import named

pytestmark = pytest.mark.plain


class Plain:
    """The pairs that the paper's Algorithm 1 allows, from a list of all duels."""

    def __init__(self, n_arms):
        self.score = [0] * n_arms
        self.last = []

    def allowed(self):
        """The sides one after the other: those of the last duel stay if they lead."""
        pairs = set()
        for i in self.stay(range(len(self.score))):
            pairs |= {(i, j) for j in self.stay(set(range(len(self.score))) - {i})}
        return pairs

    def stay(self, among):
        most = max(self.score[i] for i in among)
        leaders = [i for i in among if self.score[i] == most]
        kept = [i for i in self.last if i in leaders]
        return kept[:1] or leaders

    def learn(self, pair, first_won):
        winner, loser = pair if first_won else pair[::-1]
        self.score[winner] += 1
        self.score[loser] -= 1
        self.last = pair


@pytest.mark.parametrize("problem", ["cyclic-4", "hudry-13"])
def test_lockstep_with_algorithm_1(problem):
    P = named(problem).P
    policy, plain = WinnerStays(), Plain(len(P))
    belief, memory = policy.belief.init(len(P)), policy.init(len(P))
    rng, coins = np.random.default_rng(3), np.random.default_rng(4)
    free = 0
    for t in range(1, 601):
        pair = tuple(int(k) for k in policy.select(belief, memory, t, rng))
        allowed = plain.allowed()
        assert pair in allowed
        free += len(allowed) > 1
        first_won = coins.random() < P[pair]
        plain.learn(pair, first_won)
        record(belief, pair, float(first_won))
        assert memory.lead.tolist() == plain.score or t == 1 or memory.seen[0] == t - 1
    assert free > 5  # both the rule that decides and the random choice were met


def test_the_strong_version_exploits_the_winner_of_each_round():
    """Outcomes without chance: round l of three arms takes two duels, then 2^l self-duels."""
    policy = WinnerStays(regret="strong", beta=2.0)
    belief, memory = policy.belief.init(3), policy.init(3)
    rng, alone, asked = np.random.default_rng(0), [], []
    for t in range(1, 80):
        i, j = (int(k) for k in policy.select(belief, memory, t, rng))
        record(belief, (i, j), float(i < j))
        asked.append((i, j))
        alone.append(i == j)
    duels = "".join("s" if own else "d" for own in alone)
    lengths = [len(part) for part in duels.replace("ds", "d s").replace("sd", "s d").split()]
    assert lengths[1::2][:4] == [2, 4, 8, 16]
    assert all(i == 0 for (i, _), own in zip(asked[10:], alone[10:], strict=True) if own)
    assert policy.recommend(belief, memory) == 0


of_weak_regret = pytest.mark.parametrize(
    "policy", [WinnerStays(), bd.policies.BeatTheWinner()], ids=str
)


@of_weak_regret
def test_weak_regret_stops_while_that_of_uniform_play_goes_on(policy):
    """Of 4 arms with gaps of 0.3; no run pays more than a 50th of uniform play after 2,000."""
    settings = {"replications": 3, "seed": 1, "detail": "pairs", "workers": 1}
    problem = named("flat", n_arms=4, e=0.3)
    trace = bd.simulate(
        [policy, bd.policies.Uniform()], problem, 4000, record_at=[2000, 4000], **settings
    )
    late = np.diff(bd.regret(trace, "weak").values, axis=-1)[..., 0]
    assert late[1].min() == pytest.approx(300, abs=10)  # half of the duels are without the winner
    assert late[0].max() < 6


@pytest.mark.slow
@of_weak_regret
def test_weak_regret_grows_with_the_arms_as_its_bound_says(policy):
    """As K^2 at most (2.04 was seen), and not at all from 100,000 to 300,000 duels."""
    means = []
    for n_arms in (4, 8, 16, 32):
        trace = bd.simulate(
            policy, named("flat", n_arms=n_arms, e=0.3), 300_000, replications=40, seed=2,
            record_at=[100_000, 300_000], detail="pairs",
        )  # fmt: skip
        first, last = bd.regret(trace, "weak").mean("replication").values[0]
        assert last - first < 0.01 * last
        means.append(last)
    slope = np.polyfit(np.log([4, 8, 16, 32]), np.log(means), 1)[0]
    assert 0.5 < slope < 2.15
