"""Every loss at every case of the table: value, gradient, second derivative; against SymPy at 50 digits."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import mlloss
from mlloss import symbolic
from tests.unit.table import (
    CASES,
    INF,
    LOSSES,
    NAN,
    SMOOTH,
    TIES,
    each,
    exact,
    forms,
    pairs,
    values_of,
)

FINITE = {name: case for name, case in CASES.items() if all(math.isfinite(x) for x in case[0])}
FINITE |= {
    "ignored NaN": CASES["ignored NaN"],
    "ignored NaN and an empty side": CASES["ignored NaN and an empty side"],
}
FAR = 1e5


def tensor(scores):
    return torch.tensor(scores, dtype=torch.float64, requires_grad=True)


def close(ours, theirs, scale, absolute=0.0):
    """Equal to what rounding the scores allows; the smallest numbers are as good as 0."""
    return ours == pytest.approx(
        float(theirs), rel=1e-13 * (20 + scale), abs=max(1e-300, absolute * (20 + scale))
    )


def check(loss, scores, word):
    """As one sample, which takes the plain form, and as a batch of one, which takes the fast one."""
    value, slopes = exact(loss, scores, word)
    scale = loss.scale * max(abs(x) for x in scores if not math.isnan(x))
    if loss.name == "circle":
        scale = scale**2
    for s in tensor(scores), tensor([scores]):
        losses = loss(s, word if s.ndim == 1 else [word])
        losses.sum().backward()
        assert close(losses.item(), value, scale)
        if loss.smooth:
            for ours, theirs in zip(s.grad.flatten().tolist(), slopes, strict=True):
                assert close(ours, theirs, scale, loss.absolute)


@pairs(LOSSES, FINITE)
def test_value_and_gradient_at_50_digits(loss, scores, word):
    check(loss, scores, word)


def numbers():
    return st.one_of(
        st.floats(-5, 5),
        st.floats(-50, 50),
        st.sampled_from([0.0, -0.0, 1e3, -1e3, 1e4, -1e4, 745.0, -745.0]),
    )


@each(LOSSES)
@given(data=st.data())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_random_scores_at_50_digits(loss, data):
    scores = data.draw(st.lists(numbers(), min_size=1, max_size=5))
    if loss.kind == "labels":
        label = data.draw(st.integers(0, len(scores) - 1))
        word = "".join("P" if i == label else "N" for i in range(len(scores)))
    else:
        word = "".join(
            data.draw(st.lists(st.sampled_from("PNi"), min_size=len(scores), max_size=len(scores)))
        )
    check(loss, scores, word)


def limit(loss, scores, word):
    """The value with ±∞ replaced by something far away; beyond all bounds if it is far away itself."""
    value, _ = exact(loss, [math.copysign(FAR, x) if math.isinf(x) else x for x in scores], word)
    return math.inf if value > FAR / 10 else float(value)


@pairs(LOSSES, CASES)
def test_limits(loss, scores, word):
    expected = (
        limit(loss, scores, word) if any(map(math.isinf, scores)) else float(exact(loss, scores, word)[0])
    )
    for s in tensor(scores), tensor([scores]):
        losses = loss(s, word if s.ndim == 1 else [word])
        assert losses.item() == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pairs(LOSSES, CASES | TIES)
def test_no_derivative_is_nan(loss, scores, word):
    for s in tensor(scores), tensor([scores]):
        losses = loss(s, word if s.ndim == 1 else [word])
        (first,) = torch.autograd.grad(losses.sum(), s, create_graph=True)
        (plain,) = torch.autograd.grad(loss(s, word if s.ndim == 1 else [word]).sum(), s)
        assert first.isfinite().all()
        torch.testing.assert_close(first, plain, rtol=1e-9, atol=0)
        ignored = [i for i, w in enumerate(word) if w == "i"]
        assert not first.flatten()[ignored].any()
        (second,) = torch.autograd.grad(first.sum(), s, allow_unused=True, materialize_grads=True)
        assert second.isfinite().all()
        assert not second.flatten()[ignored].any()


EXPECTED_TIES = {
    "both at −∞": {"unified": 0.0, "circle": INF, "thresholded": INF, "multi-hot softmax": 0.0},
    "both at +∞": {"unified": 0.0, "circle": INF, "thresholded": INF, "multi-hot softmax": 0.0},
    "two positives at +∞": {"unified": 0.0, "thresholded": math.log(2), "multi-hot softmax": math.log(2)},
    "only positives, at −∞": {"unified": 0.0, "thresholded": INF, "multi-hot softmax": math.log(2)},
}


@pytest.mark.parametrize("tie", TIES)
@each(LOSSES)
def test_ties(loss, tie):
    scores, word = TIES[tie]
    if loss.takes(word):
        value = loss(tensor(scores), word).item()
        assert not math.isnan(value)
        assert value == pytest.approx(EXPECTED_TIES[tie].get(loss.name, value), rel=1e-12)


@pytest.mark.parametrize("word", ["PN", "NP", "PP", "NN"])
@each(LOSSES)
def test_nan_in_a_used_entry_is_nan(loss, word):
    if loss.takes(word):
        for scores in [NAN, 1.0], [1.0, NAN], [NAN, INF], [NAN, -INF]:
            for s in tensor(scores), tensor([scores]):
                assert loss(s, word if s.ndim == 1 else [word]).isnan().all()


@each(LOSSES)
def test_an_ignored_sample_is_0_whatever_its_scores_are(loss):
    for scores in [NAN], [INF], [NAN, 1.0], [INF, 1.0], [1.0, INF], [-INF, 1.0], [INF, INF], [1e4, -1e4]:
        s = tensor([scores, [0.0] * len(scores)])
        losses = loss(s, ["i" * len(scores), "P" + "N" * (len(scores) - 1)])
        losses.sum().backward()
        assert losses[0] == 0
        assert s.grad[0].eq(0).all()
        assert s.grad.isfinite().all()


@pytest.mark.parametrize(
    ("call", "scores", "targets"),
    [
        (partial(mlloss.thresholded_loss, threshold=100.0), [21.9, 0.0], [0, 0]),
        (partial(mlloss.thresholded_loss, threshold=-106.0), [-21.9, -50.0], [1, 1]),
        (mlloss.unified_loss, [21.9, 95.0, 0.0], [0, 1, 0]),
        (mlloss.softmax_focal_loss, [21.9, 50.0, 0.0], 1),
        (partial(mlloss.circle_loss, negative_optimum=100.0), [0.9, 0.2], [1, 0]),
        (partial(mlloss.circle_loss, negative_optimum=1.0, negative_margin=1e3), [0.9, 0.2], [1, 0]),
        (partial(mlloss.unified_loss, gamma=3e38), [0.0, 0.0], [1, 0]),
        (partial(mlloss.unified_loss, gamma=1e-46), [INF, 0.0], [1, 0]),
        (partial(mlloss.unified_loss, gamma=256.0), [1e38, 1e38], [0, 0]),
    ],
)
def test_float32_is_as_exact_as_it_can_be(call, scores, targets):
    """What a fast form may lose: sums and slopes of tiny losses, and parameters that are huge."""
    slopes = []
    for dtype in torch.float32, torch.float64:
        s = torch.tensor([scores], dtype=dtype, requires_grad=True)
        loss = call(s, torch.tensor([targets]))
        loss.backward()
        slopes.append((loss.detach().double(), s.grad.double()))
    torch.testing.assert_close(*slopes, rtol=2e-5, atol=1e-37)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_focal_losses_have_second_derivatives_also_where_they_vanish(dtype):
    far = torch.finfo(dtype).max / 100
    edge = -math.log(torch.finfo(dtype).tiny)
    scores = [-edge - 1 - k / 8 for k in range(12)] + [-edge * 2, -far, far]
    for gamma in 0.0, 1.0, 1.5, 2.0, 5.0:
        z = torch.tensor(scores, dtype=dtype, requires_grad=True)
        loss = mlloss.sigmoid_focal_loss(z, torch.zeros_like(z), gamma=gamma, reduction="sum")
        (slope,) = torch.autograd.grad(loss, z, create_graph=True)
        (curvature,) = torch.autograd.grad(slope.sum(), z)
        assert curvature.isfinite().all()
        assert curvature.abs().max() < 1e-30
    s = torch.stack(
        [torch.tensor(scores[:-1], dtype=dtype).neg(), torch.zeros(len(scores) - 1, dtype=dtype)], -1
    )
    s.requires_grad_()
    loss = mlloss.softmax_focal_loss(s, torch.zeros(len(s), dtype=torch.long), reduction="sum")
    (slope,) = torch.autograd.grad(loss, s, create_graph=True)
    assert torch.autograd.grad(slope[:, 1].sum(), s)[0].isfinite().all()


@each([loss for loss in SMOOTH if loss.name != "circle"])  # which is log 2 or more where there is a pair
def test_small_losses_are_relatively_exact(loss):
    scores, word = [30.0, -35.0], "PN"
    value, slopes = exact(loss, scores, word)
    s = tensor([scores])
    losses = loss(s, [word])
    losses.sum().backward()
    assert 0 < value < 1e-9
    assert losses.item() == pytest.approx(float(value), rel=1e-12, abs=0)
    assert s.grad[0].tolist() == pytest.approx([float(x) for x in slopes], rel=1e-12, abs=0)


@pytest.mark.parametrize("y", [0, 1])
def test_small_weights_are_relatively_exact(y):
    for alpha in 1e-6, 1 - 1e-6:
        losses, expected = (
            mlloss.sigmoid_focal_loss(torch.tensor([0.3], dtype=dtype), torch.tensor([y]), alpha=alpha)
            for dtype in (torch.float32, torch.float64)
        )
        weight = alpha if y else 1 - alpha
        unweighted = mlloss.sigmoid_focal_loss(
            torch.tensor([0.3], dtype=torch.float64), torch.tensor([y]), alpha=None
        )
        assert expected.item() == pytest.approx(weight * unweighted.item(), rel=1e-14)
        assert losses.item() == pytest.approx(expected.item(), rel=1e-6)


@each(SMOOTH)
def test_hessian_at_50_digits(loss):
    scores, word = [0.4, -0.3, 0.1], "NPN"
    hessian = torch.func.jacrev(torch.func.jacrev(lambda s: loss(s, word)))(tensor(scores))
    s, values = symbolic.logits(3), values_of(loss, scores, word)
    expression, _ = forms(loss.name, word)
    expected = [[float(symbolic.evaluate(expression.diff(a, b), values)) for a in s] for b in s]
    torch.testing.assert_close(hessian, torch.tensor(expected, dtype=torch.float64), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("detach", [True, False])
def test_circle_leaves_what_is_beyond_its_optimum(detach):
    scores, targets = [[-0.5, -0.25, 0.2, 0.6, 1.25, 1.4]], torch.tensor([[0, 0, 0, 1, 1, 1]])
    gradients = []
    for s, y in (tensor(scores), targets), (tensor(scores[0]), targets[0]):
        mlloss.circle_loss(s, y, gamma=4, detach_weights=detach).backward()
        gradients.append(s.grad.flatten().tolist())
    assert gradients[0] == pytest.approx(gradients[1], rel=1e-12, abs=0)
    assert [slope == 0 for slope in gradients[0]] == [True, True, False, False, True, True]


@each([loss for loss in SMOOTH if loss.name.startswith(("unified", "thresholded"))])
def test_what_is_infinitely_wrong_is_pulled_with_full_force(loss):
    for scores, wrong, slope in ([INF, 0.5], 0, loss.scale), ([0.5, -INF], 1, -loss.scale):
        for s, words in (tensor([scores]), ["NP"]), (tensor(scores), "NP"):
            loss(s, words).sum().backward()
            assert s.grad.flatten()[wrong] == slope
