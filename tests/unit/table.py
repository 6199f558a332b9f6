"""The losses and the extreme cases that all unit tests share: a new loss is one row in LOSSES.

A case is a list of scores and a word that says what each class is: P positive, N negative, i ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import mpmath
import pytest
import sympy
import torch
from torch import Tensor

import mlloss
from mlloss import symbolic
from tests import pretend

INF, NAN = math.inf, math.nan
REAL_DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
DEVICES = [*REAL_DEVICES, pretend.NAME]
on_the_cpu = pytest.mark.parametrize("device", ["cpu"], indirect=True)
on_real_devices = pytest.mark.parametrize("device", REAL_DEVICES, indirect=True)  # compilers know no other


@dataclass(frozen=True)
class Loss:
    """A loss, and the same as an expression in the scores of a case."""

    name: str
    call: Callable[..., Tensor]
    kind: str  # what its targets are: "sets", "labels" or "elements"
    expression: Callable[[Sequence[sympy.Symbol], str], sympy.Expr]
    scale: float = 1.0  # how steep it is: what an error of a score is multiplied by
    smooth: bool = True
    absolute: float = 0.0  # error of a gradient that is a difference of shares
    weigh: Callable[[Sequence[Any], str], tuple[list, list]] | None = None  # weights that are constants

    def takes(self, word: str) -> bool:
        """Whether the case makes sense: labels have one positive, or are ignored as a whole."""
        return self.kind != "labels" or (word.count("P") == 1 and "i" not in word) or set(word) == {"i"}

    def targets(self, words: str | Sequence[str]) -> Tensor:
        if not isinstance(words, str):
            return torch.stack([self.targets(word) for word in words])
        if self.kind == "labels":
            return torch.tensor(word_label(words))
        return torch.tensor([{"P": 1, "N": 0, "i": -100}[letter] for letter in words])

    def __call__(self, scores: Tensor, words: str | Sequence[str], reduction: str = "none") -> Tensor:
        return self.call(scores, self.targets(words).to(scores.device), reduction=reduction)


def normal(*shape: int, seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Normal random numbers, the same on every device."""
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randn(shape, generator=generator, dtype=dtype, device="cpu")
    return numbers.to(torch.get_default_device())


def word_label(word: str) -> int:
    return word.index("P") if "P" in word else -100


def pick(s: Sequence, word: str) -> tuple[list, list]:
    """The scores of the negatives and of the positives."""
    return [x for x, w in zip(s, word, strict=True) if w == "N"], [
        x for x, w in zip(s, word, strict=True) if w == "P"
    ]


def of_sets(build: Callable, **keywords: Any) -> Callable:
    return lambda s, word: build(*pick(s, word), **keywords)


def of_labels(build: Callable, **keywords: Any) -> Callable:
    return lambda s, word: build(s, word_label(word), **keywords) if "P" in word else sympy.S.Zero


def of_elements(build: Callable, **keywords: Any) -> Callable:
    return lambda s, word: sum(
        (build(x, int(w == "P"), **keywords) for x, w in zip(s, word, strict=True) if w != "i"), sympy.S.Zero
    )


def hard(build: Callable, **keywords: Any) -> Callable:
    """A maximum over nothing makes the hard forms of a gap 0."""

    def expression(s: Sequence, word: str) -> sympy.Expr:
        negatives, positives = pick(s, word)
        return build(negatives, positives, **keywords) if negatives and positives else sympy.S.Zero

    return expression


def sum_of_elements(call: Callable, **keywords: Any) -> Callable:
    """An elementwise loss, summed over the last dimension, so that it is a number a sample as the others."""

    def summed(scores: Tensor, targets: Tensor, reduction: str) -> Tensor:
        losses = call(scores, targets, reduction="none" if reduction == "none" else reduction, **keywords)
        return losses.sum(-1) if reduction == "none" else losses

    return summed


def circle_weights(s: Sequence[Any], word: str) -> tuple[list, list]:
    negatives, positives = pick(s, word)
    return [max(0, x + 0.25) for x in negatives], [max(0, 1.25 - x) for x in positives]


def symbols_for(weights: Sequence, name: str) -> list[sympy.Symbol]:
    return list(sympy.symbols(f"{name}0:{len(weights)}"))


def circle(s: Sequence, word: str) -> sympy.Expr:
    negatives, positives = pick(s, word)
    return symbolic.circle_loss(
        negatives,
        positives,
        gamma=8,
        negative_weights=symbols_for(negatives, "alpha_n"),
        positive_weights=symbols_for(positives, "alpha_p"),
    )


