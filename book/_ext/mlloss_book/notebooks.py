"""Every chapter as a notebook to take away: plain Markdown and code that any Jupyter shows, no directives.

What is written is the page as Sphinx has resolved it. Equations carry their numbers, references to other
pages are links to the published site, citations are text; results are left out, since the cells make them.
Solutions are collapsed. The first cell installs what is missing, and only that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any
from urllib.parse import urljoin

import nbformat
from docutils import nodes
from myst_nb.core.read import read_myst_markdown_notebook
from nbformat import v4
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from . import repository
from .exercises import solution
from .questions import choice, question

logger = logging.getLogger(__name__)

FOLDER = "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
COLLAPSED = "jp-MarkdownHeadingCollapsed"  # how JupyterLab marks the cell; Colab lists such cells
INSTALL = """\
# Installs what this notebook needs and this Python lacks, nothing else.
# From {origin}
# Text and figures: CC BY 4.0. Code: BSD-3-Clause.
import importlib.util
import subprocess
import sys

needs = {{
    "mlloss": {package!r},
    "matplotlib": "matplotlib",
    "sympy": "sympy",
    "anywidget": "anywidget",
    "sklearn": "scikit-learn",
}}
missing = [package for module, package in needs.items()
           if importlib.util.find_spec(module) is None]
"""
PIP = """\
if missing:
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, *missing], check=True)
"""
ADVICE = """\
if missing:
    raise ModuleNotFoundError(
        f"{', '.join(missing)}: not installed. mlloss comes from the "
        "folder of the book: `pip install 'FOLDER[figures]' "
        "scikit-learn`, with that folder's path for FOLDER.")
"""
SPECIAL = re.compile(r"[\\`*_\[\]<>$~&|]")
BLOCK_START = re.compile(r"^(\s*\d*)(#+|[-+.)])(?=\s)", re.MULTILINE)  # of a list or a heading
LISTS = (nodes.bullet_list, nodes.enumerated_list)
NESTING = (nodes.Admonition, nodes.block_quote, nodes.list_item, nodes.definition)
INVISIBLE = (nodes.comment, nodes.target, nodes.Invisible, nodes.substitution_definition)


class Code(str):
    """The source of a code cell, among blocks of Markdown, which are plain strings."""


class Heading(str):
    """A heading, which begins a Markdown cell."""

    collapsed = False


class CollapsedHeading(Heading):
    """A heading whose section is shown when it is asked for."""

    collapsed = True


def is_code_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def note_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Remember which pages have cells: they are notebooks."""
    if any(map(is_code_cell, doctree.findall(nodes.container))):
        app.env.metadata[app.env.docname]["notebook"] = True


def is_notebook(app: Sphinx, page: str) -> bool:
    return "notebook" in app.env.metadata[page]


def notebook_name(page: str) -> str:
    return f"{PurePosixPath(page).name}.ipynb"


def escape(text: str) -> str:
    """Text that Markdown shows as it stands."""
    return BLOCK_START.sub(r"\1\\\2", SPECIAL.sub(r"\\\g<0>", text))


def code_span(text: str) -> str:
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def indent(text: str, first: str, later: str) -> str:
    lines = text.split("\n")
    return "\n".join([first + lines[0], *((later + line).rstrip() for line in lines[1:])])


