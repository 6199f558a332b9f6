"""Prints the built book to `_build/book.pdf`, with the browser of the tests.

All pages become one, in the order of the table of contents, so that links between chapters stay links and the
outline has every heading. Live figures show their first picture and its settings. Solutions, and explanations
of choices, stand at the end of the book.
"""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

import browser
import yaml
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, sync_playwright

SITE = Path("_build/html")
COMBINED = Path("_build/book.html")
PDF = Path("_build/book.pdf")
STYLE = Path(__file__).with_suffix(".css")
UNPRINTABLE = "script, button, .headerlink, .lf-code"
REFERENCES = {
    "for",
    "aria-labelledby",
    "aria-describedby",
    "aria-controls",
}  # attributes that hold identifiers
MARGIN: Any = {"top": "18mm", "bottom": "18mm", "left": "20mm", "right": "20mm"}
PAGE_NUMBER = '<p class="pageNumber" style="font: 9px sans-serif; text-align: center; width: 100%"></p>'
BOOK = """\
<!DOCTYPE html>
<html lang="en" data-theme="light">
<head><meta charset="utf-8"><title>{title}</title>{styles}<style>{own_style}</style></head>
<body><article class="bd-article">
<section class="title-page"><p class="title">{title}</p><p>{author}</p>{rights}</section>
<nav class="whole-contents"><h1 aria-level="2">Contents</h1>{contents}</nav>
{chapters}
{answers}
</article></body>
</html>
"""


def parse(html: str) -> Any:
    return BeautifulSoup(html, "html.parser")


def element(html: str) -> Any:
    return parse(html).find()


