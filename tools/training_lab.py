"""Trains every network in the training lab's tables; the results go to `mlloss/training-lab.json`.

    make results        (some minutes on two cores)

First five rates are tried for each loss, with seeds of their own, and the best on validation data is kept;
then every setup of the plan is trained with the same seeds, and measured on test data.  The file also holds a
short training of each loss, which a test repeats: so it shows whether the file was made by the present code.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from mlloss.training import LOSSES, RECORD, Setup, measures, train

RATES = (0.001, 0.003, 0.01, 0.03, 0.1)
TRIAL_SEEDS, SEEDS = range(100, 103), range(8)
STEPS = 400
SITUATIONS: dict[str, dict[str, Any]] = {
    "2 × 2": {},
    "3 × 3": {"fields": 3},
    "imbalance": {"imbalance": 30.0},
}
HIDDEN_LOSSES = ("cross-entropy", "thresholded", "multi-hot softmax", "circle")
HIDDEN = (0.25, 0.5, 0.75)

Row = dict[str, Any]


def plan(rates: Mapping[str, float]) -> Iterator[tuple[str, Setup]]:
    """Every situation with every setup that is trained in it."""
    for situation, data in SITUATIONS.items():
        for loss in LOSSES:
            yield situation, Setup(loss, steps=STEPS, rate=rates[loss], **data)
    for loss in HIDDEN_LOSSES:
        for share in HIDDEN:
            for hidden_as in ("ignored", "negative"):
                yield (
                    f"hidden, {hidden_as}",
                    Setup(loss, steps=STEPS, rate=rates[loss], hidden=share, hidden_as=hidden_as),
                )


def results(setup: Setup, seeds: range, **sizes: Any) -> dict[str, list[float]]:
    *_, last = train(setup, seeds=seeds, every=setup.steps)
    return {name: rounded(values) for name, values in measures(setup, last.scores, **sizes).items()}


def rounded(values: Tensor) -> list[float]:
    return [round(value, 5) for value in values.tolist()]


def trials(loss: str) -> list[float]:
    """The mean validation F1 of each rate."""
    found = []
    for rate in RATES:
        values = results(Setup(loss, steps=STEPS, rate=rate), TRIAL_SEEDS)["validation F1"]
        found.append(round(sum(values) / len(values), 5))
    return found


def best(tried: list[float]) -> float:
    return RATES[tried.index(max(tried))]


def check(loss: str) -> list[float]:
    """The losses of two short runs."""
    setup = Setup(loss, samples=60, steps=12, batch=20, hidden=0.2, imbalance=3.0)
    *_, last = train(setup, seeds=range(2), every=4, device="cpu")
    return rounded(last.losses)


def main() -> int:
    tried = {loss: say(loss, trials(loss)) for loss in LOSSES}
    rates = {loss: best(values) for loss, values in tried.items()}
    rows = [
        {"situation": situation, "setup": asdict(setup), "measures": say(situation, results(setup, SEEDS))}
        for situation, setup in plan(rates)
    ]
    made = {
        "torch": torch.__version__.partition("+")[0],
        "tried": RATES,
        "trials": tried,
        "rates": rates,
        "rows": rows,
    }
    RECORD.write_text(as_text({**made, "check": {loss: check(loss) for loss in LOSSES}}), encoding="utf-8")
    return 0


def as_text(made: Mapping[str, Any]) -> str:
    """JSON with a line for each list of numbers."""
    lines = json.dumps(made, ensure_ascii=False, indent=1)
    return re.sub(r"\[[^\[\]{}]*\]", lambda numbers: " ".join(numbers[0].split()), lines) + "\n"


def say(what: str, found: Any) -> Any:
    print(what, found, flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
