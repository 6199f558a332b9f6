"""The front end of live figures by itself: every artist and control, on a page that holds nothing else."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from io import BytesIO
from typing import Any

import gallery
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page

from mlloss.live.figure import SCRIPT, STYLE_SHEET, LiveFigure

HTML = (
    '<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8">'
    "<title>Figure</title><style>{}</style>"
)


@pytest.fixture(scope="module")
def figure() -> LiveFigure:
    return gallery.gallery()


@pytest.fixture
def load(chromium: Browser) -> Any:
    """Opens a blank page that holds the given figures: `load(figure, copies=1, script=True, …)`."""
    contexts = []

    def open_page(figure: LiveFigure, copies: int = 1, script: bool = True, **options: Any) -> Page:
        context = chromium.new_context(viewport={"width": 700, "height": 1400}, **options)
        contexts.append(context)
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_content(HTML.format(STYLE_SHEET) + figure.html * copies)
        if script:
            page.add_script_tag(content=SCRIPT)
            page.wait_for_function("performance.getEntriesByName('live-figure').length > 0")
        assert errors == []
        return page

    yield open_page
    for context in contexts:
        context.close()


Load = Callable[..., Page]


def element(page: Page) -> Locator:
    return page.locator("live-figure").first


def params(page: Page) -> dict[str, float]:
    return element(page).evaluate("figure => figure.params")


def pixels(page: Page) -> np.ndarray:
    shot = element(page).locator("svg").screenshot()
    return np.asarray(Image.open(BytesIO(shot)).convert("RGB"), dtype=float)


def test_every_artist_agrees_with_pytorch(load: Load, figure: LiveFigure) -> None:
    page, generator = load(figure), random.Random(1)
    for _ in range(50):
        setting = {c.name: c.sample(generator) for c in figure.controls}
        drawn = element(page).evaluate("(figure, s) => { figure.set(s); return figure.values; }", setting)
        computed = figure.values(**setting)
        assert drawn.keys() == computed.keys()
        for name, expected in computed.items():
            np.testing.assert_allclose(drawn[name], expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_script_draws_what_matplotlib_drew(load: Load, figure: LiveFigure) -> None:
    before, after = pixels(load(figure, script=False)), pixels(load(figure))
    assert before.shape == after.shape
    assert np.abs(before - after).mean() < 1  # of 255; contours are cut into other segments


def test_script_draws_another_setting_as_matplotlib_does(load: Load, figure: LiveFigure) -> None:
    setting = {"a": -1.25, "b": 0.5, "shape": 1, "lifted": 1}
    page = load(figure)
    element(page).evaluate("(figure, s) => figure.set(s)", setting)
    other = gallery.gallery()
    other.params = setting
    other.html = other._static_html()
    assert np.abs(pixels(load(other, script=False)) - pixels(page)).mean() < 1


def test_native_controls_set_their_values(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    page.get_by_label("place a").fill("-1.5")
    page.get_by_label("shape").select_option("line")
    page.get_by_label("lifted").check()
    assert params(page) == {"a": -1.5, "b": -0.5, "shape": 1, "lifted": 1}
    assert page.get_by_label("place b").get_attribute("aria-valuetext") == "−0.5 m"
    page.get_by_role("button", name="Reset").click()
    assert params(page) == figure.params
    assert page.get_by_label("shape").input_value() == "1"
    assert not page.get_by_label("lifted").is_checked()


@pytest.mark.parametrize(
    "setting", [{"shape": 3}, {"lifted": 0.5}, {"a": float("inf")}, {"b": "1"}, {"half": 1}, {"a": None}]
)
def test_what_does_not_fit_is_refused(load: Load, figure: LiveFigure, setting: dict[str, Any]) -> None:
    page = load(figure)
    message = element(page).evaluate(
        "(figure, s) => { try { figure.set(s); } catch (error) { return error.message; } }", setting
    )
    assert next(iter(setting)) in message
    assert params(page) == figure.params


def test_a_point_is_dragged(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    box = page.locator(".lf-handle").bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y - 40, steps=4)
    page.mouse.up()
    moved = params(page)
    assert moved["a"] < 0.8
    assert moved["b"] > -0.3
    assert moved["a"] == pytest.approx(round(moved["a"], 1))
    page.mouse.move(x + 500, y)
    assert params(page) == moved


def test_a_finger_need_not_hit_a_point_in_its_middle(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    box = page.locator(".lf-handle").bounding_box()
    assert box
    assert min(box["width"], box["height"]) >= 24
    x, y = box["x"] + 3, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y)
    page.mouse.up()
    assert params(page)["a"] < 0.8


def test_other_buttons_and_the_browsers_keys_move_no_point(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    handle = page.locator(".lf-handle")
    handle.hover()
    page.mouse.down(button="right")
    page.mouse.move(300, 300)
    page.mouse.up(button="right")
    handle.press("Alt+ArrowUp")
    handle.press("Control+ArrowLeft")
    assert params(page) == figure.params


def test_between_steps_a_slider_shows_the_decimals_of_a_step(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    element(page).evaluate("figure => figure.set({a: 0.0123, b: -0.04})")
    assert page.locator(".lf-value").all_text_contents() == ["0.0", "0.0 m"]
    assert page.locator(".lf-handle").get_attribute("aria-valuetext") == "0.0, 0.0"


def test_a_point_is_moved_by_arrow_keys(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    page.get_by_role("slider", name="the dot").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert params(page) == {**figure.params, "a": 0.9, "b": -0.3}
    assert page.get_by_role("slider", name="the dot").get_attribute("aria-valuenow") == "0.9"


def test_home_and_end_move_a_point_to_its_ends(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    handle = page.get_by_role("slider", name="the dot")
    handle.press("End")
    assert params(page) == {**figure.params, "a": 2}
    handle.press("Home")
    assert params(page) == {**figure.params, "a": -2}
    assert handle.get_attribute("aria-valuetext") == "−2.0, −0.5"


@pytest.mark.parametrize(
    ("a", "b", "labels"), [(1, -0.5, "0 0.5 1 1.5 2"), (-1.5, 1.25, "0 1 2 3 4"), (2, -2, "0 2 4 6 8")]
)
def test_an_axis_follows_what_is_drawn_and_comes_back(
    load: Load, figure: LiveFigure, a: float, b: float, labels: str
) -> None:
    page = load(figure)
    numbers, course = page.locator('svg [id*="-axis-2-"] text'), page.locator('svg [id$="-trace"] path')
    start = numbers.all_text_contents(), course.get_attribute("d")
    element(page).evaluate("(figure, s) => figure.set(s)", {"a": a, "b": b})
    assert numbers.all_text_contents() == labels.split()
    specification = json.loads(page.locator("script[type='application/json']").text_content())
    foot, head = next(
        artist["axes"]["ends"] for artist in specification["artists"] if artist["name"] == "trace"
    )
    height = foot + (head - foot) * (a**2 + b**2) / float(labels.split()[-1])
    assert float(re.split("[ LM]", course.get_attribute("d"))[-1]) == pytest.approx(height, abs=0.01)
    element(page).evaluate("figure => figure.reset()")
    assert (numbers.all_text_contents(), course.get_attribute("d")) == start
    assert start[0] == ["0", "0.5", "1", "1.5", "2"]


def test_presets_set_some_controls_and_the_start_the_others(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    page.get_by_label("lifted").check()
    page.get_by_role("button", name="far away").click()
    assert params(page) == {"a": 2, "b": 2, "shape": 2, "lifted": 0}


def test_descent_steps(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    for _ in range(3):
        page.get_by_role("button", name="Step").click()
    assert params(page)["a"] == pytest.approx(0.9**3, abs=1e-12)
    course = element(page).evaluate("figure => figure.values.trace")
    assert course == pytest.approx([1.25 * 0.81**i for i in range(4)])
    element(page).evaluate("figure => figure.set({a: 1})")
    assert len(element(page).evaluate("figure => figure.values.trace")) == 1


def test_a_course_stays_at_its_steps_when_its_axis_ends(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    page.get_by_role("button", name="Step").evaluate(
        "button => { for (let i = 0; i < 101; i++) button.click(); }"
    )
    course = element(page).evaluate("figure => figure.values.trace")
    assert course == pytest.approx([1.25 * 0.81**i for i in range(100)], abs=1e-5)


def test_descent_runs_pauses_and_ends(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name="Pause").click()
    paused = params(page)["a"]
    page.wait_for_timeout(100)
    assert params(page)["a"] == paused
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name="Run").wait_for(timeout=10_000)
    assert abs(params(page)["a"]) < 0.01


def test_descent_flies_nothing_past_who_asked_for_less_motion(load: Load, figure: LiveFigure) -> None:
    page = load(figure, reduced_motion="reduce")
    page.get_by_role("button", name="Run").click()
    assert page.get_by_role("button", name="Pause").count() == 0
    assert abs(params(page)["a"]) < 0.01


def test_link_leads_back_to_the_setting(load: Load, figure: LiveFigure, tmp_path: Any) -> None:
    file = tmp_path / "page.html"
    file.write_text(HTML.format(STYLE_SHEET) + f"{figure.html}<script>{SCRIPT}</script>")
    page = load(figure)
    page.goto(file.as_uri())
    element(page).evaluate("figure => figure.set({a: -1.25, shape: 1})")
    page.get_by_role("button", name="Link").click()
    assert "address" in (page.locator("[role=status]").text_content() or "")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    assert params(page) == {**figure.params, "a": -1.25, "shape": 1}


@pytest.mark.parametrize(
    "hash",
    ["#figure=gallery&a=99&b=x&q=1", "#figure=gallery&a=", "#figure=other&a=1.5", "#%", "#figure=gallery"],
)
def test_a_bad_address_falls_back_to_the_start(
    load: Load, figure: LiveFigure, tmp_path: Any, hash: str
) -> None:
    file = tmp_path / "page.html"
    file.write_text(f"{HTML.format(STYLE_SHEET)}{figure.html}<script>{SCRIPT}</script>")
    page = load(figure)
    page.goto(file.as_uri() + hash)
    assert params(page) == figure.params


def test_a_link_within_the_page_sets_the_figure(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    page.get_by_label("lifted").check()
    page.evaluate("location.hash = 'figure=gallery&a=-1.25'")
    page.wait_for_function("document.querySelector('live-figure').params.a === -1.25")
    assert params(page) == {**figure.params, "a": -1.25}
    page.evaluate("location.hash = 'a-heading'")
    page.wait_for_timeout(50)
    assert params(page)["a"] == -1.25


# Stands for the widget's model in Jupyter: tells all its listeners of every change, whoever made it.
RENDER = """([html, params]) => {
    const state = {html, params}, listeners = new Set();
    window.model = {
        get: name => state[name],
        set: (name, value) => { state[name] = value; listeners.forEach(listen => listen()); },
        save_changes: () => {},
        on: (event, listen) => listeners.add(listen),
        off: (event, listen) => listeners.delete(listen),
    };
    renderLiveFigure({model, el: document.querySelector("main")});
}"""


def test_in_jupyter_a_descent_keeps_its_course(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    page.evaluate("document.body.innerHTML = '<main></main>'")
    page.evaluate(RENDER, [figure.html, figure.params])
    for _ in range(3):
        page.get_by_role("button", name="Step").click()
    assert page.evaluate("model.get('params').a") == pytest.approx(0.9**3)
    assert len(element(page).evaluate("figure => figure.values.trace")) == 4
    page.evaluate("model.set('params', {...model.get('params'), a: 2})")
    assert params(page)["a"] == 2


def test_code_follows_and_computes_the_same(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    element(page).evaluate("figure => figure.set({a: -1.25})")
    page.get_by_text("See it in code").click()
    code = page.locator(".lf-code code").text_content() or ""
    page.wait_for_function("document.querySelector('.lf-code code').textContent.includes('-1.25')")
    code = page.locator(".lf-code code").text_content() or ""
    assert code == figure.code_at(a=-1.25)
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["loss"] == pytest.approx(figure.values(a=-1.25)["loss"])
    page.get_by_role("button", name="Copy").click()
    assert page.evaluate("getSelection().toString().trim()") == code


def test_nothing_is_computed_for_figures_far_away(load: Load, figure: LiveFigure) -> None:
    page = load(figure, copies=20)
    page.wait_for_timeout(200)
    alive = page.evaluate("performance.getEntriesByName('live-figure').length")
    assert 1 <= alive < 6
    page.locator("live-figure").last.scroll_into_view_if_needed()
    page.wait_for_function(f"performance.getEntriesByName('live-figure').length > {alive}")


def test_a_figure_pauses_when_it_leaves_the_screen(load: Load, figure: LiveFigure) -> None:
    page = load(figure, copies=20)
    first = page.locator("live-figure").first
    first.evaluate("figure => figure.set({a: 2, b: 2})")
    first.get_by_role("button", name="Run").click()
    page.locator("live-figure").last.scroll_into_view_if_needed()
    first.get_by_role("button", name="Run").wait_for(state="attached", timeout=5000)


def test_works_under_a_strict_content_security_policy(chromium: Browser, figure: LiveFigure) -> None:
    """No eval, no inline handler: a script from the page's own host is enough."""
    page = chromium.new_page()
    policy = "script-src 'self'"
    answers = {
        "/": (
            f'{HTML.format(STYLE_SHEET)}<script src="/live-figure.js" defer></script>{figure.html}',
            "text/html",
        ),
        "/live-figure.js": (SCRIPT, "text/javascript"),
    }

    def answer(route: Any) -> None:
        body, kind = answers["/" + route.request.url.rpartition("/")[2]]
        headers = {"content-type": f"{kind}; charset=utf-8", "content-security-policy": policy}
        route.fulfill(body=body, headers=headers)

    page.route("http://figure.test/**", answer)
    page.goto("http://figure.test/")
    element(page).evaluate("figure => figure.set({a: 2})")
    page.get_by_role("button", name="Step").click()
    assert params(page)["a"] == pytest.approx(1.8)
    page.close()


def test_forced_colours_keep_words_readable(load: Load, figure: LiveFigure) -> None:
    page = load(figure, forced_colors="active", color_scheme="dark")
    colours = page.evaluate(
        """() => [getComputedStyle(document.querySelector("svg text")).fill,
            getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"""
    )
    assert colours[0] == colours[2]


def test_on_paper_a_dark_page_has_a_light_figure(load: Load, figure: LiveFigure) -> None:
    page = load(figure)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    look = """() => [getComputedStyle(document.querySelector("svg text")).fill,
        getComputedStyle(document.querySelector("live-figure")).backgroundColor]"""
    assert page.evaluate(look)[0] == "rgb(230, 230, 230)"
    page.emulate_media(media="print")
    assert page.evaluate(look) == ["rgb(36, 41, 47)", "rgb(255, 255, 255)"]
