"""A model on a server, named `URL#MODEL`, and one request to it.

Standard library alone. One host, the one that the person's own configuration names: no redirect
is followed and no proxy is used.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import urlsplit

from vaultmind.errors import BadArgument

ADDRESS = "an address like http://127.0.0.1:11434/v1#llama3.2, the model after the #"


@dataclass(frozen=True, slots=True)
class Address:
    """A server and a model on it."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    path: str
    model: str

    @property
    def url(self) -> str:
        """Return the server's address, without the model."""
        return f"{self.scheme}://{self.host}:{self.port}{self.path}"

    @property
    def is_here(self) -> bool:
        """Tell whether the host's name can only mean this machine."""
        with suppress(ValueError):
            return ip_address(self.host).is_loopback
        return self.host.lower() == "localhost"


def parse_address(spec: str, setting: str = "minion.model") -> Address:
    """Return the address that a setting names; raises BadArgument, and repeats no key."""
    try:
        parts = urlsplit(spec)
        port = parts.port
    except ValueError:
        raise BadArgument(setting, spec, ADDRESS) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not parts.fragment:
        raise BadArgument(setting, spec, ADDRESS)
    if parts.username or parts.password or parts.query:
        raise BadArgument(
            setting, parts.hostname, f"{ADDRESS}; a key goes into an environment variable"
        )
    secure = parts.scheme == "https"
    return Address(
        scheme="https" if secure else "http",
        host=parts.hostname,
        port=port or (443 if secure else 80),
        path=parts.path.rstrip("/"),
        model=parts.fragment,
    )


class Server:
    """Takes requests at an address; each has a connection of its own and a deadline."""

    def __init__(self, address: Address, key: str = "") -> None:
        self.address = address
        self.key = key
        self._waiting: set[socket.socket] = set()

    def post(
        self, path: str, body: dict[str, Any], until: float, most_bytes: int
    ) -> tuple[int, bytes]:
        """Send JSON and return the answer's status and body, of which at most `most_bytes` + 1.

        `until` is on the clock of `time.monotonic`; it holds on a server that sends a byte now
        and then, too. Raises TimeoutError when it is late, ConnectionError with the reason for
        any other failure. A redirect is an answer like any other.
        """
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        connection = self._connection(max(0.1, until - time.monotonic()))
        own: set[socket.socket] = set()
        rung = threading.Event()

        def ring() -> None:
            rung.set()
            _hang_up(own)

        alarm = threading.Timer(max(0.0, until - time.monotonic()), ring)
        alarm.daemon = True
        alarm.start()
        try:
            connection.connect()
            own.add(connection.sock)  # the connection lets go of it before the last byte
            self._waiting |= own
            url = self.address.path + path
            connection.request("POST", url, json.dumps(body).encode(), headers)
            with closing(connection.getresponse()) as answer:
                raw = answer.read(most_bytes + 1)
        except (OSError, http.client.HTTPException) as error:
            if rung.is_set() or isinstance(error, TimeoutError):
                raise TimeoutError("it took too long") from None
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ConnectionError(why) from None
        finally:
            alarm.cancel()
            self._waiting -= own
            connection.close()
        if rung.is_set():  # hung up between two pieces: what was read may be a part
            raise TimeoutError("it took too long")
        return answer.status, raw

    def hang_up(self) -> None:
        """End every request that waits."""
        _hang_up(self._waiting)

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        at = self.address
        if at.scheme == "https":
            secure = ssl.create_default_context()
            return http.client.HTTPSConnection(at.host, at.port, timeout=seconds, context=secure)
        return http.client.HTTPConnection(at.host, at.port, timeout=seconds)


def _hang_up(sockets: set[socket.socket]) -> None:
    for one in tuple(sockets):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
