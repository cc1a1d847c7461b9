"""The server: an address on this machine, a token, and a clean shutdown."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from typing import Any

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.explore.access import AccessControl
from vuskit.explore.app import create_app
from vuskit.explore.content import Content

HOST = "127.0.0.1"
_GRACE = 2  # seconds that open requests get after Ctrl-C


class ExploreServer:
    r"""A read-only server on 127.0.0.1 that shows a run or saved scores.

    Parameters
    ----------
    content : Content
        A run or saved scores; see `vuskit.explore.open_content`.
    port : int, default=0
        Port to listen on; 0 selects a free one.
    studies : callable, optional
        Returns results of studies to show as further sections. It must return the same list until
        something changes.

    Raises
    ------
    InvalidInputError
        If the port is in use.
    MissingDependencyError
        If starlette or uvicorn is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from vuskit.explore import open_content
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("value,label,mine\n1,0,0.1\n9,1,0.8\n")
    >>> server = ExploreServer(open_content(path))
    >>> server.url.startswith(f"http://127.0.0.1:{server.port}/?token=")
    True
    >>> server.close()  # or server.run(), which blocks until Ctrl-C
    """

    def __init__(
        self, content: Content, *, port: int = 0, studies: Callable[[], list[Any]] = list
    ) -> None:
        uvicorn = require("uvicorn", purpose="vuskit explore", extra="explore")
        app = create_app(content, studies)
        self._content = content
        self._socket = _listen(port)
        self.port: int = self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        config = uvicorn.Config(
            AccessControl(app, token=self.token, port=self.port),
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="none",
            interface="asgi3",
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
        )
        self._server = uvicorn.Server(config)

    @property
    def url(self) -> str:
        """Address that includes the token."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def run(self) -> None:
        """Answer requests until Ctrl-C or `stop`."""
        self._content.start()
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self.close()

    def close(self) -> None:
        """Release the port; `run` does so when it ends."""
        self._content.stop()
        self._socket.close()

    def stop(self) -> None:
        """Stop `run` from another thread."""
        self._server.should_exit = True


def _listen(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
        found.listen()  # an early request waits instead of failing
    except OSError as error:
        found.close()
        raise InvalidInputError(
            f"`--port` must be a free port of this machine, got {port}: {error.strerror}; "
            "omit it to use any free port"
        ) from error
    return found
