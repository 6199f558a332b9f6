"""Label mixtures come from the process that their docstring states."""

from __future__ import annotations

import pytest
import torch

from mlloss.data import label_mixtures


def test_labels_occur_as_often_as_stated() -> None:
    """Within four standard errors, label by label and together, with and without a skew."""
    samples, classes, positives = 20_000, 12, 2.0
    for skew in (0.0, 1.0):
        _, targets = label_mixtures(samples, classes, positives=positives, skew=skew)
        shares = torch.arange(1, classes + 1, dtype=torch.float64) ** -skew
        expected = positives * shares / shares.sum()
        error = (expected * (1 - expected) / samples).sqrt()
        assert ((targets.mean(0) - expected).abs() < 4 * error).all()
        assert abs(targets.sum(-1).mean() - positives) < 4 * error.norm()


def test_labels_are_independent() -> None:
    _, targets = label_mixtures(20_000, 6)
    correlations = targets.T.corrcoef() - torch.eye(6)
    assert correlations.abs().max() < 4 / 20_000**0.5


def test_inputs_are_the_looks_of_the_labels_and_noise() -> None:
    """Least squares finds the same looks in two draws of one world, others in another; the rest is noise."""
    looks = {}
    for world, seed in ((0, 0), (0, 1), (1, 0)):
        inputs, targets = label_mixtures(5000, 8, features=5, world=world, seed=seed)
        looks[world, seed] = torch.linalg.lstsq(targets, inputs).solution
        rest = inputs - targets @ looks[world, seed]
        assert abs(rest.std() - 1) < 0.03
        assert abs(rest.mean()) < 0.03
    assert (looks[0, 0] - looks[0, 1]).abs().max() < 0.3
    assert (looks[0, 0] - looks[1, 0]).abs().max() > 1


def test_the_same_seeds_give_the_same_samples() -> None:
    for first, second in zip(label_mixtures(seed=3), label_mixtures(seed=3), strict=True):
        assert torch.equal(first, second)
    assert not torch.equal(label_mixtures(seed=3)[1], label_mixtures(seed=4)[1])
    inputs, targets = label_mixtures(4, 3, dtype=torch.float32)
    assert inputs.dtype == targets.dtype == torch.float32


@pytest.mark.parametrize("settings", [{"positives": 11}, {"positives": 5, "skew": 2}, {"positives": -1}])
def test_chances_outside_zero_and_one_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="positives"):
        label_mixtures(5, 10, **settings)
