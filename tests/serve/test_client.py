"""Operations through the daemon: answers, progress, errors of the right type."""

from __future__ import annotations

import os
import signal

import pytest

from tests.serve.daemons import House
from vaultmind.client.client import Client
from vaultmind.errors import BadArgument, DaemonUnavailable, NotFound
from vaultmind.types import Caller


def test_an_error_arrives_with_its_type_and_words(shared_house: House) -> None:
    with Client.connect(shared_house.config) as client:
        with pytest.raises(NotFound, match="There is no operation 'nonsense'"):
            client.call("nonsense", {})
        with pytest.raises(BadArgument) as caught:
            client.call("memory_search", {"query": "oven", "colour": "red"})
        assert "colour" in str(caught.value)
        assert caught.value.field
        assert client.call("daemon_status", {})["running"]


def test_who_calls_is_checked_by_the_daemon(shared_house: House) -> None:
    with pytest.raises(DaemonUnavailable, match="'agent'"):
        Client.connect(shared_house.config, Caller("agent", "no/agent", "test"))
    with Client.connect(shared_house.config, Caller("agent", "jaskier", "test")) as client:
        assert client.call("daemon_status", {})["running"]


def test_a_killed_daemon_is_replaced_at_the_next_call(house: House) -> None:
    with Client.connect(house.config) as client:
        first = client.call("daemon_status", {})["pid"]
        house.kill()
        assert client.call("daemon_status", {})["pid"] != first


def test_a_daemon_that_dies_over_a_call_is_said(house: House) -> None:
    with Client.connect(house.config) as client:
        pid = client.call("daemon_status", {})["pid"]
        os.kill(pid, signal.SIGSTOP)  # it has the question and will never answer
        client._live().sock.settimeout(0.2)
        with pytest.raises(DaemonUnavailable, match="stopped while it worked on memory_status"):
            client.call("memory_status", {})
        os.kill(pid, signal.SIGKILL)
