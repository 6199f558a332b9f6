"""The hard form: what each smooth function becomes when log-sum-exp is replaced by the maximum."""

import math

import torch
import torch.nn.functional as F
from sympy import Max, log, symbols
from torch import Tensor

import mlloss
from mlloss.figures.calculus import softplus as torch_softplus
from mlloss.live import Arrow, Curve, Grid, LiveFigure, Number, Panel, Point, Slider
from mlloss.symbolic import cross_entropy, hard_cross_entropy, logits, logsumexp, relu, softplus

x, u, gamma = symbols("x u gamma", real=True)
s1, s2, s3 = logits(3)
Numbers = dict[str, Tensor | list[Tensor] | float]


def logsumexp_and_max() -> LiveFigure:
    """Log-sum-exp of three scores against their maximum, as the first score moves."""
    grid = Grid(x, -6, 6)
    soft, hard = logsumexp(s1, s2, s3), Max(s1, s2, s3)

    def twin(s1: Tensor, s2: Tensor, s3: Tensor) -> Numbers:
        first = torch.cat([grid.points(), s1[None]])
        scores = torch.stack([first, s2.expand_as(first), s3.expand_as(first)], dim=-1)
        soft, hard = scores.logsumexp(-1), scores.amax(-1)
        return {
            "soft": soft[:-1],
            "hard": hard[:-1],
            "bound": hard[:-1] + math.log(3),
            "gap_line": [s1, hard[-1], torch.zeros_like(s1), soft[-1] - hard[-1]],
            "at_soft": [s1, soft[-1]],
            "at_hard": [s1, hard[-1]],
            "soft_value": soft[-1],
            "hard_value": hard[-1],
            "gap": soft[-1] - hard[-1],
            "log_n": math.log(3),
        }

    return LiveFigure(
        "logsumexp-and-max",
        title="A maximum with rounded corners.",
        caption="Make the three scores equal: how large is the gap then? Now let one score lead.",
        description=(
            "Over the first score, the maximum of three scores is a line that is level and then climbs, with "
            "a corner. Log-sum-exp runs above it, rounds the corner, and stays below the maximum plus log 3. "
            "A bar shows the gap at the chosen scores."
        ),
        controls=[
            Slider(s1, "score s₁", -6, 6, 1),
            Slider(s2, "score s₂", -6, 6, 0.5),
            Slider(s3, "score s₃", -6, 6, -1),
        ],
        panels=[Panel((-6, 6), (-6.3, 8), x_label="score s₁", y_label="value", height=2.9, legend_columns=3)],
        artists=[
            Curve("bound", hard.subs(s1, x) + log(3), grid, "bound", "max + log 3", dashes=":"),
            Curve("hard", hard.subs(s1, x), grid, "hard", "max", dashes="--"),
            Curve("soft", soft.subs(s1, x), grid, "soft", "log-sum-exp"),
            Arrow("gap_line", s1, hard, 0 * s1, soft - hard, "gradient", head=False, width=4),
            Point("at_hard", s1, hard, "hard", marker="s", size=7),
            Point("at_soft", s1, soft, "soft", drag={"x": s1}, handle="score s₁"),
            Number("soft_value", soft, "log-sum-exp", colour="soft"),
            Number("hard_value", hard, "max", colour="hard"),
            Number("gap", soft - hard, "gap", colour="gradient"),
            Number("log_n", log(3), "largest gap: log 3", colour="bound"),
        ],
        twin=twin,
        code="""\
import torch

s = torch.tensor([{s1}, {s2}, {s3}], dtype=torch.float64)
soft_value, hard_value = s.logsumexp(0), s.max()
gap = soft_value - hard_value
print(soft_value.item(), hard_value.item(), gap.item())""",
    )


