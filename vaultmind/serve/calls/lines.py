"""One connection as lines of text: what the daemon reads from and writes to."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

from vaultmind.client import wire
from vaultmind.serve.calls.halves import whole_json


class LineTooLong(Exception):
    """A peer sent more than MAX_LINE_BYTES without a newline."""


class Lines:
    """One connection as lines of text, both ways.

    Iterating yields each line without its newline and ends when the peer is gone; what it left
    of an unfinished line is dropped. Has the shape `mcp.server.stdio.stdio_server` asks for.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        """Return the next line; raise StopAsyncIteration at the end, LineTooLong over the limit."""
        try:
            line = await self._reader.readuntil(b"\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            raise StopAsyncIteration from None
        except asyncio.LimitOverrunError as error:
            raise LineTooLong(f"A line of more than {wire.MAX_LINE_BYTES} bytes.") from error
        return whole_json(line[:-1]).decode("utf-8", "replace")

    async def write(self, text: str) -> None:
        """Queue text for the peer; a peer that is gone is not an error."""
        with suppress(ConnectionError):
            self._writer.write(text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        """Wait until the peer has room for more."""
        with suppress(ConnectionError):
            await self._writer.drain()

    async def send(self, message: dict[str, Any]) -> None:
        """Send one message of our own."""
        with suppress(ConnectionError):
            self._writer.write(wire.encode(message))
            await self._writer.drain()

    def duplicate(self) -> socket.socket:
        """Return another handle of the connection, which outlives `close`."""
        handle: socket.socket = self._writer.get_extra_info("socket").dup()
        return handle

    async def close(self) -> None:
        """Hang up."""
        self._writer.close()
        with suppress(ConnectionError, TimeoutError):
            await asyncio.wait_for(self._writer.wait_closed(), 1.0)
