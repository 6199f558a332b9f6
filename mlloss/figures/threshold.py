"""A threshold among the scores: where it is pulled, and where the loss with a threshold puts scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from sympy import (
    And,
    Eq,
    Expr,
    Float,
    Integer,
    Max,
    Min,
    Piecewise,
    Rational,
    StrictGreaterThan,
    Symbol,
    log,
    sign,
    symbols,
)
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
    Switch,
)
from mlloss.symbolic import (
    hard_thresholded_loss,
    logits,
    logsumexp,
    sigmoid,
    softplus,
    thresholded_loss,
    unified_loss,
)

Numbers = dict[str, Any]
ARROW_SCALE = 2  # score units that an arrow is long where the gradient is 1
RATE = Rational(3, 10)

t, learned, share, common, x = symbols("t learned share s s_x", real=True)
many, few = symbols("labels on", positive=True)


def movable_threshold() -> LiveFigure:
    """Two positives, three negatives and a threshold: where the loss and its hard form pull each of them."""
    positives, negatives = logits(2, "p"), logits(3, "n")
    scores = [*positives, *negatives]
    words = ["right class 1", "right class 2", "wrong class 1", "wrong class 2", "wrong class 3"]
    starts = (0.5, 2, 1, -0.5, -2)
    top_row = len(scores) + 1
    soft = thresholded_loss(negatives, positives, t)
    push = sigmoid(logsumexp(*negatives) - t)
    pull = sigmoid(t + logsumexp(*[-s for s in positives]))

    def hard_pull(members: Sequence[Symbol], score: Symbol, side: int) -> Expr:
        """Of the highest negative (side −1) or lowest positive (+1) that is on the wrong side; ties share."""
        extreme = Max(*members) if side < 0 else Min(*members)
        tied = sum(Piecewise((1, Eq(other, extreme)), (0, True)) for other in members)
        wrong = And(Eq(score, extreme), StrictGreaterThan(side * (t - extreme), 0))
        return Piecewise((side / tied, wrong), (0, True))

    def hard_pull_on_threshold() -> Expr:
        above = Piecewise((1, StrictGreaterThan(Max(*negatives), t)), (0, True))
        below = Piecewise((1, StrictGreaterThan(t, Min(*positives))), (0, True))
        return above - below

    def twin(t: Tensor, learned: Tensor, **params: Tensor) -> Numbers:
        s = torch.stack([params[score.name] for score in scores]).requires_grad_()
        targets = torch.tensor([score in positives for score in scores], device=s.device)
        border = t.clone().requires_grad_()
        loss = mlloss.thresholded_loss(s, targets, threshold=border)
        hard = mlloss.hard_thresholded_loss(s, targets, threshold=border)
        gradient = derivative(loss, s)
        numbers: Numbers = {
            "line": [t, 0.4, 0.0, top_row - 0.4],
            "at_t": [t, float(top_row)],
            "loss": loss,
            "hard_loss": hard,
            "push": gradient[~targets].sum(),
            "pull": -gradient[targets].sum(),
            "unified": mlloss.unified_loss(s, targets),
        }
        for name, value, offset in (("soft", loss, 0.14), ("hard", hard, -0.14)):
            pulls = -ARROW_SCALE * derivative(value, s)
            for i, (score, way) in enumerate(zip(s, pulls, strict=True)):
                numbers[f"{name}_{i}"] = [score, i + 1 + offset, way, 0.0]
            way = -ARROW_SCALE * derivative(value, border)
            numbers[f"{name}_t"] = [t, top_row + offset, way, 0.0]
        return numbers | {f"at_{i}": [score, float(i + 1)] for i, score in enumerate(s)}

    def arrows(i: int, start: Symbol, way: Expr, hard_way: Expr, named: bool = False) -> list[Arrow]:
        ways = {"soft": (way, "gradient", 0.14), "hard": (hard_way, "slope", -0.14)}
        suffix = "t" if start == t else i
        return [
            Arrow(
                f"{name}_{suffix}",
                start,
                Float(i + 1 + offset),
                ARROW_SCALE * change,
                0 * start,
                role,
                f"pull of the {'loss' if name == 'soft' else 'hard form'}" * named,
            )
            for name, (change, role, offset) in ways.items()
        ]

    def mark(i: int, score: Symbol) -> Point:
        role, marker = ("positive", "o") if score in positives else ("negative", "s")
        kinds = {0: "right class", 2: "wrong class"}
        style: dict[str, Any] = {"marker": marker, "size": 9, "drag": {"x": score}, "handle": words[i]}
        return Point(f"at_{i}", score, Integer(i + 1), role, kinds.get(i, ""), **style)

    members = {score: (positives, 1) if score in positives else (negatives, -1) for score in scores}
    return LiveFigure(
        "movable-threshold",
        title="A threshold that is pulled, too.",
        caption=(
            "Move the threshold until nothing pulls on it. Is it then where the hard form is content? "
            "And when is everything at rest?"
        ),
        description=(
            "A number line from −5 to 5 with two right classes as circles, three wrong classes as squares, "
            "and a vertical line for the threshold, with a triangle on top. Arrows of the loss pull right "
            "classes to the right and wrong ones to the left, each a little, the worst one most; arrows of "
            "the hard form pull only the lowest right and the highest wrong class, and only while they are "
            "on the wrong side. Wrong classes pull the triangle to the right, right classes to the left."
        ),
        controls=[
            Slider(t, "threshold t", -5, 5, 0),
            Switch(learned, "the threshold learns, too", 0),
            *(
                Slider(score, word, -5, 5, start)
                for score, word, start in zip(scores, words, starts, strict=True)
            ),
        ],
        panels=[Panel((-7.2, 7.2), (0.3, top_row + 0.7), x_label="score", height=2.7, y_axis=False)],
        artists=[
            Arrow("line", t, Float(0.4), 0 * t, Float(top_row - 0.4), "thresholded", head=False, width=1.5),
            *(
                arrow
                for i, score in enumerate(scores)
                for arrow in arrows(
                    i,
                    score,
                    -soft.diff(score),
                    hard_pull(members[score][0], score, members[score][1]),
                    i == 0,
                )
            ),
            *arrows(top_row - 1, t, -soft.diff(t), hard_pull_on_threshold()),
            *(mark(i, score) for i, score in enumerate(scores)),
            Point(
                "at_t", t, Integer(top_row), "thresholded", "threshold", marker="v", size=10, drag={"x": t}
            ),
            Number("loss", soft, "thresholded loss", colour="gradient"),
            Number(
                "hard_loss", hard_thresholded_loss(negatives, positives, t), "its hard form", colour="slope"
            ),
            Number("push", push, "push on all wrong classes", colour="negative"),
            Number("pull", pull, "pull on all right classes", colour="positive"),
            Number("unified", unified_loss(negatives, positives), "unified loss: no threshold"),
        ],
        twin=twin,
        code="""\
