"""One anchor and its similarities: four losses for several positives, and what the temperature does."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from sympy import Eq, Expr, Float, Integer, Max, Min, Piecewise, Symbol, exp, log, symbols
from torch import Tensor

import mlloss
from mlloss.figures.calculus import derivative
from mlloss.figures.calculus import softplus as torch_softplus
from mlloss.live import (
    Arrow,
    Bars,
    Choice,
    Curve,
    Descent,
    Grid,
    LiveFigure,
    Number,
    Panel,
    Picture,
    Point,
    Slider,
)
from mlloss.live.picture import from_any_device
from mlloss.live.style import colour
from mlloss.symbolic import logits, logsumexp, relu, sigmoid, softplus

ARROW_SCALE = 0.6  # units of similarity that an arrow is long where the gradient in the score is 1
Numbers = dict[str, Any]

tau, chosen_a, chosen_b, rate = symbols("tau form_a form_b rate", real=True)
positives, negatives = logits(3, "p"), logits(3, "n")
side_n, side_p, best, every = symbols("side_n side_p best every", real=True)
COUNT = len(positives)

# What the forms share: log-sum-exps of scores, which are similarities divided by the temperature.
DEFINITIONS: dict[Symbol, Expr] = {
    side_n: logsumexp(*[n / tau for n in negatives]),
    side_p: logsumexp(*[-p / tau for p in positives]),
    best: logsumexp(*[p / tau for p in positives]),
    every: logsumexp(side_n, best),
}


@dataclass(frozen=True)
class Form:
    """A loss of one anchor with several positives: as expressions, and with PyTorch.

    `pull(p)` is minus the derivative in the score of the positive p, and `push` the sum of the derivatives in
    the negatives' scores, which all forms share out alike.
    """

    word: str
    value: Expr
    hard: Expr
    pull: Callable[[Symbol], Expr]
    push: Expr
    torch_value: Callable[[Tensor, Tensor], Tensor]


def _sides(s: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    return s[targets], s[~targets].logsumexp(-1)


def _mean(s: Tensor, targets: Tensor) -> Tensor:
    own, others = _sides(s, targets)
    return torch_softplus(others - own).mean()


def _inside(s: Tensor, targets: Tensor) -> Tensor:
    own, others = _sides(s, targets)
    return math.log(len(own)) + torch_softplus(others - own.logsumexp(-1))


top_n, mean_p = Max(*negatives), sum(positives) / COUNT
FORMS = [
    Form(
        "unified",
        softplus(side_n + side_p),
        relu(top_n - Min(*positives)),
        lambda p: sigmoid(side_n + side_p) * exp(-p / tau - side_p),
        sigmoid(side_n + side_p),
        mlloss.unified_loss,
    ),
    Form(
        "mean of InfoNCE",
        sum(softplus(side_n - p / tau) for p in positives) / COUNT,
        sum(relu(top_n - p) for p in positives) / COUNT,
        lambda p: sigmoid(side_n - p / tau) / COUNT,
        sum(sigmoid(side_n - p / tau) for p in positives) / COUNT,
        _mean,
    ),
    Form(
        "SupCon out",
        every - mean_p / tau,
        Max(top_n, *positives) - mean_p,
        lambda p: Integer(1) / COUNT - exp(p / tau - every),
        sigmoid(side_n - best),
        mlloss.multilabel_softmax_cross_entropy,
    ),
    Form(
        "SupCon in",
        log(Integer(COUNT)) + softplus(side_n - best),
        relu(top_n - Max(*positives)),
        lambda p: sigmoid(side_n - best) * exp(p / tau - best),
        sigmoid(side_n - best),
        _inside,
    ),
]
BAR_LABELS = ("unified", "mean", "out", "in")
HARD: list[Callable[[Tensor, Tensor], Tensor]] = [
    lambda p, n: (n.amax() - p.amin()).relu(),
    lambda p, n: (n.amax() - p).relu().mean(),
    lambda p, n: torch.cat([p, n]).amax() - p.mean(),
    lambda p, n: (n.amax() - p.amax()).relu(),
]


def choose(which: Symbol, of: Callable[[Form], Expr]) -> Expr:
    """What `of` says of the form that is chosen."""
    return Piecewise(*((of(form), Eq(which, i)) for i, form in enumerate(FORMS)))


def pull_of(which: Symbol, u: Symbol) -> Expr:
    """Minus the gradient of the chosen form in the score u / τ."""
    if u in positives:
        return choose(which, lambda form: form.pull(u))
    return -choose(which, lambda form: form.push) * exp(u / tau - side_n)


def one_anchor() -> LiveFigure:
    """Three positives and three negatives on the line of similarities: four losses and where they pull."""
    similarities = [*positives, *negatives]
    words = [f"positive {i}" for i in (1, 2, 3)] + [f"negative {i}" for i in (1, 2, 3)]
    starts = (0.8, 0.3, 0.5, 0.4, -0.2, 0.1)
    rows = len(similarities)

    def twin(tau: Tensor, form_a: Tensor, form_b: Tensor, rate: Tensor, **places: Tensor) -> Numbers:
        u = torch.stack([places[symbol.name] for symbol in similarities])
        targets = torch.arange(rows, device=u.device) < COUNT
        s = (u / tau).requires_grad_()
        losses = [form.torch_value(s, targets) for form in FORMS]
        numbers: Numbers = {}
        for i, (form, loss) in enumerate(zip(FORMS, losses, strict=True)):
            heights = [tau * loss if i == j else 0.0 for j in range(len(FORMS))]
            hard = HARD[i](u[targets], u[~targets])
            numbers |= {form_name(form): loss, f"{form_name(form)}_bar": heights}
            numbers[f"{form_name(form)}_hard"] = [float(i), hard]
        for letter, which, offset in (("a", form_a, 0.16), ("b", form_b, -0.16)):
            pulls = -ARROW_SCALE * derivative(losses[int(which)], s)
            for i in range(rows):
                numbers[f"pull_{letter}{i + 1}"] = [u[i], rows - i + offset, pulls[i], 0.0]
        return numbers | {f"at_{i + 1}": [u[i], float(rows - i)] for i in range(rows)}

    def artists_of(i: int, u: Symbol) -> list[Arrow | Point]:
        height, kind = Integer(rows - i), "positive" if i < COUNT else "negative"
        first = i % COUNT == 0
        arrows = [
            Arrow(
                f"pull_{letter}{i + 1}",
                u,
                height + Float(offset),
                ARROW_SCALE * pull_of(which, u),
                0 * u,
                role,
                f"pull of form {letter.upper()}" * (i == 0),
            )
            for letter, which, role, offset in (
                ("a", chosen_a, "gradient", 0.16),
                ("b", chosen_b, "slope", -0.16),
            )
        ]
        style: dict[str, Any] = {"marker": "o" if kind == "positive" else "s", "size": 9, "drag": {"x": u}}
        return [*arrows, Point(f"at_{i + 1}", u, height, kind, kind * first, handle=words[i], **style)]

    def bars_of(i: int, form: Form) -> list[Bars | Point | Number]:
        heights = [tau * form.value if i == j else Integer(0) for j in range(len(FORMS))]
        name = form_name(form)
        return [
            Bars(f"{name}_bar", heights, BAR_LABELS, form.word, width=0.5, panel=1),
            Point(
                f"{name}_hard",
                Integer(i),
                form.hard,
                "text",
                "its limit for τ → 0" * (i == 0),
                marker="D",
                size=6,
                panel=1,
            ),
            Number(name, form.value, form.word, colour=form.word),
        ]

    options = {form.word: i for i, form in enumerate(FORMS)}
    return LiveFigure(
        "one-anchor",
        title="One anchor, three positives.",
        caption=(
            "Drag the marks. Arrows above a mark are those of form A, below it those of form B. When is a "
            "positive pushed away?"
        ),
        description=(
            "Six marks on a line of similarities from −1 to 1: circles for three positives, squares for "
            "three negatives. Two arrows on each show where the forms A and B pull it. Below, bars for "
            "temperature times the value of four losses, a diamond on each for its limit when cold."
        ),
        controls=[
            Choice(chosen_a, "form A (arrows above, descends)", options, 0),
            Choice(chosen_b, "form B (arrows below)", options, 2),
            Slider(tau, "temperature τ", 0.05, 1, 0.2, step=0.05),
            *(
                Slider(u, word, -1, 1, start, step=0.02, group="Similarities")
                for u, word, start in zip(similarities, words, starts, strict=True)
            ),
            Slider(rate, "step of the descent", 0.01, 0.1, 0.02, step=0.01, group="Descent"),
        ],
        panels=[
            Panel(
                (-1.6, 1.6),
                (0.4, rows + 0.6),
                x_label="similarity to the anchor",
                height=3.0,
                y_names={rows - i: f"{word[0]}{word[-1]}" for i, word in enumerate(words)},
            ),
            Panel((-0.6, 3.6), (-0.05, 3.4), y_label="τ × loss", height=1.8, legend_columns=1),
        ],
        definitions=DEFINITIONS,
        artists=[
            *(artist for i, u in enumerate(similarities) for artist in artists_of(i, u)),
            *(artist for i, form in enumerate(FORMS) for artist in bars_of(i, form)),
        ],
        twin=twin,
        code="""\
