"""What the sources say, checked: the claims of `claims.yml`, one part of them at a time.

    ```{claims} A
    ```

A claim is shown with its verdict, with what is right, and with a link to the place that treats it. Links are
made when all pages have been read; a place that does not exist is a warning.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

logger = logging.getLogger(__name__)

Claim = dict[str, str]
LEADS = {
    "true": "Note.",
    "true with a condition": "Condition.",
    "approximate": "Exactly.",
    "false": "Correction.",
    "slip": "Correction.",
    "cannot tell": "Note.",
}


class place(nodes.Inline, nodes.TextElement):
    """Where a claim is treated, until all pages are known."""


def read(file: Path) -> dict[str, Claim]:
    claims: dict[str, Claim] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return claims


def summary(claims: dict[str, Claim]) -> str:
    """How many claims there are of each verdict, in the order of `LEADS`."""
    counts = Counter(claim["verdict"] for claim in claims.values())
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in LEADS if counts[verdict])


class Claims(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        _, file = self.env.relfn2path("claims.yml")
        self.env.note_dependency(file)
        part = {id: claim for id, claim in read(Path(file)).items() if id.startswith(self.arguments[0])}
        counted = [nodes.paragraph("", f"{len(part)} claims: {summary(part)}.")] if summary(part) else []
        items = [self.item(id, claim) for id, claim in part.items()]
        return [*counted, nodes.definition_list("", *items, classes=["claims"])]

    def item(self, id: str, claim: Claim) -> nodes.definition_list_item:
        verdict = [nodes.Text(f": {claim['verdict']}")] if claim["verdict"] in LEADS else []
        term = nodes.term("", id, *verdict, ids=[id.lower()], classes=[claim["verdict"].replace(" ", "-")])
        definition = nodes.definition("", self.paragraph(claim["says"]))
        if "right" in claim:
            definition += self.paragraph(claim["right"], LEADS.get(claim["verdict"], ""))
        definition += nodes.paragraph("", "", *self.whereabouts(claim), classes=["place"])
        return nodes.definition_list_item("", term, definition)

    def paragraph(self, text: str, lead: str = "") -> nodes.paragraph:
        inline, _ = self.state.inline_text(text, self.lineno)
        start = [nodes.strong("", lead), nodes.Text(" ")] if lead else []
        return nodes.paragraph("", "", *start, *inline)

    def whereabouts(self, claim: Claim) -> list[nodes.Node]:
        if "omitted" in claim:
            return [nodes.Text(f"Left out: {claim['omitted']}.")]
        link = place("", page=claim["page"], anchor=claim["anchor"])
        self.set_source_info(link)
        return [nodes.Text("See "), link, nodes.Text(".")]


def find(env: BuildEnvironment, anchor: str) -> tuple[str, str]:
    """The page and the id of a target or of an equation with this label; empty if there is none."""
    targets = env.get_domain("std").anonlabels  # type: ignore[attr-defined]
    equations = env.get_domain("math").equations  # type: ignore[attr-defined]
    if anchor in targets:
        docname, id = targets[anchor]
        return docname, id
    if anchor in equations:
        return equations[anchor][0], nodes.make_id(f"equation-{anchor}")
    return "", ""


def resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for node in list(doctree.findall(place)):
        target, id = find(app.env, node["anchor"])
        if target.rpartition("/")[2] != node["page"]:
            logger.warning("no target %(anchor)r on the page %(page)r", node.attributes, location=node)
            continue
        title = nodes.Text(app.env.titles[target].astext())
        node.replace_self(make_refnode(app.builder, docname, target, id, title))


def setup(app: Sphinx) -> None:
    app.add_directive("claims", Claims)
    app.connect("doctree-resolved", resolve)
