"""Losses for one label, many labels, and pairs of scores, as pure functions of logits.

The idea.  Let N be the negative classes of a sample and P its positives.  Two numbers are all that a set
loss needs to know of the scores s::

    n = log Σ_N exp(s)          a soft maximum of the negatives
    p = log Σ_P exp(−s)         a soft maximum of the positives with their sign turned

and every loss of the family is the softplus of what is left to gain::

    unified      softplus(n + p)                    one positive: cross-entropy; with a margin: AM-softmax
    circle       softplus(n + p)                    of scores weighted by how far off they are
    thresholded  softplus(n − t) + softplus(p + t)  one class: binary cross-entropy
    focal        σ(u)^γ · softplus(u)               u = n + p for the softmax, u = ±s for the sigmoid

With max in place of log-sum-exp and [·]₊ in place of softplus the same lines are the hard (hinge) forms.
The gradient of n is the softmax over N, the gradient of p is minus the softmax of −s over P.

What all functions keep to: nothing is broadcast; an ignored entry does not exist; an empty set has
n = −∞ (or p = −∞), whose softplus is 0; a score of ±∞ gives the limit's value; half precision is computed
and returned in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from mlloss import _fast
from mlloss._checks import (
    INF,
    Masks,
    as_scores,
    check_ignore_index,
    check_labels,
    check_multi_hot,
    check_soft,
    class_scores,
    first_bad,
    is_ignored,
    label_index,
    multi_hot,
    number,
    reduce,
    same_shape,
)
from mlloss._closed_form import Elementwise, Form, by_elements, by_rows

__all__ = [
    "circle_loss",
    "from_signed",
    "hard_cross_entropy",
    "hard_thresholded_loss",
    "hard_unified_loss",
    "multilabel_softmax_cross_entropy",
    "sigmoid_focal_loss",
    "softmax_focal_loss",
    "thresholded_loss",
    "unified_loss",
]

Weigh = Callable[[Tensor], tuple[Any, Any]]  # logits → what is in their place on either side, or its slope


# --- the core: two numbers a sample ------------------------------------------------------------------------


def _two_sides(soft_max: Callable, weigh: Weigh, logits: Tensor, targets: Tensor) -> Masks:
    """n and p, where ``soft_max`` is ``torch.logsumexp``, or ``torch.amax`` for the hard forms."""
    positives, negatives = multi_hot(targets)
    z_n, z_p = weigh(logits)
    return soft_max(z_n.where(negatives, -INF), -1), soft_max((-z_p).where(positives, -INF), -1)


def _two_sides_gradient(
    weigh: Weigh,
    slopes: Weigh,
    logits: Tensor,
    targets: Tensor,
    n: Tensor,
    p: Tensor,
    grad_n: Tensor,
    grad_p: Tensor,
) -> tuple[Tensor]:
    """The softmax over N, minus the softmax of −z over P, each times its slope and incoming gradient."""
    positives, negatives = multi_hot(targets)
    (z_n, z_p), (slope_n, slope_p) = weigh(logits), slopes(logits)
    push = _shares(z_n.where(negatives, -INF), n) * grad_n[..., None] * slope_n
    pull = _shares((-z_p).where(positives, -INF), p) * grad_p[..., None] * slope_p
    return (torch.where(positives, -pull, push.where(negatives, 0.0)),)


def _shares(z: Tensor, log_sum: Tensor) -> Tensor:
    """The softmax exp(z − log Σ exp z); ∞ − ∞ counts as 0, so that what is infinitely wrong has slope 1."""
    return (z - log_sum[..., None]).nan_to_num(nan=0.0, posinf=INF, neginf=-INF).exp()


def _label_sides(soft_max: Callable, ignore_index: int, logits: Tensor, labels: Tensor) -> Masks:
    """n and p of a single positive: the log-sum-exp of all others, and −s_y; both −∞ if it is ignored."""
    index, ignored = label_index(labels, ignore_index)
    n, p = soft_max(logits.scatter(-1, index, -INF), -1), -logits.gather(-1, index).squeeze(-1)
    return n.masked_fill(ignored, -INF), p.masked_fill(ignored, -INF)


def _label_sides_gradient(
    ignore_index: int,
    logits: Tensor,
    labels: Tensor,
    n: Tensor,
    p: Tensor,
    grad_n: Tensor,
    grad_p: Tensor,
) -> tuple[Tensor]:
    """The softmax over all others, and −1 for the positive, each times its incoming gradient."""
    index, ignored = label_index(labels, ignore_index)
    others = logits.scatter(-1, index, -INF)
    push = _shares(others, n.masked_fill(ignored, INF)) * grad_n[..., None]
    return (push.scatter(-1, index, -grad_p[..., None]),)


def _gap(n: Tensor, p: Tensor, margin: float = 0.0) -> Tensor:
    """n + p + margin; −∞ if either set is empty, even where the other is infinitely wrong."""
    least = torch.minimum(n, p)
    return torch.where(least == -INF, least, n + p + _scalar(margin, n))


def _scalar(value: float, like: Tensor) -> Tensor:
    """The number as a tensor: forward-mode derivatives under vmap take a plain one for a float64."""
    return like.new_full((), value)


def _positive_part(x: Tensor) -> Tensor:
    """[x]₊; unlike ``relu`` it does not need its result for the gradient: losses may be changed in place."""
    return F.threshold(x, 0.0, 0.0)


def _softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x)) without loss of relative precision (F.softplus is the identity above 20)."""
    return -F.logsigmoid(-x)


