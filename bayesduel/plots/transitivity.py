"""Transitivity: cyclicity against null models, the most probable cycles, and residuals."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.criticism.transitivity.null_models import STRONG_MODELS
from bayesduel.plots import style
from bayesduel.plots.preference import preference_size
from bayesduel.text import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.criticism.check import Check

__all__ = [
    "CYCLES_SIZE",
    "CYCLICITY_SIZE",
    "plot_cycles",
    "plot_cyclicity",
    "plot_residuals",
    "residuals_size",
]

CYCLICITY_SIZE = (5.8, 2.7)
CYCLES_SIZE = (5.4, 4.6)
MOST_ARMS = 8  # arms in the graph of cycles
SHOWN_FROM = 0.5  # probability above which a cycle is plotted
residuals_size = preference_size
SURPRISING = 0.01  # p-value below which a pair is marked
STYLES: dict[str, Any] = {
    "logistic": "-",
    "normal": "--",
    "isotonic": "-.",
    "irregular": ":",
    "reordered": (0, (1, 3)),
    "mixture": (0, (4, 2, 1, 2)),
}
LABELS = {
    "logistic": "logistic scores",
    "normal": "normal scores",
    "isotonic": "strongly transitive",
    "irregular": "weakly transitive",
    "reordered": "weakly transitive, reordered",
    "mixture": "weakly transitive, mixture",
}


@style.figure(CYCLICITY_SIZE, "bayesduel.check")
def plot_cyclicity(check: "Check", ax: "Axes" = style.NEW) -> "Axes":
    """Plot the distribution of the cyclicity of replicated logs, and that of the log.

    Each curve is one transitive null model: the distribution of the test statistic over logs
    replicated from it. The filled one gives the reported p-value; the vertical line is the log.

    Raises
    ------
    ValueError
        If no triad of the log can close, so that there is nothing to draw.
    """
    found = check.evidence
    if not found.replicated:
        raise ValueError("check should have triads that can close to draw, got none")
    values = {model: logs[:, 0] for model, logs in found.replicated.items()}
    low = min(found.statistic, *(float(v.min()) for v in values.values()))
    high = max(found.statistic, *(float(v.max()) for v in values.values()))
    if high > low:
        edges = np.linspace(low, high + 1e-9, 36)
    else:  # as a rule no log has a cycle: one bar, of width 1
        low, high = low - 0.5, low + 0.5
        edges = np.array([low, high])
    tallest = 0.0
    for model, drawn in values.items():
        share = np.histogram(drawn, edges)[0] / len(drawn)
        tallest = max(tallest, float(share.max()))
        if model == found.likeliest:
            ax.stairs(share, edges, fill=True, color="#9ecae1", label=LABELS[model])
        else:
            colour = style.ACCENT if model in STRONG_MODELS else style.GREY
            ax.stairs(share, edges, color=colour, ls=STYLES[model], lw=1.2, label=LABELS[model])
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
    ax.set_ylim(0, 1.1 * tallest)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    ax.set_xlabel("cyclicity (log of the weights of cyclic triads)", fontsize=9, color=style.INK)
    ax.set_ylabel("replicated logs", fontsize=9, color=style.INK)
    ax.legend(
        fontsize=8, frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(-0.02, 1.0),
        columnspacing=1.2, handlelength=1.6,
    )  # fmt: skip
    style.plain(ax)
    return ax


@style.figure(CYCLES_SIZE, "bayesduel.check")
def plot_cycles(check: "Check", ax: "Axes" = style.NEW) -> "Axes":
    """Plot the most probable cycles as arrows, each with the probability of its majority.

    An arrow leads from the arm that wins to the arm that loses; darker arrows are more probable.
    Cycles with a probability above one half are included until eight arms are in the figure. Where
    no cycle has one, the figure says so.

    Raises
    ------
    ValueError
        If no triad of the log can close, so that there are no cycles.

    Examples
    --------
    >>> rows = {"left": list("abc") * 20, "right": list("bca") * 20, "outcome": [1] * 60}
    >>> ax = bd.plot_cycles(bd.check(bd.read_duels(rows), quick=True))
    """
    if check.cycle_posterior is None:
        raise ValueError("check should have found cycles to draw, got none")
    shown = [cycle for cycle in check.cycles if cycle.probability > SHOWN_FROM]
    if not shown:
        ax.axis("off")
        ax.text(0.5, 0.5, _no_cycle(check), color=style.INK, wrap=True, **style.CENTRED)
        return ax
    arms: list[str] = []
    arrows: dict[tuple[str, str], float] = {}
    for cycle in shown:
        new = [a for a in cycle.arms if a not in arms]
        if len(arms) + len(new) > MOST_ARMS:
            continue
        arms += new
        for k in range(3):
            arrows[cycle.arms[k], cycle.arms[(k + 1) % 3]] = cycle.steps[k]
    turn = np.pi / 2 - 2 * np.pi * np.arange(len(arms)) / len(arms)
    at = dict(zip(arms, zip(np.cos(turn), np.sin(turn), strict=True), strict=True))
    for (a, b), probability in arrows.items():
        ax.annotate(
            "",
            xy=at[b],
            xytext=at[a],
            arrowprops={
                "arrowstyle": "-|>",
                "color": style.ACCENT,
                "alpha": 0.25 + 0.75 * max(0.0, 2 * probability - 1),
                "lw": 1.6,
                "shrinkA": 11,
                "shrinkB": 11,
                "mutation_scale": 13,
            },
        )
        x, y = (0.56 * s + 0.44 * t for s, t in zip(at[a], at[b], strict=True))
        box = {"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none"}
        ax.text(x, y, percent(probability), fontsize=8, color=style.INK, bbox=box, **style.CENTRED)
    for arm, (x, y) in at.items():
        ax.plot(x, y, "o", ms=8, color=style.INK)
        side = "center" if abs(x) < 0.2 else ("left" if x > 0 else "right")
        ax.annotate(
            style.shorten(arm, 22),
            (x, y),
            xytext=(9 * np.sign(x) * (side != "center"), 11 * np.sign(y) * (side == "center")),
            textcoords="offset points",
            ha=side,
            va="center" if side != "center" else ("bottom" if y > 0 else "top"),
            fontsize=9,
            color=style.INK,
        )
    ax.set_xlim(-1.75, 1.75)
    ax.set_ylim(-1.3, 1.3)
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def _no_cycle(check: "Check") -> str:
    """Return that no cycle is drawn, and how probable the most probable one is."""
    said = "No cycle is drawn: none has a probability above one half."
    if not check.cycles:
        return said
    top = check.cycles[0]
    around = " > ".join(style.shorten(arm, 22) for arm in (*top.arms, top.arms[0]))
    return f"{said}\nThe most probable one has {percent(top.probability)} %:\n{around}."


@style.figure(lambda check: residuals_size(check.duels.n_arms), "bayesduel.check")
def plot_residuals(check: "Check", ax: "Axes" = style.NEW) -> "Axes":
    """Plot the results of all pairs, arms in rank order, and mark large residuals.

    Colour: the share of decided duels that the row won (purple) or the column (orange), with half
    a win added to each; grey where a pair never met. A cross marks pairs whose result has a
    p-value below 0.01 under the fitted transitive model. In a transitive log all cells above the
    diagonal are purple, up to chance.

    Raises
    ------
    ValueError
        If no duel of the log is decided.
    """
    null_models = check.evidence.null_models
    if null_models is None:
        raise ValueError("check should have decided duels to draw, got none")
    design = null_models.design
    n_arms = design.n_arms
    order = np.argsort(-null_models.best.fits[0].mode[:n_arms], kind="stable")
    place = np.argsort(order)
    number, won = design.by_pair(design.n), design.by_pair(design.won)
    share = np.full((n_arms, n_arms), np.nan)
    a, b = place[design.first], place[design.second]
    share[a, b] = (won + 0.5) / (number + 1)
    share[b, a] = 1 - share[a, b]
    ax.set_facecolor("#e4e4e0")
    image = ax.imshow(share, cmap=style.DIVERGING, vmin=0, vmax=1, interpolation="nearest")
    pairs = check.residuals["pairs"]
    far = pairs[pairs["p"] < SURPRISING]
    where = {label: k for k, label in enumerate(check.duels.arms)}
    x = place[[where[str(arm)] for arm in far["first"]]] if len(far) else np.array([], int)
    y = place[[where[str(arm)] for arm in far["second"]]] if len(far) else np.array([], int)
    size = max(6.0, min(60.0, 1400 / n_arms))
    ax.scatter([*x, *y], [*y, *x], marker="x", s=size, color=style.STRONG, lw=1.3)
    ax.set_xlim(-0.5, n_arms - 0.5)
    ax.set_ylim(n_arms - 0.5, -0.5)
    style.place_ticks(ax, np.array(check.duels.arms, dtype=object)[order], "opponent, by rank")
    style.percent_bar(image, ax)
    return ax
