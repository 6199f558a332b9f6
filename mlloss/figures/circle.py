"""Circle loss in the plane of two similarities, and its weights over one similarity."""

from __future__ import annotations

import torch
from sympy import Eq, Expr, Float, Integer, Piecewise, Symbol, symbols
from torch import Tensor

import mlloss
from mlloss.figures.calculus import derivative
from mlloss.live import (
    Area,
    Arrow,
    Choice,
    Contours,
    Curve,
    Descent,
    Grid,
    LiveFigure,
    Number,
    Panel,
    Point,
    Slider,
)
from mlloss.symbolic import circle_loss, relu, sigmoid, unified_loss

Numbers = dict[str, Tensor | list[Tensor]]
X_LIMITS, Y_LIMITS = (-0.5, 1.05), (-0.05, 1.5)
PLACES = [(x, y) for y in (0.1, 0.4, 0.7, 1.0, 1.3) for x in (-0.3, 0.0, 0.3, 0.6, 0.9)]
SMALL, LARGE = 0.1, 0.2  # length of an arrow of the field, and of the reader's own, for a gradient of γ
BOUNDARY = 1e-6  # not 0, which is the exponent wherever both weights are 0
RATE = 0.05  # how far a step goes for a gradient of γ
CIRCLE, UNIFIED = 0, 1
PAPER, SIMPLE, WRONG_SIGN = 0, 1, 2

s_n, s_p, s, m, gamma, loss, through, optima = symbols("s_n s_p s m gamma loss through optima", real=True)


def circle_exponent(n: Expr, p: Expr) -> Expr:
    """What is multiplied by γ in the exponent of circle loss, for one negative and one positive."""
    return relu(n + m) * (n - m) - relu(1 + m - p) * (p - 1 + m)


def unified_exponent(n: Expr, p: Expr) -> Expr:
    """That of the unified loss with the margin 1 − 2m, whose boundary touches the circle."""
    return n - p + 1 - 2 * m


def chosen(circle: Expr, unified: Expr) -> Expr:
    return Piecewise((circle, Eq(loss, CIRCLE)), (unified, True))


def slopes(n: Expr, p: Expr) -> tuple[Expr, Expr]:
    """The gradient of the chosen loss in sₙ and sₚ, divided by γ."""
    weight_n, weight_p = relu(n + m), relu(1 + m - p)
    there_n, there_p = Piecewise((1, n > -m), (0, True)), Piecewise((1, p < 1 + m), (0, True))
    circle = sigmoid(gamma * circle_exponent(n, p))
    unified = sigmoid(gamma * unified_exponent(n, p))
    return (
        chosen(circle * (weight_n + through * there_n * (n - m)), unified),
        chosen(-circle * (weight_p - through * there_p * (p - 1 + m)), -unified),
    )


