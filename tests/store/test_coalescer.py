"""Callers that come while a batch runs share the next one; each gets its own result or error."""

import asyncio

import pytest

from honeyguide.store.coalescer import Coalescer


class Doubler:
    """Doubles numbers, batch by batch, each as long as the gate is closed."""

    def __init__(self, largest: int = 100) -> None:
        self.batches: list[list[int]] = []
        self.gate = asyncio.Event()
        self.numbers = Coalescer(self.run, largest=largest)

    async def run(self, items: list[int]) -> list[int]:
        self.batches.append(items)
        await self.gate.wait()
        if 13 in items:
            raise ValueError("unlucky")
        return [2 * item for item in items]


def test_who_comes_while_a_batch_runs_shares_the_next_and_each_gets_their_own_result() -> None:
    async def scenario() -> None:
        doubler = Doubler(largest=3)
        adding = [asyncio.create_task(doubler.numbers.add(1))]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        adding += [asyncio.create_task(doubler.numbers.add(n)) for n in (2, 3, 4, 5)]
        await asyncio.sleep(0)
        assert len(doubler.numbers) == 4
        doubler.gate.set()
        assert await asyncio.gather(*adding) == [2, 4, 6, 8, 10]
        assert doubler.batches == [[1], [2, 3, 4], [5]]

    asyncio.run(scenario())


def test_an_error_reaches_all_of_its_batch_and_nobody_else() -> None:
    async def scenario() -> None:
        doubler = Doubler()
        doubler.gate.set()
        first = await asyncio.gather(
            doubler.numbers.add(13), doubler.numbers.add(1), return_exceptions=True
        )
        assert [str(error) for error in first] == ["unlucky", "unlucky"]
        assert await doubler.numbers.add(2) == 4

    asyncio.run(scenario())


def test_one_who_goes_away_before_the_batch_begins_is_left_out() -> None:
    async def scenario() -> None:
        doubler = Doubler()
        first = asyncio.create_task(doubler.numbers.add(1))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        gone, stays = (asyncio.create_task(doubler.numbers.add(n)) for n in (2, 3))
        await asyncio.sleep(0)
        gone.cancel()
        first.cancel()  # its batch has begun: it goes on, and nobody hears of it
        with pytest.raises(asyncio.CancelledError):
            await gone
        doubler.gate.set()
        assert await stays == 6
        assert doubler.batches == [[1], [3]]

    asyncio.run(scenario())


def test_what_is_put_is_done_when_a_flush_returns_even_after_an_error() -> None:
    async def scenario() -> None:
        doubler = Doubler(largest=1)
        doubler.gate.set()
        for number in (13, 7):
            doubler.numbers.put(number)
        await doubler.numbers.flush()
        assert doubler.batches == [[13], [7]]

    asyncio.run(scenario())
