"""What pages have where their address is known, and not otherwise.

Where the address of the site is known (see `repository`), each page gets a canonical link, Open Graph tags
with a picture of its title, and links to the whole book as PDF and as an archive; the site gets a sitemap.
Where that of the repository is known, each page gets a link that reports an error on it.
"""

from __future__ import annotations

import math
import textwrap
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from docutils import nodes
from matplotlib.figure import Figure
from sphinx.application import Sphinx
from sphinx.config import Config

from . import repository
from .pages import description
from .repository import Repository

CARDS = "_static/cards"
CARD_WIDTH, CARD_HEIGHT, DOTS_PER_INCH = 1200, 630, 100
PAPER, INK, BLUE = "#ffffff", "#24292f", "#0068a8"
WHOLE_BOOK = (
    '<p>The whole book: <a href="{0}book.pdf">PDF</a>, <a href="{0}site.zip">archive to read offline</a>.</p>'
)
SITEMAP = """\
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{}</urlset>
"""


def configure(app: Sphinx, config: Config) -> None:
    config.html_baseurl = repository.site(config)


def address(app: Sphinx, page: str) -> str:
    return f"{app.config.html_baseurl}{page}.html"


def draw_card(title: str, book: str, file: Path) -> None:
    """A picture of a page's title: large letters above a sigmoid."""
    size = CARD_WIDTH / DOTS_PER_INCH, CARD_HEIGHT / DOTS_PER_INCH
    figure = Figure(figsize=size, dpi=DOTS_PER_INCH, facecolor=PAPER)
    lines = textwrap.wrap(title, 26)
    figure.text(0.06, 0.88, "\n".join(lines), color=INK, size=44, weight="bold", va="top", parse_math=False)
    figure.text(0.06, 0.08, book if book != title else "", color=INK, size=22, parse_math=False)
    axes = figure.add_axes((0, 0.16, 1, 0.24))
    axes.axis("off")
    z = [step / 20 - 8 for step in range(321)]
    axes.plot(z, [1 / (1 + math.exp(-x)) for x in z], color=BLUE, linewidth=6)
    axes.margins(0, 0.1)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, pil_kwargs={"optimize": True})


def report(where: Repository, title: str, url: str) -> str:
    """A link to a new issue that names the page; on GitHub, the form in `.github/ISSUE_TEMPLATE/page.yml`."""
    if where.host == "github":
        query = {"template": "page.yml", "title": f"{title}: ", "page": url}
        return f"{where.url}/issues/new?{urlencode(query)}"
    query = {"issue[title]": f"{title}: ", "issue[description]": url}
    return f"{where.url}/-/issues/new?{urlencode(query)}"


def add_report_button(context: dict[str, Any], url: str) -> None:
    """Beside the links to the repository, which the theme has put into the header."""
    (source,) = (group for group in context["header_buttons"] if group.get("label") == "source-buttons")
    source["buttons"].append(
        {
            "type": "link",
            "url": url,
            "text": "Report an error",
            "tooltip": "Report an error on this page",
            "icon": "fas fa-lightbulb",
            "label": "report-button",
        }
    )


def open_graph(app: Sphinx, page: str, doctree: nodes.document) -> str:
    """Tags from which other sites make a preview of a link to this page; its picture is drawn for them."""
    title = app.env.titles[page].astext()
    card = f"{CARDS}/{page.replace('/', '-')}.png"
    draw_card(title, app.config.html_title, Path(app.outdir) / card)
    properties = {
        "og:type": "article",
        "og:site_name": app.config.html_title,
        "og:title": title,
        "og:description": description(app, page, doctree),
        "og:url": address(app, page),
        "og:image": f"{app.config.html_baseurl}{card}",
        "og:image:width": CARD_WIDTH,
        "og:image:height": CARD_HEIGHT,
        "og:image:alt": title,
    }
    tags = [f'<meta property="{key}" content="{escape(str(value))}" />' for key, value in properties.items()]
    return "\n".join([*tags, '<meta name="twitter:card" content="summary_large_image" />'])


def prepare_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    site = context["site_address"] = app.config.html_baseurl
    where = repository.of(app.config)
    if where and doctree is not None:
        title = app.env.titles[pagename].astext()
        url = address(app, pagename) if site else f"{pagename}.html"
        add_report_button(context, report(where, title, url))
    if site:
        context["theme_extra_footer"] = context.get("theme_extra_footer", "") + WHOLE_BOOK.format(site)
    page = app.config.root_doc if pagename == "index" else pagename
    if site and page in app.env.titles:
        context["pageurl"] = address(app, page)
        tags = open_graph(app, page, doctree or app.env.get_doctree(page))
        context["metatags"] = context.get("metatags", "") + tags


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    if app.builder.format == "html" and app.config.html_baseurl and not exception:
        pages = sorted(app.env.titles)
        entries = "".join(f"<url><loc>{escape(address(app, page))}</loc></url>\n" for page in pages)
        (Path(app.outdir) / "sitemap.xml").write_text(SITEMAP.format(entries))


def setup(app: Sphinx) -> None:
    app.connect("config-inited", configure)
    app.connect("html-page-context", prepare_page, priority=910)
    app.connect("build-finished", write_sitemap)
