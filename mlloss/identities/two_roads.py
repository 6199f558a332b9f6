"""The equations of the chapter "Two roads, one place?"."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import comb
from typing import Any

import mpmath
from sympy import Expr, Integer, Symbol, diff, exp, factorial, limit, log, oo, prod, simplify, solve, symbols

from mlloss.identities.registry import NUMERIC, assert_equal, check
from mlloss.symbolic import (
    binary_cross_entropy,
    evaluate,
    logits,
    sigmoid,
    softplus,
    thresholded_loss,
    unified_loss,
)

z = symbols("z", real=True)
Numbers = list[mpmath.mpf]
Sides = tuple[tuple[Symbol, ...], tuple[Symbol, ...]]
SMALL = [(n, p) for n, p in product(range(4), repeat=2) if n or p]


def sides(sizes: Sequence[tuple[int, int]] = SMALL) -> Iterator[Sides]:
    """Scores of so many negatives and so many positives."""
    for n, p in sizes:
        yield logits(n, "n") if n else (), logits(p, "p") if p else ()


def samples(count: int = 40) -> Iterator[tuple[Numbers, Numbers]]:
    """Random scores of up to 60 negatives and 12 positives: some far out, some sides empty, some equal."""
    generator = random.Random(0)
    for i in range(count):
        spread = (1, 5, 5, 60)[i % 4]
        negatives, positives = (
            [mpmath.mpf(generator.uniform(-spread, spread)) for _ in range(generator.randrange(most))]
            for most in (61, 13)
        )
        yield negatives, positives
    for n, p in ((19, 1), (0, 0), (1, 1), (0, 7), (200, 3)):
        yield [mpmath.mpf(0)] * n, [mpmath.mpf(0)] * p


def odds(scores: Sequence[mpmath.mpf], sign: int) -> Numbers:
    """e^s of negatives (sign 1) or e^(−s) of positives (sign −1)."""
    return [mpmath.exp(sign * s) for s in scores]


def side_1(a: Numbers) -> mpmath.mpf:
    """Σ log(1 + a): one side of equation (1)."""
    return mpmath.fsum(mpmath.log1p(x) for x in a)


def side_4(a: Numbers) -> mpmath.mpf:
    """log(1 + Σ a): one side of equation (4)."""
    return mpmath.log1p(mpmath.fsum(a))


def elementary(a: Sequence[Any]) -> list[Any]:
    """e_0, …, e_n of n numbers: what multiplying out Π (1 + a x) leaves at x^0, …, x^n."""
    e: list[Any] = [1]
    for x in a:
        e = [u + x * v for u, v in zip([*e, 0], [0, *e], strict=True)]
    return e


def eq1(negatives: Sequence[Expr], positives: Sequence[Expr]) -> Expr:
    losses = [binary_cross_entropy(s, 0) for s in negatives] + [binary_cross_entropy(s, 1) for s in positives]
    return sum(losses, Integer(0))


def close(left: mpmath.mpf, right: mpmath.mpf) -> bool:
    return bool(mpmath.almosteq(left, right, mpmath.mpf(10) ** -30, mpmath.mpf(10) ** -30))


@check("roads-two", NUMERIC)
def roads_two() -> None:
    """Both are the losses of the package, for up to 60 negatives and 12 positives at random places."""
    with mpmath.workdps(50):
        for negatives, positives in samples(12):
            s_n = logits(len(negatives), "n") if negatives else ()
            s_p = logits(len(positives), "p") if positives else ()
            place = dict(zip([*s_n, *s_p], [*negatives, *positives], strict=True))
            a, b = odds(negatives, 1), odds(positives, -1)
            assert close(evaluate(eq1(s_n, s_p), place), side_1(a) + side_1(b))
            assert close(evaluate(thresholded_loss(s_n, s_p), place), side_4(a) + side_4(b))


@check("roads-product")
def roads_product() -> None:
    """The sum of logarithms is the logarithm of the products, for 0 to 3 negatives and positives."""
    for negatives, positives in sides():
        factors = [1 + exp(s) for s in negatives], [1 + exp(-s) for s in positives]
        written = sum((log(prod(side)) for side in factors), Integer(0))
        assert_equal(exp(eq1(negatives, positives) - written), Integer(1))


@check("roads-expand")
def roads_expand() -> None:
    """Π (1 + aⱼ) is the sum of the products over all subsets, ordered by size: 1 to 6 numbers."""
    for n in range(1, 7):
        a = symbols(f"a1:{n + 1}", positive=True)
        e = [sum(prod(chosen) for chosen in combinations(a, r)) for r in range(n + 1)]
        assert len(list(combinations(a, n // 2))) == comb(n, n // 2)
        assert (prod(1 + x for x in a) - sum(e)).expand() == 0
        assert all((by_hand - step).expand() == 0 for by_hand, step in zip(e, elementary(a), strict=True))
    assert elementary([2, 3, 5]) == [1, 10, 31, 30]


@check("roads-gap", NUMERIC)
def roads_gap() -> None:
    """Both sides' logarithms add up to L₁ − L₄, for up to 200 negatives and 12 positives."""
    with mpmath.workdps(120):
        for negatives, positives in samples():
            gap = dropped = mpmath.mpf(0)
            for a in (odds(negatives, 1), odds(positives, -1)):
                e = elementary(a)
                gap += side_1(a) - side_4(a)
                dropped += mpmath.log1p(mpmath.fsum(e[2:]) / mpmath.fsum(e[:2]))
            assert close(gap, dropped)


