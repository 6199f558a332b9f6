"""Small data sets by a stated process, reproducible by their seed."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor


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


def digit_collages(
    samples: int = 200,
    *,
    digits: int = 6,
    empty: float = 0.5,
    images: slice = slice(None),
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
) -> tuple[Tensor, Tensor]:
    """Which digits appear? Collages of two by two fields, each empty or with a handwritten digit.

    A field is empty with probability `empty`; otherwise one of scikit-learn's 8×8 images of the digits
    0, …, `digits` − 1 is drawn for it, all with equal chances. `images` says which of the 1797 images may be
    drawn, so that `slice(0, None, 2)` and `slice(1, None, 2)` give collages that share no image.

    Returns inputs `[samples, 16, 16]` between 0 and 1, and targets `[samples, digits]` of 0 and 1 (floating
    point). A larger number of samples begins with the same ones.

    >>> x, y = digit_collages(3)
    >>> x.shape, y.sum(-1)
    (torch.Size([3, 16, 16]), tensor([2., 1., 1.], dtype=torch.float64))
    """
    pictures, labels = _digits()
    pictures, labels = pictures[images], labels[images]
    pictures, labels = pictures[labels < digits].to(dtype), labels[labels < digits]
    generator = torch.Generator().manual_seed(seed)
    chance = torch.rand(samples, 4, 2, generator=generator, dtype=torch.float64)
    filled = chance[..., 0] >= empty
    drawn = (chance[..., 1] * len(labels)).long()
    fields = pictures[drawn] * filled[..., None, None]
    inputs = fields.unflatten(1, (2, 2)).transpose(2, 3).reshape(samples, 16, 16)
    appears = torch.nn.functional.one_hot(labels[drawn], digits).bool() & filled[..., None]
    return inputs, appears.any(1).to(dtype)


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