ALPHA = torch.tensor([0.2, 0.7, 1.5, 0.0, 1.0, 0.4], dtype=torch.float64)
GAMMA = torch.tensor([2.0, 0.0, 0.5, 1.0, 3.0, 2.0], dtype=torch.float64)


def per_class(scores: Tensor, labels: Tensor, **keywords: Any) -> Tensor:
    classes = scores.shape[-1]
    alpha, gamma = (x[:classes].to(scores.device) for x in (ALPHA, GAMMA))
    return mlloss.softmax_focal_loss(scores, labels, alpha=alpha, gamma=gamma, **keywords)


def per_class_expression(s: Sequence, word: str) -> sympy.Expr:
    if "P" not in word:
        return sympy.S.Zero
    y = word_label(word)
    return symbolic.softmax_focal_loss(
        s, y, alpha=sympy.Float(ALPHA[y].item(), 60), gamma=sympy.Rational(GAMMA[y].item())
    )


half, quarter = sympy.Rational(1, 2), sympy.Rational(1, 4)

LOSSES = [
    Loss(
        "binary cross-entropy",
        sum_of_elements(mlloss.sigmoid_focal_loss, alpha=None, gamma=0),
        "elements",
        of_elements(symbolic.binary_cross_entropy),
    ),
    Loss(
        "sigmoid focal",
        sum_of_elements(mlloss.sigmoid_focal_loss),
        "elements",
        of_elements(symbolic.sigmoid_focal_loss, alpha=quarter),
    ),
    Loss(
        "sigmoid focal, γ = ½",
        sum_of_elements(mlloss.sigmoid_focal_loss, alpha=None, gamma=0.5),
        "elements",
        of_elements(symbolic.sigmoid_focal_loss, gamma=half),
    ),
    Loss(
        "cross-entropy",
        partial(mlloss.softmax_focal_loss, gamma=0),
        "labels",
        of_labels(symbolic.cross_entropy),
    ),
    Loss("softmax focal", mlloss.softmax_focal_loss, "labels", of_labels(symbolic.softmax_focal_loss)),
    Loss("softmax focal, per class", per_class, "labels", per_class_expression),
    Loss(
        "multi-hot softmax",
        mlloss.multilabel_softmax_cross_entropy,
        "sets",
        of_sets(symbolic.multilabel_softmax_cross_entropy),
        absolute=1e-16,
    ),
    Loss(
        "multi-hot softmax, a sum",
        partial(mlloss.multilabel_softmax_cross_entropy, normalize=False),
        "sets",
        of_sets(symbolic.multilabel_softmax_cross_entropy, normalize=False),
        absolute=1e-16,
    ),
    Loss("unified", mlloss.unified_loss, "sets", of_sets(symbolic.unified_loss)),
    Loss(
        "unified, γ = 8, m = ¼",
        partial(mlloss.unified_loss, gamma=8, margin=0.25),
        "sets",
        of_sets(symbolic.unified_loss, gamma=8, margin=quarter),
        scale=8,
    ),
    Loss("circle", partial(mlloss.circle_loss, gamma=8), "sets", circle, scale=8, weigh=circle_weights),
    Loss("thresholded", mlloss.thresholded_loss, "sets", of_sets(symbolic.thresholded_loss)),
    Loss(
        "thresholded, t = ½",
        partial(mlloss.thresholded_loss, threshold=0.5),
        "sets",
        of_sets(symbolic.thresholded_loss, threshold=half),
    ),
    Loss(
        "hard cross-entropy",
        mlloss.hard_cross_entropy,
        "labels",
        of_labels(symbolic.hard_cross_entropy),
        smooth=False,
    ),
    Loss("hard unified", mlloss.hard_unified_loss, "sets", hard(symbolic.hard_unified_loss), smooth=False),
    Loss(
        "hard thresholded",
        mlloss.hard_thresholded_loss,
        "sets",
        of_sets(symbolic.hard_thresholded_loss),
        smooth=False,
    ),
]

SMOOTH = [loss for loss in LOSSES if loss.smooth]

