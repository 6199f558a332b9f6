"""Where the book computes."""

from __future__ import annotations

import os

import torch


def default_device() -> torch.device:
    """The device of the book's computations: ``MLLOSS_DEVICE`` if set, else CUDA if there is one, else the CPU."""
    return torch.device(os.environ.get("MLLOSS_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu"))
