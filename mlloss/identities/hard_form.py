"""The equations of the chapter "The hard form"."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, Integer, Max, Min, Rational, diff, exp, limit, log, oo, symbols

from mlloss.identities.registry import (
    NUMERIC,
    assert_between,
    assert_equal,
    check,
    class_scores,
    random_points,
)
from mlloss.symbolic import (
    cross_entropy,
    evaluate,
    hard_cross_entropy,
    logits,
    logsumexp,
    relu,
    softmax,
    softplus,
)

u = symbols("u", real=True)
p, q, c, gamma = symbols("p q c gamma", positive=True)


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
