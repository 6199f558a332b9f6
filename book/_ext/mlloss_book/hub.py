"""A form that makes links for a lecturer's own JupyterHub, on which nbgitpuller fetches the notebooks.

    ```{hub-link}
    ```

The link is put together by `hub.js`, as `launch.hub` does it; nothing leaves the page. Without JavaScript the
form is not shown, so the page has to say how such a link is made by hand.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from . import repository
from .launch import NOTEBOOKS_BRANCH
from .notebooks import is_notebook, notebook_name

FORM = """\
<form class="hub-link">
<label>Address of your hub
<input name="hub" type="url" required placeholder="https://hub.example.edu" value="{hub}"></label>
<label>Repository
<input name="repo" type="url" required placeholder="https://github.com/OWNER/NAME" value="{repo}"></label>
<label>Branch with the notebooks
<input name="branch" required value="{branch}"></label>
<label>What opens
<select name="page"><option value="">the list of all chapters</option>{pages}</select></label>
<label>Link for your learners
<input name="link" readonly placeholder="first the two addresses"></label>
</form>
"""


class hub_link(nodes.General, nodes.Element):
    """The form, until all pages are known."""


class HubLink(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        return [hub_link()]


def form(app: Sphinx) -> str:
    where = repository.of(app.config)
    root = app.config.root_doc
    pages = "".join(
        f'<option value="{notebook_name(page)}">{escape(app.env.titles[page].astext())}</option>'
        for page in [root, *app.env.toctree_includes[root]]
        if is_notebook(app, page)
    )
    return FORM.format(
        hub=escape(app.config.mlloss_book_launch.get("jupyterhub_url") or ""),
        repo=where.url if where else "",
        branch=NOTEBOOKS_BRANCH,
        pages=pages,
    )


def resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for node in list(doctree.findall(hub_link)):
        node.replace_self(nodes.raw("", form(app), format="html", classes=["hub-link"]))


def add_script(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    if doctree is not None and any("hub-link" in node["classes"] for node in doctree.findall(nodes.raw)):
        app.add_js_file("hub.js", loading_method="defer")


def setup(app: Sphinx) -> None:
    app.add_directive("hub-link", HubLink)
    app.connect("doctree-resolved", resolve)
    app.connect("html-page-context", add_script)
