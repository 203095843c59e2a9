"""Which votes of a log depend on one another, and what the draws of a fit say of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.data.labels import without_words
from bayesduel.data.votes import MANY_MISSING
from bayesduel.inference.clusters import BOTH, VOTE
from bayesduel.system.arguments import as_options, by_reader
from bayesduel.system.warnings import BayesduelWarning
from bayesduel.text import count, join

__all__ = [
    "FEWEST",
    "LEAST_DEGREES",
    "Dependence",
    "FewClustersWarning",
    "MissingLabelWarning",
    "RepeatedVotesWarning",
    "clusters_words",
    "dependence_of",
]

RANKINGS_APART = (
    "Rankings are taken as independent given the scores. The places within one ranking "
    "are not independent."
)
LEAST_DEGREES = 4  # of freedom, below which Student's t is rough: Tipton 2015
FEWEST = 3  # clusters below which no verdict is given: there is one degree of freedom at most


class FewClustersWarning(BayesduelWarning):
    """Votes depend on one another in too few clusters for a verdict."""


class MissingLabelWarning(BayesduelWarning):
    """Many votes name no judge or group: each is taken as one of its own."""


class RepeatedVotesWarning(BayesduelWarning):
    """Votes are repeated and the model takes them as independent."""


@dataclass(frozen=True, kw_only=True)
class Dependence:
    """What the standard errors of some draws account for."""

    # "model" (votes independent given the parameters), "judge", "group" or "judge and group"
    covariance: str
    # number of clusters (of two-way clustering the smaller one); 0 where votes are independent
    n_clusters: int
    # median degrees of freedom of Student's t over the arms; infinite where votes are independent
    degrees: float
    sentence: str  # what was done and why
    refusal: str = ""  # why there is no verdict, or ""
    # whether votes are repeated, and taken as independent for want of such errors
    ignored: bool = False
    # votes without a judge, and without a group, of the roles by which errors are robust
    lone: Mapping[str, int] = field(default_factory=dict)
    missing: str = ""  # that these are many, and what to do, or ""

    @property
    def attrs(self) -> dict[str, Any]:
        """The same as attributes of a Dataset."""
        return {
            "covariance": self.covariance,
            "n_clusters": self.n_clusters,
            "degrees_of_freedom": self.degrees,
            "dependence": self.sentence,
            "votes_without_label": json.dumps(dict(self.lone)),
        }


def dependence_of(fit: xr.DataTree, used: str, asked: str, noun: str = "arm") -> Dependence:
    """Return what the draws of a fit account for; `noun` is what an arm is called.

    Tipton, "Small sample adjustments for robust variance estimation with meta-regression",
    Psychological Methods 2015, for the degrees of freedom below which Student's t is rough.
    """
    independent = Dependence(
        covariance=used,
        n_clusters=0,
        degrees=np.inf,
        sentence=f"{_units(fit)} are taken as independent, as asked.",
    )
    if "dependence" in fit.attrs:  # a mixture says what its parts account for
        sentence, refusal = json.loads(fit.attrs["dependence"])
        return replace(independent, sentence=sentence, refusal=refusal)
    if used == "model":
        if asked != "auto":
            return independent
        ignored = bool(_why_not_robust(fit))
        return replace(independent, sentence=_why_independent(fit), ignored=ignored)
    at = fit["clusters"].dataset.sel(clustering=used)
    counts = json.loads(fit.attrs["clusters_repeated"])
    n = int(at["n_clusters"])
    degrees = float(at["score_degrees_cluster"].median())
    every_lone = json.loads(fit.attrs.get("clusters_lone", "{}"))  # an earlier version has none
    by = used.split(" and ")
    roles = [name for name in counts if name in by and name != VOTE]
    lone = {name: every_lone[name] for name in roles if name in every_lone}
    unit = "votes" if used == VOTE else "clusters"
    clusters = f"{n:,} {unit}"
    if used == BOTH:
        judges = counts["judge"]
        groups = counts["group"]
        clusters = f"{judges:,} and {groups:,} clusters"
    if lone:
        said = []
        for role in roles:
            n_lone = lone.get(role, 0)
            said.append(clusters_words(role, counts[role], n_lone))
        clusters = "; ".join(said)
    shown = f"{degrees:.1f}" if degrees < 10 else f"{degrees:,.0f}"
    robust = f"cluster-robust by {used}" if used != VOTE else "robust to the sampling weights"
    effects = ""
    if own := [role for role in fit.duel.model.terms.samples if role in by]:
        effects = f"The fitted model has effects by {join(own)}. "
    sentence = (
        f"{effects}Standard errors are {robust} ({clusters}). They are bias-reduced, and "
        f"intervals use Student's t with {shown} degrees of freedom for the median {noun}."
    )
    known = [name for name in counts if name in by]
    role = min(known, key=counts.get, default="")
    if degrees < LEAST_DEGREES:
        sentence += f" With fewer than {LEAST_DEGREES} degrees of freedom, intervals are rough."
    these = "votes" if role in lone else f"{counts.get(role)} {role}s"
    if role and degrees < LEAST_DEGREES:
        sentence += (
            " They are wide for this reason, too. "
            f"If results need to hold for these {these} only, read the log without "
            f"them ({as_options(**{role: False})})."
        )
    refusal = ""
    if n < FEWEST and asked == "auto":
        refusal = (
            f"No verdict is given: the {_units(fit).lower()} come in {n} clusters by {role}, and "
            f"at least {FEWEST} are needed to estimate how clusters differ. Intervals are very "
            f"wide for the same reason. {by_reader("covariance='model'", f'--{role} none')} takes "
            "them as independent: "
            f"the results then hold for these {n} only."
        )
    log_type = fit.duel.model.log_type
    total = int(fit.attrs[f"n_{log_type}"])
    many = []
    for label, k in lone.items():
        if k >= MANY_MISSING * total:
            many.append(without_words(label, k, total))
    return Dependence(
        covariance=used,
        n_clusters=n,
        degrees=degrees,
        sentence=sentence,
        refusal=refusal,
        lone=lone,
        missing=". ".join(many),
    )


def clusters_words(role: str, n_clusters: int, lone: int) -> str:
    """Return the clusters by judge or by group, those that are lone votes apart."""
    named = count(n_clusters - lone, role)
    if not lone:
        return named
    if lone == 1:
        return f"{named}, and 1 vote without a {role}, taken as a {role} of its own"
    return f"{named}, and {lone:,} votes without a {role}, each taken as a {role} of its own"


def _why_independent(fit: xr.DataTree) -> str:
    """Return why votes are taken as independent where nobody asked for it."""
    log_type = fit.duel.model.log_type
    units = _units(fit)
    if log_type == "pulls":
        return "Pulls are taken as independent."
    if "clusters_repeated" not in fit.attrs:
        return f"{units} are taken as independent: cluster-robust errors were not computed."
    repeated = json.loads(fit.attrs["clusters_repeated"])
    if not repeated and log_type == "rankings":
        return RANKINGS_APART
    if not repeated:
        return (
            "Votes are taken as independent: the log names no judge or group with several votes."
            + _not_used(fit)
        )
    named = [name for name in repeated if name != VOTE]
    names = " and by ".join(named)
    if reason := _why_not_robust(fit):
        if set(repeated) == {VOTE}:
            return (
                f"Standard errors ignore the sampling weights ({reason}): intervals may be wrong."
            )
        return (
            f"{units} are repeated by {names}, but are taken as independent ({reason}): intervals "
            "may be too narrow."
        )
    one = [name for name, n in repeated.items() if n == 1]
    if one:
        roles = join(one)
        return f"All {units.lower()} are of one {roles}: the results hold for that {roles}."
    return f"The fitted model accounts for repeated votes by {names}."


def _not_used(fit: xr.DataTree) -> str:
    """Return a sentence on the columns of the log that votes share and that are not used, or ""."""
    shared = []
    for line in fit.duel.reading.shared:
        shared.append(f"{line.column} ({line.understood})")
    if not shared:
        return ""
    return (
        f" Not used: {join(shared)}. To make one of them a cluster, name it as the judge or the "
        f"group: {by_reader('bd.read_duels(..., group=)', '--group')}."
    )


def _units(fit: xr.DataTree) -> str:
    """Return what is independent or repeated in the log of a fit, as a sentence begins."""
    return "Rankings" if fit.duel.model.log_type == "rankings" else "Votes"


def _why_not_robust(fit: xr.DataTree) -> str:
    """Return why a fit to repeated votes has no cluster-robust errors, or ""."""
    repeated = json.loads(fit.attrs.get("clusters_repeated", "{}"))
    return str(fit.attrs.get("clusters_reason", "")) if repeated else ""
