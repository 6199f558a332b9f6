"""The equations of the chapter "The unified loss"."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import mpmath
from sympy import (
    Expr,
    IndexedBase,
    Integer,
    KroneckerDelta,
    Max,
    Min,
    Rational,
    Sum,
    Symbol,
    diff,
    exp,
    limit,
    log,
    oo,
    simplify,
    symbols,
)

from mlloss.identities.registry import NUMERIC, assert_between, assert_equal, check
from mlloss.symbolic import (
    binary_cross_entropy,
    cross_entropy,
    evaluate,
    hard_unified_loss,
    indexed_sides,
    logits,
    logsumexp,
    relu,
    sigmoid,
    softmax,
    softplus,
    unified_loss,
)

gamma = symbols("gamma", positive=True)
c, m, z = symbols("c m z", real=True)
SMALL = ((1, 1), (1, 3), (2, 1), (2, 2), (3, 2))  # |N| and |P|, spelt out by SymPy
LARGE = (*SMALL, (7, 30), (40, 5), (1, 50))
Sides = tuple[tuple[Symbol, ...], tuple[Symbol, ...]]
Numbers = list[mpmath.mpf]


def sides(sizes: Sequence[tuple[int, int]] = SMALL) -> Iterator[Sides]:
    """Symbols for the scores of so many negatives and positives."""
    for count_n, count_p in sizes:
        yield logits(count_n, "n"), logits(count_p, "p")


def samples(count: int = 6) -> Iterator[tuple[Numbers, Numbers, random.Random]]:
    """Random scores of negatives and positives, some of them far apart, and a source of more."""
    generator = random.Random(0)
    for sizes in LARGE:
        for i in range(count):
            spread = 60 if i == 0 else 3
            n, p = ([mpmath.mpf(generator.uniform(-spread, spread)) for _ in range(k)] for k in sizes)
            yield n, p, generator


def by_pairs(n: Numbers, p: Numbers, scale: mpmath.mpf = 1, margin: mpmath.mpf = 0) -> mpmath.mpf:
    """log(1 + ΣΣ exp γ(sₙ − sₚ + m)), term by term."""
    return mpmath.log1p(mpmath.fsum(mpmath.exp(scale * (a - b + margin)) for a in n for b in p))


def written(n: Sequence[Expr], p: Sequence[Expr], scale: Expr | int = 1, margin: Expr | int = 0) -> Expr:
    """The same with symbols."""
    return log(1 + sum(exp(scale * (a - b + margin)) for a in n for b in p))


def indices() -> tuple[IndexedBase, IndexedBase, Symbol, Symbol, Symbol]:
    """Scores of symbolic numbers of negatives and positives, an index, and both numbers."""
    i = symbols("i", integer=True)
    count_n, count_p = symbols("|N| |P|", positive=True, integer=True)
    return IndexedBase("s^N"), IndexedBase("s^P"), i, count_n, count_p


def shifted_sums() -> tuple[Expr, Expr]:
    """Σ exp(sₙ + c) and Σ exp(−sₚ − c) for any |N| and |P|."""
    s_n, s_p, i, count_n, count_p = indices()
    return Sum(exp(s_n[i] + c), (i, 1, count_n)), Sum(exp(-s_p[i] - c), (i, 1, count_p))


def worst(n: Numbers, p: Numbers) -> mpmath.mpf:
    """max sₙ − min sₚ."""
    return max(n) - min(p)


def close(left: mpmath.mpf, right: mpmath.mpf, digits: int = 40) -> bool:
    tolerance = mpmath.mpf(10) ** -digits
    return bool(mpmath.almosteq(left, right, tolerance, tolerance))


def slope(function: Callable[[mpmath.mpf], mpmath.mpf]) -> mpmath.mpf:
    """The derivative at 0 by a central difference; good to 30 digits where 120 are computed."""
    step = mpmath.mpf(10) ** -40
    return (function(step) - function(-step)) / (2 * step)


def moved(scores: Numbers, place: int, step: mpmath.mpf) -> Numbers:
    return [s + step if i == place else s for i, s in enumerate(scores)]


# From one right label to several


@check("unified-pairs", NUMERIC)
def unified_pairs() -> None:
    """The package's loss is the double sum: SymPy for up to 3 × 2 pairs, at random for up to 7 × 30."""
    for n, p in sides():
        assert_equal(unified_loss(n, p), written(n, p))
    with mpmath.workdps(50):
        for a, b, _ in samples(2):
            assert close(evaluated(unified_loss, a, b), by_pairs(a, b))


