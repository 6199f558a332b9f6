"""The equations of the chapter "Softmax with many ones"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import mpmath
from sympy import Expr, Integer, Rational, Symbol, diff, log, symbols

from mlloss.identities.one_sigmoid_per_label import assert_same, samples
from mlloss.identities.registry import NUMERIC, assert_between, assert_equal, check, random_points
from mlloss.symbolic import (
    cross_entropy,
    evaluate,
    logits,
    logsumexp,
    multilabel_softmax_cross_entropy,
    softmax,
    softplus,
)

c = symbols("c", real=True)


def sides(s: Sequence[Symbol], y: Sequence[int]) -> tuple[list[Symbol], list[Symbol]]:
    """The scores of the negatives and of the positives."""
    pairs = list(zip(s, y, strict=True))
    return [si for si, yi in pairs if not yi], [si for si, yi in pairs if yi]


def loss_of(s: Sequence[Expr], y: Sequence[int]) -> Expr:
    """k LSE(s) − Σ y s."""
    return sum(y) * logsumexp(*s) - sum(yi * si for si, yi in zip(s, y, strict=True))


def other_loss_of(s: Sequence[Expr], y: Sequence[int]) -> Expr:
    """LSE(s) − Σ y s, whose gradient TensorFlow returns."""
    return logsumexp(*s) - sum(yi * si for si, yi in zip(s, y, strict=True))


@check("many-ones-loss")
def many_ones_loss() -> None:
    """−Σ y log softmax(s) = k LSE(s) − Σ_P s, for 1 to 4 classes and every label set."""
    for s, y in samples(1, 2, 3, 4):
        written = -sum(yi * log(p) for yi, p in zip(y, softmax(s), strict=True))
        assert_equal(written, loss_of(s, y))
        assert_equal(multilabel_softmax_cross_entropy(*sides(s, y), normalize=False), loss_of(s, y))


@check("many-ones-single")
def many_ones_single() -> None:
    """With one label it is cross-entropy, for 1 to 4 classes and every label."""
    for s, y in samples(1, 2, 3, 4):
        if sum(y) == 1:
            assert_equal(loss_of(s, y), cross_entropy(s, y.index(1)))


@check("many-ones-batch")
def many_ones_batch() -> None:
    """The double sum over samples and classes is the mean of the samples' losses, for 1 to 3 samples."""
    for m in (1, 2, 3):
        scores = logits(3 * m)
        rows = [(scores[3 * i : 3 * i + 3], ((1, 1, 0), (0, 1, 0), (1, 1, 1))[i]) for i in range(m)]
        terms = [yi * log(p) for s, y in rows for yi, p in zip(y, softmax(s), strict=True)]
        assert_equal(-sum(terms) / m, sum(loss_of(s, y) for s, y in rows) / m)


@check("many-ones-gradient")
def many_ones_gradient() -> None:
    """The gradient is k softmax − y, and softmax − y/k after division: 1 to 4 classes, every label set."""
    for s, y in samples(1, 2, 3, 4):
        positives = sides(s, y)[1]
        normalised = multilabel_softmax_cross_entropy(*sides(s, y))
        for si, yi, p in zip(s, y, softmax(s), strict=True):
            assert_equal(diff(loss_of(s, y), si), len(positives) * p - yi)
            if positives:
                assert_equal(diff(normalised, si), p - Rational(yi, len(positives)))


@check("many-ones-zero-sum")
def many_ones_zero_sum() -> None:
    """The entries of the gradient add to 0, for 1 to 4 classes and every label set."""
    for s, y in samples(1, 2, 3, 4):
        assert_equal(sum(diff(loss_of(s, y), si) for si in s), Integer(0))


@check("many-ones-split", NUMERIC)
def many_ones_split() -> None:
    """(1/k) loss = softplus(LSE_N − LSE_P) + LSE_P − mean_P, for 1 to 4 classes and every label set."""
    for s, y in samples(1, 2, 3, 4):
        negatives, positives = sides(s, y)
        if not positives:
            continue
        ahead = softplus(logsumexp(*negatives) - logsumexp(*positives)) if negatives else Integer(0)
        even = logsumexp(*positives) - sum(positives) / len(positives)
        assert_same(multilabel_softmax_cross_entropy(negatives, positives), ahead + even, s)


