from __future__ import annotations

import pytest

from serdes import (
    MessageField,
    SerializationContext,
    SerializationError,
    record_subject_name_strategy,
    topic_record_subject_name_strategy,
    topic_subject_name_strategy,
)

VALUE, KEY = (SerializationContext("orders", field) for field in (MessageField.VALUE, MessageField.KEY))


def test_strategies() -> None:
    assert topic_subject_name_strategy(VALUE, "shop.Order") == "orders-value"
    assert topic_subject_name_strategy(KEY, None) == "orders-key"
    assert topic_record_subject_name_strategy(VALUE, "shop.Order") == "orders-shop.Order"
    assert record_subject_name_strategy(None, "shop.Order") == "shop.Order"


def test_what_is_missing_is_said() -> None:
    with pytest.raises(SerializationError, match="SerializationContext is needed"):
        topic_subject_name_strategy(None, "R")
    with pytest.raises(SerializationError, match="SerializationContext is needed"):
        topic_record_subject_name_strategy(None, "R")
    for strategy in (topic_record_subject_name_strategy, record_subject_name_strategy):
        with pytest.raises(SerializationError, match="has no name"):
            strategy(VALUE, None)