def evaluated(loss: Callable[..., Expr], a: Numbers, b: Numbers, *more: Expr) -> mpmath.mpf:
    """A loss of the package at these scores."""
    n, p = logits(len(a), "n"), logits(len(b), "p")
    return evaluate(loss(n, p, *more), dict(zip((*n, *p), (*a, *b), strict=True)))


@check("unified-factored")
def unified_factored() -> None:
    """ΣΣ exp(sₙ − sₚ) = Σ exp sₙ · Σ exp(−sₚ): by SymPy for up to 4 × 4 pairs, at random up to 7 × 30."""
    for n, p in sides((*SMALL, (4, 4))):
        product = sum(exp(a) for a in n) * sum(exp(-b) for b in p)
        assert (product - sum(exp(a - b) for a in n for b in p)).expand() == 0
    with mpmath.workdps(50):
        for a, b, _ in samples():
            product = mpmath.fsum(map(mpmath.exp, a)) * mpmath.fsum(mpmath.exp(-s) for s in b)
            assert close(mpmath.log1p(product), by_pairs(a, b))


@check("unified-softplus", NUMERIC)
def unified_softplus() -> None:
    """log(1 + Σ exp sₙ Σ exp(−sₚ)) = softplus(n + p) with two log-sum-exps: for up to 7 × 30 pairs."""
    for n, p in sides():
        assert_equal(softplus(logsumexp(*n) + logsumexp(*[-b for b in p])), written(n, p))
    with mpmath.workdps(50):
        for a, b, _ in samples(2):
            total = mpmath.log(mpmath.fsum(map(mpmath.exp, a)))
            total += mpmath.log(mpmath.fsum(mpmath.exp(-s) for s in b))
            assert close(evaluate(softplus(z), {z: total}), by_pairs(a, b))


# The hard form


@check("unified-hard", NUMERIC)
def unified_hard() -> None:
    """The largest of 0 and all differences is [max sₙ − min sₚ]₊, for up to 40 × 5 and 7 × 30 pairs."""
    for n, p in sides():
        largest = Max(0, *[a - b for a in n for b in p])
        assert_between(largest, hard_unified_loss(n, p), largest, (*n, *p))
        assert_between(largest, relu(Max(*n) - Min(*p)), largest, (*n, *p))
    for a, b, _ in samples():
        assert max(0, *[x - y for x in a for y in b]) == max(0, worst(a, b))


@check("unified-bound", NUMERIC)
def unified_bound() -> None:
    """hard < loss ≤ hard + log(1 + |N||P|), for up to 40 × 5 and 7 × 30 pairs; equal scores reach the end."""
    with mpmath.workdps(200):
        for a, b, _ in samples():
            gap = by_pairs(a, b) - max(0, worst(a, b))
            assert 0 < gap < mpmath.log(1 + len(a) * len(b))
    for n, p in sides():
        assert_equal(unified_loss([c] * len(n), [c] * len(p)), log(Integer(1 + len(n) * len(p))))


@check("unified-steps", NUMERIC)
def unified_steps() -> None:
    """max ≤ n ≤ max + log |N|, −min ≤ p ≤ −min + log |P|, and 2 |N||P| > 1 + |N||P| from two pairs on."""
    for n, p in sides():
        top, low = Max(*n), Min(*p)
        assert_between(top, logsumexp(*n), top + log(Integer(len(n))), n)
        assert_between(-low, logsumexp(*[-b for b in p]), -low + log(Integer(len(p))), p)
        assert_equal(logsumexp(*[c] * len(n)), c + log(Integer(len(n))))
    for count_n, count_p in LARGE:
        loose = mpmath.log(2) + mpmath.log(count_n) + mpmath.log(count_p)
        assert (loose > mpmath.log(1 + count_n * count_p) + 1e-9) == (count_n * count_p > 1)


# The gradient


def weights(a: Numbers, b: Numbers) -> list[Numbers]:
    """exp(sₙ − sₚ)/(1 + ΣΣ exp(s − s)) of every pair."""
    total = 1 + mpmath.fsum(mpmath.exp(x - y) for x in a for y in b)
    return [[mpmath.exp(x - y) / total for y in b] for x in a]


