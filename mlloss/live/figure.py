"""`LiveFigure`: a picture that follows its sliders, on a static page and in Jupyter alike.

Three computations of the same numbers meet here: PyTorch (`values`, which also draws the first picture), the
expression trees made of SymPy expressions (evaluated by the script on the page), and the tests that compare
them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from itertools import count
from pathlib import Path
from typing import Any, SupportsFloat

import anywidget
import numpy as np
import torch
import traitlets
from sympy import Expr, Symbol

from mlloss import default_device
from mlloss.live.artists import Artist, Number, Panel
from mlloss.live.controls import Control, controls_html
from mlloss.live.drawing import draw, raises
from mlloss.live.numbers import TICKS, format_number
from mlloss.live.style import colour, with_css_variables
from mlloss.live.tree import tree

SCRIPT = (Path(__file__).parent / "live-figure.js").read_text(encoding="utf-8")
STYLE_SHEET = (Path(__file__).parent / "live-figure.css").read_text(encoding="utf-8")
Twin = Callable[..., Mapping[str, Any]]
_serial = count(1)


@dataclass(frozen=True)
class Descent:
    """What one step of a descent adds to each control, such as minus a rate times a gradient."""

    velocities: Mapping[Symbol, Expr]

    def spec(self) -> dict[str, Any]:
        return {"velocities": {symbol.name: tree(change) for symbol, change in self.velocities.items()}}


class LiveFigure(anywidget.AnyWidget):
    """A figure whose curves, points, arrows and numbers follow sliders, choices and switches.

    Parameters
    ----------
    name, title, description : str
        The figure's name in the registry, its title, and what it shows in words, for those who cannot see it.
    controls, panels, artists : sequences
        See `mlloss.live.controls` and `mlloss.live.artists`. Expressions may use the controls' symbols, and
        curves the variable of their grid.
    twin : callable
        Takes the controls' values by name, as 0-d float64 tensors, and returns, computed with PyTorch, the
        numbers of every artist by name: a curve's ordinates, a point's (x, y), an arrow's (x, y, dx, dy), a
        number.
    caption : str
        A sentence or two: what to try.
    definitions : mapping of symbols to expressions
        Names for what several artists share; computed once, in this order.
    code : str
        Lines of Python that compute the figure's numbers, with `{name}` where a control's value goes.
    presets : mapping of words to settings
        Buttons that set the controls; those not named go to their start.
    descent : Descent
        Buttons for one step, and for running and pausing.

    In Jupyter `params` holds the controls' values and follows them; setting it moves the controls.
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
        controls: Sequence[Control],
        panels: Sequence[Panel],
        artists: Sequence[Artist],
        twin: Twin,
        caption: str = "",
        definitions: Mapping[Symbol, Expr] | None = None,
        code: str = "",
        presets: Mapping[str, Mapping[str, float]] | None = None,
        descent: Descent | None = None,
    ) -> None:
        self.name, self.title, self.description, self.caption = name, title, description, caption
        self.controls, self.panels, self.artists = tuple(controls), tuple(panels), tuple(artists)
        self.definitions, self.presets = dict(definitions or {}), dict(presets or {})
        self.code, self.descent = code, descent
        self._twin = twin
        self._check_names()
        super().__init__(params={control.name: control.value for control in self.controls})
        for setting in self.presets.values():
            self._checked(setting)
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
        present = self.params or {control.name: control.value for control in self.controls}
        return {**present, **self._checked(proposal["value"])}

    def _checked(self, params: Mapping[str, float]) -> dict[str, float]:
        controls = {control.name: control for control in self.controls}
        checked = {}
        for name, value in params.items():
            if name not in controls:
                known = ", ".join(controls)
                raise ValueError(f"figure {self.name!r} has no control {name!r}; its controls are {known}")
            checked[name] = _number(name, value)
            controls[name].check(checked[name])
        return checked

    def _check_names(self) -> None:
        symbols = [*(control.symbol for control in self.controls), *self.definitions]
        names = [artist.name for artist in self.artists] + [symbol.name for symbol in symbols]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"figure {self.name!r}: the names {twice} are used more than once")

    def _static_html(self) -> str:
        """The figure as HTML: complete without JavaScript, alive with it."""
        prefix = f"{self.name}-{next(_serial)}"
        values = self.values()
        svg, transforms = draw(self.panels, self.artists, values, prefix)
        for artist in self.artists:
            if artist.kind == "point" and not np.isfinite(values[artist.name]).all():
                svg = svg.replace(f'id="{prefix}-{artist.name}"', f'id="{prefix}-{artist.name}" hidden=""')
        role = "group" if any(getattr(artist, "drag", None) for artist in self.artists) else "img"
        svg = svg.replace("<svg ", f'<svg role="{role}" aria-label="{escape(self.description)}" ', 1)
        data = json.dumps(self._spec(prefix, transforms), ensure_ascii=False).replace("</", r"<\/")
        return (
            f'<live-figure name="{self.name}"><figure>'
            f"<figcaption><strong>{escape(self.title)}</strong> {escape(self.caption)}</figcaption>"
            f"{svg}{self._controls_html()}{self._numbers_html(values, prefix)}{self._code_html()}</figure>"
            f'<script type="application/json">{data}</script></live-figure>'
        )

    def _spec(self, prefix: str, transforms: list[Any]) -> dict[str, Any]:
        """What the script on the page needs to know."""
        return {
            "controls": [control.spec() for control in self.controls],
            "definitions": [[symbol.name, tree(value)] for symbol, value in self.definitions.items()],
            "artists": [
                {"name": artist.name, "kind": artist.kind, "id": f"{prefix}-{artist.name}", **artist.spec()}
                | ({} if isinstance(artist, Number) else {"axes": transforms[artist.panel]})
                for artist in self.artists
            ],
            "axes": [
                {
                    "low": panel.y[0],
                    "high": panel.y[1],
                    "artists": [artist.name for artist in self.artists if _stands(artist, index)],
                    "raised_by": [artist.name for artist in self.artists if raises(artist, index)],
                    "ticks": [f"{prefix}-axis-{index}-{i}" for i in range(TICKS + 1)],
                }
                for index, panel in enumerate(self.panels)
                if panel.follow
            ],
            **({"descent": self.descent.spec()} if self.descent else {}),
            **({"code": self.code} if self.code else {}),
        }

    def _numbers_html(self, values: Mapping[str, Any], prefix: str) -> str:
        rows = [_number_html(n, values[n.name], prefix) for n in self.artists if isinstance(n, Number)]
        return f'<dl class="lf-numbers">{"".join(rows)}</dl>' if rows else ""

    def _controls_html(self) -> str:
        controls = controls_html(self.controls)
        presets = "".join(
            f"<button type=\"button\" data-preset='{escape(json.dumps(setting))}'>{escape(word)}</button>"
            for word, setting in self.presets.items()
        )
        actions = {"step": "Step", "run": "Run"} if self.descent else {}
        buttons = "".join(
            f'<button type="button" data-action="{action}">{word}</button>'
            for action, word in {**actions, "link": "Link to this setting"}.items()
        )
        return (
            f'<form class="lf-controls" aria-label="Controls: {escape(self.title)}">{controls}'
            + (f'<p class="lf-buttons" role="group" aria-label="Examples">{presets}</p>' if presets else "")
            + f'<p class="lf-buttons">{buttons}<button type="reset">Reset</button></p>'
            '<p role="status"></p></form>'
        )

    def code_at(self, **params: float) -> str:
        """The lines of `code` with the controls' present values, or those given, filled in."""
        setting = {**self.params, **self._checked(params)}
        return re.sub(r"\{(\w+)\}", lambda match: f"{setting[match[1]]:.12g}", self.code)

    def _code_html(self) -> str:
        if not self.code:
            return ""
        return (
            '<details class="lf-code"><summary>See it in code</summary>'
            f'<pre tabindex="0"><code>{escape(self.code_at())}</code></pre>'
            '<button type="button" data-action="copy">Copy</button></details>'
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget for Jupyter, and the static HTML for a built page or a notebook without a kernel."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/html": self.html, "text/plain": f"<LiveFigure {self.name}>"}, metadata


def _stands(artist: Artist, index: int) -> bool:
    return not isinstance(artist, Number) and artist.panel == index


def _number(name: str, value: Any) -> float:
    """`value` as a float; text and whatever else is no single number is a ValueError."""
    with suppress(TypeError, ValueError):
        if isinstance(value, SupportsFloat):
            return float(value)
    raise ValueError(f"{name} = {value!r} is not a number")


def _number_html(number: Number, value: float, prefix: str) -> str:
    key = with_css_variables(colour(number.colour or "axis"))
    return (
        f'<div id="{prefix}-{number.name}" style="--lf-key:{key}"><dt>{escape(number.label)}</dt>'
        f"<dd>{format_number(value, number.digits)}</dd></div>"
    )


def _plain(value: Any) -> Any:
    """Tensors, nested or not, as plain floats."""
    if isinstance(value, torch.Tensor):
        return value.detach().double().tolist()
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return float(value)
