"""The model of a log where none is named: what is found in the log is applied, and said.

- Margins of every duel: their model (``thurstone-score``). Else grades: theirs
  (``cumulative-logit``), below 500 arms. Else ties of more than 5 % of the duels,
  kept as an outcome: a model in which a tie is one (``davidson``), below 500 arms, where its fit
  takes matrices of arm by arm. Else ``bradley-terry``.
- Rankings: ``plackett-luce``.
- A side advantage (``SideAdvantage``, of the left side), of any size, where sides have a meaning by
  :mod:`bayesduel.data.sides`: it is one coefficient. Also where that is in doubt, since every pair
  is listed in one order, of 10 arms or more, whose scores tell the advantage apart.
- Covariates that were asked for when the log was read (``DuelCovariates``).
- What one member more is worth (``TeamSize``), where teams differ in size: it is one coefficient.
- Effects of arms by group (``RandomEffects("group")``: a prompt, a list, a context), where votes
  repeat groups, of which there are 5 to 50, and levels times arms are at most 900. What votes of a
  judge share is left to cluster-robust errors: effects by judge take five times as long.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayesduel.data.duels import Duels
from bayesduel.data.rankings import Rankings
from bayesduel.data.sides import Sides, sides_of
from bayesduel.inference.clusters import clusterings
from bayesduel.inference.earlier_scores import earlier_scores
from bayesduel.models import (
    MODELS,
    ScoreModel,
    Scores,
    SideAdvantage,
    Sources,
    TeamSize,
    add_family,
    add_term,
    model_named,
    named,
)
from bayesduel.models.model import Model
from bayesduel.models.prior import Said, priors_of
from bayesduel.models.term import Part
from bayesduel.system.arguments import check_flag, check_one_of, renamed_arguments, texts_of
from bayesduel.text import an, begun, count, join, percent, plural

__all__ = [
    "AUTO",
    "LEVELS",
    "SPARSE_ARMS",
    "TIES",
    "Choice",
    "DefaultModel",
    "choose_model",
    "missing_covariates",
]

# Share of the duels from which a tie is an outcome of its own. Of fewer, half a win for each side
# moves a win probability by 0.025 at most.
TIES = 0.05
# From which the sparse route, which has no other responses, costs less (docs/validation/scale.md).
SPARSE_ARMS = 500
# Levels by which scores deviate in the model: with 100 it is no nearer to the truth than robust
# errors, with fewer than 5 the prior says how levels differ.
LEVELS = (5, 50)
BY_GROUP = "random:group"
AUTO = "auto"


class Choice(NamedTuple):
    """A model, and why it is that one: what of the log is in it and what is not, as sentences."""

    model: Model
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class DefaultModel:
    """The model of whichever log is fitted, by the rule above.

    Parameters
    ----------
    response
        Name of the model whose response is taken. Default: by the rule.
    terms
        Words of further terms (:func:`bayesduel.models.term_named`).
    side_advantage
        Whether a side advantage is in the model. Default: by the rule.
    priors
        Priors by the name of a variable, as :func:`bayesduel.fit` takes them.
    group_effects
        Whether effects of arms by group are in the model. Default: by the rule.
    family
        The family of each arm by label, as :class:`bayesduel.models.Scores` takes it. Default: arms
        have no families.

    Raises
    ------
    TypeError, ValueError
        If there is no such model or term, or the model cannot have it.

    Examples
    --------
    >>> duels = bd.datasets.load("baseball1987")
    >>> bd.DefaultModel().choose(duels).model.name
    'bradley-terry + order'
    >>> bd.DefaultModel(side_advantage=False).choose(duels).model.name
    'bradley-terry'
    """

    response: str = AUTO
    terms: tuple[str, ...] = ()
    side_advantage: bool | None = None
    priors: Mapping[str, Said] = field(default_factory=dict, hash=False)
    group_effects: bool | None = None
    family: Mapping[str, str | None] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        check_one_of(self.response, "response", (AUTO, *MODELS))
        if self.side_advantage is not None:
            check_flag(self.side_advantage, "side_advantage")
        if self.group_effects is not None:
            check_flag(self.group_effects, "group_effects")
        object.__setattr__(self, "terms", texts_of(self.terms, "terms"))
        object.__setattr__(self, "priors", priors_of(self.priors))
        self._of_families(self._with_terms("bradley-terry"))

    def _with_terms(self, usual: str) -> Model:
        """Return the model of the response asked for, else the `usual` one, with the terms."""
        name = usual if self.response == AUTO else self.response
        plain = named(name)
        words = list(self.terms)
        if self.side_advantage:
            words.append(SideAdvantage.name)
        model: Model = reduce(add_term, words, plain)
        return model

    def _of_families(self, model: Model) -> Model:
        """Return the model with the families that arms have, if they have some."""
        if self.family is None:
            return model
        return add_family(model, self.family)

    def choose(self, duels: Duels | Rankings, noun: str = "arm") -> Choice:
        """Return the model for a log; `noun` is what an arm is called."""
        model, reasons = self._by_rule(duels, noun)
        model = self._of_families(model)
        if self.priors:
            model = model.with_priors(self.priors)
        return Choice(model, reasons)

    def _by_rule(self, duels: Duels | Rankings, noun: str) -> Choice:
        if isinstance(duels, Rankings):
            of_rankings = self._with_terms("plackett-luce")
            return Choice(of_rankings, _of_rankings(duels, noun))
        name = self.response
        why = ""
        if self.response == AUTO:
            name, why = _response(duels, noun)
        model: Model = reduce(add_term, self.terms, named(name))
        reasons = [why]
        model, why = _with_covariates(model, duels)
        reasons.append(why)
        model, why = self._with_side_advantage(model, duels, name)
        reasons.append(why)
        if duels.teams is not None and isinstance(model, ScoreModel):
            model, why = _with_teams(model, duels)
            reasons.append(why)
        model, why = self._with_groups(model, duels, noun)
        reasons.append(why)
        said = filter(None, reasons)
        return Choice(model, tuple(said))

    def _with_side_advantage(self, model: Model, duels: Duels, name: str) -> tuple[Model, str]:
        """Return the model with a side advantage if it should have one, and what is said of it.

        name: of the model whose response it has.
        """
        if model.terms.reads_order:
            return model, ""
        sides = sides_of(duels)
        advantage = f"An advantage of {sides.left}"
        if self.side_advantage is False:
            left_out = f"{advantage} is left out, as asked."
            return model, left_out if sides.meaning else ""
        can_have = isinstance(model, ScoreModel)
        if self.side_advantage or (sides.meaning and can_have):
            apart = model.terms.find(Sources)  # whose sources have an advantage each
            own = SideAdvantage(by=apart.by if apart else None)
            why = sides.why if sides.meaning else "it was asked for"
            return model + own, f"{advantage} is in the fitted model: {why}."
        if sides.meaning:
            return model, f"A model {name} cannot have the advantage of {sides.left}."
        if _in_doubt(sides, duels, model):
            return model + SideAdvantage(), (
                f"{advantage} is in the fitted model: pairs are listed in one order only, and may "
                "have been shown in it."
            )
        if duels.ordered:
            return model, f"{begun(sides.why)}. No side advantage is in the fitted model."
        return model, ""

    def _with_groups(self, model: Model, duels: Duels, noun: str) -> tuple[Model, str]:
        """Return the model with effects of arms by group if it should have them, and why."""
        if model.terms.deviating:  # the user says what deviates
            return model, ""
        line = duels.reading.line("group")
        column = line.column if line else "group"
        effects = f"Effects of {plural(noun)} by {column} are"
        with_effects = f"{effects} in the fitted model"
        if self.group_effects:
            return add_term(model, BY_GROUP), f"{with_effects}: they were asked for."
        n = _repeated_groups(model, duels)
        if not n:
            return model, ""
        if self.group_effects is False:
            return model, f"{effects} left out, as asked."
        return add_term(model, BY_GROUP), f"{with_effects}: {count(n, column)} repeat."


_renamed = renamed_arguments(order_effect="side_advantage")
DefaultModel.__init__ = _renamed(DefaultModel.__init__)  # type: ignore[method-assign]


def missing_covariates(model: Model, duels: Duels) -> list[str]:
    """Return the covariates of a log that no term of a model reads.

    A term of one's own that defines ``columns`` may read any of them: then there is none.
    """
    if any(_may_read_any(term) for term in model.terms):
        return []
    if duels.votes is None:
        return []
    known: set[str] = set()
    for term in model.terms:
        known.update(term.reads)
    return [name for name in duels.votes.covariate_names if name not in known]


def _may_read_any(term: Part) -> bool:
    """Return whether a term is not one of the package and reads columns that it does not name."""
    shipped = type(term).columns.__module__.startswith("bayesduel.")
    return not shipped and not term.reads


def _with_covariates(model: Model, duels: Duels) -> tuple[Model, str]:
    """Return the model with the covariates that its log was read with, and why."""
    missing = missing_covariates(model, duels)
    if not missing:
        return model, ""
    if len(missing) == 1:
        why = f"The covariate {missing[0]} is in the fitted model: the log was read with it."
    else:
        names = join(missing, 8)
        why = f"The covariates {names} are in the fitted model: the log was read with them."
    words = (f"covariate:{name}" for name in missing)
    return reduce(add_term, words, model), why


def _repeated_groups(model: Model, duels: Duels) -> int:
    """Return how many groups votes repeat, if their effects take seconds; else 0."""
    votes = duels.votes
    if votes is None or votes.sampling_weight is not None:
        return 0
    if "group" not in clusterings(duels):
        return 0
    if not isinstance(model, ScoreModel) or model.why_not("laplace"):
        return 0
    n = len(votes.groups)
    fewest, most = LEVELS
    n_effects = n * duels.n_arms
    quick = n_effects <= 900  # 12 arms x 13 groups take 2 seconds, 59 x 13 take 8
    if quick and fewest <= n <= most:
        return n
    return 0


def _in_doubt(sides: Sides, duels: Duels, model: Model) -> bool:
    """Return whether sides may have a meaning, and an advantage costs intervals little width."""
    # Measured on 150 logs each of 2,400 votes of 6, 12 and 24 arms. Without an advantage, its
    # effect in the model makes intervals 25, 9 and 3 % wider. With one of 0.2 logits and no effect
    # in the model, 95 % intervals hold 69, 83 and 90 %.
    if not sides.in_doubt or duels.n_arms < 10:
        return False
    return isinstance(model, ScoreModel) and model.terms.find(Sources) is None


def _with_teams(model: ScoreModel, duels: Duels) -> tuple[Model, str]:
    """Return the model for sides of several arms, and what it says of them."""
    if model.terms.means:
        return model, "A side is worth the mean of its members' scores."
    summed = "A side is worth the sum of its members' scores"
    sizes = duels.teams.sizes if duels.teams is not None else np.ones(1)
    left = sizes[duels.cells.left]
    right = sizes[duels.cells.right]
    if (left == right).all():
        return model, f"{summed}."
    if model.terms.find(TeamSize) is None:
        model = model + TeamSize()
    return model, f"{summed} and of what each member more is worth, which is in the fitted model."


def choose_model(wanted: Any, log: Any, priors: Any = None, noun: str = "arm") -> Choice:
    """Return the model of a log: that of a recipe or of "auto", else the model that is named.

    priors: by the name of a variable, in place of its own; an earlier fit as that of the scores.
    noun: what an arm is called.
    """
    model, reasons = _chosen(wanted, log, noun)
    reasons += _of_families(model, log, noun)
    reasons += _of_margins(model, log)
    if priors is None:
        return Choice(model, reasons)
    earlier = priors.get("score") if isinstance(priors, Mapping) else None
    if isinstance(earlier, xr.DataTree):
        unit = earlier.attrs.get("score_unit")
        own = model.response.score_unit
        if unit != own:
            raise ValueError(f"earlier fit should have scores in {own}, got {unit}")
        priors = {**priors, "score": earlier_scores(earlier, log.arms)}
    return Choice(model.with_priors(priors), reasons)


def _chosen(wanted: Any, log: Any, noun: str) -> Choice:
    if isinstance(wanted, str) and wanted == AUTO:
        wanted = DefaultModel()
    if not isinstance(wanted, DefaultModel):
        reasons = _of_rankings(log, noun) if isinstance(log, Rankings) else ()
        return Choice(model_named(wanted), reasons)
    if not isinstance(log, Duels | Rankings):  # which `fit` refuses, by the model's kind of log
        return Choice(named("bradley-terry"), ())
    return wanted.choose(log, noun)


def _of_families(model: Model, log: Any, noun: str) -> tuple[str, ...]:
    """Return which families arms keep to, in words; nothing of a model without families."""
    scores = model.terms.find(Scores)
    if scores is None or not isinstance(log, Duels | Rankings):  # other logs are refused later
        return ()
    families = scores.families(log.arms)
    if families is None:
        return ()
    alone = scores.without_family(log.arms)
    n_families = int(families.max()) + 1
    n = n_families - len(alone)
    told = f"Scores keep to {count(n, 'family')} of {plural(noun)}."
    if not alone:
        return (told,)
    named_ones = join(alone, 8, quote=True)
    if len(alone) == 1:
        return told, f"The {noun} {named_ones} has no family: it is a family of its own."
    return told, f"The {plural(noun)} {named_ones} have no family: each is a family of its own."


def _of_margins(model: Model, log: Any) -> tuple[str, ...]:
    """Return that the model does not use the margins of the log, if it has any."""
    if not isinstance(log, Duels) or log.votes is None or log.votes.margin is None:
        return ()
    outcome = model.response.outcome
    if outcome == "margin" or not np.nan_to_num(log.votes.margin).any():
        return ()
    return (f"The margins of the log are not used: an outcome of the model is a {outcome}.",)


def _of_rankings(log: Rankings, noun: str) -> tuple[str, ...]:
    """Return what the duels of a log of rankings are, in words."""
    read = log.read_summary
    if read.n_both_bad:
        return (
            f"{read.n_both_bad:,} votes say that both are bad: each vote is the choice of one of "
            f"two {plural(noun)} or of neither, and {read.n_ties_dropped:,} other ties are left "
            f"out. {begun(an(noun))} whose score exceeds that of the choice of neither is "
            "preferred to nothing at all.",
        )
    return (
        f"The log is of {log.n_rankings:,} rankings and modelled as such; duels that are counted "
        "are the pairs of which a ranking says who is better.",
    )


def _response(duels: Duels, noun: str) -> tuple[str, str]:
    """Return the name of the model of how outcomes depend on scores, and why."""
    votes = duels.votes
    margin = None if votes is None else votes.margin
    if margin is not None and np.isfinite(margin).all() and margin.any():
        return "thurstone-score", "Margins are modelled, not only who won."
    if votes is not None and votes.grade is not None and duels.n_arms < SPARSE_ARMS:
        if duels.tie_rule != "half" or not duels.n_ties:
            return "cumulative-logit", "Grades are modelled, not only who won."
    share = duels.n_ties / duels.n_duels
    if duels.tie_rule == "keep" and share > TIES:
        ties = f"{percent(share)} % of the duels are ties"
        if duels.n_arms < SPARSE_ARMS:
            return "davidson", f"A tie is an outcome of its own in the fitted model: {ties}."
        many = f"{duels.n_arms:,} {plural(noun)} are too many"
        why = f"Each tie counts as half a win, though {ties}: {many}."
        return "bradley-terry", why
    return "bradley-terry", ""
