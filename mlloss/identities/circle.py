"""The equations of the chapter "Circle loss".

Two points are behind all of them: the optimum O = (Oₙ, Oₚ) and the margin Δ = (Δₙ, Δₚ). The boundary is the
circle with the diameter OΔ.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import mpmath
import torch
from sympy import Expr, Integer, Rational, diff, exp, simplify, sqrt, symbols

import mlloss
from mlloss.identities.registry import NUMERIC, assert_equal, check
from mlloss.symbolic import circle_loss, evaluate, logits, relu, sigmoid, softplus, unified_loss

Numbers = list[mpmath.mpf]
s_n, s_p, o_n, o_p, d_n, d_p = symbols("s_n s_p o_n o_p d_n d_p", real=True)
alpha_n, alpha_p, gamma, m = symbols("alpha_n alpha_p gamma m", positive=True)
u, v = symbols("u v", positive=True)  # how far sₙ is above Oₙ, and sₚ below Oₚ: both weights are positive
PAPER = {o_n: -m, o_p: 1 + m, d_n: m, d_p: 1 - m}


def weighted(n: Expr = s_n, p: Expr = s_p) -> Expr:
    """αₙ(sₙ − Δₙ) − αₚ(sₚ − Δₚ) where both weights are positive."""
    return (n - o_n) * (n - d_n) - (o_p - p) * (p - d_p)


def loss(
    negatives: Numbers,
    positives: Numbers,
    scale: mpmath.mpf,
    optima: Numbers,
    margins: Numbers,
) -> mpmath.mpf:
    """Circle loss by its formula; `optima` are Oₙ and Oₚ, `margins` are Δₙ and Δₚ."""
    n = mpmath.fsum(mpmath.exp(scale * max(0, s - optima[0]) * (s - margins[0])) for s in negatives)
    p = mpmath.fsum(mpmath.exp(-scale * max(0, optima[1] - s) * (s - margins[1])) for s in positives)
    return mpmath.log(1 + n * p)


def samples(count: int = 12) -> Iterator[tuple[Numbers, Numbers, mpmath.mpf, mpmath.mpf, random.Random]]:
    """Random cosines of up to 20 negatives and 7 positives, with a scale and a margin."""
    generator = random.Random(0)
    for i in range(count):
        many_n, many_p = [(1, 1), (3, 2), (20, 7)][i % 3]
        negatives = [mpmath.mpf(generator.uniform(-1, 1)) for _ in range(many_n)]
        positives = [mpmath.mpf(generator.uniform(-1, 1)) for _ in range(many_p)]
        scale, margin = mpmath.mpf(generator.uniform(1, 40)), mpmath.mpf(generator.uniform(0, 0.5))
        yield negatives, positives, scale, margin, generator


def paper(margin: mpmath.mpf) -> tuple[Numbers, Numbers]:
    return [-margin, 1 + margin], [margin, 1 - margin]


def close(left: mpmath.mpf, right: mpmath.mpf, digits: int = 30) -> bool:
    return bool(mpmath.almosteq(left, right, mpmath.mpf(10) ** -digits, mpmath.mpf(10) ** -digits))


def by_package(negatives: Numbers, positives: Numbers, **parameters: float) -> tuple[float, list[float]]:
    """The value and the gradient that `mlloss.circle_loss` gives, in float64."""
    scores = torch.tensor([float(s) for s in [*negatives, *positives]], dtype=torch.float64)
    targets = torch.arange(len(scores)) >= len(negatives)
    value = mlloss.circle_loss(scores.requires_grad_(), targets, **parameters)  # type: ignore[arg-type]
    return value.item(), torch.autograd.grad(value, scores)[0].tolist()


@check("circle-one-pair")
def circle_one_pair() -> None:
    """The unified loss of one pair has the derivatives ±γσ(γ(sₙ − sₚ + m)), equal in size."""
    pair = unified_loss([s_n], [s_p], gamma, m)
    expected = gamma * sigmoid(gamma * (s_n - s_p + m))
    assert_equal(diff(pair, s_n), expected)
    assert_equal(diff(pair, s_p), -expected)


@check("circle-weights", NUMERIC)
def circle_weights() -> None:
    """The gradient that the package gives has the factors [sₙ − Oₙ]₊ and [Oₚ − sₚ]₊, for random optima."""
    generator = random.Random(0)
    for _ in range(30):
        n, p = generator.uniform(-1, 1), generator.uniform(-1, 1)
        low, high = generator.uniform(-0.5, 0.5), generator.uniform(0.5, 1.5)
        _, (in_n, in_p) = by_package(
            [n], [p], gamma=4, margin=0.25, negative_optimum=low, positive_optimum=high
        )
        weights = max(0.0, n - low), max(0.0, high - p)
        inner = weights[0] * (n - 0.25) - weights[1] * (p - 0.75)
        shared = 4 / (1 + mpmath.exp(-4 * inner))
        assert abs(in_n - shared * weights[0]) < 1e-12
        assert abs(in_p + shared * weights[1]) < 1e-12


@check("circle-form-a", NUMERIC)
def circle_form_a() -> None:
    """The package with both margins 0 is form A, for up to 20 negatives and 7 positives and random optima."""
    with mpmath.workdps(50):
        for negatives, positives, scale, _, generator in samples():
            optima = [generator.uniform(-0.5, 0.2), generator.uniform(0.8, 1.5)]
            value, _ = by_package(
                negatives,
                positives,
                gamma=float(scale),
                negative_optimum=optima[0],
                positive_optimum=optima[1],
                negative_margin=0.0,
                positive_margin=0.0,
            )
            expected = loss(negatives, positives, scale, [mpmath.mpf(o) for o in optima], [mpmath.mpf(0)] * 2)
            assert abs(value / expected - 1) < 1e-11


@check("circle-form-b", NUMERIC)
def circle_form_b() -> None:
    """The symbolic loss, which factors, is the double sum over pairs: up to 20 negatives, 7 positives."""
    with mpmath.workdps(60):
        for negatives, positives, scale, margin, _ in samples():
            n, p = logits(len(negatives), "n"), logits(len(positives), "p")
            place = dict(zip([*n, *p], [*negatives, *positives], strict=True))
            pairs = [
                mpmath.exp(
                    scale
                    * (max(0, sn + margin) * (sn - margin) - max(0, 1 + margin - sp) * (sp - 1 + margin))
                )
                for sn in negatives
                for sp in positives
            ]
            symbolic = evaluate(circle_loss(n, p, gamma, m), {**place, gamma: scale, m: margin})
            assert close(symbolic, mpmath.log(1 + mpmath.fsum(pairs)))


@check("circle-optima", NUMERIC)
def circle_optima() -> None:
    """The package with only a margin m is the formula with these four numbers, for random m."""
    with mpmath.workdps(50):
        for negatives, positives, scale, margin, _ in samples():
            value, _ = by_package(negatives, positives, gamma=float(scale), margin=float(margin))
            assert abs(value / loss(negatives, positives, scale, *paper(margin)) - 1) < 1e-11


@check("circle-squares")
def circle_squares() -> None:
    """With the paper's numbers either side is a square minus m²: SymPy, wherever a weight is positive."""
    n, p = u - m, 1 + m - v
    assert_equal(relu(n + m) * (n - m), n**2 - m**2)
    assert_equal(-relu(1 + m - p) * (p - (1 - m)), (1 - p) ** 2 - m**2)


