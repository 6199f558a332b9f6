"""What a check is, and the ways to decide an equation or a bound.

A check raises AssertionError when its equation does not hold. SymPy decides where it can; bounds and limits
are tried at random points with 50 digits and at their extreme cases.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
from sympy import Expr, Symbol, exp, expand_log, powdenest, simplify

from mlloss.symbolic import evaluate, logits

SYMBOLIC = "SymPy"
NUMERIC = "50 digits, random and extreme points"


@dataclass(frozen=True)
class Check:
    """How one equation is checked."""

    label: str
    how: str
    run: Callable[[], None]

    @property
    def statement(self) -> str:
        """What the check shows, in words: the first line of its docstring."""
        return (self.run.__doc__ or "").strip().splitlines()[0]


CHECKS: dict[str, Check] = {}


def check(label: str, how: str = SYMBOLIC) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Registers a function as the check of the equation `label`."""

    def register(function: Callable[[], None]) -> Callable[[], None]:
        if label in CHECKS:
            raise ValueError(f"two checks for the equation {label!r}")
        CHECKS[label] = Check(label, how, function)
        return function

    return register


def assert_equal(left: Expr, right: Expr) -> None:
    """SymPy finds that `left` and `right` are one function of real variables."""
    difference = (left - right).rewrite(exp)
    for simpler in (simplify, _simplify_logarithms):
        if simpler(difference) == 0:
            return
    raise AssertionError(f"SymPy does not find {left} = {right}; what is left is {simplify(difference)}")


def _simplify_logarithms(expression: Expr) -> Expr:
    """exp(expression) − 1: zero where a sum of logarithms is, and easier for SymPy."""
    return simplify(powdenest(exp(expand_log(expression, force=True)), force=True) - 1)


def random_points(
    variables: Sequence[Symbol], count: int = 50, size: float = 8
) -> Iterator[dict[Symbol, Any]]:
    """Reproducible random places, some of them far out, together with the place where all are equal."""
    generator = random.Random(0)
    for i in range(count):
        scale = size * 50 if i % 10 == 9 else size
        yield {v: mpmath.mpf(generator.uniform(-scale, scale)) for v in variables}
    yield dict.fromkeys(variables, mpmath.mpf(generator.uniform(-size, size)))


def assert_between(low: Expr, middle: Expr, high: Expr, variables: Sequence[Symbol]) -> None:
    """low ≤ middle ≤ high at random points, at 50 digits."""
    with mpmath.workdps(50):
        for point in random_points(variables):
            least, value, most = (evaluate(e, point) for e in (low, middle, high))
            rounding = mpmath.mpf(10) ** -45 * (1 + max(abs(v) for v in point.values()))
            assert least <= value + rounding, f"{low} > {middle} at {point}"
            assert value <= most + rounding, f"{middle} > {high} at {point}"


def class_scores() -> Iterator[tuple[tuple[Symbol, ...], int]]:
    """Scores of 2, 3 and 4 classes, with every label."""
    for count in (2, 3, 4):
        for label in range(count):
            yield logits(count), label
