"""Many labels, a sigmoid for each: what one switch moves, and where unequal numbers pull the scores."""

import torch
import torch.nn.functional as F
from sympy import Float, exp, log, symbols
from torch import Tensor

from mlloss.figures.calculus import derivative
from mlloss.live import Arrow, Bars, Curve, Grid, LiveFigure, Number, Panel, Point, Slider, Switch
from mlloss.symbolic import binary_cross_entropy, logits, sigmoid, softplus

LABELS = ("dog", "ball", "cat", "snow")
BESIDE = 0.32  # of a bar's centre: where its target and arrow stand

x, s, count, positives = symbols("s_x s C k", real=True)


def labels_on_and_off() -> LiveFigure:
    """Four labels of one picture: probability, target and gradient of each, and its part of the loss."""
    scores, targets = logits(4), symbols("y1:5", real=True)
    losses = [binary_cross_entropy(s, y) for s, y in zip(scores, targets, strict=True)]
    total = sum(losses)
    shown = {"": [sigmoid(s) for s in scores], "loss_": losses}
    masks = {"on": targets, "off": [1 - y for y in targets]}

    def twin(**params: Tensor) -> dict[str, Tensor | list[Tensor]]:
        s = torch.stack([params[score.name] for score in scores]).requires_grad_()
        y = torch.stack([params[target.name] for target in targets])
        losses = F.binary_cross_entropy_with_logits(s, y, reduction="none")
        p, pulls = torch.sigmoid(s), -derivative(losses, s)
        numbers: dict[str, Tensor | list[Tensor]] = {
            "on": list(y * p),
            "off": list((1 - y) * p),
            "loss_on": list(y * losses),
            "loss_off": list((1 - y) * losses),
            "total": F.multilabel_soft_margin_loss(s, y) * len(LABELS),
            "mean": F.binary_cross_entropy_with_logits(s, y),
            "set_probability": torch.where(y == 1, p, torch.sigmoid(-s)).prod(),
        }
        for i in range(len(LABELS)):
            place = torch.tensor(i + BESIDE, dtype=torch.float64)
            numbers[f"target_{i + 1}"] = [place, y[i]]
            numbers[f"pull_{i + 1}"] = [place, p[i], torch.zeros_like(place), pulls[i]]
        return numbers

    def artists_of(i: int) -> list[Arrow | Point]:
        place, score, target = Float(i + BESIDE), scores[i], targets[i]
        pull = -losses[i].diff(score)
        names = ("minus the gradient", "target") if i == 0 else ("", "")
        return [
            Arrow(f"pull_{i + 1}", place, sigmoid(score), 0 * score, pull, "gradient", names[0], width=3),
            Point(f"target_{i + 1}", place, target, "text", names[1], marker="D", size=7),
        ]

    def bars(what: str, state: str, label: str = "") -> Bars:
        heights = [mask * value for mask, value in zip(masks[state], shown[what], strict=True)]
        role = {"on": "positive", "off": "negative"}[state]
        return Bars(what + state, heights, LABELS, role, label, width=0.4, panel=1 if what else 0)

    article = {"s1": (0.2, 0.1), "s2": (0.5, 0.5), "s3": (0, 0), "s4": (0, 0.8)}
    article |= {"y1": (1, 0), "y2": (1, 1), "y3": (0, 0), "y4": (0, 1)}
    return LiveFigure(
        "labels-on-and-off",
        title="Four questions about one picture.",
        caption="Switch “cat” on. Which bars and arrows move? Then move the score of one label only.",
        description=(
            "Two stacked bar charts with a bar for each of the labels dog, ball, cat and snow. Above, the "
            "probability of each label, beside it a diamond at its target, 0 or 1, and an arrow from the "
            "probability to the target, which is minus the gradient. Below, what each label adds to the "
            "loss. A label that is switched on or off, or whose score is moved, changes its own bars only."
        ),
        controls=[
            control
            for i, label in enumerate(LABELS)
            for control in (
                Slider(scores[i], f"score of {label}", -4, 4, article[f"s{i + 1}"][0]),
                Switch(targets[i], f"{label} is there", article[f"y{i + 1}"][0]),
            )
        ],
        panels=[
            Panel((-0.6, 3.6), (-0.06, 1.06), y_label="probability", height=2.5),
            Panel((-0.6, 3.6), (0, 4.2), y_label="loss", height=1.9),
        ],
        artists=[
            bars("", "on", "label on"),
            bars("", "off", "label off"),
            *(artist for i in range(4) for artist in artists_of(i)),
            bars("loss_", "on"),
            bars("loss_", "off"),
            Number("total", total, "sum over the labels", colour="cross-entropy"),
            Number("mean", total / 4, "mean over the labels", colour="cross-entropy"),
            Number("set_probability", exp(-total), "probability of exactly this set", digits=4),
        ],
        twin=twin,
        code=(
            "import torch\n"
            "import torch.nn.functional as F\n\n"
            "scores = torch.tensor([{s1}, {s2}, {s3}, {s4}], dtype=torch.float64)\n"
            "targets = torch.tensor([{y1}, {y2}, {y3}, {y4}], dtype=torch.float64)\n"
            'losses = F.binary_cross_entropy_with_logits(scores, targets, reduction="none")\n'
            "total, mean = losses.sum(), losses.mean()\n"
            "set_probability = (-total).exp()\n"
            "print(total, mean, set_probability)"
        ),
        presets={
            "article, first row": {name: values[0] for name, values in article.items()},
            "article, second row": {name: values[1] for name, values in article.items()},
            "nothing is there": dict.fromkeys(["y1", "y2", "y3", "y4"], 0),
        },
    )


