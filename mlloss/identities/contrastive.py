"""The equations of the chapter "Contrastive learning with many positives".

The losses stand here as their sums of exponentials define them; the other forms are held against these.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product

import mpmath
from sympy import Function as Unknown
from sympy import Matrix, diff, exp, log, simplify, sqrt, symbols

from mlloss.identities.registry import NUMERIC, assert_equal, check
from mlloss.identities.softmax import Numbers, close, derivative
from mlloss.symbolic import logits, logsumexp, multilabel_softmax_cross_entropy, softplus, unified_loss

Form = Callable[[Numbers, Numbers], mpmath.mpf]
COUNTS = ((1, 1), (1, 6), (2, 1), (2, 3), (3, 2), (7, 20))  # positives, negatives
SMALL = ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1))


def anchors(
    count: int = 8, spread: float = 4, counts: Sequence[tuple[int, int]] = COUNTS
) -> Iterator[tuple[Numbers, Numbers]]:
    """Random scores of the positives and the negatives of an anchor; of each count one pair far apart."""
    generator = random.Random(0)
    for many, others in counts:
        for i in range(count):
            size = 10 * spread if i == 0 else spread
            scores = [mpmath.mpf(generator.uniform(-size, size)) for _ in range(many + others)]
            yield scores[:many], scores[many:]


def total(s: Numbers) -> mpmath.mpf:
    return mpmath.fsum(map(mpmath.exp, s))


def lse(s: Numbers) -> mpmath.mpf:
    return mpmath.log(total(s))


def mean(s: Numbers) -> mpmath.mpf:
    return mpmath.fsum(s) / len(s)


def soft(u: mpmath.mpf) -> mpmath.mpf:
    return mpmath.log1p(mpmath.exp(u))


def sigma(u: mpmath.mpf) -> mpmath.mpf:
    return 1 / (1 + mpmath.exp(-u))


def shares(s: Numbers) -> Numbers:
    return [mpmath.exp(si) / total(s) for si in s]


# The forms by their definitions.


def single(positive: mpmath.mpf, negatives: Numbers) -> mpmath.mpf:
    """InfoNCE: minus the logarithm of what the positive has of all."""
    return mpmath.log1p(total(negatives) / mpmath.exp(positive))


def unified(positives: Numbers, negatives: Numbers) -> mpmath.mpf:
    return mpmath.log1p(mpmath.fsum(mpmath.exp(n - p) for n in negatives for p in positives))


def averaged(positives: Numbers, negatives: Numbers) -> mpmath.mpf:
    return mean([single(p, negatives) for p in positives])


def out(positives: Numbers, negatives: Numbers) -> mpmath.mpf:
    everything = total(positives + negatives)
    return -mean([mpmath.log(mpmath.exp(p) / everything) for p in positives])


def inside(positives: Numbers, negatives: Numbers) -> mpmath.mpf:
    everything = total(positives + negatives)
    return -mpmath.log(mean([mpmath.exp(p) / everything for p in positives]))


FORMS: dict[str, Form] = {"unified": unified, "mean": averaged, "out": out, "in": inside}


def slopes(form: Form, positives: Numbers, negatives: Numbers) -> tuple[Numbers, Numbers]:
    """The derivatives in the positives and in the negatives, by differences; 120 digits wanted."""
    k = len(positives)
    scores = positives + negatives
    gradient = [derivative(lambda s: form(s[:k], s[k:]), scores, i) for i in range(len(scores))]
    return gradient[:k], gradient[k:]


# InfoNCE


@check("contrastive-cosine", NUMERIC)
def contrastive_cosine() -> None:
    """A cosine lies in [−1, 1], in 1 to 8 dimensions; both ends are reached, whatever the lengths."""
    generator = random.Random(0)

    def cosine(a: Numbers, b: Numbers) -> mpmath.mpf:
        return mpmath.fdot(a, b) / mpmath.sqrt(mpmath.fdot(a, a) * mpmath.fdot(b, b))

    with mpmath.workdps(50):
        for size in (1, 2, 3, 8):
            for _ in range(20):
                a, b = ([mpmath.mpf(generator.gauss(0, 1)) for _ in range(size)] for _ in range(2))
                assert abs(cosine(a, b)) <= 1 + mpmath.mpf(10) ** -45
                assert close(cosine(a, [3 * ai for ai in a]), mpmath.mpf(1))
                assert close(cosine(a, [-ai / 7 for ai in a]), mpmath.mpf(-1))


@check("contrastive-infonce", NUMERIC)
def contrastive_infonce() -> None:
    """All three forms of InfoNCE agree: by SymPy for up to 3 negatives, at random for 20."""
    for size in (1, 2, 3):
        positive, *negatives = logits(size + 1)
        share = exp(positive) / (exp(positive) + sum(exp(n) for n in negatives))
        assert_equal(-log(share), log(1 + sum(exp(n - positive) for n in negatives)))
        assert_equal(-log(share), softplus(logsumexp(*negatives) - positive))
    with mpmath.workdps(50):
        for (positive, *_), negatives in anchors():
            share = mpmath.exp(positive) / total([positive, *negatives])
            assert close(-mpmath.log(share), single(positive, negatives))
            assert close(single(positive, negatives), soft(lse(negatives) - positive))


@check("contrastive-range", NUMERIC)
def contrastive_range() -> None:
    """For similarities in [−1, 1] InfoNCE keeps to its range, and reaches both ends at ±1."""
    with mpmath.workdps(50):
        for tau in map(mpmath.mpf, ("0.05", "0.5", "2")):
            for (u, *_), negatives in anchors(spread=0.1):
                count = len(negatives)
                low, high = (mpmath.log1p(count * mpmath.exp(sign * 2 / tau)) for sign in (-1, 1))
                loss = single(u / tau, [n / tau for n in negatives])
                assert low <= loss <= high
                assert close(single(1 / tau, [-1 / tau] * count), low)
                assert close(single(-1 / tau, [1 / tau] * count), high)


@check("contrastive-scores")
def contrastive_scores() -> None:
    """With scores u/τ a loss of scores is the package's loss of similarities at the scale γ = 1/τ."""
    tau = symbols("tau", positive=True)
    p, q, n = logits(3, "u")
    scaled = unified_loss([n / tau], [p / tau, q / tau])
    assert_equal(scaled, unified_loss([n], [p, q], gamma=1 / tau))
    assert_equal(exp(n / tau) / exp(p / tau), exp((n - p) / tau))