@check("circle-value")
def circle_value() -> None:
    """One pair with positive weights has the loss softplus γ(sₙ² + (1 − sₚ)² − 2m²)."""
    n, p = u - m, 1 + m - v
    assert_equal(circle_loss([n], [p], gamma, m), softplus(gamma * (n**2 + (1 - p) ** 2 - 2 * m**2)))


@check("circle-thales")
def circle_thales() -> None:
    """The exponent is |s − c|² − ρ², with c half way between O and Δ and ρ half their distance."""
    centre = ((o_n + d_n) / 2, (o_p + d_p) / 2)
    radius = ((o_n - d_n) ** 2 + (o_p - d_p) ** 2) / 4
    assert_equal(weighted(), (s_n - centre[0]) ** 2 + (s_p - centre[1]) ** 2 - radius)


@check("circle-boundary")
def circle_boundary() -> None:
    """With the paper's numbers the exponent is sₙ² + (sₚ − 1)² − 2m², so it is 0 on that circle only."""
    assert_equal(weighted().subs(PAPER), s_n**2 + (s_p - 1) ** 2 - 2 * m**2)


@check("circle-threshold", NUMERIC)
def circle_threshold() -> None:
    """Random points of the disc, its rim and its extreme points: sₙ ≤ √2m, sₚ ≥ 1 − √2m, sₚ − sₙ ≥ 1 − 2m."""
    generator = random.Random(0)
    with mpmath.workdps(50):
        small = mpmath.mpf(10) ** -40
        for i in range(400):
            margin = mpmath.mpf(generator.uniform(0.01, 0.5))
            r = mpmath.sqrt(2) * margin * (1 if i % 2 else generator.random())
            turn = mpmath.mpf(generator.choice([0, -0.25, -0.125, generator.random()])) * 2 * mpmath.pi
            n, p = r * mpmath.cos(turn), 1 + r * mpmath.sin(turn)
            assert n <= mpmath.sqrt(2) * margin + small
            assert p >= 1 - mpmath.sqrt(2) * margin - small
            assert p - n >= 1 - 2 * margin - small
    least = simplify((s_p - s_n).subs({s_n: m, s_p: 1 - m}) - (1 - 2 * m))
    assert least == 0  # reached at Δ, which lies on the circle
    assert weighted(m, 1 - m).subs(PAPER) == 0
    assert simplify(weighted(sqrt(2) * m, Integer(1)).subs(PAPER)) == 0


