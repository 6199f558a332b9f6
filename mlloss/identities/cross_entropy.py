"""The equations of the chapter "From squared error to cross-entropy"."""

from __future__ import annotations

from sympy import Integer, Rational, diff, exp, expand, log, solve, symbols

from mlloss.identities.registry import assert_equal, check
from mlloss.symbolic import binary_cross_entropy, sigmoid, softplus, squared_error

z, y = symbols("z y", real=True)
p, q = symbols("p q", positive=True)


@check("squared-error")
def squared_error_definition() -> None:
    """The symbolic form of the squared error is ½(y − σ(z))²."""
    assert_equal(squared_error(z, y), (y - 1 / (1 + exp(-z))) ** 2 / 2)


@check("squared-error-gradient")
def squared_error_gradient() -> None:
    """Its derivative is (p − y) p (1 − p); the form without the minus is its negative."""
    derivative = diff(squared_error(z, y), z)
    assert_equal(derivative, (sigmoid(z) - y) * sigmoid(z) * (1 - sigmoid(z)))
    assert_equal(derivative, -(y - sigmoid(z)) * diff(sigmoid(z), z))


@check("squared-error-gradient-bound")
def squared_error_gradient_bound() -> None:
    """p (1 − p)² ≤ 4/27: the difference is (p − 1/3)² (4/3 − p), with equality at p = 1/3."""
    difference = Rational(4, 27) - p * (1 - p) ** 2
    assert_equal(difference, (p - Rational(1, 3)) ** 2 * (Rational(4, 3) - p))


@check("squared-error-curvature")
def squared_error_curvature() -> None:
    """The second derivative for y = 1 is p (1 − p)² (3p − 1)."""
    s = sigmoid(z)
    assert_equal(diff(squared_error(z, 1), z, 2), s * (1 - s) ** 2 * (3 * s - 1))


@check("likelihood")
def likelihood() -> None:
    """p^y (1 − p)^(1 − y) is p for y = 1 and 1 − p for y = 0."""
    probability = p**y * (1 - p) ** (1 - y)
    assert_equal(probability.subs(y, 1), p)
    assert_equal(probability.subs(y, 0), 1 - p)


@check("bce")
def bce() -> None:
    """Minus the logarithm of the likelihood is −y log p − (1 − y) log(1 − p)."""
    for target in (0, 1):
        chance = (p**y * (1 - p) ** (1 - y)).subs(y, target)
        assert_equal(-log(chance), -target * log(p) - (1 - target) * log(1 - p))


@check("bce-proper")
def bce_proper() -> None:
    """The average cross-entropy has the derivative (p − q)/(p(1 − p)), zero only at p = q."""
    average = -q * log(p) - (1 - q) * log(1 - p)
    assert_equal(diff(average, p), (p - q) / (p * (1 - p)))
    assert solve(diff(average, p), p) == [q]


@check("brier-proper")
def brier_proper() -> None:
    """The average squared error of probabilities has the derivative p − q."""
    average = q * (1 - p) ** 2 / 2 + (1 - q) * p**2 / 2
    assert_equal(diff(average, p), -q * (1 - p) + (1 - q) * p)
    assert_equal(diff(average, p), p - q)


@check("bce-logits")
def bce_logits() -> None:
    """Both forms in softplus equal cross-entropy of the sigmoid, for every y."""
    probabilities = -y * log(sigmoid(z)) - (1 - y) * log(1 - sigmoid(z))
    difference = expand((binary_cross_entropy(z, y) - probabilities).rewrite(exp))
    for part in (difference.coeff(y, 0), difference.coeff(y, 1)):
        assert_equal(part, Integer(0))
    assert_equal(expand(binary_cross_entropy(z, y) - softplus(z)).coeff(y, 1), -z)


@check("bce-signed")
def bce_signed() -> None:
    """For y of 0 and 1 it is log(1 + e^(−(2y − 1)z))."""
    for target in (0, 1):
        assert_equal(binary_cross_entropy(z, target), log(1 + exp(-(2 * target - 1) * z)))


@check("bce-gradient")
def bce_gradient() -> None:
    """The derivative of cross-entropy in the logit is σ(z) − y."""
    assert_equal(diff(binary_cross_entropy(z, y), z), sigmoid(z) - y)


@check("gradient-ratio")
def gradient_ratio() -> None:
    """The gradients of squared error and cross-entropy have the ratio p(1 − p), at most ¼."""
    ratio = diff(squared_error(z, y), z) / (sigmoid(z) - y)
    assert_equal(ratio, sigmoid(z) * (1 - sigmoid(z)))
    assert_equal(Rational(1, 4) - p * (1 - p), (p - Rational(1, 2)) ** 2)


@check("bce-curvature")
def bce_curvature() -> None:
    """The second derivative is the slope of the sigmoid, a product of two positive numbers."""
    curvature = diff(binary_cross_entropy(z, y), z, 2)
    assert_equal(curvature, sigmoid(z) * (1 - sigmoid(z)))
    assert (sigmoid(z) * sigmoid(-z)).is_positive


@check("bce-weights")
def bce_weights() -> None:
    """With z = wᵀx + b the gradient in w is (σ(z) − y) x, component by component."""
    weights, inputs, b = symbols("w1:4", real=True), symbols("x1:4", real=True), symbols("b", real=True)
    score = sum(w * xi for w, xi in zip(weights, inputs, strict=True)) + b
    for w, xi in zip(weights, inputs, strict=True):
        assert_equal(diff(binary_cross_entropy(score, y), w), (sigmoid(score) - y) * xi)
