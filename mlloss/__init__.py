"""Classification losses in PyTorch, from a single sigmoid to many labels with a threshold."""

from mlloss.device import default_device
from mlloss.functional import (
    from_signed,
    hard_cross_entropy,
    hard_thresholded_loss,
    hard_unified_loss,
    sigmoid_focal_loss,
    softmax_focal_loss,
    thresholded_loss,
    unified_loss,
)

__all__ = [
    "default_device",
    "from_signed",
    "hard_cross_entropy",
    "hard_thresholded_loss",
    "hard_unified_loss",
    "sigmoid_focal_loss",
    "softmax_focal_loss",
    "thresholded_loss",
    "unified_loss",
]
