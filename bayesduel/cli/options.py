"""Options that the commands share, and how a LOG argument becomes Duels."""

import gc
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, fields
from functools import reduce
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
from click.core import ParameterSource

from bayesduel.cli.console import share, working
from bayesduel.cli.earlier_options import renamed_flag
from bayesduel.cli.imports import FILE_NAME, of_file
from bayesduel.cli.reading import names_of, only_of_duels, read_as_asked, value_of
from bayesduel.data.read.reading_options import (
    OF_RANKINGS,
    READING,
)
from bayesduel.system.arguments import did_you_mean
from bayesduel.system.options import Decision, Fitting, ModelName

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.data.duels import Duels
    from bayesduel.models.model import Model

__all__ = [
    "READING_PAGE",
    "OneOf",
    "against_option",
    "alpha_option",
    "analysing",
    "analysis_options",
    "anchor_of",
    "anchor_option",
    "chosen_model",
    "ci_prob_option",
    "effect_option",
    "family_option",
    "fit_log",
    "fits_of",
    "fitting_options",
    "folder_option",
    "is_saved",
    "json_option",
    "judging_options",
    "log_argument",
    "noun_option",
    "old_side_advantage_options",
    "option_of",
    "output_option",
    "own_term_option",
    "page_option",
    "prior_option",
    "raw_option",
    "read_log",
    "reading_options",
    "report_option",
    "sampling_options",
    "seed_option",
    "term_option",
    "with_terms",
]

# Places in what a click.Context carries: the terms that --model names, and whether every --term is
# a class in a file of the user's, which a saved fit may need.
TERMS_OF_MODEL = "bayesduel.terms_of_model"
OWN_TERMS = "bayesduel.own_terms"
PRIOR = re.compile(r"\s*(\w+)\s*(?:\[(.+)\])?\s*=\s*(.+)")  # name, label in brackets, distribution
WEIGHT = re.compile(r"([^\[\]]+)\[(.+)\]=([0-9.eE+-]+)")
READING_PAGE = "docs/how_to/reading.md goes from 'my file looks like this' to these options."
_FITTING = tuple(field.name for field in fields(Fitting))
# Options that a saved fit cannot honour.
OF_LOGS = (*READING, *_FITTING, "side_advantage", "term", "prior", "family")

