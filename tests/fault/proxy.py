"""A proxy that knows Kafka's frames: holds back requests of one kind, cuts connections."""

from __future__ import annotations

import asyncio
import struct
import threading
from contextlib import suppress

END_TRANSACTION = 26
"""The API key of EndTxn."""


class Proxy:
    """Listens on a port of its own; `target` may be set after the broker has started."""

    def __init__(self) -> None:
        self.port = 0
        self.target = 0
        self.held = 0
        self._api_key = -1
        self._seconds = 0.0
        self._left = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()
        self._ready.wait(10)

    def hold(self, api_key: int, *, seconds: float, times: int) -> None:
        """Hold the next requests of a kind back for a while."""
        self.held = 0
        self._api_key, self._seconds, self._left = api_key, seconds, times

    def cut(self) -> None:
        """Break every connection there is."""
        self._loop.call_soon_threadsafe(self._cut)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            from_broker, to_broker = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.close()
            return
        self._writers |= {writer, to_broker}
        both = [
            asyncio.ensure_future(self._requests(reader, to_broker)),
            asyncio.ensure_future(_bytes(from_broker, writer)),
        ]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in both:
            task.cancel()
        for end in (writer, to_broker):
            self._writers.discard(end)
            end.close()

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readexactly(6)
                length, api_key = struct.unpack(">ih", head)
                rest = await reader.readexactly(length - 2)
                if api_key == self._api_key and self._left > 0:
                    self._left -= 1
                    await asyncio.sleep(self._seconds)
                    self.held += 1
                writer.write(head + rest)
                await writer.drain()


async def _bytes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
