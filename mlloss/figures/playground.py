"""Scores on a line, and where a loss pulls each of them."""

import torch
from sympy import Integer
from torch import Tensor

import mlloss
from mlloss.figures.calculus import derivative
from mlloss.live import Arrow, LiveFigure, Number, Panel, Point, Slider
from mlloss.symbolic import hard_unified_loss, logits, unified_loss

ARROW_SCALE = 2  # score units an arrow is long where the gradient is 1


def tug_of_war() -> LiveFigure:
    """One positive and two negative scores on a line, each with the arrow along which the loss pulls it."""
    (positive,), negatives = logits(1, "p"), logits(2, "n")
    scores = [positive, *negatives]
    names = ["p1", "n1", "n2"]
    heights = [Integer(1), Integer(2), Integer(3)]
    soft, hard = unified_loss(negatives, [positive]), hard_unified_loss(negatives, [positive])

    def twin(p1: Tensor, n1: Tensor, n2: Tensor) -> dict[str, Tensor | list[Tensor]]:
        s = torch.stack([p1, n1, n2]).requires_grad_()
        targets = torch.tensor([True, False, False], device=s.device)
        loss = mlloss.unified_loss(s, targets)
        pulls = -ARROW_SCALE * derivative(loss, s)
        numbers: dict[str, Tensor | list[Tensor]] = {
            "loss": loss,
            "hard_loss": mlloss.hard_unified_loss(s, targets),
        }
        for name, score, height, pull in zip(names, s, heights, pulls, strict=True):
            y = torch.tensor(float(height))
            numbers |= {f"at_{name}": [score, y], f"pull_{name}": [score, y, pull, torch.zeros_like(y)]}
        return numbers

    def artists_of(index: int) -> list[Arrow | Point]:
        role, marker = ("positive", "o") if index == 0 else ("negative", "s")
        label = ["the right class", "wrong classes", ""][index]
        name, score, height = names[index], scores[index], heights[index]
        pull = -ARROW_SCALE * soft.diff(score)
        return [
            Arrow(
                f"pull_{name}",
                score,
                height,
                pull,
                0 * score,
                "gradient",
                "pull of the loss" if index == 2 else "",
            ),
            Point(f"at_{name}", score, height, role, label, marker=marker, size=10),
        ]

    return LiveFigure(
        "tug-of-war",
        title="A tug of war.",
        caption=(
            "Each arrow shows where cross-entropy pulls a score. Move the right class to the far right: who "
            "still pulls?"
        ),
        description=(
            "Three scores on a number line from −5 to 5: the right class and two wrong classes. An arrow on "
            "each shows how strongly the loss pulls it: the right class to the right, the wrong ones to the "
            "left, the higher wrong one more."
        ),
        controls=[
            Slider(positive, "right class", -5, 5, 0.5),
            Slider(negatives[0], "wrong class 1", -5, 5, 1.5),
            Slider(negatives[1], "wrong class 2", -5, 5, -1.5),
        ],
        panels=[Panel((-7.2, 7.2), (0.3, 3.7), x_label="score", height=1.7, legend_columns=3, y_axis=False)],
        artists=[
            *(artist for index in range(3) for artist in artists_of(index)),
            Number("loss", soft, "cross-entropy", colour="cross-entropy"),
            Number("hard_loss", hard, "its hard form", colour="hard"),
        ],
        twin=twin,
    )
