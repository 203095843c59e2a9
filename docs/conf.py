"""Settings of the site (``make docs``), and the pages of the reference that are made at build time.

What the reference lists is what the package holds: ``bayesduel.__all__``, the registries of models,
terms and problems, and the policies with the attributes in which they name source and guarantee.
"""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping
from doctest import DocTestParser
from inspect import getdoc, isclass, isfunction, signature
from pathlib import Path
from typing import Any

import click

import bayesduel
from bayesduel import beliefs, datasets, models, plots, policies, problems, study
from bayesduel.cli import main
from bayesduel.cli.lists import SETTINGS
from bayesduel.cli.parse import known_policies

project = "bayesduel"
author = "The bayesduel developers"
copyright = author
release = version = bayesduel.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "paper"]
templates_path = ["_templates"]
default_role = "autolink"
add_function_parentheses = False
suppress_warnings = ["mystnb.unknown_mime_type"]

nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_execution_in_temp = True  # pages write files
nb_merge_streams = True
nb_output_stderr = "remove"  # which file was read, by its path on the machine that made the site
myst_enable_extensions = ["colon_fence", "deflist", "substitution"]
myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

html_theme = "sphinx_book_theme"
html_title = "bayesduel"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"show_toc_level": 2, "use_download_button": False, "navbar_persistent": []}

# The rooms of the reference, what a reader tries first at the top.
ROOMS = ["data", "inference", "posterior", "criticism", "reporting", "plots", "study", "simulation"]
ROOMS += ["policies", "beliefs"]

# The modules of plots, in the order of the gallery: rankings, checks, terms, policies.
PLOTS = ["ranking", "preference", "transitivity", "posterior_predictive", "calibration"]
PLOTS += ["comparison", "coefficients", "judges", "panel", "sources"]
PLOTS += ["categories", "ratings", "plot_regret", "plot_success", "policies"]

HERE = Path(__file__).parent
LINK = re.compile(r"^\{notebook\}`.*`\n\n", flags=re.M)  # of a tutorial, to itself as a notebook


def _targets() -> dict[str, str]:
    """Return how many targets of the main experiments were met, and where others were missed."""
    page = (HERE / "validation" / "validation.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(.*?)\]\(#(.*?)\) \| (\d+) \| (\d+) \|", page, flags=re.M)
    met = sum(int(row[2]) for row in rows)
    missed = sum(int(row[3]) for row in rows)
    misses = [f"[{title}](validation.md#{place}) ({n})" for title, place, _, n in rows if int(n)]
    return {
        "met": str(met),
        "missed": str(missed),
        "targets": str(met + missed),
        "misses": "; ".join(misses),
    }


myst_substitutions = _targets()

SHARED = 4  # commands, beyond which an option is described once


def _first_line(thing: Any) -> str:
    """Return the first paragraph of a docstring on one line, its code marked as Markdown does."""
    paragraph = (getdoc(thing) or "").partition("\n\n")[0]
    return " ".join(paragraph.replace("``", "`").split())


def _table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown."""
    columns = list(columns)
    lines = [columns, ["---"] * len(columns), *rows]
    cells = ([str(cell).replace("|", "\\|") for cell in row] for row in lines)
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _summary(names: Iterable[str]) -> str:
    """Return the directive that lists names and makes a page of each."""
    listed = "".join(f"   {name}\n" for name in names)
    return f"```{{eval-rst}}\n.. autosummary::\n   :toctree: generated\n\n{listed}```\n"


def _api() -> str:
    """Return the page of all public names, those of one home under one heading."""
    homes: dict[str, list[str]] = {}
    for name in bayesduel.__all__:
        thing = getattr(bayesduel, name)
        room = getattr(thing, "__module__", "bayesduel.").split(".")[1]
        if (isclass(thing) or isfunction(thing)) and room != "models":  # listed as models
            homes.setdefault(room, []).append(f"bayesduel.{name}")
    parts = [
        "# All names of `bayesduel`\n\n`import bayesduel as bd` imports the names without a "
        "module: `bd.fit`, `bd.winners`. Every name has an example, which the tests run.\n"
    ]
    for room in sorted(homes, key=ROOMS.index):
        parts.append(f"## {room.replace('_', ' ').capitalize()}\n\n{_summary(sorted(homes[room]))}")
    for room in (models, plots, datasets, study, policies, beliefs, problems):
        name = f"bayesduel.{room.__name__.rpartition('.')[2]}"
        listed = () if room is models else bayesduel.__all__  # above, under their rooms
        names = sorted(set(room.__all__).difference(listed))
        kinds = (n for n in names if callable(getattr(room, n)))
        parts.append(f"## `{name}`\n\n{_summary(f'{room.__name__}.{n}' for n in kinds)}")
    return "\n".join(parts)


def _completed(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Complete a docstring for the site: the type that is returned, and the imports of examples.

    Docstrings leave types to signatures and imports to the reader; numpydoc takes the first line of
    what is returned for its type.
    """
    if "Returns" in lines and isfunction(thing):
        start = lines.index("Returns") + 2
        heads = range(start, len(lines) - 1)
        end = next((k for k in heads if set(lines[k + 1]) == {"-"}), len(lines))
        kind = signature(thing).return_annotation
        kind = kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
        lines[start:end] = [kind, *(f"    {line}".rstrip() for line in lines[start:end])]
    if "Examples" in lines and any(">>>" in line for line in lines):
        place = lines.index("Examples") + 2
        imports = [">>> import bayesduel as bd"]
        if any("np." in line for line in lines[place:]):
            imports.append(">>> import numpy as np")
        lines[place:place] = imports


