"""The golden cases: values and gradients that mpmath computed at 50 digits."""

import json
from pathlib import Path

import pytest
import torch

import mlloss
from mlloss.figures import contrastive

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
    "multilabel_bce_eq1",
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
    "supcon_out": lambda s, y, tau: mlloss.multilabel_softmax_cross_entropy(s / tau, y),
    "hard_form_eq2": mlloss.hard_unified_loss,
    "triplet_hard": lambda s, y, m: mlloss.hard_unified_loss(s, y, margin=m),
    "multilabel_ce_eq4": mlloss.thresholded_loss,
    "circle_form_a": lambda s, y, **keywords: circle(s, y, **keywords),
    "circle_form_b": lambda s, y, **keywords: circle(s, y, **keywords),
    "softmax_ce_multihot": lambda s, y, normalise_targets: mlloss.multilabel_softmax_cross_entropy(
        s, y, normalize=normalise_targets
    ),
    "softmax_ce_multihot_batch_mean": lambda s, y, normalise_targets: mlloss.multilabel_softmax_cross_entropy(
        s, y, normalize=normalise_targets
    ),
}


def circle(s, y, gamma, O_p, O_n, Delta_p, Delta_n, weights):
    return mlloss.circle_loss(
        s,
        y,
        gamma=gamma,
        positive_optimum=O_p,
        negative_optimum=O_n,
        positive_margin=Delta_p,
        negative_margin=Delta_n,
        detach_weights=weights == "detached",
    )


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
        assert s.grad.flatten().tolist() == pytest.approx(case["gradient"], rel=rtol, abs=atol)


@cases({"threshold_eq3"})
def test_gradient_flows_into_the_threshold(case):
    s, y = scores(case, torch.float64)
    t = leaf(case["inputs"]["threshold"][0], torch.float64)
    loss = mlloss.thresholded_loss(s, y, threshold=t)
    loss.backward()
    assert loss.item() == pytest.approx(case["expected"], rel=1e-12)
    assert [*s.grad.tolist(), t.grad.item()] == pytest.approx(case["gradient"], rel=1e-12)


@cases({"multilabel_bce_eq1", "multilabel_soft_margin"})
def test_binary_cross_entropy_over_classes(case):
    s, y = scores(case, torch.float64)
    losses = mlloss.sigmoid_focal_loss(s, y, alpha=None, gamma=0, reduction="none")
    if case["function"] == "multilabel_bce_eq1":
        loss = losses.sum(-1)
    else:
        reduction = case["parameters"]["reduction"]
        loss = losses.mean(-1) if reduction == "none" else getattr(losses.mean(-1), reduction)()
    assert loss.tolist() == pytest.approx(case["expected"], rel=1e-12, abs=1e-14)
    if "gradient" in case:
        loss.backward()
        assert s.grad.flatten().tolist() == pytest.approx(case["gradient"], rel=1e-12, abs=1e-14)


CONTRASTIVE = {
    "multi_positive_eq2": "unified",
    "mean_of_single_positive_infonce": "mean of InfoNCE",
    "supcon_out": "SupCon out",
    "supcon_in": "SupCon in",
}


@cases(CONTRASTIVE)
def test_contrastive_forms(case):
    """As the live figure computes them."""
    forms = {form.word: form.torch_value for form in contrastive.FORMS}
    s, y = scores(case, torch.float64)
    loss = forms[CONTRASTIVE[case["function"]]](s / case["parameters"]["tau"], y)
    loss.backward()
    assert loss.item() == pytest.approx(case["expected"], rel=1e-12)
    assert s.grad.tolist() == pytest.approx(case["gradient"], rel=1e-11, abs=1e-14)


MEASURES = {
    "metric_exact_match_ratio": "exact_match_ratio",
    "metric_hamming_loss": "hamming_loss",
    "metric_accuracy_jaccard_samples": "jaccard",
    "metric_precision_samples": "precision",
    "metric_recall_samples": "recall",
    "metric_f1_samples": "f1",
}


@cases(MEASURES)
def test_measure(case):
    y, z = torch.tensor(case["inputs"]["y_true"]), torch.tensor(case["inputs"]["y_pred"]).bool()
    name = MEASURES[case["function"]]
    keywords = {} if name in ("exact_match_ratio", "hamming_loss") else case["parameters"]
    assert getattr(mlloss, name)(z, y, **keywords).item() == pytest.approx(case["expected"], rel=1e-12)


@cases({"metric_zero_one_loss"})
def test_zero_one_loss(case):
    y, z = torch.tensor(case["inputs"]["y_true"]), torch.tensor(case["inputs"]["y_pred"]).bool()
    assert 1 - mlloss.exact_match_ratio(z, y).item() == pytest.approx(case["expected"], rel=1e-12)


@cases({"prediction_topk"})
def test_top_k(case):
    s = torch.tensor(case["inputs"]["s"])
    chosen = mlloss.top_k(s, case["parameters"]["K"])
    assert [row.nonzero().flatten().tolist() for row in chosen] == [sorted(row) for row in case["expected"]]


@cases({"circle_form_a_seed002_as_printed"})
def test_known_wrong_is_not_ours(case):
    s, y = scores(case, torch.float64)
    loss = mlloss.circle_loss(
        s, y, gamma=32, positive_optimum=1.0, negative_optimum=0.0, positive_margin=0.0, negative_margin=0.0
    )
    loss.backward()
    assert loss.item() != pytest.approx(case["expected"], rel=0.1)
    assert (s.grad[1:] > 0).all()  # negatives are pushed
