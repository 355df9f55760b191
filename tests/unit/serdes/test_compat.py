"""serdes.compat: small names of confluent_kafka.schema_registry. Expected values were observed there (2.16)."""

from __future__ import annotations

from typing import Any

import pytest

from registry import RuleMode, Schema
from serdes import compat
from serdes.rules import RuleError


@pytest.mark.parametrize(
    ("text", "matcher", "matches"),
    [
        ("eve", "eve*", True),
        ("eve", "e?e", True),
        ("a.b", "a*", False),
        ("a.b", "a**", True),
        ("a.b.c", "a.*.c", True),
        ("", "*", True),
        ("a.", "a.*", True),
        ("a.b", "a?b", False),
        ("abc", "*c", True),
        ("a.c", "**c", True),
        (".c", "*c", False),
        ("a.b.c", "**.c", True),
        ("eve", "", False),
        ("", "", True),
        ("a[b", "a[b", True),
        ("a*", r"a\*", True),
        ("ab", r"a\*", False),
    ],
)
def test_names_match_wildcards(text: str, matcher: str, matches: bool) -> None:
    assert compat.wildcard_match(text, matcher) is matches


@pytest.mark.parametrize(
    ("given", "normal"), [(None, None), ("a", "a"), ("", ""), (["a", "b"], "a,b"), ([], ""), ("a,b", "a,b")]
)
def test_identity_pools_are_joined(given: Any, normal: str | None) -> None:
    assert compat.normalize_identity_pool(given) == normal


@pytest.mark.parametrize("given", [3, [1], ("a",)])
def test_other_identity_pools_are_refused(given: Any) -> None:
    with pytest.raises(TypeError):
        compat.normalize_identity_pool(given)


def test_statuses() -> None:
    assert [compat.is_success(status) for status in (199, 200, 299, 300)] == [False, True, True, False]
    assert [status for status in range(400, 600) if compat.is_retriable(status)][:4] == [408, 429, 500, 502]


def test_parsed_schemas_are_kept_by_schema() -> None:
    cache: compat.ParsedSchemaCache[int] = compat.ParsedSchemaCache()
    cache.set(Schema('"string"'), 1)
    assert cache.get_parsed_schema(Schema('"string"')) == 1
    assert cache.get_parsed_schema(Schema('"int"')) is None
    cache.clear()
    assert cache.get_parsed_schema(Schema('"string"')) is None


def test_a_migration_is_a_value() -> None:
    assert compat.Migration(RuleMode.UPGRADE, None, None) == compat.Migration(RuleMode.UPGRADE, None, None)


def test_a_driver_is_found_by_its_key() -> None:
    assert compat.get_kms_driver("local-kms://key").get_key_url_prefix() == "local-kms://"
    with pytest.raises(RuleError, match="no KMS driver for key"):
        compat.get_kms_driver("nowhere://key")
