"""Scores on a line, and where the losses pull each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from sympy import (
    Eq,
    Expr,
    Float,
    Ge,
    Integer,
    Max,
    Min,
    Piecewise,
    StrictGreaterThan,
    Symbol,
    exp,
    false,
    nan,
    oo,
    symbols,
)
from torch import Tensor

import mlloss
from mlloss.figures.calculus import derivative
from mlloss.live import (
    Arrow,
    Choice,
    Descent,
    LiveFigure,
    Number,
    Panel,
    Point,
    Slider,
    Switch,
    Trace,
)
from mlloss.symbolic import (
    hard_unified_loss,
    logits,
    logsumexp,
    relu,
    sigmoid,
    softplus,
    unified_loss,
)

ARROW_SCALE = 2  # score units that an arrow is long where the gradient is 1
Numbers = dict[str, Any]


def tug_of_war() -> LiveFigure:
    """One positive and two negative scores on a line, each with the arrow along which the loss pulls it."""
    (positive,), negatives = logits(1, "p"), logits(2, "n")
    scores = [positive, *negatives]
    words = ["right class", "wrong class 1", "wrong class 2"]
    soft, hard = unified_loss(negatives, [positive]), hard_unified_loss(negatives, [positive])

    def twin(p1: Tensor, n1: Tensor, n2: Tensor) -> Numbers:
        s = torch.stack([p1, n1, n2]).requires_grad_()
        targets = torch.tensor([True, False, False], device=s.device)
        loss = mlloss.unified_loss(s, targets)
        pulls = -ARROW_SCALE * derivative(loss, s)
        numbers: Numbers = {"loss": loss, "hard_loss": mlloss.hard_unified_loss(s, targets)}
        for i, (score, pull) in enumerate(zip(s, pulls, strict=True)):
            height = torch.full_like(score, i + 1)
            numbers[f"at_{i}"] = [score, height]
            numbers[f"pull_{i}"] = [score, height, pull, torch.zeros_like(pull)]
        return numbers

    def artists_of(i: int, score: Symbol) -> list[Arrow | Point]:
        pull, height = -ARROW_SCALE * soft.diff(score), Integer(i + 1)
        role, marker = ("positive", "o") if i == 0 else ("negative", "s")
        style: dict[str, Any] = {"marker": marker, "size": 10, "drag": {"x": score}}
        return [
            Arrow(f"pull_{i}", score, height, pull, 0 * score, "gradient", "pull of the loss" * (i == 2)),
            Point(f"at_{i}", score, height, role, words[i], **style),
        ]

    return LiveFigure(
        "tug-of-war",
        title="A tug of war.",
        caption=(
            "Each arrow shows where cross-entropy pulls a score. "
            "Move the right class to the far right: who still pulls?"
        ),
        description=(
            "Three scores on a number line from −5 to 5: the right class and two wrong classes. An arrow on "
            "each shows how strongly the loss pulls it: the right class to the right, the wrong ones to the "
            "left, the higher wrong one more."
        ),
        controls=[
            Slider(score, word, -5, 5, start)
            for score, word, start in zip(scores, words, (0.5, 1.5, -1.5), strict=True)
        ],
        panels=[Panel((-7.2, 7.2), (0.3, 3.7), x_label="score", height=1.7, y_axis=False)],
        artists=[
            *(artist for i, score in enumerate(scores) for artist in artists_of(i, score)),
            Number("loss", soft, "cross-entropy", colour="cross-entropy"),
            Number("hard_loss", hard, "its hard form", colour="hard"),
        ],
        twin=twin,
        code="""\
import torch
import mlloss