class Writer:
    """Writes one resolved page as Markdown and code."""

    def __init__(self, app: Sphinx, page: str) -> None:
        site = repository.site(app.config)
        self.address = f"{site}{page}.html" if site else ""
        self.number = partial(get_node_equation_number, SimpleNamespace(builder=app.builder))  # type: ignore[arg-type]
        source = Path(app.env.doc2path(page)).read_text(encoding="utf-8")
        self.cells = read_myst_markdown_notebook(source)["cells"]

    # Inline: strings

    def inline(self, node: nodes.Node) -> str:
        match node:
            case nodes.Text():
                return escape(node.astext())
            case nodes.emphasis():
                return f"*{self.text(node)}*"
            case nodes.strong():
                return f"**{self.text(node)}**"
            case nodes.literal():
                return code_span(node.astext())
            case nodes.math():
                return f"${' '.join(node.astext().split())}$"
            case nodes.reference():
                return self.link(node)
            case nodes.raw():
                return node.astext() if node["format"] == "html" else ""
            case nodes.image():
                return f"![{escape(node.get('alt', ''))}]({self.absolute(node['uri'])})"
            case nodes.inline() | nodes.paragraph() | nodes.generated() | nodes.abbreviation():
                return self.text(node)
            case _ if isinstance(node, INVISIBLE):
                return ""
        return self.unknown(node)

    def text(self, node: nodes.Element) -> str:
        return "".join(map(self.inline, node))

    def link(self, node: nodes.reference) -> str:
        """A link; what points into this very page, or to a site that is not published, is text only."""
        address = self.absolute(node.get("refuri", ""))
        return f"[{self.text(node)}]({address})" if address else self.text(node)

    def absolute(self, uri: str) -> str:
        if not uri or uri.startswith("#"):
            return ""
        absolute = urljoin(self.address, uri)
        return absolute if "://" in absolute or absolute.startswith("mailto:") else ""

    def unknown(self, node: nodes.Node) -> str:
        logger.warning("notebooks do not know how to write <%s>", type(node).__name__, location=node)
        return ""

    # Blocks: strings, of which some are code or headings

    def blocks(self, node: nodes.Element, depth: int) -> Iterator[str]:
        for child in node:
            yield from self.block(child, depth)

    def block(self, node: nodes.Node, depth: int) -> Iterator[str]:
        match node:
            case nodes.section():
                yield from self.blocks(node, depth + 1)
            case nodes.title() | nodes.rubric():
                yield Heading(f"{'#' * depth} {self.text(node)}")
            case nodes.paragraph():
                yield self.text(node)
            case nodes.math_block():
                yield self.display(node)
            case nodes.literal_block():
                language = node.get("language", "")
                yield f"```{language if language.isalnum() else ''}\n{node.astext()}\n```"
            case nodes.container() if is_code_cell(node):
                yield Code(self.cells[node["cell_index"]]["source"].strip("\n"))
            case nodes.bullet_list():
                yield "\n".join(indent(self.nested(item), "- ", "  ") for item in node)
            case nodes.enumerated_list():
                start = node.get("start", 1)
                items = enumerate(map(self.nested, node), start)
                yield "\n".join(indent(item, f"{i}. ", "   ") for i, item in items)
            case nodes.definition_list():
                yield "\n".join(self.definition(item) for item in node)
            case nodes.table():
                yield self.table(node)
            case nodes.block_quote():
                yield indent(self.nested(node), "> ", "> ")
            case solution():
                yield CollapsedHeading(f"{'#' * (depth + 2)} Solution to exercise {node['number']}")
                yield from self.blocks(node, depth + 2)
            case nodes.admonition() if "exercise" in node["classes"]:
                yield from self.blocks(node, depth + 1)
            case nodes.Admonition():
                yield indent(self.admonition(node), "> ", "> ")
            case question():
                yield from self.question(node)
            case nodes.container() | nodes.compound() | nodes.figure() | nodes.caption() | nodes.legend():
                yield from self.blocks(node, depth)
            case nodes.Text() | nodes.Inline() | nodes.image() | nodes.raw():
                yield self.inline(node)
            case _ if isinstance(node, INVISIBLE) or node.tagname in ("index", "toctree"):
                pass
            case _:
                yield self.unknown(node)

    def nested(self, children: Iterable[nodes.Node]) -> str:
        """What stands inside a list, a quotation or a table, as one string."""
        result = ""
        for child in children:
            for block in filter(None, self.block(child, depth=5)):
                gap = "\n" if isinstance(child, LISTS) else "\n\n"
                result += (gap if result else "") + block
        return result

    def display(self, node: nodes.math_block) -> str:
        latex = node.astext().strip()
        if node["number"]:
            latex += f"\n\\tag{{{self.number(node)}}}"
        if any(isinstance(outer, NESTING) for outer in ancestors(node)):
            return f"$$ {' '.join(latex.split())} $$"  # Jupyter takes formulas out before it sees a quotation
        return f"$$\n{latex}\n$$"

    def admonition(self, node: nodes.Element) -> str:
        if isinstance(node[0], nodes.title):
            title, body = self.text(node[0]), node[1:]
        else:
            title, body = node.tagname.capitalize(), node.children
        return f"**{title}**\n\n{self.nested(body)}"

    def question(self, node: question) -> Iterator[str]:
        choices = [child for child in node if isinstance(child, choice)]
        yield self.nested(child for child in node if not isinstance(child, choice))
        yield "\n".join(f"- {self.text(text)}" for text, *_ in choices)
        answers = (indent(f"{self.text(text)} — {self.nested(more)}", "- ", "  ") for text, *more in choices)
        yield "<details><summary>Answers</summary>"
        yield "\n".join(answers)
        yield "</details>"

    def definition(self, item: nodes.Element) -> str:
        terms = [self.text(child) for child in item if isinstance(child, nodes.term)]
        bodies = [self.nested(child) for child in item if isinstance(child, nodes.definition)]
        return indent(f"**{', '.join(terms)}**: " + "\n\n".join(bodies), "- ", "  ")

    def table(self, node: nodes.table) -> str:
        rows = [[self.entry(entry) for entry in row] for row in node.findall(nodes.row)]
        if not any(node.findall(nodes.thead)):
            rows.insert(0, [""] * len(rows[0]))
        rows.insert(1, ["---"] * len(rows[0]))
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def entry(self, node: nodes.Element) -> str:
        text = " ".join(self.nested(node).split())
        return re.sub(r"(?<!\\)\|", r"\\vert ", text)  # in a formula: elsewhere it has its backslash


