"""What leaves this folder (package, archive, printed book, published site) and what publishes it."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from email.parser import Parser
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit
from xml.etree import ElementTree
from zipfile import ZipFile

import archive
import pdf
import pypdf
import pytest
import share_notebooks
import yaml
from bs4 import BeautifulSoup
from matplotlib.image import imread
from playwright.sync_api import Browser, Route
from small_book import PAGE, build, make_book, write_page

ROOT = Path(__file__).parents[1]
(VERSION,) = re.findall('^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
INFORMATION = f"mlloss-{VERSION}.dist-info"
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SITE = "https://ada.github.io/losses/"
Open = Callable[..., Any]


# The package


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `pip install` makes of this folder before it installs it."""
    folder = tmp_path_factory.mktemp("wheel")
    code = "import sys; from flit_core.buildapi import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, folder], cwd=ROOT, check=True)
    (file,) = folder.glob("*.whl")
    return file


def test_package_holds_mlloss_and_its_licence_only(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    ours = {str(file.relative_to(ROOT)) for file in (ROOT / "mlloss").rglob("*") if file.is_file()}
    assert {name for name in names if not name.startswith(INFORMATION)} == {
        name for name in ours if "__pycache__" not in name
    }
    licence = ZipFile(wheel).read(f"{INFORMATION}/licenses/LICENSE")
    assert licence == (ROOT / "LICENSE").read_bytes()


def test_package_asks_for_torch_only(wheel: Path) -> None:
    metadata = Parser().parsestr(ZipFile(wheel).read(f"{INFORMATION}/METADATA").decode())
    needs = metadata.get_all("Requires-Dist", [])
    assert [need for need in needs if "extra ==" not in need] == ["torch>=2.4"]
    figures = {re.split(r"[>=; ]", need)[0] for need in needs if re.search("extra == .figures", need)}
    assert figures == {"matplotlib", "sympy", "anywidget", "ipywidgets"}
    assert metadata["License-Expression"] == "BSD-3-Clause"


def test_package_works_away_from_this_folder(wheel: Path, tmp_path: Path) -> None:
    ZipFile(wheel).extractall(tmp_path)
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import mlloss, mlloss.figures
print(mlloss.__file__, "<live-figure" in mlloss.figures.tug_of_war().html)
"""
    command = [sys.executable, "-W", "error", "-c", code]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout.split() == [str(tmp_path / "mlloss" / "__init__.py"), "True"]


# How to cite it, and what has changed


def test_citation_has_what_its_format_requires() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= citation.keys()
    assert [author["name"] for author in citation["authors"]] == [CONFIG["author"]]
    assert citation["title"].startswith(CONFIG["title"])
    assert citation["license"] == ["BSD-3-Clause", "CC-BY-4.0"]


def test_versions_agree() -> None:
    changes = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert changes
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert VERSION == citation["version"] == changes[1]


# The archive and the printed book


def test_archive_is_a_folder_that_works_offline(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visit: Open
) -> None:
    monkeypatch.setattr(archive, "SITE", site)
    monkeypatch.setattr(archive, "ARCHIVE", tmp_path / "site.zip")
    assert archive.main() == 0
    ZipFile(tmp_path / "site.zip").extractall(tmp_path)
    visited = visit((tmp_path / archive.FOLDER / "index.html").as_uri())
    visited.page.wait_for_url(f"**/{TOC['root']}.html")
    visited.page.locator("live-figure svg").first.wait_for()
    assert visited.errors == []
    assert visited.foreign == []


@pytest.fixture(scope="module")
def whole(site: Path) -> Path:
    """The page from which the book is printed."""
    page = site.parent / "book.html"
    page.write_text(pdf.combine(site, TOC, CONFIG))
    return page


@pytest.fixture(scope="module")
def printed(whole: Path, chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> pypdf.PdfReader:
    file = tmp_path_factory.mktemp("pdf") / "book.pdf"
    pdf.write(whole, file, chromium)
    return pypdf.PdfReader(file)


def titles(outline: list[Any], level: int) -> Iterator[str]:
    for entry in outline:
        if isinstance(entry, list):
            yield from titles(entry, level - 1)
        elif level == 0:
            yield entry.title


def text(html: Any) -> str:
    return " ".join(html.get_text().split())


def test_outline_has_parts_and_chapters(printed: pypdf.PdfReader, site: Path) -> None:
    pages = [
        BeautifulSoup((site / f"{name}.html").read_text(), "html.parser")
        for _, part in pdf.parts(TOC)
        for name in part
    ]
    for heading in [heading for page in pages for heading in page.select("article h1 .headerlink")]:
        heading.decompose()
    welcome, *chapters = [text(page.h1) for page in pages]
    parts = [caption for caption, _ in pdf.parts(TOC) if caption]
    assert list(titles(printed.outline, 0)) == ["Contents", welcome, *parts, "Solutions and answers"]
    second = list(titles(printed.outline, 1))
    assert [title for title in second if title in chapters][: len(chapters)] == chapters


def test_links_lead_to_places_of_the_printed_book(printed: pypdf.PdfReader) -> None:
    places = printed.named_destinations.keys()
    inside, outside = [], []
    for page in printed.pages:
        for annotation in page.get("/Annots", []):
            link = annotation.get_object()
            if "/Dest" in link:
                inside.append(link["/Dest"])
            elif "/A" in link:
                outside.append(link["/A"]["/URI"])
    assert len(inside) > 500
    assert [place for place in inside if place not in places] == []
    assert [url for url in outside if not url.startswith("http")] == []


def test_figures_and_numbers_are_printed_without_controls(printed: pypdf.PdfReader) -> None:
    words = " ".join(page.extract_text() for page in printed.pages[:6])
    assert "A tug of war." in words
    assert re.search(r"Drawn for right class\s*=\s*0\.5", words)
    assert "Reset" not in words


@pytest.fixture(scope="module")
def whole_html(whole: Path) -> BeautifulSoup:
    return BeautifulSoup(whole.read_text(), "html.parser")


def test_solutions_stand_at_the_end_of_the_printed_book(whole_html: BeautifulSoup) -> None:
    assert whole_html.select(".chapter details.solution, .chapter details.choice") == []
    answers = whole_html.select(".answers > .answer")
    questions = whole_html.select(".chapter .exercise, .chapter .question > p[id]")
    links = {link["href"] for link in whole_html.select(".chapter a[href]")}
    assert {answer.a["href"] for answer in answers} == {f"#{question['id']}" for question in questions}
    assert {f"#{answer['id']}" for answer in answers} <= links


def test_places_of_the_whole_book_have_names_of_their_own(whole_html: BeautifulSoup) -> None:
    names = [tag["id"] for tag in whole_html.select("article [id]") if not tag.find_parent("svg")]
    assert len(names) == len(set(names))
    links = {str(link["href"]) for link in whole_html.select('a[href^="#"]')}
    assert {link for link in links if link[1:] not in names} == set()


def test_nothing_is_cut_off_on_paper(whole: Path, visit: Open) -> None:
    """A4 less its margins is 642 CSS pixels wide: nothing reaches beyond, and nothing had to scroll."""
    page = visit(whole.as_uri(), width=642).page
    page.emulate_media(media="print")
    cut = page.evaluate(
        """() => [...document.querySelectorAll("body *")].filter(element => {
            if (element.closest("svg, .katex-mathml")) return false;
            const scrolls = getComputedStyle(element).overflowX !== "visible";
            return element.getBoundingClientRect().right > innerWidth + 1
                || scrolls && element.scrollWidth > element.clientWidth + 2;
        }).map(element => element.outerHTML.slice(0, 200))"""
    )
    assert cut == []


# The published site


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_book(tmp_path_factory.mktemp("book"))


@pytest.fixture(scope="module")
def published(book: Path) -> Path:
    """The site of a book of one page whose address is known."""
    write_page(book, PAGE.replace("kernelspec:", "description: What & why\nkernelspec:"))
    result = build(book, GITHUB_SERVER_URL="https://github.com", GITHUB_REPOSITORY="ada/losses")
    assert result.returncode == 0, result.stdout + result.stderr
    return book / "_build" / "html"


@pytest.mark.parametrize("name", ["index", "book/page"])
def test_link_to_a_page_has_a_preview(published: Path, name: str) -> None:
    html = BeautifulSoup((published / f"{name}.html").read_text(), "html.parser")
    graph = {tag["property"]: tag["content"] for tag in html.select("meta[property^=og]")}
    assert graph["og:title"] == "A page"
    assert graph["og:description"] == "What & why"
    assert graph["og:url"] == html.find("link", rel="canonical")["href"] == f"{SITE}book/page.html"
    assert graph["og:image"].startswith(SITE)
    picture = published / graph["og:image"].removeprefix(SITE)
    size = [int(graph["og:image:width"]), int(graph["og:image:height"])]
    assert list(reversed(imread(picture).shape[:2])) == size == [1200, 630]
    assert picture.stat().st_size < 50_000


def test_sitemap_lists_the_pages(published: Path) -> None:
    tree = ElementTree.parse(published / "sitemap.xml")
    assert [element.text for element in tree.findall(".//{*}loc")] == [f"{SITE}book/page.html"]


def test_page_links_to_the_whole_book(published: Path) -> None:
    html = BeautifulSoup((published / "book" / "page.html").read_text(), "html.parser")
    links = {link["href"] for link in html.select("footer a")}
    assert {f"{SITE}book.pdf", f"{SITE}site.zip"} <= links


def test_report_names_the_page_and_the_section(published: Path, visit: Open) -> None:
    html = published / "book" / "page.html"
    visited = visit(html.as_uri())
    visited.page.route("https://github.com/**", Route.abort)
    button = visited.page.locator(".btn-report-button")
    assert "Report an error" in str(button.text_content())
    button.dispatch_event("click")
    url = urlsplit(str(button.get_attribute("href")))
    assert url.path == "/ada/losses/issues/new"
    query = parse_qs(url.query)
    assert query["page"] == [f"{SITE}book/page.html#a-page"]
    (template,) = query["template"]
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / template).read_text())
    assert "page" in [field["id"] for field in form["body"]]


def test_wrong_address_leads_back_to_the_published_site(published: Path) -> None:
    html = BeautifulSoup((published / "404.html").read_text(), "html.parser")
    assert [tag["href"] for tag in html.select("a")] == [f"{SITE}book/page.html"]
    assert [tag["action"] for tag in html.select("form")] == [f"{SITE}search.html"]


def test_without_an_address_nothing_claims_one(book: Path, published: Path) -> None:
    assert build(book, GITHUB_SERVER_URL="", GITHUB_REPOSITORY="").returncode == 0
    html = (published / "book" / "page.html").read_text()
    assert not re.search("og:|canonical|book.pdf|btn-report-button", html)


def test_wrong_address_at_any_depth_leads_back(site: Path, site_url: str, visit: Open) -> None:
    """As on a server that answers with 404.html; its links begin at the site's address, or at the root."""
    html = BeautifulSoup((site / "404.html").read_text(), "html.parser")
    start = html.select_one("main a, p a")
    assert start
    home = urljoin(site_url, str(start["href"])).removesuffix(f"{TOC['root']}.html")

    def answer(route: Route) -> None:
        file = site / urlsplit(route.request.url).path.removeprefix(urlsplit(home).path)
        route.fulfill(
            path=file if file.is_file() else site / "404.html", status=200 if file.is_file() else 404
        )

    visited = visit("about:blank")
    visited.page.route(f"{home}**", answer)
    for depth in ("nowhere", "book/no/where/at/all.html"):
        visited.page.goto(home + depth)
        visited.page.locator("input").fill("sigmoid")
        visited.page.keyboard.press("Enter")
        visited.page.wait_for_url(f"{home}search.html?q=sigmoid")
        visited.page.goto(home + depth)
        visited.page.locator("p a").click()
        visited.page.wait_for_url(f"{home}{TOC['root']}.html")
    assert [error for error in visited.errors if "404" not in error] == []


class Answer(BaseHTTPRequestHandler):
    """A site with one page."""

    def do_HEAD(self) -> None:
        self.send_response(200 if self.path == "/there" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_broken_link_to_another_site_is_found(book: Path) -> None:
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        write_page(book, f"{PAGE}\n[one]({address}/there)\n")
        good = build(book, "--builder", "linkcheck")
        assert good.returncode == 0, good.stdout + good.stderr
        write_page(book, f"{PAGE}\n[one]({address}/there) [two]({address}/gone)\n")
        bad = build(book, "--builder", "linkcheck")
        server.shutdown()
    assert bad.returncode != 0
    broken = re.findall(r"broken\s+http://[\d.:]+(\S+)", re.sub("\x1b\\[[\\d;]*m", "", bad.stdout))
    assert broken == ["/gone"]
    assert bad.stderr.splitlines()[-1].startswith("Not all links were found")


# What publishes it


def test_notebooks_are_added_to_their_branch(tmp_path: Path) -> None:
    repository, folder = tmp_path / "repository", tmp_path / "notebooks"
    subprocess.run(["git", "init", "--quiet", "--bare", repository], check=True)
    folder.mkdir()

    def git(*arguments: str) -> list[str]:
        command = ["git", "-C", str(repository), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

    commits = []
    for names in (["a.ipynb"], ["a.ipynb"], ["b.ipynb"]):
        for old in folder.iterdir():
            old.unlink()
        for name in names:
            (folder / name).write_text("{}")
        assert share_notebooks.main(str(folder), repository.as_uri()) == 0
        assert git("ls-tree", "--name-only", "notebooks") == names
        commits.append(git("rev-list", "notebooks"))
    first, same, last = commits
    assert same == first  # nothing new, no commit
    assert last[1:] == first  # on top of the other, which stays


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_may_do_and_trust_as_little_as_they_can(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    more = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    assert more == (
        {"pages": {"pages": "write", "id-token": "write"}, "notebooks": {"contents": "write"}}
        if file.stem == "publish"
        else {}
    )
    actions = re.findall(r"uses: ([^.\s].*)", file.read_text())
    assert actions
    assert [
        action for action in actions if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v[\d.]+", action)
    ] == []


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_run_what_there_is(file: Path) -> None:
    jobs = yaml.safe_load(file.read_text())["jobs"]
    for job in jobs.values():
        assert {job["needs"]} <= jobs.keys() if "needs" in job else True
        if "uses" in job:
            assert (ROOT / job["uses"]).is_file()
            continue
        assert job["timeout-minutes"] <= 120
        for command in [step["run"] for step in job["steps"] if "run" in step]:
            program, *arguments = command.split()
            if program == "make":
                subprocess.run(["make", "--dry-run", *arguments], cwd=ROOT, check=True, capture_output=True)
            elif program.startswith("python"):
                assert (ROOT / arguments[0]).is_file()
