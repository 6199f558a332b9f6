"""What the losses and the metrics ask of their inputs, and how they reduce: with errors that help."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

INF = math.inf

Masks = tuple[Tensor, Tensor]  # of the positives and of the negatives, bool


def as_scores(logits: Tensor, name: str = "logits") -> Tensor:
    """The scores as they are computed with: half precision becomes float32."""
    if not logits.is_floating_point():
        raise ValueError(f"{name} must be floating point, got {logits.dtype}; convert with {name}.float()")
    return logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits


def class_scores(logits: Tensor, name: str = "logits") -> Tensor:
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"{name} must have shape [..., C] with C ≥ 1, got {list(logits.shape)}")
    return as_scores(logits, name)


def same_shape(scores: Tensor, targets: Tensor, name: str = "logits") -> None:
    if scores.shape != targets.shape:
        raise ValueError(
            f"targets must have the shape of {name}: {name} have {list(scores.shape)}, targets have "
            f"{list(targets.shape)}; nothing is broadcast, so expand, squeeze or transpose one of them"
        )
    if targets.is_complex():
        raise ValueError(f"targets must be bool, integer or floating point, got {targets.dtype}")


def first_bad(valid: Tensor, values: Tensor) -> float | int | None:
    """The first value that is not valid; None also where there are none to be seen (compile, vmap, meta)."""
    if torch.compiler.is_compiling() or values.is_meta or not values.numel():
        return None
    if _look(valid.view(torch.uint8).amin) == 0:  # many times as fast as all()
        return values[~valid].flatten()[0].item()
    return None


def is_hidden(values: Tensor) -> bool:
    """Whether ``vmap`` or a tracer hides the values, for which torch has no public question."""
    return _look(values.any) is None


def all_finite(values: Tensor) -> bool:
    """Whether all values, and their sum, are finite; False also where the values are hidden."""
    total = _look(values.sum)
    return total is not None and math.isfinite(total)


def _look(question: Callable[[], Tensor]) -> float | None:
    """The answer, or None where it is hidden."""
    try:
        return question().item()
    except RuntimeError as error:
        if any(word in str(error) for word in ("vmap", "Batching rule", "tracing tensor")):
            return None
        raise


def is_ignored(values: Tensor, ignore_index: int) -> Tensor:
    """values == ignore_index, where small integers do not wrap round (−100 is 156 for uint8)."""
    if not values.is_floating_point():
        limits = torch.iinfo(values.dtype)
        if not limits.min <= ignore_index <= limits.max:
            return torch.zeros_like(values, dtype=torch.bool)
    return values == ignore_index


def check_ignore_index(ignore_index: int) -> None:
    if ignore_index in (0, 1):
        raise ValueError(f"ignore_index must not be 0 (negative) or 1 (positive), got {ignore_index}")


def check_multi_hot(
    scores: Tensor, targets: Tensor, ignore_index: int, name: str = "logits"
) -> Tensor | None:
    """Check the targets of a set loss; which samples have an entry that is not ignored (None: all have)."""
    same_shape(scores, targets, name)
    if targets.dtype == torch.bool:
        return None
    check_ignore_index(ignore_index)
    used = (targets == 0) | (targets == 1)
    bad = first_bad(used | is_ignored(targets, ignore_index), targets)
    if bad is not None:
        raise ValueError(
            f"targets must be 1 (positive), 0 (negative) or {ignore_index} (ignored), got {bad}; "
            f"mlloss.from_signed(targets) converts +1/−1/0 targets"
        )
    return used.count_nonzero(-1) > 0  # several times as fast as any(-1)


def check_soft(targets: Tensor, ignore_index: int) -> Tensor | None:
    """Check elementwise targets; which are not ignored (None: all)."""
    if targets.dtype == torch.bool:
        return None
    check_ignore_index(ignore_index)
    used = ~is_ignored(targets, ignore_index)
    whole = not targets.is_floating_point()  # PyTorch does not order all kinds of integers
    inside = (targets == 0) | (targets == 1) if whole else (targets >= 0) & (targets <= 1)
    bad = first_bad(~used | inside, targets)
    if bad is not None:
        raise ValueError(
            f"targets must be in [0, 1] or {ignore_index} (ignored), got {bad}; "
            f"mlloss.from_signed(targets) converts +1/−1/0 targets"
        )
    return used


def check_labels(logits: Tensor, labels: Tensor, ignore_index: int) -> tuple[Tensor, Tensor]:
    """Check class indices; the indices as int64, and which samples are not ignored."""
    classes = logits.shape[-1]
    if logits.shape[:-1] != labels.shape:
        raise ValueError(
            f"labels must have the shape of the logits without the class dimension: logits have "
            f"{list(logits.shape)}, labels have {list(labels.shape)}"
        )
    if labels.dtype == torch.bool or labels.is_floating_point() or labels.is_complex():
        raise ValueError(
            f"labels must be integer class indices, got {labels.dtype}; convert with labels.long()"
        )
    labels = labels.long()
    ignored = labels == ignore_index
    bad = first_bad(ignored | ((labels >= 0) & (labels < classes)), labels)
    if bad is not None:
        raise ValueError(f"labels must be in 0..{classes - 1} or {ignore_index} (ignored), got {bad}")
    return labels, ~ignored


def multi_hot(targets: Tensor) -> Masks:
    return (targets, ~targets) if targets.dtype == torch.bool else (targets == 1, targets == 0)


def label_index(labels: Tensor, ignore_index: int) -> Masks:
    """Labels to gather and scatter with (0 where ignored), and which are ignored."""
    ignored = labels == ignore_index
    return labels.masked_fill(ignored, 0)[..., None], ignored


def number(name: str, value: float, low: float = -INF, high: float = INF) -> float:
    """The value, if it is a finite number between the limits."""
    if isinstance(value, Tensor) or not (low <= value <= high and abs(value) < INF):
        limits = "" if low == -INF else f" ≥ {low:g}" if high == INF else f" in [{low:g}, {high:g}]"
        raise ValueError(f"{name} must be a finite number{limits}, got {value}")
    return float(value)


def reduce(losses: Tensor, used: Tensor | None, reduction: str) -> Tensor:
    """``none``, ``sum``, or the mean over what is used (0 if nothing is); None: all is."""
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if reduction == "mean":
        count = max(1, losses.numel()) if used is None else used.count_nonzero().clamp(min=1)
        return losses.sum() / count
    raise ValueError(f"reduction must be 'none', 'mean' or 'sum', got {reduction!r}")
