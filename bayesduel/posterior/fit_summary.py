"""What a fit is, on a few lines: model, priors, what votes share, method, verdict."""

import json
import warnings
from dataclasses import dataclass
from html import escape
from typing import Any

import xarray as xr

from bayesduel.posterior.dependence import dependence_of
from bayesduel.posterior.draws import check_fit
from bayesduel.posterior.estimand import estimand_words
from bayesduel.posterior.winners import winners
from bayesduel.text import SCREEN, count, wrapped

__all__ = ["FitSummary", "summary"]

LABEL = 10  # columns of the name of a line
UNITS = {"duels": "duel", "rankings": "ranking", "pulls": "pull"}


@dataclass(frozen=True, kw_only=True)
class FitSummary:
    """A fit in words; printed, a few lines; a table in a notebook.

    Attributes
    ----------
    source
        Name of the log.
    n_arms, n_units, unit
        How many arms and how many duels, rankings or pulls.
    model
        The model in words.
    reasons
        Why it is that one, where the log decided.
    priors
        The prior of each variable, in PyMC's words.
    ties
        What a tie counts for.
    votes
        What votes share, and how it entered.
    answers
        Which duels answers are about, where not all.
    method
        The method, why it was taken, and its certificate.
    draws
        Posterior draws in all, and the chains.
    verdict
        Sentence of :func:`bayesduel.winners` at its default rope and confidence; "" of pulls.
    groups
        Groups of the tree.

    Examples
    --------
    >>> found = bd.summary(bd.fit(bd.datasets.load("tennis1990")))
    >>> found.priors
    {'score': 'Normal(mu=0, sigma=scale)', 'scale': 'HalfNormal(sigma=2)'}
    """

    source: str
    n_arms: int
    n_units: int
    unit: str
    model: str
    reasons: tuple[str, ...]
    priors: dict[str, str]
    ties: str
    votes: str
    answers: str
    method: str
    draws: str
    verdict: str
    groups: tuple[str, ...]

    @property
    def head(self) -> str:
        """What the fit is of."""
        arms = count(self.n_arms, "arm")
        units = count(self.n_units, self.unit)
        return f"Fit of {self.source}: {arms}, {units}"

    @property
    def lines(self) -> dict[str, str]:
        """Each line by its name."""
        priors = [f"{name} ~ {prior}" for name, prior in self.priors.items()]
        found = {
            "model": " ".join([f"{self.model}.", *self.reasons]),
            "priors": "; ".join(priors),
            "ties": self.ties,
            "votes": self.votes,
            "answers": self.answers,
            "method": self.method,
            "draws": self.draws,
            "verdict": self.verdict,
            "groups": ", ".join(self.groups),
        }
        return {name: words for name, words in found.items() if words}

    def __repr__(self) -> str:
        indent = " " * LABEL
        rows = [*wrapped(self.head, SCREEN.columns)]
        for name, words in self.lines.items():
            label = name.ljust(LABEL)
            rows += wrapped(words, SCREEN.columns, label, indent)
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        left = ' style="text-align: left"'
        rows = "".join(
            f"<tr><th{left}>{name}</th><td{left}>{escape(words)}</td></tr>"
            for name, words in self.lines.items()
        )
        return f"<p><strong>{escape(self.head)}</strong></p><table>{rows}</table>"


def summary(fit: xr.DataTree) -> FitSummary:
    """Return what a fit is: model, priors, what votes share, method and certificate, verdict.

    A fit prints as this.

    Parameters
    ----------
    fit
        What :func:`bayesduel.fit` returned.

    Raises
    ------
    TypeError
        If `fit` is not a fit.

    Examples
    --------
    >>> bd.summary(bd.fit(bd.datasets.load("tennis1990"))).model
    'Bradley-Terry (one score per arm, logit link)'
    """
    check_fit(fit)
    attrs = fit.attrs
    duel = fit.duel
    log_type = duel.model.log_type
    sizes = fit["posterior"].sizes
    method = str(attrs["method"])
    return FitSummary(
        source=str(attrs.get("source", "a log")),
        n_arms=len(duel.arms),
        n_units=int(attrs[f"n_{log_type}"]),
        unit=UNITS[log_type],
        model=duel.model.title,
        reasons=tuple(json.loads(attrs.get("model_reasons", "[]"))),
        priors=json.loads(attrs.get("priors", "{}")),
        ties=str(attrs.get("tie_rule", "")),
        votes=dependence_of(fit, duel.covariance(), "auto").sentence,
        answers=estimand_words(fit),
        method=f"{method} ({attrs['method_reason']})",
        draws=f"{duel.n_draws:,} in {count(sizes['chain'], 'chain')}, seed {attrs['seed']}",
        verdict=_verdict(fit) if log_type != "pulls" else "",
        groups=tuple(fit.children),
    )


def _verdict(fit: xr.DataTree) -> str:
    """Return the verdict of a fit, with the rope and the confidence that it is of."""
    with warnings.catch_warnings(action="ignore"):  # the line on votes says what they do
        won: Any = winners(fit)
    told = won.attrs
    rope = told["rope"]
    confidence = told["confidence"]
    return f"{told['verdict']} (Rope {rope:g}, confidence {confidence:g}.)"
