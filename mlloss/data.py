"""Small data sets by a stated process, reproducible by their seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec

import torch
from torch import Tensor

Parameters = ParamSpec("Parameters")


def _same_everywhere(
    draw: Callable[Parameters, tuple[Tensor, Tensor]],
) -> Callable[Parameters, tuple[Tensor, Tensor]]:
    """Samples drawn on the CPU, since random numbers differ between devices; given on torch's default."""

    @wraps(draw)
    def drawn(*args: Parameters.args, **keywords: Parameters.kwargs) -> tuple[Tensor, Tensor]:
        device = torch.get_default_device()
        with torch.device("cpu"):
            inputs, targets = draw(*args, **keywords)
        return inputs.to(device), targets.to(device)

    return drawn


@_same_everywhere
def two_blobs(
    samples: int = 200, *, distance: float = 2.0, seed: int = 0, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor]:
    """Two classes in the plane: unit normal clouds around (−d/2, 0) and (+d/2, 0).

    Returns inputs `[samples, 2]` and targets `[samples]` of 0 and 1 (floating point), each class with
    probability ½.

    >>> x, y = two_blobs(4)
    >>> x.shape, y.shape
    (torch.Size([4, 2]), torch.Size([4]))
    """
    generator = torch.Generator().manual_seed(seed)
    targets = torch.randint(2, (samples,), generator=generator).to(dtype)
    inputs = torch.randn(samples, 2, generator=generator, dtype=dtype)
    inputs[:, 0] += distance * (targets - 0.5)
    return inputs, targets


@_same_everywhere
def digit_collages(
    samples: int = 200,
    *,
    digits: int = 6,
    fields: int = 2,
    empty: float = 0.5,
    imbalance: float = 1.0,
    hidden: float = 0.0,
    images: slice = slice(None),
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
) -> tuple[Tensor, Tensor]:
    """Which digits appear? Square collages of fields, each empty or with a handwritten digit.

    A side has `fields` fields. A field is empty with probability `empty`; otherwise one of scikit-learn's 8×8
    images of the digits 0, …, `digits` − 1 is drawn for it. All have equal chances, unless there is an
    imbalance: then the chances fall geometrically from digit to digit, and an image of the first has
    `imbalance` times the chance of one of the last. `images` says which of the 1797 images may be drawn, so
    that `slice(0, None, 2)` and `slice(1, None, 2)` give collages that share no image.

    Each target is hidden with probability `hidden`: it becomes −100, which losses and metrics ignore.

    Returns inputs `[samples, 8 · fields, 8 · fields]` between 0 and 1, and targets `[samples, digits]` of 0
    and 1, or −100 where hidden (floating point). A larger number of samples begins with the same ones, and
    hiding targets changes nothing else.

    >>> x, y = digit_collages(3)
    >>> x.shape, y.sum(-1)
    (torch.Size([3, 16, 16]), tensor([2., 1., 1.], dtype=torch.float64))
    """
    for name, value, low, high in ("digits", digits, 1, 10), ("empty", empty, 0, 1), ("hidden", hidden, 0, 1):
        if not low <= value <= high:
            raise ValueError(f"{name} must be from {low} to {high}, got {value}")
    if fields < 1:
        raise ValueError(f"fields must be at least 1, got {fields}")
    if not 0 < imbalance < math.inf:
        raise ValueError(f"imbalance must be positive and finite, got {imbalance}")

    pictures, labels = _digits()
    pictures, labels = pictures[images], labels[images]
    pictures, labels = pictures[labels < digits].to(dtype), labels[labels < digits]
    if not len(labels):
        raise ValueError(f"no image of the digits below {digits} is among {images}")
    chances = imbalance ** (-labels / max(digits - 1, 1)).double()
    up_to = chances.cumsum(0)
    generator = torch.Generator().manual_seed(seed)
    chance = torch.rand(samples, fields**2, 2, generator=generator, dtype=torch.float64)
    filled = chance[..., 0] >= empty
    drawn = torch.searchsorted(up_to / up_to[-1], chance[..., 1].contiguous(), right=True)
    parts = pictures[drawn] * filled[..., None, None]
    inputs = parts.unflatten(1, (fields, fields)).transpose(2, 3).reshape(samples, 8 * fields, 8 * fields)
    appears = torch.nn.functional.one_hot(labels[drawn], digits).bool() & filled[..., None]
    targets = appears.any(1).to(dtype)
    generator.manual_seed(~seed)  # a stream of its own
    return inputs, targets.masked_fill(torch.rand(samples, digits, generator=generator) < hidden, -100)


@_same_everywhere
def label_mixtures(
    samples: int = 200,
    classes: int = 10,
    *,
    positives: float = 2.0,
    skew: float = 0.0,
    features: int = 32,
    world: int = 0,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
) -> tuple[Tensor, Tensor]:
    """Many labels in one input: the sum of what each label looks like, and noise.

    Label c = 1, …, C is on with probability q_c ∝ c^(−skew), independently of all others; the q_c add up to
    `positives`. In the world `world` each label has a look m_c, a standard normal vector; an input is Σ m_c
    over the labels that are on, plus a standard normal vector. `seed` draws labels and noise, so that
    training and held-out sets are two seeds of one world.

    Returns inputs `[samples, features]` and targets `[samples, classes]` of 0 and 1 (floating point).

    >>> x, y = label_mixtures(3, 5)
    >>> x.shape, y.shape
    (torch.Size([3, 32]), torch.Size([3, 5]))
    """
    shares = torch.arange(1, classes + 1, dtype=torch.float64) ** -skew
    chances = positives * shares / shares.sum()
    if not (positives >= 0 and chances.max() <= 1):
        raise ValueError(
            f"a label cannot be on with probability {chances.max():.3g}; "
            f"choose positives (now {positives}) or skew (now {skew}) so that it lies between 0 and 1"
        )
    nature = torch.Generator().manual_seed(-1 - world)  # no stream that a `seed` begins
    looks = torch.randn(classes, features, generator=nature, dtype=dtype)
    generator = torch.Generator().manual_seed(seed)
    on = torch.rand(samples, classes, generator=generator, dtype=torch.float64) < chances
    noise = torch.randn(samples, features, generator=generator, dtype=dtype)
    targets = on.to(dtype)
    return targets @ looks + noise, targets


@cache
def _digits() -> tuple[Tensor, Tensor]:
    """scikit-learn's digits: images `[1797, 8, 8]` between 0 and 1, and labels."""
    from sklearn.datasets import load_digits  # type: ignore[import-untyped]  # loaded only where it is needed

    bunch = load_digits()
    return torch.tensor(bunch.images / 16), torch.tensor(bunch.target)