@check("unified-pair-weights", NUMERIC)
def unified_pair_weights() -> None:
    """In sₙ the derivative is Σ_P w, in sₚ it is −Σ_N w: up to 3 × 2 by SymPy, up to 7 × 30 numerically."""
    for n, p in sides():
        loss = written(n, p)
        total = 1 + sum(exp(a - b) for a in n for b in p)
        for a in n:
            assert_equal(diff(loss, a), sum(exp(a - b) / total for b in p))
        for b in p:
            assert_equal(diff(loss, b), -sum(exp(a - b) / total for a in n))
    with mpmath.workdps(120):
        for a, b, generator in samples(2):
            w, i, k = weights(a, b), generator.randrange(len(a)), generator.randrange(len(b))
            up = slope(lambda t, a=a, b=b, i=i: by_pairs(moved(a, i, t), b))  # type: ignore[misc]
            down = slope(lambda t, a=a, b=b, k=k: by_pairs(a, moved(b, k, t)))  # type: ignore[misc]
            assert close(up, mpmath.fsum(w[i]), 30)
            assert close(down, -mpmath.fsum(row[k] for row in w), 30)


@check("unified-gradient")
def unified_gradient() -> None:
    """σ(n + p) times a share, for any |N| and |P| as sums over an index; spelt out for up to 3 × 2 pairs."""
    s_n, s_p, i, count_n, count_p = indices()
    k = symbols("k", integer=True, positive=True)
    n, p = indexed_sides()
    loss = softplus(n + p)
    for side, variable, sign, count in (
        (exp(s_n[i]), s_n[k], 1, count_n),
        (exp(-s_p[i]), s_p[k], -1, count_p),
    ):
        share = Sum(KroneckerDelta(i, k) * side, (i, 1, count)) / Sum(side, (i, 1, count))
        assert simplify(diff(loss, variable) - sign * sigmoid(n + p) * share) == 0
    for a, b in sides():
        u = logsumexp(*a) + logsumexp(*[-s for s in b])
        for s, share in zip(a, softmax(a), strict=True):
            assert_equal(diff(written(a, b), s), sigmoid(u) * share)
        for s, share in zip(b, softmax([-s for s in b]), strict=True):
            assert_equal(diff(written(a, b), s), -sigmoid(u) * share)


@check("unified-gradient-fraction")
def unified_gradient_fraction() -> None:
    """The form with A = Σ exp sₙ and B = Σ exp(−sₚ) is the derivative: up to 3 × 2 pairs, every score."""
    for n, p in sides():
        a, b = sum(exp(s) for s in n), sum(exp(-s) for s in p)
        for s in n:
            assert_equal(diff(log(1 + a * b), s), exp(s) * b / (1 + a * b))
        for s in p:
            assert_equal(diff(log(1 + a * b), s), -exp(-s) * a / (1 + a * b))


@check("unified-zero-sum")
def unified_zero_sum() -> None:
    """For any |N| and |P| the derivative along (1, …, 1) is 0; each side sums to σ(n + p), at random."""
    n, p = shifted_sums()
    assert simplify(diff(log(1 + n * p), c)) == 0
    assert simplify(diff(log(1 + n), c)) != 0  # one side alone has no such balance
    with mpmath.workdps(50):
        for n, p, _ in samples():
            w = weights(n, p)
            product = mpmath.fsum(map(mpmath.exp, n)) * mpmath.fsum(mpmath.exp(-s) for s in p)
            push = [mpmath.fsum(row) for row in w]
            pull = [-mpmath.fsum(row[k] for row in w) for k in range(len(p))]
            assert close(mpmath.fsum(push), product / (1 + product))
            assert abs(mpmath.fsum(push + pull)) < 1e-45


@check("unified-shift")
def unified_shift() -> None:
    """A constant added to all scores changes nothing, for any |N| and |P|."""
    n, p = shifted_sums()
    assert simplify(diff(n * p, c)) == 0
    for n, p in sides():
        assert_equal(unified_loss([s + c for s in n], [s + c for s in p]), unified_loss(n, p))


# Scale and margin