@check("circle-gradient", NUMERIC)
def circle_gradient() -> None:
    """With constant weights γσ(u)αq, q the softmax on a side: differences at 50 digits, up to 20 and 7."""
    with mpmath.workdps(90):
        for negatives, positives, scale, margin, _ in samples(6):
            alphas_n = [max(0, s + margin) for s in negatives]
            alphas_p = [max(0, 1 + margin - s) for s in positives]

            def held(
                n: Numbers,
                p: Numbers,
                weights: tuple[Numbers, Numbers] = (alphas_n, alphas_p),
                scale: mpmath.mpf = scale,
                margin: mpmath.mpf = margin,
            ) -> mpmath.mpf:
                """The loss of similarities n and p whose weights stay what they were."""
                left = [mpmath.exp(scale * a * (s - margin)) for a, s in zip(weights[0], n, strict=True)]
                right = [
                    mpmath.exp(-scale * a * (s - 1 + margin)) for a, s in zip(weights[1], p, strict=True)
                ]
                return mpmath.log(1 + mpmath.fsum(left) * mpmath.fsum(right))

            shared = scale * (1 - mpmath.exp(-held(negatives, positives)))
            step = mpmath.mpf(10) ** -30
            terms_n = [mpmath.exp(scale * a * (s - margin)) for a, s in zip(alphas_n, negatives, strict=True)]
            terms_p = [
                mpmath.exp(-scale * a * (s - 1 + margin)) for a, s in zip(alphas_p, positives, strict=True)
            ]
            for i, s in enumerate(negatives):
                up, down = list(negatives), list(negatives)
                up[i], down[i] = s + step, s - step
                slope = (held(up, positives) - held(down, positives)) / (2 * step)
                assert close(slope, shared * alphas_n[i] * terms_n[i] / mpmath.fsum(terms_n), 25)
            for i, s in enumerate(positives):
                up, down = list(positives), list(positives)
                up[i], down[i] = s + step, s - step
                slope = (held(negatives, up) - held(negatives, down)) / (2 * step)
                assert close(slope, -shared * alphas_p[i] * terms_p[i] / mpmath.fsum(terms_p), 25)


