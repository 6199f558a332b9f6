"""How fast the losses are, in units of torch's binary cross-entropy on the same logits; and their memory.

    python benchmarks/losses.py [--quick] [--device cuda] [--save FILE]

Everything is measured in one run: in each round every loss takes its turn, in any order, and what is printed
is the median over the rounds of its time divided by that of BCE in the same round.  "Article" are the forms
of the articles that the book starts from, written anew.  Memory is the peak during forward and backward
beyond the inputs, in units of N, the size of the logits.  On a CPU one thread is used, and memory is what the
process asks for.
Nothing here is a test: machines differ. The book draws what `--save` wrote to mlloss/speed.json.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import platform
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

import mlloss

SIZES = [(4096, 80), (1024, 1000), (256, 30000)]
DENSITY = 0.05  # of positives
MASKED = 1e12  # the articles' stand-in for infinity

Step = Callable[[], Tensor]


# --- baselines ---------------------------------------------------------------------------------------------


def article_unified(s: Tensor, y: Tensor) -> Tensor:
    """log(1 + Σ Σ exp(sₙ − sₚ)), with signs and a large number for masks."""
    negatives, positives = s - y * MASKED, -s - (1 - y) * MASKED
    gap = torch.logsumexp(negatives, -1) + torch.logsumexp(positives, -1)
    return torch.logsumexp(torch.stack([gap, torch.zeros_like(gap)]), 0).mean()


def article_thresholded(s: Tensor, y: Tensor) -> Tensor:
    """log(1 + Σ exp sₙ) + log(1 + Σ exp(−sₚ)), with a column of zeros for the 1."""
    turned = (1 - 2 * y) * s
    zero = torch.zeros_like(turned[..., :1])
    negatives = torch.cat([turned - y * MASKED, zero], -1)
    positives = torch.cat([turned - (1 - y) * MASKED, zero], -1)
    return (torch.logsumexp(negatives, -1) + torch.logsumexp(positives, -1)).mean()


def plain_focal(s: Tensor, y: Tensor) -> Tensor:
    """torchvision's formula."""
    p = torch.sigmoid(s)
    bce = F.binary_cross_entropy_with_logits(s, y, reduction="none")
    p_t = p * y + (1 - p) * (1 - y)
    return ((0.25 * y + 0.75 * (1 - y)) * (1 - p_t) ** 2 * bce).mean()


def plain_circle(s: Tensor, y: Tensor) -> Tensor:
    """The paper's formula."""
    alpha_p, alpha_n = (1.25 - s.detach()).relu(), (s.detach() + 0.25).relu()
    positives = -256 * alpha_p * (s - 0.75) - (1 - y) * MASKED
    negatives = 256 * alpha_n * (s - 0.25) - y * MASKED
    return F.softplus(torch.logsumexp(negatives, -1) + torch.logsumexp(positives, -1)).mean()


def peers(s: Tensor, y: Tensor) -> tuple[dict[str, Step], list[str]]:
    """Losses of other packages, and the names of the packages that are not installed."""
    steps: dict[str, Step] = {}
    absent = []
    if importlib.util.find_spec("torchvision"):
        from torchvision.ops import sigmoid_focal_loss

        steps["torchvision, sigmoid focal"] = lambda: sigmoid_focal_loss(s, y, reduction="mean")
    else:
        absent.append("torchvision")
    if importlib.util.find_spec("kornia"):
        from kornia.losses import binary_focal_loss_with_logits

        steps["kornia, sigmoid focal"] = lambda: binary_focal_loss_with_logits(s, y, 0.25, 2.0, "mean")
    else:
        absent.append("kornia")
    if importlib.util.find_spec("keras"):
        import keras

        if keras.backend.backend() == "torch":
            focal = keras.losses.BinaryFocalCrossentropy(apply_class_balancing=True, from_logits=True)
            steps["keras, sigmoid focal"] = lambda: focal(y, s)
    else:
        absent.append("keras")
    return steps, absent