log_argument = click.argument(
    "log",
    metavar="LOG...",
    nargs=-1,
    required=True,
    callback=lambda ctx, param, value: value[0] if len(value) == 1 else list(value),
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")


def option_of(record: Any, name: str, **given: Any) -> Callable[..., Any]:
    """Return the option of a field of a record; `given` goes before what the field says."""
    return _option(name, record.__dataclass_fields__[name], **given)


def _option(name: str, field: Field[Any], **given: Any) -> Callable[..., Any]:
    said: dict[str, Any] = {
        "help": field.metadata["words"],
        "default": field.default,
        "metavar": field.metadata["takes"],
    }
    rule = field.metadata["rule"]
    allowed = field.metadata["allowed"]
    if allowed:
        said["type"] = OneOf(allowed, case_sensitive=False)
    elif rule:
        said["type"] = _range(rule)
    elif field.default is False:
        said["is_flag"] = True
    return click.option(f"--{name.replace('_', '-')}", **said | given)


class OneOf(click.Choice[str]):
    """A word of several: the message of another one names the nearest."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return what is wrong with a word."""
        said = super().get_invalid_choice_message(value, ctx)
        hint = did_you_mean(value, self.choices)
        return said.removesuffix(".") + hint if hint else said


class NamedModel(OneOf):
    """The name of a model, as Python takes it: terms after a plus are added to those of --term."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the label of the model, and leave its terms to the option of terms."""
        if value in self.choices or ctx is None:
            return str(super().convert(value, param, ctx))
        from bayesduel.models.registry import label_and_terms

        label, *words = label_and_terms(value)
        if "+" in label:  # a plus without a term after it, or with one that is none
            self.fail(self.get_invalid_choice_message(value, ctx), param, ctx)
        ctx.meta[TERMS_OF_MODEL] = tuple(words)
        return str(super().convert(label, param, ctx))


def _range(rule: str) -> click.IntRange | click.FloatRange:
    """Return the type of an option by the rule of its field: "in [0, 0.5)" or "at least 1"."""
    if rule.startswith("at least "):
        return click.IntRange(min=int(rule.removeprefix("at least ")))
    low, high = (float(end) if "." in end else int(end) for end in rule[4:-1].split(", "))
    return click.FloatRange(low, high, min_open=rule[3] == "(", max_open=rule[-1] == ")")


def output_option(words: str, **given: Any) -> Callable[..., Any]:
    """Return the option of a file to write."""
    return click.option("-o", "--output", type=click.Path(path_type=Path), help=words, **given)


page_option = output_option("HTML file to write.")
table_option = output_option("File to write, too: .csv (the table) or .json (everything).")
report_option = output_option("File to write.", default="report.html")
raw_option = click.option(
    "--raw",
    is_flag=True,
    help="Write labels to CSV unchanged.  [default: an apostrophe before each label that a "
    "spreadsheet would read as a formula]",
)
folder_option = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Folder to write to.",
)
noun_option = click.option(
    "--noun", default="arm", help="Word for an arm in all texts: model, player, dish."
)
anchor_option = click.option(
    "--anchor",
    metavar="ARM[=POINTS]",
    help="Arm that all scores are compared with, and its rating.  [default: the mean of all "
    "arms, 1000]",
)
against_option = click.option(
    "--against",
    metavar="A,B,...",
    help="Judges of a second group, such as a model, to compare with all other judges.",
)
alpha_option = option_of(Decision, "alpha")
effect_option = option_of(Decision, "effect")
ci_prob_option = option_of(Decision, "ci_prob")
seed_option = option_of(Fitting, "seed")


def term_option(besides: str = "", *, own: bool = True) -> Callable[..., Any]:
    """Return the option of terms; `besides` names those that not every command has.

    own: whether it takes terms of a file of the user's, which no study can store.
    """
    of_files = ", or FILE.py:NAME for a term in your own file" if own else ""
    return click.option(
        "--term",
        metavar="TERM",
        multiple=True,
        callback=_known_terms if own else None,
        help="Term to add to the scores of the model: order, time (20 periods; time:12 for 12; "
        "time:2024-08-01,2025-01-01,2025-07-01 for limits), category, category:COLUMN, judge, "
        f"random:COLUMN, sources:COLUMN=TARGET, reliability, {besides}cycles, covariate:COLUMN, "
        "scores:mean (a side of several arms is worth the mean of its "
        f"members){of_files}. Repeat the option for more terms.",
    )


