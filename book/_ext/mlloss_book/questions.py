"""Self-check questions: each choice opens and explains itself, with the keyboard too and without JavaScript.

    :::{question} With three equal scores, how far is log-sum-exp above the maximum?
    - [ ] not at all — It adds three equal terms, so it is larger than any one of them.
    - [x] log 3 — The sum in the gap has three terms that are 1.
    :::

Choices and explanations are MyST and may hold formulas. `[x]` marks the one that is right, and a dash between
spaces divides a choice from its explanation. What stands before the list belongs to the question.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

MARK = re.compile(r"\[([ x])\]\s+")
DASH = re.compile(r"\s+—\s+")
VERDICTS = {" ": "Not quite.", "x": "Right."}


class question(nodes.Element):
    """A question with its choices."""


class choice(nodes.Element):
    """One choice: its text, and then what its author says about it."""


class choice_text(nodes.TextElement):
    """What a reader chooses."""

    named_by_contents = True


class Mistake(Exception):
    """What the author of a question has to mend."""


def divide(paragraph: nodes.paragraph) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """What stands before the first dash, and what stands after it."""
    for i, node in enumerate(paragraph):
        if isinstance(node, nodes.Text) and len(parts := DASH.split(node, maxsplit=1)) == 2:
            before, after = map(nodes.Text, parts)
            return [*paragraph[:i], before], [after, *paragraph[i + 1 :]]
    raise Mistake(f"no dash and explanation after the choice {paragraph.astext()!r}")


def make_choice(item: nodes.list_item) -> choice:
    mark = MARK.match(item.astext())
    if not mark:
        raise Mistake(f"no [ ] or [x] before the choice {item.astext()!r}")
    paragraph, *more = item
    paragraph[0] = nodes.Text(MARK.sub("", paragraph[0], count=1))
    text, explanation = divide(paragraph)
    verdict = nodes.strong("", VERDICTS[mark[1]])
    first = nodes.paragraph("", "", verdict, nodes.Text(" "), *explanation)
    return choice("", choice_text("", "", *text), first, *more, right=mark[1] == "x")


class Question(SphinxDirective):
    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        number = self.env.temp_data["questions"] = self.env.temp_data.get("questions", 0) + 1
        text, _ = self.state.inline_text(self.arguments[0], self.lineno)
        heading = nodes.strong("", f"Question {number}.")
        title = nodes.paragraph("", "", heading, nodes.Text(" "), *text, ids=[f"question-{number}"])

        body = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, body)
        lists = [child for child in body if isinstance(child, nodes.bullet_list)]
        context = [child for child in body if child not in lists]
        node = question("", title, *context, labelledby=title["ids"][0])
        self.set_source_info(node)
        try:
            choices = [make_choice(item) for items in lists for item in items]
            if (right := sum(made["right"] for made in choices)) != 1:
                raise Mistake(f"{right} right choices, not one")
            node += choices
        except Mistake as mistake:
            logger.warning("question %d has %s", number, mistake, location=self.get_location())
        return [node]


def visit_question(self: HTML5Translator, node: question) -> None:
    self.body.append(f'<div class="question" role="group" aria-labelledby="{node["labelledby"]}">\n')


def depart_question(self: HTML5Translator, node: question) -> None:
    self.body.append("</div>\n")


def visit_choice(self: HTML5Translator, node: choice) -> None:
    self.body.append(f'<details class="choice {"right" if node["right"] else "wrong"}">')


def depart_choice(self: HTML5Translator, node: choice) -> None:
    self.body.append("</details>\n")


def visit_choice_text(self: HTML5Translator, node: choice_text) -> None:
    self.body.append("<summary>")


def depart_choice_text(self: HTML5Translator, node: choice_text) -> None:
    self.body.append("</summary>\n")


def setup(app: Sphinx) -> None:
    app.add_directive("question", Question)
    app.add_node(question, html=(visit_question, depart_question))
    app.add_node(choice, html=(visit_choice, depart_choice))
    app.add_node(choice_text, html=(visit_choice_text, depart_choice_text))
