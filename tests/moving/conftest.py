from collections.abc import Iterator

import pytest

from tests.support.imported import Program
from tests.support.operators import alice, bob
from tests.support.service import ENGINES
from tests.support.stores import OpenStore

__all__ = ["alice", "bob"]


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    with OpenStore(request.param) as opened:
        yield opened


@pytest.fixture
def program(opened: OpenStore) -> Program:
    return Program(opened)
