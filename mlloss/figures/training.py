"""Still pictures of results that a chapter's own cells computed."""

from collections.abc import Mapping

import torch
from torch import Tensor

from mlloss.live import Picture
from mlloss.live.style import colour


def learning_curves(
    curves: Mapping[str, Tensor], *, description: str, title: str, caption: str = ""
) -> Picture:
    """One line a loss: the median of the runs (`curves[loss]` is `[runs, steps]`), their range shaded."""
    dashes = ["-", "--", ":", "-."]
    with Picture(description, title=title, caption=caption) as picture:
        (axes,) = picture.axes
        for (loss, runs), dash in zip(curves.items(), dashes, strict=False):
            steps = torch.arange(1, runs.shape[-1] + 1)
            low, high = runs.amin(0), runs.amax(0)
            axes.fill_between(steps, low, high, color=colour(loss), alpha=0.2, linewidth=0)
            axes.plot(steps, runs.median(0).values, color=colour(loss), linestyle=dash, label=loss)
        axes.set(xlabel="step", ylabel="accuracy", ylim=(-0.02, 1.02))
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2)
    return picture
