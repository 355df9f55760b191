from __future__ import annotations

import pickle

from registry.compat import AvroKind, Difference, Roles


def test_differences_are_values() -> None:
    difference = Difference(AvroKind.TYPE_MISMATCH.value, "/fields/0", "it changed", 3)
    assert difference == Difference("TYPE_MISMATCH", "/fields/0", "it changed", 3)
    assert difference != Difference("TYPE_MISMATCH", "/fields/0", "it changed", 4)
    assert len({difference, pickle.loads(pickle.dumps(difference))}) == 1


def test_a_sentence_says_where_what_who_and_what_helps_whose_author_reads_it() -> None:
    parts = ("/a", "it is gone", "bring it back", "keep it")
    assert Roles("the new schema", "schema 1").sentence(*parts) == (
        "/a of the new schema: it is gone, so the new schema can't read data of schema 1; "
        "to be compatible, bring it back"
    )
    assert Roles("schema 1", "the new schema", candidate_reads=False).sentence(*parts).endswith("compatible, keep it")