def ancestors(node: nodes.Node) -> Iterator[nodes.Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def first_cell(title: str, site: str, requirement: str) -> str:
    """The cell that installs the package, given by `requirement` for pip, and what else is missing."""
    origin = f'"{title}"{f", {site}" if site else ""}'
    start = INSTALL.format(origin=origin, package=requirement or "mlloss")
    return (start + (PIP if requirement else ADVICE)).strip()


def assemble(blocks: Iterable[str]) -> list[Any]:
    """Cells: code, and Markdown that begins anew at each heading."""
    cells: list[Any] = []
    for block in filter(None, blocks):
        if isinstance(block, Code):
            cells.append(v4.new_code_cell(block))
        elif isinstance(block, Heading) or not cells or cells[-1].cell_type == "code":
            cells.append(v4.new_markdown_cell(block))
            if isinstance(block, CollapsedHeading):
                cells[-1].metadata[COLLAPSED] = True
        else:
            cells[-1].source += f"\n\n{block}"
    for number, cell in enumerate(cells):
        cell.id = cell.metadata.id = f"cell-{number}"
    return cells


def notebook(app: Sphinx, page: str, doctree: nodes.document) -> Any:
    writer = Writer(app, page)
    where = repository.of(app.config)
    start = first_cell(app.config.html_title, repository.site(app.config), where.requirement if where else "")
    cells = assemble([Code(start), *writer.blocks(doctree, depth=0)])
    collapsed = [cell.id for cell in cells if COLLAPSED in cell.metadata]
    return v4.new_notebook(cells=cells, metadata={**METADATA, "colab": {"collapsed_sections": collapsed}})


def write(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    if doctree is not None and is_notebook(app, pagename):
        file = Path(app.outdir) / FOLDER / notebook_name(pagename)
        file.parent.mkdir(exist_ok=True)
        nbformat.write(notebook(app, pagename, doctree), file)  # which also validates it


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", note_cells)
    app.connect("html-page-context", write)
