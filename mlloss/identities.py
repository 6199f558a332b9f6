"""Every labelled equation of the book, checked.

A check has the label of the equation in the chapter. It raises AssertionError when the equation does not
hold. SymPy decides where it can; bounds and limits are tried at random points with 50 digits and at their
extreme cases.

>>> sorted(CHECKS)[0]
'bce-gradient'
>>> CHECKS["softplus-bound"].run()
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
from sympy import (
    Expr,
    Integer,
    Max,
    Min,
    Rational,
    Symbol,
    diff,
    exp,
    expand,
    expand_log,
    limit,
    log,
    oo,
    powdenest,
    simplify,
    solve,
    symbols,
)

from mlloss.symbolic import (
    binary_cross_entropy,
    cross_entropy,
    evaluate,
    hard_cross_entropy,
    logits,
    logsumexp,
    relu,
    sigmoid,
    softmax,
    softplus,
    squared_error,
)

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


z, u, y = symbols("z u y", real=True)
p, q, c, gamma = symbols("p q c gamma", positive=True)

# Scores and the sigmoid


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


# From squared error to cross-entropy


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


# The hard form


def leader(s: Sequence[Expr]) -> Expr:
    return Max(*s)


@check("lse")
def lse() -> None:
    """Log-sum-exp is the logarithm of the sum of exponentials, for 1 to 6 scores."""
    for n in range(1, 7):
        s = logits(n)
        assert_equal(logsumexp(*s), log(sum(exp(si) for si in s)))


@check("lse-gradient")
def lse_gradient() -> None:
    """Its derivatives are the softmax probabilities, for 1 to 5 scores."""
    for n in range(1, 6):
        s = logits(n)
        for si, probability in zip(s, softmax(s), strict=True):
            derivative = diff(log(sum(exp(sj) for sj in s)), si)
            assert_equal(derivative, exp(si) / sum(exp(sj) for sj in s))
            assert_equal(derivative, probability)


@check("lse-shift")
def lse_shift() -> None:
    """A constant added to all scores is added to log-sum-exp, for 1 to 5 scores."""
    for n in range(1, 6):
        s = logits(n)
        assert_equal(logsumexp(*[si + c for si in s]), logsumexp(*s) + c)


@check("lse-gap", NUMERIC)
def lse_gap() -> None:
    """The gap to the maximum is the log-sum-exp of the differences to it, for 1, 2, 3 and 8 scores."""
    for n in (1, 2, 3, 8):
        s = logits(n)
        gap = logsumexp(*[si - leader(s) for si in s])
        assert_between(logsumexp(*s) - leader(s), gap, logsumexp(*s) - leader(s), s)


@check("lse-bounds", NUMERIC)
def lse_bounds() -> None:
    """max ≤ LSE ≤ max + log n for 1, 2, 3 and 8 scores; equal scores reach the upper end."""
    for n in (1, 2, 3, 8):
        s = logits(n)
        assert_between(leader(s), logsumexp(*s), leader(s) + log(n), s)
        assert_equal(logsumexp(*[c] * n), c + log(n))


@check("softmin-bounds", NUMERIC)
def softmin_bounds() -> None:
    """min − log n ≤ −LSE(−s) ≤ min for 1, 2, 3 and 8 scores; equal scores reach the lower end."""
    for n in (1, 2, 3, 8):
        s = logits(n)
        softmin = -logsumexp(*[-si for si in s])
        assert_between(Min(*s) - log(n), softmin, Min(*s), s)
        assert_equal(-logsumexp(*[-c] * n), c - log(n))


@check("softplus-lse")
def softplus_lse() -> None:
    """Softplus is the log-sum-exp of 0 and its argument."""
    assert_equal(softplus(u), logsumexp(Integer(0), u))
    assert_equal(softplus(u), log(1 + exp(u)))


@check("softplus-gap")
def softplus_gap() -> None:
    """softplus(u) − [u]₊ = log(1 + e^(−|u|)), for u of either sign."""
    for argument in (p, -p):  # p > 0
        assert_equal(softplus(argument) - relu(argument), log(1 + exp(-abs(argument))))


@check("softplus-bound", NUMERIC)
def softplus_bound() -> None:
    """[u]₊ < softplus(u) ≤ [u]₊ + log 2, with equality on the right at u = 0."""
    assert_between(relu(u), softplus(u), relu(u) + log(2), [u])
    assert softplus(Integer(0)) == log(2)
    assert all(evaluate(softplus(u) - relu(u), {u: point}) > 0 for point in (-50, -1, 0, 1, 50))


@check("ce-lse")
def ce_lse() -> None:
    """−log softmax(s)_y = LSE(s) − s_y, for 2 to 4 classes and every label."""
    for s, label in class_scores():
        assert_equal(-log(softmax(s)[label]), logsumexp(*s) - s[label])
        assert_equal(cross_entropy(s, label), logsumexp(*s) - s[label])


@check("ce-differences")
def ce_differences() -> None:
    """CE = log[1 + Σ exp(s_j − s_y)], for 2 to 4 classes and every label."""
    for s, label in class_scores():
        others = sum(exp(sj - s[label]) for j, sj in enumerate(s) if j != label)
        assert_equal(logsumexp(*s) - s[label], log(1 + others))


@check("hinge", NUMERIC)
def hinge() -> None:
    """max(s) − s_y = [max of the others − s_y]₊, for 2 to 4 classes and every label."""
    for s, label in class_scores():
        others = [sj for j, sj in enumerate(s) if j != label]
        bracket = relu(Max(*others) - s[label])
        assert_between(leader(s) - s[label], bracket, leader(s) - s[label], s)
        assert_between(hard_cross_entropy(s, label), bracket, hard_cross_entropy(s, label), s)


@check("hinge-bounds", NUMERIC)
def hinge_bounds() -> None:
    """hinge < CE ≤ hinge + log C, for 2 to 4 classes and every label; equal scores reach the upper end."""
    for s, label in class_scores():
        low = hard_cross_entropy(s, label)
        assert_between(low, cross_entropy(s, label), low + log(len(s)), s)
        assert all(evaluate(cross_entropy(s, label) - low, point) > 0 for point in random_points(s, size=3))
        assert_equal(cross_entropy([c] * len(s), label), log(len(s)))


@check("temperature-bounds", NUMERIC)
def temperature_bounds() -> None:
    """max ≤ LSE(γs)/γ ≤ max + (log n)/γ, for 2 and 5 scores and γ from 1/10 to 100."""
    for n in (2, 5):
        s = logits(n)
        for scale in (Rational(1, 10), Integer(1), Integer(100)):
            soft = logsumexp(*[scale * si for si in s]) / scale
            assert_between(leader(s), soft, leader(s) + log(n) / scale, s)
        assert_equal(logsumexp(*[gamma * c] * n) / gamma, c + log(n) / gamma)


@check("temperature-limit")
def temperature_limit() -> None:
    """The bound (log n)/γ tends to 0, and so does the gap itself for leaders with and without a tie."""
    assert limit(log(q) / gamma, gamma, oo) == 0
    for s in ([0, -1, -3], [0, 0, -1], [2, 2, 2]):
        assert limit((logsumexp(*[gamma * si for si in s]) / gamma).rewrite(exp), gamma, oo) == max(s)


def class_scores() -> Iterator[tuple[tuple[Symbol, ...], int]]:
    """Scores of 2, 3 and 4 classes, with every label."""
    for count in (2, 3, 4):
        for label in range(count):
            yield logits(count), label
