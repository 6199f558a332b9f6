"""The controls of the training lab: they choose what is trained, and curves and progress follow."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from ipywidgets import Widget

from mlloss.figures import TrainingLab
from mlloss.figures.lab import devices
from mlloss.training import LOSSES, Setup

SMALL = {"samples": 100, "steps": 40, "batch": 50}


@pytest.fixture(autouse=True)
def no_widget_is_left() -> None:
    yield
    Widget.close_all()


def test_controls_say_what_is_trained() -> None:
    lab = TrainingLab(runs=2, **SMALL)
    assert lab.setup == Setup(**SMALL)
    for loss, recipe in LOSSES.items():
        lab.loss.value = loss
        assert lab.setup == Setup(loss, dict(recipe.parameters), **SMALL)
    lab.loss.value = "focal"
    lab.parameters.children[0].value = 0.5
    lab.data["hidden"].value, lab.data["hidden_as"].value = 0.25, "negative"
    lab.data["fields"].value, lab.training["rate"].value = 3, 0.01
    assert lab.setup == Setup(
        "focal", {"gamma": 0.5}, hidden=0.25, hidden_as="negative", fields=3, rate=0.01, **SMALL
    )


def test_curves_and_progress_follow_a_training() -> None:
    lab = TrainingLab(runs=2, **SMALL)
    seen = []
    lab.progress.observe(lambda change: seen.append((change.new, lab.picture.value)), "value")
    lab.run()
    assert [value for value, _ in seen] == pytest.approx([k / 20 for k in range(1, 21)])
    assert len({picture for _, picture in seen}) == 20
    assert lab.curves["1: cross-entropy"].shape == (2, 20)
    assert "step 40" in lab.status.value
    lab.loss.value = "circle"
    lab.run()
    assert list(lab.curves) == ["1: cross-entropy", "2: circle"]
    assert "2: circle ends at" in lab.picture.value


def test_only_the_last_trainings_are_kept() -> None:
    lab = TrainingLab(runs=1, **{**SMALL, "steps": 20})
    for _ in range(6):
        lab.run()
    assert [name.partition(":")[0] for name in lab.curves] == ["3", "4", "5", "6"]


def test_buttons_start_and_stop_a_training() -> None:
    lab = TrainingLab(runs=1, **{**SMALL, "steps": 400})

    async def press() -> None:
        lab.start.click()
        while lab.progress.value < 0.2:
            await asyncio.sleep(0.01)
        assert lab.start.disabled
        assert not lab.stop.disabled
        lab.stop.click()
        await lab.task

    with ThreadPoolExecutor(1) as thread:  # in this one the browser tests may have left an event loop running
        thread.submit(asyncio.run, press()).result()
    assert 0.2 <= lab.progress.value < 0.5
    assert not lab.start.disabled
    assert lab.stop.disabled


def test_an_impossible_setting_is_said_in_words() -> None:
    lab = TrainingLab(runs=1, **SMALL)
    lab.device.options = [*lab.device.options, "nowhere"]
    lab.device.value = "nowhere"
    lab.run()
    assert "nowhere" in lab.status.value
    assert not lab.start.disabled


def test_a_page_without_kernel_shows_a_result_and_no_control() -> None:
    lab = TrainingLab(runs=2, **SMALL)
    data, _ = lab._repr_mimebundle_()
    assert lab.curves  # a first training
    html = data["text/html"]
    assert "<svg" in html
    assert "make lab" in html
    assert not any(tag in html for tag in ("<input", "<button", "<select", "<script"))
    assert lab._repr_mimebundle_()[0]["text/html"].count("1: cross-entropy") == html.count("1: cross-entropy")
    assert "application/vnd.jupyter.widget-view+json" in data


def test_the_devices_are_those_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLLOSS_DEVICE", "cpu")
    for there, more in (True, ["mps"]), (False, []):
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda there=there: there)
        assert devices()[0] == "cpu"
        assert devices()[1:] == [f"cuda:{i}" for i in range(torch.cuda.device_count())] + more
