"""Executed results are kept for as long as a page's code and the package are the same.

Jupyter Book's cache compares the cells of a page only. Here its folder is named after the contents of the
package and of the pinned requirements, so that a change of either executes the pages again.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).parents[3]
EXTENSION = Path(__file__).parents[1]


def fingerprint(paths: Iterable[Path]) -> str:
    """A short hash of the names and contents of files, and of all files in folders but Python's caches."""
    digest = hashlib.sha256()
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(str(file.relative_to(path.parent)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def choose_cache(app: Sphinx, config: Config) -> None:
    caches = Path(app.outdir).parent / ".jupyter_cache"
    current = caches / fingerprint([ROOT / "mlloss", ROOT / "requirements.txt"])
    for outdated in set(caches.glob("*")) - {current}:
        shutil.rmtree(outdated)
    config.nb_execution_cache_path = str(current)
    config.mlloss_book_extension = fingerprint([EXTENSION])


def setup(app: Sphinx) -> None:
    # A change of the extension writes all pages again, and executes none.
    app.add_config_value("mlloss_book_extension", "", "env")
    app.connect("config-inited", choose_cache)