def _focal(logits: Tensor, targets: Tensor, weight: Any, gamma: Any) -> tuple[Tensor, Tensor]:
    """weight · (1 − p_t)^γ · BCE and its slope, elementwise; 0 where weight or 1 − p_t is, whatever the BCE.

    The slope is γ · (1 − 2y) p (1 − p) / (1 − p_t) · loss + weight · (1 − p_t)^γ · (p − y).
    """
    p, q = torch.sigmoid(logits), torch.sigmoid(-logits)
    wrong = targets * q + (1 - targets) * p
    live = weight * wrong != 0
    wrong = wrong.where(live, 1.0)
    factor, bce = weight * wrong**gamma, _bce(logits.where(live, 0.0), targets)
    # For a hard target p q / wrong is the other probability, also where wrong is tiny.
    hard = (targets == 0) | (targets == 1)
    other = torch.where(hard, targets * p + (1 - targets) * q, p * q / wrong.where(~hard, 1.0))
    steeper = gamma * (1 - 2 * targets) * other * bce.where(bce != INF, 0.0)  # 0 · ∞ is 0
    slope = factor * (steeper + (1 - targets) * p - targets * q)
    return (factor * bce).where(live, 0.0), slope.where(live, 0.0)


def _bce(logits: Tensor, targets: Tensor) -> Tensor:
    """Binary cross-entropy of logits, elementwise."""
    return targets * _softplus(-logits) + (1 - targets) * _softplus(logits)


def _log_sums(weigh: Weigh, slopes: Weigh, turn: _fast.Turn, logits: Tensor, targets: Tensor) -> Masks:
    """n and p for sets of labels, of weighted scores."""
    form = Form(
        partial(_two_sides, torch.logsumexp, weigh),
        partial(_two_sides_gradient, weigh, slopes),
        partial(_fast.two_sides, turn),
        partial(_fast.two_sides_gradient, turn),
    )
    n, p = by_rows(form, logits, targets)
    return n, p


def _as_is(logits: Tensor) -> tuple[Tensor, Tensor]:
    return logits, logits


def _scaled(gamma: float, logits: Tensor) -> tuple[Tensor, Tensor]:
    scaled = _times(gamma, logits)
    return scaled, scaled


def _times(gamma: float, scores: Tensor) -> Tensor:
    """γ s, where an infinite score stays infinite for γ = 0 too."""
    return scores.where(scores.isinf(), gamma * scores)


def _turned_up(logits: Tensor) -> tuple[Tensor, Tensor]:
    """With these p is log Σ_P exp(+s)."""
    return logits, -logits


def _constant(slope_n: float, slope_p: float, logits: Tensor) -> tuple[float, float]:
    return slope_n, slope_p


