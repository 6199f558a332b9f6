"""`Picture`: a still figure in the book's style, with alternative text, for what a cell computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from html import escape
from itertools import count
from typing import Any, ParamSpec

import matplotlib
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mlloss.live.drawing import WIDTH, inline_svg
from mlloss.live.style import RC_PARAMS

_serial = count(1)


class Picture:
    """A matplotlib figure that follows the page's theme.

    `axes` are stacked panels to draw on inside the `with` block; the picture is made when the block ends.

    >>> with Picture("A straight line from 0 to 1.", title="A line.") as picture:
    ...     _ = picture.axes[0].plot([0, 1], [0, 1])
    >>> picture
    <Picture: A line.>
    """

    def __init__(
        self, description: str, *, title: str, caption: str = "", panels: int = 1, height: float = 2.6
    ) -> None:
        self.description, self.title, self.caption = description, title, caption
        self._style = matplotlib.rc_context({**RC_PARAMS, "svg.hashsalt": f"{title}-{next(_serial)}"})
        self._panels, self._height = panels, height
        self.axes: list[Axes] = []

    def __enter__(self) -> Picture:
        self._style.__enter__()
        figure = Figure(figsize=(WIDTH, self._height * self._panels), dpi=72, layout="constrained")
        self.axes = list(figure.subplots(self._panels, squeeze=False)[:, 0])
        self._figure = figure
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            if error[0] is None:
                self._html = self._as_html(inline_svg(self._figure))
        finally:
            self._style.__exit__(*error)

    def _as_html(self, svg: str) -> str:
        svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(self.description)}" ', 1)
        caption = f"<strong>{escape(self.title)}</strong> {escape(self.caption)}"
        return f'<figure class="lf-picture"><figcaption>{caption}</figcaption>{svg}</figure>'

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return f"<Picture: {self.title}>"


Parameters = ParamSpec("Parameters")


def from_any_device(draw: Callable[Parameters, Picture]) -> Callable[Parameters, Picture]:
    """The function, given its tensors on the CPU: matplotlib knows no other memory."""

    @wraps(draw)
    def drawn(*args: Parameters.args, **keywords: Parameters.kwargs) -> Picture:
        with torch.device("cpu"):
            return draw(*_on_the_cpu(args), **_on_the_cpu(keywords))

    return drawn


def _on_the_cpu(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.cpu()
    if isinstance(value, Mapping):
        return {name: _on_the_cpu(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_on_the_cpu(item) for item in value]
    return value
