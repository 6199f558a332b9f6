"""Where the book runs: its repository's address, the buttons made of it, and what `.binder/` sets up."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import lab
import pytest
from mlloss_book import launch, repository
from mlloss_book.repository import Repository

ROOT = Path(__file__).parents[1]
BINDER = ROOT / ".binder"
GITHUB, GITLAB = Repository("github", "ada", "losses"), Repository("gitlab", "math/ml", "losses", "dev")
CI = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_BASE_REF", "GITHUB_REF_TYPE", "GITHUB_REF_NAME")


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/ada/losses",
        "https://github.com/ada/losses.git",
        "https://github.com/ada/losses/",
        "https://ada:secret@github.com/ada/losses.git",
        "git@github.com:ada/losses.git",
        "ssh://git@github.com/ada/losses.git",
        "ssh://git@github.com:22/ada/losses",
    ],
)
def test_address_is_found_however_git_spells_it(address: str) -> None:
    assert repository.parse(address) == GITHUB


@pytest.mark.parametrize(
    "address",
    [
        "",
        "/home/ada/losses",
        "../github.com/ada/losses",
        "file:///github.com/ada/losses",
        "http://127.0.0.1/ada/losses.git",
        "https://example.org/github.com/ada/losses",
        "https://github.com.example.org/ada/losses",
        "https://github.com/ada",
    ],
)
def test_other_addresses_are_none(address: str) -> None:
    assert repository.parse(address) is None


def test_groups_of_gitlab_are_part_of_the_owner() -> None:
    assert repository.parse("git@gitlab.com:math/ml/losses.git", "dev") == GITLAB
    assert GITLAB.url == "https://gitlab.com/math/ml/losses"


@pytest.mark.parametrize(
    ("where", "site"),
    [
        (GITHUB, "https://ada.github.io/losses/"),
        (Repository("github", "Ada", "Ada.github.io"), "https://ada.github.io/"),
        (GITLAB, "https://math.gitlab.io/ml/losses/"),
    ],
)
def test_site_is_where_the_host_publishes_it(where: Repository, site: str) -> None:
    assert where.site == site


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working tree without a remote, in an environment that is no CI."""
    for name in CI:
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    return tmp_path


def test_remote_comes_before_the_ci_and_the_ci_before_the_configuration(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured = "https://github.com/configured/losses"
    assert repository.find(tree) is None
    assert repository.find(tree, configured, "trunk") == Repository("github", "configured", "losses", "trunk")

    ci = ("https://github.com", "fork/losses", "", "branch", "work")
    for name, value in zip(CI, ci, strict=True):
        monkeypatch.setenv(name, value)
    assert repository.find(tree, configured) == Repository("github", "fork", "losses", "work")

    subprocess.run(["git", "remote", "add", "origin", "/home/ada/losses"], cwd=tree, check=True)
    assert repository.find(tree, configured) == Repository("github", "fork", "losses", "work")
    subprocess.run(
        ["git", "remote", "set-url", "origin", "git@github.com:ada/losses.git"], cwd=tree, check=True
    )
    assert repository.find(tree, configured) == Repository("github", "ada", "losses", "work")


def test_branch_is_the_default_one_of_the_remote_or_main(tree: Path) -> None:
    subprocess.run(["git", "remote", "add", "origin", GITHUB.url], cwd=tree, check=True)
    assert repository.find(tree) == GITHUB
    head = ["git", "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"]
    subprocess.run(head, cwd=tree, check=True)
    found = repository.find(tree)
    assert found
    assert found.branch == "trunk"


def test_folder_in_the_tree_of_something_else_has_no_address(tree: Path) -> None:
    subprocess.run(["git", "remote", "add", "origin", GITHUB.url], cwd=tree, check=True)
    (tree / "book").mkdir()
    assert repository.find(tree / "book") is None


SERVICES = {
    "binderhub_url": "https://binder.example/",
    "colab_url": "https://colab.example",
    "jupyterhub_url": "https://hub.example/",
}


def test_buttons_open_the_page_at_each_service() -> None:
    buttons = launch.links(SERVICES, GITHUB, "book/softmax")
    assert [button["url"] for button in buttons] == [
        "https://binder.example/v2/gh/ada/losses/main?urlpath=lab%2Ftree%2Fbook%2Fsoftmax.md",
        "https://colab.example/github/ada/losses/blob/notebooks/softmax.ipynb",
        "https://hub.example/hub/user-redirect/git-pull?repo=https%3A%2F%2Fgithub.com%2Fada%2Flosses"
        "&branch=notebooks&urlpath=lab%2Ftree%2Flosses%2Fsoftmax.ipynb",
    ]


def test_only_services_that_can_open_it_have_a_button() -> None:
    buttons = launch.links(SERVICES, GITLAB, "book/softmax")
    assert [button["text"] for button in buttons] == ["Binder", "JupyterHub"]
    assert buttons[0]["url"].startswith("https://binder.example/v2/gl/math%2Fml%2Flosses/dev?")
    assert launch.links({**SERVICES, "jupyterhub_url": ""}, GITLAB, "book/softmax") == buttons[:1]


def files_required(file: Path) -> set[Path]:
    names = re.findall(r"^-r (\S+)", file.read_text(), re.MULTILINE)
    return {(file.parent / name).resolve() for name in names}


def test_binder_installs_what_make_lab_installs() -> None:
    """The same files, with the same package index for a small PyTorch as the README's."""
    plan = subprocess.run(["make", "--dry-run", "lab"], cwd=ROOT, capture_output=True, text=True, check=True)
    named = re.search(r"tools/environment\.py (.+)$", plan.stdout, re.MULTILINE)
    assert named
    assert files_required(BINDER / "requirements.txt") == {ROOT / name for name in named[1].split()}
    index = re.search(r"^--extra-index-url (\S+)$", (BINDER / "requirements.txt").read_text(), re.MULTILINE)
    assert index
    assert f"TORCH_INDEX={index[1]} " in (ROOT / "README.md").read_text()


def test_binder_opens_chapters_as_make_lab_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "HOME": str(tmp_path), "JUPYTER_CONFIG_DIR": str(tmp_path), "PATH": path}
    subprocess.run([BINDER / "postBuild"], env=environment, check=True)
    on_binder = json.loads((tmp_path / "labconfig" / "default_setting_overrides.json").read_text())

    monkeypatch.setattr(lab, "SETTINGS", tmp_path / "overrides.json")
    monkeypatch.setattr(os, "execv", lambda program, arguments: None)
    lab.main([])
    on_this_machine = json.loads((tmp_path / "overrides.json").read_text())
    assert on_binder.items() <= on_this_machine.items()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_binder_understands_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """What repo2docker, which makes Binder's images, reads from them; it needs Docker for the rest."""
    from repo2docker.buildpacks import PythonBuildPack  # it warns of itself when it is loaded

    monkeypatch.chdir(ROOT)
    pack = PythonBuildPack("base")
    pack.platform = "linux/amd64"
    assert pack.detect()
    dockerfile = pack.render()
    steps = [
        'RUN ${KERNEL_PYTHON_PREFIX}/bin/pip install --no-cache-dir -r ".binder/requirements.txt"',
        "RUN ./.binder/postBuild",
    ]
    assert [step for step in steps if step not in dockerfile.splitlines()] == []
    assert dockerfile.index(" src/ ${REPO_DIR}/") < dockerfile.index(
        steps[0]
    )  # it installs the package itself
    low, high = (3, 10), (3, 13)  # the versions that the Makefile accepts
    assert low <= tuple(map(int, pack.python_version.split("."))) <= high