def _priors(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> dict[str, Any]:
    """Return the priors that ``--prior`` says: by variable, or by variable and label.

    Raises click.UsageError where a text is no such prior.
    """
    from bayesduel.models.prior import Prior

    found: dict[str, Any] = {}
    for word in words:
        parts = PRIOR.fullmatch(word)
        if parts is None:
            raise click.UsageError(
                "--prior should be NAME=DISTRIBUTION, such as 'order=Normal(0.1, 0.05)' or "
                f"'score[ARM]=Normal(0.4, 0.3)', got {word!r}"
            )
        name, label, text = parts.groups()
        try:
            prior = Prior.parsed(text)
        except (TypeError, ValueError) as error:
            raise click.UsageError(f"--prior {word}: {error}") from error
        of_label = label is not None
        if isinstance(found.get(name), dict) != of_label and name in found:
            raise click.UsageError(f"--prior should say one of {name}, or some by label, got both")
        found[name] = {**found.get(name, {}), label: prior} if of_label else prior
    return found


own_term_option = click.option(
    "--term",
    metavar="FILE.py:NAME",
    multiple=True,
    expose_value=False,
    callback=lambda ctx, param, words: [_known_term(word) for word in words],
    help="Term of your own that the fit has. Repeat the option for more terms.",
)
prior_option = click.option(
    "--prior",
    metavar="NAME=PRIOR",
    multiple=True,
    callback=_priors,
    help="Prior of a variable of the fit: 'scale=HalfNormal(0.5)', 'order=Normal(0.1, 0.05)', "
    "or of one arm, 'score[ARM]=Normal(0.4, 0.3)'. Distributions and their parameters are "
    "those of PyMC. Repeat the option for more priors.",
)


def _families(
    ctx: click.Context, param: click.Parameter, text: str | None
) -> dict[str, str] | None:
    """Return the family of each arm that ``--family`` says, by label; None where it is not given.

    Raises click.UsageError where a text is none, or the table cannot be read.
    """
    if text is None:
        return None
    table, _, column = text.rpartition(":")
    if not (table and column):
        raise click.UsageError(
            f"--family should be TABLE:COLUMN, such as models.csv:maker, got {text!r}"
        )
    from bayesduel.data.read.items import read_families

    try:
        found = read_families(table, column)
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--family {text}: {error}") from error
    if not found:
        raise click.UsageError(f"--family {text}: the column should name a family, got none")
    return found


family_option = click.option(
    "--family",
    metavar="TABLE:COLUMN",
    callback=_families,
    help="Table of the arms and its column of families. The table has one row per arm; labels "
    "stand in the column item, or in the first one. Scores of one family are drawn to each other.",
)


def _known_terms(
    ctx: click.Context, param: click.Parameter, words: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the terms that ``--model`` and ``--term`` add."""
    ctx.meta[OWN_TERMS] = all(FILE_NAME.fullmatch(word) for word in words)
    return (*ctx.meta.get(TERMS_OF_MODEL, ()), *map(_known_term, words))


def _known_term(word: str) -> str:
    """Return the word of a term; one of a file of the user's is registered under its name."""
    if not (found := FILE_NAME.fullmatch(word)):
        return word
    from bayesduel.models import register

    kind = of_file(found[1], found[2], "--term")
    try:
        return str(register(kind).name)
    except (TypeError, ValueError) as error:
        raise click.UsageError(f"--term {word}: {error}") from error


def _group(*options: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the decorator that adds some options to a command, in this order."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        return reduce(lambda found, option: option(found), reversed(options), command)

    return add


def reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of how to read LOG to a command, and the page of them to its help."""
    command.__doc__ = f"{cleandoc(command.__doc__ or '')}\n\n{READING_PAGE}"
    own = (_option(name, field, default=None) for name, field in READING.items())
    return _group(*own)(command)


old_side_advantage_options = _group(
    renamed_flag("--order-effect", "--side-advantage"),
    renamed_flag("--no-order-effect", "--no-side-advantage"),
)
sampling_options = _group(  # how to fit a model, whichever
    option_of(Fitting, "method"),
    option_of(Fitting, "draws"),
    seed_option,
    click.option(
        "--side-advantage/--no-side-advantage",
        default=None,
        help="Include a side advantage, or leave it out.  [default: include it where sides have "
        "a meaning, such as home and away]",
    ),
    old_side_advantage_options,
)
fitting_options = _group(  # what to fit and how
    option_of(
        Fitting, "model", type=NamedModel(get_args(ModelName), case_sensitive=False), is_eager=True
    ),  # before the option of terms
    sampling_options,
    term_option(),
    prior_option,
    family_option,
)


def _at(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> dict[str, str]:
    """Return the level of each column that ``--at`` says.

    Raises click.UsageError where a text is none.
    """
    found: dict[str, str] = {}
    for word in words:
        column, equals, level = word.partition("=")
        if not (column and equals and level):
            raise click.UsageError(
                f"--at should be COLUMN=LEVEL, such as language=de, got {word!r}"
            )
        found[column] = level
    return found


def _weights(ctx: Any, param: Any, words: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Return the weight of each level that ``--weights`` says, by column.

    Raises click.UsageError where a text is none.
    """
    found: dict[str, dict[str, float]] = {}
    for word in words:
        parts = WEIGHT.fullmatch(word)
        if parts is None:
            raise click.UsageError(
                f"--weights should be COLUMN[LEVEL]=NUMBER, such as language[de]=0.3, got {word!r}"
            )
        column, level, number = parts.groups()
        found.setdefault(column, {})[level] = float(number)
    return found


estimand_options = _group(  # which duels an answer is about
    click.option(
        "--at",
        metavar="COLUMN=LEVEL",
        multiple=True,
        callback=_at,
        help="Rank for one level of a column that --term reads, such as language=de.",
    ),
    click.option(
        "--weights",
        metavar="COLUMN[LEVEL]=NUMBER",
        multiple=True,
        callback=_weights,
        help="How much a level counts: 'language[de]=0.3'. Repeat the option for more levels.  "
        "[default: its share of the votes]",
    ),
)
# What a verdict should stand on.
judging_options = _group(option_of(Decision, "rope"), option_of(Decision, "confidence"))
# Of an analysis: scale, judges, reading, model and verdict.
analysis_options = _group(
    anchor_option,
    against_option,
    reading_options,
    fitting_options,
    estimand_options,
    judging_options,
)


def read_log(
    log: str | list[str], options: dict[str, Any], like: Any = None
) -> "dict[str | None, Any]":
    """Read LOG as the reading options say: one log under None; under ``--by``, one by each label.

    LOG is a path, a glob, an address, or the name of a shipped dataset where no such file exists;
    or a list of paths and globs, which are one log together. Options that are not of reading are
    left alone. Where no option says otherwise, columns and coding are those of the log of the fit
    `like`.
    """
    from bayesduel.data import datasets
    from bayesduel.data.read.address import shown_address
    from bayesduel.data.read.columns import ColumnError
    from bayesduel.data.read.rankings import holds_rankings

    if is_saved(log):
        raise click.UsageError(
            f"LOG should be a log of duels, got the fit {log}: winners, top-k, report, "
            "site, export, predict, audit and sources take fits"
        )
    if not gc.isenabled():  # as in a process of a command, whose imports are not looked at again
        gc.freeze()
        gc.enable()
    given = {n: value_of(n, options[n]) for n in READING if options.get(n) is not None}
    asked = _columns_asked(options)
    given |= {argument: list(columns) for argument, columns in asked.items() if columns}
    given |= {} if like is None else {"like": like}
    name = log if isinstance(log, str) else ""
    shipped = name in datasets.names() and not Path(name).exists()
    with working(f"reading {shown_address(name) or 'files'}"):
        try:
            read = read_as_asked(log, given, like, shipped)
        except ValueError as error:
            others = [n for n in given if n not in {*OF_RANKINGS, "like", "rankings"}]
            if others and not shipped and holds_rankings(log):
                raise click.UsageError(only_of_duels(others[0])) from error
            if not isinstance(error, ColumnError):
                raise
            options_of = asked.get(error.argument, {})
            raise error.named_by(options_of.get(error.column, error.argument)) from None
    logs = read if isinstance(read, dict) else {None: read}
    for option, word in _terms_asked(options):
        of_categories = options.get("by") and word == "category"  # a model has all of them
        for duels in () if of_categories else logs.values():
            _check_term(option, word, duels)
    return logs


def _check_term(option: str, word: str, duels: Any) -> None:
    """Raise UsageError if a log has not what the term of an option needs."""
    from bayesduel.data.rankings import Rankings

    try:
        if isinstance(duels, Rankings):
            raise ValueError("a ranking has no sides and no columns of duels")
        term = _term_of(option, word)
        term.check_columns(duels)
        term.columns(duels)
    except ValueError as error:
        raise click.UsageError(f"{option} cannot be used with this log: {error}") from error


def chosen_model(name: str, options: Mapping[str, Any]) -> Any:
    """Return the model that is asked for, with the terms that are, as a recipe for any log.

    Raises click.UsageError if the model cannot have them.
    """
    from bayesduel.inference.default_model import AUTO, DefaultModel
    from bayesduel.models import named

    plain = "bradley-terry" if name == AUTO else name
    # Of which variables priors are is known with the log: by the rule it has a side advantage.
    with_terms(named(plain), {**options, "prior": {}}, f"--model {name}")
    words = tuple(word for option, word in _terms_asked(options) if option != "--side-advantage")
    return DefaultModel(
        name,
        words,
        options.get("side_advantage"),
        options.get("prior") or {},
        family=options.get("family"),
    )


def with_terms(model: "Model", options: Mapping[str, Any], called: str) -> Any:
    """Return a model with the terms, the families and the priors that are asked for.

    Raises click.UsageError if the model, which the command line has as `called`, cannot have them.
    """
    from bayesduel.models import add_family, add_term

    for option, word in _terms_asked(options):
        try:
            model = add_term(model, word)
        except (TypeError, ValueError) as error:
            lacking = _term_of(option, word).needs_items and model.terms.items is None
            why = "it needs the attributes of items (bayesduel attributes)" if lacking else error
            raise click.UsageError(f"{option} cannot be used with {called}: {why}") from error
    changes: dict[str, Callable[[Any, Any], Any]] = {
        "--family": add_family,
        "--prior": lambda model, priors: model.with_priors(priors),
    }
    for option, change in changes.items():
        said = options.get(option.removeprefix("--"))
        if not said:
            continue
        try:
            model = change(model, said)
        except (TypeError, ValueError) as error:
            raise click.UsageError(f"{option} cannot be used with {called}: {error}") from error
    return model


def _terms_asked(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the terms that options ask for, each with the option that does."""
    words = options.get("term") or ()
    own = _read_by_own_terms(words)
    covariates = [name for name in names_of(options.get("covariates")) if name not in own]
    asked = [("--covariates", f"covariate:{name}") for name in covariates]
    asked += [("--side-advantage", "order")] if options.get("side_advantage") else []
    if options.get("side_advantage") is False and any(
        w.partition(":")[0] == "order" for w in words
    ):
        raise click.UsageError(
            "--no-side-advantage and --term order contradict each other: give one of them"
        )
    return [*asked, *((f"--term {word}", word) for word in words)]


def _read_by_own_terms(words: Collection[str]) -> set[str]:
    """Return the columns that terms of the user's files read: no covariate is added for these."""
    if not words:
        return set()
    from bayesduel.models.registry import is_shipped

    terms = [_term_of(f"--term {word}", word) for word in words]
    return {name for term in terms if not is_shipped(type(term)) for name in term.reads}


def _term_of(option: str, word: str) -> Any:
    from bayesduel.models import term_named

    try:
        return term_named(word)
    except ValueError as error:
        raise click.UsageError(f"{option}: {error}") from error


def _columns_asked(options: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the covariates and the columns to keep, each with the option that asks for it.

    Those are the options of these names, terms, and what a command has in ``kept_for``.
    """
    found = {n: dict.fromkeys(names_of(options.get(n)), n) for n in ("covariates", "keep")}
    found["keep"] |= {
        c: o for c, o in options.get("kept_for", {}).items() if c not in found["keep"]
    }
    asked = _terms_asked(options)
    if not asked:
        return found
    from bayesduel.data.votes import ROLES
    from bayesduel.models import DuelCovariates, RandomEffects, SideAdvantage, Sources
    from bayesduel.models.registry import is_shipped

    for option, word in asked:
        term = _term_of(option, word)
        read = term.of if isinstance(term, DuelCovariates) else ()
        if not is_shipped(type(term)):
            read = tuple(n for n in term.reads if n not in (*ROLES, "time", *found["keep"]))
        for column in read:
            found["covariates"].setdefault(column, option)
        by = term.by if isinstance(term, RandomEffects | Sources | SideAdvantage) else None
        if by and (by not in ROLES or (by == "category" and not options.get("by"))):
            found["keep"].setdefault(by, option)
    return found


def anchor_of(text: str | None) -> dict[str, Any]:
    """Return what ``--anchor`` says as the arguments `anchor` and `points`.

    Raises click.UsageError if the points are not a number.
    """
    if text is None:
        return {}
    arm, equals, points = text.rpartition("=")
    if not equals:
        return {"anchor": text}
    try:
        return {"anchor": arm or None, "points": float(points)}
    except ValueError:
        raise click.UsageError(f"--anchor should be ARM=POINTS, got {text!r}") from None


def analysing(
    log: str | list[str], options: dict[str, Any]
) -> tuple[dict[str | None, Any], dict[str, Any]]:
    """Return the logs of LOG, and the options of an analysis as ``bayesduel.report`` takes them.

    The fit in a file that `bayesduel fit` saved takes the place of a log.
    """
    given = ("rope", "confidence", "noun", "compare", "audit")
    named = {"against": names_of(options["against"]), **anchor_of(options["anchor"])}
    known = {name: options[name] for name in given if name in options}
    known |= {name: options[name] for name in ("at", "weights") if options.get(name)}
    if is_saved(log):
        return {None: _loaded(log)}, {**known, **named}
    fitting = {name: options[name] for name in ("method", "draws", "seed")}
    fitting["model"] = chosen_model(options["model"], options)
    return read_log(log, options), {**fitting, **known, **named}


def fit_log(duels: "Duels", options: dict[str, Any], label: str | None = None) -> "xr.DataTree":
    """Fit a log as the fitting options say, showing how far it is."""
    from bayesduel.inference.fit import fit
    from bayesduel.reporting.partial_report import labelled_warnings

    given = {name: options[name] for name in _FITTING if options.get(name) is not None}
    if isinstance(given.get("model"), str):
        given["model"] = chosen_model(given["model"], options)
    shown = share("fitting" if label is None else f"fitting {label}")
    with labelled_warnings(label), shown as progress:
        return fit(duels, progress=progress, **given)


def fits_of(
    log: str | list[str], options: dict[str, Any], check: "Callable[[Duels], object] | None" = None
) -> "dict[str | None, xr.DataTree]":
    """Return the fit in a file that `bayesduel fit` saved, or those made of a log.

    `check` is called with each log before any is fitted, and raises where it cannot have what is
    asked.
    """
    if not is_saved(log):
        options = options | {"model": chosen_model(options["model"], options)}
        logs = read_log(log, options)
        if check is not None:
            for duels in logs.values():
                check(duels)
        fits = {label: fit_log(duels, options, label) for label, duels in logs.items()}
        return {label: _asked_of(fit, options) for label, fit in fits.items()}
    return {None: _asked_of(_loaded(log), options)}


def _loaded(path: Any) -> "xr.DataTree":
    """Return the fit in a file.

    Raises click.UsageError if the command line has an option that is for fitting a log.
    """
    from bayesduel.posterior.load import load

    gc.enable()
    context = click.get_current_context()
    for option in context.command.params:
        name = str(option.name)
        used = name == "seed" and context.params.get("checks")  # by the check of the fit
        used = used or (name == "term" and context.meta.get(OWN_TERMS))
        source = context.get_parameter_source(name)
        if name in OF_LOGS and not used and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{option.opts[0]} is for fitting a log; {path} is fitted already"
            )
    return load(path)


def _asked_of(fit: "xr.DataTree", options: Mapping[str, Any]) -> "xr.DataTree":
    """Return the fit whose answers are about the levels that ``--at`` and ``--weights`` say."""
    asked = {name: options[name] for name in ("at", "weights") if options.get(name)}
    if not asked:
        return fit
    from bayesduel.posterior.estimand import estimand

    return estimand(fit, **asked)


def is_saved(log: Any) -> bool:
    """Return whether a LOG argument is a file of a fit, by its name."""
    path = "" if isinstance(log, list) or "://" in str(log) else log
    return Path(path).suffix.lower() in (".nc", ".zarr")
