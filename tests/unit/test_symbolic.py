"""The symbolic functions themselves: values, limits, derivatives, and how they are written."""

from __future__ import annotations

import mpmath
import pytest
from sympy import Rational, S, exp, latex, log, oo, symbols

from mlloss.symbolic import logsumexp, sigmoid, softplus

x, y = symbols("x y", real=True)
HALF = Rational(1, 2)


@pytest.mark.parametrize(
    ("function", "at_minus_infinity", "at_zero", "at_infinity"),
    [(sigmoid, 0, HALF, 1), (softplus, 0, log(2), oo), (logsumexp, -oo, 0, oo)],
)
def test_special_values(function, at_minus_infinity, at_zero, at_infinity):
    assert function(-oo) == at_minus_infinity
    assert function(S.Zero) == at_zero
    assert function(oo) == at_infinity


def test_logsumexp_drops_what_adds_nothing():
    assert logsumexp() == -oo
    assert logsumexp(-oo, x) == x
    assert logsumexp(x, -oo, y) == logsumexp(x, y)
    assert logsumexp(x, x).rewrite(exp) == log(2 * exp(x))


@pytest.mark.parametrize("place", [Rational(1, 3), Rational(-50), Rational(700)])
def test_numbers_by_sympy_itself(place):
    with mpmath.workdps(60):
        z = mpmath.mpf(place.p) / place.q
        expected = {
            sigmoid(place): 1 / (1 + mpmath.exp(-z)),
            softplus(place): mpmath.log1p(mpmath.exp(z)),
            logsumexp(place, 1): mpmath.log(mpmath.exp(z) + mpmath.e),
        }
        for expression, value in expected.items():
            assert mpmath.almosteq(mpmath.mpf(str(expression.evalf(40))), value, mpmath.mpf(10) ** -35)


def test_derivatives():
    assert sigmoid(x).diff(x) == sigmoid(x) * sigmoid(-x)
    assert softplus(x).diff(x) == sigmoid(x)
    assert logsumexp(x, y).diff(y) == exp(y - logsumexp(x, y))


def test_how_they_are_written():
    assert latex(sigmoid(x)) == r"\sigma\left(x\right)"
    assert latex(sigmoid(x) ** 2) == r"\sigma^{2}\left(x\right)"
    assert latex(softplus(x)) == r"\operatorname{softplus}\left(x\right)"
    assert latex(softplus(x) ** 2) == r"\operatorname{softplus}^{2}\left(x\right)"
    assert latex(logsumexp(x, y)) == r"\operatorname{LSE}\left(x, y\right)"
    assert latex(logsumexp(x, y) ** 2) == r"\operatorname{LSE}^{2}\left(x, y\right)"
