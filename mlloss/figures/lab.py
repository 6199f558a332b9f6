"""The training lab's controls, and pictures of what was trained."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import ipywidgets as widgets
import torch
from matplotlib.patches import Rectangle
from torch import Tensor

from mlloss import default_device, label_ranking_average_precision
from mlloss.figures.training import learning_curves
from mlloss.live import Picture
from mlloss.live.picture import from_any_device
from mlloss.live.style import colour
from mlloss.training import LOSSES, Setup, f1, train, tune

COLOURS = ("blue", "vermilion", "green", "purple")
KEPT = len(COLOURS)  # trainings that are shown together
REPORTS = 20  # points on a learning curve
VALIDATION = 500
BOUNDS = {"alpha": (0, 1), "gamma": (0, 256), "margin": (-1, 2), "threshold": (-10, 10), "scale": (0, 256)}
DESCRIPTION_WIDTH = "8rem"
HOW_TO_RUN = (
    "This picture was computed when the page was built. To choose another loss, its parameters, the data or "
    "the device, and to see the curves grow, open this page as a notebook: with <code>make lab</code>, or "
    "with a launch button where the page has one."
)


def devices() -> list[str]:
    """Where one can train here; the book's default comes first."""
    found = [str(default_device()), "cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    if torch.backends.mps.is_available():
        found.append("mps")
    return list(dict.fromkeys(found))


class TrainingLab(widgets.VBox):
    """Choose a loss, its parameters, the data and a device; train, and watch.

    Settings are those of `mlloss.training.Setup`. In Jupyter this is a widget. Where no kernel is, it is the
    picture of a training with the first settings, and says how to run it: no control is shown there.

    The last few trainings stay on the picture, to be compared. `curves` holds their numbers: the name of a
    training → LRAP of its runs on validation collages, `[runs, reports]`.
    """

    def __init__(self, loss: str = "cross-entropy", *, runs: int = 3, **settings: Any) -> None:
        self.first = start = Setup(loss, **settings)
        slider, share = widgets.IntSlider, {"min": 0.0, "max": 0.9, "step": 0.05}
        self.loss = widgets.Dropdown(options=list(LOSSES), value=start.loss, description="loss")
        self.parameters = widgets.VBox()
        self.data: dict[str, Any] = {
            "fields": slider(start.fields, min=1, max=8, description="fields on a side"),
            "digits": slider(start.digits, min=2, max=10, description="digits"),
            "samples": slider(start.samples, min=100, max=10000, step=100, description="collages"),
            "imbalance": widgets.FloatLogSlider(start.imbalance, max=2, description="imbalance", min=0),
            "hidden": widgets.FloatSlider(start.hidden, **share, description="labels hidden"),
            "hidden_as": widgets.Dropdown(
                options=["ignored", "negative"], value=start.hidden_as, description="hidden are"
            ),
        }
        self.training: dict[str, Any] = {
            "steps": slider(start.steps, min=20, max=5000, step=20, description="steps"),
            "rate": widgets.FloatLogSlider(start.rate, min=-4, max=-1, description="rate"),
            "width": slider(start.width, min=8, max=1024, step=8, description="width"),
        }
        self.runs = slider(runs, min=1, max=20, description="runs")
        self.device = widgets.Dropdown(options=devices(), description="device")
        self.start = widgets.Button(description="Train", button_style="primary")
        self.stop = widgets.Button(description="Stop", disabled=True)
        self.progress = widgets.FloatProgress(max=1.0, description="progress")
        self.status = widgets.HTML()
        self.picture = widgets.HTML()
        self.curves: dict[str, Tensor] = {}
        self.task: asyncio.Task[None] | None = None
        self._every: dict[str, int] = {}
        self._count, self._stopped = 0, False
        self._show_parameters(start.parameters)
        self.loss.observe(lambda change: self._show_parameters({}), "value")
        self.start.on_click(self._on_start)
        self.stop.on_click(self._on_stop)
        settings_of_data_and_training = [*self.data.values(), *self.training.values(), self.runs, self.device]
        for control in (self.loss, *settings_of_data_and_training):
            control.style.description_width = DESCRIPTION_WIDTH
        super().__init__(
            [
                self.loss,
                self.parameters,
                *settings_of_data_and_training,
                widgets.HBox([self.start, self.stop]),
                self.progress,
                self.status,
                self.picture,
            ]
        )

    @property
    def setup(self) -> Setup:
        """What the controls say."""
        return replace(
            self.first,
            loss=self.loss.value,
            parameters={box.description: box.value for box in self.parameters.children},
            **{name: control.value for name, control in (self.data | self.training).items()},
        )

    def run(self) -> None:
        """Train with the present settings, to the end."""
        for _ in self._training():
            pass

    def _show_parameters(self, values: Mapping[str, float]) -> None:
        self.parameters.children = [
            widgets.BoundedFloatText(
                values.get(name, value),
                min=BOUNDS[name][0],
                max=BOUNDS[name][1],
                step=0.05,
                description=name,
                style={"description_width": DESCRIPTION_WIDTH},
            )
            for name, value in LOSSES[self.loss.value].parameters.items()
        ]

    def _on_start(self, button: widgets.Button) -> None:
        self.start.disabled = True
        self.task = asyncio.get_running_loop().create_task(self._run_in_the_background())

    def _on_stop(self, button: widgets.Button) -> None:
        self._stopped = True

    async def _run_in_the_background(self) -> None:
        for _ in self._training():
            await asyncio.sleep(0.01)  # for messages from the page, and for other cells

    def _training(self, *, watched: bool = True) -> Iterator[None]:
        """Train; after every report the progress follows, and the picture if somebody watches."""
        self._stopped, self.start.disabled, self.stop.disabled = False, True, False
        try:
            setup, device = self.setup, self.device.value
            self._count += 1
            name = f"{self._count}: {setup.loss}"
            every = max(1, setup.steps // REPORTS)
            images, targets = setup.collages("validation", VALIDATION, 10_000, torch.device(device))
            reports: list[Tensor] = []
            self.progress.value = 0.0
            for report in train(setup, seeds=range(self.runs.value), every=every, device=device):
                scores = report.scores(images)
                truth = targets.expand_as(scores)
                lrap = label_ranking_average_precision(scores, truth, reduction="none").mean(-1)
                reports.append(lrap.cpu())
                self._keep(name, torch.stack(reports, -1), every)
                if watched:
                    self._show()
                self.progress.value = report.step / setup.steps
                best = f1(scores > tune(f1, scores, truth), truth)
                self.status.value = (
                    f"{escape(name)}, step {report.step}: loss {report.losses.mean():.4f}, LRAP "
                    f"{spread(lrap)}, F1 with its best threshold {spread(best)}"
                )
                yield
                if self._stopped:
                    break
        except (ValueError, RuntimeError) as error:  # of a setting, or of a device
            self.status.value = escape(str(error))
        finally:
            self.start.disabled, self.stop.disabled = False, True

    def _keep(self, name: str, curve: Tensor, every: int) -> None:
        self.curves[name], self._every[name] = curve, every
        for old in list(self.curves)[:-KEPT]:
            del self.curves[old], self._every[old]

    def _show(self) -> None:
        self.picture.value = self.drawn()._repr_html_()

    def drawn(self) -> Picture:
        """The learning curves of the last trainings."""
        ends = "; ".join(f"{name} ends at {curve[:, -1].median():.3f}" for name, curve in self.curves.items())
        return learning_curves(
            self.curves,
            every=list(self._every.values()),
            colours=COLOURS,
            quantity="LRAP",
            title="Learning curves.",
            caption="LRAP on validation collages; the median of the runs, their range shaded.",
            description=f"Curves of the label ranking average precision over training steps. {ends}.",
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget for Jupyter, and a picture for a page without a kernel; a first training makes both."""
        if not self.curves:
            for _ in self._training(watched=False):
                pass
            self._show()
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        html = f"{self.picture.value}<p>{self.status.value}.</p><p>{HOW_TO_RUN}</p>"
        return {**data, "text/html": html, "text/plain": "<TrainingLab>"}, metadata


def spread(values: Tensor, form: str = ".3f") -> str:
    """The mean of the runs, and the standard error of this mean."""
    error = f" ± {values.std() / len(values) ** 0.5:.3f}" if len(values) > 1 else ""
    return f"{values.mean():{form}}{error}"


@from_any_device
def collages(images: Tensor, targets: Tensor, *, title: str, caption: str = "") -> Picture:
    """The first collages in two rows, each under the digits that appear in it."""
    shown, names = images[:8], []
    for target in targets[:8]:
        names.append(" ".join(str(digit) for digit in target.gt(0).nonzero().flatten().tolist()) or "none")
    side = shown.shape[-1]
    description = f"Eight collages of handwritten digits; in them appear {'; '.join(names)}."
    with Picture(description, title=title, caption=caption, height=3.0) as picture:
        (axes,) = picture.axes
        for k, (image, name) in enumerate(zip(shown, names, strict=True)):
            left, top = (k % 4) * side * 1.2, (k // 4) * side * 1.5
            axes.imshow(
                image.numpy(), cmap="gray_r", vmin=0, vmax=1, extent=(left, left + side, top + side, top)
            )
            axes.add_patch(Rectangle((left, top), side, side, fill=False, edgecolor=colour("axis")))
            axes.text(left + side / 2, top - side * 0.06, name, ha="center", va="bottom")
        axes.set(xlim=(-1, 4.6 * side + 1), ylim=(2.5 * side + 1, -0.3 * side))
        axes.axis("off")
    return picture


@from_any_device
def differences(
    values: Mapping[str, Tensor], base: str, *, quantity: str, title: str, caption: str = ""
) -> Picture:
    """How far each loss is from `base` in the same run: every run, their mean and its standard error."""
    apart = {name: runs - values[base] for name, runs in values.items() if name != base}
    words = "; ".join(f"{name} {spread(runs, '+.3f')}" for name, runs in apart.items())
    description = f"{quantity} minus that of {base}, mean and standard error: {words}."
    with Picture(description, title=title, caption=caption, height=0.27 * len(apart) + 0.6) as picture:
        (axes,) = picture.axes
        axes.axvline(0, color=colour("axis"), linewidth=1)
        for row, runs in enumerate(apart.values()):
            error = runs.std() / len(runs) ** 0.5
            axes.plot(runs, torch.full_like(runs, row), "|", color=colour("axis"), markersize=6)
            axes.errorbar(
                runs.mean().item(), row, xerr=error.item(), fmt="o", color=colour("blue"), capsize=4
            )
        axes.set(xlabel=f"difference to {base}", ylim=(len(apart) - 0.5, -0.5))
        axes.set_yticks(range(len(apart)), list(apart))
        axes.grid(axis="y", visible=False)
    return picture


@from_any_device
def hidden_labels(
    shares: Sequence[float], panels: Mapping[str, Mapping[str, Tensor]], *, title: str, caption: str = ""
) -> Picture:
    """Over the share of hidden labels, the mean of the runs `[shares, runs]` ± their standard error.

    A panel for each quantity; a line for each name, its colour that of the words before the comma, dashed if
    hidden labels are taken for negatives.
    """
    words = "; ".join(
        f"{quantity}, {name}: from {values[0].mean():.3f} to {values[-1].mean():.3f}"
        for quantity, lines in panels.items()
        for name, values in lines.items()
    )
    with Picture(
        f"Lines over the share of hidden labels. {words}.", title=title, caption=caption, panels=len(panels)
    ) as picture:
        for axes, (quantity, lines) in zip(picture.axes, panels.items(), strict=True):
            losses = list(dict.fromkeys(name.partition(",")[0] for name in lines))
            for name, values in lines.items():
                shade = colour(COLOURS[losses.index(name.partition(",")[0])])
                error = values.std(-1) / values.shape[-1] ** 0.5
                dash = "--" if name.endswith("negative") else "-"
                axes.errorbar(
                    shares,
                    values.mean(-1).numpy(),
                    error.numpy(),
                    color=shade,
                    linestyle=dash,
                    capsize=3,
                    label=name,
                )
            axes.set(xlabel="share of labels hidden", ylabel=quantity)
        picture.axes[0].legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2)
    return picture
