"""Hand-worked rounds of Uniform, D-TS, RUCB and CCB, and crossing times against the plain rule."""

import numpy as np
import pytest
from scipy import stats

from bayesduel.beliefs import Beta, Hoeffding, record
from bayesduel.beliefs.decided_pairs import no_decided_pairs, refresh, survey
from bayesduel.jit import with_globals
from bayesduel.policies import CCB, DTS, RUCB, Uniform
from bayesduel.policies import ccb as ccb_file
from bayesduel.policies import rucb as rucb_file
from bayesduel.problems import named, uniform
from bayesduel.simulation.replication import driver


def ask(policy, wins, t, seeds=range(60), prepare=None):
    """Every pair the policy names over many seeds, with how often, after the tallies `wins`."""
    counts = {}
    for seed in seeds:
        belief = policy.belief.init(len(wins))
        belief.wins[:] = wins
        belief.n_duels[0] = int(np.sum(wins))
        memory = policy.init(len(wins))
        if prepare is not None:
            prepare(memory)
        pair = tuple(int(i) for i in policy.select(belief, memory, t, np.random.default_rng(seed)))
        counts[pair] = counts.get(pair, 0) + 1
    return counts


SURE = 400.0  # 400 wins of 400: radius sqrt(0.51 ln t / 400) is far below 1/2.


def chain():
    """Arm 0 surely beats 1 and 2; 1 and 2 stand at 5 : 5."""
    return np.array([[0, SURE, SURE], [0, 0, 5.0], [0, 5.0, 0]])


def test_uniform_goes_through_every_pair_before_it_repeats():
    belief, memory = Hoeffding().init(5), Uniform().init(5)
    rng = np.random.default_rng(0)
    rounds = []
    for start in (1, 11, 21):
        pairs = [
            tuple(map(int, Uniform().select(belief, memory, start + k, rng))) for k in range(10)
        ]
        assert sorted(pairs) == [(i, j) for i in range(5) for j in range(i + 1, 5)]
        rounds.append(tuple(pairs))
    assert len(set(rounds)) == 3


def test_dts_duels_a_sure_winner_with_itself():
    assert ask(DTS(), chain(), 1000) == {(0, 0): 60}


def test_dts_elects_among_the_possible_and_challenges_by_column():
    # t = 100: radius sqrt(0.51 * 4.605 / n). Arm 2 lost 60 of 60 to 0 and to 1 (radius 0.2):
    # it is out. 0 and 1 are open at 30 : 20 (radius 0.217): both may be winners.
    wins = np.array([[0, 30, 60], [20, 0, 60], [0, 0, 0.0]])
    counts = ask(DTS(), wins, 100, seeds=range(400))
    # A champion's only undecided duels are with itself and the other contender. Champion 0 is
    # elected when theta_01 > 1/2, Beta(31, 21); else 1. Then the challenger is whoever has
    # theta' largest: the other if theta' > 1/2, else itself. The two draws are independent.
    p = stats.beta(31, 21).sf(0.5)
    expected = {(0, 0): p * p, (0, 1): p * (1 - p), (1, 0): (1 - p) * p, (1, 1): (1 - p) ** 2}
    assert set(counts) <= set(expected)
    seen = [counts.get(pair, 0) for pair in expected]
    # Exact law of the four counts by its chi-square; 1e-6.
    assert stats.chisquare(seen, 400 * np.array(list(expected.values()))).pvalue > 1e-6


def test_rucb_by_hand():
    # Arm 0 is surely unbeaten alone: it is champion. u_10 and u_20 are 0 + radius < 1/2 = u_00.
    assert ask(RUCB(), chain(), 1000) == {(0, 0): 60}
    # Nothing known: everyone may be best, all u are infinite but u_cc: never a self-duel.
    counts = ask(RUCB(), np.zeros((3, 3)), 1)
    assert len(counts) == 6
    assert all(i != j for i, j in counts)
    # A sure cycle: nobody is unbeaten, the champion is anyone, its conqueror challenges.
    cycle = np.array([[0, SURE, 0], [0, 0, SURE], [SURE, 0, 0]])
    assert set(ask(RUCB(), cycle, 1000)) == {(0, 2), (1, 0), (2, 1)}


