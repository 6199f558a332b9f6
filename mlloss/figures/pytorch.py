"""Floating point: how many digits of a loss survive; and how fast the losses are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from sympy import Eq, Expr, Float, Max, Piecewise, log, symbols
from torch import Tensor

from mlloss.live import Choice, Curve, Grid, LiveFigure, Number, Panel, Picture, Point, Slider
from mlloss.live.style import colour
from mlloss.symbolic import sigmoid, softplus

Numbers = dict[str, Tensor | list[Tensor]]
DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}

x, u, dtype, eps, log_max, least = symbols("x u dtype eps log_max least", real=True)


def digits_that_survive() -> LiveFigure:
    """Correct digits of log(1 + eᵘ) in three dtypes, as it is written and in its stable form."""
    grid = Grid(x, -25, 100, count=501)

    def of_dtype(property_of: Any) -> Expr:
        values = [Float(property_of(torch.finfo(kind))) for kind in DTYPES.values()]
        return Piecewise(*((value, Eq(dtype, i)) for i, value in enumerate(values[:-1])), (values[-1], True))

    def digits(error: Expr) -> Expr:
        return Max(0, -log(error) / log(10))

    def as_written(u: Expr) -> Expr:
        error = eps * (1 + (1 + sigmoid(u)) / softplus(u))
        return Piecewise((0, u > log_max), (digits(error), True))

    def stable(u: Expr) -> Expr:
        return digits(eps * (1 + 2 * softplus(-abs(u)) / softplus(u)) + 2 * least / softplus(u))

    def twin(u: Tensor, dtype: Tensor) -> Numbers:
        limits = torch.finfo(list(DTYPES.values())[int(dtype)])
        places = torch.cat([grid.points(), u[None]])
        exact = -F.logsigmoid(-places)
        written_error = limits.eps * (1 + (1 + torch.sigmoid(places)) / exact)
        least = limits.smallest_normal * limits.eps
        stable_error = limits.eps * (1 - 2 * F.logsigmoid(places.abs()) / exact) + 2 * least / exact
        written, stable = (-error.log10().clamp(max=0) for error in (written_error, stable_error))
        written = written.masked_fill(places > torch.tensor(limits.max, dtype=torch.float64).log(), 0.0)
        return {
            "written": written[:-1],
            "stable": stable[:-1],
            "at_written": [u, written[-1]],
            "at_stable": [u, stable[-1]],
            "loss": exact[-1],
            "written_digits": written[-1],
            "stable_digits": stable[-1],
        }

    return LiveFigure(
        "digits-that-survive",
        title="Digits that survive.",
        caption=(
            "The same function, written in two ways. Where does the first lose all its digits, and on which "
            "side is that noticed?"
        ),
        description=(
            "Over u from −25 to 100, the number of correct decimal digits of the logarithm of 1 plus e to "
            "the u. As written it has digits in a middle range only: on the left they fade to none, and on "
            "the right they end in a cliff where the exponential overflows, in float16 at 11. The stable "
            "form keeps all the digits of the dtype, except in float16 on the left, where the result itself "
            "is too small for the dtype."
        ),
        controls=[
            Slider(u, "argument u", -25, 100, -6, step=0.5),
            Choice(dtype, "dtype", {name: i for i, name in enumerate(DTYPES)}, 0),
        ],
        panels=[Panel((-25, 100), (-0.4, 8), x_label="u", y_label="correct digits", height=2.7)],
        definitions={
            eps: of_dtype(lambda limits: limits.eps),
            log_max: log(of_dtype(lambda limits: limits.max)),
            least: of_dtype(lambda limits: limits.smallest_normal * limits.eps),
        },
        artists=[
            Curve("stable", stable(x), grid, "blue", "stable"),
            Curve("written", as_written(x), grid, "vermilion", "log(1 + exp(u))", dashes="--"),
            Point("at_stable", u, stable(u), "blue", marker="s", size=7),
            Point("at_written", u, as_written(u), "vermilion", drag={"x": u}, handle="argument u"),
            Number("loss", softplus(u), "log(1 + eᵘ), exactly", digits=6),
            Number("written_digits", as_written(u), "digits as written", digits=1, colour="vermilion"),
            Number("stable_digits", stable(u), "digits when stable", digits=1, colour="blue"),
        ],
        twin=twin,
        code=(
            "import torch\n"
            "import torch.nn.functional as F\n\n"
            "dtype = [torch.float16, torch.bfloat16, torch.float32][{dtype}]\n"
            "u = torch.tensor({u}, dtype=torch.float64)\n"
            "loss = -F.logsigmoid(-u)\n"
            "rounded = u.to(dtype)\n"
            "as_written = torch.log(1 + torch.exp(rounded))\n"
            "stable = torch.relu(rounded) + torch.log1p(torch.exp(-rounded.abs()))\n"
            "print(loss.item(), as_written.item(), stable.item())"
        ),
        presets={
            "float16 overflows": {"u": 12, "dtype": 0},
            "float16 underflows": {"u": -20, "dtype": 0},
            "float32, sure and right": {"u": -17, "dtype": 2},
            "float32 overflows": {"u": 89, "dtype": 2},
        },
    )


FAMILIES = {
    "unified": "article, unified",
    "thresholded": "article, thresholded",
    "sigmoid focal": "formula, sigmoid focal",
    "circle": "formula, circle",
}


def speed_and_memory(results: Mapping[str, Any], *, caption: str = "") -> Picture:
    """Time and memory of four losses, in `mlloss` and as usual: what `benchmarks/losses.py --save` wrote."""
    markers = dict(zip(results["sizes"], ("o", "s", "^"), strict=True))
    titles = {"time": "time (binary cross-entropy = 1)", "memory": "peak memory in N"}

    def in_words(table: str) -> str:
        rows = results[table]
        return "; ".join(
            f"{ours}: {min(rows[usual]):.1f} to {max(rows[usual]):.1f} as usual, "
            f"{min(rows[ours]):.1f} to {max(rows[ours]):.1f} in mlloss"
            for ours, usual in FAMILIES.items()
        )

    description = " ".join(f"{title[0].upper()}{title[1:]}: {in_words(t)}." for t, title in titles.items())
    with Picture(description, title="What a form costs.", caption=caption, panels=2, height=2.5) as picture:
        for axes, (table, title) in zip(picture.axes, titles.items(), strict=True):
            rows = results[table]
            for place, (ours, usual) in enumerate(FAMILIES.items()):
                for size, marker in markers.items():
                    k = results["sizes"].index(size)
                    style: dict[str, Any] = {"marker": marker, "linestyle": "none", "markersize": 8}
                    axes.plot(
                        rows[usual][k], place - 0.15, color=colour("vermilion"), fillstyle="none", **style
                    )
                    axes.plot(rows[ours][k], place + 0.15, color=colour("blue"), **style)
            axes.axvline(
                1 if table == "time" else rows["torch, BCE"][-1], color=colour("bound"), dashes=(3, 2)
            )
            axes.set_yticks(range(len(FAMILIES)), list(FAMILIES))
            axes.set(xlabel=title, xlim=(0, None), ylim=(len(FAMILIES) - 0.4, -0.6))
        handles = [
            *(("text", marker, "none", size) for size, marker in markers.items()),
            ("vermilion", "o", "none", "as usual"),
            ("blue", "o", "full", "mlloss"),
        ]
        for role, marker, fill, label in handles:
            picture.axes[0].plot(
                [], [], color=colour(role), marker=marker, fillstyle=fill, linestyle="none", label=label
            )
        picture.axes[0].legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3)
    return picture
