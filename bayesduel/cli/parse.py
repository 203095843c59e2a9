"""Objects from a command line: the policies that ``CCB,DTS(alpha=0.6)`` names, a problem."""

import ast
from collections.abc import Mapping, Set
from dataclasses import is_dataclass
from inspect import Parameter, signature
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from bayesduel.cli.imports import FILE_NAME, of_file
from bayesduel.system.arguments import did_you_mean

__all__ = [
    "constructed",
    "known_policies",
    "policies_of",
    "problems_of",
    "regret_of",
]

FAMILIES = (
    *("score_duels", "uneven_duels", "bradley_terry", "thurstone", "perturbed_thurstone"),
    *("uniform", "fixed_gap"),
)
CHANGING = ("PiecewiseStationary", "RandomChanges", "ScoreWalk")
ITEM_FAMILIES = ("ContextualDuels", "LogisticDuels", "LogisticItems", "UnitSphere")


def constructed(
    text: str,
    option: str,
    kinds: ModuleType | Mapping[str, Any],
    within: tuple[ModuleType | Mapping[str, Any], ...] = (),
) -> list[Any]:
    """Return the objects of a list such as ``CCB,DTS(belief=Laplace(BradleyTerry(scale=1.0)))``.

    Nothing is evaluated but literals and calls of names: those of `kinds`, a module's ``__all__``
    or what makes them by name, and within brackets those of the modules `within`.

    Raises click.UsageError, naming the option, if the text is not such a list, or an object refuses
    its settings.
    """
    parts = _parts(text, option)
    outer = _named(kinds)
    inner = {name: made for one in within for name, made in _named(one).items()}
    made = []
    for part in parts:
        if _name(part) not in outer:
            near = did_you_mean(_name(part), outer) or ";"
            raise click.UsageError(
                f"{option} should name a policy, got {ast.unparse(part)!r}{near} `bayesduel "
                "policies` lists them"
            )
        made.append(_object(part, outer, inner))
    return made


def _parts(text: str, option: str) -> list[ast.AST]:
    try:
        return list(ast.parse(f"({text},)", mode="eval").body.elts)  # type: ignore[attr-defined]
    except SyntaxError as error:
        raise click.UsageError(
            f"{option} should be like NAME,NAME(setting=0.6), got {text!r}"
        ) from error


def known_policies(setting: str) -> dict[str, Any]:
    """Return the policies that play a setting ("pairs", "margins" or "items"), by name."""
    from bayesduel import policies

    both = {"PBR": policies.PBR, "Uniform": policies.Uniform} if setting == "margins" else {}
    return {n: kind for n, kind in _named(policies).items() if kind.setting == setting} | both


def policies_of(text: str, setting: str | None, option: str = "--policies") -> list[Any]:
    """Return the policies of a list such as ``CCB,DTS(alpha=0.6)`` that play a setting.

    None stands for pairs and items; ``FILE.py:NAME`` is a policy of the user's file, or within
    brackets a belief or a model of it. Raises click.UsageError as :func:`constructed` does.
    """
    from bayesduel import beliefs, models, policies

    settings = ("pairs", "items") if setting is None else (setting,)
    kinds = {n: kind for each in settings for n, kind in known_policies(each).items()}
    inner = (beliefs, models, policies)
    text, own = _with_files(text, option)
    ours = {name for known in (kinds, *map(_named, inner)) for name in known}
    if both := sorted(ours & own.keys()):
        raise click.UsageError(f"{option} should have names of their own, got {both[0]}, of ours")
    kinds |= own
    if setting is None:
        selecting = known_policies("margins").keys() - kinds.keys()
        _refuse(text, option, selecting, "selects the k best and needs --k")
    if setting == "margins":
        one_winner = (known_policies("pairs") | known_policies("items")).keys() - kinds.keys()
        _refuse(text, option, one_winner, "does not select the k best: leave out --k")
    return constructed(text, option, kinds, (*inner, own))


def _refuse(text: str, option: str, names: Set[str], why: str) -> None:
    """Raise a usage error for the first of these names that a list has."""
    for name in (_name(part) for part in _parts(text, option)):
        if name in names:
            raise click.UsageError(f"{option}: {name} {why}")


def regret_of(text: str | None) -> Any:
    """Return what ``--regret`` stands for: the name of one, or a function of the user's file.

    Raises click.UsageError if it is neither.
    """
    from bayesduel.simulation.regret import FORMULAS

    if text is None or text in FORMULAS:
        return text
    file, found, name = text.rpartition(":")
    if not found or not file.endswith(".py"):
        raise click.UsageError(
            f"--regret should be one of {', '.join(FORMULAS)}, or FILE.py:NAME for a function "
            f"NAME(P, a, b), got {text!r}{did_you_mean(text, FORMULAS)}"
        )
    cost = of_file(file, name, "--regret")
    if not callable(cost):
        raise click.UsageError(f"--regret should name a function of {file}, got {name!r}")
    return cost


def _with_files(text: str, option: str) -> tuple[str, dict[str, Any]]:
    """Return a text without the files in front of its names, and what these name of them."""
    own: dict[str, Any] = {}
    for file, name in FILE_NAME.findall(text):
        found = of_file(file.strip(), name, option)
        if own.setdefault(name, found) is not found:
            raise click.UsageError(f"{option} should have each name once, got {name} of two files")
    return FILE_NAME.sub(r"\2", text), own


