from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    pass
