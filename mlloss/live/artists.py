"""What a live figure shows: panels, and artists whose numbers follow the controls.

An artist states its numbers as SymPy expressions in the symbols of the controls. It can do three things: give
its expression trees to the page (`spec`), be drawn once by matplotlib (`draw`), and say in what shape its
numbers come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import contourpy
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from sympy import Expr, Symbol

from mlloss import default_device
from mlloss.live.numbers import format_number
from mlloss.live.style import colour
from mlloss.live.tree import tree

HEAD_LENGTH = 7.0  # of an arrow, in points; live-figure.js draws the same head
HEAD_HALF_WIDTH = 3.5
PLANE_RGB = (70, 130, 200)  # a blue that shows on light and dark pages
PLANE_STRENGTH = 0.75


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
class Panel:
    """One pair of axes; panels are stacked, so that they stay readable on a phone.

    The limits are fixed, unless `follow` is set: then the upper end of y rises as far as curves, areas, bars
    and traces need it, to 1, 2, 4 or 8 times a power of ten, and comes back to the one that is given.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    x_label: str = ""
    y_label: str = ""
    height: float = 2.6
    legend_columns: int = 2
    y_axis: bool = True
    follow: bool = False
    y_names: Mapping[float, str] = field(default_factory=dict)


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
    """A mark at (x, y), hidden where they are NaN; the marker "ring" is a circle without filling.

    `drag` names the sliders that follow when it is dragged, for x and for y; `handle` is what a screen reader
    calls it then, if not its label.
    """

    kind: ClassVar[str] = "point"
    name: str
    x: Expr
    y: Expr
    colour: str
    label: str = ""
    marker: str = "o"
    size: float = 8.0
    drag: Mapping[str, Symbol] = field(default_factory=dict)
    handle: str = ""
    panel: int = 0

    def spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = {"numbers": [tree(self.x), tree(self.y)]}
        if self.drag:
            drag = {axis: symbol.name for axis, symbol in self.drag.items()}
            spec |= {"drag": drag, "label": self.handle or self.label or self.name}
        return spec

    def draw(self, axes: Axes, values: np.ndarray, gid: str) -> None:
        x, y = values if np.isfinite(values).all() else (np.mean(axes.get_xlim()), np.mean(axes.get_ylim()))
        style: dict[str, Any] = {"color": colour(self.colour), "marker": self.marker, "markersize": self.size}
        if self.marker == "ring":
            style |= {"marker": "o", "markerfacecolor": "none", "markeredgewidth": 1.5}
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
class Bars:
    """Upright bars from 0 to `heights`, one a label."""

    kind: ClassVar[str] = "bars"
    name: str
    heights: Sequence[Expr]
    labels: Sequence[str]
    colour: str
    label: str = ""
    width: float = 0.6
    panel: int = 0

    def spec(self) -> dict[str, Any]:
        return {"numbers": [tree(height) for height in self.heights], "width": self.width}

    def draw(self, axes: Axes, values: np.ndarray, gid: str) -> None:
        axes.set_xticks(range(len(self.labels)), self.labels)
        axes.grid(visible=False, axis="x")
        outlines = [_bar(i, height, self.width) for i, height in enumerate(values)]
        _path(axes, gid, outlines, facecolor=colour(self.colour), linewidth=0, label=self.label or None)


@dataclass(frozen=True)
class Area:
    """The area between `low` and `high` over a grid, shaded."""

    kind: ClassVar[str] = "area"
    name: str
    low: Expr
    high: Expr
    grid: Grid
    colour: str
    label: str = ""
    panel: int = 0

    def spec(self) -> dict[str, Any]:
        return {"low": tree(self.low), "high": tree(self.high), "grid": self.grid.spec()}

    def draw(self, axes: Axes, values: np.ndarray, gid: str) -> None:
        x = self.grid.points().cpu().numpy()
        low, high = np.split(values, 2)
        outline = np.column_stack([np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]])])
        style: dict[str, Any] = {"facecolor": colour(self.colour), "alpha": 0.25, "linewidth": 0}
        _path(axes, gid, [outline], label=self.label or None, zorder=1, **style)


@dataclass(frozen=True)
class Label:
    """A word in the picture at (x, y), or a number where `value` is given."""

    kind: ClassVar[str] = "label"
    name: str
    x: Expr
    y: Expr
    text: str = ""
    value: Expr | None = None
    digits: int = 2
    colour: str = "text"
    panel: int = 0

    def spec(self) -> dict[str, Any]:
        numbers = [self.x, self.y, *([] if self.value is None else [self.value])]
        return {"numbers": [tree(n) for n in numbers], "text": self.text, "digits": self.digits}

    def draw(self, axes: Axes, values: np.ndarray, gid: str) -> None:
        x, y, *value = values
        text = self.text + "".join(format_number(v, self.digits) for v in value)
        axes.text(x, y, text, gid=gid, color=colour(self.colour), ha="center", va="baseline")


