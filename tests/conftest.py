"""One service per engine and test process; each test makes accounts of its own in it, so tests never see each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.service import ENGINES, Member, Service


@pytest.fixture(scope="session", params=ENGINES)
def shared_service(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param) as service:
        yield service


@pytest.fixture
def service(shared_service: Service) -> Iterator[Service]:
    """The running service, its clock set back to now after each test."""
    yield shared_service
    shared_service.set_clock(0)


@pytest.fixture
def alice(service: Service) -> Member:
    return service.member("alice")


@pytest.fixture
def bob(service: Service) -> Member:
    return service.member("bob")


@pytest.fixture
def mallory(service: Service) -> Member:
    return service.member("mallory")