@check("roads-at-most-one", NUMERIC)
def roads_at_most_one() -> None:
    """The chances of no wrong answer and of at most one, by adding up all 2ⁿ cases: 1 to 8 labels."""
    generator = random.Random(0)
    with mpmath.workdps(50):
        for n in range(1, 9):
            scores = [mpmath.mpf(generator.uniform(-4, 4)) for _ in range(n)]
            p = [evaluate(sigmoid(z), {z: s}) for s in scores]
            chance = [mpmath.mpf(0)] * (n + 1)  # of so many wrong answers
            for wrong in product((False, True), repeat=n):
                chance[sum(wrong)] += mpmath.fprod(
                    pj if w else 1 - pj for pj, w in zip(p, wrong, strict=True)
                )
            a, few = odds(scores, 1), mpmath.fsum(chance[:2])
            assert close(side_1(a), -mpmath.log(chance[0]))
            assert close(side_4(a), -mpmath.log(chance[0] / few))
            assert close(side_1(a) - side_4(a), -mpmath.log(few))


@check("roads-start", NUMERIC)
def roads_start() -> None:
    """At zero scores, for any number of classes; 19 negatives and 1 positive give 13.86 and 3.69."""
    n, p = symbols("n p", positive=True, integer=True)
    assert_equal(n * softplus(z).subs(z, 0) + p * softplus(-z).subs(z, 0), (n + p) * log(2))
    with mpmath.workdps(50):
        for count, k in ((20, 1), (7, 7), (1000, 3)):
            a, b = [mpmath.mpf(1)] * (count - k), [mpmath.mpf(1)] * k
            assert close(side_1(a) + side_1(b), count * mpmath.log(2))
            assert close(side_4(a) + side_4(b), mpmath.log(1 + count - k) + mpmath.log(1 + k))
        assert mpmath.nstr(20 * mpmath.log(2), 4) == "13.86"
        assert mpmath.nstr(mpmath.log(40), 3) == "3.69"


@check("roads-bounds", NUMERIC)
def roads_bounds() -> None:
    """L₄ ≤ L₁ ≤ max(|N|, |P|) L₄, for up to 200 negatives; the factor cannot be made smaller."""
    with mpmath.workdps(50):
        for negatives, positives in samples():
            a, b = odds(negatives, 1), odds(positives, -1)
            one, four = side_1(a) + side_1(b), side_4(a) + side_4(b)
            rounding = mpmath.mpf(10) ** -40 * (1 + one)
            assert four <= one + rounding
            assert one <= max(len(a), len(b)) * four + rounding
        far = [mpmath.exp(10**6)] * 9
        assert side_1(far) / side_4(far) > mpmath.mpf("8.9999")
    for few_n, few_p in sides([(1, 0), (0, 1), (1, 1)]):
        assert_equal(eq1(few_n, few_p), thresholded_loss(few_n, few_p))


@check("roads-unified", NUMERIC)
def roads_unified() -> None:
    """L₂ ≤ L₄ for up to 200 negatives, where L₂ is the package's loss; (1 + A)(1 + B) − (1 + AB) is A + B."""
    a, b = symbols("a b", positive=True)
    assert ((1 + a) * (1 + b) - (1 + a * b) - (a + b)).expand() == 0
    for negatives, positives in sides([(1, 1), (3, 2)]):
        total = sum(exp(s) for s in negatives) * sum(exp(-s) for s in positives)
        assert_equal(unified_loss(negatives, positives), log(1 + total))
    with mpmath.workdps(50):
        for s_n, s_p in samples():
            total_n, total_p = mpmath.fsum(odds(s_n, 1)), mpmath.fsum(odds(s_p, -1))
            four = mpmath.log1p(total_n) + mpmath.log1p(total_p)
            assert mpmath.log1p(total_n * total_p) <= four * (1 + mpmath.mpf(10) ** -40)


@check("roads-small", NUMERIC)
def roads_small() -> None:
    """0 ≤ Σ log(1 + a) − log(1 + A) ≤ A − log(1 + A) ≤ A²/2, for up to 200 numbers."""
    with mpmath.workdps(50):
        for scores in (side for pair in samples() for side in pair):
            for shift in (0, -5, -20):
                a = odds([s + shift for s in scores], 1)
                total = mpmath.fsum(a)
                rounding = mpmath.mpf(10) ** -45 * (1 + total)
                gap, bound = side_1(a) - side_4(a), total - mpmath.log1p(total)
                assert -rounding <= gap <= bound + rounding
                assert bound <= total**2 / 2 + rounding
    a = symbols("a1:5", positive=True)
    for r, e in enumerate(elementary(a)):  # why: e_r ≤ e_1^r / r!, term by term
        assert all(c >= 0 for c in (sum(a) ** r / factorial(r) - e).expand().as_coefficients_dict().values())


