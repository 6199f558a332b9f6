"""The equations of the chapter "A threshold of its own"."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from functools import partial

import mpmath
from mpmath import mpf
from sympy import Expr, Integer, Max, Min, diff, exp, limit, log, oo, simplify, solve, symbols

from mlloss.identities.registry import NUMERIC, assert_between, assert_equal, check
from mlloss.symbolic import (
    binary_cross_entropy,
    evaluate,
    hard_thresholded_loss,
    logits,
    logsumexp,
    relu,
    sigmoid,
    softplus,
    thresholded_loss,
    unified_loss,
)

t, c, z = symbols("t c z", real=True)
A, B, e = symbols("A B e", positive=True)  # Σ exp sₙ, Σ exp(−sₚ), exp t
SHAPES = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2)]
Numbers = list[mpf]


def sides(negatives: int, positives: int) -> tuple[tuple[Expr, ...], tuple[Expr, ...], Expr, Expr]:
    """So many symbols of either kind, with Σ exp sₙ and Σ exp(−sₚ)."""
    n, p = logits(negatives, "n") if negatives else (), logits(positives, "p") if positives else ()
    return n, p, sum(map(exp, n), Integer(0)), sum((exp(-s) for s in p), Integer(0))


def samples(count: int = 12) -> Iterator[tuple[Numbers, Numbers, mpf, random.Random]]:
    """Random scores of up to 30 classes on either side, some far apart or without a side, and a threshold."""
    generator = random.Random(0)
    for i in range(count):
        spread = 60 if i % 6 == 5 else 4
        sizes = [0 if i % 4 == empty else generator.randrange(1, 31) for empty in (1, 2)]
        n, p = ([mpf(generator.uniform(-spread, spread)) for _ in range(size)] for size in sizes)
        yield n, p, mpf(generator.uniform(-4, 4)), generator


def loss(n: Numbers, p: Numbers, border: mpf) -> mpf:
    """By its definition, a sum of two logarithms."""
    below = mpmath.exp(border) + mpmath.fsum(map(mpmath.exp, n))
    above = mpmath.exp(-border) + mpmath.fsum(mpmath.exp(-s) for s in p)
    return mpmath.log(below) + mpmath.log(above)


def hard(n: Numbers, p: Numbers, border: mpf) -> mpf:
    return max([mpf(0), *(s - border for s in n)]) + max([mpf(0), *(border - s for s in p)])


def sigma(value: mpf) -> mpf:
    return 1 / (1 + mpmath.exp(-value))


def log_sums(n: Numbers, p: Numbers) -> tuple[mpf, mpf]:
    """n and p, the log-sum-exps of the negatives, and of the positives with their sign turned."""
    return mpmath.log(mpmath.fsum(map(mpmath.exp, n))), mpmath.log(mpmath.fsum(mpmath.exp(-s) for s in p))


def close(left: mpf, right: mpf, digits: int = 30) -> bool:
    return bool(mpmath.almosteq(left, right, mpf(10) ** -digits, mpf(10) ** -digits))


def slope(function: Callable[[mpf], mpf], place: mpf) -> mpf:
    """A central difference, good to 30 digits where 120 are computed."""
    step = mpf(10) ** -40
    return (function(place + step) - function(place - step)) / (2 * step)


@check("threshold-pairs", NUMERIC)
def threshold_pairs() -> None:
    """The 1 and three sums are all pairs of N with t against P with t, for up to 3 classes a side and 30."""
    for shape in SHAPES:
        n, p, _, _ = sides(*shape)
        pairs = sum(exp(low - high) for low in (*n, t) for high in (*p, t))
        four = 1 + sum(exp(sn - sp) for sn in n for sp in p)
        four += sum(exp(sn - t) for sn in n) + sum(exp(t - sp) for sp in p)
        assert_equal(pairs, four)
        assert_equal(thresholded_loss(n, p, t), log(four))
    with mpmath.workdps(50):
        for low, high, border, _ in samples():
            total = mpmath.fsum(mpmath.exp(x - y) for x in [*low, border] for y in [*high, border])
            assert close(mpmath.log(total), loss(low, high, border))


@check("threshold-factored")
def threshold_factored() -> None:
    """The sum of all pairs is (eᵗ + A)(e⁻ᵗ + B): any A and B, and spelt out for up to 3 classes a side."""
    assert simplify((e + A) * (1 / e + B) - (1 + A * B + A / e + e * B)) == 0
    for shape in SHAPES:
        n, p, sum_n, sum_p = sides(*shape)
        four = 1 + sum(exp(sn - sp) for sn in n for sp in p) + sum_n * exp(-t) + exp(t) * sum_p
        assert simplify((exp(t) + sum_n) * (exp(-t) + sum_p) - four) == 0


@check("threshold-loss")
def threshold_loss() -> None:
    """The package's form is the sum of the two logarithms, for up to 3 classes a side and for empty sides."""
    for shape in [*SHAPES, (0, 2), (2, 0), (0, 0)]:
        n, p, sum_n, sum_p = sides(*shape)
        assert_equal(thresholded_loss(n, p, t), log(exp(t) + sum_n) + log(exp(-t) + sum_p))


