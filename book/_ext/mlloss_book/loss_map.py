"""The loss map of `loss-map.yml`: a picture, the list of its edges, and questions that lead to a loss.

    ```{loss-map}
    ```

    ```{which-loss}
    ```

The picture is an SVG of links in the colours of the page; the list below says the same in words. Questions
are nested `details`, which open without JavaScript. Links are made when all pages have been read; an equation
or a page that does not exist is a warning.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from .claims import find

logger = logging.getLogger(__name__)

Map = dict[str, Any]
Point = tuple[float, float]

COLUMN, ROW = 132, 90  # between the middles of neighbouring boxes
WIDTH, HEIGHT = 98, 42  # of a box
MARGIN = 6
BADGE = 9.5  # radius of an edge's number


class loss_map(nodes.General, nodes.Element):
    """The picture and its list, until all pages are known."""


class which_loss(nodes.General, nodes.Element):
    """The questions, until all pages are known."""


class Directive(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        _, file = self.env.relfn2path("loss-map.yml")
        self.env.note_dependency(file)
        kind = {"loss-map": loss_map, "which-loss": which_loss}[self.name]
        node = kind("", map=yaml.safe_load(Path(file).read_text(encoding="utf-8")))
        self.set_source_info(node)
        return [node]


class Writer:
    """Writes the HTML of one page that shows the map."""

    def __init__(self, app: Sphinx, docname: str, node: nodes.Element):
        self.app, self.docname, self.node = app, docname, node
        self.losses: Map = node["map"]["losses"]
        self.edges: list[Map] = node["map"]["edges"]

    def link(self, anchor: str) -> str:
        target, id = find(self.app.env, anchor)
        if not target:
            logger.warning("the loss map leads to %r, which is no target", anchor, location=self.node)
            return ""
        return f"{self.app.builder.get_relative_uri(self.docname, target)}#{id}"

    def page(self, loss: str) -> str:
        return self.link(self.losses[loss]["page"])

    def name(self, loss: str) -> str:
        return escape(" ".join(self.losses[loss]["name"]))

    def map(self) -> str:
        edges = "".join(self.edge(number, edge) for number, edge in enumerate(self.edges, 1))
        boxes = "".join(self.box(loss) for loss in self.losses)
        items = "".join(self.item(number, edge) for number, edge in enumerate(self.edges, 1))
        columns, rows = (1 + max(loss["place"][axis] for loss in self.losses.values()) for axis in (0, 1))
        width, height = columns * COLUMN, 2 * MARGIN + (rows - 1) * ROW + HEIGHT
        return (
            f'<svg class="loss-map" viewBox="-6 0 {width + 6} {height}" role="group" '
            f'aria-label="The loss map: {len(self.losses)} losses and {len(self.edges)} reductions, which '
            f'the list below has in words">'
            '<defs><marker id="loss-map-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>'
            f'{edges}{boxes}</svg><ol class="loss-map">{items}</ol>'
        )

    def middle(self, loss: str) -> Point:
        return middle(self.losses[loss]["place"])

    def edge(self, number: int, edge: Map) -> str:
        start, end = self.middle(edge["from"]), self.middle(edge["to"])
        bend = middle(edge["via"]) if "via" in edge else between(start, end)
        first, last = rim(start, bend), rim(end, bend)
        x, y = bend if "via" not in edge else between(between(first, last), bend)
        d = "M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}".format(*first, *bend, *last)
        label = f"{number}: {self.name(edge['from'])} becomes {self.name(edge['to'])}: {escape(edge['says'])}"
        return (
            f'<path d="{d}" marker-end="url(#loss-map-tip)"/>'
            f'<a href="{self.link(edge["equation"])}" aria-label="{label}">'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{BADGE}"/>'
            f'<text x="{x:.1f}" y="{y:.1f}">{number}</text></a>'
        )

    def box(self, loss: str) -> str:
        x, y = self.middle(loss)
        lines = self.losses[loss]["name"]
        text = "".join(
            f'<tspan x="{x}" y="{y + 14 * (i - (len(lines) - 1) / 2)}">{escape(line)}</tspan>'
            for i, line in enumerate(lines)
        )
        return (
            f'<a href="{self.page(loss)}" aria-label="{self.name(loss)}"><rect x="{x - WIDTH / 2}" '
            f'y="{y - HEIGHT / 2}" width="{WIDTH}" height="{HEIGHT}" rx="6"/><text>{text}</text></a>'
        )

    def item(self, number: int, edge: Map) -> str:
        start, end = (f'<a href="{self.page(edge[e])}">{self.name(edge[e])}</a>' for e in ("from", "to"))
        proof = f'<a href="{self.link(edge["equation"])}">{escape(edge["equation"])}</a>'
        return f"<li>{start} → {end}: {escape(edge['says'])}. Equation {proof}.</li>"

    def question(self, question: Map) -> str:
        answers = "".join(
            f"<details><summary>{escape(answer['says'])}</summary>{self.outcome(answer)}</details>"
            for answer in question["answers"]
        )
        return f'<div class="which-loss"><p>{escape(question["asks"])}</p>{answers}</div>'

    def outcome(self, answer: Map) -> str:
        if "asks" in answer:
            return self.question(answer)
        loss = self.losses[answer["loss"]]
        return (
            f'<p><a href="{self.page(answer["loss"])}">{self.name(answer["loss"])}</a>, '
            f"<code>{escape(loss['call'])}</code>. {escape(answer['reason'])}</p>"
        )


def middle(place: list[float]) -> Point:
    """The middle of a box in the picture."""
    return MARGIN + (place[0] + 0.5) * COLUMN, MARGIN + place[1] * ROW + HEIGHT / 2


def between(a: Point, b: Point) -> Point:
    return (a[0] + b[0]) / 2, (a[1] + b[1]) / 2


def rim(centre: Point, towards: Point) -> Point:
    """Where the line from the middle of a box leaves the box."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    scale = 1 / max(abs(dx) / (WIDTH / 2 + 2), abs(dy) / (HEIGHT / 2 + 2))
    return centre[0] + scale * dx, centre[1] + scale * dy


def resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for node in list(doctree.findall(loss_map)):
        node.replace_self(nodes.raw("", Writer(app, docname, node).map(), format="html"))
    for node in list(doctree.findall(which_loss)):
        html = Writer(app, docname, node).question(node["map"]["question"])
        node.replace_self(nodes.raw("", html, format="html"))


def setup(app: Sphinx) -> None:
    app.add_directive("loss-map", Directive)
    app.add_directive("which-loss", Directive)
    app.connect("doctree-resolved", resolve)