def softplus_and_relu() -> LiveFigure:
    """Softplus between [u]₊ and [u]₊ + log 2."""
    grid = Grid(x, -6, 6)

    def twin(u: Tensor) -> Numbers:
        inputs = torch.cat([grid.points(), u[None]])
        soft, hard = torch_softplus(inputs), torch.relu(inputs)
        return {
            "soft": soft[:-1],
            "hard": hard[:-1],
            "bound": hard[:-1] + math.log(2),
            "gap_line": [u, hard[-1], torch.zeros_like(u), soft[-1] - hard[-1]],
            "at_soft": [u, soft[-1]],
            "at_hard": [u, hard[-1]],
            "soft_value": soft[-1],
            "hard_value": hard[-1],
            "gap": torch_softplus(-u.abs()),
            "log_2": math.log(2),
        }

    return LiveFigure(
        "softplus-and-relu",
        title="A hinge with a rounded corner.",
        caption="Where is the gap largest? Is it ever exactly zero?",
        description=(
            "Over u, the hinge is zero up to u = 0 and then climbs with slope 1. Softplus runs above it, "
            "rounds the corner at height log 2, and stays below the hinge plus log 2. A bar shows the gap at "
            "the chosen u."
        ),
        controls=[Slider(u, "argument u", -6, 6, 0.8)],
        panels=[Panel((-6, 6), (-0.4, 6), x_label="u", y_label="value", height=2.5, legend_columns=3)],
        artists=[
            Curve("bound", relu(x) + log(2), grid, "bound", "[u]₊ + log 2", dashes=":"),
            Curve("hard", relu(x), grid, "hard", "[u]₊", dashes="--"),
            Curve("soft", softplus(x), grid, "soft", "softplus(u)"),
            Arrow("gap_line", u, relu(u), 0 * u, softplus(u) - relu(u), "gradient", head=False, width=4),
            Point("at_hard", u, relu(u), "hard", marker="s", size=7),
            Point("at_soft", u, softplus(u), "soft", drag={"x": u}, handle="argument u"),
            Number("soft_value", softplus(u), "softplus(u)", colour="soft"),
            Number("hard_value", relu(u), "[u]₊", colour="hard"),
            Number("gap", softplus(-abs(u)), "gap", colour="gradient"),
            Number("log_2", log(2), "largest gap: log 2", colour="bound"),
        ],
        twin=twin,
        code="""\
import torch
import torch.nn.functional as F

u = torch.tensor({u}, dtype=torch.float64)
soft_value = -F.logsigmoid(-u)  # softplus, exact also above 20
hard_value = torch.relu(u)
gap = -F.logsigmoid(u.abs())
print(soft_value.item(), hard_value.item(), gap.item())""",
    )


def cross_entropy_and_hinge() -> LiveFigure:
    """Cross-entropy of three classes against its hinge, as the true class's logit moves."""
    grid = Grid(x, -6, 6)
    scores = (s1, s2, s3)
    soft, hard = cross_entropy(scores, 0), hard_cross_entropy(scores, 0)

    def twin(s1: Tensor, s2: Tensor, s3: Tensor) -> Numbers:
        true = torch.cat([grid.points(), s1[None]])
        scores = torch.stack([true, s2.expand_as(true), s3.expand_as(true)], dim=-1)
        labels = torch.zeros(len(true), dtype=torch.long, device=true.device)
        soft = F.cross_entropy(scores, labels, reduction="none")
        hard = mlloss.hard_cross_entropy(scores, labels, reduction="none")
        return {
            "soft": soft[:-1],
            "hard": hard[:-1],
            "bound": hard[:-1] + math.log(3),
            "gap_line": [s1, hard[-1], torch.zeros_like(s1), soft[-1] - hard[-1]],
            "at_soft": [s1, soft[-1]],
            "at_hard": [s1, hard[-1]],
            "soft_value": soft[-1],
            "hard_value": hard[-1],
            "gap": soft[-1] - hard[-1],
            "log_n": math.log(3),
        }

    return LiveFigure(
        "cross-entropy-and-hinge",
        title="Cross-entropy is a rounded hinge.",
        caption=(
            "Raise the true class past the others. The hinge is satisfied at once; cross-entropy keeps "
            "asking for more."
        ),
        description=(
            "Over the logit of the true class, the hinge falls with slope −1 until it reaches zero where the "
            "true class overtakes the best other one. Cross-entropy runs above it, rounds the corner, never "
            "reaches zero, and stays below the hinge plus log 3."
        ),
        controls=[
            Slider(s1, "true class s_y", -6, 6, 1.5),
            Slider(s2, "other class s₂", -6, 6, 1),
            Slider(s3, "other class s₃", -6, 6, -0.5),
        ],
        panels=[
            Panel(
                (-6, 6),
                (-0.5, 9),
                x_label="logit of the true class",
                y_label="loss",
                height=2.7,
                legend_columns=3,
            )
        ],
        artists=[
            Curve("bound", hard.subs(s1, x) + log(3), grid, "bound", "hinge + log 3", dashes=":"),
            Curve("hard", hard.subs(s1, x), grid, "hard", "hinge", dashes="--"),
            Curve("soft", soft.subs(s1, x), grid, "soft", "cross-entropy"),
            Arrow("gap_line", s1, hard, 0 * s1, soft - hard, "gradient", head=False, width=4),
            Point("at_hard", s1, hard, "hard", marker="s", size=7),
            Point("at_soft", s1, soft, "soft", drag={"x": s1}, handle="score s₁"),
            Number("soft_value", soft, "cross-entropy", colour="soft"),
            Number("hard_value", hard, "hinge", colour="hard"),
            Number("gap", soft - hard, "gap", colour="gradient"),
            Number("log_n", log(3), "largest gap: log 3", colour="bound"),
        ],
        twin=twin,
        code="""\
import torch
import torch.nn.functional as F
import mlloss

s = torch.tensor([{s1}, {s2}, {s3}], dtype=torch.float64)
label = torch.tensor(0)
soft_value = F.cross_entropy(s, label)
hard_value = mlloss.hard_cross_entropy(s, label)
gap = soft_value - hard_value
print(soft_value.item(), hard_value.item(), gap.item())""",
    )


