"""Alice and Bob at their dashboards, for packages whose tests need more than the API."""

import pytest

from tests.support.service import Service
from tests.support.web import Operator, operator


@pytest.fixture
def alice(service: Service) -> Operator:
    return operator(service)


@pytest.fixture
def bob(service: Service) -> Operator:
    return operator(service, "bob")
