"""The book's one style: every colour has a role, and every role a light and a dark shade.

The shades are the CSS variables `--lf-…` of live-figure.css. Matplotlib draws with the light ones; in the SVG
each becomes its variable again, so that one picture serves light and dark pages. The hues follow Okabe and
Ito (safe for colour-blind readers), darkened or lightened until they stand out at 3:1 or better on either
page. Colour never speaks alone: lines differ in their dashes too.
"""

from __future__ import annotations

import re
from pathlib import Path

_CSS = (Path(__file__).parent / "live-figure.css").read_text(encoding="utf-8")
COLOURS: dict[str, str] = dict(re.findall(r"--lf-(\w+): (#\w{6});", _CSS.partition("}")[0]))

# One colour for one thing, everywhere in the book.
ROLES: dict[str, str] = {
    "positive": "blue",
    "negative": "vermilion",
    "probability": "blue",
    "slope": "purple",
    "gradient": "green",
    "soft": "blue",
    "hard": "vermilion",
    "bound": "axis",
    "squared error": "vermilion",
    "cross-entropy": "blue",
    "focal": "green",
    "unified": "purple",
    "circle": "ochre",
    "thresholded": "green",
    "SupCon out": "blue",
    "SupCon in": "vermilion",
    "mean of InfoNCE": "ochre",
}


def colour(role: str) -> str:
    """The light shade of a role ("positive", "cross-entropy", …) or of a colour ("blue", …)."""
    name = ROLES.get(role, role)
    if name not in COLOURS:
        known = ", ".join(sorted([*ROLES, *COLOURS]))
        raise ValueError(f"no colour for {role!r}; roles and colours are {known}")
    return COLOURS[name]


def with_css_variables(text: str) -> str:
    """`text` (SVG or CSS) with every light shade replaced by its CSS variable."""
    for name, shade in COLOURS.items():
        text = text.replace(shade, f"var(--lf-{name},{shade})")
    return text


RC_PARAMS: dict[str, object] = {
    "font.family": "sans-serif",
    "font.size": 11,
    "svg.fonttype": "none",
    "text.color": colour("text"),
    "axes.labelcolor": colour("text"),
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.edgecolor": colour("axis"),
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": colour("grid"),
    "grid.linewidth": 0.8,
    "xtick.color": colour("axis"),
    "ytick.color": colour("axis"),
    "xtick.labelcolor": colour("text"),
    "ytick.labelcolor": colour("text"),
    "legend.frameon": False,
    "legend.fontsize": 10,
    "legend.handlelength": 1.9,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.2,
    "legend.borderaxespad": 0.2,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "path.simplify": False,
}