def _policies() -> str:
    """Return the catalogue of policies by setting."""
    parts = [
        "# Policies\n\nThis page is made from the policies themselves. `bayesduel policies` prints "
        "the "
        "same table.\n"
    ]
    for setting, title in SETTINGS.items():
        rows = (
            (f"`{name}`", _first_line(kind), kind.reference, kind.guarantee)
            for name, kind in known_policies(setting).items()
        )
        parts.append(
            f"## {title}\n\n{_table(('policy', 'what', 'reference', 'guarantee'), rows)}\n"
        )
    return "\n".join(parts)


def _models() -> str:
    """Return the catalogue of models and terms."""
    named = (
        (f'`"{n}"`', _first_line(models.named(n)), f"`{models.named(n)!r}`") for n in models.MODELS
    )
    terms = (
        (f"`{n}`", f"`{kind.__name__}`", _first_line(kind)) for n, kind in models.TERMS.items()
    )
    return (
        "# Models and terms\n\nThis page is made from the registries of the package.\n\n## "
        "Models\n\n"
        f"{_table(('name', 'what', 'in Python'), named)}\n\n## Terms\n\n"
        f"{_table(('name', 'class', 'what'), terms)}\n"
    )


def _commands() -> str:
    """Return the commands and their options, those that many have once."""
    every = _each_command("bayesduel", main)
    rows = {
        name: [
            p.get_help_record(context)
            for p in context.command.params
            if isinstance(p, click.Option) and not p.hidden
        ]
        for name, context in every.items()
    }
    often = Counter(row for own in rows.values() for row in own)
    shared = {row for row, n in often.items() if n > SHARED}
    parts = [
        "# Commands\n\nMade from the commands themselves; `bayesduel COMMAND --help` prints the "
        "same. A log is a file, a glob, an address, or the name of a shipped log.\n"
    ]
    for name, context in every.items():
        own = [row for row in rows[name] if row not in shared]
        more = ", ".join(f"`{o.split()[0].rstrip(',')}`" for o, w in rows[name] if (o, w) in shared)
        usage = context.get_usage().removeprefix("Usage: ")
        what = _first_line(context.command.callback)
        parts.append(f"## `{name}`\n\n```text\n{usage}\n```\n\n{what}\n\n{_options(own)}")
        if more:
            parts.append(f"And [as many commands](#options-of-many-commands): {more}.\n")
    parts.append(
        f"## Options of many commands\n\n{_options(row for row in often if row in shared)}"
    )
    return "\n".join(parts)


def _each_command(name: str, group: click.Group) -> dict[str, click.Context]:
    """Return every command by its whole name, those of groups one by one."""
    own = click.Context(group, info_name=name)
    found: dict[str, click.Context] = {}
    for each in group.list_commands(own):
        command = group.get_command(own, each)
        if isinstance(command, click.Group):
            found |= _each_command(f"{name} {each}", command)
        elif command is not None:
            found[f"{name} {each}"] = click.Context(
                command, info_name=f"{name} {each}", show_default=True
            )
    return found


