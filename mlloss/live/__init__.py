"""Live figures: matplotlib draws them, sliders move them, on a static page and in Jupyter."""

from mlloss.live.artists import Arrow, Curve, Grid, Number, Panel, Point, Slider
from mlloss.live.figure import LiveFigure
from mlloss.live.picture import Picture

__all__ = ["Arrow", "Curve", "Grid", "LiveFigure", "Number", "Panel", "Picture", "Point", "Slider"]