scores = torch.tensor([{p1}, {n1}, {n2}], dtype=torch.float64, requires_grad=True)
targets = torch.tensor([True, False, False])
loss = mlloss.unified_loss(scores, targets)  # with one positive: cross-entropy
hard_loss = mlloss.hard_unified_loss(scores, targets)
loss.backward()
print(loss.item(), hard_loss.item(), -scores.grad)""",
    )


# The playground

CLASSES = 8
POSITIVE, NEGATIVE, IGNORED = 1, 0, -100

count, t, shown, gamma, margin, alpha, focus, chosen_a, chosen_b, rate = symbols(
    "classes threshold show_threshold gamma margin alpha focus loss_a loss_b rate", real=True
)
scores = logits(CLASSES, "s")
states = symbols(f"state1:{CLASSES + 1}", real=True)

# What several losses share: each side's members, their number, and the log-sum-exp of each side.
wanted = symbols(f"wanted1:{CLASSES + 1}", real=True)  # the state, or "ignored" beyond the number of classes
many_p, every, above, below, top = symbols("many_p every above below top", real=True)
side_n, side_p, unified_n, unified_p, circle_n, circle_p = symbols(
    "side_n side_p unified_n unified_p circle_n circle_p", real=True
)


def among(state: int, values: Sequence[Expr], otherwise: Expr = -oo) -> list[Expr]:
    """The values of the classes in that state; of the others what does not count."""
    return [
        Piecewise((value, Eq(own, state)), (otherwise, True))
        for value, own in zip(values, wanted, strict=True)
    ]


def by_state(positive: Expr, negative: Expr, own: Symbol) -> Expr:
    return Piecewise((positive, Eq(own, POSITIVE)), (negative, Eq(own, NEGATIVE)), (0, True))


def circle_terms(s: Symbol) -> tuple[Expr, Expr, Expr, Expr]:
    """Weight and exponent of a score as a negative, and as a positive (Sun et al. 2020)."""
    weight_n, weight_p = relu(s + margin), relu(1 + margin - s)
    return weight_n, gamma * weight_n * (s - margin), weight_p, -gamma * weight_p * (s - 1 + margin)


DEFINITIONS: dict[Symbol, Expr] = {
    **{
        own: Piecewise((state, Ge(count, i + 1)), (IGNORED, True))
        for i, (own, state) in enumerate(zip(wanted, states, strict=True))
    },
    many_p: sum(among(POSITIVE, [Integer(1)] * CLASSES, Integer(0))),
    side_n: logsumexp(*among(NEGATIVE, scores)),
    side_p: logsumexp(*among(POSITIVE, [-s for s in scores])),
    every: logsumexp(side_n, logsumexp(*among(POSITIVE, scores))),
    unified_n: logsumexp(*among(NEGATIVE, [gamma * (s + margin) for s in scores])),
    unified_p: logsumexp(*among(POSITIVE, [-gamma * s for s in scores])),
    circle_n: logsumexp(*among(NEGATIVE, [circle_terms(s)[1] for s in scores])),
    circle_p: logsumexp(*among(POSITIVE, [circle_terms(s)[3] for s in scores])),
    above: Max(*among(NEGATIVE, scores)),
    below: Min(*among(POSITIVE, scores, oo)),
    top: Max(above, *among(POSITIVE, scores)),
}


@dataclass(frozen=True)
class PlayLoss:
    """A loss of the playground: as expressions, and as the PyTorch function that computes it.

    `gradient(s, own)` is the derivative in the score s of a class in state `own`, and `accepts(s)` the
    condition under which the loss's own rule takes a class. A loss without a hard form has NaN there; one
    without a rule, such as a ranking loss, accepts nothing.
    """

    word: str
    value: Expr
    hard: Expr
    gradient: Callable[[Symbol, Symbol], Expr]
    accepts: Callable[[Expr], Expr]
    torch_value: Callable[..., Tensor]
    torch_hard: Callable[..., Tensor]


def _nothing(s: Tensor, **_: Tensor) -> Tensor:
    return s.new_tensor(torch.nan)


def _binary(s: Tensor, y: Tensor, **_: Tensor) -> Tensor:
    used = y != IGNORED
    return F.binary_cross_entropy_with_logits(s[used], y[used], reduction="sum")


def _hard_binary(s: Tensor, y: Tensor, **_: Tensor) -> Tensor:
    return torch.where(y == NEGATIVE, s, torch.where(y == POSITIVE, -s, -torch.inf)).relu().sum()


def _softmax(s: Tensor, y: Tensor, **_: Tensor) -> Tensor:
    return mlloss.multilabel_softmax_cross_entropy(s, y)


def _softmax_focal(s: Tensor, y: Tensor, focus: Tensor, **_: Tensor) -> Tensor:
    used = y != IGNORED
    if (y[used] == POSITIVE).sum() != 1:
        return _nothing(s)
    return mlloss.softmax_focal_loss(s[used], y[used].argmax(), gamma=float(focus))


def _hard_softmax(s: Tensor, y: Tensor, **_: Tensor) -> Tensor:
    positive = y == POSITIVE
    return s[y != IGNORED].amax() - s[positive].mean() if positive.any() else s.new_tensor(0.0)


def accepts_nothing(s: Expr) -> Expr:
    return false


def softmax_gradient(s: Symbol, own: Symbol) -> Expr:
    pull = by_state(exp(s - every) - 1 / many_p, exp(s - every), own)
    return Piecewise((pull, StrictGreaterThan(many_p, 0)), (0, True))


def unified_gradient(s: Symbol, own: Symbol) -> Expr:
    pull = gamma * sigmoid(unified_n + unified_p)
    return by_state(-pull * exp(-gamma * s - unified_p), pull * exp(gamma * (s + margin) - unified_n), own)


def circle_gradient(s: Symbol, own: Symbol) -> Expr:
    weight_n, term_n, weight_p, term_p = circle_terms(s)
    pull = gamma * sigmoid(circle_n + circle_p)
    return by_state(-pull * weight_p * exp(term_p - circle_p), pull * weight_n * exp(term_n - circle_n), own)


def thresholded_gradient(s: Symbol, own: Symbol) -> Expr:
    positive = -sigmoid(t + side_p) * exp(-s - side_p)
    return by_state(positive, sigmoid(side_n - t) * exp(s - side_n), own)


def softmax_focal_gradient(s: Symbol, own: Symbol) -> Expr:
    pull = -focal_slope(-side_n - side_p)
    return only_with_one_positive(by_state(-pull, pull * exp(s - side_n), own))


def only_with_one_positive(value: Expr) -> Expr:
    """Softmax focal loss is defined for a single label."""
    return Piecewise((value, Eq(many_p, 1)), (nan, True))


def focal_term(z: Expr) -> Expr:
    """(1 − p)^γ (−log p) of a class with the signed score z."""
    return sigmoid(-z) ** focus * softplus(-z)


def focal_slope(z: Expr) -> Expr:
    return -(sigmoid(-z) ** focus) * (sigmoid(-z) + focus * sigmoid(z) * softplus(-z))


LOSSES = [
    PlayLoss(
        "one sigmoid per label",
        sum(by_state(softplus(-s), softplus(s), own) for s, own in zip(scores, wanted, strict=True)),
        sum(by_state(relu(-s), relu(s), own) for s, own in zip(scores, wanted, strict=True)),
        lambda s, own: by_state(-sigmoid(-s), sigmoid(s), own),
        lambda s: StrictGreaterThan(s, 0),
        _binary,
        _hard_binary,
    ),
    PlayLoss(
        "sigmoid focal loss",
        sum(
            by_state(alpha * focal_term(s), (1 - alpha) * focal_term(-s), own)
            for s, own in zip(scores, wanted, strict=True)
        ),
        nan,
        lambda s, own: by_state(alpha * focal_slope(s), -(1 - alpha) * focal_slope(-s), own),
        lambda s: StrictGreaterThan(s, 0),
        lambda s, y, alpha, focus, **_: mlloss.sigmoid_focal_loss(
            s, y, alpha=float(alpha), gamma=float(focus), reduction="sum"
        ),
        _nothing,
    ),
    PlayLoss(
        "softmax cross-entropy",
        Piecewise(
            (
                sum(among(POSITIVE, [every - s for s in scores], Integer(0))) / many_p,
                StrictGreaterThan(many_p, 0),
            ),
            (0, True),
        ),
        Piecewise(
            (
                top - sum(among(POSITIVE, scores, Integer(0))) / many_p,
                StrictGreaterThan(many_p, 0),
            ),
            (0, True),
        ),
        softmax_gradient,
        lambda s: Ge(s, top),
        _softmax,
        _hard_softmax,
    ),
    PlayLoss(
        "softmax focal loss",
        only_with_one_positive(focal_term(-side_n - side_p)),
        nan,
        softmax_focal_gradient,
        lambda s: Ge(s, top),
        _softmax_focal,
        _nothing,
    ),
    PlayLoss(
        "unified loss",
        softplus(unified_n + unified_p),
        gamma * relu(above - below + margin),
        unified_gradient,
        accepts_nothing,
        lambda s, y, gamma, margin, **_: mlloss.unified_loss(s, y, gamma=float(gamma), margin=float(margin)),
        lambda s, y, gamma, margin, **_: gamma * mlloss.hard_unified_loss(s, y, margin=float(margin)),
    ),
    PlayLoss(
        "circle loss",
        softplus(circle_n + circle_p),
        nan,
        circle_gradient,
        accepts_nothing,
        lambda s, y, gamma, margin, **_: mlloss.circle_loss(s, y, gamma=float(gamma), margin=float(margin)),
        _nothing,
    ),
    PlayLoss(
        "thresholded loss",
        softplus(side_n - t) + softplus(t + side_p),
        relu(above - t) + relu(t - below),
        thresholded_gradient,
        lambda s: StrictGreaterThan(s, t),
        lambda s, y, threshold, **_: mlloss.thresholded_loss(s, y, threshold=threshold),
        lambda s, y, threshold, **_: mlloss.hard_thresholded_loss(s, y, threshold=threshold),
    ),
]


def choose(which: Symbol, of: Callable[[PlayLoss], Expr]) -> Expr:
    """What `of` says of the loss that is chosen."""
    return Piecewise(*((of(loss), Eq(which, i)) for i, loss in enumerate(LOSSES)))


def _playground_twin(**params: Tensor) -> Numbers:
    """The playground's numbers by PyTorch: each loss from mlloss, each arrow from autograd."""
    s = torch.stack([params[f"s{i}"] for i in range(1, CLASSES + 1)]).requires_grad_()
    present = torch.arange(1, CLASSES + 1, device=s.device) <= params["classes"]
    y = torch.stack([params[f"state{i}"] for i in range(1, CLASSES + 1)])
    y = torch.where(present, y, torch.full_like(y, IGNORED))
    arguments = {"s": s, "y": y, **{name: params[name] for name in ("gamma", "margin", "alpha", "focus")}}
    arguments["threshold"] = params["threshold"]

    mark = params["threshold"] if params["show_threshold"] else torch.nan
    numbers: Numbers = {"threshold_line": [mark, 0.2, 0.0, CLASSES + 0.6], "at_threshold": [mark, 0.3]}
    for letter in "ab":
        loss = LOSSES[int(params[f"loss_{letter}"])]
        value = loss.torch_value(**arguments)
        gradient = derivative(value, s) if value.requires_grad else torch.full_like(s, torch.nan)
        numbers |= {f"value_{letter}": value, f"course_{letter}": [value]}
        numbers |= {f"hard_{letter}": loss.torch_hard(**arguments), f"sum_{letter}": gradient.sum()}
        for i in range(CLASSES):
            height = CLASSES - i + (0.16 if letter == "a" else -0.16)
            numbers[f"pull_{letter}{i + 1}"] = [s[i], height, -ARROW_SCALE * gradient[i], 0.0]
        taken = torch.where(_accepted(loss.word, s, y, params["threshold"]) & present, s, torch.nan)
        numbers |= {f"accepted_{letter}{i + 1}": [taken[i], float(CLASSES - i)] for i in range(CLASSES)}
    for i in range(CLASSES):
        height = float(CLASSES - i)
        for word, state in STATES.items():
            seen = present[i] & (params[f"state{i + 1}"] == state)
            numbers[f"{word}_{i + 1}"] = [torch.where(seen, s[i], torch.nan), height]
    return numbers


