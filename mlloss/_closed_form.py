"""Functions of logits whose gradient is written down, not traced.

That saves the memory of a trace, and on a CPU it lets them run on blocks of rows: temporaries stay in the
cache, and none has the size of the logits.  Compilers, GPUs and second derivatives see the plain form alone;
:mod:`mlloss._fast` has what stands in for it on a CPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._C._functorch import TransformType
from torch._functorch.pyfunctorch import retrieve_all_functorch_interpreters

from mlloss._checks import all_finite, is_hidden

BLOCK = 2**18  # scores in a block; with its temporaries it stays in the cache

Tensors = tuple[Tensor, ...]


class Form(NamedTuple):
    """``value(logits, targets)`` → the outputs; ``gradient(logits, targets, *outputs, *incoming)`` → the
    gradient in the logits, in a tuple.  ``fast_…`` take what to write the same to as well, and return whether
    it is exact: if it is not, the plain one is used."""

    value: Callable
    gradient: Callable
    fast_value: Callable
    fast_gradient: Callable


class Elementwise(NamedTuple):
    """``value(logits, targets)`` → the losses and their slopes; ``fast_value``: as in Form."""

    value: Callable
    fast_value: Callable


def by_rows(form: Form, logits: Tensor, targets: Tensor) -> Tensors:
    """The outputs of the form, one number a row each."""
    return (_Rows if torch.compiler.is_compiling() else _RowsForwardMode).apply(form, logits, targets)


def by_elements(form: Elementwise, logits: Tensor, targets: Tensor) -> Tensor:
    """The losses of the form, of the shape of the logits."""
    function = _Elements if torch.compiler.is_compiling() else _ElementsForwardMode
    losses: Tensor = function.apply(form, logits, targets)[0]
    return losses


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(form: Form, logits: Tensor, targets: Tensor) -> Tensors:
        lead = logits.shape[:-1]
        return _in_blocks(form.value, form.fast_value, lead, (lead, lead), logits, targets)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, outputs: Tensors) -> None:
        ctx.form, *tensors = inputs
        ctx.save_for_backward(*tensors, *outputs)

    @staticmethod
    def backward(ctx: Any, *incoming: Tensor) -> tuple:
        form, tensors = ctx.form, (*ctx.saved_tensors, *incoming)
        if torch.is_grad_enabled() or _is_plain(tensors[0]) or any(map(is_hidden, incoming)):
            (gradient,) = form.gradient(*tensors)
        else:
            shape = tensors[0].shape
            (gradient,) = _in_blocks(form.gradient, form.fast_gradient, shape[:-1], (shape,), *tensors)
        return None, gradient, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple, form: Form, *tensors: Tensor) -> tuple:
        outputs = by_rows(form, *_batched(info, in_dims, tensors))
        return outputs, (0,) * len(outputs)


class _Elements(torch.autograd.Function):
    """The slopes are computed along with the losses and kept; a second derivative starts anew."""

    @staticmethod
    def forward(form: Elementwise, logits: Tensor, targets: Tensor) -> Tensors:
        shape = logits.shape
        return _in_blocks(form.value, form.fast_value, shape, (shape, shape), logits, targets)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, outputs: Tensors) -> None:
        ctx.form, *tensors = inputs
        ctx.mark_non_differentiable(outputs[1])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors, outputs[1])

    @staticmethod
    def backward(ctx: Any, incoming: Tensor | None, _: None) -> tuple:
        if incoming is None:
            return None, None, None
        logits, targets, slopes = ctx.saved_tensors
        if torch.is_grad_enabled():
            _, slopes = ctx.form.value(logits, targets)
        gradient = slopes * incoming
        if _is_plain(logits) or not all_finite(gradient):
            gradient = gradient.where(slopes != 0, 0.0)  # what is ignored has no gradient, whatever comes in
        return None, gradient, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple, form: Elementwise, *tensors: Tensor) -> tuple:
        outputs = _ElementsForwardMode.apply(form, *_batched(info, in_dims, tensors))
        return outputs, (0, 0)


class _RowsForwardMode(_Rows):
    """The same with forward-mode derivatives, which the compiler refuses to see."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, outputs: Tensors) -> None:
        _Rows.setup_context(ctx, inputs, outputs)
        ctx.save_for_forward(*inputs[1:], *outputs)

    @staticmethod
    def jvp(ctx: Any, _form: None, tangent: Tensor, _targets: None) -> Tensors:
        _refuse_nesting()
        logits, targets, *outputs = ctx.saved_tensors
        tangents = []
        for output in outputs:
            incoming = (torch.ones_like(x) if x is output else torch.zeros_like(x) for x in outputs)
            (gradient,) = ctx.form.gradient(logits, targets, *outputs, *incoming)
            tangents.append((gradient * tangent).sum(-1))
        return tuple(tangents)


class _ElementsForwardMode(_Elements):
    """The same with forward-mode derivatives, which the compiler refuses to see."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, outputs: Tensors) -> None:
        _Elements.setup_context(ctx, inputs, outputs)
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def jvp(ctx: Any, _form: None, tangent: Tensor | None, _targets: None) -> tuple[Tensor, None]:
        _refuse_nesting()
        logits, targets = ctx.saved_tensors[:2]
        if tangent is None:  # the targets are what moves
            return torch.zeros_like(logits), None
        _, slopes = ctx.form.value(logits, targets)
        return slopes * tangent, None


def _refuse_nesting() -> None:
    """Of forward mode over forward mode PyTorch loses the outer derivative: it returns 0 without a word."""
    modes = [interpreter.key() for interpreter in retrieve_all_functorch_interpreters()]
    if modes.count(TransformType.Jvp) > 1:
        raise NotImplementedError(
            "forward mode over forward mode; take forward over reverse, as torch.func.hessian does, "
            "or reverse over forward"
        )


def _batched(info: Any, in_dims: tuple, tensors: Tensors) -> Tensors:
    """The tensors with the dimension of vmap in front."""
    return tuple(
        x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)
        for x, dim in zip(tensors, in_dims[1:], strict=True)
    )


def _is_plain(logits: Tensor) -> bool:
    """Whether the plain form is all: compilers and tracers see it whole, and a GPU needs no blocks."""
    return torch.compiler.is_compiling() or not logits.is_cpu or is_hidden(logits.new_zeros(()))


def _in_blocks(
    plain: Callable, fast: Callable, lead: torch.Size, shapes: tuple[torch.Size, ...], *tensors: Tensor
) -> Tensors:
    """The outputs, of these shapes, on equal blocks of at most BLOCK scores, fast where that can be.

    ``fast`` gets rows of the tensors, of shape ``lead``, and then those of the outputs, which it may leave
    half written if it returns False.  What is returned is no view, so that the caller may change it in place
    (``losses *= weights``).
    """
    logits, count = tensors[0], lead.numel()
    if _is_plain(logits) or not lead or not logits.numel():
        return plain(*tensors)
    outputs = tuple(logits.new_empty(shape) for shape in shapes)
    rows = [x.reshape(count, *x.shape[len(lead) :]) for x in (*tensors, *outputs)]
    step = math.ceil(count / math.ceil(logits.numel() / BLOCK))
    for start in range(0, count, step):
        block = [x[start : start + step] for x in rows]
        if not fast(*block):
            results = block[len(tensors) :]
            for result, values in zip(results, plain(*block[: len(tensors)]), strict=True):
                result.copy_(values)
    return outputs
