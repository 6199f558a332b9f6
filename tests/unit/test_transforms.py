"""Losses do not care how they are run: shapes, strides, dtypes, transforms, compilation, threads, modules."""

import copy
import io
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import mlloss
from mlloss import _closed_form, _fast
from tests.unit.table import CASES, LOSSES, SMOOTH, each, normal, on_real_devices, on_the_cpu, pairs

# The compiler and forward-mode derivatives use what PyTorch itself has deprecated.
torch_is_old_fashioned = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WORDS = ["PNNP", "NPNN", "iiii", "NNNN", "PPPP", "iPNN"]


def batch(loss, dtype=torch.float64):
    """A batch with samples of every kind that the loss takes."""
    words = [word for word in WORDS if loss.takes(word)]
    return normal(len(words), 4, seed=7).to(dtype).requires_grad_(), words


def value_and_gradient(loss, scores, words):
    losses = loss(scores, words)
    (gradient,) = torch.autograd.grad(losses.sum(), scores)
    return losses.detach(), gradient


@each(SMOOTH)
def test_gradcheck(loss):
    if loss.name == "circle":  # its gradient is not that of its value; see test_circle_weights
        return
    scores, words = batch(loss)
    assert gradcheck(lambda s: loss(s, words), scores)
    assert gradgradcheck(lambda s: loss(s, words), scores)


def test_circle_weights():
    scores, words = torch.tensor([[0.3, -0.2, 0.6, 0.1]], dtype=torch.float64), ["PNNP"]
    scores.requires_grad_()
    targets = LOSSES[-1].targets(words)

    def differentiated(s):
        return mlloss.circle_loss(s, targets, gamma=4, detach_weights=False)

    assert gradcheck(differentiated, scores)
    assert gradgradcheck(differentiated, scores)
    detached = mlloss.circle_loss(scores, targets, gamma=4)
    assert detached == differentiated(scores)
    (ours,) = torch.autograd.grad(detached, scores)
    (other,) = torch.autograd.grad(differentiated(scores), scores)
    assert not torch.allclose(ours, other)


@on_the_cpu
@each(LOSSES)
def test_fast_blocks_equal_the_plain_form(loss, monkeypatch):
    scores, words = batch(loss)
    scores, words = scores.detach().repeat(5, 1).requires_grad_(), words * 5
    fast = value_and_gradient(loss, scores, words)
    monkeypatch.setattr(_closed_form, "BLOCK", 12)  # three rows a block
    blocks = value_and_gradient(loss, scores, words)
    monkeypatch.setattr(_closed_form, "_in_blocks", lambda plain, fast, lead, shapes, *x: plain(*x))
    plain = value_and_gradient(loss, scores, words)
    for other in blocks, plain:
        torch.testing.assert_close(fast, other, rtol=1e-13, atol=1e-15)


@each(LOSSES)
def test_incoming_gradients_of_any_size(loss):
    """Also what is as large or as small as float32 can hold; what is infinite stays where it is not 0 · ∞."""
    scores, words = batch(loss)
    scores = scores.detach().float().requires_grad_()
    losses = loss(scores, words)
    (slope,) = torch.autograd.grad(losses.sum(), scores, retain_graph=True)
    for size in 1e-25, 1e25, 1e37:
        incoming = torch.full_like(losses, size)
        (gradient,) = torch.autograd.grad(losses, scores, incoming, retain_graph=True)
        torch.testing.assert_close(gradient / size, slope, rtol=1e-5, atol=1e-9)
    ignored = torch.tensor([[letter == "i" for letter in word] for word in words])
    for endless in torch.inf, torch.nan:
        incoming = torch.full_like(losses, endless)
        (gradient,) = torch.autograd.grad(losses, scores, incoming, retain_graph=True)
        assert (gradient[ignored] == 0).all()
    assert gradient[~ignored].isnan().any()


