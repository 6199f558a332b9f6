"""The equations of the chapter "Scores and the sigmoid"."""

from __future__ import annotations

from sympy import Integer, Max, Rational, diff, exp, log, simplify, symbols

from mlloss.identities.registry import NUMERIC, assert_between, assert_equal, check
from mlloss.symbolic import sigmoid, softplus

z, u = symbols("z u", real=True)
p = symbols("p", positive=True)


@check("sigmoid-function")
def sigmoid_function() -> None:
    """Both ways to write the sigmoid are one function."""
    assert_equal(sigmoid(z), exp(z) / (1 + exp(z)))
    assert_equal(sigmoid(z), 1 / (1 + exp(-z)))


@check("logit")
def logit() -> None:
    """The sigmoid and the logarithm of the odds undo one another."""
    assert_equal(sigmoid(log(p / (1 - p))), p)
    odds = sigmoid(z).rewrite(exp) / (1 - sigmoid(z).rewrite(exp))
    assert_equal(log(simplify(odds)), z)


@check("sigmoid-symmetry")
def sigmoid_symmetry() -> None:
    """σ(−z) = 1 − σ(z)."""
    assert_equal(sigmoid(-z), 1 - sigmoid(z))


@check("sigmoid-derivative")
def sigmoid_derivative() -> None:
    """The derivative of 1/(1 + e⁻ᶻ) is σ(1 − σ), which is σ(z) σ(−z)."""
    derivative = diff(1 / (1 + exp(-z)), z)
    assert_equal(derivative, sigmoid(z) * (1 - sigmoid(z)))
    assert_equal(derivative, sigmoid(z) * sigmoid(-z))


@check("sigmoid-slope-bound", NUMERIC)
def sigmoid_slope_bound() -> None:
    """The slope lies between 0 and ¼, and is ¼ at 0."""
    slope = sigmoid(z) * sigmoid(-z)
    assert_between(Integer(0), slope, Rational(1, 4), [z])
    assert slope.subs(z, 0) == Rational(1, 4)
    assert_equal(Rational(1, 4) - p * (1 - p), (p - Rational(1, 2)) ** 2)


@check("log-sigmoid")
def log_sigmoid() -> None:
    """log σ(z) = −log(1 + e⁻ᶻ)."""
    assert_equal(log(sigmoid(z)), -softplus(-z))


@check("softplus-derivative")
def softplus_derivative() -> None:
    """The derivative of log(1 + eᵘ) is σ(u)."""
    assert_equal(diff(log(1 + exp(u)), u), sigmoid(u))


@check("softplus-stable")
def softplus_stable() -> None:
    """max(u, 0) + log(1 + e^(−|u|)) is softplus, for u of either sign."""
    for argument in (p, -p):  # p > 0
        assert_equal(softplus(argument), Max(argument, 0) + log(1 + exp(-abs(argument))))