@check("threshold-softplus", NUMERIC)
def threshold_softplus() -> None:
    """It is softplus(n − t) + softplus(p + t), by SymPy for up to 3 classes a side and at random for 30."""
    for shape in SHAPES:
        n, p, sum_n, sum_p = sides(*shape)
        a, b = logsumexp(*n), logsumexp(*[-s for s in p])
        assert_equal(softplus(a - t) + softplus(b + t), log(exp(t) + sum_n) + log(exp(-t) + sum_p))
    with mpmath.workdps(50):
        for low, high, border, _ in samples():
            if low and high:
                a, b = log_sums(low, high)
                split = mpmath.log1p(mpmath.exp(a - border)) + mpmath.log1p(mpmath.exp(b + border))
                assert close(split, loss(low, high, border))


@check("threshold-more")
def threshold_more() -> None:
    """exp of the loss exceeds exp of the unified loss by A e⁻ᵗ + B eᵗ, for up to 3 classes a side."""
    for shape in SHAPES:
        n, p, sum_n, sum_p = sides(*shape)
        both = [exp(value.rewrite(exp)) for value in (thresholded_loss(n, p, t), unified_loss(n, p))]
        assert simplify(both[0] - both[1] - (sum_n * exp(-t) + sum_p * exp(t))) == 0


@check("threshold-zero")
def threshold_zero() -> None:
    """At t = 0 both logarithms have a 1, for up to 3 classes a side and for empty sides."""
    for shape in [*SHAPES, (0, 2), (2, 0)]:
        n, p, sum_n, sum_p = sides(*shape)
        assert_equal(thresholded_loss(n, p), log(1 + sum_n) + log(1 + sum_p))


@check("threshold-binary")
def threshold_binary() -> None:
    """One class alone, negative or positive: binary cross-entropy of s − t."""
    assert_equal(thresholded_loss([z], [], t), binary_cross_entropy(z - t, 0))
    assert_equal(thresholded_loss([], [z], t), binary_cross_entropy(z - t, 1))


@check("threshold-surrogate", NUMERIC)
def threshold_surrogate() -> None:
    """log 2 times [a class is on the wrong side or on t] is at most the loss; one class on t reaches it."""
    with mpmath.workdps(50):
        for low, high, border, _ in samples(60):
            wrong = any(s > border for s in low) + any(s <= border for s in high)
            assert (wrong > 0) * mpmath.log(2) <= loss(low, high, border)
    assert_equal(thresholded_loss([t], [], t), log(2))
    assert_equal(thresholded_loss([], [t], t), log(2))


@check("threshold-hard", NUMERIC)
def threshold_hard() -> None:
    """The maximum of t and N plus that of −t and −P is the sum of two brackets, and a limit."""
    for shape in SHAPES:
        n, p, _, _ = sides(*shape)
        brackets = relu(Max(*n) - t) + relu(t - Min(*p))
        maxima = Max(t, *n) + Max(-t, *[-s for s in p])
        assert_between(maxima, brackets, maxima, [*n, *p, t])
        assert_between(brackets, hard_thresholded_loss(n, p, t), brackets, [*n, *p, t])
    sharp = symbols("gamma", positive=True)
    for low, high, border in (([3, 1], [0, 2], 1), ([-2], [3], 0), ([1, 1], [1], 1)):
        sides_of = [[sharp * s for s in side] for side in (low, high)]
        soft = thresholded_loss(sides_of[0], sides_of[1], sharp * border)
        expected = max(0, *(s - border for s in low)) + max(0, *(border - s for s in high))
        assert limit((soft / sharp).rewrite(exp), sharp, oo) == expected


