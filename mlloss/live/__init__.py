"""Live figures: matplotlib draws them, controls move them, on a static page and in Jupyter."""

from mlloss.live.artists import (
    Area,
    Arrow,
    Bars,
    Contours,
    Curve,
    Grid,
    Label,
    Number,
    Panel,
    Plane,
    Point,
    Trace,
)
from mlloss.live.controls import Choice, Slider, Switch
from mlloss.live.figure import Descent, LiveFigure
from mlloss.live.picture import Picture

__all__ = [
    "Area",
    "Arrow",
    "Bars",
    "Choice",
    "Contours",
    "Curve",
    "Descent",
    "Grid",
    "Label",
    "LiveFigure",
    "Number",
    "Panel",
    "Picture",
    "Plane",
    "Point",
    "Slider",
    "Switch",
    "Trace",
]
