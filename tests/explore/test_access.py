from __future__ import annotations

import pytest


def test_requests_without_the_token_are_refused(ask):
    for path in ("/", "/data/run", "/data/status", "/nothing", "/?token=wrong", "/?token="):
        answer = ask(path, token=False)
        assert answer.status == 403, path
        assert b"token" in answer.body
        assert ask.server.token.encode() not in answer.body
    assert ask("/", token=False, x_vuskit_token=ask.server.token[:-1]).status == 403
    assert ask("/data/run", token=False, cookie=f"{_cookie(ask)}=wrong").status == 403
    # The token is taken from an address once, at the start.
    assert ask(f"/data/run?token={ask.server.token}", token=False).status == 403


def _cookie(ask):
    return f"vuskit-{ask.server.port}"


def test_the_first_address_sets_a_cookie(ask):
    answer = ask(f"/?token={ask.server.token}", token=False)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie, *about = answer.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} == set(about)
    assert ask("/data/status", token=False, cookie=cookie).status == 200
    assert ask("/data/status", token=False, cookie=f"other=1; {cookie}").status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example", "[::1]", ""]
)
def test_other_hosts_are_refused(ask, host):
    assert ask("/data/status", host=host).status == 403


def test_own_names_are_accepted(ask):
    for name in ("127.0.0.1", "localhost"):
        assert ask("/data/status", host=f"{name}:{ask.server.port}").status == 200


def test_other_origins_are_refused(ask):
    own = f"http://127.0.0.1:{ask.server.port}"
    assert ask("/data/status", origin=own).status == 200
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", own.replace("p:", "ps:")):
        assert ask("/data/status", origin=origin).status == 403
    for site in ("cross-site", "same-site"):
        assert ask("/data/status", sec_fetch_site=site).status == 403
    assert ask("/data/status", sec_fetch_site="same-origin").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_reading_is_possible(ask, method):
    assert ask("/data/status", method=method).status == 405
    assert ask("/data/status", method=method, token=False).status == 403


def test_every_answer_has_the_headers(ask):
    for path, token in (("/", True), ("/data/run", True), ("/nothing", True), ("/", False)):
        headers = ask(path, token=token).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy
        assert "script-src 'unsafe-inline'" not in policy
        assert "access-control-allow-origin" not in headers
    assert "connect-src 'self'" in ask("/").headers["content-security-policy"]
