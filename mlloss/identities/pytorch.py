"""The equations of the chapter "Writing them in PyTorch"."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import mpmath
import torch
from sympy import (
    Add,
    Expr,
    IndexedBase,
    KroneckerDelta,
    Sum,
    Symbol,
    diff,
    exp,
    log,
    simplify,
    symbols,
)
from torch import Tensor

from mlloss.identities.registry import NUMERIC, assert_equal, check
from mlloss.symbolic import (
    evaluate,
    indexed_sides,
    logits,
    logsumexp,
    sigmoid,
    softplus,
    thresholded_loss,
    unified_loss,
)

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
n, p = symbols("n p", real=True)
Sides = tuple[Sequence[Symbol], Sequence[Symbol]]


def label_sets() -> Iterator[Sides]:
    """Negatives and positives, one to three of each."""
    for negatives in (1, 2, 3):
        for positives in (1, 2, 3):
            yield logits(negatives, "n"), logits(positives, "p")


def soft_maxima(sides: Sides) -> tuple[Expr, Expr]:
    negatives, positives = sides
    return logsumexp(*negatives), logsumexp(*[-s for s in positives])


def random_sides(sizes: Sequence[int] = (1, 2, 7, 30)) -> Iterator[tuple[list[mpmath.mpf], list[bool]]]:
    """Random scores, some far apart, and which of them are positive: both kinds occur."""
    generator = random.Random(0)
    for size in sizes:
        for scale in (1, 5, 200):
            scores = [mpmath.mpf(generator.uniform(-scale, scale)) for _ in range(size + 1)]
            yield scores, [True, False, *(generator.random() < 0.4 for _ in range(size - 1))]


def log_sum(values: Sequence[mpmath.mpf]) -> mpmath.mpf:
    return mpmath.log(mpmath.fsum(mpmath.exp(v) for v in values))


def values(scores: Sequence[mpmath.mpf], positive: Sequence[bool]) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Both losses: over all pairs, and of either side by itself."""
    pairs = list(zip(scores, positive, strict=True))
    n = log_sum([s for s, yes in pairs if not yes])
    p = log_sum([-s for s, yes in pairs if yes])
    return log_sum([0, n + p]), log_sum([0, n]) + log_sum([0, p])


@check("pytorch-sides", NUMERIC)
def pytorch_sides() -> None:
    """The sum over all pairs is exp(n + p): SymPy for up to 3 and 3, at random for up to 31 scores."""
    for negatives, positives in label_sets():
        side_n, side_p = soft_maxima((negatives, positives))
        assert_equal(Add(*[exp(sj - si) for sj in negatives for si in positives]), exp(side_n + side_p))
    with mpmath.workdps(50):
        for scores, positive in random_sides():
            pairs = list(zip(scores, positive, strict=True))
            negatives, positives = [s for s, yes in pairs if not yes], [s for s, yes in pairs if yes]
            total = mpmath.fsum(mpmath.exp(sj - si) for sj in negatives for si in positives)
            factored = mpmath.exp(log_sum(negatives) + log_sum([-s for s in positives]))
            assert abs(factored / total - 1) < mpmath.mpf(10) ** -45


@check("pytorch-unified")
def pytorch_unified() -> None:
    """log(1 + Σ Σ exp(sⱼ − sᵢ)) = softplus(n + p), for up to 3 negatives and 3 positives."""
    for negatives, positives in label_sets():
        pairs = Add(*[exp(sj - si) for sj in negatives for si in positives])
        assert_equal(log(1 + pairs), softplus(sum(soft_maxima((negatives, positives)))))
        assert_equal(log(1 + pairs), unified_loss(negatives, positives))


@check("pytorch-thresholded")
def pytorch_thresholded() -> None:
    """log(1 + Σ exp sⱼ) + log(1 + Σ exp(−sᵢ)) = softplus(n) + softplus(p), for up to 3 and 3."""
    for negatives, positives in label_sets():
        written = log(1 + Add(*[exp(s) for s in negatives])) + log(1 + Add(*[exp(-s) for s in positives]))
        side_n, side_p = soft_maxima((negatives, positives))
        assert_equal(written, softplus(side_n) + softplus(side_p))
        assert_equal(written, thresholded_loss(negatives, positives))