@check("many-ones-even", NUMERIC)
def many_ones_even() -> None:
    """LSE − mean ≥ log k, for k of 1, 2, 3 and 8 scores; equal scores reach it, unequal ones do not."""
    for k in (1, 2, 3, 8):
        s = logits(k)
        excess = logsumexp(*s) - sum(s) / k
        assert_between(log(Integer(k)), excess, excess, s)
        assert_equal(excess.subs(dict.fromkeys(s, c)), log(Integer(k)))
        unequal = {si: mpmath.mpf(i) / 10 for i, si in enumerate(s)}
        assert (evaluate(excess, unequal) > mpmath.log(k)) == (k > 1)


@check("many-ones-floor", NUMERIC)
def many_ones_floor() -> None:
    """Loss ≥ k log k for 1 to 4 classes, every label set; reached if all classes are on, else approached."""
    for s, y in samples(1, 2, 3, 4):
        negatives, positives = sides(s, y)
        k = len(positives)
        floor = k * log(Integer(k)) if k else Integer(0)
        assert_between(floor, loss_of(s, y), loss_of(s, y), s)
        far = {**dict.fromkeys(negatives, mpmath.mpf(-300)), **dict.fromkeys(positives, mpmath.mpf(1))}
        excess = evaluate(loss_of(s, y) - floor, far, digits=200)
        assert abs(excess) < mpmath.mpf(10) ** -125
        assert (excess > mpmath.mpf(10) ** -150) == bool(negatives and positives)


@check("many-ones-push")
def many_ones_push() -> None:
    """The positives together are pulled up by k times the softmax of the negatives: 1 to 4 classes."""
    for s, y in samples(1, 2, 3, 4):
        k, p = sum(y), softmax(s)
        pull = sum(diff(loss_of(s, y), si) for si, yi in zip(s, y, strict=True) if yi)
        assert_equal(pull, -k * sum(pi for pi, yi in zip(p, y, strict=True) if not yi))


@check("many-ones-shift")
def many_ones_shift() -> None:
    """A constant added to all scores changes nothing, for 1 to 4 classes and every label set."""
    for s, y in samples(1, 2, 3, 4):
        assert_equal(loss_of([si + c for si in s], y), loss_of(s, y))


@check("many-ones-optimum")
def many_ones_optimum() -> None:
    """The average loss over label sets has the gradient E[k] p − E[y], that after division p − E[y/k]."""
    for count in (2, 3):
        s = logits(count)
        sets = [y for y in product((0, 1), repeat=count) if any(y)]
        weights = symbols(f"q1:{len(sets) + 1}", positive=True)
        total = sum(weights)
        pairs = [(q / total, y) for q, y in zip(weights, sets, strict=True)]
        average = sum(q * loss_of(s, y) for q, y in pairs)
        shared = sum(q * loss_of(s, y) / sum(y) for q, y in pairs)
        size = sum(q * sum(y) for q, y in pairs)
        for i, p in enumerate(softmax(s)):
            assert_equal(diff(average, s[i]), size * p - sum(q * y[i] for q, y in pairs))
            assert_equal(diff(shared, s[i]), p - sum(q * Rational(y[i], sum(y)) for q, y in pairs))


@check("many-ones-convex", NUMERIC)
def many_ones_convex() -> None:
    """Along v the second derivative is k times the variance of v under the softmax, for 2 to 4 classes."""
    t = symbols("t", real=True)
    for count in (2, 3, 4):
        s, v = logits(count), symbols(f"v1:{count + 1}", real=True)
        y = (1, 1, *[0] * (count - 2))
        p = softmax(s)
        along = loss_of([si + t * vi for si, vi in zip(s, v, strict=True)], y)
        second = diff(along, t, 2).subs(t, 0)
        mean = sum(pi * vi for pi, vi in zip(p, v, strict=True))
        variance = sum(pi * (vi - mean) ** 2 for pi, vi in zip(p, v, strict=True))
        for point in random_points([*s, *v], count=9):
            assert mpmath.almosteq(evaluate(second, point), evaluate(2 * variance, point), 1e-35, 1e-35)
            assert evaluate(variance, point) >= 0


@check("many-ones-other")
def many_ones_other() -> None:
    """softmax − y is the gradient of LSE(s) − Σ y s, for 1 to 4 classes and every label set."""
    for s, y in samples(1, 2, 3, 4):
        for si, yi, p in zip(s, y, softmax(s), strict=True):
            assert_equal(diff(other_loss_of(s, y), si), p - yi)


@check("many-ones-drift")
def many_ones_drift() -> None:
    """A constant c added to all scores lowers the other loss by (k − 1)c, for 1 to 4 classes."""
    for s, y in samples(1, 2, 3, 4):
        moved = other_loss_of([si + c for si in s], y)
        assert_equal(moved, other_loss_of(s, y) - (sum(y) - 1) * c)
