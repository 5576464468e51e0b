from collections.abc import AsyncIterator

import pytest

from honeyguide.store import Store
from tests.support.service import ENGINES
from tests.support.trade import verify


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def store(store: Store) -> AsyncIterator[Store]:
    """Whatever happened, the books are right."""
    yield store
    await verify(store)
