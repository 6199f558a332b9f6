"""Every live figure of the book.

A figure is one function without arguments that returns a `LiveFigure`; its name is the function's with
hyphens. To add one: write the function in the module of its topic, with its expressions from
`mlloss.symbolic` and its twin from `torch` and `mlloss`, and list it in `REGISTRY`. The tests then compare
page and PyTorch for it.
"""

from collections.abc import Callable

from mlloss.figures.circle import circle_plane, self_paced_weights
from mlloss.figures.contrastive import embeddings_on_a_circle, one_anchor, temperature_of_negatives
from mlloss.figures.hard_form import (
    cross_entropy_and_hinge,
    logsumexp_and_max,
    softplus_and_relu,
    temperature,
)
from mlloss.figures.imbalance import best_answer, focal_loss, share_of_easy_examples
from mlloss.figures.lab import TrainingLab, collages, differences, hidden_labels, spread
from mlloss.figures.label_sets import (
    measures_over_thresholds,
    reliability,
    threshold_and_measures,
    tuned_thresholds,
    which_set_to_predict,
)
from mlloss.figures.one_sigmoid_per_label import balance_of_pulls, labels_on_and_off
from mlloss.figures.playground import playground, tug_of_war
from mlloss.figures.pytorch import digits_that_survive, speed_and_memory
from mlloss.figures.softmax import scores_and_probabilities, softmax_focal, two_scores
from mlloss.figures.softmax_many_ones import many_ones
from mlloss.figures.threshold import best_common_score, movable_threshold
from mlloss.figures.training import learning_curves
from mlloss.figures.two_classes import sigmoid_slope_and_log, squared_error_and_cross_entropy
from mlloss.figures.two_roads import compared_losses, what_the_cut_leaves
from mlloss.figures.unified import pairs_on_a_line, scale_and_margin
from mlloss.live import LiveFigure

REGISTRY: dict[str, Callable[[], LiveFigure]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        tug_of_war,
        playground,
        sigmoid_slope_and_log,
        squared_error_and_cross_entropy,
        share_of_easy_examples,
        best_answer,
        focal_loss,
        scores_and_probabilities,
        two_scores,
        softmax_focal,
        logsumexp_and_max,
        softplus_and_relu,
        cross_entropy_and_hinge,
        temperature,
        labels_on_and_off,
        balance_of_pulls,
        many_ones,
        threshold_and_measures,
        which_set_to_predict,
        pairs_on_a_line,
        scale_and_margin,
        circle_plane,
        self_paced_weights,
        digits_that_survive,
        one_anchor,
        temperature_of_negatives,
        movable_threshold,
        best_common_score,
        what_the_cut_leaves,
    )
}

__all__ = [
    "REGISTRY",
    "TrainingLab",
    "balance_of_pulls",
    "best_answer",
    "best_common_score",
    "circle_plane",
    "collages",
    "compared_losses",
    "cross_entropy_and_hinge",
    "differences",
    "digits_that_survive",
    "embeddings_on_a_circle",
    "focal_loss",
    "hidden_labels",
    "labels_on_and_off",
    "learning_curves",
    "logsumexp_and_max",
    "many_ones",
    "measures_over_thresholds",
    "movable_threshold",
    "one_anchor",
    "pairs_on_a_line",
    "playground",
    "reliability",
    "scale_and_margin",
    "scores_and_probabilities",
    "self_paced_weights",
    "share_of_easy_examples",
    "sigmoid_slope_and_log",
    "softmax_focal",
    "softplus_and_relu",
    "speed_and_memory",
    "spread",
    "squared_error_and_cross_entropy",
    "temperature",
    "temperature_of_negatives",
    "threshold_and_measures",
    "tug_of_war",
    "tuned_thresholds",
    "two_scores",
    "what_the_cut_leaves",
    "which_set_to_predict",
]
