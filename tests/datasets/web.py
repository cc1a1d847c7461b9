"""A small http server that can be told to misbehave."""

from __future__ import annotations

import atexit
import functools
import shutil
import ssl
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@dataclass
class Site:
    """One file, the ways in which it is served, and the requests it got."""

    content: bytes
    etag: str | None = '"v1"'
    ranges: bool = True
    cuts: list[int] = field(default_factory=list)  # bytes to send before cutting, per request
    statuses: list[int] = field(default_factory=list)  # errors to answer first
    wrong_offset: int = 0
    send_length: bool = True
    chunked: bool = False
    content_type: str | None = None
    redirect: str = ""  # where to send whoever asks
    requests: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def asked_ranges(self):
        return [headers.get("Range") for headers in self.requests]


def handler(site):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if site.chunked else "HTTP/1.0"

        def log_message(self, *arguments):
            pass

        def do_GET(self):
            site.requests.append(dict(self.headers))
            if site.statuses:
                self.send_response(site.statuses.pop(0))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if site.redirect:
                self.send_response(302)
                self.send_header("Location", site.redirect)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            begin = self.begin()
            if begin > len(site.content):
                self.send_response(416)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_body(begin)

        def begin(self):
            asked = self.headers.get("Range")
            current = self.headers.get("If-Range") in (None, site.etag)
            if not (site.ranges and asked and current):
                return 0
            return int(asked.removeprefix("bytes=").rstrip("-"))

        def send_body(self, begin):
            body = site.content[begin:]
            self.send_response(206 if begin else 200)
            if begin:
                shown = begin + site.wrong_offset
                last = len(site.content) - 1
                self.send_header("Content-Range", f"bytes {shown}-{last}/{len(site.content)}")
            if site.content_type:
                self.send_header("Content-Type", site.content_type)
            if site.chunked:
                self.send_chunks(body)
                return
            if site.send_length:
                self.send_header("Content-Length", str(len(body)))
            if site.etag:
                self.send_header("ETag", site.etag)
            self.end_headers()
            self.wfile.write(body[: site.cuts.pop(0)] if site.cuts else body)
            self.close_connection = True

        def send_chunks(self, body):
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            last = b"" if site.cuts else b"0\r\n\r\n"
            body = body[: site.cuts.pop(0)] if site.cuts else body
            self.wfile.write(b"%x\r\n%s\r\n%s" % (len(body), body, last))
            self.close_connection = True

    return Handler


@functools.cache
def certificate():
    """Make a self-signed certificate of 127.0.0.1, with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: no certificate for a server")
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "localhost.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
         "subjectAltName=IP:127.0.0.1", "-keyout", path, "-out", folder / "certificate.pem"],
        check=True,
        capture_output=True,
    )  # fmt: skip
    path.write_bytes(path.read_bytes() + (folder / "certificate.pem").read_bytes())
    return path


def trusting():
    """Context of a client that trusts the server's own certificate."""
    return ssl.create_default_context(cafile=str(certificate()))


@contextmanager
def serving(site, name="data.zip", *, https=False):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if https else None
    if context is not None:
        context.load_cert_chain(certificate())  # a failure must not leave a socket open
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(site))
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    site.url = f"{'https' if https else 'http'}://127.0.0.1:{server.server_port}/{name}"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