def test_rucb_favours_its_hypothesis_with_probability_one_half():
    def believe_in_0(memory):
        memory.best[0] = 0

    # Only arm 2 is surely beaten; 0 is the hypothesis, 1 the only other candidate.
    wins = np.array([[0, 5, SURE], [5, 0, 5], [0, 5, 0.0]])
    counts = ask(RUCB(), wins, 50, seeds=range(400), prepare=believe_in_0)
    by_champion = sum(n for (i, _), n in counts.items() if i == 0)
    assert {i for i, _ in counts} == {0, 1}
    assert stats.binomtest(by_champion, 400, 0.5).pvalue > 1e-6


def test_rucb_forgets_a_hypothesis_that_is_beaten():
    policy, wins = RUCB(), np.array([[0, 0, SURE], [SURE, 0, 5], [0, 5, 0.0]])
    belief, memory = policy.belief.init(3), policy.init(3)
    belief.wins[:] = wins
    belief.n_duels[0] = int(wins.sum())
    memory.best[0] = 0
    policy.select(belief, memory, 50, np.random.default_rng(0))
    assert memory.best[0] == 1  # the only unbeaten one


def test_ccb_starts_from_nothing():
    counts = ask(CCB(), np.zeros((3, 3)), 1)
    assert len(counts) == 6
    assert all(i != j for i, j in counts)


def remembered(policy, wins, t, seed=0, prepare=None):
    belief, memory = policy.belief.init(len(wins)), policy.init(len(wins))
    belief.wins[:] = wins
    belief.n_duels[0] = int(np.sum(wins))
    if prepare is not None:
        prepare(memory)
    pair = policy.select(belief, memory, t, np.random.default_rng(seed))
    return tuple(int(i) for i in pair), memory


def test_ccb_by_hand_a_decided_winner():
    # hi = (2, 1, 1), lo = (2, 0, 0). 9B: arms 1, 2 leave B, with B^1 = B^2 = {0}. 9C: arm 0 has
    # hi = lo: LC = 0, and sets of size 1 = LC + 1 stay. S is empty (0 beats both for sure).
    _, memory = remembered(CCB(), chain(), 1000)
    assert memory.potential.tolist() == [True, False, False]
    assert memory.losses[0] == 0
    assert memory.size.tolist() == [0, 1, 1]
    assert memory.decided.watched.tolist() == [
        [False] * 3,
        [True, False, False],
        [True, False, False],
    ]
    assert ask(CCB(), chain(), 1000) == {(0, 0): 60}


def test_ccb_by_hand_a_cycle_shortens_the_sets():
    # 0 > 1 > 2 > 0 and all beat 3 for sure: hi = lo = (2, 2, 2, 0). 9B: 3 leaves with
    # B^3 = {0, 1, 2}; 9C: three winners, LC = 3 - 2 = 1, so B^3 is cut to two members.
    wins = np.zeros((4, 4))
    for i, j in ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)):
        wins[i, j] = SURE
    kept = set()
    for seed in range(40):
        _, memory = remembered(CCB(), wins, 1000, seed)
        assert memory.potential.tolist() == [True, True, True, False]
        assert memory.losses[0] == 1
        assert memory.size.tolist() == [0, 0, 0, 2]
        kept.add(tuple(np.flatnonzero(memory.decided.watched[3]).tolist()))
    assert kept == {(0, 1), (0, 2), (1, 2)}
    # Champions are the three; every duel of theirs is decided, so each meets itself.
    assert set(ask(CCB(), wins, 1000)) == {(0, 0), (1, 1), (2, 2)}