def circle_plane() -> LiveFigure:
    """The plane of one negative and one positive similarity: contours, boundary, and where the loss pulls."""
    columns, rows = Grid(s_n, *X_LIMITS, count=48), Grid(s_p, *Y_LIMITS, count=48)
    pair_loss = chosen(
        circle_loss([s_n], [s_p], gamma, m),
        unified_loss([s_n], [s_p], gamma, 1 - 2 * m),
    )
    here = slopes(s_n, s_p)

    def twin(s_n: Tensor, s_p: Tensor, m: Tensor, gamma: Tensor, loss: Tensor, through: Tensor) -> Numbers:
        def value(pairs: Tensor, which: float, scale: float) -> Tensor:
            targets = torch.tensor([False, True], device=pairs.device).expand_as(pairs)
            if which == UNIFIED:
                margin = 1 - 2 * float(m)
                return mlloss.unified_loss(pairs, targets, gamma=scale, margin=margin, reduction="none")
            detach = not through
            return mlloss.circle_loss(
                pairs, targets, gamma=scale, margin=float(m), detach_weights=detach, reduction="none"
            )

        grids = torch.meshgrid(columns.points(), rows.points(), indexing="xy")
        plane = torch.stack(grids, dim=-1).reshape(-1, 2)
        exponents = {  # the loss of γ = 1 is softplus of it, and log(eˣ − 1) undoes that
            which: value(plane, which, 1.0).expm1().log() for which in (CIRCLE, UNIFIED)
        }
        places = torch.tensor(PLACES, dtype=torch.float64, device=plane.device)
        points = torch.cat([places, torch.stack([s_n, s_p])[None]]).requires_grad_()
        losses = value(points, float(loss), float(gamma))
        gradient = derivative(losses, points)
        pulls = -gradient / gamma
        numbers: Numbers = {
            "beyond": torch.tensor([[1.0], [Y_LIMITS[1]]]).expand(2, columns.count).flatten(),
            "levels": exponents[int(loss)],
            "circle": exponents[CIRCLE],
            "line": columns.points() + 1 - 2 * m,
            "pull": [s_n, s_p, *(LARGE * pulls[-1])],
            "place": [s_n, s_p],
            "centre": [torch.zeros_like(m), torch.ones_like(m)],
            "optimum": [-m, 1 + m],
            "value": losses[-1],
            "in_n": gradient[-1, 0],
            "in_p": gradient[-1, 1],
        }
        for i, (place, pull) in enumerate(zip(places, pulls, strict=False)):
            numbers[f"field_{i}"] = [*place, *(SMALL * pull)]
        return numbers

    def field(i: int, x: float, y: float) -> Arrow:
        across, up = slopes(Float(x), Float(y))
        return Arrow(f"field_{i}", Float(x), Float(y), -SMALL * across, -SMALL * up, "axis", width=1.2)

    return LiveFigure(
        "circle-plane",
        title="The plane of two similarities.",
        caption=(
            "Drag the dot, or press Run and let it follow the arrows. Compare both losses, and circle loss "
            "with constant weights and with differentiated ones: where does the dot come to rest?"
        ),
        description=(
            "A plane with the similarity of a negative to the right and that of a positive upward. The "
            "lines of equal circle loss are circles around the point 0, 1, and its decision boundary is one "
            "of them. Those of the unified loss are parallel straight lines; one touches the circle at the "
            "lower right. Arrows show where the chosen loss pulls: those of circle loss point to the diamond "
            "at minus m, 1 plus m if the weights are constants, and to the cross at 0, 1 if they are "
            "differentiated; those of the unified loss are all parallel."
        ),
        controls=[
            Slider(s_n, "negative sₙ", -0.5, 1, 0.7, step=0.01),
            Slider(s_p, "positive sₚ", 0, 1.5, 0.5, step=0.01),
            Choice(loss, "loss", {"circle loss": CIRCLE, "unified loss, margin 1 − 2m": UNIFIED}, CIRCLE),
            Choice(through, "weights of circle loss", {"constants (detached)": 0, "differentiated": 1}, 0),
            Slider(m, "margin m", 0.05, 0.45, 0.25, step=0.05),
            Slider(gamma, "scale γ", 1, 64, 8, step=1),
        ],
        panels=[
            Panel(
                X_LIMITS,
                Y_LIMITS,
                x_label="similarity sₙ of a negative",
                y_label="similarity sₚ of a positive",
                height=5.5,
                legend_columns=2,
            )
        ],
        artists=[
            Area("beyond", Integer(1), Float(Y_LIMITS[1]), columns, "axis", "no cosine gets here"),
            Contours(
                "levels",
                chosen(circle_exponent(s_n, s_p), unified_exponent(s_n, s_p)),
                columns,
                rows,
                [0.2, 0.5, 0.8, 1.1],
                "axis",
                "equal loss",
                width=0.8,
            ),
            Contours(
                "circle",
                circle_exponent(s_n, s_p),
                columns,
                rows,
                [BOUNDARY],
                "circle",
                "boundary, circle loss",
                width=2.4,
            ),
            Curve("line", s_n + 1 - 2 * m, columns, "unified", "boundary, unified loss", dashes="--"),
            *(field(i, x, y) for i, (x, y) in enumerate(PLACES)),
            Point("centre", Integer(0), Integer(1), "text", "(0, 1)", marker="P", size=7),
            Point("optimum", -m, 1 + m, "circle", "(−m, 1 + m)", marker="D", size=7),
            Arrow("pull", s_n, s_p, -LARGE * here[0], -LARGE * here[1], "gradient", "pull", width=3),
            Point("place", s_n, s_p, "positive", "pair", size=10, drag={"x": s_n, "y": s_p}),
            Number("value", pair_loss, "loss"),
            Number("in_n", gamma * here[0], "gradient in sₙ", colour="gradient"),
            Number("in_p", gamma * here[1], "gradient in sₚ", colour="gradient"),
        ],
        twin=twin,
        presets={
            "sₙ is fine": {"s_n": 0, "s_p": 0.3},
            "sₚ is fine": {"s_n": 0.7, "s_p": 1},
            "both half way": {"s_n": 0.35, "s_p": 0.65},
            "past the centre": {"s_n": -0.12, "s_p": 1.12},
        },
        descent=Descent({s_n: -RATE * here[0], s_p: -RATE * here[1]}),
        code=(
            "import torch\n"
            "import mlloss\n\n"
            "pair = torch.tensor([{s_n}, {s_p}], dtype=torch.float64, requires_grad=True)\n"
            "targets = torch.tensor([False, True])\n"
            "value = [\n"
            "    mlloss.circle_loss(\n"
            "        pair, targets, gamma={gamma}, margin={m}, detach_weights=not {through}\n"
            "    ),\n"
            "    mlloss.unified_loss(pair, targets, gamma={gamma}, margin=1 - 2 * {m}),\n"
            "][{loss}]\n"
            "(gradient,) = torch.autograd.grad(value, pair)\n"
            "print(value, gradient)"
        ),
    )


