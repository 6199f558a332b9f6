"""Every equation, checked: the checks of `mlloss.identities`, page by page in the order of the book.

```{equations}
```
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)

TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
LABEL = re.compile(r"^\$\$ \(([\w-]+)\)$", re.MULTILINE)


def pages(book: Path) -> Iterator[Path]:
    """The pages of the book in its order."""
    toc = yaml.safe_load((book / "_toc.yml").read_text(encoding="utf-8"))
    for part in toc["parts"]:
        for chapter in part["chapters"]:
            yield (book / chapter["file"]).with_suffix(".md")


class Equations(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        sections = []
        for page in pages(Path(self.env.srcdir)):
            self.env.note_dependency(str(page))
            text = page.read_text(encoding="utf-8")
            if labels := LABEL.findall(text):
                title = TITLE.search(text)
                assert title
                sections.append(self.section(page.stem, title[1], labels))
        return sections

    def section(self, name: str, title: str, labels: list[str]) -> nodes.Node:
        heading, _ = self.state.inline_text(title, self.lineno)
        items = [self.item(label) for label in labels]
        return nodes.section(
            "",
            nodes.title("", "", *heading),
            nodes.definition_list("", *items, classes=["equations"]),
            ids=[f"equations-{name}"],
        )

    def item(self, label: str) -> nodes.definition_list_item:
        from mlloss.identities import CHECKS  # SymPy is loaded for this page only

        number, _ = self.state.inline_text(f"{{eq}}`{label}`", self.lineno)
        definition = nodes.definition()
        if check := CHECKS.get(label):
            file, line = inspect.getsourcefile(check.run), inspect.getsourcelines(check.run)[1]
            assert file
            self.env.note_dependency(file)
            source = Path(file).relative_to(Path(file).parents[2])
            origin = f"{check.how}: {source}, line\N{NO-BREAK SPACE}{line}"
            definition += nodes.paragraph("", check.statement)
            definition += nodes.paragraph("", origin, classes=["place"])
        else:
            logger.warning("the equation %r has no check", label, location=self.get_location())
        term = nodes.term("", "", *number, nodes.Text(" "), nodes.literal("", label))
        return nodes.definition_list_item("", term, definition)


def setup(app: Sphinx) -> None:
    app.add_directive("equations", Equations)