@check("threshold-bound", NUMERIC)
def threshold_bound() -> None:
    """hard < L ≤ hard + log(1 + |N|) + log(1 + |P|), for up to 30 a side; all scores on t reach the end."""
    with mpmath.workdps(50):
        for low, high, border, _ in samples(60):
            room = mpmath.log(1 + len(low)) + mpmath.log(1 + len(high))
            value, least = loss(low, high, border), hard(low, high, border)
            assert least < value + mpf(10) ** -45
            assert value <= least + room + mpf(10) ** -45
            tied = loss([border] * len(low), [border] * len(high), border)
            assert close(tied, room)
    with mpmath.workdps(500):  # strictly, also where the difference is below 50 digits
        for low, high, border, _ in samples():
            assert not low + high or loss(low, high, border) > hard(low, high, border)


@check("threshold-gradient", NUMERIC)
def threshold_gradient() -> None:
    """e^s/(eᵗ + A) for a negative, −e^(−s)/(e⁻ᵗ + B) for a positive: SymPy up to 3 a side, random to 30."""
    for shape in SHAPES:
        n, p, sum_n, sum_p = sides(*shape)
        value = thresholded_loss(n, p, t)
        for s in n:
            assert_equal(diff(value, s), exp(s) / (exp(t) + sum_n))
        for s in p:
            assert_equal(diff(value, s), -exp(-s) / (exp(-t) + sum_p))
    with mpmath.workdps(120):
        for low, high, border, generator in samples():
            if low:
                k = generator.randrange(len(low))
                total = mpmath.exp(border) + mpmath.fsum(map(mpmath.exp, low))
                numeric = slope(partial(_moved, low, high, border, 0, k), low[k])
                assert abs(numeric - mpmath.exp(low[k]) / total) < 1e-30
            if high:
                k = generator.randrange(len(high))
                total = mpmath.exp(-border) + mpmath.fsum(mpmath.exp(-s) for s in high)
                numeric = slope(partial(_moved, low, high, border, 1, k), high[k])
                assert abs(numeric + mpmath.exp(-high[k]) / total) < 1e-30


def _moved(low: Numbers, high: Numbers, border: mpf, side: int, place: int, score: mpf) -> mpf:
    """The loss with one score of one side replaced."""
    both = [list(low), list(high)]
    both[side][place] = score
    return loss(both[0], both[1], border)


@check("threshold-sides", NUMERIC)
def threshold_sides() -> None:
    """The negatives' entries add up to σ(n − t), the positives' to −σ(p + t), both below 1: to 30 a side."""
    for shape in SHAPES:
        n, p, _, _ = sides(*shape)
        value = thresholded_loss(n, p, t)
        assert_equal(sum(diff(value, s) for s in n), sigmoid(logsumexp(*n) - t))
        assert_equal(sum(diff(value, s) for s in p), -sigmoid(logsumexp(*[-s for s in p]) + t))
    with mpmath.workdps(120):
        for low, high, border, _ in samples():
            if low and high:
                a, b = log_sums(low, high)
                push = mpmath.fsum(map(mpmath.exp, low)) / (mpmath.exp(border) + mpmath.exp(a))
                pull = mpmath.fsum(mpmath.exp(-s) for s in high) / (mpmath.exp(-border) + mpmath.exp(b))
                assert close(push, sigma(a - border))
                assert push < 1
                assert close(pull, sigma(b + border))
                assert pull < 1


@check("threshold-balance")
def threshold_balance() -> None:
    """∂L/∂t is σ(p + t) − σ(n − t), minus the sum of all others: any A, B, and up to 3 classes a side."""
    value = log(e + A) + log(1 / e + B)
    in_t = e * diff(value, e)  # e is exp t
    pull, push = e * B / (1 + e * B), A / (e + A)  # σ(p + t), σ(n − t)
    assert simplify(in_t - (pull - push)) == 0
    for shape in [*SHAPES, (0, 2), (2, 0)]:
        n, p, _, _ = sides(*shape)
        total = thresholded_loss(n, p, t)
        assert_equal(diff(total, t), -sum(diff(total, s) for s in (*n, *p)))


