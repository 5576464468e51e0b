"""A TCP proxy in front of a server on this machine, which can stop forwarding without closing
anything, as a network that drops packets does.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType


class TcpProxy:
    """`async with TcpProxy(port) as proxy: connect(proxy.port); proxy.cut()`"""

    def __init__(self, target_port: int) -> None:
        self.port = 0
        self._target_port = target_port
        self._forwards = asyncio.Event()
        self._forwards.set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> TcpProxy:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        self._forwards.clear()

    def restore(self) -> None:
        self._forwards.set()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._forward_both(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _forward_both(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await self._forwards.wait()
        with suppress(OSError):
            there, out = await asyncio.open_connection("127.0.0.1", self._target_port)
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._forward(reader, out))
                    group.create_task(self._forward(there, writer))
            finally:
                out.close()
                writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                await self._forwards.wait()
                writer.write(data)
                await writer.drain()
        await self._forwards.wait()  # the end of a connection is not seen through a cut either
        writer.close()
