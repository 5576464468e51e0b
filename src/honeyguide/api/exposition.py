"""The text that Prometheus reads: the metrics of all workers, and those of the installation."""

from __future__ import annotations

import asyncio
import os

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from honeyguide.api.process_metrics import ProcessMetrics
from honeyguide.api.state_metrics import StateMetrics
from honeyguide.api.telemetry import Telemetry


class Exposition:
    def __init__(self, telemetry: Telemetry, process: ProcessMetrics, state: StateMetrics) -> None:
        self._telemetry = telemetry
        self._process = process
        self._state = state
        self._state_registry = CollectorRegistry()
        self._state_registry.register(state)
        self._one_at_a_time = asyncio.Lock()

    async def text(self) -> bytes:
        async with self._one_at_a_time:
            await self._state.refresh()
            self._process.sample()
            self._telemetry.flush()
            # It takes some milliseconds, in which requests go on.
            return await asyncio.to_thread(self._generate)

    def _generate(self) -> bytes:
        ours = self._telemetry.registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            ours = CollectorRegistry()
            MultiProcessCollector(ours)  # type: ignore[no-untyped-call]
        return generate_latest(ours) + generate_latest(self._state_registry)
