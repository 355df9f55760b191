from __future__ import annotations

import pickle

from registry.compat import AvroKind, Difference


def test_differences_are_values() -> None:
    difference = Difference(AvroKind.TYPE_MISMATCH.value, "/fields/0", "it changed", 3)
    assert difference == Difference("TYPE_MISMATCH", "/fields/0", "it changed", 3)
    assert difference != Difference("TYPE_MISMATCH", "/fields/0", "it changed", 4)
    assert len({difference, pickle.loads(pickle.dumps(difference))}) == 1
