"""Links that open a live figure at a setting, on the page where it stands.

    {figure-link}`all scores equal <cross-entropy-and-hinge s1=0 s2=0 s3=0>`

Controls that are not named take their start values. Links are made when all pages have been read; a figure
that no page shows, a control that it does not have and a value that the control does not take are warnings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole

logger = logging.getLogger(__name__)

Control = dict[str, Any]
FIGURE = re.compile(
    r'<live-figure name="([\w-]+)">.*?<script type="application/json">(.*?)</script>', re.DOTALL
)
FIGURES, LINKS = "live_figures", "links_to_figures"  # what is noted of a page


class figure_link(nodes.Inline, nodes.TextElement):
    """A link to a setting of a figure, until all pages are known."""


class FigureLink(ReferenceRole):
    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        self.env.metadata[self.env.docname][LINKS] = True
        node = figure_link("", self.title, setting=self.target)
        self.set_source_info(node)
        return [node], []


def note_figures(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the controls of each figure on this page, as the page itself knows them."""
    html = "".join(node.astext() for node in doctree.findall(nodes.raw) if "html" in node["format"])
    figures = {name: json.loads(spec)["controls"] for name, spec in FIGURE.findall(html)}
    if figures:
        app.env.metadata[app.env.docname][FIGURES] = figures


def find(env: BuildEnvironment, name: str) -> tuple[str, dict[str, Control]]:
    """The page of a figure, and the figure's controls by name; empty if no page shows it."""
    for page, data in env.metadata.items():
        if name in (figures := data.get(FIGURES, {})):
            return page, {control["name"]: control for control in figures[name]}
    return "", {}


def takes(control: Control, value: str) -> bool:
    """Whether a control of a figure can be set to this."""
    try:
        number = float(value)
    except ValueError:
        return False
    if "options" in control:
        return number in control["options"]
    return bool(control["start"] <= number <= control["stop"])


def mistakes(controls: dict[str, Control], setting: dict[str, str]) -> Iterator[str]:
    for name, value in setting.items():
        if name not in controls:
            yield f"has no control {name!r}; its controls are {', '.join(controls)}"
        elif not takes(controls[name], value):
            yield f"cannot have {name} = {value!r}"


def resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for node in list(doctree.findall(figure_link)):
        name, *parts = node["setting"].split()
        setting = dict(part.partition("=")[::2] for part in parts)
        page, controls = find(app.env, name)
        if not page:
            logger.warning("no page shows a figure %r", name, location=node)
            node.replace_self(node.children)
            continue
        for mistake in mistakes(controls, setting):
            logger.warning("the figure %r %s", name, mistake, location=node)
        uri = f"{app.builder.get_relative_uri(docname, page)}#{urlencode({'figure': name, **setting})}"
        link = nodes.reference("", "", *node.children, internal=True, refuri=uri, classes=["figure-link"])
        node.replace_self(link)


def pages_with_links(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Pages to write whenever another has changed: a figure may have gone."""
    return [page for page, data in env.metadata.items() if LINKS in data]


def setup(app: Sphinx) -> None:
    app.add_role("figure-link", FigureLink())
    app.connect("doctree-read", note_figures)
    app.connect("env-updated", pages_with_links)
    app.connect("doctree-resolved", resolve)
