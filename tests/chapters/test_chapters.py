"""Every chapter has the parts that a reader expects, and every claim of the sources has its place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from bs4 import BeautifulSoup

import mlloss
from mlloss.identities import CHECKS

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
CLAIMS = yaml.safe_load((BOOK / "claims.yml").read_text(encoding="utf-8"))
COUNTS = {"A": 69, "B": 80, "C": 24, "D": 13}
VERDICTS = {"true", "true with a condition", "approximate", "false", "slip", "cannot tell"}
LONGEST_LINE, LONGEST_DESCRIPTION = 72, 160
FRONT_MATTER = {
    "jupytext": {"text_representation": {"extension": ".md", "format_name": "myst"}},
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
}
CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXERCISE = re.compile(r"^:::\{exercise\}.*\n:label: ([\w-]+)$", re.MULTILINE)
SOLUTION = re.compile(r"^(?:```|:::)\{solution(?:-start)?\} ([\w-]+)$", re.MULTILINE)
QUESTION = re.compile(r"^:::\{question\} ", re.MULTILINE)


def pages() -> dict[str, str]:
    """The name of every page of the book, with the part that it belongs to."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return {
        Path(chapter["file"]).name: part["caption"] for part in toc["parts"] for chapter in part["chapters"]
    }


PAGES = pages()
CHAPTERS = [name for name, part in PAGES.items() if part not in ("Start", "Reference", "Teaching")]
every_chapter = pytest.mark.parametrize("name", CHAPTERS)


def source(name: str) -> str:
    return (BOOK / f"{name}.md").read_text(encoding="utf-8")


def front_matter(name: str) -> dict[str, object]:
    matter: dict[str, object] = yaml.safe_load(source(name).split("---\n")[1])
    return matter


def anchors(name: str) -> set[str]:
    """The targets and the labels of equations on a page."""
    return set(re.findall(r"^(?:\$\$ )?\(([\w-]+)\)=?$", source(name), re.MULTILINE))


def test_every_claim_is_listed_in_order() -> None:
    assert list(CLAIMS) == [f"{part}{i + 1}" for part, count in COUNTS.items() for i in range(count)]


@pytest.mark.parametrize("id", CLAIMS)
def test_claim_is_judged_and_has_its_place(id: str) -> None:
    claim = dict(CLAIMS[id])
    says, verdict, right = claim.pop("says"), claim.pop("verdict"), claim.pop("right", "")
    assert says
    assert verdict in (VERDICTS if id[0] in "ABC" else {"missing"})
    assert right or verdict in ("true", "cannot tell")

    match claim:
        case {"page": page, "anchor": anchor, **rest}:
            assert page in PAGES
            assert anchor in anchors(page)
        case {"omitted": reason, **rest}:
            assert reason
    assert not rest


def test_the_welcome_page_shows_the_way_through_all_chapters() -> None:
    named = re.findall(r"^\| \[.+\]\(#([\w-]+)\) \|", source("welcome"), re.MULTILINE)
    assert set(CHAPTERS) <= set(named)
    assert named == [name for name in PAGES if name in named]  # in the order of the contents


def test_code_in_the_readme_runs() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
    found: dict[str, Any] = {}
    exec(code, found)
    assert found["logits"].grad.abs().sum() > 0


def test_page_of_claims_shows_all_of_them(site: Path) -> None:
    html = BeautifulSoup((site / "book" / "claims.html").read_text(), "html.parser")
    terms = {term["id"]: term.get_text() for term in html.select("dl.claims > dt")}
    assert list(terms) == [id.lower() for id in CLAIMS]
    links = {
        term["id"]: term.find_next_sibling("dd").select_one(".place a")
        for term in html.select("dl.claims > dt")
    }
    for id, claim in CLAIMS.items():
        assert terms[id.lower()].startswith(id)
        link = links[id.lower()]
        assert (link is not None) == ("page" in claim)
        if link:
            assert link["href"].split("#")[0] == f"{claim['page']}.html"


def test_page_of_equations_shows_every_check(site: Path) -> None:
    html = BeautifulSoup((site / "book" / "equations.html").read_text(), "html.parser")
    shown = html.select("dl.equations > dt")
    assert sorted(term.code.get_text() for term in shown) == sorted(CHECKS)
    for term in shown:
        label = term.code.get_text()
        assert term.a["href"].endswith(f"#equation-{label}")
        text = term.find_next_sibling("dd").get_text()
        assert CHECKS[label].how in text
        file, line = re.search(r"(mlloss/\S+\.py), line\s(\d+)", text).groups()
        assert f'"{label}"' in (ROOT / file).read_text().splitlines()[int(line) - 1]


@pytest.mark.parametrize("name", PAGES)
def test_description_fits_a_list_of_results(name: str) -> None:
    assert 20 < len(front_matter(name)["description"]) <= LONGEST_DESCRIPTION


@every_chapter
def test_chapter_begins_with_a_question_and_its_aims(name: str) -> None:
    matter = front_matter(name)
    del matter["description"]
    assert matter == FRONT_MATTER
    assert re.search(rf"^\({name}\)=\n# .+\n\n> \*", source(name), re.MULTILINE)
    assert "\nAfter this chapter you can\n\n- " in source(name)


@every_chapter
def test_chapter_ends_with_what_helps_to_learn(name: str) -> None:
    headings = re.findall(r"^## (.+)$", source(name), re.MULTILINE)
    assert headings[-4:] == ["What to remember", "Exercises", "Self-check", "Read on"]


@every_chapter
def test_chapter_has_exercises_each_with_a_solution(name: str) -> None:
    exercises = EXERCISE.findall(source(name))
    assert len(exercises) >= 5
    assert SOLUTION.findall(source(name)) == exercises


@every_chapter
def test_chapter_has_questions_to_check_oneself(name: str) -> None:
    assert 4 <= len(QUESTION.findall(source(name))) <= 6


@pytest.mark.parametrize("name", PAGES)
def test_code_fits_a_narrow_screen(name: str) -> None:
    lines = [line for cell in CELL.findall(source(name)) for line in cell.splitlines()]
    assert [line for line in lines if len(line) > LONGEST_LINE] == []


@pytest.mark.parametrize("name", PAGES)
def test_no_cell_prints_a_warning(site: Path, name: str) -> None:
    html = BeautifulSoup((site / "book" / f"{name}.html").read_text(), "html.parser")
    assert [output.get_text() for output in html.select(".output.stderr, .output.traceback")] == []
    assert [
        output.get_text() for output in html.select(".output.stream") if "Warning" in output.get_text()
    ] == []


def test_page_of_the_api_shows_all_of_it(site: Path) -> None:
    html = BeautifulSoup((site / "book" / "api.html").read_text(), "html.parser")
    assert sorted(term["id"] for term in html.select("dt.sig")) == sorted(
        f"mlloss.{name}" for name in mlloss.__all__
    )
