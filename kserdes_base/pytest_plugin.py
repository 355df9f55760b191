"""The pytest plugin of this distribution: brings the fixtures of `serdes.testing`, or says why it does not.

pytest loads it wherever kserdes is installed, so for projects, too, that never import it and have a `registry` or a
`serdes` of their own: those run as if it were not there (`require_own`). Must not know any fixture.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pytest

FIXTURES: Final = "serdes.testing"
_reasons: Final[list[str]] = []


def pytest_configure(config: pytest.Config) -> None:
    """Registers the fixtures."""
    _reasons.clear()
    try:
        fixtures = importlib.import_module(FIXTURES)
    except ImportError as error:
        _reasons.append(str(error))
    else:
        if not config.pluginmanager.is_registered(fixtures):
            config.pluginmanager.register(fixtures, FIXTURES)


def pytest_report_header() -> list[str]:
    """The reason why there are no fixtures, for the head of the run."""
    return [f"kserdes: its fixtures are not there: {reason}" for reason in _reasons]