def test_parameters_a_class_are_constants():
    scores = torch.tensor([[0.5, -1.0, 2.0]], requires_grad=True)
    alpha, gamma = (torch.full((3,), value, requires_grad=True) for value in (0.5, 2.0))
    loss = mlloss.softmax_focal_loss(scores, torch.tensor([1]), alpha=alpha, gamma=gamma)
    of_doubles = mlloss.softmax_focal_loss(
        scores, torch.tensor([1]), alpha=alpha.double(), gamma=gamma.double()
    )
    assert of_doubles == loss
    assert of_doubles.dtype == torch.float32
    (slope,) = torch.autograd.grad(loss, scores, create_graph=True)
    assert torch.autograd.grad(slope[0, 1], (alpha, gamma), allow_unused=True) == (None, None)


@on_the_cpu
@pytest.mark.parametrize("far", [0, 1000])
@each(LOSSES)
def test_finite_scores_take_the_fast_path(loss, far, monkeypatch):
    """Also where exp(score) overflows; focal losses only where it does not."""
    in_blocks = _closed_form._in_blocks

    def with_fast(plain, fast, *rest):
        def refuse(*_):
            raise AssertionError(f"{loss.name} takes the plain form")

        return in_blocks(refuse, fast, *rest)

    monkeypatch.setattr(_closed_form, "_in_blocks", with_fast)
    scores, words = batch(loss)
    ignored = torch.tensor([[letter == "i" for letter in word] for word in words])
    if far and loss.kind == "sets":
        scores = scores + far * torch.tensor([0, 1, -1, 0]) + 1e6 * ignored
    hard = [i for i, word in enumerate(words) if loss.kind != "elements" or "i" not in word]
    value_and_gradient(loss, scores[hard], [words[i] for i in hard])


@on_the_cpu
def test_labels_far_from_zero_take_the_fast_path(monkeypatch):
    def refuse(*_):
        raise AssertionError

    form = _closed_form.Form(
        refuse, refuse, partial(_fast.label_sides, -100), partial(_fast.label_sides_gradient, -100)
    )
    scores = torch.tensor([[1000.0, 999.0, 998.0], [-1000.0, -999.0, -998.0]]).double().requires_grad_()
    n, p = _closed_form.by_rows(form, scores, torch.tensor([0, 1]))
    (slope,) = torch.autograd.grad((n + p).sum(), scores)
    others = torch.tensor([[999.0, 998.0], [-1000.0, -998.0]]).double()
    torch.testing.assert_close(n, others.logsumexp(-1))
    torch.testing.assert_close(p, torch.tensor([-1000.0, 999.0]).double())
    (a, b), (c, d) = torch.softmax(others, -1).tolist()
    expected = torch.tensor([[-1, a, b], [c, -1, d]]).double()
    torch.testing.assert_close(slope, expected)


@on_real_devices
@each(LOSSES)
def test_vmap_grad_and_jacobian(loss):
    scores, words = batch(loss)
    targets = loss.targets(words)
    value, gradient = value_and_gradient(loss, scores, words)

    def one(s, y):
        return loss.call(s, y, reduction="sum")

    s = scores.detach()
    torch.testing.assert_close(torch.func.vmap(one)(s, targets), value)
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(one))(s, targets), gradient)
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(one), in_dims=(1, 0))(s.T, targets), gradient)
    pairs = [torch.stack([x[:-1], x[1:]], 1) for x in (s, targets)]  # each sample holds two rows
    both = torch.stack([gradient[:-1], gradient[1:]], 1)
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(one))(*pairs), both)
    shared = torch.func.vmap(torch.func.grad(one), in_dims=(0, None))(s, targets[0])
    torch.testing.assert_close(shared, value_and_gradient(loss, scores, words[:1] * len(words))[1])
    jacobian = torch.func.jacrev(lambda s: loss.call(s, targets, reduction="none"))(s)
    torch.testing.assert_close(jacobian.sum(0), gradient)
    batched = torch.autograd.grad(
        loss(scores, words), scores, torch.eye(len(words), dtype=torch.float64), is_grads_batched=True
    )
    torch.testing.assert_close(batched[0], jacobian)


