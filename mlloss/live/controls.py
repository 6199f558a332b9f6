"""What the reader sets: sliders, choices and switches. Each is a native form control bound to one symbol.

All three have a start value, know which values they take, and give their HTML. Controls of one `group` are
folded away together under its name.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from sympy import Symbol

from mlloss.live.numbers import format_number


@dataclass(frozen=True)
class Slider:
    """A number in a range."""

    symbol: Symbol
    label: str
    start: float
    stop: float
    value: float
    step: float = 0.1
    unit: str = ""
    group: str = ""

    def __post_init__(self) -> None:
        self.check(self.value)

    @property
    def name(self) -> str:
        return str(self.symbol.name)

    @property
    def digits(self) -> int:
        """Decimals that show one step."""
        return max(0, len(f"{self.step:.6f}".rstrip("0").partition(".")[2]))

    def check(self, value: float) -> None:
        """A value that the control cannot take is a ValueError."""
        if not self.start <= value <= self.stop:
            raise ValueError(f"{self.name} = {value} lies outside {self.start} … {self.stop}")

    def ends(self) -> list[float]:
        return [self.start, self.stop]

    def sample(self, generator: random.Random) -> float:
        return generator.uniform(self.start, self.stop)

    def spec(self) -> dict[str, Any]:
        limits = {"start": self.start, "stop": self.stop}
        return {"name": self.name, "value": self.value, **limits, "digits": self.digits, "unit": self.unit}

    def html(self) -> str:
        shown = format_number(round(self.value, self.digits), self.digits) + (self.unit and f" {self.unit}")
        return (
            f"<label><span>{escape(self.label)}</span>"
            f'<input type="range" name="{self.name}" min="{self.start}" max="{self.stop}" '
            f'step="{self.step}" value="{self.value}" autocomplete="off">'
            f'<span class="lf-value" data-control="{self.name}" aria-hidden="true">{escape(shown)}</span>'
            "</label>"
        )


@dataclass(frozen=True)
class Choice:
    """One of several named numbers, such as {"positive": 1, "negative": 0}."""

    symbol: Symbol
    label: str
    options: Mapping[str, float]
    value: float
    group: str = ""

    def __post_init__(self) -> None:
        self.check(self.value)

    @property
    def name(self) -> str:
        return str(self.symbol.name)

    def check(self, value: float) -> None:
        """A value that the control cannot take is a ValueError."""
        if value not in self.options.values():
            known = ", ".join(f"{number} ({word})" for word, number in self.options.items())
            raise ValueError(f"{self.name} = {value} is not one of {known}")

    def ends(self) -> list[float]:
        return list(self.options.values())

    def sample(self, generator: random.Random) -> float:
        return generator.choice(self.ends())

    def spec(self) -> dict[str, Any]:
        return {"name": self.name, "value": self.value, "options": self.ends()}

    def html(self) -> str:
        options = "".join(
            f'<option value="{i}"{" selected" * (number == self.value)}>{escape(word)}</option>'
            for i, (word, number) in enumerate(self.options.items())
        )
        return (
            f"<label><span>{escape(self.label)}</span>"
            f'<select name="{self.name}" autocomplete="off">{options}</select></label>'
        )


@dataclass(frozen=True)
class Switch:
    """Off or on: 0 or 1."""

    symbol: Symbol
    label: str
    value: float = 0
    group: str = ""

    def __post_init__(self) -> None:
        self.check(self.value)

    @property
    def name(self) -> str:
        return str(self.symbol.name)

    def check(self, value: float) -> None:
        """A value that the control cannot take is a ValueError."""
        if value not in (0, 1):
            raise ValueError(f"{self.name} = {value} is neither 0 (off) nor 1 (on)")

    def ends(self) -> list[float]:
        return [0, 1]

    def sample(self, generator: random.Random) -> float:
        return generator.choice(self.ends())

    def spec(self) -> dict[str, Any]:
        return {"name": self.name, "value": self.value, "options": self.ends()}

    def html(self) -> str:
        checked = " checked" * (self.value == 1)
        return (
            f"<label><span>{escape(self.label)}</span>"
            f'<input type="checkbox" role="switch" name="{self.name}" autocomplete="off"{checked}></label>'
        )


Control = Slider | Choice | Switch


def controls_html(controls: Sequence[Control]) -> str:
    """All controls in their order, each group folded."""
    html = ""
    for group, members in groupby(controls, key=lambda control: control.group):
        rows = "".join(control.html() for control in members)
        html += f"<details><summary>{escape(group)}</summary>{rows}</details>" if group else rows
    return html
