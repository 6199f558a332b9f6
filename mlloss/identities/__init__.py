"""Every labelled equation of the book, checked: one module a chapter.

>>> sorted(CHECKS)[0]
'bce'
>>> CHECKS["softplus-bound"].run()
"""

from mlloss.identities import (
    circle,
    contrastive,
    cross_entropy,
    hard_form,
    imbalance,
    label_sets,
    one_sigmoid_per_label,
    pytorch,
    sigmoid,
    softmax,
    softmax_many_ones,
    threshold,
    training_lab,
    two_roads,
    unified,
)
from mlloss.identities.registry import CHECKS, Check, check

__all__ = [
    "CHECKS",
    "Check",
    "check",
    "circle",
    "contrastive",
    "cross_entropy",
    "hard_form",
    "imbalance",
    "label_sets",
    "one_sigmoid_per_label",
    "pytorch",
    "sigmoid",
    "softmax",
    "softmax_many_ones",
    "threshold",
    "training_lab",
    "two_roads",
    "unified",
]