@on_real_devices
@torch_is_old_fashioned
@each(SMOOTH)
def test_hessian_vector_product(loss):
    scores, words = batch(loss)
    direction = torch.linspace(-1, 1, scores.numel(), dtype=torch.float64).view_as(scores)
    (slope,) = torch.autograd.grad(loss(scores, words).sum(), scores, create_graph=True)
    (product,) = torch.autograd.grad(slope, scores, direction)
    hessian = torch.func.jacrev(torch.func.jacrev(lambda s: loss(s, words).sum()))(scores.detach())
    torch.testing.assert_close(product, torch.tensordot(hessian, direction, 2))
    forward_over_reverse = torch.func.hessian(lambda s: loss(s, words).sum())(scores.detach())
    torch.testing.assert_close(forward_over_reverse, hessian)
    of_one = torch.func.hessian(lambda s: loss(s, words[0]))(scores[0].detach().float())
    torch.testing.assert_close(of_one, hessian[0, :, 0].float(), rtol=1e-4, atol=1e-4)


@torch_is_old_fashioned
@each(LOSSES)
def test_forward_mode(loss):
    scores, words = batch(loss)
    direction = torch.linspace(-1, 1, scores.numel(), dtype=torch.float64).view_as(scores)
    _, gradient = value_and_gradient(loss, scores, words)
    value, moved = torch.func.jvp(lambda s: loss(s, words), (scores.detach(),), (direction,))
    assert value.equal(loss(scores, words))
    torch.testing.assert_close(moved, (gradient * direction).sum(-1))
    s = scores.detach().flatten()[0]
    if loss.kind == "elements":  # of a single number too
        slope = torch.func.grad(lambda z: mlloss.sigmoid_focal_loss(z, torch.tensor(1)))(s)
        _, moved = torch.func.jvp(lambda z: mlloss.sigmoid_focal_loss(z, torch.tensor(1)), (s,), (s,))
        torch.testing.assert_close(moved, slope * s)


@torch_is_old_fashioned
@on_real_devices
@each(SMOOTH)
def test_second_derivatives_in_forward_mode_alone_are_refused(loss):
    scores, words = batch(loss)
    with pytest.raises(NotImplementedError, match=r"take forward over reverse, as torch\.func\.hessian does"):
        torch.func.jacfwd(torch.func.jacfwd(lambda s: loss(s, words).sum()))(scores.detach())
    torch.func.jacrev(torch.func.jacfwd(lambda s: loss(s, words).sum()))(scores.detach())


def test_targets_are_constants_in_forward_mode():
    targets = torch.tensor([0.5, 0.25])
    moved = torch.func.jvp(
        lambda y: mlloss.sigmoid_focal_loss(torch.tensor([1.0, 2.0]), y), (targets,), (targets,)
    )[1]
    assert moved == 0


