"""The losses of :mod:`mlloss.functional` as modules: the same keywords, kept; tensors are buffers.

>>> import torch
>>> loss = UnifiedLoss(gamma=2.0, margin=0.1)
>>> loss
UnifiedLoss(gamma=2.0, margin=0.1, ignore_index=-100, reduction='mean')
>>> loss(torch.tensor([[2.0, 0.5, -1.0]]), torch.tensor([[1, 1, 0]]))
tensor(0.0619)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from mlloss import functional
from mlloss._checks import number

__all__ = [
    "CircleLoss",
    "MultilabelSoftmaxCrossEntropy",
    "SigmoidFocalLoss",
    "SoftmaxFocalLoss",
    "ThresholdedLoss",
    "UnifiedLoss",
]


class _Loss(nn.Module):
    """Calls a loss function with the keywords it was made with, which are its attributes."""

    function: Callable[..., Tensor]

    def __init__(self, **keywords: Any) -> None:
        super().__init__()
        self.keywords = tuple(keywords)
        for name, value in keywords.items():
            if isinstance(value, Tensor) and not isinstance(value, nn.Parameter):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        return self.function(logits, targets, **{name: getattr(self, name) for name in self.keywords})

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={_shown(getattr(self, name))}" for name in self.keywords)


def _shown(value: Any) -> str:
    if isinstance(value, Tensor):
        seen = value.ndim == 0 and not value.is_meta
        return f"{value.item():g}" if seen else f"tensor of shape {list(value.shape)}"
    return repr(value)


class SigmoidFocalLoss(_Loss):
    """:func:`mlloss.sigmoid_focal_loss` as a module."""

    function = staticmethod(functional.sigmoid_focal_loss)

    def __init__(
        self,
        *,
        alpha: float | None = 0.25,
        gamma: float = 2.0,
        reduction: str = "mean",
        ignore_index: int = -100,
    ) -> None:
        super().__init__(alpha=alpha, gamma=gamma, reduction=reduction, ignore_index=ignore_index)


class SoftmaxFocalLoss(_Loss):
    """:func:`mlloss.softmax_focal_loss` as a module; ``alpha`` and a tensor ``gamma`` are buffers."""

    function = staticmethod(functional.softmax_focal_loss)

    def __init__(
        self,
        *,
        alpha: Tensor | None = None,
        gamma: float | Tensor = 2.0,
        ignore_index: int = -100,
        reduction: str = "mean",
    ) -> None:
        super().__init__(alpha=alpha, gamma=gamma, ignore_index=ignore_index, reduction=reduction)


class MultilabelSoftmaxCrossEntropy(_Loss):
    """:func:`mlloss.multilabel_softmax_cross_entropy` as a module."""

    function = staticmethod(functional.multilabel_softmax_cross_entropy)

    def __init__(self, *, normalize: bool = True, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(normalize=normalize, ignore_index=ignore_index, reduction=reduction)


class UnifiedLoss(_Loss):
    """:func:`mlloss.unified_loss` as a module."""

    function = staticmethod(functional.unified_loss)

    def __init__(
        self, *, gamma: float = 1.0, margin: float = 0.0, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        super().__init__(gamma=gamma, margin=margin, ignore_index=ignore_index, reduction=reduction)


class CircleLoss(_Loss):
    """:func:`mlloss.circle_loss` as a module."""

    function = staticmethod(functional.circle_loss)

    def __init__(
        self,
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
    ) -> None:
        super().__init__(
            gamma=gamma,
            margin=margin,
            positive_optimum=positive_optimum,
            negative_optimum=negative_optimum,
            positive_margin=positive_margin,
            negative_margin=negative_margin,
            detach_weights=detach_weights,
            ignore_index=ignore_index,
            reduction=reduction,
        )


class ThresholdedLoss(_Loss):
    """:func:`mlloss.thresholded_loss` as a module; with ``learn_threshold`` the threshold is a parameter.

    >>> [name for name, _ in ThresholdedLoss(learn_threshold=True).named_parameters()]
    ['threshold']
    """

    function = staticmethod(functional.thresholded_loss)

    def __init__(
        self,
        *,
        threshold: float | Tensor = 0.0,
        learn_threshold: bool = False,
        ignore_index: int = -100,
        reduction: str = "mean",
    ) -> None:
        if learn_threshold:
            start = threshold if isinstance(threshold, Tensor) else number("threshold", threshold)
            start = torch.as_tensor(start, dtype=torch.get_default_dtype())
            if start.ndim:
                raise ValueError(f"a learned threshold must be a scalar, got shape {list(start.shape)}")
            threshold = nn.Parameter(start.detach().clone())
        super().__init__(threshold=threshold, ignore_index=ignore_index, reduction=reduction)
