from __future__ import annotations

import pytest

from serdes.asks import Ask, Flow


def test_a_flow_yields_asks_and_is_sent_answers() -> None:
    def flow() -> Flow[int]:
        first = yield Ask("get_schema", (1,))
        return int(first) + 1

    running = flow()
    assert next(running) == Ask("get_schema", (1,))
    with pytest.raises(StopIteration) as stop:
        running.send(4)
    assert stop.value.value == 5
