"""Every chapter computes on the device that MLLOSS_DEVICE names: its cells run on one that is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_notebooks import CELL, NAMES

ROOT = Path(__file__).parents[2]
START = """
import matplotlib
import torch

import mlloss
from tests import pretend

matplotlib.use("Agg")
torch.Generator = pretend.Generator
# no compiler knows such a device
torch.compile = lambda function=None, **_: function or (lambda function: function)
display = print
"""
END = """
assert torch.zeros(1).device.type == pretend.NAME, "the chapter's tensors are made on the CPU"
"""


@pytest.mark.parametrize("name", NAMES)
def test_cells_run_on_another_device(name: str, tmp_path: Path) -> None:
    cells = CELL.findall((ROOT / "book" / f"{name}.md").read_text(encoding="utf-8"))
    code = "\n".join([START, *cells, END if any("import torch" in cell for cell in cells) else ""])
    program = tmp_path / "cells.py"
    program.write_text(code, encoding="utf-8")
    environment = {**os.environ, "MLLOSS_DEVICE": "pretend", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, program], cwd=ROOT / "book", env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
