"""The training lab: runs side by side are what each is alone; the committed results are of this code."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import islice

import pytest
import torch
import training_lab
from torch.nn import functional as F

import mlloss
from mlloss.training import (
    LOSSES,
    CollageNet,
    Setup,
    exact_match,
    f1,
    macro_f1,
    measures,
    recorded,
    train,
    tune,
)
from tests.unit.table import normal

COMMITTED = recorded()
SMALL = {"samples": 60, "steps": 30, "batch": 20}
VALIDATION = Setup().collages("validation", 50, 0, "cpu")[0]


def last(setup, seeds):
    *_, progress = train(setup, seeds=seeds, device=torch.get_default_device())
    return progress.losses, progress.scores(VALIDATION)


@pytest.mark.parametrize("loss", LOSSES)
def test_runs_side_by_side_are_what_each_is_alone(loss):
    setup = Setup(loss, hidden=0.2, **SMALL)
    together, scores = last(setup, range(3))
    for seed in range(3):
        alone, own = last(setup, range(seed, seed + 1))
        torch.testing.assert_close(alone[0], together[seed], rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(own[0], scores[seed], rtol=1e-2, atol=1e-2)
    assert not scores[0].allclose(scores[1], atol=0.01)


def test_it_is_the_ordinary_training_of_an_ordinary_module():
    setup = Setup("cross-entropy", rate=0.01, **SMALL)
    images, targets = setup.collages("training", 60, 5, torch.get_default_device())
    torch.manual_seed(5)
    with torch.device("cpu"):
        network = CollageNet(10)
    network.to(images.device)
    adam = torch.optim.Adam(network.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(5)
    for _ in range(10):
        for batch in torch.randperm(60, generator=generator, device="cpu").split(20):
            adam.zero_grad()
            F.binary_cross_entropy_with_logits(network(images[batch]), targets[batch]).backward()
            adam.step()
    torch.testing.assert_close(last(setup, range(5, 6))[1][0], network(VALIDATION), rtol=1e-3, atol=1e-3)


def test_training_leaves_the_random_numbers_of_others_alone():
    torch.manual_seed(0)
    expected = torch.rand(1, device="cpu")
    torch.manual_seed(0)
    next(train(Setup(**SMALL), seeds=range(2)))
    assert torch.rand(1, device="cpu").equal(expected)


def test_what_is_hidden_is_ignored_or_taken_for_negative():
    everything = Setup(hidden=1.0, **SMALL)
    losses, _ = last(everything, range(2))
    assert losses.tolist() == [0, 0]
    as_negative = Setup(hidden=1.0, hidden_as="negative", **SMALL)
    assert (last(as_negative, range(2))[1] < 0).double().mean() > 0.9
    _, targets = everything.collages("test", 20, 0, "cpu")
    assert (targets >= 0).all()  # only training labels hide


def test_reports_come_as_asked():
    setup = Setup(samples=60, steps=25, batch=20)
    assert [report.step for report in train(setup, every=10)] == [10, 20, 25]
    assert [len(report.losses) for report in islice(train(setup, seeds=range(4)), 1)] == [4]


def test_the_best_threshold_is_found():
    targets = torch.eye(4).roll(1, 0).add(torch.eye(4)).repeat(12, 1).expand(2, 48, 4)
    noise = 0.1 * normal(2, 48, 4, seed=0, dtype=torch.float32).sigmoid()
    scores = targets + noise + torch.tensor([0.0, 5.0])[:, None, None]
    for measure in f1, exact_match, macro_f1:
        cut = tune(measure, scores, targets)
        assert cut.shape == (2, 1, 1)
        assert 0 < cut[0] < 1.1
        assert 5 < cut[1] < 6.1
        assert measure(scores > cut, targets).tolist() == [1, 1]


def test_measures_are_those_of_the_package():
    setup = Setup("cross-entropy")
    images, targets = setup.collages("test", 200, 20_000, torch.get_default_device())
    found = measures(
        setup, lambda x: x.flatten(1)[None, :, 50:60] - 0.4, samples=(100, 200), device=images.device
    )
    scores = images.flatten(1)[:, 50:60] - 0.4
    assert found["LRAP"].item() == pytest.approx(
        mlloss.label_ranking_average_precision(scores, targets).item()
    )
    untuned = mlloss.f1(mlloss.predict(scores), targets, zero_division=1.0)
    assert found["F1 untuned"].item() == pytest.approx(untuned.item())
    assert "F1 untuned" not in measures(
        Setup("unified"), lambda x: x.flatten(1)[None, :, :10], samples=(9, 9)
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of cross-entropy, .*, got 'hinge'"),
        ({"hidden_as": "positive"}, 'hidden_as must be "ignored" or "negative"'),
        ({"parameters": {"gamma": 1.0}}, "the loss 'cross-entropy' has no parameter gamma"),
        ({"steps": 0}, "steps must be positive, got 0"),
        ({"rate": float("nan")}, "rate must be positive, got nan"),
    ],
)
def test_impossible_settings_are_errors(settings, message):
    with pytest.raises(ValueError, match=message):
        Setup(**settings)


# --- the committed results ---------------------------------------------------------------------------------


def test_results_are_of_the_present_plan():
    planned = [(name, json.loads(json.dumps(asdict(s)))) for name, s in training_lab.plan(COMMITTED["rates"])]
    assert [(row["situation"], row["setup"]) for row in COMMITTED["rows"]] == planned
    for row in COMMITTED["rows"]:
        for values in row["measures"].values():
            assert len(values) == len(training_lab.SEEDS)


def test_rates_are_the_best_of_those_tried():
    assert COMMITTED["rates"] == {loss: training_lab.best(t) for loss, t in COMMITTED["trials"].items()}
    assert COMMITTED["tried"] == list(training_lab.RATES)
    assert {len(tried) for tried in COMMITTED["trials"].values()} == {len(training_lab.RATES)}


@pytest.mark.parametrize("loss", LOSSES)
def test_results_are_of_the_present_code(loss):
    """A short training of each loss; another machine rounds a little differently."""
    assert training_lab.check(loss) == pytest.approx(COMMITTED["check"][loss], rel=1e-3, abs=1e-4)
