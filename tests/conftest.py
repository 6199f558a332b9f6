"""The built site in a real browser: what the tests of the pages and of the live figures share."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import browser as tools_browser
import pytest
import serve
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is loaded; see tools/build.py

ROOT = Path(__file__).parents[1]
SITE = ROOT / "_build" / "html"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slow", action="store_true", help="also what takes long: all notebooks, in clean environments"
    )


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site."""
    assert (SITE / "index.html").exists(), "the book is not built: run `make book`"
    return SITE


@pytest.fixture(scope="session")
def site_url(site: Path) -> Iterator[str]:
    """The address of the site on this machine, with a slash at its end."""
    with serve.server(site, port=0) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield serve.address(running)
        running.shutdown()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    program = tools_browser.find()
    assert program, tools_browser.ADVICE
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=tools_browser.FLAGS)
        yield browser
        browser.close()


class Visit:
    """A page in a fresh browser context, and what went wrong on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", self.note_console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("requestfailed", self.note_failure)
        page.on("request", self.note_request)

    def note_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def note_failure(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # which is what the browser does when it leaves a page
            self.errors.append(f"not loaded: {request.url}")

    def note_request(self, request: Request) -> None:
        self.requests.append(request.url)

    @property
    def foreign(self) -> list[str]:
        """The requests that went to another host."""
        own = ("http://127.0.0.1:", "file://", "data:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Callable[..., Visit]]:
    """Opens an address in a fresh context: `visit(url, width=1280, color_scheme="dark", …)`."""
    contexts = []

    def open_page(url: str, width: int = 1280, height: int = 900, **options: Any) -> Visit:
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        visit = Visit(context.new_page())
        visit.page.goto(url, wait_until="load")
        return visit

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def record_weight(request: pytest.FixtureRequest) -> Callable[[str, int], None]:
    """Puts the weight of a page into the summary of the test run."""
    weights = request.config.stash.setdefault(WEIGHTS, {})
    return weights.__setitem__


@pytest.fixture
def record_time(request: pytest.FixtureRequest) -> Callable[[str, float], None]:
    """Puts milliseconds into the summary of the test run."""
    times = request.config.stash.setdefault(TIMES, {})
    return times.__setitem__


WEIGHTS = pytest.StashKey[dict[str, int]]()
TIMES = pytest.StashKey[dict[str, float]]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    weights = terminalreporter.config.stash.get(WEIGHTS, {})
    if weights:
        terminalreporter.section("kilobytes of a first visit, compressed")
    for name, size in weights.items():
        terminalreporter.write_line(f"{size / 1000:6.1f}  {name}")
    times = terminalreporter.config.stash.get(TIMES, {})
    if times:
        terminalreporter.section("milliseconds")
    for name, time in times.items():
        terminalreporter.write_line(f"{time:6.2f}  {name}")
