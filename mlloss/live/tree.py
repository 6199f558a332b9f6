"""Expression trees: a SymPy expression as nested lists that the script on the page can evaluate.

A number is itself, a symbol is its name, anything else is `[operation, argument, ...]`:

>>> from sympy import symbols
>>> from mlloss.symbolic import softplus
>>> z = symbols("z")
>>> tree(2 * softplus(z))
['mul', 2, ['softplus', 'z']]
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Expr

from mlloss.symbolic import logsumexp, sigmoid, softplus

# The names on the right are those of OPERATIONS in live-figure.js; a test holds both sets equal.
OPERATIONS: dict[type, str] = {
    sympy.Add: "add",
    sympy.Mul: "mul",
    sympy.Pow: "pow",
    sympy.exp: "exp",
    sympy.log: "log",
    sympy.Max: "max",
    sympy.Min: "min",
    sympy.Abs: "abs",
    sympy.sign: "sign",
    sympy.Heaviside: "heaviside",
    sympy.Eq: "eq",
    sympy.Ne: "ne",
    sympy.StrictLessThan: "lt",
    sympy.LessThan: "le",
    sympy.StrictGreaterThan: "gt",
    sympy.GreaterThan: "ge",
    sympy.And: "and",
    sympy.Or: "or",
    sympy.Not: "not",
    sympy.Piecewise: "where",
    sigmoid: "sigmoid",
    softplus: "softplus",
    logsumexp: "logsumexp",
}


def tree(expression: Expr | float) -> Any:
    """The expression tree of `expression`; an operation that the page does not know is a ValueError."""
    expression = sympy.sympify(expression)
    if expression.is_Symbol:
        return expression.name
    if expression is sympy.S.NegativeInfinity:
        return ["log", 0]
    if expression is sympy.S.Infinity:
        return ["mul", -1, ["log", 0]]
    if expression is sympy.S.NaN:
        return ["log", -1]
    if expression in (sympy.S.true, sympy.S.false):
        return int(bool(expression))
    if expression.is_number and expression.is_finite and expression.is_real:
        value = float(expression)
        return int(value) if value.is_integer() else value
    operation = OPERATIONS.get(type(expression))
    if operation is None:
        known = ", ".join(sorted(OPERATIONS.values()))
        raise ValueError(
            f"a live figure cannot compute {type(expression).__name__} in {expression}; it knows {known}. "
            "Rewrite the expression, or add the operation to mlloss/live/tree.py and live-figure.js."
        )
    arguments = expression.args
    if operation == "where":  # pairs (value, condition), the first whose condition holds
        arguments = [part for pair in arguments for part in pair.args]
    return [operation, *map(tree, arguments)]
