"""Still pictures of results that a chapter's own cells computed."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from mlloss.live import Picture
from mlloss.live.picture import from_any_device
from mlloss.live.style import colour


@from_any_device
def learning_curves(
    curves: Mapping[str, Tensor],
    *,
    description: str,
    title: str,
    caption: str = "",
    quantity: str = "accuracy",
    every: int | Sequence[int] = 1,
    colours: Sequence[str] = (),
) -> Picture:
    """One line a loss: the median of the runs (`curves[loss]` is `[runs, steps]`), their range shaded.

    A curve has a value every so many steps, as many for all or a number for each. Without `colours` each is
    drawn in the colour of its name's role.
    """
    dashes = ["-", "--", ":", "-."]
    with Picture(description, title=title, caption=caption) as picture:
        (axes,) = picture.axes
        apart = [every] * len(curves) if isinstance(every, int) else every
        for (loss, runs), dash, role, k in zip(
            curves.items(), dashes, colours or curves, apart, strict=False
        ):
            steps = k * torch.arange(1, runs.shape[-1] + 1)
            low, high = runs.amin(0), runs.amax(0)
            axes.fill_between(steps, low, high, color=colour(role), alpha=0.2, linewidth=0)
            axes.plot(steps, runs.median(0).values, color=colour(role), linestyle=dash, label=loss)
        axes.set(xlabel="step", ylabel=quantity, ylim=(-0.02, 1.02))
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2)
    return picture
