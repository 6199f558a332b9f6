"""Imbalance: who owns the total loss, what focal loss turns away from, and the answers weights ask for."""

from __future__ import annotations

import torch
from sympy import Expr, Integer, log, symbols
from torch import Tensor

import mlloss
from mlloss.figures.calculus import derivative
from mlloss.live import Bars, Choice, Curve, Grid, LiveFigure, Number, Panel, Point, Slider
from mlloss.symbolic import sigmoid, sigmoid_focal_loss, softplus

Numbers = dict[str, Tensor | list[Tensor]]
x, z, y, alpha, gamma, q = symbols("x z y alpha gamma q", real=True)
easy, hard, crowd = symbols("easy hard crowd", positive=True)


def focal(scores: Tensor, targets: Tensor | float, gamma: Tensor, alpha: Tensor | None = None) -> Tensor:
    """Focal loss of each score; one target may stand for all."""
    targets = torch.as_tensor(targets, dtype=scores.dtype, device=scores.device).expand_as(scores)
    weight = None if alpha is None else float(alpha)
    return mlloss.sigmoid_focal_loss(scores, targets, alpha=weight, gamma=float(gamma), reduction="none")


def slope(u: Expr, gamma: Expr) -> Expr:
    """The derivative of σ(u)^γ softplus(u), where u is how wrong a score is."""
    return sigmoid(u) ** gamma * (sigmoid(u) + gamma * sigmoid(-u) * softplus(u))


def share_of_easy_examples() -> LiveFigure:
    """How much of the total loss, and of the pull, many easy samples own against one hard one."""
    grid = Grid(x, 0, 5, count=101)
    share_of_samples = crowd / (crowd + 1)

    def loss(p: Expr, exponent: Expr) -> Expr:
        return (1 - p) ** exponent * -log(p)

    def pull(p: Expr, exponent: Expr) -> Expr:
        return (1 - p) ** exponent * (1 - p - exponent * p * log(p))

    def share(part: Expr, other: Expr) -> Expr:
        return crowd * part / (crowd * part + other)

    def share_of_loss(exponent: Expr) -> Expr:
        return share(loss(easy, exponent), loss(hard, exponent))

    def share_of_pull(exponent: Expr) -> Expr:
        return share(pull(easy, exponent), pull(hard, exponent))

    def twin(crowd: Tensor, easy: Tensor, hard: Tensor, gamma: Tensor) -> Numbers:
        def shares(gamma: Tensor) -> tuple[Tensor, Tensor]:
            scores = torch.logit(torch.stack([easy, hard])).requires_grad_()
            losses = focal(scores, 1.0, gamma)
            pulls = -derivative(losses, scores)
            many = torch.stack([crowd, torch.ones_like(crowd)])
            return tuple((many * part)[0] / (many * part).sum() for part in (losses, pulls))  # type: ignore[return-value]

        of_loss, of_pull = shares(gamma)
        curves = [shares(exponent) for exponent in grid.points()]
        of_samples = crowd / (crowd + 1)
        return {
            "samples": [of_samples, 1 - of_samples],
            "losses": [of_loss, 1 - of_loss],
            "loss_curve": torch.stack([one for one, _ in curves]),
            "pull_curve": torch.stack([other for _, other in curves]),
            "at_loss": [gamma, of_loss],
            "at_pull": [gamma, of_pull],
            "easy_factor": (1 - easy) ** gamma,
            "hard_factor": (1 - hard) ** gamma,
            "loss_share": of_loss,
            "pull_share": of_pull,
        }

    own = share_of_loss(gamma)
    return LiveFigure(
        "share-of-easy-examples",
        title="Who owns the loss?",
        caption=(
            "At γ = 0 this is cross-entropy. From which γ on do the hard samples own more than half of the "
            "loss?"
        ),
        description=(
            "Above, two pairs of bars: the easy samples are most of the samples and, at γ = 0, own most of "
            "the loss; the hard ones are few. Below, over γ from 0 to 5, the share of the loss owed to the "
            "easy samples falls steeply towards 0; their share of the pull falls a little later."
        ),
        controls=[
            Slider(gamma, "focusing parameter γ", 0, 5, 0),
            Slider(crowd, "easy samples for each hard one", 1, 100, 10, step=1),
            Slider(easy, "probability of the truth, easy", 0.6, 0.99, 0.9, step=0.01),
            Slider(hard, "probability of the truth, hard", 0.05, 0.55, 0.5, step=0.01),
        ],
        panels=[
            Panel((-0.6, 1.6), (0, 1.05), y_label="share", height=1.9),
            Panel((0, 5), (-0.04, 1.05), x_label="γ", y_label="share of the easy", height=2.0),
        ],
        artists=[
            Bars(
                "samples",
                [share_of_samples, 1 / (crowd + 1)],
                ["easy", "hard"],
                "bound",
                "of the samples",
                width=0.7,
            ),
            Bars("losses", [own, 1 - own], ["easy", "hard"], "focal", "of the loss", width=0.35),
            Curve("loss_curve", share_of_loss(x), grid, "focal", "of the loss", panel=1),
            Curve("pull_curve", share_of_pull(x), grid, "slope", "of the pull", dashes="--", panel=1),
            Point("at_loss", gamma, own, "focal", drag={"x": gamma}, panel=1),
            Point("at_pull", gamma, share_of_pull(gamma), "slope", marker="s", size=7, panel=1),
            Number("easy_factor", (1 - easy) ** gamma, "factor (1 − p)^γ, easy", colour="focal"),
            Number("hard_factor", (1 - hard) ** gamma, "factor (1 − p)^γ, hard", colour="focal"),
            Number("loss_share", own, "share of the easy in the loss", colour="focal"),
            Number("pull_share", share_of_pull(gamma), "share of the easy in the pull", colour="slope"),
        ],
        twin=twin,
        code=(
            "import torch\n\n"
            "p = torch.tensor([{easy}, {hard}], dtype=torch.float64)  # of the truth\n"
            "count = torch.tensor([{crowd}, 1], dtype=torch.float64)\n"
            "factor = (1 - p) ** {gamma}\n"
            "loss = count * factor * -p.log()\n"
            "pull = count * factor * (1 - p - {gamma} * p * p.log())\n"
            "easy_factor, hard_factor = factor\n"
            "loss_share = loss[0] / loss.sum()\n"
            "pull_share = pull[0] / pull.sum()\n"
            "print(loss_share, pull_share)"
        ),
        presets={
            "cross-entropy": {"gamma": 0},
            "γ = 2": {"gamma": 2},
            "a hundred to one": {"crowd": 100, "easy": 0.97, "hard": 0.3, "gamma": 0},
        },
    )


