"""Wrong use gets an error that names the argument, the value or shapes, and the way out; reductions."""

import math

import pytest
import torch

import mlloss
from tests.unit.table import LOSSES, each, normal, on_real_devices

SCORES = torch.zeros(4, 3)
MULTI_HOT = torch.tensor([[1, 0, 0], [0, 1, 1], [-100, 1, 0], [-100, -100, -100]])
LABELS = torch.tensor([0, 2, 1, -100])
PREDICTED = SCORES > 0

SETS = {
    "unified_loss": mlloss.unified_loss,
    "thresholded_loss": mlloss.thresholded_loss,
    "circle_loss": mlloss.circle_loss,
    "multilabel_softmax_cross_entropy": mlloss.multilabel_softmax_cross_entropy,
    "hard_unified_loss": mlloss.hard_unified_loss,
    "hard_thresholded_loss": mlloss.hard_thresholded_loss,
    "ranking_loss": mlloss.ranking_loss,
    "coverage_error": mlloss.coverage_error,
    "label_ranking_average_precision": mlloss.label_ranking_average_precision,
}
MEASURES = {
    "exact_match_ratio": mlloss.exact_match_ratio,
    "hamming_loss": mlloss.hamming_loss,
    "jaccard": mlloss.jaccard,
    "precision": mlloss.precision,
    "recall": mlloss.recall,
    "f1": mlloss.f1,
}
OF_LABELS = {
    "softmax_focal_loss": mlloss.softmax_focal_loss,
    "hard_cross_entropy": mlloss.hard_cross_entropy,
}
ELEMENTWISE = {"sigmoid_focal_loss": mlloss.sigmoid_focal_loss}


def each_of(*tables):
    rows = {name: call for table in tables for name, call in table.items()}
    return pytest.mark.parametrize("call", list(rows.values()), ids=list(rows))


def arguments(call):
    if call in OF_LABELS.values():
        return SCORES, LABELS
    return (PREDICTED if call in MEASURES.values() else SCORES), MULTI_HOT


@each_of(SETS, MEASURES, ELEMENTWISE, OF_LABELS)
def test_reduction_has_three_names(call):
    for wrong in "Mean", None, "average":
        with pytest.raises(ValueError, match=f"'none', 'mean' or 'sum', got {wrong!r}"):
            call(*arguments(call), reduction=wrong)


@each_of(SETS, MEASURES, ELEMENTWISE)
def test_nothing_is_broadcast(call):
    scores, _ = arguments(call)
    for shape in (3,), (4, 1), (1, 3), (3, 4), (4, 3, 1), (1, 4, 3):
        with pytest.raises(ValueError, match=rf"\[4, 3\].*\[{', '.join(map(str, shape))}\].*broadcast"):
            call(scores, torch.zeros(shape, dtype=torch.long))


@each_of(OF_LABELS)
def test_labels_have_the_leading_shape(call):
    for shape in (4, 1), (1,), (3,), (4, 3), ():
        with pytest.raises(ValueError, match=r"without the class dimension.*4, 3"):
            call(SCORES, torch.zeros(shape, dtype=torch.long))


@each_of(SETS, MEASURES)
def test_targets_have_three_values(call):
    scores, _ = arguments(call)
    for dtype, wrong in [
        (torch.long, -1),
        (torch.long, 2),
        (torch.float32, 1.5),
        (torch.float32, math.nan),
        (torch.float32, 0.5),
        (torch.uint8, 255),
        (torch.int8, -101),
    ]:
        targets = torch.ones(4, 3, dtype=dtype)
        targets[2, 1] = wrong
        with pytest.raises(ValueError, match=rf"got {wrong}; mlloss\.from_signed"):
            call(scores, targets)


@each_of(ELEMENTWISE)
def test_soft_targets_are_between_0_and_1(call):
    for wrong in -1.0, 1.5, math.nan, -0.001:
        targets = torch.full((4, 3), 0.5)
        targets[0, 0] = wrong
        with pytest.raises(ValueError, match=rf"\[0, 1\] or -100 \(ignored\), got {wrong:.3}.*from_signed"):
            call(SCORES, targets)