def test_ccb_by_hand_a_contradiction_resets():
    def watch(memory):  # 2 is out, and remembers 1 as its conqueror
        memory.potential[2] = False
        memory.decided.watched[2, 1] = True
        memory.decided.n_open[2] = 1
        memory.size[2] = 1
        memory.losses[0] = 0

    # 2 now surely beats 1; nothing else is known: hi = (2, 1, 2), lo = (0, 0, 1).
    wins = np.zeros((3, 3))
    wins[2, 1] = SURE
    _, memory = remembered(CCB(), wins, 50, prepare=watch)
    assert memory.potential.all()
    assert memory.losses[0] == 3
    assert not memory.decided.watched.any()
    assert not memory.decided.contradicted[0]


def test_ccb_returns_to_an_open_conqueror_a_quarter_of_the_time():
    def watch(memory):
        memory.potential[2] = False
        memory.decided.watched[2, 1] = True
        memory.decided.n_open[2] = 1
        memory.size[2] = 1
        memory.losses[0] = 0

    # All open: S = {(2, 1)}. Otherwise the champion is 0 or 1, never first of (2, 1)...
    wins = np.array([[0, 5, 5], [5, 0, 5], [5, 5, 0.0]])
    counts = ask(CCB(), wins, 50, seeds=range(600), prepare=watch)
    # ... except where line 11's coin (1/3) leaves C = all, c = 2 (1/3), and then the candidate
    # is 1 out of B^2 (1/2), or 0 or 1, equal by their bounds (1/2 each): 3/4 * 1/9 * 3/4.
    chance = 1 / 4 + 3 / 4 / 9 * 3 / 4
    assert stats.binomtest(counts[(2, 1)], 600, chance).pvalue > 1e-6


@pytest.mark.parametrize(
    "file, policy", [(rucb_file, RUCB()), (ccb_file, CCB())], ids=["RUCB", "CCB"]
)
@pytest.mark.parametrize("name", ["mslr-5", "mslr-5-c3", "hudry-13", "arxiv-6", "sushi-16"])
def test_crossing_times_choose_as_the_plain_rule_does(file, policy, name):
    P = named(name).P
    results = []
    plain = with_globals(file.select.py_func, "select_by_survey", update=survey)
    for rule in (file.select, plain):

        class Other:
            select = rule

        belief, memory = policy.belief.init(len(P)), policy.init(len(P))
        alone = np.zeros(len(P), np.int64)
        rng, coins = np.random.default_rng(5), np.random.default_rng(6)
        driver(Other)(belief, memory, P, alone, 1, 20_000, rng, coins)
        results.append((belief.wins, alone))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_decided_pairs_by_crossings_equal_a_survey_at_every_step():
    """Also after a jump of many duels, and after a pause in time."""
    rng = np.random.default_rng(7)
    P = uniform(6, rng=rng).P
    belief = Hoeffding().init(6)
    kept, asked = no_decided_pairs(6), no_decided_pairs(6)
    for decided in (kept, asked):
        decided.watched[:] = np.random.default_rng(8).random((6, 6)) < 0.4
        np.fill_diagonal(decided.watched, False)
        decided.n_open[:] = decided.watched.sum(axis=1)
    t = 1
    for step in range(1500):
        for _ in range(int(rng.integers(1, 4)) if step % 50 == 0 else 1):
            i, j = (int(x) for x in rng.integers(0, 6, 2))
            record(belief, (i, j), float(rng.random() < P[i, j]))
        t += 1 if step % 97 else 3000
        refresh(kept, belief, 0.51, t)
        survey(asked, belief, 0.51, t)
        for name in ("beats", "sure_wins", "sure_losses", "n_open"):
            np.testing.assert_array_equal(getattr(kept, name), getattr(asked, name), name)


def test_settings_are_checked():
    for policy in (DTS, RUCB, CCB):
        with pytest.raises(ValueError, match=r"alpha should be > 0.5, got 0.5"):
            policy(alpha=0.5)
        with pytest.raises(ValueError, match=r"alpha should be > 0.5, got nan"):
            policy(alpha=float("nan"))
    with pytest.raises(ValueError, match="can be sampled"):
        DTS(belief=Hoeffding())
    assert DTS(belief=Beta(prior=0.5)) != DTS()
