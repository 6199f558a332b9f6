"""The instructor's guide: its figures take their settings, its exercises exist, its minutes add up."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urldefrag

import pytest
import yaml
from bs4 import BeautifulSoup, Tag
from mlloss_book.figure_links import mistakes

from mlloss.figures import REGISTRY
from mlloss.live import LiveFigure

ROOT = Path(__file__).parents[2]
SOURCE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
PLAN = re.compile(r"^\(meeting-[\w-]+\)=\n### (.+?)\n(.*?)(?=^\(|^## )", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^### [^\n]+ block: [^\n]+, (\d+) minutes\n(.*?)(?=^##)", re.MULTILINE | re.DOTALL)
MEETINGS, BLOCKS = dict(PLAN.findall(SOURCE)), BLOCK.findall(SOURCE)
CONTROLS = {
    "z": {"name": "z", "value": 0, "start": -8, "stop": 8},
    "y": {"name": "y", "value": 1, "options": [1, 0, -100]},
}


@cache
def figure(name: str) -> LiveFigure:
    return REGISTRY[name]()


@cache
def html(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


def minutes(plan: str) -> list[int]:
    return [int(number) for number in re.findall(r"^- \*\*(\d+) min\.\*\* ", plan, re.MULTILINE)]


def guide_links(site: Path) -> list[tuple[Tag, Tag | None]]:
    """The guide's links into pages of the book, and the element that each leads to."""
    guide = site / "book" / "teaching.html"
    found = []
    for link in html(guide).select("article a.reference.internal"):
        page, fragment = urldefrag(link["href"])
        found.append((link, html(guide.parent / page if page else guide).find(id=fragment)))
    return found


def test_links_to_figures_open_what_they_promise(site: Path) -> None:
    """On every page: the figure stands where the link leads, and takes the setting."""
    links = [
        (page, link["href"])
        for page in site.glob("book/*.html")
        for link in html(page).select('a[href*="#figure="]')
    ]
    assert len(links) > 50
    for page, address in links:
        target, fragment = urldefrag(address)
        (key, name), *setting = parse_qsl(fragment, strict_parsing=True)
        assert key == "figure"
        assert html(page.parent / target).select(f'live-figure[name="{name}"]'), address
        assert set(dict(setting)) <= {control.name for control in figure(name).controls}, address
        figure(name).values(**{control: float(value) for control, value in setting})  # ValueError outside


def test_exercises_exist_and_are_called_by_their_names(site: Path) -> None:
    exercises = [
        (link.get_text(), target)
        for link, target in guide_links(site)
        if target and "exercise" in target.get("class", [])
    ]
    titles = [target.select_one(".admonition-title").get_text().partition(": ")[2] for _, target in exercises]
    assert [name for name, _ in exercises] == titles
    assert {target["id"] for _, target in exercises} == set(re.findall(r"\]\(#((?:ex|lab)-[\w-]+)\)", SOURCE))


def test_plan_has_six_meetings_and_one_more() -> None:
    assert [title.partition(":")[0] for title in MEETINGS] == [
        *(f"Meeting {number}" for number in range(1, 7)),
        "For a course on embeddings",
    ]


@pytest.mark.parametrize("title", MEETINGS)
def test_meeting_is_complete_and_lasts_90_minutes(title: str) -> None:
    plan = MEETINGS[title]
    assert re.findall(r"^\*\*(.+?)\*\*", plan, re.MULTILINE) == [
        "Goal.",
        "Reading, before.",
        "In class.",
        "Exercises.",
        "Mistakes to expect.",
    ]
    assert sum(minutes(plan)) == 90
    assert plan.count("{figure-link}`") >= 3
    assert plan.count("](#ex-") >= 5
    assert len(re.findall(r"^- ", plan.partition("**Mistakes to expect.**")[2], re.MULTILINE)) >= 4


def test_day_lasts_as_long_as_it_says() -> None:
    assert len(BLOCKS) == 4
    assert [sum(minutes(plan)) for _, plan in BLOCKS] == [int(total) for total, _ in BLOCKS]
    total = sum(int(total) for total, _ in BLOCKS)
    assert f"Four blocks, {total} minutes, with breaks of 15, 60 and 15 minutes" in SOURCE
    assert total + 15 + 60 + 15 == 390  # from nine to half past three


def test_citation_names_the_book() -> None:
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert f"title = {{{config['title']}}}" in SOURCE
    assert config["author"].lower() in SOURCE.lower()
    assert f"year = {{{config['copyright']}}}" in SOURCE


@pytest.mark.parametrize(
    ("setting", "mistake"),
    [
        ({"z": "8", "y": "-100"}, None),
        ({"x": "1"}, "has no control 'x'; its controls are z, y"),
        ({"z": "8.1"}, "cannot have z = '8.1'"),
        ({"z": "nan"}, "cannot have z = 'nan'"),
        ({"z": ""}, "cannot have z = ''"),
        ({"y": "0.5"}, "cannot have y = '0.5'"),
    ],
)
def test_stale_setting_is_named(setting: dict[str, str], mistake: str | None) -> None:
    assert list(mistakes(CONTROLS, setting)) == ([mistake] if mistake else [])