# Several positives


@check("contrastive-unified", NUMERIC)
def contrastive_unified() -> None:
    """The sum over pairs is softplus(LSE(s_N) + LSE(−s_P)), and the package's unified loss."""
    for many, others in SMALL:
        own, rest = logits(many, "p"), logits(others, "n")
        pairs = log(1 + sum(exp(nj - pi) for nj in rest for pi in own))
        assert_equal(pairs, softplus(logsumexp(*rest) + logsumexp(*[-pi for pi in own])))
        assert_equal(pairs, unified_loss(rest, own))
    with mpmath.workdps(50):
        for p, n in anchors():
            assert close(unified(p, n), soft(lse(n) + lse([-pi for pi in p])))


@check("contrastive-mean", NUMERIC)
def contrastive_mean() -> None:
    """The mean of InfoNCE over the positives, each against the negatives alone, as softplus."""
    with mpmath.workdps(50):
        for p, n in anchors():
            each = [-mpmath.log(mpmath.exp(pi) / total([pi, *n])) for pi in p]
            assert close(averaged(p, n), mean(each))
            assert close(averaged(p, n), mean([soft(lse(n) - pi) for pi in p]))


@check("contrastive-out", NUMERIC)
def contrastive_out() -> None:
    """SupCon's outer form is LSE of all minus the positives' mean: the softmax loss of a shared target."""
    for many, others in SMALL:
        own, rest = logits(many, "p"), logits(others, "n")
        everything = sum(exp(a) for a in (*own, *rest))
        written = -sum(log(exp(pi) / everything) for pi in own) / many
        assert_equal(written, multilabel_softmax_cross_entropy(rest, own))
    with mpmath.workdps(50):
        for p, n in anchors():
            assert close(out(p, n), lse(p + n) - mean(p))


