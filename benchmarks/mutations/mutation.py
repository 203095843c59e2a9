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
    """A changed piece of a file: lines and columns are those of the piece."""

    path: str
    line: int
    start: int
    old: str
    new: str

    def key(self, text: str) -> str:
        """Return what a record of this mutation is kept under."""
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        return f"{self.path}:{self.line}:{self.start}:{self.old}>{self.new}:{digest}"

    def applied(self, text: str) -> str:
        """Return the text with the mutation."""
        lines = text.splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.start] + self.new + line[self.start + len(self.old) :]
        return "".join(lines)


def mutations_of(path: Path, root: Path) -> Iterator[Mutation]:
    """Yield the mutations of a file; docstrings, annotations and messages are left alone."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    name = str(path.relative_to(root))
    tree = ast.parse(text)
    for parent in ast.walk(tree):
        parent._fields = tuple(f for f in parent._fields if f not in ("annotation", "returns"))
    for node in ast.walk(tree):
        if getattr(node, "lineno", None) is None:
            continue
        line = lines[node.lineno - 1]
        if any(word in line for word in MESSAGES) or not line.isascii():
            continue
        if isinstance(node, ast.BinOp | ast.Compare | ast.BoolOp):
            yield from _swapped(node, lines, name)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            piece = line[node.col_offset : node.end_col_offset]
            whole = isinstance(node.value, int)
            new = str(node.value + 1) if whole else repr(node.value * 1.5 or 1.0)
            yield Mutation(name, node.lineno, node.col_offset, piece, new)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield Mutation(name, node.lineno, node.col_offset, "-", "+")


def _swapped(node: ast.expr, lines: list[str], name: str) -> Iterator[Mutation]:
    """Yield the mutation of the first operator of an expression, if it is on one line."""
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
        yield Mutation(name, after.lineno, start + place, old, new)
