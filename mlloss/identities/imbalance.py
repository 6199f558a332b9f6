"""The equations of the chapter "Imbalance: weighting and focal loss"."""

from __future__ import annotations

from itertools import pairwise, product

import mpmath
from sympy import Expr, Integer, Rational, diff, expand, limit, log, oo, simplify, solve, symbols
from sympy import exp as e

from mlloss.identities.registry import NUMERIC, assert_equal, check
from mlloss.symbolic import evaluate, sigmoid, sigmoid_focal_loss, softplus

z, u, b = symbols("z u b", real=True)
p, q, alpha, gamma, w = symbols("p q alpha gamma w", positive=True)
n_p, n_n = symbols("N_p N_n", positive=True)
EXPONENTS = (Integer(0), Rational(1, 2), Integer(1), Integer(2), Integer(5))
PLACES = [mpmath.mpf(n) / 4 for n in range(-120, 121, 7)]


def bce(probability: Expr, y: int) -> Expr:
    return -log(probability) if y == 1 else -log(1 - probability)


def focal(p_true: Expr, exponent: Expr) -> Expr:
    """(1 − p_t)^γ (−log p_t), as it is defined."""
    return -((1 - p_true) ** exponent) * log(p_true)


def pull(p_true: Expr, exponent: Expr) -> Expr:
    """(1 − p_t)^γ [(1 − p_t) − γ p_t log p_t], the size of its derivative in the logit."""
    return (1 - p_true) ** exponent * (1 - p_true - exponent * p_true * log(p_true))


def stable_pull(u: Expr, exponent: Expr) -> Expr:
    """The same with p_t = σ(−u)."""
    return sigmoid(u) ** exponent * (sigmoid(u) + exponent * sigmoid(-u) * softplus(u))


def assert_same(left: Expr, right: Expr, variable: Expr, tolerance: str = "1e-40") -> None:
    """`left` is `right` at many places of one variable, far out too, at 60 digits."""
    for place in PLACES:
        one, other = (evaluate(side, {variable: place}, 60) for side in (left, right))
        assert mpmath.almosteq(one, other, rel_eps=mpmath.mpf(tolerance)), f"{left} ≠ {right} at {place}"


@check("imbalance-sum")
def imbalance_sum() -> None:
    """The sum of cross-entropies is that of the positives and that of the negatives, for 1 to 4 samples."""
    for count in range(1, 5):
        chances = symbols(f"p1:{count + 1}", positive=True)
        for targets in product((0, 1), repeat=count):
            total = sum(-y * log(c) - (1 - y) * log(1 - c) for c, y in zip(chances, targets, strict=True))
            positives = sum(-log(c) for c, y in zip(chances, targets, strict=True) if y)
            negatives = sum(-log(1 - c) for c, y in zip(chances, targets, strict=True) if not y)
            assert_equal(total, positives + negatives)


@check("imbalance-pulls")
def imbalance_pulls() -> None:
    """For one common logit the derivative is N_n σ(b) − N_p σ(−b), zero only at the share of yes."""
    total = n_p * softplus(-b) + n_n * softplus(b)
    assert_equal(diff(total, b), n_n * sigmoid(b) - n_p * sigmoid(-b))
    assert solve(n_n * p - n_p * (1 - p), p) == [n_p / (n_p + n_n)]


@check("weighted-bce")
def weighted_bce() -> None:
    """α for yes and 1 − α for no: the focal loss of the package with γ = 0."""
    for y, weight in ((1, alpha), (0, 1 - alpha)):
        assert_equal(sigmoid_focal_loss(z, y, alpha, 0), weight * bce(sigmoid(z), y).rewrite(e))


@check("weighted-bce-logits")
def weighted_bce_logits() -> None:
    """In softplus it is the same, for both targets."""
    for y in (0, 1):
        stable = alpha * y * softplus(-z) + (1 - alpha) * (1 - y) * softplus(z)
        weight = alpha if y else 1 - alpha
        assert_equal(stable, weight * bce(sigmoid(z), y).rewrite(e))


