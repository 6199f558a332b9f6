"""The equations of the chapter "Softmax and cross-entropy"."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import mpmath
from sympy import (
    Expr,
    Function,
    IndexedBase,
    Integer,
    KroneckerDelta,
    Rational,
    Sum,
    Symbol,
    diff,
    exp,
    log,
    simplify,
    symbols,
)

from mlloss.identities.registry import NUMERIC, assert_equal, check, class_scores
from mlloss.symbolic import (
    binary_cross_entropy,
    cross_entropy,
    evaluate,
    logits,
    logsumexp,
    sigmoid,
    softmax,
    softmax_focal_loss,
    softplus,
)

c, z = symbols("c z", real=True)
alpha, gamma = symbols("alpha gamma", positive=True)
SIZES = (2, 3, 7, 30)
EXPONENTS = (Integer(0), Rational(1, 2), Integer(1), Integer(2), Integer(5))
Numbers = list[mpmath.mpf]


def samples(count: int = 10, sizes: Sequence[int] = SIZES) -> Iterator[tuple[Numbers, int, random.Random]]:
    """Random scores of so many classes, some of them far apart, with a label and a source of more."""
    generator = random.Random(0)
    for size in sizes:
        for i in range(count):
            spread = 60 if i == 0 else 4
            scores = [mpmath.mpf(generator.uniform(-spread, spread)) for _ in range(size)]
            yield scores, generator.randrange(size), generator


def probabilities(s: Numbers) -> Numbers:
    """By the definition."""
    total = mpmath.fsum(mpmath.exp(si) for si in s)
    return [mpmath.exp(si) / total for si in s]


def ce(s: Numbers, label: int) -> mpmath.mpf:
    """−log softmax(s)_y by the definition."""
    return -mpmath.log(probabilities(s)[label])


def close(left: mpmath.mpf, right: mpmath.mpf, digits: int = 30) -> bool:
    return bool(mpmath.almosteq(left, right, mpmath.mpf(10) ** -digits, mpmath.mpf(10) ** -digits))


def derivative(function, s: Numbers, place: int) -> mpmath.mpf:  # type: ignore[no-untyped-def]
    """A central difference, good to 30 digits where 120 are computed."""
    step = mpmath.mpf(10) ** -40
    up, down = list(s), list(s)
    up[place] += step
    down[place] -= step
    return (function(up) - function(down)) / (2 * step)


def indexed() -> tuple[IndexedBase, Symbol, Symbol, Expr]:
    """Scores s[1], …, s[C] for a symbolic C, an index of a term, and log Σ exp s[j]."""
    s, count, j = (
        IndexedBase("s", real=True),
        Symbol("C", integer=True, positive=True),
        Symbol("j", integer=True),
    )
    return s, count, j, log(Sum(exp(s[j]), (j, 1, count)))


@check("softmax-definition", NUMERIC)
def softmax_definition() -> None:
    """The symbolic softmax is exp(sᵢ)/Σ exp(sⱼ), for 1 to 5 scores and 30 at random places."""
    for size in range(1, 6):
        s = logits(size)
        for si, p in zip(s, softmax(s), strict=True):
            assert_equal(p, exp(si) / sum(exp(sj) for sj in s))
    s = logits(30)
    with mpmath.workdps(50):
        for scores, label, _ in samples(3, (30,)):
            place = dict(zip(s, scores, strict=True))
            assert close(evaluate(softmax(s)[label], place), probabilities(scores)[label])


@check("softmax-sum", NUMERIC)
def softmax_sum() -> None:
    """The components add up to 1 (1 to 5 classes by SymPy), and lie in (0, 1) for 2 to 30 classes."""
    for size in range(1, 6):
        assert_equal(sum(softmax(logits(size))), Integer(1))
    with mpmath.workdps(120):
        for s, _, _ in samples():
            assert all(0 < p < 1 for p in probabilities(s))
            assert close(mpmath.fsum(probabilities(s)), mpmath.mpf(1), 100)


@check("softmax-odds")
def softmax_odds() -> None:
    """The ratio of two probabilities is exp(sᵢ − sⱼ), for 2 to 5 classes and every pair."""
    for size in range(2, 6):
        s = logits(size)
        p = softmax(s)
        for i in range(size):
            for j in range(size):
                assert_equal(p[i] / p[j], exp(s[i] - s[j]))


@check("softmax-shift")
def softmax_shift() -> None:
    """A constant added to all scores changes no probability, for 1 to 5 classes."""
    for size in range(1, 6):
        s = logits(size)
        for before, after in zip(softmax(s), softmax([si + c for si in s]), strict=True):
            assert_equal(before, after)


@check("softmax-stable", NUMERIC)
def softmax_stable() -> None:
    """With the largest score subtracted the softmax is the same, and no exponent is positive."""
    with mpmath.workdps(50):
        for s, label, _ in samples():
            shifted = [si - max(s) for si in s]
            assert all(si <= 0 for si in shifted)
            assert close(probabilities(shifted)[label], probabilities(s)[label])


@check("two-softmax")
def two_softmax() -> None:
    """The softmax of two scores is 1 − σ and σ of their difference."""
    s0, s1 = symbols("s0 s1", real=True)
    first, second = softmax([s0, s1])
    assert_equal(first, 1 / (1 + exp(s1 - s0)))
    assert_equal(second, 1 / (1 + exp(s0 - s1)))
    assert_equal(first, 1 - sigmoid(s1 - s0))
    assert_equal(second, sigmoid(s1 - s0))


@check("two-sigmoid")
def two_sigmoid() -> None:
    """The sigmoid is the second component of the softmax of (0, z), and of (c, z + c) for every c."""
    assert_equal(softmax([Integer(0), z])[1], sigmoid(z))
    assert_equal(softmax([c, z + c])[1], sigmoid(z))


@check("two-ce-bce")
def two_ce_bce() -> None:
    """Each of the three lines is cross-entropy of two classes, for both labels."""
    p0, p1 = symbols("p0 p1", positive=True)
    for y in (0, 1):
        loss = -log([p0, p1][y])
        assert_equal(loss, -y * log(p1) - (1 - y) * log(p0))
        bce = -y * log(p1) - (1 - y) * log(1 - p1)
        assert_equal(loss.subs(p0, 1 - p1), bce)
        assert_equal(cross_entropy([Integer(0), z], y), binary_cross_entropy(z, y))


@check("softmax-ce")
def softmax_ce() -> None:
    """With a one-hot target −Σ yⱼ log pⱼ has one term, −log p_y, for 2 to 4 classes and every label."""
    for s, label in class_scores():
        one_hot = [int(j == label) for j in range(len(s))]
        sum_over_classes = -sum(y * log(p) for y, p in zip(one_hot, softmax(s), strict=True))
        assert_equal(sum_over_classes, -log(softmax(s)[label]))
        assert_equal(sum_over_classes, cross_entropy(s, label))


@check("softmax-proper", NUMERIC)
def softmax_proper() -> None:
    """The average loss less its value at p = q is Σ q log(q/p) ≥ 0, at random p and q and at p = q."""
    with mpmath.workdps(50):
        for s, _, generator in samples():
            p = probabilities(s)
            q = probabilities([mpmath.mpf(generator.uniform(-3, 3)) for _ in s])
            average = -mpmath.fsum(qi * mpmath.log(pi) for qi, pi in zip(q, p, strict=True))
            entropy = -mpmath.fsum(qi * mpmath.log(qi) for qi in q)
            divergence = mpmath.fsum(qi * mpmath.log(qi / pi) for qi, pi in zip(q, p, strict=True))
            assert close(average - entropy, divergence)
            assert average > entropy
            even = mpmath.mpf(1) / len(s)
            assert abs(-mpmath.fsum(even * mpmath.log(even) for _ in s) - mpmath.log(len(s))) < 1e-40


@check("softmax-start")
def softmax_start() -> None:
    """Equal scores have the cross-entropy log C, for 1 to 8 classes and every label."""
    for size in range(1, 9):
        for label in range(size):
            assert_equal(cross_entropy([c] * size, label), log(Integer(size)))


@check("softmax-twice", NUMERIC)
def softmax_twice() -> None:
    """Softmax on top of a softmax: between log(1 + (C − 1)/e) and log(C − 1 + e), for 2 to 30 classes."""
    with mpmath.workdps(50):
        for s, label, _ in samples():
            size = len(s)
            low, high = mpmath.log1p((size - 1) / mpmath.e), mpmath.log(size - 1 + mpmath.e)
            assert low < ce(probabilities(s), label) < high
            far = [mpmath.mpf(1000 * (j == label)) for j in range(size)]
            assert close(ce(probabilities(far), label), low)
            wrong = [mpmath.mpf(1000 * (j == (label + 1) % size)) for j in range(size)]
            assert close(ce(probabilities(wrong), label), high)


@check("softmax-differences", NUMERIC)
def softmax_differences() -> None:
    """CE = log[1 + Σ exp(sⱼ − s_y)]: by SymPy for 2 to 4 classes and every label, at random for 7 and 30."""
    for s, label in class_scores():
        others = sum(exp(sj - s[label]) for j, sj in enumerate(s) if j != label)
        assert_equal(-log(softmax(s)[label]), log(1 + others))
    with mpmath.workdps(50):
        for scores, label, _ in samples():
            others = mpmath.fsum(mpmath.exp(sj - scores[label]) for j, sj in enumerate(scores) if j != label)
            assert close(ce(scores, label), mpmath.log1p(others))


@check("softmax-gap", NUMERIC)
def softmax_gap() -> None:
    """With u = log Σ_{j≠y} exp sⱼ − s_y: CE = softplus(u) and 1 − p_y = σ(u), for up to 30 classes."""
    for s, label in class_scores():
        u = logsumexp(*[sj for j, sj in enumerate(s) if j != label]) - s[label]
        assert_equal(cross_entropy(s, label), softplus(u))
        assert_equal(softmax(s)[label], sigmoid(-u))
    with mpmath.workdps(50):
        for scores, label, _ in samples():
            others = [sj for j, sj in enumerate(scores) if j != label]
            u = mpmath.log(mpmath.fsum(mpmath.exp(sj) for sj in others)) - scores[label]
            assert close(ce(scores, label), evaluate(softplus(z), {z: u}))
            rest = mpmath.fsum(p for j, p in enumerate(probabilities(scores)) if j != label)
            assert close(rest, evaluate(sigmoid(z), {z: u}))


@check("softmax-jacobian")
def softmax_jacobian() -> None:
    """∂pᵢ/∂sⱼ = pᵢ(δᵢⱼ − pⱼ), for 1 to 4 classes and every pair."""
    for size in range(1, 5):
        s = logits(size)
        p = [exp(si) / sum(exp(sk) for sk in s) for si in s]
        for i in range(size):
            for j in range(size):
                assert_equal(diff(p[i], s[j]), p[i] * (KroneckerDelta(i, j) - p[j]))


@check("softmax-gradient")
def softmax_gradient() -> None:
    """The derivative is pₖ − [k = y]: for any C as a sum over an index, for 2 to 4 classes spelt out."""
    s, count, j, lse = indexed()
    k, label = symbols("k y", integer=True, positive=True)
    gradient = diff(lse - s[label], s[k])
    inside = Sum(KroneckerDelta(j, k) * exp(s[j]), (j, 1, count)) / Sum(exp(s[j]), (j, 1, count))
    assert simplify(gradient - (inside - KroneckerDelta(k, label))) == 0
    for scores, y in class_scores():
        for i, si in enumerate(scores):
            derivative_of_ce = diff(cross_entropy(scores, y), si)
            assert_equal(derivative_of_ce, softmax(scores)[i] - int(i == y))


@check("softmax-zero-sum", NUMERIC)
def softmax_zero_sum() -> None:
    """The entries add up to 0, and the wrong ones to 1 − p_y, for up to 30 classes."""
    with mpmath.workdps(50):
        for s, label, _ in samples():
            gradient = [p - int(j == label) for j, p in enumerate(probabilities(s))]
            pushes = mpmath.fsum(g for j, g in enumerate(gradient) if j != label)
            assert abs(mpmath.fsum(gradient)) < 1e-45
            assert close(pushes, -gradient[label], 40)
    for scores, y in class_scores():
        assert_equal(sum(diff(cross_entropy(scores, y), si) for si in scores), Integer(0))


@check("shift-zero-sum")
def shift_zero_sum() -> None:
    """For any function of any differences, here of 2 to 5 scores, the derivatives add up to 0."""
    for size in range(2, 6):
        s = logits(size)
        f = Function("f")(*[si - s[0] for si in s[1:]])  # every shift-invariant function is one of these
        assert simplify(sum(diff(f, si) for si in s).doit()) == 0


@check("softmax-weights")
def softmax_weights() -> None:
    """With sⱼ = wⱼᵀx + bⱼ the gradient in wⱼ is (pⱼ − yⱼ) x: 3 classes, 2 inputs, every entry and label."""
    inputs = symbols("x1:3", real=True)
    weights = [symbols(f"w{j}_1:3", real=True) for j in range(3)]
    biases = symbols("b1:4", real=True)
    scores = [
        sum((w * x for w, x in zip(row, inputs, strict=True)), b)
        for row, b in zip(weights, biases, strict=True)
    ]
    for label in range(3):
        for j, row in enumerate(weights):
            for w, x in zip(row, inputs, strict=True):
                expected = (softmax(scores)[j] - int(j == label)) * x
                assert_equal(diff(cross_entropy(scores, label), w), expected)


@check("softmax-curvature", NUMERIC)
def softmax_curvature() -> None:
    """vᵀHv = Σ pᵢvᵢ² − (Σ pᵢvᵢ)² = Σ pᵢ(vᵢ − v̄)² ≥ 0, and 0 for a constant v: up to 30 classes."""
    with mpmath.workdps(120):
        for s, label, generator in samples(4):
            v = [mpmath.mpf(generator.uniform(-2, 2)) for _ in s]
            p = probabilities(s)
            mean = mpmath.fsum(pi * vi for pi, vi in zip(p, v, strict=True))
            variance = mpmath.fsum(pi * vi**2 for pi, vi in zip(p, v, strict=True)) - mean**2
            assert close(variance, mpmath.fsum(pi * (vi - mean) ** 2 for pi, vi in zip(p, v, strict=True)))
            assert variance > 0
            step = mpmath.mpf(10) ** -30
            ends = [ce([si + t * vi for si, vi in zip(s, v, strict=True)], label) for t in (-step, 0, step)]
            assert abs((ends[0] - 2 * ends[1] + ends[2]) / step**2 - variance) < 1e-25


@check("softmax-focal")
def softmax_focal() -> None:
    """The package's form is −α (1 − p_y)^γ log p_y, for 2 to 4 classes, every label and five exponents."""
    for s, label in class_scores():
        p = exp(s[label]) / sum(exp(sj) for sj in s)
        rest = sum(exp(sj) for j, sj in enumerate(s) if j != label) / sum(exp(sj) for sj in s)
        for exponent in EXPONENTS:
            ours = softmax_focal_loss(s, label, alpha, exponent)
            one_hot = -alpha * rest**exponent * log(p)
            with mpmath.workdps(50):
                for scores, _, _ in samples(3, (len(s),)):
                    place = {**dict(zip(s, scores, strict=True)), alpha: mpmath.mpf("0.3")}
                    assert close(evaluate(ours, place), evaluate(one_hot, place))


@check("softmax-focal-gradient", NUMERIC)
def softmax_focal_gradient() -> None:
    """Every entry is r_γ(p_y)(pⱼ − yⱼ), against differences with 120 digits: up to 30 classes, four γ."""
    with mpmath.workdps(120):
        for s, label, generator in samples(3, (2, 3, 30)):
            for exponent in (mpmath.mpf("0.5"), 1, 2, 5):

                def loss(scores: Numbers, label: int = label, exponent: mpmath.mpf = exponent) -> mpmath.mpf:
                    p = probabilities(scores)
                    rest = mpmath.fsum(pj for j, pj in enumerate(p) if j != label)
                    return -(rest**exponent) * mpmath.log(p[label])

                p = probabilities(s)
                rest = mpmath.fsum(pj for j, pj in enumerate(p) if j != label)
                factor = rest ** (exponent - 1) * (rest - exponent * p[label] * mpmath.log(p[label]))
                for j in {label, generator.randrange(len(s))}:
                    expected = factor * (p[j] if j != label else -rest)
                    assert abs(derivative(loss, s, j) - expected) < 1e-30 * (1 + abs(expected))
