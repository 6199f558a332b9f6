"""What a live figure is made of: panels, sliders, and artists whose numbers follow the sliders.

An artist states its numbers as SymPy expressions in the names of the sliders. It can do three things: give
its expression trees to the page (`spec`), be drawn once by matplotlib (`draw`), and say in what shape its
numbers come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from matplotlib.axes import Axes
from sympy import Expr, Symbol

from mlloss import default_device
from mlloss.live.style import colour
from mlloss.live.tree import tree

HEAD_LENGTH = 7.0  # of an arrow, in points; live-figure.js draws the same head
HEAD_HALF_WIDTH = 3.5


@dataclass(frozen=True)
class Grid:
    """The places at which a curve is drawn: `count` values of `variable` from `start` to `stop`."""

    variable: Symbol
    start: float
    stop: float
    count: int = 161

    def points(self) -> torch.Tensor:
        """The grid as a float64 tensor on the device of every plot."""
        return torch.linspace(self.start, self.stop, self.count, dtype=torch.float64, device=default_device())

    def spec(self) -> dict[str, Any]:
        return {"variable": self.variable.name, "start": self.start, "stop": self.stop, "count": self.count}


@dataclass(frozen=True)
class Slider:
    """A parameter that the reader sets: a native range input with its label and value."""

    symbol: Symbol
    label: str
    start: float
    stop: float
    value: float
    step: float = 0.1
    unit: str = ""

    def __post_init__(self) -> None:
        if not self.start <= self.value <= self.stop:
            raise ValueError(f"slider {self.name}: {self.value} lies outside {self.start} … {self.stop}")

    @property
    def name(self) -> str:
        return str(self.symbol.name)

    @property
    def digits(self) -> int:
        """Decimals that show one step."""
        return max(0, len(f"{self.step:.6f}".rstrip("0").partition(".")[2]))

    def spec(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "start": self.start,
            "stop": self.stop,
            "value": self.value,
            "digits": self.digits,
            "unit": self.unit,
        }


@dataclass(frozen=True)
class Panel:
    """One pair of axes with fixed limits; panels are stacked, so that they stay readable on a phone."""

    x: tuple[float, float]
    y: tuple[float, float]
    x_label: str = ""
    y_label: str = ""
    height: float = 2.6
    legend_columns: int = 2
    y_axis: bool = True


@dataclass(frozen=True)
class Curve:
    """y over a grid."""

    kind: ClassVar[str] = "curve"
    name: str
    y: Expr
    grid: Grid
    colour: str
    label: str = ""
    dashes: str = "-"
    width: float = 2.0
    panel: int = 0

    def spec(self) -> dict[str, Any]:
        return {"y": tree(self.y), "grid": self.grid.spec()}

    def draw(self, axes: Axes, values: np.ndarray, gid: str) -> None:
        style: dict[str, Any] = {
            "color": colour(self.colour),
            "linestyle": self.dashes,
            "linewidth": self.width,
        }
        axes.plot(self.grid.points().cpu(), values, gid=gid, label=self.label or None, **style)


@dataclass(frozen=True)
class Point:
    """A dot at (x, y)."""

    kind: ClassVar[str] = "point"
    name: str
    x: Expr
    y: Expr
    colour: str
    label: str = ""
    marker: str = "o"
    size: float = 8.0
    panel: int = 0

    def spec(self) -> dict[str, Any]:
        return {"numbers": [tree(self.x), tree(self.y)]}

    def draw(self, axes: Axes, values: np.ndarray, gid: str) -> None:
        x, y = values
        style: dict[str, Any] = {"color": colour(self.colour), "marker": self.marker, "markersize": self.size}
        axes.plot([x], [y], linestyle="none", gid=gid, label=self.label or None, zorder=3, **style)


@dataclass(frozen=True)
class Arrow:
    """An arrow from (x, y) to (x + dx, y + dy), or without its head a straight line between them."""

    kind: ClassVar[str] = "arrow"
    name: str
    x: Expr
    y: Expr
    dx: Expr
    dy: Expr
    colour: str
    label: str = ""
    head: bool = True
    width: float = 2.0
    panel: int = 0

    def spec(self) -> dict[str, Any]:
        return {"numbers": [tree(n) for n in (self.x, self.y, self.dx, self.dy)], "head": self.head}

    def draw(self, axes: Axes, values: np.ndarray, gid: str) -> None:
        style: dict[str, Any] = {
            "color": colour(self.colour),
            "linewidth": self.width,
            "solid_capstyle": "butt",
        }
        outline = self._outline(axes, *values)
        axes.plot(*outline.T, gid=gid, label=self.label or None, zorder=2.5, **style)

    def _outline(self, axes: Axes, x: float, y: float, dx: float, dy: float) -> np.ndarray:
        """Tail, tip, barb, tip, other barb, in data coordinates; the head has a fixed size on the page."""
        tail, tip = axes.transData.transform([(x, y), (x + dx, y + dy)])
        length = float(np.hypot(*(tip - tail)))
        if not self.head or length == 0:
            return np.array([(x, y), (x + dx, y + dy)])
        along = (tip - tail) / length
        across = np.array([-along[1], along[0]])
        scale = min(1.0, 0.6 * length / HEAD_LENGTH)
        base = tip - scale * HEAD_LENGTH * along
        barb = scale * HEAD_HALF_WIDTH * across
        return axes.transData.inverted().transform([tail, tip, base + barb, tip, base - barb])


@dataclass(frozen=True)
class Number:
    """A number with its label, written below the picture."""

    kind: ClassVar[str] = "number"
    name: str
    value: Expr
    label: str
    digits: int = 3
    colour: str = ""

    def spec(self) -> dict[str, Any]:
        return {"numbers": [tree(self.value)], "digits": self.digits, "label": self.label}


Artist = Curve | Point | Arrow | Number

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_number(value: float, digits: int) -> str:
    """`value` as the page shows it: `digits` decimals, or three figures and a power of ten if clearer.

    >>> format_number(-0.25, 3), format_number(4.5393e-05, 3), format_number(float("inf"), 3)
    ('−0.250', '4.54 × 10⁻⁵', '∞')
    """
    if not np.isfinite(value):
        return "not a number" if np.isnan(value) else "∞" if value > 0 else "−∞"
    if value != 0 and not 10.0**-digits <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}".replace("-", "−")
    return f"{value:.{digits}f}".replace("-", "−")
