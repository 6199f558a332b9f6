"""Live figures on the built pages: right at every setting, alive, and usable by everyone."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup
from PIL import Image
from playwright.sync_api import Locator

from mlloss.figures import REGISTRY
from mlloss.live import Choice, LiveFigure, Slider, Switch

BOOK = Path(__file__).parents[2] / "_build" / "html" / "book"
Open = Callable[..., Any]
# Sets a native control as a reader's hand would.
MOVE = """(control, [value, options]) => {
    if (control.type === "checkbox") control.checked = value === 1;
    else if (control.type === "select-one") control.selectedIndex = options.indexOf(value);
    else control.value = value;
    control.dispatchEvent(new Event("input", {bubbles: true}));
    control.dispatchEvent(new Event("change", {bubbles: true}));
}"""
# Puts back what the page's file has, in the page as it now stands.
RESTORE = """async figure => {
    const file = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
    const original = file.querySelector(`live-figure[name="${figure.getAttribute("name")}"]`);
    for (const part of ["svg", ".lf-numbers"]) {
        figure.querySelector(part)?.replaceWith(original.querySelector(part));
    }
}"""
# All elements of a picture with their attributes in a fixed order, and their text.
PICTURE = """svg => [svg, ...svg.querySelectorAll("*")].map(element => [
    element.localName,
    ...[...element.attributes].map(({name, value}) => `${name}=${value}`).sort(),
    element.children.length ? "" : element.textContent,
].join(" ")).join("|")"""
every_figure = pytest.mark.parametrize("name", REGISTRY)


@cache
def page_of() -> dict[str, str]:
    """The page on which each live figure stands, by the figure's name."""
    return {
        tag["name"]: f"book/{page.name}"
        for page in sorted(BOOK.glob("*.html"))
        for tag in BeautifulSoup(page.read_text(), "html.parser").find_all("live-figure")
    }


@cache
def figure_of(name: str) -> LiveFigure:
    return REGISTRY[name]()


@pytest.fixture
def find(visit: Open, site_url: str) -> Callable[..., Locator]:
    """The live figure of that name on its page."""

    def find_figure(name: str, **options: Any) -> Locator:
        page = visit(site_url + page_of()[name], **options).page
        figure = page.locator(f'live-figure[name="{name}"]')
        for group in figure.locator("form details").all():
            group.evaluate("details => { details.open = true; }")
        return figure

    return find_figure


def state(figure: Locator) -> tuple[str, str, list[str]]:
    """Everything that a control can change: the picture, the numbers, the values beside the sliders."""
    svg = figure.locator("svg").evaluate(PICTURE)
    numbers = figure.locator(".lf-numbers").evaluate_all("lists => lists.map(l => l.textContent).join()")
    return svg, numbers, figure.locator(".lf-value").all_text_contents()


def pixels(element: Locator) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(element.screenshot())).convert("RGB"), dtype=float)