@check("circle-sum", NUMERIC)
def circle_sum() -> None:
    """Its entries add up to γσ(u) times the difference of the mean weights: the package, up to 20 and 7."""
    for negatives, positives, scale, margin, _ in samples():
        value, gradient = by_package(negatives, positives, gamma=float(scale), margin=float(margin))
        alphas_n = [max(0, s + margin) for s in negatives]
        alphas_p = [max(0, 1 + margin - s) for s in positives]
        terms_n = [mpmath.exp(scale * a * (s - margin)) for a, s in zip(alphas_n, negatives, strict=True)]
        terms_p = [
            mpmath.exp(-scale * a * (s - 1 + margin)) for a, s in zip(alphas_p, positives, strict=True)
        ]
        means = [
            mpmath.fsum(a * t for a, t in zip(alphas, terms, strict=True)) / mpmath.fsum(terms)
            for alphas, terms in ((alphas_n, terms_n), (alphas_p, terms_p))
        ]
        expected = scale * (1 - mpmath.exp(-value)) * (means[0] - means[1])
        assert abs(sum(gradient) - expected) < 1e-9 * (1 + abs(expected))


@check("circle-two-gradients")
def circle_two_gradients() -> None:
    """Constant weights: γσ(u)(s − O), differentiated: 2γσ(u)(s − c), for any O and Δ and positive weights."""
    held = softplus(gamma * (alpha_n * (s_n - d_n) - alpha_p * (s_p - d_p)))
    through = softplus(gamma * weighted())
    now = {alpha_n: s_n - o_n, alpha_p: o_p - s_p}
    shared = gamma * sigmoid(gamma * weighted())
    for s, optimum, margin in ((s_n, o_n, d_n), (s_p, o_p, d_p)):
        assert_equal(diff(held, s).subs(now), shared * (s - optimum))
        assert_equal(diff(through, s), 2 * shared * (s - (optimum + margin) / 2))


@check("circle-rise")
def circle_rise() -> None:
    """Along the arrow of constant weights the exponent changes by −2(s − c)ᵀ(s − O), a circle in s."""
    along = {s_n: -(s_n - o_n), s_p: -(s_p - o_p)}  # the arrow without its positive factor γσ(u)
    rate = sum(diff(weighted(), s) * step for s, step in along.items())
    c_n, c_p = (o_n + d_n) / 2, (o_p + d_p) / 2
    assert_equal(rate, -2 * ((s_n - c_n) * (s_n - o_n) + (s_p - c_p) * (s_p - o_p)))
    middle = ((c_n + o_n) / 2, (c_p + o_p) / 2)
    radius = ((c_n - o_n) ** 2 + (c_p - o_p) ** 2) / 4
    circle = (s_n - middle[0]) ** 2 + (s_p - middle[1]) ** 2 - radius
    assert_equal(rate, -2 * circle)


@check("circle-form-a-peak")
def circle_form_a_peak() -> None:
    """Form A, Oₚ = 1: the derivative of −αₚsₚ is 2sₚ − 1, negative below ½ and positive above."""
    slope = diff(-(1 - s_p) * s_p, s_p)
    assert_equal(slope, 2 * s_p - 1)
    assert slope.subs(s_p, Rational(1, 2)) == 0
    value, gradient = by_package(
        [mpmath.mpf("0.5"), mpmath.mpf("0.1")],
        [mpmath.mpf("0.7")],
        gamma=32.0,
        positive_optimum=1.0,
        negative_optimum=0.0,
        positive_margin=0.0,
        negative_margin=0.0,
        detach_weights=False,
    )
    assert value > 0
    assert gradient[-1] > 10  # descent lowers the positive