def _options(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of options, or nothing where there are none."""
    marked = re.compile(r"(?<![`\w])--[a-z][\w-]*")  # else two dashes are read as one
    cells = [(f"`{name}`", marked.sub(r"`\g<0>`", words)) for name, words in rows]
    return f"{_table(('option', 'what'), cells)}\n" if cells else ""


def _gallery() -> str:
    """Return the page of all plots: what each shows, and its example as a cell with its picture."""
    names = plots.__all__
    place = {name: PLOTS.index(getattr(plots, name).__module__.split(".")[2]) for name in names}
    parts = [
        "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n# Gallery\n\n"
        "Every plot of the package, and the code that draws it. With `ax=` a plot is drawn into "
        "your "
        "own figure. Every plot returns its axes. The link *Arguments* lists its arguments.\n\n"
        "```{code-cell} ipython3\nimport bayesduel as bd\n```\n"
    ]
    for name in sorted(names, key=place.__getitem__):
        parts.append(f"## `{name}`\n\n{_first_line(getattr(plots, name))}\n\n{_cell(name)}")
    return "\n".join(parts)


def _cell(name: str) -> str:
    """Return the example of a plot as a cell of a notebook, but for the line that saves it."""
    examples = DocTestParser().get_examples(getdoc(getattr(plots, name)) or "")
    code = "".join(each.source for each in examples if "savefig" not in each.source)
    home = "bayesduel" if name in bayesduel.__all__ else "bayesduel.plots"
    return f"```{{code-cell}} ipython3\n{code}```\n\n{{py:func}}`Arguments <{home}.{name}>`\n"


def _problems() -> str:
    """Return the catalogue of problems and of shipped logs."""
    known: Mapping[str, Any] = {name: problems.named(name) for name in problems.NAMES}
    rows = ((f"`{name}`", p.setting, p.n_arms, p.source) for name, p in known.items())
    logs = [datasets.describe(name) for name in datasets.names()]
    shipped = ((f"`{e.name}`", f"{e.n_duels:,}", e.n_arms, e.title, e.citation) for e in logs)
    return (
        "# Problems and shipped logs\n\n## Problems\n\n"
        f"{_table(('name', 'setting', 'arms', 'source'), rows)}\n\n## Shipped logs\n\n"
        f"{_table(('name', 'duels', 'arms', 'what was compared', 'source'), shipped)}\n"
    )


PAGES = {
    "reference/api": _api,
    "reference/policies": _policies,
    "reference/models": _models,
    "reference/commands": _commands,
    "reference/problems": _problems,
    "gallery": _gallery,
}


def _write_reference(*_: Any) -> None:
    """Write the pages of the reference, those alone that differ, so that a build goes on."""
    for name, made in PAGES.items():
        path, text = HERE / f"{name}.md", made()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _places(app: Any, page: Any) -> None:
    """Give each plot the place that the page of its code links to.

    viewcode takes the names of a module to have one home; those of ``plots`` may have two.
    """
    from sphinx.addnodes import desc_signature  # the tests run this file without Sphinx

    for heading in page.findall(desc_signature):
        if heading.get("module") == "bayesduel.plots":
            heading["ids"].append(f"bayesduel.{heading['fullname']}")


def notebook_of(text: str) -> str:
    """Return the notebook of a page, without results and without the link to it."""
    from myst_nb.core.read import read_myst_markdown_notebook
    from nbformat import writes

    notebook = read_myst_markdown_notebook(LINK.sub("", text))
    notebook.metadata.pop("file_format")
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"  # else by chance
    return str(writes(notebook))


def _download(role: str, raw: str, title: str, line: int, inliner: Any, *_: Any) -> tuple[Any, Any]:
    """Return a link that holds the page as a notebook.

    A browser saves what such a link holds. It does not save a file beside a page that it opened
    from a folder: it shows that file.
    """
    from docutils.nodes import raw as html

    page = Path(inliner.document.current_source)
    held = b64encode(notebook_of(page.read_text(encoding="utf-8")).encode()).decode()
    link = (
        f'<a class="reference download internal" download="{page.stem}.ipynb" '
        f'href="data:application/x-ipynb+json;base64,{held}">{title}</a>'
    )
    return [html("", link, format="html")], []


def setup(app: Any) -> None:
    """Make the pages before Sphinx looks for its sources."""
    app.add_role("notebook", _download)
    app.connect("config-inited", _write_reference)
    app.connect("doctree-read", _places)
    app.connect("autodoc-process-docstring", _completed, priority=1)  # before numpydoc
