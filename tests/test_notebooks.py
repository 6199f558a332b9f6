"""The notebooks to take away: complete, plain, and executable where little is installed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from mlloss_book import notebooks
from mlloss_book.repository import Repository
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
BOOK = ROOT / "book"
CELL = re.compile(r"^```\{code-cell\} python\n(?::[^\n]*\n)*(.*?)^```$", re.MULTILINE | re.DOTALL)
LABEL = re.compile(r"^\$\$ \([\w-]+\)$", re.MULTILINE)
RAW = re.compile(r":::|```\{|\{[\w:-]+\}`|^\([\w-]+\)=$|\{\{|^:\w+:", re.MULTILINE)
NAMES = sorted(page.stem for page in BOOK.glob("*.md") if "```{code-cell}" in page.read_text())
QUICK = {"sigmoid", "hard-form"}
COLAB = [
    "torch>=2.4",
    "numpy",
    "matplotlib",
    "sympy",
    "scikit-learn",
    "ipykernel",
    "ipywidgets",
]  # and no anywidget
every_notebook = pytest.mark.parametrize("name", NAMES)


def source(name: str) -> str:
    return (BOOK / f"{name}.md").read_text(encoding="utf-8")


def read(site: Path, name: str) -> Any:
    return nbformat.read(site / notebooks.FOLDER / f"{name}.ipynb", as_version=4)


def prose(notebook: Any) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


@every_notebook
def test_notebook_has_all_code_of_its_page_after_the_cell_that_installs(site: Path, name: str) -> None:
    install, *code = [cell.source for cell in read(site, name).cells if cell.cell_type == "code"]
    assert code == [cell.strip() for cell in CELL.findall(source(name))]
    assert install.startswith("# Installs what")
    assert read(site, name).cells[0].source == install


@every_notebook
def test_no_directive_is_left(site: Path, name: str) -> None:
    text = re.sub(r"\$[^$]+\$", "", prose(read(site, name)))  # \text{a}` would look like a role
    assert RAW.findall(text) == []


@every_notebook
def test_headings_equations_exercises_and_questions_are_there(site: Path, name: str) -> None:
    text = prose(read(site, name))
    assert len(re.findall(r"\\tag\{\d+\}", text)) == len(LABEL.findall(source(name)))
    for part, written in [
        (r"^## ", r"^## "),
        (r"^#+ Exercise \d+", r"^:::\{exercise\}"),
        (r"^#+ Solution to exercise \d+$", r"^(?:```|:::)\{solution(?:-start)?\} "),
        (r"^\*\*Question \d+\.\*\* ", r"^:::\{question\} "),
        (r"^<details>", r"^:::\{question\} "),
        (r"^> \*\*", r"^:::\{admonition\} "),
    ]:
        found = re.findall(part, text, re.MULTILINE)
        assert len(found) == len(re.findall(written, source(name), re.MULTILINE)), part


@every_notebook
def test_solutions_are_collapsed(site: Path, name: str) -> None:
    notebook = read(site, name)
    solutions = [cell.metadata.id for cell in notebook.cells if "Solution to exercise" in cell.source]
    assert solutions == [
        cell.metadata.id for cell in notebook.cells if cell.metadata.get(notebooks.COLLAPSED)
    ]
    assert solutions == notebook.metadata.colab.collapsed_sections


@every_notebook
def test_formulas_in_quotations_and_lists_stand_on_one_line(site: Path, name: str) -> None:
    """Jupyter takes formulas out of the text before it looks for the marks of a quotation."""
    lines = prose(read(site, name)).splitlines()
    assert [line for line in lines if line.startswith((">", " ", "-")) and line.count("$$") % 2] == []


@every_notebook
def test_runs(site: Path, name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Here, where nothing is missing, and so nothing is installed; most notebooks only with `--slow`."""
    if name not in QUICK and not request.config.getoption("--slow"):
        pytest.skip("takes minutes: run with --slow")
    notebook = read(site, name)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert outputs
    assert [output for output in outputs if output.get("name") == "stderr"] == []


def test_all_run_where_only_colabs_packages_are(
    site: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """In a new environment, where the first cell installs the rest, from this folder for the repository."""
    if not request.config.getoption("--slow"):
        pytest.skip("takes minutes: run with --slow")
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)
    python = tmp_path / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *COLAB], check=True)
    here = f"mlloss[figures] @ {ROOT.as_uri()}"
    for name in NAMES:
        notebook = read(site, name)
        notebook.cells[0].source = notebooks.first_cell("", "", here)
        (tmp_path / f"{name}.ipynb").write_text(nbformat.writes(notebook))
        script = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        subprocess.run([python, "-m", "IPython", "-c", script], check=True)


def test_first_cell_names_only_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, check: ran.append(command))
    cell = notebooks.first_cell("A book", "https://a/", Repository("github", "ada", "losses").requirement)
    exec(cell, {})
    assert ran == []
    exec(cell.replace('"anywidget":', '"no_such_module":').replace('"mlloss":', '"nor_this":'), {})
    (command,) = ran
    assert command[1:4] == ["-m", "pip", "install"]
    assert command[5:] == ["mlloss[figures] @ git+https://github.com/ada/losses@main", "anywidget"]


def test_first_cell_says_what_to_do_where_no_address_is_known() -> None:
    cell = notebooks.first_cell("A book", "", "")
    exec(cell, {})
    with pytest.raises(ModuleNotFoundError, match=r"mlloss: not installed.*folder of the book"):
        exec(cell.replace('"mlloss":', '"no_such_module":'), {})


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a * b_c [d] <e> $f", r"a \* b\_c \[d\] \<e\> \$f"),
        ("1. no list", r"1\. no list"),
        ("## no heading", r"\## no heading"),
        ("line\n- no list\n# no heading", "line\n\\- no list\n\\# no heading"),
        ("-1 and #2", "-1 and #2"),
    ],
)
def test_text_stays_text(text: str, escaped: str) -> None:
    assert notebooks.escape(text) == escaped


def test_code_spans_hold_backticks() -> None:
    assert notebooks.code_span("x") == "`x`"
    assert notebooks.code_span("`x`") == "`` `x` ``"
