"""Double Thompson Sampling (D-TS) and D-TS+.

Draw the preference matrix twice. The first draw elects the champion, among the arms that may
still be Copeland winners; the second picks the challenger, among the opponents that the
champion is not yet known to beat. D-TS+ breaks ties between champions by the regret that
confirming each would cost if the first draw were the truth.

References
----------
Wu & Liu, "Double Thompson Sampling for Dueling Bandits", NeurIPS 2016: Algorithm 1; section 5
and Appendix E for D-TS+. Deviation: a pair that never met has the bounds plus
and minus infinity where the paper sets x / 0 := 1, that is 2 and -1; both are on the same side of
1/2, so that the decisions are the same. Of the first draw D-TS reads only on which side of 1/2 each
pair is: with independent Beta posteriors that side is drawn, by its probability, which changes for
the pair that met alone.
"""

from dataclasses import dataclass
from math import exp
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import BeliefSpec, Beta, pick, sample, sample_against
from bayesduel.beliefs.belief import FROM_BETA
from bayesduel.beliefs.beta import log_above
from bayesduel.beliefs.decided_pairs import DecidedPairs, no_decided_pairs, update
from bayesduel.beliefs.kl import divergence_from_half
from bayesduel.jit import compiled
from bayesduel.policies.policy import PairPolicy

__all__ = ["DTS", "DTSPlus"]

BITS = 53  # random bits of a uniform number of numpy's generators: those of a float's mantissa


class Sides(NamedTuple):
    """On which side of 1/2 pairs are under Beta posteriors."""

    chance: np.ndarray  # that i beats j in more than half of their duels, shape (K, K)
    even: np.ndarray  # the opponents for which it is 1/2, as bits, shape (K, about K / BITS)
    digits: np.ndarray  # a place to count in, shape (about K / BITS, digits of K)


class Memory(NamedTuple):
    alpha: float
    plus: bool
    decided: DecidedPairs
    sides: Sides


@compiled
def select(belief, memory, t, rng):
    """Return (champion, challenger); the same arm twice once the winner is clear."""
    decided = memory.decided
    new = belief.n_duels[0] - decided.seen[0]
    update(decided, belief, memory.alpha, t)

    # Phase 1: of the arms with the largest upper Copeland score, those with most sampled wins.
    candidates = decided.sure_losses == decided.sure_losses.min()
    by_sides = belief.source == FROM_BETA and not memory.plus
    if by_sides:
        refresh(memory.sides, belief.wins, belief.prior, belief.last, new)
    if candidates.sum() > 1 and by_sides:
        wins = sampled_wins(memory.sides, candidates, rng)
        candidates = wins == wins.max()
    elif candidates.sum() > 1:
        theta = sample(belief, rng)
        wins = (theta > 0.5).sum(axis=1)
        for i in np.flatnonzero(~candidates):
            wins[i] = -1
        candidates = wins == wins.max()
        if memory.plus:
            candidates = cheapest(candidates, theta)
    champion = pick(candidates, rng)

    # Phase 2: the opponent with the largest sampled chance to win, where P is undecided.
    theta_against = sample_against(belief, champion, rng)
    for i in np.flatnonzero(decided.beats[:, champion]):
        theta_against[i] = -1.0
    return champion, pick(theta_against == theta_against.max(), rng)


@compiled
def refresh(sides, wins, prior, last, new):
    """Bring the chances up to the wins: of the pair that met last, or of all pairs."""
    if new == 1 and last[0] != last[1]:
        know(sides, wins, prior, last[0], last[1])
    elif new > 1:
        for i in range(len(wins)):
            for j in range(i + 1, len(wins)):
                know(sides, wins, prior, i, j)


@compiled
def know(sides, wins, prior, i, j):
    """Compute the probabilities that either arm wins more than half, and whether they are 1/2."""
    won = wins[i, j]
    lost = wins[j, i]
    above = exp(log_above(prior + won, prior + lost, 0.5))
    sides.chance[i, j] = above
    sides.chance[j, i] = 1 - above
    is_even = np.int64(won == lost)
    for first, second in ((i, j), (j, i)):
        word = second // BITS
        place = second % BITS
        sides.even[first, word] &= ~(np.int64(1) << place)
        sides.even[first, word] |= is_even << place