def problems_of(text: str) -> dict[str, Any]:
    """Return what ``--problem`` stands for, by label: one or several, separated by commas.

    Raises click.UsageError as :func:`_problem_of` does, or if two are the same.
    """
    parts = [text] if Path(text).exists() else _split(text)
    made: dict[str, Any] = {}
    for part in (part.strip() for part in parts):
        label = Path(part).stem if Path(part).exists() else FILE_NAME.sub(r"\2", part)
        if label in made:
            raise click.UsageError(
                f"--problem should be of different problems, got {label!r} twice"
            )
        made[label] = _problem_of(part)
    return made


def _split(text: str) -> list[str]:
    """Return the parts of a text between the commas that are not within brackets."""
    parts = [""]
    depth = 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _problem_of(text: str) -> Any:
    """Return a named problem, a family of problems, or a log; raise click.UsageError for others."""
    from bayesduel import problems
    from bayesduel.data import datasets

    if text in problems.NAMES:
        return problems.named(text)
    if Path(text).exists() or "://" in text or text in datasets.names():
        from bayesduel.cli.options import read_log

        return read_log(text, {})[None]
    text, own = _with_files(text, "--problem")
    name = text.partition("(")[0].strip()
    if name not in (*FAMILIES, *ITEM_FAMILIES, *CHANGING, *own):
        known = (*problems.NAMES, *datasets.names(), *FAMILIES, *ITEM_FAMILIES, *CHANGING)
        raise click.UsageError(
            f"--problem should be a problem, a family or a log, got {text!r}"
            f"{did_you_mean(name, known) or ';'} `bayesduel problems` and `bayesduel datasets` "
            "list those with a name"
        )
    families = {family: _drawn(getattr(problems, family)) for family in FAMILIES}
    if name in own and not callable(own[name]):
        return own[name]
    own = {
        n: _drawn(kind) if "rng" in signature(kind).parameters else kind for n, kind in own.items()
    }
    kind = own.get(name) or families.get(name) or getattr(problems, name)
    made = constructed(text, "--problem", {name: kind}, (families, own))
    if len(made) != 1:
        raise click.UsageError(f"--problem should be one family, got {text!r}")
    return made[0]


def _drawn(generator: Any) -> Any:
    """Return a function from settings to the family of problems of a generator."""
    from bayesduel import problems

    known = set(signature(generator).parameters) - {"rng"}
    family = generator.__name__

    def drawn(n_arms: int = 10, **settings: Any) -> Any:
        unknown = sorted(set(settings) - known)
        if unknown:
            raise ValueError(f"settings should be of {', '.join(sorted(known))}, got {unknown}")
        given = tuple(sorted(settings.items()))
        return problems.RandomProblem(
            n_arms=n_arms, generator=generator, settings=given, name=family.replace("_", " ")
        )

    return drawn


def _named(module: ModuleType | Mapping[str, Any]) -> dict[str, Any]:
    """Return the classes with settings that a module lists, by name; a mapping as it is."""
    if isinstance(module, Mapping):
        return dict(module)
    listed = {name: getattr(module, name) for name in module.__all__}
    return {name: kind for name, kind in listed.items() if is_dataclass(kind)}


def _name(node: ast.AST) -> str | None:
    node = node.func if isinstance(node, ast.Call) else node
    return node.id if isinstance(node, ast.Name) else None


def _object(node: ast.AST, known: Mapping[str, Any], inner: Mapping[str, Any]) -> Any:
    name = str(_name(node))
    args, keywords = (node.args, node.keywords) if isinstance(node, ast.Call) else ([], [])
    places = [_value(argument, inner) for argument in args]
    settings = {str(k.arg): _value(k.value, inner) for k in keywords}
    if callable(known[name]):
        _check_settings(name, settings, signature(known[name]).parameters)
    try:
        return known[name](*places, **settings)
    except (TypeError, ValueError) as error:
        raise click.UsageError(f"{name}: {error}") from error


def _check_settings(name: str, settings: Mapping[str, Any], known: Mapping[str, Parameter]) -> None:
    """Raise a usage error for a setting that is not among those known, unless any may be given."""
    if any(one.kind is Parameter.VAR_KEYWORD for one in known.values()):
        return
    for setting in settings.keys() - known.keys():
        near = did_you_mean(setting, known)
        has = f"its settings are {', '.join(known)}" if known else "it has none"
        raise click.UsageError(f"{name} has no setting {setting!r}; {has}{near}")


def _value(node: ast.AST, inner: Mapping[str, Any]) -> Any:
    """Return a setting: a literal, or an object of the names that may stand for one."""
    if _name(node) in inner:
        if isinstance(node, ast.Name) and not callable(inner[node.id]):
            return inner[node.id]  # what a file of the user's has made already
        return _object(node, inner, inner)
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise click.UsageError(
            f"a setting should be a number, a quoted word or one of {', '.join(inner)}, "
            f"got {ast.unparse(node)!r}"
        ) from error
