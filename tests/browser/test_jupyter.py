"""The chapters in a real JupyterLab with a real kernel, set up as Binder sets it up.

With `--slow` the environment is made anew from `.binder/`, and all cells of every chapter are run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import serve
from jupyter_client.blocking.client import BlockingKernelClient
from mlloss_book.launch import links
from mlloss_book.repository import Repository
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
TRAINING = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3, language: python}
---

```{code-cell} python
from mlloss import figures
figures.TrainingLab(runs=1, samples=100, steps=40)
```
"""
BINDER = ROOT / ".binder"
PATIENCE = 180  # seconds: two slow cores start a server, a browser and a kernel
CHAPTERS = sorted(page.stem for page in (ROOT / "book").glob("*.md") if "```{code-cell}" in page.read_text())


def path_of_button(name: str) -> str:
    """The path in JupyterLab that the page's Binder button opens."""
    (button,) = links({"binderhub_url": "https://binder"}, Repository("github", "a", "b"), f"book/{name}")
    (path,) = parse_qs(urlsplit(button["url"]).query)["urlpath"]
    return path


@pytest.fixture(scope="module")
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment's programs: with `--slow` of a clean one, else of this one."""
    if not request.config.getoption("--slow"):
        return Path(sys.executable).parent
    clean = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", clean], check=True)
    install = [clean / "bin" / "pip", "install", "--quiet", "-r", BINDER / "requirements.txt"]
    subprocess.run(install, cwd=ROOT, check=True)
    return clean / "bin"


@pytest.fixture(scope="module")
def lab(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a JupyterLab on the chapters, and its runtime folder."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "book").mkdir()
    for name in CHAPTERS:
        shutil.copy(ROOT / "book" / f"{name}.md", folder / "book")
    (folder / "book" / "training.md").write_text(TRAINING)
    with serve.server(folder, port=0) as free:
        port = free.server_port
    options = [f"--port={port}", "--ip=127.0.0.1", "--no-browser", "--allow-root", "--expose-app-in-browser"]
    options += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    options += [f"--LabApp.app_settings_dir={folder / 'none'}"]  # and not what `make lab` has set
    environment = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
    }
    subprocess.run([BINDER / "postBuild"], cwd=folder, env=environment, check=True)
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [programs / "jupyter", "lab", *options], env=environment, cwd=folder, stdout=log, stderr=log
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address + "/api", server)
        yield address, folder / "runtime"
    finally:
        server.terminate()
        server.wait(30)


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(PATIENCE):
        assert server.poll() is None, "JupyterLab ended by itself"
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            time.sleep(1)
        else:
            return
    raise AssertionError("JupyterLab does not answer")


def open_chapter(page: Page, lab: str, name: str) -> None:
    """Open a page as its button does; it must come up as a notebook whose kernel is ready.

    Each button of Binder's starts a JupyterLab of its own; here one serves all, and forgets the last page.
    """
    page.set_default_timeout(PATIENCE * 1000)
    page.goto(f"{lab}/{path_of_button(name)}?reset")
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session?.kernel")


def run_all_cells(page: Page) -> None:
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")


def problems(page: Page) -> list[Any]:
    """Code cells that have not been executed, and what others have printed of errors and warnings."""
    notebook = page.evaluate("window.jupyterapp.shell.currentWidget.content.model.toJSON()")
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert cells
    outputs = [output for cell in cells for output in cell["outputs"]]
    wrong = [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]
    return [cell["source"] for cell in cells if cell["execution_count"] is None] + wrong


@pytest.fixture(scope="module")
def chapter(lab: tuple[str, Path], chromium: Browser) -> Iterator[Page]:
    """The chapter, opened as a notebook, all of its cells run."""
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    open_chapter(page, lab[0], "hard-form")
    run_all_cells(page)
    page.locator('live-figure[name="temperature"]').wait_for()
    yield page
    page.close()


@pytest.fixture(scope="module")
def kernel(lab: tuple[str, Path], chapter: Page) -> Iterator[Any]:
    """Evaluates an expression in the chapter's kernel: `kernel("1 + 1", setup="…")`."""
    (file,) = lab[1].glob("kernel-*.json")
    client = BlockingKernelClient(connection_file=str(file))
    client.load_connection_file()
    client.start_channels()
    client.wait_for_ready(timeout=PATIENCE)

    def evaluate(expression: str, setup: str = "") -> Any:
        reply = client.execute_interactive(
            setup, silent=True, user_expressions={"it": f"json.dumps({expression})"}, timeout=PATIENCE
        )
        result = reply["content"]["user_expressions"]["it"]
        assert result["status"] == "ok", result
        return json.loads(result["data"]["text/plain"].strip("'"))

    evaluate("0", "import json, mlloss.live")
    evaluate("0", "shown = {f.name: f for f in Out.values() if isinstance(f, mlloss.live.LiveFigure)}")
    evaluate("0", "figure = shown['logsumexp-and-max']")
    yield evaluate
    client.stop_channels()