@check("pytorch-sides-gradient")
def pytorch_sides_gradient() -> None:
    """∂n/∂sₖ = exp(sₖ − n) and ∂p/∂sₖ = −exp(−sₖ − p): any count as an indexed sum, up to 3 spelt out."""
    k, i = symbols("k i", integer=True, positive=True)
    for side, score, sign, count in zip(
        indexed_sides(), ("s^N", "s^P"), (1, -1), ("|N|", "|P|"), strict=True
    ):
        s, size = IndexedBase(score), symbols(count, positive=True, integer=True)
        of_index = Sum(KroneckerDelta(i, k) * sign * exp(sign * s[i]), (i, 1, size))
        assert simplify(diff(side, s[k]) - of_index / exp(side)) == 0
    for negatives, positives in label_sets():
        side_n, side_p = soft_maxima((negatives, positives))
        for s in negatives:
            assert_equal(diff(side_n, s), exp(s - side_n))
        for s in positives:
            assert_equal(diff(side_p, s), -exp(-s - side_p))


@check("pytorch-gradient")
def pytorch_gradient() -> None:
    """Both losses' derivatives are those of n and p times σ(n + p), or σ(n) and σ(p): up to 3 and 3."""
    for negatives, positives in label_sets():
        side_n, side_p = soft_maxima((negatives, positives))
        shares = {s: exp(s - side_n) for s in negatives} | {s: -exp(-s - side_p) for s in positives}
        for s, share in shares.items():
            assert_equal(diff(unified_loss(negatives, positives), s), sigmoid(side_n + side_p) * share)
            own = sigmoid(side_n if s in negatives else side_p)
            assert_equal(diff(thresholded_loss(negatives, positives), s), own * share)


@check("pytorch-sensitivity", NUMERIC)
def pytorch_sensitivity() -> None:
    """|L(s + δ) − L(s)| ≤ 2 max |δ| for both losses, reached in the limit of badly wrong scores."""
    generator = random.Random(1)
    with mpmath.workdps(50):
        for scores, positive in random_sides():
            for largest in (mpmath.mpf("0.01"), mpmath.mpf(3)):
                moved = [s + mpmath.mpf(generator.uniform(-1, 1)) * largest for s in scores]
                for before, after in zip(values(scores, positive), values(moved, positive), strict=True):
                    assert abs(after - before) <= 2 * largest
        wrong, worse = ([mpmath.mpf(-x), mpmath.mpf(x)] for x in (100, 101))
        for before, after in zip(values(wrong, [True, False]), values(worse, [True, False]), strict=True):
            assert after - before > 2 - mpmath.mpf(10) ** -40


def places(dtype: torch.dtype) -> Tensor:
    """Arguments in a dtype, up to where its exponential overflows."""
    last = float(torch.tensor(torch.finfo(dtype).max, dtype=torch.float64).log()) - 0.1
    return torch.cat([torch.linspace(-30, last, 997), torch.linspace(-8, 8, 997)]).to(dtype)


def errors(dtype: torch.dtype, computed: Tensor) -> Iterator[tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]]:
    """The argument, softplus, and the relative error of what was computed in a dtype."""
    for place, value in zip(places(dtype).double().tolist(), computed.double().tolist(), strict=True):
        exact = evaluate(softplus(n), {n: place})
        yield mpmath.mpf(place), exact, abs(value / exact - 1)


@check("pytorch-error-written", "real arithmetic in four dtypes against 50 digits")
def pytorch_error_written() -> None:
    """The relative error of log(1 + exp(u)) keeps to its bound, and comes within a factor of 4 of it."""
    for dtype in DTYPES:
        eps = torch.finfo(dtype).eps
        closest = 0.0
        for u, exact, error in errors(dtype, torch.log(1 + torch.exp(places(dtype)))):
            bound = eps * (1 + (1 + evaluate(sigmoid(n), {n: u})) / exact)
            assert error <= bound, (dtype, u)
            if bound < 1:
                closest = max(closest, float(error / bound))
        assert closest > 0.25


@check("pytorch-error-stable", "real arithmetic in four dtypes against 50 digits")
def pytorch_error_stable() -> None:
    """The relative error of [u]₊ + log1p(exp(−|u|)) keeps to its bound; also where exp(u) overflows."""
    for dtype in DTYPES:
        limits = torch.finfo(dtype)
        least = limits.smallest_normal * limits.eps
        u = places(dtype)
        for place, exact, error in errors(dtype, torch.relu(u) + torch.log1p(torch.exp(-u.abs()))):
            corner = evaluate(softplus(n), {n: -abs(place)})
            assert error <= limits.eps * (1 + 2 * corner / exact) + 2 * least / exact
        large = torch.tensor(1000.0, dtype=dtype)
        assert torch.relu(large) + torch.log1p(torch.exp(-large)) == large