@torch_is_old_fashioned
@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node")
@on_real_devices
@each(LOSSES)
def test_linearize(loss):
    scores, words = batch(loss)
    direction = torch.linspace(-1, 1, scores.numel(), dtype=torch.float64).view_as(scores)
    _, gradient = value_and_gradient(loss, scores, words)
    value, along = torch.func.linearize(lambda s: loss(s, words), scores.detach())
    torch.testing.assert_close(value, loss(scores, words))
    torch.testing.assert_close(along(direction), (gradient * direction).sum(-1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@each(LOSSES)
def test_half_precision_is_float32_of_rounded_scores(loss, dtype):
    scores, words = batch(loss, dtype)
    wide = scores.detach().float().requires_grad_()
    value, gradient = value_and_gradient(loss, scores, words)
    expected, slopes = value_and_gradient(loss, wide, words)
    assert value.dtype == torch.float32
    assert gradient.dtype == dtype
    assert value.equal(expected)
    assert gradient.equal(slopes.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_does_not_overflow(dtype):
    scores = torch.tensor([[-40000.0, 40000.0]], dtype=dtype, requires_grad=True)
    losses = mlloss.unified_loss(scores, torch.tensor([[True, False]]))
    losses.backward()
    assert losses.item() == pytest.approx(80000, rel=1e-2)
    assert scores.grad.tolist() == [[-1, 1]]


@on_real_devices
@each(LOSSES)
def test_autocast_changes_nothing(loss):
    scores, words = batch(loss, torch.float32)
    expected = value_and_gradient(loss, scores, words)
    with torch.autocast(scores.device.type, torch.bfloat16):
        assert [
            x.equal(y) for x, y in zip(value_and_gradient(loss, scores, words), expected, strict=True)
        ] == [
            True,
            True,
        ]


@each(LOSSES)
def test_shapes_and_strides(loss):
    scores, words = batch(loss)
    targets, s = loss.targets(words), scores.detach()
    value, gradient = value_and_gradient(loss, scores, words)

    def run(s, y):
        s = s.requires_grad_()
        losses = loss.call(s, y, reduction="none")
        return losses.detach(), torch.autograd.grad(losses.sum(), s)[0]

    wide = torch.stack([s, s], -1)[..., 0]  # every other number
    assert not wide.is_contiguous()
    torch.testing.assert_close(run(wide, targets), (value, gradient))
    torch.testing.assert_close(
        run(s.T.contiguous().T, targets.mT.contiguous().mT if targets.ndim == 2 else targets),
        (value, gradient),
    )
    many = run(s.expand(2, 3, *s.shape), targets.expand(2, 3, *targets.shape))
    torch.testing.assert_close(many, (value.expand(2, 3, -1), gradient.expand(2, 3, -1, -1)))
    one = run(s[0].clone(), targets[0])
    torch.testing.assert_close(one, (value[0], gradient[0]))
    none = run(s[:0].clone(), targets[:0])
    assert none[0].shape == value[:0].shape
    assert none[1].shape == (0, 4)
    flipped = run(s.flip(0), targets.flip(0))
    torch.testing.assert_close(flipped, (value.flip(0), gradient.flip(0)))


@each(LOSSES)
def test_losses_may_be_changed_in_place(loss):
    """As in ``losses *= weights``: what is returned is no view, and no gradient needs it as it was."""
    scores, words = batch(loss)
    targets = loss.targets(words)
    call = mlloss.sigmoid_focal_loss if loss.kind == "elements" else loss.call
    for s, y in (scores, targets), (scores[0], targets[0]):
        (expected,) = torch.autograd.grad(2 * call(s, y, reduction="none").sum(), scores)
        losses = call(s, y, reduction="none")
        losses *= 2
        (gradient,) = torch.autograd.grad(losses.sum(), scores)
        assert gradient.equal(expected)


@each(LOSSES)
def test_meta_tensors(loss):
    scores, words = batch(loss)
    scores = scores.detach().to("meta").requires_grad_()
    losses = loss.call(scores, loss.targets(words).to("meta"), reduction="mean")
    losses.backward()
    assert losses.shape == ()
    assert scores.grad.shape == scores.shape


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64])  # with that of the scores no copy is made
@pytest.mark.parametrize("ignored", [False, True])
@each(LOSSES)
def test_inputs_stay_as_they_are(loss, ignored, dtype):
    scores, words = batch(loss)
    if loss.kind == "labels":
        dtype = torch.int64
    elif not ignored:
        words = ["PNNP", "NNNN", "PPPP", "NPNN", "NNNP", "PNPP"]
    targets, before = loss.targets(words).to(dtype), scores.detach().clone()
    kept = targets.clone()
    loss.call(scores, targets, reduction="mean").backward()
    assert scores.equal(before)
    assert targets.equal(kept)


@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.uint8, torch.uint16, torch.int8, torch.int32, torch.float16, torch.float64]
)
@each([loss for loss in LOSSES if loss.kind != "labels"])
def test_targets_of_any_dtype(loss, dtype):
    scores, _ = batch(loss)
    words = ["PNNP", "NNNN", "PPPP", "NPNN", "NNNP", "PNPP"]
    expected = loss(scores, words)
    assert loss.call(scores, loss.targets(words).to(dtype), reduction="none").equal(expected)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.int8, torch.int16, torch.int32])