# name → scores, what they are
CASES = {
    "ordinary": ([1.5, -0.5, 0.3, 2.0], "PNNP"),
    "wrong order": ([-1.0, 2.0, 0.5, -0.25], "PNNP"),
    "one label": ([1.5, -0.5, 0.3, 2.0], "NPNN"),
    "equal scores": ([0.0, 0.0, 0.0, 0.0], "PNNN"),
    "no positive": ([1.5, -0.5, 2.0], "NNN"),
    "no negative": ([1.5, -0.5, 2.0], "PPP"),
    "nothing": ([1.5, -0.5, 2.0], "iii"),
    "one class, positive": ([0.3], "P"),
    "one class, negative": ([0.3], "N"),
    "one class, ignored": ([0.3], "i"),
    "large and right": ([1e4, -1e4, -1e3], "PNN"),
    "large and wrong": ([-1e4, 1e4, 1e3], "PNN"),
    "large and right by a hair": ([1e4, 1e4 - 1, -1e3], "PNN"),
    "far down": ([-1e4, -1e4 - 40, -2e4], "PNN"),
    "sides far apart": ([1e3, 2e3, 3e3, -4e3], "PPNN"),
    "negatives far down": ([0.5, -1e3, -2e3], "PNN"),
    "the positive far up": ([1e3, 0.5, 0.25], "PNN"),
    "a sum beyond the largest number": ([709.6, 709.5, 0.25], "NNP"),
    "so on the other side": ([-709.6, -709.5, 0.25], "PPN"),
    "sure": ([40.0, 0.0, -1.0], "PNN"),
    "very sure": ([400.0, -400.0], "PN"),
    "ignored NaN": ([NAN, 0.5, -1.0], "iPN"),
    "ignored infinities": ([INF, -INF, 0.5, -1.0], "iiPN"),
    "ignored NaN and an empty side": ([NAN, 0.5, -1.0], "iNN"),
    "nothing but NaN": ([NAN, NAN], "ii"),
    "a negative at −∞": ([-INF, 0.5, -1.0], "NPN"),
    "all negatives at −∞": ([-INF, -INF, 0.5], "NNP"),
    "a positive at +∞": ([INF, 0.5, -1.0], "PPN"),
    "the positive at +∞": ([INF, 0.5, -1.0], "PNN"),
    "a negative at +∞": ([INF, 0.5, -1.0], "NPN"),
    "two negatives at +∞": ([INF, INF, -1.0], "NNP"),
    "a positive at −∞": ([-INF, 0.5, -1.0], "PPN"),
    "the positive at −∞": ([-INF, 0.5, -1.0], "PNN"),
    "all wrong": ([INF, -INF], "NP"),
    "all right": ([-INF, INF], "NP"),
    "alone at −∞, negative": ([-INF], "N"),
    "alone at −∞, positive": ([-INF], "P"),
    "alone at +∞, negative": ([INF], "N"),
    "alone at +∞, positive": ([INF], "P"),
    "far up but for one at −∞": ([-INF, -INF, 700.0, -700.0], "NPNP"),
}

# The limit depends on which score is quicker; what is dropped first decides.
TIES = {
    "both at −∞": ([-INF, -INF], "NP"),
    "both at +∞": ([INF, INF], "NP"),
    "two positives at +∞": ([INF, INF, 0.0], "PPN"),
    "only positives, at −∞": ([-INF, -INF], "PP"),
}


def pairs(losses: Sequence[Loss], cases: dict[str, Any]) -> pytest.MarkDecorator:
    """All losses with all cases that they take."""
    return pytest.mark.parametrize(
        ("loss", "scores", "word"),
        [
            pytest.param(loss, *case, id=f"{loss.name}: {name}")
            for loss in losses
            for name, case in cases.items()
            if loss.takes(case[1])
        ],
    )


def each(losses: Sequence[Loss]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("loss", losses, ids=lambda loss: loss.name)


@cache
def forms(name: str, word: str) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """The expression of a loss and its derivatives in the scores, 0 where one is ignored."""
    (loss,) = (loss for loss in LOSSES if loss.name == name)
    s = symbolic.logits(len(word))
    expression = loss.expression(s, word)
    slopes = [
        expression.diff(x) if w != "i" and loss.smooth else sympy.S.Zero for x, w in zip(s, word, strict=True)
    ]
    return expression, slopes


def values_of(loss: Loss, scores: Sequence[float], word: str) -> dict[sympy.Symbol, float]:
    """The numbers to put in: the scores that are used, and the weights that are constants."""
    s = symbolic.logits(len(word))
    values = {x: v for x, v, w in zip(s, scores, word, strict=True) if w != "i"}
    if loss.weigh:
        for weights, name in zip(loss.weigh(scores, word), ("alpha_n", "alpha_p"), strict=True):
            values.update(zip(symbols_for(weights, name), weights, strict=True))
    return values


def exact(loss: Loss, scores: Sequence[float], word: str) -> tuple[mpmath.mpf, list[mpmath.mpf]]:
    """Value and gradient at 50 digits, of SymPy's expression and SymPy's derivative of it."""
    expression, slopes = forms(loss.name, word)
    values = values_of(loss, scores, word)
    return symbolic.evaluate(expression, values), [symbolic.evaluate(slope, values) for slope in slopes]
