"""`LiveFigure`: a picture that follows its sliders, on a static page and in Jupyter alike.

Three computations of the same numbers meet here: PyTorch (`values`, which also draws the first picture), the
expression trees made of SymPy expressions (evaluated by the script on the page), and the tests that compare
them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import count
from pathlib import Path
from typing import Any

import anywidget
import torch
import traitlets

from mlloss import default_device
from mlloss.live.artists import Artist, Number, Panel, Point, Slider, format_number
from mlloss.live.drawing import draw
from mlloss.live.style import colour, with_css_variables

SCRIPT = (Path(__file__).parent / "live-figure.js").read_text(encoding="utf-8")
STYLE_SHEET = (Path(__file__).parent / "live-figure.css").read_text(encoding="utf-8")
Twin = Callable[..., Mapping[str, Any]]

_serial = count(1)


class LiveFigure(anywidget.AnyWidget):
    """A figure whose curves, points, arrows and numbers follow sliders.

    Parameters
    ----------
    name, title, description : str
        The figure's name in the registry, its title, and what it shows in words, for those who cannot see it.
    sliders, panels, artists : sequences
        See `mlloss.live.artists`. Expressions may use the sliders' symbols, and curves their grid's variable.
    twin : callable
        Takes the sliders' values by name, as 0-d float64 tensors, and returns, computed with PyTorch, the
        numbers of every artist by name: a curve's ordinates, a point's (x, y), an arrow's (x, y, dx, dy), a
        number. caption : str A sentence or two below the picture: what to try.

    In Jupyter `params` holds the sliders' values and follows them; setting it moves the sliders.
    """

    _esm = SCRIPT + "\nexport default { render: globalThis.renderLiveFigure };\n"
    _css = STYLE_SHEET
    html = traitlets.Unicode().tag(sync=True)
    params = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        name: str,
        *,
        title: str,
        description: str,
        sliders: Sequence[Slider],
        panels: Sequence[Panel],
        artists: Sequence[Artist],
        twin: Twin,
        caption: str = "",
    ) -> None:
        self.name, self.title, self.description, self.caption = name, title, description, caption
        self.sliders, self.panels, self.artists = tuple(sliders), tuple(panels), tuple(artists)
        self._twin = twin
        self._check_names()
        super().__init__(params={slider.name: slider.value for slider in sliders})
        self.html = self._static_html()

    def values(self, **params: float) -> dict[str, Any]:
        """The numbers of every artist, by PyTorch, at the present setting or at the one given.

        Lists of float for curves, points and arrows, a float for a number. A name or value that no slider has
        is a ValueError.
        """
        setting = {**self.params, **self._checked(params)}
        device = default_device()
        tensors = {
            name: torch.tensor(value, dtype=torch.float64, device=device) for name, value in setting.items()
        }
        computed = self._twin(**tensors)
        missing = {artist.name for artist in self.artists} ^ set(computed)
        if missing:
            raise ValueError(f"figure {self.name!r}: the twin and the artists differ in {sorted(missing)}")
        return {name: _plain(value) for name, value in computed.items()}

    @traitlets.validate("params")
    def _validate_params(self, proposal: Any) -> dict[str, float]:
        complete = {slider.name: slider.value for slider in self.sliders}
        return {**complete, **self._checked(proposal["value"])}

    def _checked(self, params: Mapping[str, float]) -> dict[str, float]:
        sliders = {slider.name: slider for slider in self.sliders}
        for name, value in params.items():
            if name not in sliders:
                raise ValueError(
                    f"figure {self.name!r} has no slider {name!r}; its sliders are {', '.join(sliders)}"
                )
            slider = sliders[name]
            if not slider.start <= value <= slider.stop:
                raise ValueError(f"{name} = {value} lies outside {slider.start} … {slider.stop}")
        return {name: float(value) for name, value in params.items()}

    def _check_names(self) -> None:
        names = [artist.name for artist in self.artists] + [slider.name for slider in self.sliders]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"figure {self.name!r}: the names {twice} are used more than once")

    def _static_html(self) -> str:
        """The figure as HTML: complete without JavaScript, alive with it."""
        prefix = f"{self.name}-{next(_serial)}"
        values = self.values()
        svg, transforms = draw(self.panels, self.artists, values, prefix)
        self._check_visible(svg, prefix)
        svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(self.description)}" ', 1)
        spec = {
            "sliders": [slider.spec() for slider in self.sliders],
            "artists": [self._artist_spec(artist, prefix, transforms) for artist in self.artists],
        }
        data = json.dumps(spec, ensure_ascii=False).replace("</", r"<\/")
        return (
            f'<live-figure name="{self.name}"><figure>'
            f"<figcaption><strong>{escape(self.title)}</strong> {escape(self.caption)}</figcaption>"
            f"{svg}{self._controls_html()}{self._numbers_html(values)}</figure>"
            f'<script type="application/json">{data}</script></live-figure>'
        )

    def _check_visible(self, svg: str, prefix: str) -> None:
        """The script moves what it finds in the picture, so every artist must be in it from the start."""
        for artist in self.artists:
            if isinstance(artist, Number):
                continue
            group = svg.partition(f'id="{prefix}-{artist.name}"')[2].partition("</g>")[0]
            if not re.search(r"<use " if isinstance(artist, Point) else r'<path d="M', group):
                raise ValueError(f"figure {self.name!r}: nothing of {artist.name!r} is visible at the start")

    @staticmethod
    def _artist_spec(artist: Artist, prefix: str, transforms: list[Any]) -> dict[str, Any]:
        spec = {"name": artist.name, "kind": artist.kind, **artist.spec()}
        if not isinstance(artist, Number):
            spec |= {"id": f"{prefix}-{artist.name}", "axes": transforms[artist.panel]}
        return spec

    def _numbers_html(self, values: Mapping[str, Any]) -> str:
        rows = [_number_html(n, values[n.name]) for n in self.artists if isinstance(n, Number)]
        return f'<dl class="lf-numbers">{"".join(rows)}</dl>' if rows else ""

    def _controls_html(self) -> str:
        rows = "".join(map(_slider_html, self.sliders))
        return (
            f'<form class="lf-controls" aria-label="Controls: {escape(self.title)}">{rows}'
            '<button type="reset">Reset</button><p role="status"></p></form>'
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget for Jupyter, and the static HTML for a built page or a notebook without a kernel."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/html": self.html, "text/plain": f"<LiveFigure {self.name}>"}, metadata


def _number_html(number: Number, value: float) -> str:
    key = with_css_variables(colour(number.colour or "axis"))
    return (
        f'<div style="--lf-key:{key}"><dt>{escape(number.label)}</dt>'
        f'<dd data-artist="{number.name}">{format_number(value, number.digits)}</dd></div>'
    )


def _slider_html(slider: Slider) -> str:
    shown = format_number(slider.value, slider.digits) + (slider.unit and f" {slider.unit}")
    return (
        f"<label><span>{escape(slider.label)}</span>"
        f'<input type="range" name="{slider.name}" min="{slider.start}" max="{slider.stop}" '
        f'step="{slider.step}" value="{slider.value}" autocomplete="off">'
        f'<span class="lf-value" data-slider="{slider.name}" aria-hidden="true">{escape(shown)}</span></label>'
    )


def _plain(value: Any) -> Any:
    """Tensors, nested or not, as plain floats."""
    if isinstance(value, torch.Tensor):
        return value.detach().double().tolist()
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return float(value)