@check("unified-scaled", NUMERIC)
def unified_scaled() -> None:
    """Double sum, factored form and the package's agree: up to 3 × 2 by SymPy, up to 7 × 30 at random."""
    for n, p in sides():
        factored = sum(exp(gamma * (a + m)) for a in n) * sum(exp(-gamma * b) for b in p)
        pairs = sum(exp(gamma * (a - b + m)) for a in n for b in p)
        assert simplify((factored - pairs).expand()) == 0
        assert_equal(unified_loss(n, p, gamma, m), log(1 + factored))
    with mpmath.workdps(50):
        for a, b, _ in samples(2):
            ours = evaluated(unified_loss, a, b, Integer(10), Rational(1, 4))
            assert close(ours, by_pairs(a, b, mpmath.mpf(10), mpmath.mpf(1) / 4))


@check("unified-scaled-gradient")
def unified_scaled_gradient() -> None:
    """The gradient is γ σ(n + p) times a share, and one side has γ σ(n + p) in all: up to 3 × 2 pairs."""
    for a, b in sides():
        z_n, z_p = [gamma * (s + m) for s in a], [-gamma * s for s in b]
        u = logsumexp(*z_n) + logsumexp(*z_p)
        loss = written(a, b, gamma, m)
        for s, share in zip(a, softmax(z_n), strict=True):
            assert_equal(diff(loss, s), gamma * sigmoid(u) * share)
        for s, share in zip(b, softmax(z_p), strict=True):
            assert_equal(diff(loss, s), -gamma * sigmoid(u) * share)
        assert_equal(sum(diff(loss, s) for s in a), gamma * sigmoid(u))


@check("unified-scaled-bound", NUMERIC)
def unified_scaled_bound() -> None:
    """hard < loss/γ ≤ hard + log(1 + |N||P|)/γ for γ from 1/10 to 10; all differences −m reach the end."""
    with mpmath.workdps(600):  # a gap may be as small as exp(−10 · 121)
        for a, b, generator in samples(2):
            for scale in (mpmath.mpf(1) / 10, mpmath.mpf(1), mpmath.mpf(10)):
                margin = mpmath.mpf(generator.uniform(-1, 1))
                gap = by_pairs(a, b, scale, margin) / scale - max(0, worst(a, b) + margin)
                assert 0 < gap < mpmath.log(1 + len(a) * len(b)) / scale
    for n, p in sides():
        reached = unified_loss([c - m] * len(n), [c] * len(p), gamma, m) / gamma
        assert_equal(reached, log(Integer(1 + len(n) * len(p))) / gamma)


@check("unified-limit")
def unified_limit() -> None:
    """loss/γ → [max sₙ − min sₚ + m]₊ as γ → ∞, with ties and without; without the 1/γ it goes to 0 or ∞."""
    cases: tuple[tuple[list[int], list[int], Rational], ...] = (
        ([0, -1], [1, 3], Rational(1, 4)),
        ([2, 2, 0], [1, 1], Rational(1, 2)),
        ([0], [1], Rational(1)),
        ([0, -3], [1], Rational(3, 2)),
    )
    for n, p, margin in cases:
        loss = written([Integer(a) for a in n], [Integer(b) for b in p], gamma, margin)
        hard = max(Integer(0), max(n) - min(p) + margin)
        assert limit(loss / gamma, gamma, oo) == hard
        if max(n) - min(p) + margin != 0:
            assert limit(loss, gamma, oo) == (oo if hard > 0 else 0)
    assert limit(log(1 + z**2) / gamma, gamma, oo) == 0


@check("unified-margin-count")
def unified_margin_count() -> None:
    """A margin multiplies the double sum by exp(γm), and lowers all positives: up to 2 × 2 pairs."""
    for n, p in sides(SMALL[:4]):
        pairs = sum(exp(gamma * (a - b)) for a in n for b in p)
        assert_equal(unified_loss(n, p, gamma, m), log(1 + exp(gamma * m) * pairs))
        assert_equal(unified_loss(n, p, gamma, m), unified_loss(n, [b - m for b in p], gamma))


@check("unified-margin-limit")
def unified_margin_limit() -> None:
    """One pair, γ → ∞: loss → 0 for a lead above m, log 2 at m, ∞ below; at m it is log 2 for every γ."""
    for lead, expected in ((Rational(3, 10), 0), (Rational(1, 4), log(2)), (Rational(1, 5), oo)):
        loss = written([Integer(0)], [lead], gamma, Rational(1, 4))
        assert limit(loss, gamma, oo) == expected
    assert_equal(unified_loss([c], [c + m], gamma, m), log(2))