def balance_of_pulls() -> LiveFigure:
    """All scores equal: the pull of k positives against that of C − k negatives, and where they balance."""
    grid = Grid(x, -8, 8)
    share = positives / count
    loss = share * softplus(-x) + (1 - share) * softplus(x)
    up, down = share * sigmoid(-x), (1 - share) * sigmoid(x)
    rest = log(positives / (count - positives))

    def twin(C: Tensor, k: Tensor, s: Tensor) -> dict[str, Tensor | list[Tensor]]:
        rest = torch.logit(k / C)
        inputs = torch.cat([grid.points(), s[None], rest[None]]).requires_grad_()
        prevalence = (k / C).expand_as(inputs)
        loss = F.binary_cross_entropy_with_logits(inputs, prevalence, reduction="none")
        sides = [
            F.binary_cross_entropy_with_logits(inputs, torch.full_like(inputs, y), weight, reduction="none")
            for y, weight in ((1.0, prevalence), (0.0, 1 - prevalence))
        ]
        up, down = -derivative(sides[0], inputs), derivative(sides[1], inputs)
        return {
            "loss": loss[:-2],
            "at_loss": [s, loss[-2]],
            "at_rest": [rest, loss[-1]],
            "up": up[:-2],
            "down": down[:-2],
            "at_up": [s, up[-2]],
            "at_down": [s, down[-2]],
            "ratio": (C - k) / k,
            "probability": torch.sigmoid(s),
            "share": k / C,
            "rest": rest,
        }

    return LiveFigure(
        "balance-of-pulls",
        title="A model that knows nothing yet.",
        caption=(
            "All labels have the same score. Where do both pulls have the same strength, and what is the "
            "probability there?"
        ),
        description=(
            "Two stacked graphs over the common score of all labels. Above, the mean loss is a valley whose "
            "lowest point lies left of 0 when most labels are off. Below, the pull of the labels that are on "
            "falls from left to right and that of the labels that are off rises; they cross below the lowest "
            "point of the valley."
        ),
        controls=[
            Slider(count, "labels C", 6, 100, 20, step=1),
            Slider(positives, "labels on k", 1, 5, 1, step=1),
            Slider(s, "common score s", -8, 8, 0),
        ],
        panels=[
            Panel((-8, 8), (0, 4), y_label="mean loss", height=1.9),
            Panel((-8, 8), (0, 1.05), x_label="common score s", y_label="mean pull", height=2.1),
        ],
        artists=[
            Curve("loss", loss, grid, "cross-entropy", "mean over the labels"),
            Point("at_rest", rest, loss.subs(x, rest), "text", "lowest point", marker="D", size=7),
            Point("at_loss", s, loss.subs(x, s), "cross-entropy", drag={"x": s}),
            Curve("up", up, grid, "positive", "labels on, upwards", panel=1),
            Curve("down", down, grid, "negative", "labels off, downwards", dashes="--", panel=1),
            Point("at_up", s, up.subs(x, s), "positive", panel=1),
            Point("at_down", s, down.subs(x, s), "negative", marker="s", size=7, panel=1),
            Number("ratio", (count - positives) / positives, "labels off for one that is on", digits=1),
            Number("probability", sigmoid(s), "probability σ(s)", colour="probability"),
            Number("share", share, "share of labels on", colour="positive"),
            Number("rest", rest, "score at the lowest point"),
        ],
        twin=twin,
        code=(
            "import torch\n"
            "import torch.nn.functional as F\n\n"
            "share = torch.tensor({k} / {C}, dtype=torch.float64)\n"
            "score = torch.tensor({s}, dtype=torch.float64, requires_grad=True)\n"
            "loss = F.binary_cross_entropy_with_logits(score, share)  # the mean over the labels\n"
            "(gradient,) = torch.autograd.grad(loss, score)\n"
            "probability, rest = torch.sigmoid(score), torch.logit(share)\n"
            "print(loss, gradient, probability - share, rest)"
        ),
    )
