"""What a page loads, and what it says about itself.

Everything comes from the site itself. The state that Jupyter widgets leave in a page is dropped, since a live
figure carries its own; the live figures' script goes to the pages that have one, and their style sheet also
to those with a still picture.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).parents[3]
LIVE = ROOT / "mlloss" / "live"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
DESCRIPTION_LENGTH = 160


def add_static_files(app: Sphinx, config: Config) -> None:
    config.html_static_path += [
        str(ROOT / "book" / "_static"),
        str(LIVE / "live-figure.css"),
        str(LIVE / "live-figure.js"),
    ]


def prefer_html(app: Sphinx, config: Config) -> None:
    """Of all forms in which a cell's result comes, take its HTML and never the view of a Jupyter widget."""
    config.nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]
    config.nb_ipywidgets_js = {}


def has(doctree: nodes.document, html: str) -> bool:
    return any(html in node.astext() for node in doctree.findall(nodes.raw))


def description(app: Sphinx, pagename: str, doctree: nodes.document) -> str:
    """The description in the page's front matter, or the beginning of its first paragraph."""
    written = app.env.metadata[pagename].get("description", "")
    first = next((node.astext() for node in doctree.findall(nodes.paragraph)), "")
    return written or textwrap.shorten(first, DESCRIPTION_LENGTH, placeholder=" …")


def prepare_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    context["script_files"][:] = [
        script for script in context["script_files"] if script.attributes.get("type") != WIDGET_STATE
    ]
    if pagename == "search":
        app.add_js_file("search.js", loading_method="defer")
    if doctree is None:
        return
    # Of the two roles in a bibliography, one needs the other, and that one is no longer allowed there.
    context["body"] = re.sub(r' role="(list|doc-biblioentry)"', "", context["body"])
    live = has(doctree, "<live-figure")
    if live or has(doctree, 'class="lf-picture"'):
        app.add_css_file("live-figure.css")
    if live:
        app.add_js_file("live-figure.js", loading_method="defer")
    if text := description(app, pagename, doctree):
        context["metatags"] += f'<meta name="description" content="{escape(text)}" />'


def drop_unused(app: Sphinx, exception: Exception | None) -> None:
    """Leave out of the site what the theme brings and no page loads: more than half of it."""
    static = Path(app.outdir) / "_static"
    shutil.rmtree(static / "vendor", ignore_errors=True)
    for source_map in static.rglob("*.map"):
        source_map.unlink()


def setup(app: Sphinx) -> None:
    app.add_css_file("book.css")
    app.add_js_file("book.js", loading_method="defer")
    app.connect("config-inited", add_static_files)
    app.connect("config-inited", prefer_html)
    app.connect("html-page-context", prepare_page, priority=900)
    app.connect("build-finished", drop_unused)
