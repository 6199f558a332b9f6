"""Small data sets by a stated process, reproducible by their seed."""

from __future__ import annotations

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
