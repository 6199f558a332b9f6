"""The buttons that run a page elsewhere, or take it away: Binder, Colab, a JupyterHub, a notebook file.

`launch_buttons` in `_config.yml` says which services there are. Binder opens the chapter itself, in the
environment that `.binder/` describes; the others open its notebook (see `notebooks`), which any Jupyter can
show and which installs what it needs.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from . import repository
from .notebooks import FOLDER, is_notebook, notebook_name
from .repository import Repository

NOTEBOOKS_BRANCH = (
    "notebooks"  # where the workflow that publishes the site puts its notebooks, and nothing else
)


def binder(service: str, where: Repository, page: str) -> str:
    """A link that opens a page's source, which `.binder/postBuild` has JupyterLab show as a notebook."""
    owner, host = quote(where.owner, safe=""), {"github": "gh", "gitlab": "gl"}[where.host]
    place = f"{owner}/{where.name}" if host == "gh" else f"{owner}%2F{where.name}"
    branch = quote(where.branch, safe="")
    return f"{service}/v2/{host}/{place}/{branch}?{urlencode({'urlpath': f'lab/tree/{page}.md'})}"


def colab(service: str, where: Repository, page: str) -> str:
    """A link that opens the published notebook; there is none for other hosts than GitHub."""
    if where.host != "github":
        return ""
    return f"{service}/github/{where.owner}/{where.name}/blob/{NOTEBOOKS_BRANCH}/{notebook_name(page)}"


def hub(service: str, where: Repository, page: str) -> str:
    """A link of nbgitpuller's: it fetches the published notebooks into the learner's folder and opens one."""
    query = {
        "repo": where.url,
        "branch": NOTEBOOKS_BRANCH,
        "urlpath": f"lab/tree/{where.name}/{notebook_name(page)}",
    }
    return f"{service}/hub/user-redirect/git-pull?{urlencode(query)}"


SERVICES = (
    ("Binder", "binderhub_url", binder, "_static/images/logo_binder.svg"),
    ("Colab", "colab_url", colab, "_static/images/logo_colab.png"),
    ("JupyterHub", "jupyterhub_url", hub, "_static/images/logo_jupyterhub.svg"),
)


def links(services: dict[str, str], where: Repository, page: str) -> list[dict[str, str]]:
    """The launch buttons of a page, as the theme wants them."""
    addresses = {name: services.get(key, "").rstrip("/") for name, key, _, _ in SERVICES}
    return [
        {"type": "link", "text": name, "tooltip": f"Run on {name}", "icon": icon, "url": url}
        for name, _, link, icon in SERVICES
        if addresses[name] and (url := link(addresses[name], where, page))
    ]


def take_over(app: Sphinx, config: Config) -> None:
    """Keep the theme from making launch buttons: its own would open raw text in Colab."""
    config.mlloss_book_launch = config.html_theme_options.pop("launch_buttons", {})


def add_buttons(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    if doctree is None or not is_notebook(app, pagename):
        return
    buttons = context["header_buttons"]
    (downloads,) = (button["buttons"] for button in buttons if button.get("label") == "download-buttons")
    downloads.insert(
        0,
        {
            "type": "link",
            "url": context["pathto"](f"{FOLDER}/{notebook_name(pagename)}", 1),
            "text": ".ipynb",
            "tooltip": "Download as a notebook",
            "icon": "fas fa-code",
            "label": "download-notebook-button",
        },
    )
    where = repository.of(app.config)
    if where and (launchers := links(app.config.mlloss_book_launch, where, pagename)):
        buttons.insert(
            0,
            {
                "type": "group",
                "tooltip": "Run this page",
                "icon": "fas fa-rocket",
                "buttons": launchers,
                "label": "launch-buttons",
            },
        )


def setup(app: Sphinx) -> None:
    app.add_config_value("mlloss_book_launch", {}, "html")
    app.connect("config-inited", take_over)
    app.connect("html-page-context", add_buttons, priority=502)  # after the theme's own
