"""What several twins need: softplus that is exact everywhere, and derivatives by PyTorch's autograd."""

import torch
import torch.nn.functional as F
from torch import Tensor


def softplus(x: Tensor) -> Tensor:
    """log(1 + eˣ); `F.softplus` returns x itself above 20, even in float64."""
    return -F.logsigmoid(-x)


def derivative(loss: Tensor, variable: Tensor) -> Tensor:
    """∂loss/∂variable, elementwise where `loss` has one value for each value of `variable`."""
    return torch.autograd.grad(loss.sum(), variable, retain_graph=True)[0]
