"""Small faults in Python source, one at a time.

A mutant is one change to one node of a module's syntax tree: a comparison that takes in its
boundary, a sum that becomes a difference, a number off by one, a statement left out. What decides
no result is left alone: docstrings, annotations, the text of messages, ``__all__``, imports,
everything inside a ``raise``, the flags of a dataclass and ``strict`` of ``zip``.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


def _both_ways(pairs: Any) -> dict[Any, Any]:
    return {a: b for pair in pairs for a, b in (pair, pair[::-1])}


COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = _both_ways(
    [
        (ast.Lt, ast.LtE),
        (ast.Gt, ast.GtE),
        (ast.Eq, ast.NotEq),
        (ast.Is, ast.IsNot),
        (ast.In, ast.NotIn),
    ]
)
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    **_both_ways([(ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitAnd, ast.BitOr)]),
    **dict.fromkeys((ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult), ast.Mult),
    ast.BitXor: ast.BitAnd,
}
FUNCTIONS: dict[str, str] = {
    **_both_ways(
        [
            *(("min", "max"), ("minimum", "maximum"), ("fmin", "fmax"), ("argmin", "argmax")),
            *(("any", "all"), ("sum", "mean"), ("nansum", "nanmean"), ("floor", "ceil")),
            *(("zeros", "ones"), ("log", "log1p"), ("std", "var")),
        ]
    ),
    **{"exp": "expm1", "sqrt": "abs", "abs": "negative", "cumsum": "cumprod", "median": "mean"},
}
UNCHANGED = -1
"""The number of a mutant without a change."""
TEXTUAL = ("InputError", "argument", "warn", "TypeVar", "NewType", "getLogger", "dataclass")
"""Calls whose arguments are words for people, for the type checker or for a decorator."""


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, which operator made it, and what it says before and after.

    ``code`` is the line of the source, without its indentation.
    """

    file: str
    number: int
    line: int
    function: str
    code: str
    operator: str
    before: str
    after: str


def list_mutants(source: str, file: str) -> list[Mutant]:
    """All mutants of a module, in the order of its text."""
    lines = source.splitlines()
    return [
        Mutant(
            file=file,
            number=number,
            line=node.lineno,
            function=function,
            code=lines[node.lineno - 1].strip(),
            operator=operator,
            before=_show(node),
            after=_show(changed, node),
        )
        for number, (node, changed, operator, function) in enumerate(
            _list_changes(ast.parse(source))
        )
    ]


def mutate(source: str, number: int) -> ast.Module:
    """The syntax tree of a module with its change of that ``number`` made."""
    tree = ast.parse(source)
    if number == UNCHANGED:
        return tree
    for at, (node, changed, *_) in enumerate(_list_changes(tree)):
        if at == number:
            return ast.fix_missing_locations(_Replace(node, changed).visit(tree))
    raise LookupError(f"the module has no mutant {number}")


def _list_changes(tree: ast.Module) -> Iterator[tuple[Any, ast.AST, str, str]]:
    for node, function in _list_places(tree):
        for operator, changed in _change_node(node):
            yield node, changed, operator, function


def _show(node: Any, was: Any = None) -> str:
    """The part of a node that changes, on one line."""
    part = node.test if isinstance(was or node, ast.If | ast.IfExp | ast.While) else node
    return " ".join(ast.unparse(part).split())


class _Replace(ast.NodeTransformer):
    def __init__(self, node: ast.AST, changed: ast.AST) -> None:
        self.node, self.changed = node, changed

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.node:
            return ast.copy_location(self.changed, node)
        return self.generic_visit(node)


def _list_places(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Every node that may change, with the function that it is in."""

    def follow(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str]]:
        if _is_left_alone(node):
            return
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            function = f"{function}.{node.name}".lstrip(".")
        if isinstance(node, ast.expr | ast.stmt):
            yield node, function
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "type_params", "format_spec"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from follow(child, function)

    yield from follow(tree, "")


def _is_left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.JoinedStr):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Assign):
        return any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
    if isinstance(node, ast.Call):
        return _find_called(node) in TEXTUAL
    return isinstance(node, ast.keyword) and node.arg == "strict"


def _find_called(node: ast.Call) -> str:
    at = node.func
    return at.id if isinstance(at, ast.Name) else at.attr if isinstance(at, ast.Attribute) else ""


def _change_node(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What a node may become, each with the name of its operator."""
    if isinstance(node, ast.Compare):
        for at, kind in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[at] = COMPARISONS[type(kind)]()
            yield "comparison", changed
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        if not _is_of_types(node):
            changed = copy.deepcopy(node)
            changed.op = ARITHMETIC[type(node.op)]()
            yield "arithmetic", changed
    elif isinstance(node, ast.BoolOp):
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and, or", changed
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        yield "sign or not left out", copy.deepcopy(node.operand)
    elif isinstance(node, ast.Constant):
        yield from _change_constant(node)
    elif isinstance(node, ast.Call) and _find_called(node) in FUNCTIONS:
        changed = copy.deepcopy(node)
        other = FUNCTIONS[_find_called(node)]
        if isinstance(changed.func, ast.Name):
            changed.func.id = other
        elif isinstance(changed.func, ast.Attribute):
            changed.func.attr = other
        yield "another function", changed
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        if not isinstance(node.test, ast.Compare | ast.UnaryOp):
            changed = copy.deepcopy(node)
            changed.test = ast.UnaryOp(ast.Not(), changed.test)
            yield "condition turned", changed
    elif isinstance(node, ast.Continue):
        yield "continue, break", ast.Break()
    elif isinstance(node, ast.Break):
        yield "continue, break", ast.Continue()
    call = node.value if isinstance(node, ast.Expr) else None
    told = isinstance(call, ast.Call) and _find_called(call) not in TEXTUAL
    if told or isinstance(node, ast.AugAssign):
        yield "statement left out", ast.Pass()


def _is_of_types(node: ast.AST) -> bool:
    """Whether this is ``int | None`` or text put together, which decide no number."""
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.BitOr):
        text = ast.unparse(node)
        return "None" in text or any(f"{name} |" in text for name in ("int", "float", "str"))
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _change_constant(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        yield "number", ast.Constant(not value)
    elif isinstance(value, int):
        yield "number", ast.Constant(value + 1)
    elif isinstance(value, float):
        yield "number", ast.Constant(value * 2 if value else 1.0)