@check("threshold-best")
def threshold_best() -> None:
    """The derivative in t has one zero, at half of n − p, whatever A and B are; the loss is convex in t."""
    value = log(e + A) + log(1 / e + B)
    (best,) = solve(diff(value, e), e)
    assert simplify(best**2 - A / B) == 0  # log of it: t = (n − p)/2
    curvature = e * diff(e * diff(value, e), e)
    assert simplify(curvature - (e * A / (e + A) ** 2 + e * B / (1 + e * B) ** 2)) == 0  # > 0


@check("threshold-best-value", NUMERIC)
def threshold_best_value() -> None:
    """There the loss is 2 softplus(½(n + p)), at random for up to 30 classes a side, and no t has less."""
    with mpmath.workdps(50):
        for low, high, border, _ in samples(40):
            if low and high:
                a, b = log_sums(low, high)
                least = 2 * mpmath.log1p(mpmath.exp((a + b) / 2))
                assert close(loss(low, high, (a - b) / 2), least)
                assert loss(low, high, border) > least


@check("threshold-free", NUMERIC)
def threshold_free() -> None:
    """softplus(u) < 2 softplus(u/2) ≤ softplus(u) + log 2, with equality on the right at u = 0."""
    assert_between(softplus(z), 2 * softplus(z / 2), softplus(z) + log(2), [z])
    assert_equal(2 * softplus(z / 2), log(1 + 2 * exp(z / 2) + exp(z)))
    assert all(evaluate(2 * softplus(z / 2) - softplus(z), {z: u}) > 0 for u in (-50, -1, 0, 1, 50))
    assert 2 * softplus(Integer(0)) == softplus(Integer(0)) + log(2)


@check("threshold-shift", NUMERIC)
def threshold_shift() -> None:
    """A constant added to all scores and to t changes nothing: up to 3 a side by SymPy, random to 30."""
    for shape in [*SHAPES, (0, 2), (2, 0)]:
        n, p, _, _ = sides(*shape)
        shifted = thresholded_loss([s + c for s in n], [s + c for s in p], t + c)
        assert_equal(thresholded_loss(n, p, t), shifted)
    with mpmath.workdps(50):
        for low, high, border, _ in samples():
            at_zero = loss([s - border for s in low], [s - border for s in high], mpf(0))
            assert close(loss(low, high, border), at_zero)


@check("threshold-redundant")
def threshold_redundant() -> None:
    """With linear scores and a linear t the differences are linear: 3 inputs and a bias, any class."""
    h, w, v = (symbols(f"{name}1:4", real=True) for name in "hwv")
    bias, offset = symbols("c_k d", real=True)
    score = sum((x * y for x, y in zip(w, h, strict=True)), bias)
    border = sum((x * y for x, y in zip(v, h, strict=True)), offset)
    folded = sum(((x - y) * z for x, y, z in zip(w, v, h, strict=True)), bias - offset)
    assert (score - border - folded).expand() == 0


@check("threshold-step")
def threshold_step() -> None:
    """A step on scores and threshold changes sₖ − t by −η(gₖ + Σ gⱼ), and Σ (sₖ − t) by −η(C + 1) Σ gⱼ."""
    rate = symbols("eta", positive=True)
    for shape in SHAPES:
        n, p, _, _ = sides(*shape)
        scores, value = (*n, *p), thresholded_loss(n, p, t)
        gradient = [diff(value, s) for s in scores]
        step_of_t = -rate * diff(value, t)
        changes = [-rate * g - step_of_t for g in gradient]
        for g, change in zip(gradient, changes, strict=True):
            assert_equal(change, -rate * (g + sum(gradient)))
        assert_equal(sum(changes), -rate * (len(scores) + 1) * sum(gradient))


def populations(count: int = 6) -> Iterator[tuple[list[tuple[int, ...]], Numbers, Numbers]]:
    """All sets of 1 to 4 labels with random probabilities, and random scores."""
    generator = random.Random(1)
    for i in range(count):
        labels = 1 + i % 4
        sets = list(itertools.product((0, 1), repeat=labels))
        weights = [mpf(generator.uniform(0.05, 1)) for _ in sets]
        scores = [mpf(generator.uniform(-3, 3)) for _ in range(labels)]
        yield sets, [w / mpmath.fsum(weights) for w in weights], scores


