"""The pairs whose next duel has the largest expected information gain.

The expected information gain of a duel is the mutual information, in bits, between its outcome
and the quantity of interest: the winner, or the scores of all arms.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.intervals import eti
from bayesduel.jit import interpreted
from bayesduel.posterior.draws import Draws, draws_of, duels_of_pairs, without_retired
from bayesduel.posterior.estimand import estimand_words
from bayesduel.posterior.mutual_information import (
    information_about_answers,
    information_about_scores,
)
from bayesduel.posterior.verdict import tied_group
from bayesduel.posterior.winners import check_decision
from bayesduel.preference import beats, copeland_scores
from bayesduel.preference.scores import EQUAL
from bayesduel.system.arguments import check_one_of, whole
from bayesduel.system.memory import TABLE_ARMS
from bayesduel.system.options import Decision

__all__ = ["next_pairs"]


def next_pairs(
    fit: xr.DataTree,
    n: int = 5,
    about: Literal["winner", "scores", "auto"] = "auto",
    *,
    rope: float = Decision.rope,
    confidence: float = Decision.confidence,
    retired: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the pairs with the largest expected information gain, the largest first.

    Parameters
    ----------
    fit
        What `bayesduel.fit` returned.
    n
        How many pairs.
    about
        "winner": information about who is the winner (best score; Copeland winner in models
        without scores). "scores": information about the whole preference matrix,
        ``H(E p) - E H(p)`` with H the entropy of the outcome. "auto": "winner" as long as the
        verdict is open, then "scores".
    rope, confidence
        What "auto" takes for a settled verdict, as in `bayesduel.winners`.
    retired
        Labels of arms that are not asked about any more, as in `bayesduel.winners`.

    Returns
    -------
    One row per pair: ``first``, ``second`` (labels), ``bits`` (expected information of one
    duel), ``preference_mean``, ``preference_lower``, ``preference_upper`` (first against
    second, 95 % interval) and ``duels`` (so far). ``attrs["about"]`` says what was asked,
    ``attrs["controls"]`` which duels that is about, as in `bayesduel.winners`. The pairs are each
    the best single question; after asking one, fit and ask again.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; the message names it.

    References
    ----------
    Lindley, "On a measure of the information provided by an experiment", Annals of
    Mathematical Statistics 1956; Houlsby, Huszár, Ghahramani & Lengyel, "Bayesian active
    learning for classification and preference learning", 2011. The information about the
    winner is corrected to first order for its bias in a finite number of draws.

    Examples
    --------
    >>> bd.next_pairs(bd.fit(bd.datasets.load("tennis1990")))[["first", "second", "duels"]].head(2)
      first       second  duels
    0  Graf        Seles      5
    1  Graf  Navratilova      3
    """
    n = whole(n, "n", 1)
    check_decision(rope, confidence)
    check_one_of(about, "about", ("winner", "scores", "auto"))
    draws, labels, _ = draws_of(fit)
    if retired:
        draws, labels = without_retired(draws, labels, retired)
    if draws.many:
        raise ValueError(
            f"fit should have at most {TABLE_ARMS:,} arms for a choice among all pairs, got "
            f"{len(labels):,}: fit a part (Duels.subset)"
        )
    share, settled = _candidates(draws, rope, confidence)
    if about == "auto":
        about = "scores" if settled else "winner"
    share = share[:: draws.pair_step]
    held = None
    if about == "winner":
        ever_best = share.any(0)
        held = np.ascontiguousarray(share[:, ever_best], float)
    pairs = len(labels) * (len(labels) - 1) // 2
    # 50,000 entropies take tenths of a second as plain Python, compiling two seconds
    few = held is not None and pairs * held.shape[1] <= 50_000
    first = []
    second = []
    bits = []
    for i, j, _, chances in draws.outcomes():
        first.append(i)
        second.append(j)
        loss = np.asarray(1 - sum(chances.values()))
        every = [*chances.values(), loss]
        information = _information(every, held, plain=few)
        bits.append(information)
    gain = np.concatenate(bits)
    best = np.argsort(-gain, kind="stable")[:n]
    i = np.concatenate(first)[best]
    j = np.concatenate(second)[best]
    preference = draws.expected_score(slice(None), i, j).T
    low, high = eti(preference, 0.95)
    frame = pd.DataFrame(
        {
            "first": [labels[k] for k in i],
            "second": [labels[k] for k in j],
            "bits": gain[best],
            "preference_mean": preference.mean(1),
            "preference_lower": low,
            "preference_upper": high,
            "duels": duels_of_pairs(fit, draws.arms[i], draws.arms[j]),
        }
    )
    frame.attrs["about"] = about
    frame.attrs["controls"] = estimand_words(fit)
    return frame


def _candidates(draws: Draws, rope: float, confidence: float) -> tuple[np.ndarray, bool]:
    """Return each arm's share of the win in each draw, (draws, K), and if that is settled."""
    score = draws.score
    if score is not None:
        best = score == score.max(1, keepdims=True)
        n_best = best.sum(1, keepdims=True)
        sole = best & (n_best == 1)
        leader = score.argmax(1)
        unbeaten = draws.against(leader) >= 0.5 - rope - EQUAL
    else:
        parts = []
        for P in draws.matrices():
            copeland = copeland_scores(P)
            most = copeland.max(-1, keepdims=True)
            is_best = copeland >= most - EQUAL
            n_beaten = beats(P).sum(-1)
            is_sole = n_beaten == draws.n_arms - 1
            is_unbeaten = P.max(-2) <= 0.5 + rope + EQUAL
            parts.append((is_best, is_sole, is_unbeaten))
        best, sole, unbeaten = map(np.concatenate, zip(*parts, strict=True))
    tied, _ = tied_group(unbeaten, confidence)
    likeliest = sole.mean(0).max()
    settled = len(tied) >= 2 or bool(likeliest >= confidence)
    return best / best.sum(1, keepdims=True), settled


def _information(chances: list[np.ndarray], share: np.ndarray | None, *, plain: bool) -> np.ndarray:
    """Return the information of a duel in bits, shape (pairs,).

    `chances` has each outcome's probability, (pairs, draws); `share` each arm's share of the win,
    (draws, arms), or None for information about the scores. `plain` is whether that about the
    winner is computed as plain Python.
    """
    binary = len(chances) == 2
    nats = np.zeros(len(chances[0]))
    asked = chances[:-1] if binary else chances
    for c in asked:
        chance = np.ascontiguousarray(c, float)
        if share is None:
            nats += information_about_scores(chance, binary=binary)
        else:
            with interpreted(plain):
                nats += information_about_answers(chance, share, binary=binary, corrected=True)
    return np.maximum(nats, 0.0) / np.log(2)