def focal_loss() -> LiveFigure:
    """Focal loss against cross-entropy of the same weight: the values above, the gradients below."""
    grid = Grid(x, -8, 8)
    exponents = {"ce": Integer(0), "focal": gamma}
    style = {
        "ce": ("cross-entropy", "cross-entropy, weighted", "--", "s"),
        "focal": ("focal", "focal", "-", "o"),
    }
    wrong = (1 - 2 * y) * z

    def value(scores: Expr, exponent: Expr) -> Expr:
        return sigmoid_focal_loss(scores, y, alpha, exponent)

    def gradient(scores: Expr, exponent: Expr) -> Expr:
        return (1 - y) * (1 - alpha) * slope(scores, exponent) - y * alpha * slope(-scores, exponent)

    def twin(z: Tensor, y: Tensor, alpha: Tensor, gamma: Tensor) -> Numbers:
        inputs = torch.cat([grid.points(), z[None]]).requires_grad_()
        p_true = torch.sigmoid((2 * y - 1) * z)
        numbers: Numbers = {"p_true": p_true}
        for name, exponent in {"ce": torch.zeros_like(gamma), "focal": gamma}.items():
            loss = focal(inputs, y, exponent, alpha)
            pull = derivative(loss, inputs)
            numbers |= {name: loss[:-1], f"{name}_slope": pull[:-1]}
            numbers |= {f"at_{name}": [z, loss[-1]], f"at_{name}_slope": [z, pull[-1]]}
            numbers |= {f"{name}_value": loss[-1], f"{name}_gradient": pull[-1]}
        unweighted = [
            derivative(focal(inputs, y, exponent), inputs)[-1]
            for exponent in (gamma, torch.zeros_like(gamma))
        ]
        return {
            **numbers,
            "loss_ratio": torch.sigmoid((1 - 2 * y) * z) ** gamma,
            "gradient_ratio": unweighted[0] / unweighted[1],
        }

    def artists_of(name: str) -> list[Curve | Point | Number]:
        role, label, dashes, marker = style[name]
        exponent = exponents[name]
        loss, pull = value(x, exponent), gradient(x, exponent)
        here, pull_here = loss.subs(x, z), pull.subs(x, z)
        return [
            Curve(name, loss, grid, role, label, dashes=dashes),
            Curve(f"{name}_slope", pull, grid, role, dashes=dashes, panel=1),
            Point(f"at_{name}", z, here, role, marker=marker, drag={"x": z} if name == "focal" else {}),
            Point(f"at_{name}_slope", z, pull_here, role, marker=marker, panel=1),
            Number(f"{name}_value", here, label, colour=role),
            Number(f"{name}_gradient", pull_here, f"{label}: gradient", colour=role),
        ]

    return LiveFigure(
        "focal-loss",
        title="Turning away from what is right.",
        caption=(
            "Both losses have the same α. Find a logit at which the gradient of focal loss is the larger one."
        ),
        description=(
            "Two stacked graphs over the logit from −8 to 8, for target 1. Above, focal loss runs below the "
            "weighted cross-entropy and reaches zero much sooner on the right. Below, the gradient of focal "
            "loss is nearly zero on the right, dips below that of cross-entropy on the left, and joins it "
            "far left."
        ),
        controls=[
            Slider(z, "logit z", -8, 8, 2.2),
            Choice(y, "truth", {"yes (y = 1)": 1, "no (y = 0)": 0}, 1),
            Slider(gamma, "focusing parameter γ", 0, 5, 2),
            Slider(alpha, "weight α of yes", 0.05, 0.95, 0.5, step=0.05),
        ],
        panels=[
            Panel((-8, 8), (-0.2, 4.2), y_label="loss", height=2.2),
            Panel((-8, 8), (-1.4, 1.4), x_label="logit z", y_label="gradient", height=2.1),
        ],
        artists=[
            *(artist for name in exponents for artist in artists_of(name)),
            Number("p_true", sigmoid(-wrong), "probability of the truth pₜ", colour="probability"),
            Number("loss_ratio", sigmoid(wrong) ** gamma, "ratio of the losses (1 − pₜ)^γ", colour="text"),
            Number(
                "gradient_ratio",
                slope(wrong, gamma) / sigmoid(wrong),
                "ratio of the gradients",
                colour="text",
            ),
        ],
        twin=twin,
        code=(
            "import torch\n"
            "import mlloss\n\n"
            "z = torch.tensor({z}, dtype=torch.float64, requires_grad=True)\n"
            "y = torch.tensor({y}, dtype=torch.float64)\n\n"
            "def value_and_gradient(gamma):\n"
            "    loss = mlloss.sigmoid_focal_loss(z, y, alpha={alpha}, gamma=gamma)\n"
            "    (gradient,) = torch.autograd.grad(loss, z)\n"
            "    return loss, gradient\n\n"
            "ce_value, ce_gradient = value_and_gradient(0)\n"
            "focal_value, focal_gradient = value_and_gradient({gamma})\n"
            "gradient_ratio = focal_gradient / ce_gradient\n"
            "print(focal_value, focal_gradient, gradient_ratio)"
        ),
        presets={
            "easy": {"z": 2.2},
            "undecided": {"z": 0},
            "wrong and sure": {"z": -6},
            "paper, yes": {"alpha": 0.25, "y": 1},
            "paper, no": {"alpha": 0.25, "y": 0},
        },
    )


