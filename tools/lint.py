"""Checks style, formatting and types; all three run, and the first that fails decides the status."""

from __future__ import annotations

import subprocess
import sys

CHECKS = (
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["mypy"],
)


def main() -> int:
    statuses = [subprocess.run([sys.executable, "-m", *check]).returncode for check in CHECKS]
    return next(filter(None, statuses), 0)


if __name__ == "__main__":
    sys.exit(main())