def _accepted(word: str, s: Tensor, y: Tensor, threshold: Tensor) -> Tensor:
    if word in ("softmax cross-entropy", "softmax focal loss"):
        return s >= s[y != IGNORED].max() if (y != IGNORED).any() else torch.ones_like(s, dtype=torch.bool)
    cuts = {"one sigmoid per label": 0.0, "sigmoid focal loss": 0.0, "thresholded loss": float(threshold)}
    return mlloss.predict(s, cuts[word]) if word in cuts else torch.zeros_like(s, dtype=torch.bool)


STATES = {"positive": POSITIVE, "negative": NEGATIVE, "ignored": IGNORED}
LOOKS = {"positive": ("positive", "o"), "negative": ("negative", "s"), "ignored": ("axis", "D")}


def _gradient(s: Symbol, own: Symbol, loss: PlayLoss) -> Expr:
    return loss.gradient(s, own)


def class_artists(i: int) -> list[Arrow | Point]:
    """Of class i: its arrows, its mark in each state, and the ring that says it is accepted."""
    score, state, own = scores[i], states[i], wanted[i]
    height, there = Integer(CLASSES - i), Ge(count, i + 1)

    def pull(which: Symbol, letter: str, role: str, offset: float) -> Arrow:
        change = -ARROW_SCALE * choose(which, partial(_gradient, score, own))
        words = f"pull of loss {letter.upper()}" * (i == 0)
        return Arrow(f"pull_{letter}{i + 1}", score, height + offset, change, 0 * score, role, words)

    def mark(word: str) -> Point:
        role, marker = LOOKS[word]
        in_state = Piecewise((score, Eq(state, STATES[word])), (nan, True))
        place = Piecewise((in_state, there), (nan, True))
        style: dict[str, Any] = {"marker": marker, "size": 8, "drag": {"x": score}}
        return Point(f"{word}_{i + 1}", place, height, role, handle=f"class {i + 1}, {word}", **style)

    def ring(which: Symbol, letter: str, role: str, size: float) -> Point:
        taken = choose(which, lambda loss: Piecewise((score, loss.accepts(score)), (nan, True)))
        place = Piecewise((taken, there), (nan, True))
        return Point(f"accepted_{letter}{i + 1}", place, height, role, marker="ring", size=size)

    return [
        pull(chosen_a, "a", "gradient", 0.16),
        pull(chosen_b, "b", "slope", -0.16),
        ring(chosen_a, "a", "gradient", 13),
        ring(chosen_b, "b", "slope", 18),
        *map(mark, STATES),
    ]