@each([loss for loss in LOSSES if loss.kind == "labels"])
def test_labels_of_any_integer_dtype(loss, dtype):
    scores = batch(loss)[0]
    labels = torch.tensor([1, 3, 0])[: len(scores)]
    expected = loss.call(scores, labels, reduction="none")
    assert loss.call(scores, labels.to(dtype), reduction="none").equal(expected)


def test_small_integers_do_not_wrap_round():
    """−100 is 156 as a byte, and 300 is 44."""
    scores = torch.zeros(1, 200)
    for dtype, label, ignore_index in (torch.uint8, 156, -100), (torch.int8, 44, 300):
        labels = torch.tensor([label], dtype=dtype)
        assert mlloss.softmax_focal_loss(scores, labels, ignore_index=ignore_index) > 0
    with pytest.raises(ValueError, match="got 156"):
        mlloss.unified_loss(scores[:, :1], torch.tensor([[156]], dtype=torch.uint8))


@each(LOSSES)
def test_threads_and_repetition_give_the_same_bits(loss):
    scores, words = batch(loss)
    expected = value_and_gradient(loss, scores, words)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: value_and_gradient(loss, scores, words), range(16)))
    for result in results:
        assert all(x.equal(y) for x, y in zip(result, expected, strict=True))


@on_real_devices
@torch_is_old_fashioned
@each(LOSSES)
def test_compiled_whole(loss):
    """As one graph, forward and backward, at the extremes, with the numbers of samples and classes open."""
    torch._dynamo.reset()
    compiled = torch.compile(
        lambda s, y: loss.call(s, y, reduction="none"), fullgraph=True, dynamic=True, backend="aot_eager"
    )
    names = [name for name, (_, word) in CASES.items() if loss.takes(word)]
    for name in names[:3] + names[-12:]:
        scores, word = CASES[name]
        for copies in 2, 5:
            s = torch.tensor([scores] * copies, dtype=torch.float64, requires_grad=True)
            targets = loss.targets([word] * copies)
            losses = compiled(s, targets)
            (gradient,) = torch.autograd.grad(losses.sum(), s)
            torch.testing.assert_close((losses, gradient), value_and_gradient(loss, s, [word] * copies))


@torch_is_old_fashioned
@pytest.mark.parametrize(
    "call",
    [mlloss.sigmoid_focal_loss, mlloss.thresholded_loss, mlloss.circle_loss],
    ids=lambda call: call.__name__,
)
@on_real_devices
def test_compiled_by_inductor(call):
    torch._dynamo.reset()
    scores = normal(6, 5, seed=1, dtype=torch.float32).requires_grad_()
    targets = torch.arange(30).view(6, 5) % 3 == 0
    compiled = torch.compile(call, fullgraph=True)
    (ours,) = torch.autograd.grad(compiled(scores, targets), scores)
    (theirs,) = torch.autograd.grad(call(scores, targets), scores)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(compiled(scores, targets), call(scores, targets))


@on_real_devices
@torch_is_old_fashioned
def test_out_of_range_labels_are_an_error_when_compiled():
    torch._dynamo.reset()
    compiled = torch.compile(mlloss.softmax_focal_loss, fullgraph=True, backend="aot_eager")
    scores = torch.zeros(2, 3)
    assert compiled(scores, torch.tensor([0, 2])) > 0
    for label in 3, -1:
        with pytest.raises((RuntimeError, IndexError), match="out of bounds"):
            compiled(scores, torch.tensor([0, label]))


MODULES = [
    mlloss.SigmoidFocalLoss(gamma=1.0),
    mlloss.SoftmaxFocalLoss(alpha=torch.tensor([0.5, 1.0, 2.0])),
    mlloss.MultilabelSoftmaxCrossEntropy(normalize=False),
    mlloss.UnifiedLoss(gamma=2.0, margin=0.5),
    mlloss.CircleLoss(gamma=16.0, detach_weights=False),
    mlloss.ThresholdedLoss(threshold=0.5),
    mlloss.ThresholdedLoss(threshold=torch.tensor(0.5)),
    mlloss.ThresholdedLoss(learn_threshold=True),
]


