"""Where the book computes."""

from __future__ import annotations

import os

import torch


def default_device() -> torch.device:
    """Where the book computes: on ``MLLOSS_DEVICE`` if set, else on CUDA if there is one, else on the CPU."""
    return torch.device(os.environ.get("MLLOSS_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu"))
