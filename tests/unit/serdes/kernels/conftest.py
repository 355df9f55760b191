"""Both implementations of the calls."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest


@pytest.fixture(params=["pure", "native"])
def kernels(request: pytest.FixtureRequest) -> ModuleType:
    try:
        return importlib.import_module(f"serdes.kernels.{request.param}")
    except ImportError as error:
        pytest.skip(f"the native kernels are not built (make kernels): {error}")
