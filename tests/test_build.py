"""The commands: how they set themselves up, what they say when they cannot, and when pages are executed."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from threading import Thread

import browser
import environment
import lint
import pytest
import serve
from mlloss_book import katex
from mlloss_book.execution import fingerprint
from small_book import PAGE, build, make_book, write_page

ROOT = Path(__file__).parents[1]
MAKE = shutil.which("make")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project in which the tools set up an environment."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "requirements.txt").write_text("# nothing\n")
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


def set_up() -> int:
    return environment.main(["requirements.txt"])


def make(*arguments: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Run make in this project, with the programs in this folder only."""
    assert MAKE
    return subprocess.run(
        [MAKE, *arguments], cwd=ROOT, env={"PATH": str(path)}, capture_output=True, text=True
    )


def test_environment_is_made_once_and_made_anew_when_broken(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set_up() == 0
    with monkeypatch.context() as patch:
        patch.setattr(environment, "install", lambda requirements: pytest.fail("nothing had to be installed"))
        assert set_up() == 0

    moved = project.with_name("moved")
    project.rename(moved)
    monkeypatch.chdir(moved)
    assert not environment.works()
    assert set_up() == 0
    assert environment.works()

    for python in environment.PYTHON.parent.glob("python*"):
        python.unlink()
    assert not environment.works()


def test_interrupted_installation_goes_on_where_it_stopped(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert set_up() == 0
    (project / "requirements.txt").write_text("./missing\n")
    assert set_up() == 1
    assert capfd.readouterr().err.splitlines()[-1].startswith("The installation did not finish: run the same")
    assert not environment.STAMP.exists()
    (project / "requirements.txt").write_text("# nothing\n")
    assert set_up() == 0
    assert environment.STAMP.exists()


def test_missing_venv_module_is_one_sentence(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    assert set_up() == 1
    assert capsys.readouterr().err == environment.LACKS_VENV + "\n"


@pytest.mark.parametrize("arguments", [[], ["PYTHON=python2"]], ids=["none", "unfit"])
def test_missing_python_is_one_sentence(tmp_path: Path, arguments: list[str]) -> None:
    result = make("book", *arguments, path=tmp_path)
    assert result.returncode != 0
    assert result.stderr.splitlines()[0] == (
        "The book needs Python 3.10 to 3.13: install it, or name it with PYTHON=/path/to/python."
    )


def test_first_python_that_fits_is_taken(tmp_path: Path) -> None:
    for name, fits in [("python3", False), ("python3.13", False), ("python3.12", True), ("python3.11", True)]:
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\nexit {0 if fits else 1}\n")
        program.chmod(0o755)
    assert '"python3.12" tools/environment.py' in make("--dry-run", "book", path=tmp_path).stdout


def test_server_takes_a_free_port_of_this_machine_only(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("here")
    with socket.socket() as taken:
        taken.bind((serve.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with serve.server(tmp_path, port) as running:
            assert running.server_address[0] == "127.0.0.1"
            assert running.server_port != port
            Thread(target=running.serve_forever, daemon=True).start()
            assert urllib.request.urlopen(serve.address(running)).read() == b"here"
            running.shutdown()


def test_missing_browser_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHROMIUM", "/missing/chromium")
    assert browser.main() == 1
    assert capsys.readouterr().err == browser.ADVICE + "\n"


@pytest.mark.parametrize("check", lint.CHECKS, ids=" ".join)
def test_style_formatting_and_types(check: list[str]) -> None:
    result = subprocess.run([sys.executable, "-m", *check], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_formulas_are_typeset_and_mistakes_reported() -> None:
    assert 'class="katex-display"' in katex.typeset(r"\frac12", display=True)["html"]
    assert r"Undefined control sequence: \frak" in katex.typeset(r"\frakk", display=False)["error"]


@pytest.mark.parametrize(
    ("latex", "words"),
    [
        (r"\sigma(-z)", "σ(−z)"),
        (r"\frac{1}{1 + e^{-s}}", "(1)/(1+e^(−s))"),
        (r"\sum_{i=1}^n s_i", "∑_(i=1)^(n)s_(i)"),
        (r"\log\operatorname{softplus}(-z)", "log\u2061softplus\u2061(−z)"),
    ],
)
def test_formulas_in_links_have_a_name(latex: str, words: str) -> None:
    formula = katex.with_name(katex.typeset(latex, display=False)["html"])
    assert f'<math aria-label="{words}" xmlns' in formula


def test_style_sheet_and_script_are_of_one_release() -> None:
    sheet = (ROOT / "book" / "_static" / "katex" / "katex.min.css").read_text()
    release = re.search(r'\.katex-version::?after\{content:"([\d.]+)"', sheet)
    assert release
    assert f'version:"{release[1]}"' in katex.KATEX.read_text()


def test_fingerprint_follows_names_and_contents(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    seen = [fingerprint([package])]
    for name, contents in [("a.py", "1"), ("a.py", "2"), ("a.js", "2")]:
        (package / name).write_text(contents)
        seen.append(fingerprint([package]))
    assert len(set(seen)) == 4

    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "a.pyc").write_text("3")
    assert fingerprint([package]) == seen[-1]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_book(tmp_path_factory.mktemp("book"))


def executions(book: Path) -> int:
    """Build, and count how often the page has been executed so far."""
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    return len((book / "book" / "executions").read_text().splitlines())


def test_pages_are_executed_when_their_code_or_the_package_changes(book: Path) -> None:
    assert executions(book) == 1
    assert executions(book) == 1
    write_page(book, PAGE.replace("Prose.", "Other prose."))
    assert executions(book) == 1
    write_page(book, PAGE.replace("1 + 1", "1 + 2"))
    assert executions(book) == 2
    (book / "mlloss" / "live" / "live-figure.css").write_text("/* another look */")
    assert executions(book) == 3
    assert len(list((book / "_build" / ".jupyter_cache").iterdir())) == 1


def test_solution_holds_the_cells_up_to_its_end(book: Path) -> None:
    write_page(book, PAGE)
    assert build(book).returncode == 0
    html = (book / "_build" / "html" / "book" / "page.html").read_text()
    solution = re.search(r'<details class="solution">(.*?)</details>', html, re.DOTALL)
    assert solution
    assert "Solution to exercise 1" in solution[1]
    assert ">2\n" in re.sub("</?span[^>]*>", "", solution[1])
    assert '<p class="admonition-title">Exercise 1: Half</p>' in html


OUTWARD = re.compile(r'<a href="(https://(?:mybinder|colab|github)[^"]*)"')


def test_buttons_are_those_of_the_repository_that_builds(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_REF_NAME", "main")
    write_page(book, PAGE)
    html, notebook = book / "_build/html/book/page.html", book / "_build/html/notebooks/page.ipynb"
    for owner in ("ada", "emmy"):
        assert (
            build(book, GITHUB_SERVER_URL="https://github.com", GITHUB_REPOSITORY=f"{owner}/fork").returncode
            == 0
        )
        assert OUTWARD.findall(html.read_text()) == [
            f"https://mybinder.org/v2/gh/{owner}/fork/main?urlpath=lab%2Ftree%2Fbook%2Fpage.md",
            f"https://colab.research.google.com/github/{owner}/fork/blob/notebooks/page.ipynb",
            f"https://github.com/{owner}/fork",
            f"https://github.com/{owner}/fork/edit/main/book/page.md",
            f"https://github.com/{owner}/fork/issues/new?template=page.yml&title=A+page%3A+"
            f"&page=https%3A%2F%2F{owner}.github.io%2Ffork%2Fbook%2Fpage.html",
        ]
        assert f"mlloss[figures] @ git+https://github.com/{owner}/fork@main" in notebook.read_text()
    drawn = (ROOT / "book" / "_static" / "book.css").read_text()
    icons = set(re.findall(r"\bfa-[a-z-]+", html.read_text())) - {"fa-solid", "fa-lg"}
    assert {"fa-rocket", "fa-github"} <= icons
    assert [icon for icon in icons if not re.search(rf"\.{icon}\b[^{{]*\{{ --icon", drawn)] == []


def test_without_an_address_there_is_no_button_that_needs_one(book: Path) -> None:
    write_page(book, PAGE)
    assert build(book, GITHUB_SERVER_URL="", GITHUB_REPOSITORY="").returncode == 0
    html = (book / "_build/html/book/page.html").read_text()
    assert OUTWARD.findall(html) == []
    assert "dropdown-launch-buttons" not in html
    assert 'href="../notebooks/page.ipynb"' in html
    assert "not installed" in (book / "_build/html/notebooks/page.ipynb").read_text()


MISTAKES = {
    "[](#nowhere)": "'myst' cross-reference target not found: 'nowhere'",
    r"$\frakk$": "Undefined control sequence",
    "{figure-link}`nothing <no-figure x=1>`": "no page shows a figure 'no-figure'",
    ":::{solution} other\n:::": "no exercise is labelled 'other'",
    ":::{solution-start} half\n:::": "no `solution-end`",
    "```{code-cell} python\n1 / 0\n```": "ZeroDivisionError",
    ":::{question} A or B?\n- [ ] A — No.\n- [ ] B — No.\n:::": "question 1 has 0 right choices",
    ":::{question} A or B?\n- [x] A — Yes.\n- [x] B — Yes.\n:::": "question 2 has 2 right choices",
    ":::{question} A or B?\n- [x] A\n- [ ] B — No.\n:::": "question 3 has no dash",
}


def test_mistakes_fail_the_build_until_they_are_mended(book: Path) -> None:
    write_page(book, "\n\n".join([PAGE, *MISTAKES]))
    for _ in range(2):
        result = build(book)
        assert result.returncode != 0
        assert [
            message for message in MISTAKES.values() if message not in result.stdout + result.stderr
        ] == []
        assert result.stderr.splitlines()[-1].startswith("The book was not built")
    write_page(book, PAGE)
    assert build(book).returncode == 0
