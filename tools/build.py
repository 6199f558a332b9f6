"""Builds the book to `_build/html`; a warning is an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BUILD = Path("_build")
INDEX = BUILD / "html" / "index.html"


def main() -> int:
    command = ["jupyter-book", "build", ".", "--warningiserror", "--nitpick", "--keep-going"]
    status = subprocess.run([str(Path(sys.executable).parent / command[0]), *command[1:]]).returncode
    if status:
        # Sphinx does not repeat a warning for a page that it has read, so the next run reads all of them.
        (BUILD / ".doctrees" / "environment.pickle").unlink(missing_ok=True)
        print("The book was not built: the messages above say why.", file=sys.stderr)
        return status
    print(f"The book is built. Open {INDEX.resolve().as_uri()} in a browser, or run `make serve`.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
