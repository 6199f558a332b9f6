"""A book of one page, with this book's configuration, extension and package, for tests of the build."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---

# A page

Prose.

:::{exercise} Half
:label: half
What is $\\sigma(0)$?
:::

:::{solution-start} half
:::
```{code-cell} python
with open("executions", "a") as file:
    print("once more", file=file)
1 + 1
```
:::{solution-end}
:::
"""


def make_book(folder: Path) -> Path:
    for name in ("book/_ext", "book/_static", "mlloss", "tools"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("_config.yml", "requirements.txt", "book/references.bib"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: book/page\n")
    write_page(folder, PAGE)
    return folder


def write_page(book: Path, text: str) -> None:
    (book / "book" / "page.md").write_text(text)


def build(book: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "tools/build.py", *arguments],
        cwd=book,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
