"""How good predictions are: measures of label sets and of rankings, one number a sample, then their mean.

A prediction is a bool tensor, from :func:`predict` (scores above a threshold) or :func:`top_k`.  With Y the
positives of a sample and Z what is predicted, the measures of sets are functions of |Y ∩ Z|, |Y \\ Z| and
|Z \\ Y|; those of rankings count, for every positive, the positives and the negatives that score as high.
Ignored entries do not exist, wholly ignored samples are left out of a mean (and are 0 without one).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from mlloss._checks import INF, check_multi_hot, class_scores, multi_hot, number, reduce

__all__ = [
    "coverage_error",
    "exact_match_ratio",
    "f1",
    "hamming_loss",
    "jaccard",
    "label_ranking_average_precision",
    "precision",
    "predict",
    "ranking_loss",
    "recall",
    "top_k",
]


# --- predictions -------------------------------------------------------------------------------------------


def predict(logits: Tensor, threshold: float | Tensor = 0.0) -> Tensor:
    """The classes that score above the threshold, as a bool tensor.

    Args:
        logits: scores of shape ``[..., C]``.
        threshold: a number, a scalar tensor, a ``[C]`` tensor (one a class) or a ``[..., 1]`` tensor (one a
            sample).

    Raises:
        ValueError: the threshold has another shape or is not finite.

    >>> predict(torch.tensor([[2.0, -1.0, 0.0]]))
    tensor([[ True, False, False]])
    """
    logits = class_scores(logits)
    if not isinstance(threshold, Tensor):
        return logits > number("threshold", threshold)
    shapes = (), logits.shape[-1:], (*logits.shape[:-1], 1)
    if threshold.shape not in shapes:
        raise ValueError(
            f"threshold must be a number or a tensor of one of the shapes "
            f"{[list(shape) for shape in shapes]}, got shape {list(threshold.shape)}"
        )
    return logits > threshold


def top_k(logits: Tensor, k: int) -> Tensor:
    """The k classes that score highest, as a bool tensor; of equal scores the first, NaN last.

    Raises:
        ValueError: k is not in 0..C.

    >>> top_k(torch.tensor([[2.0, -1.0, 0.0]]), 2)
    tensor([[ True, False,  True]])
    """
    logits = class_scores(logits)
    if not 0 <= k <= logits.shape[-1]:
        raise ValueError(f"k must be in 0..{logits.shape[-1]}, the number of classes, got {k}")
    order = (-logits).argsort(dim=-1, stable=True)[..., :k]  # ascending order has NaN last
    return torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, True)


# --- sets of labels ----------------------------------------------------------------------------------------


class _Counts(NamedTuple):
    hits: Tensor  # |Y ∩ Z|
    misses: Tensor  # |Y \ Z|
    false_alarms: Tensor  # |Z \ Y|
    entries: Tensor  # not ignored
    used: Tensor  # samples with such entries


def _counts(predictions: Tensor, targets: Tensor, ignore_index: int) -> _Counts:
    if predictions.dtype != torch.bool:
        raise ValueError(
            f"predictions must be a bool tensor, got {predictions.dtype}; mlloss.predict(scores) or "
            f"mlloss.top_k(scores, k) makes one of scores"
        )
    if predictions.ndim == 0 or predictions.shape[-1] == 0:
        raise ValueError(f"predictions must have shape [..., C] with C ≥ 1, got {list(predictions.shape)}")
    check_multi_hot(predictions, targets, ignore_index, "predictions")
    positives, negatives = multi_hot(targets)
    dtype = torch.float32 if predictions.device.type == "mps" else torch.float64  # MPS has no float64
    sets = positives & predictions, positives & ~predictions, negatives & predictions, positives | negatives
    hits, misses, false_alarms, entries = (x.sum(-1).to(dtype) for x in sets)
    return _Counts(hits, misses, false_alarms, entries, entries > 0)


def _ratio(part: Tensor, whole: Tensor, used: Tensor, zero_division: float) -> Tensor:
    """part / whole; ``zero_division`` for 0 / 0; 0 where nothing is used."""
    return torch.where(whole == 0, zero_division, part / whole).where(used, 0.0)


def exact_match_ratio(
    predictions: Tensor, targets: Tensor, *, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """1 where the predicted set is the true one, else 0: subset accuracy.

    Args:
        predictions: a bool tensor of shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: predictions are not bool, shapes differ, or a target has another value.

    Source: Zhang and Zhou, IEEE TKDE 26(8), 2014 (subset accuracy).

    >>> exact_match_ratio(torch.tensor([[True, False], [True, True]]), torch.tensor([[1, 0], [1, 0]]))
    tensor(0.5000, dtype=torch.float64)
    """
    counts = _counts(predictions, targets, ignore_index)
    exact = (counts.misses + counts.false_alarms == 0) & counts.used
    return reduce(exact.to(counts.hits.dtype), counts.used, reduction)


def hamming_loss(
    predictions: Tensor, targets: Tensor, *, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """The share of entries that are wrong: ``|Y △ Z| / C``.

    Args:
        predictions: a bool tensor of shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: predictions are not bool, shapes differ, or a target has another value.

    Source: Schapire and Singer, Machine Learning 39, 2000.

    >>> hamming_loss(torch.tensor([[True, False], [True, True]]), torch.tensor([[1, 0], [1, 0]]))
    tensor(0.2500, dtype=torch.float64)
    """
    counts = _counts(predictions, targets, ignore_index)
    wrong = counts.misses + counts.false_alarms
    return reduce(wrong / counts.entries.clamp(min=1), counts.used, reduction)


def jaccard(
    predictions: Tensor,
    targets: Tensor,
    *,
    ignore_index: int = -100,
    zero_division: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """``|Y ∩ Z| / |Y ∪ Z|``, the "accuracy" of the multi-label literature.

    Args:
        predictions: a bool tensor of shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        zero_division: the value where both sets are empty.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: predictions are not bool, shapes differ, or a target has another value.

    Source: Godbole and Sarawagi, PAKDD 2004.

    >>> jaccard(torch.tensor([[True, False], [True, True]]), torch.tensor([[1, 0], [1, 0]]))
    tensor(0.7500, dtype=torch.float64)
    """
    hits, misses, false_alarms, _, used = _counts(predictions, targets, ignore_index)
    return reduce(_ratio(hits, hits + misses + false_alarms, used, zero_division), used, reduction)


def precision(
    predictions: Tensor,
    targets: Tensor,
    *,
    ignore_index: int = -100,
    zero_division: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """``|Y ∩ Z| / |Z|``: the share of predicted labels that are right.

    Args:
        predictions: a bool tensor of shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        zero_division: the value where nothing is predicted.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: predictions are not bool, shapes differ, or a target has another value.

    Source: Godbole and Sarawagi, PAKDD 2004.

    >>> precision(torch.tensor([[True, False], [True, True]]), torch.tensor([[1, 1], [1, 0]]))
    tensor(0.7500, dtype=torch.float64)
    """
    hits, _, false_alarms, _, used = _counts(predictions, targets, ignore_index)
    return reduce(_ratio(hits, hits + false_alarms, used, zero_division), used, reduction)


def recall(
    predictions: Tensor,
    targets: Tensor,
    *,
    ignore_index: int = -100,
    zero_division: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """``|Y ∩ Z| / |Y|``: the share of true labels that are found.

    Args:
        predictions: a bool tensor of shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        zero_division: the value where nothing is true.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: predictions are not bool, shapes differ, or a target has another value.

    Source: Godbole and Sarawagi, PAKDD 2004.

    >>> recall(torch.tensor([[True, False], [True, True]]), torch.tensor([[1, 1], [1, 0]]))
    tensor(0.7500, dtype=torch.float64)
    """
    hits, misses, _, _, used = _counts(predictions, targets, ignore_index)
    return reduce(_ratio(hits, hits + misses, used, zero_division), used, reduction)


def f1(
    predictions: Tensor,
    targets: Tensor,
    *,
    ignore_index: int = -100,
    zero_division: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """``2 |Y ∩ Z| / (|Y| + |Z|)``, of each sample (not of averaged precision and recall).

    Args:
        predictions: a bool tensor of shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        zero_division: the value where both sets are empty.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: predictions are not bool, shapes differ, or a target has another value.

    Source: Godbole and Sarawagi, PAKDD 2004.

    >>> f1(torch.tensor([[True, False], [True, True]]), torch.tensor([[1, 0], [1, 0]]))
    tensor(0.8333, dtype=torch.float64)
    """
    hits, misses, false_alarms, _, used = _counts(predictions, targets, ignore_index)
    return reduce(_ratio(2 * hits, 2 * hits + misses + false_alarms, used, zero_division), used, reduction)


# --- rankings ----------------------------------------------------------------------------------------------


class _Ranks(NamedTuple):
    positives: Tensor  # the mask
    positives_above: Tensor  # of each entry: how many positives score as high or higher
    negatives_above: Tensor  # the same of negatives
    pairs: Tensor  # |P| · |N| of each sample
    bad: Tensor  # samples with NaN
    used: Tensor  # samples with entries that are not ignored


def _ranks(scores: Tensor, targets: Tensor, ignore_index: int) -> _Ranks:
    scores = class_scores(scores, "scores")
    check_multi_hot(scores, targets, ignore_index, "scores")
    positives, negatives = multi_hot(targets)
    entries = positives | negatives
    bad = (scores.isnan() & entries).any(-1)
    positives_above, negatives_above = (_as_high(scores, x).to(scores.dtype) for x in (positives, negatives))
    pairs = positives.sum(-1) * negatives.sum(-1)
    return _Ranks(positives, positives_above, negatives_above, pairs, bad, entries.any(-1))


def _as_high(scores: Tensor, side: Tensor) -> Tensor:
    """How many of a side score as high as each entry or higher."""
    ordered = scores.where(side, -INF).sort(-1).values
    lower = torch.searchsorted(ordered.contiguous(), scores.contiguous())
    return torch.minimum(scores.shape[-1] - lower, side.sum(-1, keepdim=True))  # −∞ stands for other entries


def _finish(measure: Tensor, ranks: _Ranks, reduction: str) -> Tensor:
    measure = measure.where(ranks.used, 0.0).masked_fill(ranks.bad, torch.nan)
    return reduce(measure, ranks.used, reduction)


def ranking_loss(
    scores: Tensor, targets: Tensor, *, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """The share of pairs of a positive and a negative where the negative scores as high or higher.

    Args:
        scores: shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: shapes differ, or a target has another value.

    0 where there are no pairs, as in scikit-learn.  Source: Tsoumakas, Katakis, Vlahavas, Mining Multi-label
    Data, 2010.

    >>> ranking_loss(torch.tensor([[2.0, 0.5, 1.0]]), torch.tensor([[1, 1, 0]]))
    tensor(0.5000)
    """
    ranks = _ranks(scores, targets, ignore_index)
    wrong = ranks.negatives_above.where(ranks.positives, 0.0).sum(-1)
    return _finish(wrong / ranks.pairs.clamp(min=1), ranks, reduction)


def coverage_error(
    scores: Tensor, targets: Tensor, *, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """How far down the ranking one must go to have found all positives.

    Args:
        scores: shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: shapes differ, or a target has another value.

    0 where there are no positives, as in scikit-learn.  Source: Tsoumakas, Katakis, Vlahavas, Mining
    Multi-label Data, 2010.

    >>> coverage_error(torch.tensor([[2.0, 0.5, 1.0]]), torch.tensor([[1, 1, 0]]))
    tensor(3.)
    """
    ranks = _ranks(scores, targets, ignore_index)
    depth = (ranks.positives_above + ranks.negatives_above).where(ranks.positives, 0.0).amax(-1)
    return _finish(depth, ranks, reduction)


def label_ranking_average_precision(
    scores: Tensor, targets: Tensor, *, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """Over the positives of a sample, the mean share of positives among what scores as high.

    Args:
        scores: shape ``[..., C]``.
        targets: the same shape: bool, or 1 (positive), 0 (negative) and ``ignore_index``.
        reduction: ``"none"`` (shape ``[...]``), ``"sum"``, or ``"mean"`` over the samples not wholly ignored.

    Raises:
        ValueError: shapes differ, or a target has another value.

    1 where all entries are positive, or none is, as in scikit-learn.  Source: Tsoumakas, Katakis, Vlahavas,
    Mining Multi-label Data, 2010.

    >>> label_ranking_average_precision(torch.tensor([[2.0, 0.5, 1.0]]), torch.tensor([[1, 1, 0]]))
    tensor(0.8333)
    """
    ranks = _ranks(scores, targets, ignore_index)
    shares = ranks.positives_above / (ranks.positives_above + ranks.negatives_above)
    count = ranks.positives.sum(-1)
    mean = shares.where(ranks.positives, 0.0).sum(-1) / count
    return _finish(mean.masked_fill(count == 0, 1.0), ranks, reduction)
