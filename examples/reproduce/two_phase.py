"""Two-Phase on items with attributes: how regret grows, what it owes to their number, who wins.

Above: 100 items of 5 attributes, where the bound is n (f^-1(T) + 1) plus a constant; on the left
the best item stands apart by a margin, on the right it need not, and the constant is large. Below
left: the whole unit sphere, where the bound is of order sqrt(T). Below right: regret against the
number of items. The exponents are medians over runs of the slope of ln regret in ln t in the last
decade. docs/validation/attributes.md says more of them.

    python examples/reproduce/two_phase.py --quick --workers 2
"""

import matplotlib.pyplot as plt
import numpy as np
from headline import Headline, exponent, slope_of_runs

import bayesduel as bd
from bayesduel.intervals import median_interval
from bayesduel.problems import LogisticDuels, LogisticItems, UnitSphere

FULL = {"runs": 16, "horizon": 100_000, "largest": 1_000_000}
QUICK = {"runs": 4, "horizon": 20_000, "largest": 10_000}
PAPER = "Two-Phase paper"
MARGIN = 0.05
IN_EPOCHS = [
    bd.policies.TwoPhase(),
    bd.policies.TwoPhase(schedule="iterated"),
    bd.policies.GLMETC(),
]
BY_ITEM = [bd.policies.KLUCB(), bd.policies.ThompsonBeta()]
ALL = [*IN_EPOCHS, bd.policies.LogisticThompson(), bd.policies.LogisticUCB(), *BY_ITEM]
ON_SPHERE = [*IN_EPOCHS, bd.policies.LogisticThompson()]
OF_DUELS = [
    bd.policies.LogisticDuelThompson(),
    bd.policies.LogisticDuelThompson(challenger="information"),
]
NUMBERS = (10**2, 10**3, 10**4, 10**5, 10**6)


def log_squared(horizon: float) -> float:
    """Return the exponent of (ln t)^2 in t over the last decade."""
    x = np.geomspace(horizon / 10, horizon)
    return slope(np.log(x), np.log(x) ** 2)


# By family: the claim, and the exponents of regret in t over the last decade that it allows.
AT_MOST = {
    LogisticItems(gap=MARGIN).name: (
        "exponent of regret at most that of (ln t)^2 where the best item is ahead by 0.05",
        -1.0,
        log_squared,
    ),
    UnitSphere(n_attributes=4).name: (
        "regret of order sqrt(T) on the unit sphere: exponent 0.4 to 0.6",
        0.4,
        lambda horizon: 0.6,
    ),
}


def main(arguments: list[str] | None = None) -> None:
    run = Headline("two phase", (FULL, QUICK), arguments, seed=1)
    runs, length, largest = (int(run.sizes[key]) for key in ("runs", "horizon", "largest"))
    figure, panels = plt.subplots(2, 2, figsize=(13, 10), layout="constrained")

    print("Exponent of regret in t over the last decade, 95 % interval:")
    for name, curve in (
        ("ln t", np.log),
        ("(ln t)^2", lambda t: np.log(t) ** 2),
        ("sqrt t", np.sqrt),
    ):
        x = np.geomspace(length / 10, length)
        print(f"  {name + ' itself':81} {slope(np.log(x), curve(x)):6.2f}")
    table = {}
    for ax, family, policies in (
        (panels[0, 0], LogisticItems(gap=MARGIN), ALL),
        (panels[0, 1], LogisticItems(), ALL),
        (panels[1, 0], UnitSphere(n_attributes=4), ON_SPHERE),
        (None, LogisticDuels(), OF_DUELS),
    ):
        label = family.name.replace(" ", "-")
        trace = run.trace(label, policies, family, length, replications=runs)
        if ax is not None:
            bd.plot_regret(trace, ax=ax, log_regret=True)
            ax.set_title(f"{family.name}, {runs} runs", loc="left", fontsize=10)
        regret = bd.regret(trace)
        for name in regret["policy"].values:
            middle, low, high = exponent(trace, name)
            print(f"  {family.name:36} {name:42} {middle:6.2f} [{low:.2f}, {high:.2f}]")
        told = f"{family.name}, T = {length:,}, {runs} runs"
        if family.name in AT_MOST:
            claim, least, most = AT_MOST[family.name]
            found = exponent(trace, "TwoPhase")
            run.within(PAPER, told, f"Two-Phase: {claim}", found, least, most(length), runs)
        for time in (length / 100, length):
            near = regret.sel(time=time, method="nearest")
            table[f"{family.name}, T = {int(near['time']):,}"] = near

    horizon = length / 10
    by_number = {}
    for m in (m for m in NUMBERS if m <= largest):
        policies = IN_EPOCHS  # one pass over the items an epoch, not a pull
        policies = policies + [bd.policies.LogisticThompson()] * (m <= 10**5)
        policies = policies + BY_ITEM * (m <= 10**3)
        trace = run.trace(
            f"items-{m}",
            policies,
            LogisticItems(n_arms=m, gap=MARGIN),
            horizon,
            replications=runs,
            record_at=[int(horizon)],
        )
        last = bd.regret(trace).isel(time=-1)
        table[f"{m:,} items, margin {MARGIN:g}, T = {int(horizon):,}"] = last
        for name in last["policy"].values:
            by_number.setdefault(str(name), []).append((m, last.sel(policy=name).values))
    lines, names = panels[0, 0].get_legend_handles_labels()
    colours = {n: line.get_color() for n, line in zip(names, lines, strict=True)}
    draw_numbers(panels[1, 1], by_number, horizon, colours)
    tell_growth(by_number)
    for ax in panels.flat[:3]:
        ax.get_legend().remove()
    figure.legend(lines, names, loc="outside upper center", ncols=4, frameon=False)
    tell_winners(table)
    numbers = [m for m, _ in by_number["TwoPhase"]]
    told = f"{numbers[0]:,} to {numbers[-1]:,} items, T = {horizon:,.0f}"
    for name in ("TwoPhase", "GLMETC"):
        claim = f"{name}: exponent of regret in the number of items at most 0.1 from 0"
        source = PAPER if name == "TwoPhase" else "ours"
        run.within(source, f"{told}, {runs} runs", claim, growth(by_number[name]), -0.1, 0.1, runs)
    for where, last in table.items():
        if "LogisticThompson" in last["policy"].values and f"{length:,}" in where:
            regrets = {
                name: last.sel(policy=name).values for name in ("TwoPhase", "LogisticThompson")
            }
            run.below("ours", f"{where}, {runs} runs", regrets, "LogisticThompson", "TwoPhase")
    run.finish(figure)


