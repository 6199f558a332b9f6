"""The equations of the chapter "A training lab"."""

from __future__ import annotations

from sympy import Rational, diff, log, simplify, solve, symbols

from mlloss.identities.registry import assert_equal, check
from mlloss.symbolic import sigmoid, softplus

z = symbols("z", real=True)
p, q, h = symbols("p q h", positive=True)


@check("hidden-optimum")
def hidden_optimum() -> None:
    """The only zero of the average loss's derivative is (1 − h) q; the loss is convex in the logit."""
    yes = (1 - h) * q  # the share that is still labelled so
    average = -yes * log(p) - (1 - yes) * log(1 - p)
    (best,) = solve(diff(average, p), p)
    assert_equal(best, (1 - h) * q)
    in_logit = yes * softplus(-z) + (1 - yes) * softplus(z)
    assert_equal(diff(in_logit, z, 2), sigmoid(z) * sigmoid(-z))


@check("hidden-threshold")
def hidden_threshold() -> None:
    """The best answer exceeds (1 − h)/2 exactly where q exceeds ½; in the logit, log((1 − h)/(1 + h))."""
    best, cut = (1 - h) * q, (1 - h) / 2
    assert simplify((best - cut) / (1 - h) - (q - Rational(1, 2))) == 0  # 1 − h is positive
    assert_equal(sigmoid(log((1 - h) / (1 + h))), cut)
