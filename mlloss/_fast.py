"""The losses fast on a CPU, on blocks of rows that stay in the cache; ``functional.py`` has the formulas.

What makes them fast: masks are numbers, 0 and 1, since arithmetic is several times faster than selection;
exp(s) on the negatives and exp(−s) on the positives are one exponential; no maximum is subtracted where no
sum can overflow or vanish; ``exp2`` takes a third of the time of ``exp``; and few temporaries, changed in
place, stay in the cache.  A function fills its outputs and returns True, or False where that would not be
exact (0 · ∞, a sum that vanishes): then the plain form is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from mlloss._checks import INF, Masks, all_finite, label_index, multi_hot

LOG2_E = 1 / math.log(2)  # exp(x) = 2^(x log₂ e)

# (scores, positives as numbers) → z, a new tensor, and the scale γ, for exp γz is summed; the slope of z in
# the score on the negatives, a number or a tensor, and what to multiply it by on the positives, 1 or −1
Turn = Callable[[Tensor, Tensor], tuple[Tensor, float, Any, int]]


def turned(gamma: float, s: Tensor, y: Tensor) -> tuple[Tensor, float, int, int]:
    """γ s on the negatives, −γ s on the positives."""
    return torch.addcmul(s, y, s, value=-2), gamma, 1, -1


def turned_up(s: Tensor, y: Tensor) -> tuple[Tensor, float, int, int]:
    """s on either side."""
    return s.clone(), 1.0, 1, 1


def circle(
    detach: bool, gamma: float, o_p: float, o_n: float, d_p: float, d_n: float, s: Tensor, y: Tensor
) -> tuple[Tensor, float, Tensor, int]:
    """γ [s − Oₙ]₊ (s − Δₙ) on the negatives, γ [Oₚ − s]₊ (Δₚ − s) on the positives."""
    others = 1 - y
    s, *_ = turned(gamma, s, y)
    weight = torch.add(s, y, alpha=o_p).add_(others, alpha=-o_n).relu_()
    ahead = s.add_(y, alpha=d_p).add_(others, alpha=-d_n)
    # the slope of the product, which takes the place of one factor next
    slope = weight if detach else torch.addcmul(weight, weight > 0, ahead)
    return ahead.mul_(weight), gamma, slope, -1


def two_sides(turn: Turn, logits: Tensor, targets: Tensor, n: Tensor, p: Tensor) -> bool:
    """n and p: the logarithms of sums of exp γz, of each side below its maximum where need be."""
    on_p, used = _masks(targets, logits.dtype)
    z, gamma, *_ = _turned(turn, logits, on_p, used)
    most = gamma * _largest(z)
    if not max(gamma, most) < _limit(z.dtype):
        return False  # γz overflows
    if most < _far(z.dtype):
        push, pull = _powers(z, gamma, on_p, used)
        torch.sum(push, -1, out=n).log_()
        torch.sum(pull, -1, out=p).log_()
        return True
    sides = _negatives(on_p, used), on_p
    least = z.amin()
    # maxima but for rounding, which is enough; of an empty side, anything
    tops = [((z - least) * side).amax(-1) + least for side in sides]
    _lower(z, sides, tops)
    push, pull = _powers(z, gamma, on_p, used)
    positives, negatives = multi_hot(targets)
    for log_sum, powers, classes, top in (n, push, negatives, tops[0]), (p, pull, positives, tops[1]):
        torch.sum(powers, -1, out=log_sum)
        if not _whole(log_sum, classes):
            return False
        log_sum.log_().add_(top, alpha=gamma)
    return True


def two_sides_gradient(
    turn: Turn,
    logits: Tensor,
    targets: Tensor,
    n: Tensor,
    p: Tensor,
    grad_n: Tensor,
    grad_p: Tensor,
    gradient: Tensor,
) -> bool:
    """The shares exp(γz − n) and exp(γz − p), times their slopes and incoming gradients."""
    on_p, used = _masks(targets, logits.dtype)
    z, gamma, slope, sign = _turned(turn, logits, on_p, used)
    n, p = (x.masked_fill(x == -INF, 0.0) for x in (n, p))
    if _divides(grad_n, n) and _divides(grad_p, p):
        grad_n, grad_p = grad_n / n.exp(), grad_p / p.exp()
    else:
        _lower(z, (_negatives(on_p, used), on_p), (n / gamma, p / gamma))
    if not (gamma < _limit(z.dtype) and all(map(all_finite, (z, grad_n, grad_p)))):
        return False
    push, pull = _powers(z, gamma, on_p, used)
    torch.mul(push, grad_n[..., None], out=gradient)
    gradient.addcmul_(pull, grad_p[..., None], value=sign)
    if not isinstance(slope, Tensor) and gamma == 1:
        return True
    return all_finite(gradient.mul_(gamma * slope))


def label_sides(ignore_index: int, logits: Tensor, labels: Tensor, n: Tensor, p: Tensor) -> bool:
    """n and p of a single positive: n sums over all others, below the maximum of all where need be."""
    index, ignored = label_index(labels, ignore_index)
    top = None if _largest(logits) < _far(logits.dtype) else logits.amax(-1)
    powers = logits * LOG2_E if top is None else (logits - top[..., None]).mul_(LOG2_E)
    torch.sum(powers.exp2_().scatter_(-1, index, 0.0), -1, out=n)
    if top is not None and not _whole(n, ~ignored):
        return False
    n.log_()
    if top is not None:
        n.add_(top)
    torch.neg(logits.gather(-1, index).squeeze(-1), out=p)
    for log_sum in n, p:
        log_sum.masked_fill_(ignored, -INF)
    return True


def label_sides_gradient(
    ignore_index: int,
    logits: Tensor,
    labels: Tensor,
    n: Tensor,
    p: Tensor,
    grad_n: Tensor,
    grad_p: Tensor,
    gradient: Tensor,
) -> bool:
    """The shares exp(s − n) of all others, and −1, times the incoming gradients."""
    index, ignored = label_index(labels, ignore_index)
    n = n.masked_fill(ignored, 0.0)
    if _divides(grad_n, n):
        torch.mul(logits, LOG2_E, out=gradient)
        grad_n = grad_n / n.exp()
    else:
        torch.sub(logits, n[..., None], out=gradient).mul_(LOG2_E)
    gradient.exp2_().mul_(grad_n[..., None]).scatter_(-1, index, -grad_p[..., None])
    return all_finite(gradient)


def sigmoid_focal(
    alpha: float | None, gamma: float, logits: Tensor, targets: Tensor, losses: Tensor, slopes: Tensor
) -> bool:
    """Hard targets: weight · focal(u), where u is the logit, its sign turned if y = 1."""
    y = _as_numbers(targets, logits.dtype)
    if targets.dtype != torch.bool and (y * y - y).count_nonzero():
        return False
    u = torch.addcmul(logits, y, logits, value=-2)
    negative, positive = (1.0, 1.0) if alpha is None else (1 - alpha, alpha)
    weight = (1 - y).mul_(negative).add_(y, alpha=-positive)  # its sign is that of the slope
    del y  # the next temporary takes its place in the cache
    if not _focal(u, gamma, losses, slopes):
        return False
    slopes.mul_(weight)
    losses.mul_(weight.abs_())
    return True


def focal_of_gap(gap: Tensor, parameters: Tensor, losses: Tensor, slopes: Tensor) -> bool:
    """weight · focal(gap)."""
    weight, gamma = parameters.unbind(-1)
    if not _focal(gap.clone(), gamma, losses, slopes):
        return False
    losses.mul_(weight)
    slopes.mul_(weight)
    return True


def _focal(u: Tensor, gamma: float | Tensor, losses: Tensor, slopes: Tensor) -> bool:
    """σ(u)^γ · softplus(u) and its slope; u is overwritten."""
    if not u.amax() < _far(u.dtype):
        return False
    powers = u.mul_(LOG2_E).exp2_()
    right = (powers + 1).reciprocal_()  # 1 − σ(u)
    torch.log1p(powers, out=losses)
    wrong = powers.mul_(right)
    torch.pow(wrong, gamma, out=slopes)
    losses.mul_(slopes)
    slopes.mul_(wrong).addcmul_(right.mul_(gamma), losses)
    return True


def _masks(targets: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor | None]:
    """The positives as numbers, and what is not ignored, unless that is all."""
    if targets.dtype == torch.bool:
        return _as_numbers(targets, dtype), None
    positives, negatives = multi_hot(targets)
    return _as_numbers(positives, dtype), _as_numbers(positives | negatives, dtype)


def _as_numbers(values: Tensor, dtype: torch.dtype) -> Tensor:
    """bool as bytes converts six times as fast."""
    return (values.view(torch.uint8) if values.dtype == torch.bool else values).to(dtype)


def _negatives(on_p: Tensor, used: Tensor | None) -> Tensor:
    return 1 - on_p if used is None else used - on_p


def _turned(turn: Turn, logits: Tensor, on_p: Tensor, used: Tensor | None) -> tuple[Tensor, float, Any, int]:
    """The turned scores, 0 where they are ignored."""
    z, *rest = turn(logits, on_p)
    return (z if used is None else z.mul_(used)), *rest


def _lower(z: Tensor, sides: Masks, by: Iterable[Tensor]) -> None:
    for side, value in zip(sides, by, strict=True):
        z.addcmul_(side, value[..., None], value=-1)


def _powers(z: Tensor, gamma: float, on_p: Tensor, used: Tensor | None) -> Masks:
    """exp γz on the negatives and on the positives; they take the place of z and on_p, which are lost."""
    powers = z.mul_(gamma * LOG2_E).exp2_()
    if used is not None:
        powers.mul_(used)
    pull = on_p.mul_(powers)
    return powers.sub_(pull), pull


def _far(dtype: torch.dtype) -> float:
    """Where exp of more may overflow in a sum, and of less than minus it vanish beside another."""
    return math.log(torch.finfo(dtype).max) / 2


def _limit(dtype: torch.dtype) -> float:
    """What is less can be multiplied by log₂ e."""
    return torch.finfo(dtype).max / 2


def _largest(z: Tensor) -> float:
    """The largest absolute value; NaN if there is one."""
    least, most = z.aminmax()
    return max(-least.item(), most.item())


def _divides(gradient: Tensor, log_sum: Tensor) -> bool:
    """Whether the gradient may be divided by the sum before a power is multiplied by it: nothing is lost."""
    least = torch.finfo(gradient.dtype).tiny * math.exp(_far(gradient.dtype) / 2)
    near = 2 * _largest(log_sum) < _far(log_sum.dtype)
    return near and torch.equal(gradient, F.hardshrink(gradient, least))


def _whole(total: Tensor, classes: Tensor) -> bool:
    """Whether no sum over the classes has overflowed or vanished; over none it may be 0."""
    vanished = total < math.exp(-_far(total.dtype))
    return all_finite(total) and not classes[vanished].any()
