"""Starts JupyterLab on the chapters, which it opens as notebooks although they are Markdown files."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

PREFIX = Path(sys.prefix)
SETTINGS = PREFIX / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
OVERRIDES = {
    "@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"markdown": "Jupytext Notebook"}},
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"},
}


def main(arguments: list[str]) -> None:
    SETTINGS.parent.mkdir(parents=True, exist_ok=True)
    SETTINGS.write_text(json.dumps(OVERRIDES))
    jupyter = str(PREFIX / "bin" / "jupyter")
    os.execv(jupyter, [jupyter, "lab", *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
