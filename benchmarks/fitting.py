"""Fitting: Laplace against NUTS, and beside choix, evalica and statsmodels, in one run.

Run with ``python -m benchmarks.fitting``. All times are wall seconds on this machine, after
compilation, the best of three; compare the ratios, not the seconds.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import arviz as az
import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.inference.conditional_mode import find_mode, score_covariance
from bayesduel.inference.design import centre
from bayesduel.inference.fit import fit
from bayesduel.inference.laplace import conditionals
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.models import BradleyTerry
from bayesduel.posterior.winners import winners

SIZES = ((10, 10_000), (100, 10_000), (100, 1_000_000), (1000, 1_000_000))


def simulate(n_arms: int, n_duels: int, seed: int = 0) -> Duels:
    """Return duels of random pairs of arms whose scores are Normal(0, 1)."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n_arms)
    left = rng.integers(0, n_arms, n_duels)
    right = (left + rng.integers(1, n_arms, n_duels)) % n_arms
    win = rng.random(n_duels) < 1 / (1 + np.exp(score[right] - score[left]))
    wins = np.zeros((n_arms, n_arms))
    np.add.at(wins, (np.where(win, left, right), np.where(win, right, left)), 1)
    return Duels.from_wins(wins)


def best(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """Return the least seconds of `times` runs, and the last result."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def density(duels: Duels, scale: float | None = np.inf) -> LinearPredictor:
    """Return the log density of Bradley-Terry on a log; by default under a flat prior."""
    model = BradleyTerry(scale=scale)
    return linear_predictor(model, model.cells(duels))


def mode_and_covariance(duels: Duels) -> Any:
    """Return maximum-likelihood scores and their covariance: flat prior, Newton."""
    mode = find_mode(density(duels), 0.0)
    return score_covariance(mode, duels.n_arms)


def against_peers() -> list[dict[str, Any]]:
    """Return rows of point estimates and uncertainty, ours and the peers'."""
    import choix
    import evalica
    import statsmodels.api as sm

    rows = []
    for n_arms, n_duels in SIZES:
        duels = simulate(n_arms, n_duels)
        wins = duels.tally().wins
        name = f"{n_arms} arms, {n_duels:,} duels"
        ilsr, theirs = best(lambda w=wins: choix.ilsr_pairwise_dense(w, tol=1e-8))
        mode_and_covariance(duels)  # compile
        ours, _ = best(lambda d=duels: mode_and_covariance(d))
        grid, _ = best(lambda d=duels: conditionals(density(d, None)))
        found = find_mode(density(duels), 0.0)
        gap = abs(centre(found.x) - (theirs - theirs.mean())).max()
        rows += [
            _row("choix ILSR dense, scores only", name, ilsr, ilsr),
            _row(f"ours, scores and covariance (largest gap {gap:.0e})", name, ours, ilsr),
            _row("ours, learned scale integrated", name, grid, ilsr),
        ]
        if n_arms <= 100 and n_duels <= 10_000:
            votes = _votes(duels)
            boot, _ = best(
                lambda v=votes: evalica.bootstrap(
                    evalica.bradley_terry,
                    *v,
                    bootstrap_method="percentile",
                    n_resamples=100,
                    random_state=1,
                ),
                1,
            )
            rows.append(
                _row(
                    "evalica, 1,000-resample bootstrap (100 timed)",
                    name,
                    10 * boot,
                    ilsr,
                )
            )
            pairs = duels.pairs()
            design = np.zeros((len(pairs.first), n_arms))
            design[np.arange(len(design)), pairs.first] = 1
            design[np.arange(len(design)), pairs.second] = -1
            counts = np.stack([pairs.first_wins, pairs.second_wins], axis=1)
            glm, _ = best(
                lambda c=counts, x=design: sm.GLM(c, x[:, 1:], family=sm.families.Binomial()).fit()
            )
            rows.append(_row("statsmodels GLM, scores and covariance", name, glm, ilsr))
    return rows


def against_nuts() -> list[dict[str, Any]]:
    """Return rows of effective draws a second, Laplace with its certificate and NUTS."""
    rows = []
    for n_arms, n_duels in SIZES[:3]:
        duels = simulate(n_arms, n_duels)
        name = f"{n_arms} arms, {n_duels:,} duels"
        rates = {}
        for method in ("laplace", "nuts"):
            options: dict[str, Any] = {"method": method, "log_likelihood": False}
            fit(duels, **options)  # compile
            seconds, tree = best(lambda d=duels, o=options: fit(d, **o), 1 + 2 * (method[0] == "l"))
            effective = tree.attrs["importance_ess"]
            if method == "nuts":
                effective = float(az.ess(tree["posterior"]["score"]).min())
            rates[method] = effective / seconds, seconds, tree
        means = {m: r[2]["posterior"]["score"].mean(("chain", "draw")) for m, r in rates.items()}
        error = np.sqrt(
            rates["laplace"][2]["posterior"]["score"].var(("chain", "draw"))
            * (1 / rates["laplace"][2].attrs["importance_ess"])
            + az.mcse(rates["nuts"][2]["posterior"]["score"]) ** 2
        )
        gap = float((abs(means["laplace"] - means["nuts"]) / error).max())
        for method, (rate, seconds, tree) in rates.items():
            rows.append(
                {
                    "what": f"fit by {method}"
                    + (
                        f", k-hat {tree.attrs['khat']:.2f}"
                        if method == "laplace"
                        else f" (largest gap of means {gap:.1f} standard errors)"
                    ),
                    "log": name,
                    "seconds": seconds,
                    "effective draws a second": rate,
                    "ratio": rate / rates["nuts"][0],
                }
            )
    return rows


def winners_beside_fit() -> list[dict[str, Any]]:
    """Return a row: the winners of a fit of 100 arms, beside the fit itself."""
    duels = simulate(100, 25_000)
    winners(fit(duels))  # compile
    fitting, tree = best(lambda: fit(duels))
    electing, _ = best(lambda: winners(tree))
    return [
        {
            "what": "winners of a fit",
            "log": "100 arms, 25,000 duels",
            "seconds": electing,
            "times the fit": electing / fitting,
        }
    ]


def _votes(duels: Duels) -> Any:
    import evalica

    wins = duels.tally().wins.astype(int)
    i, j = np.nonzero(wins)
    row = np.repeat(np.arange(len(i)), wins[i, j])
    names = np.array(duels.arms)
    return list(names[i[row]]), list(names[j[row]]), [evalica.Winner.X] * len(row)


def _row(what: str, log: str, seconds: float, ilsr: float) -> dict[str, Any]:
    return {"what": what, "log": log, "seconds": seconds, "times choix": seconds / ilsr}


def run() -> list[dict[str, Any]]:
    """Print the tables and return their rows."""
    from benchmarks.tables import show

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peers, methods, elected = against_peers(), against_nuts(), winners_beside_fit()
    show("Bradley-Terry: scores and their uncertainty", peers)
    show("Posterior draws: Laplace, certified, against NUTS", methods)
    show("Winners", elected)
    return peers + methods + elected


if __name__ == "__main__":
    run()
