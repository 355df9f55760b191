"""kafka_core.hooks: who is told what, and that a failing hook harms nobody."""

from __future__ import annotations

import inspect
import logging

import pytest

from kafka_core import hooks as module
from kafka_core.hooks import EVENTS, Hooks


class Recorder:
    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def on_connect(self, *facts: object) -> None:
        self.calls.append(("connect", *facts))

    def on_throttle(self, *facts: object) -> None:
        self.calls.append(("throttle", *facts))


class Everything:
    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[object, ...]]] = []

    def __getattr__(self, name: str) -> object:
        if name not in EVENTS:
            raise AttributeError(name)
        return lambda *facts: self.calls.append((name, facts))


def test_a_hook_is_told_only_what_it_implements() -> None:
    recorder = Recorder()
    hooks = Hooks([recorder])
    hooks.on_connect(1, "h:1", 0.5, None)
    hooks.on_disconnect(1, "h:1", None)
    hooks.on_throttle(1, "Produce", 2.0)
    assert recorder.calls == [("connect", 1, "h:1", 0.5, None), ("throttle", 1, "Produce", 2.0)]


def test_every_event_reaches_its_listeners_with_all_facts() -> None:
    everything = Everything()
    hooks = Hooks([everything])
    for event in EVENTS:
        method = getattr(hooks, event)
        method(*range(len(inspect.signature(method).parameters)))
    assert [name for name, _ in everything.calls] == list(EVENTS)
    for name, facts in everything.calls:
        assert facts == tuple(range(len(facts)))
        assert len(facts) == len(inspect.signature(getattr(Hooks, name)).parameters) - 1


def test_dispatcher_and_protocols_agree() -> None:
    protocols = [value for name, value in vars(module).items() if name.endswith("Hook")]
    described = {name: member for kind in protocols for name, member in vars(kind).items() if name.startswith("on_")}
    assert set(described) == set(EVENTS)
    for name, member in described.items():
        assert inspect.signature(member) == inspect.signature(getattr(Hooks, name))


def test_wants_tells_whether_somebody_listens() -> None:
    hooks = Hooks([Recorder()])
    assert hooks.wants("on_connect")
    assert not hooks.wants("on_rebalance")
    assert not Hooks().wants("on_connect")


def test_hooks_are_called_in_order_and_a_failing_one_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def on_throttle(self, *facts: object) -> None:
            raise RuntimeError("broken hook")

    recorder = Recorder()
    with caplog.at_level(logging.ERROR, "kafka_core.hooks"):
        Hooks([Broken(), recorder]).on_throttle(1, "Fetch", 1.0)
    assert recorder.calls == [("throttle", 1, "Fetch", 1.0)]
    assert "on_throttle" in caplog.text
    assert "broken hook" in caplog.text


def test_an_object_without_any_hook_is_refused() -> None:
    with pytest.raises(TypeError, match="none of the hook events"):
        Hooks([object()])


def test_a_hook_comes_and_goes() -> None:
    first, second = Recorder(), Recorder()
    hooks = Hooks([first])
    hooks.attach(second)
    hooks.on_connect(1, "a:1", 0.1, None)
    hooks.detach(second)
    hooks.on_connect(2, "b:1", 0.1, None)
    assert second.calls == [("connect", 1, "a:1", 0.1, None)]
    assert len(first.calls) == 2
    hooks.detach(first)
    assert not hooks.wants("on_connect")
