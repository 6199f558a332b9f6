"""The loss map holds every loss, and every reduction leads to a checked equation."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from bs4 import BeautifulSoup

import mlloss
from mlloss import functional
from mlloss.identities import CHECKS

ROOT = Path(__file__).parents[2]
MAP = yaml.safe_load((ROOT / "book" / "loss-map.yml").read_text(encoding="utf-8"))
PAGE = "loss-map.html"


def outcomes(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The answers that lead to a loss."""
    for answer in question["answers"]:
        if "asks" in answer:
            yield from outcomes(answer)
        else:
            yield answer


@pytest.fixture(scope="module")
def page(site: Path) -> BeautifulSoup:
    return BeautifulSoup((site / "book" / PAGE).read_text(), "html.parser")


def test_every_loss_of_the_package_is_on_the_map() -> None:
    calls = {loss["call"] for loss in MAP["losses"].values()}
    losses = {f"mlloss.{name}" for name in functional.__all__} - {"mlloss.from_signed"}
    assert losses <= calls


@pytest.mark.parametrize("id", MAP["losses"])
def test_loss_can_be_called_and_is_connected(id: str) -> None:
    loss = MAP["losses"][id]
    module, name = loss["call"].split(".")
    assert inspect.isroutine(getattr({"mlloss": mlloss, "F": mlloss.functional.F}[module], name))
    assert (ROOT / "book" / f"{loss['page']}.md").exists()
    assert any(id in (edge["from"], edge["to"]) for edge in MAP["edges"])


def test_no_two_losses_have_the_same_place() -> None:
    places = [tuple(loss["place"]) for loss in MAP["losses"].values()]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("edge", MAP["edges"], ids=lambda edge: f"{edge['from']}-{edge['to']}")
def test_reduction_has_a_checked_equation(edge: dict[str, Any]) -> None:
    assert edge["equation"] in CHECKS
    assert {edge["from"], edge["to"]} <= set(MAP["losses"])


def test_questions_lead_to_losses_with_reasons() -> None:
    found = list(outcomes(MAP["question"]))
    assert all(answer["loss"] in MAP["losses"] and answer["reason"] for answer in found)
    assert len(found) >= 10


def test_picture_and_list_say_the_same(page: BeautifulSoup) -> None:
    numbered = page.select("svg.loss-map > a:has(circle)")
    items = page.select("ol.loss-map > li")
    assert len(numbered) == len(items) == len(MAP["edges"])
    for link, item, edge in zip(numbered, items, MAP["edges"], strict=True):
        assert link["href"].endswith(f"#equation-{edge['equation']}")
        assert item.select("a")[-1]["href"] == link["href"]
        assert edge["says"] in link["aria-label"]
        assert edge["says"] in item.get_text()


def test_questions_open_without_a_script(page: BeautifulSoup) -> None:
    leaves = [details for details in page.select(".which-loss details") if not details.select("details")]
    assert len(leaves) == len(list(outcomes(MAP["question"])))
    assert all(details.summary and details.a for details in leaves)
