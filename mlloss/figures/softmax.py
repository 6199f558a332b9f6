"""Several scores and one right class: probabilities, the pull on every score, and focal loss."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from sympy import Eq, Expr, Float, Integer, Piecewise, exp, symbols
from torch import Tensor

import mlloss
from mlloss.figures.calculus import derivative
from mlloss.figures.imbalance import slope as focal_slope
from mlloss.live import (
    Arrow,
    Bars,
    Choice,
    Contours,
    Curve,
    Descent,
    Grid,
    LiveFigure,
    Number,
    Panel,
    Plane,
    Point,
    Slider,
)
from mlloss.symbolic import cross_entropy, logits, logsumexp, sigmoid, softmax_focal_loss, softplus

Numbers = dict[str, Tensor | list[Tensor]]
DIGITS = ("3", "5", "8", "9")
BESIDE = 0.32  # of a bar's centre: where its target and arrow stand
LENGTH = 3  # score units that an arrow is long where the gradient is 1

x, y, c, gamma = symbols("x y c gamma", real=True)
s1, s2, s3 = logits(3)


def scores_and_probabilities() -> LiveFigure:
    """Four scores in; probabilities, targets and the pull on every score out."""
    scores = logits(4)
    total, true_score = symbols("total true_score", real=True)
    right = [Piecewise((1, Eq(y, i)), (0, True)) for i in range(4)]
    probabilities = [exp(s - total) for s in scores]
    pulls = [one - p for one, p in zip(right, probabilities, strict=True)]
    masks = {"right": right, "wrong": [1 - one for one in right]}

    def twin(y: Tensor, c: Tensor, **params: Tensor) -> Numbers:
        s = torch.stack([params[score.name] for score in scores]).requires_grad_()
        label = y.long()
        loss = F.cross_entropy(s + c, label)
        p, pulls = torch.softmax(s + c, -1), -derivative(loss, s)
        one = F.one_hot(label, 4).double()
        others = torch.cat([p[:label], p[label + 1 :]])
        numbers: Numbers = {
            "right_score": list(one * (s + c)),
            "wrong_score": list((1 - one) * (s + c)),
            "right_p": list(one * p),
            "wrong_p": list((1 - one) * p),
            "loss": loss,
            "p_true": p[label],
            "push": others.sum(),
            "sum_of_scores": (s + c).sum(),
        }
        for i in range(4):
            place = torch.tensor(i + BESIDE, dtype=torch.float64)
            zero = torch.zeros_like(place)
            numbers[f"target_{i + 1}"] = [place, one[i]]
            numbers[f"pull_{i + 1}"] = [place, s[i] + c, zero, LENGTH * pulls[i]]
            numbers[f"way_{i + 1}"] = [place, p[i], zero, pulls[i]]
        return numbers

    def bars(what: str, heights: list[Expr], panel: int) -> list[Bars]:
        roles = {"right": ("positive", "right class"), "wrong": ("negative", "wrong classes")}
        return [
            Bars(
                f"{state}_{what}",
                [mask * height for mask, height in zip(masks[state], heights, strict=True)],
                DIGITS,
                role,
                "" if panel else label,
                width=0.4,
                panel=panel,
            )
            for state, (role, label) in roles.items()
        ]

    def artists_of(i: int) -> list[Arrow | Point]:
        place, zero = Float(i + BESIDE), Integer(0)
        names = ("minus the gradient", "target") if i == 0 else ("", "")
        return [
            Arrow(
                f"pull_{i + 1}", place, scores[i] + c, zero, LENGTH * pulls[i], "gradient", names[0], width=3
            ),
            Arrow(f"way_{i + 1}", place, probabilities[i], zero, pulls[i], "gradient", width=3, panel=1),
            Point(f"target_{i + 1}", place, right[i], "text", names[1], marker="D", size=7, panel=1),
        ]

    start = (1.5, 0.3, 1.0, -0.5)
    return LiveFigure(
        "scores-and-probabilities",
        title="Scores in, probabilities and pulls out.",
        caption=(
            "The picture shows an 8. Raise the score of a wrong class: whose arrows grow? Then add something "
            "to all four scores."
        ),
        description=(
            "Two stacked bar charts for the classes 3, 5, 8 and 9, of which 8 is right. Above, the scores, "
            "each with an arrow: the right class is pulled up, the wrong ones are pushed down, the higher "
            "the score the harder. Below, the probabilities, with an arrow from each to its target, 1 for "
            "the right class and 0 for the others. Adding a constant to all scores moves the upper bars only."
        ),
        controls=[
            *(Slider(s, f"score of {d}", -4, 4, v) for s, d, v in zip(scores, DIGITS, start, strict=True)),
            Choice(y, "right class", {digit: i for i, digit in enumerate(DIGITS)}, 2),
            Slider(c, "added to all", -3, 3, 0),
        ],
        panels=[
            Panel((-0.6, 3.7), (-7.5, 7.5), y_label="score", height=2.4, legend_columns=2),
            Panel((-0.6, 3.7), (-0.06, 1.06), y_label="probability", height=2.2),
        ],
        definitions={
            total: logsumexp(*scores),
            true_score: sum(one * s for one, s in zip(right, scores, strict=True)),
        },
        artists=[
            *bars("score", [s + c for s in scores], 0),
            *bars("p", probabilities, 1),
            *(artist for i in range(4) for artist in artists_of(i)),
            Number(
                "loss", logsumexp(*[s - true_score for s in scores]), "cross-entropy", colour="cross-entropy"
            ),
            Number("p_true", exp(true_score - total), "probability of the right class", colour="positive"),
            Number(
                "push",
                sum((1 - one) * p for one, p in zip(right, probabilities, strict=True)),
                "push on the wrong ones together",
                colour="negative",
            ),
            Number("sum_of_scores", sum(scores) + 4 * c, "sum of the scores"),
        ],
        twin=twin,
        code=(
            "import torch\n"
            "import torch.nn.functional as F\n\n"
            "scores = torch.tensor([{s1}, {s2}, {s3}, {s4}], dtype=torch.float64) + {c}\n"
            "scores.requires_grad_()\n"
            "label = torch.tensor({y})\n"
            "loss = F.cross_entropy(scores, label)\n"
            "(gradient,) = torch.autograd.grad(loss, scores)\n"
            "p_true = torch.softmax(scores, -1)[label]\n"
            "print(loss, p_true, gradient)"
        ),
        presets={
            "all equal": {"s1": 0, "s2": 0, "s3": 0, "s4": 0},
            "sure and wrong": {"s1": 4, "s2": -1, "s3": -3, "s4": 0},
            "sure and right": {"s1": -1, "s2": -2, "s3": 4, "s4": -1},
        },
        descent=Descent(dict(zip(scores, pulls, strict=True))),
    )


def two_scores() -> LiveFigure:
    """The plane of two scores: equal probability lies on straight lines, and the gradient crosses them."""
    s0, s1, u, v = symbols("s0 s1 u v", real=True)
    columns, rows = Grid(u, -4, 4, count=33), Grid(v, -4, 4, count=33)
    right_1 = Piecewise((1, Eq(y, 1)), (0, True))
    loss = y * softplus(s0 - s1) + (1 - y) * softplus(s1 - s0)
    up = right_1 * sigmoid(s0 - s1) - (1 - right_1) * sigmoid(s1 - s0)

    def twin(s0: Tensor, s1: Tensor, y: Tensor) -> Numbers:
        plane = torch.stack(torch.meshgrid(columns.points(), rows.points(), indexing="xy"), dim=-1)
        p = torch.softmax(plane, -1)[..., 1].flatten()
        scores = torch.stack([s0, s1]).requires_grad_()
        loss = F.cross_entropy(scores, y.long())
        pull = -derivative(loss, scores)
        return {
            "plane": p,
            "lines": p,
            "pull": [s0, s1, 2 * pull[0], 2 * pull[1]],
            "scores": [s0, s1],
            "difference": s1 - s0,
            "by_softmax": torch.softmax(scores, -1)[1],
            "by_sigmoid": torch.sigmoid(s1 - s0),
            "loss": loss,
        }

    return LiveFigure(
        "two-scores",
        title="Two scores, one difference.",
        caption=(
            "Drag the dot along a line, then across the lines. Which of the two changes the probability of "
            "class 1?"
        ),
        description=(
            "A plane of two scores from −4 to 4. The probability of class 1 grows from the lower right to "
            "the upper left; where it is constant there are straight lines, all parallel to the diagonal. "
            "From the dot an arrow, minus the gradient of cross-entropy, crosses the lines at a right angle."
        ),
        controls=[
            Slider(s0, "score s₀ of class 0", -4, 4, 1),
            Slider(s1, "score s₁ of class 1", -4, 4, -0.5),
            Choice(y, "right class", {"class 1": 1, "class 0": 0}, 1),
        ],
        panels=[
            Panel((-4, 4), (-4, 4), x_label="score s₀", y_label="score s₁", height=4.8, legend_columns=3)
        ],
        artists=[
            Plane("plane", sigmoid(v - u), columns, rows, 0, 1, "probability"),
            Contours(
                "lines",
                sigmoid(v - u),
                columns,
                rows,
                [0.05, 0.25, 0.5, 0.75, 0.95],
                "text",
                "p₁ of 5, 25, 50, 75, 95 %",
            ),
            Arrow("pull", s0, s1, -2 * up, 2 * up, "gradient", "pull", width=3),
            Point("scores", s0, s1, "negative", "scores", size=10, drag={"x": s0, "y": s1}),
            Number("difference", s1 - s0, "difference s₁ − s₀"),
            Number("by_sigmoid", sigmoid(s1 - s0), "σ(s₁ − s₀)", colour="probability"),
            Number("by_softmax", exp(s1 - logsumexp(s0, s1)), "softmax(s₀, s₁)₁", colour="probability"),
            Number("loss", loss, "cross-entropy", colour="cross-entropy"),
        ],
        twin=twin,
        code=(
            "import torch\n"
            "import torch.nn.functional as F\n\n"
            "scores = torch.tensor([{s0}, {s1}], dtype=torch.float64)\n"
            "difference = scores[1] - scores[0]\n"
            "by_sigmoid = torch.sigmoid(difference)\n"
            "by_softmax = torch.softmax(scores, -1)[1]\n"
            "loss = F.cross_entropy(scores, torch.tensor({y}))\n"
            "print(by_sigmoid, by_softmax, loss)"
        ),
    )


def softmax_focal() -> LiveFigure:
    """What focal loss makes of the pulls: one factor for all classes, given by p_y."""
    grid = Grid(x, -6, 6)
    scores = (s1, s2, s3)

    def rest(true: Expr) -> Expr:
        """How far the others, by their log-sum-exp, score above the right class."""
        return logsumexp(s2, s3) - true

    exponents = {"ce": Integer(0), "focal": gamma}
    style = {"ce": ("cross-entropy", "--", "s"), "focal": ("focal", "-", "o")}
    shares = [exp(s - logsumexp(s2, s3)) for s in (s2, s3)]

    def gradient(exponent: Expr) -> list[Expr]:
        pull = focal_slope(rest(s1), exponent)
        return [-pull, *(share * pull for share in shares)]

    def twin(s1: Tensor, s2: Tensor, s3: Tensor, gamma: Tensor) -> Numbers:
        true = torch.cat([grid.points(), s1[None]])
        s = torch.stack([true, s2.expand_as(true), s3.expand_as(true)], dim=-1).requires_grad_()
        labels = torch.zeros(len(true), dtype=torch.long, device=true.device)
        losses = {
            "ce": F.cross_entropy(s, labels, reduction="none"),
            "focal": mlloss.softmax_focal_loss(s, labels, gamma=float(gamma), reduction="none"),
        }
        gradients = {name: derivative(loss, s) for name, loss in losses.items()}
        numbers: Numbers = {"p_true": torch.softmax(s, -1)[-1, 0]}
        for name, loss in losses.items():
            numbers |= {
                f"{name}_bars": list(gradients[name][-1]),
                f"{name}_pull": -gradients[name][:-1, 0],
                f"at_{name}": [s1, -gradients[name][-1, 0]],
                f"{name}_value": loss[-1],
            }
        return {**numbers, "factor": gradients["focal"][-1, 0] / gradients["ce"][-1, 0]}

    def artists_of(name: str) -> list[Bars | Curve | Point | Number]:
        role, dashes, marker = style[name]
        pull = focal_slope(rest(x), exponents[name])
        value = softmax_focal_loss(scores, 0, gamma=gamma) if name == "focal" else cross_entropy(scores, 0)
        return [
            Bars(
                f"{name}_bars",
                gradient(exponents[name]),
                ["right", "wrong 2", "wrong 3"],
                role,
                role,
                width=0.6 if name == "ce" else 0.3,
            ),
            Curve(f"{name}_pull", pull, grid, role, dashes=dashes, panel=1),
            Point(
                f"at_{name}",
                s1,
                pull.subs(x, s1),
                role,
                marker=marker,
                drag={"x": s1} if name == "focal" else {},
                panel=1,
            ),
            Number(f"{name}_value", value, role, colour=role),
        ]

    return LiveFigure(
        "softmax-focal",
        title="One factor for all classes.",
        caption=(
            "Change γ: the bars of all three classes grow or shrink together. For which scores do they grow?"
        ),
        description=(
            "Above, bars for the gradient of cross-entropy and of focal loss in three scores: negative for "
            "the right class, positive for the wrong ones, adding up to zero. Below, the pull on the right "
            "class over its score: that of focal loss is larger on the left, where the class is badly wrong, "
            "and falls to zero sooner on the right."
        ),
        controls=[
            Slider(s1, "right class s_y", -6, 6, 1),
            Slider(s2, "wrong class s₂", -4, 4, 0.5),
            Slider(s3, "wrong class s₃", -4, 4, -1),
            Slider(gamma, "focusing parameter γ", 0, 5, 2),
        ],
        panels=[
            Panel((-0.6, 2.6), (-1.45, 1.45), y_label="gradient", height=2.2),
            Panel((-6, 6), (-0.05, 1.45), x_label="score of the right class", y_label="its pull", height=2.0),
        ],
        artists=[
            *(artist for name in exponents for artist in artists_of(name)),
            Number("p_true", sigmoid(-rest(s1)), "probability of the right class", colour="probability"),
            Number("factor", focal_slope(rest(s1), gamma) / sigmoid(rest(s1)), "factor on all pulls"),
        ],
        twin=twin,
        code=(
            "import torch\n"
            "import torch.nn.functional as F\n"
            "import mlloss\n\n"
            "scores = torch.tensor([{s1}, {s2}, {s3}], dtype=torch.float64, requires_grad=True)\n"
            "label = torch.tensor(0)\n"
            "ce_value = F.cross_entropy(scores, label)\n"
            "focal_value = mlloss.softmax_focal_loss(scores, label, gamma={gamma})\n"
            "(plain,) = torch.autograd.grad(ce_value, scores)\n"
            "(focal,) = torch.autograd.grad(focal_value, scores)\n"
            "print(plain, focal, focal / plain)"
        ),
        presets={
            "right and easy": {"s1": 4},
            "undecided": {"s1": 1},
            "badly wrong": {"s1": -2},
        },
    )
