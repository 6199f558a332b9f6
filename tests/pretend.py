"""A device that is none: its tensors lie in the memory of the CPU, but do not mix with the CPU's.

What a GPU refuses is refused here too (tensors of two devices in one operation, a generator of another
device, NumPy), so that code which forgets the device fails where there is no GPU.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils import backend_registration
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map_only

NAME = "pretend"
aten = torch.ops.aten
TRANSFERS = {aten._to_copy.default, aten.copy_.default}
INDEXING = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default}  # indices may be the CPU's
JOINING = {aten.cat.default, aten.stack.default}  # elsewhere single numbers of the CPU are welcome


class Generator(torch.Generator):
    """What ``torch.Generator`` makes where it is put in its place: generators that know their device."""

    def __new__(cls, device: torch.device | str | None = None) -> torch.Generator:
        here = device is not None and torch.device(device).type == NAME
        return super().__new__(cls) if here else torch._C.Generator(device or "cpu")


class Pretended(Tensor):
    """A tensor that says it is elsewhere; ``held`` is what it says."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held: Tensor) -> Tensor:
        layout = {"strides": held.stride(), "storage_offset": held.storage_offset(), "dtype": held.dtype}
        return Tensor._make_wrapper_subclass(cls, held.size(), device=f"{NAME}:0", **layout)

    def __init__(self, held: Tensor) -> None:
        self.held = held

    @classmethod
    def __torch_dispatch__(
        cls, operation: Any, _: Any, args: tuple = (), keywords: dict | None = None
    ) -> Any:
        return run(operation, args, keywords or {})

    def numpy(self, **_: Any) -> Any:
        raise TypeError(f"can't convert {NAME} device type tensor to numpy. Use Tensor.cpu() first.")

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self.numpy()

    def untyped_storage(self) -> torch.UntypedStorage:
        return self.held.untyped_storage()

    def tolist(self) -> Any:
        return self.held.tolist()

    def __format__(self, form: str) -> str:
        return format(self.held, form)

    def __repr__(self) -> str:
        return repr(self.held)[:-1] + f", device='{NAME}:0')"


def run(operation: Any, args: tuple, keywords: dict) -> Any:
    """The operation on what the tensors hold."""
    values = (args[0], *args[2:]) if operation in INDEXING else args
    refuse_to_mix(operation, tree_leaves((values, keywords)))
    target = keywords.get("device")
    if target is not None:
        keywords = keywords | {"device": torch.device("cpu")}
    held_args, held_keywords = tree_map_only(Pretended, lambda x: x.held, (args, keywords))
    result = operation(*held_args, **held_keywords)
    if operation is aten.copy_.default and not isinstance(args[0], Pretended):
        return args[0]
    if target is not None and torch.device(target).type != NAME:
        return result
    result = tree_map_only(Tensor, Pretended, result)
    return return_and_correct_aliasing(operation, args, keywords, result) if args else result


def refuse_to_mix(operation: Any, values: list) -> None:
    if any(isinstance(x, torch.Generator) and not isinstance(x, Generator) for x in values):
        raise RuntimeError(f"Expected a '{NAME}' device type for generator but found 'cpu'")
    tensors = [x for x in values if isinstance(x, Tensor) and (x.ndim or operation in JOINING)]
    if operation not in TRANSFERS and not all(isinstance(x, Pretended) for x in tensors):
        raise RuntimeError(
            f"{operation}: expected all tensors to be on the same device, found {NAME} and cpu"
        )


def copy_from(source: Tensor, target: Tensor, _: bool = False) -> Tensor:
    held, into = (x.held if isinstance(x, Pretended) else x for x in (source, target))
    into.copy_(held)
    return target


backend_registration._setup_privateuseone_for_python_backend(NAME)
operations = torch.library.Library("aten", "IMPL")  # for what has no tensor of the device among its arguments
makers = {
    "empty.memory_format": aten.empty.memory_format,
    "empty_strided": aten.empty_strided.default,
    "eye": aten.eye.default,
    "eye.m": aten.eye.m,
    "_efficientzerotensor": aten.zeros.default,
}
for name, maker in makers.items():
    operations.impl(name, lambda *args, maker=maker, **keywords: run(maker, args, keywords), "PrivateUse1")
operations.impl("_copy_from", copy_from, "PrivateUse1")
operations.impl("_local_scalar_dense", lambda x: x.held.item(), "PrivateUse1")