@check("contrastive-in", NUMERIC)
def contrastive_in() -> None:
    """SupCon's inner form is log k + softplus(LSE(s_N) − LSE(s_P))."""
    for many, others in SMALL:
        own, rest = logits(many, "p"), logits(others, "n")
        everything = sum(exp(a) for a in (*own, *rest))
        written = -log(sum(exp(pi) / everything for pi in own) / many)
        assert_equal(written, log(many) + softplus(logsumexp(*rest) - logsumexp(*own)))
    with mpmath.workdps(50):
        for p, n in anchors():
            assert close(inside(p, n), mpmath.log(len(p)) + soft(lse(n) - lse(p)))


# What holds between them


def ordered(*values: mpmath.mpf) -> bool:
    """Each at most the next, up to rounding at 50 digits."""
    return all(a <= b + mpmath.mpf(10) ** -44 for a, b in pairwise(values))


@check("contrastive-worst", NUMERIC)
def contrastive_worst() -> None:
    """max ℓ ≤ unified ≤ max ℓ + log k; one bad positive reaches the left end, equal bad ones the right."""
    with mpmath.workdps(50):
        for p, n in anchors():
            worst = max(single(pi, n) for pi in p)
            assert ordered(worst, unified(p, n), worst + mpmath.log(len(p)))
        one_bad = [mpmath.mpf(0), mpmath.mpf(90), mpmath.mpf(99)]
        assert close(unified(one_bad, [mpmath.mpf(1)]), single(one_bad[0], [mpmath.mpf(1)]))
        all_bad = [mpmath.mpf(-99)] * 3
        assert close(unified(all_bad, [mpmath.mpf(0)]), single(all_bad[0], [mpmath.mpf(0)]) + mpmath.log(3))


@check("contrastive-best", NUMERIC)
def contrastive_best() -> None:
    """min ℓ ≤ in ≤ min ℓ + log k; both ends are approached."""
    with mpmath.workdps(50):
        for p, n in anchors():
            best = min(single(pi, n) for pi in p)
            assert ordered(best, inside(p, n), best + mpmath.log(len(p)))
        equal, zero = [mpmath.mpf(-99)] * 3, [mpmath.mpf(0)]
        assert close(inside(equal, zero), single(equal[0], zero))
        one_good = [mpmath.mpf(0), mpmath.mpf(-90), mpmath.mpf(-99)]
        assert close(inside(one_good, zero), single(one_good[0], zero) + mpmath.log(3))


@check("contrastive-average", NUMERIC)
def contrastive_average() -> None:
    """mean ≤ unified ≤ k · mean; bad equal positives leave log k to the left, good ones nothing right."""
    with mpmath.workdps(50):
        for p, n in anchors():
            assert ordered(averaged(p, n), unified(p, n), len(p) * averaged(p, n))
        good, zero = [mpmath.mpf(90)] * 3, [mpmath.mpf(0)]
        assert close(unified(good, zero) / averaged(good, zero), mpmath.mpf(3))
        assert close(unified(zero, good), averaged(zero, good))


@check("contrastive-jensen", NUMERIC)
def contrastive_jensen() -> None:
    """out − in = LSE(s_P) − mean(s_P) − log k ≥ 0, and 0 exactly for equal positives."""
    with mpmath.workdps(50):
        for p, n in anchors():
            excess = lse(p) - mean(p) - mpmath.log(len(p))
            assert close(out(p, n) - inside(p, n), excess)
            assert excess > 0 if len(p) > 1 else abs(excess) < 1e-45
            equal = [p[0]] * len(p)
            assert close(out(equal, n), inside(equal, n))