@dataclass(frozen=True)
class Contours:
    """The lines over two grids on which z has one of the `levels`; its numbers are z, row by row of y."""

    kind: ClassVar[str] = "contours"
    name: str
    z: Expr
    x_grid: Grid
    y_grid: Grid
    levels: Sequence[float]
    colour: str
    label: str = ""
    dashes: str = "-"
    width: float = 1.2
    panel: int = 0

    def spec(self) -> dict[str, Any]:
        grids = {"x_grid": self.x_grid.spec(), "y_grid": self.y_grid.spec()}
        return {"z": tree(self.z), "levels": list(self.levels), **grids}

    def draw(self, axes: Axes, values: np.ndarray, gid: str) -> None:
        x, y = (grid.points().cpu().numpy() for grid in (self.x_grid, self.y_grid))
        z = np.reshape(values, (len(y), len(x)))
        lines = contourpy.contour_generator(x, y, z)
        outlines = [np.asarray(line) for level in self.levels for line in lines.lines(level)]
        style: dict[str, Any] = {
            "edgecolor": colour(self.colour),
            "linestyle": self.dashes,
            "linewidth": self.width,
        }
        _path(axes, gid, outlines, closed=False, facecolor="none", **style)
        if self.label:
            axes.plot([], [], color=colour(self.colour), linestyle=self.dashes, label=self.label)


@dataclass(frozen=True)
class Plane:
    """z over two grids as the strength of one colour: from `low` (clear) to `high` (full)."""

    kind: ClassVar[str] = "plane"
    name: str
    z: Expr
    x_grid: Grid
    y_grid: Grid
    low: float
    high: float
    colour: str
    panel: int = 0

    def spec(self) -> dict[str, Any]:
        grids = {"x_grid": self.x_grid.spec(), "y_grid": self.y_grid.spec()}
        limits = {"low": self.low, "high": self.high}
        return {"z": tree(self.z), **limits, **grids, "rgb": PLANE_RGB, "strength": PLANE_STRENGTH}

    def draw(self, axes: Axes, values: np.ndarray, gid: str) -> None:
        x, y = self.x_grid, self.y_grid
        half_x, half_y = ((g.stop - g.start) / (g.count - 1) / 2 for g in (x, y))
        strength = np.clip((np.reshape(values, (y.count, x.count)) - self.low) / (self.high - self.low), 0, 1)
        pixels = np.empty((y.count, x.count, 4), dtype=np.uint8)
        pixels[..., :3] = PLANE_RGB
        pixels[..., 3] = np.round(255 * PLANE_STRENGTH * np.nan_to_num(strength))
        extent = (x.start - half_x, x.stop + half_x, y.start - half_y, y.stop + half_y)
        limits = axes.get_xlim(), axes.get_ylim()
        axes.imshow(pixels, extent=extent, origin="lower", aspect="auto", interpolation="none", gid=gid)
        axes.set(xlim=limits[0], ylim=limits[1])


@dataclass(frozen=True)
class Trace:
    """The course of a number during a descent, its first `length` values; before a step, the number alone."""

    kind: ClassVar[str] = "trace"
    name: str
    value: Expr
    colour: str
    label: str = ""
    dashes: str = "-"
    length: int = 200
    panel: int = 0

    def spec(self) -> dict[str, Any]:
        return {"numbers": [tree(self.value)], "length": self.length}

    def draw(self, axes: Axes, values: np.ndarray, gid: str) -> None:
        style: dict[str, Any] = {"color": colour(self.colour), "linestyle": self.dashes, "linewidth": 2}
        axes.plot([0, 0], [values[0], values[0]], gid=gid, label=self.label or None, **style)


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


Artist = Curve | Point | Arrow | Bars | Area | Label | Contours | Plane | Trace | Number


def _bar(place: float, height: float, width: float) -> np.ndarray:
    left, right = place - width / 2, place + width / 2
    return np.array([(left, 0), (right, 0), (right, height), (left, height)])


def _path(axes: Axes, gid: str, outlines: Sequence[np.ndarray], closed: bool = True, **style: Any) -> None:
    """All outlines as one path, so that the script has one element to move."""
    lines = outlines or [np.full((2, 2), np.nan)]
    paths = [Path([*line, line[0]] if closed else line, closed=closed) for line in lines]
    axes.add_patch(PathPatch(Path.make_compound_path(*paths), gid=gid, **style))
