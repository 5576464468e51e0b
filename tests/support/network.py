"""TCP proxies for tests that have no event loop: they run in a thread of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from .tcp_proxy import TcpProxy

T = TypeVar("T")


class Network:
    """`with Network() as network: proxy = network.proxy(5432); network.cut(proxy)`"""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._proxies = AsyncExitStack()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def proxy(self, target_port: int) -> TcpProxy:
        return self._run(self._proxies.enter_async_context(TcpProxy(target_port)))

    def cut(self, *proxies: TcpProxy) -> None:
        """Nothing is forwarded any more once this returns."""

        async def work() -> None:
            for proxy in proxies:
                proxy.cut()

        self._run(work())

    def restore(self, *proxies: TcpProxy) -> None:
        async def work() -> None:
            for proxy in proxies:
                proxy.restore()

        self._run(work())

    def __enter__(self) -> Network:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._proxies.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()
