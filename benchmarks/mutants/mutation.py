"""Mechanical mutation of a user's variant: every small change of its source, one at a time.

The operators are those of classical mutation testing (constants, comparisons, arithmetic, dropped terms and statements,
swapped arguments) and a few that belong to the subject: min and max, s and s_next, a and a_next, `.copy()`.

Imports, docstrings, annotations, messages of exceptions and the construction of the `Variant` are left alone: they
are not the algorithm.
"""

import ast
import copy
import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,), ast.Pow: (ast.Mult,),
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "minimum": "maximum", "maximum": "minimum",
    "s": "s_next", "s_next": "s", "a": "a_next", "a_next": "a", "any": "all", "all": "any", "floor": "ceil",
    "ceil": "floor", "mean": "sum", "amin": "amax", "amax": "amin",
}  # fmt: skip
"""Names of functions and attributes that are taken for each other."""
FIELDS = ("s", "s_next", "a", "a_next")
"""Names that are swapped as attributes only: as variables they may mean anything."""


SYMMETRIC = ("clip", "max", "min", "maximum", "minimum", "hypot", "add", "multiply", "isclose", "gcd")
"""Functions of which the first two arguments can be swapped: clip(x, y, z) is min(max(x, y), z)."""
EQUIVALENT = re.compile(r"#\s*equivalent mutants? \(([^)]*)\): (\S.*)$")
"""How a line of the source says that mutants of some operators change nothing there, and why."""


@dataclass(frozen=True)
class Mutation:
    """One changed source; `line` is that of the change in the original."""

    line: int
    operator: str
    source: str

    def diff(self, original: str) -> str:
        """The lines that differ, as a unified diff without its head.

        >>> mutation = next(mutations("def f(x):\\n    return x + 2\\n"))
        >>> print(mutation.diff("def f(x):\\n    return x + 2\\n"))
        -    return x + 2
        +    return x - 2
        """
        before, after = ast.unparse(ast.parse(original)), self.source
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
        return "\n".join(line for line in list(lines)[2:] if not line.startswith("@@"))


def reason_of_equivalence(source: str, mutation: Mutation) -> str:
    """The reason that the author gives, on the line of the mutation, why it changes nothing; empty if there is none.

    >>> line = "x = max(n, 1)  # equivalent mutant (constant): n is never below 2"
    >>> reason_of_equivalence(line, Mutation(1, "constant", ""))
    'n is never below 2'
    >>> reason_of_equivalence(line, Mutation(1, "name", ""))
    ''
    """
    found = EQUIVALENT.search(source.splitlines()[mutation.line - 1]) if mutation.line else None
    if found is None or mutation.operator not in [word.strip() for word in found[1].split(",")]:
        return ""
    return found[2]


def mutations(source: str) -> Iterator[Mutation]:
    """Every mutation of a source, in the order of its lines; two that give the same source are one.

    >>> [(each.line, each.operator) for each in mutations("def f(x):\\n    return x < 1\\n")]
    ... # doctest: +NORMALIZE_WHITESPACE
    [(2, 'comparison'), (2, 'comparison'), (2, 'constant'), (2, 'constant')]
    """
    tree = ast.parse(source)
    seen, found = {ast.unparse(tree)}, []
    left_out = _left_out(tree)
    even = {id(node.args[0]) for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args and _is_even(node)}
    for number, node in enumerate(ast.walk(tree)):
        for operator, change in () if id(node) in left_out else _changes(node):
            if operator == "swapped operands" and id(node) in even and _is_difference(node):
                continue  # |x − y| = |y − x|
            mutated = copy.deepcopy(tree)
            place = next(each for index, each in enumerate(ast.walk(mutated)) if index == number)
            _Replace(place, change(place)).visit(mutated)
            text = ast.unparse(ast.fix_missing_locations(mutated))
            if text not in seen:
                seen.add(text)
                found.append(Mutation(getattr(node, "lineno", 0), operator, text))
    return iter(sorted(found, key=lambda mutation: mutation.line))


def _left_out(tree: ast.Module) -> set[int]:
    """The identities of the nodes that do not belong to the algorithm."""
    roots: list[ast.AST] = []
    declared = {
        each.id for node in ast.walk(tree) if _is_variant(node) for each in ast.walk(node) if isinstance(each, ast.Name)
    }
    # A constant that the declaration uses, an accuracy for example, is part of the promise.
    roots += [
        node
        for node in tree.body
        if isinstance(node, ast.Assign) and {each.id for each in node.targets if isinstance(each, ast.Name)} & declared
    ]
    for node in ast.walk(tree):
        match node:
            case ast.Raise() | ast.Assert():
                roots.append(node)
            case _ if _is_variant(node):
                roots.append(node)
            case ast.FunctionDef() | ast.ClassDef():
                roots += node.decorator_list
        roots += [part for name in ("annotation", "returns") if (part := getattr(node, name, None)) is not None]
    return {id(each) for root in roots for each in ast.walk(root)}


