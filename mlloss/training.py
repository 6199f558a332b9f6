"""The training lab: which digits appear in a collage?  One small network, any loss, runs side by side.

:class:`Setup` says what is trained and on what, :func:`train` trains and reports as it goes, :func:`measures`
says how good the scores are.  A run is a seed: it decides the training collages, the first weights and the
order of the batches.  All runs of a setup are trained at once, their weights stacked; each has its own loss,
gradient and Adam step, as if it were alone.

Training, validation and test collages share no digit image.  Thresholds are tuned on validation data; test
data choose nothing.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, grad, stack_module_state, vmap

import mlloss
from mlloss.data import digit_collages

IMAGES = {"training": slice(0, None, 2), "validation": slice(1, None, 4), "test": slice(3, None, 4)}
FIELD = 8  # pixels on the side of a digit
RECORD = Path(__file__).with_name("training-lab.json")


# --- the losses --------------------------------------------------------------------------------------------


class Recipe(NamedTuple):
    """A loss as it is trained with: its parameters, what kind of scores it wants, where it cuts by itself."""

    loss: Callable[..., Tensor]
    parameters: Mapping[str, float]
    cosine: bool = False  # scores are cosines
    threshold: float | None = None  # that the loss has built in


cross_entropy = partial(
    mlloss.sigmoid_focal_loss, alpha=None, gamma=0.0
)  # PyTorch's has no don't-care labels


def _scaled_cross_entropy(scores: Tensor, targets: Tensor, *, scale: float) -> Tensor:
    return cross_entropy(scale * scores, targets)


LOSSES: dict[str, Recipe] = {
    "cross-entropy": Recipe(cross_entropy, {}, threshold=0.0),
    "weighted cross-entropy": Recipe(
        partial(mlloss.sigmoid_focal_loss, gamma=0.0), {"alpha": 0.75}, threshold=0.0
    ),
    "focal": Recipe(partial(mlloss.sigmoid_focal_loss, alpha=None), {"gamma": 2.0}, threshold=0.0),
    "focal, α = ¼": Recipe(mlloss.sigmoid_focal_loss, {"alpha": 0.25, "gamma": 2.0}, threshold=0.0),
    "thresholded": Recipe(mlloss.thresholded_loss, {"threshold": 0.0}, threshold=0.0),
    "hard thresholded": Recipe(mlloss.hard_thresholded_loss, {"threshold": 0.0}, threshold=0.0),
    "multi-hot softmax": Recipe(mlloss.multilabel_softmax_cross_entropy, {}),
    "unified": Recipe(mlloss.unified_loss, {"gamma": 1.0, "margin": 0.0}),
    "hard unified": Recipe(mlloss.hard_unified_loss, {"margin": 1.0}),
    "cross-entropy of cosines": Recipe(_scaled_cross_entropy, {"scale": 16.0}, cosine=True, threshold=0.0),
    "unified of cosines": Recipe(mlloss.unified_loss, {"gamma": 32.0, "margin": 0.25}, cosine=True),
    "circle": Recipe(mlloss.circle_loss, {"gamma": 32.0, "margin": 0.25}, cosine=True),
}


# --- the network -------------------------------------------------------------------------------------------


class CollageNet(nn.Module):
    """Looks at every field with the same two layers, keeps the strongest of each feature, scores the digits.

    Images ``[..., H, W]`` give scores ``[..., digits]``; with ``cosine`` these are the cosines between the
    features and one vector a digit.
    """

    def __init__(self, digits: int, *, width: int = 64, cosine: bool = False) -> None:
        super().__init__()
        self.look = nn.Sequential(nn.Linear(FIELD**2, width), nn.ReLU(), nn.Linear(width, width))
        self.score = nn.Linear(width, digits, bias=not cosine)
        self.cosine = cosine

    def forward(self, images: Tensor) -> Tensor:
        fields = images.unfold(-2, FIELD, FIELD).unfold(-2, FIELD, FIELD)
        features = self.look(fields.flatten(-2).flatten(-3, -2)).amax(-2)
        if not self.cosine:
            return self.score(features)
        return F.linear(F.normalize(features, dim=-1), F.normalize(self.score.weight, dim=-1))


# --- an experiment -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setup:
    """What is trained, and on what."""

    loss: str = "cross-entropy"
    parameters: Mapping[str, float] = field(default_factory=dict)  # in place of the recipe's
    digits: int = 10
    fields: int = 2
    empty: float = 0.5
    imbalance: float = 1.0
    hidden: float = 0.0  # share of the training labels that nobody knows
    hidden_as: str = "ignored"  # or "negative"
    samples: int = 1000
    width: int = 64
    steps: int = 600
    batch: int = 50
    rate: float = 0.003

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {self.loss!r}")
        if self.hidden_as not in ("ignored", "negative"):
            raise ValueError(f'hidden_as must be "ignored" or "negative", got {self.hidden_as!r}')
        unknown = set(self.parameters) - set(self.recipe.parameters)
        if unknown:
            raise ValueError(f"the loss {self.loss!r} has no parameter {', '.join(sorted(unknown))}")
        for name in ("samples", "width", "steps", "batch", "rate"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")

    @property
    def recipe(self) -> Recipe:
        return LOSSES[self.loss]

    def loss_function(self) -> Callable[[Tensor, Tensor], Tensor]:
        """The loss as a function of scores and targets."""
        return partial(self.recipe.loss, **{**self.recipe.parameters, **self.parameters})

    def collages(
        self, part: str, samples: int, seed: int, device: torch.device | str
    ) -> tuple[Tensor, Tensor]:
        """Images and targets of the "training", "validation" or "test" part; only training labels hide."""
        images, targets = digit_collages(
            samples,
            digits=self.digits,
            fields=self.fields,
            empty=self.empty,
            imbalance=self.imbalance,
            hidden=self.hidden if part == "training" else 0.0,
            images=IMAGES[part],
            seed=seed,
            dtype=torch.float32,
        )
        if self.hidden_as == "negative":
            targets = targets.clamp(min=0)
        return images.to(device), targets.to(device)


class Progress(NamedTuple):
    """Where a training stands: the step, the mean loss of the last steps of each run, and the networks."""

    step: int
    losses: Tensor  # [runs]
    scores: Callable[[Tensor], Tensor]  # images [samples, H, W] → scores [runs, samples, digits]


def train(
    setup: Setup, *, seeds: range = range(3), every: int = 50, device: torch.device | str | None = None
) -> Iterator[Progress]:
    """Train one network a seed, and report every so many steps and at the end.

    >>> setup = Setup("thresholded", samples=100, steps=20)
    >>> [progress.step for progress in train(setup, seeds=range(2), every=15)]
    [15, 20]
    """
    device = torch.device(device) if device else mlloss.default_device()
    parts = [setup.collages("training", setup.samples, seed, device) for seed in seeds]
    images, targets = (torch.stack(tensors) for tensors in zip(*parts, strict=True))
    shuffle = [torch.Generator().manual_seed(seed) for seed in seeds]
    networks = []
    for seed in seeds:
        with torch.device("cpu"), torch.random.fork_rng(devices=[]):  # the same start on every device
            torch.manual_seed(seed)
            networks.append(CollageNet(setup.digits, width=setup.width, cosine=setup.recipe.cosine))
    skeleton = copy.deepcopy(networks[0]).to("meta")
    weights, _ = stack_module_state([network.to(device) for network in networks])
    adam = torch.optim.Adam(weights.values(), lr=setup.rate)
    loss_function = setup.loss_function()

    def network(weights: dict[str, Tensor], images: Tensor) -> Tensor:
        return functional_call(skeleton, weights, (images,))

    def loss(weights: dict[str, Tensor], images: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        value = loss_function(network(weights, images), targets)
        return value, value

    slopes = vmap(grad(loss, has_aux=True))
    rows = torch.arange(len(seeds), device=device)[:, None]
    total = torch.zeros(len(seeds), device=device)
    counted = 0
    order = torch.empty(len(seeds), 0, dtype=torch.long, device="cpu")
    for step in range(1, setup.steps + 1):
        if order.shape[1] < setup.batch:
            again = [torch.randperm(setup.samples, generator=g, device="cpu") for g in shuffle]
            order = torch.cat([order, torch.stack(again)], 1)
        batch, order = order[:, : setup.batch].to(device), order[:, setup.batch :]
        gradients, losses = slopes(weights, images[rows, batch], targets[rows, batch])
        for name, weight in weights.items():
            weight.grad = gradients[name]
        adam.step()
        total, counted = total + losses.detach(), counted + 1
        if step % every == 0 or step == setup.steps:
            frozen = {name: weight.detach().clone() for name, weight in weights.items()}
            scores = partial(vmap(network, in_dims=(0, None)), frozen)
            yield Progress(step, total / counted, scores)
            total, counted = torch.zeros_like(total), 0


# --- how good are the scores? ------------------------------------------------------------------------------


def f1(predictions: Tensor, targets: Tensor) -> Tensor:
    """F1 of samples, of each run; an empty collage of which nothing is said counts 1."""
    return mlloss.f1(predictions, targets, zero_division=1.0, reduction="none").mean(-1)


def exact_match(predictions: Tensor, targets: Tensor) -> Tensor:
    """The share of collages with the right set, of each run."""
    return mlloss.exact_match_ratio(predictions, targets, reduction="none").mean(-1)


def f1_of_digits(predictions: Tensor, targets: Tensor) -> Tensor:
    """F1 of every digit, over all collages: `[runs, digits]`."""
    return mlloss.f1(predictions.mT, targets.mT, reduction="none")


def macro_f1(predictions: Tensor, targets: Tensor) -> Tensor:
    """The mean of the digits' F1, of each run: a rare digit counts as much as a frequent one."""
    return f1_of_digits(predictions, targets).mean(-1)


