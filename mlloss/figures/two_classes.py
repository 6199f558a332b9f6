"""Two classes: one logit, its sigmoid, and the losses that are built on it."""

import torch
import torch.nn.functional as F
from sympy import symbols

from mlloss.figures.calculus import derivative
from mlloss.live import Curve, Grid, LiveFigure, Number, Panel, Point, Slider
from mlloss.symbolic import binary_cross_entropy, sigmoid, softplus, squared_error

x, z, y = symbols("x z y", real=True)


def sigmoid_slope_and_log() -> LiveFigure:
    """σ and its slope above, log σ below, at a logit that the reader moves."""
    grid = Grid(x, -8, 8)
    probability, slope, log_probability = sigmoid(x), sigmoid(x).diff(x), -softplus(-x)

    def twin(z: torch.Tensor) -> dict[str, torch.Tensor | list[torch.Tensor]]:
        inputs = torch.cat([grid.points(), z[None]]).requires_grad_()
        p, log_p = torch.sigmoid(inputs), F.logsigmoid(inputs)
        dp = derivative(p, inputs)
        return {
            "sigmoid": p[:-1],
            "slope": dp[:-1],
            "log_sigmoid": log_p[:-1],
            "at_sigmoid": [z, p[-1]],
            "at_slope": [z, dp[-1]],
            "at_log": [z, log_p[-1]],
            "p": p[-1],
            "q": torch.sigmoid(-z),
            "dp": dp[-1],
            "log_p": log_p[-1],
        }

    return LiveFigure(
        "sigmoid-slope-and-log",
        title="One logit, one probability.",
        caption="Move the logit. Where is the curve steepest, and what happens to log σ far to the left?",
        description=(
            "Two stacked graphs over the logit from −8 to 8. Above, the sigmoid climbs from 0 to 1 in an S "
            "and its slope is a hill of height a quarter at 0. Below, log σ falls like a straight line on "
            "the left and flattens at 0 on the right. Dots mark the chosen logit."
        ),
        controls=[Slider(z, "logit z", -8, 8, 1)],
        panels=[
            Panel((-8, 8), (-0.05, 1.05), y_label="probability", height=2.3),
            Panel((-8, 8), (-8.3, 0.4), x_label="logit z", y_label="log σ(z)", height=1.9),
        ],
        artists=[
            Curve("sigmoid", probability, grid, "probability", "σ(z)"),
            Curve("slope", slope, grid, "slope", "slope σ′(z)", dashes="--"),
            Curve("log_sigmoid", log_probability, grid, "probability", panel=1),
            Point("at_sigmoid", z, probability.subs(x, z), "probability", drag={"x": z}, handle="logit z"),
            Point("at_slope", z, slope.subs(x, z), "slope", marker="s", size=7),
            Point("at_log", z, log_probability.subs(x, z), "probability", panel=1),
            Number("p", sigmoid(z), "σ(z)", colour="probability"),
            Number("q", sigmoid(-z), "σ(−z) = 1 − σ(z)"),
            Number("dp", slope.subs(x, z), "slope σ′(z)", colour="slope"),
            Number("log_p", -softplus(-z), "log σ(z)", colour="probability"),
        ],
        twin=twin,
        code="""\
import torch

z = torch.tensor({z}, dtype=torch.float64, requires_grad=True)
p, q = torch.sigmoid(z), torch.sigmoid(-z)
log_p = torch.nn.functional.logsigmoid(z)
(dp,) = torch.autograd.grad(p, z)
print(p.item(), q.item(), dp.item(), log_p.item())""",
    )


def squared_error_and_cross_entropy() -> LiveFigure:
    """Squared error behind a sigmoid against cross-entropy: the values above, the slopes below."""
    grid = Grid(x, -8, 8)
    losses = {"mse": squared_error(x, y), "bce": binary_cross_entropy(x, y)}
    style = {"mse": ("squared error", "--", "s"), "bce": ("cross-entropy", "-", "o")}

    def twin(z: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor | list[torch.Tensor]]:
        inputs = torch.cat([grid.points(), z[None]]).requires_grad_()
        targets = y.expand_as(inputs)
        values = {
            "mse": F.mse_loss(torch.sigmoid(inputs), targets, reduction="none") / 2,
            "bce": F.binary_cross_entropy_with_logits(inputs, targets, reduction="none"),
        }
        numbers: dict[str, torch.Tensor | list[torch.Tensor]] = {}
        for name, loss in values.items():
            slope = derivative(loss, inputs)
            numbers |= {name: loss[:-1], f"{name}_slope": slope[:-1]}
            numbers |= {f"at_{name}": [z, loss[-1]], f"at_{name}_slope": [z, slope[-1]]}
            numbers |= {f"{name}_value": loss[-1], f"{name}_gradient": slope[-1]}
        return numbers

    def artists_of(name: str) -> list[Curve | Point | Number]:
        loss, slope = losses[name], losses[name].diff(x)
        role, dashes, marker = style[name]
        here, slope_here = loss.subs(x, z), slope.subs(x, z)
        return [
            Curve(name, loss, grid, role, role, dashes=dashes),
            Curve(f"{name}_slope", slope, grid, role, dashes=dashes, panel=1),
            Point(f"at_{name}", z, here, role, marker=marker, drag={"x": z}, handle=f"logit z, {role}"),
            Point(f"at_{name}_slope", z, slope_here, role, marker=marker, panel=1),
            Number(f"{name}_value", here, role, colour=role),
            Number(f"{name}_gradient", slope_here, f"{role}: gradient", colour=role),
        ]

    return LiveFigure(
        "squared-error-and-cross-entropy",
        title="Wrong, and sure of it.",
        caption="The target is 1. Push the logit far to the left: which gradient still says “go right”?",
        description=(
            "Two stacked graphs over the logit from −8 to 8. Above, for target 1, cross-entropy grows like a "
            "straight line to the left while squared error levels off at one half. Below, the gradient of "
            "cross-entropy tends to −1 on the left while that of squared error returns to 0."
        ),
        controls=[
            Slider(z, "logit z", -8, 8, -4),
            Slider(y, "target y", 0, 1, 1, step=1),
        ],
        panels=[
            Panel((-8, 8), (-0.2, 5), y_label="loss", height=2.3),
            Panel((-8, 8), (-1.1, 1.1), x_label="logit z", y_label="gradient", height=2.1),
        ],
        artists=[artist for name in losses for artist in artists_of(name)],
        twin=twin,
        code="""\
import torch
import torch.nn.functional as F

z = torch.tensor({z}, dtype=torch.float64, requires_grad=True)
y = torch.tensor({y}, dtype=torch.float64)
mse_value = F.mse_loss(torch.sigmoid(z), y) / 2
bce_value = F.binary_cross_entropy_with_logits(z, y)
(mse_gradient,) = torch.autograd.grad(mse_value, z)
(bce_gradient,) = torch.autograd.grad(bce_value, z)
print(mse_value.item(), mse_gradient.item(), bce_value.item(), bce_gradient.item())""",
    )
