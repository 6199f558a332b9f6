"""Packs the built site into `_build/site.zip`: a folder to open without a server and without a network."""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

SITE = Path("_build/html")
ARCHIVE = Path("_build/site.zip")
FOLDER = "from-one-sigmoid-to-many-labels"


def main() -> int:
    with ZipFile(ARCHIVE, "w", ZIP_DEFLATED) as archive:
        for file in sorted(SITE.rglob("*")):
            archive.write(file, FOLDER / file.relative_to(SITE))
    size = ARCHIVE.stat().st_size / 1e6
    print(f"{ARCHIVE} ({size:.1f} MB): unpack it and open {FOLDER}/index.html.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
