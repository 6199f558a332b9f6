"""Matplotlib draws a live figure once, as SVG that can stand inside a page."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mlloss.live.artists import Area, Artist, Bars, Curve, Number, Panel, Trace
from mlloss.live.numbers import TICKS, format_tick, round_up
from mlloss.live.style import RC_PARAMS, with_css_variables

WIDTH = 4.75  # inches; on a screen of 360 px the text is then still 9 px high or more
# What matplotlib gives an id of its own, the same in every picture.
UNNAMED = r"figure|axes|patch|line2d|text|legend|xtick|ytick|matplotlib\.axis|\w+Collection"
Transform = dict[str, list[float]]


def draw(
    panels: Sequence[Panel], artists: Sequence[Artist], values: Mapping[str, Any], prefix: str
) -> tuple[str, list[Transform]]:
    """The picture as SVG text, and for each panel how data become SVG coordinates.

    Every moving artist is a group with the id `prefix-name`.
    """
    with matplotlib.rc_context({**RC_PARAMS, "svg.hashsalt": prefix}):
        figure = Figure(figsize=(WIDTH, sum(panel.height for panel in panels)), dpi=72, layout="constrained")
        axes = figure.subplots(len(panels), squeeze=False)[:, 0]
        for index, (ax, panel) in enumerate(zip(axes, panels, strict=True)):
            _prepare(ax, panel)
            if panel.follow:
                _follow(ax, panel, _highest(artists, values, index), f"{prefix}-axis-{index}")
        drawn = [artist for artist in artists if not isinstance(artist, Number)]
        # Twice: the legends' room must be known before arrow heads of a fixed size can be drawn.
        for _ in range(2):
            for ax, panel in zip(axes, panels, strict=True):
                _clear(ax)
                for artist in drawn:
                    if panels[artist.panel] is panel:
                        artist.draw(ax, np.asarray(values[artist.name]), f"{prefix}-{artist.name}")
                _legend(ax, panel)
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
        height = figure.get_figheight() * 72
        transforms = [_transform(ax, height) for ax in axes]
        for ax, panel, transform in zip(axes, panels, transforms, strict=True):
            if panel.follow:
                scale, offset = transform["y"]
                transform["ends"] = [scale * end + offset for end in ax.get_ylim()]
        return inline_svg(figure), transforms


def _prepare(ax: Axes, panel: Panel) -> None:
    ax.set(xlim=panel.x, ylim=panel.y, xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.y_names:
        ax.set_yticks(list(panel.y_names), list(panel.y_names.values()))
    if not panel.y_axis:
        ax.yaxis.set_visible(False)
        ax.spines.left.set_visible(False)


def _highest(artists: Sequence[Artist], values: Mapping[str, Any], index: int) -> float:
    """The largest number that raises the axis of a panel that follows."""
    raising = [artist for artist in artists if raises(artist, index)]
    numbers = np.concatenate([np.ravel(values[artist.name]) for artist in raising])
    return float(np.max(numbers[np.isfinite(numbers)], initial=-np.inf))


def raises(artist: Artist, index: int) -> bool:
    """Whether the axis of a panel that follows makes room for this artist."""
    return isinstance(artist, Curve | Area | Bars | Trace) and artist.panel == index


def _follow(ax: Axes, panel: Panel, value: float, gid: str) -> None:
    low, high = panel.y
    places = np.linspace(low, high if value <= high else round_up(value), TICKS + 1)
    ax.set_ylim(places[0], places[-1])
    ax.set_yticks(places, [format_tick(place) for place in places])
    for i, text in enumerate(ax.get_yticklabels()):
        text.set_gid(f"{gid}-{i}")


def _clear(ax: Axes) -> None:
    for artist in [*ax.lines, *ax.patches, *ax.images, *ax.texts]:
        artist.remove()


def _legend(ax: Axes, panel: Panel) -> None:
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=panel.legend_columns)


def _transform(ax: Axes, height: float) -> Transform:
    """x_svg = x[0] · x + x[1], and so for y, whose SVG axis points down."""
    (x0, y0), (x1, y1) = ax.transData.transform([(0, 0), (1, 1)])
    return {"x": [x1 - x0, x0], "y": [y0 - y1, height - y0]}


def inline_svg(figure: Figure) -> str:
    """`figure` as SVG inside a page: no ids but those that were set, and colours that follow the theme."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1">', svg, count=1)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(rf' id="(?:{UNNAMED})_\d+"', "", svg)
    svg = re.sub(r"(\d\.\d{2})\d+", r"\1", svg)
    svg = re.sub(r"font: (\d+)px [^;]*;|font-size: (\d+)px; font-family: [^;]*;", r"font-size: \1\2px;", svg)
    return with_css_variables(re.sub(r"\n\s*", "\n", svg).strip())
