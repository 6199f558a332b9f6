"""Equation (1) against equation (4): what the cut leaves, who owns the gradient, and measured comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from matplotlib.ticker import MaxNLocator
from sympy import Expr, log, symbols
from torch import Tensor

import mlloss
from mlloss.figures.calculus import derivative
from mlloss.live import Bars, Curve, Grid, LiveFigure, Number, Panel, Picture, Point, Slider
from mlloss.live.picture import from_any_device
from mlloss.live.style import colour
from mlloss.symbolic import logsumexp, sigmoid, softplus

Numbers = dict[str, Tensor | list[Tensor]]
GROUPS = ("easy negatives", "hard negative", "positives")

count, positives, easy, hard, right, x = symbols("C k s_easy s_hard s_right x", real=True)


def what_the_cut_leaves() -> LiveFigure:
    """Easy negatives, one hard negative and positives: both losses, and who owns their gradients."""
    grid = Grid(x, 10, 500)
    crowd = log(count - positives - 1) + easy  # of the easy negatives together, before the exponential
    wrong, missing = logsumexp(crowd, hard), log(positives) - right
    one = (count - positives - 1) * softplus(easy) + softplus(hard) + positives * softplus(-right)
    four = softplus(wrong) + softplus(missing)
    pulls: dict[str, list[Expr]] = {
        "one": [
            (count - positives - 1) * sigmoid(easy),
            sigmoid(hard),
            positives * sigmoid(-right),
        ],
        "four": [
            sigmoid(wrong) * sigmoid(crowd - hard),
            sigmoid(wrong) * sigmoid(hard - crowd),
            sigmoid(missing),
        ],
    }
    names = {"one": "sigmoids (1)", "four": "thresholded (4)"}
    roles = {"one": "cross-entropy", "four": "thresholded"}

    def twin(C: Tensor, k: Tensor, s_easy: Tensor, s_hard: Tensor, s_right: Tensor) -> Numbers:
        counts = torch.cat([grid.points(), C[None]]) - k - 1
        weights = torch.stack([counts, torch.ones_like(counts), k.expand_as(counts)], -1)
        targets = torch.tensor([0, 0, 1], device=C.device).expand(len(counts), 3)
        shifts = weights.log() * (1 - 2 * targets)  # n equal scores count like one that is log n worse
        s = torch.stack([s_easy, s_hard, s_right]).expand(len(counts), 3).clone().requires_grad_()
        losses = {
            "one": F.binary_cross_entropy_with_logits(s, targets.double(), weights, reduction="none").sum(-1),
            "four": mlloss.thresholded_loss(s + shifts, targets, reduction="none"),
        }
        left = losses["four"] / losses["one"]
        numbers: Numbers = {
            "left": left[:-1],
            "at_left": [C, left[-1]],
            "gap": (losses["one"] - losses["four"])[-1],
        }
        for name, loss in losses.items():
            gradient = derivative(loss, s)[-1]
            numbers |= {
                f"{name}_shares": list(gradient.abs() / gradient.abs().sum()),
                f"loss_{name}": loss[-1],
                f"push_{name}": gradient[:2].sum(),
                f"pull_{name}": -gradient[2],
            }
        return numbers

    return LiveFigure(
        "what-the-cut-leaves",
        title="What the cut leaves, and who pulls.",
        caption=(
            "Begin with all scores at zero, then let the easy negatives be easy. Can you bring the line "
            "above back to 1? And when do the easy negatives lose the largest bar?"
        ),
        description=(
            "Above, equation 4 as a share of equation 1 over the number of classes, from 10 to 500: it falls "
            "from left to right. Below, for both losses, three bars that add up to one: the shares of the "
            "gradient that belong to the easy negatives, to one hard negative, and to the positives. With "
            "many classes the easy negatives own most of the gradient of equation 1, and less of equation 4."
        ),
        controls=[
            Slider(count, "classes C", 10, 500, 100, step=10),
            Slider(positives, "positives k", 1, 8, 2, step=1),
            Slider(easy, "score of the easy negatives", -12, 2, -3),
            Slider(hard, "score of the hard negative", -4, 4, 1),
            Slider(right, "score of the positives", -4, 4, 0),
        ],
        panels=[
            Panel((0, 510), (0, 1.05), x_label="classes C", y_label="eq. (4) / eq. (1)", height=2.0),
            Panel((-0.5, 2.5), (0, 1.05), y_label="share of the gradient", height=2.2),
        ],
        artists=[
            Curve("left", (four / one).subs(count, x), grid, "thresholded", "left by the cut"),
            Point("at_left", count, four / one, "thresholded", drag={"x": count}, handle="classes"),
            *(
                Bars(
                    f"{name}_shares",
                    [pull / sum(pulls[name]) for pull in pulls[name]],
                    GROUPS,
                    roles[name],
                    names[name],
                    width=0.6 if name == "one" else 0.3,
                    panel=1,
                )
                for name in pulls
            ),
            Number("loss_one", one, "equation (1)", colour="cross-entropy"),
            Number("loss_four", four, "equation (4)", colour="thresholded"),
            Number("gap", one - four, "their gap"),
            Number("push_one", sum(pulls["one"][:2]), "push of (1) on all negatives", colour="cross-entropy"),
            Number("push_four", sum(pulls["four"][:2]), "push of (4) on all negatives", colour="thresholded"),
            Number("pull_one", pulls["one"][2], "pull of (1) on all positives", colour="cross-entropy"),
            Number("pull_four", pulls["four"][2], "pull of (4) on all positives", colour="thresholded"),
        ],
        twin=twin,
        code=(
            "import torch\n"
            "import torch.nn.functional as F\n"
            "import mlloss\n\n"
            "counts = torch.tensor([{C} - {k} - 1, 1, {k}], dtype=torch.float64)\n"
            "scores = torch.tensor([{s_easy}, {s_hard}, {s_right}], dtype=torch.float64)\n"
            "scores.requires_grad_()\n"
            "targets = torch.tensor([0, 0, 1])\n"
            "# n equal scores count in equation (4) like one that is log n worse\n"
            "together = scores + counts.log() * (1 - 2 * targets)\n"
            "loss_one = F.binary_cross_entropy_with_logits(\n"
            '    scores, targets.double(), counts, reduction="sum")\n'
            "loss_four = mlloss.thresholded_loss(together, targets)\n"
            "(one,) = torch.autograd.grad(loss_one, scores)\n"
            "(four,) = torch.autograd.grad(loss_four, scores)\n"
            "gap = loss_one - loss_four\n"
            "push_one, push_four = one[:2].sum(), four[:2].sum()\n"
            "print(loss_one, loss_four, one.abs() / one.abs().sum(), four.abs() / four.abs().sum())"
        ),
        presets={
            "before training": {"s_easy": 0, "s_hard": 0, "s_right": 0},
            "half way": {"C": 100, "s_easy": -3, "s_hard": 1, "s_right": 0},
            "very many classes": {"C": 500, "s_easy": -3, "s_hard": 1, "s_right": 0},
            "nearly done": {"s_easy": -10, "s_hard": 1, "s_right": 3},
        },
    )


# Still pictures of what the chapter's cells compute.

MARKERS = {"blue": "o", "green": "s", "ochre": "^", "purple": "D"}


@from_any_device
def compared_losses(
    settings: Sequence[object],
    panels: Mapping[str, Mapping[str, Tensor]],
    *,
    x_label: str,
    title: str,
    description: str,
    caption: str = "",
    reference: str = "",
    colours: Sequence[str] = tuple(MARKERS),
) -> Picture:
    """One panel a quantity: for each loss its runs `[settings, runs]`, as their mean ± standard deviation.

    The losses stand side by side at each setting, so that their bars do not cover one another. Differences to
    a loss are drawn over a line at zero with the name `reference`.
    """
    places = torch.arange(len(settings), dtype=torch.float64)
    with Picture(description, title=title, caption=caption, panels=len(panels), height=2.5) as picture:
        for axes, (quantity, losses) in zip(picture.axes, panels.items(), strict=True):
            if reference:
                axes.axhline(0, color=colour("bound"), linewidth=1.2, label=reference)
            for i, ((name, runs), shade) in enumerate(zip(losses.items(), colours, strict=False)):
                beside = 0.1 * (i - (len(losses) - 1) / 2)
                axes.errorbar(
                    places + beside,
                    runs.mean(-1),
                    runs.std(-1),
                    color=colour(shade),
                    linestyle="none",
                    marker=MARKERS[shade],
                    capsize=3,
                    label=name,
                )
            axes.set(ylabel=quantity, xlim=(-0.5, len(settings) - 0.5))
            axes.set_xticks(places.tolist(), [str(setting) for setting in settings])
            axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        picture.axes[-1].set(xlabel=x_label)
        legends = [axes.get_legend_handles_labels() for axes in picture.axes]
        marks, names = max(legends, key=lambda legend: len(legend[1]))
        picture.axes[0].legend(marks, names, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2)
    return picture
