"""From scores to label sets: what one threshold does to every measure, and which set is worth predicting.

The scores of the first figure are predictions of a small model. Training: 300 collages of the digits 0 to 5,
`digit_collages(300, images=slice(0, None, 2), seed=0)`; a linear layer from zero weights; 200 steps of
gradient descent with rate 2 on the mean of binary cross-entropy. Predictions: twelve collages of others,
`digit_collages(12, images=slice(1, None, 2), seed=2)`, rounded to two decimals. 2 is the first seed from 1 on
with an empty collage among its first twelve. A test repeats all of this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from sympy import Eq, Expr, Float, Gt, Integer, Piecewise, Rational, Symbol, symbols
from torch import Tensor

import mlloss
from mlloss.live import (
    Arrow,
    Bars,
    Label,
    LiveFigure,
    Number,
    Panel,
    Picture,
    Point,
    Slider,
    Switch,
)
from mlloss.live.picture import from_any_device
from mlloss.live.style import colour

SCORES = torch.tensor(
    [
        [-1.62, 1.53, -1.34, -3.75, 5.11, -3.58],
        [-0.75, 1.84, 2.16, -0.41, -4.05, -0.80],
        [-1.82, 1.10, -0.32, 1.19, -3.74, 3.60],
        [-3.06, 0.65, -2.02, -1.78, -1.20, -2.53],
        [-2.41, -1.03, 0.27, -0.08, -4.15, -2.52],
        [1.19, -1.98, -1.76, 0.47, -3.03, -1.26],
        [-2.58, 0.44, -2.71, -1.37, 0.01, -1.49],
        [-1.46, -2.07, -0.55, -1.51, -3.07, -0.03],
        [-2.57, -2.28, -2.08, -2.22, -2.08, -2.34],
        [-0.40, 0.98, 0.83, -1.48, -2.57, 0.37],
        [-2.02, -1.77, -2.19, -0.63, -2.79, -1.03],
        [-1.92, 2.92, 4.15, -1.26, -3.54, -3.17],
    ],
    dtype=torch.float64,
)
TARGETS = torch.tensor(
    [
        [0, 0, 1, 0, 1, 0],
        [1, 1, 0, 1, 0, 0],
        [1, 1, 0, 1, 0, 1],
        [0, 1, 0, 0, 0, 0],
        [0, 0, 0, 1, 0, 0],
        [1, 0, 0, 1, 0, 0],
        [0, 0, 0, 1, 1, 0],
        [0, 0, 0, 1, 0, 1],
        [0, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 0, 0],
        [0, 1, 1, 1, 0, 0],
    ]
)
MEASURES = ("exact", "Jaccard", "F1", "precision", "recall", "Hamming")
SETS = ("none", "{1}", "{2}", "{1, 2}")

t, empty = symbols("t empty", real=True)
first, second_after_yes, second_after_no = symbols("first after_yes after_no", real=True)
Numbers = dict[str, Tensor | list[Tensor] | float]


def ratio(part: Expr, whole: Expr, otherwise: Expr) -> Expr:
    """part / whole; `otherwise` for 0 / 0."""
    return Piecewise((part / whole, Gt(whole, 0)), (otherwise, True))


def mean(terms: Sequence[Expr]) -> Expr:
    return sum(terms) / len(terms)


def with_values(name: str, heights: Sequence[Expr], panel: int, gap: float = 0.03) -> list[Label]:
    """The heights of bars, written above them."""
    return [
        Label(f"{name}_{i}", Integer(i), height + gap, value=height, panel=panel)
        for i, height in enumerate(heights)
    ]


def threshold_and_measures() -> LiveFigure:
    """Real scores of twelve samples, one threshold for all, and every measure of the sets it cuts out."""
    samples, labels = SCORES.shape
    truth = TARGETS.tolist()
    taken = [symbols(f"taken{i + 1}_1:{labels + 1}", real=True) for i in range(samples)]
    hits, sizes = (symbols(f"{name}1:{samples + 1}", real=True) for name in ("hits", "size"))
    all_hits, all_sizes = symbols("all_hits all_sizes", real=True)
    definitions: dict[Symbol, Expr] = {}
    for i, scores in enumerate(SCORES.tolist()):
        for own, score in zip(taken[i], scores, strict=True):
            definitions[own] = Piecewise((1, Gt(score, t)), (0, True))
        definitions[hits[i]] = sum(own for own, true in zip(taken[i], truth[i], strict=True) if true)
        definitions[sizes[i]] = sum(taken[i])
    definitions |= {all_hits: sum(hits), all_sizes: sum(sizes)}

    true = [sum(row) for row in truth]  # |Y|
    wrong = [y + z - 2 * both for y, z, both in zip(true, sizes, hits, strict=True)]  # |Y △ Z|
    triples = list(zip(true, sizes, hits, strict=True))
    heights = [
        mean([Piecewise((1, Eq(w, 0)), (0, True)) for w in wrong]),
        mean([ratio(both, y + z - both, empty) for y, z, both in triples]),
        mean([ratio(2 * both, y + z, empty) for y, z, both in triples]),
        mean([ratio(both, z, empty) for _, z, both in triples]),
        mean([both / y if y else empty for y, _, both in triples]),
    ]
    hamming = sum(wrong) / (samples * labels)
    positives = sum(true)
    of_label = [
        2
        * sum(row[j] for row, y in zip(taken, truth, strict=True) if y[j])
        / (sum(y[j] for y in truth) + sum(row[j] for row in taken))
        for j in range(labels)
    ]
    pairs = [
        [
            s <= n
            for s, y in zip(row, ys, strict=True)
            if y
            for n, other in zip(row, ys, strict=True)
            if not other
        ]
        for row, ys in zip(SCORES.tolist(), truth, strict=True)
    ]
    ranking = mean([Rational(sum(row), max(len(row), 1)) for row in pairs])

    def twin(t: Tensor, empty: Tensor) -> Numbers:
        scores, targets = SCORES.to(t.device), TARGETS.to(t.device)
        predictions = mlloss.predict(scores, t)
        ratios = mlloss.jaccard, mlloss.f1, mlloss.precision, mlloss.recall
        measures = [
            mlloss.exact_match_ratio(predictions, targets),
            *(measure(predictions, targets, zero_division=float(empty)) for measure in ratios),
        ]
        loss = mlloss.hamming_loss(predictions, targets)
        numbers: Numbers = {
            "cut": [t, 12.8 + 0 * t, 0 * t, -12.6 + 0 * t],
            "handle": [t, 0.2 + 0 * t],
            "higher": [*measures, 0 * t],
            "lower": [*(0 * m for m in measures), loss],
            "hits": (predictions & (targets == 1)).sum(),
            "misses": (~predictions & (targets == 1)).sum(),
            "false_alarms": (predictions & (targets == 0)).sum(),
            "micro_f1": mlloss.f1(predictions.flatten(), targets.flatten()),
            "macro_f1": mlloss.f1(predictions.mT, targets.mT),
            "ranking_loss": mlloss.ranking_loss(scores, targets),
        }
        for i, height in enumerate([*measures, loss]):
            numbers[f"value_{i}"] = [torch.full_like(t, i), height + 0.03, height]
        for i, row in enumerate(scores):
            for j, score in enumerate(row):
                numbers[f"score{i}_{j}"] = [score, torch.full_like(score, i + 1)]
        return numbers

    def dot(i: int, j: int) -> Point:
        place = f"score{i}_{j}", Float(SCORES[i, j].item()), Integer(i + 1)
        named = i == 0 and j == truth[0].index(truth[0][j])  # one of each kind stands in the legend
        if truth[i][j]:
            return Point(*place, "positive", "appears" * named, size=8)
        return Point(*place, "negative", "does not appear" * named, marker="s", size=4.5)

    dots = [dot(i, j) for i in range(samples) for j in range(labels)]

    return LiveFigure(
        "threshold-and-measures",
        title="One threshold, every measure.",
        caption=(
            "Each row is a collage, each mark the score of one digit; what lies to the right of the line is "
            "predicted. Which measure can only fall as the line moves right? Where is each of them best?"
        ),
        description=(
            "Above, twelve rows, one a sample, each with six scores between −4.2 and 5.2: round marks for "
            "digits that appear, small squares for digits that do not. Most round marks lie to the right of "
            "most squares, but not all. A vertical line marks the threshold. Below, bars for exact match, "
            "Jaccard index, F1, precision, recall and Hamming loss of the sets to the right of the line. "
            "Recall only falls as the line moves right, the others rise and fall."
        ),
        controls=[
            Slider(t, "threshold t", -6, 6, 0, step=0.05),
            Switch(empty, "count 0/0 as 1", 0),
        ],
        panels=[
            Panel((-6.3, 6.3), (12.8, 0), x_label="score", y_label="sample", height=3.3),
            Panel((-0.5, 5.5), (0, 1.13), height=1.9),
        ],
        definitions=definitions,
        artists=[
            *dots,
            Arrow(
                "cut", t, Rational(64, 5) + 0 * t, 0 * t, -Rational(63, 5) + 0 * t, "thresholded", head=False
            ),
            Point("handle", t, Rational(1, 5) + 0 * t, "thresholded", "threshold", marker="v", drag={"x": t}),
            Bars("higher", [*heights, Integer(0)], MEASURES, "blue", "higher is better", panel=1),
            Bars("lower", [Integer(0)] * 5 + [hamming], MEASURES, "vermilion", "lower is better", panel=1),
            *with_values("value", [*heights, hamming], panel=1),
            Number("hits", all_hits, "hits", digits=0, colour="positive"),
            Number("misses", positives - all_hits, "misses", digits=0, colour="positive"),
            Number("false_alarms", all_sizes - all_hits, "false alarms", digits=0, colour="negative"),
            Number("micro_f1", 2 * all_hits / (positives + all_sizes), "micro-averaged F1"),
            Number("macro_f1", mean(of_label), "macro-averaged F1"),
            Number("ranking_loss", ranking, "ranking loss"),
        ],
        twin=twin,
        code="""\
