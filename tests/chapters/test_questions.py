"""Self-check questions: what their source becomes, and how they behave in a browser without JavaScript."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from mlloss_book.questions import Mistake, choice_text, make_choice


def item(*inline: str | nodes.Node) -> nodes.list_item:
    children = [nodes.Text(node) if isinstance(node, str) else node for node in inline]
    return nodes.list_item("", nodes.paragraph("", "", *children))


def test_choice_is_divided_at_its_first_dash_and_keeps_its_formulas() -> None:
    formulas = [nodes.math("", r"\log 3"), nodes.math("", "n = 3")]
    made = make_choice(item("[x] By ", formulas[0], " — A tie — and ", formulas[1], "."))
    assert made["right"]
    text, explanation = made
    assert isinstance(text, choice_text)
    assert text.astext() == r"By \log 3"
    assert explanation.astext() == "Right. A tie — and n = 3."
    assert list(made.findall(nodes.math)) == formulas


def test_wrong_choice_may_begin_with_a_formula() -> None:
    made = make_choice(item("[ ] ", nodes.math("", "-1"), "\n— Too low."))
    assert not made["right"]
    assert [part.astext() for part in made] == ["-1", "Not quite. Too low."]


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("no mark — it says why", "no [ ] or [x]"),
        ("[X] large — it says why", "no [ ] or [x]"),
        ("[x] why", "no dash"),
    ],
)
def test_mistake_in_a_choice_is_named(text: str, mistake: str) -> None:
    with pytest.raises(Mistake) as raised:
        make_choice(item(text))
    assert mistake in str(raised.value)


def pages_with_questions(site: Path) -> list[str]:
    return [page.name for page in site.glob("book/*.html") if 'class="question"' in page.read_text()]


def test_choices_open_with_the_keyboard_and_explain_themselves(
    visit: Callable[..., Any], site: Path, site_url: str
) -> None:
    names = pages_with_questions(site)
    assert names
    for name in names:
        page = visit(f"{site_url}book/{name}", java_script_enabled=False).page
        page.keyboard.press("Tab")
        for choice in page.locator("details.choice").all():
            summary, verdict = choice.locator("summary"), choice.locator("p > strong").first
            summary.focus()
            assert summary.evaluate("summary => getComputedStyle(summary).outlineStyle") != "none"
            assert not verdict.is_visible()
            page.keyboard.press("Enter")
            assert verdict.is_visible()
            right = "right" in (choice.get_attribute("class") or "").split()
            assert verdict.inner_text() == ("Right." if right else "Not quite.")


def test_question_names_its_group_and_has_one_right_choice(site: Path) -> None:
    for name in pages_with_questions(site):
        html = BeautifulSoup((site / "book" / name).read_text(), "html.parser")
        for question in html.select(".question"):
            title = html.find(id=question["aria-labelledby"])
            assert title.get_text().startswith("Question ")
            assert question["role"] == "group"
            assert len(question.select("details.right")) == 1
            assert len(question.select("details.choice")) >= 2