@check("circle-cosine")
def circle_cosine() -> None:
    """|a − b|² = 2 − 2aᵀb for unit vectors of 2 to 5 dimensions."""
    for size in range(2, 6):
        a, b = symbols(f"a1:{size + 1}", real=True), symbols(f"b1:{size + 1}", real=True)
        squares = sum((x - y) ** 2 for x, y in zip(a, b, strict=True))
        inner = sum(x * y for x, y in zip(a, b, strict=True))
        last = {a[-1] ** 2: 1 - sum(x**2 for x in a[:-1]), b[-1] ** 2: 1 - sum(y**2 for y in b[:-1])}
        assert simplify((squares - (2 - 2 * inner)).expand().subs(last)) == 0


@check("circle-unit")
def circle_unit() -> None:
    """sₚ² + Σ sₙ² = 1, for the cosines of a vector with the one-hot vectors of 2 to 5 classes."""
    for size in range(2, 6):
        p = symbols(f"p1:{size + 1}", positive=True)
        length = sqrt(sum(x**2 for x in p))
        cosines = [x / length for x in p]
        assert simplify(sum(x**2 for x in cosines) - 1) == 0


@check("circle-start")
def circle_start() -> None:
    """All similarities 0: log(1 + |N||P| exp γ(1 − 2m²)), for 1 to 4 negatives and 1 to 3 positives."""
    for many_n in range(1, 5):
        for many_p in range(1, 4):
            zeros = [Integer(0)] * many_n, [Integer(0)] * many_p
            expected = softplus(gamma * (1 - 2 * m**2)).rewrite(exp).args[0] - 1
            value = circle_loss(*zeros, gamma, m, [m] * many_n, [1 + m] * many_p)
            assert_equal(value.rewrite(exp).args[0], 1 + many_n * many_p * expected)


@check("circle-together", NUMERIC)
def circle_together() -> None:
    """All similarities equal to s: the entries add up to γσ(u)(2s − 1), for up to 20 and 7 and 0 ≤ s ≤ 1."""
    generator = random.Random(0)
    for negatives, positives, scale, margin, _ in samples():
        s = generator.random()
        together = [mpmath.mpf(s)] * len(negatives), [mpmath.mpf(s)] * len(positives)
        value, gradient = by_package(*together, gamma=float(scale), margin=float(margin))
        expected = scale * (1 - mpmath.exp(-value)) * (2 * s - 1)
        assert abs(sum(gradient) - expected) < 1e-9 * (1 + abs(expected))


@check("circle-curl")
def circle_curl() -> None:
    """The field of constant weights has the mixed derivatives' difference −2mγ²σ′(u)(sₙ + sₚ − 1), not 0."""
    exponent = weighted().subs(PAPER)
    shared = gamma * sigmoid(gamma * exponent)
    field = shared * (s_n + m), shared * (s_p - 1 - m)
    difference = diff(field[1], s_n) - diff(field[0], s_p)
    slope = sigmoid(gamma * exponent) * sigmoid(-gamma * exponent)
    expected = -2 * m * gamma**2 * slope * (s_n + s_p - 1)
    assert_equal(difference, expected)


@check("circle-hard", NUMERIC)
def circle_hard() -> None:
    """Within log(1 + |N||P|) above γ[max over negatives + max over positives]₊, for up to 20 and 7."""
    with mpmath.workdps(50):
        for negatives, positives, scale, margin, _ in samples():
            value = loss(negatives, positives, scale, *paper(margin))
            high = max(max(0, s + margin) * (s - margin) for s in negatives)
            low = max(-max(0, 1 + margin - s) * (s - 1 + margin) for s in positives)
            hard = scale * max(0, high + low)
            assert hard < value <= hard + mpmath.log(1 + len(negatives) * len(positives))