import mlloss
from mlloss.figures.label_sets import SCORES, TARGETS

predictions = mlloss.predict(SCORES, {t})
for measure in (mlloss.jaccard, mlloss.f1, mlloss.precision, mlloss.recall):
    print(measure(predictions, TARGETS, zero_division={empty}).item())
print(mlloss.exact_match_ratio(predictions, TARGETS).item())
print(mlloss.hamming_loss(predictions, TARGETS).item())
micro_f1 = mlloss.f1(predictions.flatten(), TARGETS.flatten())
macro_f1 = mlloss.f1(predictions.T, TARGETS.T)
ranking_loss = mlloss.ranking_loss(SCORES, TARGETS)""",
        presets={"take all": {"t": -6}, "at zero": {"t": 0}, "take none": {"t": 6}},
    )


def which_set_to_predict() -> LiveFigure:
    """Two labels that may depend on one another: what each of the four sets earns on average."""
    a, b, c = first, second_after_yes, second_after_no
    chances = [(1 - a) * (1 - c), a * (1 - b), (1 - a) * c, a * b]  # of none, {1}, {2}, {1, 2}
    sets = [(0, 0), (1, 0), (0, 1), (1, 1)]

    def expected(measure: dict[tuple[int, int], Expr]) -> list[Expr]:
        return [sum(measure[y, z] * chances[y] for y in range(4)) for z in range(4)]

    both = {
        (y, z): sum(p * q for p, q in zip(sets[y], sets[z], strict=True)) for y in range(4) for z in range(4)
    }
    size = [sum(members) for members in sets]
    exact = expected({pair: Integer(pair[0] == pair[1]) for pair in both})
    hamming = expected({(y, z): Rational(size[y] + size[z] - 2 * n, 2) for (y, z), n in both.items()})
    f1 = expected(
        {(y, z): Rational(2 * n, size[y] + size[z]) if y or z else Integer(1) for (y, z), n in both.items()}
    )

    def twin(first: Tensor, after_yes: Tensor, after_no: Tensor) -> Numbers:
        yes, no = first, 1 - first
        chances = torch.stack([no * (1 - after_no), yes * (1 - after_yes), no * after_no, yes * after_yes])
        truth = torch.tensor(sets, device=first.device).bool().expand(4, 4, 2)
        predictions = truth.transpose(0, 1)  # [prediction, truth, label]
        exact = mlloss.exact_match_ratio(predictions, truth, reduction="none") @ chances
        hamming = mlloss.hamming_loss(predictions, truth, reduction="none") @ chances
        f1 = mlloss.f1(predictions, truth, zero_division=1.0, reduction="none") @ chances
        numbers: Numbers = {"p1": yes, "p2": no * after_no + yes * after_yes}
        for name, heights in {"exact": exact, "hamming": hamming, "f1": f1}.items():
            numbers[name] = list(heights)
            for i, height in enumerate(heights):
                numbers[f"{name}_value_{i}"] = [torch.full_like(height, i), height + 0.04, height]
        return numbers

    panels = {"exact": (exact, "exact match", "blue"), "hamming": (hamming, "Hamming loss", "vermilion")}
    panels |= {"f1": (f1, "F1", "purple")}
    return LiveFigure(
        "which-set-to-predict",
        title="Four sets to choose from.",
        caption=(
            "What each set earns on average, when the two labels occur with these probabilities. Is the best "
            "set for the exact match also the one with the smallest Hamming loss? Can you make them agree?"
        ),
        description=(
            "Three bar charts over the four possible predictions: no label, label 1, label 2, both. They "
            "show the expected share of exact matches, Hamming loss and F1. At the "
            "start no label is best for the exact match, 0.40, and label 1 for the Hamming loss, 0.35."
        ),
        controls=[
            Slider(a, "P(label 1)", 0, 1, 0.6, step=0.05),
            Slider(b, "P(label 2), given label 1", 0, 1, 0.5, step=0.05),
            Slider(c, "P(label 2), without label 1", 0, 1, 0, step=0.05),
        ],
        panels=[Panel((-0.5, 3.5), (0, 1.25), y_label=word, height=1.45) for _, word, _ in panels.values()],
        artists=[
            *(
                Bars(name, heights, SETS, shade, panel=i)
                for i, (name, (heights, _, shade)) in enumerate(panels.items())
            ),
            *(
                value
                for i, (name, (heights, _, _)) in enumerate(panels.items())
                for value in with_values(f"{name}_value", heights, panel=i, gap=0.04)
            ),
            Number("p1", a, "marginal probability of label 1"),
            Number("p2", (1 - a) * c + a * b, "marginal probability of label 2"),
        ],
        twin=twin,
        code="""\
