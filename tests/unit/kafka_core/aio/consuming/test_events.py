"""The callback for each kind of item."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_core.aio.consuming.events import (
    Callbacks,
    ClientError,
    CommitDone,
    Notice,
    RebalanceCallbacks,
    Statistics,
    Throttled,
)
from kafka_core.engine.groups.states import Event, EventKind
from kafka_core.errors import KafkaError
from kafka_core.kernels import Message
from kafka_core.model import ThrottleEvent

ERROR = KafkaError(KafkaError._TRANSPORT)
THROTTLE = ThrottleEvent("h:1", 1, 0.5)


def note(*_: Any) -> None:
    """Stands for any callback."""


@pytest.mark.parametrize(
    ("name", "item", "arguments"),
    [
        ("error_cb", ClientError(ERROR), (ERROR,)),
        ("on_commit", CommitDone(None, []), (None, [])),
        ("stats_cb", Statistics("{}"), ("{}",)),
        ("throttle_cb", Throttled(THROTTLE), (THROTTLE,)),
    ],
)
def test_each_item_goes_to_its_callback_with_its_arguments(name: str, item: Any, arguments: tuple[object, ...]) -> None:
    assert Callbacks(**{name: note}).call_for(item) == (note, arguments)
    assert Callbacks().call_for(item) is None


def test_a_notice_is_no_call() -> None:
    assert Callbacks(error_cb=note).call_for(Notice(Message(error=ERROR))) is None


def event(kind: EventKind) -> Event:
    return Event(1, kind, frozenset(), False)


def test_lost_partitions_go_to_on_revoke_if_there_is_no_on_lost() -> None:
    def other(*_: Any) -> None:
        """Another callback."""

    callbacks = RebalanceCallbacks(on_revoke=note)
    assert callbacks.for_event(event(EventKind.LOST)) is note
    assert callbacks.for_event(event(EventKind.ASSIGN)) is None
    assert RebalanceCallbacks(on_revoke=note, on_lost=other).for_event(event(EventKind.LOST)) is other
    assert RebalanceCallbacks(on_assign=note, on_lost=other).for_event(event(EventKind.ASSIGN)) is note
    assert RebalanceCallbacks(on_lost=other).for_event(event(EventKind.REVOKE)) is None


def test_callbacks_must_be_callable() -> None:
    wrong: Any = "no"
    with pytest.raises(TypeError, match="on_lost"):
        RebalanceCallbacks(on_lost=wrong)
