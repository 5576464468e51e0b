"""Which of many like cases every run has, and which are left to the long tests."""

from collections.abc import Sequence
from typing import Any

import pytest


def one_of(so_many: int, cases: Sequence[Any]) -> list[Any]:
    """The others are long."""
    return [
        pytest.param(case, marks=pytest.mark.long) if number % so_many else case
        for number, case in enumerate(cases)
    ]
