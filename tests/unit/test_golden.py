"""The golden cases: values and gradients that mpmath computed at 50 digits."""

import json
from pathlib import Path

import pytest
import torch

import mlloss

CASES = json.loads((Path(__file__).parents[1] / "data" / "golden.json").read_text())


def scores(case, dtype):
    """The scores that the gradient is taken in (positives first where they are listed apart), and targets."""
    inputs = case["inputs"]
    if "s_p" in inputs:
        s = inputs["s_p"] + inputs["s_n"]
        return leaf(s, dtype), torch.arange(len(s)) < len(inputs["s_p"])
    s = leaf(next(inputs[name] for name in ("s", "z", "q") if name in inputs), dtype)
    signs = inputs.get("target") or inputs.get("y")
    if signs is None:
        return s, torch.tensor(case["parameters"]["target"])
    if case["function"] in SIGNED:
        return s, mlloss.from_signed(torch.tensor(signs))
    return s, torch.tensor(signs)


def leaf(values, dtype):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


SIGNED = {
    "simplified_circle_eq2",
    "multilabel_ce_eq4",
    "threshold_eq3",
    "hard_form_eq2",
    "unified_loss",
}

LOSSES = {
    "bce_with_logits": lambda s, y: mlloss.sigmoid_focal_loss(s, y, alpha=None, gamma=0, reduction="sum"),
    "alpha_bce_with_logits": lambda s, y, alpha: mlloss.sigmoid_focal_loss(
        s, y, alpha=alpha, gamma=0, reduction="sum"
    ),
    "focal_with_logits": lambda s, y, alpha, gamma: mlloss.sigmoid_focal_loss(
        s, y, alpha=alpha, gamma=gamma, reduction="sum"
    ),
    "ce_with_logits": lambda s, y: mlloss.softmax_focal_loss(s, y, gamma=0),
    "focal_multiclass": lambda s, y, alpha, gamma: mlloss.softmax_focal_loss(
        s, y, alpha=torch.tensor(alpha, dtype=torch.float64), gamma=torch.tensor(gamma, dtype=torch.float64)
    ),
    "hard_form_ce": mlloss.hard_cross_entropy,
    "simplified_circle_eq2": mlloss.unified_loss,
    "unified_loss": lambda s, y, gamma, m: mlloss.unified_loss(s, y, gamma=gamma, margin=m),
    "am_softmax": lambda s, y, gamma, m: mlloss.unified_loss(s, y, gamma=gamma, margin=m),
    "multi_positive_eq2": lambda s, y, tau: mlloss.unified_loss(s, y, gamma=1 / tau),
    "hard_form_eq2": mlloss.hard_unified_loss,
    "triplet_hard": lambda s, y, m: mlloss.hard_unified_loss(s, y, margin=m),
    "multilabel_ce_eq4": mlloss.thresholded_loss,
}


def parameters(case):
    return {k: v for k, v in case["parameters"].items() if k not in ("reduction", "target")}


def cases(functions):
    chosen = [case for case in CASES if case["function"] in functions]
    assert {case["function"] for case in chosen} == set(functions)
    return pytest.mark.parametrize("case", chosen, ids=lambda case: f"{case['id']}-{case['function']}")


TOLERANCES = [
    pytest.param(torch.float64, 1e-12, 1e-14, id="float64"),
    pytest.param(torch.float32, 2e-5, 1e-6, id="float32"),
    pytest.param(torch.float16, 5e-2, 5e-3, id="float16"),
    pytest.param(torch.bfloat16, 4e-1, 4e-2, id="bfloat16"),
]


@pytest.mark.parametrize(("dtype", "rtol", "atol"), TOLERANCES)
@cases(LOSSES)
def test_loss(case, dtype, rtol, atol):
    s, y = scores(case, dtype)
    loss = LOSSES[case["function"]](s, y, **parameters(case))
    loss.backward()
    assert loss.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert loss.item() == pytest.approx(case["expected"], rel=rtol, abs=atol)
    if "gradient" in case:
        assert s.grad.tolist() == pytest.approx(case["gradient"], rel=rtol, abs=atol)