def parts(toc: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The captions of the parts and their pages; the first page stands before them."""
    yield "", [toc["root"]]
    for part in toc["parts"]:
        yield part["caption"], [entry["file"] for entry in part["chapters"]]


@dataclass
class Chapter:
    """A page of the site, taken apart."""

    name: str
    title: str
    text: Any
    answers: Any
    styles: list[str]


def chapter(site: Path, name: str, names: set[str]) -> Chapter:
    """A page, adapted to a book of the pages of these names."""
    page = parse((site / f"{name}.html").read_text())
    article = page.select_one("article")
    for tag in article.select(UNPRINTABLE):
        tag.decompose()
    for controls in article.select(".lf-controls"):
        say_settings(controls)
    for figure in article.select("live-figure"):
        figure["id"] = f"figure={figure['name']}"
    answers = article.append(element('<section class="answers"></section>'))
    answers.extend([*map(take_solution, article.select("details.solution"))])
    answers.extend([*map(take_explanations, article.select(".question"))])
    canonical = page.find("link", rel="canonical")
    for tag in article.find_all(True):
        adapt(tag, name, names, canonical["href"] if canonical else "")
    article.name, article.attrs = "section", {"class": "chapter", "id": identifier(name)}
    styles = [f"{site.name}/{urljoin(name, link['href'])}" for link in page.select("link[rel=stylesheet]")]
    return Chapter(name, article.h1.decode_contents(), article, answers.extract(), styles)


def identifier(page: str, fragment: str = "") -> str:
    """No two pages have an identifier in common once it begins with the page's name."""
    return f"{page}#{fragment}".rstrip("#").replace("#", "--").replace("/", "-")


def adapt(tag: Any, name: str, names: set[str], address: str) -> None:
    """Make what was relative to the page, or meant something there only, mean the same in the whole book."""
    for key, value in list(tag.attrs.items()):
        if key == "id":
            tag[key] = identifier(name, value)
        elif key in REFERENCES:
            tag[key] = " ".join(identifier(name, each) for each in value.split())
        elif key in ("href", "xlink:href"):
            path, fragment = urldefrag(value)
            if fragment.startswith("figure="):  # a link to a setting leads to the figure
                fragment, *_ = fragment.split("&")
            target = urljoin(name, path).removesuffix(".html")
            if target in names:
                tag[key] = f"#{identifier(target, fragment)}"
            elif address or ":" in path:
                tag[key] = urljoin(address, value)
            else:
                del tag[key]
        elif key == "src":
            tag[key] = f"{SITE.name}/{urljoin(name, value)}"
        elif isinstance(value, str) and "url(#" in value:
            tag[key] = re.sub(r"url\(#(.+?)\)", lambda found: f"url(#{identifier(name, found[1])})", value)
    if re.fullmatch("h[1-5]", tag.name):  # the part of the book has the first level
        tag["aria-level"] = int(tag.name[1]) + 1


def say_settings(controls: Any) -> None:
    """In place of a figure's controls, say where they stand."""
    settings = []
    for label in controls.select("label"):
        value = label.select_one(".lf-value, option[selected]")
        if value:
            settings.append(f"{label.span.decode_contents()}\u202f=\u202f{value.decode_contents()}")
    controls.replace_with(element(f'<p class="settings">Drawn for {", ".join(settings)}.</p>'))


def take_solution(solution: Any) -> Any:
    """A solution, taken out of the text; it and its exercise link to each other."""
    exercise = solution.find_previous(class_="exercise")
    label = f"solution-of-{exercise['id']}"
    title = exercise.select_one(".admonition-title").decode_contents()
    solution.replace_with(element(f'<p class="to-answer"><a href="#{label}">Solution</a></p>'))
    solution.summary.replace_with(element(f'<p><strong><a href="#{exercise["id"]}">{title}</a></strong></p>'))
    solution.name, solution.attrs = "div", {"class": "answer", "id": label}
    return solution


def take_explanations(question: Any) -> Any:
    """A copy of a question with its explanations, which stay no longer in the text."""
    number = question.p["id"]
    answer = copy.copy(question)
    answer.attrs = {"class": "question answer", "id": f"answer-of-{number}"}
    del answer.p["id"]
    answer.strong.wrap(element(f'<a href="#{number}"></a>'))
    question.strong.wrap(element(f'<a href="#{answer["id"]}"></a>'))
    for choice in answer.select("details"):
        choice["open"] = ""
    for choice in question.select("details"):
        choice.summary.name = "li"
        choice.replace_with(choice.li)
    return answer


def combine(site: Path, toc: dict[str, Any], config: dict[str, Any]) -> str:
    """The book as one page, which lies beside the folder of the site."""
    names = {name for _, part in parts(toc) for name in part}
    chapters, contents, answers = "", "", ""
    styles: dict[str, None] = {}
    for caption, part in parts(toc):
        made = [chapter(site, name, names) for name in part]
        styles |= dict.fromkeys(style for each in made for style in each.styles)
        links = [f'<a href="#{identifier(each.name)}">{each.title}</a>' for each in made]
        heading = f'<h1 class="part" aria-level="1">{caption}</h1>' if caption else ""
        chapters += heading + "".join(str(each.text) for each in made)
        contents += f"<p>{caption}</p><ul>{''.join(f'<li>{link}</li>' for link in links)}</ul>"
        for each, link in zip(made, links, strict=True):
            if each.answers.contents:
                answers += f'<h1 aria-level="2">{link}</h1>{each.answers}'
    return BOOK.format(
        title=config["title"],
        author=config["author"],
        rights=config["html"]["extra_footer"],
        styles="".join(f'<link rel="stylesheet" href="{style}">' for style in styles),
        own_style=STYLE.read_text(),
        contents=contents,
        chapters=chapters,
        answers=f'<h1 class="part" aria-level="1">Solutions and answers</h1>{answers}' if answers else "",
    )


def write(page: Path, pdf: Path, chromium: Browser) -> None:
    tab = chromium.new_page()
    tab.goto(page.resolve().as_uri())
    tab.evaluate("document.fonts.ready")
    tab.pdf(
        path=pdf,
        outline=True,
        tagged=True,
        print_background=True,
        display_header_footer=True,
        header_template="<p></p>",
        footer_template=PAGE_NUMBER,
        format="A4",
        margin=MARGIN,
    )
    tab.close()


def main() -> int:
    toc, config = (yaml.safe_load(Path(name).read_text()) for name in ("_toc.yml", "_config.yml"))
    COMBINED.write_text(combine(SITE, toc, config))
    program = browser.find()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=browser.FLAGS)
        write(COMBINED, PDF, chromium)
    print(f"The book is printed: {PDF.resolve().as_uri()} ({PDF.stat().st_size / 1e6:.1f} MB).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
