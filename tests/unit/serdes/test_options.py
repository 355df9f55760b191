from __future__ import annotations

from typing import Any

import pytest

from serdes import record_subject_name_strategy, topic_record_subject_name_strategy, topic_subject_name_strategy
from serdes.options import JSON, PROTOBUF_READ, PROTOBUF_WRITE, ReadOptions, Validation, WriteOptions, check_callable
from serdes.subject import AssociatedNameStrategy, reference_subject_name_strategy


def test_defaults() -> None:
    own = {"validate.strict": False, "validate.strict.allow.default": False}
    assert WriteOptions.parse(None, True) == WriteOptions(own=own)
    assert ReadOptions.parse({}) == ReadOptions()


def test_strategies_by_type_and_callable() -> None:
    for name, strategy in (
        ("topic", topic_subject_name_strategy),
        ("TOPIC_RECORD", topic_record_subject_name_strategy),
        ("Record", record_subject_name_strategy),
    ):
        assert ReadOptions.parse({"subject.name.strategy.type": name}).strategy is strategy
    both = {"subject.name.strategy": record_subject_name_strategy, "subject.name.strategy.type": "TOPIC"}
    assert WriteOptions.parse(both, True).strategy is record_subject_name_strategy


@pytest.mark.parametrize(
    ("conf", "text"),
    [
        ({"auto.register.schema": True}, "did you mean 'auto.register.schemas'"),
        ({"xyz": 1}, "Unrecognized properties: xyz$"),
        ({"auto.register.schemas": "yes"}, "must be a boolean value"),
        ({"normalize.schemas": 1}, "must be a boolean value"),
        ({"use.schema.id": "5", "auto.register.schemas": False}, "must be a whole number"),
        ({"use.latest.version": True}, "cannot enable both use.latest.version and auto.register"),
        (
            {"use.schema.id": 5, "use.latest.version": True, "auto.register.schemas": False},
            "both use.latest.version and use.schema.id",
        ),
        ({"subject.name.strategy": "topic"}, "must be callable"),
        ({"subject.name.strategy.type": "NONE"}, "must be one of TOPIC, TOPIC_RECORD, RECORD, ASSOCIATED, not 'NONE'"),
        ({"subject.name.strategy.conf": 5}, "must be a dict"),
        (
            {"subject.name.strategy.conf": {"subject.name.strategy.fallback.type": "X"}},
            "fallback.type: X. Valid values are",
        ),
        ({"use.latest.with.metadata": "a"}, "must be a dict"),
        ({"schema.id.serializer": "prefix"}, "must be callable"),
        ({"validation.rules.execution": "AFTER"}, "must be one of DISABLED, BEFORE_DOMAIN_RULES, AFTER_DOMAIN_RULES"),
        ({"validation.rules.fail.fast": "no"}, "must be a boolean value"),
        ({"validate": True}, "Unrecognized properties: validate"),
    ],
)
def test_refused(conf: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        WriteOptions.parse(conf, True)


def test_associated_and_what_belongs_to_formats() -> None:
    made = WriteOptions.parse(
        {"subject.name.strategy.type": "associated", "use.latest.with.metadata": {"a": "b"}}, False
    )
    assert isinstance(made.strategy, AssociatedNameStrategy)
    assert (made.metadata, made.chosen_by_registry, made.moves) == ({"a": "b"}, True, True)
    assert WriteOptions.parse({"validate": False}, True, JSON).own == {"validate": False}
    conf = {"message.type": "a.B", "skip.known.types": False}
    own = WriteOptions.parse(conf, True, PROTOBUF_WRITE).own
    assert (own["message.type"], own["skip.known.types"], own["use.deprecated.format"]) == ("a.B", False, False)
    assert own["reference.subject.name.strategy"] is reference_subject_name_strategy
    with pytest.raises(ValueError, match=r"message\.type must be a str"):
        ReadOptions.parse({"message.type": 5}, PROTOBUF_READ)
    assert WriteOptions.parse({"validation.rules.execution": "DISABLED"}, True).validation is None
    told = {"validation.rules.execution": "AFTER_DOMAIN_RULES", "validation.rules.fail.fast": True}
    assert WriteOptions.parse(told, True).validation == Validation(True, True, None)
    assert ReadOptions.parse({"validation.rules.execution": "BEFORE_DOMAIN_RULES"}).validation == Validation(False)


def test_a_reader_has_no_writers_options() -> None:
    with pytest.raises(ValueError, match=r"Unrecognized properties: auto\.register\.schemas"):
        ReadOptions.parse({"auto.register.schemas": True})


def test_some_schema_is_needed() -> None:
    with pytest.raises(ValueError, match="a schema is needed"):
        WriteOptions.parse({}, False)
    assert WriteOptions.parse({"use.schema.id": 5, "auto.register.schemas": False}, False).use_schema_id == 5


def test_check_callable() -> None:
    check_callable(None, "to_dict")
    check_callable(print, "to_dict")
    with pytest.raises(ValueError, match=r"to_dict must be callable with the signature to_dict\(value"):
        check_callable({}, "to_dict")
