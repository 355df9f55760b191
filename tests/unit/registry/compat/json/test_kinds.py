from __future__ import annotations

import pytest

from registry.compat.difference import Roles
from registry.compat.json.kinds import LENIENT, WORDS, JsonKind, sentence


def test_every_kind_has_words() -> None:
    assert set(WORDS) == set(JsonKind)
    assert set(JsonKind) > LENIENT


@pytest.mark.parametrize("kind", JsonKind)
def test_sentences_are_complete(kind: JsonKind) -> None:
    details = {"name": "'NAME'", "old": "OLD", "new": "NEW"}
    for candidate_reads in (True, False):
        text = sentence(kind, "#/x", Roles("READER", "WRITER", candidate_reads), details)
        assert text.startswith("#/x of READER: ")
        assert "READER can't read data of WRITER; to be compatible, " in text
        assert not {"{", "}"} & set(text)
        assert "  " not in text
        assert not text.endswith((".", " "))
    assert sentence(kind, "#/x", Roles(candidate_reads=True), details) != sentence(
        kind, "#/x", Roles(candidate_reads=False), details
    )


def test_braces_in_values_stay() -> None:
    text = sentence(JsonKind.PATTERN_CHANGED, "#/", Roles(), {"old": "a{2}", "new": "{old}"})
    assert "the pattern is {old}, in the writer's schema it is a{2}" in text
