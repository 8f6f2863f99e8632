"""Expressions: Python's grammar for arithmetic, restricted to a few operators and functions, and their values."""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from chiron_workers.calculation import quantities
from chiron_workers.calculation.quantities import Quantity
from chiron_workers.errors import ToolError

CHARS_MAX = 500
NODES_MAX = 200
DEPTH_MAX = 40
LITERAL_DIGITS_MAX = 50
LITERAL_POWER_MAX = 999
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "·": "*", "^": "\0"})
_TOKEN = re.compile(
    r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.])|[A-Za-z][A-Za-z0-9_]*|[-+*/(), ]"
)
FUNCTIONS: Mapping[str, tuple[Callable[..., Quantity], int, int]] = {  # with how few and how many arguments
    "abs": (quantities.absolute, 1, 1),
    "ceil": (quantities.round_up, 1, 1),
    "exp": (quantities.exponential, 1, 1),
    "floor": (quantities.round_down, 1, 1),
    "ln": (quantities.natural_logarithm, 1, 1),
    "log10": (quantities.common_logarithm, 1, 1),
    "max": (quantities.greatest, 1, NODES_MAX),
    "mean": (quantities.mean, 1, NODES_MAX),
    "min": (quantities.least, 1, NODES_MAX),
    "round": (quantities.round_to, 1, 2),
    "sqrt": (quantities.root, 1, 1),
    "sum": (quantities.total, 1, NODES_MAX),
}
_OPERATIONS: Mapping[type[ast.operator], Callable[[Quantity, Quantity], Quantity]] = {
    ast.Add: quantities.add,
    ast.Sub: quantities.subtract,
    ast.Mult: quantities.multiply,
    ast.Div: quantities.divide,
    ast.Pow: quantities.raise_to,
}
UNREADABLE = (
    "cannot be read. Write numbers, names of inputs, + - * / ** ( ) and the functions "
    f"{', '.join(FUNCTIONS)}; units belong to the inputs."
)


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression: its text on one line, the names in it, and the numbers in it, without exponents."""

    text: str
    names: frozenset[str]
    own_numbers: tuple[str, ...]
    _tree: ast.expr

    def value(self, inputs: Mapping[str, Quantity]) -> Quantity:
        """Its value. Raises ToolError where it cannot be calculated."""
        return _value(self._tree, self.text, inputs)


def read_expression(text: str) -> Expression:
    """An expression as it was written.

    Raises:
        ToolError: It is too long, too deep, or has something other than arithmetic.
    """
    if not 0 < len(text.strip()) <= CHARS_MAX:
        raise ToolError(f"expression: must have between 1 and {CHARS_MAX} characters (got {len(text):,}).")
    line = " ".join(text.translate(_SIGNS).replace("\0", "**").split())
    if "".join(_TOKEN.findall(line)) != line:
        raise ToolError(f"expression: {_why_unreadable(line)}")
    try:
        tree = ast.parse(line, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ToolError(f"expression: {_why_unreadable(line)}") from None
    _check(tree, line)
    nodes = list(ast.walk(tree))
    functions = {node.func for node in nodes if isinstance(node, ast.Call)}
    names = {node.id for node in nodes if isinstance(node, ast.Name) and node not in functions}
    return Expression(line, frozenset(names), tuple(_own_numbers(tree, line)), tree)


def read_number(text: str) -> Fraction:
    """A number as digits write it. Raises ToolError for anything else, such as nan, 1,000 or one with too many digits."""
    text = text.strip()
    if not NUMBER.fullmatch(text):
        raise ToolError(f"{text[:40]!r} is not a number. Write digits with a point, without commas: 1741.5")
    digits, _, power = text.lower().partition("e")
    if len(digits) > LITERAL_DIGITS_MAX or abs(int(power[:5] or 0)) > LITERAL_POWER_MAX:
        raise ToolError(
            f"A number may have {LITERAL_DIGITS_MAX} digits and an exponent up to {LITERAL_POWER_MAX} (got {text[:40]})."
        )
    return Fraction(text)


def _why_unreadable(line: str) -> str:
    if re.search(r"\d,\d{3}", line):
        return "write 1000 for 1,000: a comma separates the arguments of a function."
    if re.search(r"\d ?[A-Za-z%]", line):
        return "it contains a unit. Name the number as an input, with its unit."
    return UNREADABLE


def _check(tree: ast.expr, line: str) -> None:
    """Reject a tree that is not arithmetic, is too large or too deep. Raises ToolError."""
    level: list[ast.expr] = [tree]
    nodes = depth = 0
    while level:
        nodes, depth = nodes + len(level), depth + 1
        if nodes > NODES_MAX or depth > DEPTH_MAX:
            raise ToolError(
                f"expression: has more than {NODES_MAX} parts or {DEPTH_MAX} levels. Calculate it in several steps."
            )
        for node in level:
            if isinstance(node, ast.Tuple):
                raise ToolError(f"expression: {_why_unreadable(line)}")
        level = [part for node in level for part in _parts(node)]


def _parts(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.Constant(value=value) if type(value) in (int, float):
            return []
        case ast.Name():
            return []
        case ast.BinOp(left=left, right=right, op=op) if type(op) in _OPERATIONS:
            return [left, right]
        case ast.UnaryOp(operand=operand, op=ast.USub() | ast.UAdd()):
            return [operand]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            _, least, most = FUNCTIONS[name]
            if not least <= len(args) <= most:
                raise ToolError(f"expression: {name} takes {least} to {most} numbers (got {len(args)}).")
            return args
        case ast.Call(func=ast.Name(id=name)):
            raise ToolError(f"expression: there is no function {name}; there are {', '.join(FUNCTIONS)}.")
    raise ToolError(f"expression: {UNREADABLE}")


def _value(node: ast.expr, text: str, inputs: Mapping[str, Quantity]) -> Quantity:
    match node:
        case ast.Name(id=name):
            return inputs[name]
        case ast.BinOp(left=left, right=right, op=op):
            return _OPERATIONS[type(op)](_value(left, text, inputs), _value(right, text, inputs))
        case ast.UnaryOp(operand=operand, op=op):
            value = _value(operand, text, inputs)
            return quantities.negate(value) if isinstance(op, ast.USub) else value
        case ast.Call(func=ast.Name(id=name), args=args):
            return FUNCTIONS[name][0](*(_value(part, text, inputs) for part in args))
    return quantities.plain(read_number(_literal(node, text)))


def _own_numbers(node: ast.expr, text: str) -> list[str]:
    match node:
        case ast.Constant():
            return [_literal(node, text)]
        case ast.BinOp(left=left, op=ast.Pow()):
            return _own_numbers(left, text)
        case ast.Call(func=ast.Name(id="round"), args=[first, *_]):
            return _own_numbers(first, text)
        case ast.Name():
            return []
    return [number for part in _parts(node) for number in _own_numbers(part, text)]


def _literal(node: ast.expr, text: str) -> str:
    """The digits as they were written: a float in between would lose some."""
    return text[node.col_offset : node.end_col_offset]
