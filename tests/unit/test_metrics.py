"""Measures against scikit-learn, at random and degenerate inputs, and by hand."""

import math

import numpy as np
import pytest
import sklearn.metrics
import torch

import mlloss
from tests.unit.table import on_real_devices

RNG = np.random.default_rng(5)


def samples(count, classes, density):
    """Targets, predictions and scores with many ties; the first rows are all 0 and all 1."""
    targets = RNG.random((count, classes)) < density
    predictions = RNG.random((count, classes)) < density
    targets[:2], predictions[1:3] = [[False], [True]], [[True], [False]]
    return targets, predictions, RNG.integers(-2, 3, (count, classes)) / 2


BATCHES = [samples(40, classes, density) for classes in (2, 3, 8) for density in (0.2, 0.5, 0.9)]

SETS = {
    "exact_match_ratio": sklearn.metrics.accuracy_score,
    "hamming_loss": sklearn.metrics.hamming_loss,
    "jaccard": sklearn.metrics.jaccard_score,
    "precision": sklearn.metrics.precision_score,
    "recall": sklearn.metrics.recall_score,
    "f1": sklearn.metrics.f1_score,
}
RANKINGS = {
    "ranking_loss": sklearn.metrics.label_ranking_loss,
    "coverage_error": sklearn.metrics.coverage_error,
    "label_ranking_average_precision": sklearn.metrics.label_ranking_average_precision_score,
}


@pytest.mark.parametrize("zero_division", [0.0, 1.0])
@pytest.mark.parametrize("name", SETS)
def test_sets_against_scikit_learn(name, zero_division):
    averaged = name not in ("exact_match_ratio", "hamming_loss")
    theirs = {"average": "samples", "zero_division": zero_division} if averaged else {}
    ours = {"zero_division": zero_division} if averaged else {}
    for targets, predictions, _ in BATCHES:
        y, z = (torch.tensor(x) for x in (targets, predictions))
        value = getattr(mlloss, name)(z, y, **ours)
        assert value.item() == pytest.approx(SETS[name](targets, predictions, **theirs), rel=1e-12)


@pytest.mark.parametrize("name", RANKINGS)
def test_rankings_against_scikit_learn(name):
    for targets, _, scores in BATCHES:
        y, s = torch.tensor(targets), torch.tensor(scores)
        value = getattr(mlloss, name)(s, y)
        assert value.item() == pytest.approx(RANKINGS[name](targets, scores), rel=1e-12)
        assert value.dtype == torch.float64


ALL = [*SETS, *RANKINGS]
SCORES = torch.tensor(
    [[2.0, -1.0, 0.5], [0.1, 0.2, 0.3], [1.0, 1.0, 1.0], [5.0, 0.0, -5.0]], dtype=torch.float64
)
TARGETS = torch.tensor([[1, 0, -100], [0, 1, 1], [-100, -100, -100], [1, -100, 0]])


def first(name, scores=None):
    scores = SCORES if scores is None else scores
    return scores if name in RANKINGS else mlloss.predict(scores)


@pytest.mark.parametrize("name", ALL)
def test_ignored_entries_do_not_exist(name):
    measure = getattr(mlloss, name)
    values = measure(first(name), TARGETS, reduction="none")
    assert values[0] == measure(first(name)[0, :2], TARGETS[0, :2])
    assert values[3] == measure(first(name)[3, ::2], TARGETS[3, ::2])
    assert values[2] == 0
    assert measure(first(name), TARGETS).item() == pytest.approx(values.sum().item() / 3, rel=1e-12)
    assert measure(first(name), TARGETS, reduction="sum") == values.sum()
    assert measure(first(name)[2:3], TARGETS[2:3]) == 0
    assert measure(first(name)[:0], TARGETS[:0]) == 0
    hidden = SCORES.masked_fill(TARGETS == -100, math.nan)
    assert measure(first(name, hidden), TARGETS, reduction="none").equal(values)
    hidden = SCORES.masked_fill(TARGETS == -100, math.inf)
    assert measure(first(name, hidden), TARGETS, reduction="none").equal(values)


@pytest.mark.parametrize("name", ALL)
def test_a_single_entry_is_a_sample(name):
    measure, targets = getattr(mlloss, name), torch.tensor([[1, -100], [0, -100]])
    scores = torch.tensor([[-1.0, 9.0], [1.0, 9.0]])
    wrong = {"exact_match_ratio": [0, 0], "hamming_loss": [1, 1], "coverage_error": [1, 0]}
    right = {"label_ranking_average_precision": [1, 1]}
    expected = {**wrong, **right}.get(name, [0, 0])
    assert measure(first(name, scores), targets, reduction="none").tolist() == expected
    assert measure(first(name, scores), targets) == sum(expected) / 2


@pytest.mark.parametrize("name", ["jaccard", "precision", "recall", "f1"])
def test_0_of_0_is_0_unless_said_otherwise(name):
    nothing = torch.zeros(1, 3, dtype=torch.bool)
    assert getattr(mlloss, name)(nothing, nothing) == 0
    assert getattr(mlloss, name)(nothing, nothing, zero_division=0.5) == 0.5


