"""Makes `.venv` hold exactly what the given requirements files ask for.

    python3 tools/environment.py requirements.txt [requirements-test.txt ...]

It runs with the system's Python and the standard library only. The stamp of a complete environment is written
last and names the contents of these files; without it pip runs (again). A broken environment is made anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

VENV = Path(".venv")
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed.json"
LACKS_VENV = (
    "This Python lacks its venv module: install it (Debian, Ubuntu: "
    f"`sudo apt-get install python3.{sys.version_info[1]}-venv`) and run the same command again."
)


def can_make_environments() -> bool:
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return False
    return True


def fingerprint(requirements: str) -> str:
    """A hash that changes when the environment has to: with this file and with the package's own metadata."""
    return hashlib.sha256(Path(requirements).read_bytes() + Path("pyproject.toml").read_bytes()).hexdigest()


def installed() -> dict[str, str]:
    """What the stamp says is installed; nothing if there is no readable stamp."""
    try:
        return dict(json.loads(STAMP.read_text()))
    except (OSError, ValueError):
        return {}


def works() -> bool:
    """Whether the environment's programs run, and run in it: not so where Python or the folder has moved."""
    try:
        answer = subprocess.run(
            [VENV / "bin" / "pip", "--version"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return False
    return str(VENV.resolve()) in answer.stdout


def install(requirements: list[str]) -> None:
    """Run pip, and write the stamp when it has succeeded."""
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
    if torch_index := os.environ.get("TORCH_INDEX"):
        command += ["--extra-index-url", torch_index]
    for name in requirements:
        command += ["-r", name]
    subprocess.run(command, check=True)


def main(requirements: list[str]) -> int:
    wanted = {name: fingerprint(name) for name in requirements}
    usable = works()
    stamp = installed() if usable else {}
    if wanted.items() <= stamp.items():
        return 0
    if not can_make_environments():
        print(LACKS_VENV, file=sys.stderr)
        return 1
    try:
        if not usable:
            print(f"Making {VENV} with Python {sys.version.split()[0]} …", flush=True)
            shutil.rmtree(VENV, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        print(f"Installing {', '.join(requirements)}: some minutes the first time …", flush=True)
        STAMP.unlink(missing_ok=True)
        install(requirements)
    except (subprocess.CalledProcessError, KeyboardInterrupt):
        print("The installation did not finish: run the same command again to go on.", file=sys.stderr)
        return 1
    STAMP.write_text(json.dumps({**stamp, **wanted}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