@check("pos-weight")
def pos_weight() -> None:
    """PyTorch's pos_weight of α/(1 − α) is the weighted loss divided by 1 − α."""
    for y in (0, 1):
        torch_form = alpha / (1 - alpha) * y * softplus(-z) + (1 - y) * softplus(z)
        assert_equal(torch_form, sigmoid_focal_loss(z, y, alpha, 0) / (1 - alpha))


@check("inverse-frequency")
def inverse_frequency() -> None:
    """Equal total weights mean α = N_n / (N_p + N_n), and only that."""
    assert solve(alpha * n_p - (1 - alpha) * n_n, alpha) == [n_n / (n_p + n_n)]


@check("weighted-optimum")
def weighted_optimum() -> None:
    """The only zero of the average loss's derivative is the best answer; the loss is convex in the logit."""
    average = -q * alpha * log(p) - (1 - q) * (1 - alpha) * log(1 - p)
    (best,) = solve(diff(average, p), p)
    assert_equal(best, alpha * q / (alpha * q + (1 - alpha) * (1 - q)))
    in_logit = q * alpha * softplus(-z) + (1 - q) * (1 - alpha) * softplus(z)
    curvature = (q * alpha + (1 - q) * (1 - alpha)) * sigmoid(z) * sigmoid(-z)
    assert_equal(diff(in_logit, z, 2), curvature)


@check("weighted-shift")
def weighted_shift() -> None:
    """The odds of the best answer are the true odds times α/(1 − α)."""
    best = alpha * q / (alpha * q + (1 - alpha) * (1 - q))
    assert simplify(best / (1 - best) - q / (1 - q) * alpha / (1 - alpha)) == 0


@check("weighted-threshold")
def weighted_threshold() -> None:
    """The best answer exceeds ½ exactly where q exceeds 1 − α: both differences have the same sign."""
    best = alpha * q / (alpha * q + (1 - alpha) * (1 - q))
    denominator = alpha * q + (1 - alpha) * (1 - q)  # positive, since 0 < α, q < 1
    assert simplify((best - Rational(1, 2)) * 2 * denominator - (q - (1 - alpha))) == 0


@check("p-true")
def p_true() -> None:
    """y p + (1 − y)(1 − p) is p for yes and 1 − p for no, and cross-entropy is −log of it."""
    for y, expected in ((1, p), (0, 1 - p)):
        truth = y * p + (1 - y) * (1 - p)
        assert_equal(truth, expected)
        assert_equal(-y * log(p) - (1 - y) * log(1 - p), -log(truth))


@check("focal")
def focal_definition() -> None:
    """The package's focal loss is α_t (1 − p_t)^γ (−log p_t), for both targets and five exponents."""
    for exponent in EXPONENTS:
        for y in (0, 1):
            truth = sigmoid(z) if y else 1 - sigmoid(z)
            weight = alpha * y + (1 - alpha) * (1 - y)
            assert_equal(
                sigmoid_focal_loss(z, y, alpha, exponent), weight * focal(truth, exponent).rewrite(e)
            )


@check("focal-logits")
def focal_logits() -> None:
    """With the signed logit it is one line for both targets, for every γ."""
    for y in (0, 1):
        signed = (2 * y - 1) * z
        weight = alpha * y + (1 - alpha) * (1 - y)
        line = weight * sigmoid(-signed) ** gamma * softplus(-signed)
        assert_equal(sigmoid_focal_loss(z, y, alpha, gamma), line)


@check("focal-contrast")
def focal_contrast() -> None:
    """The ratio of two focal losses is that of their cross-entropies times ((1 − p)/(1 − q))^γ."""
    miss, other = symbols("a b", positive=True)  # 1 − p and 1 − q
    contrast = focal(1 - miss, gamma) / focal(1 - other, gamma)
    plain = log(1 - miss) / log(1 - other)
    assert simplify(contrast / plain / (miss / other) ** gamma) == 1


@check("focal-gradient-yes")
def focal_gradient_yes() -> None:
    """For y = 1 the derivative in the logit is α (1 − p)^γ (γ p log p − (1 − p)), for every γ."""
    derivative = diff(alpha * focal(p, gamma), p) * p * (1 - p)
    assert simplify(derivative - alpha * (1 - p) ** gamma * (gamma * p * log(p) - (1 - p))) == 0


