"""The address of the repository, from which launch buttons, edit links, notebooks and the citation derive.

It is the remote `origin` of this working tree or what the CI says, so that a fork gets its own buttons
without an edit; else `repository: {url: https://github.com/OWNER/NAME}` in `_config.yml`. Addresses on GitHub
and GitLab count, however git spells them; where there is none, as with a folder for a remote, no button is
shown.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

ROOT = Path(__file__).parents[3]
ADDRESS = re.compile(
    r"(?:(?:https|ssh)://)? (?:[^/@\s]+@)? (?P<host>github|gitlab)\.com (?::\d+)?"
    r"[/:] (?P<owner>[\w.-]+(?:/[\w.-]+)*) / (?P<name>[\w.-]+?) (?:\.git)? /?",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Repository:
    host: str  # "github" or "gitlab"
    owner: str
    name: str
    branch: str = "main"

    @property
    def url(self) -> str:
        return f"https://{self.host}.com/{self.owner}/{self.name}"

    @property
    def site(self) -> str:
        """Where the pages of this repository are published, with a slash at the end."""
        group, _, rest = self.owner.lower().partition("/")
        domain = f"{group}.{self.host}.io"
        path = f"{rest}/{self.name}" if rest else self.name
        return f"https://{domain}/" if path.lower() == domain else f"https://{domain}/{path}/"

    @property
    def requirement(self) -> str:
        """What `pip install` is given to install the package with what its figures need."""
        return f"mlloss[figures] @ git+{self.url}@{self.branch}"


def parse(address: str, branch: str = "") -> Repository | None:
    """The repository at an address as git spells it, without the user and password that may stand in it."""
    match = ADDRESS.fullmatch(address.strip())
    return Repository(**match.groupdict(), branch=branch or "main") if match else None


def git(*arguments: str, folder: Path) -> str:
    """What git answers; nothing where there is no git or no such thing."""
    try:
        answer = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return answer.stdout.strip()


def find(folder: Path = ROOT, url: str = "", branch: str = "") -> Repository | None:
    """The repository of the working tree in this folder, else that of the CI, else the one at `url`."""
    ci = os.environ
    is_whole_tree = (folder / ".git").exists()  # and not a folder in the tree of something else
    remote = git("remote", "get-url", "origin", folder=folder) if is_whole_tree else ""
    default = git("symbolic-ref", "--short", "refs/remotes/origin/HEAD", folder=folder) if remote else ""
    built = ci.get("GITHUB_BASE_REF") or (ci.get("GITHUB_REF_TYPE") == "branch" and ci.get("GITHUB_REF_NAME"))
    branch = branch or default.removeprefix("origin/") or built or "main"

    address_in_ci = f"{ci.get('GITHUB_SERVER_URL', '')}/{ci.get('GITHUB_REPOSITORY', '')}"
    found = (parse(address, branch) for address in (remote, address_in_ci, url))
    return next(filter(None, found), None)


def configure(app: Sphinx, config: Config) -> None:
    """Tell the theme, which links to the repository and to the source of each page."""
    options = config.html_theme_options
    url = options.get("repository_url", "")
    if url and not parse(url):
        raise ConfigError(
            f"repository url in _config.yml: {url!r} is no address like https://github.com/OWNER/NAME"
        )
    if repository := find(url=url, branch=options.get("repository_branch", "")):
        options.update(
            repository_url=repository.url,
            repository_branch=repository.branch,
            use_repository_button=True,
            use_edit_page_button=True,
        )


def of(config: Config) -> Repository | None:
    """The repository of the book that is being built, if its address is known."""
    options = config.html_theme_options
    return parse(options.get("repository_url", ""), options.get("repository_branch", ""))


def site(config: Config) -> str:
    """Where the site is published: `html.baseurl` in `_config.yml`, else the host's pages; or nowhere."""
    if config.html_baseurl:
        return f"{config.html_baseurl.rstrip('/')}/"
    repository = of(config)
    return repository.site if repository else ""


def setup(app: Sphinx) -> None:
    app.connect("config-inited", configure)