@check("unified-floor", NUMERIC)
def unified_floor() -> None:
    """Scores in [a, b]: loss ≥ log(1 + |N||P| exp γ(m − (b − a))), for [0, 1] and [−1, 1]; it is reached."""
    with mpmath.workdps(50):
        for (low, high), (count_n, count_p) in ((r, s) for r in ((0, 1), (-1, 1)) for s in LARGE):
            generator = random.Random(count_n)
            for scale, margin in ((1, 0), (32, mpmath.mpf(1) / 4)):
                pairs, width = count_n * count_p, high - low
                floor = mpmath.log1p(pairs * mpmath.exp(scale * (margin - width)))
                best = by_pairs([mpmath.mpf(low)] * count_n, [mpmath.mpf(high)] * count_p, scale, margin)
                assert close(best, floor)
                n, p = (
                    [mpmath.mpf(generator.uniform(low, high)) for _ in range(k)] for k in (count_n, count_p)
                )
                assert by_pairs(n, p, scale, margin) > floor


# Special cases


@check("unified-one-positive")
def unified_one_positive() -> None:
    """One positive, γ = 1, m = 0: cross-entropy; with γ that of γs. 2 to 4 classes, every label."""
    for count in (2, 3, 4):
        s = logits(count)
        for y in range(count):
            others = [si for i, si in enumerate(s) if i != y]
            assert_equal(unified_loss(others, [s[y]]), -log(softmax(s)[y]))
            scaled = cross_entropy([gamma * si for si in s], y)
            assert_equal(unified_loss(others, [s[y]], gamma), scaled)


@check("unified-logistic")
def unified_logistic() -> None:
    """One of each: softplus(−z) with z = sₚ − sₙ, which is binary cross-entropy of z for y = 1."""
    a, b = symbols("a b", real=True)
    assert_equal(unified_loss([a], [b]), softplus(-(b - a)))
    assert_equal(unified_loss([a], [b]), binary_cross_entropy(b - a, 1))
    assert_equal(unified_loss([Integer(0)], [z]), binary_cross_entropy(z, 1))
    assert_equal(unified_loss([z], [Integer(0)]), binary_cross_entropy(z, 0))


@check("unified-am-softmax")
def unified_am_softmax() -> None:
    """One positive: −log of exp γ(sₚ − m) over itself plus Σ exp γsₙ, for up to 5 negatives."""
    (s_p,) = logits(1, "p")
    for count in range(1, 6):
        n = logits(count, "n")
        top = exp(gamma * (s_p - m))
        am = -log(top / (top + sum(exp(gamma * a) for a in n)))
        assert_equal(unified_loss(n, [s_p], gamma, m), am)
        lowered = [gamma * (s_p - m), *[gamma * a for a in n]]
        assert_equal(unified_loss(n, [s_p], gamma, m), cross_entropy(lowered, 0))


@check("unified-triplet", NUMERIC)
def unified_triplet() -> None:
    """Unit vectors: [|x − x₊|² − |x − x₋|² + α]₊ = 2[s₋ − s₊ + α/2]₊, in 2, 3 and 16 dimensions at random."""
    with mpmath.workdps(50):
        generator = random.Random(0)
        for size in (2, 3, 16):
            for _ in range(20):
                anchor, positive, negative = (unit(generator, size) for _ in range(3))
                alpha = mpmath.mpf(generator.uniform(0, 2))
                s_n, s_p = dot(anchor, negative), dot(anchor, positive)
                distances = [
                    mpmath.fsum((x - y) ** 2 for x, y in zip(anchor, other, strict=True))
                    for other in (positive, negative)
                ]
                left = max(mpmath.mpf(0), distances[0] - distances[1] + alpha)
                assert close(left, 2 * max(mpmath.mpf(0), s_n - s_p + alpha / 2))


def unit(generator: random.Random, size: int) -> Numbers:
    x = [mpmath.mpf(generator.gauss(0, 1)) for _ in range(size)]
    length = mpmath.sqrt(dot(x, x))
    return [xi / length for xi in x]


def dot(x: Numbers, y: Numbers) -> mpmath.mpf:
    return mpmath.fsum(xi * yi for xi, yi in zip(x, y, strict=True))
