"""Report section: raw counts beside the figures of the model."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.reporting.section import Group, Section, Table, blocks, frame_table
from bayesduel.text import SENTENCE, an, begun, first_rows, join, percent, plural, shorten

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.data.duels import Duels
    from bayesduel.posterior.winners import Winners

__all__ = ["raw_counts_section"]

ROWS = 60  # of a table on the page, two screens: counts are looked up; its files have all


def raw_counts_section(
    duels: "Duels",
    winners: "Winners",
    of_pairs: "Winners | None" = None,
    *,
    effects: str = "",
    noun: str = "arm",
) -> Section:
    """Return the section on head-to-head counts and winners by counting.

    Arms are in the order of `winners`; probabilities of pairs are those of `of_pairs`, by default
    of `winners`. `effects` names what arms have effects by in the model, such as "judge"; `noun` is
    what an arm is called.
    """
    from bayesduel.data.head_to_head import head_to_head, raw_winners

    raw = raw_winners(duels)
    pairs = head_to_head(duels)
    return Section(
        id="counts",
        title="Raw counts",
        body=blocks(
            _words(raw, duels, noun),
            _arms(raw, duels, winners, effects, noun),
            _pairs(pairs, duels, winners, of_pairs, noun),
        ),
    )


def _words(raw: "pd.DataFrame", duels: "Duels", noun: str) -> str:
    a = raw.attrs
    half = " A tie counts half a win." if duels.n_ties else ""
    if duels.votes is not None and duels.votes.sampling_weight is not None:
        half += " Each vote counts once, without its sampling weight."
    if a["condorcet"]:
        condorcet = f"{shorten(a['condorcet'], SENTENCE)} won most duels with every other {noun} "
        condorcet += "(raw Condorcet winner)."
    else:
        condorcet = f"No {noun} won most duels with every other {noun} (no raw Condorcet winner)."
    met = ""
    if a["pairs_met"] < a["pairs"]:
        met = f" {a['pairs_met']:,} of {a['pairs']:,} pairs met; shares are over opponents met."
    if duels.teams is not None:
        met += (
            f" Sides have several {plural(noun)}: a duel counts for each pair of opponents, "
            "whoever their partners were."
        )
    return (
        f"By counting, without a model: {condorcet} Largest share of opponents beaten (raw "
        f"Copeland): {join(a['copeland'])}. Largest mean share against an opponent (raw Borda): "
        f"{join(a['borda'])}.{half}{met}"
    )


def _arms(
    raw: "pd.DataFrame", duels: "Duels", winners: "Winners", effects: str, noun: str
) -> Table:
    """Return the table of arms, in the order of the model's ranking."""
    nouns = plural(noun)
    order = [str(a) for a in winners["arm"].values[winners["order"].values]]
    model = winners["win_rate"].to_series()
    rows = raw.loc[order].reset_index(names="arm").assign(model_win_rate=model[order].to_numpy())
    more = first_rows(ROWS, len(rows), f" {nouns}")
    won = "won"
    words = "Won: share of all duels."
    if duels.n_ties:
        won = "share of\npoints"
        words = "Share of points: of all duels, a tie counting half."
    why = f" It is against all other {nouns} alike; a count is against the opponents that "
    why += f"{an(noun)} met."
    if effects:
        why += (
            f" {begun(nouns)} have effects by {effects} in the fitted model: many votes of one "
            f"{effects} count less than as many votes of several."
        )
    columns = (
        ("l", noun, "{arm}"),
        ("n", "duels", "{duels:,.0f}"),
        ("n", won, lambda r: f"{100 * r['win_share']:.0f} %"),
        ("n", "opponents beaten\n/ level / lost to", "{beaten:.0f} / {level:.0f} / {lost_to:.0f}"),
        ("n", "raw\nCopeland", lambda r: f"{100 * r['copeland']:.0f} %"),
        ("n", "raw\nBorda", lambda r: f"{100 * r['borda']:.0f} %"),
        ("n", "model's\nwin rate", lambda r: f"{percent(r['model_win_rate'])} %"),
    )
    return frame_table(
        rows,
        columns,
        rows.head(ROWS),
        full=True,
        caption=f"In the order of the ranking. {words} Opponents: by majority of the duels with "
        f"them. Model's win rate: as in the ranking.{why}{more}",
    )


def _pairs(
    pairs: "pd.DataFrame",
    duels: "Duels",
    winners: "Winners",
    of_pairs: "Winners | None",
    noun: str,
) -> Group:
    """Return the head-to-head table: the pairs that met most."""
    halves = ", a tie counting half" if duels.n_ties else ""
    n_pairs = len(pairs)
    model_words = f"Model: probability that the first beats the second{halves}"
    if of_pairs is None:
        of_pairs = winners
    elif of_pairs is not winners:
        model_words += f", by {of_pairs.attrs['model']}, which allows cycles"
    pairs = _best_first(pairs, winners)
    if "preference_mean" not in of_pairs:
        pairs = pairs.head(10_000)  # of very many arms: their files are 1 MB of a page
    at = {str(arm): k for k, arm in enumerate(of_pairs["arm"].values)}
    first, second = ([at[arm] for arm in pairs[side].tolist()] for side in ("first", "second"))
    columns = [
        ("l", "first", "{first}"),
        ("l", "second", "{second}"),
        ("n", "won / tied / lost", "{first_wins:,} / {ties:,} / {second_wins:,}")
        if duels.n_ties
        else ("n", "won / lost", "{first_wins:,} / {second_wins:,}"),
        ("n", "share", lambda r: f"{100 * r['share']:.0f} %"),
        (
            "n",
            "95 % interval",
            lambda r: f"{100 * r['share_lower']:.0f} to {100 * r['share_upper']:.0f}",
        ),
    ]
    modelled = "preference_mean" in of_pairs
    if modelled:
        names = {"mean": "model_probability", "lower": "model_lower", "upper": "model_upper"}
        own = {n: of_pairs[f"preference_{e}"].values[first, second] for e, n in names.items()}
        pairs = pairs.assign(**own)
        columns.append(("n", "model", lambda r: f"{percent(r['model_probability'])} %"))
    filed = "all" if len(pairs) == n_pairs else f"{len(pairs):,}"
    more = (
        f" {ROWS} of {n_pairs:,} pairs: those that met most, and of these the best ranked "
        f"{plural(noun)} first; the files have {filed}."
    )
    if not modelled:
        more += " In Python, bayesduel.head_to_head(duels) has all."
    more = more if len(pairs) > ROWS else ""
    model_words = f" {model_words}." if modelled else ""
    table = frame_table(
        pairs,
        columns,
        pairs.head(ROWS),
        full=True,
        name="pairs",
        caption=f"Share: of the first{halves}, with Wilson's interval.{model_words}{more}",
    )
    return Group("Head to head", (table,), folded=True)


def _best_first(pairs: "pd.DataFrame", winners: "Winners") -> "pd.DataFrame":
    """Return the pairs that met most first; of these, those of the best ranked arms."""
    order = winners["arm"].values[winners["order"].values]
    place = {str(arm): rank for rank, arm in enumerate(order)}
    sides = ([place[arm] for arm in pairs[side].tolist()] for side in ("first", "second"))
    ranks = np.sort([*sides], axis=0)
    return pairs.iloc[np.lexsort((ranks[1], ranks[0], -pairs["duels"].to_numpy()))]
