"""Still pictures of what cells compute: all of the data is drawn, and the words are there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mlloss.figures.contrastive import embeddings_on_a_circle
from mlloss.figures.lab import collages, differences, hidden_labels
from mlloss.figures.label_sets import measures_over_thresholds, reliability, tuned_thresholds
from mlloss.figures.pytorch import speed_and_memory
from mlloss.figures.training import learning_curves
from mlloss.figures.two_roads import compared_losses
from mlloss.live import Picture
from tests.pretend import NAME

ROOT = Path(__file__).parents[2]
WORDS: dict[str, Any] = {"title": "A title.", "description": "What it shows.", "caption": "A caption."}
RUNS = torch.tensor([[0.1, 0.2, 0.6], [0.3, 0.3, 0.9]], dtype=torch.float64)


def named(picture: Picture, panel: int = 0) -> list[str]:
    """The names in a panel's legend."""
    return [text.get_text() for text in picture.axes[panel].get_legend().get_texts()]


def line(picture: Picture, name: str, panel: int = 0) -> np.ndarray:
    """The heights of a line."""
    found = [line for line in picture.axes[panel].lines if line.get_label() == name]
    return np.asarray(found[0].get_ydata(), dtype=float)


def assert_words(picture: Picture) -> None:
    html = picture._repr_html_()
    assert repr(picture) == "<Picture: A title.>"
    assert 'aria-label="What it shows."' in html
    assert "A caption." in html


def test_learning_curves_are_medians_with_their_range() -> None:
    picture = learning_curves({"cross-entropy": RUNS.T, "squared error": RUNS.T / 2}, every=10, **WORDS)
    assert_words(picture)
    assert named(picture) == ["cross-entropy", "squared error"]
    np.testing.assert_allclose(line(picture, "cross-entropy"), RUNS.T.median(0).values)
    assert [list(drawn.get_xdata()) for drawn in picture.axes[0].lines] == [[10, 20]] * 2
    with_colours = learning_curves({"mine": RUNS}, colours=["green"], quantity="loss", **WORDS)
    assert with_colours.axes[0].get_ylabel() == "loss"
    with pytest.raises(ValueError, match="no colour for 'mine'"):
        learning_curves({"mine": RUNS}, **WORDS)


def test_pictures_take_tensors_of_any_device() -> None:
    here, there = (
        learning_curves({"mine": runs}, colours=["green"], **WORDS) for runs in (RUNS, RUNS.to(NAME))
    )
    np.testing.assert_array_equal(line(here, "mine"), line(there, "mine"))


def test_measures_have_a_dot_where_they_are_best() -> None:
    measures = {"F1": torch.tensor([0.1, 0.9, 0.2]), "Hamming loss": torch.tensor([0.9, 0.4, 0.1])}
    picture = measures_over_thresholds(torch.tensor([-1.0, 0.0, 1.0]), measures, **WORDS)
    assert_words(picture)
    assert named(picture) == list(measures)
    dots = [drawn.get_xydata() for drawn in picture.axes[0].lines if drawn.get_marker() == "o"]
    np.testing.assert_allclose(np.ravel(dots), [0, 0.9, 1, 0.1], rtol=1e-6)


def test_reliability_has_every_model_and_the_diagonal() -> None:
    groups = torch.tensor([0.1, 0.5, 0.9]), torch.tensor([0.2, 0.5, 0.7])
    picture = reliability({"one": groups, "two": groups}, **WORDS)
    assert_words(picture)
    assert named(picture) == ["calibrated", "one", "two"]
    np.testing.assert_allclose(line(picture, "two"), groups[1])


def test_tuned_thresholds_are_means() -> None:
    picture = tuned_thresholds([50, 100], {"tuned": RUNS}, **WORDS)
    assert_words(picture)
    assert named(picture) == ["tuned"]
    np.testing.assert_allclose(line(picture, "tuned"), RUNS.mean(-1))


def test_compared_losses_are_means_panel_by_panel() -> None:
    panels = {"F1": {"a": RUNS, "b": 2 * RUNS}, "gap": {"a": RUNS}}
    picture = compared_losses([5, 10], panels, x_label="classes", **WORDS)
    assert_words(picture)
    assert named(picture) == ["a", "b"]
    for container, factor in zip(picture.axes[0].containers, (1, 2), strict=True):
        heights = np.asarray(container[0].get_ydata(), dtype=float)
        np.testing.assert_allclose(heights, factor * RUNS.mean(-1))
    assert "Collection_" not in picture._repr_html_()  # an id that a second picture would have, too
    relative = compared_losses([5, 10], {"F1": {"a": RUNS}}, x_label="classes", reference="as b", **WORDS)
    assert "as b" in named(relative)


def test_embeddings_are_placed_by_their_angle() -> None:
    z = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    picture = embeddings_on_a_circle(z, -z, torch.tensor([0, 1, 2]))
    places = [axes.collections[0].get_offsets()[:, 0] for axes in picture.axes]
    np.testing.assert_allclose(places[0], [0, 90, 180], atol=1e-4)
    np.testing.assert_allclose(places[1][1:], [-90, 0], atol=1e-4)


def test_speed_and_memory_names_every_number() -> None:
    results = json.loads((ROOT / "mlloss" / "speed.json").read_text(encoding="utf-8"))
    picture = speed_and_memory(results, caption="Measured.")
    assert f"{max(results['time']['article, unified']):.1f} as usual" in picture.description
    assert [label.get_text() for label in picture.axes[0].get_yticklabels()] == [
        "unified",
        "thresholded",
        "sigmoid focal",
        "circle",
    ]
    drawn = {round(float(x), 6) for row in picture.axes[1].lines for x in row.get_xdata()}
    assert {round(x, 6) for x in results["memory"]["unified"]} <= drawn


def test_collages_stand_under_their_digits() -> None:
    targets = torch.zeros(9, 10)
    targets[0, [2, 7]] = 1
    picture = collages(torch.rand(9, 16, 16), targets, title="A title.", caption="A caption.")
    assert "in them appear 2 7; none; none" in picture._repr_html_()
    assert [text.get_text() for text in picture.axes[0].texts] == ["2 7", *["none"] * 7]
    assert len(picture.axes[0].images) == 8


def test_differences_are_taken_run_by_run() -> None:
    values = {"mine": RUNS[0], "theirs": RUNS[0] + torch.tensor([0.1, 0.2, 0.3])}
    picture = differences(values, "mine", quantity="F1", title="A title.")
    assert "F1 minus that of mine, mean and standard error: theirs +0.200 ± 0.058." in picture._repr_html_()
    np.testing.assert_allclose(picture.axes[0].lines[1].get_xdata(), [0.1, 0.2, 0.3])
    assert [text.get_text() for text in picture.axes[0].get_yticklabels()] == ["theirs"]


def test_lines_over_hidden_labels_are_dashed_where_they_count_as_negative() -> None:
    lines = {"mine, ignored": RUNS, "mine, negative": RUNS / 2}
    picture = hidden_labels([0.0, 0.5], {"F1": lines}, title="A title.")
    assert "F1, mine, ignored: from 0.300 to 0.500" in picture._repr_html_()
    drawn = [bars.lines[0] for bars in picture.axes[0].containers]
    assert [line.get_linestyle() for line in drawn] == ["-", "--"]
    assert len({line.get_color() for line in drawn}) == 1
    np.testing.assert_allclose(drawn[0].get_ydata(), RUNS.mean(-1))
