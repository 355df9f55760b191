from __future__ import annotations

from typing import Any

import pytest

from serdes import record_subject_name_strategy, topic_record_subject_name_strategy, topic_subject_name_strategy
from serdes.options import ReadOptions, WriteOptions, check_callable


def test_defaults() -> None:
    assert WriteOptions.parse(None, True) == WriteOptions(True, False, None, False, topic_subject_name_strategy)
    assert ReadOptions.parse({}) == ReadOptions(False, topic_subject_name_strategy)


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
        ({"xyz": 1}, "unknown property 'xyz'$"),
        ({"auto.register.schemas": "yes"}, "must be a boolean"),
        ({"normalize.schemas": 1}, "must be a boolean"),
        ({"use.schema.id": "5", "auto.register.schemas": False}, "must be an int"),
        ({"use.latest.version": True}, "cannot enable both use.latest.version and auto.register"),
        ({"use.schema.id": 5}, "cannot enable both use.schema.id and auto.register"),
        (
            {"use.schema.id": 5, "use.latest.version": True, "auto.register.schemas": False},
            "both use.latest.version and use.schema.id",
        ),
        ({"subject.name.strategy": "topic"}, "must be callable"),
        ({"subject.name.strategy.type": "ASSOCIATED"}, "'ASSOCIATED' is not supported: TOPIC"),
        ({"use.latest.with.metadata": {"a": "b"}}, "not supported yet"),
        ({"schema.id.serializer": print}, "not supported yet"),
    ],
)
def test_refused(conf: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        WriteOptions.parse(conf, True)


def test_what_is_not_supported_may_be_none() -> None:
    assert WriteOptions.parse({"use.latest.with.metadata": None}, True) == WriteOptions()


def test_a_reader_has_no_writers_options() -> None:
    with pytest.raises(ValueError, match=r"unknown property 'auto\.register\.schemas'"):
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
