"""The sentences about one ranking: how large, how probable, what to report."""

from bayesduel.criticism.ranking.posterior import PRIOR, SURE, CyclicShare, RankingPosterior
from bayesduel.text import NAMED, SENTENCE, join, percent, plural, shorten

__all__ = ["advice_words", "headline_words", "model_words", "size_words"]


def headline_words(found: RankingPosterior, noun: str = "arm") -> str:
    """Return whether there is one ranking, and how much scores explain.

    noun: what an arm is called.
    """
    preferences = f"of the preferences between {plural(noun)}"
    one = found.p_one_ranking
    share = found.cyclic_share
    weights = found.model_weights
    uneven = weights["uneven ranking"] + weights["ranks alone"]
    if one >= SURE and uneven >= 0.5:
        return (
            f"There is one ranking (probability {percent(one)} %), and margins differ from pair to "
            f"pair: scores explain {_explained(share)} {preferences}."
        )
    if one >= SURE:
        return (
            f"There is one ranking (probability {percent(one)} %): scores explain at least "
            f"{100 * (1 - share.upper):.0f} % {preferences}."
        )
    if one > 1 - SURE:
        return (
            "The log cannot tell whether there is one ranking. One ranking has probability "
            f"{percent(one)} %. Yes needs {100 * SURE:g} % or more, no needs "
            f"{100 * (1 - SURE):.0f} % or less. Scores explain {_explained(share)} {preferences}."
        )
    return (
        f"{_size(share)} {preferences} fit no ranking. The probability that there is one ranking "
        f"is {percent(one)} %."
    )


def size_words(found: RankingPosterior, noun: str = "arm") -> str:
    """Return whether one arm beats all others, and whether a cycle is large enough to matter."""
    top = found.top_cycle
    best = max(found.p_in_top_cycle.values())
    sure = found.p_condorcet_winner
    if len(top) == 1 and sure >= 0.5:
        winner = shorten(top[0], SENTENCE)
        chance = percent(min(sure, best))
        first = f"{winner} beats every other {noun} with probability {chance} %."
    elif sure >= 0.5:
        first = (
            f"One {noun} beats every other with probability {percent(sure)} %, but the log does "
            "not tell which one."
        )
    else:
        first = f"With probability {percent(1 - sure)} %, no {noun} beats all others."
        if top:
            named = [shorten(arm, SENTENCE) for arm in top]
            first += f" Probably {join(named, NAMED)} form the top cycle."
    return (
        f"{first} With probability {percent(found.p_material_cycle)} %, there is a cycle in which "
        f"each {noun} wins {100 * found.material:.0f} % or more of its duels with the next one."
    )


def advice_words(found: RankingPosterior, noun: str = "arm") -> str:
    """Return what to report."""
    nouns = plural(noun)
    if found.p_one_ranking >= SURE:
        return f"Use the ranking; under it all winner criteria name the same {noun}."
    if found.p_material_cycle <= 1 - SURE:
        return (
            "A ranking is a fair summary: cycles of that size can be ignored. Take win "
            "probabilities of single pairs from a model that allows cycles."
        )
    if found.p_condorcet_winner >= SURE:
        return (
            f"Report the {noun} that beats every other; the order of the other {nouns} is not "
            "reliable."
        )
    if found.p_material_cycle >= SURE:
        return (
            "A single ranking is not appropriate: use the von Neumann mixture (a mixture of "
            f"{nouns} that no {noun} beats), or the matrix of pairwise preferences."
        )
    return (
        "Report the ranking together with the winners by criterion of a model that allows cycles."
    )


def model_words(found: RankingPosterior, unit: str, noun: str = "arm") -> str:
    """Return the probabilities of the five models, and how preferences are measured.

    unit: one observation, "duel" or a majority verdict.
    """
    weights = [percent(weight) for weight in found.model_weights.values()]
    scores, uneven, ranks, exceptions, free = weights
    before = join([f"{100 * prior:g}" for prior in PRIOR.values()])
    counted = "" if unit == "duel" else f" One observation is one {unit}, not one duel."
    return (
        f"Five models of a pair have these probabilities: one score per {noun} {scores} %; a "
        f"ranking with uneven margins {uneven} %; a ranking that says nothing about "
        f"margins {ranks} %; such a ranking with exceptions {exceptions} %; scores and a "
        f"free residual per pair {free} %. (Before the log: {before} %.) Preferences are "
        "measured by the squared log odds of all pairs, which are 0 for a pair at 50 "
        f"%.{counted}"
    )


def _explained(share: CyclicShare) -> str:
    """Return what scores explain, as an interval."""
    least = 1 - share.upper
    most = 1 - share.lower
    return f"between {100 * least:.0f} and {100 * most:.0f} %"


def _size(share: CyclicShare) -> str:
    """Return the share with its interval, or the interval alone where it is wide."""
    low = f"{100 * share.lower:.0f}"
    high = f"{100 * share.upper:.0f}"
    # Width of the interval of the share, from which the log says little about it: 0.25
    if share.upper - share.lower > 0.25:
        return f"Between {low} and {high} %"
    return f"{100 * share.mean:.0f} % [{low}, {high}]"
