from collections.abc import AsyncIterator

import pytest

from honeyguide.store import Store
from tests.support.trade import verify


@pytest.fixture
async def store(store: Store) -> AsyncIterator[Store]:
    """Whatever happened, the books are right."""
    yield store
    await verify(store)