# --- measuring ---------------------------------------------------------------------------------------------


def seconds(step: Callable[[], object], device: str) -> float:
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    step()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def forward_backward(step: Step, leaf: Tensor) -> Callable[[], None]:
    def run() -> None:
        leaf.grad = None
        step().backward()

    return run


def ratios(steps: dict[str, Callable[[], object]], unit: str, rounds: int, device: str) -> dict[str, float]:
    """The median over the rounds of each time, divided by that of the unit in the same round."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    order, luck = list(steps), random.Random(0)
    for _ in range(rounds + 1):  # the first warms up
        luck.shuffle(order)  # what ran before decides what is in the cache
        for name in order:
            times[name].append(seconds(steps[name], device))
    units = times[unit][1:]
    return {
        name: statistics.median(t / u for t, u in zip(own[1:], units, strict=True))
        for name, own in times.items()
    }


def peak(step: Callable[[], object], device: str) -> int:
    """The most bytes held at once, beyond what was held before."""
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        step()
        return torch.cuda.max_memory_allocated() - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as run:
        step()
    held = most = 0
    for event in run.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    return most


# --- tables ------------------------------------------------------------------------------------------------


def scores(rows: int, classes: int, device: str) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    s = torch.randn(rows, classes, generator=generator).to(device).requires_grad_()
    y = (torch.rand(rows, classes, generator=generator) < DENSITY).to(device)
    labels = torch.randint(classes, (rows,), generator=generator).to(device)
    return s, y, labels


def losses(s: Tensor, y: Tensor, labels: Tensor) -> tuple[dict[str, Step], list[str]]:
    numbers = y.float()
    cosines = s.detach().tanh().requires_grad_()
    steps: dict[str, Step] = {
        "torch, BCE": lambda: F.binary_cross_entropy_with_logits(s, numbers),
        "torch, cross-entropy": lambda: F.cross_entropy(s, labels),
        "article, unified": lambda: article_unified(s, numbers),
        "article, thresholded": lambda: article_thresholded(s, numbers),
        "formula, sigmoid focal": lambda: plain_focal(s, numbers),
        "formula, circle": lambda: plain_circle(cosines, numbers),
        "unified": lambda: mlloss.unified_loss(s, y),
        "thresholded": lambda: mlloss.thresholded_loss(s, y),
        "sigmoid focal": lambda: mlloss.sigmoid_focal_loss(s, y),
        "softmax focal": lambda: mlloss.softmax_focal_loss(s, labels),
        "circle": lambda: mlloss.circle_loss(cosines, y),
    }
    others, absent = peers(s, numbers)
    return steps | others, absent


def compiled(s: Tensor, y: Tensor, labels: Tensor) -> dict[str, Step]:
    unified, thresholded, focal, softmax, circle = (
        torch.compile(f, dynamic=False)
        for f in (
            mlloss.unified_loss,
            mlloss.thresholded_loss,
            mlloss.sigmoid_focal_loss,
            mlloss.softmax_focal_loss,
            mlloss.circle_loss,
        )
    )
    return {
        "unified, compiled": lambda: unified(s, y),
        "thresholded, compiled": lambda: thresholded(s, y),
        "sigmoid focal, compiled": lambda: focal(s, y),
        "softmax focal, compiled": lambda: softmax(s, labels),
        "circle, compiled": lambda: circle(s, y),
    }


def show(title: str, columns: list[str], rows: dict[str, list[float]]) -> None:
    print(f"\n{title}")
    print(f"{'':28}" + "".join(f"{column:>12}" for column in columns))
    for name, values in rows.items():
        print(f"{name:28}" + "".join(f"{value:12.2f}" for value in values), flush=True)


def embeddings(rounds: int, device: str) -> None:
    """Circle loss of all pairs in a batch, from embeddings."""
    if not importlib.util.find_spec("pytorch_metric_learning"):
        print("\nnot installed, so not compared: pytorch-metric-learning (circle loss on embeddings)")
        return
    from pytorch_metric_learning.losses import CircleLoss

    batch = 1024
    x = torch.randn(batch, 128, device=device, requires_grad=True)
    kinds = torch.arange(batch, device=device) // 8
    same = kinds[:, None] == kinds
    targets = same.long().fill_diagonal_(-100)
    theirs = CircleLoss(m=0.25, gamma=256)

    def ours() -> Tensor:
        unit = F.normalize(x)
        return mlloss.circle_loss(unit @ unit.T, targets)

    steps = {
        "ours": forward_backward(ours, x),
        "theirs": forward_backward(lambda: theirs(x, kinds), x),
    }
    measured = ratios(steps, "ours", rounds, device)
    print(
        f"\ncircle loss on {batch} embeddings: pytorch-metric-learning takes {measured['theirs']:.1f} × ours"
    )


def growth(rounds: int, device: str) -> None:
    """Time of the unified loss an entry, in units of the smallest size: linear is 1."""
    sizes = [(256, 1000), (1024, 1000), (4096, 1000), (256, 4000), (256, 16000)]
    steps = {}
    for rows, classes in sizes:
        s, y, _ = scores(rows, classes, device)
        steps[f"{rows}×{classes}"] = forward_backward(lambda s=s, y=y: mlloss.unified_loss(s, y), s)
    measured = ratios(steps, "256×1000", rounds, device)
    columns = list(steps)
    per_entry = [
        measured[name] * 256_000 / (rows * c) for name, (rows, c) in zip(columns, sizes, strict=True)
    ]
    show("unified, time an entry (smallest size = 1)", columns, {"": per_entry})


def save(file: Path, device: str, rounds: int, sizes: list[str], **tables: dict[str, list[float]]) -> None:
    """The tables as JSON, a value for each size, with the machine and the date; the book draws them."""
    run = {
        "date": datetime.date.today().isoformat(),
        "torch": torch.__version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} CPU",
        "device": device,
        "rounds": rounds,
        "sizes": sizes,
    }
    rounded = {
        table: {name: [round(value, 3) for value in values] for name, values in rows.items()}
        for table, rows in tables.items()
    }
    file.write_text(json.dumps(run | rounded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and nothing compiled")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--save", metavar="FILE", type=Path, help="write the three tables as JSON too")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.empty(7 * 2**20)  # freeing as much makes glibc keep what smaller tensors free, as in any training
    rounds = 5 if options.quick else 15
    print(f"torch {torch.__version__} on {options.device}, one thread, median of {rounds} rounds")
    columns = [f"{rows}×{classes}" for rows, classes in SIZES]
    both: dict[str, list[float]] = {}
    forward: dict[str, list[float]] = {}
    memory: dict[str, list[float]] = {}
    absent: list[str] = []
    for rows, classes in SIZES:
        s, y, labels = scores(rows, classes, options.device)
        steps, absent = losses(s, y, labels)
        if not options.quick:
            torch._dynamo.reset()
            steps |= compiled(s, y, labels)
        trained = {name: forward_backward(step, s) for name, step in steps.items()}
        for table, measured in (
            (both, ratios(trained, "torch, BCE", rounds, options.device)),
            (forward, ratios(steps, "torch, BCE", rounds, options.device)),
        ):
            for name, value in measured.items():
                table.setdefault(name, []).append(value)
        size = s.numel() * s.element_size()
        for name, run in trained.items():
            s.grad = None
            memory.setdefault(name, []).append(peak(run, options.device) / size)
    if options.save:
        save(options.save, options.device, rounds, columns, time=both, forward=forward, memory=memory)
    show("forward and backward, BCE = 1", columns, both)
    show("forward, BCE = 1", columns, forward)
    show("peak memory in N, gradient included", columns, memory)
    growth(rounds, options.device)
    embeddings(rounds, options.device)
    if absent:
        print(f"\nnot installed, so not compared: {', '.join(absent)}")


if __name__ == "__main__":
    main()
