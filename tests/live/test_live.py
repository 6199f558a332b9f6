"""Live figures in Python: their expression trees, their PyTorch twins, and what is refused."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
import torch
from sympy import symbols

from mlloss.figures import REGISTRY
from mlloss.live import (
    Area,
    Arrow,
    Bars,
    Choice,
    Contours,
    Curve,
    Grid,
    Label,
    LiveFigure,
    Number,
    Panel,
    Picture,
    Plane,
    Point,
    Slider,
    Switch,
    Trace,
)
from mlloss.live.artists import format_number
from mlloss.live.style import COLOURS, ROLES, colour
from mlloss.live.tree import OPERATIONS, tree
from mlloss.symbolic import evaluate, logsumexp, sigmoid, softplus
from tests import pretend

PICKS: list[Any] = [lambda c: c.ends()[0], lambda c: c.ends()[-1], lambda c: c.value]
LIVE = Path(__file__).parents[2] / "mlloss" / "live"
x, w, z = symbols("x w z", real=True)


def tiny(**changes: Any) -> LiveFigure:
    """A figure of one slider and one of each artist."""
    grid = Grid(x, -1, 1, count=3)
    arguments: dict[str, Any] = {
        "title": "Tiny.",
        "description": "A line through a dot.",
        "controls": [Slider(z, "z", -2, 2, 1, step=0.5)],
        "panels": [Panel((-3, 3), (-3, 3))],
        "artists": [
            Curve("line", x * z, grid, "blue", "line"),
            Point("dot", z, z**2 / 2, "vermilion"),
            Arrow("arrow", 0 * z, 0 * z, z, -z, "green"),
            Number("square", z**2, "z²"),
        ],
        "twin": lambda z: {
            "line": grid.points() * z,
            "dot": [z, z**2 / 2],
            "arrow": [0 * z, 0 * z, z, -z],
            "square": z**2,
        },
    }
    return LiveFigure("tiny", **{**arguments, **changes})


def with_definitions(figure: LiveFigure, params: dict[str, float]) -> dict[Any, Any]:
    """The controls' symbols and the figure's definitions, with their values."""
    setting: dict[Any, Any] = {c.symbol: params[c.name] for c in figure.controls}
    for symbol, value in figure.definitions.items():
        setting[symbol] = evaluate(value, setting)
    return setting


def numbers_of(artist: Any, setting: dict[Any, float]) -> Iterator[tuple[int, mpmath.mpf]]:
    """Some of the artist's numbers, by index, from its SymPy expressions at 50 digits."""
    if isinstance(artist, Curve):
        points = artist.grid.points().tolist()
        for i in (0, len(points) // 3, len(points) // 2, len(points) - 1):
            yield i, evaluate(artist.y, {**setting, artist.grid.variable: points[i]})
    elif isinstance(artist, Number | Trace):
        yield 0, evaluate(artist.value, setting)
    elif isinstance(artist, Bars):
        for i, height in enumerate(artist.heights):
            yield i, evaluate(height, setting)
    elif isinstance(artist, Area):
        points = artist.grid.points().tolist()
        for part, tree_ in ((0, artist.low), (len(points), artist.high)):
            for i in (0, len(points) // 3, len(points) - 1):
                yield part + i, evaluate(tree_, {**setting, artist.grid.variable: points[i]})
    elif isinstance(artist, Contours | Plane):
        xs, ys = artist.x_grid.points().tolist(), artist.y_grid.points().tolist()
        for i, j in ((0, 0), (len(ys) // 2, len(xs) // 3), (len(ys) - 1, len(xs) - 1)):
            place = {artist.x_grid.variable: xs[j], artist.y_grid.variable: ys[i]}
            yield i * len(xs) + j, evaluate(artist.z, {**setting, **place})
    elif isinstance(artist, Label):
        yield 0, evaluate(artist.x, setting)
        yield 1, evaluate(artist.y, setting)
        if artist.value is not None:
            yield 2, evaluate(artist.value, setting)
    else:
        parts = ("x", "y") if isinstance(artist, Point) else ("x", "y", "dx", "dy")
        for i, part in enumerate(parts):
            yield i, evaluate(getattr(artist, part), setting)


@pytest.mark.parametrize("name", REGISTRY)
def test_code_runs_and_computes_the_numbers_shown(name: str) -> None:
    """They run as they stand, and what they name like a number of the figure is that number."""
    figure = REGISTRY[name]()
    generator = random.Random(name)
    for params in [{}, {c.name: c.sample(generator) for c in figure.controls}]:
        names: dict[str, Any] = {}
        exec(figure.code_at(**params), names)
        values = figure.values(**params)
        shared = [a.name for a in figure.artists if isinstance(a, Number) and a.name in names]
        assert shared, "the code computes none of the figure's numbers by name"
        for number in shared:
            computed = torch.as_tensor(names[number], dtype=torch.float64).item()
            assert computed == pytest.approx(values[number], rel=1e-9, abs=1e-12, nan_ok=True), number


@pytest.mark.parametrize("name", REGISTRY)
def test_pytorch_agrees_with_sympy(name: str) -> None:
    """At random settings and at the ends of every slider, the twin computes what the expressions say."""
    figure = REGISTRY[name]()
    generator = random.Random(name)
    ends = [{c.name: pick(c) for c in figure.controls} for pick in PICKS]
    middle = [{c.name: c.sample(generator) for c in figure.controls} for _ in range(5)]
    for params in ends + middle:
        values = figure.values(**params)
        setting = with_definitions(figure, params)
        for artist in figure.artists:
            computed = np.atleast_1d(values[artist.name])
            for i, expected in numbers_of(artist, setting):
                assert computed[i] == pytest.approx(float(expected), rel=1e-9, abs=1e-12, nan_ok=True), (
                    artist.name
                )


@pytest.mark.parametrize("name", REGISTRY)
def test_the_device_changes_no_number(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = REGISTRY[name]().values()
    monkeypatch.setenv("MLLOSS_DEVICE", pretend.NAME)
    for artist, values in REGISTRY[name]().values().items():
        np.testing.assert_allclose(
            np.asarray(values), np.asarray(expected[artist]), rtol=1e-12, err_msg=artist
        )


def test_softmax_focal_loss_has_no_value_but_for_a_single_label() -> None:
    playground = REGISTRY["playground"]()
    for setting in {"state2": 1}, {"state1": 0}:
        assert np.isnan(playground.values(loss_a=3, **setting)["value_a"])
    assert playground.values(loss_a=3)["value_a"] > 0


def test_lines_need_no_name() -> None:
    plane = Grid(x, -1, 1, count=5), Grid(w, -1, 1, count=5)
    lines = Contours("lines", x * w, *plane, [0.5], "purple")
    figure = tiny(artists=[lines], twin=lambda z: {"lines": [0.0] * 25})
    assert "lines" in figure.html
    assert "legend" not in figure.html


def test_the_registry_names_its_figures() -> None:
    assert all(make().name == name for name, make in REGISTRY.items())


def test_a_tree_is_numbers_names_and_operations() -> None:
    assert tree(sympy.pi * 2) == pytest.approx(6.283185307179586)
    assert tree(z) == "z"
    assert tree(-sympy.oo) == ["log", 0]
    assert tree(sympy.nan) == ["log", -1]
    assert tree(sympy.Piecewise((z, z > 0), (x, True))) == ["where", "z", ["gt", "z", 0], "x", 1]
    assert tree(sympy.Rational(1, 2)) == 0.5
    assert tree(logsumexp(z, x, 0)) == ["logsumexp", "z", "x", 0]
    assert json.loads(json.dumps(tree(softplus(z) * sigmoid(-z)))) == tree(softplus(z) * sigmoid(-z))


def test_an_unknown_operation_is_refused_when_the_figure_is_made() -> None:
    with pytest.raises(ValueError, match="cannot compute gamma"):
        tiny(artists=[Number("square", sympy.gamma(z), "Γ(z)")], twin=lambda z: {"square": z})


@pytest.mark.parametrize("value", [sympy.I, sympy.zoo])
def test_a_number_that_is_not_finite_and_real_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="cannot compute"):
        tree(value)


def test_page_and_python_know_the_same_operations() -> None:
    script = (LIVE / "live-figure.js").read_text()
    body = re.search(r"const OPERATIONS = \{(.*?)\n  \};", script, re.DOTALL)
    assert body
    known = re.findall(r"^    (\w+)(?::|,$)", body[1], re.MULTILINE)
    assert sorted(known) == sorted(OPERATIONS.values())


def test_values_come_at_the_present_setting_or_at_another() -> None:
    figure = tiny()
    assert figure.values() == {"line": [-1, 0, 1], "dot": [1, 0.5], "arrow": [0, 0, 1, -1], "square": 1}
    assert figure.values(z=2)["square"] == 4
    assert figure.params == {"z": 1}
    figure.params = {"z": -1.25}
    assert figure.values()["square"] == 1.5625


@pytest.mark.parametrize("value", [2, np.float32(2), np.int64(2), np.array(2.0), torch.tensor(2)])
def test_every_kind_of_number_is_a_setting(value: Any) -> None:
    figure = tiny()
    figure.params = {"z": value}
    assert json.dumps(figure.params) == '{"z": 2.0}'
    assert figure.values()["square"] == figure.values(z=value)["square"] == 4


def test_a_change_of_one_slider_keeps_the_others() -> None:
    figure = REGISTRY["tug-of-war"]()
    figure.params = {"p1": 2}
    assert figure.params == {"p1": 2, "n1": 1.5, "n2": -1.5}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"q": 1}, "no control 'q'; its controls are z"),
        ({"z": 3}, "outside -2 … 2"),
        ({"z": np.nan}, "outside"),
        ({"z": "1"}, "z = '1' is not a number"),
        ({"z": None}, "not a number"),
        ({"z": [1]}, "not a number"),
        ({"z": np.array([1, 1])}, "not a number"),
        ({"z": torch.ones(2)}, "not a number"),
    ],
)
def test_a_wrong_setting_is_refused(params: dict[str, Any], message: str) -> None:
    figure = tiny()
    with pytest.raises(ValueError, match=message):
        figure.values(**params)
    with pytest.raises(ValueError, match=message):
        figure.params = params
    assert figure.params == {"z": 1}


