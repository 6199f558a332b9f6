"""The equations of the chapter "One sigmoid per label"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import mpmath
from sympy import Expr, Integer, Matrix, Symbol, diff, exp, log, solve, symbols

from mlloss.identities.registry import NUMERIC, assert_between, assert_equal, check, random_points
from mlloss.symbolic import binary_cross_entropy, evaluate, logits, logsumexp, sigmoid, softmax, softplus

z = symbols("z", real=True)
Sample = tuple[tuple[Symbol, ...], tuple[int, ...]]


def samples(*counts: int) -> Iterator[Sample]:
    """Scores of so many classes, with every label set."""
    for count in counts:
        for targets in product((0, 1), repeat=count):
            yield logits(count), targets


def bce(p: Expr, y: int) -> Expr:
    return -y * log(p) - (1 - y) * log(1 - p)


def eq1(sample: Sample) -> Expr:
    """The loss in probabilities, as it is defined: positives and negatives apart."""
    positives = [bce(sigmoid(s), 1) for s, y in zip(*sample, strict=True) if y == 1]
    negatives = [bce(sigmoid(s), 0) for s, y in zip(*sample, strict=True) if y == 0]
    return sum(negatives + positives, Integer(0))


def stable(sample: Sample) -> Expr:
    return sum((softplus(-s if y else s) for s, y in zip(*sample, strict=True)), Integer(0))


def assert_same(left: Expr, right: Expr, variables: tuple[Symbol, ...]) -> None:
    """`left` is `right` at random points, at 50 digits."""
    assert_between(left, right, left, variables)


def assert_equal_stably(naive: Expr, right: Expr, s: tuple[Symbol, ...]) -> None:
    """At moderate scores, where 1 − σ keeps enough of its 50 digits."""
    for point in random_points(s, count=9):
        assert mpmath.almosteq(evaluate(naive, point), evaluate(right, point), 1e-40)


@check("sigmoids-sum")
def sigmoids_sum() -> None:
    """Negatives and positives together are Σ BCE(σ(s), y) over all of 1 to 3 classes, for every label set."""
    for s, y in samples(1, 2, 3):
        assert_equal(eq1((s, y)), sum(bce(sigmoid(si), yi) for si, yi in zip(s, y, strict=True)))
        assert_equal_stably(eq1((s, y)), stable((s, y)), s)


@check("sigmoids-complement")
def sigmoids_complement() -> None:
    """e^(−z)/(1 + e^(−z)) = 1 − σ(z) = σ(−z)."""
    assert_equal(exp(-z) / (1 + exp(-z)), 1 - sigmoid(z))
    assert_equal(1 - sigmoid(z), sigmoid(-z))


@check("sigmoids-softplus", NUMERIC)
def sigmoids_softplus() -> None:
    """Each of the three lines equals the sum of cross-entropies: 1 to 4 classes, every label set."""
    for s, y in samples(1, 2, 3, 4):
        positives = [si for si, yi in zip(s, y, strict=True) if yi]
        negatives = [si for si, yi in zip(s, y, strict=True) if not yi]
        lines = [
            -sum(log(1 - sigmoid(sj)) for sj in negatives) - sum(log(sigmoid(si)) for si in positives),
            -sum(log(1 / (1 + exp(sj))) for sj in negatives)
            - sum(log(1 / (1 + exp(-si))) for si in positives),
            sum(log(1 + exp(sj)) for sj in negatives) + sum(log(1 + exp(-si)) for si in positives),
        ]
        for line in lines:
            assert_equal_stably(line, stable((s, y)), s)


@check("sigmoids-targets")
def sigmoids_targets() -> None:
    """With targets of 0 and 1 it is Σ softplus(s) − y s: 1 to 3 classes, every label set."""
    for s, y in samples(1, 2, 3):
        written = sum(softplus(si) - yi * si for si, yi in zip(s, y, strict=True))
        assert_equal(stable((s, y)), written)
        by_class = sum(binary_cross_entropy(si, yi) for si, yi in zip(s, y, strict=True))
        assert_equal(by_class, written)


@check("sigmoids-likelihood")
def sigmoids_likelihood() -> None:
    """e^(−loss) is the product of the probabilities of all answers: 1 to 3 classes, every label set."""
    for s, y in samples(1, 2, 3):
        answers = Integer(1)
        for si, yi in zip(s, y, strict=True):
            answers *= sigmoid(si) if yi else 1 - sigmoid(si)
        assert_equal(exp(-stable((s, y))), answers)


@check("sigmoids-all-sets", NUMERIC)
def sigmoids_all_sets() -> None:
    """The probabilities of all 2^C label sets add to 1, for 1 to 4 classes."""
    for count in (1, 2, 3, 4):
        s = logits(count)
        total = sum(exp(-stable(sample)) for sample in samples(count))
        assert_same(total, Integer(1), s)


@check("sigmoids-gradient")
def sigmoids_gradient() -> None:
    """The gradient is σ(s) − y, class by class: 1 to 4 classes, every label set."""
    for s, y in samples(1, 2, 3, 4):
        for si, yi in zip(s, y, strict=True):
            assert_equal(diff(stable((s, y)), si), sigmoid(si) - yi)


@check("sigmoids-batch", NUMERIC)
def sigmoids_batch() -> None:
    """The mean over all m·C terms is the samples' mean of their means over classes, m and C of 1 to 3."""
    for m, count in product((1, 2, 3), repeat=2):
        s = logits(m * count)
        rows = [s[i * count : (i + 1) * count] for i in range(m)]
        y = [[(i + c) % 2 for c in range(count)] for i in range(m)]
        terms = [
            yc * log(1 / (1 + exp(-sc))) + (1 - yc) * log(exp(-sc) / (1 + exp(-sc)))
            for row, targets in zip(rows, y, strict=True)
            for sc, yc in zip(row, targets, strict=True)
        ]
        written = -sum(terms) / (m * count)
        a_sample = [stable((row, tuple(t))) / count for row, t in zip(rows, y, strict=True)]
        assert_equal_stably(written, sum(a_sample) / m, s)