# --- one label, or labels by themselves: focal losses ------------------------------------------------------


def sigmoid_focal_loss(
    logits: Tensor,
    targets: Tensor,
    *,
    alpha: float | None = 0.25,
    gamma: float = 2.0,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> Tensor:
    r"""Binary cross-entropy that turns away from what is already right, elementwise.

    α_t (1 − p_t)^γ · BCE with p = σ(z), p_t = y p + (1 − y)(1 − p) and α_t = α y + (1 − α)(1 − y).
    ``gamma=0, alpha=None`` is ``F.binary_cross_entropy_with_logits``, ``gamma=0`` its α-balanced form.

    Args:
        logits: scores z of any shape.
        targets: y of the same shape: bool, or numbers in [0, 1] (soft targets too) or ``ignore_index``;
            constants, no gradient flows into them.
        alpha: weight of the positives in [0, 1]; the negatives weigh 1 − α. ``None`` weighs nothing.
        gamma: focusing parameter ≥ 0.
        reduction: ``"none"`` (shape of the logits), ``"sum"``, or ``"mean"`` over the elements not ignored.

    Raises:
        ValueError: shapes differ, a target is outside [0, 1], or a parameter is out of range.

    Source: Lin et al., Focal Loss for Dense Object Detection, 2017 (arXiv 1708.02002), eqs (4) and (5).

    >>> logits, targets = torch.tensor([2.0, -1.0, 0.5]), torch.tensor([1, 0, 0])
    >>> sigmoid_focal_loss(logits, targets, reduction="none")
    tensor([0.0005, 0.0170, 0.2831])
    """
    logits = as_scores(logits)
    same_shape(logits, targets)
    alpha = alpha if alpha is None else number("alpha", alpha, 0, 1)
    gamma = number("gamma", gamma, 0)
    used = check_soft(targets, ignore_index)
    form = Elementwise(
        partial(_balanced_focal, ignore_index, alpha, gamma), partial(_fast.sigmoid_focal, alpha, gamma)
    )
    return reduce(by_elements(form, logits, targets), used, reduction)


def softmax_focal_loss(
    logits: Tensor,
    labels: Tensor,
    *,
    alpha: Tensor | None = None,
    gamma: float | Tensor = 2.0,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    r"""Softmax cross-entropy that turns away from what is already right.

    −α_y (1 − p_y)^γ_y log p_y with p = softmax(s).  ``gamma=0, alpha=None`` is ``F.cross_entropy``.

    Args:
        logits: scores s of shape ``[..., C]``.
        labels: class indices y of shape ``[...]``, any integer dtype, or ``ignore_index``.
        alpha: weights of the classes, a ``[C]`` tensor of numbers ≥ 0 (constants), or ``None``.
        gamma: focusing parameter ≥ 0, a number or a ``[C]`` tensor, one a class (constants).
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not ignored.

    Raises:
        ValueError: shapes do not fit, a label is out of range, or a parameter is.

    Source: Lin et al., Focal Loss for Dense Object Detection, 2017 (arXiv 1708.02002), eq. (5).

    >>> logits, labels = torch.tensor([[2.0, 0.0, -1.0], [0.0, 1.0, 0.5]]), torch.tensor([0, 2])
    >>> softmax_focal_loss(logits, labels, reduction="none")
    tensor([0.0041, 0.5665])
    """
    logits = class_scores(logits)
    labels, used = check_labels(logits, labels, ignore_index)
    sides = Form(
        partial(_label_sides, torch.logsumexp, ignore_index),
        partial(_label_sides_gradient, ignore_index),
        partial(_fast.label_sides, ignore_index),
        partial(_fast.label_sides_gradient, ignore_index),
    )
    n, p = by_rows(sides, logits, labels)
    gap = _gap(n, p)
    weight = _of_class("alpha", 1.0 if alpha is None else alpha, logits, labels, ignore_index)
    exponent = _of_class("gamma", gamma, logits, labels, ignore_index)
    focal = Elementwise(_focal_of_gap, _fast.focal_of_gap)
    return reduce(by_elements(focal, gap, torch.stack([weight, exponent], -1)), used, reduction)


def _balanced_focal(
    ignore_index: int, alpha: float | None, gamma: float, logits: Tensor, targets: Tensor
) -> tuple[Tensor, Tensor]:
    """Focal loss with weight α_t, which is 0 for what is ignored; and its slope."""
    y = targets.to(logits.dtype)
    weight = torch.ones_like(y) if alpha is None else (1 - y).mul(1 - alpha).add(y, alpha=alpha)
    if targets.dtype != torch.bool:
        ignored = is_ignored(targets, ignore_index)
        logits, y, weight = (x.masked_fill(ignored, 0.0) for x in (logits, y, weight))
    return _focal(logits, y, weight, gamma)


def _focal_of_gap(gap: Tensor, parameters: Tensor) -> tuple[Tensor, Tensor]:
    """Focal loss of a softmax: that of a sigmoid with target 0 and the gap as its logit; and its slope."""
    weight, gamma = parameters.unbind(-1)
    return _focal(gap, torch.zeros_like(gap), weight, gamma)


def _of_class(name: str, values: float | Tensor, logits: Tensor, labels: Tensor, ignore_index: int) -> Tensor:
    """The value of each sample's class, from one number or a number a class."""
    classes = logits.shape[-1]
    wanted = f"{name} must be a floating-point tensor of shape [{classes}], one value a class, got"
    if isinstance(values, (list, tuple)):
        raise ValueError(f"{wanted} a {type(values).__name__}; torch.tensor makes one of it")
    if not isinstance(values, Tensor):
        return logits.new_full(labels.shape, number(name, values, 0))
    if values.shape != (classes,) or not values.is_floating_point():
        raise ValueError(f"{wanted} {values.dtype} of shape {list(values.shape)}")
    index, _ = label_index(labels, ignore_index)
    return values.detach().to(logits).index_select(0, index.flatten()).view(labels.shape)


# --- sets of labels ----------------------------------------------------------------------------------------


def unified_loss(
    logits: Tensor,
    targets: Tensor,
    *,
    gamma: float = 1.0,
    margin: float = 0.0,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    r"""Every negative below every positive by a margin: one softplus over all pairs.

    log(1 + Σₙ Σₚ exp γ(sₙ − sₚ + m)).  One positive and m = 0 give cross-entropy, one positive AM-softmax,
    γ → ∞ gives γ times :func:`hard_unified_loss`.

    Args:
        logits: scores s of shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        gamma: scale γ ≥ 0.
        margin: margin m.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: shapes differ, a target has another value, or a parameter is out of range.

    Source: Sun et al., Circle Loss, 2020 (arXiv 2002.10857), eq. (1); for γ = 1, m = 0 it is the LSEP loss of
    Li, Song, Luo, Improving Pairwise Ranking for Multi-label Image Classification, CVPR 2017.

    >>> logits = torch.tensor([[2.0, 0.5, -1.0, 0.0]])
    >>> targets = torch.tensor([[1, 1, 0, -100]])
    >>> unified_loss(logits, targets)
    tensor(0.2413)
    """
    logits = class_scores(logits)
    used = check_multi_hot(logits, targets, ignore_index)
    gamma, margin = number("gamma", gamma, 0), number("margin", margin)
    weigh = _as_is if gamma == 1 else partial(_scaled, gamma)
    slopes, turn = partial(_constant, gamma, gamma), partial(_fast.turned, gamma)
    n, p = _log_sums(weigh, slopes, turn, logits, targets)
    return reduce(_softplus(_gap(n, p, gamma * margin)), used, reduction)


def circle_loss(
    similarities: Tensor,
    targets: Tensor,
    *,
    gamma: float = 256.0,
    margin: float = 0.25,
    positive_optimum: float | None = None,
    negative_optimum: float | None = None,
    positive_margin: float | None = None,
    negative_margin: float | None = None,
    detach_weights: bool = True,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    r"""The unified loss of scores that are weighted by how far they are from their optimum.

    log(1 + Σₙ exp γ αₙ(sₙ − Δₙ) · Σₚ exp(−γ αₚ(sₚ − Δₚ))) with αₙ = [sₙ − Oₙ]₊ and αₚ = [Oₚ − sₚ]₊.
    A score at its optimum or beyond has weight 0 and adds exp(0) = 1 to its sum, also at ±∞.

    Args:
        similarities: scores s of shape ``[..., C]``, cosines as a rule.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        gamma: scale γ ≥ 0.
        margin: m, from which the four next come unless given.
        positive_optimum: Oₚ = 1 + m.
        negative_optimum: Oₙ = −m.
        positive_margin: Δₚ = 1 − m.
        negative_margin: Δₙ = m.
        detach_weights: the weights α are constants to the gradient, as in the paper.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: shapes differ, a target has another value, or a parameter is out of range.

    Source: Sun et al., Circle Loss, 2020 (arXiv 2002.10857).

    >>> circle_loss(torch.tensor([[0.7, 0.5, 0.1]]), torch.tensor([[1, 0, 0]]), gamma=32)
    tensor(6.8815)
    """
    similarities = class_scores(similarities, "similarities")
    used = check_multi_hot(similarities, targets, ignore_index, "similarities")
    m = number("margin", margin)
    given = {
        "positive_optimum": (positive_optimum, 1 + m),
        "negative_optimum": (negative_optimum, -m),
        "positive_margin": (positive_margin, 1 - m),
        "negative_margin": (negative_margin, m),
    }
    o_p, o_n, d_p, d_n = (number(name, default if x is None else x) for name, (x, default) in given.items())
    circle = detach_weights, number("gamma", gamma, 0), o_p, o_n, d_p, d_n
    weigh, slopes = partial(_circle, *circle), partial(_circle_slopes, *circle)
    limits, slope_limits = partial(_circle_limits, weigh), partial(_circle_slope_limits, slopes)
    n, p = _log_sums(limits, slope_limits, partial(_fast.circle, *circle), similarities, targets)
    return reduce(_softplus(_gap(n, p)), used, reduction)


def multilabel_softmax_cross_entropy(
    logits: Tensor,
    targets: Tensor,
    *,
    normalize: bool = True,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    r"""Softmax cross-entropy with a multi-hot target.

    −(1/k) Σₚ log softmax(s)ₚ for k positives, or without 1/k; the softmax is over the classes not ignored.
    Its least value is log k (or k log k), reached when the positives share the probability evenly.

    Args:
        logits: scores s of shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        normalize: divide the target by its number of ones.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: shapes differ, or a target has another value.

    Source: ``F.cross_entropy`` with probabilities as targets; one positive is ordinary cross-entropy.

    >>> logits, targets = torch.tensor([[0.2, 0.5, 0.0, 0.0]]), torch.tensor([[1, 1, 0, 0]])
    >>> multilabel_softmax_cross_entropy(logits, targets)
    tensor(1.2331)
    >>> multilabel_softmax_cross_entropy(logits, targets, normalize=False)
    tensor(2.4662)
    """
    logits = class_scores(logits)
    used = check_multi_hot(logits, targets, ignore_index)
    positives, _ = multi_hot(targets)
    count = positives.sum(-1)
    # −log softmax(s)ᵢ is how far the negatives are above all positives, plus how far these are above sᵢ.
    n, top = _log_sums(_turned_up, partial(_constant, 1.0, -1.0), _fast.turned_up, logits, targets)
    above = _softplus(_gap(n, (-top).masked_fill(count == 0, -INF)))
    tied = logits.isinf() & (logits == top[..., None])
    share = tied.sum(-1, keepdim=True).to(logits.dtype).log()
    spread = torch.where(tied, share, top[..., None] - logits).where(positives, 0.0).sum(-1)
    spread = spread.where(count > 1, 0.0)  # one positive has none, nor a gradient that is 0 by cancellation
    losses = above + spread / count.clamp(min=1) if normalize else count * above + spread
    return reduce(losses, used, reduction)


def thresholded_loss(
    logits: Tensor,
    targets: Tensor,
    *,
    threshold: float | Tensor = 0.0,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    r"""Every negative below a threshold, every positive above it.

    log(eᵗ + Σₙ exp sₙ) + log(e⁻ᵗ + Σₚ exp(−sₚ)), which is softplus(n − t) + softplus(p + t).  One class gives
    binary cross-entropy.

    Args:
        logits: scores s of shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        threshold: t, a number, a scalar tensor, or a tensor of shape ``[...]``; a gradient flows into it.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: shapes do not fit, a target has another value, or the threshold is not finite.

    Source: Su et al., ZLPR, 2022 (arXiv 2208.02955), for t = 0.

    >>> logits = torch.tensor([[2.0, 0.5, -1.0, 0.0]])
    >>> targets = torch.tensor([[1, 1, 0, -100]])
    >>> thresholded_loss(logits, targets)
    tensor(0.8682)
    """
    logits = class_scores(logits)
    used = check_multi_hot(logits, targets, ignore_index)
    t = _threshold(threshold, logits)
    slopes, turn = partial(_constant, 1.0, 1.0), partial(_fast.turned, 1.0)
    n, p = _log_sums(_as_is, slopes, turn, logits, targets)
    return reduce(_softplus(n - t) + _softplus(p + t), used, reduction)


def _circle(
    detach: bool, gamma: float, o_p: float, o_n: float, d_p: float, d_n: float, s: Tensor
) -> tuple[Tensor, Tensor]:
    """γ α (s − Δ) on either side."""
    alpha_n, alpha_p = (s - o_n).relu_(), (o_p - s).relu_()
    if detach:
        alpha_n, alpha_p = alpha_n.detach(), alpha_p.detach()
    return (gamma * alpha_n).mul(s - d_n), (gamma * alpha_p).mul(s - d_p)


def _circle_slopes(
    detach: bool, gamma: float, o_p: float, o_n: float, d_p: float, d_n: float, s: Tensor
) -> tuple[Tensor, Tensor]:
    """γ α on either side, and what the weights add unless they are constants."""
    alpha_n, alpha_p = (s - o_n).relu_(), (o_p - s).relu_()
    if detach:
        return gamma * alpha_n.detach(), gamma * alpha_p.detach()
    return gamma * (alpha_n + (s - d_n) * (s > o_n)), gamma * (alpha_p - (s - d_p) * (s < o_p))


def _circle_limits(weigh: Weigh, s: Tensor) -> tuple[Tensor, Tensor]:
    """At ±∞ what is right is 0, and what is wrong is infinite."""
    finite = s.isfinite()
    z_n, z_p = weigh(s.where(finite, 0.0))
    return torch.where(finite, z_n, s.relu()), torch.where(finite, z_p, -(-s).relu())


def _circle_slope_limits(slopes: Weigh, s: Tensor) -> tuple[Tensor, Tensor]:
    """At ±∞ what is right has slope 0, what is wrong slope 1 (in place of ∞, which times 0 would be NaN)."""
    finite = s.isfinite()
    slope_n, slope_p = slopes(s)
    return torch.where(finite, slope_n, s > 0), torch.where(finite, slope_p, s < 0)


def _threshold(threshold: float | Tensor, logits: Tensor) -> Tensor:
    if not isinstance(threshold, Tensor):
        return _scalar(number("threshold", threshold), logits)
    if threshold.shape not in ((), logits.shape[:-1]) or not threshold.is_floating_point():
        raise ValueError(
            f"threshold must be a number, or a floating-point tensor of shape [] or "
            f"{list(logits.shape[:-1])} (the logits without the class dimension), got "
            f"{threshold.dtype} of shape {list(threshold.shape)}"
        )
    return threshold.to(logits.dtype)


# --- hard forms: max for log-sum-exp, [·]₊ for softplus ----------------------------------------------------


def hard_cross_entropy(
    logits: Tensor, labels: Tensor, *, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    r"""How far the best wrong class is above the right one: what cross-entropy becomes with max.

    [max_{j≠y} s_j − s_y]₊; cross-entropy exceeds it by at most log C.

    Args:
        logits: scores s of shape ``[..., C]``.
        labels: class indices y of shape ``[...]``, any integer dtype, or ``ignore_index``.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not ignored.

    Raises:
        ValueError: shapes do not fit, or a label is out of range.

    Source: the multi-class hinge of Crammer and Singer, 2001, without its margin.

    >>> logits, labels = torch.tensor([[2.0, 0.0, 3.0], [0.0, 1.0, 0.5]]), torch.tensor([0, 1])
    >>> hard_cross_entropy(logits, labels, reduction="none")
    tensor([1., 0.])
    """
    logits = class_scores(logits)
    labels, used = check_labels(logits, labels, ignore_index)
    logits = logits.where(used[..., None], 0.0)  # the slope of a maximum over NaN is NaN
    n, p = _label_sides(torch.amax, ignore_index, logits, labels)
    return reduce(_positive_part(_gap(n, p)), used, reduction)


def hard_unified_loss(
    logits: Tensor,
    targets: Tensor,
    *,
    margin: float = 0.0,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    r"""How far the highest negative is above the lowest positive, with a margin.

    [max sₙ − min sₚ + m]₊; :func:`unified_loss` at γ = 1 exceeds it by at most ``log(1 + |N||P|)``.

    Args:
        logits: scores s of shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        margin: margin m.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: shapes differ, a target has another value, or the margin is not finite.

    Source: Sun et al., Circle Loss, 2020 (arXiv 2002.10857): the triplet loss with hard mining, its γ → ∞.

    >>> hard_unified_loss(torch.tensor([[2.0, 0.5, 1.0]]), torch.tensor([[1, 1, 0]]), margin=0.25)
    tensor(0.7500)
    """
    logits = class_scores(logits)
    used = check_multi_hot(logits, targets, ignore_index)
    n, p = _two_sides(torch.amax, _as_is, logits, targets)
    return reduce(_positive_part(_gap(n, p, number("margin", margin))), used, reduction)


def hard_thresholded_loss(
    logits: Tensor,
    targets: Tensor,
    *,
    threshold: float | Tensor = 0.0,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    r"""How far the highest negative is above the threshold, and the lowest positive below it.

    [max sₙ − t]₊ + [t − min sₚ]₊; :func:`thresholded_loss` exceeds it by at most
    ``log(1 + |N|) + log(1 + |P|)``.

    Args:
        logits: scores s of shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        threshold: t, a number, a scalar tensor, or a tensor of shape ``[...]``; a gradient flows into it.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: shapes do not fit, a target has another value, or the threshold is not finite.

    Source: the limit of Su et al., ZLPR, 2022 (arXiv 2208.02955), for sharp scores.

    >>> hard_thresholded_loss(torch.tensor([[2.0, -0.5, 1.0]]), torch.tensor([[1, 1, 0]]))
    tensor(1.5000)
    """
    logits = class_scores(logits)
    used = check_multi_hot(logits, targets, ignore_index)
    t = _threshold(threshold, logits)
    n, p = _two_sides(torch.amax, _as_is, logits, targets)
    return reduce(_positive_part(n - t) + _positive_part(p + t), used, reduction)


# --- targets -----------------------------------------------------------------------------------------------


def from_signed(targets: Tensor, ignore_index: int = -100) -> Tensor:
    """Targets +1/−1/0 (positive, negative, ignored) as 1/0/``ignore_index``.

    The shape and, for signed integers and floating point, the dtype stay.

    Raises:
        ValueError: the dtype holds no negative numbers, a value is not +1, −1 or 0, or ``ignore_index`` is
            0 or 1.

    >>> from_signed(torch.tensor([1, -1, 0]))
    tensor([   1,    0, -100])
    """
    check_ignore_index(ignore_index)
    if targets.dtype == torch.bool or not targets.dtype.is_signed:
        raise ValueError(f"targets must be of a signed dtype to hold −1, got {targets.dtype}")
    bad = first_bad((targets == 1) | (targets == -1) | (targets == 0), targets)
    if bad is not None:
        raise ValueError(f"targets must be +1 (positive), −1 (negative) or 0 (ignored), got {bad}")
    return torch.where(targets == 0, ignore_index, targets == 1).to(targets.dtype)