@check("roads-crowd")
def roads_crowd() -> None:
    """n equal terms A/n: as n grows, n log(1 + A/n) tends to A, and log(1 + n A/n) is log(1 + A)."""
    total, n = symbols("A n", positive=True)
    assert limit(n * log(1 + total / n), n, oo) == total
    assert_equal(log(1 + n * (total / n)), log(1 + total))


@check("roads-largest", NUMERIC)
def roads_largest() -> None:
    """The gap of a side is at most Σ log(1 + a) over all but the largest, for up to 200 numbers."""
    with mpmath.workdps(50):
        for scores in (side for pair in samples() for side in pair if side):
            a = sorted(odds(scores, 1))
            assert side_1(a) - side_4(a) <= side_1(a[:-1]) + mpmath.mpf(10) ** -40 * (1 + side_1(a))


@check("roads-pulls", NUMERIC)
def roads_pulls() -> None:
    """Derivatives of all negatives together: σ's for (1), A/(1 + A) < 1 for (4), AB/(1 + AB) for (2)."""
    for negatives, positives in sides([(1, 1), (2, 1), (3, 2)]):
        a, b = sum(exp(s) for s in negatives), sum(exp(-s) for s in positives)
        losses = eq1(negatives, positives), thresholded_loss(negatives, positives)
        push = [sum(diff(loss, s) for s in negatives) for loss in losses]
        assert_equal(push[0], sum(sigmoid(s) for s in negatives))
        assert_equal(push[1], a / (1 + a))
        assert_equal(sum(diff(unified_loss(negatives, positives), s) for s in negatives), a * b / (1 + a * b))
    with mpmath.workdps(120):
        for scores, _ in samples():
            a = odds(scores, 1)
            assert mpmath.fsum(x / (1 + x) for x in a) <= len(a)
            assert mpmath.fsum(a) / (1 + mpmath.fsum(a)) < 1


@check("roads-relative")
def roads_relative() -> None:
    """The derivatives of two negatives: as σ(sⱼ) to σ(sₖ) for (1), as e^(sⱼ) to e^(sₖ) for (4)."""
    for negatives, positives in sides([(2, 1), (3, 1), (4, 2)]):
        j, k = negatives[:2]
        one, four = eq1(negatives, positives), thresholded_loss(negatives, positives)
        assert_equal(diff(one, j) / diff(one, k), sigmoid(j) / sigmoid(k))
        assert_equal(diff(four, j) / diff(four, k), exp(j - k))


@check("roads-rest")
def roads_rest() -> None:
    """One score for all: the slope is zero only at log k/(C − k) for (1), and at half of it for (4)."""
    k, n, x = symbols("k n x", positive=True)  # n = C − k negatives, x = e^s
    one = diff(n * softplus(z) + k * softplus(-z), z)
    four = diff(log(1 + n * exp(z)) + log(1 + k * exp(-z)), z)
    for slope, rest in ((one, log(k / n)), (four, log(k / n) / 2)):
        assert simplify(slope.rewrite(exp).subs(z, rest)) == 0
        (only,) = solve(simplify(slope.rewrite(exp).subs(z, log(x))), x)
        assert simplify(log(only) - rest) == 0 or simplify(only - exp(rest)) == 0
        assert simplify(diff(slope, z).rewrite(exp).subs(z, rest)).is_positive


@check("roads-hessian")
def roads_hessian() -> None:
    """Within a side −qⱼqₖ for (4) and 0 for (1); across, 0 for both and −aⱼbᵢ/(1 + AB)² for (2)."""
    for negatives, positives in sides([(2, 1), (2, 2), (3, 2)]):
        one, four = eq1(negatives, positives), thresholded_loss(negatives, positives)
        two = unified_loss(negatives, positives)
        a, b = sum(exp(s) for s in negatives), sum(exp(-s) for s in positives)
        j, k, i = *negatives[:2], positives[0]
        q = [exp(s) / (1 + a) for s in (j, k)]
        assert_equal(diff(four, j), q[0])
        assert_equal(diff(four, j, k), -q[0] * q[1])
        assert_equal(diff(one, j, k), Integer(0))
        assert_equal(diff(one, j, i), Integer(0))
        assert_equal(diff(four, j, i), Integer(0))
        assert_equal(diff(two, j, i), -exp(j) * exp(-i) / (1 + a * b) ** 2)


@check("roads-second")
def roads_second() -> None:
    """e₂ from the sum and the sum of squares, for 1 to 6 numbers; the push is (e₁ + 2 e₂)/(1 + e₁ + e₂)."""
    for n in range(1, 7):
        a = symbols(f"a1:{n + 1}", positive=True)
        e = elementary(a)
        written = (sum(a) ** 2 - sum(x**2 for x in a)) / 2
        assert (written - (e[2] if n > 1 else 0)).expand() == 0
        assert (sum(x * diff(written, x) for x in a) - 2 * written).expand() == 0