@check("sigmoids-hessian")
def sigmoids_hessian() -> None:
    """Second derivatives: σ(s)σ(−s) on the diagonal, 0 elsewhere; 1 to 3 classes, every label set."""
    for s, y in samples(1, 2, 3):
        for a, b in product(s, repeat=2):
            assert_equal(diff(stable((s, y)), a, b), sigmoid(a) * sigmoid(-a) if a == b else Integer(0))


@check("sigmoids-softmax-hessian", NUMERIC)
def sigmoids_softmax_hessian() -> None:
    """Those of softmax cross-entropy between two classes are −p_c p_d, negative: 2, 3 and 5 classes."""
    for count in (2, 3, 5):
        s = logits(count)
        p = softmax(s)
        mixed = diff(logsumexp(*s) - s[0], s[0], s[1])
        assert_same(mixed, -p[0] * p[1], s)
        assert all(evaluate(mixed, point) < 0 for point in random_points(s, count=9))


@check("sigmoids-shared")
def sigmoids_shared() -> None:
    """With s = W h the gradient in h is Wᵀ(σ(s) − y): 1 to 3 classes, 2 features, every label set."""
    for count in (1, 2, 3):
        weights = Matrix(count, 2, symbols(f"w1:{2 * count + 1}", real=True))
        features = Matrix(symbols("h1:3", real=True))
        scores = weights * features
        for y in product((0, 1), repeat=count):
            loss = sum(softplus(si) - yi * si for si, yi in zip(scores, y, strict=True))
            residual = Matrix([sigmoid(si) - yi for si, yi in zip(scores, y, strict=True)])
            for h, expected in zip(features, weights.T * residual, strict=True):
                assert_equal(diff(loss, h), expected)


@check("sigmoids-balance")
def sigmoids_balance() -> None:
    """With one score for all, the slope is C σ(s) − k: zero only at σ = k/C, the score log k/(C − k)."""
    k, count, p = symbols("k C p", positive=True)
    loss = k * softplus(-z) + (count - k) * softplus(z)
    slope = diff(loss, z)
    assert_equal(slope, count * sigmoid(z) - k)
    assert solve(count * p - k, p) == [k / count]
    assert_equal(sigmoid(log(k / (count - k))), k / count)


@check("sigmoids-flip")
def sigmoids_flip() -> None:
    """Switching one label on lowers the loss by its score: 1 to 3 classes, every label set."""
    for s, y in samples(1, 2, 3):
        for i, score in enumerate(s):
            on, off = ((*y[:i], value, *y[i + 1 :]) for value in (1, 0))
            assert_equal(stable((s, off)) - stable((s, on)), score)


@check("sigmoids-weighted-balance")
def sigmoids_weighted_balance() -> None:
    """With positives weighted by w the loss is stationary where the odds are w q/(1 − q)."""
    w, q = symbols("w q", positive=True)
    slope = diff(w * q * softplus(-z) + (1 - q) * softplus(z), z)
    p = symbols("p", positive=True)
    assert_equal(slope, (1 - q) * sigmoid(z) - w * q * (1 - sigmoid(z)))
    (rest,) = solve((1 - q) * p - w * q * (1 - p), p)
    assert_equal(rest / (1 - rest), w * q / (1 - q))
    assert_equal(rest.subs(w, (1 - q) / q), Integer(1) / 2)


@check("sigmoids-dependence", NUMERIC)
def sigmoids_dependence() -> None:
    """The best independent model of two labels loses the entropies of both; at least the joint entropy."""
    a, b, c, d = symbols("a b c d", positive=True)  # P(00), P(01), P(10), P(11), before they are normalised
    joint = [w / (a + b + c + d) for w in (a, b, c, d)]
    first, second = joint[2] + joint[3], joint[1] + joint[3]
    u, v = symbols("u v", positive=True)
    average = -sum(
        weight * log((u if i else 1 - u) * (v if j else 1 - v))
        for weight, (i, j) in zip(joint, product((0, 1), repeat=2), strict=True)
    )
    entropies = [-q * log(q) - (1 - q) * log(1 - q) for q in (first, second)]
    best = average.subs({u: first, v: second})
    gap = sum(
        weight * log(weight / ((first if i else 1 - first) * (second if j else 1 - second)))
        for weight, (i, j) in zip(joint, product((0, 1), repeat=2), strict=True)
    )
    entropy = -sum(weight * log(weight) for weight in joint)
    for slope, q in ((diff(average, u), first), (diff(average, v), second)):
        assert_equal(slope.subs({u: first, v: second}), Integer(0))
        assert 0 < q.subs(dict.fromkeys((a, b, c, d), 1)) < 1
    for point in random_points((a, b, c, d), count=20):
        weights = {name: abs(value) for name, value in point.items()}
        assert mpmath.almosteq(evaluate(best, weights), evaluate(sum(entropies), weights), 1e-40)
        assert mpmath.almosteq(evaluate(best - entropy, weights), evaluate(gap, weights), 1e-30, 1e-40)
        assert evaluate(gap, weights) > -(mpmath.mpf(10) ** -45)
    independent = {a: 6, b: 2, c: 3, d: 1}
    assert mpmath.almosteq(evaluate(gap, independent), 0, abs_eps=1e-45)
