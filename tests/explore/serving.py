"""Servers for tests: real ones, on 127.0.0.1, asked without a browser."""

from __future__ import annotations

import http.client
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass

from waiting import PATIENCE, eventually

from vuskit.explore import ExploreServer


@dataclass
class Answer:
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Client:
    """Asks a server; with its token unless told otherwise."""

    def __init__(self, server: ExploreServer) -> None:
        self.server = server

    def __call__(self, path, *, method="GET", token=True, **headers) -> Answer:
        """Send headers as given: ``host="x"``, ``if_none_match="y"``."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["x-vuskit-token"] = self.server.token
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        try:
            connection.request(method, path, headers=sent)
            found = connection.getresponse()
            names = {name.lower(): value for name, value in found.getheaders()}
            return Answer(found.status, names, found.read())
        finally:
            connection.close()


@contextmanager
def serving(content, **options):
    """Run a server in a thread and yield a client; the server must end."""
    server = ExploreServer(content, **options)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield Client(server)
    finally:
        assert eventually(lambda: server._server.started)
        server.stop()
        thread.join(timeout=PATIENCE)
        assert not thread.is_alive()
