"""Exercises, and solutions that open when asked for, with the keyboard too and without JavaScript.

    :::{exercise} A title, if it needs one
    :label: exercise-tail
    What to do.
    :::

    :::{solution} exercise-tail
    How it is done.
    :::

Code cells cannot stand inside a directive, so a solution with code stands between two:

    :::{solution-start} exercise-tail
    :::
    Text and code cells.
    :::{solution-end}
    :::

Exercises are numbered within their page, and `` {ref}`exercise-tail` `` links to one.
"""

from __future__ import annotations

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


class solution(nodes.Element):
    """The contents of a solution, with the number of its exercise."""


class solution_start(solution):
    """Where a solution begins whose contents follow as siblings."""


class solution_end(nodes.Element):
    """Where such a solution ends."""


class Exercise(SphinxDirective):
    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = {"label": directives.unchanged_required}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        numbers = self.env.temp_data.setdefault("exercises", {})
        label = self.options.get("label", f"exercise-{len(numbers) + 1}")
        numbers[label] = len(numbers) + 1

        heading: list[nodes.Node] = [nodes.Text(f"Exercise {numbers[label]}")]
        if self.arguments:
            title, _ = self.state.inline_text(f"{self.arguments[0]}", self.lineno)
            heading += [nodes.Text(": "), *title]
        node = nodes.admonition("", nodes.title("", "", *heading), classes=["exercise"], ids=[label])
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        self.env.get_domain("std").note_hyperlink_target(  # type: ignore[attr-defined]
            label, self.env.docname, label, f"Exercise {numbers[label]}"
        )
        return [node]


class Solution(SphinxDirective):
    has_content = True
    required_arguments = 1
    node_class = solution

    def run(self) -> list[nodes.Node]:
        label = self.arguments[0]
        number = self.env.temp_data.get("exercises", {}).get(label)
        if number is None:
            logger.warning(
                "no exercise is labelled %r above its solution", label, location=self.get_location()
            )
        node = self.node_class("", number=number)
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


class SolutionStart(Solution):
    has_content = False
    node_class = solution_start


class SolutionEnd(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        return [solution_end()]


class GatherSolutions(SphinxTransform):
    """Put what stands between the start and the end of a solution into it."""

    default_priority = 10

    def apply(self) -> None:
        for start in list(self.document.findall(solution_start)):
            parent = start.parent
            first = parent.index(start)
            ends = [i for i, node in enumerate(parent) if i > first and isinstance(node, solution_end)]
            if not ends:
                logger.warning("this solution has no `solution-end` in its section", location=start)
                continue
            gathered = solution("", *parent[first + 1 : ends[0]], **start.attributes)
            parent[first : ends[0] + 1] = [gathered]


def visit_solution(self: HTML5Translator, node: solution) -> None:
    self.body.append(f'<details class="solution"><summary>Solution to exercise {node["number"]}</summary>\n')


def depart_solution(self: HTML5Translator, node: solution) -> None:
    self.body.append("</details>\n")


def setup(app: Sphinx) -> None:
    app.add_directive("exercise", Exercise)
    app.add_directive("solution", Solution)
    app.add_directive("solution-start", SolutionStart)
    app.add_directive("solution-end", SolutionEnd)
    app.add_node(solution, html=(visit_solution, depart_solution))
    app.add_transform(GatherSolutions)
