"""Serves the built book on this machine only, and opens a browser on it if there is one."""

from __future__ import annotations

import os
import sys
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HOST, PORT = "127.0.0.1", 8000


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the address is all that a reader needs on the terminal."""


class Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that leaves a page before it has all of it is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def server(folder: Path, port: int = PORT) -> ThreadingHTTPServer:
    """A server of this folder at this port, or at a free one if it is taken."""
    handler = partial(Handler, directory=str(folder))
    try:
        return Server((HOST, port), handler)
    except OSError:
        return Server((HOST, 0), handler)


def address(running: ThreadingHTTPServer) -> str:
    return f"http://{HOST}:{running.server_port}/"


def has_screen() -> bool:
    """Whether a browser can open a window, so that none takes over a terminal."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def main(folder: str) -> int:
    with server(Path(folder)) as running:
        print(f"The book is at {address(running)} (Ctrl+C ends it).", flush=True)
        if has_screen():
            webbrowser.open(address(running))
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
