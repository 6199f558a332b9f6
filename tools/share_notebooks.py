"""Adds the built notebooks as a commit to the branch `notebooks` of a repository, which holds nothing else.

    python3 tools/share_notebooks.py FOLDER REPOSITORY

Colab and nbgitpuller open notebooks from there. Nothing is forced, since nbgitpuller merges what it fetches.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

BRANCH = "notebooks"
AUTHOR = {"user.name": "github-actions[bot]", "user.email": "github-actions[bot]@users.noreply.github.com"}


def git(*arguments: str, folder: str = ".") -> str:
    options = [option for setting in AUTHOR.items() for option in ("-c", "=".join(setting))]
    command = ["git", *options, *arguments]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def main(folder: str, repository: str) -> int:
    with TemporaryDirectory() as tree:
        if git("ls-remote", "--heads", repository, BRANCH):
            git("clone", "--quiet", "--depth=1", f"--branch={BRANCH}", repository, tree)
        else:
            git("init", "--quiet", f"--initial-branch={BRANCH}", tree)
        for old in Path(tree).glob("*.ipynb"):
            old.unlink()
        for new in Path(folder).glob("*.ipynb"):
            shutil.copy(new, tree)
        git("add", "--all", folder=tree)
        if git("status", "--porcelain", folder=tree):
            git("commit", "--quiet", "--message=The notebooks as they are published", folder=tree)
            git("push", "--quiet", repository, f"HEAD:{BRANCH}", folder=tree)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