@check("contrastive-denominator", NUMERIC)
def contrastive_denominator() -> None:
    """mean ≤ out, equal only with one positive."""
    with mpmath.workdps(120):
        for p, n in anchors():
            assert out(p, n) > averaged(p, n) if len(p) > 1 else close(out(p, n), averaged(p, n))


@check("contrastive-floor", NUMERIC)
def contrastive_floor() -> None:
    """log k < in ≤ out; the floor is approached, where mean and unified tend to 0."""
    with mpmath.workdps(120):
        for p, n in anchors():
            assert mpmath.log(len(p)) < inside(p, n)
            assert ordered(inside(p, n), out(p, n))
        far, near = [mpmath.mpf(200)] * 3, [mpmath.mpf(0)] * 2
        for form in (inside, out):
            assert close(form(far, near), mpmath.log(3))
        for form in (unified, averaged):
            assert close(form(far, near), mpmath.mpf(0))


# Gradients


@check("contrastive-pulls", NUMERIC)
def contrastive_pulls() -> None:
    """The derivatives in the positives, against differences with 120 digits."""
    with mpmath.workdps(120):
        for p, n in anchors(3):
            k, minus = len(p), [-pi for pi in p]
            all_shares = shares(p + n)
            claimed = {
                "unified": [-sigma(lse(n) + lse(minus)) * w for w in shares(minus)],
                "mean": [-sigma(lse(n) - pi) / k for pi in p],
                "out": [q - mpmath.mpf(1) / k for q in all_shares[:k]],
                "in": [-sigma(lse(n) - lse(p)) * w for w in shares(p)],
            }
            for name, form in FORMS.items():
                found, _ = slopes(form, p, n)
                assert all(close(a, b) for a, b in zip(found, claimed[name], strict=True)), name


@check("contrastive-pushes", NUMERIC)
def contrastive_pushes() -> None:
    """In the negatives every form has a factor of its own times the softmax of the negatives."""
    with mpmath.workdps(120):
        for p, n in anchors(3):
            factors = {
                "unified": sigma(lse(n) + lse([-pi for pi in p])),
                "mean": mean([sigma(lse(n) - pi) for pi in p]),
                "out": sigma(lse(n) - lse(p)),
                "in": sigma(lse(n) - lse(p)),
            }
            for name, form in FORMS.items():
                _, found = slopes(form, p, n)
                claimed = [factors[name] * v for v in shares(n)]
                assert all(close(a, b) for a, b in zip(found, claimed, strict=True)), name


@check("contrastive-zero-sum", NUMERIC)
def contrastive_zero_sum() -> None:
    """The derivatives of each form add up to 0, by differences with 120 digits."""
    with mpmath.workdps(120):
        for p, n in anchors(3):
            for form in FORMS.values():
                pulls, pushes = slopes(form, p, n)
                assert abs(mpmath.fsum(pulls + pushes)) < 1e-30


# Temperature


def hinge(u: mpmath.mpf) -> mpmath.mpf:
    return max(u, mpmath.mpf(0))


@check("contrastive-shares", NUMERIC)
def contrastive_shares() -> None:
    """Two negatives share the push in the ratio exp((u_j − u_l)/τ), in every form."""
    with mpmath.workdps(120):
        for tau in map(mpmath.mpf, ("0.2", "1")):
            for p, n in anchors(2, spread=1, counts=((2, 3), (3, 2))):
                for form in FORMS.values():
                    _, (first, second, *_) = slopes(form, [pi / tau for pi in p], [nj / tau for nj in n])
                    assert close(first / second / mpmath.exp((n[0] - n[1]) / tau), mpmath.mpf(1), 20)


