"""A small http server that can be told to misbehave."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """One file, the ways in which it is served, and the requests it got."""

    content: bytes
    cuts: list[int] = field(default_factory=list)  # bytes to send before cutting, per request
    statuses: list[int] = field(default_factory=list)  # errors to answer first
    send_length: bool = True
    requests: list[str] = field(default_factory=list)
    url: str = ""


def handler(site):
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def do_GET(self):
            site.requests.append(self.path)
            self.send_response(site.statuses.pop(0) if site.statuses else 200)
            if site.send_length:
                self.send_header("Content-Length", str(len(site.content)))
            self.end_headers()
            self.wfile.write(site.content[: site.cuts.pop(0)] if site.cuts else site.content)

    return Handler


@contextmanager
def serving(site, name="data.zip"):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(site))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}/{name}"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