threshold_mark = Piecewise((t, Eq(shown, 1)), (nan, True))


def playground() -> LiveFigure:
    """Up to eight classes on a line, two losses to compare: values, hard forms, arrows, descent."""
    starts = (1.5, 0.5, -1, 2, 0, -2, -0.5, -3)
    labels = (1, 0, 0, 0, 0, 0, 0, 0)
    words = {loss.word: i for i, loss in enumerate(LOSSES)}
    fields = {
        "value": ("", lambda loss: loss.value),
        "hard": (" in its hard form", lambda loss: loss.hard),
        "sum": (
            ": sum of the gradient",
            lambda loss: sum(loss.gradient(s, own) for s, own in zip(scores, wanted, strict=True)),
        ),
    }
    numbers = [
        Number(f"{field}_{letter}", choose(which, of), f"loss {letter.upper()}{words_}", colour=role)
        for letter, which, role in (("a", chosen_a, "gradient"), ("b", chosen_b, "slope"))
        for field, (words_, of) in fields.items()
    ]
    return LiveFigure(
        "playground",
        title="Playground.",
        caption=(
            "Drag the marks, or focus one and use the arrow keys. Circles are right classes, squares wrong "
            "ones, diamonds do not count. A ring marks what a loss accepts: the small one A, the large one B."
        ),
        description=(
            "Up to eight classes, one a row, each a mark on a line of scores from −6 to 6: circles for "
            "right, squares for wrong classes, diamonds for classes that do not count. Two arrows on each "
            "mark show where loss A and loss B pull it. Below, the course of both losses during a descent."
        ),
        controls=[
            Choice(chosen_a, "loss A (arrows above, descends)", words, words["softmax cross-entropy"]),
            Choice(chosen_b, "loss B (arrows below)", words, words["thresholded loss"]),
            Slider(count, "number of classes", 1, CLASSES, 5, step=1),
            Switch(shown, "show the threshold", 1),
            *(
                Choice(state, f"class {i + 1}", STATES, label, group="Which classes are right")
                for i, (state, label) in enumerate(zip(states, labels, strict=True))
            ),
            *(
                Slider(score, f"score {i + 1}", -6, 6, start, group="Scores")
                for i, (score, start) in enumerate(zip(scores, starts, strict=True))
            ),
            *(
                Slider(symbol, word, low, high, start, step, group="Parameters of the losses")
                for symbol, word, low, high, start, step in (
                    (t, "threshold (thresholded loss)", -4, 4, 0, 0.1),
                    (gamma, "scale γ (unified, circle)", 0.5, 10, 1, 0.5),
                    (margin, "margin m (unified, circle)", 0, 2, 0.25, 0.05),
                    (alpha, "balance α (focal)", 0, 1, 0.5, 0.05),
                    (focus, "focusing parameter γ (focal)", 0, 5, 2, 0.5),
                    (rate, "step of the descent", 0.05, 1, 0.2, 0.05),
                )
            ),
        ],
        panels=[
            Panel(
                (-7.5, 7.5),
                (0, CLASSES + 0.8),
                "score",
                height=3.4,
                y_names={CLASSES - i: f"{i + 1}" for i in range(CLASSES)},
            ),
            Panel((0, 200), (0, 8), "step of the descent", "loss", height=1.6, follow=True),
        ],
        definitions=DEFINITIONS,
        artists=[
            Arrow(
                "threshold_line",
                threshold_mark,
                Float(0.2),
                0 * t,
                Float(CLASSES + 0.6),
                "bound",
                head=False,
                width=1,
            ),
            Point("at_threshold", threshold_mark, Float(0.3), "axis", "threshold", marker="^", drag={"x": t}),
            *(artist for i in range(CLASSES) for artist in class_artists(i)),
            Trace("course_a", choose(chosen_a, lambda loss: loss.value), "gradient", "loss A", panel=1),
            Trace("course_b", choose(chosen_b, lambda loss: loss.value), "slope", "loss B", "--", panel=1),
            *numbers,
        ],
        twin=_playground_twin,
        presets=_stories(words),
        descent=Descent(
            {
                score: -rate * choose(chosen_a, partial(_gradient, score, own))
                for score, own in zip(scores, wanted, strict=True)
            }
        ),
        code=_code(),
    )