import math
import torch
import torch.nn.functional as F
import mlloss

u = torch.tensor([{p1}, {p2}, {p3}, {n1}, {n2}, {n3}], dtype=torch.float64)
scores = u / {tau}
targets = torch.tensor([1, 1, 1, 0, 0, 0])
positives, others = scores[:3], scores[3:].logsumexp(-1)
unified = mlloss.unified_loss(scores, targets)
supcon_out = mlloss.multilabel_softmax_cross_entropy(scores, targets)
mean_of_infonce = -F.logsigmoid(positives - others).mean()
supcon_in = math.log(3) - F.logsigmoid(positives.logsumexp(-1) - others)
print(unified, mean_of_infonce, supcon_out, supcon_in)""",
        presets={
            "One positive lags": {"p1": 0.9, "p2": 0.86, "p3": -0.3, "n1": 0.2, "n2": -0.2, "n3": 0},
            "One positive leads": {"p1": 0.9, "p2": 0.2, "p3": 0.1, "n1": 0.3, "n2": 0, "n3": -0.3},
            "All is well": {"p1": 0.9, "p2": 0.9, "p3": 0.9, "n1": -0.8, "n2": -0.9, "n3": -0.8},
            "Cold": {"tau": 0.05},
            "Hot": {"tau": 1},
        },
        descent=Descent({u: rate * pull_of(chosen_a, u) for u in similarities}),
    )


def form_name(form: Form) -> str:
    return form.word.lower().replace(" ", "_")


def temperature_of_negatives() -> LiveFigure:
    """Who is pushed: the share of each negative, and τ times InfoNCE against its hinge."""
    x, u = symbols("x u", real=True)
    grid = Grid(x, -1, 1)
    others = logits(5, "n")
    starts = (0.6, 0.4, 0.2, 0, -0.4)
    total = symbols("total", real=True)
    shares = [exp(n / tau - total) for n in others]

    def loss(positive: Expr) -> Expr:
        return tau * softplus(total - positive / tau)

    hinge = relu(Max(*others) - u)

    def twin(tau: Tensor, u: Tensor, **places: Tensor) -> Numbers:
        negatives = torch.stack([places[n.name] for n in others])
        positive = torch.cat([grid.points(), u[None]])
        scores = torch.cat([positive[:, None], negatives.expand(len(positive), -1)], dim=-1) / tau
        label = torch.zeros(len(positive), dtype=torch.long, device=u.device)
        losses = tau * F.cross_entropy(scores, label, reduction="none")
        hinges = (negatives.amax() - positive).relu()
        v = torch.softmax(negatives / tau, -1)
        return {
            "shares": list(v),
            "soft": losses[:-1],
            "hard": hinges[:-1],
            "at_soft": [u, losses[-1]],
            "loss": losses[-1] / tau,
            "scaled": losses[-1],
            "hinge": hinges[-1],
            "effective": torch.special.entr(v).sum().exp(),
        }

    return LiveFigure(
        "temperature-of-negatives",
        title="Whom the temperature lets be heard.",
        caption="Lower the temperature until one negative has nine tenths of the push. Then raise it.",
        description=(
            "Above, bars for five negatives with falling similarity: the share of the push that each takes. "
            "The lower the temperature, the more the most similar one takes. Below, temperature times the "
            "InfoNCE loss over the similarity of the positive, a smooth curve above a hinge that is zero as "
            "soon as the positive is more similar than every negative."
        ),
        controls=[
            Slider(tau, "temperature τ", 0.02, 2, 0.3, step=0.02),
            Slider(u, "similarity of the positive", -1, 1, 0.5, step=0.02),
            *(
                Slider(n, f"negative {i}", -1, 1, start, step=0.02, group="Similarities of the negatives")
                for i, (n, start) in enumerate(zip(others, starts, strict=True), 1)
            ),
        ],
        panels=[
            Panel((-0.6, 4.6), (0, 1.05), y_label="share of the push", height=1.9),
            Panel((-1, 1), (-0.1, 3.4), x_label="similarity of the positive", y_label="τ × loss", height=2.1),
        ],
        definitions={total: logsumexp(*[n / tau for n in others])},
        artists=[
            Bars("shares", shares, [f"n{i}" for i in range(1, 6)], "negative", width=0.5),
            Curve("hard", relu(Max(*others) - x), grid, "hard", "hinge", dashes="--", panel=1),
            Curve("soft", loss(x), grid, "soft", "τ × InfoNCE", panel=1),
            Point("at_soft", u, loss(u), "soft", drag={"x": u}, handle="similarity of the positive", panel=1),
            Number("loss", loss(u) / tau, "InfoNCE", colour="soft"),
            Number("scaled", loss(u), "τ × InfoNCE", colour="soft"),
            Number("hinge", hinge, "hinge", colour="hard"),
            Number(
                "effective",
                exp(sum(share * (total - n / tau) for share, n in zip(shares, others, strict=True))),
                "effective number of negatives",
                colour="negative",
            ),
        ],
        twin=twin,
        code="""\