def test_choices_and_switches_refuse_what_they_do_not_have() -> None:
    choice, switch = Choice(z, "z", {"one": 1, "two": 2}, 1), Switch(z, "z")
    choice.check(2)
    switch.check(1)
    with pytest.raises(ValueError, match=r"z = 3 is not one of 1 \(one\), 2 \(two\)"):
        choice.check(3)
    with pytest.raises(ValueError, match="z = 2 is neither 0"):
        switch.check(2)


def test_what_an_author_gets_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="used more than once"):
        tiny(artists=[Number("z", z, "z")])
    with pytest.raises(ValueError, match=r"twin and the artists differ in \['square'\]"):
        tiny(artists=[Number("square", z, "z")], twin=lambda z: {})
    with pytest.raises(ValueError, match="lies outside"):
        Slider(z, "z", 0, 1, 2)
    with pytest.raises(ValueError, match="no colour for 'pink'"):
        colour("pink")


def test_the_picture_is_complete_html() -> None:
    html = tiny().html
    assert html.startswith('<live-figure name="tiny">')
    assert 'role="img" aria-label="A line through a dot."' in html
    assert '<input type="range" name="z" min="-2" max="2" step="0.5" value="1"' in html
    assert not re.search(r"<\?xml|<!DOCTYPE|<metadata|<style|xmlns", html)
    assert not re.search(r'="[^"]*#[0-9a-f]{6}(?!\))', html), "a colour that does not follow the theme"