def _stories(words: dict[str, int]) -> dict[str, dict[str, float]]:
    def setting(a: str, b: str, labels: str, places: Sequence[float], **more: float) -> dict[str, float]:
        """`labels` has one letter a class: p(ositive), n(egative), i(gnored)."""
        states = {"p": POSITIVE, "n": NEGATIVE, "i": IGNORED}
        named = {f"state{i}": states[letter] for i, letter in enumerate(labels, 1)}
        placed = {f"s{i}": place for i, place in enumerate(places, 1)}
        return {"loss_a": words[a], "loss_b": words[b], "classes": len(labels), **named, **placed, **more}

    ce, bce, focal = "softmax cross-entropy", "one sigmoid per label", "sigmoid focal loss"
    unified, circle, thresholded = "unified loss", "circle loss", "thresholded loss"
    return {
        "One among many": setting(bce, thresholded, "pnnnnnnn", (0, 0.5, 0, -0.5, 0.2, -0.2, 0.4, -0.4)),
        "Don't care": setting(unified, thresholded, "pnin", (0.5, -1, 3, 0), margin=0),
        "Positives that disagree": setting(unified, ce, "ppnn", (3, -2, 0, -1), margin=0),
        "An easy example": setting(focal, bce, "pn", (3, -3), alpha=0.5, focus=2),
        "Right order, wrong side": setting(unified, thresholded, "ppnn", (-2, -2.5, -4, -4.5), margin=0),
        "Circle's two optima": setting(circle, unified, "pn", (0.2, 0.4), margin=0.25, gamma=8, rate=0.05),
    }