@each_of(OF_LABELS)
def test_labels_are_classes(call):
    for wrong in -1, 3, 100, -101:
        with pytest.raises(ValueError, match=rf"in 0\.\.2 or -100 \(ignored\), got {wrong}"):
            call(SCORES, torch.tensor([0, 1, wrong, 2]))
    for dtype in torch.float32, torch.bool, torch.complex64:
        with pytest.raises(
            ValueError, match=rf"integer class indices, got {dtype}; convert with labels.long"
        ):
            call(SCORES, torch.zeros(4, dtype=dtype))


@each_of(SETS, ELEMENTWISE, OF_LABELS)
def test_scores_are_floating_point(call):
    scores, targets = arguments(call)
    for dtype in torch.long, torch.bool, torch.complex64:
        with pytest.raises(ValueError, match=rf"floating point, got {dtype}; convert with \w+\.float\(\)"):
            call(scores.to(dtype), targets)


@each_of(SETS, MEASURES, OF_LABELS)
def test_there_are_classes(call):
    scores, targets = arguments(call)
    for empty in scores[:, :0], scores[0, 0]:
        with pytest.raises(ValueError, match=r"C ≥ 1, got \[(4, 0)?\]"):
            call(empty, targets)


@each_of(SETS, MEASURES, ELEMENTWISE)
def test_ignore_index_is_another_number(call):
    for wrong in 0, 1:
        with pytest.raises(ValueError, match=f"ignore_index must not be 0 .* got {wrong}"):
            call(*arguments(call), ignore_index=wrong)


@each_of(SETS, MEASURES, ELEMENTWISE)
def test_targets_are_not_complex(call):
    scores, targets = arguments(call)
    with pytest.raises(
        ValueError, match=r"targets must be bool, integer or floating point, got torch\.complex64"
    ):
        call(scores, targets.to(torch.complex64))


@each_of(MEASURES)
def test_predictions_are_bool(call):
    with pytest.raises(ValueError, match=r"bool tensor, got torch.float32; mlloss\.predict"):
        call(SCORES, MULTI_HOT)


NOT_FINITE = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize(
    ("call", "name", "wrong"),
    [
        (mlloss.sigmoid_focal_loss, "alpha", [-0.1, 1.1, *NOT_FINITE, torch.ones(3)]),
        (mlloss.sigmoid_focal_loss, "gamma", [-0.1, *NOT_FINITE, torch.ones(3)]),
        (mlloss.softmax_focal_loss, "gamma", [-0.1, *NOT_FINITE, torch.ones(2), torch.ones(3).long()]),
        (mlloss.softmax_focal_loss, "alpha", [-0.1, torch.ones(2), torch.ones(4, 1), torch.ones(3).long()]),
        (mlloss.unified_loss, "gamma", [-0.1, *NOT_FINITE, torch.ones(())]),
        (mlloss.unified_loss, "margin", NOT_FINITE),
        (mlloss.hard_unified_loss, "margin", NOT_FINITE),
        (mlloss.thresholded_loss, "threshold", [*NOT_FINITE, torch.zeros(3), torch.zeros(4).long()]),
        (mlloss.hard_thresholded_loss, "threshold", [*NOT_FINITE, torch.zeros(4, 1), torch.zeros(1)]),
        (mlloss.circle_loss, "gamma", [-1.0, *NOT_FINITE]),
        (mlloss.circle_loss, "margin", NOT_FINITE),
        (mlloss.circle_loss, "positive_optimum", NOT_FINITE),
        (mlloss.circle_loss, "negative_optimum", NOT_FINITE),
        (mlloss.circle_loss, "positive_margin", NOT_FINITE),
        (mlloss.circle_loss, "negative_margin", NOT_FINITE),
    ],
    ids=lambda x: getattr(x, "__name__", None) or (x if isinstance(x, str) else "wrong"),
)
def test_parameters(call, name, wrong):
    for value in wrong:
        with pytest.raises(ValueError, match=f"^{name} must be"):
            call(*arguments(call), **{name: value})