def saved(module):
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), saved])
@pytest.mark.parametrize("module", MODULES, ids=repr)
def test_modules_are_their_functions_and_survive_copies(module, again):
    scores = torch.tensor([[0.5, -1.0, 2.0], [0.0, 0.3, 0.1]])
    labels = torch.tensor([2, 0])
    targets = (
        labels if isinstance(module, mlloss.SoftmaxFocalLoss) else torch.tensor([[1, 0, 1], [0, -100, 1]])
    )
    keywords = {name: getattr(module, name) for name in module.keywords}
    expected = module.function(scores, targets, **keywords)
    assert module(scores, targets).equal(expected)
    assert again(module)(scores, targets).equal(expected)
    assert repr(again(module)) == repr(module)
    assert again(module).state_dict().keys() == module.state_dict().keys()


@on_real_devices
def test_modules_say_what_they_are():
    assert repr(mlloss.UnifiedLoss(gamma=2.0)) == (
        "UnifiedLoss(gamma=2.0, margin=0.0, ignore_index=-100, reduction='mean')"
    )
    assert "alpha=tensor of shape [2]" in repr(mlloss.SoftmaxFocalLoss(alpha=torch.ones(2)))
    assert "threshold=tensor of shape []" in repr(mlloss.ThresholdedLoss(learn_threshold=True).to("meta"))
    assert "threshold=0.25" in repr(mlloss.ThresholdedLoss(threshold=0.25, learn_threshold=True))


def test_class_tensors_move_with_the_module():
    module = mlloss.SoftmaxFocalLoss(alpha=torch.ones(2), gamma=torch.ones(2)).double()
    assert [name for name, _ in module.named_buffers()] == ["alpha", "gamma"]
    assert module.alpha.dtype == torch.float64


def test_the_threshold_learns():
    module = mlloss.ThresholdedLoss(learn_threshold=True)
    assert [name for name, _ in module.named_parameters()] == ["threshold"]
    scores, targets = torch.tensor([[3.0, 1.0, 4.0]]), torch.tensor([[True, False, True]])
    optimiser = torch.optim.SGD(module.parameters(), lr=0.5)
    for _ in range(200):
        optimiser.zero_grad()
        module(scores, targets).backward()
        optimiser.step()
    best = (torch.tensor(1.0) - torch.logsumexp(torch.tensor([-3.0, -4.0]), 0)) / 2
    assert module.threshold.item() == pytest.approx(best.item(), abs=1e-4)
    with pytest.raises(ValueError, match="threshold must be a finite number, got nan"):
        mlloss.ThresholdedLoss(threshold=math.nan, learn_threshold=True)
    with pytest.raises(ValueError, match="must be a scalar"):
        mlloss.ThresholdedLoss(threshold=torch.zeros(2), learn_threshold=True)


@pairs([LOSSES[0]], {"ordinary": CASES["ordinary"]})
def test_defaults_of_modules_and_functions_agree(loss, scores, word):
    s = torch.tensor([scores])
    targets, label = loss.targets([word]), torch.tensor([0])
    for module, function in [
        (mlloss.SigmoidFocalLoss, mlloss.sigmoid_focal_loss),
        (mlloss.SoftmaxFocalLoss, mlloss.softmax_focal_loss),
        (mlloss.MultilabelSoftmaxCrossEntropy, mlloss.multilabel_softmax_cross_entropy),
        (mlloss.UnifiedLoss, mlloss.unified_loss),
        (mlloss.CircleLoss, mlloss.circle_loss),
        (mlloss.ThresholdedLoss, mlloss.thresholded_loss),
    ]:
        y = label if function is mlloss.softmax_focal_loss else targets
        assert module()(s, y).equal(function(s, y))