def _is_variant(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _function(node) == "Variant"


def _is_even(call: ast.Call) -> bool:
    return _function(call) in ("abs", "fabs", "absolute", "norm")


def _is_difference(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)


def _function(call: ast.Call) -> str:
    """The last name of the function that is called."""
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))


Change = Callable[[ast.AST], ast.AST | None]


class _Replace(ast.NodeTransformer):
    """Puts another node, or none, in the place of one."""

    def __init__(self, place: ast.AST, other: ast.AST | None) -> None:
        self.place, self.other = place, other

    def visit(self, node: ast.AST) -> ast.AST | None:
        """Replace the node if it is the one."""
        if node is self.place:
            return self.other
        return super().visit(node)


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """The changes of one node: the name of the operator, and the function that makes the new node of its copy."""
    match node:
        case ast.Constant(value=bool()):
            yield "constant", lambda each: ast.Constant(not each.value)  # type: ignore[attr-defined]
        case ast.Constant(value=int() | float() as value):
            for number in _other_numbers(value):
                yield "constant", lambda _, number=number: ast.Constant(number)  # type: ignore[misc]
        case ast.Compare(ops=[operator]):
            for comparison in COMPARISONS[type(operator)]:
                yield "comparison", lambda each, ops=comparison: _with(each, ops=[ops()])  # type: ignore[misc]
        case ast.BoolOp(op=operator):
            swapped = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield "boolean", lambda each: _with(each, op=swapped)
        case ast.BinOp():
            yield from _arithmetic_changes(node)
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield "sign", lambda each: each.operand  # type: ignore[attr-defined]
        case ast.AugAssign(op=operator):
            for other in ARITHMETIC.get(type(operator), ()):
                yield "assignment", lambda each, other=other: _with(each, op=other())  # type: ignore[misc]
            yield "assignment", lambda each: ast.Assign(targets=[each.target], value=each.value)  # type: ignore[attr-defined]
            yield "dropped statement", lambda _: ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.Expr(value=ast.Call()):
            yield "dropped statement", lambda _: ast.Pass()
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES and name not in FIELDS:
            yield "name", lambda each: _with(each, id=NAMES[each.id])  # type: ignore[attr-defined]
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in NAMES:
            yield "name", lambda each: _with(each, attr=NAMES[each.attr])  # type: ignore[attr-defined]
        case ast.Call():
            yield from _call_changes(node)
        case ast.IfExp():
            yield "condition", lambda each: each.body  # type: ignore[attr-defined]
            yield "condition", lambda each: each.orelse  # type: ignore[attr-defined]
        case ast.If() | ast.While():
            yield "condition", lambda each: _with(each, test=ast.Constant(False))
            if isinstance(node, ast.If):
                yield "condition", lambda each: _with(each, test=ast.Constant(True))
        case ast.Subscript(slice=ast.Name() | ast.Attribute(), ctx=ast.Load()):
            yield "index", lambda each: _with(each, slice=_minus_one(each.slice))  # type: ignore[attr-defined]
        case ast.Subscript(slice=ast.Tuple(elts=[_, _])):
            yield "index", lambda each: _with(each, slice=_swapped(each.slice))  # type: ignore[attr-defined]


def _arithmetic_changes(node: ast.BinOp) -> Iterator[tuple[str, Change]]:
    for other in ARITHMETIC.get(type(node.op), ()):
        yield "arithmetic", lambda each, other=other: _with(each, op=other())  # type: ignore[misc]
    if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.MatMult):
        yield "dropped term", lambda each: each.left  # type: ignore[attr-defined]
        if not isinstance(node.op, ast.Div | ast.MatMult):
            yield "dropped term", lambda each: each.right  # type: ignore[attr-defined]
    if isinstance(node.op, ast.Sub | ast.Div):
        yield "swapped operands", lambda each: _with(each, left=each.right, right=each.left)  # type: ignore[attr-defined]


def _call_changes(node: ast.Call) -> Iterator[tuple[str, Change]]:
    if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
        yield "dropped copy", lambda each: each.func.value  # type: ignore[attr-defined]
    if _function(node) in SYMMETRIC:
        return
    if len(node.args) >= 2 and not any(isinstance(argument, ast.Starred) for argument in node.args[:2]):
        yield "swapped arguments", lambda each: _with(each, args=[each.args[1], each.args[0], *each.args[2:]])  # type: ignore[attr-defined]


def _with(node: ast.AST, **fields: object) -> ast.AST:
    """The node with other fields."""
    for name, value in fields.items():
        setattr(node, name, value)
    return node


def _minus_one(index: ast.expr) -> ast.expr:
    return ast.BinOp(left=index, op=ast.Sub(), right=ast.Constant(1))


def _swapped(pair: ast.Tuple) -> ast.Tuple:
    return ast.Tuple(elts=pair.elts[::-1], ctx=pair.ctx)


def _other_numbers(value: float) -> list[float]:
    """Numbers to take for one: its neighbours, zero, and half of it where it is no integer."""
    if isinstance(value, int):
        return [value + 1, value - 1]
    return [other for other in (0.0, 1.0, value / 2.0, value + 1.0) if other != value]
