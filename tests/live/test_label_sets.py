"""The scores of the figure on thresholds are what its module says they are."""

from __future__ import annotations

import torch
from torch import nn

from mlloss.data import digit_collages
from mlloss.figures.label_sets import SCORES, TARGETS


def test_the_scores_are_those_of_the_stated_model() -> None:
    """Trained anew with PyTorch's own layer and optimiser, as the module's docstring says."""
    images, targets = digit_collages(300, images=slice(0, None, 2), seed=0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(256, 6, dtype=torch.float64))
    nn.init.zeros_(model[1].weight)
    nn.init.zeros_(model[1].bias)
    descent = torch.optim.SGD(model.parameters(), lr=2.0)
    for _ in range(200):
        descent.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(model(images), targets).backward()
        descent.step()
    held_out, truth = digit_collages(12, images=slice(1, None, 2), seed=2)
    assert torch.equal(model(held_out).detach().round(decimals=2), SCORES)
    assert torch.equal(truth.to(TARGETS.dtype), TARGETS)


def test_the_seed_is_the_first_with_an_empty_collage() -> None:
    for seed in (1, 2):
        _, truth = digit_collages(12, images=slice(1, None, 2), seed=seed)
        assert (truth.sum(-1) == 0).any() == (seed == 2)


def test_training_and_held_out_collages_share_no_image() -> None:
    """All fields of many collages, as rows; blank fields are everywhere."""
    fields = []
    for part in (slice(0, None, 2), slice(1, None, 2)):
        images, _ = digit_collages(2000, images=part, seed=0)
        rows = images.unflatten(1, (2, 8)).unflatten(3, (2, 8)).transpose(2, 3).reshape(-1, 64)
        fields.append({tuple(row) for row in rows.tolist() if any(row)})
    assert len(fields[0]) > 500
    assert not fields[0] & fields[1]
