"""What this book needs and Jupyter Book 1.x lacks, as one Sphinx extension.

- `repository`: the address of the repository, from which links into it derive.
- `katex`: formulas are typeset during the build.
- `execution`: results of cells are reused only as long as the package is the same.
- `exercises`: exercises, and solutions that open without JavaScript.
- `questions`: self-check questions whose choices explain themselves.
- `claims`, `equations`: the pages that list what has been checked.
- `loss_map`: the losses as one picture, and questions that lead to one of them.
- `figure_links`: links that open a live figure at a setting.
- `notebooks`, `launch`: each chapter as a notebook to take away, and buttons that run it elsewhere.
- `hub`: a form that makes links for a JupyterHub.
- `pages`: what a page loads, and its description; no page asks another host for anything.
- `published`: what they have where their address is known: previews, a sitemap, a link that reports an error.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from . import (
    claims,
    equations,
    execution,
    exercises,
    figure_links,
    hub,
    katex,
    launch,
    loss_map,
    notebooks,
    pages,
    published,
    questions,
    repository,
)

PARTS = (
    repository,
    katex,
    execution,
    exercises,
    questions,
    claims,
    equations,
    loss_map,
    figure_links,
    notebooks,
    launch,
    hub,
    pages,
    published,
)


def setup(app: Sphinx) -> dict[str, Any]:
    for part in PARTS:
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
