"""Every unit test runs on every device there is, and on one that is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from tests.unit.table import DEVICES


@pytest.fixture(autouse=True, params=DEVICES)
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[torch.device]:
    """The device of all tensors that the test makes, and of those that its module has made."""
    for name, value in vars(request.module).items():
        if isinstance(value, torch.Tensor):
            monkeypatch.setattr(request.module, name, value.to(request.param))
    with torch.device(request.param) as chosen:
        yield chosen
