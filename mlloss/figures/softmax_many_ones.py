"""Softmax with a multi-hot target: the labels that are on must share one probability."""

import torch
import torch.nn.functional as F
from sympy import Expr, Float, Max, log, symbols
from torch import Tensor

import mlloss
from mlloss.figures.calculus import derivative
from mlloss.figures.one_sigmoid_per_label import BESIDE, LABELS
from mlloss.live import Arrow, Bars, Curve, Grid, LiveFigure, Number, Panel, Point, Slider, Switch
from mlloss.symbolic import binary_cross_entropy, logits, logsumexp, softmax

x = symbols("s_x", real=True)
scores, targets = logits(4), symbols("y1:5", real=True)
count = sum(targets)
share = 1 / Max(count, 1)


def multi_hot_loss(s: tuple[Expr, ...]) -> Expr:
    """−Σ y log softmax(s) with the targets as symbols."""
    return sum(y * (logsumexp(*s) - si) for y, si in zip(targets, s, strict=True))


def many_ones() -> LiveFigure:
    """Probabilities, shared targets and pulls of four labels, and the loss as the first score moves."""
    grid = Grid(x, -6, 6)
    probabilities = softmax(scores)
    loss = multi_hot_loss(scores)
    curve = share * multi_hot_loss((x, *scores[1:]))

    def twin(**params: Tensor) -> dict[str, Tensor | list[Tensor]]:
        s = torch.stack([params[score.name] for score in scores]).requires_grad_()
        y = torch.stack([params[target.name] for target in targets])
        k = y.sum().clamp(min=1)
        p = torch.softmax(s, -1)
        moved = torch.cat([grid.points()[:, None], s[1:].expand(grid.count, 3)], -1)
        losses = mlloss.multilabel_softmax_cross_entropy(moved, y.expand_as(moved), reduction="none")
        loss = mlloss.multilabel_softmax_cross_entropy(s, y)
        pulls = -derivative(loss, s)
        numbers: dict[str, Tensor | list[Tensor]] = {
            "on": list(y * p),
            "off": list((1 - y) * p),
            "curve": losses,
            "floor_line": torch.log(k).expand_as(losses),
            "at_curve": [s[0], loss],
            "loss": mlloss.multilabel_softmax_cross_entropy(s, y, normalize=False),
            "floor": y.sum() * torch.log(k),
            "shared_loss": loss,
            "shared_floor": torch.log(k),
            "sigmoids": F.binary_cross_entropy_with_logits(s, y, reduction="sum"),
        }
        for i in range(len(LABELS)):
            place = torch.tensor(i + BESIDE, dtype=torch.float64)
            numbers[f"target_{i + 1}"] = [place, y[i] / k]
            numbers[f"pull_{i + 1}"] = [place, p[i], torch.zeros_like(place), pulls[i]]
        return numbers

    def artists_of(i: int) -> list[Arrow | Point]:
        place, target = Float(i + BESIDE), share * targets[i]
        pull = target - share * count * probabilities[i]
        names = ("minus the gradient", "target, shared") if i == 0 else ("", "")
        return [
            Arrow(
                f"pull_{i + 1}",
                place,
                probabilities[i],
                0 * scores[i],
                pull,
                "gradient",
                names[0],
                width=3,
            ),
            Point(f"target_{i + 1}", place, target, "text", names[1], marker="D", size=7),
        ]

    def bars(name: str, masks: list[Expr], role: str) -> Bars:
        heights = [mask * p for mask, p in zip(masks, probabilities, strict=True)]
        return Bars(name, heights, LABELS, role, f"label {name}", width=0.4)

    start = {"s1": 0.2, "s2": 0.5, "s3": 0.0, "s4": 0.0, "y1": 1.0, "y2": 1.0, "y3": 0.0, "y4": 0.0}
    return LiveFigure(
        "many-ones",
        title="One probability to share.",
        caption=(
            "Dog and ball are both right. Raise the score of “dog” further and further: does the loss fall "
            "for ever?"
        ),
        description=(
            "Above, a bar chart of the softmax probabilities of the labels dog, ball, cat and snow, beside "
            "each a diamond at its target, one divided by the number of labels on, and an arrow from the "
            "probability to the target. Below, the loss over the score of dog: with dog and one other label "
            "on it is a valley that stays above the logarithm of 2 and rises on both sides."
        ),
        controls=[
            control
            for i, label in enumerate(LABELS)
            for control in (
                Slider(scores[i], f"score of {label}", -6, 6, start[f"s{i + 1}"]),
                Switch(targets[i], f"{label} is there", start[f"y{i + 1}"]),
            )
        ],
        panels=[
            Panel((-0.6, 3.6), (-0.06, 1.06), y_label="probability", height=2.5),
            Panel((-6, 6), (-0.2, 6), x_label="score of dog", y_label="loss / k", height=2.1),
        ],
        artists=[
            bars("on", list(targets), "positive"),
            bars("off", [1 - y for y in targets], "negative"),
            *(artist for i in range(4) for artist in artists_of(i)),
            Curve("floor_line", log(Max(count, 1)), grid, "bound", "log k", dashes=":", panel=1),
            Curve("curve", curve, grid, "cross-entropy", "loss, target divided by k", panel=1),
            Point("at_curve", scores[0], share * loss, "cross-entropy", drag={"x": scores[0]}, panel=1),
            Number("loss", loss, "loss, target as it is", colour="cross-entropy"),
            Number("floor", count * log(Max(count, 1)), "not below k log k", colour="bound"),
            Number("shared_loss", share * loss, "loss, target divided by k", colour="cross-entropy"),
            Number("shared_floor", log(Max(count, 1)), "not below log k", colour="bound"),
            Number(
                "sigmoids",
                sum(binary_cross_entropy(s, y) for s, y in zip(scores, targets, strict=True)),
                "one sigmoid per label, sum",
            ),
        ],
        twin=twin,
        code=(
            "import torch\n"
            "import mlloss\n\n"
            "scores = torch.tensor([{s1}, {s2}, {s3}, {s4}], dtype=torch.float64)\n"
            "targets = torch.tensor([{y1}, {y2}, {y3}, {y4}])\n"
            "loss_of = mlloss.multilabel_softmax_cross_entropy\n"
            "loss = loss_of(scores, targets, normalize=False)\n"
            "shared_loss = loss_of(scores, targets)  # the target divided by k\n"
            "print(loss, shared_loss)"
        ),
        presets={
            "all scores 3 higher": {name: value + 3 * (name[0] == "s") for name, value in start.items()},
            "dog alone": {"y2": 0},
            "nothing is there": {"y1": 0, "y2": 0},
        },
    )