def test_messages_say_the_range_and_the_value():
    with pytest.raises(ValueError, match=r"alpha must be a finite number in \[0, 1\], got 2$"):
        mlloss.sigmoid_focal_loss(SCORES, PREDICTED, alpha=2)
    with pytest.raises(ValueError, match=r"gamma must be a finite number ≥ 0, got -1$"):
        mlloss.unified_loss(SCORES, PREDICTED, gamma=-1)
    with pytest.raises(ValueError, match=r"margin must be a finite number, got nan$"):
        mlloss.unified_loss(SCORES, PREDICTED, margin=math.nan)
    with pytest.raises(
        ValueError, match=r"alpha must be .* shape \[3\], one value a class, got torch.float32 of"
    ):
        mlloss.softmax_focal_loss(SCORES, LABELS, alpha=torch.ones(4))
    with pytest.raises(ValueError, match=r"alpha must be .* got a list; torch.tensor makes one"):
        mlloss.softmax_focal_loss(SCORES, LABELS, alpha=[1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=r"threshold must be .* shape \[\] or \[4\] .* of shape \[3\]"):
        mlloss.thresholded_loss(SCORES, PREDICTED, threshold=torch.zeros(3))


def test_limits_of_parameters_are_allowed():
    for alpha in 0, 1, None:
        assert mlloss.sigmoid_focal_loss(SCORES, PREDICTED, alpha=alpha, gamma=0) >= 0
    assert mlloss.unified_loss(SCORES, MULTI_HOT, gamma=0).item() == pytest.approx(
        (math.log(3) + math.log(3) + math.log(2)) / 3
    )
    assert mlloss.circle_loss(SCORES, MULTI_HOT, gamma=0, reduction="none").tolist() == pytest.approx(
        [math.log(3), math.log(3), math.log(2), 0]
    )


@pytest.mark.parametrize("gamma", [0.0, 2.0])
def test_infinite_scores_at_scale_0(gamma):
    scores = torch.tensor([[-math.inf, 0.0, 1.0], [math.inf, 0.0, 1.0]], requires_grad=True)
    losses = mlloss.unified_loss(scores, torch.tensor([[0, 0, 1], [0, 0, 1]]), gamma=gamma, reduction="none")
    losses.sum().backward()
    assert losses.tolist() == pytest.approx([math.log1p(math.exp(-gamma)), math.inf])
    assert scores.grad.isfinite().all()


def test_from_signed():
    for dtype in torch.int8, torch.int64, torch.float16, torch.float64:
        signed = torch.tensor([[1, -1, 0]], dtype=dtype)
        assert mlloss.from_signed(signed).tolist() == [[1, 0, -100]]
        assert mlloss.from_signed(signed).dtype == dtype
        assert mlloss.from_signed(signed, ignore_index=7).tolist() == [[1, 0, 7]]
    for wrong in 2, -100, 0.5, math.nan:
        with pytest.raises(
            ValueError, match=rf"\+1 \(positive\), −1 \(negative\) or 0 \(ignored\), got {wrong}"
        ):
            mlloss.from_signed(torch.tensor([1.0, wrong]))
    for wrong in 0, 1:
        with pytest.raises(ValueError, match=f"ignore_index must not be 0 .* got {wrong}"):
            mlloss.from_signed(torch.tensor([1, -1, 0]), ignore_index=wrong)
    for dtype in torch.bool, torch.uint8:
        with pytest.raises(ValueError, match=f"signed dtype to hold −1, got {dtype}"):
            mlloss.from_signed(torch.ones(2, dtype=dtype))


@each(LOSSES)
def test_reductions(loss):
    words = [word for word in ("PNNP", "NPNN", "iiii", "iPNN") if loss.takes(word)]
    scores = normal(len(words), 4, seed=3, dtype=torch.float32)
    losses = loss(scores, words)
    if loss.kind == "elements":
        used = sum(letter != "i" for word in words for letter in word)
    else:
        used = sum(word != "iiii" for word in words)
    assert losses.shape == (len(words),)
    torch.testing.assert_close(loss(scores, words, "sum"), losses.sum())
    torch.testing.assert_close(loss(scores, words, "mean"), losses.sum() / used)
    assert losses[words.index("iiii")] == 0
    for nothing in (
        loss(scores[:1], ["iiii"], "mean"),
        loss.call(scores[:0], loss.targets(words)[:0], reduction="mean"),
    ):
        assert nothing.item() == 0


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4)])
def test_elementwise_of_any_shape(shape):
    scores = normal(*shape, seed=3)
    targets = normal(*shape, seed=4).sigmoid()
    losses = mlloss.sigmoid_focal_loss(scores, targets, alpha=None, gamma=0, reduction="none")
    expected = torch.nn.functional.binary_cross_entropy_with_logits(scores, targets, reduction="none")
    torch.testing.assert_close(losses, expected)


