"""A figure with every artist and every control, for the tests of the engine."""

from __future__ import annotations

import torch
from sympy import Eq, Integer, Piecewise, symbols
from torch import Tensor

from mlloss.live import (
    Area,
    Arrow,
    Bars,
    Choice,
    Contours,
    Curve,
    Descent,
    Grid,
    Label,
    LiveFigure,
    Number,
    Panel,
    Plane,
    Point,
    Slider,
    Switch,
    Trace,
)

x, y, a, b, half, shape, lifted = symbols("x y a b half shape lifted", real=True)


def gallery() -> LiveFigure:
    grid, wide, tall = Grid(x, -2, 2, count=41), Grid(x, -2, 2, count=25), Grid(y, -2, 2, count=21)
    power = Piecewise((x, Eq(shape, 1)), (x**2, True)) + lifted
    bowl = (x - a) ** 2 + (y - b) ** 2
    loss = a**2 + b**2

    def twin(a: Tensor, b: Tensor, shape: Tensor, lifted: Tensor) -> dict[str, object]:
        points = grid.points()
        plane = (wide.points()[None, :] - a) ** 2 + (tall.points()[:, None] - b) ** 2
        line = (points if shape == 1 else points**2) + lifted
        zero = torch.zeros_like(points)
        loss = a**2 + b**2
        return {
            "curve": line,
            "area": torch.cat([zero, line]),
            "plane": plane.flatten(),
            "contours": plane.flatten(),
            "dot": [a, b],
            "arrow": [a, b, -a / 2, -b / 2],
            "label": [a, b + 0.1, loss],
            "bars": [a, b, loss],
            "trace": [loss],
            "loss": loss,
        }

    return LiveFigure(
        "gallery",
        title="Everything.",
        description="One of each artist.",
        caption="Drag the dot.",
        controls=[
            Slider(a, "place a", -2, 2, 1),
            Slider(b, "place b", -2, 2, -0.5, unit="m"),
            Choice(shape, "shape", {"line": 1, "parabola": 2}, 2),
            Switch(lifted, "lifted"),
        ],
        panels=[
            Panel((-2, 2), (-2, 2), "x", "y"),
            Panel((-0.5, 2.5), (-2, 8)),
            Panel((0, 100), (0, 2), "step", "loss", follow=True),
        ],
        definitions={half: loss / 2},
        artists=[
            Plane("plane", bowl, wide, tall, 0, 8, "blue"),
            Contours("contours", bowl, wide, tall, [0.5, 1, 2, 4], "purple", "levels"),
            Area("area", Integer(0), power, grid, "green"),
            Curve("curve", power, grid, "green", "curve"),
            Arrow("arrow", a, b, -a / 2, -b / 2, "vermilion"),
            Point("dot", a, b, "vermilion", "the dot", size=10, drag={"x": a, "y": b}),
            Label("label", a, b + 0.1, "loss ", 2 * half),
            Bars("bars", [a, b, loss], ["a", "b", "loss"], "ochre", panel=1),
            Trace("trace", loss, "vermilion", length=100, panel=2),
            Number("loss", 2 * half, "loss"),
        ],
        twin=twin,
        code="a, b = {a}, {b}\nloss = a**2 + b**2",
        presets={"far away": {"a": 2, "b": 2}, "home": {"a": 0, "b": 0}},
        descent=Descent({a: -a / 10, b: -b / 10}),
    )