import torch
import torch.nn.functional as F

negatives = torch.tensor([{n1}, {n2}, {n3}, {n4}, {n5}], dtype=torch.float64) / {tau}
positive = torch.tensor([{u}], dtype=torch.float64) / {tau}
loss = F.cross_entropy(torch.cat([positive, negatives]), torch.tensor(0))
scaled = {tau} * loss
hinge = {tau} * (negatives.max() - positive).relu()
shares = torch.softmax(negatives, -1)
effective = torch.special.entr(shares).sum().exp()
print(loss, scaled, hinge, shares, effective)""",
        presets={
            "Cold": {"tau": 0.04},
            "Hot": {"tau": 2},
            "A false negative": {"n1": 0.9, "u": 0.8, "tau": 0.1},
        },
    )


@from_any_device
def embeddings_on_a_circle(before: Tensor, after: Tensor, labels: Tensor) -> Picture:
    """Unit vectors in the plane by their angle, one row a class: `before` and `after` are `[samples, 2]`."""
    classes = sorted(set(labels.tolist()))
    with Picture(
        "Two panels of dots, one row for each digit, placed by the angle of its embedding. Above, before "
        "training, the rows overlap within half of the circle. Below, after training, each row is gathered "
        "around an angle of its own, with a few dots astray.",
        title="Embeddings on a circle.",
        caption="Each dot is a digit that was not trained on, placed by the angle of its embedding; "
        "−180 and 180 degrees are the same place.",
        panels=2,
        height=2.4,
    ) as picture:
        for axes, z, title in zip(picture.axes, (before, after), ("before", "after"), strict=True):
            angle = torch.rad2deg(torch.atan2(z[:, 1], z[:, 0]))
            jitter = torch.linspace(-0.25, 0.25, 7).repeat(len(z) // 7 + 1)[: len(z)]
            style: dict[str, Any] = {"s": 9, "linewidths": 0, "alpha": 0.6, "color": colour("blue")}
            axes.scatter(angle, labels + jitter, **style)
            axes.set(title=f"{title} training", ylabel="digit", xlim=(-180, 180), yticks=classes)
            axes.set_xticks(range(-180, 181, 90))
        picture.axes[-1].set_xlabel("angle of the embedding, in degrees")
    return picture