import torch
import mlloss

s = torch.tensor([{p1}, {p2}, {n1}, {n2}, {n3}], dtype=torch.float64, requires_grad=True)
t = torch.tensor({t}, dtype=torch.float64, requires_grad=True)
targets = torch.tensor([1, 1, 0, 0, 0]).bool()
loss = mlloss.thresholded_loss(s, targets, threshold=t)
hard_loss = mlloss.hard_thresholded_loss(s, targets, threshold=t)
unified = mlloss.unified_loss(s, targets)
loss.backward()
push, pull = s.grad[~targets].sum(), -s.grad[targets].sum()
print(loss.item(), push.item(), pull.item(), "on t:", -t.grad.item())""",
        presets={
            "right order, wrong side": {"p1": -2, "p2": -1, "n1": -3.5, "n2": -4, "n3": -4.5},
            "threshold in the gap": {"p1": 2, "p2": 3, "n1": -2, "n2": -2.5, "n3": -3},
            "threshold too high": {"t": 4, "p1": 2, "p2": 3, "n1": -2, "n2": -2.5, "n3": -3},
            "all on the threshold": {"p1": 0, "p2": 0, "n1": 0, "n2": 0, "n3": 0},
        },
        descent=Descent(
            {
                **{score: -RATE * soft.diff(score) for score in scores},
                t: RATE * learned * (push - pull),
            }
        ),
    )


HALVINGS = 50
REACH = 8  # the best common score is looked for between −REACH and REACH


def best_common_score() -> LiveFigure:
    """Labels that are all alike: the expected losses over their common score, and where they are smallest."""
    grid = Grid(x, -5, 5)
    chance = share + (1 - share) * few / many

    def mixed(with_all: Expr, ordinary: Expr) -> Expr:
        """The mean over samples with all labels on, and over the others, which have `few`."""
        return share * with_all + (1 - share) * ordinary

    def expected(s: Expr) -> Expr:
        ordinary = softplus(s + log(many - few)) + softplus(log(few) - s)
        return mixed(softplus(log(many) - s), ordinary)

    def slope(s: Expr) -> Expr:
        ordinary = sigmoid(s + log(many - few)) - sigmoid(log(few) - s)
        return mixed(-sigmoid(log(many) - s), ordinary)

    def binary(s: Expr) -> Expr:
        return chance * softplus(-s) + (1 - chance) * softplus(s)

    middles = symbols(f"middle0:{HALVINGS}", real=True)  # of an interval around the minimum, halved each time
    definitions: dict[Symbol, Expr] = {middles[0]: Integer(0)}
    for i, (before, after) in enumerate(pairwise(middles)):
        definitions[after] = before - Rational(REACH, 2 ** (i + 1)) * sign(slope(before))
    best, logit = middles[-1], log(chance) - log(1 - chance)

    def losses(s: Tensor, labels: Tensor, on: Tensor, share: Tensor) -> Tensor:
        """Expected thresholded loss, and binary cross-entropy of a label, at each common score."""
        scores = s[..., None].expand(*s.shape, int(labels))
        ordinary = (torch.arange(int(labels), device=s.device) < on).expand_as(scores)
        with_all = torch.ones_like(ordinary)
        of_sets = [mlloss.thresholded_loss(scores, y, reduction="none") for y in (with_all, ordinary)]
        chance = (share + (1 - share) * on / labels).expand_as(s)
        binary = F.binary_cross_entropy_with_logits(s, chance, reduction="none")
        return torch.stack([share * of_sets[0] + (1 - share) * of_sets[1], binary])

    def twin(labels: Tensor, on: Tensor, share: Tensor, s: Tensor) -> Numbers:
        low, high = torch.full_like(s, -REACH), torch.full_like(s, REACH)
        for _ in range(HALVINGS):
            middle = ((low + high) / 2).requires_grad_()
            rising = derivative(losses(middle, labels, on, share)[0], middle) > 0
            middle = middle.detach()
            low, high = torch.where(rising, low, middle), torch.where(rising, middle, high)
        best = (low + high) / 2
        chance = share + (1 - share) * on / labels
        logit = torch.logit(chance)
        at, at_best, at_logit = losses(torch.stack([s, best, logit]), labels, on, share).T
        curve, binary_curve = losses(grid.points(), labels, on, share)
        return {
            "zero": [0.0, 0.0, 0.0, 8.0],
            "curve": curve,
            "binary_curve": binary_curve,
            "best": [best, at_best[0]],
            "binary_best": [logit, at_logit[1]],
            "at": [s, at[0]],
            "chance": chance,
            "best_score": best,
            "of_best": torch.sigmoid(best),
            "returned": labels * (best > 0),
        }

    return LiveFigure(
        "best-common-score",
        title="Labels that nobody can tell apart.",
        caption=(
            "All labels have the same probability p and the same score. The squares mark where a loss is "
            "smallest. Can you make the thresholded loss return labels whose p is below one half?"
        ),
        description=(
            "Two valleys over the common score of all labels, from −5 to 5: the expected thresholded loss "
            "above, the expected binary cross-entropy of a label below, each with a square at its lowest "
            "place. With one of ten labels on, the first is lowest at −1.1 and the second at −2.2. When "
            "moreover two samples of five have all labels on, the first is lowest to the right of zero and "
            "the second to the left."
        ),
        controls=[
            Choice(many, "number of labels C", {"10": 10, "20": 20, "40": 40, "100": 100}, 10),
            Choice(few, "of them on", {"1": 1, "2": 2, "4": 4, "8": 8}, 1),
            Slider(share, "share of samples with all labels on", 0, 0.6, 0, step=0.01),
            Slider(common, "common score s", -5, 5, 0),
        ],
        panels=[Panel((-5, 5), (0, 8), x_label="common score s", y_label="expected loss", height=2.9)],
        definitions=definitions,
        artists=[
            Arrow("zero", Integer(0), Integer(0), Integer(0), Integer(8), "bound", head=False, width=1),
            Curve("curve", expected(x), grid, "thresholded", "thresholded loss"),
            Curve("binary_curve", binary(x), grid, "cross-entropy", "sigmoid, one label", dashes="--"),
            Point("best", best, expected(best), "thresholded", marker="s"),
            Point("binary_best", logit, binary(logit), "cross-entropy", marker="s"),
            Point("at", common, expected(common), "thresholded", drag={"x": common}, handle="common score s"),
            Number("chance", chance, "probability p of each label", colour="cross-entropy"),
            Number("best_score", best, "best score of the thresholded loss", colour="thresholded"),
            Number("of_best", sigmoid(best), "σ of it", colour="thresholded"),
            Number(
                "returned",
                Piecewise((many, StrictGreaterThan(best, 0)), (0, True)),
                "labels returned (score > 0)",
                digits=0,
                colour="thresholded",
            ),
        ],
        twin=twin,
        code="""\
import torch
import mlloss

labels, on, share = {labels}, {on}, {share}
chance = share + (1 - share) * on / labels
targets = torch.ones(2, labels).bool()
targets[1, on:] = False  # what an ordinary sample looks like
weights = torch.tensor([share, 1 - share], dtype=torch.float64)
s = torch.zeros((), dtype=torch.float64)
for _ in range(500):
    s.requires_grad_()
    losses = mlloss.thresholded_loss(s.expand(2, labels), targets, reduction="none")
    s = (s - torch.autograd.grad(weights @ losses, s)[0]).detach()
print(chance, s.item(), torch.sigmoid(s).item(), labels * (s > 0))""",
        presets={
            "one of ten": {"labels": 10, "on": 1, "share": 0},
            "p below ½, returned": {"labels": 10, "on": 1, "share": 0.4},
            "p of 17 %, returned": {"labels": 100, "on": 8, "share": 0.1},
            "p of 83 %": {"labels": 10, "on": 8, "share": 0.15},
        },
    )