@check("focal-gradient-no")
def focal_gradient_no() -> None:
    """For y = 0 it is (1 − α) p^γ (p − γ (1 − p) log(1 − p)), for every γ."""
    derivative = diff((1 - alpha) * focal(1 - p, gamma), p) * p * (1 - p)
    expected = (1 - alpha) * p**gamma * (p - gamma * (1 - p) * log(1 - p))
    assert simplify(expand(derivative - expected)) == 0


@check("focal-gradient")
def focal_gradient() -> None:
    """Both in one line in the wrongness u, for every γ, and equal to the derivative of the stable form."""
    derivative = diff(sigmoid(u) ** gamma * softplus(u), u)
    assert simplify(derivative - stable_pull(u, gamma)) == 0
    for exponent in EXPONENTS:
        assert_same(stable_pull(u, exponent), pull(1 / (1 + e(u)), exponent), u)


@check("focal-weights")
def focal_weights() -> None:
    """With z = wᵀx + b the gradient in w is ∂FL/∂z times x, component by component, for both targets."""
    weights, inputs = symbols("w1:4", real=True), symbols("x1:4", real=True)
    score = sum((wi * xi for wi, xi in zip(weights, inputs, strict=True)), b)
    for y in (0, 1):
        for wi, xi in zip(weights, inputs, strict=True):
            in_logit = diff(sigmoid_focal_loss(z, y, alpha, gamma), z).subs(z, score)
            assert simplify(diff(sigmoid_focal_loss(score, y, alpha, gamma), wi) - in_logit * xi) == 0


@check("focal-ratio")
def focal_ratio() -> None:
    """The gradient divided by that of cross-entropy, which is 1 − p_t, for every γ."""
    ratio = (1 - p) ** (gamma - 1) * (1 - p - gamma * p * log(p))
    assert simplify(ratio - pull(p, gamma) / pull(p, Integer(0))) == 0


@check("focal-ratio-one")
def focal_ratio_one() -> None:
    """For γ = 1 the ratio less 1 is −p_t (1 + log p_t), positive exactly below 1/e."""
    difference = pull(p, Integer(1)) / (1 - p) - 1
    assert simplify(difference + p * (1 + log(p))) == 0
    assert solve(1 + log(p), p) == [e(-1)]


@check("focal-ratio-slope")
def focal_ratio_slope() -> None:
    """r′ = −γ (1 − p)^(γ−2) h(p) with h″ = −1/p² − γ/p, h(1) = 0, h′(1) = −1 − γ and h → −∞, for every γ."""
    ratio = (1 - p) ** (gamma - 1) * (1 - p - gamma * p * log(p))
    h = 2 * (1 - p) + (1 - gamma * p) * log(p)
    miss = symbols("a", positive=True)  # 1 − p
    claimed = -gamma * (1 - p) ** (gamma - 2) * h
    assert simplify((diff(ratio, p) - claimed).subs(p, 1 - miss)) == 0
    assert simplify(diff(h, p, 2) + 1 / p**2 + gamma / p) == 0
    assert h.subs(p, 1) == 0
    assert simplify(diff(h, p).subs(p, 1) + 1 + gamma) == 0
    assert limit(h, p, 0, "+") == -oo
    for exponent in EXPONENTS[1:]:
        assert limit(ratio.subs(gamma, exponent), p, 0, "+") == 1
        assert limit(ratio.subs(gamma, exponent), p, 1, "-") == 0


@check("focal-limit-wrong")
def focal_limit_wrong() -> None:
    """Infinitely wrong: the derivative for y = 1 tends to −α, and for y = 0 to 1 − α, for five exponents."""
    for exponent in EXPONENTS:
        yes, no = (diff(sigmoid_focal_loss(z, y, alpha, exponent), z).rewrite(e) for y in (1, 0))
        assert limit(yes.subs(alpha, Rational(1, 4)), z, -oo) == -Rational(1, 4)
        assert limit(no.subs(alpha, Rational(1, 4)), z, oo) == Rational(3, 4)


