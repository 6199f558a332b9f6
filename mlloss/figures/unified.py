"""Every negative below every positive: the pairs on a line, and what scale and margin do to one lead."""

from __future__ import annotations

import math

import torch
from sympy import Expr, Float, Integer, Min, Symbol, exp, log, symbols
from torch import Tensor

import mlloss
from mlloss.figures.calculus import derivative
from mlloss.live import (
    Arrow,
    Choice,
    Curve,
    Descent,
    Grid,
    LiveFigure,
    Number,
    Panel,
    Point,
    Slider,
)
from mlloss.symbolic import hard_unified_loss, logits, logsumexp, relu, sigmoid, softplus

Numbers = dict[str, Tensor | list[Tensor] | float]
ARROW_SCALE = 2  # score units that an arrow is long where the gradient of the loss / γ is 1
SOFT_ROW, HARD_ROW = 1.5, 0.7

gamma, margin = symbols("gamma margin", real=True)


def pairs_on_a_line() -> LiveFigure:
    """Two positives and three negatives: the pull on each, and the loss / γ against its hard form."""
    positives, negatives = logits(2, "p"), logits(3, "n")
    words = ["dog", "ball", "cat", "snow", "car"]
    scores: list[Symbol] = [*positives, *negatives]
    heights = dict(zip(scores, (7, 6, 5, 4, 3), strict=True))
    n, p = symbols("n p", real=True)
    side = sigmoid(n + p)
    pulls: dict[Symbol, Expr] = {
        **{sp: side * exp(-gamma * sp - p) for sp in positives},
        **{sn: -side * exp(gamma * (sn + margin) - n) for sn in negatives},
    }
    soft, hard = softplus(n + p) / gamma, hard_unified_loss(negatives, positives, margin)
    bound, low = log(7) / gamma, Min(*positives)

    def twin(gamma: Tensor, margin: Tensor, **params: Tensor) -> Numbers:
        s = torch.stack([params[score.name] for score in scores]).requires_grad_()
        targets = torch.tensor([score in positives for score in scores], device=s.device)
        loss = mlloss.unified_loss(s, targets, gamma=float(gamma), margin=float(margin))
        hard = mlloss.hard_unified_loss(s, targets, margin=float(margin)).detach()
        pulls, soft = -derivative(loss, s) / gamma, loss.detach() / gamma
        low, zero = s[targets].min().detach(), torch.zeros_like(gamma)
        row, below = torch.full_like(zero, SOFT_ROW), torch.full_like(zero, HARD_ROW)
        numbers: Numbers = {
            "soft_bar": [low, row, soft, zero],
            "hard_bar": [low, below, hard, zero],
            "bound_mark": [low + hard + math.log(7) / gamma, row],
            "loss": loss,
            "soft": soft,
            "hard": hard,
            "gap": soft - hard,
            "bound": math.log(7) / gamma,
            "up": pulls[targets].sum(),
            "down": -pulls[~targets].sum(),
            "sum_of_pulls": pulls.sum(),
        }
        for score, place, pull in zip(scores, s.detach(), pulls, strict=True):
            height = torch.full_like(place, heights[score])
            numbers[f"at_{score}"] = [place, height]
            numbers[f"pull_{score}"] = [place, height, ARROW_SCALE * pull, zero]
        return numbers

    def artists_of(score: Symbol, word: str) -> list[Arrow | Point]:
        positive, height = score in positives, Integer(heights[score])
        role, marker = ("positive", "o") if positive else ("negative", "s")
        first = score in (positives[0], negatives[0])
        label = f"{'right' if positive else 'wrong'} labels" * first
        arrow = "pull" * (score == positives[0])
        return [
            Arrow(f"pull_{score}", score, height, ARROW_SCALE * pulls[score], 0 * score, "gradient", arrow),
            Point(f"at_{score}", score, height, role, label, marker, size=9, drag={"x": score}, handle=word),
        ]

    starts = (1.5, 0.2, 0.8, -0.5, -2.0)
    names = dict(zip(map(float, heights.values()), words, strict=True))
    return LiveFigure(
        "pairs-on-a-line",
        title="Every wrong label against every right one.",
        caption=(
            "Drag the marks. Who is pulled hardest, who hardly at all? Can you find a place where the arrows "
            "do not add up to zero, or where the soft bar is shorter than the hard one?"
        ),
        description=(
            "Five labels on a line of scores, one a row: dog and ball are right, cat, snow, car wrong. "
            "Each has an arrow: right labels are pulled up, the lowest most, wrong ones are pushed down, the "
            "highest most. Below, two bars that begin at the lowest right score: the hard one ends at the "
            "highest wrong score plus the margin, the soft one is longer, but ends before a mark."
        ),
        controls=[
            *(
                Slider(score, f"score of {word}", -4, 4, start)
                for score, word, start in zip(scores, words, starts, strict=True)
            ),
            Slider(gamma, "scale γ", 1, 10, 1, step=0.5),
            Slider(margin, "margin m", 0, 1, 0, step=0.05),
        ],
        panels=[
            Panel(
                (-6.2, 7.2),
                (0.1, 7.7),
                x_label="score",
                height=3.3,
                legend_columns=3,
                y_names={**names, SOFT_ROW: "soft", HARD_ROW: "hard"},
            )
        ],
        definitions={
            n: logsumexp(*[gamma * (sn + margin) for sn in negatives]),
            p: logsumexp(*[-gamma * sp for sp in positives]),
        },
        artists=[
            Arrow("soft_bar", low, Float(SOFT_ROW), soft, 0 * n, "unified", "loss / γ", head=False, width=6),
            Arrow("hard_bar", low, Float(HARD_ROW), hard, 0 * n, "hard", "hard form", head=False, width=6),
            Point("bound_mark", low + hard + bound, Float(SOFT_ROW), "bound", "at most", "D", size=6),
            *(a for score, word in zip(scores, words, strict=True) for a in artists_of(score, word)),
            Number("loss", softplus(n + p), "loss"),
            Number("soft", soft, "loss / γ", colour="unified"),
            Number("hard", hard, "hard form", colour="hard"),
            Number("gap", soft - hard, "gap"),
            Number("bound", bound, "largest gap: (log 7)/γ", colour="bound"),
            Number("up", sum(pulls[sp] for sp in positives), "right labels, up", colour="positive"),
            Number("down", -sum(pulls[sn] for sn in negatives), "wrong labels, down", colour="negative"),
            Number("sum_of_pulls", sum(pulls.values()), "sum of all arrows", colour="gradient"),
        ],
        twin=twin,
        code=(
            "import torch\n"
            "import mlloss\n\n"
            "scores = torch.tensor([{p1}, {p2}, {n1}, {n2}, {n3}], dtype=torch.float64)\n"
            "scores.requires_grad_()\n"
            "targets = torch.tensor([True, True, False, False, False])\n"
            "loss = mlloss.unified_loss(scores, targets, gamma={gamma}, margin={margin})\n"
            "hard = mlloss.hard_unified_loss(scores, targets, margin={margin})\n"
            "(gradient,) = torch.autograd.grad(loss, scores)\n"
            "print(loss.item(), loss.item() / {gamma}, hard.item())\n"
            "print(-gradient / {gamma}, gradient.sum().item())"
        ),
        presets={
            "all equal": dict.fromkeys((score.name for score in scores), 0.0),
            "in order": {"p1": 2.0, "p2": 1.0, "n1": 0.5, "n2": -0.5, "n3": -2.0},
            "in order, with a margin": {"p1": 2.0, "p2": 1.0, "n1": 0.5, "n2": -0.5, "n3": -2.0, "margin": 1},
            "in order, γ = 10": {"p1": 2.0, "p2": 1.0, "n1": 0.5, "n2": -0.5, "n3": -2.0, "gamma": 10},
            "one label lost": {"p1": 3.0, "p2": -3.0, "n1": 0.0, "n2": -1.0, "n3": -1.5},
        },
        descent=Descent({score: pull / 2 for score, pull in pulls.items()}),
    )


