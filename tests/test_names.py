"""File names and public names consist of the words of the glossary and of known names.

A word is allowed if it is in a term of ``docs/glossary.md``, in ``PROPER`` (papers, algorithms,
distributions and tools by their own names) or in ``PLAIN`` (plain words of any library). A new
file or public name with another word needs the field's word instead or, if it is the field's
word, an entry in the glossary.
"""

import ast
import re
from pathlib import Path

import pytest

import bayesduel

ROOT = Path(__file__).parents[1]
PROPER = set(
    """
    aepcs am anaconda and bayesduel beat bernstein beta betc betcglm blade blas bradley carlo ccb
    cdb chest co colstim cw
    cwrmed davidson db detect dexp dkwt doubler dts duckdb ecwrmed el etc fgts fgtscdb fh glm glmetc
    hoeffding horseshoe html inp interleaved jit kl klucb knockout lstim max mcmc mdb merge
    mlpocb monte multi narwhals neumann newton nts nuts p pbr pcomp pkg pocb pocbam pocowista
    psis pymc quick rcs reset rmed roshambo rucb savage sbm scb seebs self sklearn sparring sql
    stays sup terry thompson thurstone track ucb vacdb versatile
    """.split()
)
PLAIN = set(
    """
    1 2 3 access accessor action active add admin against all analyse analysis any app arguments as
    asking atomic attributes best binary bots build cache calibrate choices choose class cli column
    command common
    compare comparison compiled composed confidence conjugate console content contextual convert
    cost count criteria criticism data database datatree decided default dense density describe
    difference distribution doctor earlier effect election elimination end estimate expected
    experiment
    explore extras family figure filter find floor folder format from full function graph grid
    group grouped
    hybrid hyper identification imports in indices inference init interaction join judging kind
    label last level library likelihood limit line linear list literature load lower main many mask
    match
    matrices mean memory merge method minimize mixture mle name named names next no number of open
    operation optimal option outcome page parallel parse partial perturbed phase pick planning plot
    plots plus population predict probability process progress query question race random rate read
    record recorded register replay replicate replicated reporting require result row run running
    sample sampling save schedule schema select selection sequence sequential serve server set sets
    sign simulate simulation size spec sphere split stacked standard standardised statistics status
    stop stopped stopping store style subset success summary system table tastes terms test text the
    then threads threshold time times transform two uneven uniform update upper validation value
    variance varying verify version walk watch within write
    """.split()
)
PRIVATE = (
    "accounts",
    "believing",
    "climbing",
    "drawn",
    "following",
    "ladders",
    "laurels",
    "meetings",
    "notion",
    "promise",
    "recipe",
    "surety",
    "teaching",
    "topk",
    "wary",
    "worlds",
)


def words(name):
    """Return the words of a name in snake_case or CamelCase, in lower case."""
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return [word.lower() for word in found]


def terms():
    """Return the terms of the glossary, as written."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    return re.findall(r"^\*\*([^*]+)\*\*:", text, flags=re.M)


def allowed():
    return PROPER | PLAIN | {word for term in terms() for word in words(term)}


def unknown(name, known):
    """Return the words of a name that are not known, in the singular or the plural."""
    singular = {word: {word, word.removesuffix("s"), f"{word[:-3]}y"} for word in words(name)}
    return [word for word, forms in singular.items() if not forms & known]


def files():
    """Return the path and the name of every module and package."""
    for folder in (ROOT / "bayesduel", ROOT / "models"):
        for path in sorted(folder.rglob("*.py")):
            yield path, path.parent.name if path.stem.startswith("__") else path.stem


def public_names():
    """Return the names of ``__all__`` of the package and of every room."""
    on_demand = (bayesduel, bayesduel.policies, bayesduel.study, bayesduel.plots)
    yield from (name for room in on_demand for name in room.__all__ if name != "__version__")
    for path, _ in files():
        if path.stem != "__init__":
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                yield from (c.value for c in ast.walk(node.value) if isinstance(c, ast.Constant))


def test_every_file_is_named_by_the_glossary():
    known = allowed()
    bad = {str(path.relative_to(ROOT)): unknown(name, known) for path, name in files()}
    assert not {path: found for path, found in bad.items() if found}


def test_every_public_name_is_of_the_glossary():
    known = allowed()
    bad = {name: unknown(name, known) for name in public_names()}
    assert not {name: found for name, found in bad.items() if found}


def prose(spoken):
    """Yield the place and the text of every docstring, message and sentence of the package.

    spoken: words, one of which a file has somewhere; others are not parsed.
    """
    for path, _ in files():
        source = path.read_text(encoding="utf-8")
        if not re.search(spoken, source):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value


def test_sentences_use_the_words_of_the_field():
    """A study is told outcomes (ask and tell); nothing else is told, tells or tosses a coin."""
    plain = re.compile(r"\b(told|accuse[ds]?|heed|surer|truer|belie(f|ves?) of a fit|a coin)\b")
    spoken = "told|accuse|heed|surer|truer|believe|of a fit|coin"
    sentences = [(place, text) for place, text in prose(spoken) if " " in text]  # no names
    bad = [(place, text) for place, text in sentences if plain.search(text)]
    assert [place for place, _ in bad if not re.search("/(study|serve)", place)] == []


def test_every_term_stands_once():
    found = [term.lower() for term in terms()]
    assert len(found) > 80
    assert len(found) == len(set(found))


@pytest.mark.parametrize("word", PRIVATE)
def test_private_words_are_not_allowed(word):
    assert unknown(word, allowed()) == [word]