def self_paced_weights() -> LiveFigure:
    """The weight that circle loss gives a similarity as a positive and as a negative."""
    grid = Grid(s, -1, 1)
    words = {"1 + m and −m": PAPER, "1 and 0": SIMPLE, "1 and 0, wrong sign for negatives": WRONG_SIGN}

    def weights(x: Symbol) -> tuple[Expr, Expr]:
        """αₙ and αₚ of a similarity x."""
        negative = Piecewise(
            (relu(x + m), Eq(optima, PAPER)), (relu(x), Eq(optima, SIMPLE)), (relu(-x), True)
        )
        positive = Piecewise((relu(1 + m - x), Eq(optima, PAPER)), (relu(1 - x), True))
        return negative, positive

    def twin(s_n: Tensor, s_p: Tensor, m: Tensor, optima: Tensor) -> Numbers:
        high, low = (1 + m, -m) if optima == PAPER else (torch.ones_like(m), torch.zeros_like(m))

        def negative(x: Tensor) -> Tensor:
            return (low - x if optima == WRONG_SIGN else x - low).relu()

        x = grid.points()
        return {
            "negative": negative(x),
            "positive": (high - x).relu(),
            "equal": torch.ones_like(x),
            "at_n": [s_n, negative(s_n)],
            "at_p": [s_p, (high - s_p).relu()],
            "weight_n": negative(s_n),
            "weight_p": (high - s_p).relu(),
        }

    along = weights(s)
    at_n, at_p = weights(s_n)[0], weights(s_p)[1]
    return LiveFigure(
        "self-paced-weights",
        title="Self-paced weights.",
        caption="The farther from its optimum, the more a similarity weighs. Change m, then the optima.",
        description=(
            "Two lines over similarities from −1 to 1. The weight of a positive falls with slope −1 and, "
            "with the optimum 1 + m, is still m at the similarity 1. The weight of a negative rises with "
            "slope 1 from its optimum −m on, and is 0 below. A dashed line at 1 is the unified loss, which "
            "weighs all alike. With the wrong sign the weight of a negative is 0 above 0."
        ),
        controls=[
            Slider(s_n, "negative sₙ", -1, 1, 0.5, step=0.05),
            Slider(s_p, "positive sₚ", -1, 1, 0.7, step=0.05),
            Slider(m, "margin m", 0, 0.5, 0.25, step=0.05),
            Choice(optima, "optima Oₚ and Oₙ", words, PAPER),
        ],
        panels=[Panel((-1.05, 1.05), (-0.1, 2.6), x_label="similarity", y_label="weight", height=2.8)],
        artists=[
            Curve("positive", along[1], grid, "positive", "αₚ, as a positive"),
            Curve("negative", along[0], grid, "negative", "αₙ, as a negative", dashes="-."),
            Curve("equal", Integer(1), grid, "unified", "unified loss", dashes="--", width=1.5),
            Point("at_p", s_p, at_p, "positive", handle="positive", drag={"x": s_p}),
            Point("at_n", s_n, at_n, "negative", handle="negative", marker="s", drag={"x": s_n}),
            Number("weight_p", at_p, "weight of the positive", colour="positive"),
            Number("weight_n", at_n, "weight of the negative", colour="negative"),
        ],
        twin=twin,
        code=(
            "m, s_n, s_p = {m}, {s_n}, {s_p}\n"
            "high, low = (1 + m, -m) if {optima} == 0 else (1, 0)\n"
            "weight_p = max(0, high - s_p)\n"
            "weight_n = max(0, low - s_n if {optima} == 2 else s_n - low)\n"
            "print(weight_p, weight_n)"
        ),
    )