def assert_same(drawn: dict[str, Any], computed: dict[str, Any]) -> None:
    assert drawn.keys() == computed.keys()
    for name, expected in computed.items():
        np.testing.assert_allclose(drawn[name], expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_every_figure_of_the_registry_is_on_a_page() -> None:
    assert page_of().keys() == REGISTRY.keys()


@every_figure
def test_page_agrees_with_pytorch(find: Callable[..., Locator], name: str) -> None:
    """At the start, at the ends of every control, and at 50 random settings."""
    element, figure = find(name), figure_of(name)
    generator = random.Random(name)
    start = {c.name: c.value for c in figure.controls}
    settings = [start]
    settings += [{**start, c.name: end} for c in figure.controls for end in c.ends()]
    settings += [{c.name: c.sample(generator) for c in figure.controls} for _ in range(50)]
    drawn = element.evaluate(
        "(figure, settings) => settings.map(setting => { figure.set(setting); return figure.values; })",
        settings,
    )
    for setting, values in zip(settings, drawn, strict=True):
        assert_same(values, figure.values(**setting))


@every_figure
def test_first_picture_is_the_one_that_the_script_draws(find: Callable[..., Locator], name: str) -> None:
    """What matplotlib drew with PyTorch's numbers does not move when the script takes over."""
    figure = find(name)
    figure.evaluate("figure => figure.set({})")
    after, numbers = pixels(figure.locator("svg")), figure.locator(".lf-numbers").all_text_contents()
    figure.evaluate(RESTORE)
    before = pixels(figure.locator("svg"))
    assert before.shape == after.shape
    assert np.abs(before - after).mean() < 0.5  # of 255: coordinates are rounded to a hundredth of a point
    assert figure.locator(".lf-numbers").all_text_contents() == numbers


@every_figure
def test_every_control_changes_its_figure_and_returns(find: Callable[..., Locator], name: str) -> None:
    """Each native control, moved to another value and back by the browser's events, where it has a say.

    A parameter of a loss has none while another loss is chosen: then a preset of the figure shows its work.
    """
    figure, python = find(name), figure_of(name)
    start = {c.name: c.value for c in python.controls}
    for control in python.controls:
        alive = [
            changes_and_returns(figure, control, {**start, **setting})
            for setting in ({}, *python.presets.values())
        ]
        if python.descent and not any(alive):
            alive = [changes_a_step(figure, control)]
        assert any(alive), control.name


def changes_and_returns(figure: Locator, control: Any, setting: dict[str, float]) -> bool:
    element = figure.locator(f'form [name="{control.name}"]')
    figure.evaluate("(figure, setting) => figure.set(setting)", setting)
    before, value = state(figure), setting[control.name]
    element.evaluate(MOVE, [next(end for end in control.ends() if end != value), control.ends()])
    moved = picture(state(figure)) != picture(before)
    element.evaluate(MOVE, [value, control.ends()])
    assert state(figure) == before, control.name
    return moved


def picture(shown: tuple[str, str, list[str]]) -> tuple[str, str]:
    """The state without the values beside the sliders, which a slider without effect moves too."""
    return shown[:2]


def changes_a_step(figure: Locator, control: Any) -> bool:
    """Whether a step of the descent goes elsewhere at another value of the control."""
    places = []
    for value in control.ends()[:2]:
        figure.get_by_role("button", name="Reset").click()
        figure.locator(f'form [name="{control.name}"]').evaluate(MOVE, [value, control.ends()])
        figure.get_by_role("button", name="Step").click()
        places.append(picture(state(figure)))
    return places[0] != places[1]


@every_figure
def test_keyboard_alone_operates_everything(find: Callable[..., Locator], name: str) -> None:
    """Tab reaches every control, keys change it, and Reset brings all back."""
    figure = find(name)
    figure.evaluate("figure => figure.set({})")
    start = state(figure)
    keyboard = figure.page.keyboard
    figure.locator("form [name]").first.focus()
    for control in figure_of(name).controls:
        if figure.page.evaluate("document.activeElement.localName") == "summary":  # of a group
            keyboard.press("Tab")
        assert figure.page.evaluate("document.activeElement.name") == control.name
        before = figure.evaluate("figure => figure.params")[control.name]
        keyboard.press("Space" if isinstance(control, Switch) else "Home")
        if figure.evaluate("figure => figure.params")[control.name] == before:
            keyboard.press("ArrowRight" if isinstance(control, Slider) else "ArrowDown")
        assert figure.evaluate("figure => figure.params")[control.name] != before, control.name
        keyboard.press("Tab")
    figure.get_by_role("button", name="Reset").focus()
    keyboard.press("Enter")
    assert state(figure) == start


@every_figure
def test_every_control_has_a_name(find: Callable[..., Locator], name: str) -> None:
    figure = find(name)
    roles: dict[type, Any] = {Slider: "slider", Choice: "combobox", Switch: "switch"}
    for control in figure_of(name).controls:
        assert figure.get_by_role(roles[type(control)], name=control.label, exact=True).count() >= 1
    assert figure.locator("svg").get_attribute("aria-label") == figure_of(name).description


def test_numbers_are_announced_when_a_slider_rests(find: Callable[..., Locator]) -> None:
    figure = find("tug-of-war")
    status = figure.get_by_role("status")
    figure.locator("input").first.evaluate("s => { s.value = 2; s.dispatchEvent(new Event('input')); }")
    assert status.text_content() == ""
    figure.locator("input").first.fill("3")
    assert "cross-entropy: " in (status.text_content() or "")


def test_a_wrong_setting_is_an_error_and_changes_nothing(find: Callable[..., Locator]) -> None:
    figure = find("tug-of-war")
    start = state(figure)
    for setting in ({"q": 1}, {"p1": 99}, {"p1": "far"}, {"n1": 2, "p1": None}):
        message = figure.evaluate(
            "(f, setting) => { try { f.set(setting); } catch (error) { return error.message; } }", setting
        )
        assert "no control" in message or "outside" in message
        assert state(figure) == start


@every_figure
def test_without_javascript_there_is_no_dead_slider(find: Callable[..., Locator], name: str) -> None:
    figure = find(name, java_script_enabled=False)
    assert figure.locator("svg").is_visible()
    assert not figure.locator("input").first.is_visible()


@pytest.mark.parametrize("width", [360, 1280])
@every_figure
def test_text_is_large_enough_to_read(find: Callable[..., Locator], name: str, width: int) -> None:
    """Drawn text is at least 9 px high on a phone."""
    sizes = (
        find(name, width=width)
        .locator("svg text")
        .evaluate_all(
            """texts => texts.map(text => parseFloat(getComputedStyle(text).fontSize)
            * text.ownerSVGElement.getScreenCTM().a)"""
        )
    )
    assert min(sizes) >= 9


def test_figures_are_alive_soon_and_quick(
    visit: Open, site_url: str, record_time: Callable[[str, float], None]
) -> None:
    """Reported, not judged: milliseconds from the parsed document to living figures, and of one update."""
    for name, page_name in page_of().items():
        page = visit(site_url + page_name).page
        figure = page.locator(f'live-figure[name="{name}"]')
        update = figure.evaluate(
            """figure => {
                figure.set({});
                const slider = figure.querySelector("input[type=range]");
                const times = [];
                for (let i = 0; i < 200; i++) {
                    slider.value = i % 2 ? slider.min : slider.max;
                    const begin = performance.now();
                    slider.dispatchEvent(new Event("input"));
                    times.push(performance.now() - begin);
                }
                return times.sort((a, b) => a - b)[100];
            }"""
        )
        record_time(f"one update of {name}", update)
        assert update > 0
        alive = page.evaluate(
            """() => performance.getEntriesByName("live-figure").at(-1).startTime
                - performance.getEntriesByType("navigation")[0].domInteractive"""
        )
        record_time(f"{name} alive after the document was parsed", alive)