def test_other_ignore_index():
    scores = torch.tensor([[1.0, -1.0, 0.5]])
    expected = mlloss.unified_loss(scores, torch.tensor([[1, 0, -100]]))
    assert (
        mlloss.unified_loss(scores, torch.tensor([[1, 0, 255]], dtype=torch.uint8), ignore_index=255)
        == expected
    )
    assert mlloss.softmax_focal_loss(scores, torch.tensor([-1]), ignore_index=-1) == 0
    focal = mlloss.sigmoid_focal_loss(scores, torch.tensor([[1, 0, -1]]), ignore_index=-1, reduction="sum")
    torch.testing.assert_close(
        focal, mlloss.sigmoid_focal_loss(scores[:, :2], torch.tensor([[1, 0]]), reduction="sum")
    )


def test_thresholds():
    scores = torch.tensor([[1.0, -1.0], [0.5, 2.0]], dtype=torch.float64)
    targets = torch.tensor([[1, 0], [0, 1]])
    for loss in mlloss.thresholded_loss, mlloss.hard_thresholded_loss:
        t = torch.tensor([0.3, -0.8])
        by_number = [loss(scores, targets, threshold=x, reduction="none") for x in (0.3, -0.8)]
        each_its_own = loss(scores, targets, threshold=torch.tensor([0.3, -0.8]).double(), reduction="none")
        torch.testing.assert_close(each_its_own, torch.stack([by_number[0][0], by_number[1][1]]))
        scalar = loss(scores, targets, threshold=torch.tensor(0.3, dtype=torch.float16), reduction="none")
        torch.testing.assert_close(scalar, by_number[0], rtol=1e-3, atol=1e-3)
        assert scalar.dtype == torch.float64
        assert loss(scores.float(), targets, threshold=t.double()).dtype == torch.float32
        many = scores.expand(3, 2, 2), targets.expand(3, 2, 2)
        of_each = loss(*many, threshold=torch.tensor([0.3, -0.8]).double().expand(3, 2), reduction="none")
        assert of_each.equal(each_its_own.expand(3, 2))
        t = torch.tensor([0.3, -0.8], dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(lambda t, loss=loss: loss(scores, targets, threshold=t), t)


def test_default_device(monkeypatch):
    monkeypatch.delenv("MLLOSS_DEVICE", raising=False)
    for available, device in (True, "cuda"), (False, "cpu"):
        monkeypatch.setattr(torch.cuda, "is_available", lambda available=available: available)
        assert mlloss.default_device() == torch.device(device)
    monkeypatch.setenv("MLLOSS_DEVICE", "meta")
    assert mlloss.default_device() == torch.device("meta")


def test_an_error_of_the_device_is_not_hidden(monkeypatch):
    def fail(*_):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(torch.Tensor, "amin", fail)
    with pytest.raises(RuntimeError, match="out of memory"):
        mlloss.unified_loss(SCORES, MULTI_HOT)


@on_real_devices
def test_a_compiler_does_not_look_at_values(monkeypatch):
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert mlloss.unified_loss(SCORES, torch.full((4, 3), 2)) == 0
