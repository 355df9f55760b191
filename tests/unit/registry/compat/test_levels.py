from __future__ import annotations

import pytest

from registry import ConfigCompatibilityLevel
from registry.compat import Level


def test_names_in_any_case() -> None:
    assert Level.of("full_transitive") is Level.FULL_TRANSITIVE
    with pytest.raises(ValueError, match="'SIDEWAYS' is unknown: NONE, BACKWARD"):
        Level.of("SIDEWAYS")


@pytest.mark.parametrize(
    ("level", "backward", "forward", "transitive"),
    [
        (Level.NONE, False, False, False),
        (Level.BACKWARD, True, False, False),
        (Level.BACKWARD_TRANSITIVE, True, False, True),
        (Level.FORWARD, False, True, False),
        (Level.FORWARD_TRANSITIVE, False, True, True),
        (Level.FULL, True, True, False),
        (Level.FULL_TRANSITIVE, True, True, True),
    ],
)
def test_directions(level: Level, backward: bool, forward: bool, transitive: bool) -> None:
    assert (level.backward, level.forward, level.transitive) == (backward, forward, transitive)


def test_the_registrys_names_are_the_engines() -> None:
    assert {level.value for level in Level} == {level.value for level in ConfigCompatibilityLevel}