def tune(
    measure: Callable[[Tensor, Tensor], Tensor], scores: Tensor, targets: Tensor, candidates: int = 60
) -> Tensor:
    """For each run the threshold, one for all digits, that is best by the measure: `[runs, 1, 1]`."""
    shares = torch.linspace(0.3, 0.999, candidates, device=scores.device)
    cuts = torch.quantile(scores.flatten(1)[:, :: max(1, scores[0].numel() // 20000)], shares, dim=1)
    values = torch.stack([measure(scores > cut[:, None, None], targets) for cut in cuts])
    return cuts.gather(0, values.argmax(0)[None])[0][:, None, None]


def measures(
    setup: Setup,
    scores: Callable[[Tensor], Tensor],
    *,
    samples: tuple[int, int] = (1000, 4000),
    device: torch.device | str | None = None,
) -> dict[str, Tensor]:
    """What networks are worth on test collages, one number a run; validation collages give thresholds."""
    device = torch.device(device) if device else mlloss.default_device()
    check, test = (
        setup.collages(part, size, seed, device)
        for part, size, seed in zip(("validation", "test"), samples, (10_000, 20_000), strict=True)
    )
    s_check, s_test = scores(check[0]), scores(test[0])
    y_check, y_test = check[1].expand_as(s_check), test[1].expand_as(s_test)

    tuned = {measure: s_test > tune(measure, s_check, y_check) for measure in (f1, exact_match, macro_f1)}
    found = {
        "F1": f1(tuned[f1], y_test),
        "exact match": exact_match(tuned[exact_match], y_test),
        "macro F1": macro_f1(tuned[macro_f1], y_test),
        "F1 of the three last digits": f1_of_digits(tuned[macro_f1], y_test)[:, -3:].mean(-1),
        "LRAP": mlloss.label_ranking_average_precision(s_test, y_test, reduction="none").mean(-1),
        "validation F1": f1(s_check > tune(f1, s_check, y_check), y_check),
    }
    if setup.recipe.threshold is not None:
        found["F1 untuned"] = f1(s_test > setup.recipe.threshold, y_test)
    return found


# --- results -----------------------------------------------------------------------------------------------


def recorded() -> dict[str, Any]:
    """What `tools/training_lab.py` has trained and measured: `make results` writes it anew.

    "trials" has the mean validation F1 of each loss for each of the "tried" rates, "rates" the best of these;
    each of the "rows" has a situation, a setup and its measures, a number a run.
    """
    return dict(json.loads(RECORD.read_text(encoding="utf-8")))
