"""Builds the book to `_build/html`; a warning is an error.

Arguments go to Jupyter Book: `--builder linkcheck` has it try the links to other sites, where a broken one is
an error.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BUILD = Path("_build")
INDEX = BUILD / "html" / "index.html"
IPYTHON = BUILD / ".ipython"
KERNEL = """\
from ipykernel.iostream import OutStream

c.IPKernelApp.log_level = "ERROR"
OutStream.flush_interval = 3600  # a cell's output goes out when the cell ends, never in mid-line
"""
COMMAND = ["jupyter-book", "build", ".", "--warningiserror", "--nitpick", "--keep-going"]


def kernel_environment() -> dict[str, str]:
    """Cells run with IPython's defaults, not with the user's settings; the kernel reports errors only.

    One thread, unless the user has asked for more: the chapters' tensors are tiny, and threads that wait for
    one another made a page take fifty times as long on a busy machine.
    """
    profile = IPYTHON / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text(KERNEL)
    return {"OMP_NUM_THREADS": "1", **os.environ, "IPYTHONDIR": str(IPYTHON.resolve())}


def main(arguments: list[str]) -> int:
    program = Path(sys.executable).with_name(COMMAND[0])
    status = subprocess.run([program, *COMMAND[1:], *arguments], env=kernel_environment()).returncode
    if status:
        # Sphinx does not repeat a warning for a page that it has read, so the next run reads all of them.
        (BUILD / ".doctrees" / "environment.pickle").unlink(missing_ok=True)
        failed = "Not all links were found" if arguments else "The book was not built"
        print(f"{failed}: the messages above say why.", file=sys.stderr)
        return status
    if not arguments:
        print(f"The book is built. Open {INDEX.resolve().as_uri()} in a browser, or run `make serve`.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