def test_two_copies_on_one_page_share_no_id() -> None:
    first, second = (set(re.findall(r'id="([^"]+)"', tiny().html)) for _ in range(2))
    assert first
    assert not first & second


def test_text_is_escaped() -> None:
    html = tiny(title="a < b & c", description='"quoted"').html
    assert "a &lt; b &amp; c" in html
    assert "&quot;quoted&quot;" in html


def test_the_bundle_has_a_widget_and_html() -> None:
    data, _ = tiny()._repr_mimebundle_()
    assert data["text/html"].startswith("<live-figure")
    assert data["text/plain"] == "<LiveFigure tiny>"
    assert "application/vnd.jupyter.widget-view+json" in data


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0, 2, "0.00"),
        (-1.5, 1, "−1.5"),
        (0.001, 3, "0.001"),
        (0.0004, 3, "4.00 × 10⁻⁴"),
        (-2.5e7, 3, "−2.50 × 10⁷"),
        (float("-inf"), 3, "−∞"),
        (float("nan"), 3, "undefined"),
    ],
)
def test_numbers_are_written_so(value: float, digits: int, text: str) -> None:
    assert format_number(value, digits) == text


def test_an_axis_that_follows_has_room_for_the_first_picture() -> None:
    panels = [Panel((-1, 1), (0, 1), follow=True)]
    figure = tiny(controls=[Slider(z, "z", -30, 30, 25)], panels=panels)
    words = re.findall(r'-axis-0-\d">.*?>([^<]+)</text>', figure.html, re.DOTALL)
    assert words == ["0", "10", "20", "30", "40"]
    (axis,) = json.loads(re.search(r"<script[^>]*>(.*)</script>", figure.html)[1])["axes"]
    assert axis["raised_by"] == ["line"]
    assert axis["artists"] == ["line", "dot", "arrow"]


def test_colours_stand_out() -> None:
    """3:1 or better against the page, light and dark (WCAG 1.4.11); the grid is meant to recede."""
    css = (LIVE / "live-figure.css").read_text()
    light, dark = (dict(re.findall(r"--lf-(\w+): (#\w{6});", block)) for block in css.split("}")[:2])
    assert light == COLOURS
    assert light.keys() == dark.keys()
    assert set(ROLES.values()) <= light.keys()
    for name in light.keys() - {"grid"}:
        assert contrast(light[name], "#ffffff") >= 3
        assert contrast(dark[name], "#121212") >= 3


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(shade: str) -> float:
    channels = [int(shade[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_picture_has_words_for_it_and_follows_the_theme() -> None:
    with Picture("A rising line.", title="Rise.", caption="It rises.") as picture:
        picture.axes[0].plot([0, 1], [0, 1], color=colour("blue"))
    html = picture._repr_html_()
    assert 'aria-label="A rising line."' in html
    assert "var(--lf-blue," in html


def test_a_picture_lets_errors_through() -> None:
    with pytest.raises(ZeroDivisionError), Picture("Nothing.", title="None."):
        raise ZeroDivisionError
