"""Finds the browser that the tests use; run as a script, it installs one where there is none.

A Chromium that is there already is taken: the one in CHROMIUM, one on the PATH, or Playwright's own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ADVICE = (
    "No browser for the tests: install Chromium or Google Chrome (Debian: `sudo apt-get install chromium`), "
    "or name one with `CHROMIUM=/path/to/it make test`."
)


def works(program: str) -> bool:
    """Whether it runs: a Chromium without its libraries and Ubuntu's stand-in for a snap do not."""
    try:
        return subprocess.run([program, "--version"], capture_output=True).returncode == 0
    except OSError:
        return False


def find() -> str | None:
    """The path of a Chromium or Chrome that runs, if there is one."""
    if named := os.environ.get("CHROMIUM"):
        candidates = [named]
    else:
        with sync_playwright() as playwright:
            candidates = [*filter(None, map(shutil.which, NAMES)), MAC, playwright.chromium.executable_path]
    return next(filter(works, candidates), None)


def ways_to_install() -> list[list[list[str]]]:
    """The ways that are open to this user, best first, each a list of commands."""
    playwright = [sys.executable, "-m", "playwright", "install", "chromium"]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        system = [["apt-get", "update"], ["apt-get", "install", "--yes", "chromium"]]
        return [system, [[*playwright, "--with-deps"]]]
    return [[playwright]]


def install() -> None:
    """Try one way after the other until a browser is there."""
    for way in ways_to_install():
        if all(subprocess.run(command).returncode == 0 for command in way) and find():
            return


def main() -> int:
    if find():
        return 0
    if "CHROMIUM" not in os.environ:
        print("Installing a browser for the tests …", flush=True)
        install()
        if find():
            return 0
    print(ADVICE, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