import torch
import mlloss

first, after_yes, after_no = {first}, {after_yes}, {after_no}
chances = torch.tensor([
    [(1 - first) * (1 - after_no), (1 - first) * after_no],
    [first * (1 - after_yes), first * after_yes],
], dtype=torch.float64)
p1, p2 = chances[1].sum(), chances[:, 1].sum()
sets = [(0, 0), (1, 0), (0, 1), (1, 1)]
for chosen in sets:
    losses = [mlloss.hamming_loss(torch.tensor(chosen).bool(), torch.tensor(true)) for true in sets]
    expected = sum(chances[true] * loss for true, loss in zip(sets, losses))
    print(chosen, "exact match", chances[chosen].item(), "Hamming loss", expected.item())""",
        presets={
            "the example": {"first": 0.6, "after_yes": 0.5, "after_no": 0},
            "independent": {"first": 0.6, "after_yes": 0.3, "after_no": 0.3},
            "one of the two": {"first": 0.6, "after_yes": 0, "after_no": 1},
        },
    )


# Still pictures of what the chapter's cells compute.

COLOURS = ("blue", "vermilion", "green", "purple", "ochre", "axis")
DASHES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))


@from_any_device
def measures_over_thresholds(
    thresholds: Tensor, measures: Mapping[str, Tensor], *, title: str, description: str, caption: str = ""
) -> Picture:
    """One line a measure, with a dot where it is best; the best of a loss is its smallest value."""
    with Picture(description, title=title, caption=caption, height=3.2) as picture:
        (axes,) = picture.axes
        for (name, values), shade, dash in zip(measures.items(), COLOURS, DASHES, strict=False):
            best = values.argmin() if name.endswith("loss") else values.argmax()
            axes.plot(thresholds, values, color=colour(shade), linestyle=dash, label=name)
            axes.plot(thresholds[best], values[best], color=colour(shade), marker="o")
        axes.set(xlabel="threshold t", ylabel="measure", ylim=(-0.02, 1.02))
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3)
    return picture


@from_any_device
def reliability(
    models: Mapping[str, tuple[Tensor, Tensor]], *, title: str, description: str, caption: str = ""
) -> Picture:
    """A model's predicted probabilities, in groups, against how often the groups' labels are right."""
    markers = ("o", "s", "^", "D")
    with Picture(description, title=title, caption=caption, height=3.2) as picture:
        (axes,) = picture.axes
        axes.plot([0, 1], [0, 1], color=colour("bound"), linestyle=":", label="calibrated")
        for (name, (predicted, observed)), shade, dash, marker in zip(
            models.items(), COLOURS, DASHES, markers, strict=False
        ):
            axes.plot(predicted, observed, color=colour(shade), linestyle=dash, marker=marker, label=name)
        axes.set(xlabel="mean of σ(score)", ylabel="share of positives", xlim=(0, 1), ylim=(0, 1))
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=1)
    return picture


@from_any_device
def tuned_thresholds(
    sizes: Sequence[int], runs: Mapping[str, Tensor], *, title: str, description: str, caption: str = ""
) -> Picture:
    """Over the number of validation samples, the mean of the runs `[sizes, runs]` ± their spread."""
    with Picture(description, title=title, caption=caption, height=3.2) as picture:
        (axes,) = picture.axes
        for (name, values), shade, dash in zip(runs.items(), COLOURS, DASHES, strict=False):
            middle, spread = values.mean(-1), values.std(-1)
            axes.fill_between(
                sizes, middle - spread, middle + spread, color=colour(shade), alpha=0.15, linewidth=0
            )
            axes.plot(sizes, middle, color=colour(shade), linestyle=dash, marker="o", label=name)
        axes.set(xlabel="validation samples", ylabel="macro-averaged F1", xscale="log")
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.set_xticks([], minor=True)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2)
    return picture