def _code() -> str:
    values = ", ".join(f"{{s{i}}}" for i in range(1, CLASSES + 1))
    labels = ", ".join(f"{{state{i}}}" for i in range(1, CLASSES + 1))
    return f"""\
import torch
import torch.nn.functional as F
import mlloss

s = torch.tensor([{values}], dtype=torch.float64)
y = torch.tensor([{labels}], dtype=torch.float64)
y[int({{classes}}):] = -100  # ignored, as are the classes that do not count
losses = [
    F.binary_cross_entropy_with_logits(s[y >= 0], y[y >= 0], reduction="sum"),
    mlloss.sigmoid_focal_loss(s, y, alpha={{alpha}}, gamma={{focus}}, reduction="sum"),
    mlloss.multilabel_softmax_cross_entropy(s, y),
    mlloss.softmax_focal_loss(s[y >= 0], y[y >= 0].argmax(), gamma={{focus}})
    if (y == 1).sum() == 1
    else torch.tensor(torch.nan),
    mlloss.unified_loss(s, y, gamma={{gamma}}, margin={{margin}}),
    mlloss.circle_loss(s, y, gamma={{gamma}}, margin={{margin}}),
    mlloss.thresholded_loss(s, y, threshold={{threshold}}),
]
value_a, value_b = losses[int({{loss_a}})], losses[int({{loss_b}})]
print(value_a.item(), value_b.item())"""
