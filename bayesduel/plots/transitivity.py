"""Transitivity: cyclicity beside that of replicated logs, what contradicts the order, residuals."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.plots import style
from bayesduel.plots.preference import preference_size
from bayesduel.system.options import Decision

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.criticism.check_result import Check

__all__ = [
    "CYCLICITY_SIZE",
    "cycles_size",
    "plot_cycles",
    "plot_cyclicity",
    "plot_residuals",
    "residuals_size",
]

CYCLICITY_SIZE = (5.8, 2.7)  # inches, by eye
SHOWN_FROM = 0.5  # probability that the lower arm is the better one, above which there is an arc
residuals_size = preference_size


@style.figure(CYCLICITY_SIZE, "bayesduel.check")
def plot_cyclicity(check: "Check", ax: "Axes" = style.NEW) -> "Axes":
    """Plot the distribution of the cyclicity of replicated logs, and that of the log.

    The filled histogram is the statistic of the predictive check, over logs replicated from one
    score per arm on the same design. The vertical line is the log.

    Parameters
    ----------
    check
        What :func:`bayesduel.check` returned.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `check` is not what :func:`bayesduel.check` returned.
    ValueError
        If no triad of the log can close, so that there is nothing to draw.

    Examples
    --------
    >>> check = bd.check(bd.datasets.load("tversky1969"), quick=True)
    >>> ax = bd.plots.plot_cyclicity(check)
    >>> ax.figure.savefig('figure.png')
    """
    found = check.evidence
    if not found.n_replicated:
        raise ValueError("check should have triads that can close to draw, got none")
    drawn = found.replicated[:, 0]
    low = min(found.statistic, float(drawn.min()))
    high = max(found.statistic, float(drawn.max()))
    if high > low:
        # 35 bins of the histogram of replicated logs
        edges = np.linspace(low, high + 1e-9, 35 + 1)
    else:  # as a rule no log has a cycle: one bar, of width 1
        low -= 0.5
        high += 0.5
        edges = np.array([low, high])
    number, _ = np.histogram(drawn, edges)
    share = number / len(drawn)
    ax.stairs(share, edges, fill=True, color="#9ecae1")
    ax.axvline(found.statistic, color=style.STRONG, lw=2)
    left = found.statistic < (low + high) / 2
    ax.annotate(
        "this log",
        (found.statistic, 1),
        xycoords=("data", "axes fraction"),
        xytext=(5 if left else -5, -2),
        textcoords="offset points",
        ha="left" if left else "right",
        va="top",
        fontsize=9,
        color=style.STRONG,
    )
    room = 0.04 * max(high - low, 1e-3)
    ax.set_xlim(low - room, high + room)
    ax.set_ylim(0, 1.1 * float(share.max()))
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    ax.set_xlabel("cyclicity (log of the weights of cyclic triads)", fontsize=9, color=style.INK)
    ax.set_ylabel("replicated logs", fontsize=9, color=style.INK)
    style.plain(ax)
    return ax


def cycles_size(n_arms: int) -> tuple[float, float]:
    """Return the width and height in inches that suit the arcs of `n_arms` arms."""
    height = 0.26 * n_arms + 1.0
    return 5.4, min(max(height, 2.4), 12.0)


@style.figure(lambda check: cycles_size(check.duels.n_arms), "bayesduel.check")
def plot_cycles(check: "Check", ax: "Axes" = style.NEW) -> "Axes":
    """Plot the arms in order of strength, and arcs for what contradicts the order.

    An arc joins two arms of which the lower one beats the higher one with a probability above one
    half. It is darker where that is more certain, and thicker where the lower arm wins more duels.
    The 40 most certain arcs are drawn. A transitive log (``check.transitive``) has none: what
    contradicts its order is too small to matter. Strength is the mean of an arm's log odds against
    all others, by the five models of a pair; more than 45 arms are not named.

    Parameters
    ----------
    check
        What :func:`bayesduel.check` returned.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `check` is not what :func:`bayesduel.check` returned.
    ValueError
        If no three arms have all met, so that there can be no cycle.

    Examples
    --------
    >>> check = bd.check(bd.datasets.load("tversky1969"), quick=True)
    >>> ax = bd.plots.plot_cycles(check)
    >>> ax.figure.savefig('figure.png')
    """
    from matplotlib.patches import Arc

    found = check.ranking
    if found is None:
        raise ValueError("check should have three arms that have all met, got none")
    arms = check.duels.arms
    strength = found.odds.mean(axis=1)
    order = np.argsort(-strength, kind="stable")
    p_better = found.p_better[np.ix_(order, order)]
    sure = np.tril(p_better, -1)  # the lower arm beats the higher one
    against = np.argwhere(sure > SHOWN_FROM)
    certain = sure[tuple(against.T)]
    # 40 arcs at most: more cannot be told apart
    n_drawn = 0 if check.transitive else 40
    surest_first = np.argsort(-certain, kind="stable")
    drawn = against[surest_first[:n_drawn]]
    lengths = [lower - higher for lower, higher in drawn]
    longest = max(lengths, default=1)
    for lower, higher in drawn[::-1]:
        stronger = order[higher]
        weaker = order[lower]
        odds = found.odds[weaker, stronger]
        middle = (lower + higher) / 2
        height = lower - higher
        width = height / longest
        certainty = sure[lower, higher]
        opacity = 0.1 + 0.9 * (certainty - SHOWN_FROM) / (1 - SHOWN_FROM)
        thickness = np.clip(1.0 + 1.5 * odds, 1.0, 4.0)
        bow = Arc((0.02, middle), width, height, theta1=-90, theta2=90)
        bow.set(color=style.STRONG, alpha=float(opacity), lw=float(thickness))
        ax.add_patch(bow)
    place = np.arange(len(arms))
    centre = np.zeros(len(arms))
    ax.plot(centre, place, "o", ms=5, color=style.INK, zorder=3)
    # 45 arms whose names fit below each other
    named = place if len(arms) <= 45 else ()
    for k in named:
        name = style.shorten(arms[order[k]], 22)
        ax.annotate(
            name, (0, k), xytext=(-8, 0), textcoords="offset points", ha="right", va="center",
            fontsize=8, color=style.INK,
        )  # fmt: skip
    n_pairs = len(arms) * (len(arms) - 1) // 2
    n_sure = int((certain >= Decision.confidence).sum())
    said = _against(len(against), n_sure, n_pairs)
    if check.transitive and len(against):
        said = "No cycle that matters"
    ax.set_title(said, fontsize=9, color=style.INK)
    ax.set_xlim(-0.35, 0.55)
    ax.set_ylim(len(arms) - 0.5, -0.5)
    ax.axis("off")
    return ax


def _against(n: int, n_sure: int, n_pairs: int) -> str:
    """Return how many pairs contradict the order, the title of the arcs."""
    if not n:
        return f"None of {n_pairs:,} pairs contradicts the order"
    if not n_sure:
        return f"{n:,} of {n_pairs:,} pairs may contradict the order, none for certain"
    return f"{n:,} of {n_pairs:,} pairs may contradict the order, {n_sure:,} almost certainly"


@style.figure(lambda check: residuals_size(check.duels.n_arms), "bayesduel.check")
def plot_residuals(check: "Check", ax: "Axes" = style.NEW) -> "Axes":
    """Plot the results of all pairs, arms in rank order, and mark large residuals.

    Colour: the share of decided duels that the row won (purple) or the column (orange), with half
    a win added to each; grey where a pair never met. A cross marks pairs whose result has a
    p-value below 0.01 under one score per arm. In a transitive log all cells above the
    diagonal are purple, up to chance.

    Parameters
    ----------
    check
        What :func:`bayesduel.check` returned.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `check` is not what :func:`bayesduel.check` returned.
    ValueError
        If no duel of the log is decided.

    Examples
    --------
    >>> check = bd.check(bd.datasets.load("tversky1969"), quick=True)
    >>> ax = bd.plots.plot_residuals(check)
    >>> ax.figure.savefig('figure.png')
    """
    scores = check.evidence.scores
    if scores is None:
        raise ValueError("check should have decided duels to draw, got none")
    design = scores.design
    n_arms = design.n_arms
    order = np.argsort(-scores.mode[:n_arms], kind="stable")
    place = np.argsort(order)
    number = design.by_pair(design.n)
    won = design.by_pair(design.won)
    share = np.full((n_arms, n_arms), np.nan)
    a = place[design.first]
    b = place[design.second]
    won_by_first = (won + 0.5) / (number + 1)
    share[a, b] = won_by_first
    share[b, a] = 1 - won_by_first
    ax.set_facecolor("#e4e4e0")
    image = ax.imshow(share, cmap=style.DIVERGING, vmin=0, vmax=1, interpolation="nearest")
    pairs = check.residuals["pairs"]
    # P-value below which a pair is marked: 0.01
    far = pairs[pairs["p"] < 0.01]
    arms = check.duels.arms
    place_by_label = dict(zip(arms, place, strict=True))
    x = [place_by_label[str(arm)] for arm in far["first"]]
    y = [place_by_label[str(arm)] for arm in far["second"]]
    size = max(6.0, min(60.0, 1400 / n_arms))
    ax.scatter(x + y, y + x, marker="x", s=size, color=style.STRONG, lw=1.3)
    ax.set_xlim(-0.5, n_arms - 0.5)
    ax.set_ylim(n_arms - 0.5, -0.5)
    ranked = np.array(arms, dtype=object)[order]
    style.place_ticks(ax, ranked, "opponent, by rank")
    style.percent_bar(image, ax)
    return ax