def slope(x: np.ndarray, regret: np.ndarray) -> float:
    return float(np.polyfit(x, np.log(np.maximum(regret, 1e-9)), 1)[0])


def tell_growth(by_number: dict) -> None:
    """Print the slope of ln regret in ln m."""
    print("\nExponent of regret in the number of items, 95 % interval:")
    for name, rows in by_number.items():
        if len(rows) > 1:
            middle, low, high = growth(rows)
            numbers = f"{rows[0][0]:,} to {rows[-1][0]:,}"
            print(f"  {name:30} {numbers:17} {middle:5.2f} [{low:.2f}, {high:.2f}]")


def growth(rows: list) -> tuple[float, float, float]:
    """Return the median over runs of the slope of ln regret in ln m, and its 95 % interval."""
    numbers, regrets = zip(*rows, strict=True)
    return slope_of_runs(numbers, np.array(regrets))


def draw_numbers(ax, by_number: dict, horizon: float, colours: dict) -> None:
    """Draw median regret against the number of items, with the intervals of the medians."""
    for name, rows in by_number.items():
        m, regrets = zip(*rows, strict=True)
        middle = np.median(regrets, axis=1)
        low, high = median_interval(np.array(regrets), 0.95)
        ends = np.nan_to_num([middle - low, high - middle], posinf=0.0)  # of few runs: none
        ax.errorbar(m, middle, yerr=ends, marker="o", capsize=3, label=name, color=colours[name])
    ax.set(xscale="log", yscale="log", xlabel="items", ylabel="cumulative pull regret")
    ax.set_title(f"after {int(horizon):,} pulls, margin {MARGIN:g}", loc="left", fontsize=10)
    ax.spines[["top", "right"]].set_visible(False)


def tell_winners(table: dict) -> None:
    """Print mean regrets, and who is lowest by more than two standard errors of a difference."""
    print("\nMean regret (standard error); runs share problems and coins:")
    for where, last in table.items():
        order = last.mean("replication").values.argsort()
        names = [str(name) for name in last["policy"].values]
        n = last.sizes["replication"]
        told = []
        for k in order:
            values = last.isel(policy=k).values
            told.append(f"{names[k]} {values.mean():.0f} ({values.std(ddof=1) / n**0.5:.0f})")
        ahead = last.isel(policy=order[1]).values - last.isel(policy=order[0]).values
        clear = ahead.mean() > 2 * ahead.std(ddof=1) / n**0.5
        verdict = f"{names[order[0]]} wins" if clear else "no clear winner"
        print(f"  {where}: {verdict}\n    {', '.join(told)}")


if __name__ == "__main__":
    main()
