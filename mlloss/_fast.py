"""The losses fast on a CPU, on blocks of rows that stay in the cache; ``functional.py`` has the formulas.

What makes them fast: masks are numbers, 0 and 1, since arithmetic is several times faster than selection;
exp(s) on the negatives and exp(−s) on the positives are one exponential; no maximum is subtracted as long
as the sums neither overflow nor vanish; ``exp2`` takes a third of the time of ``exp``; and few temporaries,
changed in place, stay in the cache.  A function returns None where that is not exact (0 · ∞, a sum that
vanishes): then the plain form is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from mlloss._checks import INF, Masks, label_index, multi_hot

# (scores, positives as numbers) → z, a new tensor whose exponentials are summed (turned on the positives);
# the slope of z in s on the negatives, and its sign on the positives
Turn = Callable[[Tensor, Tensor], tuple[Tensor, Any, int]]


def turned(scale: float, s: Tensor, y: Tensor) -> tuple[Tensor, float, int]:
    """γ s on the negatives, −γ s on the positives."""
    z = torch.addcmul(s, y, s, value=-2)
    return (z if scale == 1 else z.mul_(scale)), scale, -1


def turned_up(s: Tensor, y: Tensor) -> tuple[Tensor, float, int]:
    """s on either side."""
    return s.clone(), 1.0, 1


def circle(
    detach: bool, gamma: float, o_p: float, o_n: float, d_p: float, d_n: float, s: Tensor, y: Tensor
) -> tuple[Tensor, Tensor, int]:
    """γ [s − Oₙ]₊ (s − Δₙ) on the negatives, γ [Oₚ − s]₊ (Δₚ − s) on the positives."""
    s, _, sign = turned(1.0, s, y)
    weight = torch.add(s, y, alpha=o_p + o_n).sub_(o_n).relu_().mul_(gamma)
    ahead = s.add_(y, alpha=d_p + d_n).sub_(d_n)
    slope = weight if detach else torch.addcmul(weight, weight > 0, ahead, value=gamma)
    return ahead.mul_(weight), slope, sign


def two_sides(turn: Turn, logits: Tensor, targets: Tensor) -> Masks | None:
    """n and p."""
    on_p, on_n = _masks(targets, logits.dtype)
    z, slope, _ = turn(logits, on_p)
    if isinstance(slope, float):
        powers_n, powers_p = _powers(z, on_n, on_p)
        sum_n, sum_p = powers_n.sum(-1), powers_p.sum(-1)
        positives, negatives = multi_hot(targets)
        if _exact(sum_n, negatives) and _exact(sum_p, positives):
            return sum_n.log_(), sum_p.log_()
        on_p, on_n = _masks(targets, logits.dtype)
        z, _, _ = turn(logits, on_p)
    n, p = _log_sum(z, on_n), _log_sum(z, on_p)
    return None if n is None or p is None else (n, p)


def two_sides_gradient(
    turn: Turn, logits: Tensor, targets: Tensor, n: Tensor, p: Tensor, grad_n: Tensor, grad_p: Tensor
) -> tuple[Tensor] | None:
    """The shares exp(z − n) and exp(z − p), times their slopes and incoming gradients."""
    on_p, on_n = _masks(targets, logits.dtype)
    z, slope, sign = turn(logits, on_p)
    if not z.sum().isfinite():
        return None
    n, p = (x.masked_fill(x == -INF, 0.0) for x in (n, p))
    if isinstance(slope, float) and torch.maximum(n.abs(), p.abs()).amax() < -math.log(_enough(z.dtype)):
        share_n, share_p = _powers(z, on_n, on_p)
        if not share_n.sum().isfinite():
            return None
        grad_n, grad_p = grad_n * (-n).exp(), grad_p * (-p).exp()
    else:
        share_n, share_p = _shares(z, n, on_n), _shares(z, p, on_p)
    gradient = torch.addcmul(share_n * grad_n[..., None], share_p, grad_p[..., None], value=sign)
    return (gradient.mul_(slope) if isinstance(slope, Tensor) or slope != 1 else gradient,)


def label_sides(ignore_index: int, logits: Tensor, labels: Tensor) -> Masks | None:
    """n and p of a single positive: with shares of the softmax, n + p is the log-odds of all others."""
    index, ignored = label_index(labels, ignore_index)
    shares = torch.softmax(logits, -1)
    share = shares.gather(-1, index).squeeze(-1)
    rest = shares.scatter_(-1, index, 0.0).sum(-1)
    if not ((torch.minimum(share, rest) > _enough(logits.dtype)) | ignored).all():
        return None
    p = -logits.gather(-1, index).squeeze(-1)
    n = (rest / share).log_() - p
    return n.masked_fill_(ignored, -INF), p.masked_fill_(ignored, -INF)


def label_sides_gradient(
    ignore_index: int, logits: Tensor, labels: Tensor, n: Tensor, p: Tensor, grad_n: Tensor, grad_p: Tensor
) -> tuple[Tensor] | None:
    """The softmax over all others, which is the whole softmax over their share σ(n + p); and −1."""
    index, ignored = label_index(labels, ignore_index)
    gap = n + p
    if not ((gap.abs() < -math.log(_enough(logits.dtype))) | ignored).all():
        return None
    push = torch.softmax(logits, -1) * (grad_n / torch.sigmoid(gap))[..., None]
    push = push.scatter(-1, index, -grad_p[..., None])
    return (push.masked_fill(ignored[..., None], 0.0) if ignored.any() else push,)


def focal(alpha: float | None, gamma: float, logits: Tensor, targets: Tensor) -> Masks | None:
    """Hard targets: weight · σ(u)^γ · softplus(u), where u is the logit, its sign turned if y = 1."""
    y = _as_numbers(targets, logits.dtype)
    if targets.dtype != torch.bool and (y * y - y).count_nonzero():
        return None
    sign = (y * 2).sub_(1)
    right = sign * logits  # −u
    if not right.amin() > -30:  # where 1 − σ(u), as a difference, has too few digits
        return None
    wrong, losses = torch.sigmoid(-right), F.logsigmoid(right)
    factor = (wrong**gamma).neg_()
    if alpha is not None:
        factor.mul_((1 - y).mul_(1 - alpha).add_(y, alpha=alpha))
    losses.mul_(factor)
    slopes = factor.mul_(wrong).addcmul_(wrong.sub_(1), losses, value=gamma).mul_(sign)
    return losses, slopes


def _masks(targets: Tensor, dtype: torch.dtype) -> Masks:
    """The positives and the negatives as numbers."""
    if targets.dtype == torch.bool:
        on_p = _as_numbers(targets, dtype)
        return on_p, 1 - on_p
    on_p, on_n = (_as_numbers(mask, dtype) for mask in multi_hot(targets))
    return on_p, on_n


def _as_numbers(values: Tensor, dtype: torch.dtype) -> Tensor:
    """bool as bytes converts six times as fast."""
    return (values.view(torch.uint8) if values.dtype == torch.bool else values).to(dtype)


def _powers(z: Tensor, on_n: Tensor, on_p: Tensor) -> Masks:
    """exp(z) on either side, in the place of all three."""
    powers = _exp_(z)
    return on_n.mul_(powers), on_p.mul_(powers)


def _exp_(z: Tensor) -> Tensor:
    return z.mul_(1 / math.log(2)).exp2_()


def _enough(dtype: torch.dtype) -> float:
    """Next to it what has underflowed is less than an ulp, and its inverse does not overflow."""
    return math.sqrt(torch.finfo(dtype).tiny)


def _exact(total: Tensor, mask: Tensor) -> bool:
    """Whether no sum over the mask has overflowed or vanished; over nothing it may be 0."""
    fine = (total > _enough(total.dtype)) & (total < INF)
    return bool(fine.all() or (fine | ((total == 0) & ~mask.any(-1))).all())


def _log_sum(z: Tensor, mask: Tensor) -> Tensor | None:
    """log Σ exp z over the mask, below its maximum."""
    z = z * mask
    top = z.amax(-1, keepdim=True)
    total = _exp_(z.sub_(top)).mul_(mask).sum(-1)
    return total.log_().add_(top.squeeze(-1)) if _exact(total, mask) else None


def _shares(z: Tensor, log_sum: Tensor, mask: Tensor) -> Tensor:
    """exp(z − log_sum) on the mask, where it is at most 1 but for rounding."""
    return _exp_((z - log_sum[..., None]).clamp_(max=1.0)).mul_(mask)
