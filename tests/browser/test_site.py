"""Every page as its readers meet it: in a browser, on a phone, with a keyboard, without JavaScript."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from mlloss_book.launch import hub
from mlloss_book.repository import Repository

ROOT = Path(__file__).parents[2]
WIDE, PHONE = 1280, 360
LARGEST_SHIFT = 0.02
LARGEST_WEIGHT = 400_000
COMPRESSED = {".woff2", ".png", ".jpg", ".webp"}


def chapters() -> list[str]:
    """The pages that the table of contents lists."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    files = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    return [f"{name}.html" for name in [toc["root"], *files]]


CHAPTERS = chapters()
PAGES = [*CHAPTERS, "search.html"]
every_page = pytest.mark.parametrize("name", PAGES)
every_chapter = pytest.mark.parametrize("name", CHAPTERS)
Open = Callable[..., Any]


def scroll_through(visit: Any) -> None:
    """Scroll to the end in steps, as a reader does, so that what loads late loads."""
    visit.page.evaluate(
        """async () => {
            for (let y = 0; y < document.body.scrollHeight; y += 400) {
                scrollTo(0, y);
                await new Promise(requestAnimationFrame);
            }
            await document.fonts.ready;
        }"""
    )


@pytest.mark.parametrize("way", ["http", "file"])
def test_index_leads_to_the_first_page(visit: Open, site_url: str, site: Path, way: str) -> None:
    visited = visit((site_url if way == "http" else site.as_uri() + "/") + "index.html")
    visited.page.wait_for_url(f"**/{CHAPTERS[0]}")
    assert visited.errors == []


@every_page
def test_asks_no_other_host_and_logs_no_error(visit: Open, site_url: str, name: str) -> None:
    visited = visit(site_url + name)
    scroll_through(visited)
    assert visited.foreign == []
    assert visited.errors == []


@every_page
def test_opens_as_a_file(visit: Open, site: Path, name: str) -> None:
    visited = visit((site / name).as_uri())
    scroll_through(visited)
    assert visited.foreign == []
    assert visited.errors == []


@every_page
def test_links_resolve(site: Path, name: str) -> None:
    """Each address in the page names a file of the site and, after a `#`, an element or a figure of it."""
    page = site / name
    html = BeautifulSoup(page.read_text(), "html.parser")
    addresses = [tag[key] for key in ("href", "src", "action") for tag in html.find_all(attrs={key: True})]
    for address in addresses:
        if urlsplit(address).scheme:
            continue
        path, fragment = urldefrag(address.split("?")[0])
        target = (page.parent / unquote(path)).resolve() if path else page
        assert target.is_file(), address
        if fragment and target.suffix == ".html":
            assert unquote(fragment.partition("&")[0]) in places(target), address


@cache
def places(page: Path) -> set[str]:
    """What an address can name on a page; a figure's controls may follow its name."""
    html = BeautifulSoup(page.read_text(), "html.parser")
    figures = {f"figure={figure['name']}" for figure in html.find_all("live-figure")}
    return {tag["id"] for tag in html.find_all(id=True)} | figures


@every_page
@pytest.mark.parametrize("width", [PHONE, WIDE])
def test_never_scrolls_sideways(visit: Open, site_url: str, name: str, width: int) -> None:
    visited = visit(site_url + name, width=width)
    scroll_through(visited)
    assert visited.page.evaluate("document.documentElement.scrollWidth") <= width


