from __future__ import annotations

import socket

import pytest
from explore.serving import serving

from vuskit.errors import InvalidInputError
from vuskit.explore import ExploreServer, open_content


def test_it_listens_on_this_machine_only(ask):
    assert ask.server._socket.getsockname()[0] == "127.0.0.1"
    assert ask.server.url == f"http://127.0.0.1:{ask.server.port}/?token={ask.server.token}"
    assert len(ask.server.token) >= 32


def test_tokens_and_cookies_differ_between_servers(ask, run_folder):
    with serving(open_content(run_folder)) as other:
        assert other.server.token != ask.server.token
        assert other("/", token=False, x_vuskit_token=ask.server.token).status == 403


def test_a_port_can_be_chosen_once(run_folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidInputError, match=f"must be a free port .* got {port}"):
            ExploreServer(open_content(run_folder), port=port)
    with serving(open_content(run_folder), port=port) as ask:
        assert ask.server.port == port
        assert ask("/data/status").status == 200


def test_studies_become_sections(run_folder):
    from vuskit.studies import run_study

    found = [run_study("scenarios", measures=["vus_pr", "auc_pr"])]
    with serving(open_content(run_folder), studies=lambda: found) as ask:
        page = ask("/").body.decode()
    assert '<a href="#scenarios" data-key="scenarios">Scenarios</a>' in page