@pytest.mark.parametrize("name", ["jaccard", "precision", "recall", "f1"])
def test_nothing_used_is_0_whatever_zero_division_is(name):
    nothing = torch.full((1, 3), -100)
    assert (
        getattr(mlloss, name)(mlloss.predict(SCORES[:1]), nothing, zero_division=1.0, reduction="none") == 0
    )


@pytest.mark.parametrize("name", ALL)
def test_shapes(name):
    measure, inputs = getattr(mlloss, name), first(name)
    values = measure(inputs, TARGETS, reduction="none")
    many = measure(inputs.expand(2, 3, 4, 3), TARGETS.expand(2, 3, 4, 3), reduction="none")
    assert many.equal(values.expand(2, 3, 4))
    assert measure(inputs[0], TARGETS[0], reduction="none").equal(values[0])
    apart = measure(inputs.mT.contiguous().mT, TARGETS.mT.contiguous().mT, reduction="none")
    assert apart.equal(values)
    assert torch.func.vmap(lambda x, y: measure(x, y, reduction="none"))(inputs, TARGETS).equal(values)


@pytest.mark.parametrize("name", RANKINGS)
def test_nan_and_infinite_scores(name):
    measure = getattr(mlloss, name)
    scores = torch.tensor(
        [[math.nan, 0.0, 1.0], [math.inf, -math.inf, 0.0], [-math.inf, -math.inf, math.inf]]
    )
    values = measure(scores, torch.tensor([[1, 0, 1], [1, 0, 1], [1, 0, 0]]), reduction="none")
    assert values[0].isnan()
    expected = {
        "ranking_loss": [0, 1],
        "coverage_error": [2, 3],
        "label_ranking_average_precision": [1, 1 / 3],
    }
    assert values[1:].tolist() == pytest.approx(expected[name])
    assert measure(scores.half(), torch.tensor([[1, 0, 1]] * 3)).dtype == torch.float32
    beyond = measure(torch.tensor([[-math.inf, 1.0, -math.inf]]), torch.tensor([[1, 0, -100]]))
    assert beyond.item() == {"ranking_loss": 1, "coverage_error": 2}.get(name, 0.5)


def test_predict():
    scores = torch.tensor([[1.0, -1.0, 0.0], [math.nan, math.inf, -math.inf]])
    assert mlloss.predict(scores).tolist() == [[True, False, False], [False, True, False]]
    assert mlloss.predict(scores, -1).tolist() == [[True, False, True], [False, True, False]]
    assert mlloss.predict(scores, torch.tensor(-1.0)).equal(mlloss.predict(scores, -1))
    by_class = mlloss.predict(scores, torch.tensor([2.0, -2.0, -1.0]))
    assert by_class.tolist() == [[False, True, True], [False, True, False]]
    by_sample = mlloss.predict(scores, torch.tensor([[-2.0], [0.0]]))
    assert by_sample.tolist() == [[True, True, True], [False, True, False]]
    many = scores.expand(4, 2, 3)
    for threshold in torch.tensor([2.0, -2.0, -1.0]), torch.linspace(-2, 2, 8).view(4, 2, 1):
        assert mlloss.predict(many, threshold).equal(many > threshold)
    for shape in (2,), (1, 1), (2, 3), (3, 1):
        with pytest.raises(
            ValueError, match=rf"threshold must be .*\[\[\], \[3\], \[2, 1\]\], got shape \[{shape[0]}"
        ):
            mlloss.predict(scores, torch.zeros(shape))
    for wrong in math.nan, math.inf:
        with pytest.raises(ValueError, match="threshold must be a finite number"):
            mlloss.predict(scores, wrong)
    with pytest.raises(ValueError, match="logits must be floating point"):
        mlloss.predict(scores.bool())
    with pytest.raises(ValueError, match="C ≥ 1"):
        mlloss.predict(scores[:, :0])


def test_top_k():
    scores = torch.tensor([[0.2, 0.5, 0.0, 0.0], [math.nan, 0.5, math.inf, -math.inf]])
    assert mlloss.top_k(scores, 0).sum() == 0
    assert mlloss.top_k(scores, 1).int().tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]
    assert mlloss.top_k(scores, 3).int().tolist() == [[1, 1, 1, 0], [0, 1, 1, 1]]
    assert mlloss.top_k(scores, 4).all()
    for k in range(5):
        assert mlloss.top_k(scores, k).sum(-1).tolist() == [k, k]
    assert mlloss.top_k(torch.zeros(1000), 10).nonzero().flatten().tolist() == list(range(10))
    many = scores.expand(3, 2, 4)
    assert mlloss.top_k(many, 2).equal(mlloss.top_k(scores, 2).expand(3, 2, 4))
    assert mlloss.top_k(scores[0], 2).equal(mlloss.top_k(scores, 2)[0])
    for wrong in -1, 5:
        with pytest.raises(ValueError, match=rf"k must be in 0\.\.4, the number of classes, got {wrong}"):
            mlloss.top_k(scores, wrong)
    with pytest.raises(ValueError, match="C ≥ 1"):
        mlloss.top_k(scores[:, :0], 0)


@on_real_devices
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ALL)
def test_compiled(name):
    torch._dynamo.reset()
    measure = getattr(mlloss, name)
    compiled = torch.compile(measure, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(first(name), TARGETS), measure(first(name), TARGETS))
