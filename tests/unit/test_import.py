"""`import mlloss` loads torch, and nothing else that is heavy."""

import subprocess
import sys

import mlloss

HEAVY = {
    "matplotlib",
    "sympy",
    "mpmath",
    "anywidget",
    "ipywidgets",
    "IPython",
    "sklearn",
    "scipy",
    "pandas",
    "PIL",
}


def test_import_is_light():
    """Whatever torch itself brings along is not ours."""
    show = "import sys; {}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"

    def loaded(code):
        command = [sys.executable, "-c", show.format(code)]
        return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())

    ours = loaded("import mlloss") - loaded("import torch")
    assert "mlloss" in ours
    assert not ours & HEAVY
    assert ours <= {"mlloss", "__future__"} | set(sys.stdlib_module_names)


def test_everything_public_is_there():
    assert sorted(mlloss.__all__) == list(mlloss.__all__)
    for name in mlloss.__all__:
        assert getattr(mlloss, name).__doc__
