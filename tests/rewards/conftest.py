import pytest

from tests.support.service import Service
from tests.support.web import Operator, operator


@pytest.fixture
def nora(service: Service) -> Operator:
    return operator(service, "nora")