@check("focal-limit-right", NUMERIC)
def focal_limit_right() -> None:
    """Far right, the derivative over (1 + γ)(1 − p_t)^(γ+1) tends to 1, for five exponents."""
    for exponent in EXPONENTS:
        quotient = stable_pull(u, exponent) / ((1 + exponent) * sigmoid(u) ** (exponent + 1))
        gaps = [abs(evaluate(quotient, {u: -distance}, 60) - 1) for distance in (5, 20, 80)]
        for gap, most in zip(gaps, ("0.01", "1e-8", "1e-34"), strict=True):
            assert gap <= mpmath.mpf(most)


@check("focal-curvature")
def focal_curvature() -> None:
    """The second derivative in the wrongness, for every γ; it is negative where softplus(u) is large."""
    s, wrong, right = softplus(u), sigmoid(u), sigmoid(-u)
    formula = wrong**gamma * right * ((1 + 2 * gamma) * wrong + gamma * (gamma * right - wrong) * s)
    second = diff(sigmoid(u) ** gamma * softplus(u), u, 2)
    for exponent in EXPONENTS:
        assert_same(second.subs(gamma, exponent), formula.subs(gamma, exponent), u)
    assert evaluate(formula.subs(gamma, 2), {u: 4}) < 0 < evaluate(formula.subs(gamma, 2), {u: 1})


@check("focal-calibration", NUMERIC)
def focal_calibration() -> None:
    """The average loss has its minimum at p, and the rate grows with p, for four exponents and many p."""
    with mpmath.workdps(50):
        for exponent in EXPONENTS[1:]:
            pulls = [evaluate(pull(p, exponent), {p: mpmath.mpf(i) / 100}) for i in range(1, 100)]
            odds = [down / up for up, down in zip(pulls, reversed(pulls), strict=True)]
            assert all(low < high for low, high in pairwise(odds))
            for tenth in range(1, 20, 2):
                answer = mpmath.mpf(tenth) / 20
                up, down = (evaluate(pull(p, exponent), {p: c}) for c in (answer, 1 - answer))
                rate = down / (up + down)

                def derivative(
                    logit: mpmath.mpf, rate: mpmath.mpf = rate, exponent: Expr = exponent
                ) -> mpmath.mpf:
                    yes, no = (evaluate(stable_pull(u, exponent), {u: side}) for side in (-logit, logit))
                    return (1 - rate) * no - rate * yes

                best = mpmath.log(answer / (1 - answer))
                assert abs(derivative(best)) < mpmath.mpf("1e-40")
                signs = [mpmath.sign(derivative(best + step)) for step in (-9, -3, -0.1, 0.1, 3, 9)]
                assert signs == [-1, -1, -1, 1, 1, 1]


@check("focal-convex")
def focal_convex() -> None:
    """φ″ for every γ; the bracket is positive for nine exponents and many p; the bound −log p ≤ (1 − p)/p."""
    bracket = 1 / p**2 + 2 * gamma / (p * (1 - p)) + gamma * (1 - gamma) * log(p) / (1 - p) ** 2
    assert simplify(diff(focal(p, gamma), p, 2) - (1 - p) ** gamma * bracket) == 0
    assert_equal(-p * (1 - p) * diff(focal(p, gamma), p), pull(p, gamma))
    slack = (1 - p) / p + log(p)  # zero at p = 1, and it falls on the way there
    assert slack.subs(p, 1) == 0
    assert_equal(diff(slack, p), -(1 - p) / p**2)
    for exponent in (*EXPONENTS, *(Rational(n, 10) for n in (1, 3, 7, 9))):
        for place in range(1, 100):
            assert evaluate(bracket, {p: mpmath.mpf(place) / 100, gamma: exponent}) > 0


@check("prior-bias")
def prior_bias() -> None:
    """The sigmoid of log(π/(1 − π)) is π, and the two ways to write it agree."""
    bias = log(p / (1 - p))
    assert_equal(sigmoid(bias), p)
    assert simplify(e(bias) - e(-log((1 - p) / p))) == 0
