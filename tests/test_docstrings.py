"""The docstrings of public names: each has an example that runs, and passes numpydoc's checks.

Left out of numpydoc's checks are ES01, SA01 (an extended summary or "See Also" where one sentence
says it all), GL01 and GL02 (where the quotes stand), and PR04, RT02 and RT03 (types, which the
signatures have). scikit-learn leaves out GL01, GL02 and RT02 and asks the others of classes alone.
"""

import ast
import doctest
import inspect
import pkgutil
import re
import textwrap
from importlib import import_module
from importlib.util import find_spec

import matplotlib
import numpy as np
import pytest

import bayesduel
from bayesduel import datasets, models, plots, policies, problems, study

LEFT_OUT = {"ES01", "SA01", "GL01", "GL02", "PR04", "RT02", "RT03"}
HOMES = {
    "": bayesduel,
    "datasets.": datasets,
    "models.": models,
    "plots.": plots,
    "policies.": policies,
    "problems.": problems,
    "study.": study,
}
NAMES = sorted(
    f"{prefix}{name}"
    for prefix, home in HOMES.items()
    for name in home.__all__
    if callable(getattr(home, name)) and (name not in bayesduel.__all__ or not prefix)
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BASES = (models.Model, models.Modifier, models.Part, models.Response, models.Term)
# Sampled by NUTS, a log or a model with many coefficients, a page, or policies: a second or more.
SLOW = (
    "JudgeReliability()",
    "icehockey",
    "chameleons",
    "Sources(",
    "calibrate(",
    "site(",
    "report(",
    "compare_policies(",
)
PLAIN = ("simulate", "plan", *policies.__all__)  # what runs the rule of a policy


def thing_of(name):
    """Return the function or class of a name such as "models.Scores"."""
    prefix, _, own = name.rpartition(".")
    return getattr(HOMES[f"{prefix}." if prefix else ""], own)


def examples_of(name):
    """Return the docstrings with examples of a name, and of the methods of a class."""
    thing = thing_of(name)
    methods = vars(thing).values() if isinstance(thing, type) else ()
    found = [thing, *(getattr(m, "__func__", m) for m in methods)]
    texts = [inspect.getdoc(one) or "" for one in found if one is thing or inspect.isroutine(one)]
    return [text for text in texts if ">>>" in text]


def marked(name):
    """Return a name with its marks: by what stands in its examples."""
    text = "".join(examples_of(name))
    marks = [pytest.mark.slow] * any(part in text for part in SLOW)
    marks += [pytest.mark.plain] * any(f".{rule}(" in text for rule in PLAIN)
    return pytest.param(name, marks=marks)


@pytest.fixture
def registries():
    """Forget what an example registers."""
    before = [(table, dict(table)) for table in (models.TERMS, models.MODELS)]
    yield
    for table, content in before:
        table.clear()
        table.update(content)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("name", [marked(name) for name in NAMES])
def test_examples_give_what_they_show(name, tmp_path, monkeypatch):
    if "roshambo_" in name and find_spec("pyspiel") is None:
        pytest.skip("roshambo needs OpenSpiel")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    texts = examples_of(name)
    assert texts, f"{name} should have an example"
    for text in texts:
        names = {"bd": bayesduel, "np": np}
        test = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
        said: list[str] = []
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
        assert not said, "".join(said)


def undocumented(thing):
    """Return the parameters that stand neither under Parameters nor, of a class, Attributes."""
    docscrape = pytest.importorskip("numpydoc.docscrape")
    documented = docscrape.NumpyDocString(inspect.getdoc(thing))
    entries = documented["Parameters"] + documented["Attributes"]
    known = {name.strip("* ") for entry in entries for name in entry.name.split(",")}
    return set(inspect.signature(thing).parameters) - known


@pytest.mark.parametrize("name", NAMES)
def test_numpydoc_finds_no_fault(name):
    """Beside what is left out everywhere, three rules of the house.

    Fields of a class may stand under Attributes (PR01). Abstract classes are not called (PR01), nor
    are exceptions; a module has no parameters. A summary that begins with "Return" or "Yield" says
    what is (RT01, YD01).
    """
    validate = pytest.importorskip("numpydoc.validate").validate
    thing, left_out = thing_of(name), set(LEFT_OUT)
    if (inspect.getdoc(thing) or "").startswith(("Return ", "Yield ")):
        left_out |= {"RT01", "YD01"}
    uncalled = inspect.ismodule(thing) or (
        isinstance(thing, type)
        and (inspect.isabstract(thing) or issubclass(thing, Exception) or thing in BASES)
    )
    if uncalled or not undocumented(thing):
        left_out |= {"PR01", "PR02"}
    faults = [f"{code}: {text}" for code, text in validate(f"bayesduel.{name}")["errors"]]
    assert [fault for fault in faults if fault[:4] not in left_out] == []


def test_each_method_has_a_docstring_or_that_of_its_contract():
    """As pydocstyle's D102, which does not know of inherited ones, asks of classes."""
    names = [m.name for m in pkgutil.walk_packages(bayesduel.__path__, "bayesduel.")]
    rooms = [import_module(n) for n in names if not n.endswith("__main__")]
    kinds = {k for room in rooms for k in vars(room).values() if isinstance(k, type)}
    own = {k for k in kinds if k.__module__.startswith("bayesduel.") and k.__name__[0] != "_"}
    methods = {(k.__qualname__, n): getattr(k, n) for k in own for n in vars(k) if n[0] != "_"}
    asked = {key: m for key, m in methods.items() if inspect.isroutine(m) or type(m) is property}
    assert len(asked) > 900 and [key for key, m in asked.items() if not inspect.getdoc(m)] == []


INTERVAL = re.compile(r"[\[(]\s*[-\w./]+\s*,\s*[-\w./]+\s*[\])]")


def checked_ranges(thing):
    """Yield the settings whose range the code of a name checks, and the range."""
    for call in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(thing)))):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "check_range":
            words = [part.value for part in call.args[1:3] if isinstance(part, ast.Constant)]
            yield from [words] if len(words) == 2 else []
    yield from getattr(thing, "ranges", {}).items()


def test_docstrings_state_the_ranges_that_are_checked():
    compared = 0
    for name in NAMES:
        thing, text = thing_of(name), inspect.getdoc(thing_of(name)) or ""
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        for setting, rule in checked_ranges(thing):
            described = re.search(rf"^(\w+, )*{setting}(, \w+)*\n((    .*)?\n)+", text, re.M)
            said = INTERVAL.findall((described or [""])[0].replace("1/2", "0.5"))
            if said and (checked := INTERVAL.findall(rule)):
                compared += 1
                assert checked[0] in said, (name, setting)
    assert compared > 20
