"""Two validators that were written independently give the same verdicts: ours (jsonschema-rs), and jsonschema.

Left out is what the drafts leave open or jsonschema does otherwise on purpose: patterns beyond what Python and ECMA 262
share, formats (optional), and remainders of floats, which jsonschema takes in binary (0.3 is no multiple of 0.1 there).
"""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema.validators import validator_for

from registry import Schema
from serdes import SerializationError
from serdes.formats.json.codec import dumps, load, loads

DRAFTS = (
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)
NAMES = st.sampled_from(["a", "b", "c", "x-y", "é"])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from([0.0, 1.0, -1.5, 2**53 + 1, 2**64, -(2**70), 1e300, "", "a", "ab", "é", "a\n", "1"])
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=8
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
SIZES = st.integers(0, 3)


def _one(**parts: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({name.rstrip("_"): part for name, part in parts.items()})


def _leaf_rules(draft: int) -> list[st.SearchStrategy[dict[str, Any]]]:
    rules = [
        _one(type=TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True)),
        _one(enum=st.lists(VALUES, min_size=1, max_size=3, unique_by=lambda value: json.dumps(value, sort_keys=True))),
        _one(minimum=st.integers(-3, 3)),
        _one(maximum=st.sampled_from([0, 1.5, 2**64])),
        _one(multipleOf=st.integers(1, 3)),
        _one(minLength=SIZES),
        _one(maxLength=SIZES),
        _one(pattern=st.sampled_from(["^a", "b", "^[a-c]+", "^(a+)+", "[^a]"])),
        _one(minItems=SIZES),
        _one(maxItems=SIZES),
        _one(uniqueItems=st.booleans()),
        _one(minProperties=SIZES),
        _one(maxProperties=SIZES),
        _one(required=st.lists(NAMES, min_size=1, max_size=2, unique=True)),
        _one(format=st.just("no such format")),
        _one(**{"$ref": st.just("#/definitions/shared")}),
    ]
    if draft == 4:
        rules.append(_one(maximum=st.integers(-3, 3), exclusiveMaximum=st.booleans()))
    else:
        rules += [_one(exclusiveMinimum=st.integers(-3, 3)), _one(const=VALUES)]
    if draft >= 2019:
        rules.append(
            _one(dependentRequired=st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2))
        )
    return rules


def _schemas(draft: int) -> st.SearchStrategy[Any]:
    def wider(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        some = st.lists(inner, min_size=1, max_size=3)
        by_name = st.dictionaries(NAMES, inner, max_size=3)
        rules = [
            _one(properties=by_name),
            _one(properties=by_name, additionalProperties=inner | st.booleans()),
            _one(patternProperties=st.dictionaries(st.sampled_from(["^a", "b", "^(.|x)*$"]), inner, max_size=2)),
            _one(allOf=some),
            _one(anyOf=some),
            _one(oneOf=some),
            _one(not_=inner),
            _one(items=inner),
        ]
        if draft < 2020:
            rules.append(_one(items=some, additionalItems=inner | st.booleans()))
        else:
            rules += [_one(prefixItems=some, items=inner), _one(contains=inner, minContains=SIZES)]
        if draft < 2019:
            rules.append(
                _one(
                    dependencies=st.dictionaries(
                        NAMES, inner | st.lists(NAMES, min_size=1, max_size=2, unique=True), max_size=2
                    )
                )
            )
        else:
            rules += [
                _one(dependentSchemas=by_name),
                _one(properties=by_name, anyOf=some, unevaluatedProperties=st.booleans()),
            ]
        if draft >= 6:
            rules += [_one(contains=inner), _one(propertyNames=inner)]
        if draft >= 7:
            rules.append(st.fixed_dictionaries({"if": inner, "then": inner, "else": inner}))
        return st.one_of(rules)

    leaf: st.SearchStrategy[Any] = st.one_of(_leaf_rules(draft))
    leaf = leaf if draft == 4 else st.one_of(leaf, st.booleans())
    return st.recursive(leaf, wider, max_leaves=5)  # fmt: skip


SCHEMAS = {draft: _schemas(number) for draft, number in zip(DRAFTS, (4, 6, 7, 2019, 2020), strict=True)}


@pytest.mark.parametrize("draft", DRAFTS)
@settings(max_examples=max(60, settings.default.max_examples // 2))  # five times
@given(data=st.data())
def test_both_validators_agree(draft: str, data: st.DataObject) -> None:
    part = data.draw(SCHEMAS[draft])
    shared = data.draw(st.one_of(_leaf_rules(4)[:8]))
    document = {"$schema": draft, "allOf": [part], "definitions": {"shared": shared}}
    value = data.draw(VALUES)
    parsed = load(Schema(json.dumps(document), "JSON"))
    theirs: Any = validator_for(document, default=jsonschema.Draft7Validator)
    try:
        parsed.check(value)
        verdict = True
    except SerializationError:
        verdict = False
    assert verdict is theirs(document).is_valid(value)
    assert repr(loads(dumps(value))) == repr(value)


@pytest.mark.parametrize(
    ("rule", "value", "ours", "theirs"),
    [
        ({"multipleOf": 0.1}, 0.3, True, False),
        ({"multipleOf": 0.01}, 19.99, True, False),
        ({"pattern": r"^\w+$"}, "é", False, True),
        ({"pattern": r"^\d+$"}, "٣", False, True),
        ({"pattern": "^a$"}, "a\n", False, True),
        ({"format": "date"}, "2020-02-30", False, True),
    ],
)
def test_where_they_differ_ours_is_right(rule: Any, value: Any, ours: bool, theirs: bool) -> None:
    """ECMA 262 for patterns, decimal numbers as they are written, formats checked."""
    assert jsonschema.Draft7Validator(rule).is_valid(value) is theirs
    if ours:
        load(Schema(json.dumps(rule), "JSON")).check(value)
    else:
        with pytest.raises(SerializationError):
            load(Schema(json.dumps(rule), "JSON")).check(value)
