"""Label mixtures and collages come from the process that their docstrings state."""

from __future__ import annotations

import math

import pytest
import torch

from mlloss.data import digit_collages, label_mixtures
from mlloss.training import IMAGES


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


# --- collages ----------------------------------------------------------------------------------------------


def rows(images):
    """The fields of collages, each as a row of 64 pixels."""
    return images.unfold(-2, 8, 8).unfold(-2, 8, 8).flatten(-2).flatten(-3, -2)


@pytest.mark.parametrize("fields", [1, 2, 3, 5])
def test_targets_say_what_is_in_the_fields(fields):
    pictures, labels = digit_collages(3000, digits=10, fields=1, empty=0.0)  # one digit each
    of_picture = {
        tuple(row): label
        for row, label in zip(rows(pictures)[:, 0].tolist(), labels.argmax(-1).tolist(), strict=True)
    }
    images, targets = digit_collages(30, digits=10, fields=fields, seed=1)
    assert images.shape == (30, 8 * fields, 8 * fields)
    known = 0
    for collage, target in zip(rows(images).tolist(), targets, strict=True):
        assert len(collage) == fields**2
        found = [of_picture.get(tuple(row)) for row in collage if any(row)]
        known += sum(label is not None for label in found)
        assert all(target[label] == 1 for label in found if label is not None)
        if None not in found:
            assert set(target.nonzero().flatten().tolist()) == set(found)
    assert known > 5


def test_imbalance_is_the_ratio_of_first_and_last():
    _, targets = digit_collages(60000, digits=4, fields=1, empty=0.0, imbalance=27.0)
    counts = targets.sum(0)
    ratios = counts[:-1] / counts[1:]
    assert ratios.tolist() == pytest.approx([3, 3, 3], rel=0.15)  # images of all digits are about as many
    assert digit_collages(9, digits=1, imbalance=5.0)[1].shape == (9, 1)


def test_hidden_targets_are_ignored_and_change_nothing_else():
    images, targets = digit_collages(3000, seed=3)
    same, hidden = digit_collages(3000, seed=3, hidden=0.3)
    assert same.equal(images)
    gone = hidden == -100
    assert gone.double().mean().item() == pytest.approx(0.3, abs=0.01)
    assert hidden[~gone].equal(targets[~gone])
    assert targets[gone].mean().item() == pytest.approx(targets.mean().item(), abs=0.02)  # whatever they are
    assert digit_collages(30, hidden=1.0)[1].eq(-100).all()
    more = digit_collages(3000, seed=3, hidden=0.6)[1]
    assert more[gone].eq(-100).all()


def test_a_larger_number_begins_with_the_same():
    few = digit_collages(5, fields=3, imbalance=4.0, hidden=0.4, seed=7)
    many = digit_collages(50, fields=3, imbalance=4.0, hidden=0.4, seed=7)
    assert all(a.equal(b[:5]) for a, b in zip(few, many, strict=True))


def test_parts_share_no_image():
    seen = [
        {
            tuple(row)
            for row in rows(digit_collages(3000, digits=10, images=part)[0]).flatten(0, 1).tolist()
            if any(row)
        }
        for part in IMAGES.values()
    ]
    assert all(len(part) > 400 for part in seen)
    assert not seen[0] & seen[1]
    assert not seen[2] & (seen[0] | seen[1])


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"digits": 0}, "digits must be from 1 to 10, got 0"),
        ({"digits": 11}, "digits must be from 1 to 10, got 11"),
        ({"fields": 0}, "fields must be at least 1, got 0"),
        ({"empty": 1.5}, "empty must be from 0 to 1, got 1.5"),
        ({"hidden": math.nan}, "hidden must be from 0 to 1, got nan"),
        ({"imbalance": 0.0}, "imbalance must be positive and finite, got 0.0"),
        ({"imbalance": math.inf}, "imbalance must be positive and finite, got inf"),
        ({"images": slice(5, 5)}, "no image of the digits below 6"),
    ],
)
def test_impossible_settings_are_errors(setting, message):
    with pytest.raises(ValueError, match=message):
        digit_collages(3, **setting)


def test_dtype():
    images, targets = digit_collages(3, dtype=torch.float32)
    assert images.dtype == targets.dtype == torch.float32
