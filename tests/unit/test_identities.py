"""The losses of the family are special cases and limits of one another, and of torch's own."""

import math
from functools import partial

import pytest
import sympy
import torch
import torch.nn.functional as F

import mlloss
from mlloss import symbolic
from tests.unit.table import on_the_cpu

GENERATOR = torch.Generator().manual_seed(11)
SCORES = 3 * torch.randn(200, 7, generator=GENERATOR, dtype=torch.float64)
TARGETS = torch.rand(200, 7, generator=GENERATOR) < 0.3
LABELS = torch.randint(7, (200,), generator=GENERATOR)
ONE_HOT = F.one_hot(LABELS, 7).bool()
SOFT = torch.rand(200, 7, generator=GENERATOR, dtype=torch.float64)
ALPHA = torch.rand(7, generator=GENERATOR, dtype=torch.float64)
N, P = (~TARGETS).sum(-1), TARGETS.sum(-1)

none = partial(partial, reduction="none")


def same(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


def test_against_torch():
    scores = SCORES.clone().requires_grad_()
    for ours, theirs in [
        (
            mlloss.sigmoid_focal_loss(scores, SOFT, alpha=None, gamma=0),
            F.binary_cross_entropy_with_logits(scores, SOFT),
        ),
        (mlloss.softmax_focal_loss(scores, LABELS, gamma=0), F.cross_entropy(scores, LABELS)),
        (
            mlloss.multilabel_softmax_cross_entropy(scores, TARGETS, normalize=False),
            F.cross_entropy(scores, TARGETS.double()),
        ),
    ]:
        same(ours, theirs)
        same(torch.autograd.grad(ours, scores)[0], torch.autograd.grad(theirs, scores)[0])


def test_weighted_cross_entropy():
    ours = mlloss.softmax_focal_loss(SCORES, LABELS, alpha=ALPHA, gamma=0, reduction="sum")
    same(ours, F.cross_entropy(SCORES, LABELS, weight=ALPHA, reduction="sum"))


@pytest.mark.parametrize("gamma", [0.0, 0.5, 2.0])
def test_a_scale_multiplies_the_scores(gamma):
    s = SCORES.clone().requires_grad_()
    ours = mlloss.unified_loss(s, TARGETS, gamma=gamma)
    theirs = mlloss.unified_loss(gamma * s, TARGETS)
    same(ours, theirs)
    same(torch.autograd.grad(ours, s)[0], torch.autograd.grad(theirs, s)[0])


def test_cross_entropy_in_four_ways():
    expected = F.cross_entropy(SCORES, LABELS, reduction="none")
    same(mlloss.softmax_focal_loss(SCORES, LABELS, gamma=0, reduction="none"), expected)
    same(mlloss.unified_loss(SCORES, ONE_HOT, reduction="none"), expected)
    same(mlloss.multilabel_softmax_cross_entropy(SCORES, ONE_HOT, reduction="none"), expected)
    label_at_threshold = SCORES.gather(1, LABELS[:, None]).squeeze(1)
    others = mlloss.thresholded_loss(
        SCORES, torch.where(ONE_HOT, -100, 0), threshold=label_at_threshold, reduction="none"
    )
    same(others, expected)


def test_binary_cross_entropy_in_three_ways():
    z, y = SCORES.flatten(), TARGETS.flatten()
    expected = F.binary_cross_entropy_with_logits(z, y.double(), reduction="none")
    same(mlloss.sigmoid_focal_loss(z, y, alpha=None, gamma=0, reduction="none"), expected)
    same(mlloss.thresholded_loss(z[:, None], y[:, None], reduction="none"), expected)
    two = torch.stack([torch.zeros_like(z), z], -1)
    same(mlloss.softmax_focal_loss(two, y.long(), gamma=0, reduction="none"), expected)
    same(
        mlloss.sigmoid_focal_loss(z, y, alpha=None, gamma=1.5, reduction="none"),
        mlloss.softmax_focal_loss(two, y.long(), gamma=1.5, reduction="none"),
    )


def test_alpha_balances():
    plain = mlloss.sigmoid_focal_loss(SCORES, TARGETS, alpha=None, reduction="none")
    weighted = mlloss.sigmoid_focal_loss(SCORES, TARGETS, alpha=0.1, reduction="none")
    same(weighted, torch.where(TARGETS, 0.1 * plain, 0.9 * plain))


def test_soft_targets():
    """The definition, with p_t = y p + (1 − y)(1 − p)."""
    y = SOFT.clone()
    y[0], y[1] = 0.0, 1.0
    p = SCORES.sigmoid()
    p_t = y * p + (1 - y) * (1 - p)
    alpha_t = 0.3 * y + 0.7 * (1 - y)
    expected = alpha_t * (1 - p_t) ** 1.5 * F.binary_cross_entropy_with_logits(SCORES, y, reduction="none")
    same(mlloss.sigmoid_focal_loss(SCORES, y, alpha=0.3, gamma=1.5, reduction="none"), expected)
    for z in torch.tensor([[math.inf, -math.inf, 800.0, -800.0]]), torch.tensor([[math.inf] * 4]):
        z.requires_grad_()
        losses = mlloss.sigmoid_focal_loss(z, torch.full_like(z, 0.5), gamma=0.5, reduction="none")
        losses.sum().backward()
        assert (losses > 50).all()
        assert z.grad.isfinite().all()


def test_alpha_0_is_0_even_where_infinitely_wrong():
    scores = torch.tensor([[math.inf, -math.inf]], requires_grad=True)
    for alpha, targets in (0.0, [[1, 1]]), (1.0, [[0, 0]]):
        for y in torch.tensor(targets), torch.tensor(targets).bool():
            losses = mlloss.sigmoid_focal_loss(scores, y, alpha=alpha, reduction="none")
            assert losses.tolist() == [[0, 0]]
            assert torch.autograd.grad(losses.sum(), scores)[0].tolist() == [[0, 0]]
    weights = torch.tensor([0.0, 1.0])
    losses = mlloss.softmax_focal_loss(scores, torch.tensor([1]), alpha=weights.flip(0))
    assert losses.item() == 0


def test_am_softmax():
    """One positive: a softmax with the margin taken off the positive's score."""
    gamma, margin = 5.0, 0.3
    expected = F.cross_entropy(gamma * (SCORES - margin * ONE_HOT.double()), LABELS, reduction="none")
    same(mlloss.unified_loss(SCORES, ONE_HOT, gamma=gamma, margin=margin, reduction="none"), expected)


def test_circle_is_unified_on_weighted_scores():
    s = SCORES.clamp(-1, 1)
    weighted = torch.where(TARGETS, (1.25 - s).relu() * (s - 0.75), (s + 0.25).relu() * (s - 0.25))
    same(
        mlloss.circle_loss(s, TARGETS, gamma=16, reduction="none"),
        mlloss.unified_loss(weighted, TARGETS, gamma=16, reduction="none"),
    )


def test_circle_parameters_default_to_the_margin():
    m = 0.4
    explicit = mlloss.circle_loss(
        SCORES,
        TARGETS,
        margin=9.0,
        positive_optimum=1 + m,
        negative_optimum=-m,
        positive_margin=1 - m,
        negative_margin=m,
    )
    same(mlloss.circle_loss(SCORES, TARGETS, margin=m), explicit)
    each = {"positive_optimum": 0.9, "negative_optimum": 0.1, "positive_margin": 0.6, "negative_margin": 0.2}
    values = [mlloss.circle_loss(SCORES, TARGETS, **{name: value}).item() for name, value in each.items()]
    assert len({mlloss.circle_loss(SCORES, TARGETS).item(), *values}) == 5


def test_order_of_the_family():
    unified = mlloss.unified_loss(SCORES, TARGETS, reduction="none")
    thresholded = mlloss.thresholded_loss(SCORES, TARGETS, reduction="none")
    summed = F.binary_cross_entropy_with_logits(SCORES, TARGETS.double(), reduction="none").sum(-1)
    assert (unified <= thresholded).all()
    assert (thresholded <= summed + 1e-12).all()
    assert (summed <= torch.maximum(N, P) * thresholded + 1e-12).all()


def test_the_best_threshold():
    """The threshold halfway between the sides makes the thresholded loss 2 softplus((n + p) / 2)."""
    n = SCORES.masked_fill(TARGETS, -math.inf).logsumexp(-1)
    p = (-SCORES).masked_fill(~TARGETS, -math.inf).logsumexp(-1)
    both = (N > 0) & (P > 0)
    losses = mlloss.thresholded_loss(
        SCORES[both], TARGETS[both], threshold=((n - p) / 2)[both], reduction="none"
    )
    same(losses, 2 * F.softplus((n + p)[both] / 2))


def test_shift_invariance():
    for loss in mlloss.unified_loss, mlloss.hard_unified_loss:
        same(loss(SCORES + 7, TARGETS), loss(SCORES, TARGETS))
    for loss in mlloss.thresholded_loss, mlloss.hard_thresholded_loss:
        same(loss(SCORES + 7, TARGETS, threshold=7.5), loss(SCORES, TARGETS, threshold=0.5))


def test_push_and_pull_balance():
    scores = SCORES.clone().requires_grad_()
    (slope,) = torch.autograd.grad(mlloss.unified_loss(scores, TARGETS, reduction="sum"), scores)
    same(slope.sum(-1), torch.zeros(200, dtype=torch.float64))


@pytest.mark.parametrize("gamma", [1.0, 10.0, 1e3, 1e6])
def test_hard_forms_are_the_limits(gamma):
    """loss(γ s) / γ comes down to the hard form, and is never further than its bound."""
    both = ((N > 0) & (P > 0)).double()
    for ours, hard, bound in [
        (
            mlloss.softmax_focal_loss(gamma * SCORES, LABELS, gamma=0, reduction="none"),
            mlloss.hard_cross_entropy(SCORES, LABELS, reduction="none"),
            torch.tensor(7.0).log(),
        ),
        (
            mlloss.unified_loss(SCORES, TARGETS, gamma=gamma, margin=0.2, reduction="none"),
            mlloss.hard_unified_loss(SCORES, TARGETS, margin=0.2, reduction="none"),
            both * (1 + N * P).log(),
        ),
        (
            mlloss.thresholded_loss(gamma * SCORES, TARGETS, threshold=gamma * 0.5, reduction="none"),
            mlloss.hard_thresholded_loss(SCORES, TARGETS, threshold=0.5, reduction="none"),
            (1 + N).log() + (1 + P).log(),
        ),
        (
            mlloss.thresholded_loss(gamma * SCORES[:, :1], TARGETS[:, :1], reduction="none"),
            torch.where(TARGETS, -SCORES, SCORES)[:, 0].relu(),
            torch.tensor(2.0).log(),
        ),
    ]:
        excess = ours / gamma - hard
        assert (excess >= -1e-12).all()
        assert (excess <= bound / gamma + 1e-12).all()


def test_bounds_are_reached_by_equal_scores():
    equal, targets = torch.zeros(1, 5, dtype=torch.float64), torch.tensor([[1, 1, 0, 0, 0]])
    assert mlloss.softmax_focal_loss(equal, torch.tensor([0]), gamma=0).item() == pytest.approx(math.log(5))
    assert mlloss.unified_loss(equal, targets).item() == pytest.approx(math.log(1 + 2 * 3))
    assert mlloss.thresholded_loss(equal, targets).item() == pytest.approx(math.log(4) + math.log(3))


def test_the_floor_of_the_multi_hot_softmax():
    scores = torch.tensor([[50.0, 50.0, 50.0, -50.0]], dtype=torch.float64)
    targets = torch.tensor([[1, 1, 1, 0]])
    assert mlloss.multilabel_softmax_cross_entropy(scores, targets).item() == pytest.approx(math.log(3))
    total = mlloss.multilabel_softmax_cross_entropy(scores, targets, normalize=False)
    assert total.item() == pytest.approx(3 * math.log(3))


def test_sympy_gradient_for_any_number_of_classes():
    """Sums over an index: the push on a negative is σ(n + p) times a softmax share."""
    n, p = symbolic.indexed_sides()
    loss = symbolic.softplus(n + p)
    negatives, positives = sympy.IndexedBase("s^N"), sympy.IndexedBase("s^P")
    counts = dict(zip(sympy.symbols("|N| |P|", positive=True, integer=True), (3, 2), strict=True))
    s = [0.3, -1.0, 0.5, 0.2, -0.4]
    values = {negatives[i + 1]: s[i] for i in range(3)} | {positives[i + 1]: s[3 + i] for i in range(2)}
    scores = torch.tensor([s], dtype=torch.float64, requires_grad=True)
    value = mlloss.unified_loss(scores, torch.tensor([[0, 0, 0, 1, 1]]))
    (slope,) = torch.autograd.grad(value, scores)

    def number(expression):
        return float(expression.subs(counts).doit().subs(values).rewrite(sympy.exp).evalf(30))

    assert number(loss) == pytest.approx(value.item(), rel=1e-12)
    for k, symbol in enumerate(values):
        assert number(loss.diff(symbol)) == pytest.approx(slope[0, k].item(), rel=1e-12)
    share = sympy.exp(negatives[2] - n)
    assert number(symbolic.sigmoid(n + p) * share) == pytest.approx(slope[0, 1].item(), rel=1e-12)


@on_the_cpu
def test_cost_in_memory_is_blocks(monkeypatch):
    """A block of rows is all that a loss works on at a time."""
    from mlloss import _closed_form, _fast

    seen = []
    fast = _fast.two_sides

    def watch(turn, logits, *rest):
        seen.append(logits.numel())
        return fast(turn, logits, *rest)

    monkeypatch.setattr(_fast, "two_sides", watch)
    monkeypatch.setattr(_closed_form, "BLOCK", 70)
    mlloss.unified_loss(SCORES, TARGETS)
    assert seen == [70] * 20