def temperature() -> LiveFigure:
    """(1/γ) LSE(γ s) closes in on the maximum as the scale γ grows."""
    grid = Grid(x, -4, 4, count=321)
    soft, hard = logsumexp(gamma * s1, gamma * s2) / gamma, Max(s1, s2)

    def twin(s1: Tensor, gamma: Tensor) -> Numbers:
        first = torch.cat([grid.points(), s1[None]])
        scores = torch.stack([first, torch.zeros_like(first)], dim=-1)
        soft, hard = (gamma * scores).logsumexp(-1) / gamma, scores.amax(-1)
        return {
            "soft": soft[:-1],
            "hard": hard[:-1],
            "at_soft": [s1, soft[-1]],
            "soft_value": soft[-1],
            "hard_value": hard[-1],
            "gap": torch_softplus(-gamma * s1.abs()) / gamma,
            "bound": math.log(2) / gamma,
        }

    return LiveFigure(
        "temperature",
        title="Turning the temperature down.",
        caption=(
            "The second score stays at 0. Raise the scale γ (lower the temperature 1/γ): the corner sharpens."
        ),
        description=(
            "Over the first score, with the second fixed at 0, the maximum has a corner at 0. The "
            "log-sum-exp divided by its scale γ rounds that corner; the larger γ, the closer it lies to the "
            "maximum."
        ),
        controls=[
            Slider(gamma, "scale γ", 0.5, 20, 1, step=0.5),
            Slider(s1, "score s₁", -4, 4, 0),
        ],
        panels=[Panel((-4, 4), (-0.3, 4.2), x_label="score s₁", y_label="value", height=2.5)],
        artists=[
            Curve("hard", hard.subs({s1: x, s2: 0}), grid, "hard", "max(s₁, 0)", dashes="--"),
            Curve("soft", soft.subs({s1: x, s2: 0}), grid, "soft", "(1/γ) log-sum-exp(γs)"),
            Point("at_soft", s1, soft.subs(s2, 0), "soft", drag={"x": s1}, handle="score s₁"),
            Number("soft_value", soft.subs(s2, 0), "(1/γ) log-sum-exp(γs)", colour="soft"),
            Number("hard_value", hard.subs(s2, 0), "max", colour="hard"),
            Number("gap", softplus(-gamma * abs(s1)) / gamma, "gap", colour="gradient"),
            Number("bound", log(2) / gamma, "largest gap: (log 2)/γ", colour="bound"),
        ],
        twin=twin,
        code="""\
import torch

s = torch.tensor([{s1}, 0], dtype=torch.float64)
soft_value = ({gamma} * s).logsumexp(0) / {gamma}
hard_value = s.max()
gap = soft_value - hard_value
print(soft_value.item(), hard_value.item(), gap.item())""",
    )
