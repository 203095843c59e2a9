"""Mutations of a file: one operator, comparison or number of one line is changed."""

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Mutation", "mutations_of"]

SWAPS = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.And: ("and", "or"), ast.Or: ("or", "and"),
    ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"),
}  # fmt: skip
MESSAGES = ("raise", "print(", "warn(")


class Mutation(NamedTuple):
    """A changed piece of a line.

    Attributes
    ----------
    text
        The line without the white space around it.
    before
        Lines of the same text above it in its file.
    column
        Where in the text the piece begins.
    old, new
        The piece before and after.
    """

    path: str
    line: int
    text: str
    before: int
    column: int
    old: str
    new: str

    @property
    def key(self) -> str:
        """What its record is kept under: the same when the line is moved."""
        return f"{self.path}:{self.text}:{self.before}:{self.column}:{self.old}>{self.new}"

    def rank(self, seed: int) -> str:
        """Return a random text; a sample is the mutations with the first ones.

        It depends on no other mutation: after a change of the package the sample is the same in
        all lines that were not changed.
        """
        return hashlib.sha256(f"{seed}:{self.key}".encode()).hexdigest()

    def applied(self, text: str) -> str:
        """Return the text of the file with the mutation."""
        lines = text.splitlines(keepends=True)
        line = lines[self.line - 1]
        start = line.index(self.text) + self.column
        lines[self.line - 1] = line[:start] + self.new + line[start + len(self.old) :]
        return "".join(lines)


def mutations_of(path: Path, root: Path) -> Iterator[Mutation]:
    """Yield the mutations of a file; docstrings, annotations and messages are left alone."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    name = str(path.relative_to(root))
    for row, start, old, new in sorted(set(_pieces(ast.parse(text), lines))):
        line = lines[row - 1]
        stripped = line.strip()
        before = sum(other.strip() == stripped for other in lines[: row - 1])
        yield Mutation(name, row, stripped, before, start - line.index(stripped), old, new)


def _pieces(tree: ast.AST, lines: list[str]) -> Iterator[tuple[int, int, str, str]]:
    """Yield line, column, old and new text of each piece that is changed."""
    for parent in ast.walk(tree):
        parent._fields = tuple(f for f in parent._fields if f not in ("annotation", "returns"))
    for node in ast.walk(tree):
        if getattr(node, "lineno", None) is None:
            continue
        line = lines[node.lineno - 1]
        if any(word in line for word in MESSAGES) or not line.isascii():
            continue
        if isinstance(node, ast.BinOp | ast.Compare | ast.BoolOp):
            yield from _swapped(node, lines)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            piece = line[node.col_offset : node.end_col_offset]
            whole = isinstance(node.value, int)
            new = str(node.value + 1) if whole else repr(node.value * 1.5 or 1.0)
            yield node.lineno, node.col_offset, piece, new
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield node.lineno, node.col_offset, "-", "+"


def _swapped(node: ast.expr, lines: list[str]) -> Iterator[tuple[int, int, str, str]]:
    """Yield the change of the first operator of an expression, if it is on one line."""
    if isinstance(node, ast.BinOp):
        before, after, operator = node.left, node.right, node.op
    elif isinstance(node, ast.Compare):
        before, after, operator = node.left, node.comparators[0], node.ops[0]
    elif isinstance(node, ast.BoolOp):
        before, after, operator = node.values[0], node.values[1], node.op
    else:
        return
    if type(operator) not in SWAPS or before.end_lineno != after.lineno:
        return
    old, new = SWAPS[type(operator)]
    line, start = lines[after.lineno - 1], before.end_col_offset or 0
    place = line[start : after.col_offset].find(old)
    if place >= 0 and line.isascii():
        yield after.lineno, start + place, old, new