def test_all_cells_run_without_error(chapter: Page, kernel: Any) -> None:
    assert kernel("sorted(shown)")
    assert problems(chapter) == []


def test_a_slider_moved_in_the_browser_is_known_to_python(chapter: Page, kernel: Any) -> None:
    kernel("0", "seen = []; figure.observe(lambda change: seen.append(change.new['s1']), 'params')")
    chapter.locator('live-figure[name="logsumexp-and-max"] input[name="s1"]').fill("2.5")
    deadline = time.monotonic() + PATIENCE
    while kernel("seen[-1:]") != [2.5] and time.monotonic() < deadline:
        time.sleep(0.2)
    assert kernel("figure.params['s1']") == 2.5
    shown = chapter.locator('live-figure[name="logsumexp-and-max"]').evaluate(
        "figure => figure.values.soft_value"
    )
    assert kernel("figure.values()['soft_value']") == pytest.approx(shown, rel=1e-9)


def test_a_value_set_in_python_moves_the_figure(chapter: Page, kernel: Any) -> None:
    kernel("0", "figure.params = {'s1': -3, 's2': 1}")
    chapter.wait_for_function(
        """() => document.querySelector('live-figure[name="logsumexp-and-max"]').params.s1 === -3"""
    )
    slider = chapter.locator('live-figure[name="logsumexp-and-max"] input[name="s2"]')
    assert slider.input_value() == "1"


def test_it_composes_with_other_widgets(chapter: Page, kernel: Any) -> None:
    kernel("0", "import ipywidgets; box = ipywidgets.VBox([figure, ipywidgets.FloatSlider(min=-6, max=6)])")
    kernel("0", "box.children[1].observe(lambda c: figure.set_trait('params', {'s3': c.new}), 'value')")
    kernel("0", "box.children[1].value = 4.5")
    chapter.wait_for_function(
        """() => document.querySelector('live-figure[name="logsumexp-and-max"]').params.s3 === 4.5"""
    )


@pytest.mark.parametrize("name", CHAPTERS)
def test_button_opens_the_chapter_as_a_notebook(
    lab: tuple[str, Path], chromium: Browser, name: str, request: pytest.FixtureRequest
) -> None:
    page = chromium.new_page()
    try:
        open_chapter(page, lab[0], name)
        title = re.search(r"^# (.+)$", (ROOT / "book" / f"{name}.md").read_text(), re.MULTILINE)
        assert title
        page.locator(".jp-Notebook h1").filter(has_text=title[1]).wait_for()
        if request.config.getoption("--slow"):
            run_all_cells(page)
            assert problems(page) == []
        page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    finally:
        page.close()


def test_a_training_is_started_with_a_button_and_followed(lab: tuple[str, Path], chromium: Browser) -> None:
    page = chromium.new_page()
    open_chapter(page, lab[0], "training")
    run_all_cells(page)
    train = page.get_by_role("button", name="Train")
    train.wait_for()
    page.locator(".jp-OutputArea .widget-dropdown select").first.select_option("circle")
    page.get_by_label("gamma").wait_for()
    train.click()
    page.locator(".jp-OutputArea svg[aria-label*='2: circle ends at']").wait_for()
    page.get_by_text("2: circle, step 40").wait_for()
    page.wait_for_function("document.querySelector('.widget-hprogress .progress-bar').style.width === '100%'")
    page.close()


def test_notebook_to_take_away_keeps_its_solutions_closed(
    lab: tuple[str, Path], chromium: Browser, site: Path
) -> None:
    shutil.copy(site / "notebooks" / "hard-form.ipynb", lab[1].parent)
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    try:
        page.goto(f"{lab[0]}/lab/tree/hard-form.ipynb?reset")
        cells = page.locator(".jp-Notebook .jp-Cell")
        cells.get_by_role("heading", name="Exercise 1: Two equal leaders").wait_for()
        solution = cells.filter(has_text="Solution to exercise 1")
        code = cells.filter(has_text="leaders = torch.tensor")
        code.wait_for(state="hidden")
        assert code.count() == 1
        solution.locator(".jp-showHiddenCellsButton").click(timeout=30_000)
        code.wait_for(state="visible")
        page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    finally:
        page.close()