@every_page
@pytest.mark.parametrize(("scheme", "width"), [("light", WIDE), ("dark", WIDE), ("light", PHONE)])
def test_is_accessible(visit: Open, site_url: str, name: str, scheme: str, width: int) -> None:
    visited = visit(site_url + name, width=width, color_scheme=scheme)
    visited.page.evaluate(
        """() => {
            for (const hidden of document.querySelectorAll("details")) hidden.open = true;
            for (const animation of document.getAnimations()) animation.finish();
        }"""
    )
    results = Axe().run(visited.page).response
    grave = [
        f"{violation['id']}: {node['html']}\n{node['failureSummary']}"
        for violation in results["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
    assert not grave, "\n\n".join(grave)


@every_chapter
def test_reads_without_javascript(visit: Open, site_url: str, name: str) -> None:
    """Formulas are typeset, figures drawn, and solutions open, though no script has run."""
    page = visit(site_url + name, java_script_enabled=False).page
    formulas = page.locator("article .math").count()
    assert page.locator("article .math .katex").count() == formulas
    assert formulas or "$" not in (ROOT / name).with_suffix(".md").read_text()

    html = BeautifulSoup(page.locator("article").inner_html(), "html.parser")
    for tag in html.find_all(["pre", "code", "script", "annotation"]):
        tag.decompose()
    raw = re.findall(r"\$|\\[a-zA-Z(\[]+|\{[a-z-]+\}`|:::", html.get_text())
    assert raw == []

    for figure in page.locator("live-figure").all():
        box = figure.locator("svg").first.bounding_box()
        assert box
        assert box["width"] > 200
        assert box["height"] > 100

    for solution in page.locator("details.solution").all():
        solution.locator("summary").focus()
        page.keyboard.press("Enter")
        assert solution.get_attribute("open") is not None


@every_chapter
def test_shows_no_dead_control_without_javascript(visit: Open, site_url: str, name: str) -> None:
    page = visit(site_url + name, width=PHONE, java_script_enabled=False).page
    assert page.locator("button:visible, input:visible, select:visible").count() == 0
    assert page.locator(".bd-sidebar-primary nav a").last.is_visible()


@every_page
@pytest.mark.parametrize("width", [PHONE, WIDE])
def test_stands_still_while_it_loads(visit: Open, site_url: str, name: str, width: int) -> None:
    visited = visit(site_url + name, width=width)
    shift = visited.page.evaluate(
        """async () => {
            await document.fonts.ready;
            await new Promise(done => setTimeout(done, 300));
            const observer = new PerformanceObserver(() => {});
            observer.observe({type: "layout-shift", buffered: true});
            return observer.takeRecords().reduce((sum, entry) => sum + entry.value, 0);
        }"""
    )
    assert shift < LARGEST_SHIFT


@every_chapter
def test_is_light(visit: Open, site_url: str, name: str, record_weight: Callable[[str, int], None]) -> None:
    """What a first visit loads, compressed as web servers do, with all scripts and fonts."""
    visited = visit("about:blank")
    weights: dict[str, int] = {}
    visited.page.on("requestfinished", lambda request: weights.update({request.url: weight(request)}))
    visited.page.goto(site_url + name, wait_until="networkidle")
    scroll_through(visited)
    visited.page.wait_for_load_state("networkidle")
    record_weight(name, sum(weights.values()))
    assert sum(weights.values()) < LARGEST_WEIGHT, weights


def weight(request: Any) -> int:
    response = request.response()
    body = response.body()
    return len(body) if Path(urlsplit(response.url).path).suffix in COMPRESSED else len(gzip.compress(body))


@every_chapter
def test_says_what_it_is(site: Path, name: str) -> None:
    html = BeautifulSoup((site / name).read_text(), "html.parser")
    assert html.html["lang"] == "en"
    assert len(html.select("article h1")) == 1
    assert html.title.get_text(strip=True)
    assert 20 < len(html.find("meta", attrs={"name": "description"})["content"]) <= 160


@every_chapter
def test_carries_no_widget_state(site: Path, name: str) -> None:
    assert "application/vnd.jupyter.widget" not in (site / name).read_text()


@every_chapter
@pytest.mark.parametrize("width", [PHONE, WIDE])
def test_icons_are_drawn(visit: Open, site_url: str, name: str, width: int) -> None:
    """Font Awesome is not there, so an icon without a drawing of ours would be a filled square."""
    page = visit(site_url + name, width=width).page
    masks = page.eval_on_selector_all(
        "[class*='fa-'], .fas",
        "icons => icons.map(icon => [icon.className, getComputedStyle(icon).maskImage])",
    )
    assert masks
    assert [icon for icon, mask in masks if not mask.startswith("url(")] == []


def test_skip_link_comes_first(visit: Open, site_url: str) -> None:
    page = visit(site_url + CHAPTERS[0]).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to main content"
    page.keyboard.press("Enter")
    assert page.url.endswith("#main-content")


def test_menu_of_a_phone_opens_with_the_keyboard(visit: Open, site_url: str) -> None:
    page = visit(site_url + CHAPTERS[0], width=PHONE).page
    link = page.locator(".bd-sidebar-primary nav a").last
    assert not link.is_visible()
    page.locator(".primary-toggle:visible").press("Enter")
    link.wait_for(state="visible")
    page.wait_for_function("document.activeElement.closest('.bd-sidebar-primary')")
    page.keyboard.press("Escape")
    link.wait_for(state="hidden")


def test_theme_switch_cycles_and_is_remembered(visit: Open, site_url: str) -> None:
    page = visit(site_url + CHAPTERS[0], color_scheme="light").page
    switch = page.locator(".theme-switch-button:visible")
    seen = []
    for _ in range(3):
        switch.click()
        seen.append(page.evaluate("document.documentElement.dataset.mode"))
    assert sorted(seen) == ["auto", "dark", "light"]
    while page.evaluate("document.documentElement.dataset.theme") != "dark":
        switch.click()
    page.goto(site_url + CHAPTERS[1])
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_is_printed_in_light_colours(visit: Open, site_url: str) -> None:
    page = visit(site_url + CHAPTERS[0], color_scheme="dark").page
    page.evaluate("addEventListener('beforeprint', () => printed = document.documentElement.dataset.theme)")
    page.pdf()
    assert page.evaluate("printed") == "light"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("way", ["http", "file"])
def test_search_finds_a_chapter(visit: Open, site_url: str, site: Path, way: str) -> None:
    start = site_url if way == "http" else site.as_uri() + "/"
    visited = visit(start + CHAPTERS[0])
    visited.page.locator(".search-button__button:visible").first.click()
    visited.page.keyboard.type("sigmoid")
    visited.page.keyboard.press("Enter")
    result = visited.page.locator(
        "#search-results li", has=visited.page.locator("a[href*='sigmoid.html']")
    ).first
    result.wait_for()
    if way == "http":
        assert "sigmoid" in result.locator(".context").inner_text()
    assert visited.foreign == []
    assert visited.errors == []


def test_form_makes_the_link_that_the_button_of_a_hub_has(visit: Open, site_url: str) -> None:
    """With the keyboard alone."""
    page = visit(site_url + "book/teaching.html").page
    link = page.get_by_label("Link for your learners")
    page.get_by_label("Address of your hub").focus()
    page.keyboard.type("https://hub.example.edu/")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("no address")
    assert link.input_value() == ""
    page.keyboard.press("Control+a")
    page.keyboard.type("https://github.com/ada/losses")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("Softmax and cross")
    page.keyboard.press("Tab")
    where = Repository("github", "ada", "losses")
    assert link.input_value() == hub("https://hub.example.edu", where, "book/softmax")
    assert page.evaluate("getSelection().toString()") == link.input_value()

    page.get_by_label("What opens").select_option("")
    assert link.input_value().endswith("&urlpath=lab%2Ftree%2Flosses")


def test_link_made_by_hand_is_the_one_of_the_form(site: Path) -> None:
    where = Repository("github", "OWNER", "NAME")
    html = BeautifulSoup((site / "book" / "teaching.html").read_text(), "html.parser")
    shown = [block.get_text().strip() for block in html.select("#on-your-own-jupyterhub pre")]
    assert shown == [hub("https://hub.example.edu", where, "book/softmax")]


def test_link_opens_a_figure_at_a_setting(visit: Open, site_url: str) -> None:
    page = visit(f"{site_url}book/teaching.html").page
    page.locator('a[href*="figure=two-scores&s0=3"]').first.click()
    page.wait_for_url("**/softmax.html#figure=two-scores*")
    figure = page.locator('live-figure[name="two-scores"]')
    assert figure.evaluate("figure => figure.params") == {"s0": 3, "s1": 1.5, "y": 1}
    assert figure.locator("figcaption").evaluate("words => words.getBoundingClientRect().top > 0")