def expected_loss(sets: list[tuple[int, ...]], chances: Numbers, scores: Numbers) -> mpf:
    def of(members: tuple[int, ...]) -> mpf:
        low, high = ([s for s, y in zip(scores, members, strict=True) if y == kind] for kind in (0, 1))
        return loss(low, high, mpf(0))

    return mpmath.fsum(chance * of(members) for members, chance in zip(sets, chances, strict=True))


@check("threshold-optimum", NUMERIC)
def threshold_optimum() -> None:
    """The expected loss is stationary in sₖ where e^(2sₖ) is the odds times the ratio: 1 to 4 labels."""
    with mpmath.workdps(120):
        for sets, chances, scores in populations(8):
            for k in range(len(scores)):
                on, off = mpf(0), mpf(0)  # E[[k ∈ Y]/(1 + B)] and E[[k ∉ Y]/(1 + A)]
                for members, chance in zip(sets, chances, strict=True):
                    side = [s if y == 0 else -s for s, y in zip(scores, members, strict=True)]
                    own = [x for x, y in zip(side, members, strict=True) if y == members[k]]
                    room = chance / (1 + mpmath.fsum(map(mpmath.exp, own)))
                    on, off = (on + room, off) if members[k] else (on, off + room)

                def along(s: mpf, k: int = k) -> mpf:
                    return expected_loss(sets, chances, [*scores[:k], s, *scores[k + 1 :]])  # noqa: B023

                rise = mpmath.exp(scores[k]) * off - mpmath.exp(-scores[k]) * on  # 0 iff e^(2s) = on/off
                assert abs(slope(along, scores[k]) - rise) < 1e-30
                chance_k = mpmath.fsum(q for q, y in zip(chances, sets, strict=True) if y[k])
                odds, ratio = chance_k / (1 - chance_k), (on / chance_k) / (off / (1 - chance_k))
                assert close(odds * ratio, on / off)


@check("threshold-exchangeable")
def threshold_exchangeable() -> None:
    """With exactly k of C labels on, all alike, the slope is zero only at ½ log(k/(C − k)): any k and C."""
    on, off, x = symbols("k m x", positive=True)  # m = C − k labels are off; x = e^s
    value = log(1 + off * x) + log(1 + on / x)
    (best,) = solve(diff(value, x), x)
    assert simplify(best**2 - on / off) == 0
    assert (
        simplify(x * diff(x * diff(value, x), x) - (off * x / (1 + off * x) ** 2 + on * x / (x + on) ** 2))
        == 0
    )
    for k, m in ((1, 1), (1, 2), (2, 1), (2, 2)):
        n, p, _, _ = sides(m, k)
        place = {s: log(Integer(k) / m) / 2 for s in (*n, *p)}
        push, pull = diff(thresholded_loss(n, p), n[0]), diff(thresholded_loss(n, p), p[0])
        # averaged over which labels are on, every label has the same slope: (m · push + k · pull) / C
        assert simplify((m * push + k * pull).subs(place).rewrite(exp)) == 0


@check("threshold-sign", NUMERIC)
def threshold_sign() -> None:
    """At s = 0 the slope is E[1/(1 + K)] − E[1/(1 + C − K)], for random distributions of K, C up to 30."""
    generator = random.Random(2)
    with mpmath.workdps(120):
        for size in (1, 2, 3, 7, 30):
            weights = [mpf(generator.uniform(0, 1)) for _ in range(size + 1)]
            chances = [w / mpmath.fsum(weights) for w in weights]

            def common(s: mpf, size: int = size, chances: Numbers = chances) -> mpf:
                return mpmath.fsum(q * loss([s] * (size - k), [s] * k, mpf(0)) for k, q in enumerate(chances))

            on = mpmath.fsum(q / (1 + k) for k, q in enumerate(chances))
            off = mpmath.fsum(q / (1 + size - k) for k, q in enumerate(chances))
            assert abs(slope(common, mpf(0)) - (on - off)) < 1e-30
            ends = [slope(common, mpf(s)) for s in (-60, 60)]
            assert ends[0] < 0 < ends[1]  # convex: the minimum lies where the slope changes its sign