def scale_and_margin() -> LiveFigure:
    """The loss / γ over the lead of the positives, all pairs alike: special cases, limit and floor."""
    x, lead, many_n, many_p = symbols("x lead negatives positives", real=True)
    grid = Grid(x, -2, 2, count=201)
    pairs = log(many_n * many_p)

    def above(d: Expr) -> Expr:
        """n + p where every positive leads every negative by d."""
        return pairs + gamma * (margin - d)

    soft, hard = softplus(above(x)) / gamma, relu(margin - x)
    bound = log(1 + many_n * many_p) / gamma
    at = {x: lead}

    def twin(lead: Tensor, gamma: Tensor, margin: Tensor, negatives: Tensor, positives: Tensor) -> Numbers:
        n, p, scale, m = int(negatives), int(positives), float(gamma), float(margin)
        ends = torch.tensor([1.0, 2.0], dtype=torch.float64, device=lead.device)
        leads = torch.cat([grid.points(), lead[None], ends]).requires_grad_()
        s = torch.cat([leads[:, None].expand(-1, p), leads.new_zeros(len(leads), n)], dim=-1)
        targets = (torch.arange(p + n, device=s.device) < p).expand_as(s)
        loss = mlloss.unified_loss(s, targets, gamma=scale, margin=m, reduction="none")
        hard = mlloss.hard_unified_loss(s, targets, margin=m, reduction="none").detach()
        pull, loss = -derivative(loss, leads) / gamma, loss.detach()
        soft, most = loss / gamma, math.log(1 + n * p) / gamma
        return {
            "at_most": hard[:-3] + most,
            "hard_curve": hard[:-3],
            "soft_curve": soft[:-3],
            "pull_curve": pull[:-3],
            "at_hard": [lead, hard[-3]],
            "at_soft": [lead, soft[-3]],
            "at_pull": [lead, pull[-3]],
            "loss": loss[-3],
            "soft": soft[-3],
            "hard": hard[-3],
            "gap": soft[-3] - hard[-3],
            "bound": most,
            "gradient": -gamma * pull[-3],
            "floor_unit": loss[-2],
            "floor_cosine": loss[-1],
        }

    counts = ((many_n, "wrong", (1, 9, 99), 9), (many_p, "right", (1, 3), 1))
    return LiveFigure(
        "scale-and-margin",
        title="Scale and margin.",
        caption=(
            "All pairs have the same lead here. Which control moves the bend to the right, which sharpens "
            "it, and which only lifts the curve a little?"
        ),
        description=(
            "Above, the loss divided by the scale over the lead of the right scores: a hinge that falls with "
            "slope −1 and is zero beyond the margin, and a smooth curve above it that rounds the corner, "
            "closer the larger the scale. Below, the pull on each side, a step from 1 down to 0 near the "
            "margin, steeper the larger the scale."
        ),
        controls=[
            Slider(lead, "lead of the right scores", -2, 2, 0.5, step=0.05),
            Slider(gamma, "scale γ", 1, 64, 4, step=1),
            Slider(margin, "margin m", 0, 1, 0.25, step=0.05),
            *(
                Choice(symbol, f"number of {word} labels", {str(c): c for c in options}, start)
                for symbol, word, options, start in counts
            ),
        ],
        panels=[
            Panel((-2, 2), (-0.2, 3.4), y_label="loss / γ", height=2.7, legend_columns=3),
            Panel((-2, 2), (-0.08, 1.15), x_label="lead of the right scores", y_label="pull / γ", height=1.6),
        ],
        artists=[
            Curve("at_most", hard + bound, grid, "bound", "at most", dashes=":"),
            Curve("hard_curve", hard, grid, "hard", "[m − lead]₊", dashes="--"),
            Curve("soft_curve", soft, grid, "soft", "loss / γ"),
            Point("at_hard", lead, hard.subs(at), "hard", marker="s", size=7),
            Point("at_soft", lead, soft.subs(at), "soft", drag={"x": lead}, handle="lead"),
            Curve("pull_curve", sigmoid(above(x)), grid, "gradient", panel=1),
            Point("at_pull", lead, sigmoid(above(lead)), "gradient", marker="^", panel=1),
            Number("loss", softplus(above(lead)), "loss"),
            Number("soft", soft.subs(at), "loss / γ", colour="soft"),
            Number("hard", hard.subs(at), "hard form", colour="hard"),
            Number("gap", soft.subs(at) - hard.subs(at), "gap"),
            Number("bound", bound, "largest gap", colour="bound"),
            Number("gradient", -gamma * sigmoid(above(lead)), "slope of the loss", colour="gradient"),
            Number("floor_unit", softplus(above(Integer(1))), "loss at lead 1"),
            Number("floor_cosine", softplus(above(Integer(2))), "loss at lead 2"),
        ],
        twin=twin,
        code=(
            "import torch\n"
            "import mlloss\n\n"
            "positives, negatives = int({positives}), int({negatives})\n"
            "scores = torch.zeros(positives + negatives, dtype=torch.float64)\n"
            "scores[:positives] = {lead}\n"
            "targets = torch.arange(len(scores)) < positives\n"
            "loss = mlloss.unified_loss(scores, targets, gamma={gamma}, margin={margin})\n"
            "hard = mlloss.hard_unified_loss(scores, targets, margin={margin})\n"
            "print(loss.item(), loss.item() / {gamma}, hard.item())"
        ),
        presets={
            "two classes": {"gamma": 1, "margin": 0, "negatives": 1},
            "cross-entropy": {"gamma": 1, "margin": 0},
            "AM-softmax": {"gamma": 30, "margin": 0.35},
            "nearly a triplet hinge": {"gamma": 64, "negatives": 1},
        },
    )
