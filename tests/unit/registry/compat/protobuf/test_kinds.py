from __future__ import annotations

import pytest

from registry.compat.difference import Roles
from registry.compat.protobuf.kinds import COMPATIBLE, SENTENCES, Change, ProtobufKind


def test_what_is_in_the_way_has_a_sentence_and_nothing_else() -> None:
    assert set(SENTENCES) == set(ProtobufKind) - COMPATIBLE


@pytest.mark.parametrize("kind", sorted(SENTENCES))
@pytest.mark.parametrize("candidate_reads", [True, False])
def test_sentences(kind: ProtobufKind, candidate_reads: bool) -> None:
    found = Change(kind, ("A", "1"), "x", "'here'", "'there'").worded(Roles("R", "W", candidate_reads))
    assert found.path == "#/A/1"
    assert found.message.startswith("#/A/1 of R: ")
    assert "so R can't read data of W; to be compatible, " in found.message
    assert "{" not in found.message
