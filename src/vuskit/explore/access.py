"""Access control: only reading requests from this machine that carry the token."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Message = MutableMapping[str, Any]
Application = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]

_METHODS = ("GET", "HEAD")
_NO_TOKEN = "Open the address that `vuskit explore` printed: it contains the token."
_POLICY = b"default-src 'none'; frame-ancestors 'none'"
# Pages send their own policy instead; see `vuskit.explore.app`.
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class AccessControl:
    """ASGI middleware that rejects requests from elsewhere.

    A request must use GET or HEAD, name this server in ``Host``, have no foreign ``Origin``, and
    carry the token: in the header ``x-vuskit-token``, in the cookie, or in the first address
    ``/?token=...``, which sets the cookie and redirects to ``/``.
    """

    def __init__(self, app: Application, *, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._hosts = tuple(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))
        # Cookies ignore the port: without it in the name, two servers would share one cookie.
        self.cookie = f"vuskit-{port}"

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        """Forward a request, or reject it."""
        if scope["type"] != "http":
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", []))
                known = {name.lower() for name, _ in given}
                extra = [*_HEADERS, (b"content-security-policy", _POLICY)]
                message["headers"] = given + [one for one in extra if one[0] not in known]
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _plain(answer, *refusal)
        elif self._is_first(scope):
            cookie = f"{self.cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
            await _plain(answer, 303, "", [(b"location", b"/"), (b"set-cookie", cookie.encode())])
        else:
            await self._app(scope, receive, answer)

    def _refusal(self, scope: Message, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return status and text if the request must be rejected."""
        host = headers.get("host", "").lower()
        if host not in self._hosts:
            return 403, f"The host must be {self._hosts[0]}: open the printed address."
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host}":
            return 403, "Requests from other sites are not allowed."
        # Users may follow a link to the address with the token from anywhere.
        visited = headers.get("sec-fetch-mode") == "navigate"
        if not visited and headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return 403, "Requests from other sites are not allowed."
        if not self._has_token(scope, headers):
            return 403, _NO_TOKEN
        if scope["method"] not in _METHODS:
            return 405, "This server is read-only: use GET."
        return None

    def _has_token(self, scope: Message, headers: dict[str, str]) -> bool:
        given = [headers.get("x-vuskit-token", ""), _cookie(headers, self.cookie)]
        if scope["path"] == "/":
            given += _query(scope).get("token", [])
        # Compare all of them, so that timing does not reveal which one is present.
        return sum([self._is_token(one) for one in given]) > 0

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    def _is_first(self, scope: Message) -> bool:
        return scope["path"] == "/" and "token" in _query(scope)


def _query(scope: Message) -> dict[str, list[str]]:
    try:
        return parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=20)
    except ValueError:
        return {}


def _cookie(headers: dict[str, str], name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


async def _plain(
    send: Any, status: int, text: str, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    body = f"{text}\n".encode()
    kind = [(b"content-type", b"text/plain; charset=utf-8")]
    length = [(b"content-length", str(len(body)).encode())]
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": [*kind, *length, *(headers or [])]})
    await send({"type": "http.response.body", "body": body})