@check("contrastive-hinge", NUMERIC)
def contrastive_hinge() -> None:
    """τℓ lies between its hinge and the hinge + τ log(1 + |N|), which a tie of all reaches."""
    with mpmath.workdps(50):
        for tau in map(mpmath.mpf, ("0.05", "0.5", "3")):
            for (u, *_), n in anchors(spread=1):
                low = hinge(max(n) - u)
                high = low + tau * mpmath.log1p(len(n))
                assert ordered(low, tau * single(u / tau, [nj / tau for nj in n]), high)
                assert close(tau * single(u, [u] * len(n)), tau * mpmath.log1p(len(n)))


@check("contrastive-hard", NUMERIC)
def contrastive_hard() -> None:
    """τ times each form tends to its hard form: at τ = 10⁻⁶ they differ by less than 10⁻⁴."""
    tau = mpmath.mpf(10) ** -6
    with mpmath.workdps(50):
        for p, n in anchors(spread=1):
            hard = {
                "unified": hinge(max(n) - min(p)),
                "mean": mean([hinge(max(n) - pi) for pi in p]),
                "out": max(p + n) - mean(p),
                "in": hinge(max(n) - max(p)),
            }
            for name, form in FORMS.items():
                cold = tau * form([pi / tau for pi in p], [nj / tau for nj in n])
                assert abs(cold - hard[name]) < 1e-4, name


@check("contrastive-hot", NUMERIC)
def contrastive_hot() -> None:
    """τ ∂ℓ/∂u_j tends to 1/(1 + |N|) for every negative: at τ = 10⁶ they differ by less than 10⁻⁵."""
    tau = mpmath.mpf(10) ** 6
    with mpmath.workdps(120):
        for (u, *_), n in anchors(2, spread=1):
            _, pushes = slopes(averaged, [u / tau], [nj / tau for nj in n])  # τ times those in u
            assert all(abs(push - mpmath.mpf(1) / (1 + len(n))) < 1e-5 for push in pushes)


# Traps


@check("contrastive-self", NUMERIC)
def contrastive_self() -> None:
    """The anchor among its own negatives: ℓ > log(1 + exp((1 − u)/τ)) ≥ log 2 for u in [−1, 1]."""
    with mpmath.workdps(50):
        for tau in map(mpmath.mpf, ("0.05", "0.5", "2")):
            for (u, *_), n in anchors(spread=0.1):
                floor = mpmath.log1p(mpmath.exp((1 - u) / tau))
                assert mpmath.log(2) <= floor
                assert floor < single(u / tau, [1 / tau, *(nj / tau for nj in n)])
        tau, far = mpmath.mpf("0.001"), mpmath.mpf(-1)
        assert close(single(1 / tau, [1 / tau, far / tau]), mpmath.log(2))


@check("contrastive-radial")
def contrastive_radial() -> None:
    """z is at a right angle to the gradient of any f(z/‖z‖), here in 2 and 3 dimensions."""
    for size in (2, 3):
        z = symbols(f"z1:{size + 1}", positive=True)
        norm = sqrt(sum(zi**2 for zi in z))
        f = Unknown("f")(*[zi / norm for zi in z])
        along = Matrix(z).dot(Matrix([diff(f, zi) for zi in z]))
        assert simplify(along.doit()) == 0


@check("contrastive-alone", NUMERIC)
def contrastive_alone() -> None:
    """(1 − 1/C)^(B − 1): counted over all batches of 2 to 5 samples of 2 or 3 classes."""
    for classes in (2, 3):
        for size in (2, 3, 4, 5):
            batches = list(product(range(classes), repeat=size))
            lonely = sum(first not in rest for first, *rest in batches)
            chance = mpmath.mpf(lonely) / len(batches)
            assert close(chance, (1 - mpmath.mpf(1) / classes) ** (size - 1), 14)