def best_answer() -> LiveFigure:
    """The average loss of one answer given to many samples of which a share q says yes."""
    grid = Grid(x, -6, 6)

    def average(scores: Expr) -> Expr:
        yes = alpha * sigmoid(-scores) ** gamma * softplus(-scores)
        no = (1 - alpha) * sigmoid(scores) ** gamma * softplus(scores)
        return q * yes + (1 - q) * no

    def relative(scores: Expr) -> Expr:
        return average(scores) / average(Integer(0))

    up, down = alpha * slope(-z, gamma), (1 - alpha) * slope(z, gamma)
    weighted = log(q / (1 - q)) + log(alpha / (1 - alpha))

    def twin(z: Tensor, q: Tensor, alpha: Tensor, gamma: Tensor) -> Numbers:
        truth = torch.logit(q)
        weighted = truth + torch.logit(alpha)
        inputs = torch.cat([grid.points(), torch.stack([truth, weighted, z, 0 * z])]).requires_grad_()
        yes, no = focal(inputs, 1.0, gamma, alpha), focal(inputs, 0.0, gamma, alpha)
        loss = q * yes + (1 - q) * no
        loss = loss / loss[-1].detach()
        up, down = -derivative(yes, inputs)[-2], derivative(no, inputs)[-2]
        return {
            "average": loss[:-4],
            "truth": [truth, loss[-4]],
            "weighted": [weighted, loss[-3]],
            "answer": [z, loss[-2]],
            "p": torch.sigmoid(z),
            "true_rate": q,
            "slope": derivative(loss, inputs)[-2],
            "weighted_p": torch.sigmoid(weighted),
            "implied_rate": down / (up + down),
        }

    return LiveFigure(
        "best-answer",
        title="The answer that the loss asks for.",
        caption=(
            "Drag the dot to the lowest point. With α = ½ and γ = 0 it is the true rate; now change α, then "
            "γ."
        ),
        description=(
            "Over the logit from −6 to 6, the average loss of one answer to many samples of which 30 per "
            "cent say yes is a valley. With α = ½ and γ = 0 its lowest point lies at the diamond that marks "
            "the true rate. A smaller α moves the valley to the left, a larger γ makes it steeper and moves "
            "it towards 0."
        ),
        controls=[
            Slider(z, "answer: logit z", -6, 6, 1, step=0.05),
            Slider(q, "true rate of yes q", 0.01, 0.99, 0.3, step=0.01),
            Slider(alpha, "weight α of yes", 0.05, 0.95, 0.5, step=0.05),
            Slider(gamma, "focusing parameter γ", 0, 5, 0),
        ],
        panels=[
            Panel(
                (-6, 6),
                (0, 2.6),
                x_label="answer: logit z",
                y_label="loss ÷ loss at 0",
                height=2.8,
            )
        ],
        artists=[
            Curve("average", relative(x), grid, "focal", "average loss"),
            Point(
                "truth",
                log(q / (1 - q)),
                relative(log(q / (1 - q))),
                "text",
                "true rate",
                marker="D",
                size=7,
            ),
            Point("weighted", weighted, relative(weighted), "positive", "moved by α", marker="s", size=7),
            Point("answer", z, relative(z), "focal", "your answer", size=10, drag={"x": z}),
            Number("p", sigmoid(z), "your answer σ(z)", colour="focal"),
            Number("true_rate", q, "true rate q"),
            Number("slope", ((1 - q) * down - q * up) / average(Integer(0)), "slope at your answer"),
            Number("weighted_p", sigmoid(weighted), "best answer at γ = 0", colour="positive"),
            Number("implied_rate", down / (up + down), "true rate for which yours is best", colour="focal"),
        ],
        twin=twin,
        code=(
            "import torch\n"
            "import mlloss\n\n"
            "def average_loss(z):\n"
            "    answers = torch.stack([z, z])\n"
            "    truth = torch.tensor([1, 0])\n"
            "    losses = mlloss.sigmoid_focal_loss(\n"
            '        answers, truth, alpha={alpha}, gamma={gamma}, reduction="none"\n'
            "    )\n"
            "    return {q} * losses[0] + (1 - {q}) * losses[1]\n\n"
            "z = torch.tensor({z}, dtype=torch.float64)\n"
            "p = torch.sigmoid(z)\n"
            "slope = torch.func.grad(average_loss)(z) / average_loss(torch.zeros_like(z))\n"
            "print(p, slope)"
        ),
        presets={
            "cross-entropy": {"z": -0.85},
            "α = ¼": {"alpha": 0.25, "z": -1.95},
            "γ = 2": {"gamma": 2, "z": -0.3},
        },
    )
