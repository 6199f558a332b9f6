"""The book's numbered equations and the checks in `mlloss.identities` are one set, and all checks hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sympy import Rational, Symbol

from mlloss.identities import CHECKS
from mlloss.identities.registry import assert_between, assert_equal, check
from mlloss.symbolic import sigmoid, softplus

z = Symbol("z", real=True)
BOOK = Path(__file__).parents[2] / "book"
DISPLAY = re.compile(r"^\$\$\n(?P<formula>.*?)\n\$\$(?: \((?P<label>[\w-]+)\))?$", re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"^(`{3,}|:{3,})\{math\}(?P<formula>.*?)^\1$", re.MULTILINE | re.DOTALL)
RELATION = re.compile(r"=|\\le\b|\\ge\b|\\approx|\\Longrightarrow|\\implies|<|>|\\lt\b|\\gt\b")


def displayed() -> list[tuple[str, str, str]]:
    """Page, formula and label ("" where there is none) of every displayed formula."""
    found = []
    for page in sorted(BOOK.glob("**/*.md")):
        text = page.read_text(encoding="utf-8")
        found += [(page.name, m["formula"], m["label"] or "") for m in DISPLAY.finditer(text)]
        for match in DIRECTIVE.finditer(text):
            label = re.search(r"^:label: ([\w-]+)$", match["formula"], re.MULTILINE)
            found.append((page.name, match["formula"], label[1] if label else ""))
    return found


@pytest.mark.parametrize("label", CHECKS)
def test_equation_holds(label: str) -> None:
    CHECKS[label].run()


def test_every_label_has_a_check_and_every_check_its_label() -> None:
    labels = [label for _, _, label in displayed() if label]
    assert len(labels) == len(set(labels))
    assert set(labels) == set(CHECKS)


def test_every_displayed_statement_is_labelled() -> None:
    assert displayed()
    bare = [(page, formula) for page, formula, label in displayed() if RELATION.search(formula) and not label]
    assert not bare


def test_no_display_escapes_the_search() -> None:
    """Dollar pairs that open a display elsewhere than at the start of a line would go unchecked."""
    for page in BOOK.glob("**/*.md"):
        text = page.read_text(encoding="utf-8")
        assert text.count("$$") == 2 * len(DISPLAY.findall(text)), page.name


def test_every_check_says_what_it_shows() -> None:
    assert all(check.statement.endswith(".") and check.how for check in CHECKS.values())


def test_an_equation_has_one_check() -> None:
    with pytest.raises(ValueError, match="two checks for the equation 'logit'"):
        check("logit")(lambda: None)


def test_a_wrong_equation_is_found() -> None:
    with pytest.raises(AssertionError, match="SymPy does not find"):
        assert_equal(sigmoid(-z), sigmoid(z))
    with pytest.raises(AssertionError):
        assert_equal(softplus(z), softplus(z) + Rational(1, 10**30))


def test_a_wrong_bound_is_found() -> None:
    with pytest.raises(AssertionError):
        assert_between(softplus(z), softplus(z), softplus(z) - Rational(1, 10**30), [z])
    with pytest.raises(AssertionError):
        assert_between(softplus(z) + Rational(1, 10**30), softplus(z), softplus(z) + 1, [z])