@compiled
def sampled_wins(sides, candidates, rng):
    """Return how many arms each candidate beats in a draw of P, -1 for other arms.

    An even pair takes one bit of a uniform number: of many arms, most pairs never met. What those
    pairs bring to arm j is counted in binary: digit k is bit j % BITS of ``digits[j // BITS, k]``.
    """
    n_arms = len(candidates)
    n_words = sides.even.shape[1]
    wins = np.zeros(n_arms, np.int64)
    digits = sides.digits
    digits[:] = 0
    undrawn = pack(np.ones(n_arms, np.bool_))  # arms of which some pair is not drawn yet
    for i in np.flatnonzero(candidates):
        undrawn[i // BITS] &= ~(np.int64(1) << (i % BITS))
        for word in range(n_words):
            even = sides.even[i, word] & undrawn[word]
            if even != 0:
                won = np.int64(rng.random() * 2.0**BITS) & even
                wins[i] += count_bits(won)
                add(digits[word], even & ~won)
            uneven = undrawn[word] & ~even
            while uneven != 0:
                lowest = uneven & -uneven
                opponent = word * BITS + count_bits(lowest - 1)
                winner = i if rng.random() < sides.chance[i, opponent] else opponent
                wins[winner] += 1
                uneven ^= lowest
    for j in range(n_arms):
        for digit in range(digits.shape[1]):
            bit = (digits[j // BITS, digit] >> (j % BITS)) & 1
            wins[j] += bit << digit
        if not candidates[j]:
            wins[j] = -1
    return wins


@compiled
def pack(mask):
    """Return a mask as bits of whole numbers, BITS each."""
    words = np.zeros((len(mask) - 1) // BITS + 1, np.int64)
    for j in range(len(mask)):
        words[j // BITS] |= np.int64(mask[j]) << (j % BITS)
    return words


@compiled
def count_bits(word):
    """Return the number of ones: by pairs of bits, by fours and eights, then the sum of bytes."""
    word = word - ((word >> 1) & 0x5555555555555555)
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333)
    return ((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F) % 255


@compiled
def add(digits, ones):
    """Add one to each of many binary numbers: carry from their first digits to the next."""
    for digit in range(len(digits)):
        carried = digits[digit] & ones
        digits[digit] ^= ones
        ones = carried
        if ones == 0:
            return


@compiled
def cheapest(candidates, theta):
    """Return the candidates that would cost least regret to confirm if `theta` were the truth."""
    wins = (theta > 0.5).sum(axis=1)
    cost = np.full(len(theta), np.inf)
    for i in np.flatnonzero(candidates):
        cost[i] = confirmation_cost(i, theta, wins)
    return cost == cost.min()


@compiled
def confirmation_cost(i, theta, wins):
    """Return the sum over the duels of arm i of regret divided by information."""
    total = 0.0
    for j in range(len(wins)):
        information = divergence_from_half(theta[i, j])
        if j != i and information > 0:
            regret = wins.max() - (wins[i] + wins[j]) / 2
            total += regret / information
    return total


@dataclass(frozen=True, kw_only=True)
class DTS(PairPolicy):
    """Double Thompson Sampling, for Copeland regret.

    Parameters
    ----------
    belief
        The posterior it samples. Default: the paper's independent Beta(1, 1), with Hoeffding
        bounds.
    alpha
        Exploration constant; the regret bound needs alpha > 0.5.
    """

    belief: BeliefSpec = Beta(bounds="hoeffding")
    alpha: float = 0.51
    select: ClassVar = staticmethod(select)
    plus: ClassVar[bool] = False
    reads: ClassVar = "samples"
    reference: ClassVar[str] = "Wu & Liu, NeurIPS 2016, Algorithm 1"
    guarantee: ClassVar[str] = "Copeland regret O(K^2 log T); O(K log T + K^2 log log T) Condorcet"
    ranges: ClassVar = {"alpha": "> 0.5"}

    def init(self, n_arms: int) -> Memory:
        every_arm = pack(np.ones(n_arms, np.bool_))
        return Memory(
            alpha=float(self.alpha),
            plus=self.plus,
            decided=no_decided_pairs(n_arms),
            sides=Sides(
                chance=np.full((n_arms, n_arms), 0.5),  # of a prior alone: it is symmetric
                even=np.tile(every_arm, (n_arms, 1)),
                digits=np.zeros((len(every_arm), n_arms.bit_length()), np.int64),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class DTSPlus(DTS):
    """D-TS with ties between champions broken by regret."""

    plus: ClassVar[bool] = True
    reference: ClassVar[str] = "Wu & Liu, NeurIPS 2016, section 5 (D-TS+)"
    guarantee: ClassVar[str] = "as D-TS; smaller regret in practice where winners tie"
